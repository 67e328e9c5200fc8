package mitos

import (
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/delimited"
)

// validity returns the rows of a raw column that have a value, nil for all.
func validity(c *delimited.Column, rows int) table.Bits {
	switch {
	case c == nil || c.Type == delimited.Empty:
		return table.NewBits(rows)
	case c.Valid == nil:
		return nil
	}
	return append(table.Bits(nil), c.Valid...)
}

// both returns the rows that are in both sets, where nil is all rows.
func both(a, b table.Bits) table.Bits {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	out := append(table.Bits(nil), a...)
	out.And(b)
	return out
}

func where(rows int, accept func(int) bool) table.Bits {
	b := table.NewBits(rows)
	for i := range rows {
		if accept(i) {
			b.Set(i)
		}
	}
	return b
}

// words returns the numbers of a raw column; zero where it has none.
func words(c *delimited.Column, rows int) []uint64 {
	if c.Words != nil {
		return c.Words
	}
	out := make([]uint64, rows)
	for i, f := range c.Floats {
		if f >= 0 && f < 1<<63 {
			out[i] = uint64(f)
		}
	}
	return out
}

func ints(c *delimited.Column, rows int) []int64 {
	out := make([]int64, rows)
	for i, w := range words(c, rows) {
		out[i] = int64(w)
	}
	return out
}

// numberColumn makes a number column. Unsigned values beyond 2^63 are kept as
// floating-point numbers: they are hashes or garbage, not quantities.
func numberColumn(c *delimited.Column, name, unit string, p table.Provenance, rows int) *table.Column {
	valid := validity(c, rows)
	if c.Type == delimited.Float {
		return table.Floats(name, unit, p, c.Floats, valid)
	}
	if !c.Negative {
		for _, w := range c.Words {
			if w > 1<<63-1 {
				return table.Floats(name, unit, p, floats(c.Words), valid)
			}
		}
	}
	return table.Ints(name, unit, samples.Said(valid, p), ints(c, rows), valid)
}

func floats(words []uint64) []float64 {
	out := make([]float64, len(words))
	for i, w := range words {
		out[i] = float64(w)
	}
	return out
}

func address(c *delimited.Column, name string, rows int) *table.Column {
	valid := validity(c, rows)
	return table.Addresses(name, samples.Said(valid, table.Measured), append([]uint64(nil), words(c, rows)...), valid)
}

// category makes a category column of what a symbol lookup gave.
func category(c *delimited.Column, name string) *table.Column {
	rows := len(c.Codes)
	if c.Type != delimited.Text {
		rows = c.Nulls
		return table.Categories(name, table.Absent, make([]uint32, rows), nil, table.NewBits(rows))
	}
	valid := validity(c, rows)
	return table.Categories(name, samples.Said(valid, table.Derived), c.Codes, c.Names, valid)
}

func flag(c *delimited.Column, name string, rows int) *table.Column {
	values := make([]uint8, rows)
	for i, w := range words(c, rows) {
		if w != 0 {
			values[i] = 1
		}
	}
	valid := validity(c, rows)
	return table.Flags(name, samples.Said(valid, table.Measured), values, valid)
}

func distinct(c *delimited.Column) map[uint64]bool {
	seen := map[uint64]bool{}
	for _, w := range c.Words {
		seen[w] = true
	}
	return seen
}
