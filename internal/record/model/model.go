// Package model estimates from sampled addresses which level of a memory
// hierarchy would hold the data of each sample.
//
// Samples of a timer say where a program spends its time, not in which order it
// uses its data, so caches cannot be simulated with them. What can be estimated
// is what a cache with least-recently-used replacement would keep if every
// object were used at random at the rate at which it is sampled: Che's
// approximation (H. Che, Y. Tung, Z. Wang: Hierarchical Web caching systems,
// IEEE JSAC 20, 2002; the idea is R. Fagin's, 1977). In a cache of C lines that
// is shared by objects of N lines and rate r there is one time t with
//
//	sum of N·(1 − exp(−r·t/N)) = C,
//
// and a line of the object is found there with probability 1 − exp(−r·t/N).
//
// What it cannot know: the order of accesses, so that a sweep over slightly more
// than a cache looks better than it is and neighbours in one line worse;
// prefetching; conflicts between lines; sharing between caches. Whatever it says
// is modelled, and a column made of it must say so.
package model

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/isobath/isobath/internal/machine/hw"
)

// Sample is one sampled access. Samples are given in order of time.
type Sample struct {
	CPU    int
	Object int // equal for what belongs together, such as one array
	Addr   uint64
	Home   int // the CPU that touched the page first; negative if not known
}

// window is how many samples of one cache are looked at together: enough to see
// how its time is shared, few enough to follow a program from phase to phase.
const window = 512

// defaultLine is used where a topology does not say how long a line is.
const defaultLine = 64

// likely is the probability from which on a line counts as present.
const likely = 0.5

// Model is a hierarchy.
type Model struct {
	t *hw.Topology
	// paths are the caches above each CPU, nearest first.
	paths map[int][]int
}

// ErrNoCaches is returned for a topology that cannot be modelled.
var ErrNoCaches = errors.New("the topology has no caches of known size, so there is nothing to model")

// New reads the caches of a topology.
func New(t *hw.Topology) (*Model, error) {
	m := &Model{t: t, paths: map[int][]int{}}
	for _, cpu := range t.At(hw.CPU) {
		var path []int
		for i := cpu; i >= 0; i = t.Resources[i].Parent {
			if r := &t.Resources[i]; r.Kind.IsCache() && r.Kind != hw.SideCache && r.Size > 0 {
				path = append(path, i)
			}
		}
		if len(path) > 0 {
			m.paths[t.Resources[cpu].OS] = path
		}
	}
	if len(m.paths) == 0 {
		return nil, ErrNoCaches
	}
	return m, nil
}

// Check reports a CPU that samples may come from and the topology does not have.
func (m *Model) Check(cpus []int) error {
	for _, cpu := range cpus {
		if m.paths[cpu] == nil {
			return fmt.Errorf("the topology has no CPU %d with caches; it has %s", cpu, m.t.Root().CPUs)
		}
	}
	return nil
}

// Levels estimates the level of each sample; NoLevel where the topology does not
// have its CPU.
func (m *Model) Levels(samples []Sample) []hw.Level {
	whole := extents(samples, nil)
	found := make([]hw.Level, len(samples))
	of := map[int][]int{} // samples by cache
	for i := range samples {
		for _, c := range m.paths[samples[i].CPU] {
			of[c] = append(of[c], i)
		}
	}
	// Nearer caches first: what one holds the next is not asked for.
	caches := make([]int, 0, len(of))
	for c := range of {
		caches = append(caches, c)
	}
	slices.SortFunc(caches, func(a, b int) int {
		ka, kb := m.t.Resources[a].Kind, m.t.Resources[b].Kind
		return cmp.Or(cmp.Compare(kb, ka), cmp.Compare(a, b)) // kinds count inwards
	})
	for _, c := range caches {
		m.cache(c, samples, of[c], whole, found)
	}
	for i := range samples {
		if path := m.paths[samples[i].CPU]; found[i] == hw.NoLevel && path != nil {
			found[i] = m.memory(&samples[i], m.t.Resources[path[len(path)-1]].Kind)
		}
	}
	return found
}

var levels = map[hw.Kind]hw.Level{hw.Cache1: hw.L1, hw.Cache2: hw.L2, hw.Cache3: hw.L3, hw.Cache4: hw.L4}

