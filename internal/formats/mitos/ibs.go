package mitos

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/code/datasrc"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/delimited"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/machine/hw"
)

// ibsNumbers are the IBS columns that are counts or codes; all others are one
// bit.
var ibsNumbers = []string{"ibs_op_max_cnt", "ibs_op_max_cnt_upper", "ibs_op_cur_cnt", "ibs_comp_to_ret_ctr", "ibs_tag_to_ret_ctr",
	"ibs_nb_req_src", "ibs_op_mem_width", "ibs_op_dc_miss_open_mem_reqs", "ibs_dc_miss_lat", "ibs_tlb_refill_lat",
	"ibs_fetch_max_cnt", "ibs_fetch_cnt", "ibs_fetch_lat", "ibs_l1_tlb_pg_sz"}

func ibsFlag(name string) bool {
	return strings.HasPrefix(name, "ibs_") && !slices.Contains(ibsNumbers, name)
}

func ibsUnit(name string) string {
	if strings.HasPrefix(name, "ibs_") && (strings.HasSuffix(name, "_lat") || strings.HasSuffix(name, "_ret_ctr")) {
		return "cycles"
	}
	return ""
}

// bit returns a one-bit IBS field of a row; a field that is missing is not set.
func (f *file) bit(name string) func(int) bool {
	c := f.raw[name]
	if c == nil || c.Words == nil {
		return func(int) bool { return false }
	}
	return func(i int) bool { return c.Words[i] != 0 }
}

// ibsOp decodes the level of memory operations and computes a latency. Other
// micro-ops are left out unless asked for: they say nothing of memory, but are
// the branches.
func (f *file) ibsOp(cpu processor, opt *foreign.Options) {
	total := f.rows
	load, store := f.bit("ibs_ld_op"), f.bit("ibs_st_op")
	memory := where(f.rows, func(i int) bool { return load(i) || store(i) })
	if opt.AllOps {
		f.warnf("%d of %d micro-ops were memory operations; the others have no op, level, address and latency", memory.Count(), total)
	} else {
		f.keep(memory)
		f.warnf("%d of %d micro-ops were memory operations; the others are left out (--all-ops keeps them)", f.rows, total)
	}

	if cpu.family == 0 {
		f.warnf("the CPU family is not known (no hardware.xml with it): IBS data sources are read as on Zen 1 to 3")
	}
	d := f.ibsDecoder(cpu)
	out := datasrc.NewColumns(f.rows)
	for i := range f.rows {
		out.Append(d.access(i))
	}
	f.add(out.Table(table.Measured)...)
	f.ibsLatency(d, opt.L1Latency)
	f.ibsAddresses()
	f.ibsWidth()
}

// ibsDecoder has the fields that decide the level.
type ibsDecoder struct {
	load, store, uncached, dcMiss, l2Miss, prefetch, noMAB, remote, locked, tlb1Miss, tlb2Miss, linear func(int) bool
	source                                                                                             *delimited.Column
	cpu                                                                                                processor
}

func (f *file) ibsDecoder(cpu processor) *ibsDecoder {
	return &ibsDecoder{
		load: f.bit("ibs_ld_op"), store: f.bit("ibs_st_op"), uncached: f.bit("ibs_dc_uc_mem_acc"),
		dcMiss: f.bit("ibs_dc_miss"), l2Miss: f.bit("ibs_l2_miss"), prefetch: f.bit("ibs_sw_pf"),
		noMAB: f.bit("ibs_dc_no_mab_alloc"), remote: f.bit("ibs_nb_req_dst_node"), locked: f.bit("ibs_dc_locked_op"),
		tlb1Miss: f.bit("ibs_dc_l1_tlb_miss"), tlb2Miss: f.bit("ibs_dc_l2_tlb_miss"), linear: f.bit("ibs_lin_addr_valid"),
		source: f.raw["ibs_nb_req_src"], cpu: cpu,
	}
}

func (d *ibsDecoder) access(i int) datasrc.Access {
	if !d.load(i) && !d.store(i) {
		return datasrc.Access{} // nothing was accessed
	}
	a := datasrc.Access{Op: d.op(i), Lock: datasrc.Unlocked}
	if d.locked(i) {
		a.Lock = datasrc.Locked
	}
	if d.linear(i) {
		switch {
		case !d.tlb1Miss(i):
			a.TLB = datasrc.TLBL1
		case !d.tlb2Miss(i):
			a.TLB = datasrc.TLBL2
		default:
			a.TLB = datasrc.TLBMiss
		}
	}
	a.Level = d.level(i)
	a.Hit = datasrc.HitLevel
	return a
}

func (d *ibsDecoder) op(i int) datasrc.Op {
	switch {
	case d.prefetch(i):
		return datasrc.Prefetch
	case d.load(i) && d.store(i):
		return datasrc.LoadStore
	case d.load(i):
		return datasrc.Load
	}
	return datasrc.Store
}

// level is what served the operation.
func (d *ibsDecoder) level(i int) hw.Level {
	op := datasrc.IBSOp{Load: d.load(i), Uncached: d.uncached(i), DCMiss: d.dcMiss(i), L2Miss: d.l2Miss(i),
		Prefetch: d.prefetch(i), NoMAB: d.noMAB(i), Remote: d.remote(i)}
	if d.source != nil && d.source.Words != nil {
		op.Source = d.source.Words[i]
	}
	level, _ := op.Level(d.cpu.zen())
	return level
}

