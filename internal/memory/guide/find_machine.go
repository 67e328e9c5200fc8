package guide

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/machine/hw"
)

// This file finds how the program uses the machine: cores, memory nodes, cache
// lines.

// loads counts samples and cost by resource of a depth; nil without a topology.
func (l *insightSearch) loads(depth hw.Kind) (*hw.Topology, []int, []group) {
	s, err := l.resources(depth)
	if err != nil {
		return nil, nil, nil
	}
	out := make([]group, s.count+1)
	for row := range l.rows {
		k := s.of(row)
		l.add(&out[k], row)
	}
	topology := l.places.Coder.Placer.Topology
	return topology, topology.At(depth), out[:s.count]
}

// cores counts by core, or by CPU where the topology has no cores.
func (l *insightSearch) cores() (hw.Kind, *hw.Topology, []int, []group) {
	depth := hw.Core
	topology, at, loads := l.loads(depth)
	if len(at) < 2 {
		depth = hw.CPU
		topology, at, loads = l.loads(depth)
	}
	return depth, topology, at, loads
}

// coresAlike is what samples have in common that cores and serial tell apart.
func coresAlike(l *insightSearch) alike {
	a := alike{columns: []string{samples.TID}}
	for _, depth := range []hw.Kind{hw.Core, hw.CPU} {
		if s, err := l.resources(depth); err == nil && (s.count > 1 || depth == hw.CPU) {
			a.slots = []*slotting{s}
			break
		}
	}
	return a
}

// medianLoad is the median of the resources that have samples.
func medianLoad(loads []group) float64 {
	var n []int
	for _, g := range loads {
		if g.n > 0 {
			n = append(n, g.n)
		}
	}
	if len(n) == 0 {
		return 0
	}
	slices.Sort(n)
	return float64(n[len(n)/2])
}

// sigmas is how many standard deviations a load is from the mean: the term of
// equation 2.
func sigmas(loads []group, n int) float64 {
	c := newCells(len(loads))
	for i, g := range loads {
		c.n[i] = uint32(g.n)
	}
	mean, sigma, _, _, ok := c.load()
	if !ok || sigma == 0 {
		return 0
	}
	return math.Abs(float64(n)-mean) / sigma
}

// serial reports whether one thread made all samples: it cannot use two cores.
func (l *insightSearch) serial() bool {
	return l.data.Table.Column(samples.TID) != nil && len(l.groups(nil, samples.TID)) < 2
}

// idleCores are cores that issue next to nothing while most others work. A
// program that uses fewer than half of the cores was not meant to use them all.
func idleCores(l *insightSearch) ([]Insight, error) {
	l, err := l.over(coresAlike(l))
	if err != nil {
		return nil, err
	}
	depth, topology, at, loads := l.cores()
	median := medianLoad(loads)
	if len(at) < 2 || median < float64(limit.samples) || l.serial() {
		return nil, nil
	}
	var idle []int
	missing, most := 0.0, 0
	for i, g := range loads {
		if float64(g.n) <= limit.idle*median && stands(median, float64(g.n)) {
			idle = append(idle, i)
			missing += median - float64(g.n)
			most = max(most, g.n)
		}
	}
	if len(idle) == 0 || 2*len(idle) > len(at) {
		return nil, nil
	}
	var names []string
	for _, i := range idle {
		names = append(names, named(&topology.Resources[at[i]]))
	}
	have := "no samples"
	if most > 0 {
		have = "at most " + term.Thousands(most) + " samples"
	}
	verb := "has"
	if len(idle) > 1 {
		verb = "have"
	}
	return []Insight{{
		Text: fmt.Sprintf("%s %s %s, %.1f σ below the mean, while the median of the %d other %s has %s",
			listed(names), verb, have, sigmas(loads, loads[idle[0]].n), len(at)-len(idle), plural(depth), term.Thousands(int(median))),
		Stake: missing / float64(l.samples), Surprise: 1 - float64(most)/median,
		Where: l.within(besides(topology, at, idle, loads)), View: TopologyView, Metric: "imbalance", Depth: depth.String(),
		Of: inSamples, beside: true, subject: listed(names),
	}}, nil
}