// cache marks the samples that one cache holds, window by window.
func (m *Model) cache(c int, samples []Sample, of []int, whole map[int]extent, found []hw.Level) {
	r := &m.t.Resources[c]
	line := uint64(defaultLine)
	if r.Line > 0 {
		line = uint64(r.Line)
	}
	for len(of) > 0 {
		n := window
		if len(of) < 2*window {
			n = len(of) // a short rest would say little by itself
		}
		held := hold(extents(samples, of[:n]), whole, r.Size, line)
		for _, i := range of[:n] {
			if found[i] == hw.NoLevel && held[samples[i].Object] >= likely {
				found[i] = levels[r.Kind]
			}
		}
		of = of[n:]
	}
}

// memory says which memory answers what no cache holds.
func (m *Model) memory(s *Sample, last hw.Kind) hw.Level {
	here, ok := m.t.Node(s.CPU)
	there, known := m.t.Node(s.Home)
	switch {
	case ok && (known && here.OS == there.OS || len(m.t.At(hw.NUMA)) == 1):
		return hw.LocalRAM
	case ok && known:
		return hw.RemoteRAM
	}
	switch last {
	case hw.Cache1:
		return hw.BeyondL1
	case hw.Cache2:
		return hw.BeyondL2
	case hw.Cache3:
		return hw.BeyondL3
	}
	return hw.Unknown
}

// extent is what is known of an object: how often it was sampled, and where.
type extent struct {
	samples  int
	low, top uint64 // addresses
}

// extents looks at some of the samples, or at all if only is nil.
func extents(samples []Sample, only []int) map[int]extent {
	out := map[int]extent{}
	add := func(s *Sample) {
		e, ok := out[s.Object]
		if !ok {
			e.low, e.top = s.Addr, s.Addr
		}
		e.samples++
		e.low, e.top = min(e.low, s.Addr), max(e.top, s.Addr)
		out[s.Object] = e
	}
	if only == nil {
		for i := range samples {
			add(&samples[i])
		}
		return out
	}
	for _, i := range only {
		add(&samples[i])
	}
	return out
}

// lines estimates how many lines of an object are in use. The ends are hardly
// ever sampled: between n places the gaps are (n+1)/(n−1) of what lies between
// the first and the last. Too few samples say nothing, and the object is taken
// to be as long as it is seen to be in the whole run.
func (e extent) lines(whole extent, line uint64) float64 {
	span := func(x extent) float64 { return float64(x.top/line-x.low/line) + 1 }
	if e.samples < 3 {
		return span(whole)
	}
	n := float64(e.samples)
	return min(span(e)*(n+1)/(n-1), span(whole))
}

// part is an object's share of a cache.
type part struct {
	object      int
	rate, lines float64
}

// parts lists objects in order of their numbers: sums of rounded numbers depend
// on the order of their terms, and the same samples must give the same levels.
func parts(objects, whole map[int]extent, line uint64) []part {
	out := make([]part, 0, len(objects))
	for _, o := range slices.Sorted(maps.Keys(objects)) {
		out = append(out, part{o, float64(objects[o].samples), objects[o].lines(whole[o], line)})
	}
	return out
}

// hold returns the probability that a line of each object is in a cache.
func hold(objects, whole map[int]extent, size, line uint64) map[int]float64 {
	capacity := float64(size / line)
	shares := parts(objects, whole, line)
	all, total := 0.0, 0.0
	for _, p := range shares {
		all += p.lines
		total += p.rate
	}
	out := make(map[int]float64, len(shares))
	if all <= capacity {
		for _, p := range shares {
			out[p.object] = 1
		}
		return out
	}
	filled := func(t float64) float64 {
		sum := 0.0
		for _, p := range shares {
			sum += p.lines * -math.Expm1(-p.rate*t/p.lines)
		}
		return sum
	}
	// The filled part grows with t; double until it is too much, then halve.
	high := capacity / total
	for range 200 {
		if filled(high) >= capacity {
			break
		}
		high *= 2
	}
	low := 0.0
	for range 60 {
		if mid := (low + high) / 2; filled(mid) < capacity {
			low = mid
		} else {
			high = mid
		}
	}
	for _, p := range shares {
		out[p.object] = -math.Expm1(-p.rate * high / p.lines)
	}
	return out
}
