package mesh

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/table"
)

// placementTable has samples on cells of nx × ny × nz: cell, rank and latency.
type placementTable struct {
	cell, rank, latency []float64
}

func (p *placementTable) add(cell, rank int, latency float64) {
	p.cell, p.rank, p.latency = append(p.cell, float64(cell)), append(p.rank, float64(rank)), append(p.latency, latency)
}

func (p *placementTable) table(t *testing.T) *table.Table {
	t.Helper()
	column := func(name string, values []float64) *table.Column {
		return &table.Column{Name: name, Kind: table.Number, Data: values}
	}
	out, err := table.New("samples", []*table.Column{column("cell", p.cell), column("rank", p.rank), column("latency", p.latency)})
	check(t, err)
	return out
}

// seriesOf is a mesh of one dump.
func seriesOf(ctx context.Context, m *grid.Mesh) *Series {
	s := newSeries(ctx)
	s.Steps = []Step{{From: "ordinal", Files: []string{"made"}, load: func(context.Context) (*grid.Mesh, error) { return m, nil }}}
	return s
}

func placedOn(t *testing.T, m *grid.Mesh, rows *placementTable, byRank ...RankValues) (*View, *Placed) {
	t.Helper()
	view, err := NewView(t.Context(), seriesOf(t.Context(), m), rows.table(t), Settings{ByRank: byRank})
	check(t, err)
	p, err := view.At(t.Context(), 0)
	check(t, err)
	return view, p
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func box(nx, ny, nz, from int) *grid.Grid {
	return &grid.Grid{Layout: grid.Image, Spacing: [3]float64{1, 1, 1}, Origin: [3]float64{float64(from), 0, 0}, Extent: [6]int{0, nx, 0, ny, 0, nz}}
}

func sameFloats(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) })
}

// TestOwners compares owners, shares and layers with a slow plain version: every pair of
// cells whose indices differ by at most one is a pair of neighbours.
func TestOwners(t *testing.T) {
	const nx, ny, nz = 7, 6, 5
	r := rand.New(rand.NewPCG(3, 9))
	rows, count := &placementTable{}, map[[2]int]int{}
	for range 900 {
		cell := r.IntN(nx * ny * nz)
		rank := cell % nx / 3
		if r.IntN(4) == 0 { // others touch it too
			rank = r.IntN(3)
		}
		rows.add(cell, rank, 1)
		count[[2]int{cell, rank}]++
	}
	view, p := placedOn(t, &grid.Mesh{Blocks: []grid.Block{{Grid: box(nx, ny, nz, 0)}}}, rows)

	n := nx * ny * nz
	owner, share, halo := make([]float64, n), make([]float64, n), make([]float64, n)
	for c := range n {
		owner[c], share[c] = math.NaN(), math.NaN()
		most, all := 0, 0
		for rank := range 3 {
			k := count[[2]int{c, rank}]
			if all += k; k > most {
				most, owner[c] = k, float64(rank)
			}
		}
		if all > 0 {
			share[c] = float64(most) / float64(all)
		}
	}
	far := func(a, b int) int {
		d := 0
		for _, by := range [][2]int{{a % nx, b % nx}, {a / nx % ny, b / nx % ny}, {a / (nx * ny), b / (nx * ny)}} {
			d = max(d, by[0]-by[1], by[1]-by[0])
		}
		return d
	}
	for c := range n { // the first layer; further ones go through cells with an owner
		halo[c] = math.NaN()
		for o := range n {
			if o == c || math.IsNaN(owner[c]) || math.IsNaN(owner[o]) || far(c, o) > 1 {
				continue
			}
			if owner[o] != owner[c] {
				halo[c] = 1
			} else if math.IsNaN(halo[c]) {
				halo[c] = 0
			}
		}
	}
	for k := 1.0; k < HaloLayers; k++ {
		for c := range n {
			for o := range n {
				if halo[c] == 0 && halo[o] == k && far(c, o) == 1 {
					halo[c] = k + 1
				}
			}
		}
	}
	for name, want := range map[string][]float64{"owner rank": owner, "owner share rank": share, "halo rank": halo} {
		got, err := view.Variable(t.Context(), p, name)
		check(t, err)
		if !sameFloats(got, want) {
			t.Errorf("%s\n got %v\nwant %v", name, got, want)
		}
	}
	if _, err := view.Variable(t.Context(), p, "owner cpu"); err == nil {
		t.Error("there is no cpu, and yet an owner by it")
	}
}

