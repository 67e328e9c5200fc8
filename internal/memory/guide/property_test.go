package guide

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/demo"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/machine/hw"
)

// changed opens a demo run with other samples.
func changed(t *testing.T, r *demo.Run, change func(*table.Table) *table.Table) *Guide {
	t.Helper()
	c := *r
	c.Samples = change(r.Samples)
	return opened(t, &c, nil)
}

// rebuilt makes a table of rows of another, in any order and number.
func rebuilt(t *testing.T, from *table.Table, rows []int, edit func(name string, v float64) float64) *table.Table {
	t.Helper()
	var columns []*table.Column
	for _, c := range from.Columns() {
		n := *c
		if c.Valid != nil {
			n.Valid = table.NewBits(len(rows))
			for i, row := range rows {
				if c.Valid.Get(row) {
					n.Valid.Set(i)
				}
			}
		}
		switch d := c.Data.(type) {
		case []int32:
			n.Data = picked(d, rows, func(v int32) int32 { return int32(edit(c.Name, float64(v))) })
		case []int64:
			n.Data = picked(d, rows, func(v int64) int64 { return int64(edit(c.Name, float64(v))) })
		case []uint32:
			n.Data = picked(d, rows, func(v uint32) uint32 { return v })
		case []uint64:
			n.Data = picked(d, rows, func(v uint64) uint64 { return v })
		case []uint8:
			n.Data = picked(d, rows, func(v uint8) uint8 { return v })
		default:
			t.Fatalf("column %s has %T", c.Name, c.Data)
		}
		columns = append(columns, &n)
	}
	out, err := table.New(from.Name, columns)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func picked[T any](d []T, rows []int, edit func(T) T) []T {
	out := make([]T, len(rows))
	for i, row := range rows {
		out[i] = edit(d[row])
	}
	return out
}

func unchanged(_ string, v float64) float64 { return v }

func values(t *testing.T, g *Guide, metric, depth string) []Window {
	t.Helper()
	s, err := g.Strip(context.Background(), StripOptions{Axis: "time", Metric: metric, Depth: depth, Windows: 9})
	if err != nil {
		t.Fatal(err)
	}
	return s.Windows
}

var everyDepth = []string{"CPU", "Core", "L1", "L2", "L3", "NUMA", "Package", "Machine"}

func sameValues(t *testing.T, what string, a, b *Guide, factor int) {
	t.Helper()
	for _, m := range Metrics {
		depths := everyDepth
		if !m.PerDepth {
			depths = []string{""}
		}
		for _, depth := range depths {
			x, y := values(t, a, m.Name, depth), values(t, b, m.Name, depth)
			for i := range x {
				if x[i].Samples*factor != y[i].Samples || x[i].Known != y[i].Known || math.Abs(x[i].Value-y[i].Value) > 1e-9*math.Abs(x[i].Value) {
					t.Errorf("%s: %s at %q, window %d: %+v, then %+v", what, m.Name, depth, i, x[i], y[i])
				}
			}
		}
	}
}

func TestDuplicatedSamples(t *testing.T) {
	r, err := demo.Uniform(3000, 8)
	if err != nil {
		t.Fatal(err)
	}
	once := opened(t, r, nil)
	twice := changed(t, r, func(from *table.Table) *table.Table {
		var rows []int
		for i := range from.Rows() {
			rows = append(rows, i, i)
		}
		return rebuilt(t, from, rows, unchanged)
	})
	sameValues(t, "every sample twice", once, twice, 2)

	// Windows of twice the samples are then the same leaves.
	one, err := once.Cluster(context.Background(), TreeOptions{Axis: "time", Metric: "latency", Depth: "Core", Window: 200, Slide: 100})
	if err != nil {
		t.Fatal(err)
	}
	two, err := twice.Cluster(context.Background(), TreeOptions{Axis: "time", Metric: "latency", Depth: "Core", Window: 400, Slide: 200})
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range one.Merges {
		if o := two.Merges[i]; o.A != m.A || o.B != m.B || math.Abs(o.Distance-m.Distance) > 1e-9 {
			t.Fatalf("merge %d: %+v, of every sample twice %+v", i, m, o)
		}
	}
}

func TestOrderOfRows(t *testing.T) {
	r, err := demo.Uniform(3000, 8)
	if err != nil {
		t.Fatal(err)
	}
	rows := rand.New(rand.NewPCG(1, 2)).Perm(r.Samples.Rows())
	shuffled := changed(t, r, func(from *table.Table) *table.Table { return rebuilt(t, from, rows, unchanged) })
	sameValues(t, "shuffled", opened(t, r, nil), shuffled, 1)
}

// TestRelabelledResources swaps the sockets, and cores within them: a machine
// with other labels, on which the same happens.
func TestRelabelledResources(t *testing.T) {
	r, err := lookupRun()
	if err != nil {
		t.Fatal(err)
	}
	label := func(name string, v float64) float64 {
		switch name {
		case "cpu": // CPUs c and c+16 are a core, cores 0-7 a socket
			core, thread := int(v)%16, int(v)/16
			return float64((core/8*8+(core*3+1)%8+8)%16 + 16*(1-thread))
		case "node", "home":
			return 1 - v
		}
		return v
	}
	all := make([]int, r.Samples.Rows())
	for i := range all {
		all[i] = i
	}
	plain := opened(t, r, nil)
	other := changed(t, r, func(from *table.Table) *table.Table { return rebuilt(t, from, all, label) })
	sameValues(t, "relabelled", plain, other, 1)

	a, err := plain.Insights(context.Background(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := other.Insights(context.Background(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a {
		if a[i].Kind != b[i].Kind || math.Abs(a[i].Score-b[i].Score) > 1e-9 {
			t.Errorf("insight %d: %s %g, on the relabelled machine %s %g", i, a[i].Kind, a[i].Score, b[i].Kind, b[i].Score)
		}
	}
}

func TestCuts(t *testing.T) {
	g := uniform(t, 4000, 2)
	tree, err := g.Cluster(context.Background(), TreeOptions{Axis: "time", Metric: "imbalance", Depth: "CPU"})
	if err != nil {
		t.Fatal(err)
	}
	for k := 1; k <= tree.Leaves+2; k++ {
		cut := tree.CutCount(k)
		if len(cut) != min(k, tree.Leaves) {
			t.Errorf("cut into %d gives %d clusters of %d leaves", k, len(cut), tree.Leaves)
		}
		covers(t, tree, cut)
	}
	for i, m := range tree.Merges {
		cut := tree.CutHeight(m.Height)
		covers(t, tree, cut)
		// Every merge up to this height is undone nowhere, every higher one is.
		higher := 0
		for _, o := range tree.Merges {
			if o.Height > m.Height {
				higher++
			}
		}
		if len(cut) != higher+1 {
			t.Errorf("cut at the height of merge %d gives %d clusters, want %d", i, len(cut), higher+1)
		}
	}
	if n := len(tree.CutDepth(0)); n != 1 {
		t.Errorf("depth 0 gives %d clusters", n)
	}
	if n := len(tree.CutDepth(tree.Leaves)); n != tree.Leaves {
		t.Errorf("the deepest cut gives %d clusters, want every leaf", n)
	}
	covers(t, tree, tree.CutDepth(2))
}

// covers fails unless clusters follow each other and leave nothing out.
func covers(t *testing.T, tree *Tree, cut []Cluster) {
	t.Helper()
	if cut[0].Begin != 0 || cut[len(cut)-1].End != tree.Samples {
		t.Errorf("clusters cover %d to %d of %d", cut[0].Begin, cut[len(cut)-1].End, tree.Samples)
	}
	for i := range cut[1:] {
		if cut[i+1].Begin > cut[i].End || cut[i+1].Begin <= cut[i].Begin {
			t.Errorf("%+v does not follow %+v", cut[i+1], cut[i])
		}
	}
}

func TestFewSamples(t *testing.T) {
	for _, n := range []int{1, 2, 7, 8, 9, 50, 999, 1000, 1001} {
		g := uniform(t, n, 1)
		tree, err := g.Cluster(context.Background(), TreeOptions{Axis: "time", Metric: "imbalance", Depth: "CPU"})
		if err != nil {
			t.Fatalf("%d samples: %v", n, err)
		}
		if n >= leastLeaves && tree.Leaves < leastLeaves || tree.Nodes[tree.Leaves-1].End != n || len(tree.Merges) != tree.Leaves-1 {
			t.Errorf("%d samples: %d leaves, %d merges, last %+v", n, tree.Leaves, len(tree.Merges), tree.Nodes[tree.Leaves-1])
		}
		tree, err = g.Cluster(context.Background(), TreeOptions{Axis: "time", Metric: "imbalance", Depth: "CPU", Window: 5000, Slide: 10})
		if err != nil || tree.Leaves != 1 || tree.CutCount(4)[0].Samples != n {
			t.Errorf("%d samples in windows of 5000: %v", n, err)
		}
	}
}

func TestNothingSelected(t *testing.T) {
	g := uniform(t, 100, 1)
	where, err := query.Parse("latency < 0", g.data.Table)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := g.Cluster(context.Background(), TreeOptions{Axis: "time", Metric: "latency", Where: where})
	if err != nil || tree.Leaves != 0 || tree.CutCount(3) != nil {
		t.Errorf("tree of nothing: %+v, %v", tree, err)
	}
	for _, equal := range []bool{false, true} {
		s, err := g.Strip(context.Background(), StripOptions{Axis: "time", Metric: "latency", Where: where, Windows: 5, EqualCount: equal})
		if err != nil || len(s.Windows) != 0 {
			t.Errorf("strip of nothing: %+v, %v", s, err)
		}
	}
	if found, err := g.Insights(context.Background(), where, nil); err != nil || len(found) != 0 {
		t.Errorf("insights of nothing: %v, %v", found, err)
	}
}

func TestSelectedSamplesOnly(t *testing.T) {
	g := uniform(t, 5000, 4)
	where, err := query.Parse("cpu in 3..9 & level != L1", g.data.Table)
	if err != nil {
		t.Fatal(err)
	}
	s, err := g.Strip(context.Background(), StripOptions{Axis: "time", Metric: "latency", Depth: "Core", Where: where, Windows: 4})
	if err != nil {
		t.Fatal(err)
	}
	set, err := query.SelectRows(context.Background(), g.data, where)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, w := range s.Windows {
		rows := slices.DeleteFunc(within(g.data.Table.Column("time"), w), func(r uint32) bool { return !set.Get(int(r)) })
		seen += len(rows)
		v, ok := slow(g, "latency", hw.Core, rows)
		if w.Samples != len(rows) || w.Known != ok || !near(w.Value, v) {
			t.Errorf("%+v: slow gives %g of %d samples", w, v, len(rows))
		}
	}
	if seen != set.Count() {
		t.Errorf("windows have %d of %d samples", seen, set.Count())
	}
}

func TestUnsupported(t *testing.T) {
	r, err := demo.Uniform(200, 1)
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	b.Tree = nil
	s, err := dataset.FromRun(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	g := open(t, s)
	for _, m := range Metrics {
		_, err := g.Strip(context.Background(), StripOptions{Axis: "time", Metric: m.Name, Windows: 3})
		if (err != nil) != m.PerDepth {
			t.Errorf("%s without a topology: %v", m.Name, err)
		}
	}
	for _, o := range []StripOptions{
		{Axis: "level", Metric: "mean", Windows: 3}, {Axis: "tme", Metric: "mean", Windows: 3},
		{Axis: "time", Metric: "median", Windows: 3}, {Axis: "time", Metric: "mean"}, {Axis: "time", Metric: "mean", Windows: 3, Lo: 5, Hi: 1},
	} {
		if _, err := g.Strip(context.Background(), o); err == nil {
			t.Errorf("%+v gives no error", o)
		}
	}
	if _, err := g.Cluster(context.Background(), TreeOptions{Axis: "time", Metric: "mean", Window: 5, Slide: 9}); err == nil {
		t.Error("windows with gaps give no error")
	}
	if _, err := g.Insights(context.Background(), nil, nil); err != nil {
		t.Errorf("insights without a topology: %v", err)
	}
}

func TestCancelled(t *testing.T) {
	g := uniform(t, 2000, 1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := g.Cluster(ctx, TreeOptions{Axis: "z", Metric: "latency"}); err != context.Canceled {
		t.Errorf("cluster: %v", err)
	}
	if _, err := g.Strip(ctx, StripOptions{Axis: "time", Metric: "latency", Windows: 9}); err != context.Canceled {
		t.Errorf("strip: %v", err)
	}
	if _, err := g.Insights(ctx, nil, nil); err != context.Canceled {
		t.Errorf("insights: %v", err)
	}
}

// TestUnitsOfMetrics: what is a latency has the unit of the latency.
func TestUnitsOfMetrics(t *testing.T) {
	r, err := demo.Uniform(2000, 1)
	if err != nil {
		t.Fatal(err)
	}
	g := changed(t, r, func(from *table.Table) *table.Table {
		return edited(t, from, "latency", func(c *table.Column) { c.Unit = "ns" })
	})
	units := map[string]string{}
	for _, m := range g.Info().Metrics {
		units[m.Name] = m.Unit
	}
	for name, want := range map[string]string{"latency": "ns", "mean": "ns", "imbalance": "σ", "cpus": "CPUs"} {
		s, err := g.Strip(t.Context(), StripOptions{Axis: "time", Metric: name, Windows: 3})
		if err != nil {
			t.Fatal(err)
		}
		if s.Unit != want || units[name] != want {
			t.Errorf("%s: %q, in the list %q, want %q", name, s.Unit, units[name], want)
		}
	}
	tree, err := g.Cluster(t.Context(), TreeOptions{Axis: "time", Metric: "latency"})
	if err != nil {
		t.Fatal(err)
	}
	if tree.Unit != "ns" {
		t.Errorf("clusters: %q", tree.Unit)
	}
}

func TestProgress(t *testing.T) {
	g := uniform(t, 70000, 1)
	var stages []string
	last := -1
	progress := func(stage string, done, of int) {
		if len(stages) == 0 || stages[len(stages)-1] != stage {
			stages, last = append(stages, stage), -1
		}
		if done <= last || done > of {
			t.Errorf("%s: progress %d of %d after %d", stage, done, of, last)
		}
		last = done
	}
	_, err := g.Cluster(context.Background(), TreeOptions{Axis: "time", Metric: "mean", Progress: progress})
	if want := []string{"sorting", "counting by window", "merging"}; err != nil || !slices.Equal(stages, want) {
		t.Errorf("stages %q, want %q: %v", stages, want, err)
	}
	stages = nil
	if _, err := g.Insights(context.Background(), nil, progress); err != nil || len(stages) != len(kinds) {
		t.Errorf("stages %q; want one for each of %d kinds: %v", stages, len(kinds), err)
	}
}

// TestUpper rebuilds every cut that the upper part of a tree allows from the
// nodes in the answer alone, as the page does.
func TestUpper(t *testing.T) {
	g := uniform(t, 5000, 3)
	tree, err := g.Cluster(context.Background(), TreeOptions{Axis: "time", Metric: "mean", Window: 100, Slide: 60})
	if err != nil {
		t.Fatal(err)
	}
	const top = 20
	out := tree.Answer(&AskTree{Top: top})
	if len(out.Merges) != 0 || len(out.Nodes) != 2*top+1 {
		t.Fatalf("%d merges, %d nodes; want none and %d", len(out.Merges), len(out.Nodes), 2*top+1)
	}
	for k := 1; k <= top+1; k++ {
		made := 2*out.Leaves - 1 - (k - 1)
		part := map[int]bool{out.Nodes[0].Node: true}
		var got []int
		for _, n := range out.Nodes {
			switch {
			case !part[n.Node]:
			case n.Node < made:
				got = append(got, n.Begin)
			default:
				part[n.A], part[n.B] = true, true
			}
		}
		slices.Sort(got)
		var want []int
		for _, c := range tree.CutCount(k) {
			want = append(want, c.Begin)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d clusters begin at %v, want %v", k, got, want)
		}
	}
	if one := (&Tree{Leaves: 1, Nodes: tree.Nodes[:1], ends: tree.ends}).upper(5); len(one) != 1 || one[0].A != -1 || one[0].Height != nil {
		t.Errorf("a tree of one leaf: %+v", one)
	}
	if none := (&Tree{}).upper(5); len(none) != 0 {
		t.Errorf("an empty tree: %+v", none)
	}
}
