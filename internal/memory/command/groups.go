package command

import (
	"fmt"
	"slices"

	"github.com/isobath/isobath/internal/code/datasrc"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/machine/hw"
)

// phenomenon is a set of samples that has a name of its own, whatever columns
// tell of it.
type phenomenon struct {
	name    string
	aliases []string
	does    string // "selects …"
	// find returns the axis that shows it and what selects it; where is empty
	// and missing says why, if the data cannot tell.
	find func(*facts) answerable
}

type answerable struct {
	axis, where, missing string
	lazy                 clause // in place of where
	does                 string // in place of the phenomenon's own words
}

// facts is what a table can tell.
type facts struct{ t *table.Table }

// column returns a column in which at least one row may have a value.
func (f *facts) column(name string) *table.Column {
	c := f.t.Column(name)
	if c == nil || c.Provenance == table.Absent {
		return nil
	}
	return c
}

// value says where a category column has one of the names; ok is false if the
// column is not there. Names that never occur are left out of the text.
func (f *facts) value(column string, names []string) (string, bool) {
	c := f.column(column)
	if c == nil || c.Kind != table.Category {
		return "", false
	}
	var occur []query.Value
	for _, n := range names {
		if slices.Contains(c.Dict, n) {
			occur = append(occur, query.TextValue(n))
		}
	}
	switch len(occur) {
	case 0:
		// Nothing of the kind was seen: a selection without samples says so.
		return query.Compare{Column: column, Op: query.Eq, Value: query.TextValue(names[0])}.String(), true
	case 1:
		return query.Compare{Column: column, Op: query.Eq, Value: occur[0]}.String(), true
	}
	return query.In{Column: column, Values: occur}.String(), true
}

func (f *facts) flag(names ...string) (answerable, bool) {
	for _, n := range names {
		if c := f.column(n); c != nil && c.Kind == table.Flag {
			return answerable{axis: n, where: setTo(n, 1)}, true
		}
	}
	return answerable{}, false
}

func setTo(flag string, value float64) string {
	return query.Compare{Column: flag, Op: query.Eq, Value: query.NumberValue(value)}.String()
}

// served finds accesses by what served them, else by one of the given flags.
func served(levels []hw.Level, flags ...string) func(*facts) answerable {
	names := make([]string, len(levels))
	for i, l := range levels {
		names[i] = l.String()
	}
	return func(f *facts) answerable {
		if where, ok := f.value("level", names); ok {
			return answerable{axis: "level", where: where}
		}
		if a, ok := f.flag(flags...); ok {
			return a
		}
		return answerable{missing: noLevel}
	}
}

// What lies beyond each cache. A line that was on its way already (LFB) was not
// in L1; whether it was in L2 is not said, nor where "beyond L1" ended, so
// neither counts as a miss of L2 or L3. A cache beside the own L3 is a miss of
// L2 only.
var (
	beyondL3 = []hw.Level{hw.L4, hw.MSC, hw.LocalRAM, hw.RemoteCache, hw.RemoteRAM, hw.PMEM, hw.CXL, hw.BeyondL3}
	beyondL2 = append([]hw.Level{hw.L3, hw.LocalPeerCache, hw.BeyondL2}, beyondL3...)
	beyondL1 = append([]hw.Level{hw.LFB, hw.L2, hw.BeyondL1}, beyondL2...)
)

// said finds accesses by one word of a decoded column, else by a flag.
func said(column string, words []string, what string, flags ...string) func(*facts) answerable {
	return func(f *facts) answerable {
		if where, ok := f.value(column, words); ok {
			return answerable{axis: column, where: where}
		}
		if a, ok := f.flag(flags...); ok {
			return a
		}
		return answerable{missing: fmt.Sprintf("the data does not say %s (no column %s)", what, column)}
	}
}

// doesOf is what a phenomenon selects in this data.
func doesOf(p phenomenon, a answerable) string {
	if a.does != "" {
		return a.does
	}
	return p.does
}

// branches finds micro-ops by a flag of IBS. Where all samples are memory
// operations, as an import leaves them unless told otherwise, a branch among
// them also accesses memory (a return, a jump through a table), and that is said.
func branches(flag, what string) func(*facts) answerable {
	return func(f *facts) answerable {
		if a, ok := f.flag(flag); ok {
			if op := f.column("op"); op != nil && op.Valid == nil {
				a.does = what + " and that access memory; import with --all-ops to keep the others"
			}
			return a
		}
		return answerable{missing: "the data has no branches; AMD IBS op samples have them (" + flag + ")"}
	}
}

var (
	tlbBeyondL1 = []string{datasrc.TLBNames[datasrc.TLBL2], datasrc.TLBNames[datasrc.TLBMiss], datasrc.TLBNames[datasrc.TLBWalk], datasrc.TLBNames[datasrc.TLBFault]}
	tlbBeyondL2 = tlbBeyondL1[1:]
)