// besidesOf is how many idle cores are shown with their neighbours; a sentence
// names no more either.
const besidesOf = 4

// besides selects idle cores, as far as they have samples, and the nearest on
// either side that work, of the same package if there are any: they show what an
// idle core could do.
func besides(t *hw.Topology, at, idle []int, loads []group) query.Expr {
	idles, shown := make([]bool, len(at)), make([]bool, len(at))
	for _, i := range idle {
		idles[i] = true
	}
	for _, i := range idle[:min(len(idle), besidesOf)] {
		shown[i] = loads[i].n > 0
		var near, inside []int
		for _, step := range []int{-1, 1} {
			k := i + step
			for k >= 0 && k < len(at) && idles[k] {
				k += step
			}
			if k < 0 || k >= len(at) {
				continue
			}
			near = append(near, k)
			if packageOf(t, at[k]) == packageOf(t, at[i]) {
				inside = append(inside, k)
			}
		}
		if len(inside) > 0 {
			near = inside
		}
		for _, k := range near {
			shown[k] = true
		}
	}
	var terms []query.Expr
	for i, r := range at {
		if shown[i] {
			terms = append(terms, query.At{Resource: t.Resources[r].ID})
		}
	}
	return anyOf(terms)
}

// named is a core with its CPUs.
func named(r *hw.Resource) string {
	if r.Kind == hw.CPU {
		return r.Name
	}
	return fmt.Sprintf("%s (CPUs %s)", r.Name, r.OwnCPUs())
}

// packageOf is the package of a resource, 0 if there is none.
func packageOf(t *hw.Topology, resource int) int {
	for i := t.Resources[resource].Parent; i > 0; i = t.Resources[i].Parent {
		if t.Resources[i].Kind == hw.Package {
			return i
		}
	}
	return 0
}

func anyOf(terms []query.Expr) query.Expr {
	if len(terms) == 1 {
		return terms[0]
	}
	return query.Or{Terms: terms}
}

// listed joins names; of many, it counts the rest.
func listed(names []string) string {
	const most = 4
	if len(names) > most {
		names = append(slices.Clone(names[:most-1]), fmt.Sprintf("%d more", len(names)-most+1))
	}
	if len(names) == 1 {
		return names[0]
	}
	text := names[0]
	for _, n := range names[1 : len(names)-1] {
		text += ", " + n
	}
	return text + " and " + names[len(names)-1]
}

func plural(k hw.Kind) string {
	switch k {
	case hw.Core:
		return "cores"
	case hw.CPU:
		return "CPUs"
	case hw.NUMA:
		return "memory nodes"
	}
	return k.String() + " resources"
}

// busyCores is the core that issues most, if it stands out.
func busyCores(l *insightSearch) ([]Insight, error) {
	l, err := l.over(coresAlike(l))
	if err != nil {
		return nil, err
	}
	depth, topology, at, loads := l.cores()
	median := medianLoad(loads)
	if len(at) < 3 || median < float64(limit.samples) {
		return nil, nil
	}
	top := 0
	for i, g := range loads {
		if g.n > loads[top].n {
			top = i
		}
	}
	n := float64(loads[top].n)
	if n < limit.busy*median || !stands(n, median) {
		return nil, nil
	}
	r := &topology.Resources[at[top]]
	return []Insight{{
		Text: fmt.Sprintf("%s issued %s samples, %.1f times the median %s and %.1f σ above the mean",
			named(r), term.Thousands(loads[top].n), n/median, depth, sigmas(loads, loads[top].n)),
		Stake: (n - median) / float64(l.samples), Surprise: 1 - median/n,
		Where: l.within(query.At{Resource: r.ID}), View: TopologyView, Metric: "imbalance", Depth: depth.String(),
		Of: inSamples, subject: named(r),
	}}, nil
}

