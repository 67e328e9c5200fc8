package kernel

import (
	"math"
	"math/bits"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/isobath/isobath/internal/data/table"
)

// total is what is known of the rows of a group: how many, how many have a
// value, and the sums of the values and their squares. Sums are whole multiples
// of a power of two (values.scale) in as many bits as they need, so that totals
// can be added and subtracted without loss.
type total struct {
	n, valued uint64
	sum       wide
	sq        wider
	float     float64 // sums of numbers that are too far apart for that
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

func (w wide) float64() float64 {
	if int64(w.hi) < 0 {
		var zero wide
		zero.sub(w)
		return -zero.float64()
	}
	return math.Ldexp(float64(w.hi), 64) + float64(w.lo)
}

// wider is a 256-bit number, lowest word first.
type wider [4]uint64

func (w *wider) add(o *wider) {
	var carry uint64
	for i := range w {
		w[i], carry = bits.Add64(w[i], o[i], carry)
	}
}

func (w *wider) sub(o *wider) {
	var borrow uint64
	for i := range w {
		w[i], borrow = bits.Sub64(w[i], o[i], borrow)
	}
}

// addWide adds a number without sign.
func (w *wider) addWide(o wide) {
	var carry uint64
	w[0], carry = bits.Add64(w[0], o.lo, 0)
	w[1], carry = bits.Add64(w[1], o.hi, carry)
	w[2], carry = bits.Add64(w[2], 0, carry)
	w[3] += carry
}

func (w *wider) float64() float64 {
	sum := 0.0
	for i, word := range w {
		sum += math.Ldexp(float64(word), 64*i)
	}
	return sum
}

func square(v int64) wide {
	u := uint64(v)
	if v < 0 {
		u = -u
	}
	hi, lo := bits.Mul64(u, u)
	return wide{hi, lo}
}

func (t *total) add(o *total) {
	t.n += o.n
	t.valued += o.valued
	t.sum.add(o.sum)
	t.sq.add(&o.sq)
	t.float += o.float
	t.floatSq += o.floatSq
}

// sub takes rows away again. It is not used for sums in floats.
func (t *total) sub(o *total) {
	t.n -= o.n
	t.valued -= o.valued
	t.sum.sub(o.sum)
	t.sq.sub(&o.sq)
}

// sums returns the sums as multiples of the scale of the values.
func (t *total) sums(v *values) (sum, squares float64) {
	return math.Ldexp(t.sum.float64(), v.scale) + t.float, math.Ldexp(t.sq.float64(), 2*v.scale) + t.floatSq
}

// addFixed adds a finite number whose bits all lie above the scale.
func (t *total) addFixed(v float64, scale int) {
	b := math.Float64bits(v)
	m, e := b&(1<<52-1), int(b>>52&0x7ff)
	if e == 0 {
		e = 1 // no leading one below the normal numbers
	} else {
		m |= 1 << 52
	}
	shift := e - 1075 - scale // of the lowest of its bits
	if shift < 0 {
		m, shift = m>>-shift, 0
	}
	hi, lo := bits.Mul64(m, m)
	t.sq.addShifted(wide{hi, lo}, uint(2*shift))
	x := wide{m >> (64 - uint(shift)), m << uint(shift)}
	if b>>63 == 0 {
		t.sum.add(x)
	} else {
		t.sum.sub(x)
	}
}

// addShifted adds o << shift; the shift is below 128, and what it moves out of
// the third word is zero.
func (w *wider) addShifted(o wide, shift uint) {
	k, s := shift/64, shift%64
	var carry uint64
	for _, x := range [3]uint64{o.lo << s, o.hi<<s | o.lo>>(64-s), o.hi >> (64 - s)} {
		w[k], carry = bits.Add64(w[k], x, carry)
		k++
	}
	for ; k < 4; k++ {
		w[k], carry = bits.Add64(w[k], 0, carry)
	}
}

// values is a column to be summed.
type values struct {
	column *table.Column
	form   form
	scale  int // values are whole multiples of 2 to this
	// small says of each block whether its values are small: 0 is not known, 1
	// is yes, 2 is no.
	small []atomic.Uint32
}

// form is how values are summed.
type form int

const (
	inFloats form = iota // sums of which must not be subtracted
	inUnits              // of the scale, as whole numbers of 63 bits
	inFixed              // in units of the scale, which fit into fixedBits
)

const (
	// fixedBits is the most bits of a value such that 2^32 of them fit into a
	// wide, and their squares into a wider.
	fixedBits = 94 // so one of 53 bits is moved by at most 41
	// farExponent keeps squares within the range of floats.
	farExponent = 500
)

// exact reports whether sums may be subtracted from one another.
func (v *values) exact() bool { return v.form != inFloats }

func newValues(c *table.Column) *values {
	v := &values{column: c, form: inUnits, small: make([]atomic.Uint32, blocks(c.Len()))}
	switch d := c.Data.(type) {
	case []uint64:
		if len(d) > 0 && slices.Max(d) > math.MaxInt64 {
			v.form = inFloats
		}
	case []float64:
		v.form, v.scale = formOf(c, d)
	}
	return v
}

// formOf finds a power of two that all numbers of a column are multiples of.
func formOf(c *table.Column, d []float64) (form, int) {
	low, high := math.MaxInt, math.MinInt // exponents of the lowest and the highest bit
	for i, v := range d {
		b := math.Float64bits(v) &^ (1 << 63)
		if b == 0 || v != v || c.Valid != nil && !c.Valid.Get(i) {
			continue
		}
		e, m := int(b>>52), b&(1<<52-1)|1<<52
		if e == 0 || e == 0x7ff {
			return inFloats, 0
		}
		low, high = min(low, e-1075+bits.TrailingZeros64(m)), max(high, e-1023)
	}
	switch {
	case high < low:
		return inUnits, 0 // no value at all, or zeros
	case low < -farExponent || high > farExponent || high-low >= fixedBits:
		return inFloats, 0
	case high-low >= 62:
		return inFixed, low
	}
	return inUnits, low
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
	fixed  bool // floats are summed in units of the scale
	scale  int
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
		v.wholeBlock(&b, d[lo:hi], lo, s)
	case []uint8:
		b.small = convert(d[lo:hi], grow(&s.small, hi-lo))
	case []uint64:
		d = d[lo:hi]
		if v.form == inFloats {
			b.floats = convert(d, grow(&s.floats, len(d)))
			return b
		}
		v.wholeBlock(&b, convert(d, grow(&s.whole, len(d))), lo, s)
	case []float64:
		d = d[lo:hi]
		b.lacking = addNaN(d, b.lacking, s)
		if v.form != inUnits {
			b.floats, b.fixed, b.scale = d, v.form == inFixed, v.scale
			return b
		}
		into := grow(&s.whole, len(d))
		unit := math.Ldexp(1, -v.scale)
		for i, x := range d {
			into[i] = int64(x * unit)
		}
		if b.lacking != nil {
			for i, l := range b.lacking {
				into[i] &= int64(l) - 1 // what a NaN becomes differs between processors
			}
		}
		v.wholeBlock(&b, into, lo, s)
	}
	return b
}

// wholeBlock sets the values of a block to whole numbers, small ones if they
// are.
func (v *values) wholeBlock(b *valueBlock, d []int64, lo int, s *valueScratch) {
	if v.isSmall(lo, func() bool { return allSmall(d) }) {
		b.small = convert(d, grow(&s.small, len(d)))
		return
	}
	b.whole = d
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
	out := valueBlock{fixed: b.fixed, scale: b.scale}
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
			d.sq.addWide(wide{lo: p.sq})
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
		case b.fixed:
			d.addFixed(b.floats[i], b.scale)
		case b.floats != nil:
			v := b.floats[i]
			d.float += v
			d.floatSq += v * v
		case b.whole != nil:
			d.sum.add(wideOf(b.whole[i]))
			d.sq.addWide(square(b.whole[i]))
		default:
			d.sum.add(wideOf(int64(b.small[i])))
			d.sq.addWide(square(int64(b.small[i])))
		}
	}
}
