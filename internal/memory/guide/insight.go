package guide

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// Insight is one thing that is worth a look.
type Insight struct {
	Kind string
	Text string // one sentence with its numbers; ≈ marks modelled ones
	// Score is what orders findings: stake × surprise × weight, between 0 and 1
	// and comparable between kinds. People are shown the stake. The stake is the share of the run's cost that the finding
	// is about (latency, or samples where there are none), surprise
	// how far it is from what an even or random run would show, and the weight
	// of a kind is in Kinds.
	Score                   float64
	Stake, Surprise, Weight float64
	// Uncertainty is how far the stake may be off by chance, one standard
	// deviation either way: few dear samples make a large one.
	Uncertainty float64
	// Of is what the stake is a share of: the run's cost, or its time or samples
	// for work that is badly spread.
	Of string
	// Own is the part of the stake that no finding before this one has: the sum
	// over a list counts every cost once.
	Own float64
	// PartOf is the kind of the nearest finding above without one, which tells
	// the story of this one: both are about the same samples. Empty for most.
	PartOf string
	// Where selects the samples, in the selection language.
	Where string
	// View is the view that shows the evidence; Axis, Metric and Depth set it
	// up where it needs that.
	View                View
	Axis, Metric, Depth string

	subject string // what it is about, for the sentence of a story
	cure    string // what to do about it
	why     int    // how much of the why its kind tells
	of      *claim // samples of Where that the stake is about; nil: all
	beside  bool   // Where selects what the finding is compared with
}

// View names a view of the page.
type View string

// The views that show evidence.
const (
	TopologyView  View = "topology"
	CodeView      View = "code"
	OffendersView View = "offenders"
	AxisView      View = "axis"
	ParallelView  View = "parallel"
)

// kind is one row of the table of kinds.
type kind struct {
	name   string
	about  string // what is looked for, for people who wait
	weight float64
	// why is how much of the cause a kind tells: 2 names who did what, 1 a
	// mechanism, 0 only where or when the cost is.
	why  int
	cure string // what usually helps; empty where that depends
	find func(*insightSearch) ([]Insight, error)
}

// The kinds of insight with their weights: a finding that names a cause with a
// known cure weighs 1, a pattern that may be inherent to the program one half,
// and one that only says where the cycles are a quarter.
var kinds = []kind{
	{"waiting", "threads that wait", 1, 2, "", waiting},
	{"kernel", "time in the kernel", 1, 1, "", inKernel},
	{"hot-line", "hot lines", 0.25, 0, "", hotLine},
	{"hot-object", "hot objects", 0.25, 0, "", hotObject},
	{"odd-host", "hosts unlike the others", 1, 2, "", oddMachines},
	{"odd-rank", "ranks unlike the others", 1, 2, "", oddRanks},
	{"odd-cpu", "CPUs unlike the others", 1, 1, "", oddCPUs},
	{"idle-core", "idle cores", 1, 1, "give it a thread", withWaiting(idleCores)},
	{"busy-core", "busy cores", 1, 1, "divide its work", withWaiting(busyCores)},
	{"one-node", "the nodes that serve memory", 1, 1, "let each thread touch first what it uses later", oneNode},
	{firstTouch, "who touched memory first", 1, 2, "", touchedFirst},
	{"remote", "remote accesses", 1, 1, "place these pages on the node whose threads use them", remoteAccesses},
	{"scattered", "scattered indices", 1, 1, "give neighbours to the same part of the machine", scattered},
	{"phase", "phases", 1, 1, "", phases},
	{"outlier", "outliers", 1, 0, "", outliers},
	{"tlb", "TLB misses", 1, 1, "larger pages, or an order that stays longer on a page, save misses", tlbMisses},
	{"false-sharing", "false sharing", 1, 2, "give what each CPU writes a cache line of its own", falseSharing},
	{"shared-line", "contended lines", 1, 2, "let each CPU write a copy and join them later", sharedLines},
	{"random-access", "random access", 0.5, 1, "an order that follows memory saves misses", randomAccess},
	{"strided-access", "strided access", 0.5, 1, "put the elements that are used beside each other", stridedAccess},
}

