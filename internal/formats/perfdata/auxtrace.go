package perfdata

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/code/spe"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// trace is the hardware trace of a file: pieces of buffers, one for each CPU or
// thread, that hold the packets of ARM SPE.
type trace struct {
	kind     uint32 // of AUXTRACE_INFO
	pmu      uint32 // type of the device
	seen     bool
	buffers  map[uint32]*buffer
	clock    clock
	records  int // of all kinds
	accesses int
	pieces   int
}

type buffer struct {
	spe.Decoder
	next uint64 // offset at which the next piece should begin
}

// clock turns the counter of the hardware into the time of the recording.
type clock struct {
	shift, mult, zero, cycles, mask uint64
	short, known                    bool
}

// time converts a reading as struct perf_event_mmap_page tells to.
func (c *clock) time(ticks uint64) uint64 {
	if !c.known {
		return ticks
	}
	if c.short {
		ticks = c.cycles + (ticks-c.cycles)&c.mask
	}
	quotient, rest := ticks>>c.shift, ticks&(1<<c.shift-1)
	high, low := bits.Mul64(rest, c.mult)
	return c.zero + quotient*c.mult + (low>>c.shift | high<<(64-c.shift))
}

// timeConv reads TIME_CONV.
func (im *importer) timeConv(r record) {
	c := perfevent.Cursor{Order: im.Order, B: r.b[perfevent.HeaderSize:]}
	conv := clock{shift: c.U64(), mult: c.U64(), zero: c.U64()}
	if c.Short || conv.shift > 63 || conv.mult == 0 {
		return
	}
	conv.known = true
	if len(c.B) >= 18 {
		conv.cycles, conv.mask = c.U64(), c.U64()
		conv.short = c.B[1] != 0
	}
	im.trace.clock = conv
}

// auxtraceInfo reads which hardware made the trace.
func (im *importer) auxtraceInfo(r record) {
	c := perfevent.Cursor{Order: im.Order, B: r.b[perfevent.HeaderSize:]}
	im.trace.kind = c.U32()
	c.U32()
	im.trace.pmu = uint32(c.U64())
	im.trace.seen = true
}

// maxBuffers bounds the buffers of a trace: one for each CPU or thread.
const maxBuffers = 1 << 16

// auxtrace decodes a piece of a trace.
func (im *importer) auxtrace(r record, rest *payload) error {
	c := perfevent.Cursor{Order: im.Order, B: r.b[perfevent.HeaderSize:]}
	size, offset := c.U64(), c.U64()
	c.U64()
	idx, tid, cpu := c.U32(), c.U32(), c.U32()
	if c.Short {
		return fmt.Errorf("piece of a hardware trace at byte %d is too short: %w", r.at, errDamaged)
	}
	im.trace.pieces++
	event := im.speEvent()
	if event < 0 {
		return nil
	}
	buf := im.trace.buffers[idx]
	if buf == nil {
		if len(im.trace.buffers) == maxBuffers {
			return fmt.Errorf("more than %d buffers of a hardware trace at byte %d: %w", maxBuffers, r.at, errDamaged)
		}
		buf = &buffer{next: offset}
		im.trace.buffers[idx] = buf
	}
	if buf.next != offset {
		buf.Reset() // something is missing in between
	}
	buf.next = offset + size
	for {
		b, err := rest.next(windowSize / 4)
		if err != nil || b == nil {
			return err
		}
		var failed error
		buf.Decode(b, func(rec *spe.Record) {
			if err := im.addSPE(rec, event, tid, cpu); err != nil {
				failed = err
			}
		})
		if failed != nil {
			return failed
		}
	}
}

// speEvent finds the event whose trace this is; -1 if it is not SPE.
func (im *importer) speEvent() int {
	if im.trace.seen && im.trace.kind != auxtraceArmSPE {
		return -1
	}
	for i, e := range im.events[:min(len(im.events), maxEventRows)] {
		if im.kindOf(e) == kindSPE || im.trace.seen && e.Type == im.trace.pmu && e.Type > perfevent.TypeBreakpoint {
			e.kind = kindSPE
			return i
		}
	}
	return -1
}

