package record

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/code/datasrc"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/gaps"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/machine/hw"
	"github.com/isobath/isobath/internal/record/pmu"
)

// opNames are the operations by refs.Op.
var opNames = []string{datasrc.OpNames[datasrc.Load], datasrc.OpNames[datasrc.Store], datasrc.OpNames[datasrc.LoadStore]}

// samples builds the table of samples.
func (c *collector) samples(ctx context.Context, plan *pmu.Plan, t *hw.Topology, marks *marks, lost *gaps.Log, resolver *symbol.Resolver) (*table.Table, error) {
	n := len(c.rows)
	columns := c.places(t)
	if plan.Hardware() {
		columns = append(columns, c.measured()...)
	} else {
		columns = append(columns, c.derived()...)
	}
	columns = append(columns, c.homes(t)...)
	names, err := resolver.Columns(ctx, c.attribution())
	if err != nil {
		return nil, err
	}
	columns = append(columns, c.kernelTime(c.waiting(names))...)
	columns = append(columns, lost.Columns(n)...)
	columns = append(columns, marks.columns(c.rows, c.births, columns)...)
	out, err := table.New("samples", columns)
	if err != nil {
		return nil, fmt.Errorf("samples (%d): %w", n, err)
	}
	return out, nil
}

// places are the columns that say when and where a sample was taken.
func (c *collector) places(t *hw.Topology) []*table.Column {
	n := len(c.rows)
	time, cpu, pid, tid := make([]uint64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	for i := range c.rows {
		r := &c.rows[i]
		time[i], cpu[i], pid[i], tid[i] = r.time, int64(r.cpu), int64(r.pid), int64(r.tid)
	}
	out := []*table.Column{
		table.Times("time", "ns", table.Measured, time, nil),
		table.Ints("cpu", "", table.Measured, cpu, nil),
	}
	if node := nodeColumn("node", t, cpu, nil); node != nil {
		node.Note = "NUMA node of the CPU, from the topology"
		out = append(out, node)
	}
	out = append(out, table.Ints("pid", "", table.Measured, pid, nil), table.Ints("tid", "", table.Measured, tid, nil))
	if names := c.programs(); names != nil {
		out = append(out, names)
	}
	return append(out, c.rankOf(pid)...)
}

// rankOf is the rank of each process in an MPI program; nothing without ranks.
// The launcher has none.
func (c *collector) rankOf(pid []int64) []*table.Column {
	if len(c.ranks) == 0 {
		return nil
	}
	rank, has := make([]int64, len(pid)), table.NewBits(len(pid))
	for i, p := range pid {
		if r, ok := c.ranks[int(p)]; ok {
			rank[i] = int64(r)
			has.Set(i)
		}
	}
	return []*table.Column{samples.Ints(samples.Rank, table.Measured, rank, has)}
}

// nodeColumn gives each CPU its memory node; nil without a topology.
func nodeColumn(title string, t *hw.Topology, cpu []int64, valid table.Bits) *table.Column {
	if t == nil {
		return nil
	}
	known := map[int64]int64{}
	node, has := make([]int64, len(cpu)), table.NewBits(len(cpu))
	for i, number := range cpu {
		if valid != nil && !valid.Get(i) {
			continue
		}
		at, seen := known[number]
		if !seen {
			at = -1
			if r, ok := t.Node(int(number)); ok {
				at = int64(r.OS)
			}
			known[number] = at
		}
		if at >= 0 {
			node[i] = at
			has.Set(i)
		}
	}
	return table.Ints(title, "", table.Derived, node, has)
}

// programs is the name of the thread, where there is more than one.
func (c *collector) programs() *table.Column {
	in := table.NewInterner()
	now := map[int32]string{} // by tid; names are in order of time, as rows are
	codes, next := make([]uint32, len(c.rows)), 0
	for i := range c.rows {
		r := &c.rows[i]
		for ; next < len(c.names) && c.names[next].time <= r.time; next++ {
			now[c.names[next].tid] = c.names[next].text
		}
		text, ok := now[r.tid]
		if !ok {
			text = now[r.pid]
		}
		codes[i] = in.CodeString(text)
	}
	if len(in.Names()) < 2 {
		return nil
	}
	return table.Categories("program", table.Measured, codes, in.Names(), nil)
}

// derived are the columns of timer samples.
func (c *collector) derived() []*table.Column {
	n := len(c.rows)
	ip, raw, addr := make([]uint64, n), make([]uint64, n), make([]uint64, n)
	width, dist, weight := make([]int64, n), make([]int64, n), make([]int64, n)
	op, found := make([]uint32, n), make([]uint32, n)
	has, sized, decoded := table.NewBits(n), table.NewBits(n), table.NewBits(n)
	labels := table.NewInterner()
	for i := range c.rows {
		r := &c.rows[i]
		ip[i], raw[i], weight[i] = r.ip, r.raw, int64(r.weight)
		found[i] = labels.CodeString(r.label())
		if !r.hasAddr {
			continue
		}
		has.Set(i)
		addr[i] = r.addr
		if r.way != 0 {
			continue // which access the kernel serves is not decoded
		}
		decoded.Set(i)
		dist[i], op[i] = int64(r.dist), uint32(r.op)
		if r.width > 0 {
			sized.Set(i)
			width[i] = int64(r.width)
		}
	}
	out := []*table.Column{
		table.Addresses("ip", table.Derived, ip, nil),
		table.Addresses("interrupted", table.Measured, raw, nil),
		table.Addresses("addr", table.Derived, addr, has),
		table.Categories("op", table.Derived, op, opNames, decoded),
		table.Ints("width", "bytes", table.Derived, width, sized),
		table.Categories("found", table.Derived, found, labels.Names(), nil),
		table.Ints("distance", "instructions", table.Derived, dist, decoded),
		table.Ints("weight", "ns", table.Measured, weight, nil),
	}
	out[0].Note = "the instruction that made the access; the interrupted one where no address was found"
	out[2].Note = "worked out from the registers at the interrupt; see column found"
	out[5].Note = "back k: the access was made k instructions before the interrupt; again k: it overwrote its base, and this is the next of the same instruction; direct, forward k: it comes next; kernel: the sample was taken in the kernel"
	out[7].Note = "run time that the sample stands for; it is not a latency"
	return out
}

// measured are the columns of samples that hardware took.
func (c *collector) measured() []*table.Column {
	n := len(c.rows)
	ip, addr, data := make([]uint64, n), make([]uint64, n), datasrc.NewColumns(n)
	latency := make([]int64, n)
	has, timed := table.NewBits(n), table.NewBits(n)
	for i := range c.rows {
		r := &c.rows[i]
		ip[i], addr[i] = r.ip, r.addr
		data.Append(r.access)
		if r.hasAddr {
			has.Set(i)
		}
		// The low half of a WEIGHT_STRUCT is the latency; 0 is no value.
		if l := int64(uint32(r.weight)); l > 0 {
			latency[i] = l
			timed.Set(i)
		}
	}
	out := []*table.Column{
		table.Addresses("ip", table.Measured, ip, nil),
		table.Addresses("addr", table.Measured, addr, has),
		samples.Ints(samples.Latency, table.Measured, latency, timed),
	}
	return append(out, data.Table(table.Measured)...)
}

// pageBits is the size of the pages that first touches are counted in.
const pageBits = 12

// dropOwn leaves out the memory of the allocation log itself: it is no object of
// the program.
func (c *collector) dropOwn(dir string) {
	if dir == "" {
		return
	}
	own := func(pid int32, time, addr uint64) bool {
		m := c.space.Find(int(pid), time, addr)
		return m != nil && strings.HasPrefix(m.Path, dir+"/")
	}
	c.touches = slices.DeleteFunc(c.touches, func(t touch) bool { return own(t.pid, t.time, t.addr) })
	for i := range c.rows {
		if r := &c.rows[i]; r.hasAddr && own(r.pid, r.time, r.addr) {
			r.hasAddr = false
		}
	}
}

// homes are the columns that say who touched the page of each sample first.
func (c *collector) homes(t *hw.Topology) []*table.Column {
	if len(c.touches) == 0 {
		return nil
	}
	type page struct {
		pid  int32
		addr uint64
	}
	n := len(c.rows)
	first := map[page]int{} // newest so far: a page may be written after it was read, or used again
	cpu, tid, has := make([]int64, n), make([]int64, n), table.NewBits(n)
	next := 0
	for i := range c.rows {
		r := &c.rows[i]
		for ; next < len(c.touches) && c.touches[next].time <= r.time; next++ {
			first[page{c.touches[next].pid, c.touches[next].addr >> pageBits}] = next
		}
		if !r.hasAddr {
			continue
		}
		if k, ok := first[page{r.pid, r.addr >> pageBits}]; ok {
			cpu[i], tid[i] = int64(c.touches[k].cpu), int64(c.touches[k].tid)
			has.Set(i)
		}
	}
	if has.Count() == 0 {
		return nil
	}
	out := []*table.Column{table.Ints("touch_tid", "", table.Measured, tid, has), table.Ints("touch_cpu", "", table.Measured, cpu, has)}
	out[0].Note = "the thread whose page fault brought in the page of this address"
	if node := nodeColumn("touch_node", t, cpu, has); node != nil {
		node.Note = "the NUMA node where the page was first touched, and so usually lies"
		out = append(out, node)
	}
	return out
}

// attribution is what the resolver needs of the rows.
func (c *collector) attribution() *symbol.Samples {
	n := len(c.rows)
	s := &symbol.Samples{Rows: n, Pid: make([]int32, n), Tid: make([]int32, n), Time: make([]uint64, n),
		PC: make([]uint64, n), Addr: make([]uint64, n), SP: make([]uint64, n), HasAddr: table.NewBits(n), Told: c.toldObjects()}
	for i := range c.rows {
		r := &c.rows[i]
		s.Pid[i], s.Tid[i], s.Time[i], s.PC[i], s.Addr[i], s.SP[i] = r.pid, r.tid, r.time, r.ip, r.addr, r.sp
		if r.hasAddr {
			s.HasAddr.Set(i)
		}
	}
	if c.callers.samples > 0 {
		s.ChainAt = append(make([]int, 0, n+1), 0)
		for i := range c.rows {
			s.Chain = append(s.Chain, c.callers.chains[c.rows[i].stack]...)
			s.ChainAt = append(s.ChainAt, len(s.Chain))
		}
	}
	return s
}

// touchTable builds the table of first touches.
func (c *collector) touchTable(ctx context.Context, t *hw.Topology, resolver *symbol.Resolver) (*table.Table, error) {
	n := len(c.touches)
	time, cpu, pid, tid := make([]uint64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	s := &symbol.Samples{Rows: n, Pid: make([]int32, n), Tid: make([]int32, n), Time: time, PC: make([]uint64, n), Addr: make([]uint64, n)}
	for i := range c.touches {
		p := &c.touches[i]
		time[i], cpu[i], pid[i], tid[i] = p.time, int64(p.cpu), int64(p.pid), int64(p.tid)
		s.Pid[i], s.Tid[i], s.PC[i], s.Addr[i] = p.pid, p.tid, p.ip, p.addr
	}
	columns := []*table.Column{
		table.Times("time", "ns", table.Measured, slices.Clone(time), nil),
		table.Ints("cpu", "", table.Measured, cpu, nil),
	}
	if node := nodeColumn("node", t, cpu, nil); node != nil {
		columns = append(columns, node)
	}
	columns = append(columns, table.Ints("pid", "", table.Measured, pid, nil), table.Ints("tid", "", table.Measured, tid, nil),
		table.Addresses("ip", table.Measured, slices.Clone(s.PC), nil), table.Addresses("addr", table.Measured, slices.Clone(s.Addr), nil))
	columns = append(columns, c.rankOf(pid)...)
	names, err := resolver.Columns(ctx, s)
	if err != nil {
		return nil, err
	}
	return table.New("touches", append(columns, names...))
}
