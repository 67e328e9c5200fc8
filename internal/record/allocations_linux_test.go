package record

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/record/pmu"
)

// allocatedBy is what one chain of lines allocates.
type allocatedBy struct{ Bytes, Calls, AtPeak, AtEnd int64 }

// TestAllocationsAgainstDHAT compares every place with what Valgrind counts. Places
// are chains of lines of the program's own file.
func TestAllocationsAgainstDHAT(t *testing.T) {
	valgrind := test.Peer(t, "valgrind", "valgrind")
	for name, level := range map[string]string{"wrapped.c": "-O2", "contained.cpp": "-O1"} {
		t.Run(name, func(t *testing.T) {
			program := buildAllocating(t, name, level)
			got := loggedPlaces(recordAllocations(t, 1, program), name)
			if diff := gocmp.Diff(dhatPlaces(t, valgrind, program, name), got); diff != "" {
				t.Errorf("Valgrind (-) and the recording (+) differ:\n%s", diff)
			}
		})
	}
}

// DHAT counts a block that grows at the place that made it first, so places of
// such a program differ, and sums do not.
func TestReallocationsAgainstDHAT(t *testing.T) {
	valgrind, program := test.Peer(t, "valgrind", "valgrind"), buildAllocating(t, "grown.c", "-O1")
	sum := func(places map[string]allocatedBy) (all allocatedBy) {
		for _, p := range places {
			all = allocatedBy{all.Bytes + p.Bytes, all.Calls + p.Calls, all.AtPeak + p.AtPeak, all.AtEnd + p.AtEnd}
		}
		return all
	}
	got, want := sum(loggedPlaces(recordAllocations(t, 1, program), "grown.c")), sum(dhatPlaces(t, valgrind, program, "grown.c"))
	if got != want {
		t.Errorf("%+v, Valgrind says %+v", got, want)
	}
}

// What lived at once, and for how long, is known from the program's text; DHAT
// knows the former only at the peak of the whole program.
func TestAllocationsKnownByConstruction(t *testing.T) {
	a := recordAllocations(t, 1, buildAllocating(t, "wrapped.c", "-O1"))
	want := map[string][2]float64{ // most bytes at once, and in how many allocations
		"must < rows":    {40 * 1195, 40},
		"must < table":   {300000, 1},
		"must < scratch": {5000, 1},
		"scratch":        {77, 1},
	}
	seen := map[string]bool{}
	for i := range a.Rows() {
		frames := symbol.ParseStack(a.Column("stack").Text(i))
		var names []string
		for k := len(frames) - 1; k >= 0 && frames[k].Function != "main"; k-- {
			names = append(names, frames[k].Function)
		}
		place := strings.Join(names, " < ")
		w, ok := want[place]
		if !ok {
			continue // of the C library, for itself
		}
		seen[place] = true
		if got := [2]float64{a.Column("peak").Float(i), a.Column("peak_calls").Float(i)}; got != w {
			t.Errorf("%s: at most %v at once, want %v", place, got, w)
		}
		// Half of the rows are never freed, and half are: the median is the last of
		// these. Scratch lives for a call or two.
		if has := a.Column("lifetime").Has(i); !has {
			t.Errorf("%s: no median lifetime", place)
		}
	}
	if len(seen) != len(want) {
		t.Errorf("only %v", seen)
	}
}

func buildAllocating(t *testing.T, name, level string) string {
	t.Helper()
	compiler := test.Peer(t, map[string]string{".c": "gcc", ".cpp": "g++"}[filepath.Ext(name)], "g++")
	program := filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command(compiler, "-g", level, "-o", program, "testdata/allocations/"+name).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// recordAllocations returns the table of allocations of a program.
func recordAllocations(t *testing.T, threshold int64, command ...string) *table.Table {
	t.Helper()
	got, err := Record(t.Context(), &Options{Command: command, Mode: Timer, Sampling: pmu.Options{Rate: 1000}, Heap: true, Threshold: threshold, Say: func(string) {}})
	if err != nil {
		t.Fatal(err)
	}
	allocated := got.Run.Table("allocations")
	if allocated == nil {
		t.Fatalf("no table of allocations; %v", got.Run.Warnings)
	}
	return allocated
}

// loggedPlaces sums the rows of a table by lines of the program's own file.
func loggedPlaces(a *table.Table, source string) map[string]allocatedBy {
	out := map[string]allocatedBy{}
	for i := range a.Rows() {
		var lines []string
		frames := symbol.ParseStack(a.Column("stack").Text(i))
		for k := len(frames) - 1; k >= 0; k-- {
			if path.Base(frames[k].File) == source {
				lines = append(lines, fmt.Sprint(frames[k].Line))
			}
		}
		at := func(name string) int64 { return int64(a.Column(name).Float(i)) }
		add(out, lines, allocatedBy{at("bytes"), at("calls"), at("at_peak"), at("at_end")})
	}
	return out
}

func add(places map[string]allocatedBy, lines []string, a allocatedBy) {
	if len(lines) == 0 {
		return // of the C library, for itself
	}
	key := strings.Join(lines, " < ")
	s := places[key]
	places[key] = allocatedBy{s.Bytes + a.Bytes, s.Calls + a.Calls, s.AtPeak + a.AtPeak, s.AtEnd + a.AtEnd}
}

// dhatPlaces runs a program under Valgrind.
func dhatPlaces(t *testing.T, valgrind, program, source string) map[string]allocatedBy {
	t.Helper()
	file := filepath.Join(t.TempDir(), "dhat.out")
	if out, err := exec.Command(valgrind, "--tool=dhat", "--num-callers=40", "--dhat-out-file="+file, program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Places []struct {
			TB, TBK, GB, EB int64
			FS              []int
		} `json:"pps"`
		Frames []string `json:"ftbl"`
	}
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`\(` + regexp.QuoteMeta(source) + `:(\d+)\)$`)
	out := map[string]allocatedBy{}
	for _, p := range d.Places {
		var lines []string
		for _, f := range p.FS {
			if m := line.FindStringSubmatch(d.Frames[f]); m != nil {
				lines = append(lines, m[1])
			}
		}
		add(out, lines, allocatedBy{p.TB, p.TBK, p.GB, p.EB})
	}
	return out
}
