package kernel

import (
	"math"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// codes is a small number for each row: its bin on an axis, its group. It is
// kept in as few bytes as it fits in, or not kept at all and worked out block by
// block from the mapped column.
type codes struct {
	cells int // codes are below this
	view
	// fill works out the codes of the rows from lo on when none are kept.
	fill func(lo int, into view)
	// first is a row that has each code, for groups.
	first []uint32
}

// view is codes of some rows, in the one slice that is not nil.
type view struct {
	u8  []uint8
	u16 []uint16
	u32 []uint32
}

// width is the bytes a code needs.
func width(cells int) int {
	switch {
	case cells <= 1<<8:
		return 1
	case cells <= 1<<16:
		return 2
	}
	return 4
}

func newView(cells, rows int) view {
	switch width(cells) {
	case 1:
		return view{u8: make([]uint8, rows)}
	case 2:
		return view{u16: make([]uint16, rows)}
	}
	return view{u32: make([]uint32, rows)}
}

func (v view) slice(lo, hi int) view {
	switch {
	case v.u8 != nil:
		return view{u8: v.u8[lo:hi]}
	case v.u16 != nil:
		return view{u16: v.u16[lo:hi]}
	case v.u32 != nil:
		return view{u32: v.u32[lo:hi]}
	}
	return view{}
}

// fresh returns a view of the same width.
func (v view) fresh(rows int) view {
	switch {
	case v.u8 != nil:
		return view{u8: make([]uint8, rows)}
	case v.u16 != nil:
		return view{u16: make([]uint16, rows)}
	}
	return view{u32: make([]uint32, rows)}
}

func (v view) len() int { return len(v.u8) + len(v.u16) + len(v.u32) }

func (v view) set(i int, code uint32) {
	switch {
	case v.u8 != nil:
		v.u8[i] = uint8(code)
	case v.u16 != nil:
		v.u16[i] = uint16(code)
	default:
		v.u32[i] = code
	}
}

func (v view) at(i int) uint32 {
	switch {
	case v.u8 != nil:
		return uint32(v.u8[i])
	case v.u16 != nil:
		return uint32(v.u16[i])
	}
	return v.u32[i]
}

// bytes is the memory the codes take.
func (c *codes) Bytes() int64 {
	return int64(len(c.u8)) + 2*int64(len(c.u16)) + 4*int64(len(c.u32)) + 4*int64(len(c.first))
}

// kept reports whether the codes are in memory.
func (c *codes) kept() bool { return c.fill == nil }

// block returns the codes of rows lo to hi; scratch is used if they are not
// kept.
func (c *codes) block(lo, hi int, scratch view) view {
	if c.kept() {
		return c.view.slice(lo, hi)
	}
	v := scratch.slice(0, hi-lo)
	c.fill(lo, v)
	return v
}

// keep works out all codes and keeps them.
func (c *codes) keep(rows int) *codes {
	k := &codes{cells: c.cells, view: newView(c.cells, rows), first: c.first}
	c.fill(0, k.view)
	return k
}

// constant is codes of rows that are all in one group.
func constant() *codes {
	return &codes{cells: 1, fill: func(_ int, v view) { clear(v.u8) }, first: []uint32{0}}
}

// axisCodes is an axis with the bin of each row.
type axisCodes struct {
	*query.Binner
	*codes
}

// BinCodes finds the bins of rows on an axis.
type BinCodes struct{ codes *codes }

// BinsOf is for an axis of a column.
func BinsOf(c *table.Column, b *query.Binner) BinCodes { return BinCodes{bins(c, b)} }

// FillBins writes the bins of the rows from lo on; bytes are for axes of at most 256
// cells.
func FillBins[T uint8 | uint16](b BinCodes, lo int, into []T) {
	switch into := any(into).(type) {
	case []uint8:
		b.codes.fill(lo, view{u8: into})
	case []uint16:
		b.codes.fill(lo, view{u16: into})
	}
}

// bins returns the codes of an axis, not kept yet.
func bins(c *table.Column, b *query.Binner) *codes {
	missing := uint32(b.Binning.Bins)
	out := &codes{cells: b.Binning.Cells()}
	if b.Names != nil {
		data := c.Data.([]uint32)
		out.fill = func(lo int, v view) { fillNames(v, c, data, lo, b.Names, missing) }
		return out
	}
	switch d := c.Data.(type) {
	case []int32:
		out.fill = wholeBins(c, b.Binning, d)
	case []int64:
		out.fill = wholeBins(c, b.Binning, d)
	case []uint8:
		out.fill = wholeBins(c, b.Binning, d)
	case []uint64:
		out.fill = wholeBins(c, b.Binning, d)
	case []float64:
		g := newGrid(b.Binning)
		out.fill = func(lo int, v view) { fillBins(v, c, d, lo, g, missing) }
	}
	return out
}

// wholeBins returns a function that writes the bins of whole numbers: through
// a table of all values if those lie close together.
func wholeBins[T int32 | int64 | uint8 | uint64](c *table.Column, b *query.Binning, d []T) func(lo int, v view) {
	const close = 1 << 16
	missing := uint32(b.Bins)
	if !(b.Max-b.Min < close) || math.Abs(b.Max) >= 1<<52 || math.Abs(b.Min) >= 1<<52 {
		g := newGrid(b)
		return func(lo int, v view) { fillBins(v, c, d, lo, g, missing) }
	}
	bin := make([]uint16, close) // any 16-bit number is an index, also that of a row without a value
	for i := range int(b.Max-b.Min) + 1 {
		bin[i] = uint16(query.BinOf(b.Edges, b.Min+float64(i)))
	}
	least := T(b.Min)
	return func(lo int, v view) {
		part := d[lo : lo+v.len()]
		if v.u8 != nil {
			lookupBins(v.u8, part, least, bin)
		} else {
			lookupBins(v.u16, part, least, bin)
		}
		for i := range part {
			if c.Valid != nil && !c.Valid.Get(lo+i) {
				v.set(i, missing)
			}
		}
	}
}

func lookupBins[C uint8 | uint16, T int32 | int64 | uint8 | uint64](out []C, values []T, least T, bin []uint16) {
	table := (*[1 << 16]uint16)(bin)
	for i, v := range values {
		out[i] = C(table[uint16(v-least)])
	}
}

func fillNames(v view, c *table.Column, data []uint32, lo int, names []uint16, missing uint32) {
	for i := range v.len() {
		code := missing
		if c.Has(lo + i) {
			code = uint32(names[data[lo+i]])
		}
		v.set(i, code)
	}
}

func fillBins[T int32 | int64 | float64 | uint8 | uint64](v view, c *table.Column, data []T, lo int, g *grid, missing uint32) {
	data = data[lo : lo+v.len()]
	switch {
	case v.u8 != nil:
		binValues(v.u8, c, data, lo, g, missing)
	case v.u16 != nil:
		binValues(v.u16, c, data, lo, g, missing)
	}
}

func binValues[C uint8 | uint16, T int32 | int64 | float64 | uint8 | uint64](
	out []C, c *table.Column, data []T, lo int, g *grid, missing uint32,
) {
	for i, value := range data {
		x := float64(value)
		if x != x || c.Valid != nil && !c.Valid.Get(lo+i) {
			out[i] = C(missing)
			continue
		}
		out[i] = C(g.bin(x))
	}
}

// grid finds the bin of a value faster than by binary search: a table over
// evenly spaced values says where to begin, and the edges decide.
type grid struct {
	edges []float64
	lo    float64
	scale float64
	start []uint16
}

func newGrid(b *query.Binning) *grid {
	const slots = 1 << 12
	g := &grid{edges: b.Edges, lo: b.Edges[0]}
	span := b.Edges[len(b.Edges)-1] - g.lo
	if g.scale = slots / span; math.IsInf(span, 0) || math.IsInf(g.scale, 0) {
		g.scale = 0 // every value begins at the first edge
	}
	g.start = make([]uint16, slots+1)
	for i := range g.start {
		// One slot lower than the value's own, so that rounding cannot make the
		// beginning too high.
		v := g.lo + float64(i-1)/g.scale
		if g.scale == 0 {
			v = g.lo
		}
		g.start[i] = uint16(query.BinOf(b.Edges, v))
	}
	return g
}

func (g *grid) bin(v float64) int {
	last := len(g.edges) - 2
	if !(v > g.lo) {
		return 0
	}
	if v >= g.edges[last] {
		return last
	}
	i := int(g.start[uint16((v-g.lo)*g.scale)])
	for g.edges[i+1] <= v {
		i++
	}
	return i
}

// groupsOf returns codes that number the distinct values of a column; rows
// without a value share one.
func groupsOf(c *table.Column) *codes {
	n := c.Len()
	switch d := c.Data.(type) {
	case []uint32:
		return collect(n, len(c.Dict)+1, func(i int) uint32 {
			if !c.Has(i) {
				return uint32(len(c.Dict))
			}
			return d[i]
		})
	case []uint8:
		return wholeGroups(c, d)
	case []int32:
		return wholeGroups(c, d)
	case []int64:
		return wholeGroups(c, d)
	case []uint64:
		return wholeGroups(c, d)
	}
	values := c.Data.([]float64)
	number := numbering()
	return collect(n, n+1, func(i int) uint32 {
		if _, ok := query.Number(c, i); !ok {
			return number(0, false)
		}
		return number(math.Float64bits(values[i]), true)
	})
}

// wholeGroups uses the distance from the least value as code if the values lie
// close together, and numbers them as they come otherwise.
func wholeGroups[T uint8 | int32 | int64 | uint64](c *table.Column, values []T) *codes {
	const close = 1 << 20
	var lo, hi T
	found := false
	for i, v := range values {
		if c.Has(i) {
			if !found {
				lo, hi, found = v, v, true
			}
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if span := uint64(hi) - uint64(lo); span < close {
		return collect(len(values), int(span)+2, func(i int) uint32 {
			if !c.Has(i) {
				return uint32(span) + 1
			}
			return uint32(uint64(values[i]) - uint64(lo))
		})
	}
	number := numbering()
	return collect(len(values), len(values)+1, func(i int) uint32 {
		return number(uint64(values[i]), c.Has(i))
	})
}

// numbering returns a function that numbers values as they first come. Those
// without a value have number 0.
func numbering() func(bits uint64, has bool) uint32 {
	numbers := map[uint64]uint32{}
	return func(bits uint64, has bool) uint32 {
		if !has {
			return 0
		}
		n, ok := numbers[bits]
		if !ok {
			n = uint32(len(numbers)) + 1
			numbers[bits] = n
		}
		return n
	}
}

const noRow = math.MaxUint32

// collect keeps the codes that a function gives the rows, all below limit, and
// the first row of each.
func collect(rows, limit int, code func(i int) uint32) *codes {
	c := &codes{view: newView(limit, rows)}
	for i := range rows {
		k := code(i)
		c.set(i, k)
		for int(k) >= len(c.first) {
			c.first = append(c.first, noRow)
		}
		if c.first[k] == noRow {
			c.first[k] = uint32(i)
		}
	}
	c.cells = len(c.first)
	return c.narrow(rows)
}

// narrow stores codes in fewer bytes if they turned out small.
func (c *codes) narrow(rows int) *codes {
	if width(c.cells) == width(c.limit()) {
		return c
	}
	n := &codes{cells: c.cells, view: newView(c.cells, rows), first: c.first}
	for i := range rows {
		n.set(i, c.at(i))
	}
	return n
}

// limit is the number of codes that the storage has room for.
func (c *codes) limit() int {
	switch {
	case c.u8 != nil:
		return 1 << 8
	case c.u16 != nil:
		return 1 << 16
	}
	return 1 << 32
}

// cross returns codes that number the combinations of two codes.
func cross(a, b *codes, rows int) *codes {
	const dense = 1 << 16
	if a.cells*b.cells <= dense {
		return collect(rows, max(a.cells*b.cells, 1), func(i int) uint32 {
			return a.at(i)*uint32(b.cells) + b.at(i)
		})
	}
	number := numbering()
	return collect(rows, rows+1, func(i int) uint32 {
		return number(uint64(a.at(i))<<32|uint64(b.at(i)), true) - 1
	})
}
