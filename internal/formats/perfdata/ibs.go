package perfdata

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/code/datasrc"
	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/machine/hw"
)

// sampleKind says how the samples of an event are to be read.
type sampleKind uint8

const (
	kindUnknown sampleKind = iota
	kindPlain
	kindIBSOp
	kindIBSFetch
	kindSPE
)

// kindOf finds the kind of an event by the device behind it: the numbers of
// types differ from machine to machine.
func (f *file) kindOf(e *eventAttr) sampleKind {
	if e.kind != kindUnknown {
		return e.kind
	}
	device := f.features.PMUs[e.Type]
	for _, name := range []string{device, e.Name} {
		switch {
		case strings.HasPrefix(name, "ibs_op"):
			e.kind = kindIBSOp
		case strings.HasPrefix(name, "ibs_fetch"):
			e.kind = kindIBSFetch
		case strings.HasPrefix(name, "arm_spe"):
			e.kind = kindSPE
		}
		if e.kind != kindUnknown {
			return e.kind
		}
	}
	// The name or the device may still come in a pipe.
	if device != "" || e.Type <= perfevent.TypeBreakpoint {
		e.kind = kindPlain
	}
	return kindPlain
}

// Registers of IBS in the order of the raw sample, whose first four bytes are
// the capabilities. See perf_ibs_handle_irq in arch/x86/events/amd/ibs.c.
const (
	opCtl = iota
	opRIP
	opData
	opData2
	opData3
	opLinear
	opPhysical
	opTarget
	opData4
	ibsRegisters

	fetchCtl      = 0
	fetchLinear   = 1
	fetchPhysical = 2
	fetchExtended = 3

	capBranchTarget  = 1 << 5
	capFetchExtended = 1 << 9
	capOpData4       = 1 << 10
	capZen4          = 1 << 11
)

// ibsRaw is the registers of one sample.
type ibsRaw struct {
	caps uint32
	reg  [ibsRegisters]uint64
	has  [ibsRegisters]bool
}

// parseIBS reads the raw part of an IBS sample; false if it is too short.
func parseIBS(raw []byte, k sampleKind) (out ibsRaw, ok bool) {
	order := []int{opCtl, opRIP, opData, opData2, opData3, opLinear, opPhysical}
	if k == kindIBSFetch {
		order = []int{fetchCtl, fetchLinear, fetchPhysical}
	}
	if len(raw) < 4+8*len(order) {
		return out, false
	}
	out.caps = binary.LittleEndian.Uint32(raw)
	if k == kindIBSOp && out.caps&capBranchTarget != 0 {
		order = append(order, opTarget)
	}
	if k == kindIBSOp && out.caps&capOpData4 != 0 {
		order = append(order, opData4)
	}
	if k == kindIBSFetch && out.caps&capFetchExtended != 0 {
		order = append(order, fetchExtended)
	}
	raw = raw[4:]
	for _, r := range order {
		if len(raw) < 8 {
			break // an optional register that this kernel does not write
		}
		out.reg[r], out.has[r] = binary.LittleEndian.Uint64(raw), true
		raw = raw[8:]
	}
	return out, true
}

// bitsOf returns bits low to low+n-1 of a register.
func (r *ibsRaw) bitsOf(reg, low, n int) uint64 { return r.reg[reg] >> low & (1<<n - 1) }

func (r *ibsRaw) bit(reg, at int) bool { return r.reg[reg]>>at&1 != 0 }

