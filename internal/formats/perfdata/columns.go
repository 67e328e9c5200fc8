package perfdata

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"isobath/internal/datasrc"
	"isobath/internal/table"
)

// builder turns rows into columns, in order of time.
type builder struct {
	im      *importer
	r       *rows
	n       int
	order   []uint32 // rows in order of time; nil if they are
	base    uint64
	columns []*table.Column
	spills  []*table.Spill // of what is needed while building only
	listing *table.Table   // machine code of the functions with samples
	err     error

	// Fields of the rows, in the order of the file.
	event, mode      []uint8
	pid, tid, source []uint32
	stack            []uint32 // nil if no call chains were recorded
	cpu              []uint32
	time, ip, addr   []uint64
	ordered          []uint32 // source in order of time
}

func (b *builder) row(i int) int {
	if b.order == nil {
		return i
	}
	return int(b.order[i])
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

// values ends a growing column. Its memory is freed when the builder is done.
func values[T table.Fixed](b *builder, g *table.Growing[T], n int) []T {
	var v []T
	var spill *table.Spill
	var err error
	if g.Len() == 0 {
		v, spill, err = table.Zeros[T](n)
	} else {
		g.Pad(n)
		v, spill, err = g.Values()
	}
	if err != nil {
		b.fail(err)
		return make([]T, n)
	}
	b.spills = append(b.spills, spill)
	return v
}

func (b *builder) close() {
	for _, s := range b.spills {
		s.Close()
	}
}

// tables builds the tables of the run.
func (im *importer) tables(ctx context.Context) ([]*table.Table, error) {
	slices.SortStableFunc(im.notes, func(x, y Note) int { return cmp.Compare(x.Time, y.Time) })
	var out, gaps, code []*table.Table
	for _, part := range []struct {
		name   string
		rows   *rows
		fields []ibsField
	}{{"samples", &im.rows, opFields}, {"fetch", &im.fetches, fetchFields}} {
		if part.rows.n == 0 {
			continue
		}
		b := &builder{im: im, r: part.rows, n: part.rows.n}
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
	r := b.r
	r.flush()
	b.event, b.mode = values(b, &r.event, b.n), values(b, &r.mode, b.n)
	b.pid, b.tid, b.source = values(b, &r.pid, b.n), values(b, &r.tid, b.n), values(b, &r.source, b.n)
	b.time, b.ip, b.cpu = values(b, &r.time.values, b.n), values(b, &r.ip.values, b.n), values(b, &r.cpu, b.n)
	b.addr = values(b, &r.addr.values, b.n)
	if r.stack.Len() > 0 {
		b.stack = values(b, &r.stack, b.n)
	}
	if r.time.used {
		b.order = timeOrder(b.time)
		b.base = b.time[b.row(0)]
	}
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
	if b.err != nil {
		return nil, nil, b.err
	}
	if samples, err = table.New(name, b.columns); err != nil {
		return nil, nil, err
	}
	gaps, err = at.lossy.table(b)
	return samples, gaps, err
}

// place adds when and where samples were taken.
func (b *builder) place() {
	r := b.r
	if r.time.used {
		v, spill, err := gather(b, b.time, func(t uint64) int64 { return int64(t - b.base) })
		c := &table.Column{Name: "time", Kind: table.Time, Unit: "ns", Provenance: table.Measured, Base: b.base, Data: v, Note: b.im.clock()}
		b.add(c.Back(spill), err)
	}
	if r.cpuUsed {
		b.number32("cpu", b.cpu, sampleCPU)
	}
	b.number32("pid", b.pid, sampleTID)
	b.number32("tid", b.tid, sampleTID)
}

// number adds a field as whole numbers, in 32 bits where they fit.
func (b *builder) number(name, unit string, f *field, bit uint64, zeroIsNone bool) *table.Column {
	if !f.used {
		return nil
	}
	v := values(b, &f.values, b.n)
	return b.numbers(name, unit, v, f, b.validity(bit, zeroIsNone, v))
}

func (b *builder) numbers(name, unit string, v []uint64, f *field, valid table.Bits) *table.Column {
	c := &table.Column{Name: name, Kind: table.Number, Unit: unit, Provenance: said(valid, table.Measured), Valid: valid}
	var err error
	var spill *table.Spill
	switch {
	case f.all <= math.MaxInt32:
		c.Data, spill, err = gather(b, v, func(x uint64) int32 { return int32(x) })
	case f.all <= math.MaxInt64:
		c.Data, spill, err = gather(b, v, func(x uint64) int64 { return int64(x) })
	default:
		// Not a quantity: a mark such as a CPU of -1, or garbage.
		c.Data, spill, err = gather(b, v, func(x uint64) float64 { return float64(x) })
	}
	return b.add(c.Back(spill), err)
}

func (b *builder) number32(name string, v []uint32, bit uint64) {
	valid := b.validity(bit, false, nil)
	c := &table.Column{Name: name, Kind: table.Number, Provenance: said(valid, table.Measured), Valid: valid}
	data, spill, err := gather(b, v, func(x uint32) int32 { return int32(x) })
	c.Data = data
	b.add(c.Back(spill), err)
}

// address adds a field as addresses; zero is none.
func (b *builder) address(name string, f *field, bit uint64) {
	if !f.used {
		b.add(table.Addresses(name, table.Absent, make([]uint64, b.n), table.NewBits(b.n)), nil)
		return
	}
	b.addresses(name, values(b, &f.values, b.n), bit)
}

func (b *builder) addresses(name string, v []uint64, bit uint64) {
	valid := b.validity(bit, true, v)
	data, spill, err := gather(b, v, func(x uint64) uint64 { return x })
	c := &table.Column{Name: name, Kind: table.Address, Provenance: said(valid, table.Measured), Data: data, Valid: valid}
	b.add(c.Back(spill), err)
}

// validity returns the rows whose event records a field and, if zero means
// that there is no value, whose value is not zero; nil if that is all.
func (b *builder) validity(bit uint64, zeroIsNone bool, v []uint64) table.Bits {
	var has [maxEventRows]bool
	every := true
	for i, e := range b.im.events[:min(len(b.im.events), maxEventRows)] {
		has[i] = (e.SampleType|e.extra)&bit != 0
		every = every && (has[i] || b.r.byEvent[i] == 0)
	}
	if every && !zeroIsNone {
		return nil
	}
	valid := table.NewBits(b.n)
	count := 0
	for i := range b.n {
		row := b.row(i)
		if has[b.event[row]] && (!zeroIsNone || v[row] != 0) {
			valid.Set(i)
			count++
		}
	}
	if count == b.n {
		return nil
	}
	return valid
}

// gather copies values in order of time.
func gather[T, U table.Fixed](b *builder, v []T, convert func(T) U) ([]U, *table.Spill, error) {
	if convert(0) == 0 && !slices.ContainsFunc(v, func(x T) bool { return convert(x) != 0 }) {
		return table.Zeros[U](b.n)
	}
	var g table.Growing[U]
	for at := 0; at < b.n; {
		block := g.Room(min(b.n-at, releaseRows))
		if b.order == nil {
			for i, x := range v[at : at+len(block)] {
				block[i] = convert(x)
			}
		} else {
			for i, row := range b.order[at : at+len(block)] {
				block[i] = convert(v[row])
			}
		}
		if at += len(block); at%releaseRows == 0 {
			b.release()
		}
	}
	out, spill, err := g.Values()
	spill.Release()
	return out, spill, err
}

func said(valid table.Bits, p table.Provenance) table.Provenance {
	if valid != nil && valid.Count() == 0 {
		return table.Absent
	}
	return p
}

// access adds what the hardware says about each access: its address, the words
// of data_src, and what it cost.
func (b *builder) access() {
	r := b.r
	b.addresses("addr", b.addr, sampleAddr)
	if r.phys.used {
		b.address("phys", &r.phys, samplePhysAddr)
	}
	b.ordered = b.source
	if b.order != nil {
		v, spill, err := gather(b, b.source, func(x uint32) uint32 { return x })
		if err != nil {
			b.fail(err)
			return
		}
		b.spills = append(b.spills, spill)
		b.ordered = v
	}
	words := datasrc.NewColumns(len(b.im.sources.accesses))
	for _, a := range b.im.sources.accesses {
		words.Append(a)
	}
	ambiguous := 0
	for _, code := range b.ordered {
		if b.im.sources.accesses[code].Ambiguous {
			ambiguous++
		}
	}
	if ambiguous > 0 {
		b.im.warnf("%d samples name two levels; the farther one is taken", ambiguous)
	}
	for _, c := range words.Table(table.Measured) {
		b.add(c.Spread(b.ordered))
	}
	b.latency()
}

// latency adds what an access took. A weight of zero is none: stores on most
// processors, hits on AMD.
func (b *builder) latency() {
	r := b.r
	if !r.weight.used {
		b.add(table.Ints("latency", "cycles", table.Absent, make([]int64, b.n), table.NewBits(b.n)), nil)
		return
	}
	access := make([]bool, len(b.im.sources.accesses))
	for i, a := range b.im.sources.accesses {
		access[i] = a.Op != 0
	}
	v := values(b, &r.weight.values, b.n)
	valid := table.NewBits(b.n)
	assumed := b.r.ibs != nil && b.im.opt.L1Latency >= 0
	var g table.Growing[int32]
	for i := range b.n {
		row := b.row(i)
		w := v[row]
		if assumed && b.im.events[b.event[row]].kind == kindIBSOp {
			w = b.ibsLatency(w, b.im.sources.accesses[b.source[row]])
		}
		if w == 0 || !access[b.source[row]] || w >= absurdLatency {
			w = 0
		} else {
			valid.Set(i)
		}
		g.Append(int32(w))
	}
	data, spill, err := g.Values()
	c := &table.Column{Name: "latency", Kind: table.Number, Unit: "cycles", Provenance: said(valid, table.Measured), Data: data, Valid: valid, Note: b.im.biasNote()}
	if valid.Count() == b.n {
		c.Valid = nil
	}
	if assumed {
		c.Provenance = said(valid, table.Modelled)
		c.Note = fmt.Sprintf("IBS measures load misses only; an L1 hit is assumed to take %d cycles, which is also added to misses. Stores have no value", b.im.opt.L1Latency)
	}
	b.add(c.Back(spill), err)
	b.weights(v)
}

// absurdLatency is what no access takes: 2^31 cycles.
const absurdLatency = 1 << 31

// weights adds the weight as it was recorded, and its parts.
func (b *builder) weights(v []uint64) {
	r := b.r
	b.numbers("weight", "", v, &r.weight, b.validity(sampleWeight|sampleWeightStruct, false, nil)).Note = "as recorded"
	if !r.parted {
		return
	}
	for _, part := range []struct {
		name, note string
		of         *table.Growing[uint32]
	}{
		{"ins_lat", "from the dispatch of the instruction to its end", &r.insLat},
		{"retire_lat", "from the retirement of the instruction before it to its own", &r.retireLat},
	} {
		v := values(b, part.of, b.n)
		valid := table.NewBits(b.n)
		for i := range b.n {
			if v[b.row(i)] != 0 {
				valid.Set(i)
			}
		}
		data, spill, err := gather(b, v, func(x uint32) int32 { return int32(x) })
		c := &table.Column{Name: part.name, Kind: table.Number, Unit: "cycles", Note: part.note, Provenance: said(valid, table.Measured), Data: data, Valid: valid}
		b.add(c.Back(spill), err)
	}
}

// dataSource adds data_src as it was recorded.
func (b *builder) dataSource() {
	if !slices.ContainsFunc(b.im.events, func(e *Event) bool { return e.SampleType&sampleDataSrc != 0 }) {
		return
	}
	words := make([]int64, len(b.im.sources.words))
	for i, w := range b.im.sources.words {
		words[i] = int64(w & math.MaxInt64)
	}
	few := table.Ints("data_src", "", table.Measured, words, nil)
	few.Note = "as recorded; op, level, snoop, tlb and lock are decoded from it"
	c, err := few.Spread(b.ordered)
	if err == nil {
		c.Valid = b.validity(sampleDataSrc, false, nil)
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
	data, spill, err := gather(b, b.event, func(e uint8) uint32 { return codes[e] })
	event := table.Categories("event", table.Measured, data, names.Names(), nil)
	b.add(event.Back(spill), err)
	b.number("period", "", &r.period, samplePeriod, false)
	b.dataSource()
	b.number("data_page_size", "bytes", &r.dataPage, sampleDataPageSize, true)
	b.number("code_page_size", "bytes", &r.code, sampleCodePageSize, true)
	b.number("transaction", "", &r.transaction, sampleTransaction, true)
	b.number("cgroup", "", &r.cgroup, sampleCgroup, true)
	at.lossy.columns(b)
}
