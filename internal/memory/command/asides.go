package command

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// absentAt reads words for a column that the data does not have, with the number
// or the superlative about it: that is said, and nothing else is offered in its
// place.
func (c *Catalogue) absentAt(tokens []token, at int) []part {
	from := at
	for _, s := range superlatives {
		if n := saidAt(tokens, at, s.words); n > 0 {
			from = at + n
			break
		}
	}
	for n := min(2, len(tokens)-from); n > 0; n-- {
		var words []string
		for _, t := range tokens[from : from+n] {
			words = append(words, stem(t.word))
		}
		text := strings.Join(words, " ")
		why, ok := c.absent[text]
		if !ok || c.named[text] != "" {
			continue
		}
		end := from + n
		b, limited := boundAt(tokens, end)
		if limited {
			end = b.end
		}
		if !limited && from == at {
			return nil // the word alone may be a name of something
		}
		return []part{part{text: text, end: end}.cannot(why)}
	}
	return nil
}

// nameAbsent lists the words for canonical columns that the data lacks, and for
// places of a machine that it does not name.
func (c *Catalogue) nameAbsent() {
	c.absent = map[string]string{}
	add := func(name, why string) {
		words := split(name)
		for i := range words {
			words[i] = stem(words[i])
		}
		c.absent[strings.Join(words, " ")] = why
	}
	for _, f := range samples.Fields() {
		if c.usable(f.Name) {
			continue
		}
		why := fmt.Sprintf("the data does not say the %s (no column %s)", f.Label, f.Name)
		for _, name := range append([]string{f.Name, f.Label}, axisNames[f.Name]...) {
			add(name, why)
		}
	}
	if len(c.resources) == 0 {
		for _, name := range []string{"socket", "package", "NUMA node", "numa", "core"} {
			add(name, "the data is not placed on a machine: it has no topology, or no column cpu")
		}
	}
}

// mostThreads bounds the threads that are counted from nought.
const mostThreads = 4096

// threads are the numbers of the threads in their order; nil where there are too
// many to be counted so.
func (c *Catalogue) threads() []float64 {
	c.countThreads.Do(func() {
		col := samples.UsableAs(c.table, samples.TID, table.Number)
		if col == nil {
			return
		}
		seen := map[float64]bool{}
		for i := range col.Len() {
			if col.Has(i) {
				seen[col.Float(i)] = true
			}
			if len(seen) > mostThreads {
				return
			}
		}
		c.inOrder = slices.Sorted(maps.Keys(seen))
	})
	return c.inOrder
}

// threadsAt reads "thread 2" where no thread has that number: people count
// threads as OpenMP does, and the system numbers them otherwise.
func (c *Catalogue) threadsAt(tokens []token, at int) []part {
	if saidAt(tokens, at, "main thread")+saidAt(tokens, at, "master thread") > 0 {
		return c.mainThread(at + 2)
	}
	if stem(tokens[at].word) != "thread" || !c.usable(samples.TID) {
		return nil
	}
	b, ok := boundAt(tokens, at+1)
	if !ok || b.op != "" || b.unit() != "" {
		return nil
	}
	wanted := b.list
	if b.list == nil && b.hi != nil && b.lo.number <= b.hi.number && b.hi.number < mostThreads {
		for n := b.lo.number; n <= b.hi.number; n++ {
			wanted = append(wanted, n)
		}
	}
	list := c.threads()
	var found []query.Expr
	var names []string
	for _, n := range wanted {
		if n < 0 || n != float64(int(n)) || int(n) >= len(list) || slices.Contains(list, n) {
			return nil
		}
		found = append(found, query.Compare{Column: samples.TID, Op: query.Eq, Value: query.NumberValue(list[int(n)])})
		names = append(names, strconv.Itoa(int(n)))
	}
	if len(names) == 0 {
		return nil
	}
	e := anyOf(found)
	text := fmt.Sprintf("%s (thread %s of %d, counted from 0)", e, strings.Join(names, ", "), len(list))
	return []part{{score: 1, text: text, expr: e, axes: []string{samples.TID}, one: samples.TID, end: b.end}}
}

