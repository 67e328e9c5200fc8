package reuse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/machine/cachesim"
)

// randomTrace makes references with reuse at all distances, over two lines, and
// without sizes.
func randomTrace(seed uint64, n, threads int) []refs.Ref {
	rng := rand.New(rand.NewPCG(seed, 9))
	out := make([]refs.Ref, n)
	span := 64 << rng.Uint64N(10)
	for i := range out {
		out[i] = refs.Ref{Addr: 0x10000 + rng.Uint64N(uint64(span)), PC: rng.Uint64N(20), Size: uint32(rng.Uint64N(80)),
			Thread: uint32(rng.IntN(threads)), Object: uint32(rng.IntN(4)), Op: refs.Op(rng.IntN(3))}
		if i > 0 && rng.IntN(3) == 0 {
			out[i].Addr = out[i-1].Addr + 8
		}
	}
	return out
}

func linesOf(r refs.Ref, size uint64) (from, to uint64) {
	return r.Addr / size, (r.Addr + uint64(max(r.Size, 1)) - 1) / size
}

// distinct counts the lines of a stretch of a trace.
func distinct(all []refs.Ref, size uint64) int {
	seen := map[uint64]bool{}
	for _, r := range all {
		from, to := linesOf(r, size)
		for l := from; l <= to; l++ {
			seen[l] = true
		}
	}
	return len(seen)
}

func TestFootprintEqualsItsDefinition(t *testing.T) {
	for seed := range uint64(15) {
		all := randomTrace(seed, 300, 1)
		for _, w := range measure(all, Options{}).Footprint {
			sum := 0
			for i := 0; i+int(w.References) <= len(all); i++ {
				sum += distinct(all[i:i+int(w.References)], 64)
			}
			want := float64(sum) / float64(len(all)-int(w.References)+1)
			if math.Abs(want-w.Lines) > 1e-9*want {
				t.Fatalf("seed %d, windows of %d: %v lines, want %v", seed, w.References, w.Lines, want)
			}
		}
	}
}

// TestWorkingSetOfLongTraces holds that windows double when there are too many
// of them, and still count distinct lines.
func TestWorkingSetOfLongTraces(t *testing.T) {
	all := randomTrace(5, baseWindow*maxWindows+7777, 1)
	ws := measure(all, Options{}).WorkingSet
	if ws.Window != 2*baseWindow || len(ws.Lines) != len(ws.Pages) || len(ws.Lines) != (len(all)+int(ws.Window)-1)/int(ws.Window) {
		t.Fatalf("%d windows of %d", len(ws.Lines), ws.Window)
	}
	for i, n := range ws.Lines {
		part := all[i*int(ws.Window) : min((i+1)*int(ws.Window), len(all))]
		if want := distinct(part, 64); int(n) != want {
			t.Fatalf("window %d: %d lines, want %d", i, n, want)
		}
		if want := distinct(part, 4096); int(ws.Pages[i]) != want {
			t.Fatalf("window %d: %d pages, want %d", i, ws.Pages[i], want)
		}
	}
}

func TestInvariants(t *testing.T) {
	for seed := range uint64(20) {
		all := randomTrace(seed, 4000, 3)
		r := measure(all, Options{Cache: cachesim.Geometry{Size: 2048, Ways: 2, Line: 64}})
		var code, members Histogram
		for _, g := range r.Code {
			code.Merge(&g.Lines)
		}
		for _, g := range r.Members {
			if g != nil {
				members.Merge(&g.Lines)
			}
		}
		if code != r.Whole || members != r.Whole || r.Whole.Total() != uint64(len(all)) {
			t.Fatalf("seed %d: the groups do not add up to the whole", seed)
		}
		last := r.References
		for _, p := range r.Curve() {
			if p.Misses > last || p.Misses < r.First || p.Misses != r.Misses(p.Lines) || p.Misses != r.Whole.Misses(p.Lines) {
				t.Fatalf("seed %d: %d lines miss %d after %d", seed, p.Lines, p.Misses, last)
			}
			last = p.Misses
		}
		if last != r.First || r.Used > r.Fetched*64 || r.Fetched < r.Lines {
			t.Errorf("seed %d: %d misses left, %d first; %d bytes of %d lines used", seed, last, r.First, r.Used, r.Fetched)
		}
		if shared := measure(all, Options{Shared: true}); shared.Lines > r.Lines || shared.Lines != uint64(distinct(all, 64)) {
			t.Errorf("seed %d: %d lines shared, %d apart", seed, shared.Lines, r.Lines)
		}
	}
}