// access decodes the micro-op. One that is no memory operation says nothing.
func (r *ibsRaw) access(z datasrc.Zen) datasrc.Access {
	if r.caps&capZen4 != 0 {
		z = datasrc.Zen4
	}
	load, store, prefetch := r.bit(opData3, 0), r.bit(opData3, 1), r.bit(opData3, 21)
	a := datasrc.Access{Hit: datasrc.HitLevel, Lock: datasrc.Unlocked}
	switch {
	case prefetch:
		a.Op = datasrc.Prefetch
	case load && store:
		a.Op = datasrc.LoadStore
	case load:
		a.Op = datasrc.Load
	case store:
		a.Op = datasrc.Store
	default:
		return datasrc.Access{}
	}
	if r.bit(opData3, 15) {
		a.Lock = datasrc.Locked
	}
	switch linear := r.bit(opData3, 17); {
	case !linear:
	case !r.bit(opData3, 2):
		a.TLB = datasrc.TLBL1
	case !r.bit(opData3, 3):
		a.TLB = datasrc.TLBL2
	default:
		a.TLB = datasrc.TLBMiss
	}
	o := datasrc.IBSOp{Load: load, Prefetch: prefetch, Uncached: r.bit(opData3, 14), DCMiss: r.bit(opData3, 7), L2Miss: r.bit(opData3, 20),
		NoMAB: r.bit(opData3, 16), Remote: r.bit(opData2, 4), Source: r.bitsOf(opData2, 0, 3)}
	socket := false
	if z == datasrc.Zen4 {
		o.Source |= r.bitsOf(opData2, 6, 2) << 3
		socket = r.bit(opData2, 9)
		o.Remote = o.Remote || socket
	}
	a.Level, _ = o.Level(z)
	if a.Remote() && socket {
		a.Hops = hw.OtherSocket
	}
	return a
}

// zen reads the generation from the CPUID feature: "AuthenticAMD,25,33,2".
func (t *fileFeatures) zen() datasrc.Zen {
	words := strings.Split(t.CPUID, ",")
	if len(words) < 3 || words[0] != "AuthenticAMD" {
		return datasrc.AnyZen
	}
	family, err1 := strconv.Atoi(words[1])
	model, err2 := strconv.Atoi(words[2])
	if err1 != nil || err2 != nil {
		return datasrc.AnyZen
	}
	return datasrc.ZenOf(family, model)
}

// generation is fileFeatures.zen, remembered: it is asked for every sample.
func (im *importer) generation() datasrc.Zen {
	if im.features.CPUID != im.cpuText {
		im.cpuText, im.cpu = im.features.CPUID, im.features.zen()
	}
	return im.cpu
}

// addIBSOp adds a sample of the execution side. The kernel's own decoding is
// taken where there is one: it knows the processor.
func (im *importer) addIBSOp(s *decodedSample, stack uint32) {
	raw, ok := parseIBS(s.Raw, kindIBSOp)
	source := im.sources.perf(s)
	if !ok {
		im.rows.add(s, source, stack)
		return
	}
	if im.sources.accesses[source].Op == 0 {
		source = im.ibsSource(s.DataSrc, &raw)
	}
	s.fill(perfevent.SampleAddr, &s.Addr, raw.reg[opLinear], raw.bit(opData3, 17))
	s.fill(perfevent.SamplePhysAddr, &s.PhysAddr, raw.reg[opPhysical], raw.bit(opData3, 18))
	if s.Type&(perfevent.SampleWeight|perfevent.SampleWeightStruct) == 0 {
		s.Type |= perfevent.SampleWeight
		if raw.bit(opData3, 0) && raw.bit(opData3, 7) {
			s.Weight = raw.bitsOf(opData3, 32, 16)
		}
	}
	im.microOps++
	if raw.bitsOf(opData3, 0, 2) != 0 {
		im.memoryOps++
	}
	im.extend(s)
	im.rows.add(s, source, stack)
	im.rows.addIBS(&raw)
}

// ibsSource numbers the access of a micro-op, decoding each combination of the
// bits that decide it once.
func (im *importer) ibsSource(word uint64, raw *ibsRaw) uint32 {
	const deciding = 1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<7 | 1<<14 | 1<<15 | 1<<16 | 1<<17 | 1<<20 | 1<<21
	key := ibsKey{word, raw.reg[opData2] & 0x3ff, raw.reg[opData3] & deciding, raw.caps & capZen4, im.generation()}
	code, ok := im.ibsCodes[key]
	if !ok {
		code = im.sources.number(word, raw.access(key.zen))
		im.ibsCodes[key] = code
	}
	return code
}

