package compare

import (
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/table"
)

// called makes a timer recording of functions and what called them, each in a line
// of its own.
func called(t *testing.T, name string, counts map[string]int) Run {
	t.Helper()
	functions, callers := table.NewInterner(), table.NewInterner()
	var of, by []uint32
	var lines, weights []int64
	for i, edge := range []string{"probe<main", "hash<probe", "mix<hash", "pack<main"} {
		function, caller, _ := strings.Cut(edge, "<")
		for range counts[function] {
			of, by = append(of, functions.CodeString(function)), append(by, callers.CodeString(caller+" (/src/x.c:7)"))
			lines, weights = append(lines, int64(10+i)), append(weights, sampleNanoseconds)
		}
	}
	return made(t, name, table.Categories("function", table.Derived, of, functions.Names(), nil), table.Categories("caller", table.Derived, by, callers.Names(), nil),
		table.Ints("line", "", table.Derived, lines, nil), table.Ints("weight", "ns", table.Measured, weights, nil))
}

// TestInlined: a function that has no samples of its own any more is compared together
// with the one that called it, if that has as much more; else it is gone.
func TestInlined(t *testing.T) {
	apart := map[string]int{"probe": 3000, "hash": 1500, "mix": 900, "pack": 2000}
	for _, tt := range []struct {
		name   string
		a, b   map[string]int
		by     string
		rows   string // what was called, and in which way
		warned bool
	}{
		{"inlined in B", apart, map[string]int{"probe": 5400, "pack": 2000}, "function", "", true},
		{"no longer inlined", map[string]int{"probe": 5400, "pack": 2000}, apart, "function", "", true},
		{"one of two", apart, map[string]int{"probe": 3000, "hash": 2400, "pack": 2000}, "function", "", true},
		{"inlined, and dearer", apart, map[string]int{"probe": 9000, "pack": 2000}, "function", "probe with hash, mix of A more", true},
		{"taken out", map[string]int{"probe": 3000, "hash": 1500, "pack": 2000}, map[string]int{"probe": 3000, "pack": 2000}, "function", "hash less", false},
		{"by line", map[string]int{"probe": 3000, "hash": 1500, "pack": 2000}, map[string]int{"probe": 4500, "pack": 2000}, "line", "line 10 more, line 11 less", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var a, b []Run
			for range 6 {
				a, b = append(a, called(t, "a", tt.a)), append(b, called(t, "b", tt.b))
			}
			c := compared(t, a, b, Options{Pair: true, Questions: []Question{{By: []string{tt.by}, Metric: Cost}}})
			var rows []string
			for i := range c.Groups {
				if r := &c.Groups[i]; r.Sure {
					rows = append(rows, c.Named(r)+" "+string(r.Verdict))
				}
			}
			slices.Sort(rows)
			if got := strings.Join(rows, ", "); got != tt.rows {
				t.Errorf("called: %q, want %q", got, tt.rows)
			}
			if said := strings.Join(c.Warnings, "\n"); strings.Contains(said, "as if it was inlined") != tt.warned {
				t.Errorf("warnings %q", said)
			}
		})
	}
}