// oneNode is memory traffic that one node serves for CPUs of several. A program
// that runs on the CPUs of one node only should use its memory.
func oneNode(l *insightSearch) ([]Insight, error) {
	if l.places == nil {
		return nil, nil
	}
	l, err := l.over(alike{places: true})
	if err != nil {
		return nil, err
	}
	topology, at, loads := l.loads(hw.NUMA)
	if len(at) < 2 {
		return nil, nil
	}
	total, top := group{}, 0
	for i, g := range loads {
		total.n += g.n
		total.cost += g.cost
		if g.n > loads[top].n {
			top = i
		}
	}
	if total.n < limit.samples {
		return nil, nil
	}
	near, err := l.issuedNear(at)
	if err != nil {
		return nil, err
	}
	share := float64(loads[top].n) / float64(total.n)
	issued := float64(near[top]) / float64(total.n)
	if share < limit.oneNode || issued >= limit.oneNode || !stands(float64(loads[top].n), issued*float64(total.n)) {
		return nil, nil
	}
	r := &topology.Resources[at[top]]
	which := shareText(share)
	if loads[top].n == total.n {
		which = "all"
	}
	return []Insight{{
		Text: fmt.Sprintf("%s serves %s of the %s%s samples that went to memory, but its CPUs issued only %s of them; these take %s of the %s",
			r.Name, which, l.about("level"), term.Thousands(total.n), shareText(issued), l.share(loads[top].cost/l.cost), l.costs()),
		Stake: loads[top].cost / l.cost, Surprise: (share - issued) / (1 - issued),
		Where: l.within(query.At{Resource: r.ID}), View: TopologyView, Metric: "peak", Depth: "NUMA",
		subject: "memory of " + r.Name,
	}}, nil
}

// issuedNear counts the samples that memory served by the node of their CPU.
func (l *insightSearch) issuedNear(nodes []int) ([]int, error) {
	served, err := l.resources(hw.NUMA)
	if err != nil {
		return nil, err
	}
	placer := l.places.Coder.Placer
	node := make([]int, len(l.places.Coder.Places)) // of each code's CPU, -1 if unclear
	for code, pl := range l.places.Coder.Places {
		node[code] = -1
		if cpu, _ := placer.Access(pl); cpu >= 0 {
			if r, ok := placer.Topology.Node(cpu); ok {
				node[code] = slices.Index(nodes, r.Index)
			}
		}
	}
	near := make([]int, len(nodes))
	for row := range l.rows {
		if int(served.of(row)) < served.count && node[l.places.Code[row]] >= 0 {
			near[node[l.places.Code[row]]] += l.samplesOf(row)
		}
	}
	return near, nil
}

// isRemote returns the test for samples served by another node and the selection
// of those; nil if the data does not say.
func (l *insightSearch) isRemote() (*slotting, query.Expr) {
	s, err := l.afar(0)
	if err != nil {
		return nil, nil
	}
	e := query.Expr(query.In{Column: "level", Values: []query.Value{query.TextValue(hw.RemoteCache.String()), query.TextValue(hw.RemoteRAM.String())}})
	if c := l.told.Column("remote"); c != nil && c.Kind == table.Flag {
		e = query.Compare{Column: "remote", Op: query.Eq, Value: numberValue(1)}
	}
	return s, e
}

// servedAlike is what samples have in common that isRemote and inMemory tell apart.
func (l *insightSearch) servedAlike(columns ...string) alike {
	a := alike{columns: append([]string{samples.Level}, columns...)}
	for _, slots := range []func(hw.Kind) (*slotting, error){l.afar, l.inMemory} {
		if s, err := slots(0); err == nil && l.places != nil {
			a.slots = append(a.slots, s)
		}
	}
	return a
}

