package heatmap

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/isobath/isobath/internal/data/table"
)

// sampled is a table whose cells are known by construction: sample i is at time
// 10·i on CPU i%cpus, costs i cycles, and every fifth has no CPU.
func sampled(t *testing.T, n, cpus int) *table.Table {
	t.Helper()
	times, latency := make([]uint64, n), make([]int64, n)
	cpu, level, symbol := make([]int64, n), make([]uint32, n), make([]uint32, n)
	valid := table.NewBits(n)
	for i := range n {
		times[i], latency[i], cpu[i] = uint64(10*i), int64(i), int64(i%cpus)
		level[i], symbol[i] = uint32(i%2), uint32(i%7*(i%7)%7)
		if i%5 != 0 {
			valid.Set(i)
		}
	}
	names := []string{"a", "b", "c", "d", "e", "f", "g"}
	out, err := table.New("samples", []*table.Column{
		table.Times("time", "ns", table.Measured, times, nil),
		table.Ints("cpu", "", table.Measured, cpu, valid),
		table.Ints("latency", "cycles", table.Measured, latency, nil),
		table.Categories("level", table.Measured, level, []string{"L1", "L2"}, nil),
		table.Categories("symbol", table.Measured, symbol, names, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestCountsLikeALoop compares every cell with a loop over the rows.
func TestCountsLikeALoop(t *testing.T) {
	tab := sampled(t, 1000, 13)
	random := rand.New(rand.NewPCG(1, 2))
	rows := table.NewBits(tab.Rows())
	for i := range tab.Rows() {
		if random.IntN(3) > 0 {
			rows.Set(i)
		}
	}
	for _, by := range []string{"cpu", "symbol"} {
		g, err := Count(t.Context(), tab, rows, Options{By: by, Windows: 20, Rows: 64})
		if err != nil {
			t.Fatal(err)
		}
		type cell struct {
			samples, second uint32
			sum             float64
		}
		want := map[string]cell{}
		missing := 0
		c := tab.Column(by)
		for i := range rows.All() {
			if !c.Has(i) {
				missing++
				continue
			}
			w := 0
			for w+1 < 20 && float64(10*i) >= g.Edges[w+1] {
				w++
			}
			k := fmt.Sprint(c.Text(i), " ", w)
			x := want[k]
			x.samples++
			x.sum += float64(i)
			x.second += uint32(i % 2)
			want[k] = x
		}
		if g.Missing != missing {
			t.Errorf("%s: %d without a value, want %d", by, g.Missing, missing)
		}
		for r, row := range g.Rows {
			for w := range 20 {
				at := r*20 + w
				got := cell{g.Samples[at], g.Mix[1][at], g.Sums[at]}
				if x := want[fmt.Sprint(row.Name, " ", w)]; got != x {
					t.Errorf("%s %s, window %d: %+v, want %+v", by, row.Name, w, got, x)
				}
			}
		}
	}
}

// TestRowsAreJoined: numbers with their neighbours, names into one last row, and
// no sample is lost by it.
func TestRowsAreJoined(t *testing.T) {
	tab := sampled(t, 5000, 384)
	all, err := Count(t.Context(), tab, nil, Options{By: "cpu", Windows: 10, Rows: 100})
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Rows) != 96 || all.Rows[0].Name != "0" || all.Rows[0].Last != "3" || all.Rows[95].Last != "383" {
		t.Errorf("rows: %d, first %+v, last %+v", len(all.Rows), all.Rows[0], all.Rows[len(all.Rows)-1])
	}
	if total(all.Samples)+all.Missing != tab.Rows() {
		t.Errorf("%d samples and %d missing of %d", total(all.Samples), all.Missing, tab.Rows())
	}
	names, err := Count(t.Context(), tab, nil, Options{By: "symbol", Windows: 10, Rows: 3})
	if err != nil {
		t.Fatal(err)
	}
	last := names.Rows[len(names.Rows)-1]
	if len(names.Rows) != 3 || !last.Rest || last.Name != "2 more" || names.Rows[0].Samples < names.Rows[1].Samples {
		t.Errorf("rows: %+v", names.Rows)
	}
	if total(names.Samples) != tab.Rows() {
		t.Errorf("%d samples of %d", total(names.Samples), tab.Rows())
	}
}

func total(counts []uint32) (n int) {
	for _, c := range counts {
		n += int(c)
	}
	return n
}

func TestRefuses(t *testing.T) {
	tab := sampled(t, 10, 2)
	for _, o := range []Options{
		{By: "nothing", Windows: 5, Rows: 5},
		{By: "time", Windows: 5, Rows: 5},
		{By: "cpu", Windows: 0, Rows: 5},
		{By: "cpu", Windows: MostWindows, Rows: MostRows},
		{By: "cpu", Windows: 5, Rows: 5, Lo: 9, Hi: 1},
	} {
		if _, err := Count(t.Context(), tab, nil, o); err == nil {
			t.Errorf("%+v was not refused", o)
		}
	}
}

// TestRowsOfOthers holds that two parts of the samples have the same rows where both
// decide them, and that their cells add up; along any column of numbers.
func TestRowsOfOthers(t *testing.T) {
	tab := sampled(t, 1000, 13)
	all, one, other := table.FullBits(tab.Rows()), table.NewBits(tab.Rows()), table.NewBits(tab.Rows())
	for i := range tab.Rows() {
		if i%7 < 2 { // no "g" here
			one.Set(i)
		} else {
			other.Set(i)
		}
	}
	for _, along := range []string{"", "latency"} {
		opt := Options{By: "symbol", Along: along, Windows: 9, Rows: 3, Among: all}
		var grids []*Grid
		for _, rows := range []table.Bits{all, one, other} {
			g, err := Count(t.Context(), tab, rows, opt)
			if err != nil {
				t.Fatal(err)
			}
			grids = append(grids, g)
		}
		for _, g := range grids[1:] {
			if fmt.Sprint(g.Rows) != fmt.Sprint(grids[0].Rows) {
				t.Errorf("rows %v, want those of all %v", g.Rows, grids[0].Rows)
			}
		}
		for i, n := range grids[0].Samples {
			if grids[1].Samples[i]+grids[2].Samples[i] != n {
				t.Errorf("along %q, cell %d: %d and %d, want %d", along, i, grids[1].Samples[i], grids[2].Samples[i], n)
			}
		}
	}
	for _, opt := range []Options{{By: "cpu", Along: "symbol", Windows: 4, Rows: 4}, {By: "cpu", Along: "cpu", Windows: 4, Rows: 4}, {By: "cpu", Along: "none", Windows: 4, Rows: 4}} {
		if _, err := Count(t.Context(), tab, nil, opt); err == nil {
			t.Errorf("%+v is answered", opt)
		}
	}
}