// mainThread is the thread that has the number of its process, where there is
// one process.
func (c *Catalogue) mainThread(end int) []part {
	list, pid := c.threads(), samples.UsableAs(c.table, samples.PID, table.Number)
	if pid == nil || pid.Len() == 0 {
		return nil
	}
	process := pid.Float(0)
	for i := range pid.Len() {
		if pid.Has(i) && pid.Float(i) != process {
			return nil
		}
	}
	if !slices.Contains(list, process) {
		return nil
	}
	e := query.Compare{Column: samples.TID, Op: query.Eq, Value: query.NumberValue(process)}
	return []part{{score: 1, text: "the main thread", expr: e, axes: []string{samples.TID}, one: samples.TID, end: end}}
}

// questionAt reads "which object misses L3 most": the value of the column that has
// most of the samples which the other words select, or most of their cost.
func (c *Catalogue) questionAt(tokens []token, at int) []part {
	if at != 0 || tokens[0].word != "which" && tokens[0].word != "what" || len(tokens) < 3 {
		return nil
	}
	column, end := c.axisAt(tokens, 1)
	most := slices.IndexFunc(tokens, func(t token) bool { return t.word == "most" || t.word == "longest" })
	if column == "" || most < end {
		return nil
	}
	s := superlative{"most used", query.ByCount, false}
	if slices.ContainsFunc(tokens[end:], func(t token) bool { return costWords[t.word] }) {
		s = superlative{"hottest", query.BySum, false}
	}
	return c.mostOf(s, column, end)
}

// askedAt reads "which lines" before what the lines have: the question is about that, and
// its answer along their axis.
func (c *Catalogue) askedAt(tokens []token, at int) []part {
	if tokens[at].word != "which" && tokens[at].word != "what" {
		return nil
	}
	column, end := c.axisAt(tokens, at+1)
	if column == "" || end >= len(tokens) {
		return nil
	}
	return []part{{kind: aFiller, score: asking, axes: []string{column}, end: end}}
}

// asking is less than what a superlative behind such words scores.
const asking = 0.985

// costWords say that a question is about cost, not about how often.
var costWords = wordSet("cost costs costing time cycles expensive longest takes spends")

// questionWords say nothing more in a question about what is most.
var questionWords = wordSet("most longest often work works working cost costs costing time cycles takes spends expensive")

// parts of a stretch, by their words.
var stretches = map[string]float64{"half": 2, "third": 3, "quarter": 4, "fifth": 5, "tenth": 10}

// stretchAt reads "last quarter", "second third of the run", "20 to 40 % of time".
func (c *Catalogue) stretchAt(tokens []token, at int) []part {
	if b, ok := boundAt(tokens, at); ok && b.op == "" && b.hi != nil && b.count == 2 && b.unit() == "%" && b.lo.number < b.hi.number && b.hi.number <= 100 {
		if column, end := c.alongAt(tokens, b.end); column != "" && end > b.end {
			return []part{c.stretch(column, b.lo.number/100, b.hi.number/100, fmt.Sprintf("%g to %g %% of %s", b.lo.number, b.hi.number, column), end)}
		}
	}
	if at+1 >= len(tokens) {
		return nil
	}
	which, of := tokens[at].word, stretches[stem(tokens[at+1].word)]
	n, ok := ordinals[which]
	switch {
	case of == 0:
		return nil
	case endings[which]:
		n = of - 1
	case beginnings[which]:
		n = 0
	case which == "middle" && of == 3:
		n = 1
	case !ok || n >= of:
		return nil
	}
	column, end := c.alongAt(tokens, at+2)
	if column == "" {
		return nil
	}
	return []part{c.stretch(column, n/of, (n+1)/of, "the "+which+" "+tokens[at+1].word+" of "+column, end)}
}

// stretch is what lies between two shares of the way along a column.
func (c *Catalogue) stretch(column string, from, to float64, text string, end int) part {
	first, last := ofSpan(column, query.Ge, from), ofSpan(column, query.Lt, to)
	p := part{score: 1, text: text, axes: []string{column}, end: end}
	switch {
	case to >= 1:
		p.lazy = first
	case from <= 0:
		p.lazy = last
	default:
		p.lazy = func(n numbers) (string, error) {
			a, err := first(n)
			if err != nil {
				return "", err
			}
			b, err := last(n)
			return a + " & " + b, err
		}
	}
	return p
}