// tlbL1 needs hardware that tells the two levels of the TLB apart.
func tlbL1(f *facts) answerable {
	if a, ok := f.flag("ibs_dc_l1_tlb_miss", "ibs_l1_tlb_miss"); ok {
		return a
	}
	c := f.column("tlb")
	if c == nil {
		return answerable{missing: "the data does not say how addresses were translated (no column tlb)"}
	}
	if !slices.Contains(c.Dict, datasrc.TLBNames[datasrc.TLBL1]) && !slices.Contains(c.Dict, datasrc.TLBNames[datasrc.TLBL2]) {
		return answerable{missing: "this hardware tells only whether the last TLB level missed; try L2 TLB misses"}
	}
	where, _ := f.value("tlb", tlbBeyondL1)
	return answerable{axis: "tlb", where: where}
}

func tlbL2(f *facts) answerable {
	if a, ok := f.flag("ibs_dc_l2_tlb_miss", "ibs_l2_tlb_miss"); ok {
		return a
	}
	return said("tlb", tlbBeyondL2, "how addresses were translated")(f)
}

// walks are misses of the last TLB level, where hardware walks the page table;
// IBS counts the cycles of a walk.
func walks(f *facts) answerable {
	if c := f.column("ibs_tlb_refill_lat"); c != nil {
		return answerable{axis: c.Name, where: query.Compare{Column: c.Name, Op: query.Gt, Value: query.NumberValue(0)}.String()}
	}
	return tlbL2(f)
}

func remote(f *facts) answerable {
	if a, ok := f.flag("remote"); ok {
		return a
	}
	return served([]hw.Level{hw.RemoteRAM, hw.RemoteCache})(f)
}

func locked(f *facts) answerable {
	if a, ok := f.flag("lock", "ibs_dc_locked_op"); ok {
		return a
	}
	return answerable{missing: "the data does not say which accesses were locked (no column lock)"}
}

// cannotTell is what no sample says.
func cannotTell(why string) func(*facts) answerable {
	return func(*facts) answerable { return answerable{missing: why} }
}

// slowest are the samples beyond a quantile of latency.
func slowest(p float64) func(*facts) answerable {
	return func(f *facts) answerable {
		name := f.latency()
		if name == "" {
			return answerable{missing: noLatency}
		}
		return answerable{axis: name, lazy: beyond(name, p)}
	}
}

// fastest are the samples up to the median of latency: the third below it is empty where
// most accesses hit.
func fastest(f *facts) answerable {
	name := f.latency()
	if name == "" {
		return answerable{missing: noLatency}
	}
	return answerable{axis: name, lazy: compared(name, query.Le, 0.5)}
}

const noLevel = "the data does not say which level served an access (no column level)"

const noLatency = "the data does not say how long an access took (no column latency)"

// latency is the column that says how long an access took. The run time that a sample
// of a timer stands for is none.
func (f *facts) latency() string {
	if c := f.column(samples.Latency); c != nil && c.Kind == table.Number {
		return c.Name
	}
	return ""
}

// cost is the column whose sums rank things; empty if there is none.
func (f *facts) cost() string {
	for _, name := range samples.Costs() {
		if c := f.column(name); c != nil && c.Kind == table.Number {
			return name
		}
	}
	return ""
}

// ofSpan compares values with what lies a share of the way from the least to the
// largest.
func ofSpan(column string, op query.Op, share float64) clause {
	return func(n numbers) (string, error) {
		least, err := n.quantile(column, 0)
		if err != nil {
			return "", err
		}
		most, err := n.quantile(column, 1)
		v := least + share*(most-least)
		return query.Compare{Column: column, Op: op, Value: query.NumberValue(v)}.String(), err
	}
}

// fromEnd compares values with what lies so much from an end, which is a quantile.
func fromEnd(column string, op query.Op, end, much float64) clause {
	return func(n numbers) (string, error) {
		v, err := n.quantile(column, end)
		return query.Compare{Column: column, Op: op, Value: query.NumberValue(v + much)}.String(), err
	}
}

// beyond selects values from a quantile up. Where none is smaller that would be all
// of them: then none is among the largest.
func beyond(column string, p float64) clause {
	return func(n numbers) (string, error) {
		v, err := n.quantile(column, p)
		if err != nil {
			return "", err
		}
		least, err := n.quantile(column, 0)
		op := query.Ge
		if least == v {
			op = query.Gt
		}
		return query.Compare{Column: column, Op: op, Value: query.NumberValue(v)}.String(), err
	}
}

func exactly(column string, p float64) clause { return compared(column, query.Eq, p) }

// compared compares values with a quantile.
func compared(column string, op query.Op, p float64) clause {
	return func(n numbers) (string, error) {
		v, err := n.quantile(column, p)
		return query.Compare{Column: column, Op: op, Value: query.NumberValue(v)}.String(), err
	}
}

