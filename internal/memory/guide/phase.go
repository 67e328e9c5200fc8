package guide

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/machine/hw"
)

// This file finds phases along time, what distinguishes each, and single
// windows that stand out.

// phased is the run divided along time: leaves of as many samples each, and phases of
// leaves.
type phased struct {
	search    *insightSearch
	column    *table.Column // the time
	order     *ordering     // nil if the samples are elsewhere
	n         int           // samples
	window    int           // samples of a leaf
	bounds    []int         // leaf at which each phase begins, and the number of leaves
	borders   []int         // sample at which each begins, and the number of samples
	explained float64
	by        string // what told the phases apart

	times     map[int]float64 // of samples, by position, where they are elsewhere
	leafCuts  *query.Cuts     // and where leaves and phases begin
	phaseCuts *query.Cuts
}

// parted is rows of a search by leaf or phase.
type parted struct {
	*insightSearch
	of [][]uint32
}

// samplesIn is how many samples a leaf or phase has.
func (p *parted) samplesIn(part int) int {
	if p.alike == nil {
		return len(p.of[part])
	}
	n := 0
	for _, row := range p.of[part] {
		n += p.samplesOf(int(row))
	}
	return n
}

// leafStart is the position of the first sample of a leaf; the last leaf reaches to the end.
func (p *phased) leafStart(leaf int) int {
	if leaf == p.leaves() {
		return p.n
	}
	return leaf * p.window
}

// byLeaf is rows that are alike by leaf, byPhase by phase.
func (p *phased) byLeaf(a alike) (*parted, error) {
	starts := make([]int, p.leaves()+1)
	for i := range starts {
		starts[i] = p.leafStart(i)
	}
	return p.divided(a, starts, &p.leafCuts)
}

func (p *phased) byPhase(a alike) (*parted, error) { return p.divided(a, p.borders, &p.phaseCuts) }

// divided is rows between positions, of which the first is 0 and the last the number of
// samples. Cuts are kept.
func (p *phased) divided(a alike, starts []int, cuts **query.Cuts) (*parted, error) {
	l := p.search
	out := &parted{insightSearch: l, of: make([][]uint32, len(starts)-1)}
	if l.far == nil {
		for i := range out.of {
			out.of[i] = p.order.rows[starts[i]:starts[i+1]]
		}
		return out, nil
	}
	var err error
	if *cuts == nil {
		if *cuts, err = l.far.Cut(l.ctx, p.column.Name, l.searched(), starts[1:len(starts)-1]); err != nil {
			return nil, err
		}
	}
	a.cuts = *cuts
	if out.insightSearch, err = l.over(a); err != nil {
		return nil, err
	}
	for row, w := range out.alike.Window {
		if w < 0 || w >= len(out.of) {
			return nil, fmt.Errorf("a sample in part %d of %d along time", w, len(out.of))
		}
		out.of[w] = append(out.of[w], uint32(row))
	}
	return out, nil
}

// learn finds the times of samples at some positions, for value.
func (p *phased) learn(positions ...int) error {
	if p.order != nil || len(positions) == 0 {
		return nil
	}
	l := p.search
	cuts, err := l.far.Cut(l.ctx, p.column.Name, l.searched(), positions)
	if err != nil {
		return err
	}
	for i, at := range positions {
		p.times[at] = cuts.At(i)
	}
	return nil
}

// value is the time of a sample, which was learnt.
func (p *phased) value(at int) float64 {
	if p.order != nil {
		return p.order.value(at)
	}
	return p.times[at]
}

func (p *phased) leaves() int { return p.n / p.window }

