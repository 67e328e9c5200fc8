package guide

import (
	"fmt"
	"math"
	"slices"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// This file finds what code and data the cost belongs to.

// hotLine is the line with the most cost. Surprise is how far its share is above
// that of an average line.
func hotLine(l *insightSearch) ([]Insight, error) {
	columns := []string{"line"}
	if l.data.Table.Column("file") != nil {
		columns = []string{"file", "line"}
	}
	l, err := l.over(alike{columns: columns})
	if err != nil {
		return nil, err
	}
	return l.hottest(CodeView, func(row int) string {
		return "line " + l.place(l.data.Table, row)
	}, columns...), nil
}

func hotObject(l *insightSearch) ([]Insight, error) {
	l, err := l.over(alike{columns: []string{"symbol"}})
	if err != nil {
		return nil, err
	}
	return l.hottest(OffendersView, func(row int) string {
		return "object " + l.data.Table.Column("symbol").Text(row)
	}, "symbol"), nil
}

// place is the source line of a row.
func (l *insightSearch) place(t *table.Table, row int) string {
	text := t.Column("line").Text(row)
	if f := t.Column("file"); f != nil && f.Has(row) {
		text = l.fileName(f.Text(row)) + ":" + text
	}
	return text
}

// fileName is what sentences call a source file: as much of its path as tells it from
// the others. The selection of a finding has all of it.
func (l *insightSearch) fileName(path string) string {
	if l.short == nil {
		var paths []string
		if c := l.told.Column("file"); c != nil {
			paths = c.Dict
		}
		l.short = term.ShortPaths(paths)
	}
	if name, ok := l.short[path]; ok {
		return name
	}
	return path
}

func (l *insightSearch) hottest(view View, name func(row int) string, columns ...string) []Insight {
	all := l.groups(nil, columns...)
	if len(all) < 2 || l.cost == 0 {
		return nil
	}
	top := all[0]
	share, even := top.cost/l.cost, 1/float64(len(all))
	// If samples fell on lines by chance, the cost of a line would have this
	// deviation: few dear samples make a large one.
	if deviation := math.Sqrt(even * l.squares); top.cost-even*l.cost < limit.sigmas*deviation {
		return nil
	}
	text := fmt.Sprintf("%s has %s of the %s", capital(name(top.row)), l.share(share), l.costs())
	if l.latency != nil {
		text += fmt.Sprintf(" in %s of the samples, %s each against %s over all", shareText(float64(top.n)/float64(l.samples)), l.latencyText(top.mean()), l.latencyText(l.overall()))
	}
	text += fmt.Sprintf("; the next has %s", l.share(all[1].cost/l.cost))
	return []Insight{{
		Text: text, Stake: share, Surprise: 1 - even/share,
		Where: l.within(equals(l.data.Table, top.row, columns...)), View: view,
		subject: name(top.row),
	}}
}

func capital(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}

// focus is where a special kind of sample is concentrated.
type focus struct {
	group              // the special samples of one object or line
	total     group    // all special samples
	columns   []string // that name the object or line
	expected  float64  // special samples it would have by its share of all samples
	narrowing float64  // surprise: 1 - expected/n
}

// codeColumns are what focused and causes look at.
var codeColumns = []string{"symbol", "file", "line"}

// focused finds the object or line that has most more than its part of the
// samples of a kind; false if none has more than by chance.
func (l *insightSearch) focused(special func(row int) bool) (best focus, found bool) {
	for _, columns := range [][]string{{"symbol"}, {"file", "line"}} {
		size := map[int32]int{}
		for _, g := range l.groups(nil, columns...) {
			size[g.code] = g.n
		}
		those := l.groups(special, columns...)
		var total group
		for _, g := range those {
			total.n += g.n
			total.cost += g.cost
		}
		if total.n < limit.samples {
			continue
		}
		for _, g := range those {
			f := focus{group: g, total: total, columns: columns}
			f.expected = float64(total.n) * float64(size[g.code]) / float64(l.samples)
			f.narrowing = 1 - f.expected/float64(g.n)
			if stands(float64(g.n), f.expected) && f.cost*f.narrowing > best.cost*best.narrowing {
				best, found = f, true
			}
		}
	}
	return best, found
}

// describe names the object or line of a group.
func (l *insightSearch) describe(row int, columns []string) string {
	if columns[0] == "symbol" {
		return "object " + l.data.Table.Column("symbol").Text(row)
	}
	return "line " + l.place(l.data.Table, row)
}

// tlbMisses are translations that had to walk, and the object that causes them.
func tlbMisses(l *insightSearch) ([]Insight, error) {
	if l.category("tlb") == nil {
		return nil, nil
	}
	l, err := l.over(alike{columns: append([]string{"tlb"}, codeColumns...)})
	if err != nil {
		return nil, err
	}
	tlb := l.category("tlb")
	var names []query.Value
	for _, name := range tlb.Dict {
		if tlbMissed(name) {
			names = append(names, query.TextValue(name))
		}
	}
	codes := tlb.Data.([]uint32)
	missed := func(row int) bool { return tlb.Has(row) && tlbMissed(tlb.Dict[codes[row]]) }
	f, ok := l.focused(missed)
	if !ok {
		return nil, nil
	}
	return []Insight{{
		Text: fmt.Sprintf("%s has %s%s of the %s TLB misses but %s of the samples; its misses take %s of the %s",
			capital(l.describe(f.row, f.columns)), l.about("tlb"), shareText(float64(f.n)/float64(f.total.n)), term.Thousands(f.total.n),
			shareText(f.expected/float64(f.total.n)), l.share(f.cost/l.cost), l.costs()),
		Stake: f.cost / l.cost, Surprise: f.narrowing,
		Where: l.within(all(equals(l.data.Table, f.row, f.columns...), query.In{Column: "tlb", Values: names})),
		View:  OffendersView, subject: "TLB misses of " + l.describe(f.row, f.columns),
	}}, nil
}

// steps is how the samples of one object follow each other on one thread.
type steps struct {
	group
	symbol     string
	forward, n int
	far        []float64 // step sizes
	lo, hi     float64
	common     int64 // greatest common divisor of all steps
	excess     float64
}

// objectSteps looks at consecutive samples of each object, thread and
// instruction, in the order of time; only at objects that cost enough more than
// the average sample to be worth a finding.
func (l *insightSearch) objectSteps() ([]*steps, error) {
	t := l.data.Table
	symbol, index := l.category("symbol"), t.Column("index")
	if l.objects != nil || symbol == nil || index == nil || t.Column("time") == nil || l.latency == nil {
		return l.objects, nil
	}
	l.objects = []*steps{}
	over, err := l.over(alike{columns: []string{"symbol"}})
	if err != nil {
		return nil, err
	}
	by := over.dearObjects()
	var names []query.Value
	for code, s := range by {
		if s != nil {
			l.objects = append(l.objects, s)
			names = append(names, query.TextValue(symbol.Dict[code]))
		}
	}
	if len(l.objects) == 0 {
		return nil, nil
	}
	slices.SortFunc(l.objects, func(a, b *steps) int { return a.row - b.row })
	thread := "tid"
	if t.Column(thread) == nil {
		thread = "cpu"
	}
	last := map[stream]float64{}
	columns := []string{"symbol", "index", thread, "ip", "line"}
	return l.objects, l.alongTime(query.In{Column: "symbol", Values: names}, columns, false, func(s *insightSearch, rows []uint32) error {
		s.addSteps(by, thread, rows, last)
		return nil
	})
}

// stream is what samples of one object are told apart by.
type stream struct {
	symbol   uint32
	thread   float64
	ip, line float64
}

// addSteps adds the steps of samples that follow each other in time to their objects,
// which are by code. Last is where each stream was.
func (l *insightSearch) addSteps(by []*steps, threads string, rows []uint32, last map[stream]float64) {
	t := l.data.Table
	symbol, index, thread, ip, line := t.Column("symbol"), t.Column("index"), t.Column(threads), t.Column("ip"), t.Column("line")
	codes := symbol.Data.([]uint32)
	for row := range l.each(rows) {
		s := by[codes[row]]
		if s == nil || !symbol.Has(row) || !index.Has(row) {
			continue
		}
		at := index.Float(row)
		s.lo, s.hi = min(s.lo, at), max(s.hi, at)
		key := stream{symbol: codes[row], thread: cellNumber(thread, row), ip: cellNumber(ip, row), line: cellNumber(line, row)}
		if before, ok := last[key]; ok && before != at {
			s.step(at - before)
		}
		last[key] = at
	}
}

// dearObjects returns the objects that are worth looking at, by code.
func (l *insightSearch) dearObjects() []*steps {
	symbol := l.data.Table.Column("symbol")
	groups, squares := make([]group, len(symbol.Dict)), make([]float64, len(symbol.Dict))
	codes := symbol.Data.([]uint32)
	for row := range l.rows {
		if !symbol.Has(row) {
			continue
		}
		g := &groups[codes[row]]
		if g.n == 0 {
			g.row = row
		}
		l.add(g, row)
		squares[codes[row]] += l.squareOf(row)
	}
	by := make([]*steps, len(symbol.Dict))
	for k, g := range groups {
		if g.n < limit.samples || unknownName(symbol, g.row) {
			continue
		}
		s := &steps{group: g, symbol: symbol.Text(g.row), lo: math.Inf(1), hi: math.Inf(-1)}
		if s.excess = l.excess(&s.group, squares[k]); s.excess >= limit.score {
			by[k] = s
		}
	}
	return by
}

func cellNumber(c *table.Column, row int) float64 {
	if c == nil || !c.Has(row) {
		return -1
	}
	return c.Float(row)
}

// expr selects the object.
func (s *steps) expr() query.Expr {
	return query.Compare{Column: "symbol", Op: query.Eq, Value: query.TextValue(s.symbol)}
}

func (s *steps) step(d float64) {
	s.n++
	if d > 0 {
		s.forward++
	}
	s.far = append(s.far, math.Abs(d))
	a, b := s.common, int64(math.Abs(d))
	for b != 0 {
		a, b = b, a%b
	}
	s.common = a
}

// randomness is 1 if steps go forward and back alike and are as long as those
// between random places, a third of the object; 0 if they go one way or are
// short.
func (s *steps) randomness() float64 {
	if s.n < limit.samples || s.hi <= s.lo {
		return 0
	}
	both := 1 - math.Abs(2*float64(s.forward)/float64(s.n)-1)
	slices.Sort(s.far)
	// The median step between two random places is 1 - √½ of the extent.
	long := s.far[len(s.far)/2] / (s.hi - s.lo) / (1 - math.Sqrt(0.5))
	return both * min(long, 1)
}

// excess is the share of the run's cost by which the samples of an object cost
// more than the average sample; 0 if that may be chance.
func (l *insightSearch) excess(g *group, squares float64) float64 {
	mean, n := g.mean(), float64(max(g.valued, 1))
	deviation := math.Sqrt(max(squares/n-mean*mean, 0) / n)
	over := mean - l.overall()
	if over <= limit.sigmas*deviation {
		return 0
	}
	return over * n / l.cost
}

// randomAccess is objects that are read in no order and cost more than others
// for it.
func randomAccess(l *insightSearch) ([]Insight, error) {
	objects, err := l.objectSteps()
	var found []Insight
	for _, s := range objects {
		r := s.randomness()
		if r < limit.random {
			continue
		}
		found = append(found, Insight{
			Text: fmt.Sprintf("Object %s is accessed in random order: %s of steps go forward, the median step is %s of its %s elements; a sample costs %s against %s over all",
				s.symbol, shareText(float64(s.forward)/float64(s.n)), shareText(s.far[len(s.far)/2]/(s.hi-s.lo)),
				term.Thousands(int(s.hi-s.lo)+1), l.latencyText(s.mean()), l.latencyText(l.overall())),
			Stake: s.excess, Surprise: r,
			Where: l.within(s.expr()), View: AxisView, Axis: "index", Metric: "mean",
			subject: "random access to " + s.symbol,
		})
	}
	return found, err
}

// stridedAccess is objects of which only every so-many-th element is used, so
// that most of each cache line is fetched for nothing.
func stridedAccess(l *insightSearch) ([]Insight, error) {
	objects, err := l.objectSteps()
	var found []Insight
	for _, s := range objects {
		if s.n < limit.samples || s.common < int64(limit.stride) || (s.hi-s.lo)/float64(s.common) < float64(limit.indices) {
			continue
		}
		found = append(found, Insight{
			Text: fmt.Sprintf("Object %s is accessed with a stride of %d elements: all %s steps between its samples are multiples of it; a sample costs %s against %s over all",
				s.symbol, s.common, term.Thousands(s.n), l.latencyText(s.mean()), l.latencyText(l.overall())),
			Stake: s.excess, Surprise: 1 - 1/float64(s.common),
			Where: l.within(s.expr()), View: AxisView, Axis: "index", Metric: "mean",
			subject: "strided access to " + s.symbol,
		})
	}
	return found, err
}
