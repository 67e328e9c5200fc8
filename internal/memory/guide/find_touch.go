package guide

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/machine/hw"
)

// This file finds why memory is where it is: one CPU touched it first.

// firstTouch is the kind of findings that name who placed the pages.
const firstTouch = "first-touch"

// touchedParts is into how many parts an object is divided to see whether all of
// it was touched, and touchedMost the share of them that must have been.
const (
	touchedParts = 16
	touchedMost  = 0.9
)

// placed is an object that one CPU touched all over before any other did.
type placed struct {
	group
	symbol string
	cpu    int
	shared bool // another CPU came
	seen   bool // it has a sample that says who touched what and when
	// lo is its least address, size that of a part; ever and early are the parts that
	// any sample is in, and one before another CPU came.
	lo, size    uint64
	ever, early [touchedParts]bool
	by          map[string]*toucher // functions that touched it before another CPU came
	far, near   group               // samples that the memory of another node served, and of the own
	paying      []float64           // cost of far, by part of the machine
}

// toucher is a function that touched an object.
type toucher struct {
	n      int
	lo, hi float64 // lines; none if lo > hi
	file   string  // of the first one
}

// touchedFirst is the story of objects that one CPU placed and others pay for:
// cause, effect, cost and cure in one sentence.
func touchedFirst(l *insightSearch) ([]Insight, error) {
	remote, _ := l.isRemote()
	depth, parts := l.farParts()
	served, err := l.resources(hw.NUMA)
	if remote == nil || parts == nil || err != nil || served.count < 2 || l.cost == 0 {
		return nil, nil
	}
	memory, err := l.inMemory(0)
	if err != nil {
		return nil, err
	}
	objects, err := l.placedBy()
	if err != nil || len(objects) == 0 {
		return nil, err
	}
	told := worst(objects)
	var far, near group
	paying := make([]float64, parts.count+1)
	for _, o := range told {
		far.addAll(&o.far)
		near.addAll(&o.near)
		for i, cost := range o.paying {
			paying[i] += cost
		}
	}
	if far.n < limit.samples || float64(far.n) < l.remoteByChance()/2*float64(far.n+near.n) {
		return nil, nil
	}
	of, err := l.over(alike{slots: []*slotting{served}})
	if err != nil {
		return nil, err
	}
	topology, nodes, loads := of.loads(hw.NUMA)
	text := l.placedText(told, topology, nodes, loads) + l.payingText(depth, topology, paying, &far, &near)
	selection := query.Compare{Column: samples.Level, Op: query.Eq, Value: query.TextValue(hw.RemoteRAM.String())}
	var values []query.Value
	for _, o := range told {
		values = append(values, query.TextValue(o.symbol))
	}
	var which query.Expr = query.In{Column: samples.Symbol, Values: values}
	if len(values) == 1 {
		which = query.Compare{Column: samples.Symbol, Op: query.Eq, Value: values[0]}
	}
	return []Insight{{
		Text: text, Stake: far.cost / l.cost, Surprise: 1, Where: l.within(all(which, selection)),
		View: TopologyView, Metric: "peak", Depth: "NUMA",
		subject: fmt.Sprintf("pages first touched by CPU %d", told[0].cpu), cure: l.cureText(told), of: &claim{slots: []*slotting{remote, memory}},
	}}, nil
}

// worst are the objects of the CPU that placed most of what others pay for, the
// dearest first; objects of other CPUs, and those that nobody pays for, are taken
// out.
func worst(objects map[uint32]*placed) []*placed {
	by := map[int]float64{}
	for _, o := range objects {
		by[o.cpu] += o.far.cost
	}
	top, most := 0, -1.0
	for cpu, cost := range by {
		if cost > most || cost == most && cpu < top {
			top, most = cpu, cost
		}
	}
	var out []*placed
	for _, o := range objects {
		if o.cpu == top && o.far.n > 0 {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b *placed) int {
		return cmp.Or(cmp.Compare(b.far.cost, a.far.cost), cmp.Compare(a.symbol, b.symbol))
	})
	return out
}

