package mesh

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/table"
)

// referenceTable has references to places in objects.
type referenceTable struct {
	symbol        []string
	offset, width []int64
}

func (r *referenceTable) add(symbol string, offset, width int64) {
	r.symbol, r.offset, r.width = append(r.symbol, symbol), append(r.offset, offset), append(r.width, width)
}

func (r *referenceTable) table(t *testing.T, extra ...*table.Column) *table.Table {
	t.Helper()
	in := table.NewInterner()
	codes := make([]uint32, len(r.symbol))
	for i, s := range r.symbol {
		codes[i] = in.CodeString(s)
	}
	out, err := table.New("refs", append([]*table.Column{
		{Name: "symbol", Kind: table.Category, Data: codes, Dict: in.Names()},
		{Name: "offset", Kind: table.Number, Data: r.offset},
		{Name: "width", Kind: table.Number, Data: r.width},
	}, extra...))
	check(t, err)
	return out
}

// TestAccesses compares the accesses to each cell with a slow plain count, byte by byte,
// and what a sample costs per access with the division.
func TestAccesses(t *testing.T) {
	const cells = 60
	bytes := map[string]int{"e": 8, "nodes": 32}
	r := rand.New(rand.NewPCG(7, 1))
	refs, want := &referenceTable{}, make([]float64, cells)
	other, beyond := 0, 0
	for range 3000 {
		name := []string{"e", "nodes", "buffer"}[r.IntN(3)]
		// Nobody touches the first cells, and some references lie behind the last.
		offset, width := 5*8+r.Int64N(61*32), []int64{1, 4, 8, 16, 32, 64}[r.IntN(6)]
		refs.add(name, offset, width)
		per := int64(bytes[name])
		switch {
		case per == 0:
			other++
			continue
		case offset/per >= cells:
			beyond++
			continue
		}
		touched := map[int64]bool{}
		for b := offset; b < offset+width; b++ {
			touched[b/per] = true
		}
		for c := range touched {
			if c < cells {
				want[c]++
			}
		}
	}
	rows := &placementTable{}
	sum := make([]float64, cells)
	for range 500 {
		c, latency := r.IntN(cells), float64(r.IntN(300))
		rows.add(c, 0, latency)
		sum[c] += latency
	}
	set := Settings{References: refs.table(t), Columns: Columns{CellBytes: bytes}}
	view, err := NewView(t.Context(), seriesOf(t.Context(), &grid.Mesh{Blocks: []grid.Block{{Grid: box(5, 4, 3, 0)}}}), rows.table(t), set)
	check(t, err)
	p, err := view.At(t.Context(), 0)
	check(t, err)
	got, err := view.Variable(t.Context(), p, Accesses)
	check(t, err)
	if !sameFloats(got, want) {
		t.Errorf("accesses %v, want %v", got, want)
	}
	counts, err := view.AccessCounts(t.Context(), p)
	check(t, err)
	if counts != (AccessCounts{Recorded: 3000, OnCells: 3000 - other - beyond, Other: other, OutOfRange: beyond}) {
		t.Errorf("%+v; %d are to other data, %d beyond the mesh", counts, other, beyond)
	}
	spec, err := ParseField("latency_sum_per_access", view.Table)
	check(t, err)
	f, err := p.Field(t.Context(), view.Table, nil, Window{}, spec)
	check(t, err)
	missing := 0
	for c := range cells {
		per := sum[c] / want[c]
		if f.Samples[c] == 0 || want[c] == 0 {
			per = math.NaN()
		}
		if f.Samples[c] > 0 && want[c] == 0 {
			missing++
		}
		if v := f.Values[c]; v != per && !(math.IsNaN(v) && math.IsNaN(per)) {
			t.Errorf("cell %d: %g per access, want %g", c, v, per)
		}
	}
	if f.NoAccess != missing || missing == 0 || !f.Uncertain() || f.Name() != "latency_sum_per_access" {
		t.Errorf("%s: %d cells without a recorded access, want %d; uncertain %v", f.Name(), f.NoAccess, missing, f.Uncertain())
	}
}

