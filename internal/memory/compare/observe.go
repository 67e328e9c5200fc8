package compare

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/memory/align"
)

func trialOf(r *Run) *run.Trial {
	if r.Manifest.Recording == nil {
		return nil
	}
	return r.Manifest.Recording.Trial
}

// side collects the names of a side for alignment. Its first run with a source
// file gives the text.
func (f *fitting) side(ctx context.Context, runs []Run) (align.Side, error) {
	s := align.Side{Builds: map[string]string{}}
	files, functions, objects := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, r := range runs {
		threads, err := threadsOf(ctx, &r)
		if err != nil {
			return s, fmt.Errorf("%s: %w", r.Name, err)
		}
		f.threads[r.Table] = threads
		names(r.Table, samples.File, func(name string) { files[name] = true })
		names(r.Table, samples.Function, func(name string) { functions[name] = true })
		names(r.Table, samples.Symbol, func(name string) { objects[threads.Object(name)] = true })
		if d := r.Manifest.Recording; d != nil {
			for _, m := range d.Modules {
				s.Builds[path.Base(m.Path)] = m.BuildID
			}
		}
	}
	s.Files, s.Functions, s.Objects = sortedNames(files), sortedNames(functions), sortedNames(objects)
	s.Text = func(file string) []string {
		for _, r := range runs {
			if r.Text != nil {
				if text := r.Text(file); text != nil {
					return text
				}
			}
		}
		return nil
	}
	return s, nil
}

func names(t *table.Table, column string, add func(string)) {
	if c := samples.UsableAs(t, column, table.Category); c != nil {
		for _, name := range c.Dict {
			add(name)
		}
	}
}