// aboutLeftOut is how many kinds, the first, tell of samples that the others leave
// out.
const aboutLeftOut = 2

// limit are the thresholds of all finders. What they have in common: a finding
// must stand out by more than chance (sigmas), from enough samples, and by
// enough to matter.
var limit = struct {
	score     float64 // below it a finding is noise, or not worth showing
	sigmas    float64 // standard deviations from what chance gives
	samples   int     // fewest samples a finding may rest on
	idle      float64 // an idle core has at most this part of the median core
	busy      float64 // a busy one at least this multiple
	oneNode   float64 // share of memory samples on one node
	scatter   float64 // difference of agreement within and across neighbours
	indices   int     // fewest different indices for a decomposition
	leaves    int     // windows along time for phases and outliers
	phases    int     // most phases told apart
	phaseRuns int     // fewest windows of a phase
	perPhase  int     // fewest windows for each phase, on average
	explained float64 // share of a metric's variance that phases explain
	change    float64 // a phase's metric is at least this multiple of the rest
	outlier   float64 // robust deviations of an outlier window
	lineHits  int     // fewest modified hits on a cache line: one is its first use
	hits      int     // and on all such lines of an object
	random    float64 // least randomness of steps, 1 is fully random
	stride    int     // least common step of a strided object
}{
	score: 0.001, sigmas: 5, samples: 50,
	idle: 0.1, busy: 1.25,
	oneNode: 0.8,
	scatter: 0.25, indices: 8,
	leaves: 128, phases: 6, phaseRuns: 3, perPhase: 12, explained: 0.7, change: 1.25, outlier: 10,
	lineHits: 2, hits: 4,
	random: 0.6, stride: 2,
}

// insightSearch is one search for insights.
type insightSearch struct {
	*Guide
	// far is the engine of rows that are not here, nil if they are; see over.
	far query.Distant
	// told is the table that says what columns are, alike how many samples each row of
	// Guide's stands for; nil: one.
	told  *table.Table
	alike *query.Condensed
	kept  map[string]*insightSearch // of over, by what was asked for

	ctx      context.Context
	where    query.Expr
	selected table.Bits // nil: all rows
	all      table.Bits // with the samples that are left out, which are no memory traffic; nil where there are none
	idleToo  bool       // samples that are left out are searched too
	waits    int        // how many samples wait
	kernel   int        // how many of the others are in the kernel
	latency  *table.Column
	samples  int
	valued   int     // samples that have a cost
	cost     float64 // of all selected samples
	squares  float64 // sum of squared costs
	parts    *phased // along time; nil until worked out
	grouped  map[string]*grouping
	process  *grouping         // of rows by their address space, where grouping them here would not tell
	short    map[string]string // what files are called; nil until asked for
	objects  []*steps          // of objects that cost more than others; nil until worked out
}

type foundKey struct{ where string }

// findings are remembered by the selection that was searched.
type findings []Insight

func (f findings) bytes() int64 {
	const each = 512 // beside its texts, and the texts that are short
	sum := int64(0)
	for i := range f {
		sum += each + int64(len(f[i].Text)+len(f[i].Where)+len(f[i].subject)+len(f[i].cure))
	}
	return sum
}

