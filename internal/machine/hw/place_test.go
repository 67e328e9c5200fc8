package hw

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// machine builds a topology from lines "kind os cpus", such as "L3 - 0-3".
func machine(t testing.TB, distances *Distances, lines ...string) *Topology {
	t.Helper()
	spec := Spec{Name: "made", Distances: distances}
	for _, line := range lines {
		f := strings.Fields(line)
		kind, err := ParseKind(f[0])
		if err != nil {
			t.Fatal(err)
		}
		o := Object{Kind: kind, OS: -1}
		if f[1] != "-" {
			os, err := ParseCPUs(f[1])
			if err != nil {
				t.Fatal(err)
			}
			o.OS = os[0]
		}
		if len(f) > 2 && f[2] != "-" {
			if o.CPUs, err = ParseCPUs(f[2]); err != nil {
				t.Fatal(err)
			}
		}
		if len(f) > 3 {
			o.Memory = f[3]
		}
		spec.Objects = append(spec.Objects, o)
	}
	for _, o := range slices.Clone(spec.Objects) {
		if o.Kind == Machine {
			for _, cpu := range o.CPUs {
				spec.Objects = append(spec.Objects, Object{Kind: CPU, OS: cpu, CPUs: CPUs{cpu}})
			}
		}
	}
	topo, err := Build(spec)
	if err != nil {
		t.Fatal(err)
	}
	return topo
}

// Two sockets of two cores each, in a plain and in odd forms.
var (
	twoSockets = []string{"Machine - 0-3", "Package - 0-1", "Package - 2-3", "NUMA 0 0-1", "NUMA 1 2-3",
		"L3 - 0-1", "L3 - 2-3", "L2 - 0", "L2 - 1", "L2 - 2", "L2 - 3",
		"L1 - 0", "L1 - 1", "L1 - 2", "L1 - 3", "Core 0 0", "Core 1 1", "Core 0 2", "Core 1 3"}
	subNUMA = []string{"Machine - 0-7", "Package - 0-3", "Package - 4-7", "L3 - 0-3", "L3 - 4-7",
		"NUMA 0 0-1", "NUMA 1 2-3", "NUMA 2 4-5", "NUMA 3 6-7", "L2 - 0", "L2 - 1", "L2 - 2"}
	knl  = []string{"Machine - 0-3", "Package - 0-3", "NUMA 0 0-3 DRAM", "NUMA 1 0-3 HBM", "L2 - 0-1", "L2 - 2-3", "L1 - 0", "L1 - 1", "L1 - 2", "L1 - 3"}
	side = []string{"Machine - 0-3", "Package - 0-3", "NUMA 0 0-1", "NUMA 2 2-3", "MSC - 0-1", "MSC - 2-3", "L2 - 0"}
	cxl  = []string{"Machine - 0-3", "NUMA 0 0-1", "NUMA 1 2-3", "NUMA 4 - CXL", "L3 - 0-1", "L3 - 2-3"}
	// CPUs 2 and 3 are small cores without an L3.
	hybrid = []string{"Machine - 0-3", "NUMA 0 0-3", "L3 - 0-1", "L2 - 0", "L2 - 1", "L2 - 2-3", "L1 - 0", "L1 - 1", "L1 - 2", "L1 - 3"}
	bare   = []string{"Machine - 0-3", "NUMA 0 0-3"}
	zen    = []string{"Machine - 0-5", "NUMA 0 0-3", "NUMA 1 4-5", "L3 - 0-1", "L3 - 2-3", "L3 - 4-5"}
)

func fourNodes(unit string, values ...float64) *Distances {
	return &Distances{Unit: unit, Nodes: []int{0, 1, 2, 3}, Values: values}
}

var slit = fourNodes("relative", 10, 11, 21, 21, 11, 10, 21, 21, 21, 21, 10, 11, 21, 21, 11, 10)

