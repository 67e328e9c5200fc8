package perfdata

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/code/datasrc"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/perfdata/perfsynth"
)

// rawIBS lays out capabilities and registers as the kernel does.
func rawIBS(caps uint32, regs ...uint64) []byte {
	b := binary.LittleEndian.AppendUint32(nil, caps)
	for _, r := range regs {
		b = binary.LittleEndian.AppendUint64(b, r)
	}
	return b
}

// Registers and what perf's own dump says of them.
func TestGoldenRegisters(t *testing.T) {
	op := rawIBS(0xbff, 0x0000004500070008, 0xffffffff8204aea7, 0x0000000000710002, 0x0000000000000002, 0x000000681d1700a1, 0xff110008a5398920, 0x00000008a5398920, 0, 0)
	second := rawIBS(0x3ff, 0x000002c30006186a, 0xffffffff8204aea7, 0x0000010002550001, 0x0000000000000013, 0x0000000031960092, 0xff110008a5398920, 0x8a5398920, 0)
	fetch := rawIBS(0xbff, 0x3c1f00c700080008, 0x400000, 0x123000, 0)
	for _, tt := range []struct {
		raw    []byte
		kind   sampleKind
		fields []ibsField
		want   string
	}{
		{op, kindIBSOp, opFields, "ibs_op_max_cnt 8, ibs_op_l3_miss_only 1, ibs_op_en 1, ibs_op_val 1, ibs_op_cnt_ctl 0, ibs_op_cur_cnt 69, ibs_comp_to_ret_ctr 2, ibs_tag_to_ret_ctr 113, " +
			"ibs_op_brn_ret 0, ibs_rip_invalid 0, ibs_op_brn_fuse 0, ibs_op_microcode 0, ibs_nb_req_src 2, ibs_nb_req_dst_node 0, ibs_nb_req_cache_hit_st 0, ibs_ld_op 1, ibs_st_op 0, ibs_dc_l1_tlb_miss 0, " +
			"ibs_dc_l2_tlb_miss 0, ibs_dc_l1_tlb_hit_2m 0, ibs_dc_l1_tlb_hit_1g 1, ibs_dc_l2_tlb_hit_2m 0, ibs_dc_miss 1, ibs_dc_miss_acc 0, ibs_dc_wc_mem_acc 0, ibs_dc_uc_mem_acc 0, ibs_dc_locked_op 0, " +
			"ibs_dc_no_mab_alloc 1, ibs_lin_addr_valid 1, ibs_phy_addr_valid 1, ibs_dc_l2_tlb_hit_1g 0, ibs_l2_miss 1, ibs_sw_pf 0, ibs_op_mem_width 4, ibs_op_dc_miss_open_mem_reqs 7, ibs_dc_miss_lat 104, ibs_tlb_refill_lat 0"},
		{second, kindIBSOp, opFields, "ibs_op_max_cnt 6250, ibs_op_l3_miss_only 0, ibs_op_en 1, ibs_op_val 1, ibs_op_cur_cnt 707, ibs_op_rip 18446744071595929255, ibs_comp_to_ret_ctr 1, ibs_tag_to_ret_ctr 597, ibs_op_microcode 1, " +
			"ibs_nb_req_src 3, ibs_nb_req_dst_node 1, ibs_ld_op 0, ibs_st_op 1, ibs_dc_l1_tlb_hit_2m 1, ibs_dc_miss 1, ibs_l2_miss 1, ibs_lin_addr_valid 1, ibs_phy_addr_valid 1, ibs_op_mem_width 6, ibs_op_dc_miss_open_mem_reqs 12, ibs_dc_miss_lat 0"},
		{fetch, kindIBSFetch, fetchFields, "ibs_fetch_max_cnt 8, ibs_fetch_cnt 8, ibs_fetch_lat 199, ibs_fetch_en 1, ibs_fetch_val 1, ibs_fetch_comp 1, ibs_ic_miss 1, ibs_phy_addr_valid 1, ibs_l1_tlb_pg_sz 0, " +
			"ibs_l1_tlb_miss 0, ibs_l2_tlb_miss 0, ibs_rand_en 0, ibs_fetch_l2_miss 1, ibs_fetch_l3_miss_only 1, ibs_fetch_oc_miss 1, ibs_fetch_l3_miss 1"},
	} {
		raw, ok := parseIBS(tt.raw, tt.kind)
		if !ok {
			t.Fatalf("%x cannot be read", tt.raw)
		}
		values := map[string]uint64{}
		for _, f := range tt.fields {
			v := raw.reg[f.reg] >> f.low
			if f.bits < 64 {
				v &= 1<<f.bits - 1
			}
			values[f.name] = v
		}
		for _, pair := range strings.Split(tt.want, ", ") {
			name, _, _ := strings.Cut(pair, " ")
			if got := fmt.Sprintf("%s %d", name, values[name]); got != pair {
				t.Errorf("%s, want %s", got, pair)
			}
		}
	}
}

