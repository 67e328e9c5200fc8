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

// scanCodes adds the rows with a code in sure, and of those in maybe only the
// ones that accept takes. Codes are below 128.
func scanCodes(codes []uint8, sure, maybe span, out []uint64, accept func(i int) bool) {
	if maybe.from > maybe.to {
		return
	}
	for w := range out {
		part := codes[w*64 : min(w*64+64, len(codes))]
		in, perhaps := wordOf(part, sure), wordOf(part, maybe)
		for rest := perhaps &^ in; rest != 0; rest &= rest - 1 {
			if i := bits.TrailingZeros64(rest); accept(w*64 + i) {
				in |= 1 << i
			}
		}
		out[w] |= in
	}
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
	return func(lo, hi int, out []uint64) {
		scanCodes(k.u8[lo:hi], sure, maybe, out, func(i int) bool {
			_, has := query.Number(c, lo+i)
			return has && query.Accepts(r, c, lo+i)
		})
	}
}