// placedBy finds the objects that one CPU had all to itself at first, by code.
// Samples are few, so that the first one of a page says little; that one CPU
// reached every part of an object before any other touched it says enough.
func (l *insightSearch) placedBy() (map[uint32]*placed, error) {
	t := l.data.Table
	symbol, addr, cpu := l.category(samples.Symbol), t.Column(samples.Addr), samples.UsableAs(t, samples.CPU, table.Number)
	if symbol == nil || cpu == nil || samples.UsableAs(t, samples.Time, table.Time) == nil || addr == nil || addr.Kind != table.Address {
		return nil, nil
	}
	of, err := l.over(alike{columns: []string{samples.Symbol}})
	if err != nil {
		return nil, err
	}
	found := map[uint32]*placed{}
	names := of.data.Table.Column(samples.Symbol)
	for _, g := range of.groups(nil, samples.Symbol) {
		if g.n >= limit.samples && g.cost >= limit.score*l.cost && len(found) < maxObjects {
			found[names.Data.([]uint32)[g.row]] = &placed{group: g, symbol: names.Text(g.row), by: map[string]*toucher{}}
		}
	}
	if err := l.addressesOf(found); err != nil {
		return nil, err
	}
	var values []query.Value
	for _, o := range found {
		values = append(values, query.TextValue(o.symbol))
	}
	columns := []string{samples.Symbol, samples.Addr, samples.CPU, samples.Level, samples.Function, samples.File, samples.Line}
	err = l.alongTime(query.In{Column: samples.Symbol, Values: values}, columns, true, func(s *insightSearch, rows []uint32) error {
		return s.touch(found, rows)
	})
	for code, o := range found {
		// Of an object that nobody else uses nobody pays for who touched it first.
		if !o.seen || !o.shared || !o.reachedAll() {
			delete(found, code)
		}
	}
	return found, err
}

// touchable are the columns that say who touched what and when.
var touchable = []string{samples.CPU, samples.Time, samples.Addr}

// addressesOf finds the least address of objects and the size of their parts.
func (l *insightSearch) addressesOf(objects map[uint32]*placed) error {
	lo, hi := map[uint32]uint64{}, map[uint32]uint64{}
	note := func(code uint32, least, most uint64) {
		if _, seen := lo[code]; !seen {
			lo[code], hi[code] = least, most
		}
		lo[code], hi[code] = min(lo[code], least), max(hi[code], most)
	}
	if l.far != nil {
		where := l.searched()
		for _, name := range touchable {
			where = all(where, query.Missing{Column: name, Not: true})
		}
		rows, err := l.far.Condense(l.ctx, query.Condensing{Where: where, Columns: []string{samples.Symbol}, Extent: samples.Addr})
		if err != nil {
			return err
		}
		codes, _ := rows.Table.Column(samples.Symbol).Data.([]uint32)
		for i := range rows.Count {
			note(codes[i], rows.Least.Data.([]uint64)[i], rows.Most.Data.([]uint64)[i])
		}
	} else {
		touches := l.touching()
		addr, codes := l.data.Table.Column(samples.Addr).Data.([]uint64), l.data.Table.Column(samples.Symbol).Data.([]uint32)
		for row := range l.rows {
			if objects[codes[row]] != nil && touches(row) {
				note(codes[row], addr[row], addr[row])
			}
		}
	}
	for code, o := range objects {
		o.lo, o.size = lo[code], (hi[code]-lo[code])/touchedParts+1
	}
	return nil
}

// touching is whether a row says who touched what and when.
func (l *insightSearch) touching() func(row int) bool {
	symbol := l.data.Table.Column(samples.Symbol)
	var columns []*table.Column
	for _, name := range touchable {
		columns = append(columns, l.data.Table.Column(name))
	}
	return func(row int) bool {
		for _, c := range columns {
			if !c.Has(row) {
				return false
			}
		}
		return symbol.Has(row)
	}
}

// touch goes over samples in the order of time.
func (l *insightSearch) touch(objects map[uint32]*placed, rows []uint32) error {
	t := l.data.Table
	remote, _ := l.isRemote()
	_, parts := l.farParts()
	memory, err := l.inMemory(0)
	if err != nil {
		return err
	}
	touches := l.touching()
	codes, addr, cpu := t.Column(samples.Symbol).Data.([]uint32), t.Column(samples.Addr).Data.([]uint64), t.Column(samples.CPU)
	function, line, file := l.category(samples.Function), samples.UsableAs(t, samples.Line, table.Number), l.category(samples.File)
	for row := range l.each(rows) {
		o := objects[codes[row]]
		if o == nil || !touches(row) {
			continue
		}
		if !o.seen {
			o.seen, o.cpu, o.paying = true, int(cpu.Float(row)), make([]float64, parts.count+1)
		}
		o.shared = o.shared || int(cpu.Float(row)) != o.cpu
		part := (addr[row] - o.lo) / o.size
		if part >= touchedParts {
			return fmt.Errorf("a sample of %s is at 0x%x, outside of it", o.symbol, addr[row])
		}
		o.ever[part] = true
		if !o.shared {
			o.early[part] = true
			o.touchedBy(function, line, file, row)
		}
		switch {
		case memory.of(row) != 0:
		case remote.of(row) == 0:
			l.add(&o.far, row)
			o.paying[parts.of(row)] += l.costOf(row)
		default:
			l.add(&o.near, row)
		}
	}
	return nil
}