const speFieldsOfSample = perfevent.SampleIP | perfevent.SampleTID | perfevent.SampleTime | perfevent.SampleAddr | perfevent.SampleWeight

// addSPE adds a record if it is an access to memory.
func (im *importer) addSPE(r *spe.Record, event int, tid, cpu uint32) error {
	im.trace.records++
	if !r.Memory() {
		return nil
	}
	if im.rows.n == maxRows {
		return fmt.Errorf("more than %d samples: record less", maxRows)
	}
	im.trace.accesses++
	s := decodedSample{Event: int32(event), Type: speFieldsOfSample, Mode: perfevent.MiscUser}
	s.IP, s.Addr, s.PhysAddr, s.Weight = r.PC, r.VA, r.PA, uint64(r.Total)
	if r.EL > 0 {
		s.Mode = perfevent.MiscKernel
	}
	if r.Has&spe.HasPA != 0 {
		s.Type |= perfevent.SamplePhysAddr
	}
	if r.Has&spe.HasTime != 0 {
		s.Time = im.trace.clock.time(r.Time)
	}
	if int32(cpu) >= 0 {
		s.Type |= perfevent.SampleCPU
		s.CPU = cpu
	}
	switch {
	case r.Has&spe.HasContext != 0:
		s.TID = r.Context
	case int32(tid) > 0:
		s.TID = tid
	default:
		s.TID = ^uint32(0) // unknownThread
	}
	s.PID = s.TID
	im.extend(&s)
	im.rows.add(&s, im.sources.number(0, r.Access(spe.Sources(im.midr()))), 0)
	im.rows.addSPE(r)
	return nil
}

// unknownThread marks rows whose thread follows from what ran on their CPU.
const unknownThread = -1

// midr reads the main ID register from the CPUID feature: "0x00000000410fd0c0".
func (im *importer) midr() uint64 {
	if im.midrText != im.features.CPUID {
		im.midrText = im.features.CPUID
		im.midrValue, _ = strconv.ParseUint(strings.TrimPrefix(im.midrText, "0x"), 16, 64)
	}
	return im.midrValue
}

// speRows are the fields of SPE that have no column elsewhere.
type speRows struct{ events, issue, translation, source, op, level field }

// addSPE keeps the fields of the row just added, plus one where zero is a value.
func (r *rows) addSPE(rec *spe.Record) {
	if r.spe == nil {
		r.spe = &speRows{}
	}
	n := len(r.small) - 1
	r.spe.events.put(n, rec.Events|1<<63)
	put := func(f *field, has spe.Field, v uint64) {
		if rec.Has&has != 0 {
			f.put(n, v+1)
		}
	}
	put(&r.spe.issue, spe.HasIssue, uint64(rec.Issue))
	put(&r.spe.translation, spe.HasTranslation, uint64(rec.Translation))
	put(&r.spe.source, spe.HasSource, uint64(rec.Source))
	put(&r.spe.op, spe.HasOp, uint64(rec.Op))
	put(&r.spe.level, spe.HasPC, uint64(rec.EL))
}

// speFlags are the columns of the events.
var speFlags = []struct {
	name string
	bit  int
}{
	{"spe_retired", 1}, {"spe_l1d_access", 2}, {"spe_l1d_refill", 3}, {"spe_tlb_access", 4}, {"spe_tlb_walk", 5}, {"spe_not_taken", 6}, {"spe_mispredict", 7},
	{"spe_llc_access", 8}, {"spe_llc_miss", 9}, {"spe_remote", 10}, {"spe_misaligned", 11}, {"spe_transaction", 16}, {"spe_partial_predicate", 17}, {"spe_empty_predicate", 18},
}