// ranked reads "top 5 objects", "worst 10 lines": the lists have them.
func (c *Catalogue) ranked(text string) []Suggestion {
	tokens := tokensOf(text)
	for _, s := range superlatives {
		n := saidAt(tokens, 0, s.words)
		if n == 0 || n+1 >= len(tokens) || !tokens[n].isNumber() || tokens[n].unit != "" {
			continue
		}
		column, end := c.axisAt(tokens, n+1)
		if column == "" || end != len(tokens) || !slices.Contains(grouping, column) {
			continue
		}
		return c.listOf(column)
	}
	return nil
}

// page is the command that goes to a view.
func (c *Catalogue) page(target string) []Suggestion {
	for i := range c.entries {
		if e := &c.entries[i]; e.kind == kindPage && e.target == target {
			return []Suggestion{c.suggest(scored{i, 1}, &Context{})}
		}
	}
	return nil
}

// calling reads "who calls sweep", "callers of main": the view of calls has them.
func (c *Catalogue) calling(text string) []Suggestion {
	tokens := tokensOf(text)
	for _, words := range []string{"who calls", "what calls", "callers of", "callees of", "functions called by", "called by", "calls of"} {
		if n := saidAt(tokens, 0, words); n > 0 && n < len(tokens) && len(c.valuesAt(tokens[n].word, samples.Function, n+1, 1)) > 0 {
			return c.page("calls")
		}
	}
	return nil
}

// viewOf reads "imbalance across cpus", "statistics of latency": a view and what of
// the data somebody wants to see in it.
func (c *Catalogue) viewOf(text string, ctx *Context) []Suggestion {
	tokens := tokensOf(text)
	for at := 1; at+1 < len(tokens); at++ {
		if !slices.Contains([]string{"across", "between", "among", "over", "of", "per", "by", "for", "on"}, tokens[at].word) {
			continue
		}
		from := at + 1
		for from+1 < len(tokens) && slices.Contains([]string{"the", "all", "each"}, tokens[from].word) {
			from++
		}
		column, end := c.axisAt(tokens, from)
		if column == "" && placeWords[stem(tokens[from].word)] != "" {
			column, end = tokens[from].word, from+1
		}
		if column == "" || end != len(tokens) {
			continue
		}
		var words []string
		for _, t := range tokens[:at] {
			words = append(words, t.word)
		}
		if list := c.pageNamed(strings.Join(words, " "), aView, ctx); list != nil {
			return list
		}
	}
	return nil
}

func aView(e *entry) bool { return e.action == View }

// pageNamed is what the page can do that is called exactly so.
func (c *Catalogue) pageNamed(name string, accept func(*entry) bool, ctx *Context) []Suggestion {
	name = fold(name)
	for _, id := range c.letters {
		p := &c.index.phrases[id]
		if e := &c.entries[p.entry]; e.kind == kindPage && accept(e) && p.folded == name {
			return []Suggestion{c.suggest(scored{int(p.entry), 1}, ctx)}
		}
	}
	return nil
}

// counted reads "L3 misses per thread": a set against an axis.
func (c *Catalogue) counted(text string, ctx *Context) []Suggestion {
	tokens := tokensOf(text)
	for at := 1; at+1 < len(tokens); at++ {
		if !slices.Contains([]string{"per", "by", "across"}, tokens[at].word) {
			continue
		}
		column, end := c.axisAt(tokens, at+1)
		if column == "" || end != len(tokens) {
			continue
		}
		if left, _ := c.axisAt(tokens, 0); left != "" {
			return nil // two axes
		}
		var words []string
		for _, t := range tokens[:at] {
			if t.isNumber() {
				return nil
			}
			words = append(words, strings.ReplaceAll(t.word, "-", " "))
		}
		in := parseInput("correlate " + strings.Join(words, " ") + " with " + column)
		return c.verbal(in, ctx)
	}
	return nil
}