func TestPath(t *testing.T) {
	tests := []struct {
		name   string
		on     []string
		dist   *Distances
		cpu    int
		access Access
		want   string // IDs of the steps, "!" after a guess, "~" before a remote server
	}{
		{"L1", twoSockets, nil, 3, Access{L1, 0, -1}, "CPU:3 Core:3 L1:3"},
		{"line on its way", twoSockets, nil, 3, Access{LFB, 0, -1}, "CPU:3 Core:3 L1:3 pending"},
		{"L3", twoSockets, nil, 1, Access{L3, 0, -1}, "CPU:1 Core:1 L1:1 L2:1 L3:0"},
		{"local memory", twoSockets, nil, 2, Access{LocalRAM, 0, -1}, "CPU:2 Core:2 L1:2 L2:2 L3:1 NUMA:1"},
		{"the one other node", twoSockets, nil, 2, Access{RemoteRAM, 0, -1}, "CPU:2 Core:2 L1:2 L2:2 L3:1 ~NUMA:0!"},
		{"two hops with two nodes", twoSockets, nil, 0, Access{RemoteRAM, TwoHops, -1}, "CPU:0 Core:0 L1:0 L2:0 L3:0 ~NUMA:1!"},
		{"the other node's cache", twoSockets, nil, 2, Access{RemoteCache, OneHop, -1}, "CPU:2 Core:2 L1:2 L2:2 L3:1 ~L3:0!"},
		{"page node says remote is local after all", twoSockets, nil, 2, Access{LocalRAM, 0, 1}, "CPU:2 Core:2 L1:2 L2:2 L3:1 NUMA:1"},
		{"page node", twoSockets, nil, 2, Access{LocalRAM, 0, 0}, "CPU:2 Core:2 L1:2 L2:2 L3:1 ~NUMA:0"},
		{"page node unknown to the topology", twoSockets, nil, 2, Access{LocalRAM, 0, 9}, "CPU:2 Core:2 L1:2 L2:2 L3:1 NUMA:1"},
		{"beyond L3", twoSockets, nil, 2, Access{BeyondL3, 0, -1}, "CPU:2 Core:2 nowhere"},
		{"level not recorded", twoSockets, nil, 2, Access{NoLevel, 0, -1}, "CPU:2 Core:2 nowhere"},
		{"CPU not in the file", twoSockets, nil, 7, Access{L1, 0, -1}, "nowhere"},
		{"no CPU", twoSockets, nil, -1, Access{L1, 0, -1}, "nowhere"},

		{"L3 above the node", subNUMA, nil, 2, Access{L3, 0, -1}, "CPU:2 L2:2 L3:0"},
		{"node below L3", subNUMA, nil, 2, Access{LocalRAM, 0, -1}, "CPU:2 L2:2 L3:0 NUMA:1"},
		{"missing L2", subNUMA, nil, 5, Access{L2, 0, -1}, "CPU:5 NoL2@CPU:5"},
		{"missing L1", subNUMA, nil, 0, Access{L1, 0, -1}, "CPU:0 NoL1@CPU:0"},
		{"nearest class", subNUMA, slit, 0, Access{RemoteRAM, OneHop, -1}, "CPU:0 L2:0 L3:0 ~NUMA:1!"},
		{"farther, two of them", subNUMA, slit, 0, Access{RemoteRAM, TwoHops, -1}, "CPU:0 L2:0 L3:0 ~RemoteRAM:2"},
		{"hops not said", subNUMA, slit, 0, Access{RemoteRAM, AnyHops, -1}, "CPU:0 L2:0 L3:0 ~RemoteRAM:0"},
		{"no distances, so no classes", subNUMA, nil, 0, Access{RemoteRAM, OneHop, -1}, "CPU:0 L2:0 L3:0 ~RemoteRAM:1"},
		{"other socket, two nodes", subNUMA, slit, 0, Access{RemoteRAM, OtherSocket, -1}, "CPU:0 L2:0 L3:0 ~RemoteRAM:3"},
		{"measured distances within a tenth", subNUMA, fourNodes("ns", 244, 203, 302, 209, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), 0,
			Access{RemoteRAM, TwoHops, -1}, "CPU:0 L2:0 L3:0 ~NUMA:2!"},

		{"no L3, memory", knl, nil, 2, Access{L2, 0, -1}, "CPU:2 L1:2 L2:1"},
		{"no L3, served by L3", knl, nil, 2, Access{L3, 0, -1}, "CPU:2 L1:2 L2:1 NoL3@Package:0"},
		{"two near nodes", knl, nil, 2, Access{LocalRAM, 0, -1}, "CPU:2 L1:2 L2:1 Local:0+1"},
		{"two near nodes, page known", knl, nil, 2, Access{LocalRAM, 0, 1}, "CPU:2 L1:2 L2:1 NUMA:1"},
		{"nowhere remote to go", knl, nil, 2, Access{RemoteRAM, 0, -1}, "CPU:2 L1:2 L2:1 ~RemoteRAM:0"},

		{"memory-side cache", side, nil, 3, Access{MSC, 0, -1}, "CPU:3 MSC:1"},
		{"through the memory-side cache", side, nil, 3, Access{LocalRAM, 0, -1}, "CPU:3 MSC:1 NUMA:2"},
		{"no memory-side cache", twoSockets, nil, 3, Access{MSC, 0, -1}, "CPU:3 Core:3 L1:3 L2:3 L3:1 MSC:unknown"},
		{"the only CXL node", cxl, nil, 3, Access{CXL, 0, -1}, "CPU:3 L3:1 ~NUMA:4!"},
		{"remote is not CXL", cxl, nil, 3, Access{RemoteRAM, 0, -1}, "CPU:3 L3:1 ~NUMA:0!"},
		{"no persistent memory", cxl, nil, 3, Access{PMEM, 0, -1}, "CPU:3 L3:1 PMEM"},
		{"no L3 on this core", hybrid, nil, 3, Access{LocalRAM, 0, -1}, "CPU:3 L1:3 L2:2 NUMA:0"},
		{"served by an L3 this core lacks", hybrid, nil, 3, Access{L3, 0, -1}, "CPU:3 L1:3 L2:2 NoL3@Machine"},
		{"no caches at all", bare, nil, 3, Access{LocalRAM, 0, -1}, "CPU:3 NUMA:0"},
		{"the one peer", zen, nil, 3, Access{LocalPeerCache, 0, -1}, "CPU:3 L3:1 L3:0!"},
		{"no peer", zen, nil, 5, Access{LocalPeerCache, 0, -1}, "CPU:5 L3:2 Peer"},
		{"two caches in the other node", zen, nil, 5, Access{RemoteCache, OneHop, -1}, "CPU:5 L3:2 ~RemoteCache:1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := NewPlacer(machine(t, tt.dist, tt.on...))
			pl := p.Place(tt.cpu, tt.access)
			if got := describe(p, pl); got != tt.want {
				t.Errorf("path of CPU %d, %+v:\n got %s\nwant %s", tt.cpu, tt.access, got, tt.want)
			}
		})
	}
}

