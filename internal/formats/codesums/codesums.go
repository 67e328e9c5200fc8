// Package codesums makes a table of samples from what other profilers keep:
// sums of events by place in the code, with or without the calls that led
// there.
package codesums

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// Event is something that was summed.
type Event struct{ Name, Unit string }

// Row is the sums of one place.
type Row struct {
	Frames  []symbol.Frame // outermost first
	Address uint64         // of the code; 0 if unknown
	Module  string
	Object  string // a data object; empty if none
	Values  []int64
	// Labels are names that the program gave what it was doing, Numbers values that
	// it gave, by their keys; a column each.
	Labels  map[string]string
	Numbers map[string]int64
}

// Profile is what a file holds.
type Profile struct {
	Tool   string
	Events []Event
	Cost   int // the event that stands for the cost
	// Counts says that the first event counts samples: they are then laid out
	// as samples again, so that every view weighs them right.
	Counts bool
	Rows   []Row
	Units  map[string]string // of the keys of numbers
	Notes  []string
}

// mostSamples is how many samples are laid out one by one; beyond, a row is a
// sum. A line of a few bytes may stand for all of them, so they are few enough
// to be made of a small file.
const mostSamples = 1 << 20

// Imported makes the table.
func (p *Profile) Imported() (*foreign.Imported, error) {
	if len(p.Rows) == 0 {
		return nil, fmt.Errorf("the profile of %s has no sums", p.Tool)
	}
	repeat := p.repetitions()
	out := &foreign.Imported{Origin: kind.Origin{Tool: p.Tool}, Warnings: p.Notes}
	b := &layout{profile: p, repeat: repeat}
	for i := range p.Rows {
		n := int64(1)
		if repeat != nil {
			n = repeat[i]
		}
		for k := range n {
			b.rows = append(b.rows, int32(i))
			b.part = append(b.part, int32(k))
		}
	}
	if repeat == nil {
		out.Warnings = append(out.Warnings, fmt.Sprintf("each row is the sum of one place in the code, not one sample: %s is its cost, in column %s", p.Events[p.Cost].Name, samples.Weight))
	}
	columns := b.columns(repeat != nil)
	labels, left := b.labels(columns)
	if left > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%d more keys of labels are left out: the first %d have columns", left, mostLabels))
	}
	t, err := table.New(samples.Table, append(columns, labels...))
	if err != nil {
		return nil, err
	}
	out.Tables = []*table.Table{t}
	return out, nil
}

// mostLabels is how many keys of labels get a column: a profile may name as many as
// it has samples.
const mostLabels = 32

// labels are the columns of what the program said of its samples, in the order of
// their keys, and how many keys have none.
func (b *layout) labels(others []*table.Column) (out []*table.Column, left int) {
	keys := map[string]bool{}
	for i := range b.profile.Rows {
		for key := range b.profile.Rows[i].Labels {
			keys[key] = true
		}
		for key := range b.profile.Rows[i].Numbers {
			keys[key] = true
		}
	}
	taken := map[string]bool{}
	for _, c := range others {
		taken[c.Name] = true
	}
	for _, f := range samples.Fields() { // a label named cpu is not known to be a CPU
		taken[f.Name] = true
	}
	name := func(key string) string {
		made := columnName(key)
		if taken[made] {
			made = "label_" + made
		}
		for n, base := 2, made; taken[made]; n++ {
			made = fmt.Sprintf("%s_%d", base, n)
		}
		taken[made] = true
		return made
	}
	for n, key := range slices.Sorted(maps.Keys(keys)) {
		if n == mostLabels {
			return out, len(keys) - mostLabels
		}
		if c := b.names("", func(r *Row) string { return r.Labels[key] }); c != nil {
			c.Name = name(key)
			out = append(out, c)
		}
		if c := b.numbers(key); c != nil {
			c.Name = name(key)
			out = append(out, c)
		}
	}
	return out, 0
}

// columnName is a key as a name that selections can be written with.
func columnName(key string) string {
	made := strings.Map(func(r rune) rune {
		if r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '_'
	}, key)
	if made == "" || unicode.IsDigit([]rune(made)[0]) {
		return "label_" + made
	}
	return made
}

// numbers is the column of a key whose labels are numbers; nil if none is.
func (b *layout) numbers(key string) *table.Column {
	v, valid := make([]int64, len(b.rows)), table.NewBits(len(b.rows))
	for i, r := range b.rows {
		if n, ok := b.profile.Rows[r].Numbers[key]; ok {
			v[i] = n
			valid.Set(i)
		}
	}
	if valid.Count() == 0 {
		return nil
	}
	return table.Ints("", b.profile.Units[key], table.Measured, v, valid)
}