var phenomena = []phenomenon{
	{"L1 misses", []string{"misses", "cache misses", "L1 cache miss", "L1 data cache misses", "L1D miss", "first level cache misses"}, "accesses that the L1 cache did not serve", served(beyondL1, "ibs_dc_miss", "ibs_ic_miss")},
	{"L2 misses", []string{"L2 cache miss", "second level cache misses"}, "accesses that the L2 cache did not serve", served(beyondL2, "ibs_l2_miss", "ibs_fetch_l2_miss")},
	{"L3 misses", []string{"L3 cache miss", "LLC misses", "last level cache miss", "third level cache misses"}, "accesses that the L3 cache did not serve", served(beyondL3)},
	{"DRAM accesses", []string{"DRAM", "main memory", "memory accesses", "RAM", "served by memory"}, "accesses that memory served", served([]hw.Level{hw.LocalRAM, hw.RemoteRAM})},
	{"remote memory", []string{"remote accesses", "other NUMA node", "cross socket", "NUMA remote", "non-local memory"}, "accesses that another memory node served", remote},
	{"local memory", []string{"local DRAM", "own NUMA node"}, "accesses that memory of the own node served", served([]hw.Level{hw.LocalRAM})},
	{"L1 TLB misses", []string{"DTLB miss", "first level TLB misses"}, "accesses whose address was not in the L1 TLB", tlbL1},
	{"L2 TLB misses", []string{"STLB miss", "TLB misses", "second level TLB misses", "translation misses"}, "accesses whose address was in no TLB", tlbL2},
	{"page walks", []string{"page table walks", "hardware walker", "TLB refills"}, "accesses for which the page table was walked", walks},
	{"mispredicted branches", []string{"branch mispredictions", "brn misp", "wrong branches"}, "branches that were predicted wrong", branches("ibs_op_brn_misp", "branches that were predicted wrong")},
	{"taken branches", []string{"branches taken", "brn taken", "jumps"}, "branches that were taken", branches("ibs_op_brn_taken", "branches that were taken")},
	{"locked accesses", []string{"locked operations", "atomics", "atomic operations", "lock prefix"}, "locked (atomic) accesses", locked},
	{"modified lines of other cores", []string{"HITM", "shared lines", "false sharing", "hit modified", "contended cache lines", "snoop hit modified"}, "accesses that found the line modified in another core's cache",
		said("snoop", []string{datasrc.SnoopNames[datasrc.SnoopHitM]}, "what snooping found")},
	{"loads", []string{"reads", "load operations"}, "loads", said("op", []string{datasrc.OpNames[datasrc.Load], datasrc.OpNames[datasrc.LoadStore]}, "whether an access was a load", "ibs_ld_op")},
	{"stores", []string{"writes", "store operations"}, "stores", said("op", []string{datasrc.OpNames[datasrc.Store], datasrc.OpNames[datasrc.LoadStore]}, "whether an access was a store", "ibs_st_op")},
	{"read-modify-writes", []string{"read modify write", "RMW", "loads that store", "updates in place"}, "accesses that read and write at once", said("op", []string{datasrc.OpNames[datasrc.LoadStore]}, "whether an access read and wrote at once")},
	{"prefetches", []string{"software prefetch"}, "software prefetches", said("op", []string{datasrc.OpNames[datasrc.Prefetch]}, "whether an access was a prefetch", "ibs_sw_pf")},
	{"line fill buffer", []string{"LFB hits", "fill buffer"}, "accesses to a line that was on its way already", served([]hw.Level{hw.LFB})},
	{"uncached accesses", []string{"uncacheable"}, "accesses that caches do not take", served([]hw.Level{hw.Uncached, hw.IO}, "ibs_dc_uc_mem_acc")},
	{"memory bandwidth", []string{"bandwidth", "throughput", "bytes per second", "GB/s"}, "", cannotTell("samples do not say how many bytes were moved in a time")},
	{"loops", []string{"hottest loop", "hot loops", "inner loop"}, "", cannotTell("samples name lines and functions, not loops; isobath record --refs keeps every reference, and isobath loops finds its loops")},
	{"cold misses", []string{"compulsory misses", "capacity misses", "conflict misses"}, "", cannotTell("samples do not say why a line was not in a cache; isobath record --refs keeps every reference, and isobath reuse counts first uses")},
	{"slowest 1 %", []string{"slow", "slowest", "slow accesses", "outliers", "expensive accesses", "long latency", "top percentile", "p99"}, "the slowest one in a hundred", slowest(0.99)},
	{"fastest half", []string{"fast", "fast accesses", "quick", "quick accesses", "cheap", "cheap accesses", "short latency"}, "accesses that took no longer than the median", fastest},
	{"slowest 5 %", []string{"p95"}, "the slowest five in a hundred", slowest(0.95)},
	{"slowest 10 %", []string{"p90"}, "the slowest ten in a hundred", slowest(0.90)},
}
