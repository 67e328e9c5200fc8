package compare

import (
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
)

// part is samples of one value of each column that findings group by; what is empty
// is not known of them.
type part struct {
	file, function, symbol, level string
	line, tid, cpu, node          int64 // below 0: not known
	samples                       int
	latency                       int64
}

// partsRun is a simulated run, which differs from another by sampling alone.
func partsRun(t *testing.T, name string, parts ...part) Run {
	t.Helper()
	names := map[string]*table.Interner{}
	codes, numbers, valid := map[string][]uint32{}, map[string][]int64{}, map[string][]bool{}
	for _, p := range parts {
		for range p.samples {
			for column, text := range map[string]string{"file": p.file, "function": p.function, "symbol": p.symbol, "level": p.level} {
				if names[column] == nil {
					names[column] = table.NewInterner()
				}
				codes[column] = append(codes[column], names[column].CodeString(text))
				valid[column] = append(valid[column], text != "")
			}
			for column, n := range map[string]int64{"line": p.line, "tid": p.tid, "cpu": p.cpu, "node": p.node, "latency": p.latency} {
				numbers[column] = append(numbers[column], n)
				valid[column] = append(valid[column], n >= 0)
			}
		}
	}
	var columns []*table.Column
	for _, column := range []string{"file", "function", "symbol", "level"} {
		columns = append(columns, table.Categories(column, table.Modelled, codes[column], names[column].Names(), known(valid[column])))
	}
	for _, column := range []string{"line", "tid", "cpu", "node"} {
		columns = append(columns, table.Ints(column, "", table.Modelled, numbers[column], known(valid[column])))
	}
	columns = append(columns, table.Ints("latency", "cycles", table.Modelled, numbers["latency"], nil))
	r := made(t, name, columns...)
	r.Manifest = &run.Manifest{Kind: r.Manifest.Kind}
	return r
}

// known is which of some values are there; nil: all.
func known(each []bool) table.Bits {
	bits := table.FullBits(len(each))
	for i, there := range each {
		if !there {
			bits.Clear(i)
		}
	}
	return bits
}

func findings(t *testing.T, a, b Run) *Changes {
	t.Helper()
	c, err := What(t.Context(), []Run{a}, []Run{b}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestChangesOfTheUnknown: samples that lack a thread, a node, a line or a name cost
// what they cost, and findings about them say what they are.
func TestChangesOfTheUnknown(t *testing.T) {
	steady := part{"a.c", "work", "u", "L1", 3, 1, 0, 0, 400, 10}
	for want, lost := range map[string]part{
		"No known thread":                  {"a.c", "work", "u", "L1", 3, -1, 0, 0, 4000, 40},
		"No known node":                    {"a.c", "work", "u", "L1", 3, 1, -1, -1, 4000, 40},
		"L1 for code without lines of b.c": {"b.c", "work", "u", "L1", -1, 1, 0, 0, 4000, 40},
		"L1 for line 7 of no known file":   {"", "work", "u", "L1", 7, 1, 0, 0, 4000, 40},
		"L1 for no known object":           {"a.c", "work", "", "L1", 3, 1, 0, 0, 4000, 40},
		"no known level":                   {"a.c", "work", "u", "", 3, 1, 0, 0, 4000, 40},
		"L1 for code without lines":        {"", "work", "u", "L1", -1, 1, 0, 0, 4000, 40},
		"no known level for line b.c:9":    {"b.c", "work", "u", "", 9, 1, 0, 0, 4000, 40},
	} {
		less := lost
		less.samples = 400
		c := findings(t, partsRun(t, "a", steady, lost), partsRun(t, "b", steady, less))
		if !slices.ContainsFunc(c.Findings, func(f Change) bool { return strings.HasPrefix(f.Text, want+" ") && f.Sure }) {
			var all []string
			for _, f := range c.Findings {
				all = append(all, f.Text)
			}
			t.Errorf("%s is not among\n%s", want, strings.Join(all, "\n"))
		}
	}
}

// TestChangesAreRanked: what has most of the change of its kind comes first, a line
// stands for the function whose change it is, and each kind of finding has its name.
func TestChangesAreRanked(t *testing.T) {
	// Every line is served by both levels alike, so that neither stands for the line.
	program := func(name string, lines ...part) Run {
		var parts []part
		for _, p := range lines {
			p.file = "a.c"
			for _, p.level = range []string{"L1", "RAM"} {
				parts = append(parts, p)
			}
		}
		return partsRun(t, name, parts...)
	}
	line := func(function, symbol string, line int64, samples int, latency int64) part {
		return part{function: function, symbol: symbol, line: line, samples: samples, latency: latency}
	}
	a := program("a", line("hot", "u", 10, 1500, 100), line("hot", "v", 11, 1500, 10), line("warm", "w", 20, 1000, 20), line("even", "x", 30, 1500, 20), line("gone", "y", 40, 400, 20))
	b := program("b", line("hot", "u", 10, 1500, 40), line("hot", "v", 11, 1500, 10), line("warm", "w", 20, 1000, 35), line("even", "x", 30, 1500, 20), line("fresh", "z", 50, 400, 20))
	c := findings(t, a, b)
	at := func(prefix string, kind ChangeKind) int {
		i := slices.IndexFunc(c.Findings, func(f Change) bool { return strings.HasPrefix(f.Text, prefix) && f.Kind == kind })
		if i < 0 {
			t.Errorf("no finding %q of kind %s", prefix, kind)
		}
		return i
	}
	dear, cheap, fresh, gone := at("Line a.c:20 costs ≈ 75.0 ± ", dearer), at("Line a.c:10 costs ≈ 60.0 ± ", cheaper), at("Line a.c:50 ", appeared), at("Line a.c:40 ", vanished)
	if cheap > dear || dear > fresh || dear > gone {
		t.Errorf("line 10 is %d, 20 is %d, 50 is %d, 40 is %d", cheap, dear, fresh, gone)
	}
	at("RAM serves ≈ 33.6 ± ", movedLevel)
	for i, f := range c.Findings {
		if strings.HasPrefix(f.Text, "Function hot ") {
			t.Errorf("the function stands beside its line: %s", f.Text)
		}
		if i > 0 && f.Score > c.Findings[i-1].Score {
			t.Errorf("%s with %.2f comes after %.2f", f.Text, f.Score, c.Findings[i-1].Score)
		}
		if f.Where == "" || strings.Contains(f.Text, "even") || strings.Contains(f.Text, "a.c:30") {
			t.Errorf("%s selects %q", f.Text, f.Where)
		}
	}
	if same := findings(t, a, a); len(same.Findings) > 0 || !strings.HasPrefix(same.Nothing, "Nothing is beyond") {
		t.Errorf("a run against itself: %+v", same)
	}
}

// TestChangesOfOneRun: what one run a side shows is partly what both happened to be;
// as much of it is said as is sure.
func TestChangesOfOneRun(t *testing.T) {
	groups := []string{"solve", "pack", "copy"}
	c := findings(t, counted(t, "a", groups, []float64{300, 2000, 1000}), counted(t, "b", groups, []float64{6000, 2000, 1000}))
	i := slices.IndexFunc(c.Findings, func(f Change) bool { return strings.HasPrefix(f.Text, "Function solve ") })
	if i != 0 || !c.Findings[0].Sure || !strings.HasPrefix(c.Findings[0].Text, "Function solve costs at least ") || strings.Contains(c.Findings[0].Text, "1900.0") {
		t.Errorf("%+v", c.Findings)
	}
}