// repetitions returns how many samples each row stands for, nil if rows are
// sums.
func (p *Profile) repetitions() []int64 {
	if !p.Counts {
		return nil
	}
	counts := make([]int64, len(p.Rows))
	all := int64(0)
	for i, r := range p.Rows {
		n := r.Values[0]
		if n < 0 || n > mostSamples {
			return nil
		}
		if all += n; all > mostSamples {
			return nil
		}
		counts[i] = n
	}
	if all == 0 {
		return nil
	}
	return counts
}

// share returns the k-th of n parts of a sum: they add up to it.
func share(sum, k, n int64) int64 {
	part, rest := sum/n, sum%n
	switch {
	case k < rest:
		return part + 1
	case k < -rest:
		return part - 1
	}
	return part
}

// layout turns rows into columns.
type layout struct {
	profile *Profile
	rows    []int32 // the row of the profile that each row of the table is of
	part    []int32 // which of its samples it is
	repeat  []int64 // how many samples each row of the profile has; nil: rows are sums
}

func (b *layout) columns(counted bool) []*table.Column {
	p := b.profile
	out := slices.DeleteFunc([]*table.Column{
		b.addresses(),
		b.names(samples.Function, func(r *Row) string { return r.inner().Function }),
		b.names(samples.File, func(r *Row) string { return r.inner().File }),
		b.lines(),
		b.names("module", func(r *Row) string { return r.Module }),
		b.names("stack", func(r *Row) string { return r.stack() }),
		b.names("caller", func(r *Row) string { return r.caller() }),
		b.names(samples.Symbol, func(r *Row) string { return r.Object }),
	}, func(c *table.Column) bool { return c == nil })
	values := func(name, unit string, e int) {
		v := make([]int64, len(b.rows))
		for i, r := range b.rows {
			v[i] = p.Rows[r].Values[e]
			if b.repeat != nil {
				v[i] = share(v[i], int64(b.part[i]), b.repeat[r])
			}
		}
		out = append(out, table.Ints(name, unit, table.Measured, v, nil))
	}
	for e, event := range p.Events {
		if counted && e == 0 {
			continue // the number of rows
		}
		if e == p.Cost {
			values(samples.Weight, event.Unit, e)
			if !counted {
				out[len(out)-1].Note = samples.SumOf(event.Name)
			}
		} else {
			values(event.Name, event.Unit, e)
		}
	}
	return out
}

func (b *layout) names(name string, of func(*Row) string) *table.Column {
	p := b.profile
	in := table.NewInterner()
	byRow := make([]uint32, len(p.Rows))
	has := make([]bool, len(p.Rows))
	any := false
	for i := range p.Rows {
		if s := of(&p.Rows[i]); s != "" {
			byRow[i], has[i], any = in.CodeString(s), true, true
		}
	}
	if !any {
		return nil
	}
	codes := make([]uint32, len(b.rows))
	valid := table.NewBits(len(b.rows))
	for i, r := range b.rows {
		if has[r] {
			codes[i] = byRow[r]
			valid.Set(i)
		}
	}
	return table.Categories(name, table.Measured, codes, in.Names(), valid)
}

func (b *layout) lines() *table.Column {
	v := make([]int64, len(b.rows))
	valid := table.NewBits(len(b.rows))
	for i, r := range b.rows {
		if line := b.profile.Rows[r].inner().Line; line > 0 {
			v[i] = int64(line)
			valid.Set(i)
		}
	}
	if valid.Count() == 0 {
		return nil
	}
	return samples.Ints(samples.Line, table.Measured, v, valid)
}

func (b *layout) addresses() *table.Column {
	v := make([]uint64, len(b.rows))
	valid := table.NewBits(len(b.rows))
	for i, r := range b.rows {
		if a := b.profile.Rows[r].Address; a != 0 {
			v[i] = a
			valid.Set(i)
		}
	}
	if valid.Count() == 0 {
		return nil
	}
	return table.Addresses(samples.IP, table.Measured, v, valid)
}

// inner returns the frame that the sums are of.
func (r *Row) inner() symbol.Frame {
	if len(r.Frames) == 0 {
		return symbol.Frame{}
	}
	return r.Frames[len(r.Frames)-1]
}

// stack is the text of the calls, empty where only the innermost is known.
func (r *Row) stack() string {
	if len(r.Frames) < 2 {
		return ""
	}
	words := make([]string, len(r.Frames))
	for i, f := range r.Frames {
		words[i] = f.String()
	}
	return strings.Join(words, ";")
}

func (r *Row) caller() string {
	if len(r.Frames) < 2 {
		return ""
	}
	return r.Frames[len(r.Frames)-2].Function
}
