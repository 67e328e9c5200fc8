package table

import (
	"fmt"
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
// keeps the clock reading of that one. Readings that do not lie within 2^63 of one
// another are taken for signed ones if those do, as of a clock that is set to zero
// within the run; else what is too far from the earliest has no value.
func Times(name, unit string, p Provenance, clock []uint64, valid Bits) *Column {
	has := func(i int) bool { return valid == nil || valid.Get(i) }
	base, last := clockRange(clock, has, 0)
	if last-base > math.MaxInt64 {
		if first, end := clockRange(clock, has, 1<<63); end-first <= math.MaxInt64 {
			base = first
		}
	}
	c := &Column{Name: name, Kind: Time, Unit: unit, Provenance: p, Base: base}
	values := make([]int64, len(clock))
	far := 0
	for i, v := range clock {
		switch {
		case !has(i):
		case v-base <= math.MaxInt64:
			values[i] = int64(v - base)
		default:
			if far == 0 {
				valid = within(valid, len(clock))
			}
			far++
			valid.Clear(i)
		}
	}
	if far > 0 {
		c.Note = fmt.Sprintf("left out: %d more than 2^63 %s after the first", far, unit)
	}
	c.Data, c.Valid = values, dense(valid, len(values))
	return c
}

// clockRange is the first and the last of the readings that are there, 0 and 0
// without any. Flip is added to all while they are compared: 1<<63 compares them as
// signed ones.
func clockRange(clock []uint64, has func(i int) bool, flip uint64) (first, last uint64) {
	first, last = math.MaxUint64, 0
	for i, v := range clock {
		if has(i) {
			first, last = min(first, v+flip), max(last, v+flip)
		}
	}
	if first > last {
		return 0, 0
	}
	return first - flip, last - flip
}

// within is a copy of the validity of n rows, full where there was none.
func within(valid Bits, n int) Bits {
	if valid == nil {
		return FullBits(n)
	}
	return slices.Clone(valid)
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