// speColumns adds the fields of SPE.
func (b *builder) speColumns() {
	if b.r.spe == nil {
		return
	}
	v := b.words(&b.r.spe.events).v
	valid := nonzero(v)
	for _, f := range speFlags {
		if b.r.spe.events.all>>f.bit&1 == 0 {
			continue // never set: the processor may not have it
		}
		data, spill, err := gather(b.n, v, func(x uint64) uint8 { return uint8(x >> f.bit & 1) })
		b.add(table.Flags(f.name, table.Measured, data, slices.Clone(valid)).Back(spill), err)
	}
	for _, f := range []struct {
		name, unit, note string
		of               *field
	}{
		{"spe_issue_lat", "cycles", "from dispatch to issue", &b.r.spe.issue}, {"spe_translation_lat", "cycles", "of the address", &b.r.spe.translation},
		{"spe_source", "", "as recorded; its meaning depends on the processor", &b.r.spe.source}, {"spe_op", "", "kind of load or store, as recorded", &b.r.spe.op},
		{"spe_el", "", "exception level", &b.r.spe.level},
	} {
		if !f.of.used {
			continue
		}
		v := b.words(f.of).v
		data, spill, err := gather(b.n, v, func(x uint64) int32 { return int32(max(x, 1) - 1) })
		valid := nonzero(v)
		c := &table.Column{Name: f.name, Kind: table.Number, Unit: f.unit, Note: f.note, Provenance: samples.Said(valid, table.Measured), Data: data, Valid: valid}
		b.add(c.Back(spill), err)
	}
}

// threads finds process and thread of SPE rows: the trace names at most the
// thread, and sometimes only what the CPU ran at that time tells it.
func (b *builder) threads() {
	if b.r.spe == nil {
		return
	}
	b.pid, b.tid = stored[int32]{v: slices.Clone(b.pid.v)}, stored[int32]{v: slices.Clone(b.tid.v)}
	pid, tid := b.pid.v, b.tid.v
	process := map[int32]int32{}
	for i := range b.im.notes {
		switch n := &b.im.notes[i]; n.Kind {
		case Comm, Fork, Map:
			process[int32(n.TID)] = int32(n.PID)
		}
	}
	running := map[int32]int32{}
	notes := b.im.notes
	for i := range b.n {
		for ; len(notes) > 0 && notes[0].Time <= b.at(i); notes = notes[1:] {
			if n := &notes[0]; n.Kind == Switch && !n.Out {
				running[n.CPU] = int32(n.TID)
			}
		}
		if b.im.events[b.event.v[i]].kind != kindSPE {
			continue
		}
		if tid[i] == unknownThread {
			tid[i] = running[b.cpu.v[i]]
			pid[i] = tid[i]
		}
		if p, ok := process[tid[i]]; ok {
			pid[i] = p
		}
	}
}

// foreignTrace reports whether the file holds a trace that is not decoded.
func (im *importer) foreignTrace() bool { return im.trace.pieces > 0 && im.speEvent() < 0 }

// maker names the hardware of a trace: enum auxtrace_type of perf.
func (t *trace) maker() string {
	names := []string{"unknown hardware", "Intel PT", "Intel BTS", "ARM CoreSight", "ARM SPE", "s390 CPU-MF", "HiSilicon PTT", "POWER VPA"}
	if int(t.kind) < len(names) {
		return names[t.kind]
	}
	return fmt.Sprintf("kind %d", t.kind)
}

// judge tells what the trace leaves open.
func (im *importer) judgeTrace() {
	t := &im.trace
	if im.foreignTrace() {
		im.warnf("the file holds a hardware trace of %s, which is not decoded: only samples are read, and of traces ARM SPE", t.maker())
		return
	}
	if t.records == 0 {
		return
	}
	im.warnf("loads and stores: %d of %s of ARM SPE; the others are left out", t.accesses, term.Counted(t.records, "record"))
	if !t.clock.known {
		im.warnf("the file does not say how the counter of ARM SPE relates to time: the times of its samples are ticks")
	}
	if spe.Sources(im.midr()) == nil {
		im.warnf("what the data source of ARM SPE means on this processor (%q) is not known: levels are derived from cache events", im.features.CPUID)
	}
	bad := 0
	for _, b := range t.buffers {
		bad += b.Bad
	}
	if bad > 0 {
		im.warnf("%d bytes of the ARM SPE trace are no packets; the records around them are left out", bad)
	}
}