// TestOwnersByBlock: blocks touch where their points are at the same places, and a rank's
// lateness is that of its block where samples do not say their rank.
func TestOwnersByBlock(t *testing.T) {
	m := &grid.Mesh{Blocks: []grid.Block{{Grid: box(6, 2, 1, 0)}, {Grid: box(6, 2, 1, 6)}, {Grid: box(2, 2, 1, 40)}}}
	rows := &placementTable{}
	rows.add(0, 4, 10)
	view, p := placedOn(t, m, rows, RankValues{Lateness, map[int]float64{0: 5, 1: 50, 2: 500}})
	near := []float64{0, 0, 0, 3, 2, 1}
	rev := slices.Clone(near)
	slices.Reverse(rev)
	for name, want := range map[string][]float64{
		"owner block": slices.Concat(slices.Repeat([]float64{0}, 12), slices.Repeat([]float64{1}, 12), slices.Repeat([]float64{2}, 4)),
		"halo block":  slices.Concat(near, near, rev, rev, slices.Repeat([]float64{0}, 4)),
		Lateness:      slices.Concat(slices.Repeat([]float64{5}, 12), slices.Repeat([]float64{50}, 12), slices.Repeat([]float64{500}, 4)),
	} {
		got, err := view.Variable(t.Context(), p, name)
		check(t, err)
		if !sameFloats(got, want) {
			t.Errorf("%s\n got %v\nwant %v", name, got, want)
		}
	}
}

// TestSeparated: a field made of a part of physics, a part of placement and noise, whose
// variances are 4, 1 and 1, is taken apart again; where owner and physics are the same,
// what they explain is common to both.
func TestSeparated(t *testing.T) {
	const side = 48
	r := rand.New(rand.NewPCG(5, 8))
	material := make([]float64, side*side)
	for _, alike := range []bool{false, true} {
		rows := &placementTable{}
		for c := range material {
			x, y := c%side, c/side
			material[c] = float64(x / (side / 4) % 2)
			rank := y / (side / 4)
			if alike {
				rank = int(material[c])
			}
			late := 4*(material[c]-0.5) + 2*(float64(rank%2)-0.5) + r.NormFloat64()
			for range 3 {
				rows.add(c, rank, 100+late)
			}
		}
		g := box(side, side, 1, 0)
		g.CellData = []grid.Array{{Name: "material", Comps: 1, Data: material}}
		view, p := placedOn(t, &grid.Mesh{Blocks: []grid.Block{{Grid: g}}}, rows)
		f, err := p.Field(t.Context(), view.Table, nil, Window{}, FieldSpec{Column: "latency", Aggregate: Mean})
		check(t, err)
		got, err := view.Rank(t.Context(), p, f, 1)
		check(t, err)
		s := got.Separated
		if s == nil || s.Subjects[0].Variable != "material" || s.Subjects[1].Variable != "owner rank" {
			t.Fatalf("alike %v: separated into %+v", alike, s)
		}
		about := func(name string, got, want float64) {
			if math.Abs(got-want) > 0.04 {
				t.Errorf("alike %v: %s %.3f, want about %.3f", alike, name, got, want)
			}
		}
		if alike {
			about("together", s.Together, 9.0/10)
			about("own of physics", s.Subjects[0].Own, 0)
			about("own of placement", s.Subjects[1].Own, 0)
			about("common", s.Common, 9.0/10)
			continue
		}
		about("together", s.Together, 5.0/6)
		about("own of physics", s.Subjects[0].Own, 4.0/6)
		about("own of placement", s.Subjects[1].Own, 1.0/6)
		about("alone", s.Subjects[0].Alone, 4.0/6)
		about("common", s.Common, 0)
	}
}