// ibsKey is the bits of the registers that decide how an access was served.
type ibsKey struct {
	word, data2, data3 uint64
	caps               uint32
	zen                datasrc.Zen
}

// addIBSFetch adds a sample of the instruction side, which is kept apart.
func (im *importer) addIBSFetch(s *decodedSample, stack uint32) {
	raw, ok := parseIBS(s.Raw, kindIBSFetch)
	source := im.sources.perf(s)
	if ok {
		source = im.sources.number(s.DataSrc, raw.fetch())
		s.fill(perfevent.SampleAddr, &s.Addr, raw.reg[fetchLinear], true)
		s.fill(perfevent.SamplePhysAddr, &s.PhysAddr, raw.reg[fetchPhysical], raw.bit(fetchCtl, 52))
		if s.Type&(perfevent.SampleWeight|perfevent.SampleWeightStruct) == 0 || s.Weight == 0 {
			s.Type |= perfevent.SampleWeight
			s.Weight = raw.bitsOf(fetchCtl, 32, 16)
		}
		im.extend(s)
	}
	im.fetches.add(s, source, stack)
	if ok {
		im.fetches.addIBS(&raw)
	}
}

// fetch decodes where an instruction came from.
func (r *ibsRaw) fetch() datasrc.Access {
	a := datasrc.Access{Op: datasrc.Exec, Level: hw.L1, Hit: datasrc.HitLevel, TLB: datasrc.TLBL1}
	switch {
	case !r.bit(fetchCtl, 51):
	case !r.bit(fetchCtl, 58):
		a.Level = hw.L2
	case r.caps&capZen4 == 0:
		a.Level = hw.BeyondL2
	case r.bit(fetchCtl, 61):
		a.Level = hw.BeyondL3
	default:
		a.Level = hw.L3
	}
	switch {
	case r.bit(fetchCtl, 55) && r.bit(fetchCtl, 56):
		a.TLB = datasrc.TLBMiss
	case r.bit(fetchCtl, 55):
		a.TLB = datasrc.TLBL2
	}
	return a
}

// fill sets a field that the sample does not have from a register.
func (s *decodedSample) fill(bit uint64, field *uint64, value uint64, valid bool) {
	if *field == 0 && valid {
		*field = value
	}
	s.Type |= bit
}

// extend remembers which fields the samples of an event have beyond those its
// attr says.
func (im *importer) extend(s *decodedSample) { im.events[s.Event].extra |= s.Type }

// addIBS keeps the registers of the row just added.
func (r *rows) addIBS(raw *ibsRaw) {
	if r.ibs == nil {
		r.ibs = new([ibsRegisters]field)
	}
	n := len(r.small) - 1
	r.small[n].ibs = 1
	for i := range raw.reg {
		if raw.has[i] {
			r.ibs[i].put(n, raw.reg[i])
		}
	}
}

// ibsField is a part of a register. The names are those of the CSV files of
// Mitos, so that both sources are read the same way.
type ibsField struct {
	name           string
	reg, low, bits int
	unit           string
}