// Insights returns what is worth a look in a selection, best first. Those that
// the data cannot support are not among them. Progress may be nil.
func (g *Guide) Insights(ctx context.Context, where query.Expr, progress Progress) ([]Insight, error) {
	key, stable := keyOf(where)
	if found, ok := lookup[findings](g, foundKey{key}); ok && stable {
		return found, nil
	}
	l, err := g.newInsightSearch(ctx, where)
	if err != nil {
		return nil, err
	}
	found := []Insight{}
	for i, k := range kinds {
		// A program that does nothing but wait, or is in the kernel, has that told.
		if l.samples < limit.samples && i >= aboutLeftOut {
			break
		}
		progress.tell("looking for "+k.about, i, len(kinds))
		some, err := k.find(l)
		if err != nil {
			return nil, fmt.Errorf("insight %s: %w", k.name, err)
		}
		for _, in := range some {
			in.Kind, in.Weight = k.name, k.weight
			in.Score = in.Stake * in.Surprise * k.weight
			in.why, in.cure, in.Of = k.why, cmp.Or(in.cure, k.cure), cmp.Or(in.Of, l.costs())
			in.Uncertainty = l.uncertainty(in.Stake, in.Of)
			if in.Score >= limit.score {
				found = append(found, in)
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(found, func(a, b Insight) int { return cmp.Compare(b.Score, a.Score) })
	if found, err = l.join(found); err != nil {
		return nil, err
	}
	if stable {
		store(g, foundKey{key}, findings(found))
	}
	return found, nil
}

func (g *Guide) newInsightSearch(ctx context.Context, where query.Expr) (*insightSearch, error) {
	l := &insightSearch{Guide: g, ctx: ctx, where: where, latency: g.latency(), told: g.data.Table}
	if l.far = g.distant(); l.far != nil {
		return l, l.countElsewhere()
	}
	var err error
	if l.selected, err = g.selected(ctx, where); err != nil {
		return nil, err
	}
	l.leaveOutIdle()
	l.countRows()
	return l, nil
}

// countRows counts the samples that are searched.
func (l *insightSearch) countRows() {
	var all group
	for row := range l.rows {
		l.add(&all, row)
		l.squares += l.squareOf(row)
	}
	l.samples, l.valued, l.cost = all.n, all.valued, all.cost
}

// uncertainty is the standard deviation of a share, of the cost or of the samples, if
// the samples fell into it by chance; 0 where that is not known, as of time.
func (l *insightSearch) uncertainty(share float64, of string) float64 {
	if share <= 0 || share >= 1 {
		return 0
	}
	switch {
	case of == l.costs() && l.cost > 0:
		return math.Sqrt(share*(1-share)*l.squares) / l.cost
	case of == inSamples && l.samples > 0:
		return math.Sqrt(share * (1 - share) / float64(l.samples))
	}
	return 0
}

// each yields the rows of a list, and lets answers go first as rows does.
func (l *insightSearch) each(list []uint32) iter.Seq[int] {
	return func(yield func(int) bool) {
		for block := range slices.Chunk(list, blockRows) {
			parallel.StandBack(l.ctx)
			for _, row := range block {
				if !yield(int(row)) {
					return
				}
			}
		}
	}
}

// rows yields the selected rows, and lets answers that somebody waits for go first.
func (l *insightSearch) rows(yield func(int) bool) {
	n := l.rowCount()
	for from := 0; from < n; from += blockRows {
		parallel.StandBack(l.ctx)
		to := min(from+blockRows, n)
		if l.selected == nil {
			for i := from; i < to; i++ {
				if !yield(i) {
					return
				}
			}
			continue
		}
		for i := range l.selected[from/64 : (to+63)/64].All() {
			if !yield(from + i) {
				return
			}
		}
	}
}

// rowCount is how many rows are here.
func (l *insightSearch) rowCount() int {
	if l.alike != nil {
		return len(l.alike.Count)
	}
	return l.data.Table.Rows()
}

// samplesOf is how many samples a row stands for.
func (l *insightSearch) samplesOf(row int) int {
	if l.alike != nil {
		return l.alike.Count[row]
	}
	return 1
}

// costOf is the latency of the samples of a row, or their number where no sample has a
// latency.
func (l *insightSearch) costOf(row int) float64 {
	cost, _ := l.costAt(row)
	return cost
}

// costAt is costOf, and how many samples have a cost: much hardware times loads
// alone, and what a sample costs is said of those that were timed.
func (l *insightSearch) costAt(row int) (cost float64, valued int) {
	switch {
	case l.latency == nil:
		return float64(l.samplesOf(row)), l.samplesOf(row)
	case l.alike != nil:
		return l.alike.Sum[row], l.alike.Valued[row]
	}
	if v := l.latency.Float(row); l.latency.Has(row) && v == v {
		return v, 1
	}
	return 0, 0
}

// squareOf is the sum of the squared costs of the samples of a row.
func (l *insightSearch) squareOf(row int) float64 {
	if l.alike != nil && l.latency != nil {
		return l.alike.Squares[row]
	}
	c := l.costOf(row)
	if l.latency == nil {
		return c // of which each is 1
	}
	return c * c
}

// costs says what shares are of.
func (l *insightSearch) costs() string {
	switch {
	case l.latency != nil:
		return "latency"
	case l.waits > 0 && l.kernel > 0:
		return "samples that do not wait and are not in the kernel"
	case l.kernel > 0:
		return "samples outside the kernel"
	case l.waits > 0:
		return "samples that do not wait"
	}
	return inSamples
}

// inSamples is what shares are of where there is no latency, and for work that is
// badly spread.
const inSamples = "samples"

// category returns a column of names, nil if the data has none.
func (l *insightSearch) category(name string) *table.Column {
	return samples.UsableAs(l.data.Table, name, table.Category)
}

// about is the mark of numbers that rest on modelled columns.
func (l *insightSearch) about(columns ...string) string {
	for _, name := range columns {
		if c := l.told.Column(name); c != nil && c.Provenance == table.Modelled {
			return samples.About(c.Provenance)
		}
	}
	return ""
}

// share writes a share of the run's cost.
func (l *insightSearch) share(f float64) string { return l.about(samples.Latency) + shareText(f) }

// StakeText is what stands in front of a finding: the share of the cost that it is
// about, with its uncertainty where there is one, and of what.
func (in *Insight) StakeText() string {
	text := shareText(in.Stake)
	if in.Uncertainty > 0 {
		text += " ± " + shareText(in.Uncertainty)
	}
	return text + " of the " + in.Of
}

// shareText writes a share; a small one keeps two digits, so that it is not shown
// as none.
func shareText(f float64) string {
	if f > 0 && f < 0.001 {
		return fmt.Sprintf("%.2g %%", 100*f)
	}
	return term.Percent(f)
}

// numberValue writes whole numbers in full: times in nanoseconds are long.
func numberValue(f float64) query.Value {
	v := query.NumberValue(f)
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		v.Text = strconv.FormatFloat(f, 'f', -1, 64)
	}
	return v
}

// latencyText writes a mean latency.
func (l *insightSearch) latencyText(mean float64) string {
	return strings.TrimSpace(fmt.Sprintf("%s%.1f %s", l.about(samples.Latency), mean, samples.UnitOf(l.latency)))
}

// overall is the mean cost of all samples that have one.
func (l *insightSearch) overall() float64 { return l.cost / float64(max(l.valued, 1)) }

// within adds the selection searched to the selection of a finding.
func (l *insightSearch) within(e query.Expr) string {
	if e = all(l.where, e); e == nil {
		return ""
	}
	return e.String()
}

// equals selects the rows in which columns have the values that row has.
func equals(t *table.Table, row int, columns ...string) query.Expr {
	var terms []query.Expr
	for _, name := range columns {
		c := t.Column(name)
		switch {
		case c == nil:
		case !c.Has(row):
			terms = append(terms, query.Missing{Column: name})
		case c.Kind == table.Category:
			terms = append(terms, query.Compare{Column: name, Op: query.Eq, Value: query.TextValue(c.Text(row))})
		case c.Kind == table.Address:
			terms = append(terms, query.Compare{Column: name, Op: query.Eq, Value: query.AddressValue(c.Data.([]uint64)[row])})
		default:
			terms = append(terms, query.Compare{Column: name, Op: query.Eq, Value: numberValue(c.Float(row))})
		}
	}
	return all(terms...)
}

// all is the intersection of selections, of which some may be nil.
func all(selections ...query.Expr) query.Expr {
	var terms []query.Expr
	for _, e := range selections {
		if and, ok := e.(query.And); ok {
			terms = append(terms, and.Terms...)
		} else if e != nil {
			terms = append(terms, e)
		}
	}
	switch len(terms) {
	case 0:
		return nil
	case 1:
		return terms[0]
	}
	return query.And{Terms: terms}
}

// stands reports whether a count is above what was expected by more than chance.
func stands(got, expected float64) bool {
	return got-expected >= limit.sigmas*math.Sqrt(max(expected, 1))
}

// group is the rows that have equal values in some columns.
type group struct {
	code   int32 // in its grouping
	row    int   // one of them
	n      int
	valued int // of them, those that have a cost
	cost   float64
}

// mean is what a row costs, of those that have a cost.
func (g *group) mean() float64 { return g.cost / float64(max(g.valued, 1)) }

// add counts the samples of a row.
func (l *insightSearch) add(g *group, row int) {
	cost, valued := l.costAt(row)
	g.n += l.samplesOf(row)
	g.valued += valued
	g.cost += cost
}

// addAll counts what another group has.
func (g *group) addAll(o *group) {
	g.n += o.n
	g.valued += o.valued
	g.cost += o.cost
}

// groups divides rows by columns, of all selected rows or of those for which of
// holds. Rows without a value in the last column belong to no group: nobody can
// insightSearch at what is not known.
func (l *insightSearch) groups(of func(row int) bool, columns ...string) []group {
	g := l.grouping(columns)
	if g == nil {
		return nil
	}
	counted := make([]group, len(g.first))
	for row := range l.rows {
		k := g.code[row]
		if k < 0 || of != nil && !of(row) {
			continue
		}
		if counted[k].n == 0 {
			counted[k].row = row
		}
		l.add(&counted[k], row)
	}
	out := counted[:0]
	for k, c := range counted {
		if c.n > 0 {
			c.code = int32(k)
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b group) int { return cmp.Compare(b.cost, a.cost) })
	return out
}

// grouping numbers the different values of some columns in the order in which
// they appear. Several finders group by the same columns, and finding the number
// of a row costs more than counting it.
type grouping struct {
	code  []int32 // of each row, -1: in no group
	first []int   // row of each group
}

// grouping returns nil if the data lacks one of the columns.
func (l *insightSearch) grouping(columns []string) *grouping {
	name := strings.Join(columns, "\x00")
	if g, ok := l.grouped[name]; ok {
		return g
	}
	var cols []*table.Column
	for _, c := range columns {
		if cols = append(cols, l.data.Table.Column(c)); cols[len(cols)-1] == nil {
			return nil
		}
	}
	g := &grouping{code: make([]int32, l.rowCount())}
	last := cols[len(cols)-1]
	at := map[[2]float64]int32{}
	var key, before [2]float64
	k := int32(-1)
	for row := range l.rows {
		g.code[row] = -1
		if !last.Has(row) || unknownName(last, row) {
			continue
		}
		for i, c := range cols {
			key[i] = -1
			if c.Has(row) {
				key[i] = c.Float(row)
			}
		}
		// Samples of one line often follow each other.
		if k < 0 || key != before {
			var ok bool
			if k, ok = at[key]; !ok {
				k = int32(len(g.first))
				at[key] = k
				g.first = append(g.first, row)
			}
			before = key
		}
		g.code[row] = k
	}
	if l.grouped == nil {
		l.grouped = map[string]*grouping{}
	}
	l.grouped[name] = g
	return g
}

// unknownName tells names that tools write for "not known".
func unknownName(c *table.Column, row int) bool {
	if c.Kind != table.Category {
		return false
	}
	name := c.Text(row)
	return name == "" || strings.Trim(name, "?") == "" || name == "[unknown]"
}
