package command

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/kernel"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/mitos"
)

// ibsHeader is that of an IBS op file of Mitos (notes on samples, G12).
const ibsHeader = "source,line,instruction,bytes,virt_addr_offset,ip,variable,buffer_size,dims,xidx,yidx,zidx,pid,tid,time,addr,cpu,latency,numa," +
	"ibs_op_max_cnt,ibs_op_en,ibs_op_val,ibs_op_cnt_ctl,ibs_op_max_cnt_upper,ibs_op_cur_cnt,ibs_op_rip,ibs_comp_to_ret_ctr,ibs_tag_to_ret_ctr," +
	"ibs_op_brn_resync,ibs_op_misp_return,ibs_op_return,ibs_op_brn_taken,ibs_op_brn_misp,ibs_op_brn_ret,ibs_rip_invalid,ibs_op_brn_fuse,ibs_op_microcode," +
	"ibs_nb_req_src,ibs_nb_req_dst_node,ibs_nb_req_cache_hit_st,ibs_ld_op,ibs_st_op,ibs_dc_l1_tlb_miss,ibs_dc_l2_tlb_miss,ibs_dc_l1_tlb_hit_2m," +
	"ibs_dc_l1_tlb_hit_1g,ibs_dc_l2_tlb_hit_2m,ibs_dc_miss,ibs_dc_miss_acc,ibs_dc_ld_bank_con,ibs_dc_st_bank_con,ibs_dc_st_to_ld_fwd,ibs_dc_st_to_ld_can," +
	"ibs_dc_wc_mem_acc,ibs_dc_uc_mem_acc,ibs_dc_locked_op,ibs_dc_no_mab_alloc,ibs_lin_addr_valid,ibs_phy_addr_valid,ibs_dc_l2_tlb_hit_1g,ibs_l2_miss," +
	"ibs_sw_pf,ibs_op_mem_width,ibs_op_dc_miss_open_mem_reqs,ibs_dc_miss_lat,ibs_tlb_refill_lat,ibs_op_phy,ibs_op_lin,ibs_branch_target"

// ibsFile writes a made-up IBS file: random bits, a few lines and objects. Its
// levels mean nothing; its columns are those of the thesis' example.
func ibsFile(t testing.TB, rows int) string {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	names := strings.Split(ibsHeader, ",")
	var b strings.Builder
	b.WriteString(ibsHeader + "\n")
	for i := range rows {
		cells := make([]string, len(names))
		for k, n := range names {
			cells[k] = ibsCell(r, n, i)
		}
		b.WriteString(strings.Join(cells, ",") + "\n")
	}
	path := filepath.Join(t.TempDir(), "samples.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func ibsCell(r *rand.Rand, name string, row int) string {
	switch name {
	case "source":
		return []string{"/src/matmul.cc", "/src/stencil/sweep.cc", "/src/main.cc"}[r.IntN(3)]
	case "line":
		return fmt.Sprint(20 + r.IntN(60))
	case "instruction":
		return []string{"mov", "vmovupd", "add", "cmp"}[r.IntN(4)]
	case "variable":
		return []string{"grid_new", "grid_old", "matrix_a", "coefficients"}[r.IntN(4)]
	case "time":
		return fmt.Sprint(6_045_777_543_909_725 + 1000*row)
	case "cpu":
		return fmt.Sprint(r.IntN(16))
	case "tid":
		return fmt.Sprint(4000 + r.IntN(16))
	case "ibs_ld_op", "ibs_lin_addr_valid", "ibs_phy_addr_valid":
		return "1"
	case "ibs_dc_miss_lat":
		return fmt.Sprint(r.IntN(900))
	case "ibs_tlb_refill_lat":
		return fmt.Sprint(r.IntN(2) * r.IntN(90))
	case "ibs_nb_req_src":
		return fmt.Sprint([]int{2, 3, 3, 4}[r.IntN(4)])
	case "ibs_op_rip", "ibs_op_phy", "ibs_op_lin", "ibs_branch_target", "ip", "addr":
		return fmt.Sprintf("%x", 0x7f0000000000+r.IntN(1<<20))
	case "ibs_sw_pf", "ibs_dc_uc_mem_acc", "ibs_dc_no_mab_alloc":
		return "0"
	}
	if strings.HasPrefix(name, "ibs_") && !strings.HasSuffix(name, "_cnt") && !strings.HasSuffix(name, "_ctr") && !strings.HasSuffix(name, "_reqs") && !strings.HasSuffix(name, "width") {
		return fmt.Sprint(r.IntN(2))
	}
	return fmt.Sprint(1 + r.IntN(8))
}

// ibs is the table of a made-up IBS file.
func ibs(t testing.TB) *table.Table {
	t.Helper()
	in, err := foreign.Look(ibsFile(t, 2000))
	if err != nil {
		t.Fatal(err)
	}
	got, err := mitos.Format.Samples(context.Background(), in, &foreign.Options{L1Latency: 4})
	if err != nil {
		t.Fatal(err)
	}
	return got.Tables[0]
}

func searcher(t testing.TB, tab *table.Table) *Searcher {
	t.Helper()
	d := query.Data{Table: tab, Placing: &query.Placing{Row: make([]uint32, tab.Rows()), Count: 1,
		Touching: func(string) ([]bool, error) { return []bool{true}, nil }}}
	e := kernel.New(d, kernel.Options{})
	t.Cleanup(e.Close)
	return NewSearcher(d, e, []string{"Machine:0", "NUMA:0", "NUMA:1", "L3:0", "L3:1", "CPU:0", "CPU:1"})
}

// shown are the axes on screen in the tests.
var shown = Context{Shown: []string{"time", "symbol", "line", "latency", "level", "cpu"}}
