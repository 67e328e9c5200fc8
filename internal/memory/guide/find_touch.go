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
	rows   []int // its samples, in the order of time
	early  []int // those before another CPU came
	far    group // those that the memory of another node served
}

// touchedFirst is the story of objects that one CPU placed and others pay for:
// cause, effect, cost and cure in one sentence.
func touchedFirst(l *insightSearch) ([]Insight, error) {
	remote, _ := l.isRemote()
	depth, parts := l.farParts()
	topology, nodes, served := l.loads(hw.NUMA)
	if remote == nil || parts == nil || len(nodes) < 2 || l.cost == 0 {
		return nil, nil
	}
	objects := l.placedBy()
	if len(objects) == 0 {
		return nil, nil
	}
	memory, err := l.inMemory(0)
	if err != nil {
		return nil, err
	}
	l.countFar(objects, func(row int) bool { return remote(row) && memory.of(row) == 0 })
	told := worst(objects)
	var far, near group
	paying := make([]group, parts.count+1)
	for _, o := range told {
		for _, row := range o.rows {
			if memory.of(row) != 0 {
				continue
			}
			to := &near
			if remote(row) {
				to = &far
				paying[parts.of(row)].cost += l.costOf(row)
			}
			l.add(to, row)
		}
	}
	if far.n < limit.samples || float64(far.n) < l.remoteByChance()/2*float64(far.n+near.n) {
		return nil, nil
	}
	text := l.placedText(told, topology, nodes, served) + l.payingText(depth, topology, paying, &far, &near)
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
		subject: fmt.Sprintf("pages first touched by CPU %d", told[0].cpu), cure: l.cureText(told), of: func(row int) bool { return remote(row) && memory.of(row) == 0 },
	}}, nil
}

// countFar counts the samples of objects that the memory of another node served.
func (l *insightSearch) countFar(objects map[int32]*placed, far func(row int) bool) {
	for _, o := range objects {
		for _, row := range o.rows {
			if far(row) {
				l.add(&o.far, row)
			}
		}
	}
}

// worst are the objects of the CPU that placed most of what others pay for, the
// dearest first; objects of other CPUs, and those that nobody pays for, are taken
// out.
func worst(objects map[int32]*placed) []*placed {
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
func (l *insightSearch) placedBy() map[int32]*placed {
	t := l.data.Table
	symbol, addr, cpu := l.category(samples.Symbol), t.Column(samples.Addr), samples.UsableAs(t, samples.CPU, table.Number)
	when := samples.UsableAs(t, samples.Time, table.Time)
	if symbol == nil || cpu == nil || when == nil || addr == nil || addr.Kind != table.Address {
		return nil
	}
	found := map[int32]*placed{}
	for _, g := range l.groups(nil, samples.Symbol) {
		if g.n >= limit.samples && g.cost >= limit.score*l.cost && len(found) < maxObjects {
			found[g.code] = &placed{group: g, symbol: symbol.Text(g.row)}
		}
	}
	codes, clock := l.grouping([]string{samples.Symbol}).code, when.Data.([]int64)
	rows := map[int32][]int{}
	for row := range l.rows {
		if found[codes[row]] != nil && cpu.Has(row) && when.Has(row) && addr.Has(row) {
			rows[codes[row]] = append(rows[codes[row]], row)
		}
	}
	for code, of := range rows {
		slices.SortStableFunc(of, func(a, b int) int { return cmp.Compare(clock[a], clock[b]) })
		o := found[code]
		o.rows, o.cpu = of, int(cpu.Float(of[0]))
		n := slices.IndexFunc(of, func(row int) bool { return int(cpu.Float(row)) != o.cpu })
		if n < 0 {
			delete(found, code) // nobody else uses it
			continue
		}
		o.early = of[:n]
		if !reachesAll(addr.Data.([]uint64), of, n) {
			delete(found, code)
		}
	}
	for code := range found {
		if len(rows[code]) == 0 {
			delete(found, code)
		}
	}
	return found
}

// reachesAll says whether the first n rows reach nearly every part of the object
// that any row does.
func reachesAll(addresses []uint64, rows []int, n int) bool {
	lo, hi := uint64(math.MaxUint64), uint64(0)
	for _, row := range rows {
		lo, hi = min(lo, addresses[row]), max(hi, addresses[row])
	}
	size := (hi-lo)/touchedParts + 1
	var early, ever [touchedParts]bool
	for i, row := range rows {
		at := (addresses[row] - lo) / size
		ever[at] = true
		early[at] = early[at] || i < n
	}
	touched, used := 0, 0
	for i := range ever {
		if ever[i] {
			used++
		}
		if early[i] {
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
	line, file := samples.UsableAs(l.data.Table, samples.Line, table.Number), l.category(samples.File)
	function := l.category(samples.Function)
	lo, hi, where := math.Inf(1), math.Inf(-1), ""
	for _, o := range told {
		for _, row := range o.early {
			if function.Text(row) != name || line == nil || !line.Has(row) {
				continue
			}
			lo, hi = min(lo, line.Float(row)), max(hi, line.Float(row))
			if file != nil && where == "" {
				where = path.Base(file.Text(row))
			}
		}
	}
	if lo > hi || where == "" {
		return text
	}
	lines := strconv.Itoa(int(lo))
	if hi > lo {
		lines += "–" + strconv.Itoa(int(hi))
	}
	return text + " (" + where + ":" + lines + ")"
}

// placer is the function that made most of the first touches; empty if the data
// does not say.
func (l *insightSearch) placer(told []*placed) string {
	function := l.category(samples.Function)
	if function == nil {
		return ""
	}
	count := map[string]int{}
	best := ""
	for _, o := range told {
		for _, row := range o.early {
			if !function.Has(row) || unknownName(function, row) {
				continue
			}
			name := function.Text(row)
			count[name]++
			if count[name] > count[best] || count[name] == count[best] && name < best {
				best = name
			}
		}
	}
	return best
}

// payingText is who pays how much for it.
func (l *insightSearch) payingText(depth hw.Kind, topology *hw.Topology, paying []group, far, near *group) string {
	var who []string
	for i, r := range topology.At(depth) {
		if paying[i].cost > 0 {
			who = append(who, topology.Resources[r].Name)
		}
	}
	text := fmt.Sprintf("; threads of %s pay %s of all %s for it", listed(who), l.share(far.cost/l.cost), l.cycles())
	if l.latency != nil && near.n >= limit.samples {
		text += fmt.Sprintf(" (%s samples, %s each against %s from the own node)", term.Thousands(far.n), l.latencyText(far.mean()), l.latencyText(near.mean()))
	}
	return text
}

// cycles is what costs are counted in.
func (l *insightSearch) cycles() string {
	if l.latency != nil {
		return samples.UnitOf(l.latency)
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
