// Package table holds named, typed columns of equal length: the form in which
// every recorded or imported sample is kept. It knows no file format but its
// own, Arrow IPC.
package table

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

// Kind says how the values of a column are meant, and so how they are shown,
// compared and grouped.
type Kind uint8

// The kinds, with the Go type of Column.Data that each may have.
const (
	Number   Kind = iota // quantity: []int32, []int64 or []float64
	Category             // one of a few names: []uint32 indexing Column.Dict
	Flag                 // yes or no: []uint8 of 0 and 1
	Address              // 64-bit address: []uint64
	Time                 // offset from the start of the run: []int64
)

var kindNames = [...]string{"number", "category", "flag", "address", "time"}

func (k Kind) String() string { return kindNames[k] }

// Provenance says where the values of a column come from. A modelled value is
// never shown as if it had been measured.
type Provenance uint8

// The provenances, least trustworthy first.
const (
	Absent   Provenance = iota // the source does not say
	Modelled                   // simulated or estimated
	Unknown                    // there are values, and nothing says where they come from
	Derived                    // computed exactly from measured values
	Measured                   // the hardware or the program said so
)

var provenanceNames = [...]string{"absent", "modelled", "unknown", "derived", "measured"}

func (p Provenance) String() string { return provenanceNames[p] }

// ParseKind is the inverse of Kind.String.
func ParseKind(s string) (Kind, error) {
	i := slices.Index(kindNames[:], s)
	if i < 0 {
		return 0, fmt.Errorf("column kind %q: want number, category, flag, address or time", s)
	}
	return Kind(i), nil
}

// ParseProvenance is the inverse of Provenance.String.
func ParseProvenance(s string) (Provenance, error) {
	i := slices.Index(provenanceNames[:], s)
	if i < 0 {
		return 0, fmt.Errorf("provenance %q: want measured, derived, modelled, unknown or absent", s)
	}
	return Provenance(i), nil
}

// Column is one named array of values. Columns are immutable once they are in
// a Table; their slices may point into a mapped file.
type Column struct {
	Name       string
	Kind       Kind
	Unit       string // "cycles", "ns", "bytes"; empty for counts and names
	Provenance Provenance
	// Label is the name for people, where Name is a field of a register; empty
	// if Name says it.
	Label string
	// Note says what a reader should know about these values, such as the
	// assumption behind a modelled latency.
	Note string
	// Base is added to a Time value to get the clock reading of the source.
	Base uint64

	// Data is one of []int32, []int64, []float64, []uint32, []uint8, []uint64;
	// see Kind.
	Data any
	// Dict holds the names of a Category.
	Dict []string
	// Valid has a set bit for each row that has a value; nil means all have.
	// The Data of a row without a value is zero.
	Valid Bits

	// Spill is the file behind Data; nil if that is memory, or little of the file
	// behind its table.
	Spill *Spill

	// Summary is what was seen of values that are elsewhere; nil for others.
	Summary *Summary
}

// Len returns the number of rows.
func (c *Column) Len() int {
	switch d := c.Data.(type) {
	case []int32:
		return len(d)
	case []int64:
		return len(d)
	case []float64:
		return len(d)
	case []uint32:
		return len(d)
	case []uint8:
		return len(d)
	case []uint64:
		return len(d)
	}
	return 0
}

// Has reports whether row i has a value.
func (c *Column) Has(i int) bool { return c.Valid == nil || c.Valid.Get(i) }

// Float returns the value of row i as a number: the code of a category, 0 or 1
// for a flag. Addresses above 2^53 lose their last bits; use Uint for those.
func (c *Column) Float(i int) float64 {
	switch d := c.Data.(type) {
	case []int32:
		return float64(d[i])
	case []int64:
		return float64(d[i])
	case []float64:
		return d[i]
	case []uint32:
		return float64(d[i])
	case []uint8:
		return float64(d[i])
	case []uint64:
		return float64(d[i])
	}
	return math.NaN()
}

// Identity returns bits that are equal for two rows if their values are.
func (c *Column) Identity(i int) uint64 {
	switch d := c.Data.(type) {
	case []uint64:
		return d[i]
	case []int64:
		return uint64(d[i])
	}
	return math.Float64bits(c.Float(i))
}

// Text returns the value of row i as it is written in CSV; empty if there is
// none.
func (c *Column) Text(i int) string {
	if !c.Has(i) {
		return ""
	}
	switch d := c.Data.(type) {
	case []int32:
		return strconv.FormatInt(int64(d[i]), 10)
	case []int64:
		return strconv.FormatInt(d[i], 10)
	case []float64:
		return strconv.FormatFloat(d[i], 'g', -1, 64)
	case []uint32:
		return c.Dict[d[i]]
	case []uint8:
		return strconv.Itoa(int(d[i]))
	case []uint64:
		return "0x" + strconv.FormatUint(d[i], 16)
	}
	return ""
}

