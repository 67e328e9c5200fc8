package redact

import (
	"strings"
	"testing"
)

func TestArgs(t *testing.T) {
	tests := []struct{ in, want string }{
		{"./solver --steps 100 -o out", "./solver --steps 100 -o out"},
		{"db --password hunter2 --host h", "db --password … --host h"},
		{"db --password=hunter2", "db --password=…"},
		{"db --db-password=hunter2 --token-file t", "db --db-password=… --token-file …"},
		{"run API_KEY=abc OMP_NUM_THREADS=4", "run API_KEY=… OMP_NUM_THREADS=4"},
		{"get https://me:hunter2@host/x", "get https://me:…@host/x"},
		{"get https://host/x?y=1", "get https://host/x?y=1"},
		{"x eyJhbGciOi.eyJzdWIi.c2ln", "x …"},
		{"x key=AKIAABCDEFGHIJKLMNOP", "x key=…"},
		{"x ghp_abcdefghijklmnopqrstuvwxyz", "x …"},
		{"--passes 3 --author me --compass 4", "--passes 3 --author me --compass 4"},
		{"--password", "--password"},
	}
	for _, tt := range tests {
		in := strings.Fields(tt.in)
		if got := strings.Join(Args(in), " "); got != tt.want {
			t.Errorf("Args(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}
