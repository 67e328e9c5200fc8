package mitos

import "github.com/isobath/isobath/internal/data/table"

// description is what people call a field and what it means.
type description struct{ label, note string }

// ibsFields describes every field of AMD's instruction-based sampling that
// Mitos writes; see the registers IBS_OP_CTL, IBS_OP_DATA to IBS_OP_DATA3 and
// IBS_FETCH_CTL in AMD's Processor Programming Reference. Names are those of
// the files, typing errors included.
var ibsFields = map[string]description{
	// IBS_OP_CTL
	"ibs_op_max_cnt":       {"op sampling period", "period of the op counter, in units of 16"},
	"ibs_op_max_cnt_upper": {"op sampling period, upper bits", "upper seven bits of the period of the op counter"},
	"ibs_op_en":            {"op sampling on", "op sampling was switched on; a setting, not a property of the sample"},
	"ibs_op_val":           {"op sample valid", "a micro-op was tagged and retired"},
	"ibs_op_cnt_ctl":       {"period counts micro-ops", "the period counts dispatched micro-ops; 0: clock cycles"},
	"ibs_op_cur_cnt":       {"op counter", "value of the op counter when it was read"},
	// IBS_OP_RIP, IBS_OP_DATA
	"ibs_op_rip":          {"op address", "address of the instruction the micro-op belongs to"},
	"ibs_comp_to_ret_ctr": {"completion to retirement", "cycles from completion of the micro-op to its retirement; of every micro-op, no memory latency"},
	"ibs_tag_to_ret_ctr":  {"tag to retirement", "cycles from tagging of the micro-op to its retirement; of every micro-op, no memory latency"},
	"ibs_op_brn_resync":   {"branch resync", "the micro-op made the processor start again at a new address"},
	"ibs_op_misp_return":  {"mispredicted return", "a return whose target was predicted wrong"},
	"ibs_op_return":       {"return", "the micro-op is a return"},
	"ibs_op_brn_taken":    {"taken branch", "the micro-op is a branch that was taken"},
	"ibs_op_brn_misp":     {"mispredicted branch", "the micro-op is a branch that was predicted wrong"},
	"ibs_op_brn_ret":      {"branch retired", "the micro-op is a branch that retired"},
	"ibs_rip_invalid":     {"op address not exact", "the address of the instruction is not exact"},
	"ibs_op_brn_fuse":     {"fused branch", "a branch fused with the compare before it"},
	"ibs_op_microcode":    {"microcode", "the micro-op comes from microcode"},
	"ibs_branch_target":   {"branch target", "address a branch went to"},
	// IBS_OP_DATA2: valid for loads that missed L2
	"ibs_nb_req_src":          {"request source", "code of what served a load beyond L2; its meaning depends on the processor, level is decoded from it"},
	"ibs_nb_req_dst_node":     {"request to another node", "another memory node served the load"},
	"ibs_nb_req_cache_hit_st": {"line was owned", "state of the line in the cache that served it: 1 owned, 0 modified"},
	// IBS_OP_DATA3
	"ibs_ld_op":                    {"load", "the micro-op reads memory"},
	"ibs_st_op":                    {"store", "the micro-op writes memory"},
	"ibs_dc_l1_tlb_miss":           {"L1 data TLB miss", "the address was not in the L1 data TLB"},
	"ibs_dc_l2_tlb_miss":           {"L2 data TLB miss", "the address was not in the L2 data TLB either: the page table was walked"},
	"ibs_dc_l1_tlb_hit_2m":         {"L1 data TLB hit, 2 MiB page", "translated by a 2 MiB page in the L1 data TLB"},
	"ibs_dc_l1_tlb_hit_1g":         {"L1 data TLB hit, 1 GiB page", "translated by a 1 GiB page in the L1 data TLB"},
	"ibs_dc_l2_tlb_hit_2m":         {"L2 data TLB hit, 2 MiB page", "translated by a 2 MiB page in the L2 data TLB"},
	"ibs_dc_l2_tlb_hit_1g":         {"L2 data TLB hit, 1 GiB page", "translated by a 1 GiB page in the L2 data TLB"},
	"ibs_dc_miss":                  {"data cache miss", "the line was not in the L1 data cache"},
	"ibs_dc_miss_acc":              {"misaligned access", "the access crosses a boundary; the name in the file is a typing error"},
	"ibs_dc_ld_bank_con":           {"load bank conflict", "a load had to wait for a bank of the data cache"},
	"ibs_dc_st_bank_con":           {"store bank conflict", "a store had to wait for a bank of the data cache"},
	"ibs_dc_st_to_ld_fwd":          {"store forwarded to load", "the load got its data from a store in flight"},
	"ibs_dc_st_to_ld_can":          {"forwarding cancelled", "forwarding from a store in flight was cancelled"},
	"ibs_dc_wc_mem_acc":            {"write-combining access", "the access is to write-combining memory"},
	"ibs_dc_uc_mem_acc":            {"uncached access", "the access is to uncacheable memory"},
	"ibs_dc_locked_op":             {"locked operation", "the operation holds a lock (an atomic)"},
	"ibs_dc_no_mab_alloc":          {"miss buffer shared", "a buffer for this line was waiting already, so none was taken for this miss"},
	"ibs_lin_addr_valid":           {"virtual address valid", "the virtual address of the access was recorded"},
	"ibs_phy_addr_valid":           {"physical address valid", "the physical address was recorded"},
	"ibs_l2_miss":                  {"L2 miss", "the line was not in L2; without a data cache miss it belongs to another operation"},
	"ibs_sw_pf":                    {"software prefetch", "the micro-op is a software prefetch"},
	"ibs_op_mem_width":             {"width code", "width of the access as a code: 1 is 1 byte, 2 is 2, 3 is 4, and so on; width is decoded from it"},
	"ibs_op_dc_miss_open_mem_reqs": {"misses in flight", "data cache misses under way when this one was made"},
	"ibs_dc_miss_lat":              {"miss latency", "cycles from the data cache miss to the data; counted for loads that missed only"},
	"ibs_tlb_refill_lat":           {"TLB refill latency", "cycles from the L1 data TLB miss until the translation was there"},
	"ibs_op_phy":                   {"physical address", "physical address of the access"},
	"ibs_op_lin":                   {"virtual address", "virtual address of the access"},
	// IBS_FETCH_CTL and its addresses
	"ibs_fetch_max_cnt":          {"fetch sampling period", "period of the fetch counter, in units of 16"},
	"ibs_fetch_cnt":              {"fetch counter", "value of the fetch counter when it was read"},
	"ibs_fetch_lat":              {"fetch latency", "cycles from the start of the fetch to its delivery"},
	"ibs_fetch_en":               {"fetch sampling on", "fetch sampling was switched on; a setting, not a property of the sample"},
	"ibs_fetch_val":              {"fetch sample valid", "a fetch was tagged and ended"},
	"ibs_fetch_comp":             {"fetch completed", "the fetch delivered instructions; otherwise it was abandoned"},
	"ibs_ic_miss":                {"instruction cache miss", "the line was not in the instruction cache"},
	"ibs_l1_tlb_pg_sz":           {"page size code", "page of the fetch: 0 is 4 KiB, 1 is 2 MiB, 2 is 1 GiB"},
	"ibs_l1_tlb_miss":            {"L1 instruction TLB miss", "the address was not in the L1 instruction TLB"},
	"ibs_l2_tlb_miss":            {"L2 instruction TLB miss", "the address was not in the L2 instruction TLB either"},
	"ibs_rand_en":                {"random period", "the low bits of the period were random; a setting, not a property of the sample"},
	"ibs_fetch_l2_miss":          {"fetch L2 miss", "the instruction line was not in L2"},
	"ibs_fetch_lin_addr":         {"fetch address", "virtual address of the fetch"},
	"ibs_fetch_phy_addr":         {"fetch physical address", "physical address of the fetch"},
	"ibs_fetch_control_extended": {"fetch control, extended", "IBS extended fetch control register as read"},
}

// describe attaches names and meanings to the fields of IBS.
func describe(columns []*table.Column) {
	for _, c := range columns {
		if d, ok := ibsFields[c.Name]; ok {
			c.Label = d.label
			if c.Note == "" {
				c.Note = d.note
			}
		}
	}
}
