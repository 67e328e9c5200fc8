package command

import (
	"strings"
	"testing"
)

func target(a Action, target string) is {
	return func(s Suggestion) bool { return s.Action == a && s.Target == target }
}

func named(text string) is {
	return func(s Suggestion) bool { return s.Text == text }
}

// inputs are what people may type: slips, other orders, abbreviations, other
// words for the same thing, numbers.
var inputs = []struct {
	text string
	want is
}{
	// slips
	{"mispredcited branches", selects("ibs_op_brn_misp = 1")},
	{"latnecy", does(Hide, "latency")},
	{"slect stores", selects(storesWhere)},
	{"hdie latency", does(Hide, "latency")},
	{"corelate latency with cpu", does(Correlate, "latency", "cpu")},
	{"tbl misses l2", selects("ibs_dc_l2_tlb_miss = 1")},
	{"remtoe memory", selects("remote = 1")},
	{"evrything", selects("")},
	{"grid_nwe", selects("symbol = grid_new")},
	{"coeficients", selects("symbol = coefficients")},
	{"sofware prefetch", does(Show, "ibs_sw_pf")},
	{"paralel coordinates", target(View, "parallel")},
	// other order
	{"branches mispredicted", selects("ibs_op_brn_misp = 1")},
	{"branch taken", selects("ibs_op_brn_taken = 1")},
	{"misses tlb l1", selects("ibs_dc_l1_tlb_miss = 1")},
	{"cache miss L2", selects(`level in (L3, "Local RAM", "Remote Cache", "Remote RAM")`)},
	{"memory remote", selects("remote = 1")},
	{"walks page", selects("ibs_tlb_refill_lat > 0")},
	{"latency high", slowOf("latency")},
	{"line source", does(Hide, "line")},
	{"conflict bank load", does(Show, "ibs_dc_ld_bank_con")},
	{"samples export", target(Export, "rows")},
	{"new grid", selects("symbol = grid_new")},
	{"accesses locked", selects("lock = 1")},
	// abbreviations and beginnings
	{"mispr br", selects("ibs_op_brn_misp = 1")},
	{"l1 tlb", selects("ibs_dc_l1_tlb_miss = 1")},
	{"stlb", selects("ibs_dc_l2_tlb_miss = 1")},
	{"rem mem", selects("remote = 1")},
	{"lat", does(Hide, "latency")},
	{"instr", does(Show, "instruction")},
	{"tlb refill lat", does(Show, "ibs_tlb_refill_lat")},
	{"corr lat cpu", does(Correlate, "latency", "cpu")},
	{"sel dram", selects(dramWhere)},
	{"coeff", selects("symbol = coefficients")},
	{"sweep", selects("file = \"/src/stencil/sweep.cc\"")},
	{"l1miss", selects(l1Where)},
	{"undo", target(Undo, "")},
	{"ibs_dc_miss", does(Show, "ibs_dc_miss")},
	// other words
	{"writes", selects(storesWhere)},
	{"reads", selects(loadsWhere)},
	{"atomics", selects("lock = 1")},
	{"main memory", selects(dramWhere)},
	{"RAM", selects(dramWhere)},
	{"LLC misses", selects(`level in ("Local RAM", "Remote Cache", "Remote RAM")`)},
	{"slow accesses", slowOf("latency")},
	{"outliers", slowOf("latency")},
	{"fast accesses", named("select fastest half")},
	{"quick", named("select fastest half")},
	{"all", selects("")},
	{"thread", does(Show, "tid")},
	{"processor", does(Hide, "cpu")},
	{"variable", does(Hide, "symbol")},
	{"program counter", does(Show, "ip")},
	{"misaligned", does(Show, "ibs_dc_miss_acc")},
	{"compare latency vs line", does(Correlate, "latency", "line")},
	{"screenshot", target(Export, "png")},
	{"dark mode", target(Theme, "dark")},
	{"colour by samples", target(Color, "samples")},
	{"keyboard shortcuts", target(Help, "")},
	{"hits in L2", selects("level = L2")},
	// numbers
	{"latency above 200", selects("latency > 200")},
	{"latency 100 200", selects("latency in 100..200")},
	{"latency>=300", selects("latency >= 300")},
	{"cpu 7", selects("cpu = 7")},
	{"line 42", selects("line = 42")},
	{"matmul.cc:42", selects(`file = "/src/matmul.cc" & line = 42`)},
	{"slowest 2 %", slowOf("latency")},
	{"bins 200", target(Bins, "200")},
	{"L3 1", selects("at L3:1")},
	{"miss latency between 10 and 20", selects("ibs_dc_miss_lat in 10..20")},
	{"correlate latency over 500 with cpu", does(Correlate, "latency", "cpu")},
}

const (
	l1Where     = `level in (L2, L3, "Local RAM", "Remote Cache", "Remote RAM")`
	dramWhere   = `level in ("Local RAM", "Remote RAM")`
	storesWhere = `op = load+store`
	loadsWhere  = `op in (load, load+store)`
)

// slowOf accepts a selection whose limit comes from the data.
func slowOf(column string) is {
	return func(s Suggestion) bool { return s.Action == Select && strings.HasPrefix(s.Where, column+" >= ") }
}

func TestInputs(t *testing.T) {
	s := searcher(t, ibs(t))
	first := 0
	for _, in := range inputs {
		if p := position(s, t, in.text, in.want); p == 1 {
			first++
		} else {
			t.Logf("%q: position %d in %q", in.text, p, texts(s, t, in.text))
		}
	}
	t.Logf("the intended command is first for %d of %d inputs", first, len(inputs))
	if 10*first < 9*len(inputs) {
		t.Errorf("only %d of %d inputs have the intended command first, want 90 %%", first, len(inputs))
	}
}
