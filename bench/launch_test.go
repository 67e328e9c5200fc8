package main

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == launchWord {
		os.Exit(launch(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// The peak of a small program is its own, however much memory the process has
// that started it.
func TestLaunchedMemory(t *testing.T) {
	large := make([]byte, 300<<20)
	for i := 0; i < len(large); i += 4096 {
		large[i] = 1
	}
	out, used, err := launched(t.Context(), "echo", "here")
	if err != nil || string(out) != "here\n" {
		t.Fatalf("%q, %v", out, err)
	}
	if used.PeakKB == 0 || used.PeakKB > 100<<10 {
		t.Errorf("echo took %d kB, started by a process of %d MB", used.PeakKB, len(large)>>20)
	}
	if used.WallNS <= 0 || used.CPUNS <= 0 {
		t.Errorf("%+v", used)
	}
	if _, _, err := launched(t.Context(), "false"); err == nil {
		t.Error("a program that failed was measured")
	}
	large[0]++
}
