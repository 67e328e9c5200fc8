package command

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/engine/query"
)

// part is what a few words of an input mean together.
type part struct {
	kind  partKind
	score float64
	text  string     // as the command writes it
	expr  query.Expr // of a set; nil if lazy or most
	lazy  clause
	most  *extreme
	axes  []string
	// one is the column of which this is one value, or a few: two of them
	// cannot hold at once, so that "L2 and L3" means either.
	one string
	end int
	// missing says why the data cannot answer.
	missing string
}

// cannot is a part that the data cannot answer. One that means something here goes
// before it.
func (p part) cannot(why string) part {
	p.missing, p.score = why, 0.97
	return p
}

type partKind uint8

const (
	aSet partKind = iota
	aFiller
	aNegation
	aBut // turns back what a negation before it turned round
	anAnd
	anOr
	aStranger // a word that means nothing here
)

// fillers are words that connect and say nothing by themselves.
var fillers = wordSet("of the in on at to by a an for with from that is are was were do does did where which when all only samples sample accesses access axis served hits hit goes go " +
	"cpus threads cores during some please find select show me pick what who how many much number issued touching touched made against its their than then also level levels " +
	"anything everything something just any every each took take taken taking lasted lasting")

// negations turn round what follows, longest first.
var negations = []string{"everything but", "everything except", "anything but", "anything except", "all but", "all except", "other than", "but not", "and not", "nothing",
	"leave out", "leaving out", "not", "without", "no", "except", "excluding", "exclude", "ignoring", "ignore", "skipping", "skip", "omitting", "omit", "discard", "outside", "non", "minus", "neither", "nor"}