// phased divides the run: by the mix of functions, or, where that changes too
// often to make phases, by the metric that a few phases explain best.
func (l *insightSearch) phased() (*phased, error) {
	if l.parts != nil {
		return l.parts, nil
	}
	p := &phased{search: l, window: 1, times: map[int]float64{}}
	l.parts = p
	var err error
	if p.column, err = l.axis("time"); err != nil {
		p.order = &ordering{}
		return p, nil
	}
	if l.far == nil {
		order, err := l.order(l.ctx, "time", l.where)
		if err != nil {
			return nil, err
		}
		p.order = l.busy(order)
		p.n = len(p.order.rows)
	} else if p.n, err = l.countHaving("time"); err != nil {
		return nil, err
	}
	p.window = max(p.n/limit.leaves, limit.samples)
	if p.leaves() < 2*limit.phaseRuns {
		return p, nil
	}
	if code := l.codeColumn(); code != nil {
		mix, err := p.mix(code.Name)
		if err != nil {
			return nil, err
		}
		if bounds, explained := segments(mix); bounds != nil {
			p.bounds, p.explained, p.by = bounds, explained, code.Name
			return p, p.placeBorders(alike{columns: []string{code.Name}}, classOfName(code.Name))
		}
	}
	for _, name := range []string{"mean", "dram", "remote", "tlb", "cpus"} {
		values, ok, err := p.values(name)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if bounds, explained := segments(values); bounds != nil && explained > p.explained {
			p.bounds, p.explained, p.by = bounds, explained, name
		}
	}
	if p.bounds != nil {
		m, err := l.prepare(p.by, "")
		if err != nil {
			return nil, err
		}
		like := m.alike()
		if m.cost != nil {
			like.octave = m.cost.Name
		}
		return p, p.placeBorders(like, classOf(m))
	}
	return p, nil
}

// countHaving is how many samples have a value in a column, where they are elsewhere.
func (l *insightSearch) countHaving(column string) (int, error) {
	a, err := l.far.Answer(l.ctx, &query.Request{Where: query.Both(l.searched(), query.Missing{Column: column, Not: true})})
	if err != nil {
		return 0, err
	}
	return a.Counts[query.Selected], nil
}

// alike is what a metric tells samples apart by.
func (m *measure) alike() alike {
	return alike{slots: []*slotting{m.slotting}}
}

// classing returns the class of rows of a search as a number, -1 for none.
type classing func(l *insightSearch) func(row int) int

// classOfName is the name of a row.
func classOfName(name string) classing {
	return func(l *insightSearch) func(row int) int {
		c := l.data.Table.Column(name)
		codes := c.Data.([]uint32)
		return func(row int) int {
			if !c.Has(row) {
				return -1
			}
			return int(codes[row])
		}
	}
}

// classOf is what a metric counts a row as: its slot, or where the metric is a mean the
// octave of its latency, so that a few dear samples count no more than others.
func classOf(of *measure) classing {
	return func(l *insightSearch) func(row int) int {
		m := l.measureHere(of)
		return func(row int) int {
			switch {
			case m.cost == nil && int(m.of(row)) < m.count:
				return int(m.of(row))
			case m.cost != nil && m.cost.Has(row):
				return max(0, math.Ilogb(max(m.cost.Float(row), 1)))
			}
			return -1
		}
	}
}

// measureHere is a metric over the rows that are here.
func (l *insightSearch) measureHere(m *measure) *measure {
	if l.data.Table == l.told {
		return m
	}
	p := query.Piece{Table: l.data.Table}
	if l.places != nil {
		p.Places = l.places.Code
	}
	return m.over(p)
}

// placeBorders finds the sample at which each phase begins. Leaves tell it to within
// one of them; of the samples around, the border is where those before are most like
// the phase that ends, and those after like the one that begins (the likeliest point
// of change).
func (p *phased) placeBorders(like alike, classes classing) error {
	leaves, err := p.byLeaf(like)
	if err != nil {
		return err
	}
	class := classes(leaves.insightSearch)
	p.borders = []int{0}
	var left []int // classes of the samples around the last border that are after it
	for b := 1; b < len(p.bounds)-1; b++ {
		before, after := newClassCount(), newClassCount()
		for _, k := range left {
			before.add(k, 1)
		}
		from := p.bounds[b-1]
		if b > 1 {
			from++ // the leaf before is around the last border
		}
		leaves.countClasses(class, from, p.bounds[b]-1, before)
		leaves.countClasses(class, p.bounds[b]+1, p.bounds[b+1], after)
		around, times, err := p.around(p.leafStart(p.bounds[b]-1), p.leafStart(p.bounds[b]+1), like, classes)
		if err != nil {
			return err
		}
		at, best, sum := 0, 0.0, 0.0
		for i, k := range around {
			if k >= 0 {
				sum += before.likelihood(k) - after.likelihood(k)
			}
			if sum > best {
				at, best = i+1, sum
			}
		}
		// Samples of one time belong to one phase, so that time selects it.
		for at > 0 && times[at] == times[at-1] {
			at--
		}
		p.borders = append(p.borders, p.leafStart(p.bounds[b]-1)+at)
		left = around[at:]
	}
	p.borders = append(p.borders, p.n)
	return p.learn(p.ends()...)
}

