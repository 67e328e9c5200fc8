package perfdata

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/code/datasrc"
	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// builder turns rows into columns.
type builder struct {
	im      *importer
	r       *rows
	n       int
	order   []uint32 // rows in order of time; nil if they are, which is the rule
	base    uint64   // the first time
	columns []*table.Column
	spills  []*table.Spill // of the rows
	taken   map[*table.Spill]bool
	listing *table.Table // machine code of the functions with samples
	err     error

	// Fields of the rows, in order of time.
	event, mode   stored[uint8]
	pid, tid, cpu stored[int32]
	source, stack stored[uint32] // no stacks if no call chains were recorded
	time          stored[int64]  // since base
	ip, addr      stored[uint64]
}

// stored is one value of all rows and the file it is in. It becomes a column
// as it is, without being copied.
type stored[T table.Fixed] struct {
	v     []T
	spill *table.Spill
}

func (b *builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

func (b *builder) add(c *table.Column, err error) *table.Column {
	if err != nil {
		b.fail(err)
		return &table.Column{}
	}
	if c.Spill != nil {
		b.taken[c.Spill] = true
	}
	c.Release()
	b.release()
	b.columns = append(b.columns, c)
	return c
}

// release gives back the memory of the rows; it is read again when needed.
func (b *builder) release() {
	for _, s := range b.spills {
		s.Release()
	}
}

// releaseRows is after how many rows of a walk their memory is given back.
const releaseRows = 1 << 19

// at is when row i was sampled.
func (b *builder) at(i int) uint64 { return uint64(b.time.v[i]) + b.base }

// ended ends a growing column and puts it in order of time.
func ended[T table.Fixed](b *builder, g *table.Growing[T]) stored[T] {
	if g.Len() == 0 {
		return hold[T](b)(table.Zeros[T](b.n))
	}
	g.Pad(b.n)
	out := hold[T](b)(g.Values())
	if b.order == nil || b.err != nil {
		return out
	}
	return sortedBy(b, out.v)
}

// sortedBy puts values in order of time.
func sortedBy[T table.Fixed](b *builder, v []T) stored[T] {
	var sorted table.Growing[T]
	for at := 0; at < b.n; {
		block := sorted.Room(b.n - at)
		for i, row := range b.order[at : at+len(block)] {
			block[i] = v[row]
		}
		at += len(block)
	}
	return hold[T](b)(sorted.Values())
}

// hold remembers a file for as long as the builder lives, unless a column takes
// it over.
func hold[T table.Fixed](b *builder) func(v []T, spill *table.Spill, err error) stored[T] {
	return func(v []T, spill *table.Spill, err error) stored[T] {
		if err != nil {
			b.fail(err)
			return stored[T]{v: make([]T, b.n)}
		}
		if spill != nil {
			b.spills = append(b.spills, spill)
		}
		return stored[T]{v, spill}
	}
}

func (b *builder) close() {
	for _, s := range b.spills {
		if !b.taken[s] {
			s.Close()
		}
	}
}

// tables builds the tables of the run.
func (im *importer) tables(ctx context.Context) ([]*table.Table, error) {
	slices.SortStableFunc(im.notes, func(x, y fileNote) int { return cmp.Compare(x.Time, y.Time) })
	var out, gaps, code []*table.Table
	for _, part := range []struct {
		name   string
		rows   *rows
		fields []ibsField
	}{{"samples", im.rows, opFields}, {"fetch", im.fetches, fetchFields}} {
		if part.rows.n == 0 {
			continue
		}
		b := &builder{im: im, r: part.rows, n: part.rows.n, taken: map[*table.Spill]bool{}}
		t, lost, err := b.build(ctx, part.name, part.fields)
		b.close()
		if err != nil {
			return nil, err
		}
		out = append(out, t)
		if lost != nil && gaps == nil {
			gaps = append(gaps, lost)
		}
		if b.listing != nil && code == nil {
			code = append(code, b.listing)
		}
	}
	return append(append(out, gaps...), code...), nil
}

// build makes the table of one set of rows, and that of the gaps between them.
func (b *builder) build(ctx context.Context, name string, fields []ibsField) (samples, gaps *table.Table, err error) {
	b.inOrder()
	b.threads()
	b.place()
	at, err := b.attribute(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer at.files.Close()
	b.code(ctx, at)
	b.access()
	b.objects(ctx, at)
	b.rest(at)
	b.ibs(fields)
	b.speColumns()
	b.registerColumns()
	if b.err != nil {
		return nil, nil, b.err
	}
	if samples, err = table.New(name, b.columns); err != nil {
		return nil, nil, err
	}
	gaps, err = at.lossy.table(b)
	return samples, gaps, err
}

// inOrder ends the columns that are needed all the time, in order of time.
func (b *builder) inOrder() {
	r := b.r
	r.finish()
	b.base = r.base
	if r.disordered {
		time := ended(b, &r.time.times)
		b.order = timeOrder(&sorter{}, time.v)
		b.time = sortedBy(b, time.v)
	} else {
		b.time = ended(b, &r.time.times)
	}
	b.event, b.mode = ended(b, &r.event), ended(b, &r.mode)
	b.pid, b.tid, b.cpu = ended(b, &r.pid), ended(b, &r.tid), ended(b, &r.cpu)
	b.source = ended(b, &r.source)
	b.ip, b.addr = b.words(&r.ip), b.words(&r.addr)
	if r.stack.Len() > 0 {
		b.stack = ended(b, &r.stack)
	}
	if first := b.time.v[0]; r.time.used && first != 0 {
		b.base += uint64(first)
		b.time = hold[int64](b)(gather(b.n, b.time.v, func(t int64) int64 { return t - first }))
	}
}

// place adds when and where samples were taken.
func (b *builder) place() {
	if b.r.time.used {
		c := &table.Column{Name: "time", Kind: table.Time, Unit: "ns", Provenance: table.Measured, Base: b.base, Data: b.time.v, Note: b.im.clock()}
		b.add(c.Back(b.time.spill), nil)
	}
	if b.r.cpuUsed {
		b.small("cpu", b.cpu, perfevent.SampleCPU)
	}
	b.small("pid", b.pid, perfevent.SampleTID)
	b.small("tid", b.tid, perfevent.SampleTID)
}

func (b *builder) small(name string, s stored[int32], bit uint64) {
	valid := b.validity(bit)
	c := &table.Column{Name: name, Kind: table.Number, Provenance: samples.Said(valid, table.Measured), Data: s.v, Valid: valid}
	b.add(c.Back(s.spill), nil)
}

// words ends a field of words.
func (b *builder) words(f *field) stored[uint64] {
	b.fail(f.err)
	f.zeros += b.n - f.words.Len()
	return ended(b, &f.words)
}

// number adds a field as whole numbers, in 32 bits where they fit.
func (b *builder) number(name, unit string, f *field, bit uint64, zeroIsNone bool) *table.Column {
	if !f.used {
		return nil
	}
	c := &table.Column{Name: name, Kind: table.Number, Unit: unit, Provenance: table.Measured}
	var err error
	if f.number {
		err = b.whole(c, f)
	} else {
		// Not a quantity: a mark such as a CPU of -1, or garbage.
		c.Data, c.Spill, err = gather(b.n, b.words(f).v, func(x uint64) float64 { return float64(x) })
	}
	b.fail(f.err)
	switch {
	case !zeroIsNone:
		c.Valid = b.validity(bit)
	case f.zeros > 0:
		c.Valid = table.NewBits(b.n)
		for i := range b.n {
			if c.Float(i) != 0 {
				c.Valid.Set(i)
			}
		}
	}
	c.Provenance = samples.Said(c.Valid, table.Measured)
	return b.add(c, err)
}

// whole ends a field of whole numbers.
func (b *builder) whole(c *table.Column, f *field) error {
	f.zeros += b.n - f.whole.Len()
	if f.whole.Len() == 0 {
		v, spill, err := table.Zeros[int32](b.n)
		c.Data, c.Spill = v, spill
		return err
	}
	f.whole.Pad(b.n)
	data, spill, err := f.whole.Values()
	c.Data, c.Spill = data, spill
	if b.order == nil || err != nil {
		return err
	}
	sorted, err := c.Spread(b.order)
	if err == nil {
		c.Data, c.Spill = sorted.Data, sorted.Spill
	}
	spill.Close()
	return err
}

// addresses adds a field as addresses; zero is none.
func (b *builder) addresses(name string, s stored[uint64], f *field) {
	var valid table.Bits
	if f.zeros > 0 {
		valid = nonzero(s.v)
	}
	c := &table.Column{Name: name, Kind: table.Address, Provenance: samples.Said(valid, table.Measured), Data: s.v, Valid: valid}
	b.add(c.Back(s.spill), nil)
}

// validity returns the rows whose event records a field; nil if that is all.
func (b *builder) validity(bit uint64) table.Bits {
	var has [maxEventRows]bool
	every := true
	for i, e := range b.im.events[:min(len(b.im.events), maxEventRows)] {
		has[i] = (e.SampleType|e.extra)&bit != 0
		every = every && (has[i] || b.r.byEvent[i] == 0)
	}
	if every {
		return nil
	}
	valid := table.NewBits(b.n)
	for i, e := range b.event.v {
		if has[e] {
			valid.Set(i)
		}
	}
	return valid
}

// nonzero returns the rows whose value is not zero.
func nonzero(v []uint64) table.Bits {
	valid := table.NewBits(len(v))
	for i, x := range v {
		if x != 0 {
			valid.Set(i)
		}
	}
	return valid
}

// gather makes a column of n values that follow from others.
func gather[T, U table.Fixed](n int, v []T, convert func(T) U) ([]U, *table.Spill, error) {
	if convert(0) == 0 && !slices.ContainsFunc(v, func(x T) bool { return convert(x) != 0 }) {
		return table.Zeros[U](n)
	}
	var g table.Growing[U]
	for at := 0; at < n; {
		block := g.Room(n - at)
		for i, x := range v[at : at+len(block)] {
			block[i] = convert(x)
		}
		at += len(block)
	}
	out, spill, err := g.Values()
	spill.Release()
	return out, spill, err
}

// access adds what the hardware says about each access: its address, the words
// of data_src, and what it cost.
func (b *builder) access() {
	b.addresses("addr", b.addr, &b.r.addr)
	if b.r.phys.used {
		b.addresses("phys", b.words(&b.r.phys), &b.r.phys)
	}
	words := datasrc.NewColumns(len(b.im.sources.accesses))
	doubt := false
	for _, a := range b.im.sources.accesses {
		words.Append(a)
		doubt = doubt || a.Ambiguous
	}
	if doubt {
		b.ambiguous()
	}
	for _, c := range words.Table(table.Measured) {
		b.add(c.Spread(b.source.v))
	}
	b.latency()
}

func (b *builder) ambiguous() {
	n := 0
	for _, code := range b.source.v {
		if b.im.sources.accesses[code].Ambiguous {
			n++
		}
	}
	if n > 0 {
		b.im.warnf("two levels in %s; the farther one is taken", term.Counted(n, "sample"))
	}
}

// latency adds what an access took. A weight of zero is none: stores on most
// processors, hits on AMD.
func (b *builder) latency() {
	r := b.r
	if !r.weight.used {
		b.add(samples.Ints(samples.Latency, table.Absent, make([]int64, b.n), table.NewBits(b.n)), nil)
		return
	}
	access := make([]bool, len(b.im.sources.accesses))
	for i, a := range b.im.sources.accesses {
		access[i] = a.Op != 0
	}
	weight := b.number("weight", "", &r.weight, perfevent.SampleWeight|perfevent.SampleWeightStruct, false)
	if b.err != nil {
		return
	}
	weight.Note = "as recorded"
	b.columns = b.columns[:len(b.columns)-1] // it comes after the latency
	assumed := b.r.ibs != nil && b.im.opt.L1Latency >= 0
	valid := table.NewBits(b.n)
	var g table.Growing[int32]
	switch w := weight.Data.(type) {
	case []int32:
		latencies(b, w, access, assumed, &g, valid)
	case []int64:
		latencies(b, w, access, assumed, &g, valid)
	case []float64:
		latencies(b, w, access, assumed, &g, valid)
	}
	data, spill, err := g.Values()
	p, note := table.Measured, b.im.biasNote()
	if assumed {
		p, note = table.Modelled, datasrc.AssumedL1Note(b.im.opt.L1Latency)
	}
	c := samples.Column(samples.Latency, p, data, valid)
	c.Note = note
	b.add(c.Back(spill), err)
	b.columns = append(b.columns, weight)
	b.weightParts()
}

// latencies turns weights into latencies.
func latencies[T int32 | int64 | float64](b *builder, weights []T, access []bool, assumed bool, g *table.Growing[int32], valid table.Bits) {
	for at := 0; at < b.n; {
		block := g.Room(b.n - at)
		sources := b.source.v[at : at+len(block)]
		for i, x := range weights[at : at+len(block)] {
			w := uint64(x)
			if assumed && b.im.events[b.event.v[at+i]].kind == kindIBSOp {
				w = b.ibsLatency(w, b.im.sources.accesses[sources[i]])
			}
			block[i] = 0
			if w > 0 && access[sources[i]] && w < absurdLatency {
				block[i] = int32(w)
				valid.Set(at + i)
			}
		}
		at += len(block)
	}
}

// absurdLatency is what no access takes: 2^31 cycles.
const absurdLatency = 1 << 31

// weightParts adds the other parts of a weight.
func (b *builder) weightParts() {
	r := b.r
	if !r.parted {
		return
	}
	for _, part := range []struct {
		name, note string
		of         *table.Growing[int32]
	}{
		{"ins_lat", "from the dispatch of the instruction to its end", &r.insLat},
		{"retire_lat", "from the retirement of the instruction before it to its own", &r.retireLat},
	} {
		s := ended(b, part.of)
		valid := table.NewBits(b.n)
		for i, x := range s.v {
			if x != 0 {
				valid.Set(i)
			}
		}
		c := &table.Column{Name: part.name, Kind: table.Number, Unit: "cycles", Note: part.note, Provenance: samples.Said(valid, table.Measured), Data: s.v, Valid: valid}
		b.add(c.Back(s.spill), nil)
	}
}

// dataSource adds data_src as it was recorded.
func (b *builder) dataSource() {
	if !slices.ContainsFunc(b.im.events, func(e *eventAttr) bool { return e.SampleType&perfevent.SampleDataSrc != 0 }) {
		return
	}
	words := make([]int64, len(b.im.sources.words))
	for i, w := range b.im.sources.words {
		words[i] = int64(w & math.MaxInt64)
	}
	few := table.Ints("data_src", "", table.Measured, words, nil)
	few.Note = "as recorded; op, level, snoop, tlb and lock are decoded from it"
	c, err := few.Spread(b.source.v)
	if err == nil {
		c.Valid = b.validity(perfevent.SampleDataSrc)
	}
	b.add(c, err)
}

// rest adds what is left: the event and the raw words.
func (b *builder) rest(at *attribution) {
	r := b.r
	names := table.NewInterner()
	codes := make([]uint32, len(b.im.events))
	for i, e := range b.im.events {
		codes[i] = names.CodeString(e.Name)
	}
	data, spill, err := gather(b.n, b.event.v, func(e uint8) uint32 { return codes[e] })
	event := table.Categories("event", table.Measured, data, names.Names(), nil)
	b.add(event.Back(spill), err)
	b.number("period", "", &r.period, perfevent.SamplePeriod, false)
	b.dataSource()
	b.number("data_page_size", "bytes", &r.dataPage, perfevent.SampleDataPageSize, true)
	b.number("code_page_size", "bytes", &r.code, perfevent.SampleCodePageSize, true)
	b.number("transaction", "", &r.transaction, perfevent.SampleTransaction, true)
	b.number("cgroup", "", &r.cgroup, perfevent.SampleCgroup, true)
	at.lossy.columns(b)
}
