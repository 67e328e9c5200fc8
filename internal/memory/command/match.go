package command

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// least is the score below which a match is chance, and far how much worse than
// the best one it may be.
const (
	least = 0.3
	far   = 0.4
)

// scored is an entry and how well it fits a block.
type scored struct {
	entry int
	score float64
}

// Match ranks what an input may mean, best first. It looks at no sample:
// selections that depend on quantiles are still to be resolved.
func (c *Catalogue) Match(text string, ctx Context) []Suggestion {
	text = c.wholeNumbers(then.ReplaceAllString(spelledOut(text), "$1 than"))
	in := parseInput(text)
	var out []Suggestion
	literal := c.literal(text)
	if in.verb == "" || in.verb == Select || !in.sure {
		composed := c.composed(text)
		if len(composed) > 0 && len(literal) > 0 && c.drawnOtherwise(literal[0].Axes) {
			literal = dim(literal, 0.98) // on the axis, 50 is milliseconds
		}
		out = append(literal, composed...)
		out = append(out, c.related(text)...)
		out = append(out, c.ranked(text)...)
		out = append(out, c.counted(text, &ctx)...)
	}
	if rest, ok := wished(text); ok {
		out = append(out, c.composed(rest)...)
	}
	out = append(out, c.left(text, &ctx)...)
	out = append(out, c.kept(text, &ctx)...)
	out = append(out, c.shown(text, &ctx)...)
	out = append(out, c.grouped(text)...)
	out = append(out, c.comparing(text)...)
	out = append(out, c.against(text)...)
	out = append(out, c.viewOf(text, &ctx)...)
	out = append(out, c.calling(text)...)
	out = append(out, c.going(text, &ctx)...)
	if column, _ := c.axisAt(tokensOf(text), 0); column == "" {
		out = append(out, c.pageNamed(text, anything, &ctx)...) // "more" is no limit in "more bins"
	}
	out = append(out, c.odd(text)...)
	if len(out) == 0 {
		out = literal
	}
	if in.named != nil && (in.verb == "" || in.verb == Select) {
		for _, m := range c.rank(&block{words: in.named}, ctx.most(), isValue) {
			out = append(out, c.suggest(m, &ctx))
		}
	}
	switch {
	case in.verb == "":
		out = append(out, c.verbless(in, &ctx)...)
	case in.sure && len(in.blocks) == 0:
		out = append(out, c.verbal(in, &ctx)...)
	case in.sure:
		out = append(out, c.verbal(in, &ctx)...)
		// "add", "find" or "open" may be the name of something.
		out = append(out, dim(c.verbless(parseAll(text), &ctx), 0.75)...)
	default:
		out = append(out, c.verbal(in, &ctx)...)
		out = append(out, dim(c.verbless(parseAll(text), &ctx), 0.97)...)
	}
	out = append(out, c.joint(text, &ctx)...)
	return best(out, ctx.most())
}

func (ctx *Context) most() int {
	if ctx.Most > 0 {
		return ctx.Most
	}
	return DefaultMost
}

// parseAll reads an input whose first word is no verb.
func parseAll(text string) input {
	var in input
	in.take(strings.Fields(spaced(clip(text))))
	return in
}

func dim(list []Suggestion, factor float64) []Suggestion {
	for i := range list {
		list[i].Score *= factor
	}
	return list
}