// TestThreadsAreApart holds that threads with stacks of their own count as if
// each had run alone.
func TestThreadsAreApart(t *testing.T) {
	all := randomTrace(3, 5000, 4)
	var sum Histogram
	for id := range uint32(4) {
		var own []refs.Ref
		for _, r := range all {
			if r.Thread == id {
				own = append(own, r)
			}
		}
		sum.Merge(&measure(own, Options{}).Whole)
	}
	if got := measure(all, Options{}).Whole; got != sum {
		t.Error("the threads together differ from each alone")
	}
}

// TestGroupsEqualTheirDefinition holds every histogram against lists of lines and of
// pages, latest first, for lines and pages of all sizes, threads that alternate or
// run for a while, and references that come in parts of all lengths.
func TestGroupsEqualTheirDefinition(t *testing.T) {
	for seed := range uint64(24) {
		rng := rand.New(rand.NewPCG(seed, 5))
		o := Options{Line: 8 << rng.IntN(6), Page: 8 << rng.IntN(10), Shared: rng.IntN(3) == 0,
			Member: func(r *refs.Ref) uint32 { return r.Object + uint32(r.Addr>>3&1) }}
		o.Cache = cachesim.Geometry{Size: 8 * o.Line, Ways: 2, Line: o.Line}
		turn := uint32(0)
		loop := func(*refs.Ref) uint32 { turn++; return turn / 100 % 3 }
		all := randomTrace(seed, 4000, 1)
		stay := 1 + rng.IntN(300)
		for i := range all {
			all[i].Thread = uint32(i / stay % 3)
		}
		want := defined(all, o, loop)
		turn, o.Loop = 0, loop
		p := NewPass(o)
		for rest := all; len(rest) > 0; {
			n := 1 + rng.IntN(min(len(rest), 1200))
			p.Add(rest[:n])
			rest = rest[n:]
		}
		r := p.Result()
		got := definition{pages: r.Pages, code: map[Code]Histogram{}, members: histograms(r.Members), loops: histograms(r.Loops)}
		for _, g := range r.Code {
			got.code[g.Code] = g.Lines
		}
		diff(t, fmt.Sprintf("seed %d, lines of %d, pages of %d, threads for %d", seed, o.Line, o.Page, stay), want.text(), got.text())
	}
}

// definition is the histograms of a pass.
type definition struct {
	pages          Histogram
	code           map[Code]Histogram
	members, loops map[uint32]Histogram
}

func (d *definition) text() []string {
	return []string{fmt.Sprint(d.pages), fmt.Sprint(d.code), fmt.Sprint(d.members), fmt.Sprint(d.loops)}
}

func histograms(groups []*Group) map[uint32]Histogram {
	out := map[uint32]Histogram{}
	for i, g := range groups {
		if g != nil {
			out[uint32(i)] = g.Lines
		}
	}
	return out
}

// defined finds distances in lists.
func defined(all []refs.Ref, o Options, loop func(*refs.Ref) uint32) *definition {
	d := &definition{code: map[Code]Histogram{}, members: map[uint32]Histogram{}, loops: map[uint32]Histogram{}}
	lines, pages := map[uint32]*plainStack{}, map[uint32]*plainStack{}
	far := func(stacks map[uint32]*plainStack, r *refs.Ref, size int) (far uint32) {
		of := r.Thread
		if o.Shared {
			of = 0
		}
		if stacks[of] == nil {
			stacks[of] = &plainStack{}
		}
		for from, to := linesOf(*r, uint64(size)); from <= to; from++ {
			far = max(far, stacks[of].access(from))
		}
		return far
	}
	for i := range all {
		r := &all[i]
		at := far(lines, r, o.Line)
		addTo(d.code, Code{r.PC, r.Place, r.Thread}, at)
		addTo(d.members, o.Member(r), at)
		addTo(d.loops, loop(r), at)
		d.pages.Add(far(pages, r, o.Page))
	}
	return d
}