var opFields = []ibsField{
	{"ibs_op_max_cnt", opCtl, 0, 16, ""}, {"ibs_op_max_cnt_upper", opCtl, 20, 7, ""}, {"ibs_op_l3_miss_only", opCtl, 16, 1, ""},
	{"ibs_op_en", opCtl, 17, 1, ""}, {"ibs_op_val", opCtl, 18, 1, ""}, {"ibs_op_cnt_ctl", opCtl, 19, 1, ""}, {"ibs_op_cur_cnt", opCtl, 32, 27, ""},
	{"ibs_op_ldlat_threshold", opCtl, 59, 4, ""}, {"ibs_op_ldlat_en", opCtl, 63, 1, ""},
	{"ibs_op_rip", opRIP, 0, 64, ""},
	{"ibs_comp_to_ret_ctr", opData, 0, 16, "cycles"}, {"ibs_tag_to_ret_ctr", opData, 16, 16, "cycles"}, {"ibs_op_brn_resync", opData, 32, 1, ""},
	{"ibs_op_misp_return", opData, 33, 1, ""}, {"ibs_op_return", opData, 34, 1, ""}, {"ibs_op_brn_taken", opData, 35, 1, ""}, {"ibs_op_brn_misp", opData, 36, 1, ""},
	{"ibs_op_brn_ret", opData, 37, 1, ""}, {"ibs_rip_invalid", opData, 38, 1, ""}, {"ibs_op_brn_fuse", opData, 39, 1, ""}, {"ibs_op_microcode", opData, 40, 1, ""},
	{"ibs_nb_req_src", opData2, 0, 3, ""}, {"ibs_nb_req_dst_node", opData2, 4, 1, ""}, {"ibs_nb_req_cache_hit_st", opData2, 5, 1, ""},
	{"ibs_nb_req_src_high", opData2, 6, 2, ""}, {"ibs_streaming_store", opData2, 8, 1, ""}, {"ibs_remote_socket", opData2, 9, 1, ""},
	{"ibs_ld_op", opData3, 0, 1, ""}, {"ibs_st_op", opData3, 1, 1, ""}, {"ibs_dc_l1_tlb_miss", opData3, 2, 1, ""}, {"ibs_dc_l2_tlb_miss", opData3, 3, 1, ""},
	{"ibs_dc_l1_tlb_hit_2m", opData3, 4, 1, ""}, {"ibs_dc_l1_tlb_hit_1g", opData3, 5, 1, ""}, {"ibs_dc_l2_tlb_hit_2m", opData3, 6, 1, ""}, {"ibs_dc_miss", opData3, 7, 1, ""},
	{"ibs_dc_miss_acc", opData3, 8, 1, ""}, {"ibs_dc_ld_bank_con", opData3, 9, 1, ""}, {"ibs_dc_st_bank_con", opData3, 10, 1, ""}, {"ibs_dc_st_to_ld_fwd", opData3, 11, 1, ""},
	{"ibs_dc_st_to_ld_can", opData3, 12, 1, ""}, {"ibs_dc_wc_mem_acc", opData3, 13, 1, ""}, {"ibs_dc_uc_mem_acc", opData3, 14, 1, ""}, {"ibs_dc_locked_op", opData3, 15, 1, ""},
	{"ibs_dc_no_mab_alloc", opData3, 16, 1, ""}, {"ibs_lin_addr_valid", opData3, 17, 1, ""}, {"ibs_phy_addr_valid", opData3, 18, 1, ""}, {"ibs_dc_l2_tlb_hit_1g", opData3, 19, 1, ""},
	{"ibs_l2_miss", opData3, 20, 1, ""}, {"ibs_sw_pf", opData3, 21, 1, ""}, {"ibs_op_mem_width", opData3, 22, 4, ""}, {"ibs_op_dc_miss_open_mem_reqs", opData3, 26, 6, ""},
	{"ibs_dc_miss_lat", opData3, 32, 16, "cycles"}, {"ibs_tlb_refill_lat", opData3, 48, 16, "cycles"},
	{"ibs_op_lin", opLinear, 0, 64, ""}, {"ibs_op_phy", opPhysical, 0, 64, ""}, {"ibs_branch_target", opTarget, 0, 64, ""}, {"ibs_op_data4", opData4, 0, 64, ""},
}

