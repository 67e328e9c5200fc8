package mitos

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/code/datasrc"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/delimited"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/machine/hw"
)

// file is a sample file on its way to a table.
type file struct {
	rows     int
	raw      map[string]*delimited.Column
	order    []string
	warnings []string
	done     []*table.Column
}

func (f *file) warnf(format string, args ...any) {
	f.warnings = append(f.warnings, fmt.Sprintf(format, args...))
}

func (f *file) add(columns ...*table.Column) { f.done = append(f.done, columns...) }

// convert makes tables of the columns read.
func convert(l *layout, text *delimited.Result, cpu processor, opt *foreign.Options, warnings []string) (*foreign.Imported, error) {
	f := &file{rows: text.Rows, raw: map[string]*delimited.Column{}, warnings: warnings}
	for i := range text.Columns {
		c := &text.Columns[i]
		if f.raw[c.Name] != nil {
			return nil, fmt.Errorf("two columns named %q in the file", c.Name)
		}
		f.raw[c.Name] = c
		f.order = append(f.order, c.Name)
		if c.Bad > 0 {
			f.warnf("column %s: no value in %s that could not be read", c.Name, term.Counted(c.Bad, "cell"))
		}
	}
	if l.omitted >= 0 {
		f.omittedBase()
	}
	name := "samples"
	switch {
	case f.has("ibs_fetch_lat"):
		name = "fetch"
		f.fetch()
	case f.has("ibs_ld_op"):
		f.ibsOp(cpu, opt)
	default:
		f.dataSource()
		f.latency()
	}
	f.code()
	f.time()
	f.place()
	f.object()
	f.rest()
	return f.finish(name)
}

func (f *file) has(name string) bool { return f.raw[name] != nil }

// take returns a raw column the first time it is asked for, nil afterwards.
// What nobody takes ends up in rest.
func (f *file) take(name string) *delimited.Column {
	i := slices.Index(f.order, name)
	if i < 0 {
		return nil
	}
	f.order = slices.Delete(f.order, i, i+1)
	return f.raw[name]
}

// omittedBase handles files whose writer left out the load base and its comma:
// the same fault made it resolve the wrong fields, and drop samples whose
// latency exceeds the number of CPUs.
func (f *file) omittedBase() {
	for _, n := range []string{"file", "line", "instruction", "width"} {
		if c := f.raw[n]; c != nil {
			*c = delimited.Column{Name: n, Type: delimited.Empty, Nulls: f.rows}
		}
	}
	f.warnf("the load base is missing from every row: file, line, instruction and width in this file are meaningless and were dropped")
	f.warnf("the writer of such files keeps only samples whose latency is at most the number of CPUs: latencies are biased low")
}

// code adds file, line, instruction and ip.
func (f *file) code() {
	source, line := f.take("file"), f.take("line")
	if source != nil {
		f.add(category(source, "file"))
	}
	if line != nil {
		valid := validity(line, f.rows)
		if source != nil {
			// Legacy files write line 0 for an unknown source.
			valid = both(valid, validity(source, f.rows))
		}
		f.add(table.Ints("line", "", samples.Said(valid, table.Derived), ints(line, f.rows), valid))
	}
	if c := f.take("instruction"); c != nil {
		f.add(category(c, "instruction"))
	}
	if c := f.take("width"); c != nil {
		f.add(numberColumn(c, "width", "bytes", table.Derived, f.rows))
	}
	for _, n := range []string{"ip", "addr", "virt_addr_offset"} {
		if c := f.take(n); c != nil {
			f.add(address(c, n, f.rows))
		}
	}
}

// time adds the time axis. Legacy files count ticks in hexadecimal; the 2015
// re-encoding scaled them to a million and lost the unit.
func (f *file) time() {
	c := f.take("time")
	unit := "ns"
	note := ""
	switch {
	case f.has("dataSource") && c.Type == delimited.Hex:
		unit = "ticks"
		note = "time-stamp counter; its frequency is not recorded"
	case f.has("data_source"):
		unit = "relative"
		note = "scaled to 0 … 1 000 000 over the run by its writer"
	}
	col := table.Times("time", unit, table.Measured, words(c, f.rows), validity(c, f.rows))
	col.Note = note
	f.add(col)
}