// remoteAccesses are samples served by another node, with the objects and lines
// they belong to. They are a finding if one object or line has more than its part
// of them, or if more samples went to another node than if pages lay on any node
// by chance; the larger of both is told.
func remoteAccesses(l *insightSearch) ([]Insight, error) {
	served, selection := l.isRemote()
	if served == nil {
		return nil, nil
	}
	l, err := l.over(l.servedAlike(codeColumns...))
	if err != nil {
		return nil, err
	}
	here, _ := l.isRemote()
	remote := func(row int) bool { return here.of(row) == 0 }
	memory, err := l.inMemory(0)
	if err != nil {
		return nil, err
	}
	var far, near group
	away := 0 // of those that memory served
	for row := range l.rows {
		switch inMemory := memory.of(row) == 0; {
		case remote(row):
			l.add(&far, row)
			if inMemory {
				away += l.samplesOf(row)
			}
		case inMemory:
			l.add(&near, row)
		}
	}
	if far.n < limit.samples || l.cost == 0 {
		return nil, nil
	}
	in := Insight{View: OffendersView, Where: l.within(selection), subject: "samples served by another node", of: &claim{slots: []*slotting{served}}}
	text := fmt.Sprintf("%s%s of the samples were served by another node (%s of the %s)",
		l.about("level"), shareText(float64(far.n)/float64(l.samples)), l.share(far.cost/l.cost), l.costs())
	if l.latency != nil && near.n >= limit.samples {
		text += fmt.Sprintf(", %s each against %s from their own", l.latencyText(far.mean()), l.latencyText(near.mean()))
	}
	text += l.causes(remote, far.n)
	why := ""
	if chance := l.remoteByChance(); chance > 0 && stands(float64(away), chance*float64(away+near.n)) {
		share := float64(away) / float64(away+near.n)
		why = fmt.Sprintf("; they are %s of the samples that went to memory, where pages placed by chance give %s", shareText(share), shareText(chance))
		in.Stake, in.Surprise = far.cost/l.cost, (share-chance)/(1-chance)
	}
	if f, ok := l.focused(remote); ok && f.cost/l.cost*f.narrowing > in.Stake*in.Surprise {
		why = fmt.Sprintf("; %s has %s of them but %s of all samples",
			l.describe(f.row, f.columns), shareText(float64(f.n)/float64(f.total.n)), shareText(f.expected/float64(f.total.n)))
		in.Stake, in.Surprise = f.cost/l.cost, f.narrowing
		in.Where = l.within(all(selection, equals(l.data.Table, f.row, f.columns...)))
		in.subject += " of " + l.describe(f.row, f.columns)
	}
	if why == "" {
		return nil, nil
	}
	in.Text = text + why
	return []Insight{in}, nil
}

// causes lists the objects and lines that most samples of a kind belong to.
func (l *insightSearch) causes(special func(row int) bool, total int) string {
	const most = 2
	text := ""
	for _, columns := range [][]string{{"symbol"}, {"file", "line"}} {
		those := l.groups(special, columns...)
		slices.SortStableFunc(those, func(a, b group) int { return b.n - a.n })
		var names []string
		for _, g := range those[:min(most, len(those))] {
			_, name, _ := strings.Cut(l.describe(g.row, columns), " ")
			names = append(names, fmt.Sprintf("%s (%s)", name, shareText(float64(g.n)/float64(total))))
		}
		switch {
		case len(names) == 0:
		case columns[0] == "symbol":
			text += "; most are of " + listed(names)
		case text == "":
			text += "; most are in " + listed(names)
		default:
			text += ", in " + listed(names)
		}
	}
	return text
}

// remoteByChance is the part of memory samples that are remote if pages lie on any
// node by chance; 0 if the machine has one node, or is not known.
func (l *insightSearch) remoteByChance() float64 {
	t := l.topology()
	if t == nil || t.NodesOfMachine() < 2 {
		return 0
	}
	return 1 - 1/float64(t.NodesOfMachine())
}

// lineKey is a cache line of a process: two processes, or two hosts, have other data at
// an address.
type lineKey struct {
	process int32 // as processes numbers them
	line    uint64
}

// touch is what is known of one cache line.
type touch struct {
	group
	hits  int // snoops that found the line modified elsewhere
	cpus  map[int]struct{}
	apart map[uint64]map[int]struct{} // CPUs by address
}

// processColumns tell one address space from another.
var processColumns = []string{samples.Host, samples.PID}

