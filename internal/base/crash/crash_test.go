package crash

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/parallel"
)

func deep(secret string, values []int, at int) int { return values[at] + len(secret) }

func caught(t *testing.T, f func()) *parallel.Panic {
	t.Helper()
	var p *parallel.Panic
	if !errors.As(parallel.Safely(func() error { f(); return nil }), &p) {
		t.Fatal("no panic")
	}
	return p
}

// A report says where and what kind, and quotes neither arguments nor messages
// that may hold data.
func TestReportHoldsNoData(t *testing.T) {
	tests := []struct {
		name string
		f    func()
		want string
	}{
		{"runtime", func() { deep("hunter2", []int{1}, 7) }, "index out of range [7] with length 1"},
		{"text", func() { panic("password hunter2") }, "fault: string"},
		{"error", func() { panic(errors.New("hunter2")) }, "fault: *errors.errorString"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := reportText("v1", "GET runs/{id}", caught(t, tt.f))
			if !strings.Contains(text, tt.want) || !strings.Contains(text, "crash_test.go:") || !strings.Contains(text, "while: GET runs/{id}") {
				t.Errorf("report:\n%s", text)
			}
			wd, _ := os.Getwd()
			for _, secret := range []string{"hunter2", wd, "0xc0"} {
				if strings.Contains(text, secret) {
					t.Errorf("the report holds %q:\n%s", secret, text)
				}
			}
		})
	}
}

func TestReportsAreBounded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "faults")
	p := caught(t, func() { panic("x") })
	var last string
	for range keep + 5 {
		var err error
		if last, err = Write(dir, "v1", "testing", p); err != nil {
			t.Fatal(err)
		}
	}
	names, _ := os.ReadDir(dir)
	if len(names) != keep {
		t.Errorf("%d reports", len(names))
	}
	if info, err := os.Stat(last); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the last report: %v, %v", info, err)
	}
}
