package kernel

import (
	"math"
	"math/bits"
	"slices"
	"sync/atomic"
	"unsafe"

	"isobath/internal/table"
)

// total is what is known of the rows of a group: how many, how many have a
// value, and the sums of the values and their squares. Whole numbers are summed
// in 128 bits, so that totals can be added and subtracted without loss.
type total struct {
	n, valued uint64
	sum, sq   wide
	float     float64 // sums of other numbers
	floatSq   float64
}

// wide is a 128-bit two's complement number.
type wide struct{ hi, lo uint64 }

func (w *wide) add(o wide) {
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, o.lo, 0)
	w.hi, _ = bits.Add64(w.hi, o.hi, carry)
}

func (w *wide) sub(o wide) {
	var borrow uint64
	w.lo, borrow = bits.Sub64(w.lo, o.lo, 0)
	w.hi, _ = bits.Sub64(w.hi, o.hi, borrow)
}

func wideOf(v int64) wide { return wide{uint64(v >> 63), uint64(v)} }

func square(v int64) wide {
	u := uint64(v)
	if v < 0 {
		u = -u
	}
	hi, lo := bits.Mul64(u, u)
	return wide{hi, lo}
}

func (w wide) float64() float64 {
	if int64(w.hi) < 0 {
		var zero wide
		zero.sub(w)
		return -zero.float64()
	}
	return math.Ldexp(float64(w.hi), 64) + float64(w.lo)
}

func (t *total) add(o *total) {
	t.n += o.n
	t.valued += o.valued
	t.sum.add(o.sum)
	t.sq.add(o.sq)
	t.float += o.float
	t.floatSq += o.floatSq
}

// sub takes rows away again. It is exact for whole numbers and not used for
// others.
func (t *total) sub(o *total) {
	t.n -= o.n
	t.valued -= o.valued
	t.sum.sub(o.sum)
	t.sq.sub(o.sq)
}

func (t *total) sums() (sum, squares float64) {
	return t.sum.float64() + t.float, t.sq.float64() + t.floatSq
}

// values is a column to be summed.
type values struct {
	column *table.Column
	exact  bool // whole numbers
	// small says of each block whether its values are small: 0 is not known, 1
	// is yes, 2 is no.
	small []atomic.Uint32
}

// exactBelow bounds the values whose squares can be summed in 128 bits for any
// number of rows.
const exactBelow = 1 << 47

func newValues(c *table.Column) *values {
	v := &values{column: c, small: make([]atomic.Uint32, blocks(c.Len()))}
	switch d := c.Data.(type) {
	case []int32, []uint8:
		v.exact = true
	case []int64:
		v.exact = len(d) == 0 || slices.Max(d) < exactBelow && slices.Min(d) > -exactBelow
	}
	return v
}

// small is the bound below which values are summed in packed words: a count of
// up to packedRows in the low bits and a sum above it, and a sum of squares.
const (
	small      = 1 << 20
	packedRows = 1 << 20
	countBits  = 21
)

// packed is the running sums of a group in one cache line access.
type packed struct{ countSum, sq uint64 }

// valueBlock is the values of one block of rows in the form they are summed in.
type valueBlock struct {
	small  []uint32 // whole numbers from 0 to small, or
	whole  []int64  // any whole numbers, or
	floats []float64
	// lacking is 1 for rows without a value; nil if all have one.
	lacking []uint8
}

// valueScratch is the memory a worker turns values in.
type valueScratch struct {
	small   []uint32
	whole   []int64
	floats  []float64
	lacking []uint8
}

func grow[T any](s *[]T, n int) []T {
	if cap(*s) < n {
		*s = make([]T, max(n, blockRows+slack))
	}
	return (*s)[:n]
}

// block returns the values of rows lo to hi.
func (v *values) block(lo, hi int, s *valueScratch) valueBlock {
	b := valueBlock{}
	if valid := v.column.Valid; valid != nil {
		b.lacking = spreadMissing(valid, lo, hi, grow(&s.lacking, hi-lo))
	}
	switch d := v.column.Data.(type) {
	case []int32:
		d = d[lo:hi]
		if len(d) > 0 && v.isSmall(lo, func() bool { return allSmall(d) }) {
			b.small = unsafe.Slice((*uint32)(unsafe.Pointer(&d[0])), len(d))
			return b
		}
		b.whole = convert(d, grow(&s.whole, len(d)))
	case []int64:
		d = d[lo:hi]
		if !v.exact {
			b.floats = convert(d, grow(&s.floats, len(d)))
			return b
		}
		if v.isSmall(lo, func() bool { return allSmall(d) }) {
			b.small = convert(d, grow(&s.small, len(d)))
			return b
		}
		b.whole = d
	case []uint8:
		b.small = convert(d[lo:hi], grow(&s.small, hi-lo))
	case []uint64:
		b.floats = convert(d[lo:hi], grow(&s.floats, hi-lo))
	case []float64:
		b.floats = d[lo:hi]
		b.lacking = addNaN(b.floats, b.lacking, s)
	}
	return b
}

