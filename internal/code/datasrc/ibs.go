package datasrc

import (
	"fmt"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/machine/hw"
)

// Zen is a generation of AMD processors, as far as their IBS differs.
type Zen uint8

// The generations. AnyZen reads request sources as on Zen 1 to 3 and doubts
// what Zen 3 gets wrong: to doubt a bit that is valid costs detail, to believe
// one that is not costs truth.
const (
	AnyZen Zen = iota
	Zen12
	Zen3
	Zen4 // and later
)

// ZenOf is the generation of an AMD family and model, 0 where it is not known.
// Zen 4 and later are family 19h models 10h–1Fh and 60h–AFh, and family 1Ah.
func ZenOf(family, model int) Zen {
	switch {
	case family == 0:
		return AnyZen
	case family > 0x19 || family == 0x19 && (model >= 0x10 && model <= 0x1f || model >= 0x60 && model <= 0xaf):
		return Zen4
	case family == 0x19:
		return Zen3
	}
	return Zen12
}

// IBSOp is what IBS says about how one memory operation was served.
type IBSOp struct {
	Load     bool
	Uncached bool
	DCMiss   bool // missed the L1 data cache
	L2Miss   bool
	Prefetch bool   // software prefetch
	NoMAB    bool   // no miss buffer was taken
	Remote   bool   // another memory node
	Source   uint64 // of the data beyond L2, valid for loads; five bits on Zen 4, else three
}

// What the codes of the request source mean.
var (
	zen123 = [8]hw.Level{2: hw.L3, 3: hw.LocalRAM, 4: hw.RemoteCache, 7: hw.IO}
	zen4   = [32]hw.Level{1: hw.L3, 2: hw.LocalPeerCache, 3: hw.LocalRAM, 5: hw.RemoteCache, 6: hw.PMEM, 7: hw.IO, 8: hw.CXL}
)

// Level decides what served the operation and says why. It follows the order of
// the kernel's own decoder. A set L2-miss flag without an L1 miss belongs to
// another operation and is ignored ("skid").
func (o IBSOp) Level(z Zen) (hw.Level, string) {
	switch {
	case o.Uncached && o.Source == 7:
		return hw.IO, "the access is uncached (ibs_dc_uc_mem_acc) and its source is I/O (ibs_nb_req_src 7)"
	case o.Uncached:
		return hw.Uncached, "the access is uncached (ibs_dc_uc_mem_acc)"
	case !o.DCMiss && o.L2Miss:
		return hw.L1, "the L1 data cache had the line (ibs_dc_miss is not set); the L2 miss that is set belongs to another operation"
	case !o.DCMiss:
		return hw.L1, "the L1 data cache had the line (ibs_dc_miss is not set)"
	}
	// AMD erratum 1293 (Zen 3): for software prefetches and operations without
	// a miss buffer the L2-miss bit and the request source are not valid.
	if (z == Zen3 || z == AnyZen) && (o.Prefetch || o.NoMAB) {
		return hw.BeyondL1, "it missed L1, and for software prefetches and misses without a buffer of their own Zen 3 does not say more (erratum 1293)"
	}
	switch {
	case !o.L2Miss:
		return hw.L2, "it missed L1 (ibs_dc_miss) but not L2 (ibs_l2_miss is not set)"
	case o.Load && o.Source != 0:
		return o.beyondL2(z)
	case o.NoMAB:
		return hw.LFB, "it missed L1 and L2, and a miss of the same line was under way (ibs_dc_no_mab_alloc)"
	case o.Load:
		return hw.BeyondL2, "it missed L1 and L2, and IBS names no source of the data (ibs_nb_req_src 0)"
	}
	return hw.BeyondL2, "it missed L1 and L2; the source of the data is recorded for loads only"
}

// beyondL2 decodes the source of the data.
func (o IBSOp) beyondL2(z Zen) (hw.Level, string) {
	source, level, generation := o.Source&7, zen123[o.Source&7], "Zen 1 to 3"
	if z == Zen4 {
		source, level, generation = o.Source&31, zen4[o.Source&31], "Zen 4 and later"
	}
	node := ""
	switch {
	case level == hw.NoLevel:
		level = hw.Unknown
	case level == hw.LocalRAM && o.Remote:
		level, node = hw.RemoteRAM, ", of another node (ibs_nb_req_dst_node)"
	}
	return level, fmt.Sprintf("it missed L1 and L2, and source %d (ibs_nb_req_src) is %s on %s%s", source, level, generation, node)
}

// IBSLatency makes the latency column of IBS operations. The counter starts
// when an L1 miss is detected and runs for loads only. With an assumed L1
// latency l1 a load miss takes its counter plus l1 and a load hit takes l1; with
// a negative l1 hits have no latency.
func IBSLatency(rows int, load, miss func(int) bool, counter func(int) int64, l1 int) *table.Column {
	values := make([]int64, rows)
	valid := table.NewBits(rows)
	for i := range rows {
		switch {
		case !load(i):
		case miss(i):
			values[i] = counter(i) + int64(max(l1, 0))
			valid.Set(i)
		case l1 >= 0:
			values[i] = int64(l1)
			valid.Set(i)
		}
	}
	p, note := table.Measured, "IBS measures load misses only: L1 hits and stores have no value"
	if l1 >= 0 {
		p, note = table.Modelled, AssumedL1Note(l1)
	}
	c := samples.Ints(samples.Latency, p, values, valid)
	c.Note = note
	return c
}

// AssumedL1Note says what a latency rests on that assumes how long an L1 hit
// takes.
func AssumedL1Note(cycles int) string {
	return fmt.Sprintf("IBS measures load misses only; an L1 hit is assumed to take %d cycles, which is also added to misses. Stores have no value", cycles)
}

// ibsColumns are what the latency is made of; nil if the table has them not.
func ibsColumns(t *table.Table) (load, miss, counter *table.Column) {
	load, miss, counter = t.Column("ibs_ld_op"), t.Column("ibs_dc_miss"), t.Column("ibs_dc_miss_lat")
	if load == nil || miss == nil || counter == nil || t.Column(samples.Latency) == nil {
		return nil, nil, nil
	}
	return load, miss, counter
}

// AssumedL1 returns the latency that IBS samples assume for an L1 hit, -1 for
// none; ok is false if their latency does not rest on an assumption.
func AssumedL1(t *table.Table) (cycles int, ok bool) {
	load, miss, counter := ibsColumns(t)
	if load == nil {
		return 0, false
	}
	latency := t.Column(samples.Latency)
	for i := range t.Rows() {
		if load.Float(i) == 0 || !latency.Has(i) {
			continue
		}
		if miss.Float(i) == 0 {
			return int(latency.Float(i)), true
		}
		if latency.Provenance == table.Modelled {
			return int(latency.Float(i) - counter.Float(i)), true
		}
	}
	return -1, true
}

// AssumeL1 returns the table with the latency that follows from another
// assumption. A table whose latency rests on none is returned as it is.
func AssumeL1(t *table.Table, l1 int) (*table.Table, error) {
	load, miss, counter := ibsColumns(t)
	if load == nil {
		return t, nil
	}
	set := func(c *table.Column) func(int) bool { return func(i int) bool { return c.Float(i) != 0 } }
	latency := IBSLatency(t.Rows(), set(load), set(miss), func(i int) int64 { return int64(counter.Float(i)) }, l1)
	columns := make([]*table.Column, len(t.Columns()))
	for i, c := range t.Columns() {
		columns[i] = c
		if c.Name == samples.Latency {
			columns[i] = latency
		}
	}
	return table.New(t.Name, columns)
}