func sortedNames(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for name := range set {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// observedRun is the groups of one run, by key.
type observedRun struct {
	whole   Amount
	valued  int
	samples int
	ofAll   int
	scale   float64 // what one unit of weight stands for
	groups  map[string]Amount
	seconds float64 // of the metrics cpu and wall
	known   bool    // whether seconds is
}

// groups is one table: its runs, and its rows in the terms of B.
type groups struct {
	question *Question
	a, b     []observedRun
	noise    []observedRun
	rows     []*Row
	keys     []pairedKey // of rows
	tested   []*Row
	amounts  []pairedKey // of tested; several keys make one row of small groups
	small    *Row
	whole    Row
	further  bool
	with     [2]map[string][]string // functions of a side that were put together with another
}

// pairedKey is a group as each side calls it; nil where a side has none.
type pairedKey struct{ a, b []string }

const keySeparator = "\x00"

func keyName(key []string) string { return strings.Join(key, keySeparator) }

func (f *fitting) observe(ctx context.Context, a, b []Run, opt *Options, question int) (*groups, error) {
	q := &opt.Questions[question]
	t := &groups{question: q, further: question > 0}
	for _, side := range []struct {
		runs []Run
		to   *[]observedRun
	}{{a, &t.a}, {b, &t.b}, {opt.Noise, &t.noise}} {
		for i := range side.runs {
			r, err := f.observeRun(ctx, &side.runs[i], &a[0], q, opt)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", side.runs[i].Name, err)
			}
			*side.to = append(*side.to, *r)
		}
	}
	if slices.Equal(q.By, []string{samples.Function}) {
		for _, r := range []*Run{&a[0], &b[0]} {
			if err := f.findFunctions(ctx, r); err != nil {
				return nil, fmt.Errorf("%s: %w", r.Name, err)
			}
		}
	}
	if err := f.foldInlined(ctx, t, a, b, opt); err != nil {
		return nil, err
	}
	f.join(t, a, b, opt)
	return t, nil
}

// observeRun asks one run for its groups.
func (f *fitting) observeRun(ctx context.Context, r, first *Run, q *Question, opt *Options) (*observedRun, error) {
	where := query.Both(r.Where, f.extra)
	if level, ok := q.Metric.level(); ok {
		where = query.Both(where, query.Compare{Column: samples.Level, Op: "=", Value: query.TextValue(level)})
	}
	column := f.column
	if q.Metric == Samples {
		column = ""
	}
	request := &query.Request{Where: where, Filter: r.Filter}
	if !q.Metric.ofRun() {
		request.Groups = []query.Group{{By: q.By, Sum: column, Order: query.ByKey}}
	}
	if opt.Per != "" {
		request.Groups = append(request.Groups, query.Group{By: []string{opt.Per}, Order: query.ByKey})
	}
	if column != "" {
		request.Stats = []query.Stat{{Column: column}}
	}
	answer, err := r.Engine.Answer(ctx, request)
	if err != nil {
		return nil, err
	}
	n := answer.Counts[query.Selected]
	out := &observedRun{samples: n, ofAll: answer.Counts[query.All], valued: n, scale: f.scale(r, first, q.Metric), whole: Amount{float64(n), float64(n), n}, groups: map[string]Amount{}}
	if column != "" {
		s := &answer.Stats[0]
		k := f.inUnit(r, column)
		out.valued, out.whole = s.Counts[query.Selected], Amount{k * s.Sums[query.Selected], k * k * s.Squares[query.Selected], n}
	}
	if opt.Per != "" {
		if d := occupied(&answer.Groups[len(answer.Groups)-1]); d > 0 {
			out.scale /= float64(d)
		}
	}
	if d := r.Manifest.Recording; d != nil && d.Last == nil && q.Metric.ofRun() {
		out.seconds, out.known = d.User+d.System, true
		if q.Metric == Wall {
			out.seconds = d.Seconds
		}
	}
	if !q.Metric.ofRun() {
		f.collect(out, r, q, column, answer.Groups[0].Rows)
	}
	return out, nil
}

func occupied(g *query.Groups) int {
	n := 0
	for _, row := range g.Rows {
		if row.Counts[query.Selected] > 0 {
			n++
		}
	}
	return n
}

// scale is what a sample stands for beyond its weight: the period of hardware
// sampling, and samples that were lost.
func (f *fitting) scale(r, first *Run, m Metric) float64 {
	s := lossScale(r)
	p := period(r)
	switch {
	case p == 0:
	case m == Samples || f.column == "":
		if p0 := period(first); p0 > 0 && !f.exact {
			s *= p / p0
		}
	case f.column == samples.Latency:
		s *= p
	}
	return s
}

// collect keeps the groups of a run by keys that hold no chance.
func (f *fitting) collect(out *observedRun, r *Run, q *Question, column string, rows []query.GroupRow) {
	load, k := f.loads(q, rows), f.inUnit(r, column)
	for i := range rows {
		row := &rows[i]
		n := row.Counts[query.Selected]
		if n == 0 {
			continue
		}
		amount := Amount{float64(n), float64(n), n}
		if column != "" {
			amount = Amount{k * row.Sums[query.Selected], k * k * row.Squares[query.Selected], n}
		}
		key := slices.Clone(row.Keys)
		for i, name := range q.By {
			switch {
			case name == samples.Symbol && key[i] != "":
				key[i] = f.threads[r.Table].Object(key[i])
			case name == samples.TID && key[i] != "":
				if thread, ok := f.threads[r.Table][key[i]]; ok {
					key[i] = strconv.Itoa(thread)
				}
			case name == samples.PID:
				key[i] = ""
			case f.byLoad && byPlace(name) && key[i] != "":
				key[i] = load[i][key[i]]
			}
		}
		name := keyName(key)
		out.groups[name] = out.groups[name].plus(amount)
	}
}

// loads ranks the values of columns of places by their samples, most first.
func (f *fitting) loads(q *Question, rows []query.GroupRow) []map[string]string {
	out := make([]map[string]string, len(q.By))
	for k, name := range q.By {
		if !f.byLoad || !byPlace(name) {
			continue
		}
		counts := map[string]int{}
		for _, row := range rows {
			counts[row.Keys[k]] += row.Counts[query.Selected]
		}
		out[k] = map[string]string{}
		for i, key := range mostFirst(counts, query.NaturalCompare) {
			out[k][key] = strconv.Itoa(i)
		}
	}
	return out
}

// mostFirst orders what was counted, equal counts by their keys.
func mostFirst[K comparable](counts map[K]int, compare func(x, y K) int) []K {
	return slices.SortedFunc(maps.Keys(counts), func(x, y K) int {
		return cmp.Or(cmp.Compare(counts[y], counts[x]), compare(x, y))
	})
}

// join makes the rows of a table: groups of A in the terms of B, and what only
// one side has.
func (f *fitting) join(t *groups, a, b []Run, opt *Options) {
	inA, inB := keysOf(t.a), keysOf(t.b)
	free := map[string]bool{}
	for _, k := range inB {
		free[k] = true
	}
	var how []align.How
	add := func(k pairedKey, h align.How) { t.keys, how = append(t.keys, k), append(how, h) }
	// A line may be there without a sample; of other things nothing is known.
	there := func(ok bool, h align.How) bool {
		return ok && h != align.ByNumber && slices.Contains(t.question.By, samples.Line)
	}
	for _, ka := range inA {
		parts := strings.Split(ka, keySeparator)
		partner, h, ok := f.alignment.Key(t.question.By, parts)
		name := keyName(partner)
		switch {
		case ok && free[name]:
			free[name] = false
			add(pairedKey{parts, partner}, h)
		case there(ok, h):
			add(pairedKey{parts, partner}, h)
		default:
			add(pairedKey{a: parts}, align.OnlyA)
		}
	}
	back := f.alignment.Inverse()
	for _, kb := range inB {
		if !free[kb] {
			continue
		}
		parts := strings.Split(kb, keySeparator)
		if partner, h, ok := back.Key(t.question.By, parts); there(ok, h) {
			add(pairedKey{partner, parts}, h)
		} else {
			add(pairedKey{b: parts}, align.OnlyB)
		}
	}
	wholeA, wholeB := total(t.a), total(t.b)
	for i, k := range t.keys {
		r := f.row(t, k, a, b)
		r.Matched = how[i]
		t.rows = append(t.rows, r)
	}
	shortLabels(t.rows)
	t.whole = Row{Key: map[string]any{}, Label: "the whole run", A: f.cell(t.a, nil, wholeA), B: f.cell(t.b, nil, wholeB), Verdict: Unsure, gate: t.question.Gate}
	if t.question.Metric.ofRun() {
		t.whole.A.Cost, t.whole.B.Cost = meanSeconds(t.a), meanSeconds(t.b)
	}
	t.chooseTested(f, opt.MinShare)
}

func meanSeconds(runs []observedRun) float64 {
	sum := 0.0
	for _, r := range runs {
		sum += r.seconds
	}
	return sum / float64(len(runs))
}

func keysOf(runs []observedRun) []string {
	set := map[string]bool{}
	for _, r := range runs {
		for k := range r.groups {
			set[k] = true
		}
	}
	return sortedNames(set)
}

// total is the sum of a side's runs.
func total(runs []observedRun) Amount {
	var sum Amount
	for _, r := range runs {
		sum = sum.plus(Amount{r.whole.Sum * r.scale, r.whole.Squares * r.scale * r.scale, r.whole.Samples})
	}
	return sum
}

// of is one group in one run; the whole run without a key.
func (r *observedRun) of(key []string) Amount {
	if key == nil {
		return Amount{}
	}
	return r.groups[keyName(key)]
}

// cell is a group on one side; all of it without a key.
func (f *fitting) cell(runs []observedRun, key []string, whole Amount) Cell {
	var sum Amount
	raw, n := 0.0, float64(len(runs))
	for i := range runs {
		g := runs[i].whole
		if key != nil {
			g = runs[i].of(key)
		}
		raw += g.Sum
		sum = sum.plus(Amount{g.Sum * runs[i].scale, 0, g.Samples})
	}
	c := Cell{Samples: int(math.Round(float64(sum.Samples) / n)), Cost: sum.Sum / n}
	if f.column == samples.Latency && sum.Samples > 0 {
		latency, mean := raw/n, raw/float64(sum.Samples)
		c.Latency, c.Mean = &latency, &mean
	}
	if whole.Sum != 0 {
		c.Share = sum.Sum / whole.Sum
	}
	return c
}

func (f *fitting) row(t *groups, k pairedKey, a, b []Run) *Row {
	r := &Row{A: f.sideCell(t.a, k.a), B: f.sideCell(t.b, k.b), Verdict: Unsure, gate: t.question.Gate, keys: k}
	key, runs := k.b, b
	if key == nil {
		key, runs = k.a, a
	}
	r.Key = typedKey(runs[0].Table, t.question.By, key)
	if k.a != nil {
		r.KeyA = typedKey(a[0].Table, t.question.By, k.a)
	}
	r.Label = label(key)
	r.WithA, r.WithB = t.with[0][keyName(k.a)], t.with[1][keyName(k.b)]
	f.place(r, t.question.By, key, runs)
	if t.further {
		r.By, r.Metric = t.question.By, t.question.Metric
	}
	wa, wb := total(t.a), total(t.b)
	ga, gb := sumOf(t.a, k.a), sumOf(t.b, k.b)
	r.Change = r.B.Share - r.A.Share
	r.Error = math.Hypot(shareError(ga, wa), shareError(gb, wb))
	return r
}

func (f *fitting) sideCell(runs []observedRun, key []string) Cell {
	if key == nil {
		return Cell{}
	}
	return f.cell(runs, key, total(runs))
}

func sumOf(runs []observedRun, key []string) Amount {
	var sum Amount
	for i := range runs {
		g := runs[i].of(key)
		s := runs[i].scale
		sum = sum.plus(Amount{g.Sum * s, g.Squares * s * s, g.Samples})
	}
	return sum
}

// shareError is the standard error by sampling of a share p = S(g)/S, a ratio of
// a sum to itself and the independent rest:
//
//	((1-p)² Σ_g w² + p² Σ_rest w²) / S²
//
// With w = 1 this is the p(1-p)/n of a count.
func shareError(g, whole Amount) float64 {
	if whole.Sum == 0 {
		return 0
	}
	p := g.Sum / whole.Sum
	rest := max(0, whole.Squares-g.Squares)
	return math.Sqrt((1-p)*(1-p)*g.Squares+p*p*rest) / whole.Sum
}

func typedKey(t *table.Table, by, key []string) map[string]any {
	out := map[string]any{}
	for i, name := range by {
		out[name] = t.Column(name).Typed(key[i])
	}
	return out
}

// notRecorded is the label of samples without any value of a key.
const notRecorded = "(not recorded)"

// label joins the parts of a key. A group without any value is named for what
// it is, never shown as a file.
func label(key []string) string {
	if strings.Join(key, "") == "" {
		return notRecorded
	}
	parts := slices.Clone(key)
	for i, p := range parts {
		if p == "" {
			parts[i] = "?"
		}
	}
	return strings.Join(parts, ":")
}

// shortLabels leaves the folders out of labels where no two files have one name.
func shortLabels(rows []*Row) {
	full := map[string]string{}
	for _, r := range rows {
		base := path.Base(r.File)
		if other, seen := full[base]; seen && other != r.File {
			return
		}
		full[base] = r.File
	}
	for _, r := range rows {
		if rest, ok := strings.CutPrefix(r.Label, r.File+":"); ok && r.File != "" {
			r.Label = path.Base(r.File) + ":" + rest
		}
	}
}

// place fills in where in the source a row lies.
func (f *fitting) place(r *Row, by, key []string, runs []Run) {
	for i, name := range by {
		switch name {
		case samples.File:
			r.File = key[i]
		case samples.Line:
			r.Line, _ = strconv.Atoi(key[i]) // a line that is no number has no place
		case samples.Function:
			r.Function = key[i]
		}
	}
	if r.Function != "" && r.File == "" && len(by) == 1 {
		if at, ok := f.functions[runs[0].Table][r.Function]; ok {
			r.File, r.Line = at.file, at.line
		}
	}
	if r.File == "" || r.Line == 0 {
		return
	}
	for _, run := range runs {
		if run.Text == nil {
			continue
		}
		if text := run.Text(r.File); r.Line <= len(text) {
			r.Text = strings.TrimSpace(text[r.Line-1])
			return
		}
	}
}

// codePlace is a line of a source file.
type codePlace struct {
	file string
	line int
}

// findFunctions finds the first lines of functions that samples know.
func (f *fitting) findFunctions(ctx context.Context, r *Run) error {
	if f.functions == nil {
		f.functions = map[*table.Table]map[string]codePlace{}
	}
	if f.functions[r.Table] != nil {
		return nil
	}
	t, out := r.Table, map[string]codePlace{}
	f.functions[t] = out
	function, file := samples.UsableAs(t, samples.Function, table.Category), samples.UsableAs(t, samples.File, table.Category)
	line := samples.Usable(t, samples.Line)
	if function == nil || file == nil || line == nil {
		return nil
	}
	if e := distant(r); e != nil {
		return functionsElsewhere(ctx, e, out)
	}
	for i := range t.Rows() {
		if function.Has(i) && file.Has(i) && line.Has(i) {
			addFunction(out, function.Text(i), codePlace{file.Text(i), int(line.Float(i))})
		}
	}
	return nil
}

// addFunction keeps the least line of a function in the first file it is met in.
func addFunction(known map[string]codePlace, name string, at codePlace) {
	if was, seen := known[name]; !seen || was.file == at.file && at.line < was.line {
		known[name] = at
	}
}
