// Package tabular turns columns of any table, known only by name and type, into
// a samples table: it applies the user's mapping and gives the canonical
// columns their meaning.
package tabular

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// Samples makes the samples table. Columns named by opt.Map are renamed; then
// every canonical column must have, or be convertible to, its kind.
func Samples(columns []*table.Column, opt *foreign.Options) (*foreign.Imported, error) {
	own, words := splitMap(opt.Map)
	units, err := rename(columns, own)
	if err != nil {
		return nil, err
	}
	out := &foreign.Imported{Warnings: recognise(columns, units, own)}
	if !slices.ContainsFunc(columns, func(c *table.Column) bool { _, ok := samples.Lookup(c.Name); return ok }) {
		return nil, fmt.Errorf("no column has a name that samples have; the file has %s; say which is which with --map time=NAME --map cpu=NAME --map latency=NAME --map addr=NAME",
			names(columns))
	}
	for i, c := range columns {
		field, ok := samples.Lookup(c.Name)
		if !ok {
			continue
		}
		c, said, err := inUnit(c, field, units[c.Name])
		if err != nil {
			return nil, err
		}
		converted, err := convert(c, field)
		if err != nil {
			return nil, err
		}
		if converted.Kind == table.Category {
			var unknown string
			if converted, unknown, err = spell(converted, words[field.Name]); err != nil {
				return nil, err
			}
			said += unknown // a unit is said of times alone, which have no words
		}
		if said != "" {
			out.Warnings = append(out.Warnings, said)
		}
		columns[i] = converted
	}
	t, err := table.New(samples.Table, columns)
	if err != nil {
		return nil, err
	}
	t, said, err := layOut(t, units)
	if err != nil {
		return nil, err
	}
	out.Warnings = append(out.Warnings, said...)
	out.Tables = []*table.Table{t}
	return out, nil
}

func names(columns []*table.Column) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = c.Name
	}
	return strings.Join(list, ", ")
}

// source is a column of the file, and the unit that the user gave it.
type source struct {
	file string // the column's name in the file
	unit string // empty: not said
}

// rename gives columns the names that they are mapped to, and returns what each
// canonical column was in the file.
func rename(columns []*table.Column, m map[string]string) (map[string]source, error) {
	sources := make(map[string]source, len(columns))
	for _, c := range columns {
		sources[c.Name] = source{file: c.Name}
	}
	for _, to := range slices.Sorted(mapKeys(m)) {
		from, unit := m[to], ""
		i := slices.IndexFunc(columns, func(c *table.Column) bool { return c.Name == from })
		if at := strings.LastIndexByte(from, ':'); i < 0 && at > 0 {
			from, unit = from[:at], from[at+1:]
			i = slices.IndexFunc(columns, func(c *table.Column) bool { return c.Name == from })
		}
		if i < 0 {
			return nil, fmt.Errorf("--map %s=%s: the file has no column %q; it has %s", to, m[to], from, names(columns))
		}
		if j := slices.IndexFunc(columns, func(c *table.Column) bool { return c.Name == to }); j >= 0 && j != i {
			columns[j].Name = to + "_file"
		}
		columns[i].Name = to
		sources[to] = source{file: from, unit: unit}
	}
	return sources, nil
}

func mapKeys(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// convert gives a column the kind that its name demands.
func convert(c *table.Column, field samples.Field) (*table.Column, error) {
	out := *c
	// A column that says where its values come from says their unit too, and a latency
	// that says none may be in any.
	if out.Unit == "" && field.Name != samples.Latency && (c.Provenance == table.Unknown || c.Provenance == table.Absent) {
		out.Unit = field.Unit
	}
	if c.Kind == field.Kind {
		return &out, nil
	}
	if c.Kind == table.Category && c.Provenance == table.Absent {
		return empty(&out, field.Kind), nil
	}
	switch field.Kind {
	case table.Category:
		return texts(&out), nil
	case table.Address:
		if values, ok := unsigned(c); ok {
			out.Kind, out.Data = table.Address, values
			return &out, nil
		}
	case table.Time:
		if values, ok := unsigned(c); ok {
			t := table.Times(c.Name, out.Unit, c.Provenance, values, c.Valid)
			t.Note = c.Note
			return t, nil
		}
	case table.Flag:
		if values, ok := bools(c); ok {
			out.Kind, out.Data, out.Dict = table.Flag, values, nil
			return &out, nil
		}
	case table.Number:
		if values, ok := signed(c); ok {
			n := table.Ints(c.Name, out.Unit, c.Provenance, values, c.Valid)
			n.Note = c.Note
			return n, nil
		}
	}
	return nil, fmt.Errorf("column %q is a %v and should be a %v; give --map %s=NAME with another column, or rename this one",
		c.Name, c.Kind, field.Kind, c.Name)
}

func empty(c *table.Column, kind table.Kind) *table.Column {
	n := c.Len()
	c.Kind, c.Dict, c.Valid = kind, nil, table.NewBits(n)
	switch kind {
	case table.Address:
		c.Data = make([]uint64, n)
	case table.Flag:
		c.Data = make([]uint8, n)
	case table.Time:
		c.Data = make([]int64, n)
	case table.Number:
		c.Data = make([]int32, n)
	}
	return c
}

func texts(c *table.Column) *table.Column {
	in := table.NewInterner()
	codes := make([]uint32, c.Len())
	for i := range codes {
		if c.Has(i) {
			codes[i] = in.CodeString(c.Text(i))
		}
	}
	out := table.Categories(c.Name, c.Provenance, codes, in.Names(), c.Valid)
	out.Note = c.Note
	return out
}

func unsigned(c *table.Column) ([]uint64, bool) {
	values := make([]uint64, c.Len())
	for i := range values {
		switch d := c.Data.(type) {
		case []int32:
			values[i] = uint64(int64(d[i]))
		case []int64:
			values[i] = uint64(d[i])
		case []uint64:
			values[i] = d[i]
		case []float64:
			if !(d[i] >= 0 && d[i] < 1<<64) || d[i] != math.Trunc(d[i]) {
				return nil, false
			}
			values[i] = uint64(d[i])
		default:
			return nil, false
		}
	}
	return values, true
}

func signed(c *table.Column) ([]int64, bool) {
	values := make([]int64, c.Len())
	switch d := c.Data.(type) {
	case []uint64:
		for i, v := range d {
			if v > 1<<63-1 {
				return nil, false
			}
			values[i] = int64(v)
		}
	case []uint8:
		for i, v := range d {
			values[i] = int64(v)
		}
	case []int64:
		copy(values, d)
	default:
		return nil, false
	}
	return values, true
}

func bools(c *table.Column) ([]uint8, bool) {
	values := make([]uint8, c.Len())
	if c.Kind == table.Category {
		return yesOrNo(c, values)
	}
	for i := range values {
		if c.Has(i) && c.Float(i) != 0 && c.Float(i) != 1 {
			return nil, false
		}
		values[i] = uint8(c.Float(i))
	}
	return values, true
}

var answers = map[string]uint8{"yes": 1, "no": 0, "true": 1, "false": 0}

func yesOrNo(c *table.Column, values []uint8) ([]uint8, bool) {
	for i := range values {
		v, ok := answers[strings.ToLower(c.Text(i))]
		if c.Has(i) && !ok {
			return nil, false
		}
		values[i] = v
	}
	return values, true
}
