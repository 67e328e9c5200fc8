package perftext

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/code/datasrc"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// collector gathers the samples of a text.
type collector struct {
	report  reportHeader
	samples []*sample
	other   int // lines that are not samples
	open    bool
}

// line takes one line.
func (c *collector) line(line string) {
	trimmed := strings.TrimSpace(line)
	switch {
	case trimmed == "":
		c.open = false
		return
	case c.report.read(line) || strings.HasPrefix(trimmed, "#"):
		return
	case c.open && (line[0] == '\t' || line[0] == ' ') && c.caller(trimmed):
		return
	}
	s, ok := c.report.row(line)
	if !ok {
		s, ok = parseLine(line)
		ok = ok && (s.certain() || s.has&hasTime == 0 && s.event != "" && s.has&hasIP != 0)
	}
	if !ok {
		c.other++
		return
	}
	c.samples = append(c.samples, s)
	c.open = true
}

// caller takes a line of a call chain, which belongs to the sample before it.
func (c *collector) caller(text string) bool {
	word, rest, _ := strings.Cut(text, " ")
	ip, ok := hexadecimal(word)
	if !ok || timeAnchor.MatchString(text) || strings.Contains(text, "|SNP") {
		return false
	}
	s := c.samples[len(c.samples)-1]
	if s.has&hasIP != 0 && len(s.frames) == 0 {
		return false // its instruction is on its own line, so no chain follows
	}
	f := frame{ip: ip}
	f.function, f.module = codeName(rest)
	if len(s.frames) == 0 {
		s.ip, s.function, s.module = f.ip, f.function, f.module
		s.has |= hasIP
	}
	s.frames = append(s.frames, f)
	return true
}

// speEvents are the events that perf makes of one record of ARM SPE.
var speEvents = []string{"l1d-miss", "l1d-access", "llc-miss", "llc-access", "tlb-miss", "tlb-access", "remote-access", "branch-miss", "branch", "instructions", "memory"}

// unique drops the repetitions of SPE: one record is printed once for each
// thing it says.
func (c *collector) unique() (dropped int) {
	isSPE := func(s *sample) bool { return slices.Contains(speEvents, s.event) }
	memory := slices.ContainsFunc(c.samples, func(s *sample) bool { return s.event == "memory" })
	other := slices.ContainsFunc(c.samples, func(s *sample) bool { return isSPE(s) && s.event != "memory" })
	if !other {
		return 0
	}
	type key struct {
		tid            int64
		time, ip, addr uint64
	}
	seen := map[key]bool{}
	before := len(c.samples)
	c.samples = slices.DeleteFunc(c.samples, func(s *sample) bool {
		if !isSPE(s) {
			return false
		}
		if memory {
			return s.event != "memory"
		}
		k := key{s.tid, s.time, s.ip, s.addr}
		again := seen[k]
		seen[k] = true
		return again
	})
	return before - len(c.samples)
}

// finish makes the table.
func (c *collector) finish(*foreign.Options) (*foreign.Imported, error) {
	if len(c.samples) == 0 {
		return nil, errors.New("no line of it is a sample as perf script or perf mem report -D print them")
	}
	out := &foreign.Imported{Origin: kind.Origin{Tool: "perf"}}
	if n := c.unique(); n > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%d lines repeat a record of ARM SPE under another event name and were left out", n))
	}
	if c.other > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%d lines are not samples and were left out", c.other))
	}
	slices.SortStableFunc(c.samples, func(a, b *sample) int { return cmp.Compare(a.time, b.time) })
	b := &columns{samples: c.samples}
	b.build()
	t, err := table.New("samples", b.done)
	if err != nil {
		return nil, err
	}
	out.Tables = []*table.Table{t}
	return out, nil
}

// columns turns samples into columns.
type columns struct {
	samples []*sample
	done    []*table.Column
}

func (b *columns) build() {
	b.time()
	b.number("cpu", "", hasCPU, func(s *sample) int64 { return s.cpu })
	b.number("pid", "", hasPID, func(s *sample) int64 { return s.pid })
	b.number("tid", "", hasTID, func(s *sample) int64 { return s.tid })
	b.names("comm", table.Measured, func(s *sample) string { return s.comm })
	b.address("ip", hasIP, func(s *sample) uint64 { return s.ip })
	b.names("function", table.Derived, func(s *sample) string { return s.function })
	b.names("module", table.Derived, func(s *sample) string { return s.module })
	b.names("stack", table.Derived, (*sample).stack)
	b.names("caller", table.Derived, (*sample).caller)
	b.address("addr", hasAddr, func(s *sample) uint64 { return s.addr })
	b.names("symbol", table.Derived, func(s *sample) string { return s.object })
	words := datasrc.NewColumns(len(b.samples))
	for _, s := range b.samples {
		words.Append(s.access)
	}
	b.done = append(b.done, words.Table(table.Measured)...)
	b.latency()
	b.number("weight", "", hasWeight, func(s *sample) int64 { return s.weights[0] })
	b.parts()
	b.names("event", table.Measured, func(s *sample) string { return s.event })
	b.number("period", "", hasPeriod, func(s *sample) int64 { return s.period })
	b.number("data_src", "", hasDataSrc, func(s *sample) int64 { return int64(s.dataSrc & math.MaxInt64) })
}

