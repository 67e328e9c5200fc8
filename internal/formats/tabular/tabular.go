// Package tabular turns columns of any table, known only by name and type, into
// a samples table: it applies the user's mapping and gives the canonical
// columns their meaning.
package tabular

import (
	"fmt"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// meaning is what a canonical column is; see DESIGN, "canonical sample columns".
type meaning struct {
	kind table.Kind
	unit string
}

var canonical = map[string]meaning{
	"time": {table.Time, "ns"}, "cpu": {table.Number, ""}, "node": {table.Number, ""}, "rank": {table.Number, ""},
	"pid": {table.Number, ""}, "tid": {table.Number, ""}, "ip": {table.Address, ""}, "addr": {table.Address, ""},
	"phys": {table.Address, ""}, "op": {table.Category, ""}, "width": {table.Number, "bytes"},
	"latency": {table.Number, "cycles"}, "weight": {table.Number, ""}, "level": {table.Category, ""},
	"hit": {table.Category, ""}, "remote": {table.Flag, ""}, "hops": {table.Number, ""}, "snoop": {table.Category, ""},
	"tlb": {table.Category, ""}, "lock": {table.Flag, ""}, "file": {table.Category, ""}, "line": {table.Number, ""},
	"function": {table.Category, ""}, "instruction": {table.Category, ""}, "symbol": {table.Category, ""},
	"index": {table.Number, ""}, "x": {table.Number, ""}, "y": {table.Number, ""}, "z": {table.Number, ""},
	"iteration": {table.Number, ""},
}

// Wanted are the canonical columns in the order in which people ask for them,
// each with what it holds.
var Wanted = []struct{ Name, Meaning string }{
	{"time", "when the sample was taken"}, {"cpu", "number of the CPU"}, {"latency", "cycles the access took"},
	{"level", "what served it: L1, L2, L3, Local RAM …"}, {"addr", "address of the data"}, {"ip", "address of the instruction"},
	{"op", "load or store"}, {"file", "source file"}, {"line", "source line"}, {"function", "function"}, {"symbol", "data object"},
	{"node", "memory node of the CPU"}, {"tid", "thread"}, {"pid", "process"}, {"rank", "MPI rank"}, {"tlb", "how the address was translated"},
	{"snoop", "what snooping found"}, {"lock", "locked access: 0 or 1"}, {"remote", "served by another node: 0 or 1"}, {"hit", "hit or miss of the level"},
	{"hops", "distance of a remote access"}, {"width", "bytes of the access"}, {"weight", "cost where there is no latency"}, {"phys", "physical address"},
	{"instruction", "mnemonic of the instruction"}, {"index", "index into the data object"}, {"x", "first index"}, {"y", "second index"}, {"z", "third index"},
	{"iteration", "time step of the program"},
}

// Meaning says what a canonical column holds; empty for other names.
func Meaning(name string) string {
	for _, w := range Wanted {
		if w.Name == name {
			return w.Meaning
		}
	}
	return ""
}

// Samples makes the samples table. Columns named by opt.Map are renamed; then
// every canonical column must have, or be convertible to, its kind.
func Samples(columns []*table.Column, opt *foreign.Options) (*foreign.Imported, error) {
	if err := rename(columns, opt.Map); err != nil {
		return nil, err
	}
	out := &foreign.Imported{}
	if !slices.ContainsFunc(columns, func(c *table.Column) bool { _, ok := canonical[c.Name]; return ok }) {
		return nil, fmt.Errorf("no column has a name that samples have; the file has %s; say which is which with --map time=NAME --map cpu=NAME --map latency=NAME --map addr=NAME",
			names(columns))
	}
	for i, c := range columns {
		m, ok := canonical[c.Name]
		if !ok {
			continue
		}
		converted, err := convert(c, m)
		if err != nil {
			return nil, err
		}
		columns[i] = converted
	}
	t, err := table.New("samples", columns)
	if err != nil {
		return nil, err
	}
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

func rename(columns []*table.Column, m map[string]string) error {
	for _, to := range slices.Sorted(mapKeys(m)) {
		from := m[to]
		i := slices.IndexFunc(columns, func(c *table.Column) bool { return c.Name == from })
		if i < 0 {
			return fmt.Errorf("--map %s=%s: the file has no column %q; it has %s", to, from, from, names(columns))
		}
		if j := slices.IndexFunc(columns, func(c *table.Column) bool { return c.Name == to }); j >= 0 && j != i {
			columns[j].Name = to + "_file"
		}
		columns[i].Name = to
	}
	return nil
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
func convert(c *table.Column, m meaning) (*table.Column, error) {
	out := *c
	if out.Unit == "" {
		out.Unit = m.unit
	}
	if c.Kind == m.kind {
		return &out, nil
	}
	if c.Kind == table.Category && c.Provenance == table.Absent {
		return empty(&out, m.kind), nil
	}
	switch m.kind {
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
			out.Kind, out.Data = table.Flag, values
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
		c.Name, c.Kind, m.kind, c.Name)
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
			if d[i] < 0 || d[i] >= 1<<64 {
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
	for i := range values {
		if c.Kind == table.Category || c.Has(i) && c.Float(i) != 0 && c.Float(i) != 1 {
			return nil, false
		}
		values[i] = uint8(c.Float(i))
	}
	return values, true
}