// place adds where a sample was taken: cpu, node, process and thread.
func (f *file) place() {
	f.take("numa") // declared by the writer but never assigned
	for _, n := range []string{"cpu", "node", "pid", "tid"} {
		if c := f.take(n); c != nil {
			f.add(numberColumn(c, n, "", table.Measured, f.rows))
		}
	}
	if f.has("tid") && len(distinct(f.raw["tid"])) > 1 && f.has("numa") {
		f.warnf("merging the files of several threads loses the first sample of each file but one")
	}
}

// object adds the data object and the position in it. An unresolved sample is
// written as 0,0,0, which is no position.
func (f *file) object() {
	symbol := f.take("symbol")
	if symbol != nil {
		f.add(category(symbol, "symbol"))
	}
	if c := f.take("buffer_size"); c != nil {
		valid := both(validity(c, f.rows), validity(symbol, f.rows))
		col := table.Ints("element_size", "bytes", samples.Said(valid, table.Measured), ints(c, f.rows), valid)
		col.Note = "called buffer_size in the file; it is the size of one element"
		f.add(col)
	}
	dims := f.raw["dims"]
	for axis, n := range []string{"x", "y", "z"} {
		c := f.take(n)
		if c == nil {
			continue
		}
		valid := validity(c, f.rows)
		if mapped := f.raw["map3D"]; mapped != nil {
			valid = both(valid, where(f.rows, func(i int) bool { return mapped.Words[i] == 1 }))
		} else {
			valid = both(valid, validity(symbol, f.rows))
			if dims != nil && dims.Type == delimited.Int {
				valid = both(valid, where(f.rows, func(i int) bool { return dims.Words[i] > uint64(axis) }))
			}
		}
		f.add(table.Ints(n, "", samples.Said(valid, table.Derived), ints(c, f.rows), valid))
	}
	for _, n := range []string{"index", "iteration"} {
		if c := f.take(n); c != nil {
			f.add(numberColumn(c, n, "", table.Measured, f.rows))
		}
	}
}

// rest adds every other column under its own name: state variables of the
// program, raw hardware fields.
func (f *file) rest() {
	for _, n := range slices.Clone(f.order) {
		c := f.take(n)
		switch c.Type {
		case delimited.Text, delimited.Empty:
			col := category(c, n)
			if c.Type == delimited.Text {
				col.Provenance = table.Measured
			}
			f.add(col)
		case delimited.Float:
			f.add(table.Floats(n, "", table.Measured, c.Floats, validity(c, f.rows)))
		case delimited.Hex:
			f.add(address(c, n, f.rows))
		default:
			if ibsFlag(n) || n == "map3D" {
				f.add(flag(c, n, f.rows))
			} else {
				f.add(numberColumn(c, n, ibsUnit(n), table.Measured, f.rows))
			}
		}
	}
}

// dataSource decodes what the hardware said about the access.
func (f *file) dataSource() {
	switch {
	case f.has("dataSource"):
		f.legacySource("dataSource", func(code uint64) uint64 { return code })
	case f.has("data_source"):
		f.legacySource("data_source", f.undoHex())
	case f.has("data_src"):
		f.perfSource()
	case f.has("level"):
		f.levelWords()
	}
}

func (f *file) legacySource(name string, decode func(uint64) uint64) {
	c := f.take(name)
	out := datasrc.NewColumns(f.rows)
	valid := validity(c, f.rows)
	for i, code := range words(c, f.rows) {
		if valid != nil && !valid.Get(i) {
			out.Append(datasrc.Access{})
			continue
		}
		out.Append(datasrc.PEBS(decode(code)))
	}
	f.add(out.Table(table.Measured)...)
	raw := numberColumn(c, name, "", table.Measured, f.rows)
	raw.Note = "as recorded; level, snoop, tlb and lock are decoded from it"
	f.add(raw)
}

// undoHex returns how to read the data_source of 2015 files. Their writer took
// the decimal number 67 for hexadecimal and wrote 103; if all values look like
// that, the number is the hexadecimal text read as decimal.
func (f *file) undoHex() func(uint64) uint64 {
	c := f.raw["data_source"]
	large := false
	for _, v := range words(c, f.rows) {
		if _, ok := datasrc.HexTextAsDecimal(v); !ok {
			return func(code uint64) uint64 { return code }
		}
		large = large || v > 127
	}
	if !large {
		return func(code uint64) uint64 { return code }
	}
	f.warnf("data_source was written by a program that took decimal numbers for hexadecimal; this was undone (103 is read as 67)")
	return func(code uint64) uint64 {
		n, _ := datasrc.HexTextAsDecimal(code)
		return n
	}
}