// best sorts, drops what does the same as a better one, and cuts.
func best(all []Suggestion, most int) []Suggestion {
	slices.SortStableFunc(all, func(a, b Suggestion) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
	seen := map[string]bool{}
	out := []Suggestion{}
	for _, s := range all {
		what := s.Where
		if s.where != nil {
			what = s.Text // not resolved yet: its name stands for it
		}
		key := strings.Join([]string{string(s.Action), s.Target, strings.Join(s.Axes, "\x01"), what, s.Missing}, "\x00")
		if s.Action == Select && s.Missing == "" {
			key = string(Select) + "\x00" + what
		}
		if s.Score < least || s.Score < far*all[0].Score || seen[key] {
			continue
		}
		seen[key] = true
		s.Score = float64(int(s.Score*1000+0.5)) / 1000
		if out = append(out, s); len(out) == most {
			break
		}
	}
	return out
}

// literal takes an input that is a selection as it stands.
func (c *Catalogue) literal(text string) []Suggestion {
	first, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	if strings.EqualFold(first, "select") {
		text = rest
	}
	if !strings.ContainsAny(text, "=<>~&|!(") && !strings.Contains(text, " in ") && !strings.HasPrefix(text, "at ") {
		return nil
	}
	e, err := query.Parse(text, c.table)
	if err != nil || e == nil {
		return nil
	}
	where := e.String()
	s := Suggestion{Text: "select " + where, Action: Select, Where: where, Axes: []string{}, Score: 1, Selects: true, Does: "selects samples with " + where}
	if name, ok := query.ColumnOf(e); ok {
		s.Axes = []string{name}
	}
	return []Suggestion{s}
}

// drawnOtherwise says that an axis is drawn in another unit than its column has.
func (c *Catalogue) drawnOtherwise(axes []string) bool {
	return slices.ContainsFunc(axes, func(a string) bool { return c.axisScale(c.table.Column(a)) != 1 })
}

// fit scores all phrases against words: word by word, and those that are not
// names of values also letter by letter. One keystroke asks for the same words
// several times, so the last answers are kept.
func (c *Catalogue) fit(words []string) []float32 {
	text := strings.Join(words, " ")
	c.mu.Lock()
	found, ok := c.fits[text]
	c.mu.Unlock()
	if ok {
		return found
	}
	found = c.index.find(words)
	var scratch []float32
	for _, id := range c.letters {
		s := float32(byLetters(similarity(text, c.index.phrases[id].folded, &scratch)))
		if s < doubtful && c.entries[c.index.phrases[id].entry].kind == kindThird {
			continue // "malloc" has letters of "low cpu", by chance
		}
		found[id] = max(found[id], s)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.fits) >= mostFits {
		clear(c.fits)
	}
	c.fits[text] = found
	return found
}

// mostFits is how many scored inputs are remembered.
const mostFits = 16

// rank returns the entries that fit a block and are accepted, best first.
func (c *Catalogue) rank(b *block, most int, accept func(*entry) bool) []scored {
	if len(b.words) == 0 {
		return nil
	}
	found := c.fit(b.words)
	score := map[int32]float64{}
	for id, s := range found {
		e := c.index.phrases[id].entry
		if s < least || float64(s) <= score[e] || !accept(&c.entries[e]) {
			continue
		}
		score[e] = float64(s)
	}
	out := make([]scored, 0, len(score))
	for e, s := range score {
		s *= priors[c.entries[e].kind]
		if c.entries[e].missing != "" {
			s *= 0.7
		}
		out = append(out, scored{int(e), s})
	}
	slices.SortFunc(out, func(a, b scored) int {
		switch {
		case a.score != b.score && a.score > b.score:
			return -1
		case a.score != b.score:
			return 1
		}
		return a.entry - b.entry
	})
	return out[:min(len(out), most)]
}

func anything(*entry) bool    { return true }
func onAxis(e *entry) bool    { return e.column != "" && e.kind != kindHistogram }
func isValue(e *entry) bool   { return e.kind == kindValue }
func isSamples(e *entry) bool { return e.selects() }

// verbless guesses the verb: two blocks are correlated, a set of samples is
// selected, an axis shown or hidden.
func (c *Catalogue) verbless(in input, ctx *Context) []Suggestion {
	var out []Suggestion
	switch len(in.blocks) {
	case 0:
		return nil
	case 1:
		b := &in.blocks[0]
		out = c.limited(b, ctx.most())
		for _, m := range c.rank(b, 4*ctx.most(), anything) {
			s := c.suggest(m, ctx)
			if len(b.limits) > 0 {
				s.Score *= 0.8 // the number would mean nothing
				c.number(&s, b.limits)
			}
			if !c.entries[m.entry].otherNumber(b.limits) {
				out = append(out, s)
			}
		}
		return out
	}
	return c.pairs(in, ctx)
}

var digits = regexp.MustCompile(`\d+`)

// otherNumber says that the name of a value ends with a number, as that of a place
// does, and that another one was typed: blur.c:54 is not blur.c:27.
func (e *entry) otherNumber(limits []limit) bool {
	if e.kind != kindValue || len(limits) == 0 {
		return false
	}
	all := digits.FindAllString(e.name, -1)
	if len(all) == 0 || !strings.HasSuffix(e.name, all[len(all)-1]) {
		return false
	}
	n, err := strconv.ParseFloat(all[len(all)-1], 64)
	return err == nil && !slices.ContainsFunc(limits, func(l limit) bool { return l.value == n })
}

// number gives a page command its number.
func (c *Catalogue) number(s *Suggestion, limits []limit) {
	if s.Action != Bins {
		return
	}
	n := max(2, min(1000, int(limits[0].value)))
	s.Target = strconv.Itoa(n)
	s.Text = "set bins " + s.Target
	s.Does = "divides each axis into " + s.Target + " bins"
	s.Score = min(1, s.Score/0.8)
}

// verbal follows the verb.
func (c *Catalogue) verbal(in input, ctx *Context) []Suggestion {
	factor := 1.0
	if !in.sure {
		factor = 0.96
	}
	switch in.verb {
	case Select:
		return dim(c.selected(in, ctx), factor)
	case Show, Hide:
		return dim(c.axesFor(in, ctx), factor)
	}
	return dim(c.pairs(in, ctx), factor)
}

func (c *Catalogue) selected(in input, ctx *Context) []Suggestion {
	var out []Suggestion
	if len(in.blocks) == 0 {
		for i := range c.entries {
			if e := &c.entries[i]; e.kind == kindPhenomenon && e.missing == "" {
				out = append(out, c.suggest(scored{i, 0.5}, ctx))
			}
		}
		return out
	}
	b := &in.blocks[0]
	out = c.limited(b, ctx.most())
	for _, m := range c.rank(b, 2*ctx.most(), isSamples) {
		s := c.suggest(m, ctx)
		if len(b.limits) > 0 {
			s.Score *= 0.8
		}
		out = append(out, s)
	}
	return out
}

// onNoAxis says why an axis can be neither shown nor hidden.
func onNoAxis(title string, shown bool) string {
	if shown {
		return title + " is on an axis already"
	}
	return title + " is on no axis"
}

// axesFor shows or hides; a set of samples stands for the axis it is on.
func (c *Catalogue) axesFor(in input, ctx *Context) []Suggestion {
	var out []Suggestion
	add := func(m scored) {
		e := &c.entries[m.entry]
		if e.column == "" {
			return
		}
		if shown := ctx.shows(e.column); shown != (in.verb == Hide) {
			if e.isAxis() && m.score >= certain && len(in.blocks) > 0 {
				out = append(out, Suggestion{Text: string(in.verb) + " " + c.title(e.column), Action: in.verb, Axes: []string{}, Score: m.score, Missing: onNoAxis(c.title(e.column), shown)})
			}
			return
		}
		out = append(out, c.axisSuggestion(in.verb, e.column, m.score))
	}
	if len(in.blocks) == 0 {
		for _, col := range c.table.Columns() {
			add(scored{c.axes[col.Name], 0.5})
		}
		return out
	}
	for _, m := range c.rank(&in.blocks[0], 8*ctx.most(), onAxis) {
		if !c.entries[m.entry].isAxis() {
			m.score *= 0.85
		}
		add(m)
	}
	return out
}

func (c *Catalogue) axisSuggestion(verb Action, column string, score float64) Suggestion {
	e := &c.entries[c.axes[column]]
	s := Suggestion{Text: string(verb) + " " + e.name, Action: verb, Axes: []string{column}, Score: score, Missing: e.missing}
	switch {
	case verb == Hide:
		s.Does = "takes the axis " + e.name + " away"
	case e.does != "":
		s.Does = "adds the axis " + e.name + ": " + e.does
	default:
		s.Does = "adds the axis " + e.name
	}
	return s
}

// suggest makes the natural command of an entry.
func (c *Catalogue) suggest(m scored, ctx *Context) Suggestion {
	e := &c.entries[m.entry]
	switch e.kind {
	case kindAxis, kindForeign:
		verb := Show
		if ctx.shows(e.column) {
			verb = Hide
		}
		return c.axisSuggestion(verb, e.column, m.score)
	case kindPage, kindHistogram:
		s := Suggestion{Text: e.name, Action: e.action, Target: e.target, Axes: []string{}, Score: m.score, Does: e.does}
		if e.column != "" {
			s.Axes = []string{e.column}
		}
		return s
	}
	s := Suggestion{Text: "select " + e.name, Action: Select, Where: e.where, where: e.lazy, Axes: []string{}, Score: m.score, Selects: e.missing == "", Does: "selects " + e.does, Missing: e.missing}
	if e.column != "" {
		s.Axes = []string{e.column}
	}
	return s
}

// limited makes selections of an axis and numbers.
func (c *Catalogue) limited(b *block, most int) []Suggestion {
	if len(b.limits) == 0 {
		return nil
	}
	if len(b.words) == 0 {
		if c.latency == "" {
			return nil
		}
		return c.limit(c.latency, b.limits, 0.8)
	}
	var out []Suggestion
	if l := b.limits[0]; l.unit == "%" || mentions(b.words, "slowest", "slow", "top") {
		out = c.percentile(b, l)
	}
	ranked := c.rank(b, most, func(e *entry) bool { return e.isAxis() || e.kind == kindValue && e.column == "file" })
	for _, m := range ranked {
		e := &c.entries[m.entry]
		if e.missing != "" {
			continue
		}
		if e.kind == kindValue {
			out = append(out, c.fileLine(e, b.limits[0], m.score)...)
			continue
		}
		out = append(out, c.limit(e.column, b.limits, m.score/priors[e.kind])...)
	}
	return append(out, c.resource(b)...)
}

func mentions(words []string, any ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(any, w) })
}

