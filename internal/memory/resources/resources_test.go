package resources

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/machine/hw"
)

// pair is a machine of two nodes with two CPUs each.
func pair(t *testing.T) *hw.Topology {
	t.Helper()
	spec := hw.Spec{Name: "pair", Objects: []hw.Object{{Kind: hw.Machine, OS: -1, CPUs: hw.NewCPUs([]int{0, 1, 2, 3})}}}
	object := func(k hw.Kind, os int, cpus ...int) {
		spec.Objects = append(spec.Objects, hw.Object{Kind: k, OS: os, CPUs: hw.NewCPUs(cpus)})
	}
	for n := range 2 {
		object(hw.Package, n, 2*n, 2*n+1)
		object(hw.NUMA, n, 2*n, 2*n+1)
		object(hw.Cache3, -1, 2*n, 2*n+1)
		for cpu := 2 * n; cpu < 2*n+2; cpu++ {
			object(hw.Cache1, -1, cpu)
			object(hw.Core, cpu, cpu)
			object(hw.CPU, cpu, cpu)
		}
	}
	topology, err := hw.Build(spec)
	if err != nil {
		t.Fatal(err)
	}
	return topology
}

// drawn is samples at random: CPU 7 is not in the topology, a tenth have no width.
func drawn(t *testing.T, topology *hw.Topology, n int) (*table.Table, *hw.Rows, table.Bits) {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 4))
	cpu, level, width, symbol := make([]int32, n), make([]uint32, n), make([]float64, n), make([]uint32, n)
	addr, when := make([]uint64, n), make([]int64, n)
	valid, rows := table.FullBits(n), table.NewBits(n)
	for i := range n {
		cpu[i] = []int32{0, 1, 2, 3, 7}[random.IntN(5)]
		level[i], symbol[i] = uint32(random.IntN(3)), uint32(random.IntN(4))
		width[i] = 1e9 + float64(random.IntN(50)) // deviations that naive squares would lose
		addr[i], when[i] = uint64(random.IntN(300)), int64(i)
		if random.IntN(10) == 0 {
			valid.Clear(i)
		}
		if random.IntN(3) > 0 {
			rows.Set(i)
		}
	}
	tab, err := table.New("samples", []*table.Column{
		{Name: "time", Kind: table.Time, Unit: "ns", Provenance: table.Measured, Data: when},
		{Name: "cpu", Kind: table.Number, Provenance: table.Measured, Data: cpu},
		{Name: "level", Kind: table.Category, Provenance: table.Measured, Data: level, Dict: []string{"L1", "L3", "Local RAM"}},
		{Name: "width", Kind: table.Number, Unit: "bytes", Provenance: table.Measured, Data: width, Valid: valid},
		{Name: "addr", Kind: table.Address, Provenance: table.Measured, Data: addr},
		{Name: "symbol", Kind: table.Category, Provenance: table.Measured, Data: symbol, Dict: []string{"a", "b", "c", "d"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	places, err := hw.PlaceRows(hw.NewPlacer(topology), tab)
	if err != nil {
		t.Fatal(err)
	}
	return tab, places, rows
}

// Every measure of every resource equals a loop over the rows that selecting the
// resource gives.
func TestLikeALoop(t *testing.T) {
	topology := pair(t)
	tab, places, rows := drawn(t, topology, 4000)
	for _, column := range []string{"width", "symbol", "addr"} {
		for _, measure := range Measures {
			if column != "width" && measure != "count" && measure != "distinct" {
				continue
			}
			got, err := Fold(t.Context(), tab, places, rows, column, measure)
			if err != nil {
				t.Fatal(err)
			}
			for i := range topology.Resources {
				r := &topology.Resources[i]
				marks, err := places.Coder.Touching(r.ID)
				if err != nil {
					t.Fatal(err)
				}
				want, n := slowly(tab.Column(column), rows, measure, func(row int) bool { return marks[places.Code[row]] })
				if a := got.Passed[i]; a.Samples != n || math.Abs(a.Number-want) > 1e-9*max(1, math.Abs(want)) || a.AtLeast {
					t.Errorf("%s of %s at %s: %v of %d, want %v of %d", measure, column, r.ID, a.Number, a.Samples, want, n)
				}
			}
		}
	}
}

func slowly(c *table.Column, rows table.Bits, measure string, of func(row int) bool) (float64, int) {
	var values []float64
	for row := range c.Len() {
		if rows.Get(row) && of(row) && c.Has(row) {
			values = append(values, c.Float(row))
		}
	}
	sum, largest, different := 0.0, math.Inf(-1), map[float64]bool{}
	for _, v := range values {
		sum += v
		largest = max(largest, v)
		different[v] = true
	}
	n := len(values)
	if n == 0 {
		return 0, 0
	}
	mean, squares := sum/float64(n), 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return map[string]float64{"sum": sum, "mean": mean, "deviation": math.Sqrt(squares / float64(n)), "largest": largest,
		"count": float64(n), "distinct": float64(len(different))}[measure], n
}

// What a resource served is a part of what belongs to it, and all that was served
// is counted once.
func TestServedIsAPart(t *testing.T) {
	topology := pair(t)
	tab, places, _ := drawn(t, topology, 2000)
	got, err := Fold(t.Context(), tab, places, nil, "width", "count")
	if err != nil {
		t.Fatal(err)
	}
	served := 0
	for i := range got.Served {
		if got.Served[i].Samples > got.Passed[i].Samples {
			t.Errorf("resource %d served %d of %d", i, got.Served[i].Samples, got.Passed[i].Samples)
		}
		served += got.Served[i].Samples
	}
	width, cpu := tab.Column("width"), tab.Column("cpu")
	want := 0
	for row := range tab.Rows() {
		if width.Has(row) && cpu.Float(row) < 4 {
			want++
		}
	}
	if served != want {
		t.Errorf("%d samples were served, want %d", served, want)
	}
}

func TestRefused(t *testing.T) {
	tab, places, _ := drawn(t, pair(t), 10)
	for _, c := range []struct {
		column, measure, want string
		places                *hw.Rows
	}{
		{"wide", "sum", "does not exist", places},
		{"width", "median", "want sum, mean, deviation", places},
		{"symbol", "mean", "holds names", places},
		{"addr", "sum", "holds addresses", places},
		{"time", "sum", "holds moments", places},
		{"width", "sum", "no topology", nil},
	} {
		_, err := Fold(t.Context(), tab, c.places, nil, c.column, c.measure)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %s: %v, want %q", c.measure, c.column, err, c.want)
		}
	}
}
