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

// phased is the run divided along time.
type phased struct {
	order     *ordering
	window    int   // samples of a leaf
	bounds    []int // leaf at which each phase begins, and the number of leaves
	borders   []int // sample at which each begins, and the number of samples
	explained float64
	by        string // what told the phases apart
}

// leafRows returns the rows of some leaves; the last reaches to the end.
func (p *phased) leafRows(from, to int) []uint32 {
	end := to * p.window
	if to == p.leaves() {
		end = len(p.order.rows)
	}
	return p.order.rows[from*p.window : end]
}

// rows returns the rows of a phase.
func (p *phased) rows(phase int) []uint32 { return p.order.rows[p.borders[phase]:p.borders[phase+1]] }

func (p *phased) leaves() int { return len(p.order.rows) / p.window }

// phased divides the run: by the mix of functions, or, where that changes too
// often to make phases, by the metric that a few phases explain best.
func (l *insightSearch) phased() (*phased, error) {
	if l.parts != nil {
		return l.parts, nil
	}
	l.parts = &phased{window: 1, order: &ordering{}}
	if _, err := l.axis("time"); err != nil {
		return l.parts, nil
	}
	order, err := l.order(l.ctx, "time", l.where)
	if err != nil {
		return nil, err
	}
	order = l.busy(order)
	p := &phased{order: order, window: max(len(order.rows)/limit.leaves, limit.samples)}
	l.parts = p
	if p.leaves() < 2*limit.phaseRuns {
		return p, nil
	}
	if code := l.codeColumn(); code != nil {
		if bounds, explained := segments(p.mix(code)); bounds != nil {
			p.bounds, p.explained, p.by = bounds, explained, code.Name
			p.placeBorders(classOfName(code))
			return p, nil
		}
	}
	for _, name := range []string{"mean", "dram", "remote", "tlb", "cpus"} {
		values, ok := p.values(l, name)
		if !ok {
			continue
		}
		if bounds, explained := segments(values); bounds != nil && explained > p.explained {
			p.bounds, p.explained, p.by = bounds, explained, name
		}
	}
	if p.bounds != nil {
		p.placeBorders(l.classOf(p.by))
	}
	return p, nil
}

// classOfName is the name of a row as a number, -1 if it has none.
func classOfName(c *table.Column) func(row int) int {
	codes := c.Data.([]uint32)
	return func(row int) int {
		if !c.Has(row) {
			return -1
		}
		return int(codes[row])
	}
}