// percentile is "slowest 2 %" for any number.
func (c *Catalogue) percentile(b *block, l limit) []Suggestion {
	if c.latency == "" || l.value <= 0 || l.value >= 100 || !mentions(b.words, "slowest", "slow", "top", "expensive", "longest", "highest") {
		return nil
	}
	n := strconv.FormatFloat(l.value, 'g', -1, 64)
	return []Suggestion{{Text: "select slowest " + n + " %", Action: Select, Axes: []string{c.latency}, Score: 0.97, Selects: true,
		Does: "selects the slowest " + n + " in a hundred", where: beyond(c.latency, 1-l.value/100)}}
}

// fileLine is a line of a file.
func (c *Catalogue) fileLine(file *entry, l limit, score float64) []Suggestion {
	line := c.table.Column("line")
	if line == nil || line.Provenance == table.Absent || l.op != "" && l.op != query.Eq {
		return nil
	}
	where := file.where + " & " + query.Compare{Column: "line", Op: query.Eq, Value: query.NumberValue(l.value)}.String()
	name := fmt.Sprintf("%s line %v", strings.TrimPrefix(file.name, "file "), l.value)
	return []Suggestion{{Text: "select " + name, Action: Select, Where: where, Axes: []string{"line"}, Score: score, Selects: true, Does: "selects samples of " + name}}
}