// perfSource decodes data_src. A collector that masked it with 0xF left only
// the operation: level, TLB and snoop are then absent.
func (f *file) perfSource() {
	c := f.take("data_src")
	values := words(c, f.rows)
	masked := true
	for _, v := range values {
		masked = masked && v < 16
	}
	if masked {
		f.warnf("data_src holds only the operation (its writer masked it with 0xF): level, snoop and TLB are absent")
	}
	out := datasrc.NewColumns(f.rows)
	valid := validity(c, f.rows)
	for i, v := range values {
		a := datasrc.Access{}
		if valid == nil || valid.Get(i) {
			a = datasrc.Perf(v)
			if masked {
				a = datasrc.Access{Op: a.Op}
			}
		}
		out.Append(a)
	}
	if n := out.Ambiguous(); n > 0 {
		f.warnf("two levels in %s; the farther one is taken", term.Counted(n, "sample"))
	}
	f.add(out.Table(table.Measured)...)
	raw := numberColumn(c, "data_src", "", table.Measured, f.rows)
	raw.Note = "as recorded; op, level, snoop, tlb and lock are decoded from it"
	f.add(raw)
}

var (
	levelNames = map[string]served{
		"L1": {hw.L1, 0}, "LFB": {hw.LFB, 0}, "L2": {hw.L2, 0}, "L3": {hw.L3, 0}, "Local RAM": {hw.LocalRAM, 0},
		"Remote RAM 1 Hop": {hw.RemoteRAM, hw.OneHop}, "Remote RAM 2 Hops": {hw.RemoteRAM, hw.TwoHops},
		"Remote Cache 1 Hops": {hw.RemoteCache, hw.OneHop}, "Remote Cache 2 Hops": {hw.RemoteCache, hw.TwoHops},
		"I/O Memory": {hw.IO, 0}, "Uncached Memory": {hw.Uncached, 0},
	}
	hitWords   = map[string]datasrc.Hit{"hit": datasrc.HitLevel, "miss": datasrc.Miss}
	opWords    = map[string]datasrc.Op{"load": datasrc.Load, "store": datasrc.Store, "prefetch": datasrc.Prefetch, "exec": datasrc.Exec}
	snoopWords = map[string]datasrc.Snoop{"snoop none": datasrc.SnoopNone, "snoop hit": datasrc.SnoopHit, "snoop miss": datasrc.SnoopMiss, "snoop hit modified": datasrc.SnoopHitM}
	tlbWords   = map[string]datasrc.TLB{"tlb hit": datasrc.TLBHit, "tlb miss": datasrc.TLBMiss, "tlb l1": datasrc.TLBL1, "tlb l2": datasrc.TLBL2, "tlb hardware walker": datasrc.TLBWalk, "tlb os fault handler": datasrc.TLBFault}
)

// levelWords reads the five text columns. With "Miss" the level is where the
// line was not found: the access was served somewhere beyond.
func (f *file) levelWords() {
	level := lookup(f, f.take("level"), func(s string) (served, bool) {
		if w, ok := levelNames[s]; ok {
			return w, true
		}
		l, err := hw.ParseLevel(s)
		return served{level: l}, err == nil
	})
	hit := lookup(f, f.take("hit"), wordIn(hitWords))
	op := lookup(f, f.take("op"), wordIn(opWords))
	snoop := lookup(f, f.take("snoop"), wordIn(snoopWords))
	tlb := lookup(f, f.take("tlb"), wordIn(tlbWords))
	out := datasrc.NewColumns(f.rows)
	for i := range f.rows {
		a := datasrc.Access{Level: level(i).level, Hops: level(i).hops, Hit: hit(i), Op: op(i), Snoop: snoop(i), TLB: tlb(i)}
		if a.Hit == datasrc.Miss {
			a.Level = datasrc.Beyond(a.Level)
		}
		out.Append(a)
	}
	f.add(out.Table(table.Measured)...)
}

// served is what a level word says.
type served struct {
	level hw.Level
	hops  hw.Hops
}

// wordIn looks a word up whatever its case and separators.
func wordIn[T any](m map[string]T) func(string) (T, bool) {
	return func(s string) (T, bool) {
		v, ok := m[strings.ToLower(strings.ReplaceAll(s, "_", " "))]
		return v, ok
	}
}

