package table

import (
	"math"
	"slices"
	"strings"
)

// Ints makes a number column of whole numbers, in 32 bits where they fit.
func Ints(name, unit string, p Provenance, values []int64, valid Bits) *Column {
	c := &Column{Name: name, Kind: Number, Unit: unit, Provenance: p, Data: values, Valid: dense(valid, len(values))}
	for _, v := range values {
		if v < math.MinInt32 || v > math.MaxInt32 {
			return c
		}
	}
	narrow := make([]int32, len(values))
	for i, v := range values {
		narrow[i] = int32(v)
	}
	c.Data = narrow
	return c
}

// Floats makes a number column. NaN becomes "no value": nothing downstream
// has to know about it.
func Floats(name, unit string, p Provenance, values []float64, valid Bits) *Column {
	if i := slices.IndexFunc(values, math.IsNaN); i >= 0 {
		if valid == nil {
			valid = FullBits(len(values))
		}
		for ; i < len(values); i++ {
			if math.IsNaN(values[i]) {
				values[i] = 0
				valid.Clear(i)
			}
		}
	}
	return &Column{Name: name, Kind: Number, Unit: unit, Provenance: p, Data: values, Valid: dense(valid, len(values))}
}

// Flags makes a flag column.
func Flags(name string, p Provenance, values []uint8, valid Bits) *Column {
	return &Column{Name: name, Kind: Flag, Provenance: p, Data: values, Valid: dense(valid, len(values))}
}

// Addresses makes an address column.
func Addresses(name string, p Provenance, values []uint64, valid Bits) *Column {
	return &Column{Name: name, Kind: Address, Provenance: p, Data: values, Valid: dense(valid, len(values))}
}

// Times makes a time column whose values count from the earliest one. Base
// keeps the clock reading of that one.
func Times(name, unit string, p Provenance, clock []uint64, valid Bits) *Column {
	base := uint64(math.MaxUint64)
	for i, v := range clock {
		if valid == nil || valid.Get(i) {
			base = min(base, v)
		}
	}
	values := make([]int64, len(clock))
	for i, v := range clock {
		if valid == nil || valid.Get(i) {
			values[i] = int64(v - base)
		}
	}
	c := &Column{Name: name, Kind: Time, Unit: unit, Provenance: p, Data: values, Valid: dense(valid, len(values))}
	if base != math.MaxUint64 {
		c.Base = base
	}
	return c
}

// Categories makes a category column of codes into names.
func Categories(name string, p Provenance, codes []uint32, names []string, valid Bits) *Column {
	return &Column{Name: name, Kind: Category, Provenance: p, Data: codes, Dict: names, Valid: dense(valid, len(codes))}
}

// dense drops a validity that says nothing.
func dense(valid Bits, n int) Bits {
	if valid != nil && valid.Count() == n {
		return nil
	}
	return valid
}

// Interner numbers texts in order of first appearance.
type Interner struct {
	codes map[string]uint32
	names []string
}

// NewInterner returns an empty interner.
func NewInterner() *Interner { return &Interner{codes: map[string]uint32{}} }

// Code returns the number of a text, a new one if it was not seen before. The
// bytes are not kept.
func (in *Interner) Code(text []byte) uint32 {
	if c, ok := in.codes[string(text)]; ok {
		return c
	}
	return in.add(string(text))
}

// CodeString is Code for a string, which is copied: it may point into a mapping
// that goes away.
func (in *Interner) CodeString(text string) uint32 {
	if c, ok := in.codes[text]; ok {
		return c
	}
	return in.add(strings.Clone(text))
}

func (in *Interner) add(text string) uint32 {
	c := uint32(len(in.names))
	in.codes[text] = c
	in.names = append(in.names, text)
	return c
}

// Names returns the texts by their number.
func (in *Interner) Names() []string { return in.names }

// Take returns the table's rows in the given order. The result shares nothing
// with t but the dictionaries.
func (t *Table) Take(index []int) *Table {
	columns := make([]*Column, len(t.columns))
	for i, c := range t.columns {
		columns[i] = c.take(index)
	}
	out, err := New(t.Name, columns)
	if err != nil {
		panic(err) // the columns of a table are consistent, and so are these
	}
	return out
}

func (c *Column) take(index []int) *Column {
	out := *c
	out.Spill = nil
	switch d := c.Data.(type) {
	case []int32:
		out.Data = pick(d, index)
	case []int64:
		out.Data = pick(d, index)
	case []float64:
		out.Data = pick(d, index)
	case []uint32:
		out.Data = pick(d, index)
	case []uint8:
		out.Data = pick(d, index)
	case []uint64:
		out.Data = pick(d, index)
	}
	if c.Valid != nil {
		valid := NewBits(len(index))
		for i, row := range index {
			if c.Valid.Get(row) {
				valid.Set(i)
			}
		}
		out.Valid = dense(valid, len(index))
	}
	return &out
}

func pick[T any](values []T, index []int) []T {
	out := make([]T, len(index))
	for i, row := range index {
		out[i] = values[row]
	}
	return out
}
