package kernel

import (
	"encoding/binary"
	"math"
	"math/bits"

	"isobath/internal/query"
	"isobath/internal/table"
)

// A column that is on screen as an axis has a code for each row. A range of
// values is a range of codes, except at its ends: whole words of eight codes are
// compared at once, and only rows in the bins at the ends are looked up.

// span is a range of codes; from > to if it is empty.
type span struct{ from, to uint8 }

// lookAhead finds the bins that a range of values surely holds, and those it
// may touch.
func lookAhead(c *table.Column, b *query.Binning, r query.Range) (sure, maybe span) {
	lo, hi := r.Lo.Number, r.Hi.Number
	sure, maybe = span{1, 0}, span{1, 0}
	unit := 0.0
	_, isAddress := c.Data.([]uint64)
	_, isFloat := c.Data.([]float64)
	if !isFloat && !isAddress && math.Abs(b.Hi) < 1<<52 && math.Abs(b.Lo) < 1<<52 {
		unit = 1 // whole numbers below an edge are at least 1 below it
	}
	for i := range b.Bins {
		// The first and the last bin also hold what lies beyond them.
		from, to := b.Edges[i], b.Edges[i+1]
		if i == 0 {
			from = min(from, b.Min)
		}
		if i == b.Bins-1 {
			to = math.Inf(1)
		}
		if to < lo || from > hi {
			continue
		}
		maybe = maybe.with(i)
		// An address may differ from a bound and be equal to it as a float.
		if (lo < from || lo == from && !isAddress) && (hi > to || hi >= to-unit && !isAddress) {
			sure = sure.with(i)
		}
	}
	return sure, maybe
}

func (s span) with(bin int) span {
	if s.from > s.to {
		return span{uint8(bin), uint8(bin)}
	}
	return span{s.from, uint8(bin)}
}

// scanCodes adds the rows with a code in sure; those with one in maybe are
// collected and handed to check in lots, so that their values, which lie far
// apart, are fetched side by side. Codes are below 128.
func scanCodes(codes []uint8, sure, maybe span, out []uint64, check func(at []uint16)) {
	if maybe.from > maybe.to {
		return
	}
	var room [1024]uint16
	at := room[:0]
	for w := range out {
		part := codes[w*64 : min(w*64+64, len(codes))]
		in := wordOf(part, sure)
		out[w] |= in
		if sure == maybe {
			continue
		}
		for rest := wordOf(part, maybe) &^ in; rest != 0; rest &= rest - 1 {
			at = append(at, uint16(w*64+bits.TrailingZeros64(rest)))
		}
		if len(at) > len(room)-64 {
			check(at)
			at = at[:0]
		}
	}
	check(at)
}

// wordOf compares up to 64 codes with a range: one bit each.
func wordOf(codes []uint8, s span) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	if s.from > s.to {
		return 0
	}
	if len(codes) < 64 {
		var word uint64
		for i, c := range codes {
			if c >= s.from && c <= s.to {
				word |= 1 << i
			}
		}
		return word
	}
	from, to := uint64(s.from)*ones, uint64(s.to)*ones|tops
	var word uint64
	for k := range 8 {
		x := binary.LittleEndian.Uint64(codes[k*8 : k*8+8])
		// The top bit of a byte stays set if nothing is borrowed from it.
		m := ((x | tops) - from) & (to - x) & tops
		// Gather the eight top bits into a byte.
		word |= (m >> 7 * 0x0102040810204080 >> 56) << (8 * k)
	}
	return word
}

// codeTester is a faster intervalTester for a column that has codes at hand.
func (e *Engine) codeTester(l *lease, c *table.Column, r query.Range) func(lo, hi int, out []uint64) {
	e.mu.Lock()
	axis, ok := e.coded[c.Name]
	e.mu.Unlock()
	if !ok {
		return nil
	}
	b, _ := l.look(axis).(*query.Binner)
	k, _ := l.look(oneKey{axis}).(*codes)
	if b == nil || k == nil || b.Names != nil || k.u8 == nil || k.cells > 128 {
		return nil
	}
	sure, maybe := lookAhead(c, b.Binning, r)
	check := checker(c, r)
	return func(lo, hi int, out []uint64) {
		scanCodes(k.u8[lo:hi], sure, maybe, out, func(at []uint16) { check(lo, at, out) })
	}
}

// checker returns a function that adds those of some rows of a block whose
// value lies in the range.
func checker(c *table.Column, r query.Range) func(lo int, at []uint16, out []uint64) {
	switch d := c.Data.(type) {
	case []int32:
		return wholeChecker(d, r, math.MinInt32, math.MaxInt32)
	case []int64:
		return wholeChecker(d, r, math.MinInt64, math.MaxInt64)
	case []uint8:
		return wholeChecker(d, r, 0, math.MaxUint8)
	case []uint64:
		return wholeChecker(d, r, 0, math.MaxUint64)
	}
	d := c.Data.([]float64)
	return func(lo int, at []uint16, out []uint64) {
		for _, i := range at {
			if v := d[lo+int(i)]; v >= r.Lo.Number && v <= r.Hi.Number {
				out[i/64] |= 1 << (i % 64)
			}
		}
	}
}

func wholeChecker[T int32 | int64 | uint8 | uint64](d []T, r query.Range, least, most T) func(lo int, at []uint16, out []uint64) {
	from, to, ok := wholeRange(r, least, most)
	if !ok {
		return func(int, []uint16, []uint64) {}
	}
	span := uint64(to) - uint64(from)
	return func(lo int, at []uint16, out []uint64) {
		for _, i := range at {
			_, borrow := bits.Sub64(span, uint64(d[lo+int(i)])-uint64(from), 0)
			out[i/64] |= (borrow ^ 1) << (i % 64)
		}
	}
}
