package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const written = `{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:3: fixture: otf2/halo16/traces.otf2\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:4: peer: otf2-print\n"}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0.1}
{"Action":"output","Package":"p","Test":"TestB","Output":"    a_test.go:9: no shared data: shared/data/mesh/vtk/can.vtu is not beside the checkout\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"--- SKIP: TestB (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestC","Output":"    a_test.go:12: this machine does not let us sample: EPERM\n"}
{"Action":"skip","Package":"p","Test":"TestC"}
{"Action":"output","Package":"p","Test":"TestD","Output":"    a_test.go:15: got 1, want 2\n"}
{"Action":"fail","Package":"p","Test":"TestD"}
not JSON: a line of the linker
{"Action":"fail","Package":"p","Elapsed":1.25}
`

func TestSummary(t *testing.T) {
	s := newSummary()
	var shown bytes.Buffer
	if err := s.read(strings.NewReader(written), &shown); err != nil {
		t.Fatal(err)
	}
	want := "tests: 1 passed, 1 failed, 2 skipped; 1 sets of fixtures; peers: otf2-print; shared data: none; " +
		"not run: no shared data mesh/vtk (1), this machine does not let us sample (1)"
	if got := s.line(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := shown.String(), "    a_test.go:15: got 1, want 2\nnot JSON: a line of the linker\nFAIL\tp\t1.2s\n"; got != want {
		t.Errorf("shown %q, want %q", got, want)
	}
}

func TestTell(t *testing.T) {
	dir := t.TempDir()
	report, vitest := filepath.Join(dir, "report"), filepath.Join(dir, "e2e.json")
	for file, text := range map[string]string{report: "tests: 3 passed\n", vitest: `{"numPassedTests":41,"numPendingTests":2}`} {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var shown bytes.Buffer
	if err := tell(&shown, report, []string{vitest}); err != nil {
		t.Fatal(err)
	}
	if got, want := shown.String(), "tests: 3 passed; 41 browser tests passed, 2 skipped\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
