package caliper

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/tabular"
)

// canonical are the columns of samples and what Caliper's services call them, the
// best first. A name that ends in # stands for all that begin so: the rest says
// which address was looked up.
var canonical = []struct {
	name  string
	from  []string
	event bool // what the rows of a profile sum
}{
	{name: samples.Time, from: []string{"libpfm.time", "time.offset.ns"}},
	{name: samples.CPU, from: []string{"libpfm.cpu"}},
	{name: samples.Rank, from: []string{"mpi.rank", "mpi.world.rank", "rank"}},
	{name: samples.PID, from: []string{"libpfm.pid"}},
	{name: samples.TID, from: []string{"libpfm.tid"}},
	{name: samples.IP, from: []string{"libpfm.ip", "cali.sampler.pc"}},
	{name: samples.Addr, from: []string{"libpfm.addr"}},
	{name: samples.Latency, from: []string{"libpfm.weight"}},
	{name: samples.Level, from: []string{"libpfm.memory_level"}},
	{name: samples.Op, from: []string{"libpfm.operation"}},
	{name: samples.Function, from: []string{"source.function#", "function", "region", "path", "annotation", "mpi.function"}},
	{name: samples.File, from: []string{"source.file#"}},
	{name: samples.Line, from: []string{"source.line#"}},
	{name: samples.Symbol, from: []string{"alloc.label#libpfm.addr", "alloc.label#"}},
	{name: samples.Weight, from: []string{"sum#time.duration.ns", "time.duration.ns", "sum#time.duration", "sum#sum#time.duration", "sum#sum#time.duration.ns", "time.duration", "inclusive#sum#time.duration",
		"count", "sum#count", "aggregate.count"}, event: true},
}

// imported makes the table.
func (r *reader) imported(opt *foreign.Options) (*foreign.Imported, error) {
	for _, c := range r.order {
		for len(c.values) < r.rows {
			c.values, c.has = append(c.values, ""), append(c.has, false)
		}
	}
	renamed := map[*column]string{}
	event := ""
	_, sampled := r.columns["libpfm.addr"]
	for _, want := range canonical {
		c := r.find(want.from)
		if c == nil || renamed[c] != "" || want.event && sampled {
			continue
		}
		renamed[c] = want.name
		if want.event {
			event = c.name
		}
	}
	columns := make([]*table.Column, 0, len(r.order))
	for _, c := range r.order {
		made, err := c.column(renamed[c])
		if err != nil {
			return nil, err
		}
		if c.name == event && event != "" {
			made.Note = samples.SumOf(event)
		}
		columns = append(columns, made)
	}
	// A column that keeps its name must not be taken for one of samples.
	for i, c := range r.order {
		if renamed[c] == "" && slices.ContainsFunc(columns, func(o *table.Column) bool { return o != columns[i] && o.Name == columns[i].Name }) {
			columns[i].Name += "_file"
		}
	}
	out, err := tabular.Samples(columns, opt)
	if err != nil {
		return nil, err
	}
	r.describe(out, event)
	return out, nil
}

// find returns the first column of the given names.
func (r *reader) find(names []string) *column {
	for _, name := range names {
		if c := r.columns[name]; c != nil {
			return c
		}
		if strings.HasSuffix(name, "#") {
			for _, c := range r.order {
				if strings.HasPrefix(c.name, name) {
					return c
				}
			}
		}
	}
	return nil
}

func (r *reader) describe(out *foreign.Imported, event string) {
	out.Origin = kind.Origin{Tool: "caliper"}
	if version := r.globals["cali.caliper.version"]; version != "" {
		out.Origin.Tool += " " + version
	}
	if command := r.globals["cmdline"]; command != "" {
		out.Origin.Command = []string{command}
	}
	if event != "" {
		out.Warnings = append(out.Warnings, fmt.Sprintf("each row is the sum of one place in the code, not one sample: %s is its cost, in column %s", event, samples.Weight))
	}
	for _, text := range slices.Sorted(maps.Keys(r.notes)) {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%s (%d)", text, r.notes[text]))
	}
}

// column makes a column by the type that the attribute has. Times in seconds
// become nanoseconds, which sums are in elsewhere.
func (c *column) column(name string) (*table.Column, error) {
	if name == "" {
		name = c.name
	}
	valid := table.NewBits(len(c.values))
	for i, has := range c.has {
		if has {
			valid.Set(i)
		}
	}
	switch c.typ {
	case "int", "uint", "bool":
		v := make([]int64, len(c.values))
		for i, text := range c.values {
			n, ok := wholeNumber(text)
			if c.has[i] && !ok {
				return nil, fmt.Errorf("%s: %.20q is no whole number", c.name, text)
			}
			v[i] = n
		}
		return table.Ints(name, c.unit, table.Measured, v, valid), nil
	case "addr", "ptr":
		v := make([]uint64, len(c.values))
		for i, text := range c.values {
			n, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
			if c.has[i] && err != nil {
				return nil, fmt.Errorf("%s: %.20q is no address", c.name, text)
			}
			v[i] = n
		}
		return table.Addresses(name, table.Measured, v, valid), nil
	case "double":
		return c.floats(name, valid)
	}
	in := table.NewInterner()
	codes := make([]uint32, len(c.values))
	for i, text := range c.values {
		if c.has[i] {
			codes[i] = in.CodeString(text)
		}
	}
	return table.Categories(name, table.Measured, codes, in.Names(), valid), nil
}

func wholeNumber(text string) (int64, bool) {
	switch text {
	case "true":
		return 1, true
	case "false":
		return 0, true
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	n, err := strconv.ParseUint(text, 0, 64)
	return int64(n), err == nil
}

func (c *column) floats(name string, valid table.Bits) (*table.Column, error) {
	v := make([]float64, len(c.values))
	for i, text := range c.values {
		n, err := strconv.ParseFloat(text, 64)
		if c.has[i] && err != nil {
			return nil, fmt.Errorf("%s: %.20q is no number", c.name, text)
		}
		v[i] = n
	}
	if name != samples.Weight {
		return table.Floats(name, c.unit, table.Measured, v, valid), nil
	}
	scale, unit := 1.0, c.unit
	if s, ok := map[string]float64{"sec": 1e9, "s": 1e9, "usec": 1e3, "us": 1e3, "nsec": 1, "ns": 1}[c.unit]; ok {
		scale, unit = s, "ns"
	}
	whole := make([]int64, len(v))
	for i, n := range v {
		if n *= scale; n > -9e18 && n < 9e18 {
			whole[i] = int64(n + .5)
		}
	}
	return table.Ints(name, unit, table.Measured, whole, valid), nil
}
