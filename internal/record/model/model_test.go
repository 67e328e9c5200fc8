package model

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/isobath/isobath/internal/machine/cachesim"
	"github.com/isobath/isobath/internal/machine/hw"
)

// machine builds packages of cores with caches of their own and one shared, as
// cachesim's machine of two sockets has them.
func machine(t *testing.T, packages, cores int, levels []cachesim.Level) *hw.Topology {
	t.Helper()
	var objects []hw.Object
	n := packages * cores
	kinds := []hw.Kind{hw.Cache1, hw.Cache2, hw.Cache3}
	for p := range packages {
		var all []int
		for c := range cores {
			cpu := p*cores + c
			all = append(all, cpu)
			objects = append(objects, hw.Object{Kind: hw.CPU, OS: cpu, CPUs: hw.CPUs{cpu}}, hw.Object{Kind: hw.Core, OS: cpu, CPUs: hw.CPUs{cpu}})
			for i, l := range levels {
				if !l.Shared {
					objects = append(objects, hw.Object{Kind: kinds[i], OS: -1, CPUs: hw.CPUs{cpu}, Size: uint64(l.Size), Line: 64, Ways: l.Ways})
				}
			}
		}
		for i, l := range levels {
			if l.Shared {
				objects = append(objects, hw.Object{Kind: kinds[i], OS: -1, CPUs: all, Size: uint64(l.Size), Line: 64, Ways: l.Ways})
			}
		}
		objects = append(objects, hw.Object{Kind: hw.Package, OS: p, CPUs: all}, hw.Object{Kind: hw.NUMA, OS: p, CPUs: all, Size: 1 << 30})
	}
	top, err := hw.Build(hw.Spec{Objects: append(objects, hw.Object{Kind: hw.Machine, OS: -1, CPUs: upTo(n)})})
	if err != nil {
		t.Fatal(err)
	}
	return top
}

func upTo(n int) hw.CPUs {
	var out hw.CPUs
	for i := range n {
		out = append(out, i)
	}
	return out
}

// Objects that are used at random: a simulation of every access and the model,
// which sees one in a thousand, must agree on where most of each is found.
func TestAgreesWithSimulation(t *testing.T) {
	cfg := cachesim.TwoSocket()
	sim, err := cachesim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	objects := []struct {
		size  uint64
		share float64
	}{
		{8 << 10, 0.60},  // always at hand
		{128 << 10, 0.2}, // too large for L1
		{2 << 20, 0.17},  // too large for L2
		{64 << 20, 0.03}, // too large for any cache
	}
	random := rand.New(rand.NewPCG(1, 2))
	var samples []Sample
	counts := make([]map[cachesim.Source]int, len(objects))
	for i := range counts {
		counts[i] = map[cachesim.Source]int{}
	}
	const accesses, every, warm = 2_000_000, 500, 500_000
	for n := range accesses {
		o, u := 0, random.Float64()
		for u -= objects[0].share; u > 0 && o < len(objects)-1; u -= objects[o].share {
			o++
		}
		addr := uint64(o+1)<<32 + random.Uint64N(objects[o].size)&^7
		got := sim.Access(cachesim.Ref{CPU: 0, Addr: addr, Width: 8, Now: int64(n) * 1000})
		if n >= warm {
			counts[o][got.Source]++
			if n%every == 0 {
				samples = append(samples, Sample{CPU: 0, Object: o, Addr: addr, Home: 0})
			}
		}
	}
	m, err := New(machine(t, 2, 8, cfg.Levels))
	if err != nil {
		t.Fatal(err)
	}
	modelled := make([]map[string]int, len(objects))
	for i, l := range m.Levels(samples) {
		o := samples[i].Object
		if modelled[o] == nil {
			modelled[o] = map[string]int{}
		}
		modelled[o][l.String()]++
	}
	for o := range objects {
		var simulated string
		most := 0
		for s, n := range counts[o] {
			if n > most {
				most, simulated = n, s.String()
			}
		}
		all := 0
		for _, n := range modelled[o] {
			all += n
		}
		t.Logf("%d KiB: simulated %v, modelled %v", objects[o].size>>10, counts[o], modelled[o])
		if float64(modelled[o][simulated]) < 0.9*float64(all) {
			t.Errorf("object of %d KiB: simulated mostly %s, modelled %v", objects[o].size>>10, simulated, modelled[o])
		}
	}
}