var fetchFields = []ibsField{
	{"ibs_fetch_max_cnt", fetchCtl, 0, 16, ""}, {"ibs_fetch_cnt", fetchCtl, 16, 16, ""}, {"ibs_fetch_lat", fetchCtl, 32, 16, "cycles"}, {"ibs_fetch_en", fetchCtl, 48, 1, ""},
	{"ibs_fetch_val", fetchCtl, 49, 1, ""}, {"ibs_fetch_comp", fetchCtl, 50, 1, ""}, {"ibs_ic_miss", fetchCtl, 51, 1, ""}, {"ibs_phy_addr_valid", fetchCtl, 52, 1, ""},
	{"ibs_l1_tlb_pg_sz", fetchCtl, 53, 2, ""}, {"ibs_l1_tlb_miss", fetchCtl, 55, 1, ""}, {"ibs_l2_tlb_miss", fetchCtl, 56, 1, ""}, {"ibs_rand_en", fetchCtl, 57, 1, ""},
	{"ibs_fetch_l2_miss", fetchCtl, 58, 1, ""}, {"ibs_fetch_l3_miss_only", fetchCtl, 59, 1, ""}, {"ibs_fetch_oc_miss", fetchCtl, 60, 1, ""}, {"ibs_fetch_l3_miss", fetchCtl, 61, 1, ""},
	{"ibs_fetch_lin_addr", fetchLinear, 0, 64, ""}, {"ibs_fetch_phy_addr", fetchPhysical, 0, 64, ""}, {"ibs_fetch_control_extended", fetchExtended, 0, 64, ""},
}

// ibs adds the fields of the registers as columns.
func (b *builder) ibs(fields []ibsField) {
	if b.r.ibs == nil {
		return
	}
	has := ended(b, &b.r.hasIBS).v
	valid := table.NewBits(b.n)
	for i, x := range has {
		if x != 0 {
			valid.Set(i)
		}
	}
	var regs [ibsRegisters][]uint64
	for i := range regs {
		if b.r.ibs[i].used {
			regs[i] = b.words(&b.r.ibs[i]).v
		}
	}
	if fields[0].name == opFields[0].name {
		b.width(regs[opData3], valid)
	}
	for _, f := range fields {
		if regs[f.reg] != nil {
			b.ibsColumn(f, regs[f.reg], valid)
		}
	}
}

func (b *builder) ibsColumn(f ibsField, reg []uint64, valid table.Bits) {
	c := &table.Column{Name: f.name, Kind: table.Number, Unit: f.unit, Provenance: table.Measured, Valid: valid}
	if valid.Count() == b.n {
		c.Valid = nil
	}
	var spill *table.Spill
	var err error
	mask := uint64(math.MaxUint64) >> (64 - f.bits)
	switch f.bits {
	case 1:
		c.Kind = table.Flag
		c.Data, spill, err = gather(b.n, reg, func(x uint64) uint8 { return uint8(x >> f.low & 1) })
	case 64:
		c.Kind = table.Address
		c.Data, spill, err = gather(b.n, reg, func(x uint64) uint64 { return x })
	default:
		c.Data, spill, err = gather(b.n, reg, func(x uint64) int32 { return int32(x >> f.low & mask) })
	}
	b.add(c.Back(spill), err)
}

// width adds the width of the access, which the hardware codes as a power of
// two plus one.
func (b *builder) width(reg []uint64, of table.Bits) {
	valid := table.NewBits(b.n)
	var g table.Growing[int32]
	for i := range b.n {
		code := reg[i] >> 22 & 15
		if !of.Get(i) || code < 1 || code > 10 {
			g.Append(0)
			continue
		}
		g.Append(1 << (code - 1))
		valid.Set(i)
	}
	data, spill, err := g.Values()
	c := &table.Column{Name: "width", Kind: table.Number, Unit: "bytes", Provenance: samples.Said(valid, table.Measured), Data: data, Valid: valid}
	b.add(c.Back(spill), err)
}

// ibsLatency replaces the weight of a row where an assumed latency of L1 is
// wanted: the counter of IBS starts at the miss. See formats.Options.
func (b *builder) ibsLatency(weight uint64, a datasrc.Access) uint64 {
	if a.Op != datasrc.Load && a.Op != datasrc.LoadStore {
		return weight
	}
	if weight > 0 || a.Level == hw.L1 {
		return weight + uint64(max(b.im.opt.L1Latency, 0))
	}
	return 0
}