func addTo[K comparable](groups map[K]Histogram, key K, distance uint32) {
	h := groups[key]
	h.Add(distance)
	groups[key] = h
}

func TestAliases(t *testing.T) {
	all := []refs.Ref{
		{Addr: 0x1008, Size: 8, Op: refs.Store},
		{Addr: 0x2008, Size: 8}, // alias
		{Addr: 0x1008, Size: 8}, // the same bytes
		{Addr: 0x2010, Size: 8}, // another place in the page
	}
	for i := range aliasWindow {
		all = append(all, refs.Ref{Addr: 0x9100 + 8*uint64(i), Size: 8, Op: refs.Store})
	}
	all = append(all, refs.Ref{Addr: 0x3008, Size: 8}) // forgotten
	if r := measure(all, Options{}); r.Aliases != 1 || r.Loads != 4 {
		t.Errorf("%d aliases of %d loads", r.Aliases, r.Loads)
	}
}

// TestAliasesEqualTheirDefinition compares with a search of the latest stores, for
// places in a page, pages and runs of stores of all lengths.
func TestAliasesEqualTheirDefinition(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 7))
		all := make([]refs.Ref, 3000)
		pages, places := 1+rng.Uint64N(3), 1+rng.Uint64N(1<<rng.Uint64N(8))
		var stores []uint64
		want := uint64(0)
		for i := range all {
			r := refs.Ref{Addr: (1+rng.Uint64N(pages))<<12 | rng.Uint64N(places)<<3, Size: 8, Op: refs.Op(rng.IntN(3))}
			if i > 0 && rng.IntN(2) == 0 {
				r.Addr = all[i-1].Addr
			}
			if r.Op != refs.Store && slices.ContainsFunc(stores, func(s uint64) bool { return s>>12 != r.Addr>>12 && s&0xff8 == r.Addr&0xff8 }) {
				want++
			}
			if r.Op != refs.Load {
				stores = append(stores, r.Addr)
				stores = stores[max(len(stores)-aliasWindow, 0):]
			}
			all[i] = r
		}
		if got := measure(all, Options{}).Aliases; got != want {
			t.Errorf("seed %d: %d aliases, want %d", seed, got, want)
		}
	}
}

// mix is a trace as of a program: a stack, a sweep, nodes of a hash table, and a
// hot table.
func mix(n int) []refs.Ref {
	rng := rand.New(rand.NewPCG(1, 2))
	out := make([]refs.Ref, n)
	for i := range out {
		r := refs.Ref{Size: 8, PC: uint64(i % 8), Place: uint32(i % 8), Object: uint32(i % 4)}
		switch i % 8 {
		case 0, 1, 2:
			r.Addr = 0x7fff0000 + uint64(i%5)*8
		case 3, 4, 5:
			r.Addr = 0x10000000 + uint64(i/8)%2_000_000*8 + uint64(i%8)*0x4000000
		case 6:
			r.Addr = 0x90000000 + rng.Uint64N(100_000)*80
		default:
			r.Addr = 0x50000000 + rng.Uint64N(512)*8
		}
		out[i] = r
	}
	return out
}

func BenchmarkStack(b *testing.B) {
	all := mix(4_000_000)
	s := NewStack()
	for i := 0; b.Loop(); i++ {
		s.Access(all[i%len(all)].Addr / 64)
	}
}

func BenchmarkPass(b *testing.B) {
	all := mix(4_000_000)
	p := NewPass(Options{Cache: cachesim.Geometry{Size: 32 << 10, Ways: 8, Line: 64}})
	for i := 0; b.Loop(); i++ {
		p.Add(all[i%len(all):][:1])
	}
}