// processes numbers the address spaces of rows, and how many there are; nil if the
// data does not tell them apart.
func (l *insightSearch) processes() (of []int32, count int) {
	columns := l.processColumns()
	if columns == nil {
		return nil, 1
	}
	g := l.process
	if g == nil {
		g = l.grouping(columns)
	}
	return g.code, len(g.first)
}

// processColumns are those that these data tell address spaces apart by.
func (l *insightSearch) processColumns() []string {
	var columns []string
	for _, name := range processColumns {
		if samples.Usable(l.told, name) != nil {
			columns = append(columns, name)
		}
	}
	return columns
}

// lineKeys says which line an address of a row is on.
func (l *insightSearch) lineKeys() func(row int) lineKey {
	process, _ := l.processes()
	at, size := l.data.Table.Column("addr").Data.([]uint64), l.lineSize()
	return func(row int) lineKey {
		key := lineKey{line: at[row] / size}
		if process != nil {
			key.process = process[row]
		}
		return key
	}
}

// hitModified is the name of a snoop that found the line modified elsewhere.
const hitModified = "hit modified"

// contended are the cache lines that caches took from each other modified.
func (l *insightSearch) contended() map[lineKey]*touch {
	snoop, addr, cpu := l.category("snoop"), l.data.Table.Column("addr"), l.data.Table.Column("cpu")
	if snoop == nil || addr == nil || addr.Kind != table.Address || cpu == nil {
		return nil
	}
	code, ok := snoop.Code(hitModified)
	if !ok {
		return nil
	}
	at, codes, keyOf := addr.Data.([]uint64), snoop.Data.([]uint32), l.lineKeys()
	lines := map[lineKey]*touch{}
	for row := range l.rows {
		if snoop.Has(row) && codes[row] == code && addr.Has(row) && cpu.Has(row) {
			key := keyOf(row)
			if lines[key] == nil {
				lines[key] = &touch{group: group{row: row}, cpus: map[int]struct{}{}, apart: map[uint64]map[int]struct{}{}}
			}
			lines[key].hits += l.samplesOf(row)
		}
	}
	for row := range l.rows {
		t := lines[keyOf(row)]
		if t == nil || !addr.Has(row) || !cpu.Has(row) {
			continue
		}
		c := int(cpu.Float(row))
		l.add(&t.group, row)
		t.cpus[c] = struct{}{}
		if t.apart[at[row]] == nil {
			t.apart[at[row]] = map[int]struct{}{}
		}
		t.apart[at[row]][c] = struct{}{}
	}
	return lines
}

// lineSize is that of the innermost cache that says, else 64 bytes.
func (l *insightSearch) lineSize() uint64 {
	if l.places != nil {
		t := l.places.Coder.Placer.Topology
		for _, i := range t.At(hw.Cache1) {
			if n := t.Resources[i].Line; n > 0 {
				return uint64(n)
			}
		}
	}
	return 64
}

// private reports whether every address of a line belongs to one CPU: the CPUs
// share the line, not the data.
func (t *touch) private() bool {
	for _, cpus := range t.apart {
		if len(cpus) > 1 {
			return false
		}
	}
	return len(t.apart) > 1
}

// falseSharing is cache lines that move between CPUs which use different data in
// them.
func falseSharing(l *insightSearch) ([]Insight, error) {
	l, err := l.overContended()
	if l == nil || err != nil {
		return nil, err
	}
	return l.sharing(true, "%s is falsely shared: %s%d samples found one of %d of its cache lines modified by another CPU, %d CPUs use different addresses in them; these lines take %s of the %s"), nil
}

// sharedLines move between CPUs that use the same data.
func sharedLines(l *insightSearch) ([]Insight, error) {
	l, err := l.overContended()
	if l == nil || err != nil {
		return nil, err
	}
	return l.sharing(false, "%s is contended: %s%d samples found one of %d of its cache lines modified by another CPU, %d CPUs use the same addresses in them; these lines take %s of the %s"), nil
}

