package reuse

import (
	"cmp"
	"slices"
)

// maxStrides bounds how many different strides of one instruction are counted
// apart; an instruction with more has no pattern worth naming.
const maxStrides = 4096

// Strides counts the differences between the addresses of one instruction.
type Strides struct {
	last uint64
	// latest is the stride met last, at a place of keys plus one; run is how often
	// since it was counted.
	latest int64
	run    uint64
	at     int32
	begun  bool
	next   uint8 // of recent
	recent [4]struct {
		stride int64
		at     int32 // in keys, plus one
	}
	// keys and counts are in order of appearance; index finds them: an open hash
	// table of places plus one, at most half full.
	keys   []int64
	counts []uint64
	index  []int32
	other  uint64 // beyond maxStrides
}

// Add takes the next address.
func (s *Strides) Add(addr uint64) {
	d := int64(addr - s.last)
	s.last = addr
	if d == s.latest && s.at > 0 {
		s.run++
		return
	}
	s.change(d)
}

// change is a stride that may be another than the one before.
func (s *Strides) change(d int64) {
	if !s.begun {
		s.begun = true
		return
	}
	s.settle()
	for i := range s.recent {
		if r := &s.recent[i]; r.stride == d && r.at > 0 {
			s.latest, s.at, s.run = d, r.at, 1
			return
		}
	}
	s.count(d)
}

// settle counts the latest stride.
func (s *Strides) settle() {
	if s.run > 0 {
		s.counts[s.at-1] += s.run
		s.run = 0
	}
}

func (s *Strides) count(d int64) {
	if 2*len(s.keys) >= len(s.index) && len(s.keys) < maxStrides {
		s.grow()
	}
	at := s.slot(d)
	if s.index[at] == 0 {
		if len(s.keys) == maxStrides {
			s.other++
			return
		}
		s.keys, s.counts = append(s.keys, d), append(s.counts, 0)
		s.index[at] = int32(len(s.keys))
	}
	s.latest, s.at, s.run = d, s.index[at], 1
	r := &s.recent[s.next%4]
	r.stride, r.at = d, s.at
	s.next++
}

// slot is where a stride is in the index, or would be.
func (s *Strides) slot(d int64) uint64 {
	mask := uint64(len(s.index) - 1)
	at := uint64(d) * 0x9e3779b97f4a7c15 >> 32 & mask
	for s.index[at] != 0 && s.keys[s.index[at]-1] != d {
		at = (at + 1) & mask
	}
	return at
}

func (s *Strides) grow() {
	s.index = make([]int32, max(2*len(s.index), 8))
	for i, d := range s.keys {
		s.index[s.slot(d)] = int32(i + 1)
	}
}

// Stride is a difference of addresses and how often it was seen.
type Stride struct {
	Bytes int64
	Count uint64
}

// Top returns the n most frequent strides, those first seen first among equals,
// then ordered by count and size.
func (s *Strides) Top(n int) []Stride {
	s.settle()
	all := make([]Stride, len(s.keys))
	for i, k := range s.keys {
		all[i] = Stride{k, s.counts[i]}
	}
	slices.SortStableFunc(all, func(a, b Stride) int { return cmp.Compare(b.Count, a.Count) })
	all = all[:min(n, len(all))]
	slices.SortFunc(all, func(a, b Stride) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Bytes, b.Bytes))
	})
	return all
}

// Total is how many differences were seen.
func (s *Strides) Total() uint64 {
	n := s.other + s.run
	for _, c := range s.counts {
		n += c
	}
	return n
}

// Class is how an instruction walks.
type Class string

// The classes. An instruction is strided if one stride makes nine tenths of its
// steps.
const (
	SamePlace Class = "same place"
	Strided   Class = "strided"
	Irregular Class = "irregular"
	Once      Class = "once" // it has no second address to compare with
)

// Class says how the instruction walks.
func (s *Strides) Class() Class {
	total := s.Total()
	if total == 0 {
		return Once
	}
	top := s.Top(1)
	switch {
	case len(top) == 0 || float64(top[0].Count) < 0.9*float64(total):
		return Irregular
	case top[0].Bytes == 0:
		return SamePlace
	}
	return Strided
}