// ends are the positions whose times tell where phases begin and end.
func (p *phased) ends() []int {
	out := []int{p.n - 1}
	for _, at := range p.borders[:len(p.borders)-1] {
		if !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	return out
}

// around is the classes of the samples between two positions, and their times with that
// of the next one.
func (p *phased) around(lo, hi int, like alike, classes classing) (around []int, times []float64, err error) {
	if p.order != nil {
		class := classes(p.search)
		for _, row := range p.order.rows[lo:hi] {
			around = append(around, class(int(row)))
		}
		for i := lo; i <= hi; i++ {
			times = append(times, p.order.value(i))
		}
		return around, times, nil
	}
	if err := p.learn(lo, hi); err != nil {
		return nil, nil, err
	}
	l := p.search
	time := p.column.Name
	first := query.Compare{Column: time, Op: query.Lt, Value: numberValue(p.value(lo))}
	answer, err := l.far.Answer(l.ctx, &query.Request{Where: query.Both(l.searched(), first)})
	if err != nil {
		return nil, nil, err
	}
	at := answer.Counts[query.Selected]
	columns := slices.Clone(like.columns)
	for _, s := range like.slots {
		if s.by.Column != "" {
			columns = append(columns, s.by.Column)
		}
	}
	span := query.Range{Column: time, Lo: numberValue(p.value(lo)), Hi: numberValue(p.value(hi))}
	err = l.alongTime(span, columns, l.places != nil, func(s *insightSearch, rows []uint32) error {
		class, when := classes(s), s.data.Table.Column(time)
		for _, row := range rows {
			if at >= lo && at < hi {
				around = append(around, class(int(row)))
			}
			if at >= lo && at <= hi {
				times = append(times, when.Float(int(row)))
			}
			at++
		}
		return nil
	})
	if err == nil && len(times) != hi-lo+1 {
		err = fmt.Errorf("%d of %d samples came", len(times), hi-lo+1)
	}
	return around, times, err
}

// classCount is how often each class occurs.
type classCount struct {
	n     map[int]int
	total int
}

func newClassCount() *classCount { return &classCount{n: map[int]int{}} }

func (c *classCount) add(class, n int) {
	if class >= 0 {
		c.n[class] += n
		c.total += n
	}
}

// countClasses counts the samples of some leaves.
func (p *parted) countClasses(class func(row int) int, from, to int, into *classCount) {
	for _, rows := range p.of[from:to] {
		for row := range p.each(rows) {
			into.add(class(row), p.samplesOf(row))
		}
	}
}

// likelihood is the logarithm of how likely a class is; one that was not seen has half
// a sample.
func (c *classCount) likelihood(k int) float64 {
	return math.Log((float64(c.n[k]) + 0.5) / (float64(c.total) + 1))
}

func (l *insightSearch) codeColumn() *table.Column {
	for _, name := range []string{"function", "symbol"} {
		if c := l.category(name); c != nil && len(c.Dict) > 1 {
			return c
		}
	}
	return nil
}

// mix is the share of each name in each leaf.
func (p *phased) mix(name string) ([][]float64, error) {
	leaves, err := p.byLeaf(alike{columns: []string{name}})
	if err != nil {
		return nil, err
	}
	out := make([][]float64, p.leaves())
	c := leaves.data.Table.Column(name)
	codes := c.Data.([]uint32)
	for i, rows := range leaves.of {
		out[i] = make([]float64, len(c.Dict))
		for _, row := range rows {
			if c.Has(int(row)) {
				out[i][codes[row]] += float64(leaves.samplesOf(int(row)))
			}
		}
		n := float64(leaves.samplesIn(i))
		for k := range out[i] {
			out[i][k] /= n
		}
	}
	return out, nil
}

// values is a metric of each leaf; false if the data does not support it or a
// leaf has none.
func (p *phased) values(metric string) ([][]float64, bool, error) {
	m, err := p.search.prepare(metric, "")
	if err != nil {
		return nil, false, nil
	}
	leaves, err := p.byLeaf(m.alike())
	if err != nil {
		return nil, false, err
	}
	out := make([][]float64, p.leaves())
	here := leaves.measureHere(m)
	for i, rows := range leaves.of {
		v, ok := m.value(leaves.count(here, rows))
		if !ok {
			return nil, false, nil
		}
		out[i] = []float64{v}
	}
	return out, true, nil
}

// segments divides a series of vectors into the fewest phases, two to
// limit.phases, that explain limit.explained of its variance, and returns where
// each begins, then the end. Borders are those with the least variance within
// phases (dynamic programming over all). Nil if so few do not explain it.
func segments(series [][]float64) ([]int, float64) {
	n := len(series)
	cost := variances(series)
	total := cost(0, n)
	if total <= 1e-12*float64(n) {
		return nil, 0
	}
	run := limit.phaseRuns
	best := make([]float64, n+1) // of the first i leaves in k phases
	for i := range best {
		best[i] = math.Inf(1)
		if i >= run {
			best[i] = cost(0, i)
		}
	}
	var from [][]int
	for k := 2; k <= min(limit.phases, n/limit.perPhase); k++ {
		next, back := make([]float64, n+1), make([]int, n+1)
		for i := range next {
			next[i] = math.Inf(1)
			for j := run; j <= i-run; j++ {
				if c := best[j] + cost(j, i); c < next[i] {
					next[i], back[i] = c, j
				}
			}
		}
		from = append(from, back)
		best = next
		if explained := 1 - best[n]/total; explained >= limit.explained {
			bounds := []int{n}
			for i := k - 2; i >= 0; i-- {
				bounds = append(bounds, from[i][bounds[len(bounds)-1]])
			}
			bounds = append(bounds, 0)
			slices.Reverse(bounds)
			return bounds, explained
		}
	}
	return nil, 0
}

// variances returns the sum of squared distances from the mean of a range, from
// prefix sums.
func variances(series [][]float64) func(i, j int) float64 {
	width := len(series[0])
	sums := make([][]float64, len(series)+1)
	squares := make([]float64, len(series)+1)
	sums[0] = make([]float64, width)
	for i, v := range series {
		sums[i+1] = slices.Clone(sums[i])
		squares[i+1] = squares[i]
		for k, x := range v {
			sums[i+1][k] += x
			squares[i+1] += x * x
		}
	}
	return func(i, j int) float64 {
		if j <= i {
			return 0
		}
		s := squares[j] - squares[i]
		for k := range width {
			d := sums[j][k] - sums[i][k]
			s -= d * d / float64(j-i)
		}
		return max(s, 0)
	}
}

// trait is a metric by which phases may differ.
type trait struct {
	metric, depth string
	load          bool // about how work is spread, not what samples cost
}

func (l *insightSearch) traits() []trait {
	out := []trait{{metric: "mean"}, {metric: "dram"}, {metric: "remote"}, {metric: "tlb"}, {metric: "cpus", load: true}}
	if t := l.topology(); t != nil {
		for _, d := range t.Depths {
			// With two resources the imbalance is 1 or 0: see the notes.
			if len(d.Resources) > 2 && (d.Kind.IsCache() || d.Kind == hw.NUMA || d.Kind == hw.CPU) {
				out = append(out, trait{metric: "imbalance", depth: d.Kind.String(), load: true})
			}
		}
	}
	return out
}

// difference is how a phase stands out by one trait.
type difference struct {
	trait
	phase           int
	here, elsewhere float64
	stake, surprise float64
	text            string
	of              *claim // samples of the phase that it is about; nil: all
}

// phases tells what distinguishes each phase: one insight for what its samples
// cost and one for how its work is spread.
func phases(l *insightSearch) ([]Insight, error) {
	p, err := l.phased()
	if err != nil || p.bounds == nil {
		return nil, err
	}
	type part struct {
		phase int
		load  bool
	}
	by := map[part][]difference{}
	var parts []part
	for _, t := range l.traits() {
		d, ok, err := l.differs(p, t)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		key := part{d.phase, d.load}
		if by[key] == nil {
			parts = append(parts, key)
		}
		by[key] = append(by[key], d)
	}
	var found []Insight
	for _, key := range parts {
		ds := by[key]
		slices.SortStableFunc(ds, func(a, b difference) int { return cmp.Compare(b.stake*b.surprise, a.stake*a.surprise) })
		in, err := l.phaseInsight(p, ds)
		if err != nil {
			return nil, err
		}
		found = append(found, in)
	}
	return found, nil
}

// differs finds the phase in which a trait is strongest and compares it with the
// rest of the run. The fewest CPUs are the strongest case of that trait.
func (l *insightSearch) differs(p *phased, t trait) (difference, bool, error) {
	m, err := l.prepare(t.metric, t.depth)
	if err != nil {
		return difference{}, false, nil
	}
	parts, err := p.byPhase(m.alike())
	if err != nil {
		return difference{}, false, err
	}
	here := parts.measureHere(m)
	n := len(p.bounds) - 1
	inside := make([]*cells, n)
	d := difference{trait: t, phase: -1}
	strongest := math.Inf(-1)
	for i := range n {
		inside[i] = parts.count(here, parts.of[i])
		v, ok := m.value(inside[i])
		if t.metric == "cpus" {
			v = -v
		}
		if ok && v > strongest && inside[i].samples() >= limit.samples {
			strongest, d.phase = v, i
		}
	}
	if d.phase < 0 {
		return d, false, nil
	}
	rest := newCells(m.count)
	for i, c := range inside {
		if i != d.phase {
			rest.merge(c)
		}
	}
	d.here, _ = m.value(inside[d.phase])
	var ok bool
	if d.elsewhere, ok = m.value(rest); !ok || rest.samples() < limit.samples {
		return d, false, nil
	}
	more, less := d.here, d.elsewhere
	if t.metric == "cpus" {
		more, less = less, more
	}
	if more < limit.change*less || more == 0 {
		return d, false, nil
	}
	if m.Unit == "share" && int(inside[d.phase].n[0]) < limit.samples {
		return d, false, nil
	}
	if t.metric == "imbalance" && !tilted(inside[d.phase], rest) {
		return d, false, nil
	}
	// A phase that is most of the run has most of its cost: it is compared with
	// the whole run, itself included. Work that is badly spread there would hide
	// itself in the whole, so that is compared with the rest.
	usual := less
	if !t.load {
		whole := rest
		whole.merge(inside[d.phase])
		usual, _ = m.value(whole)
	}
	d.surprise = max(1-usual/more, 0)
	d.surprise *= p.explained
	if m.Unit == "share" {
		d.of = &claim{slots: []*slotting{m.slotting}}
	}
	d.stake = l.phaseStake(p, &d, inside[d.phase], parts, here)
	d.text = l.traitText(&d)
	return d, true, nil
}

// tilted reports whether the busiest resource of a phase has more than its part
// of the rest of the run by more than chance, and stands out more than any does
// there. Imbalance in σ alone is between 2 and 3 for even loads too.
func tilted(here, rest *cells) bool {
	top := 0
	for i, n := range here.n {
		if n > here.n[top] {
			top = i
		}
	}
	expected := float64(here.samples()) * float64(rest.n[top]) / float64(rest.samples())
	a, _ := peak(here)
	b, _ := peak(rest)
	return stands(float64(here.n[top]), expected) && a >= limit.change*b
}

func (l *insightSearch) count(m *measure, rows []uint32) *cells {
	c := newCells(m.count + 1)
	for row := range l.each(rows) {
		if l.alike == nil {
			c.add(m, row)
			continue
		}
		k := m.of(row)
		c.n[k] += uint32(l.samplesOf(row))
		if m.latency {
			cost, valued := l.costAt(row)
			c.valued[k] += uint32(valued)
			c.sum[k] += cost
		}
	}
	return c.inside(m.count)
}

func (c *cells) samples() int {
	n := 0
	for _, k := range c.n {
		n += int(k)
	}
	return n
}

func (c *cells) merge(o *cells) {
	for i := range c.n {
		c.n[i] += o.n[i]
		c.valued[i] += o.valued[i]
		c.sum[i] += o.sum[i]
	}
}

// phaseStake is what a difference is about: the cost of the phase or of its
// memory, remote or missing samples; for work that is badly spread, the part of
// the run's time in which resources wait for the busiest one.
func (l *insightSearch) phaseStake(p *phased, d *difference, c *cells, parts *parted, m *measure) float64 {
	if d.load {
		first, last := p.value(0), p.value(p.n-1)
		if last <= first {
			return 0
		}
		begin, end := p.span(d.phase)
		time := (end - begin) / (last - first)
		if d.metric == "cpus" {
			return time * (1 - d.here/d.elsewhere)
		}
		mean, _, most, _, _ := c.load()
		return time * (1 - mean/most)
	}
	cost := 0.0
	for _, row := range parts.of[d.phase] {
		if d.of == nil || m.of(int(row)) == 0 {
			cost += parts.costOf(int(row))
		}
	}
	return cost / l.cost
}

// span is from the first sample of a phase to the first one after it.
func (p *phased) span(phase int) (from, to float64) {
	return p.value(p.borders[phase]), p.value(min(p.borders[phase+1], p.n-1))
}

func (l *insightSearch) traitText(d *difference) string {
	switch d.metric {
	case "mean":
		return fmt.Sprintf("a sample costs %s against %.1f", l.latencyText(d.here), d.elsewhere)
	case "dram":
		return fmt.Sprintf("%s%s of samples come from memory against %s", l.about("level"), shareText(d.here), shareText(d.elsewhere))
	case "remote":
		return fmt.Sprintf("%s%s are served by another node against %s", l.about("level"), shareText(d.here), shareText(d.elsewhere))
	case "tlb":
		return fmt.Sprintf("%s%s miss the TLB against %s", l.about("tlb"), shareText(d.here), shareText(d.elsewhere))
	case "cpus":
		if d.here == 1 {
			return fmt.Sprintf("only 1 CPU issues samples against %.0f", d.elsewhere)
		}
		return fmt.Sprintf("only %.0f CPUs issue samples against %.0f", d.here, d.elsewhere)
	}
	about := ""
	if d.depth != "CPU" {
		about = l.about("level")
	}
	return fmt.Sprintf("the %s load is %s%.2f σ out of balance against %.2f", d.depth, about, d.here, d.elsewhere)
}

// phaseInsight puts the differences of one phase into a sentence, best first.
func (l *insightSearch) phaseInsight(p *phased, ds []difference) (Insight, error) {
	const most = 3
	d := ds[0]
	var texts []string
	for i := range ds[:min(most, len(ds))] {
		texts = append(texts, ds[i].text)
	}
	mostly, err := l.mostly(p, d.phase)
	if err != nil {
		return Insight{}, err
	}
	from, to := p.span(d.phase)
	op := query.Lt
	if d.phase+2 == len(p.bounds) {
		op = query.Le
	}
	where := query.And{Terms: []query.Expr{
		query.Compare{Column: "time", Op: query.Ge, Value: numberValue(from)},
		query.Compare{Column: "time", Op: op, Value: numberValue(to)},
	}}
	in := Insight{
		Text: fmt.Sprintf("Phase %d of %d along time (%s%s): %s in the rest", d.phase+1, len(p.bounds)-1,
			l.times(p.column, from, to), mostly, strings.Join(texts, ", ")),
		Stake: d.stake, Surprise: d.surprise,
		Where: l.within(where), View: AxisView, Axis: "time", Metric: d.metric, Depth: d.depth,
		subject: fmt.Sprintf("the cost of phase %d of %d", d.phase+1, len(p.bounds)-1), of: d.of,
	}
	if d.load {
		in.Of, in.subject = "time", fmt.Sprintf("the spread of work in phase %d of %d", d.phase+1, len(p.bounds)-1)
	}
	return in, nil
}

// mostly names the function that most samples of a phase are in.
func (l *insightSearch) mostly(p *phased, phase int) (string, error) {
	const name = "function"
	if l.category(name) == nil {
		return "", nil
	}
	parts, err := p.byPhase(alike{columns: []string{name}})
	if err != nil {
		return "", err
	}
	c := parts.data.Table.Column(name)
	counts := make([]int, len(c.Dict))
	for _, row := range parts.of[phase] {
		if c.Has(int(row)) {
			counts[c.Data.([]uint32)[row]] += parts.samplesOf(int(row))
		}
	}
	top := 0
	for i, n := range counts {
		if n > counts[top] {
			top = i
		}
	}
	return fmt.Sprintf("; %s has %s of its samples", c.Dict[top], shareText(float64(counts[top])/float64(parts.samplesIn(phase)))), nil
}

// times writes a range of time, nanoseconds in a unit that fits.
func (l *insightSearch) times(c *table.Column, from, to float64) string {
	unit, factor := c.Unit, 1.0
	if unit == "ns" {
		for _, u := range []struct {
			name   string
			factor float64
		}{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}} {
			if math.Abs(to) >= u.factor {
				unit, factor = u.name, u.factor
				break
			}
		}
	}
	return strings.TrimSpace(fmt.Sprintf("%s%s %s", l.about("time"), term.Span(from/factor, to/factor), unit))
}

