package table

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Concat puts tables below each other. The result has every column that one of
// them has; the rows of tables without it have no value there. Columns of one
// name must be of one kind. The result shares nothing with the tables; what is
// large is in temporary files, so that joining needs memory for neither.
func Concat(name string, tables []*Table) (*Table, error) {
	var order []string
	seen := map[string]bool{}
	for _, t := range tables {
		for _, c := range t.columns {
			if !seen[c.Name] {
				seen[c.Name] = true
				order = append(order, c.Name)
			}
		}
	}
	columns := make([]*Column, 0, len(order))
	for _, n := range order {
		c, err := concatColumn(n, tables)
		if err != nil {
			return nil, errors.Join(err, CloseColumns(columns))
		}
		columns = append(columns, c)
	}
	t, err := New(name, columns)
	if err != nil {
		return nil, errors.Join(err, CloseColumns(columns))
	}
	return t, nil
}

// CloseColumns frees the temporary files behind columns that are in no table.
func CloseColumns(columns []*Column) error {
	var errs []error
	for _, c := range columns {
		errs = append(errs, c.Spill.Close())
	}
	return errors.Join(errs...)
}

// part is what one table has of a column.
type part struct {
	column *Column // nil if it has none
	rows   int
	table  *Table
}

// concatColumn joins the columns of one name.
func concatColumn(name string, tables []*Table) (*Column, error) {
	parts := make([]part, len(tables))
	for i, t := range tables {
		parts[i] = part{t.byName[name], t.rows, t}
	}
	out, err := describeParts(name, parts)
	if err != nil {
		return nil, err
	}
	out.Valid = validParts(parts)
	if err := out.fillFrom(parts); err != nil {
		return nil, fmt.Errorf("column %q: %w", name, err)
	}
	out.Release()
	return out, nil
}

// describeParts is a column without values that says what its parts say: the
// least trustworthy provenance of those that have values, every note.
func describeParts(name string, parts []part) (*Column, error) {
	out := &Column{Name: name}
	var notes []string
	first := true
	for _, p := range parts {
		c := p.column
		if c == nil {
			continue
		}
		if first {
			out.Kind, out.Unit, first = c.Kind, c.Unit, false
		}
		if c.Kind != out.Kind || c.Unit != out.Unit {
			return nil, fmt.Errorf("column %q is %s %s in one table and %s %s in another; they cannot be joined", name, out.Kind, out.Unit, c.Kind, c.Unit)
		}
		if c.Provenance != Absent && (out.Provenance == Absent || c.Provenance < out.Provenance) {
			out.Provenance = c.Provenance
		}
		if out.Label == "" {
			out.Label = strings.Clone(c.Label)
		}
		if c.Note != "" && !slices.Contains(notes, c.Note) {
			notes = append(notes, strings.Clone(c.Note))
		}
	}
	out.Note = strings.Join(notes, "; ")
	return out, nil
}

// validParts says which rows have a value; nil if all have.
func validParts(parts []part) Bits {
	rows, all := 0, true
	for _, p := range parts {
		rows += p.rows
		all = all && p.column != nil && p.column.Valid == nil
	}
	if all {
		return nil
	}
	valid := NewBits(rows)
	at := 0
	for _, p := range parts {
		for i := range p.rows {
			if p.column != nil && p.column.Has(i) {
				valid.Set(at + i)
			}
		}
		at += p.rows
	}
	return dense(valid, rows)
}

// fillFrom joins the values, in the smallest form that holds all of them.
func (c *Column) fillFrom(parts []part) (err error) {
	switch c.Kind {
	case Category:
		names := NewInterner()
		c.Data, c.Spill, err = gather(parts, func(p *Column) filler[uint32] { return recoded(p, names) })
		c.Dict = names.Names()
	case Flag:
		c.Data, c.Spill, err = gather(parts, plain[uint8])
	case Address:
		c.Data, c.Spill, err = gather(parts, plain[uint64])
	case Time:
		c.Base = earliest(parts)
		c.Data, c.Spill, err = gather(parts, func(p *Column) filler[int64] { return since(p, c.Base) })
	default:
		switch widest(parts) {
		case 'f':
			c.Data, c.Spill, err = gather(parts, numbers[float64])
		case 'l':
			c.Data, c.Spill, err = gather(parts, numbers[int64])
		default:
			c.Data, c.Spill, err = gather(parts, numbers[int32])
		}
	}
	return err
}