// TestAccessesOverTime takes the cost of a region together and then its accesses.
func TestAccessesOverTime(t *testing.T) {
	refs := &referenceTable{}
	for c, times := range []int{1, 3, 0, 4} {
		for range times {
			refs.add("e", int64(8*c), 8)
		}
	}
	// Cell 2 has samples and no access: they are in no region.
	tab, err := table.New("samples", []*table.Column{
		{Name: "cell", Data: []int64{0, 1, 1, 2, 3}}, {Name: "latency", Data: []int64{10, 20, 30, 1000, 7}}, {Name: "iteration", Data: []int64{0, 0, 0, 0, 0}},
	})
	check(t, err)
	view, err := NewView(t.Context(), seriesOf(t.Context(), &grid.Mesh{Blocks: []grid.Block{{Grid: box(2, 2, 1, 0)}}}), tab,
		Settings{References: refs.table(t), Columns: Columns{CellBytes: map[string]int{"e": 8}}})
	check(t, err)
	got, err := view.OverTime(t.Context(), nil, FieldSpec{Column: "latency", Aggregate: Sum, PerAccess: true}, "index y")
	check(t, err)
	if len(got.Rows) != 2 || *got.Rows[0].Values[0] != 60./4 || *got.Rows[1].Values[0] != 7./4 {
		t.Errorf("%+v", got.Rows)
	}
}

// TestSamplesByOffset places samples that say which byte of an object they touch.
func TestSamplesByOffset(t *testing.T) {
	rows := &referenceTable{}
	for _, offset := range []int64{0, 7, 8, 800, 31} {
		rows.add("e", offset, 8)
	}
	rows.add("other", 8, 8)
	for _, first := range []int{0, 1} {
		view, err := NewView(t.Context(), seriesOf(t.Context(), &grid.Mesh{Blocks: []grid.Block{{Grid: box(4, 1, 1, 0)}}}), rows.table(t),
			Settings{Numbering: Numbering{First: first}, Columns: Columns{CellBytes: map[string]int{"e": 8}}})
		check(t, err)
		p, err := view.At(t.Context(), 0)
		check(t, err)
		for i, want := range []int32{0, 0, 1, OutOfRange, 3, NoCell} {
			if p.Place[i] != want {
				t.Errorf("cells from %d: row %d is on %d, want %d", first, i, p.Place[i], want)
			}
		}
	}
}

// TestNoAccesses says why there is no cost per access.
func TestNoAccesses(t *testing.T) {
	refs := &referenceTable{}
	refs.add("e", 0, 8)
	one, two := []grid.Block{{Grid: box(2, 1, 1, 0)}}, []grid.Block{{Grid: box(2, 1, 1, 0)}, {Grid: box(2, 1, 1, 2)}}
	rows := &placementTable{}
	rows.add(0, 0, 1)
	tests := []struct {
		name   string
		blocks []grid.Block
		set    Settings
		field  string
		want   string
	}{
		{"no references", one, Settings{Columns: Columns{CellBytes: map[string]int{"e": 8}}}, "samples_per_access", "record --refs"},
		{"no layout", one, Settings{References: refs.table(t)}, "samples_per_access", "--cell-bytes"},
		{"another object", one, Settings{References: refs.table(t), Columns: Columns{CellBytes: map[string]int{"rho": 8}}}, "samples_per_access", "there are e"},
		{"an object more", one, Settings{References: refs.table(t), Columns: Columns{CellBytes: map[string]int{"e": 8, "rho": 8}}}, "samples_per_access", "object rho; there are e"},
		{"no bytes", one, Settings{References: refs.table(t), Columns: Columns{CellBytes: map[string]int{"e": 0}}}, "samples_per_access", "0 bytes per cell"},
		{"blocks", two, Settings{References: refs.table(t), Columns: Columns{CellBytes: map[string]int{"e": 8}}}, "samples_per_access", "one block"},
		{"a mean", one, Settings{References: refs.table(t), Columns: Columns{CellBytes: map[string]int{"e": 8}}}, "latency_avg_per_access", "samples and sums"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := func() error {
				view, err := NewView(t.Context(), seriesOf(t.Context(), &grid.Mesh{Blocks: tt.blocks}), rows.table(t), tt.set)
				if err != nil {
					return err
				}
				p, err := view.At(t.Context(), 0)
				check(t, err)
				spec, err := ParseField(tt.field, view.Table)
				if err == nil {
					_, err = p.Field(t.Context(), view.Table, nil, Window{}, spec)
				}
				return err
			}()
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one about %q", err, tt.want)
			}
		})
	}
}
