package mesh

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/table"
)

// sums are added up by hand: key is "row dump".
type sums map[string]*[2]float64

func (s sums) add(key string, v float64) {
	if s[key] == nil {
		s[key] = &[2]float64{}
	}
	s[key][0]++
	s[key][1] += v
}

// TestOverTimeOfLULESH compares regions and layers over time with sums made row by row
// from the samples and the values of the dumps.
func TestOverTimeOfLULESH(t *testing.T) {
	rows := lulesh(t)
	dumps := []int{60, 180, 300, 420, 540}
	series, err := Open(t.Context(), filepath.Join(test.Shared(t, "mesh/lulesh"), "lulesh_c*.vtk"))
	if err != nil {
		t.Fatal(err)
	}
	view, err := NewView(t.Context(), series, luleshTable(t, rows), Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range []string{"index z", "e", ""} {
		t.Run("by "+by, func(t *testing.T) {
			got, err := view.OverTime(t.Context(), nil, FieldSpec{Column: "latency", Aggregate: Mean}, by)
			if err != nil {
				t.Fatal(err)
			}
			want := sums{}
			for i, r := range rows {
				step := -1
				for k := len(dumps) - 1; k >= 0; k-- {
					if num(r["iter"]) <= dumps[k] {
						step = k
					}
				}
				if step < 0 {
					continue
				}
				p, err := view.At(t.Context(), step)
				if err != nil {
					t.Fatal(err)
				}
				cell := p.Place[i]
				if cell < 0 {
					continue
				}
				row := 0
				switch by {
				case "index z":
					row = num(r["zidx"])
				case "e":
					e := p.Mesh.Blocks[0].Grid.CellData
					v := grid.Find(e, "e").At(int(cell))
					for k := range got.Rows {
						if v >= got.Rows[k].Low {
							row = k
						}
					}
				}
				want.add(fmt.Sprint(row, " ", step), float64(num(r["latency"])))
			}
			if len(want) < 5 {
				t.Fatalf("only %d sums", len(want))
			}
			found := 0
			for i, row := range got.Rows {
				for k, v := range row.Values {
					w := want[fmt.Sprint(i, " ", k)]
					if v == nil {
						if w != nil {
							t.Errorf("%s, dump %d: nothing, want %v", row.Label, dumps[k], *w)
						}
						continue
					}
					found++
					if w == nil || float64(row.Samples[k]) != w[0] || math.Abs(*v-w[1]/w[0]) > 1e-9*math.Abs(*v) {
						t.Errorf("%s, dump %d: %g of %d samples, want %v", row.Label, dumps[k], *v, row.Samples[k], w)
					}
				}
			}
			if found != len(want) {
				t.Errorf("%d values, want %d", found, len(want))
			}
		})
	}
}

// wave is a row of cells through which a front runs, one cell a dump; each cell has
// samples between any two dumps. The run becomes slower as a whole, and from the front
// on cells of the second half cost more.
func wave(t *testing.T, more float64) *View {
	t.Helper()
	const cells, each = 12, 8
	iterations := make([]int64, cells)
	for k := range iterations {
		iterations[k] = int64(10 * (k + 1))
	}
	series := NewSeries(t.Context(), "wave", iterations, func(step int) (*grid.Mesh, error) {
		u := make([]float64, cells)
		for c := range u {
			if c <= step {
				u[c] = 5 + 0.1*float64(step-c)
			}
		}
		g := &grid.Grid{Layout: grid.Image, Spacing: [3]float64{1, 1, 1}, Extent: [6]int{0, cells, 0, 1, 0, 1},
			CellData: []grid.Array{{Name: "u", Comps: 1, Data: u}}}
		return &grid.Mesh{Blocks: []grid.Block{{Grid: g}}}, g.Check()
	})
	r := rand.New(rand.NewPCG(3, 27))
	var x, y, z, it []int32
	var latency []float64
	for step := range cells {
		for c := range cells {
			for range each {
				x, y, z, it = append(x, int32(c)), append(y, 0), append(z, 0), append(it, int32(10*step+1+r.IntN(10)))
				cost := 100 + 20*float64(step) + 4*r.NormFloat64()
				if c >= cells/2 && step >= c {
					cost += more
				}
				latency = append(latency, cost)
			}
		}
	}
	column := func(name string, data any) *table.Column {
		return &table.Column{Name: name, Data: data, Provenance: table.Measured}
	}
	tab, err := table.New("samples", []*table.Column{column("x", x), column("y", y), column("z", z), column("iteration", it), column("latency", latency)})
	if err != nil {
		t.Fatal(err)
	}
	v, err := NewView(t.Context(), series, tab, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestFront: the cells that cost more from the front on are found, with their dump, and
// no others; a run that is slower at every dump is none of the front's doing.
func TestFront(t *testing.T) {
	v := wave(t, 30)
	f, err := v.Front(t.Context(), nil, FieldSpec{Column: "latency", Aggregate: Mean}, "u")
	if err != nil {
		t.Fatal(err)
	}
	if f.Passed != 11 || f.Cells != 12 || f.Tested != 9 {
		t.Errorf("front through %d of %d cells, %d tested; want 11 of 12 (the first is behind it at the start), 9 (of the last dumps hardly any cells are before it)", f.Passed, f.Cells, f.Tested)
	}
	costly := map[int]bool{}
	for _, c := range f.Changed {
		if c.Iteration != int64(10*(c.Cell+1)) {
			t.Errorf("the front reaches cell %d at %d, want %d", c.Cell, c.Iteration, 10*(c.Cell+1))
		}
		if d := c.After - c.Before; math.Abs(d-30) > 6 {
			t.Errorf("cell %d costs %g more from the front on, want 30", c.Cell, d)
		}
		costly[c.Cell] = true
	}
	for c := range 12 {
		if want := c >= 6 && c < 10; costly[c] != want {
			t.Errorf("cell %d costs more from the front on: %t, want %t", c, costly[c], want)
		}
	}
	quiet, err := wave(t, 0).Front(t.Context(), nil, FieldSpec{Column: "latency", Aggregate: Mean}, "u")
	if err != nil {
		t.Fatal(err)
	}
	if len(quiet.Changed) > 0 {
		t.Errorf("without any cost of the front: %v", quiet.Changed)
	}
	for _, o := range quiet.Offsets {
		if d := math.Abs(*o.Mean - *o.Usual); d > 4*4/math.Sqrt(float64(o.Samples)) {
			t.Errorf("%d dumps after the front: %g, usual %g", o.Dumps, *o.Mean, *o.Usual)
		}
	}
}

// TestChange: what a cell has more than at another dump; nothing where one has none.
func TestChange(t *testing.T) {
	nan := math.NaN()
	f, err := Change(&Field{Values: []float64{5, nan, 3, 1}, Samples: []uint32{2, 0, 9, 1}}, &Field{Values: []float64{2, 1, nan, 4}, Samples: []uint32{7, 1, 0, 3}})
	if err != nil {
		t.Fatal(err)
	}
	for c, want := range []float64{3, nan, nan, -3} {
		if got := f.Values[c]; got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("cell %d: %g, want %g", c, got, want)
		}
	}
	if fmt.Sprint(f.Samples) != "[2 0 0 1]" {
		t.Errorf("samples %v", f.Samples)
	}
	if _, err := Change(&Field{Values: make([]float64, 3)}, &Field{Values: make([]float64, 4)}); err == nil {
		t.Error("other cells are compared")
	}
}

// TestLine: the pieces of a line through unit cells are where its coordinates pass whole
// numbers.
func TestLine(t *testing.T) {
	s, err := UnitMesh(t.Context(), [3]int{4, 4, 4})
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Mesh(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	sp, err := NewSpace(m)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(9, 27))
	for range 50 {
		var from, to [3]float64
		for k := range from {
			from[k], to[k] = 6*r.Float64()-1, 6*r.Float64()-1
		}
		pieces, err := Line(t.Context(), m, sp, from, to)
		if err != nil {
			t.Fatal(err)
		}
		long := 0.0
		for _, p := range pieces {
			mid := (p.From + p.To) / 2
			want := 0
			for k := 2; k >= 0; k-- {
				want = 4*want + int(math.Floor(from[k]+mid*(to[k]-from[k])))
			}
			if p.Cell != want {
				t.Fatalf("%v to %v, at %g: cell %d, want %d", from, to, mid, p.Cell, want)
			}
			long += p.To - p.From
		}
		lo, hi := 0.0, 1.0 // the part of the line inside of the cube
		for k := range from {
			a, b := (0-from[k])/(to[k]-from[k]), (4-from[k])/(to[k]-from[k])
			lo, hi = max(lo, min(a, b)), min(hi, max(a, b))
		}
		if want := max(0, hi-lo); math.Abs(long-want) > 2.0/linePoints {
			t.Errorf("%v to %v: %g of it inside, want %g", from, to, long, want)
		}
	}
}