func describe(p *Placer, pl Place) string {
	path := p.Path(pl)
	var words []string
	for _, i := range path.Steps {
		id := p.Resources[i].ID
		if i == path.Server && path.Remote {
			id = "~" + id
		}
		if i == path.Server && path.Guess {
			id += "!"
		}
		words = append(words, id)
	}
	switch {
	case path.Pending:
		words = append(words, "pending")
	case path.Server < 0:
		words = append(words, "nowhere")
	case path.Steps[len(path.Steps)-1] != path.Server:
		words = append(words, "but the server is not last")
	}
	return strings.Join(words, " ")
}

func TestPlaceRoundTrip(t *testing.T) {
	p := NewPlacer(machine(t, slit, subNUMA...))
	for pl := range Place(p.Places()) {
		cpu, a := p.Access(pl)
		if got := p.Place(cpu, a); got != pl {
			t.Fatalf("place %d is CPU %d, %+v, which is place %d", pl, cpu, a, got)
		}
	}
}

// machines are all the shapes above.
var machines = map[string][]string{
	"two sockets": twoSockets, "sub-NUMA": subNUMA, "KNL": knl, "side caches": side, "CXL": cxl,
	"hybrid": hybrid, "bare": bare, "Zen": zen,
}

// TestConservation puts random samples on every place of every machine: none
// may be lost or counted twice, and what a resource is said to have must be
// what selecting it gives.
func TestConservation(t *testing.T) {
	for name, lines := range machines {
		t.Run(name, func(t *testing.T) {
			p := NewPlacer(machine(t, nil, lines...))
			c := NewCoder(p)
			rng := rand.New(rand.NewPCG(1, 2))
			var counts []Count
			for pl := range Place(p.Places()) {
				c.Code(pl)
				n := rng.Uint64N(50)
				counts = append(counts, Count{Samples: n, Valued: n / 2, Sum: float64(7 * n)})
			}
			a := Fold(c, counts)
			if err := a.Check(); err != nil {
				t.Error(err)
			}
			checkTallies(t, a, c, counts)
		})
	}
}

