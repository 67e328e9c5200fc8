package mesh

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/data/grid"
)

func fieldOf(values []float64) *Field {
	f := &Field{Values: values, Samples: make([]uint32, len(values))}
	for i, v := range values {
		if !math.IsNaN(v) {
			f.Samples[i] = uint32(1 + i%3)
		}
	}
	return f
}

func TestCorrelate(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const n = 500
	x, noise, line, curve := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		x[i] = r.Float64() * 10
		noise[i], line[i], curve[i] = r.NormFloat64(), 3-2*x[i], (x[i]-5)*(x[i]-5)
	}
	tests := []struct {
		name              string
		y                 []float64
		pearson, spearman float64
		related           bool // by mutual information
	}{
		{"a falling line", line, -1, -1, true},
		{"a parabola", curve, math.NaN(), math.NaN(), true},
		{"noise", noise, math.NaN(), math.NaN(), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Pair(fieldOf(x), tt.y, nil, 1)
			if err != nil {
				t.Fatal(err)
			}
			c, err := p.Correlate(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			if !math.IsNaN(tt.pearson) && (math.Abs(c.Pearson-tt.pearson) > 1e-12 || math.Abs(c.Spearman-tt.spearman) > 1e-12) {
				t.Errorf("Pearson %g, Spearman %g", c.Pearson, c.Spearman)
			}
			if related := c.MutualP < 0.01; related != tt.related {
				t.Errorf("mutual information %g bit, p %g", c.Mutual, c.MutualP)
			}
			if tt.name == "noise" && c.SpearmanP < 0.01 {
				t.Errorf("noise has Spearman p %g", c.SpearmanP)
			}
			if again, _ := p.Correlate(t.Context(), 1); *again != *c {
				t.Error("the same pairs give another answer")
			}
		})
	}
}

// TestKnownCoefficients uses numbers worked out by hand.
func TestKnownCoefficients(t *testing.T) {
	x, y := []float64{1, 2, 3, 4}, []float64{1, 3, 2, 4}
	if got := pearson(x, y); math.Abs(got-0.8) > 1e-12 {
		t.Errorf("pearson = %g, want 0.8", got)
	}
	if got := ranks([]float64{5, 1, 5, 9}); got[0] != 1.5 || got[1] != 0 || got[2] != 1.5 || got[3] != 3 {
		t.Errorf("ranks = %v", got)
	}
	// Two bits that are equal share one bit; independent ones none.
	if got := mutual([]uint8{0, 0, 1, 1}, []uint8{0, 0, 1, 1}, 2); math.Abs(got-1) > 1e-12 {
		t.Errorf("mutual = %g, want 1", got)
	}
	if got := mutual([]uint8{0, 0, 1, 1}, []uint8{0, 1, 0, 1}, 2); math.Abs(got) > 1e-12 {
		t.Errorf("mutual = %g, want 0", got)
	}
}

func TestPairs(t *testing.T) {
	nan := math.NaN()
	f := fieldOf([]float64{1, nan, 3, 4, 5, 6}) // samples 1, 0, 3, 1, 2, 3
	p, err := Pair(f, []float64{10, 20, nan, 40, 50, 60}, []float64{0, 0, 0, 1, 1, 0}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Cell) != 2 || p.Cell[0] != 4 || p.Cell[1] != 5 {
		t.Fatalf("cells %v, want 4 and 5: two samples and both values", p.Cell)
	}
	if got := p.Within(5, 6, 0, 55); len(got) != 1 || got[0] != 4 {
		t.Errorf("Within = %v, want cell 4", got)
	}
	if _, err := p.Correlate(t.Context(), 2); err == nil {
		t.Error("two cells are correlated")
	}
	if c := p.ByCategory(t.Context(), nil, 2, true); len(c) != 2 || c[0].Value != 0 || c[1].Median != 5 {
		t.Errorf("categories %+v", c)
	}
	d, err := p.Density(4, 4)
	if err != nil || d.Counts[0] != 1 || d.Counts[15] != 1 {
		t.Errorf("density %v, %v", d, err)
	}
	// On an edge is above it, and of edges at one value the last begins a bin.
	if got := p.DensityBetween([]float64{0, 5, 5, 6, 9}, []float64{55, 60}).Counts; !slices.Equal(got, []uint32{0, 0, 1, 1}) {
		t.Errorf("between given edges %v", got)
	}
}

func TestPhysics(t *testing.T) {
	g := &grid.Grid{Layout: grid.Image, Extent: [6]int{0, 2, 0, 0, 0, 0}, Spacing: [3]float64{1, 1, 1}}
	g.PointData = []grid.Array{{Name: "t", Comps: 1, Data: []float64{1, 3, 7}}}
	g.CellData = []grid.Array{{Name: "v", Comps: 2, Data: []float32{3, 4, 0, 2}}}
	m := &grid.Mesh{Blocks: []grid.Block{{Grid: g}}}
	for name, want := range map[string][]float64{"t": {2, 5}, "v": {5, 2}} {
		got, err := Physics(t.Context(), m, name)
		if err != nil || got[0] != want[0] || got[1] != want[1] {
			t.Errorf("%s = %v, %v; want %v", name, got, err, want)
		}
	}
	if _, err := Physics(t.Context(), m, "none"); err == nil {
		t.Error("a variable that is not there is read")
	}
}

// TestNoCategory leaves cells without a category out, as those are that no other owner's
// sample is near: each would be a category of its own, which JSON cannot write.
func TestNoCategory(t *testing.T) {
	nan := math.NaN()
	p := &Pairs{Cell: []int32{0, 1, 2, 3, 4}, Perf: []float64{1, 2, 3, 4, 5}, Physics: []float64{1, 2, 3, 4, 5}, Category: []float64{nan, 1, nan, 1, 0}}
	got := p.ByCategory(t.Context(), &grid.Mesh{Blocks: []grid.Block{{Grid: box(5, 1, 1, 0)}}}, 1, false)
	if len(got) != 2 || got[0].Value != 0 || got[0].Cells != 1 || got[1].Cells != 2 || got[1].Median != 3 {
		t.Errorf("%+v", got)
	}
}