// touchedBy notes the function of a sample before another CPU came.
func (o *placed) touchedBy(function, line, file *table.Column, row int) {
	if function == nil || !function.Has(row) || unknownName(function, row) {
		return
	}
	by := o.by[function.Text(row)]
	if by == nil {
		by = &toucher{lo: math.Inf(1), hi: math.Inf(-1)}
		o.by[function.Text(row)] = by
	}
	by.n++
	if line == nil || !line.Has(row) {
		return
	}
	by.lo, by.hi = min(by.lo, line.Float(row)), max(by.hi, line.Float(row))
	if file != nil && by.file == "" {
		by.file = path.Base(file.Text(row))
	}
}

// reachedAll says whether the samples before another CPU came reach nearly every part of
// the object that any sample does.
func (o *placed) reachedAll() bool {
	touched, used := 0, 0
	for i := range o.ever {
		if o.ever[i] {
			used++
		}
		if o.early[i] {
			touched++
		}
	}
	return used == touchedParts && float64(touched) >= touchedMost*float64(used)
}

// placedText is the cause, and which nodes serve nothing because of it.
func (l *insightSearch) placedText(told []*placed, topology *hw.Topology, nodes []int, served []group) string {
	names := make([]string, len(told))
	for i, o := range told {
		names[i] = o.symbol
	}
	text := fmt.Sprintf("Pages of %s were first touched by CPU %d%s", listed(names), told[0].cpu, l.codeText(told))
	var unused []string
	total, top := 0, 0
	for i, g := range served {
		total += g.n
		if g.n == 0 {
			unused = append(unused, topology.Resources[nodes[i]].Name)
		}
		if g.n > served[top].n {
			top = i
		}
	}
	if len(unused) > 0 {
		verb := "is"
		if len(unused) > 1 {
			verb = "are"
		}
		return text + fmt.Sprintf(", so %s %s unused", listed(unused), verb)
	}
	return text + fmt.Sprintf(", so %s serves %s of the %s%s samples that went to memory",
		topology.Resources[nodes[top]].Name, shareText(float64(served[top].n)/float64(total)), l.about(samples.Level), term.Thousands(total))
}

// codeText is the function, and its lines, that touched objects first.
func (l *insightSearch) codeText(told []*placed) string {
	name := l.placer(told)
	if name == "" {
		return ""
	}
	text := " in " + name
	lo, hi, where := math.Inf(1), math.Inf(-1), ""
	for _, o := range told {
		if by := o.by[name]; by != nil {
			lo, hi, where = min(lo, by.lo), max(hi, by.hi), cmp.Or(where, by.file)
		}
	}
	if lo > hi || where == "" {
		return text
	}
	lines := strconv.Itoa(int(lo))
	if hi > lo {
		lines += "–" + strconv.Itoa(int(hi))
	}
	return text + " (" + l.fileName(where) + ":" + lines + ")"
}

// placer is the function that made most of the first touches; empty if the data
// does not say.
func (l *insightSearch) placer(told []*placed) string {
	count := map[string]int{}
	best := ""
	for _, o := range told {
		for name, by := range o.by {
			count[name] += by.n
		}
	}
	for name, n := range count {
		if n > count[best] || n == count[best] && name < best {
			best = name
		}
	}
	return best
}

// payingText is who pays how much for it.
func (l *insightSearch) payingText(depth hw.Kind, topology *hw.Topology, paying []float64, far, near *group) string {
	var who []string
	for i, r := range topology.At(depth) {
		if paying[i] > 0 {
			who = append(who, topology.Resources[r].Name)
		}
	}
	text := fmt.Sprintf("; threads of %s pay %s of all %s for it", listed(who), l.share(far.cost/l.cost), l.counted())
	if l.latency != nil && near.n >= limit.samples {
		text += fmt.Sprintf(" (%s samples, %s each against %s from the own node)", term.Thousands(far.n), l.latencyText(far.mean()), l.latencyText(near.mean()))
	}
	return text
}

// counted is what costs are counted in.
func (l *insightSearch) counted() string {
	if l.latency != nil {
		return samples.LatencyWord(samples.UnitOf(l.latency))
	}
	return l.costs()
}

func (l *insightSearch) cureText(told []*placed) string {
	what := l.placer(told)
	if what == "" {
		what = "the code that does"
	}
	return fmt.Sprintf("run %s in parallel, each thread on the part that it uses later", what)
}