func checkTallies(t *testing.T, a *Aggregate, c *Coder, counts []Count) {
	t.Helper()
	served := a.Total
	for i := range a.Tallies {
		touching, err := c.Touching(a.Placer.Resources[i].ID)
		if err != nil {
			t.Fatal(err)
		}
		var want Count
		for code, n := range counts {
			if touching[code] {
				want.Add(n)
			}
		}
		if diff := cmp.Diff(want, a.Tallies[i].Passed); diff != "" {
			t.Errorf("%s has other samples than `at %s` selects (-at +has):\n%s", a.Placer.Resources[i].ID, a.Placer.Resources[i].ID, diff)
		}
		served.Samples -= a.Tallies[i].Served.Samples + a.Tallies[i].Pending.Samples
	}
	for _, u := range a.Unplaced {
		served.Samples -= u.Samples
	}
	if served.Samples != 0 {
		t.Errorf("%d samples were neither served, pending nor unplaced", int64(served.Samples))
	}
	for i, tally := range a.Tallies {
		r := a.Placer.Resources[i]
		if r.Kind.IsCache() && !r.Virtual && tally.Passed.Samples != tally.Served.Samples+tally.Pending.Samples+tally.Onward.Samples+tally.Away.Samples {
			t.Errorf("%s: %d passed, but %d served + %d pending + %d onward + %d away", r.ID, tally.Passed.Samples,
				tally.Served.Samples, tally.Pending.Samples, tally.Onward.Samples, tally.Away.Samples)
		}
	}
}

func TestFold(t *testing.T) {
	p := NewPlacer(machine(t, nil, twoSockets...))
	c := NewCoder(p)
	var counts []Count
	add := func(cpu int, l Level, latencies ...float64) {
		code := c.Code(p.Place(cpu, Access{Level: l, Home: -1}))
		for len(counts) <= int(code) {
			counts = append(counts, Count{})
		}
		for _, v := range latencies {
			counts[code].Add(Count{1, 1, v, v * v})
		}
	}
	add(0, L1, 4, 6)
	add(0, L3, 40)
	add(1, LocalRAM, 100, 300)
	add(1, RemoteRAM, 500)
	add(2, BeyondL3, 90)
	a := Fold(c, counts)

	want := map[string][3]float64{ // samples, latency, samples that went on
		"Machine": {7, 1040, 0}, "Package:0": {6, 950, 0}, "Package:1": {1, 90, 0},
		"NUMA:0": {2, 400, 0}, "NUMA:1": {1, 500, 0},
		"L3:0": {4, 940, 2}, "L3:1": {0, 0, 0}, "L2:0": {1, 40, 1}, "L2:1": {3, 900, 3},
		"L1:0": {3, 50, 1}, "Core:1": {3, 900, 3}, "CPU:0": {3, 50, 3}, "CPU:2": {1, 90, 0},
	}
	for id, w := range want {
		i, err := p.Find(id)
		if err != nil {
			t.Fatal(err)
		}
		tally := a.Tallies[i]
		got := [3]float64{float64(tally.Passed.Samples), tally.Passed.Sum, float64(tally.Onward.Samples)}
		if got != w {
			t.Errorf("%s: samples, latency, onward = %v, want %v", id, got, w)
		}
	}
	l3, _ := p.Find("L3:0")
	if away := a.Tallies[l3].Away; away.Samples != 1 || away.Sum != 500 {
		t.Errorf("L3:0 sent %+v away, want one sample of 500", away)
	}
	node, _ := p.Find("NUMA:0")
	if mean, _ := a.Tallies[node].Served.Mean(); mean != 200 {
		t.Errorf("mean of NUMA:0 = %v, want 200", mean)
	}
	if dev, _ := a.Tallies[node].Served.Deviation(); math.Abs(dev-100) > 1e-9 {
		t.Errorf("deviation of NUMA:0 = %v, want 100", dev)
	}
	if len(a.Unplaced) != 1 || a.Unplaced[0].Level != BeyondL3 || a.Unplaced[0].Samples != 1 {
		t.Errorf("unplaced %+v, want one sample beyond L3", a.Unplaced)
	}
}
