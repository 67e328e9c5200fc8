package cycle

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// The window lengths that make sense: below 3 nothing recurs in order, and the
// distance works in one machine word.
const (
	MinWindow     = 3
	MaxWindow     = 64
	DefaultWindow = 10 // the paper's
)

// Points are the distinct windows of a trace.
type Points struct {
	Window int
	Syms   []uint32 // the trace
	// Index gives the point of every window. It is the trace as a string over
	// points; everything after the distances uses it and not Syms.
	Index  []uint32
	First  []int32  // the first window of each point
	Visits []uint32 // how many windows each point stands for

	files *Files // of the index
}

// Len is the number of points.
func (p *Points) Len() int { return len(p.First) }

// At returns the symbols of a point.
func (p *Points) At(i int) []uint32 {
	t := int(p.First[i])
	return p.Syms[t : t+p.Window]
}

// symbols is how many symbols the points have: every one of the trace is in some
// window.
func (p *Points) symbols() int {
	most := 0
	for i := range p.First {
		for _, s := range p.At(i) {
			most = max(most, int(s)+1)
		}
	}
	return most
}

// Windows cuts the string into all its windows of length w and numbers the
// distinct ones by first appearance.
func Windows(ctx context.Context, syms []uint32, w int) (*Points, error) {
	return windows(ctx, nil, syms, w, math.MaxInt)
}

// windows is Windows with the index in files, and at most so many points.
func windows(ctx context.Context, files *Files, syms []uint32, w, most int) (*Points, error) {
	if w < MinWindow || w > MaxWindow {
		return nil, fmt.Errorf("window %d: want %d to %d", w, MinWindow, MaxWindow)
	}
	if len(syms) < w {
		return nil, &shortError{Records: len(syms), Window: w}
	}
	p := &Points{Window: w, Syms: syms, files: files}
	table := newWindowTable(p)
	// A rolling polynomial hash: equal windows have equal hashes, and unequal
	// ones are told apart by comparing.
	const base = 0x9e3779b97f4a7c15
	var hash, top uint64 = 0, 1
	for i := range w {
		hash = hash*base + uint64(syms[i]) + 1
		if i > 0 {
			top *= base
		}
	}
	var err error
	p.Index, err = files.fill(len(syms)-w+1, func(from int, index []uint32) error {
		for i := range index {
			t := from + i
			if t&0xfffff == 0xfffff && ctx.Err() != nil {
				return ctx.Err()
			}
			if t > 0 {
				hash = (hash-(uint64(syms[t-1])+1)*top)*base + uint64(syms[t+w-1]) + 1
			}
			u := table.point(hash, t)
			if int(u) >= most {
				return errManyPoints
			}
			index[i] = u
			p.Visits[u]++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// errManyPoints says that there are more points than there may be.
var errManyPoints = errors.New("too many distinct windows")

// shortError says that a trace is shorter than one window.
type shortError struct{ Records, Window int }

func (e *shortError) Error() string {
	return fmt.Sprintf("%d references are fewer than one window of %d; use a smaller --window", e.Records, e.Window)
}

// windowTable is an open-addressing table from window to point.
type windowTable struct {
	p    *Points
	slot []uint32 // point + 1; 0 is free
	tag  []uint64
}

func newWindowTable(p *Points) *windowTable {
	return &windowTable{p: p, slot: make([]uint32, 1024), tag: make([]uint64, 1024)}
}

func (w *windowTable) point(hash uint64, t int) uint32 {
	mask := uint64(len(w.slot) - 1)
	h := mix(hash)
	for k := h & mask; ; k = (k + 1) & mask {
		s := w.slot[k]
		if s == 0 {
			return w.insert(h, k, t)
		}
		if w.tag[k] == h && w.equal(int(w.p.First[s-1]), t) {
			return s - 1
		}
	}
}

func mix(h uint64) uint64 {
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return h ^ h>>29
}

func (w *windowTable) equal(a, b int) bool {
	for i := range w.p.Window {
		if w.p.Syms[a+i] != w.p.Syms[b+i] {
			return false
		}
	}
	return true
}

func (w *windowTable) insert(h, k uint64, t int) uint32 {
	u := uint32(len(w.p.First))
	w.p.First = append(w.p.First, int32(t))
	w.p.Visits = append(w.p.Visits, 0)
	w.slot[k], w.tag[k] = u+1, h
	if 2*len(w.p.First) > len(w.slot) {
		w.grow()
	}
	return u
}

func (w *windowTable) grow() {
	old, tags := w.slot, w.tag
	w.slot, w.tag = make([]uint32, 2*len(old)), make([]uint64, 2*len(old))
	mask := uint64(len(w.slot) - 1)
	for i, s := range old {
		if s == 0 {
			continue
		}
		k := tags[i] & mask
		for w.slot[k] != 0 {
			k = (k + 1) & mask
		}
		w.slot[k], w.tag[k] = s, tags[i]
	}
}
