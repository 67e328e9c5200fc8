package guide

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/app/demo"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// bordered is an even run in whose samples something changes at a known place of the
// order of time.
func bordered(t *testing.T, at int, column string, change func(c *table.Column, row int, after bool)) (*Guide, float64) {
	t.Helper()
	r, err := demo.Uniform(20000, 11)
	if err != nil {
		t.Fatal(err)
	}
	clock := r.Samples.Column("time")
	rows := make([]int, r.Samples.Rows())
	for i := range rows {
		rows[i] = i
	}
	slices.SortStableFunc(rows, func(a, b int) int { return int(clock.Float(a) - clock.Float(b)) })
	g := changed(t, r, func(from *table.Table) *table.Table {
		return edited(t, from, column, func(c *table.Column) {
			switch d := c.Data.(type) {
			case []uint32:
				c.Data = slices.Clone(d)
			case []int32:
				c.Data = slices.Clone(d)
			}
			for i, row := range rows {
				change(c, row, i >= at)
			}
		})
	})
	return g, clock.Float(rows[at])
}

// TestPhaseBorders: a border is at the sample from which on the run is another one, not
// at the edge of a window (of 156 samples here).
func TestPhaseBorders(t *testing.T) {
	function := func(c *table.Column, row int, after bool) {
		c.Data.([]uint32)[row] = 0
		if after {
			c.Data.([]uint32)[row] = 1
		}
	}
	dear := func(c *table.Column, row int, after bool) {
		c.Data.([]int32)[row] = 10
		if after {
			c.Data.([]int32)[row] = 200
		}
	}
	for _, tt := range []struct {
		column string
		change func(c *table.Column, row int, after bool)
	}{{"function", function}, {"latency", dear}} {
		for _, at := range []int{3777, 9999, 14444} {
			t.Run(fmt.Sprintf("%s at %d", tt.column, at), func(t *testing.T) {
				g, when := bordered(t, at, tt.column, tt.change)
				l, err := g.newInsightSearch(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				p, err := l.phased()
				if err != nil || len(p.borders) != 3 {
					t.Fatalf("borders %v by %q, want one at sample %d: %v", p.borders, p.by, at, err)
				}
				if got, _ := p.span(1); got != when || p.borders[1] != at {
					t.Errorf("phase 2 begins at sample %d, time %.0f; want %d, %.0f", p.borders[1], got, at, when)
				}
			})
		}
	}
}

// TestPhaseBorderOfMix: where the change is not of all samples, the border is as near as
// the samples tell.
func TestPhaseBorderOfMix(t *testing.T) {
	const at, near = 8050, 20 // nine of ten samples of each side are of one name
	g, _ := bordered(t, at, "function", func(c *table.Column, row int, after bool) {
		c.Data.([]uint32)[row] = 0
		if after != (row%10 == 0) {
			c.Data.([]uint32)[row] = 1
		}
	})
	l, err := g.newInsightSearch(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.phased()
	if err != nil || len(p.borders) != 3 || math.Abs(float64(p.borders[1]-at)) > near {
		t.Errorf("borders %v, want one within %d of %d: %v", p.borders, near, at, err)
	}
}

// TestPhasesWithoutWaiting: samples of threads that wait are in no phase.
func TestPhasesWithoutWaiting(t *testing.T) {
	r, err := demo.Uniform(20000, 11)
	if err != nil {
		t.Fatal(err)
	}
	g := changed(t, r, func(from *table.Table) *table.Table {
		codes, has := make([]uint32, from.Rows()), table.NewBits(from.Rows())
		for row := range codes {
			if row%3 == 0 {
				has.Set(row)
			}
		}
		out, err := table.New(from.Name, append(slices.Clone(from.Columns()), table.Categories(samples.Waiting, table.Derived, codes, []string{"OpenMP"}, has)))
		if err != nil {
			t.Fatal(err)
		}
		return out
	})
	l, err := g.newInsightSearch(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.phased()
	if err != nil || len(p.order.rows) != l.samples || l.waits == 0 {
		t.Errorf("%d samples are in phases, %d do not wait: %v", len(p.order.rows), l.samples, err)
	}
}
