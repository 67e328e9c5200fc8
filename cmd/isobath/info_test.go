package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/table"
)

// TestSumsAreNoSamples holds that info says what the rows of a profile are and
// how much they sum, and asks for no machine to place them on.
func TestSumsAreNoSamples(t *testing.T) {
	path := filepath.Join(t.TempDir(), "callgrind.out.1")
	if err := os.WriteFile(path, []byte("# callgrind format\nevents: Ir Dr\nfl=a.c\nfn=main\n10 5000 1\n11 37 2\ntotals: 5037 3\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	text, err := isobath(t, "info", path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(text, "2 sums by place in the code, 5 037 Ir in all (callgrind)\n") || strings.Contains(text, "topology") {
		t.Error(text)
	}
	text, err = isobath(t, "info", path, "--json")
	if err != nil {
		t.Fatal(err)
	}
	if want := `"summed":{"event":"Ir","sum":5037}`; !strings.Contains(strings.Join(strings.Fields(text), ""), want) {
		t.Errorf("no %s in %s", want, text)
	}
}

// TestDistinctIsAtLeast holds that a count of values that stopped does not pass for
// their number, and one that did not is no more than it is.
func TestDistinctIsAtLeast(t *testing.T) {
	path := filepath.Join(t.TempDir(), "many.csv")
	text := []byte("time,cpu,latency\n")
	for i := range table.DistinctMost + 1 {
		text = fmt.Appendf(text, "%d,%d,5\n", 10*i, i%table.DistinctMost-i%2)
	}
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := isobath(t, "info", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`(?m)^time .* 65 536 or more +0 `, `(?m)^cpu .* 32 768 +0 `} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}

// TestUnpackCompared holds that both sides of the comparison are unpacked, into
// a folder that need not exist.
func TestUnpackCompared(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	folder := filepath.Join(t.TempDir(), "a", "b")
	text, err := isobath(t, "demo", "compare", "--unpack", folder)
	if err != nil {
		t.Fatal(err)
	}
	paths := strings.Fields(text)
	if len(paths) != 2 {
		t.Fatalf("%q, want two runs", text)
	}
	for _, path := range paths {
		if _, err := isobath(t, "info", path); err != nil || filepath.Dir(path) != folder {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestExampleOnItsMesh holds that an example is also taken where a mesh is named,
// and that all its samples that touch a cell have one.
func TestExampleOnItsMesh(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	text, err := isobath(t, "mesh", "demo", "--mesh", "demo:mesh", "--per-cell", "24x1x12")
	if err != nil {
		t.Fatal(err)
	}
	if want := "92 959 samples: 92 882 on cells, 77 on no cell, 0 out of range"; !strings.Contains(text, want) {
		t.Errorf("no %q in %s", want, text)
	}
}
