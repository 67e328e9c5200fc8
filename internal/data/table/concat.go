package table

import (
	"fmt"
	"math"
)

// Concat puts tables below each other. The result has every column that one of
// them has; the rows of tables without it have no value there. Columns of one
// name must be of one kind. The result shares nothing with the tables.
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
			return nil, err
		}
		columns = append(columns, c)
	}
	return New(name, columns)
}

// concatColumn joins the columns of one name.
func concatColumn(name string, tables []*Table) (*Column, error) {
	var first *Column
	rows, fractions := 0, false
	for _, t := range tables {
		rows += t.rows
		c := t.byName[name]
		if c == nil {
			continue
		}
		if first == nil {
			first = c
		}
		if c.Kind != first.Kind || c.Unit != first.Unit {
			return nil, fmt.Errorf("column %q is %s %s in one table and %s %s in another; they cannot be joined", name, first.Kind, first.Unit, c.Kind, c.Unit)
		}
		_, isFloat := c.Data.([]float64)
		fractions = fractions || isFloat
	}
	j := joiner{valid: NewBits(rows), words: make([]uint64, rows), provenance: first.Provenance, names: NewInterner()}
	for _, t := range tables {
		j.add(t.byName[name], t.rows, fractions)
	}
	out := j.column(first, fractions)
	out.Note = first.Note
	return out, nil
}

// joiner collects values as words: numbers by their bits.
type joiner struct {
	at         int
	words      []uint64
	valid      Bits
	provenance Provenance
	names      *Interner
}

func (j *joiner) add(c *Column, rows int, fractions bool) {
	defer func() { j.at += rows }()
	if c == nil {
		return
	}
	j.provenance = min(j.provenance, c.Provenance)
	codes := make([]uint64, len(c.Dict))
	for i, n := range c.Dict {
		codes[i] = uint64(j.names.CodeString(n))
	}
	for i := range rows {
		if !c.Has(i) {
			continue
		}
		j.valid.Set(j.at + i)
		j.words[j.at+i] = word(c, i, codes, fractions)
	}
}

func word(c *Column, i int, codes []uint64, fractions bool) uint64 {
	switch v := c.Data.(type) {
	case []uint32:
		return codes[v[i]]
	case []uint8:
		return uint64(v[i])
	case []uint64:
		return v[i]
	case []float64:
		return math.Float64bits(v[i])
	case []int64:
		return whole(v[i], c, fractions)
	case []int32:
		return whole(int64(v[i]), c, fractions)
	}
	return 0
}

func whole(v int64, c *Column, fractions bool) uint64 {
	if fractions {
		return math.Float64bits(float64(v))
	}
	return c.Base + uint64(v)
}

// column makes the column of the collected words.
func (j *joiner) column(like *Column, fractions bool) *Column {
	n := len(j.words)
	valid := j.valid
	if valid.Count() == n {
		valid = nil
	}
	switch like.Kind {
	case Category:
		codes := make([]uint32, n)
		for i, w := range j.words {
			codes[i] = uint32(w)
		}
		return Categories(like.Name, j.provenance, codes, j.names.Names(), valid)
	case Flag:
		flags := make([]uint8, n)
		for i, w := range j.words {
			flags[i] = uint8(w)
		}
		return Flags(like.Name, j.provenance, flags, valid)
	case Address:
		return Addresses(like.Name, j.provenance, j.words, valid)
	case Time:
		return Times(like.Name, like.Unit, j.provenance, j.words, valid)
	}
	if fractions {
		floats := make([]float64, n)
		for i, w := range j.words {
			floats[i] = math.Float64frombits(w)
		}
		return Floats(like.Name, like.Unit, j.provenance, floats, valid)
	}
	ints := make([]int64, n)
	for i, w := range j.words {
		ints[i] = int64(w)
	}
	return Ints(like.Name, like.Unit, j.provenance, ints, valid)
}