// resource is a node of the topology, such as "L3 1".
func (c *Catalogue) resource(b *block) []Suggestion {
	l := b.limits[0]
	if l.op != "" || len(b.limits) > 1 || len(b.words) > 2 {
		return nil
	}
	number := strconv.FormatFloat(l.value, 'f', -1, 64)
	var out []Suggestion
	for _, r := range c.resources {
		kind, n, _ := strings.Cut(r, ":")
		at := 0.0
		for _, w := range b.words {
			at = max(at, resemble(w, letters(w), strings.ToLower(kind), letters(strings.ToLower(kind))))
		}
		if n != number || at < 0.75 {
			continue
		}
		where := query.At{Resource: r}.String()
		out = append(out, Suggestion{Text: "select " + kind + " " + n, Action: Select, Where: where, Axes: []string{}, Score: at * priors[kindResource], Selects: true,
			Does: "selects samples that touch " + kind + " " + n})
	}
	return out
}

// limit makes the selections that numbers on a column may mean.
func (c *Catalogue) limit(column string, limits []limit, score float64) []Suggestion {
	col := c.table.Column(column)
	if col.Kind == table.Category {
		return nil
	}
	var out []Suggestion
	add := func(e query.Expr, factor float64) {
		where := e.String()
		out = append(out, Suggestion{Text: "select " + where, Action: Select, Where: where, Axes: []string{column}, Score: score * factor, Selects: true, Does: "selects samples with " + where})
	}
	first := c.literalOf(col, limits[0])
	if len(limits) > 1 {
		add(c.rangeOf(col, limits), 1)
		return out
	}
	compare := func(op query.Op) query.Expr { return query.Compare{Column: column, Op: op, Value: first} }
	switch op := limits[0].op; {
	case op != "":
		add(compare(op), 1)
	case col.Kind == table.Flag, slices.Contains(naming, column):
		// "tid 4" is one thread: from 4 on would be all of them, where none is 4.
		add(compare(query.Eq), 1)
	case col.Kind == table.Address:
		add(compare(query.Eq), 1)
		add(compare(query.Ge), 0.9)
	default:
		add(compare(query.Ge), 0.99)
		add(compare(query.Le), 0.9)
		add(compare(query.Eq), 0.85)
	}
	return out
}

// rangeOf is the range between two limits, whichever is given first.
func (c *Catalogue) rangeOf(col *table.Column, limits []limit) query.Expr {
	lo, hi := limits[0], limits[1]
	if lo.value > hi.value {
		lo, hi = hi, lo
	}
	return query.Range{Column: col.Name, Lo: c.literalOf(col, lo), Hi: c.literalOf(col, hi)}
}

// literalOf writes a limit for a column, in the unit of the column.
func (c *Catalogue) literalOf(col *table.Column, l limit) query.Value {
	return c.valueOf(col, l.value, l.unit)
}

