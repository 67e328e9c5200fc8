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
{"Action":"pass","Package":"p","Test":"TestA/part","Elapsed":12.5}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":12.5}
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
	want := "tests: 2 passed, 1 failed, 2 skipped; 1 sets of fixtures; peers: otf2-print; shared data: none; " +
		"not run: no shared data mesh/vtk (1), this machine does not let us sample (1)"
	if got := s.line(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := shown.String(), "slow:   p TestA\t12.5s\nfailed: p TestD\nnot JSON: a line of the linker\nnot ok\tp\t1.2s\n"; got != want {
		t.Errorf("shown %q, want %q", got, want)
	}
	for passedAlone, want := range map[bool]string{false: "    a_test.go:15: got 1, want 2\n", true: "once:     a_test.go:15: got 1, want 2\n"} {
		shown.Reset()
		if s.tellFailures(&shown, passedAlone); shown.String() != want {
			t.Errorf("passed alone %v: %q, want %q", passedAlone, shown.String(), want)
		}
	}
}

func TestTell(t *testing.T) {
	dir := t.TempDir()
	report, vitest := filepath.Join(dir, "report"), filepath.Join(dir, "e2e.json")
	for file, text := range map[string]string{report: "tests: 3 passed\n", vitest: `{"numPassedTests":41,"numPendingTests":2,"testResults":[{"assertionResults":[
		{"fullName":"a","status":"passed","failureMessages":[]},{"fullName":"b c","status":"passed","failureMessages":["late"]}]}]}`} {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var shown bytes.Buffer
	if err := tell(&shown, report, []string{vitest}); err != nil {
		t.Fatal(err)
	}
	if got, want := shown.String(), "tests: 3 passed; 41 browser tests passed, 2 skipped, unstable: b c\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if err := os.WriteFile(againReport(vitest), []byte(`{"numPassedTests":7}`), 0o666); err != nil {
		t.Fatal(err)
	}
	shown.Reset()
	if err := tell(&shown, report, []string{vitest}); err != nil || !strings.HasSuffix(shown.String(), "; again, alone: 7 browser tests passed, 0 skipped\n") {
		t.Errorf("%q, %v", shown.String(), err)
	}
}

func TestSecondChance(t *testing.T) {
	failed := func(name, said string) string {
		return `{"Action":"output","Package":"p","Test":"` + name + `","Output":"` + said + `\n"}
{"Action":"fail","Package":"p","Test":"` + name + `"}
`
	}
	ended := `{"Action":"fail","Package":"p"}` + "\n"
	for _, c := range []struct {
		name, events string
		want         int
	}{
		{"one", failed("TestA", "got 1") + ended, 1},
		{"a part of one", failed("TestA/x", "got 1") + failed("TestA", "") + ended, 1},
		{"too many", failed("TestA", "got 1") + failed("TestB", "got 1") + failed("TestC", "got 1") + ended, 0},
		{"a race", failed("TestA", "WARNING: DATA RACE") + ended, 0},
		{"a panic", failed("TestA", "panic: index out of range") + ended, 0},
		{"a fault", failed("TestA/x", "isobath: a fault of the program: x") + failed("TestA", "") + ended, 0},
		{"does not compile", ended, 0},
	} {
		s := newSummary()
		var shown bytes.Buffer
		if err := s.read(strings.NewReader(c.events), &shown); err != nil {
			t.Fatal(err)
		}
		if got := len(s.again(2)); got != c.want {
			t.Errorf("%s: %d tests again, want %d", c.name, got, c.want)
		}
	}
}

// A test that fails once in a run and passes alone is listed; one that fails again
// fails the run.
func TestRunAgain(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for file, text := range map[string]string{
		"go.mod": "module m\n\ngo 1.24\n",
		"a_test.go": `package m

import ("os"; "testing")

func TestOnce(t *testing.T) {
	if _, err := os.Stat("seen"); err != nil {
		os.WriteFile("seen", nil, 0o666)
		t.Error("not yet")
	}
}

func TestAlways(t *testing.T) {
	if os.Getenv("GOTEST_ALWAYS") != "" {
		t.Error("never")
	}
}
`} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	report := filepath.Join(dir, "report")
	if err := run([]string{"-report", report, "-again", "1", "./..."}); err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile(report)
	if err != nil || !strings.HasPrefix(string(said), "tests: 2 passed, 0 failed, 0 skipped") || !strings.Contains(string(said), "unstable, passed alone after a failure: m.TestOnce") {
		t.Errorf("%s %v", said, err)
	}
	t.Setenv("GOTEST_ALWAYS", "1")
	if run([]string{"-again", "1", "./..."}) == nil {
		t.Error("a test that fails twice passed")
	}
}

// A file of browser tests that fails and passes alone does not fail the run; one
// that fails twice, or is one of too many, does. A stand-in for npx plays vitest.
func TestBrowserAgain(t *testing.T) {
	report := func(files ...string) string {
		var results []string
		for _, f := range files {
			results = append(results, `{"name":"/e2e/`+f+`","status":"failed"},{"name":"/e2e/well.test.ts","status":"passed"}`)
		}
		return `{"testResults":[` + strings.Join(results, ",") + `]}`
	}
	for _, c := range []struct {
		name, first, script string
		fails               bool
	}{
		{"once", report("a.test.ts"), `[ $# -gt 5 ]`, false},
		{"twice", report("a.test.ts"), `false`, true},
		{"too many", report("a.test.ts", "b.test.ts", "c.test.ts"), `[ $# -gt 5 ]`, true},
		{"before it reports", "", `false`, true},
	} {
		dir := t.TempDir()
		npx := `#!/bin/sh
for a; do case $a in --outputFile=*) out=${a#*=};; esac; done
[ -z '` + c.first + `' ] || echo '` + c.first + `' > "$out"
echo "$@" >> ` + filepath.Join(dir, "calls") + `
` + c.script + "\n"
		if err := os.WriteFile(filepath.Join(dir, "npx"), []byte(npx), 0o777); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
		err := run([]string{"-browser", dir, "-report", filepath.Join(dir, "e2e.json"), "-again", "2"})
		if (err != nil) != c.fails {
			t.Errorf("%s: %v", c.name, err)
		}
		calls, err := os.ReadFile(filepath.Join(dir, "calls"))
		if err != nil {
			t.Fatal(err)
		}
		if again := strings.HasSuffix(string(calls), " a.test.ts\n"); again != (c.name == "once" || c.name == "twice") {
			t.Errorf("%s: called %s", c.name, calls)
		}
	}
}
