package mesh

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/table"
)

// lulesh reads the real samples by hand: every row as a map from column name
// to text. Nothing of the code under test is used.
func lulesh(t testing.TB) []map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join(test.Shared(t, "samples/lulesh_legacy"), "data", "samples.out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	all, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]map[string]string, 0, len(all)-1)
	for _, rec := range all[1:] {
		m := map[string]string{}
		for i, name := range all[0] {
			m[name] = rec[i]
		}
		rows = append(rows, m)
	}
	return rows
}

func num(s string) int { n, _ := strconv.Atoi(s); return n }

// luleshTable makes a table of the columns a projection needs.
func luleshTable(t testing.TB, rows []map[string]string) *table.Table {
	t.Helper()
	var cols []*table.Column
	for _, name := range []string{"xidx", "yidx", "zidx", "iter", "latency", "cpu", "node", "index", "map3D"} {
		data := make([]int64, len(rows))
		for i, r := range rows {
			data[i] = int64(num(r[name]))
		}
		cols = append(cols, &table.Column{Name: name, Data: data, Provenance: table.Measured})
	}
	codes, dict := make([]uint32, len(rows)), []string{}
	for i, r := range rows {
		k := slices.Index(dict, r["variable"])
		if k < 0 {
			k = len(dict)
			dict = append(dict, r["variable"])
		}
		codes[i] = uint32(k)
	}
	cols = append(cols, &table.Column{Name: "variable", Kind: table.Category, Data: codes, Dict: dict})
	tab, err := table.New("samples", cols)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func cube(n int) *Space {
	s := &Space{}
	s.add(Part{Cells: n * n * n, Dims: [3]int{n, n, n}})
	return s
}

func project(t testing.TB, tab *table.Table, sp *Space) *Projection {
	t.Helper()
	samples, err := FromTable(t.Context(), tab, Columns{}.Fill(tab))
	if err != nil {
		t.Fatal(err)
	}
	place, err := Locate(t.Context(), samples, sp, Numbering{})
	if err != nil {
		t.Fatal(err)
	}
	iteration, err := Ints(t.Context(), tab.Column("iter"))
	if err != nil {
		t.Fatal(err)
	}
	return &Projection{Cells: sp.Cells, Place: place, Iteration: iteration}
}

func selection(rows []map[string]string, keep func(map[string]string) bool) table.Bits {
	b := table.NewBits(len(rows))
	for i, r := range rows {
		if keep(r) {
			b.Set(i)
		}
	}
	return b
}

// TestRealSamples compares every cell of fields of real LULESH samples on a
// mesh of their extent with a computation of its own, and the totals with
// numbers taken by another program.
func TestRealSamples(t *testing.T) {
	rows := lulesh(t)
	tab := luleshTable(t, rows)
	p := project(t, tab, cube(32))
	every := func(map[string]string) bool { return true }
	tests := []struct {
		name                         string
		keep                         func(map[string]string) bool
		window                       Window
		samples, cells, sum, largest int
		most, mostAt                 int
	}{
		{"all", every, Window{}, 4543, 3783, 250755, 3180, 28, 9688},
		{"up to 100", every, Window{UpTo, math.MinInt64, 100, false}, 626, 581, 31662, 1955, 20, 9688},
		{"up to 642", every, Window{UpTo, math.MinInt64, 642, false}, 2886, 2569, 142708, 2421, 24, 9688},
		{"100 to 200", every, Window{Only, 100, 200, false}, 639, 626, 26682, 972, 2, -1},
		{"exactly 100", every, Window{Only, 99, 100, true}, 5, 5, 385, 253, 1, -1},
		{"cpu 0..10", func(r map[string]string) bool { return num(r["cpu"]) <= 10 }, Window{}, 1669, 1358, 93764, 3180, 18, 9688},
		{"cpu 0..10, slow", func(r map[string]string) bool { return num(r["cpu"]) <= 10 && num(r["latency"]) >= 100 }, Window{}, 179, 114, 49354, 3096, 14, 9688},
		{"low x", func(r map[string]string) bool { return num(r["xidx"]) <= 15 }, Window{}, 2151, 1786, 133647, 3180, 10, 6476},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := p.Project(t.Context(), selection(rows, tt.keep), tt.window, FieldSpec{Column: "latency", Aggregate: Sum}, tab.Column("latency"))
			if err != nil {
				t.Fatal(err)
			}
			_, hi, sum, cells := f.Stats()
			if f.Counts.Used != tt.samples || cells != tt.cells || int(sum) != tt.sum || int(hi) != tt.largest {
				t.Errorf("%d samples on %d cells, sum %g, largest %g; want %d, %d, %d, %d", f.Counts.Used, cells, sum, hi, tt.samples, tt.cells, tt.sum, tt.largest)
			}
			if at := slices.Index(f.Samples, slices.Max(f.Samples)); int(slices.Max(f.Samples)) != tt.most || tt.mostAt >= 0 && at != tt.mostAt {
				t.Errorf("most samples %d in cell %d, want %d in %d", slices.Max(f.Samples), at, tt.most, tt.mostAt)
			}
			checkCells(t, rows, f, tt.keep, tt.window)
		})
	}
	f, _ := p.Project(t.Context(), nil, Window{}, FieldSpec{Column: "latency", Aggregate: Mean}, tab.Column("latency"))
	if got := f.Values[5120]; math.Abs(got-3180.0/9) > 1e-9 || f.Samples[5120] != 9 {
		t.Errorf("cell 5120: average %g of %d, want 353.333 of 9", got, f.Samples[5120])
	}
}