// filler writes the values of a column from a row on into a block. What it writes
// for rows without a value does not matter.
type filler[T Fixed] func(block []T, row int)

// gather joins values; rows without one have zero.
func gather[T Fixed](parts []part, valuesOf func(*Column) filler[T]) (any, *Spill, error) {
	var g Growing[T]
	for _, p := range parts {
		if p.column == nil {
			g.Pad(g.Len() + p.rows)
			continue
		}
		fill := valuesOf(p.column)
		for row := 0; row < p.rows; {
			block := g.Room(p.rows - row)
			fill(block, row)
			clearMissing(block, row, p.column)
			row += len(block)
		}
		p.table.Release() // before the next part is read
	}
	values, spill, err := g.Values()
	return values, spill, err
}

// clearMissing sets to zero what a block has of rows without a value.
func clearMissing[T Fixed](block []T, row int, c *Column) {
	if c.Valid == nil {
		return
	}
	for k := range block {
		if !c.Valid.Get(row + k) {
			block[k] = 0
		}
	}
}

// plain gives the values as they are.
func plain[T Fixed](c *Column) filler[T] {
	values := c.Data.([]T)
	return func(block []T, row int) { copy(block, values[row:]) }
}

// numbers gives numbers in a form that holds them.
func numbers[T int32 | int64 | float64](c *Column) filler[T] {
	switch d := c.Data.(type) {
	case []T:
		return plain[T](c)
	case []int32:
		return converted[T](d)
	case []int64:
		return converted[T](d)
	default:
		return converted[T](c.Data.([]float64))
	}
}

func converted[T, From int32 | int64 | float64](values []From) filler[T] {
	return func(block []T, row int) {
		for k, v := range values[row:][:len(block)] {
			block[k] = T(v)
		}
	}
}

// since gives clock readings from another base.
func since(c *Column, base uint64) filler[int64] {
	values := c.Data.([]int64)
	later := c.Base - base
	return func(block []int64, row int) {
		for k, v := range values[row:][:len(block)] {
			block[k] = int64(uint64(v) + later)
		}
	}
}

// recoded gives codes into the names of all parts.
func recoded(c *Column, names *Interner) filler[uint32] {
	codes := make([]uint32, max(1, len(c.Dict))) // a column without any value may have no name
	for i, n := range c.Dict {
		codes[i] = names.CodeString(n)
	}
	values := c.Data.([]uint32)
	return func(block []uint32, row int) {
		for k, v := range values[row:][:len(block)] {
			block[k] = codes[v]
		}
	}
}

// earliest is the first clock reading of all parts; 0 if there is none.
func earliest(parts []part) uint64 {
	base := uint64(math.MaxUint64)
	for _, p := range parts {
		if p.column == nil {
			continue
		}
		values := p.column.Data.([]int64)
		for i, v := range values {
			if p.column.Has(i) {
				base = min(base, p.column.Base+uint64(v))
			}
		}
		p.table.Release()
	}
	if base == math.MaxUint64 {
		return 0
	}
	return base
}

// widest is the form that holds the numbers of all parts: 'f' for fractions,
// 'l' for whole numbers of 64 bits, 'i' for those of 32.
func widest(parts []part) byte {
	form := byte('i')
	for _, p := range parts {
		if p.column == nil {
			continue
		}
		switch d := p.column.Data.(type) {
		case []float64:
			return 'f'
		case []int64:
			if slices.ContainsFunc(d, func(v int64) bool { return v < math.MinInt32 || v > math.MaxInt32 }) {
				form = 'l'
			}
			p.table.Release()
		}
	}
	return form
}