// Code returns the dictionary index of name, or false if no row can have it.
func (c *Column) Code(name string) (uint32, bool) {
	i := slices.Index(c.Dict, name)
	return uint32(max(i, 0)), i >= 0
}

// check reports a column whose parts do not fit together.
func (c *Column) check() error {
	n := c.Len()
	var ok bool
	switch c.Data.(type) {
	case []int32, []float64:
		ok = c.Kind == Number
	case []int64:
		ok = c.Kind == Number || c.Kind == Time
	case []uint32:
		ok = c.Kind == Category
	case []uint8:
		ok = c.Kind == Flag
	case []uint64:
		ok = c.Kind == Address
	}
	if !ok {
		return fmt.Errorf("column %q: kind %v cannot hold %T", c.Name, c.Kind, c.Data)
	}
	if c.Valid != nil && len(c.Valid) < words(n) {
		return fmt.Errorf("column %q: validity for %d rows, want %d", c.Name, 64*len(c.Valid), n)
	}
	if codes, ok := c.Data.([]uint32); ok && (c.Spill == nil || !c.Spill.checked) && int(c.largest(codes)) >= len(c.Dict) {
		for i, code := range codes {
			if int(code) >= len(c.Dict) && (c.Has(i) || code != 0) {
				return fmt.Errorf("column %q: row %d has code %d of %d names", c.Name, i, code, len(c.Dict))
			}
		}
	}
	if c.Spill != nil {
		c.Spill.checked = true // what is in a file is not changed any more
	}
	return nil
}

// largest returns the largest code; of those in a file a few megabytes at a time
// are in memory.
func (c *Column) largest(codes []uint32) (most uint32) {
	for block := range slices.Chunk(codes, spillBytes) {
		most = max(most, slices.Max(block))
		c.Release()
	}
	return most
}

// Table is a set of columns of equal length.
type Table struct {
	Name    string // "samples", "refs", "ops", "fetch"
	rows    int
	columns []*Column
	byName  map[string]*Column
	file    *Spill // behind all columns that have none of their own; nil if there is none

	elsewhere bool
}

// New makes a table of the given columns. It fails if their lengths differ, a
// name occurs twice, or a column is inconsistent.
func New(name string, columns []*Column) (*Table, error) {
	t := &Table{Name: name, byName: make(map[string]*Column, len(columns))}
	for i, c := range columns {
		if err := c.check(); err != nil {
			return nil, fmt.Errorf("table %s: %w", name, err)
		}
		if i == 0 {
			t.rows = c.Len()
		}
		if c.Len() != t.rows {
			return nil, fmt.Errorf("table %s: column %q has %d rows, %q has %d",
				name, c.Name, c.Len(), columns[0].Name, t.rows)
		}
		if t.byName[c.Name] != nil {
			return nil, fmt.Errorf("table %s: two columns named %q", name, c.Name)
		}
		c.Release() // checking read all of it
		t.byName[c.Name] = c
		t.columns = append(t.columns, c)
	}
	return t, nil
}

// NewElsewhere makes a table whose rows are elsewhere, with an engine that answers
// questions about them: it has columns with their kinds and dictionaries, and no
// values.
func NewElsewhere(name string, rows int, columns []*Column) (*Table, error) {
	t, err := New(name, columns)
	if err != nil {
		return nil, err
	}
	if t.rows != 0 {
		return nil, fmt.Errorf("table %s: %d rows are here", name, t.rows)
	}
	t.rows, t.elsewhere = rows, true
	return t, nil
}

// Elsewhere reports whether only the description of the rows is here.
func (t *Table) Elsewhere() bool { return t.elsewhere }

// Rows returns the number of rows.
func (t *Table) Rows() int { return t.rows }

// Columns returns the columns in their order. The slice is not to be changed.
func (t *Table) Columns() []*Column { return t.columns }

// Column returns the column of that name, or nil.
func (t *Table) Column(name string) *Column { return t.byName[name] }

// Close releases the file behind a mapped table. Its columns must not be used
// afterwards.
func (t *Table) Close() error {
	return errors.Join(CloseColumns(t.columns), t.file.Close())
}

// Shifted is the table with the clock readings of some columns moved. It shares
// its values with t, which is the one to close.
func (t *Table) Shifted(by int64, times ...string) *Table {
	out := *t
	out.columns, out.byName = slices.Clone(t.columns), maps.Clone(t.byName)
	for i, c := range t.columns {
		if c.Kind == Time && slices.Contains(times, c.Name) {
			moved := *c
			moved.Base += uint64(by)
			out.columns[i], out.byName[c.Name] = &moved, &moved
		}
	}
	return &out
}

// Typed gives the text of a value of the column its JSON type; a missing value
// is nil.
func (c *Column) Typed(text string) any {
	if text == "" {
		return nil
	}
	switch c.Kind {
	case Number, Time:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return f
		}
	case Flag:
		return text == "1"
	}
	return text
}