// classOf is what a metric counts a row as, -1 for nothing: its slot, or where the
// metric is a mean the octave of its latency, so that a few dear samples count no more
// than others.
func (l *insightSearch) classOf(metric string) func(row int) int {
	m, err := l.prepare(metric, "")
	if err != nil {
		return func(int) int { return -1 }
	}
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

// placeBorders finds the sample at which each phase begins. Leaves tell it to within
// one of them; of the samples around, the border is where those before are most like
// the phase that ends, and those after like the one that begins (the likeliest point
// of change).
func (p *phased) placeBorders(class func(row int) int) {
	n := len(p.order.rows)
	p.borders = []int{0}
	for b := 1; b < len(p.bounds)-1; b++ {
		lo, hi := (p.bounds[b]-1)*p.window, (p.bounds[b]+1)*p.window
		end := p.bounds[b+1] * p.window
		if b+1 == len(p.bounds)-1 {
			end = n
		}
		before, after := p.countClasses(class, p.borders[b-1], lo), p.countClasses(class, hi, end)
		at, best, sum := lo, 0.0, 0.0
		for i := lo; i < hi; i++ {
			if k := class(int(p.order.rows[i])); k >= 0 {
				sum += before.likelihood(k) - after.likelihood(k)
			}
			if sum > best {
				at, best = i+1, sum
			}
		}
		// Samples of one time belong to one phase, so that time selects it.
		for at > lo && p.order.value(at) == p.order.value(at-1) {
			at--
		}
		p.borders = append(p.borders, at)
	}
	p.borders = append(p.borders, n)
}

// classCount is how often each class occurs.
type classCount struct {
	n     map[int]int
	total int
}

func (p *phased) countClasses(class func(row int) int, from, to int) classCount {
	c := classCount{n: map[int]int{}}
	for _, row := range p.order.rows[from:to] {
		if k := class(int(row)); k >= 0 {
			c.n[k]++
			c.total++
		}
	}
	return c
}

// likelihood is the logarithm of how likely a class is; one that was not seen has half
// a sample.
func (c classCount) likelihood(k int) float64 {
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
func (p *phased) mix(c *table.Column) [][]float64 {
	out := make([][]float64, p.leaves())
	codes := c.Data.([]uint32)
	for i := range out {
		rows := p.leafRows(i, i+1)
		out[i] = make([]float64, len(c.Dict))
		for _, row := range rows {
			if c.Has(int(row)) {
				out[i][codes[row]] += 1 / float64(len(rows))
			}
		}
	}
	return out
}

// values is a metric of each leaf; false if the data does not support it or a
// leaf has none.
func (p *phased) values(l *insightSearch, metric string) ([][]float64, bool) {
	m, err := l.prepare(metric, "")
	if err != nil {
		return nil, false
	}
	out := make([][]float64, p.leaves())
	for i := range out {
		v, ok := l.valueOf(m, p.leafRows(i, i+1))
		if !ok {
			return nil, false
		}
		out[i] = []float64{v}
	}
	return out, true
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
	of              func(row int) bool // samples of the phase that it is about; nil: all
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
		d, ok := l.differs(p, t)
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
		found = append(found, l.phaseInsight(p, ds))
	}
	return found, nil
}

// differs finds the phase in which a trait is strongest and compares it with the
// rest of the run. The fewest CPUs are the strongest case of that trait.
func (l *insightSearch) differs(p *phased, t trait) (difference, bool) {
	m, err := l.prepare(t.metric, t.depth)
	if err != nil {
		return difference{}, false
	}
	n := len(p.bounds) - 1
	inside := make([]*cells, n)
	d := difference{trait: t, phase: -1}
	strongest := math.Inf(-1)
	for i := range n {
		inside[i] = l.count(m, p.rows(i))
		v, ok := m.value(inside[i])
		if t.metric == "cpus" {
			v = -v
		}
		if ok && v > strongest && inside[i].samples() >= limit.samples {
			strongest, d.phase = v, i
		}
	}
	if d.phase < 0 {
		return d, false
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
		return d, false
	}
	more, less := d.here, d.elsewhere
	if t.metric == "cpus" {
		more, less = less, more
	}
	if more < limit.change*less || more == 0 {
		return d, false
	}
	if m.Unit == "share" && int(inside[d.phase].n[0]) < limit.samples {
		return d, false
	}
	if t.metric == "imbalance" && !tilted(inside[d.phase], rest) {
		return d, false
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
		d.of = func(row int) bool { return m.slotting.of(row) == 0 }
	}
	d.stake = l.phaseStake(p, &d, inside[d.phase])
	d.text = l.traitText(&d)
	return d, true
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
	for _, row := range rows {
		c.add(m, int(row))
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
func (l *insightSearch) phaseStake(p *phased, d *difference, c *cells) float64 {
	if d.load {
		first, last := p.order.value(0), p.order.value(len(p.order.rows)-1)
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
	for _, row := range p.rows(d.phase) {
		if d.of == nil || d.of(int(row)) {
			cost += l.costOf(int(row))
		}
	}
	return cost / l.cost
}

// span is from the first sample of a phase to the first one after it.
func (p *phased) span(phase int) (from, to float64) {
	from = p.order.value(p.borders[phase])
	return from, p.order.value(min(p.borders[phase+1], len(p.order.rows)-1))
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
func (l *insightSearch) phaseInsight(p *phased, ds []difference) Insight {
	const most = 3
	d := ds[0]
	var texts []string
	for i := range ds[:min(most, len(ds))] {
		texts = append(texts, ds[i].text)
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
			l.times(p.order.column, from, to), l.mostly(p, d.phase), strings.Join(texts, ", ")),
		Stake: d.stake, Surprise: d.surprise,
		Where: l.within(where), View: AxisView, Axis: "time", Metric: d.metric, Depth: d.depth,
		subject: fmt.Sprintf("the cost of phase %d of %d", d.phase+1, len(p.bounds)-1), of: d.of,
	}
	if d.load {
		in.Of, in.subject = "time", fmt.Sprintf("the spread of work in phase %d of %d", d.phase+1, len(p.bounds)-1)
	}
	return in
}

// mostly names the function that most samples of a phase are in.
func (l *insightSearch) mostly(p *phased, phase int) string {
	c := l.category("function")
	if c == nil {
		return ""
	}
	counts := make([]int, len(c.Dict))
	rows := p.rows(phase)
	for _, row := range rows {
		if c.Has(int(row)) {
			counts[c.Data.([]uint32)[row]]++
		}
	}
	top := 0
	for i, n := range counts {
		if n > counts[top] {
			top = i
		}
	}
	return fmt.Sprintf("; %s has %s of its samples", c.Dict[top], shareText(float64(counts[top])/float64(len(rows))))
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
		return strings.TrimSpace(fmt.Sprintf("%s%.4g to %.4g %s", l.about("time"), from/factor, to/factor, unit))
	}
	return strings.TrimSpace(fmt.Sprintf("%s%s to %s %s", l.about("time"), term.Short(from), term.Short(to), unit))
}

// around is the time of a leaf with all samples of it: its ends may be the times of
// samples of other leaves too, which a selection of the time has.
func (l *insightSearch) around(p *phased, leaf int) (w Window, of group) {
	from := leaf * p.window
	to := from + len(p.leafRows(leaf, leaf+1))
	w = Window{From: p.order.value(from), To: p.order.value(to - 1), Closed: true}
	for from > 0 && p.order.value(from-1) == w.From {
		from--
	}
	for to < len(p.order.rows) && p.order.value(to) == w.To {
		to++
	}
	for _, row := range p.order.rows[from:to] {
		l.add(&of, int(row))
	}
	return w, of
}

// outliers is the window along time whose samples cost most, if it stands out
// from its phase. The yardstick is the median distance from the median, which
// outliers do not move.
func outliers(l *insightSearch) ([]Insight, error) {
	p, err := l.phased()
	if err != nil || p.leaves() < 2*limit.phaseRuns || l.latency == nil {
		return nil, err
	}
	values, ok := p.values(l, "mean")
	if !ok {
		return nil, nil
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
	w, samples := l.around(p, at)
	v := samples.mean()
	// A few dear samples make a window dear by chance.
	mean := l.overall()
	deviation := math.Sqrt(max(l.squares/float64(l.valued)-mean*mean, 0) / float64(samples.valued))
	if v-of < limit.sigmas*deviation {
		return nil, nil
	}
	return []Insight{{
		Text: fmt.Sprintf("Around %s a sample costs %s against a median of %.1f in windows of %s samples beside it",
			l.times(p.order.column, w.From, w.To), l.latencyText(v), of, term.Thousands(p.window)),
		Stake: samples.cost / l.cost, Surprise: 1 - of/v,
		Where: l.within(w.Expr("time")), View: AxisView, Axis: "time", Metric: "mean",
		subject: "samples around " + l.times(p.order.column, w.From, w.To),
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
