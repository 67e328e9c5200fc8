package platform

import (
	"maps"
	"slices"
)

// TLBs of machines whose description does not say: of the class of recent x86
// cores.
var (
	assumedDTLB = TLB{64, 4}
	assumedSTLB = TLB{1536, 12}
)

// preset is a machine by its public figures.
type preset struct {
	about      string
	levels     []Level
	dtlb, stlb TLB
	page       int
	cores      int
	sharedBy   []int // cores that share a cache of each level
	nodes      int
}

const kib, mib = 1 << 10, 1 << 20

func cache(size, ways, line int, p Policy) Level {
	return Level{Size: size, Ways: ways, Line: line, Policy: p}
}

// presets are sizes, ways and lines as vendors publish them; replacement is LRU
// and latencies are assumed for all.
var presets = map[string]preset{
	"classic": {"a small machine, for examples and tests", []Level{cache(32*kib, 8, 64, NonInclusive), cache(256*kib, 8, 64, NonInclusive), cache(2*mib, 16, 64, NonInclusive)},
		TLB{64, 4}, TLB{1536, 12}, 4096, 4, []int{1, 1, 4}, 1},
	"skylake": {"Intel Skylake-SP", []Level{cache(32*kib, 8, 64, NonInclusive), cache(1*mib, 16, 64, NonInclusive), cache(28*1408*kib, 11, 64, Exclusive)},
		TLB{64, 4}, TLB{1536, 12}, 4096, 56, []int{1, 1, 28}, 2},
	"icelake": {"Intel Ice Lake-SP", []Level{cache(48*kib, 12, 64, NonInclusive), cache(1280*kib, 20, 64, NonInclusive), cache(54*mib, 12, 64, Exclusive)},
		TLB{64, 4}, TLB{2048, 16}, 4096, 72, []int{1, 1, 36}, 2},
	"sapphirerapids": {"Intel Sapphire Rapids", []Level{cache(48*kib, 12, 64, NonInclusive), cache(2*mib, 16, 64, NonInclusive), cache(105*mib, 15, 64, Exclusive)},
		TLB{96, 6}, TLB{2048, 16}, 4096, 112, []int{1, 1, 56}, 2},
	"zen2": {"AMD Zen 2 (EPYC 7002)", []Level{cache(32*kib, 8, 64, NonInclusive), cache(512*kib, 8, 64, Inclusive), cache(16*mib, 16, 64, Exclusive)},
		TLB{64, 64}, TLB{2048, 16}, 4096, 64, []int{1, 1, 4}, 1},
	"zen3": {"AMD Zen 3 (EPYC 7003)", []Level{cache(32*kib, 8, 64, NonInclusive), cache(512*kib, 8, 64, Inclusive), cache(32*mib, 16, 64, Exclusive)},
		TLB{64, 64}, TLB{2048, 16}, 4096, 64, []int{1, 1, 8}, 1},
	"zen4": {"AMD Zen 4 (EPYC 9004)", []Level{cache(32*kib, 8, 64, NonInclusive), cache(1*mib, 8, 64, Inclusive), cache(32*mib, 16, 64, Exclusive)},
		TLB{72, 72}, TLB{3072, 24}, 4096, 96, []int{1, 1, 8}, 1},
	"neoversev1": {"Arm Neoverse V1 (Graviton 3)", []Level{cache(64*kib, 4, 64, NonInclusive), cache(1*mib, 8, 64, NonInclusive), cache(32*mib, 16, 64, Exclusive)},
		TLB{48, 48}, TLB{2048, 8}, 4096, 64, []int{1, 1, 64}, 1},
	"a64fx": {"Fujitsu A64FX", []Level{cache(64*kib, 4, 256, NonInclusive), cache(8*mib, 16, 256, Inclusive)},
		TLB{16, 16}, TLB{1024, 4}, 65536, 48, []int{1, 12}, 4},
	"m1": {"Apple M1 performance cores", []Level{cache(128*kib, 8, 128, NonInclusive), cache(12*mib, 12, 128, NonInclusive)},
		TLB{160, 4}, TLB{3072, 12}, 16384, 4, []int{1, 4}, 1},
	"power9": {"IBM POWER9", []Level{cache(32*kib, 8, 128, NonInclusive), cache(512*kib, 8, 128, NonInclusive), cache(10*mib, 20, 128, Exclusive)},
		TLB{64, 64}, TLB{1024, 4}, 65536, 24, []int{1, 2, 2}, 2},
}

// Presets are the names of the machines built in, sorted.
func Presets() []string { return slices.Sorted(maps.Keys(presets)) }

// Preset returns a machine built in.
func Preset(name string) (*Machine, bool) {
	p, ok := presets[name]
	if !ok {
		return nil, false
	}
	m := &Machine{Name: name, DTLB: p.dtlb, STLB: p.stlb, Page: p.page, Walk: defaultWalk, Remote: defaultRemote, Queue: defaultQueue, Cores: uniform(p.cores, p.sharedBy, p.nodes), Nodes: p.nodes,
		Assumed: []string{"latency steps", "replacement: LRU"}}
	for i, l := range p.levels {
		l.Name, l.Step = levelNames[i], steps[i]
		m.Levels = append(m.Levels, l)
	}
	return m, true
}

var levelNames = [...]string{"L1", "L2", "L3", "L4", "L5"}
