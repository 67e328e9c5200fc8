package sides

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/memory/compare"
)

// TestDemo compares the built-in pair with what was computed from its samples by
// other means: every sum is exact.
func TestDemo(t *testing.T) {
	text, err := os.ReadFile(test.Shared(t, "compare/expected/stencil-fixed.json"))
	if err != nil {
		t.Fatal(err)
	}
	type cell struct {
		Samples int
		Cost    float64
	}
	type pair struct{ A, B *cell }
	var want struct {
		Total                              struct{ A, B []float64 }
		Line, Symbol, Level, Function, CPU map[string]pair
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		by     []string
		groups map[string]pair
	}{{[]string{"file", "line"}, want.Line}, {[]string{"symbol"}, want.Symbol}, {[]string{"level"}, want.Level}, {[]string{"function"}, want.Function}, {[]string{"cpu"}, want.CPU}} {
		c, err := Demo(t.Context(), tt.by...)
		if err != nil {
			t.Fatal(err)
		}
		if c.A.Cost != want.Total.A[1] || c.B.Cost != want.Total.B[1] || float64(c.A.Samples) != want.Total.A[0] || float64(c.B.Samples) != want.Total.B[0] {
			t.Errorf("totals %+v %+v, want %v", c.A, c.B, want.Total)
		}
		if len(tt.groups) == 0 {
			t.Fatalf("no expected groups by %v", tt.by)
		}
		found := 0
		for _, g := range c.Groups {
			w, ok := tt.groups[strings.TrimPrefix(g.Label, "stencil.c:")]
			if !ok {
				t.Errorf("%v %s is not expected", tt.by, g.Label)
				continue
			}
			found++
			for i, side := range []*cell{w.A, w.B} {
				got := []int{g.A.Samples, g.B.Samples}[i]
				cost := []float64{g.A.Cost, g.B.Cost}[i]
				if side == nil {
					side = &cell{}
				}
				if got != side.Samples || cost != side.Cost {
					t.Errorf("%v %s side %d: %d samples, cost %v; want %+v", tt.by, g.Label, i, got, cost, *side)
				}
			}
		}
		if found != len(tt.groups) {
			t.Errorf("by %v: %d groups, want %d", tt.by, found, len(tt.groups))
		}
	}
}

// TestDemoIsFoundInTheFirstLine: the change of the program is the first thing said,
// with the planes that lie otherwise on the machine, and where most of it is.
func TestDemoIsFoundInTheFirstLine(t *testing.T) {
	c, err := Demo(t.Context(), "file", "line")
	if err != nil {
		t.Fatal(err)
	}
	if s := c.Sentence(); !strings.HasPrefix(s, "B costs ≈ 37.8 % less (−39.1 to −36.5 % by sampling)") || !strings.Contains(s, "; neighbouring z share a package in 99.2 % of cases, 9.7 % in A; most in stencil.c:104") {
		t.Errorf("%s", s)
	}
	if c, err = Demo(t.Context(), "level"); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(c.Groups, func(g compare.Row) bool { return g.Label == "Remote RAM" })
	if i < 0 || i > 1 || !c.Groups[i].Sure || *c.Groups[i].Ratio > .01 {
		t.Errorf("memory of the other node: %+v", c.Groups[:2])
	}
}
