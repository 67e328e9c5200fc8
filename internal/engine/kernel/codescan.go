package kernel

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// A column that is on screen as an axis has a code for each row. A range of
// values is a range of codes, except at its ends: whole words of eight codes are
// compared at once, and only rows in the bins at the ends are looked up.

// span is a range of codes; from > to if it is empty.
type span struct{ from, to uint8 }

// lookAhead finds the bins that an interval surely holds, and those it may
// touch.
func lookAhead(c *table.Column, b *query.Binning, i interval) (sure, maybe span) {
	k := keys{column: c}
	lo, hi := k.value(i.from), k.value(i.to)
	_, isAddress := c.Data.([]uint64)
	sure, maybe = span{1, 0}, span{1, 0}
	for i := range b.Bins {
		// The first and the last bin also hold what lies beyond them.
		from, below, greatest := b.Edges[i], b.Edges[i+1], greatestBelow(c, b, b.Edges[i+1])
		if i == 0 {
			from = min(from, b.Min)
		}
		if i == b.Bins-1 {
			below, greatest = math.Inf(1), b.Max
		}
		if below < lo || from > hi {
			continue
		}
		maybe = maybe.with(i)
		// An address may differ from a bound and be equal to it as a float.
		if isAddress && lo < from && hi > greatest || !isAddress && lo <= from && hi >= greatest {
			sure = sure.with(i)
		}
	}
	return sure, maybe
}

// greatestBelow returns a number that no value of a column below an edge
// exceeds.
func greatestBelow(c *table.Column, b *query.Binning, edge float64) float64 {
	switch c.Data.(type) {
	case []uint64:
		return edge
	case []float64:
		return math.Nextafter(edge, math.Inf(-1))
	}
	if math.Abs(b.Hi) < 1<<52 && math.Abs(b.Lo) < 1<<52 {
		return math.Ceil(edge) - 1
	}
	return edge
}

func (s span) with(bin int) span {
	if s.from > s.to {
		return span{uint8(bin), uint8(bin)}
	}
	return span{s.from, uint8(bin)}
}

// scanCodes adds the rows with a code in sure; those with one in maybe are
// collected and handed to check in lots, so that their values, which lie far
// apart, are fetched side by side.
func scanCodes(codes []uint8, sure, maybe span, out []uint64, check func(at []uint16)) {
	if maybe.from > maybe.to {
		return
	}
	const lot = 16 // words
	var in, rest [lot]uint64
	var room [64 * lot]uint16
	for w := 0; w < len(out); w += lot {
		n := min(lot, len(out)-w)
		part := codes[w*64 : min((w+n)*64, len(codes))]
		compareCodes(part, sure, in[:n])
		for i, word := range in[:n] {
			out[w+i] |= word
		}
		if sure == maybe {
			continue
		}
		compareCodes(part, maybe, rest[:n])
		at := room[:0]
		for i := range rest[:n] {
			for word := rest[i] &^ in[i]; word != 0; word &= word - 1 {
				at = append(at, uint16((w+i)*64+bits.TrailingZeros64(word)))
			}
		}
		check(at)
	}
}

// compareCodes sets the bits of the codes in a range and clears the others.
func compareCodes(codes []uint8, s span, out []uint64) {
	if s.from > s.to {
		clear(out)
		return
	}
	w := 0
	if hasVectors && len(codes) >= 64 {
		w = len(codes) / 64
		compare8(&out[0], &codes[0], w, s.from, s.to-s.from)
	}
	for ; w < len(out); w++ {
		out[w] = wordOf(codes[w*64:min(w*64+64, len(codes))], s)
	}
}

// wordOf compares up to 64 codes with a range that is not empty: one bit each.
// If there are 64, all are below 128.
func wordOf(codes []uint8, s span) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
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

// codeTester is a faster tester for a column that has codes at hand.
func (e *Engine) codeTester(l *budget.Lease, c *table.Column, i interval) func(lo, hi int, out []uint64) {
	if i.empty() {
		return nil
	}
	e.mu.Lock()
	axis, ok := e.coded[c.Name]
	e.mu.Unlock()
	if !ok {
		return nil
	}
	b, _ := l.Look(axis).(*query.Binner)
	k, _ := l.Look(oneKey{axis}).(*codes)
	if b == nil || k == nil || b.Names != nil || k.u8 == nil || k.cells > 128 && !hasVectors {
		return nil
	}
	sure, maybe := lookAhead(c, b.Binning, i)
	check := i.checker(c)
	return func(lo, hi int, out []uint64) {
		scanCodes(k.u8[lo:hi], sure, maybe, out, func(at []uint16) { check(lo, at, out) })
	}
}