// sharing puts the lines of one object together.
func (l *insightSearch) sharing(private bool, format string) []Insight {
	symbol := l.category("symbol")
	lines := l.contended()
	by := map[string][]lineKey{}
	var names []string
	for _, key := range slices.SortedFunc(maps.Keys(lines), compareLines) {
		t := lines[key]
		if t.private() != private || len(t.cpus) < 2 || t.hits < limit.lineHits {
			continue
		}
		name := fmt.Sprintf("The line at 0x%x", key.line*l.lineSize())
		if symbol != nil && symbol.Has(t.row) && !unknownName(symbol, t.row) {
			name = "Object " + symbol.Text(t.row)
		}
		if by[name] == nil {
			names = append(names, name)
		}
		by[name] = append(by[name], key)
	}
	var found []Insight
	for _, name := range names {
		hits, cost, cpus := 0, 0.0, map[int]struct{}{}
		for _, key := range by[name] {
			hits += lines[key].hits
			cost += lines[key].cost
			maps.Copy(cpus, lines[key].cpus)
		}
		if hits < limit.hits {
			continue
		}
		where, whole := l.linesExpr(by[name], lines)
		in := Insight{
			Text:  fmt.Sprintf(format, name, l.about("snoop"), hits, len(by[name]), len(cpus), l.share(cost/l.cost), l.costs()),
			Stake: cost / l.cost, Surprise: 1,
			Where: l.within(where), View: ParallelView,
			subject: "contended cache lines of " + name,
		}
		if !whole {
			in.of = &claim{lines: by[name], process: l.processExprs(by[name], lines)}
		}
		found = append(found, in)
	}
	return found
}

// onLines is whether a row is of one of some lines.
func (l *insightSearch) onLines(keys []lineKey) func(row int) bool {
	set := map[lineKey]bool{}
	for _, key := range keys {
		set[key] = true
	}
	keyOf := l.lineKeys()
	addr := l.data.Table.Column("addr")
	return func(row int) bool { return addr.Has(row) && set[keyOf(row)] }
}

// processExpr selects the address space of a row.
func (l *insightSearch) processExpr(row int) query.Expr {
	return equals(l.data.Table, row, processColumns...)
}

// processExprs are those of the address spaces of some lines, by number.
func (l *insightSearch) processExprs(keys []lineKey, lines map[lineKey]*touch) map[int32]query.Expr {
	out := map[int32]query.Expr{}
	for _, key := range keys {
		if out[key.process] == nil {
			out[key.process] = l.processExpr(lines[key].row)
		}
	}
	return out
}

// mostRanges is how many ranges of addresses a selection names one by one; of more, it
// has what lies between them too.
const mostRanges = 16

func compareLines(a, b lineKey) int {
	return cmp.Or(cmp.Compare(a.process, b.process), cmp.Compare(a.line, b.line))
}

// linesExpr selects cache lines, neighbouring ones as one range, each of its process;
// whole is false if it selects others between them.
func (l *insightSearch) linesExpr(keys []lineKey, lines map[lineKey]*touch) (e query.Expr, whole bool) {
	if e, n := l.rangesOf(keys, lines, 1); n <= mostRanges {
		return e, true
	}
	e, _ = l.rangesOf(keys, lines, math.MaxUint64)
	return e, false
}

// rangesOf selects lines, which are sorted, as ranges that go on to the next line if it
// is no farther than gap; n is how many ranges there are.
func (l *insightSearch) rangesOf(keys []lineKey, lines map[lineKey]*touch, gap uint64) (_ query.Expr, n int) {
	size := l.lineSize()
	_, processes := l.processes()
	var terms []query.Expr
	for i := 0; i < len(keys); {
		j := i + 1
		for j < len(keys) && keys[j].process == keys[i].process && keys[j].line-keys[j-1].line <= gap {
			j++
		}
		e := query.Expr(query.Range{Column: "addr", Lo: query.AddressValue(keys[i].line * size), Hi: query.AddressValue(keys[j-1].line*size + size - 1)})
		if processes > 1 {
			e = all(l.processExpr(lines[keys[i]].row), e)
		}
		terms = append(terms, e)
		i = j
	}
	return anyOf(terms), len(terms)
}
