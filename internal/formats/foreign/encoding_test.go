package foreign

import (
	"strings"
	"testing"
)

func TestEncodingIsNamed(t *testing.T) {
	tests := []struct{ name, head, want string }{
		{"UTF-16, little", "\xff\xfec\x00p\x00u\x00", "UTF-16"},
		{"UTF-16, big", "\xfe\xff\x00c\x00p\x00u", "UTF-16"},
		{"CR alone", "cpu,latency\r1,2\r", "CR alone"},
		{"Latin-1", "cpu,name,latency,more,columns\n1,caf\xe9,2,3,4\n", "Latin-1"},
		{"UTF-8, cut in a letter", "cpu,name\n1,caf\xc3", ""},
		{"binary", "\x7fELF\x02\x01\xff\x00\x00", ""},
		{"other text", "hello\n", ""},
		{"empty", "", ""},
	}
	for _, tt := range tests {
		got := encoding([]byte(tt.head))
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
