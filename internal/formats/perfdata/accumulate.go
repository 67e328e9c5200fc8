package perfdata

import (
	"slices"

	"github.com/isobath/isobath/internal/data/table"
)

// accumulator appends columns that come in pieces, each piece with names and
// columns of its own, into whole ones.
type accumulator struct {
	rows   int
	parts  []*pieces
	byName map[string]*pieces
}

// pieces is one column that grows.
type pieces struct {
	proto table.Column
	names *table.Interner
	codes table.Growing[uint32]
	whole table.GrowingInts
	words table.Growing[uint64]
	valid table.Bits
}

func newAccumulator() *accumulator { return &accumulator{byName: map[string]*pieces{}} }

// add appends a piece of so many rows. A column it does not have is without
// values there.
func (a *accumulator) add(columns []*table.Column, rows int) {
	for _, c := range columns {
		p := a.byName[c.Name]
		if p == nil {
			p = &pieces{proto: *c, names: table.NewInterner()}
			a.byName[c.Name] = p
			a.parts = append(a.parts, p)
		}
		p.append(c, a.rows)
	}
	a.rows += rows
}

func (p *pieces) append(c *table.Column, at int) {
	need := (at + c.Len() + 63) / 64
	p.valid = slices.Grow(p.valid, max(need-len(p.valid), 0))[:max(need, len(p.valid))]
	for i := range c.Len() {
		if c.Has(i) {
			p.valid.Set(at + i)
		}
	}
	switch d := c.Data.(type) {
	case []uint32:
		translate := make([]uint32, len(c.Dict))
		for i, name := range c.Dict {
			translate[i] = p.names.CodeString(name)
		}
		p.codes.Pad(at)
		for len(d) > 0 {
			block := p.codes.Room(len(d))
			for i, code := range d[:len(block)] {
				block[i] = 0
				if int(code) < len(translate) { // a row without a value has code 0 of none
					block[i] = translate[code]
				}
			}
			d = d[len(block):]
		}
	case []uint64:
		p.words.Pad(at)
		p.words.AppendAll(d)
	case []int32:
		appendWhole(&p.whole, at, d)
	case []int64:
		appendWhole(&p.whole, at, d)
	}
}

func appendWhole[T int32 | int64](g *table.GrowingInts, at int, values []T) {
	g.Pad(at)
	for _, v := range values {
		g.Append(int64(v))
	}
}

// columns returns the whole columns, in order of first appearance.
func (a *accumulator) columns() ([]*table.Column, error) {
	var out []*table.Column
	for _, p := range a.parts {
		c, err := p.column(a.rows)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func (p *pieces) column(rows int) (*table.Column, error) {
	c := p.proto
	need := (rows + 63) / 64
	c.Valid = slices.Grow(p.valid, max(need-len(p.valid), 0))[:need]
	if c.Valid.Count() == rows {
		c.Valid = nil
	}
	var err error
	if c.Kind == table.Category {
		c.Dict = p.names.Names()
		if len(c.Dict) == 1 {
			p.codes.Drop()
			c.Data, c.Spill, err = table.Zeros[uint32](rows)
			return &c, err
		}
		p.codes.Pad(rows)
		c.Data, c.Spill, err = p.codes.Values()
		return &c, err
	}
	if c.Kind == table.Address {
		p.words.Pad(rows)
		c.Data, c.Spill, err = p.words.Values()
		return &c, err
	}
	p.whole.Pad(rows)
	c.Data, c.Spill, err = p.whole.Values()
	return &c, err
}