// ibsLatency adds the latency; see datasrc.IBSLatency.
func (f *file) ibsLatency(d *ibsDecoder, l1 int) {
	f.take("latency") // 0 or a duplicate, depending on the kernel
	counter := f.raw["ibs_dc_miss_lat"]
	if counter == nil || counter.Words == nil {
		return
	}
	f.add(datasrc.IBSLatency(f.rows, d.load, d.dcMiss, func(i int) int64 { return int64(counter.Words[i]) }, l1))
}

// ibsAddresses takes the linear address where it is valid, and keeps the
// physical one beside it.
func (f *file) ibsAddresses() {
	if lin := f.raw["ibs_op_lin"]; lin != nil && lin.Words != nil {
		f.take("addr")
		ok := f.bit("ibs_lin_addr_valid")
		valid := both(validity(lin, f.rows), where(f.rows, ok))
		f.add(table.Addresses("addr", samples.Said(valid, table.Measured), slices.Clone(lin.Words), valid))
	}
	if phy := f.raw["ibs_op_phy"]; phy != nil && phy.Words != nil {
		ok := f.bit("ibs_phy_addr_valid")
		valid := both(validity(phy, f.rows), where(f.rows, ok))
		f.add(table.Addresses("phys", samples.Said(valid, table.Measured), slices.Clone(phy.Words), valid))
	}
}

// ibsWidth adds the width the hardware reports, which beats the one decoded
// from the instruction.
func (f *file) ibsWidth() {
	c := f.raw["ibs_op_mem_width"]
	if c == nil || c.Words == nil {
		return
	}
	f.take("width")
	values := make([]int64, f.rows)
	valid := table.NewBits(f.rows)
	for i, w := range c.Words {
		if w >= 1 && w <= 10 {
			values[i] = 1 << (w - 1)
			valid.Set(i)
		}
	}
	f.add(table.Ints("width", "bytes", samples.Said(valid, table.Measured), values, valid))
}

// fetch describes the instruction side: which cache served the instruction.
func (f *file) fetch() {
	icMiss, l2Miss := f.bit("ibs_ic_miss"), f.bit("ibs_fetch_l2_miss")
	tlb1, tlb2 := f.bit("ibs_l1_tlb_miss"), f.bit("ibs_l2_tlb_miss")
	out := datasrc.NewColumns(f.rows)
	for i := range f.rows {
		a := datasrc.Access{Op: datasrc.Exec, Level: hw.L1, Hit: datasrc.HitLevel, TLB: datasrc.TLBL1}
		switch {
		case icMiss(i) && l2Miss(i):
			a.Level = hw.BeyondL2
		case icMiss(i):
			a.Level = hw.L2
		}
		switch {
		case tlb1(i) && tlb2(i):
			a.TLB = datasrc.TLBMiss
		case tlb1(i):
			a.TLB = datasrc.TLBL2
		}
		out.Append(a)
	}
	f.add(out.Table(table.Measured)...)
	f.take("latency")
	if c := f.raw["ibs_fetch_lat"]; c != nil && c.Words != nil {
		col := samples.Ints(samples.Latency, table.Measured, ints(c, f.rows), validity(c, f.rows))
		col.Note = "from the start of the fetch to its delivery"
		f.add(col)
	}
	if lin := f.raw["ibs_fetch_lin_addr"]; lin != nil && lin.Words != nil {
		f.take("addr")
		f.add(table.Addresses("addr", table.Measured, slices.Clone(lin.Words), validity(lin, f.rows)))
	}
	f.warnf("these are IBS fetch samples: they describe instruction fetches, not data accesses")
}

// keep drops all rows but the given ones.
func (f *file) keep(rows table.Bits) {
	index := slices.Collect(rows.All())
	for _, c := range f.raw {
		c.Words = pick(c.Words, index)
		c.Floats = pick(c.Floats, index)
		c.Codes = pick(c.Codes, index)
		if c.Valid != nil {
			valid := table.NewBits(len(index))
			for i, row := range index {
				if table.Bits(c.Valid).Get(row) {
					valid.Set(i)
				}
			}
			c.Valid = valid
			c.Nulls = len(index) - valid.Count()
		}
		if c.Type == delimited.Empty {
			c.Nulls = len(index)
		}
	}
	f.rows = len(index)
}

func pick[T any](values []T, index []int) []T {
	if values == nil {
		return nil
	}
	out := make([]T, len(index))
	for i, row := range index {
		out[i] = values[row]
	}
	return out
}

// processor is an AMD family and model; zero if not known.
type processor struct{ family, model int }

func (p processor) zen() datasrc.Zen { return datasrc.ZenOf(p.family, p.model) }

var (
	familyInfo = regexp.MustCompile(`"CPUFamilyNumber" value="(\d{1,4})"`)
	modelInfo  = regexp.MustCompile(`"CPUModelNumber" value="(\d{1,4})"`)
)

// processorOf finds the processor in a topology file of hwloc.
func processorOf(xml []byte) (p processor) {
	if m := familyInfo.FindSubmatch(xml); m != nil {
		p.family, _ = strconv.Atoi(string(m[1]))
	}
	if m := modelInfo.FindSubmatch(xml); m != nil {
		p.model, _ = strconv.Atoi(string(m[1]))
	}
	return p
}