// What served a load depends on the processor that says it.
func TestIBSLevels(t *testing.T) {
	zen2, zen3, zen4 := datasrc.ZenOf(0x17, 0x31), datasrc.ZenOf(0x19, 1), datasrc.ZenOf(0x19, 0x11)
	const load, store, dcMiss, l2Miss, noMAB, swPf, uc, lin = 1, 2, 1 << 7, 1 << 20, 1 << 16, 1 << 21, 1 << 14, 1 << 17
	for _, tt := range []struct {
		name         string
		cpu          datasrc.Zen
		caps         uint32
		data2, data3 uint64
		want         string
	}{
		{"no memory operation", zen2, 0, 3, dcMiss | l2Miss, "  "},
		{"hit", zen2, 0, 0, load | lin, "load L1 L1 hit"},
		{"l2", zen2, 0, 0, load | dcMiss | lin, "load L2 L1 hit"},
		{"l3", zen2, 0, 2, load | dcMiss | l2Miss, "load L3 "},
		{"dram", zen2, 0, 3, load | dcMiss | l2Miss, "load Local RAM "},
		{"remote dram", zen2, 0, 0x13, load | dcMiss | l2Miss, "load Remote RAM "},
		{"remote cache", zen2, 0, 4, load | dcMiss | l2Miss, "load Remote Cache "},
		{"io", zen2, 0, 7, load | dcMiss | l2Miss | uc, "load I/O "},
		{"uncached", zen2, 0, 0, load | uc, "load Uncached "},
		{"store beyond l2", zen2, 0, 3, store | dcMiss | l2Miss, "store Beyond L2 "},
		{"no miss buffer", zen2, 0, 0, load | dcMiss | l2Miss | noMAB, "load LFB "},
		{"erratum 1293, no miss buffer", zen3, 0, 3, load | dcMiss | l2Miss | noMAB, "load Beyond L1 "},
		{"erratum 1293, prefetch", zen3, 0, 3, load | dcMiss | l2Miss | swPf, "prefetch Beyond L1 "},
		{"zen 3 otherwise", zen3, 0, 3, load | dcMiss | l2Miss, "load Local RAM "},
		{"near ccx", zen4, 0, 2, load | dcMiss | l2Miss, "load Local Peer Cache "},
		{"far ccx", zen4, 0, 5, load | dcMiss | l2Miss, "load Remote Cache "},
		{"extended memory", zen4, 0, 1 << 6, load | dcMiss | l2Miss, "load CXL "},
		{"capabilities say zen 4", datasrc.AnyZen, 1 << 11, 1, load | dcMiss | l2Miss | noMAB, "load L3 "},
		{"remote socket", zen4, 0, 1<<9 | 3, load | dcMiss | l2Miss, "load Remote RAM "},
	} {
		raw, _ := parseIBS(rawIBS(tt.caps, 0, 0, 0, tt.data2, tt.data3, 0, 0), kindIBSOp)
		a := raw.access(tt.cpu)
		if got := datasrc.OpNames[a.Op] + " " + a.Level.String() + " " + datasrc.TLBNames[a.TLB]; got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func ibsFile(t testing.TB, dataSrc uint64, fields uint64) []byte {
	op := perfsynth.Event{Name: "ibs_op//p", Type: 11, SampleType: perfsynth.IP | perfsynth.TID | perfsynth.Time | perfsynth.CPU | perfsynth.Period | perfsynth.Raw | perfsynth.Identifier | fields,
		Flags: perfsynth.SampleIDAll, IDs: []uint64{1, 2}}
	fetch := op
	fetch.Name, fetch.Type, fetch.IDs = "ibs_fetch//", 10, []uint64{3}
	return synth(t, perfsynth.Options{}, []perfsynth.Event{op, fetch}, func(w *perfsynth.Writer) {
		sample := func(time uint64, event int, raw []byte) {
			w.Sample(perfsynth.Sample{Event: event, Time: time, IP: 0x401000 + time, PID: 1, TID: 1, CPU: 5, Raw: raw, DataSrc: dataSrc, Weight: 104})
		}
		sample(1, 0, rawIBS(0xbff, 0x0000004500070008, 0x401001, 0x0000000000710002, 2, 0x000000681d1700a1, 0x7f0011223344, 0x8a5398920, 0))
		sample(2, 0, rawIBS(0xbff, 0x000002c30006186a, 0x401002, 0x0000010002550001, 0x13, 0x0000000031960092, 0x7f0011223348, 0x8a5398924, 0))
		sample(3, 0, rawIBS(0xbff, 0x000002c30006186a, 0x401003, 0x0000002000000000, 0, 0, 0xdead, 0, 0x401999)) // a branch
		sample(4, 1, rawIBS(0xbff, 0x3c1f00c700080008, 0x401004, 0x123000, 0))
		w.Feature(12, w.Names())
		w.Feature(16, w.PMUs(map[uint32]string{10: "ibs_fetch", 11: "ibs_op"}, 10, 11))
		w.Feature(9, w.String("AuthenticAMD,25,17,1"))
	})
}

// An IBS file without the kernel's decoding is decoded from its registers.
func TestIBSFile(t *testing.T) {
	im, err := parseBytes(ibsFile(t, 0, 0), foreign.Options{L1Latency: -1})
	if err != nil {
		t.Fatal(err)
	}
	got := rowsOf(t, im.Tables[0], "time", "op", "level", "tlb", "latency", "addr", "phys", "width", "ibs_dc_miss_lat", "ibs_branch_target", "ibs_op_brn_ret", "event")
	want := []string{
		"0 load Local Peer Cache L1 hit 104 0x7f0011223344 0x8a5398920 8 104 0x0 0 ibs_op//p",
		"1 store Beyond L2 L1 hit  0x7f0011223348 0x8a5398924 32 0 0x0 0 ibs_op//p",
		"2        0 0x401999 1 ibs_op//p",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("samples\n%s", diff)
	}
	if len(im.Tables) != 2 || im.Tables[1].Name != "fetch" {
		t.Fatalf("no table of fetches")
	}
	got = rowsOf(t, im.Tables[1], "op", "level", "latency", "addr", "phys", "ibs_fetch_lat")
	if diff := gocmp.Diff([]string{"exec Beyond L3 199 0x401004 0x123000 199"}, got); diff != "" {
		t.Errorf("fetches\n%s", diff)
	}
	if all := strings.Join(im.Warnings, "\n"); !strings.Contains(all, "2 of 3 micro-ops") {
		t.Errorf("warnings %s", all)
	}
}

// Where the kernel decoded the access, its word is taken; an assumed L1 latency
// makes the latency modelled.
func TestIBSWithDataSource(t *testing.T) {
	data := ibsFile(t, 0x1a49081042, perfsynth.DataSrc|perfsynth.WeightStruct)
	im, err := parseBytes(data, foreign.Options{L1Latency: 4})
	if err != nil {
		t.Fatal(err)
	}
	got := rowsOf(t, im.Tables[0], "level", "latency")
	if got[0] != "Local RAM 108" {
		t.Errorf("first sample %q, want Local RAM 108", got[0])
	}
	if p := im.Tables[0].Column("latency").Provenance; p != table.Modelled {
		t.Errorf("latency is %v with an assumed L1 latency, want modelled", p)
	}
}