// time adds the times; in text they are often cut to microseconds.
func (b *columns) time() {
	clock := make([]uint64, len(b.samples))
	valid := table.NewBits(len(b.samples))
	coarse := false
	for i, s := range b.samples {
		if s.has&hasTime != 0 {
			clock[i] = s.time
			valid.Set(i)
			coarse = coarse || s.coarse
		}
	}
	if valid.Count() == 0 {
		return
	}
	c := table.Times("time", "ns", table.Measured, clock, valid)
	if coarse {
		c.Note = "printed in microseconds; perf script --ns prints all digits"
	}
	b.done = append(b.done, c)
}

// valid returns the rows that have a field.
func (b *columns) valid(has func(*sample) bool) (table.Bits, bool) {
	bits := table.NewBits(len(b.samples))
	any := false
	for i, s := range b.samples {
		if has(s) {
			bits.Set(i)
			any = true
		}
	}
	return bits, any
}

func (b *columns) number(name, unit string, f field, of func(*sample) int64) {
	valid, any := b.valid(func(s *sample) bool { return s.has&f != 0 })
	if !any {
		return
	}
	v := make([]int64, len(b.samples))
	for i, s := range b.samples {
		if s.has&f != 0 {
			v[i] = of(s)
		}
	}
	b.done = append(b.done, table.Ints(name, unit, table.Measured, v, valid))
}

func (b *columns) address(name string, f field, of func(*sample) uint64) {
	valid, any := b.valid(func(s *sample) bool { return s.has&f != 0 && of(s) != 0 })
	v := make([]uint64, len(b.samples))
	for i, s := range b.samples {
		if s.has&f != 0 {
			v[i] = of(s)
		}
	}
	p := table.Measured
	if !any {
		p = table.Absent
	}
	b.done = append(b.done, table.Addresses(name, p, v, valid))
}

func (b *columns) names(name string, p table.Provenance, of func(*sample) string) {
	valid, any := b.valid(func(s *sample) bool { return of(s) != "" })
	if !any {
		return
	}
	in := table.NewInterner()
	codes := make([]uint32, len(b.samples))
	for i, s := range b.samples {
		if t := of(s); t != "" {
			codes[i] = in.CodeString(t)
		}
	}
	b.done = append(b.done, table.Categories(name, p, codes, in.Names(), valid))
}

// parts adds the other two weights; processors that do not measure them leave
// them zero.
func (b *columns) parts() {
	for _, s := range b.samples {
		if s.weights[1] == 0 {
			s.has &^= hasInsLat
		}
		if s.weights[2] == 0 {
			s.has &^= hasRetireLat
		}
	}
	b.number("ins_lat", "cycles", hasInsLat, func(s *sample) int64 { return s.weights[1] })
	b.number("retire_lat", "cycles", hasRetireLat, func(s *sample) int64 { return s.weights[2] })
}

// latency is the weight of an access; zero is none.
func (b *columns) latency() {
	valid, _ := b.valid(func(s *sample) bool { return s.has&hasWeight != 0 && s.weights[0] > 0 && s.weights[0] < math.MaxInt32 })
	v := make([]int64, len(b.samples))
	for i, s := range b.samples {
		if valid.Get(i) {
			v[i] = s.weights[0]
		}
	}
	b.done = append(b.done, samples.Ints(samples.Latency, table.Measured, v, valid))
}

// stack is the call chain, outermost function first.
func (s *sample) stack() string {
	if len(s.frames) == 0 {
		return ""
	}
	words := make([]string, len(s.frames))
	for i, f := range s.frames {
		words[len(words)-1-i] = f.name()
	}
	return strings.Join(words, ";")
}

func (s *sample) caller() string {
	if len(s.frames) < 2 {
		return ""
	}
	return s.frames[1].name()
}

func (f *frame) name() string {
	if f.function != "" {
		return strings.ReplaceAll(f.function, ";", ",")
	}
	if f.module != "" {
		return fmt.Sprintf("%s+%#x", f.module, f.ip)
	}
	return fmt.Sprintf("%#x", f.ip)
}
