package perfdata

import (
	"math"
	"slices"

	"isobath/internal/table"
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
	ints  table.Growing[int64]
	words table.Growing[uint64]
	valid table.Bits
	wide  bool
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
		p.ints.Pad(at)
		for _, v := range d {
			p.ints.Append(int64(v))
		}
	case []int64:
		p.ints.Pad(at)
		for _, v := range d {
			p.ints.Append(v)
			p.wide = p.wide || v < math.MinInt32 || v > math.MaxInt32
		}
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
		p.codes.Pad(rows)
		c.Dict = p.names.Names()
		c.Data, c.Spill, err = p.codes.Values()
		return &c, err
	}
	if c.Kind == table.Address {
		p.words.Pad(rows)
		c.Data, c.Spill, err = p.words.Values()
		return &c, err
	}
	p.ints.Pad(rows)
	values, spill, err := p.ints.Values()
	if p.wide || err != nil {
		c.Data, c.Spill = values, spill
		return &c, err
	}
	defer spill.Close()
	var narrow table.Growing[int32]
	for _, v := range values {
		narrow.Append(int32(v))
	}
	c.Data, c.Spill, err = narrow.Values()
	return &c, err
}