// partners are what one thing alone is correlated with: the code, the
// processors, the levels of memory (thesis, 3.5.4).
var partners = []struct {
	column string
	score  float64
}{{"line", 1}, {"cpu", 0.985}, {"level", 0.97}, {"latency", 0.96}, {"symbol", 0.95}}

// pairs correlates two blocks, or one with the usual partners.
func (c *Catalogue) pairs(in input, ctx *Context) []Suggestion {
	if len(c.table.Columns()) == 0 {
		return nil
	}
	if len(in.blocks) == 0 {
		return c.pairsOf([]scored{{c.axisOr(c.cost), 0.5}}, c.partners(), block{}, block{})
	}
	a := in.blocks[0]
	left := c.rank(&a, mostPaired, onAxis)
	if len(in.blocks) == 1 {
		return append(c.pairsOf(left, c.partners(), a, block{}), c.halves(a)...)
	}
	b := in.blocks[1]
	right := c.rank(&b, 2*mostPaired, onAxis)
	for i, m := range right {
		if !c.entries[m.entry].isAxis() {
			right[i].score *= 0.9 // what something is seen against is mostly a whole axis
		}
	}
	return c.pairsOf(left, right, a, b)
}

// mostPaired is how many meanings of each side of a pair are considered.
const mostPaired = 8

// halves reads one block as two, for "correlate latency cpu".
func (c *Catalogue) halves(b block) []Suggestion {
	var out []Suggestion
	for i := 1; i < min(len(b.words), 6); i++ {
		x, y := block{words: b.words[:i]}, block{words: b.words[i:], limits: b.limits}
		out = append(out, c.pairsOf(c.rank(&x, 3, onAxis), c.rank(&y, 3, onAxis), x, y)...)
	}
	return out
}

// axisOr returns the entry of a column, or of the first one.
func (c *Catalogue) axisOr(column string) int {
	if n, ok := c.axes[column]; ok {
		return n
	}
	return c.axes[c.table.Columns()[0].Name]
}

func (c *Catalogue) partners() []scored {
	var out []scored
	for _, p := range partners {
		if n, ok := c.axes[p.column]; ok && c.entries[n].missing == "" && len(out) < 3 {
			out = append(out, scored{n, p.score})
		}
	}
	return out
}

func (c *Catalogue) pairsOf(left, right []scored, a, b block) []Suggestion {
	var out []Suggestion
	for _, l := range left {
		for _, r := range right {
			x, y := &c.entries[l.entry], &c.entries[r.entry]
			if x.column != y.column {
				out = append(out, c.pair(x, y, a.limits, b.limits, l.score*r.score))
			}
		}
	}
	return out
}

// pair brings two axes together and selects what was named on them.
func (c *Catalogue) pair(x, y *entry, a, b []limit, score float64) Suggestion {
	s := Suggestion{Text: "correlate " + x.name + " with " + y.name, Action: Correlate, Axes: []string{x.column, y.column}, Score: score, Missing: x.missing}
	if s.Missing == "" {
		s.Missing = y.missing
	}
	s.Does = fmt.Sprintf("puts the axes %s and %s side by side", c.title(x.column), c.title(y.column))
	var parts []clause
	var names []string
	for i, e := range []*entry{x, y} {
		limits := [][]limit{a, b}[i]
		switch {
		case len(limits) > 0 && e.isAxis():
			made := c.limit(e.column, limits, 1)
			if len(made) > 0 {
				parts, names = append(parts, fixed(made[0].Where)), append(names, made[0].Where)
			}
		case e.lazy != nil:
			parts, names = append(parts, e.lazy), append(names, e.does)
		case e.where != "":
			parts, names = append(parts, fixed(e.where)), append(names, e.does)
		}
	}
	if len(parts) == 0 || s.Missing != "" {
		return s
	}
	s.Selects = true
	s.Does += " and selects " + strings.Join(names, " and ")
	s.where = joined(parts, " & ")
	if x.lazy == nil && y.lazy == nil {
		s.Where, _ = s.where(nil)
		s.where = nil
	}
	return s
}

func (c *Catalogue) title(column string) string { return titleOf(c.table.Column(column)) }

func fixed(where string) clause { return func(numbers) (string, error) { return where, nil } }

// joined puts a sign between clauses; what binds less than the sign is put in
// brackets.
func joined(parts []clause, sign string) clause {
	return func(q numbers) (string, error) {
		texts := make([]string, len(parts))
		for i, p := range parts {
			var err error
			if texts[i], err = p(q); err != nil {
				return "", err
			}
			if sign == " & " && strings.Contains(texts[i], " | ") {
				texts[i] = "(" + texts[i] + ")"
			}
		}
		return strings.Join(texts, sign), nil
	}
}