// leafTime is the time of a leaf with all samples of it: its ends may be the times of
// samples of other leaves too, which a selection of the time has.
func (l *insightSearch) leafTime(p *phased, leaf int) (w Window, of group, err error) {
	from, to := p.leafStart(leaf), p.leafStart(leaf+1)
	if err := p.learn(from, to-1); err != nil {
		return w, of, err
	}
	w = Window{From: p.value(from), To: p.value(to - 1), Closed: true}
	if l.far != nil {
		within := *l
		within.where, within.kept = query.Both(l.where, w.Expr(p.column.Name)), nil
		rows, err := within.over(alike{})
		if err != nil {
			return w, of, err
		}
		for row := range rows.rows {
			rows.add(&of, row)
		}
		return w, of, nil
	}
	for from > 0 && p.value(from-1) == w.From {
		from--
	}
	for to < p.n && p.value(to) == w.To {
		to++
	}
	for _, row := range p.order.rows[from:to] {
		l.add(&of, int(row))
	}
	return w, of, nil
}

// outliers is the window along time whose samples cost most, if it stands out
// from its phase. The yardstick is the median distance from the median, which
// outliers do not move.
func outliers(l *insightSearch) ([]Insight, error) {
	p, err := l.phased()
	if err != nil || p.leaves() < 2*limit.phaseRuns || l.latency == nil {
		return nil, err
	}
	values, ok, err := p.values("mean")
	if !ok || err != nil {
		return nil, err
	}
	bounds := p.bounds
	if bounds == nil {
		bounds = []int{0, len(values)}
	}
	best, at, of := 0.0, -1, 0.0
	for i := range bounds[1:] {
		part := values[bounds[i]:bounds[i+1]]
		center, spread := robust(part)
		for k, v := range part {
			if far := (v[0] - center) / spread; far > best {
				best, at, of = far, bounds[i]+k, center
			}
		}
	}
	if at < 0 || best < limit.outlier {
		return nil, nil
	}
	w, samples, err := l.leafTime(p, at)
	if err != nil {
		return nil, err
	}
	v := samples.mean()
	// A few dear samples make a window dear by chance.
	mean := l.overall()
	deviation := math.Sqrt(max(l.squares/float64(l.valued)-mean*mean, 0) / float64(samples.valued))
	if v-of < limit.sigmas*deviation {
		return nil, nil
	}
	return []Insight{{
		Text: fmt.Sprintf("Around %s a sample costs %s against a median of %.1f in windows of %s samples beside it",
			l.times(p.column, w.From, w.To), l.latencyText(v), of, term.Thousands(p.window)),
		Stake: samples.cost / l.cost, Surprise: 1 - of/v,
		Where: l.within(w.Expr("time")), View: AxisView, Axis: "time", Metric: "mean",
		subject: "samples around " + l.times(p.column, w.From, w.To),
	}}, nil
}

// robust is the median of a series and the median distance from it, of which at
// least a fiftieth of the median is assumed.
func robust(series [][]float64) (center, spread float64) {
	v := make([]float64, len(series))
	for i := range v {
		v[i] = series[i][0]
	}
	slices.Sort(v)
	center = v[len(v)/2]
	for i := range v {
		v[i] = math.Abs(v[i] - center)
	}
	slices.Sort(v)
	return center, max(v[len(v)/2], center/50, 1e-9)
}
