package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

// TestExamplesKeepTheirWord holds that no answer, error or proposed command names
// the folder that an example lies in while the command runs.
func TestExamplesKeepTheirWord(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	for _, c := range []struct{ line, want string }{
		{"diff demo demo:fixed", "(modelled), demo:fixed"},
		{"diff demo demo:fixed --json", `"demo:fixed"`},
		{"steps demo", "demo holds samples (a run), not a message-passing trace; try 'isobath report demo'"},
		{"report demo:messages", "try 'isobath steps demo:messages'"},
		{"reuse demo:messages", "try 'isobath steps demo:messages'"},
		{"loops demo", "demo holds samples"},
		{"topology demo:messages", "demo:messages holds trace"},
		{"study demo demo:fixed --json", `"demo:fixed"`},
		{"info demo:locality", ""},
		{"steps demo:messages", ""},
	} {
		out, err := isobath(t, strings.Fields(c.line)...)
		if err != nil {
			out += err.Error()
		}
		if strings.Contains(out, os.TempDir()) || !strings.Contains(out, c.want) {
			t.Errorf("%s: want %q and nothing of %s in\n%s", c.line, c.want, os.TempDir(), out)
		}
	}
}

// TestExampleFindsItsMesh holds that samples of the stencil program lie on its mesh
// without being told where that is and how coarse.
func TestExampleFindsItsMesh(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	for _, line := range []string{"mesh demo", "mesh demo:fixed", "mesh demo --mesh demo:mesh"} {
		out, err := isobath(t, strings.Fields(line)...)
		if err != nil || !strings.Contains(out, " 0 out of range") {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
	out, err := isobath(t, "mesh", "demo", "--mesh", "demo:mesh", "--per-cell", "1x1x1")
	if err != nil || strings.Contains(out, " 0 out of range") {
		t.Errorf("--per-cell is not what the user said: %v\n%s", err, out)
	}
}

// TestUnpackReplacesNothing holds that an example that is there already is kept,
// with a sentence about what the verb can do.
func TestUnpackReplacesNothing(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	for _, name := range []string{"stencil", "messages", "cycles", "locality", "mesh", "compare"} {
		folder := t.TempDir()
		if _, err := isobath(t, "demo", name, "--unpack", folder); err != nil {
			t.Fatal(err)
		}
		_, err := isobath(t, "demo", name, "--unpack", folder)
		if err == nil || !strings.Contains(err.Error(), filepath.Clean(folder)) || !strings.HasSuffix(err.Error(), "exists; remove it, or name another folder") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