func convert[T, U int32 | int64 | uint8 | uint16 | uint32 | uint64 | float64](d []T, into []U) []U {
	for i, v := range d {
		into[i] = U(v)
	}
	return into
}

func (v *values) isSmall(lo int, look func() bool) bool {
	known := &v.small[lo/blockRows]
	if known.Load() == 0 {
		if look() {
			known.Store(1)
		} else {
			known.Store(2)
		}
	}
	return known.Load() == 1
}

func allSmall[T int32 | int64](d []T) bool {
	var seen T
	for _, v := range d {
		seen |= v
	}
	// A negative value has the top bit set, which is above small too.
	return seen >= 0 && seen < small
}

// addNaN marks NaNs as lacking.
func addNaN(d []float64, lacking []uint8, s *valueScratch) []uint8 {
	for i, v := range d {
		if v != v {
			if lacking == nil {
				lacking = grow(&s.lacking, len(d))
				clear(lacking)
			}
			lacking[i] = 1
		}
	}
	return lacking
}

// spreadMissing turns validity bits into a byte a row, or returns nil if every
// row has a value.
func spreadMissing(valid table.Bits, lo, hi int, into []uint8) []uint8 {
	missing := false
	for i := lo; i < hi; i += 64 {
		w := ^valid[i/64]
		if hi-i < 64 {
			w &= 1<<(hi-i) - 1
		}
		missing = missing || w != 0
		for j := i; j < min(i+64, hi); j++ {
			into[j-lo] = uint8(w >> (j - i) & 1)
		}
	}
	if !missing {
		return nil
	}
	return into
}

// pick keeps the values of the picked rows of the block.
func (b valueBlock) pick(p *picks, s *valueScratch) valueBlock {
	out := valueBlock{}
	n := p.count + slack
	if b.lacking != nil {
		out.lacking = pick8(b.lacking, p, grow(&s.lacking, n))
	}
	switch {
	case b.small != nil:
		out.small = pick32(b.small, p, grow(&s.small, n))
	case b.whole != nil:
		out.whole = gather(b.whole, p.places(), grow(&s.whole, n))
	case b.floats != nil:
		out.floats = gather(b.floats, p.places(), grow(&s.floats, n))
	}
	return out
}

// sumPacked adds small values to the packed sums of their groups; a row that
// lacks a value is counted in the second half of the table.
func sumPacked[C uint8 | uint16 | uint32](t []packed, group []C, cells int, b valueBlock) {
	v := b.small[:len(group)]
	if b.lacking != nil {
		lacking := b.lacking[:len(group)]
		for i, g := range group {
			t[int(g)+int(lacking[i])*cells].add(v[i])
		}
		return
	}
	for i, g := range group {
		t[g].add(v[i])
	}
}

// sumBytes is sumPacked for codes of one byte, where no code is out of bounds.
func sumBytes(t []packed, group []uint8, cells int, b valueBlock) {
	if b.lacking != nil {
		sumPacked(t, group, cells, b)
		return
	}
	v := b.small[:len(group)]
	if n := len(group) / 4; hasVectors && n > 0 {
		sum8(&t[0], &group[0], &v[0], n)
		group, v = group[4*n:], v[4*n:]
	}
	slots := (*[1 << 8]packed)(t)
	for i, g := range group {
		slots[g].add(v[i])
	}
}

// sumWords is sumPacked for codes of two bytes.
func sumWords(t []packed, group []uint16, cells int, b valueBlock) {
	if n := len(group) / 4; hasVectors && n > 0 && b.lacking == nil {
		sum16(&t[0], &group[0], &b.small[0], n)
		group, b.small = group[4*n:], b.small[4*n:]
	}
	sumPacked(t, group, cells, b)
}

func (p *packed) add(v uint32) {
	x := uint64(v)
	p.countSum += x<<countBits + 1
	p.sq += x * x
}

// flush moves packed sums into totals. The table has two halves for each part:
// rows with a value, then those without.
func flush(t []packed, into []total, cells int) {
	for i := range t {
		p := t[i]
		if p.countSum == 0 {
			continue
		}
		half, cell := i/cells, i%cells
		count := p.countSum & (1<<countBits - 1)
		d := &into[half/2*cells+cell]
		d.n += count
		if half%2 == 0 {
			d.valued += count
			d.sum.add(wide{lo: p.countSum >> countBits})
			d.sq.add(wide{lo: p.sq})
		}
		t[i] = packed{}
	}
}

// sumWide adds any values to the totals.
func sumWide[C uint8 | uint16 | uint32](t []total, group []C, b valueBlock) {
	for i, g := range group {
		d := &t[g]
		d.n++
		if b.lacking != nil && b.lacking[i] != 0 {
			continue
		}
		d.valued++
		switch {
		case b.floats != nil:
			v := b.floats[i]
			d.float += v
			d.floatSq += v * v
		case b.whole != nil:
			d.sum.add(wideOf(b.whole[i]))
			d.sq.add(square(b.whole[i]))
		default:
			d.sum.add(wideOf(int64(b.small[i])))
			d.sq.add(square(int64(b.small[i])))
		}
	}
}
