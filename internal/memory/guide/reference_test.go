package guide

import (
	"cmp"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/demo"
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/machine/hw"
)

func open(t *testing.T, s *dataset.Set) *Guide {
	t.Helper()
	t.Cleanup(func() { s.Close() })
	return New(s.Data, s.Places, s.Engine)
}

func lulesh(t *testing.T) *Guide {
	t.Helper()
	s, err := dataset.Open(context.Background(), test.Shared(t, "samples/lulesh_legacy"), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return open(t, s)
}

func opened(t testing.TB, r *demo.Run, err error) *Guide {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	s, err := dataset.FromRun(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return New(s.Data, s.Places, s.Engine)
}

func uniform(t testing.TB, n int, seed uint64) *Guide {
	t.Helper()
	r, err := demo.Uniform(n, seed)
	return opened(t, r, err)
}

// near compares to the six decimals of the reference tables.
func near(a, b float64) bool { return math.Abs(a-b) < 1e-6 }

// slow computes a metric from its definition, sample by sample, without any of
// the tables that the package uses.
func slow(g *Guide, metric string, depth hw.Kind, rows []uint32) (float64, bool) {
	placer := g.places.Coder.Placer
	topology := placer.Topology
	s, c := map[int]float64{}, map[int]float64{}
	latency := g.data.Table.Column("latency")
	for _, row := range rows {
		pl := g.places.Coder.Places[g.places.Code[row]]
		resource := placer.Path(pl).Server
		if depth == hw.CPU || depth == hw.Core || depth == hw.Package {
			cpu, _ := placer.Access(pl)
			resource = topology.ByCPU(cpu).Index
			for topology.Resources[resource].Kind != depth {
				resource = topology.Resources[resource].Parent
			}
		}
		s[resource]++
		if latency != nil {
			c[resource] += latency.Float(int(row))
		}
	}
	at := topology.At(depth)
	var sum, with, mean, square, far float64
	for _, r := range at {
		mean += s[r] / float64(len(at))
		if s[r] > 0 {
			sum += c[r] / s[r]
			with++
		}
	}
	if with == 0 {
		return 0, false
	}
	if metric == "latency" {
		return sum / with, true
	}
	for _, r := range at {
		square += (s[r] - mean) * (s[r] - mean) / float64(len(at))
		far = max(far, math.Abs(s[r]-mean))
	}
	if square == 0 {
		return 0, true
	}
	return far / math.Sqrt(square), true
}

// slowTree clusters as the paper describes it: each node with its list of
// samples, every distance computed anew for each merge.
func slowTree(g *Guide, axis, metric string, depth hw.Kind, window, slide int) (merges []Merge, nodes []Node) {
	c := g.data.Table.Column(axis)
	var order []uint32
	for i := range c.Len() {
		if c.Has(i) {
			order = append(order, uint32(i))
		}
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(c.Float(int(a)), c.Float(int(b))) })
	measured := func(begin, end int) Node {
		v, ok := slow(g, metric, depth, order[begin:end])
		return Node{begin, end, v, ok}
	}
	var live []int
	for begin := 0; begin == 0 || begin+window <= len(order); begin += slide {
		end := begin + window
		if begin+slide+window > len(order) {
			end = len(order)
		}
		live = append(live, len(nodes))
		nodes = append(nodes, measured(begin, end))
	}
	for len(live) > 1 {
		best, least := 0, math.Inf(1)
		for i := range live[1:] {
			a, b := nodes[live[i]], nodes[live[i+1]]
			if d := math.Abs(a.Value - b.Value); a.Known && b.Known && d < least {
				best, least = i, d
			}
		}
		a, b := live[best], live[best+1]
		merges = append(merges, Merge{A: a, B: b, Distance: least})
		nodes = append(nodes, measured(nodes[a].Begin, nodes[b].End))
		live[best] = len(nodes) - 1
		live = slices.Delete(live, best+1, best+2)
	}
	return merges, nodes
}

func TestReferenceMetrics(t *testing.T) {
	g := lulesh(t)
	for _, tt := range []struct {
		depth              string
		samples            int
		mean, latency, imb float64
	}{
		{"CPU", 15676, 65.234626, 66.673749, 2.633162},
		{"L1", 4101, 51.256767, 54.610843, 2.190074},
		{"L2", 6085, 64.081841, 65.826682, 2.129816},
		{"L3", 1512, 50.367725, 50.364841, 1.000000},
	} {
		for metric, want := range map[string]float64{"latency": tt.latency, "imbalance": tt.imb} {
			s, err := g.Strip(context.Background(), StripOptions{Axis: "time", Metric: metric, Depth: tt.depth, Windows: 1})
			if err != nil {
				t.Fatal(err)
			}
			if w := s.Windows[0]; !near(w.Value, want) || w.Samples != 15676 {
				t.Errorf("%s at %s = %.6f of %d samples, want %.6f", metric, tt.depth, w.Value, w.Samples, want)
			}
		}
		m, err := g.prepare("latency", tt.depth)
		if err != nil {
			t.Fatal(err)
		}
		c := newCells(m.count + 1)
		for i := range g.data.Table.Rows() {
			c.add(m, i)
		}
		n, sum := 0, 0.0
		for k := range m.count {
			n += int(c.n[k])
			sum += c.sum[k]
		}
		if n != tt.samples || !near(sum/float64(n), tt.mean) {
			t.Errorf("%s: %d samples of mean %.6f, want %d of %.6f", tt.depth, n, sum/float64(n), tt.samples, tt.mean)
		}
	}
}

func TestReferenceClusters(t *testing.T) {
	g := lulesh(t)
	for _, tt := range []struct {
		metric, depth string
		leaves        [3]float64
		first         float64 // distance of the first merge
		at            int     // where its left leaf begins
		clusters      [4][2]int
		values        [4]float64
	}{
		{"latency", "CPU", [3]float64{49.333398, 53.238491, 50.911836}, 0.220412, 12000,
			[4][2]int{{0, 5200}, {4800, 5800}, {5400, 7000}, {6600, 15676}}, [4]float64{50.387620, 58.597980, 70.437060, 77.527636}},
		{"imbalance", "CPU", [3]float64{3.506161, 2.201056, 2.320583}, 0.020130, 12000,
			[4][2]int{{0, 1000}, {600, 4000}, {3600, 10600}, {10200, 15676}}, [4]float64{3.506161, 1.992953, 2.702727, 1.884388}},
		{"latency", "L2", [3]float64{41.292537, 45.164059, 40.254173}, 0.116887, 6600,
			[4][2]int{{0, 5800}, {5400, 11200}, {10800, 11800}, {11400, 15676}}, [4]float64{43.189830, 90.137803, 79.312924, 97.546810}},
		{"imbalance", "L2", [3]float64{3.274278, 1.696166, 2.099525}, 0.008588, 12600,
			[4][2]int{{0, 1000}, {600, 3400}, {3000, 4000}, {3600, 15676}}, [4]float64{3.274278, 2.030439, 2.720755, 2.034333}},
	} {
		tree, err := g.Cluster(context.Background(), TreeOptions{Axis: "time", Metric: tt.metric, Depth: tt.depth})
		if err != nil {
			t.Fatal(err)
		}
		name := tt.metric + " at " + tt.depth
		if tree.Leaves != 25 || tree.Nodes[24].Begin != 14400 || tree.Nodes[24].End != 15676 {
			t.Fatalf("%s: %d leaves, last %+v", name, tree.Leaves, tree.Nodes[tree.Leaves-1])
		}
		for i, want := range tt.leaves {
			if !near(tree.Nodes[i].Value, want) {
				t.Errorf("%s: leaf %d = %.6f, want %.6f", name, i, tree.Nodes[i].Value, want)
			}
		}
		if m := tree.Merges[0]; !near(m.Distance, tt.first) || tree.Nodes[m.A].Begin != tt.at {
			t.Errorf("%s: first merge %+v at %d, want %.6f at %d", name, m, tree.Nodes[m.A].Begin, tt.first, tt.at)
		}
		cut := tree.CutCount(4)
		for i, c := range cut {
			if [2]int{c.Begin, c.End} != tt.clusters[i] || !near(c.Value, tt.values[i]) || c.Samples != c.End-c.Begin {
				t.Errorf("%s: cluster %d is %+v, want %v of %.6f", name, i, c, tt.clusters[i], tt.values[i])
			}
		}
		if len(cut) != 4 {
			t.Errorf("%s: %d clusters, want 4", name, len(cut))
		}
	}
}

func TestStripAgainstSlow(t *testing.T) {
	g := uniform(t, 20000, 3)
	all := g.data.Table
	for _, axis := range []string{"time", "z", "latency", "addr"} {
		for _, depth := range []hw.Kind{hw.CPU, hw.Core, hw.Cache1, hw.Cache3, hw.NUMA, hw.Package} {
			for _, metric := range []string{"latency", "imbalance"} {
				for _, equal := range []bool{false, true} {
					s, err := g.Strip(context.Background(), StripOptions{Axis: axis, Metric: metric, Depth: depth.String(), Windows: 7, EqualCount: equal})
					if err != nil {
						t.Fatal(err)
					}
					seen := 0
					for _, w := range s.Windows {
						rows := within(all.Column(axis), w)
						seen += len(rows)
						v, ok := slow(g, metric, depth, rows)
						if ok != w.Known || ok && !near(v, w.Value) || len(rows) != w.Samples {
							t.Errorf("%s at %v over %s in %+v: slow gives %.6f, %v of %d samples", metric, depth, axis, w, v, ok, len(rows))
						}
					}
					if seen != all.Rows() {
						t.Errorf("%s, equal count %v: windows have %d of %d samples", axis, equal, seen, all.Rows())
					}
				}
			}
		}
	}
}

func within(c *table.Column, w Window) []uint32 {
	var rows []uint32
	for i := range c.Len() {
		if v := c.Float(i); c.Has(i) && v >= w.From && (v < w.To || w.Closed && v == w.To) {
			rows = append(rows, uint32(i))
		}
	}
	return rows
}

func TestTreeAgainstSlow(t *testing.T) {
	g := uniform(t, 3000, 5)
	for _, tt := range []struct {
		axis, metric  string
		depth         hw.Kind
		window, slide int
	}{
		{"time", "latency", hw.CPU, 200, 120},
		{"time", "imbalance", hw.CPU, 100, 100},
		{"z", "imbalance", hw.Core, 150, 37},
		{"addr", "latency", hw.NUMA, 90, 50},
		{"x", "imbalance", hw.NUMA, 60, 60}, // many equal distances
		{"time", "latency", hw.NUMA, 3, 2},  // leaves without a value
		{"time", "imbalance", hw.CPU, 5000, 100},
	} {
		tree, err := g.Cluster(context.Background(), TreeOptions{Axis: tt.axis, Metric: tt.metric, Depth: tt.depth.String(), Window: tt.window, Slide: tt.slide})
		if err != nil {
			t.Fatal(err)
		}
		merges, nodes := slowTree(g, tt.axis, tt.metric, tt.depth, tt.window, tt.slide)
		if len(merges) != len(tree.Merges) {
			t.Fatalf("%+v: %d merges, want %d", tt, len(tree.Merges), len(merges))
		}
		for i, m := range merges {
			got := tree.Merges[i]
			if got.A != m.A || got.B != m.B || got.Distance != m.Distance && !near(got.Distance, m.Distance) {
				t.Fatalf("%+v: merge %d is %+v, want %+v", tt, i, got, m)
			}
		}
		for i, n := range nodes {
			got := tree.Nodes[i]
			if got.Begin != n.Begin || got.End != n.End || got.Known != n.Known || n.Known && !near(got.Value, n.Value) {
				t.Fatalf("%+v: node %d is %+v, want %+v", tt, i, got, n)
			}
		}
	}
}
