package advice

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/locality/layout"
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/locality/replay"
)

// twoNodes is a machine whose two nodes have a core and caches each.
func twoNodes(t testing.TB) *platform.Machine {
	m := classic(t)
	m.Nodes = 2
	m.Cores = []platform.Core{{Caches: []int{0, 0, 0}, Node: 0}, {Caches: []int{1, 1, 1}, Node: 1}}
	if err := m.Set("L3.size=512K"); err != nil {
		t.Fatal(err)
	}
	return m
}

const placedBytes = 5 << 18

// placedTrace is an object of 1¼ MiB that one thread, or each its half, fills, and
// then threads use as use says.
func placedTrace(t testing.TB, filledBy func(line uint64) uint32, use func(turn int, line uint64) (thread uint32, at uint64)) (*replay.Trace, *layout.Table) {
	t.Helper()
	given, err := layout.ReadGiven(strings.NewReader(fmt.Sprintf("p 0x10000000 %d 64\n", placedBytes)))
	if err != nil {
		t.Fatal(err)
	}
	table := layout.NewTable(&refs.About{}, given, nil)
	r := replay.NewReader(table.Number, 1<<24)
	var all []refs.Ref
	const lines = placedBytes / 64
	for l := range uint64(lines) {
		all = append(all, refs.Ref{Addr: 0x10000000 + l*64, Size: 8, PC: 1, Thread: 1 + filledBy(l), Op: refs.Store})
	}
	// Both threads are met in this order, whoever fills.
	all = append([]refs.Ref{{Addr: 0x1000, Size: 8, PC: 3, Thread: 1}, {Addr: 0x9000, Size: 8, PC: 3, Thread: 2}}, all...)
	for turn := range 8 {
		for l := range uint64(lines) {
			thread, at := use(turn, l)
			all = append(all, refs.Ref{Addr: 0x10000000 + at*64, Size: 8, PC: 2, Thread: 1 + thread})
		}
	}
	if err := r.Add(all); err != nil {
		t.Fatal(err)
	}
	table.Finish()
	return r.Trace(nil), table
}

// TestPlaces holds where the pages of an object should lie, for programs whose
// threads are on two nodes.
func TestPlaces(t *testing.T) {
	const half = placedBytes / 64 / 2
	first := func(uint64) uint32 { return 0 }
	halves := func(l uint64) uint32 { return uint32(l / half) }
	ownHalf := func(_ int, l uint64) (uint32, uint64) { return halves(l), l }
	for name, tt := range map[string]struct {
		filledBy func(uint64) uint32
		use      func(int, uint64) (uint32, uint64)
		want     string // policy; empty: silence
		code     string
		remote   float64 // part of the lines that still come from other nodes: at least what one thread fills
	}{
		"one fills, each uses its half": {first, ownHalf, "best", "elements 10240 to 20479 on node 1", 1. / 18},
		"one fills, the other uses":     {first, func(_ int, l uint64) (uint32, uint64) { return 1, l }, "node:1", "numa_alloc_onnode(1310720, 1)", 1. / 9},
		"one fills, both use all":       {first, func(turn int, l uint64) (uint32, uint64) { return uint32(l % 2), (l*7919 + uint64(turn)) % (2 * half) }, "interleave", "numa_alloc_interleaved(1310720)", 1. / 2},
		"each fills what it uses":       {halves, ownHalf, "", "", 0},
		"one does everything":           {first, func(_ int, l uint64) (uint32, uint64) { return 0, l }, "", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			tr, table := placedTrace(t, tt.filledBy, tt.use)
			m := twoNodes(t)
			r, err := Find(context.Background(), tr, table, Options{Machine: m, Least: DefaultLeast, Kinds: []Kind{Place}})
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == "" {
				for _, a := range r.Advice {
					t.Errorf("advises %s", describe(a))
				}
				return
			}
			if len(r.Advice) == 0 {
				t.Fatal(r.Silence)
			}
			a := r.Advice[0]
			if a.plan.Homes[a.Object.Number].String() != tt.want || !strings.Contains(a.Code, tt.code) {
				t.Errorf("%s, want pages on %s and %q in:\n%s", describe(a), tt.want, tt.code, a.Code)
			}
			then := a.Then[0].Counts
			all := a.Now.Local + a.Now.Remote
			if math.Abs(float64(then.Remote)/float64(all)-tt.remote) > 0.002 || then.Local+then.Remote != all {
				t.Errorf("%d lines from other nodes and %d from the own, want a part of %.3f of %d", then.Remote, then.Local, tt.remote, all)
			}
			plan, err := ReadMap(strings.NewReader(a.Map), tr, table)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := replay.Run(context.Background(), tr, m, plan, replay.Kept); err != nil || n.Cost(m) != then.Cost(m) {
				t.Errorf("%q: %+v, %v; advice %+v", a.Map, n, err, then)
			}
		})
	}
}

// TestPlacesNeedNodes holds that nothing is said of nodes where there is one, or
// one thread.
func TestPlacesNeedNodes(t *testing.T) {
	tr, table := placedTrace(t, func(uint64) uint32 { return 0 }, func(_ int, l uint64) (uint32, uint64) { return 1, l })
	r, err := Find(context.Background(), tr, table, Options{Machine: classic(t), Least: DefaultLeast, Kinds: []Kind{Place}})
	if err != nil || len(r.Advice) != 0 || r.Now.Remote != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}