func wordSet(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

// composed reads an input as a selection of several parts in any order: objects,
// lines, levels, places, limits, what is most, each of them possibly negated.
// Every word must have its place; one stranger is forgiven, and costs.
func (c *Catalogue) composed(text string) []Suggestion {
	return c.composedOf(tokensOf(text))
}

// wholeNumbers writes numbers without what divides their thousands. A point or a
// comma does where the values that it limits are whole and drawn as they are;
// elsewhere 1.000 is a one with three places behind it. A comma between numbers of
// things divides those, unless what follows it could be no number by itself: 1,044
// is one line, 2,135 may be two.
func (c *Catalogue) wholeNumbers(text string) string {
	digits := func(number string) string {
		return strings.Map(func(r rune) rune {
			if r < '0' || r > '9' {
				return -1
			}
			return r
		}, number)
	}
	text = apart000.ReplaceAllStringFunc(text, digits)
	plain := in1000s.ReplaceAllStringFunc(text, digits)
	if plain == text {
		return text
	}
	meant := c.composedOf(tokensOf(plain))
	if len(meant) == 0 || len(meant[0].Axes) == 0 {
		return text
	}
	list := slices.ContainsFunc(tokensOf(text), func(t token) bool {
		return t.list != nil && !slices.ContainsFunc(t.list[1:], func(n float64) bool { return n < 100 })
	})
	for _, a := range meant[0].Axes {
		col := c.table.Column(a)
		if _, fractions := col.Data.([]float64); fractions || c.axisScale(col) != 1 || list && slices.Contains(naming, a) {
			return text
		}
	}
	return plain
}

func (c *Catalogue) composedOf(tokens []token) []Suggestion {
	if len(tokens) == 0 || len(tokens) > maxComposed || len(c.table.Columns()) == 0 {
		return nil
	}
	parts, score := c.cut(tokens)
	if len(parts) == 0 {
		return nil
	}
	s, ok := c.compose(parts)
	if !ok {
		return nil
	}
	switch {
	case score > certain && !plain(tokens, parts):
		score = 1
	case plain(tokens, parts) && !c.onlyValue(tokens):
		score *= 0.93 // a phenomenon of that name says more
	}
	s.Score = score
	return []Suggestion{s}
}

// certain is the score from which on every word has been understood.
const certain = 0.98

// plain says that an input is one set without a number and without a negation.
func plain(tokens []token, parts []part) bool {
	sets := 0
	for _, p := range parts {
		if p.kind == aNegation || p.most != nil {
			return false
		}
		if p.kind == aSet {
			sets++
		}
	}
	return sets == 1 && !slices.ContainsFunc(tokens, func(t token) bool { return t.isNumber() })
}

// onlyValue says that an input is written like a value, and like nothing else.
func (c *Catalogue) onlyValue(tokens []token) bool {
	if len(tokens) != 1 || len(c.values[tokens[0].word]) == 0 {
		return false
	}
	return !slices.ContainsFunc(c.letters, func(id int32) bool { return c.index.phrases[id].folded == fold(tokens[0].word) })
}

// wishes are words before what somebody wants to see; without them the verb would be
// about axes.
var wishes = []string{"show me", "give me", "hide everything but", "hide everything except", "hide all but", "hide all except", "remove everything but", "remove everything except"}

// goings are words before a view that somebody wants to see, besides.
var goings = []string{"show me", "give me", "show", "open", "see", "view", "bring up", "go to", "take me to", "switch to", "where is", "where are", "where can I see", "I want to see", "let me see", "can I see"}

// going reads "show me the heat map".
func (c *Catalogue) going(text string, ctx *Context) []Suggestion {
	rest, ok := after(text, goings)
	if !ok {
		return nil
	}
	if bare, ok := after(rest, []string{"the", "a", "an", "my"}); ok {
		rest = bare
	}
	if column, _ := c.axisAt(tokensOf(rest), 0); column != "" {
		return nil
	}
	return c.pageNamed(rest, aView, ctx)
}

// wished is an input without such words; false if it does not begin with any.
func wished(text string) (rest string, ok bool) { return after(text, wishes) }

// after is what follows words that an input begins with.
func after(text string, words []string) (rest string, ok bool) {
	text = strings.Join(strings.Fields(text), " ")
	for _, w := range words {
		if len(text) > len(w) && text[len(w)] == ' ' && strings.EqualFold(text[:len(w)], w) {
			return text[len(w)+1:], true
		}
	}
	return "", false
}

// taking are verbs that take samples away where what follows is no axis.
var taking = []string{"remove", "hide", "drop"}

// left reads "remove cpu 0": the samples that are left then.
func (c *Catalogue) left(text string, ctx *Context) []Suggestion {
	rest, ok := after(text, taking)
	if _, wish := wished(text); !ok || wish {
		return nil
	}
	rest = strings.Join(axisNamed(strings.Fields(rest)), " ")
	tokens := tokensOf(rest)
	if column, end := c.axisAt(tokens, 0); column != "" && end == len(tokens) && (slices.Contains(ctx.Shown, column) || len(c.values[tokens[0].word]) == 0) {
		return nil
	}
	return c.composed("not " + rest)
}

// onlyAxes are words before the axes that somebody wants to see, and no others.
var onlyAxes = []string{"show only", "only show", "keep only", "just show", "only the axes", "only axes", "only the axis", "only axis"}

// kept reads "hide everything but latency": all axes but some are taken away.
func (c *Catalogue) kept(text string, ctx *Context) []Suggestion {
	rest, ok := after(text, onlyAxes)
	if !ok {
		if rest, ok = after(text, wishes); !ok {
			return nil
		}
	}
	tokens := tokensOf(rest)
	var stay, names []string
	for at := 0; at < len(tokens); {
		if slices.Contains([]string{"the", "axis", "axes", "and", ","}, tokens[at].word) {
			at++
			continue
		}
		column, end := c.axisAt(tokens, at)
		if column == "" {
			return nil
		}
		stay, names, at = append(stay, column), append(names, c.title(column)), end
	}
	var gone []string
	for _, column := range ctx.Shown {
		if !slices.Contains(stay, column) {
			gone = append(gone, column)
		}
	}
	if len(gone) == 0 || len(gone) == len(ctx.Shown) {
		return nil // nothing to take away, or nothing left
	}
	list := strings.Join(names, " and ")
	return []Suggestion{{Text: "hide all axes but " + list, Action: Hide, Axes: gone, Score: 1, Does: "takes all axes away but " + list}}
}

// counts are words for how many samples there are.
var counts = []string{"count", "counts", "samples", "number of samples", "sample count", "count of samples", "how many samples"}

// related reads "latency by cpu", one axis against another, and "samples by function".
func (c *Catalogue) related(text string) []Suggestion {
	tokens := tokensOf(text)
	if len(tokens) < 3 {
		return nil
	}
	for _, w := range counts {
		n := saidAt(tokens, 0, w)
		if n == 0 || n+1 >= len(tokens) || tokens[n].word != "by" && tokens[n].word != "per" {
			continue
		}
		if column, end := c.axisAt(tokens, n+1); column != "" && end == len(tokens) {
			return []Suggestion{{Text: "histogram of " + c.title(column), Action: View, Target: "axis", Axes: []string{column}, Score: 1, Does: "shows how many samples have each " + c.title(column)}}
		}
	}
	left, at := c.axisAt(tokens, 0)
	if left == "" || at >= len(tokens) || !slices.Contains([]string{"by", "per", "over", "across"}, tokens[at].word) {
		return nil
	}
	right, end := c.axisAt(tokens, min(at+1, len(tokens)-1))
	if right == "" || right == left || end != len(tokens) {
		return nil
	}
	return []Suggestion{c.pair(&c.entries[c.axes[left]], &c.entries[c.axes[right]], nil, nil, 1)}
}

// understood is the score of one name in full.
const understood = 0.9

// against reads "node 0 vs node 1", "compare fill and sweep": values of one column, all
// that is of them, with the axis that tells them apart.
func (c *Catalogue) against(text string) []Suggestion {
	text = strings.Join(strings.Fields(text), " ")
	rest, compared := after(text, []string{"compare", "difference between"})
	if !compared {
		rest = text
	}
	for _, between := range []string{" versus ", " vs. ", " vs ", " against ", " with ", " and ", " to "} {
		left, right, ok := strings.Cut(rest, between)
		if !ok || !compared && !strings.HasPrefix(between, " v") {
			continue
		}
		a, b := c.composed(left), c.composed(right)
		if len(a) == 0 || len(b) == 0 || a[0].Score < understood || b[0].Score < understood {
			continue
		}
		column, first := c.valuesIn(a[0].Where)
		other, second := c.valuesIn(b[0].Where)
		if column == "" || column != other {
			continue
		}
		e := query.In{Column: column, Values: append(slices.Clone(first), second...)}
		axes := []string{column}
		if c.latency != "" && c.latency != column {
			axes = append(axes, c.latency)
		}
		return []Suggestion{{Text: "select " + e.String(), Action: Select, Axes: axes, Where: e.String(), Selects: true, Score: 1, Does: "selects both, with the axis that tells them apart"}}
	}
	return nil
}

// valuesIn is the column and its values that a selection takes, where it takes no others.
func (c *Catalogue) valuesIn(where string) (string, []query.Value) {
	e, err := query.Parse(where, c.table)
	if err != nil || e == nil {
		return "", nil
	}
	return valuesOf(e)
}

// comparing reads "compare with baseline": runs, not axes.
func (c *Catalogue) comparing(text string) []Suggestion {
	words := strings.Fields(strings.ToLower(clip(text)))
	if len(words) == 0 || words[0] != "compare" && words[0] != "diff" || len(words) > 1 && !slices.Contains([]string{"with", "to", "against", "runs", "run"}, words[1]) {
		return nil
	}
	return c.page(changesView)
}

// changesView is the view that compares runs.
const changesView = "changes"

// maxComposed bounds the words of a composed selection.
const maxComposed = 20

const (
	perPart     = 0.999 // of two readings the one with fewer parts
	perStranger = 0.5
)

// cut finds the best way to divide the tokens into parts.
func (c *Catalogue) cut(tokens []token) ([]part, float64) {
	type way struct {
		score float64
		from  int
		part  part
	}
	ways := make([]way, len(tokens)+1)
	ways[0].score = 1
	for at := range tokens {
		if ways[at].score == 0 {
			continue
		}
		for _, p := range c.partsAt(tokens, at) {
			score := ways[at].score * p.score
			if p.kind == aSet {
				score *= perPart
			}
			if score > ways[p.end].score {
				ways[p.end] = way{score, at, p}
			}
		}
	}
	var parts []part
	for at := len(tokens); at > 0 && ways[at].score > 0; at = ways[at].from {
		parts = append(parts, ways[at].part)
	}
	slices.Reverse(parts)
	strangers, sets := 0, 0
	for _, p := range parts {
		switch p.kind {
		case aStranger:
			strangers++
		case aSet:
			sets++
		}
	}
	if sets == 0 || strangers > 1 {
		return nil, 0
	}
	return parts, ways[len(tokens)].score
}

// partsAt is everything that the words from a place on may be.
func (c *Catalogue) partsAt(tokens []token, at int) []part {
	out := []part{{kind: aStranger, score: perStranger, end: at + 1}}
	word := tokens[at].word
	switch {
	case word == "and" || word == ",":
		return append(out, part{kind: anAnd, score: 1, end: at + 1})
	case word == "or":
		return append(out, part{kind: anOr, score: 1, end: at + 1})
	case saidAt(tokens, at, "nothing but")+saidAt(tokens, at, "nothing except") > 0 && at+2 < len(tokens):
		return []part{{kind: aFiller, score: 1, end: at + 2}} // only what follows
	case fillers[word] || word == "but":
		filler := part{kind: aFiller, score: 0.999, end: at + 1}
		if word == "but" {
			filler.kind = aBut
		}
		out = append(out, filler)
	}
	for _, n := range negations {
		if k := saidAt(tokens, at, n); k > 0 && at+k < len(tokens) {
			out = append(out, part{kind: aNegation, score: 1, end: at + k})
		}
	}
	out = append(out, c.namesAt(tokens, at)...) // first: of two equal readings it names more
	out = append(out, c.levelsAt(tokens, at)...)
	out = append(out, c.placesAt(tokens, at)...)
	out = append(out, c.threadsAt(tokens, at)...) // before its number, which no thread has
	out = append(out, c.boundsAt(tokens, at)...)
	out = append(out, c.nearAt(tokens, at)...)
	out = append(out, c.likeAt(tokens, at)...)
	out = append(out, c.lackingAt(tokens, at)...)
	out = append(out, c.leftOutAt(tokens, at)...)
	out = append(out, c.sinceAt(tokens, at)...)
	out = append(out, c.besideAt(tokens, at)...)
	out = append(out, c.mostAt(tokens, at)...)
	out = append(out, c.endsAt(tokens, at)...)
	out = append(out, c.stretchAt(tokens, at)...)
	out = append(out, c.questionAt(tokens, at)...)
	out = append(out, c.absentAt(tokens, at)...)
	out = append(out, c.askedAt(tokens, at)...)
	if questionWords[word] && len(c.questionAt(tokens, 0)) > 0 {
		out = append(out, part{kind: aFiller, score: 0.999, end: at + 1})
	}
	return append(out, c.percentAt(tokens, at)...)
}

// group is parts of which one must hold.
type group struct {
	parts []part
	not   bool
}

// compose makes one selection of parts: those joined by "or", and different
// values of one column, are alternatives; everything else holds together. A negation
// goes for all values of a list: beside "not L1", "and L2" would say nothing more.
func (c *Catalogue) compose(parts []part) (Suggestion, bool) {
	var groups []group
	not, or, but := false, false, false
	var asked []string
	for _, p := range parts {
		switch p.kind {
		case aFiller:
			asked = append(asked, p.axes...)
		case aNegation:
			not = true
		case aBut:
			but = true
		case anOr:
			or = true
		case aSet:
			if slices.ContainsFunc(groups, func(g group) bool { return g.parts[0].text == p.text }) {
				continue // said twice
			}
			last := len(groups) - 1
			same := last >= 0 && !not && !but && apart(&groups[last].parts[0], &p)
			if last >= 0 && !not && (or || same) {
				groups[last].parts = append(groups[last].parts, p)
			} else {
				groups = append(groups, group{[]part{p}, not})
			}
			not, or, but = false, false, false
		}
	}
	s, ok := suggestionOf(groups)
	if s.Missing == "" {
		for _, a := range asked {
			if !slices.Contains(s.Axes, a) {
				s.Axes = append(s.Axes, a)
			}
		}
	}
	return s, ok
}

// apart says that two parts are different values of one column.
func apart(a, b *part) bool {
	if a.one == "" || a.one != b.one {
		return false
	}
	_, x := valuesOf(a.expr)
	_, y := valuesOf(b.expr)
	return !slices.ContainsFunc(x, func(v query.Value) bool { return slices.Contains(y, v) })
}

func suggestionOf(groups []group) (Suggestion, bool) {
	s := Suggestion{Action: Select, Axes: []string{}, Selects: true}
	var names []string
	lazy := false
	for _, g := range groups {
		var texts []string
		for _, p := range g.parts {
			texts = append(texts, p.text)
			lazy = lazy || p.expr == nil
			for _, a := range p.axes {
				if !slices.Contains(s.Axes, a) {
					s.Axes = append(s.Axes, a)
				}
			}
			if p.most != nil && (len(g.parts) > 1 || g.not) {
				return s, false // "not the hottest line" is nothing that people look for
			}
		}
		name := strings.Join(texts, " or ")
		switch {
		case g.not && len(texts) > 1:
			name = "neither " + strings.Join(texts, " nor ")
		case g.not:
			name = "not " + name
		}
		names = append(names, name)
	}
	s.Text = "select " + strings.Join(names, " and ")
	if why := missingOf(groups); why != "" {
		s.Missing, s.Selects, s.Axes = why, false, []string{}
		return s, true
	}
	s.Does = "selects samples with " + strings.Join(names, " and ")
	resolve := resolver(groups)
	if lazy {
		s.where = resolve
		return s, true
	}
	s.Where, _ = resolve(nil)
	return s, true
}

// missingOf is why the data cannot answer some of the parts; empty if it can.
func missingOf(groups []group) string {
	for _, g := range groups {
		for _, p := range g.parts {
			if p.missing != "" {
				return p.missing
			}
		}
	}
	return ""
}

// resolver writes the selection: what is most is looked for among the samples
// that the other parts leave.
func resolver(groups []group) clause {
	return func(n numbers) (string, error) {
		var all []string
		var most *extreme
		for _, g := range groups {
			if g.parts[0].most != nil {
				most = g.parts[0].most
				continue
			}
			text, err := g.where(n)
			if err != nil {
				return "", err
			}
			all = append(all, text)
		}
		where := strings.Join(all, " & ")
		if most == nil {
			return where, nil
		}
		found, err := n.extreme(*most, where)
		if err != nil || where == "" {
			return found, err
		}
		return where + " & " + found, nil
	}
}

// where writes a group; values of one column are a list.
func (g *group) where(n numbers) (string, error) {
	var exprs []query.Expr
	var texts []string
	for _, p := range g.parts {
		if p.expr != nil {
			exprs = append(exprs, p.expr)
			continue
		}
		text, err := p.lazy(n)
		if err != nil {
			return "", err
		}
		texts = append(texts, text)
	}
	if len(exprs) > 0 {
		texts = append([]string{anyOf(exprs).String()}, texts...)
	}
	text := strings.Join(texts, " | ")
	switch {
	case g.not:
		return "!(" + text + ")", nil
	case len(texts) > 1 || strings.Contains(text, " | "):
		return "(" + text + ")", nil
	}
	return text, nil
}

// anyOf is the alternative of expressions: one list where all are values of one
// column.
func anyOf(exprs []query.Expr) query.Expr {
	if len(exprs) == 1 {
		return exprs[0]
	}
	var in query.In
	for _, e := range exprs {
		column, values := valuesOf(e)
		if values == nil || in.Column != "" && in.Column != column {
			return query.Or{Terms: exprs}
		}
		in.Column = column
		for _, v := range values {
			if !slices.Contains(in.Values, v) {
				in.Values = append(in.Values, v)
			}
		}
	}
	if len(in.Values) == 1 {
		return query.Compare{Column: in.Column, Op: query.Eq, Value: in.Values[0]}
	}
	return in
}

func valuesOf(e query.Expr) (string, []query.Value) {
	switch e := e.(type) {
	case query.In:
		return e.Column, e.Values
	case query.Compare:
		if e.Op == query.Eq {
			return e.Column, []query.Value{e.Value}
		}
	}
	return "", nil
}

// extreme is the group of samples that has most, or least, of something.
type extreme struct {
	by      []string
	measure query.Order // BySum, ByMean or ByCount
	least   bool
}

type superlative struct {
	words   string
	measure query.Order
	least   bool
}

// superlatives, and what they are about.
var superlatives = []superlative{
	{"most expensive", query.BySum, false}, {"most costly", query.BySum, false}, {"most used", query.ByCount, false}, {"most sampled", query.ByCount, false},
	{"least used", query.ByCount, true}, {"least sampled", query.ByCount, true}, {"least expensive", query.BySum, true}, {"least costly", query.BySum, true},
	{"cheapest", query.BySum, true}, {"coldest", query.BySum, true},
	{"hottest", query.BySum, false}, {"hot", query.BySum, false}, {"costliest", query.BySum, false}, {"worst", query.BySum, false}, {"top", query.BySum, false}, {"heaviest", query.BySum, false},
	{"slowest", query.ByMean, false}, {"fastest", query.ByMean, true}, {"busiest", query.ByCount, false}, {"idlest", query.ByCount, true},
}

// percentAt reads "slowest 5 %", "top 10 % latency".
func (c *Catalogue) percentAt(tokens []token, at int) []part {
	if !slices.Contains([]string{"slowest", "slow", "top", "highest", "longest", "worst"}, tokens[at].word) {
		return nil
	}
	b, ok := boundAt(tokens, at+1)
	if !ok || b.unit() != "%" || b.hi != nil || b.lo.number <= 0 || b.lo.number >= 100 {
		return nil
	}
	end := b.end
	if column, next := c.axisAt(tokens, min(end, len(tokens)-1)); end < len(tokens) && column != "" && column == c.latency {
		end = next
	}
	n := strconv.FormatFloat(b.lo.number, 'g', -1, 64)
	p := part{score: 1, text: "the slowest " + n + " %", end: end}
	if c.latency == "" {
		return []part{p.cannot(noLatency)}
	}
	p.lazy, p.axes = beyond(c.latency, 1-b.lo.number/100), []string{c.latency}
	return []part{p}
}

// beginnings and endings are words for the two ends of what goes on.
var beginnings, endings = wordSet("first earliest initial"), wordSet("last latest final")

// endsAt reads "first iteration", "last 10 % of time", "last 2 seconds".
// What has no axis is about time.
func (c *Catalogue) endsAt(tokens []token, at int) []part {
	which := tokens[at].word
	low, high := beginnings[which], endings[which]
	if !low && !high {
		return nil
	}
	end := at + 1
	share, shared := boundAt(tokens, end)
	if !shared && end < len(tokens) && timeUnits[tokens[end].word] > 0 {
		share, shared = bound{lo: &token{number: 1, unit: tokens[end].word}, end: end + 1}, true
	}
	if shared && (share.hi != nil || share.op != "" || share.lo.number <= 0) {
		return nil
	}
	if shared {
		end = share.end
	}
	column, end := c.alongAt(tokens, end)
	n, p := "", 0.0
	if shared {
		n, p = strconv.FormatFloat(share.lo.number, 'g', -1, 64), share.lo.number/100
	}
	switch {
	case shared && share.unit() == "%" && p < 1 && (column == samples.Time || column == samples.Iteration):
		clause := ofSpan(column, query.Ge, 1-p)
		if low {
			clause = ofSpan(column, query.Le, p)
		}
		return []part{{score: 1, text: "the " + which + " " + n + " % of " + column, lazy: clause, axes: []string{column}, end: end}}
	case shared && timeUnits[share.unit()] > 0 && column == samples.Time && samples.UnitOf(c.table.Column(column)) == samples.Nanoseconds:
		clause := fromEnd(column, query.Ge, 1, -share.lo.number*timeUnits[share.unit()])
		if low {
			clause = fromEnd(column, query.Le, 0, share.lo.number*timeUnits[share.unit()])
		}
		return []part{{score: 1, text: strings.ReplaceAll("the "+which+" "+n+" "+share.unit(), " 1 "+share.unit(), " "+share.unit()), lazy: clause, axes: []string{column}, end: end}}
	case !shared && column == samples.Iteration:
		p := 1.0
		if low {
			p = 0
		}
		return []part{{score: 1, text: "the " + which + " " + column, lazy: exactly(column, p), axes: []string{column}, end: end}}
	}
	return nil
}

// alongAt is the axis that something is a stretch of: the one that is named, else
// time, if there is one.
func (c *Catalogue) alongAt(tokens []token, at int) (string, int) {
	end := at
	for end < len(tokens) && slices.Contains([]string{"of", "the", "run", "program", "recording", "execution"}, tokens[end].word) {
		end++
	}
	if end < len(tokens) {
		if column, next := c.axisAt(tokens, end); column == samples.Time || column == samples.Iteration {
			return column, next
		}
	}
	if !c.usable(samples.Time) {
		return "", at
	}
	return samples.Time, end
}

// mostAt reads "hottest line", "slowest cpu".
func (c *Catalogue) mostAt(tokens []token, at int) []part {
	if column, end := c.axisAt(tokens, at); column != "" {
		// "which thread is slowest"
		for end < len(tokens) && slices.Contains([]string{"is", "are", "was", "the"}, tokens[end].word) {
			end++
		}
		for _, s := range superlatives {
			n := saidAt(tokens, end, s.words)
			if n > 0 && saidAt(tokens, end+n, "one")+saidAt(tokens, end+n, "ones") > 0 {
				n++
			}
			if n > 0 && end+n == len(tokens) {
				return c.mostOf(s, column, end+n)
			}
		}
		return c.withMostAt(tokens, column, end)
	}
	for _, s := range superlatives {
		n := saidAt(tokens, at, s.words)
		if n == 0 || at+n >= len(tokens) {
			continue
		}
		column, end := c.axisAt(tokens, at+n)
		if column == "" && at+n+1 == len(tokens) {
			column, end = c.mistyped(tokens[at+n].word), at+n+1
		}
		return c.mostOf(s, column, end)
	}
	return nil
}

// withMostAt reads "thread with the most samples", "line with the highest cost", "node
// has the slowest accesses".
func (c *Catalogue) withMostAt(tokens []token, column string, at int) []part {
	if saidAt(tokens, at, "with")+saidAt(tokens, at, "has")+saidAt(tokens, at, "have") == 0 {
		return nil
	}
	if at++; saidAt(tokens, at, "the") > 0 {
		at++
	}
	for _, s := range superlatives {
		n := saidAt(tokens, at, s.words)
		if n == 0 || at+n >= len(tokens) {
			continue
		}
		if what := stem(tokens[at+n].word); what == "sample" || what == "access" {
			return c.mostOf(s, column, at+n+1)
		}
	}
	if at+1 >= len(tokens) || !slices.Contains([]string{"most", "highest", "largest", "longest"}, tokens[at].word) {
		return nil
	}
	switch what := stem(tokens[at+1].word); {
	case what == "sample" || what == "access":
		return c.mostOf(superlative{"most used", query.ByCount, false}, column, at+2)
	case what == "latency" || costWords[what]:
		return c.mostOf(superlative{"hottest", query.BySum, false}, column, at+2)
	}
	return nil
}

// mistyped is the column whose name a word is a slip of.
func (c *Catalogue) mistyped(word string) string {
	for _, name := range slices.Sorted(maps.Keys(c.named)) {
		if len(word) >= 4 && slip(word, name) > 0.7 && slices.Contains(grouping, c.named[name]) {
			return c.named[name]
		}
	}
	return ""
}

// mostOf is the value of a column that has most of something. Without latencies the
// slowest is where most of the run time is.
func (c *Catalogue) mostOf(s superlative, column string, end int) []part {
	if column == "" || c.cost == "" && s.measure != query.ByCount || !slices.Contains(grouping, column) {
		return nil
	}
	if s.measure == query.ByMean && c.latency == "" {
		s.measure, s.words = query.BySum, "hottest"
		if s.least {
			s.words = "coldest"
		}
	}
	by := []string{column}
	if column == samples.Line && c.usable(samples.File) {
		by = []string{samples.File, samples.Line}
	}
	return []part{{score: 1, text: "the " + s.words + " " + column, most: &extreme{by, s.measure, s.least}, axes: []string{column}, end: end}}
}

// grouping are the columns whose values are things that can be most.
var grouping = []string{samples.Line, samples.File, samples.Function, samples.Symbol, samples.CPU, samples.Node, samples.TID, samples.PID, samples.Rank, samples.Level, samples.Iteration, samples.Instruction, samples.Op}

func (c *Catalogue) usable(column string) bool { return samples.Usable(c.table, column) != nil }
