package table

import "math/bits"

// Bits is a set of row numbers, one bit a row, lowest bit first: the layout of
// an Arrow validity bitmap on a little-endian machine.
type Bits []uint64

func words(n int) int { return (n + 63) / 64 }

// NewBits returns an empty set for n rows.
func NewBits(n int) Bits { return make(Bits, words(n)) }

// FullBits returns the set of all of n rows. Bits beyond n are zero, so that
// counting and complementing need no special last word.
func FullBits(n int) Bits {
	b := NewBits(n)
	for i := range b {
		b[i] = ^uint64(0)
	}
	b.clip(n)
	return b
}

func (b Bits) clip(n int) {
	if n%64 != 0 {
		b[len(b)-1] &= 1<<(n%64) - 1
	}
}

// Get reports whether row i is in the set.
func (b Bits) Get(i int) bool { return b[i>>6]>>(i&63)&1 != 0 }

// Set adds row i.
func (b Bits) Set(i int) { b[i>>6] |= 1 << (i & 63) }

// Clear removes row i.
func (b Bits) Clear(i int) { b[i>>6] &^= 1 << (i & 63) }

// Count returns the number of rows in the set.
func (b Bits) Count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// And keeps the rows that are also in o.
func (b Bits) And(o Bits) {
	for i := range b {
		b[i] &= o[i]
	}
}

// Or adds the rows of o.
func (b Bits) Or(o Bits) {
	for i := range b {
		b[i] |= o[i]
	}
}

// AndNot removes the rows of o.
func (b Bits) AndNot(o Bits) {
	for i := range b {
		b[i] &^= o[i]
	}
}

// Not replaces the set by its complement among n rows.
func (b Bits) Not(n int) {
	for i := range b {
		b[i] = ^b[i]
	}
	b.clip(n)
}

// All yields the rows of the set in order.
func (b Bits) All() func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for w, word := range b {
			for word != 0 {
				if !yield(w<<6 + bits.TrailingZeros64(word)) {
					return
				}
				word &= word - 1
			}
		}
	}
}