// lookup translates the names of a text column once and returns the value of a
// row. Words that are not known are counted in a warning.
func lookup[T any](f *file, c *delimited.Column, translate func(string) (T, bool)) func(row int) T {
	var none T
	if c == nil || c.Type != delimited.Text {
		return func(int) T { return none }
	}
	values := make([]T, len(c.Names))
	for i, n := range c.Names {
		v, ok := translate(n)
		if !ok {
			f.warnf("column %s: the word %q is not known and counts as no value", c.Name, n)
		}
		values[i] = v
	}
	valid := validity(c, f.rows)
	return func(row int) T {
		if valid != nil && !valid.Get(row) {
			return none
		}
		return values[c.Codes[row]]
	}
}

// absurdLatency is what no access takes: 2^31 cycles.
const absurdLatency = 1 << 31

// latency adds the measured latency. A collector that lost step in its ring
// buffer writes latencies of years; such a value is no value.
func (f *file) latency() {
	c := f.take("latency")
	if c == nil {
		return
	}
	valid := validity(c, f.rows)
	limit := uint64(absurdLatency)
	if span, ok := f.span(); ok {
		limit = min(limit, span)
	}
	absurd := 0
	values := ints(c, f.rows)
	for i, v := range values {
		if uint64(v) > limit && (valid == nil || valid.Get(i)) {
			if valid == nil {
				valid = table.FullBits(f.rows)
			}
			valid.Clear(i)
			values[i] = 0
			absurd++
		}
	}
	if absurd > 0 {
		f.warnf("no latency in %s, for which an impossible one is written (more than %d cycles)", term.Counted(absurd, "sample"), limit)
	}
	f.add(samples.Ints(samples.Latency, table.Measured, values, valid))
}

// span returns the length of the recording in cycles of a 5 GHz core, where the
// time is in nanoseconds.
func (f *file) span() (uint64, bool) {
	t := f.raw["time"]
	if t == nil || t.Type != delimited.Int || f.rows < 2 || f.has("data_source") || f.has("dataSource") {
		return 0, false
	}
	lo, hi := uint64(math.MaxUint64), uint64(0)
	for _, v := range t.Words {
		lo, hi = min(lo, v), max(hi, v)
	}
	if hi-lo > math.MaxUint64/5 {
		return 0, false
	}
	return max(5*(hi-lo), 1000), true
}

// finish sorts by time and makes the table.
func (f *file) finish(name string) (*foreign.Imported, error) {
	describe(f.done)
	t, err := table.New(name, order(f.done))
	if err != nil {
		return nil, err
	}
	if t, err = sortByTime(t); err != nil {
		return nil, err
	}
	return &foreign.Imported{Tables: []*table.Table{t}, Warnings: f.warnings, Origin: kind.Origin{Tool: "Mitos"}}, nil
}

// canonicalOrder is the order in which columns are listed; others follow.
var canonicalOrder = strings.Fields(`time cpu node pid tid ip addr phys op width latency level hit remote hops snoop tlb lock
	file line function instruction symbol index x y z iteration`)

func order(columns []*table.Column) []*table.Column {
	rank := func(c *table.Column) int {
		if i := slices.Index(canonicalOrder, c.Name); i >= 0 {
			return i
		}
		return len(canonicalOrder)
	}
	slices.SortStableFunc(columns, func(a, b *table.Column) int { return rank(a) - rank(b) })
	return columns
}

// sortByTime orders the rows by time and keeps the row number of the file.
func sortByTime(t *table.Table) (*table.Table, error) {
	times := t.Column("time").Data.([]int64)
	if slices.IsSorted(times) {
		return t, nil
	}
	index := make([]int, t.Rows())
	for i := range index {
		index[i] = i
	}
	slices.SortStableFunc(index, func(a, b int) int {
		switch {
		case times[a] < times[b]:
			return -1
		case times[a] > times[b]:
			return 1
		}
		return 0
	})
	rows := make([]int64, len(index))
	for i, row := range index {
		rows[i] = int64(row)
	}
	number := table.Ints("row", "", table.Derived, rows, nil)
	number.Note = "number of the sample in the file, which is not in order of time"
	return table.New(t.Name, append(slices.Clone(t.Take(index).Columns()), number))
}