// One object used at random: the part that fits is what is found.
func TestHoldsWhatFits(t *testing.T) {
	for _, times := range []uint64{1, 2, 5, 100} {
		const size = 1 << 20
		e := extent{samples: 1000, low: 0, top: times*size - 1}
		got := hold(map[int]extent{7: e}, map[int]extent{7: e}, size, 64)[7]
		if want := 1 / float64(times); math.Abs(got-want) > 0.01 {
			t.Errorf("an object of %d caches is found with %v, want %v", times, got, want)
		}
	}
}

// Memory is that of the node whose CPU touched the page first.
func TestMemory(t *testing.T) {
	levels := []cachesim.Level{{Size: 4096}, {Size: 8192}, {Size: 16384, Shared: true}}
	for _, tt := range []struct {
		packages, home int
		want           hw.Level
	}{{2, 0, hw.LocalRAM}, {2, 3, hw.RemoteRAM}, {2, -1, hw.BeyondL3}, {1, -1, hw.LocalRAM}} {
		m, err := New(machine(t, tt.packages, 2, levels))
		if err != nil {
			t.Fatal(err)
		}
		var samples []Sample
		for i := range 600 {
			samples = append(samples, Sample{CPU: 1, Addr: uint64(i) << 20, Home: tt.home})
		}
		for i, l := range m.Levels(samples) {
			if l != tt.want {
				t.Fatalf("%+v: sample %d is %v", tt, i, l)
			}
		}
	}
}

// Phases are told apart: what fits by itself is not counted together.
func TestPhases(t *testing.T) {
	m, err := New(machine(t, 1, 1, []cachesim.Level{{Size: 32 << 10}, {Size: 256 << 10}, {Size: 4 << 20, Shared: true}}))
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	var samples []Sample
	for phase := range 8 {
		for range 2 * window {
			samples = append(samples, Sample{Object: phase, Addr: uint64(phase)<<32 + random.Uint64N(30<<10)})
		}
	}
	n := map[string]int{}
	for _, l := range m.Levels(samples) {
		n[l.String()]++
	}
	if n["L1"] != len(samples) {
		t.Errorf("eight arrays of 30 KiB, one after the other: %v", n)
	}
}

func TestTopologies(t *testing.T) {
	bare, err := hw.Build(hw.Spec{Objects: []hw.Object{{Kind: hw.Machine, OS: -1, CPUs: hw.CPUs{0}}, {Kind: hw.CPU, OS: 0, CPUs: hw.CPUs{0}}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(bare); !errors.Is(err, ErrNoCaches) {
		t.Errorf("a machine without caches: %v", err)
	}
	m, err := New(machine(t, 1, 2, []cachesim.Level{{Size: 4096}}))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Check([]int{0, 1}); err != nil {
		t.Error(err)
	}
	if err := m.Check([]int{0, 5}); err == nil {
		t.Error("CPU 5 does not exist")
	}
	if got := fmt.Sprint(m.Levels([]Sample{{CPU: 5}})); got != "[]" {
		t.Errorf("a sample of a CPU that does not exist is %s", got)
	}
	if got := m.Levels(nil); len(got) != 0 {
		t.Errorf("no samples give %v", got)
	}
}

// The same samples give the same probabilities to the last bit, and the same
// levels: rounding depends on the order of terms, which a map does not keep.
func TestSameEveryTime(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	objects := map[int]extent{}
	var samples []Sample
	for o := range 60 {
		base := uint64(o) << 30
		length := 1 + random.Uint64N(1<<22)
		objects[o] = extent{samples: 3 + random.IntN(400), low: base, top: base + length}
		for range 20 {
			samples = append(samples, Sample{CPU: random.IntN(4), Object: o, Addr: base + random.Uint64N(length), Home: -1})
		}
	}
	random.Shuffle(len(samples), func(i, k int) { samples[i], samples[k] = samples[k], samples[i] })
	m, err := New(machine(t, 2, 2, cachesim.TwoSocket().Levels))
	if err != nil {
		t.Fatal(err)
	}
	bits := func(p map[int]float64) string {
		text := ""
		for o := range 60 {
			text += fmt.Sprintf("%016x ", math.Float64bits(p[o]))
		}
		return text
	}
	first, levels := bits(hold(objects, objects, 1<<21, 64)), fmt.Sprint(m.Levels(samples))
	for range 50 {
		if again := bits(hold(objects, objects, 1<<21, 64)); again != first {
			t.Fatalf("probabilities differ:\n%s\n%s", first, again)
		}
		if again := fmt.Sprint(m.Levels(samples)); again != levels {
			t.Fatal("levels differ")
		}
	}
}
