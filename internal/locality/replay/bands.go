package replay

import (
	"math/bits"

	"github.com/isobath/isobath/internal/locality/platform"
)

// frameMaps is how many random maps from pages to frames are tried.
const frameMaps = 4

// Tally is misses by level with the bands they lie in: what a prefetcher could
// hide of them, and what they are with pages in other frames of memory.
type Tally struct {
	Misses []uint64 // lines fetched
	Hidden []uint64 // of them those that an ideal stride prefetcher hides
	framed [frameMaps][]uint64
}

// NewTally is a tally of nothing.
func NewTally(levels int) Tally {
	t := Tally{Misses: make([]uint64, levels), Hidden: make([]uint64, levels)}
	for i := range t.framed {
		t.framed[i] = make([]uint64, levels)
	}
	return t
}

// miss counts a line that the first levels missed.
func (t *Tally) miss(levels int, hidden bool) {
	for i := range levels {
		t.Misses[i]++
		if hidden {
			t.Hidden[i]++
		}
	}
}

// missElsewhere counts a line that the levels behind the first missed with the
// pages in the frames of a map.
func (t *Tally) missElsewhere(seed, levels int) {
	for i := range levels {
		t.framed[seed][i+1]++
	}
}

// Count counts lines that one level missed.
func (t *Tally) Count(level int, lines uint64, hidden bool) {
	t.Misses[level] += lines
	if hidden {
		t.Hidden[level] += lines
	}
}

// CountFramed counts what an access misses with its pages elsewhere.
func (t *Tally) CountFramed(f *Framed) {
	for seed := range t.framed {
		for i := range t.framed[seed][1:] {
			t.framed[seed][i+1] += uint64(f.Misses[seed][i])
		}
	}
}

// Add adds another tally.
func (t *Tally) Add(o *Tally) {
	for i := range t.Misses {
		t.Misses[i] += o.Misses[i]
		t.Hidden[i] += o.Hidden[i]
		for seed := range t.framed {
			t.framed[seed][i] += o.framed[seed][i]
		}
	}
}

func (t *Tally) clear() {
	clear(t.Misses)
	clear(t.Hidden)
	for i := range t.framed {
		clear(t.framed[i])
	}
}

// Prefetch is the misses with an ideal stride prefetcher and with none, by level.
func (t *Tally) Prefetch() [][2]uint64 {
	out := make([][2]uint64, len(t.Misses))
	for i, n := range t.Misses {
		out[i] = [2]uint64{n - t.Hidden[i], n}
	}
	return out
}

// Frames is the least and most misses over the frames that pages may have, by
// level; one number where the frame does not choose the set.
func (t *Tally) Frames(m *platform.Machine) [][2]uint64 {
	out := make([][2]uint64, len(t.Misses))
	for i, n := range t.Misses {
		out[i] = [2]uint64{n, n}
		if !framed(m, i) {
			continue
		}
		for seed := range t.framed {
			out[i][0], out[i][1] = min(out[i][0], t.framed[seed][i]), max(out[i][1], t.framed[seed][i])
		}
	}
	return out
}

// Bands is what misses may be elsewhere, by level.
type Bands struct {
	Frames   [][2]uint64 `json:"frames" ts:"ReadonlyArray<readonly [number, number]>"`   // least and most with pages in random frames
	Prefetch [][2]uint64 `json:"prefetch" ts:"ReadonlyArray<readonly [number, number]>"` // with an ideal prefetcher, and with none
}

// Bands are those of a tally.
func (t *Tally) Bands(m *platform.Machine) Bands { return Bands{t.Frames(m), t.Prefetch()} }

// framed reports whether the frame of a page chooses the set of a line. The first
// level is looked up by the address of the program.
func framed(m *platform.Machine, level int) bool {
	l := &m.Levels[level]
	return level > 0 && l.Size/l.Ways > m.Page
}

// elsewhere is the caches of a machine behind the first level, once for each of
// some maps of pages to frames.
type elsewhere struct {
	maps  []*Caches // none where no frame chooses a set
	shift uint
}

// newElsewhere makes empty caches. Missed is told how many of the levels behind
// the first missed a line.
func newElsewhere(m *platform.Machine, missed func(seed, levels int)) *elsewhere {
	e := &elsewhere{shift: uint(bits.TrailingZeros(uint(m.Levels[0].Line)))}
	some := false
	for i := range m.Levels {
		some = some || framed(m, i)
	}
	for seed := 0; some && seed < frameMaps; seed++ {
		c := outer(m)
		c.missed = func(_ uint64, levels int) { missed(seed, levels) }
		e.maps = append(e.maps, c)
	}
	return e
}

// fetch asks for a line that the first level of a thread missed; pageShift is of
// the page that it lies on.
func (e *elsewhere) fetch(thread int, line uint64, pageShift uint) {
	for seed, c := range e.maps {
		c.piece(c.thread(thread), frame(line<<e.shift, pageShift, uint64(seed)), 1)
		c.threads[thread].lastLine = 0
	}
}

// outer is the caches of a machine beyond the first level, as a machine.
func outer(m *platform.Machine) *Caches {
	beyond := *m
	beyond.Levels = append([]platform.Level(nil), m.Levels[1:]...)
	beyond.Levels[0].Policy = platform.NonInclusive
	beyond.Cores = nil
	for _, c := range m.Cores {
		beyond.Cores = append(beyond.Cores, platform.Core{Caches: c.Caches[1:], Node: c.Node})
	}
	c := NewCaches(&beyond)
	c.linesOnly = true
	return c
}

// frame is where in memory an address lies if its page has a random frame.
func frame(addr uint64, shift uint, seed uint64) uint64 {
	h := (addr>>shift + 1) * 0x9e3779b97f4a7c15 * (2*seed + 3)
	h = (h ^ h>>29) * 0xbf58476d1ce4e5b9
	h ^= h >> 32
	return h<<shift | addr&(1<<shift-1)
}

// The prefetcher of the ideal end of the band: it follows strides below 2 KiB
// from the third equal one on, and never into another page.
const (
	prefetchStride = 2048
	prefetchAfter  = 3
	prefetchPage   = 4096
)

// stream is what a stride prefetcher knows of an instruction.
type stream struct {
	begun  bool
	last   uint64
	stride int64
	equal  int // how often in a row the stride was the same
}

// follow tells the prefetcher about a reference, and whether it saw it coming.
func (st *stream) follow(addr uint64) bool {
	if !st.begun {
		st.begun, st.last = true, addr
		return false
	}
	d := int64(addr - st.last)
	if d == st.stride {
		st.equal++
	} else {
		st.stride, st.equal = d, 1
	}
	last := st.last
	st.last = addr
	return st.equal >= prefetchAfter && d > -prefetchStride && d < prefetchStride && last/prefetchPage == addr/prefetchPage
}

// streams are those of the instructions of every thread.
type streams [][]stream

// follow tells the prefetcher about a reference of an instruction.
func (all *streams) follow(thread int, code uint32, addr uint64) bool {
	if thread >= len(*all) || int(code) >= len((*all)[thread]) {
		all.grow(thread, code)
	}
	return (*all)[thread][code].follow(addr)
}

// grow makes room for an instruction of a thread.
func (all *streams) grow(thread int, code uint32) {
	for len(*all) <= thread {
		*all = append(*all, nil)
	}
	own := &(*all)[thread]
	*own = append(*own, make([]stream, int(code)+1-len(*own))...)
}