// checkCells recomputes a latency sum cell by cell from the text of the file.
func checkCells(t *testing.T, rows []map[string]string, f *Field, keep func(map[string]string) bool, w Window) {
	t.Helper()
	want := map[int]int{}
	for _, r := range rows {
		it := int64(num(r["iter"]))
		if r["map3D"] == "0" || !keep(r) || w.Mode != "" && (it <= w.After || it > w.To) {
			continue
		}
		want[num(r["xidx"])+32*(num(r["yidx"])+32*num(r["zidx"]))] += num(r["latency"])
	}
	for c, v := range f.Values {
		if sum, ok := want[c]; ok != !math.IsNaN(v) || ok && float64(sum) != v {
			t.Fatalf("cell %d: %g, want %d (hit: %v)", c, v, sum, ok)
		}
	}
}

// TestCounts puts the samples of a 32^3 run on a 20^3 mesh: indices beyond an
// axis are out of range, also when their combination would be a valid cell.
func TestCounts(t *testing.T) {
	tab := luleshTable(t, lulesh(t))
	p := project(t, tab, cube(20))
	f, err := p.Project(t.Context(), nil, Window{}, FieldSpec{Aggregate: Count}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := Counts{Selected: 15676, Used: 993, NoCell: 11133, OutOfRange: 3550}
	if f.Counts != want {
		t.Errorf("counts %+v, want %+v", f.Counts, want)
	}
	f, _ = p.Project(t.Context(), nil, Window{Mode: UpTo, After: math.MinInt64, To: 180}, FieldSpec{Aggregate: Count}, nil)
	if want := (Counts{Selected: 3381, Used: 282, NoCell: 2240, OutOfRange: 859}); f.Counts != want {
		t.Errorf("up to 180: counts %+v, want %+v", f.Counts, want)
	}
}

// TestModes checks that what happened between dumps adds up to what happened
// until the last of them.
func TestModes(t *testing.T) {
	tab := luleshTable(t, lulesh(t))
	p := project(t, tab, cube(20))
	s := &Series{Steps: []Step{{Iteration: 60, From: "file"}, {Iteration: 180}, {Iteration: 300}, {Iteration: 420}, {Iteration: 540}}}
	since := []int{90, 192, 175, 77, 74}
	exact := []int{1, 4, 2, 0, 1}
	total := 0
	for i, st := range s.Steps {
		for _, tt := range []struct {
			exact bool
			want  int
		}{{false, since[i]}, {true, exact[i]}} {
			w, err := NewWindow(s, Only, st.Iteration, tt.exact, nil)
			if err != nil {
				t.Fatal(err)
			}
			f, _ := p.Project(t.Context(), nil, w, FieldSpec{Aggregate: Count}, nil)
			if f.Counts.Used != tt.want {
				t.Errorf("only %d (%s): %d used, want %d", st.Iteration, w.Variant(), f.Counts.Used, tt.want)
			}
		}
		total += since[i]
		w, _ := NewWindow(s, UpTo, st.Iteration, false, nil)
		f, _ := p.Project(t.Context(), nil, w, FieldSpec{Aggregate: Count}, nil)
		if f.Counts.Used != total {
			t.Errorf("up to %d: %d used, want %d", st.Iteration, f.Counts.Used, total)
		}
	}
	if _, err := NewWindow(s, "sometimes", 1, false, nil); err == nil {
		t.Error("mode sometimes is accepted")
	}
}

// TestNodeList places samples of an array with eight entries per cell by their
// index: the other columns of those rows say the same cell.
func TestNodeList(t *testing.T) {
	rows := lulesh(t)
	tab := luleshTable(t, rows)
	c := Columns{}.Fill(tab)
	c.X, c.Y, c.Z = "", "", ""
	c.PerCell = map[string]int{"m_nodelist": 8}
	s, err := FromTable(t.Context(), tab, c)
	if err != nil {
		t.Fatal(err)
	}
	place, err := Locate(t.Context(), s, cube(32), Numbering{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i, r := range rows {
		if r["variable"] != "m_nodelist" || r["map3D"] == "0" {
			if place[i] != NoCell {
				t.Fatalf("row %d of %s is in cell %d", i, r["variable"], place[i])
			}
			continue
		}
		n++
		if want := num(r["xidx"]) + 32*(num(r["yidx"])+32*num(r["zidx"])); int(place[i]) != want {
			t.Fatalf("row %d: cell %d, want %d", i, place[i], want)
		}
	}
	if n == 0 {
		t.Error("no rows of m_nodelist")
	}
	c.PerCell = map[string]int{"nothing": 1}
	if _, err := FromTable(t.Context(), tab, c); err == nil {
		t.Error("an unknown object is accepted")
	}
}

// TestAggregates compares all aggregates with obvious versions on random rows.
func TestAggregates(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const rows, cells = 400_000, 700
	place, iter, data := make([]int32, rows), make([]int32, rows), make([]float64, rows)
	valid, sel := table.NewBits(rows), table.NewBits(rows)
	for i := range rows {
		place[i] = int32(r.IntN(cells+30)) - 3
		if place[i] >= cells-20 {
			place[i] = int32(r.IntN(3)) - 3
		}
		iter[i] = int32(r.IntN(100))
		if r.IntN(20) == 0 {
			iter[i] = Missing
		}
		data[i] = float64(r.IntN(50)) - 10
		if r.IntN(10) > 0 {
			valid.Set(i)
		}
		if r.IntN(3) > 0 {
			sel.Set(i)
		}
	}
	p := &Projection{Cells: cells, Place: place, Iteration: iter}
	for _, tt := range []struct {
		name  string
		w     Window
		valid table.Bits
	}{
		{"some times, gaps", Window{Only, 20, 70, false}, valid},
		{"some times", Window{Only, 20, 70, false}, nil},
		{"all times, gaps", Window{Mode: All}, valid},
		{"all times", Window{Mode: All}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			compareAggregates(t, p, sel, tt.w, &table.Column{Name: "v", Data: data, Valid: tt.valid})
		})
	}
}

func compareAggregates(t *testing.T, p *Projection, sel table.Bits, w Window, col *table.Column) {
	t.Helper()
	groups := make([][]float64, p.Cells)
	var counts Counts
	for i := range p.Place {
		if !sel.Get(i) {
			continue
		}
		switch it := int64(p.Iteration[i]); {
		case w.Mode == Only && p.Iteration[i] == Missing:
			counts.NoIteration++
		case w.Mode == Only && (it <= w.After || it > w.To):
			continue
		case p.Place[i] == NoCell:
			counts.NoCell++
		case p.Place[i] == OutOfRange:
			counts.OutOfRange++
		case p.Place[i] == NoLevel:
			counts.NoLevel++
		default:
			counts.Used++
			if col.Has(i) {
				groups[p.Place[i]] = append(groups[p.Place[i]], col.Float(i))
			}
		}
		counts.Selected++
	}
	for _, a := range aggregates {
		f, err := p.Project(t.Context(), sel, w, FieldSpec{Column: "v", Aggregate: a}, col)
		if err != nil {
			t.Fatal(err)
		}
		if f.Counts != counts {
			t.Errorf("%s: counts %+v, want %+v", a, f.Counts, counts)
		}
		for c, v := range groups {
			want := slowly(a, v)
			if got := f.Values[c]; math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) || math.IsNaN(got) != math.IsNaN(want) {
				t.Fatalf("%s of cell %d: %g, want %g", a, c, got, want)
			}
		}
	}
}

// TestOddValues: a value that is no number spoils the sum of its own cell where
// it is selected, and nothing elsewhere.
func TestOddValues(t *testing.T) {
	p := &Projection{Cells: 2, Place: []int32{0, 0, 1, 1}}
	col := &table.Column{Name: "v", Data: []float64{1, math.NaN(), 3, math.Inf(1)}}
	sel := table.NewBits(4)
	for _, i := range []int{0, 2, 3} {
		sel.Set(i)
	}
	f, err := p.Project(t.Context(), sel, Window{Mode: All}, FieldSpec{Column: "v", Aggregate: Sum}, col)
	if err != nil || f.Values[0] != 1 || !math.IsInf(f.Values[1], 1) {
		t.Errorf("%v, %v", f, err)
	}
}

func slowly(a Aggregate, v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	v = slices.Clone(v)
	slices.Sort(v)
	sum, count, n := 0.0, map[float64]int{}, float64(len(v))
	for _, x := range v {
		sum += x
		count[x]++
	}
	switch a {
	case Sum:
		return sum
	case Mean:
		return sum / n
	case Min:
		return v[0]
	case Max:
		return v[len(v)-1]
	case Std:
		dev := 0.0
		for _, x := range v {
			dev += (x - sum/n) * (x - sum/n)
		}
		return math.Sqrt(dev / n)
	case Distinct:
		return float64(len(count))
	case Dominant:
		best := v[0]
		for _, x := range v {
			if count[x] > count[best] {
				best = x
			}
		}
		return best
	}
	at := map[Aggregate]float64{Median: 0.5, P90: 0.9, P99: 0.99}[a] * (n - 1)
	lo, hi := v[int(math.Floor(at))], v[int(math.Ceil(at))]
	return lo + (at-math.Floor(at))*(hi-lo)
}

func TestLocateErrors(t *testing.T) {
	two := &Space{}
	two.add(Part{Cells: 8, Dims: [3]int{2, 2, 2}})
	two.add(Part{Domain: 1, Cells: 8, Dims: [3]int{2, 2, 2}})
	tests := []struct {
		name string
		s    Samples
		sp   *Space
		num  Numbering
		want string // places, or "error"
	}{
		{"no columns", Samples{Rows: 1}, cube(2), Numbering{}, "error"},
		{"blocks without a domain", Samples{Rows: 1, X: []int32{0}}, two, Numbering{}, "error"},
		{"domains", Samples{Rows: 3, X: []int32{1, 1, 0}, Y: []int32{0, 0, 0}, Z: []int32{0, 0, 0}, Domain: []int32{0, 1, 2}}, two, Numbering{}, "[1 9 -2]"},
		{"fortran", Samples{Rows: 2, X: []int32{1, 2}, Y: []int32{1, 2}, Z: []int32{2, 3}}, cube(2), Numbering{First: 1, ZFast: true}, "[1 -2]"},
		{"cell numbers", Samples{Rows: 4, Cell: []int32{0, 7, 8, Missing}}, cube(2), Numbering{}, "[0 7 -2 -1]"},
		{"missing axis", Samples{Rows: 1, X: []int32{1}, Y: []int32{Missing}}, cube(2), Numbering{}, "[-1]"},
		{"negative", Samples{Rows: 1, X: []int32{-1}}, cube(2), Numbering{}, "[-2]"},
		{"coarser", Samples{Rows: 4, X: []int32{7, 8, 15, 16}, Y: []int32{0, 1, 1, 0}, Z: []int32{0, 2, 3, 0}}, cube(2), Numbering{Per: [3]int{8, 1, 2}}, "[0 7 7 -2]"},
		{"coarser, before the first", Samples{Rows: 2, X: []int32{0, 1}}, cube(2), Numbering{First: 1, Per: [3]int{8}}, "[-2 0]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Locate(t.Context(), &tt.s, tt.sp, tt.num)
			text := fmt.Sprint(got)
			if err != nil {
				text = "error"
			}
			if text != tt.want {
				t.Errorf("Locate = %v (%v), want %s", got, err, tt.want)
			}
		})
	}
}
