package command

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/machine/hw"
)

// axisAt returns the column that the words at a place name, and the token after
// them; empty if they name none.
func (c *Catalogue) axisAt(tokens []token, at int) (column string, end int) {
	for n := min(3, len(tokens)-at); n > 0; n-- {
		var words []string
		for _, t := range tokens[at : at+n] {
			if t.isNumber() {
				words = nil
				break
			}
			words = append(words, stem(t.word))
		}
		if words == nil {
			continue
		}
		if column, ok := c.named[strings.Join(words, " ")]; ok {
			return column, at + n
		}
	}
	return "", at
}

// nameAxes lists the words for columns that have values.
func (c *Catalogue) nameAxes() {
	c.named = map[string]string{}
	for _, col := range c.table.Columns() {
		if col.Provenance == table.Absent {
			continue
		}
		for _, name := range append([]string{col.Name, titleOf(col)}, axisNames[col.Name]...) {
			words := split(name)
			for i := range words {
				words[i] = stem(words[i])
			}
			if key := strings.Join(words, " "); c.named[key] == "" {
				c.named[key] = col.Name
			}
			if _, ok := c.named[strings.ToLower(col.Name)]; !ok {
				c.named[strings.ToLower(col.Name)] = col.Name
			}
		}
	}
}

// levelAt returns the levels that words name ("dram" is two), and the token
// after them.
func levelAt(tokens []token, at int) ([]hw.Level, int) {
	for n := min(3, len(tokens)-at); n > 0; n-- {
		var words []string
		for _, t := range tokens[at : at+n] {
			if t.isNumber() || strings.HasPrefix(t.word, "beyond") || strings.HasSuffix(t.word, "miss") {
				words = nil
				break
			}
			words = append(words, t.word)
		}
		if words == nil {
			continue
		}
		text := strings.Join(words, "")
		switch text {
		case "dram", "ram", "memory", "mem", "mainmemory":
			return []hw.Level{hw.LocalRAM, hw.RemoteRAM}, at + n
		}
		if name, ok := samples.LevelOf(text); ok {
			if l, err := hw.ParseLevel(name); err == nil {
				return []hw.Level{l}, at + n
			}
		}
	}
	return nil, at
}

// missed are the levels that served what a cache did not.
func missed(l hw.Level) []hw.Level {
	switch l {
	case hw.L1:
		return beyondL1
	case hw.L2:
		return beyondL2
	case hw.L3:
		return beyondL3
	}
	return nil
}

// reached are the levels up to one.
func reached(l hw.Level) []hw.Level {
	up := []hw.Level{hw.L1, hw.LFB, hw.L2, hw.L3, hw.L4, hw.LocalRAM}
	return up[:slices.Index(up, l)+1]
}

// levelsAt reads levels and what lies beyond, before or between them.
func (c *Catalogue) levelsAt(tokens []token, at int) []part {
	var out []part
	add := func(text string, levels []hw.Level, end int) {
		if p, ok := c.served(text, levels, end); ok {
			out = append(out, p)
		}
	}
	for _, w := range []string{"beyond", "past", "outside", "deeper than", "further than", "farther than", "missed", "missing", "misses", "miss", "misses in", "miss in", "missed in", "cache misses", "cache miss", "cache misses in", "cache miss in"} {
		n := saidAt(tokens, at, w)
		if n == 0 {
			continue
		}
		if l, end := levelAt(tokens, at+n); len(l) == 1 {
			add("levels beyond "+l[0].String(), missed(l[0]), end)
		}
	}
	for _, w := range []string{"up to", "within", "at most", "no deeper than"} {
		if n := saidAt(tokens, at, w); n > 0 {
			if l, end := levelAt(tokens, at+n); len(l) == 1 {
				add("levels up to "+l[0].String(), reached(l[0]), end)
			}
		}
	}
	l, end := levelAt(tokens, at)
	if l == nil {
		return out
	}
	names := make([]string, len(l))
	for i := range l {
		names[i] = l[i].String()
	}
	add("level "+strings.Join(names, " or "), l, end)
	if len(l) > 1 {
		return out
	}
	for _, w := range []string{"or deeper", "or beyond", "or further", "and beyond", "and deeper"} {
		if n := saidAt(tokens, end, w); n > 0 {
			add("levels from "+names[0], append([]hw.Level{l[0]}, missed(l[0])...), end+n)
		}
	}
	return append(out, c.missesAt(tokens, l[0], end)...)
}

// missesAt reads "L2 misses", and the misses of two caches.
func (c *Catalogue) missesAt(tokens []token, first hw.Level, at int) []part {
	levels, text := missed(first), first.String()+" misses"
	if at < len(tokens) && (tokens[at].word == "or" || tokens[at].word == "and") {
		if l, end := levelAt(tokens, at+1); len(l) == 1 {
			for _, m := range missed(l[0]) {
				if !slices.Contains(levels, m) {
					levels = append(slices.Clip(levels), m)
				}
			}
			text, at = first.String()+" or "+l[0].String()+" misses", end
		}
	}
	if at >= len(tokens) || stem(tokens[at].word) != "miss" {
		return nil
	}
	if p, ok := c.served(text, levels, at+1); ok {
		return []part{p}
	}
	return nil
}

// served is what one of some levels served.
func (c *Catalogue) served(text string, levels []hw.Level, end int) (part, bool) {
	if len(levels) == 0 {
		return part{}, false
	}
	names := make([]string, len(levels))
	for i, l := range levels {
		names[i] = l.String()
	}
	if !c.usable(samples.Level) {
		return part{text: text, end: end}.cannot(noLevel), true
	}
	where, ok := (&facts{c.table}).value(samples.Level, names)
	if !ok {
		return part{}, false
	}
	e, err := query.Parse(where, c.table)
	if err != nil {
		return part{}, false
	}
	return part{score: 1, text: text, expr: e, axes: []string{samples.Level}, one: samples.Level, end: end}, true
}

// placeWords are words for resources of the machine.
var placeWords = map[string]string{"socket": "Package", "package": "Package", "node": "NUMA", "numa": "NUMA", "core": "Core", "cpu": "CPU", "l1": "L1", "l2": "L2", "l3": "L3", "l4": "L4"}

// ordinals count resources as people do, who begin with the first.
var ordinals = map[string]float64{"first": 0, "1st": 0, "second": 1, "2nd": 1, "third": 2, "3rd": 2, "fourth": 3, "4th": 3}

// placesAt reads "socket 1", "second socket", "numa node 0", "l3 1".
func (c *Catalogue) placesAt(tokens []token, at int) []part {
	if n, ok := ordinals[tokens[at].word]; ok && at+1 < len(tokens) && placeWords[tokens[at+1].word] != "" {
		which := []token{tokens[at+1], {number: n}}
		out := c.placesAt(which, 0)
		for i := range out {
			out[i].end = at + 2
		}
		return out
	}
	depth, ok := placeWords[stem(tokens[at].word)]
	end := at + 1
	if depth == "NUMA" && saidAt(tokens, at, "numa node") > 0 {
		end++
	}
	if !ok || end >= len(tokens) || !tokens[end].isNumber() || tokens[end].unit != "" || tokens[end].list != nil {
		return nil
	}
	if end+1 < len(tokens) && tokens[end+1].word == to {
		return nil // a range of numbers
	}
	column := map[string]string{"NUMA": samples.Node, "CPU": samples.CPU}[depth]
	if column != "" && c.usable(column) {
		e := query.Compare{Column: column, Op: query.Eq, Value: query.NumberValue(tokens[end].number)}
		return []part{{score: 1, text: e.String(), expr: e, axes: []string{column}, one: column, end: end + 1}}
	}
	resource := depth + ":" + strconv.FormatFloat(tokens[end].number, 'f', -1, 64)
	if !slices.Contains(c.resources, resource) {
		if len(c.resources) == 0 {
			return nil // see absentAt
		}
		return []part{part{text: resource, end: end + 1}.cannot("the machine of this data has no " + resource)}
	}
	return []part{{score: 1, text: resource, expr: query.At{Resource: resource}, one: "at", end: end + 1}}
}

// boundsAt reads limits of a column: "latency over 200", "over 200 cycles",
// "60 to 80 ms", "cpu 1, 2 and 5".
func (c *Catalogue) boundsAt(tokens []token, at int) []part {
	var out []part
	add := func(column string, b *bound, end int, score float64) {
		if e := c.limits(column, b); e != nil {
			e, end = c.furtherLimits(tokens, column, b, e, end)
			p := part{score: score, text: e.String(), expr: e, axes: []string{column}, end: end}
			if _, values := valuesOf(e); values != nil {
				p.one = column
			}
			out = append(out, p)
		}
	}
	if column, end := c.axisAt(tokens, at); column != "" {
		if b, ok := boundAt(tokens, end); ok {
			add(column, &b, b.end, 1)
		}
	}
	if c.latency == "" && (tokens[at].word == "latency" || tokens[at].word == "latencies") {
		if b, ok := boundAt(tokens, at+1); ok {
			return append(out, part{text: "latency", end: b.end}.cannot(noLatency))
		}
	}
	b, ok := boundAt(tokens, at)
	if !ok {
		return out
	}
	if p, ok := c.betweenAt(tokens, at); ok {
		out = append(out, p)
	}
	if _, isTime := timeUnits[b.unit()]; isTime && c.usable(samples.Time) {
		add(samples.Time, &b, b.end, 0.999)
	} else if c.latency != "" && (strings.HasPrefix(b.unit(), "cycle") || b.unit() == "" && b.op != "" && onlyFillers(tokens[:at]) && b.end == len(tokens)) {
		add(c.latency, &b, b.end, 0.999)
	} else if c.latency != "" && b.unit() == "" && ofLatency[tokens[at].word] && !c.namesAxis(tokens, b.end) {
		add(c.latency, &b, b.end, 0.99)
	}
	if column, end := c.axisAt(tokens, b.end); column != "" && b.unit() == "" {
		add(column, &b, end, 0.9)
	}
	return out
}

// nearWords say that a number is meant and what is close to it.
var nearWords = []string{"near", "around", "about", "roughly", "approximately", "close to", "circa"}

// What is near: so many numbers to either side of things that are numbered, and so much
// of an amount.
const nearNumbers, nearShare = 5, 0.1

// nearAt reads "lines near 91", "around line 91", "latency about 200".
func (c *Catalogue) nearAt(tokens []token, at int) []part {
	column, end := c.axisAt(tokens, at)
	words := 0
	for _, w := range nearWords {
		words = max(words, saidAt(tokens, end, w))
	}
	if words == 0 {
		return nil
	}
	end += words
	if column == "" {
		column, end = c.axisAt(tokens, end)
	}
	if end >= len(tokens) || !tokens[end].isNumber() || tokens[end].list != nil {
		return nil
	}
	number := tokens[end]
	end = unitAt(tokens, end+1, &number)
	if column == "" {
		column = c.measuredIn(number.unit)
	}
	if column == "" {
		return nil
	}
	spread := number.number * nearShare
	if slices.Contains(naming, column) {
		if column != samples.Line && column != samples.Iteration {
			return nil // there is nothing between processors or threads
		}
		spread = nearNumbers
	}
	low, high := number, number
	low.number, high.number = max(0, number.number-spread), number.number+spread
	e := c.limits(column, &bound{lo: &low, hi: &high, count: 2, end: end})
	if e == nil {
		return nil
	}
	return []part{{score: 1, text: e.String(), expr: e, axes: []string{column}, end: end}}
}

// measuredIn is the column that a number with a unit is about where none is named.
func (c *Catalogue) measuredIn(unit string) string {
	switch {
	case timeUnits[unit] > 0 && c.usable(samples.Time):
		return samples.Time
	case strings.HasPrefix(unit, "cycle"):
		return c.latency
	}
	return ""
}

// ofLatency are words of limits that are about how long something took where
// nothing else is said: "remote accesses over 250".
var ofLatency = wordSet("over above > >= longer slower more exceeding under below < <= shorter faster less")

// namesAxis says that the words at a place name an axis or a place of the machine.
func (c *Catalogue) namesAxis(tokens []token, at int) bool {
	column, _ := c.axisAt(tokens, at)
	return column != "" || at < len(tokens) && placeWords[stem(tokens[at].word)] != ""
}

// onlyFillers reports whether the words before a limit are fillers.
func onlyFillers(before []token) bool {
	return !slices.ContainsFunc(before, func(t token) bool { return !fillers[t.word] })
}

// furtherLimits reads what else is said of a column behind a limit: other numbers and
// ranges of it, of which one must hold ("cpu 0-7 or 16-23"), or its other end
// ("latency > 200 and < 400").
func (c *Catalogue) furtherLimits(tokens []token, column string, b *bound, e query.Expr, end int) (query.Expr, int) {
	either := []query.Expr{e}
	for end < len(tokens) && end == b.end {
		next := end
		for next < len(tokens) && slices.Contains([]string{",", "and", "or", "but"}, tokens[next].word) {
			next++
		}
		more, ok := boundAt(tokens, next)
		if !ok || next < len(tokens) && tokens[next].isNumber() == (more.op != "") {
			break
		}
		other := c.limits(column, &more)
		if column, _ := c.axisAt(tokens, min(more.end, len(tokens)-1)); other == nil || more.end < len(tokens) && column != "" && more.op == "" {
			break // the number of what follows
		}
		switch {
		case b.op != "" && opposite(b.op, more.op) && len(either) == 1:
			if next > end && tokens[next-1].word == "or" {
				return query.Or{Terms: []query.Expr{e, other}}, more.end
			}
			return query.And{Terms: []query.Expr{e, other}}, more.end
		case b.op == "" && more.op == "" && next > end:
			either, end = append(either, other), more.end
			b = &more
			continue
		}
		break
	}
	return anyOf(either), end
}

// opposite says that one sign bounds from below and the other from above.
func opposite(a, b query.Op) bool {
	below := func(op query.Op) bool { return op == query.Gt || op == query.Ge }
	above := func(op query.Op) bool { return op == query.Lt || op == query.Le }
	return below(a) && above(b) || above(a) && below(b)
}

// turned are signs as they are read from the other side.
var turned = map[query.Op]query.Op{query.Lt: query.Gt, query.Le: query.Ge, query.Gt: query.Lt, query.Ge: query.Le, query.Eq: query.Eq}

// signs are those that stand between a number and a column.
var signs = map[string]query.Op{"<": query.Lt, "<=": query.Le, ">": query.Gt, ">=": query.Ge, "=": query.Eq}

// betweenAt reads "200 < latency", "200 < latency <= 300".
func (c *Catalogue) betweenAt(tokens []token, at int) (part, bool) {
	if at+2 >= len(tokens) || !tokens[at].isNumber() {
		return part{}, false
	}
	op, ok := signs[tokens[at+1].word]
	column, end := c.axisAt(tokens, at+2)
	if !ok || column == "" {
		return part{}, false
	}
	low := bound{op: turned[op], lo: &tokens[at], end: end}
	e := c.limits(column, &low)
	if e == nil {
		return part{}, false
	}
	e, end = c.furtherLimits(tokens, column, &low, e, end)
	return part{score: 1, text: e.String(), expr: e, axes: []string{column}, end: end}, true
}

// limits are the samples whose value of a column a bound takes; nil if the
// column has no such values.
func (c *Catalogue) limits(column string, b *bound) query.Expr {
	col := c.table.Column(column)
	if col.Kind == table.Category || b.unit() == "%" || col.Kind == table.Flag && b.lo.number > 1 {
		return nil
	}
	unit := b.unit()
	value := func(t *token) query.Value {
		u := t.unit
		if u == "" {
			u = unit
		}
		return c.valueOf(col, t.number, u)
	}
	names := slices.Contains(naming, column)
	switch {
	case b.op != "":
		return query.Compare{Column: column, Op: b.op, Value: value(b.lo)}
	case b.hi != nil && (b.list == nil || !names && b.count == 2):
		lo, hi := value(b.lo), value(b.hi)
		if lo.Number > hi.Number {
			lo, hi = hi, lo
		}
		return query.Range{Column: column, Lo: lo, Hi: hi}
	case names && len(b.list) > 1:
		in := query.In{Column: column}
		for _, n := range b.list {
			in.Values = append(in.Values, query.NumberValue(n))
		}
		return in
	case len(b.list) > 2 && b.hi != nil:
		return nil
	case names || col.Kind == table.Flag || col.Kind == table.Address:
		return query.Compare{Column: column, Op: query.Eq, Value: value(b.lo)}
	}
	return query.Compare{Column: column, Op: query.Ge, Value: value(b.lo)}
}

// valueOf is a number of an input in the unit of a column. One without a unit is
// in the unit that the axis is drawn in.
func (c *Catalogue) valueOf(col *table.Column, number float64, unit string) query.Value {
	if col.Kind == table.Address && number >= 0 && number < 1<<63 {
		return query.AddressValue(uint64(number))
	}
	if scale, ok := timeUnits[unit]; ok && samples.UnitOf(col) == samples.Nanoseconds {
		return query.NumberValue(number * scale)
	}
	if unit == "" {
		return query.NumberValue(number * c.axisScale(col))
	}
	return query.NumberValue(number)
}

// axisScale is what one unit of a drawn axis is in the unit of its column: axes
// of times, ticks and bytes are drawn in thousands, millions or billions of
// those once they exceed ten thousand (unitScale of the page).
func (c *Catalogue) axisScale(col *table.Column) float64 {
	switch samples.UnitOf(col) {
	case samples.Nanoseconds, samples.Bytes, "ticks":
	default:
		return 1
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	scale, ok := c.scales[col.Name]
	if ok {
		return scale
	}
	scale = 1
	largest := table.Largest(col)
	for limit := 1e4; largest >= limit && scale < 1e9; limit *= 1e3 {
		scale *= 1e3
	}
	c.scales[col.Name] = scale
	return scale
}

// namesAt reads names of phenomena and of values, the latter with their column
// before or behind them if that is said.
func (c *Catalogue) namesAt(tokens []token, at int) []part {
	var out []part
	if column, end := c.axisAt(tokens, at); column != "" && end < len(tokens) && !tokens[end].isNumber() {
		out = append(out, c.valuesAt(tokens[end].word, column, end+1, 1)...)
	}
	if tokens[at].isNumber() {
		return out
	}
	out = append(out, c.patternAt(tokens, at)...)
	out = append(out, c.lineAt(tokens, at)...)
	out = append(out, c.valuesAt(tokens[at].word, "", at+1, 1)...)
	for n := 1; n <= 4 && at+n <= len(tokens); n++ {
		if tokens[at+n-1].isNumber() {
			break
		}
		var words []string
		for _, t := range tokens[at : at+n] {
			words = append(words, split(t.word)...)
		}
		m := c.phenomenon(words)
		if m.score < clearly || c.entries[m.entry].missing != "" {
			continue
		}
		out = append(out, c.setPart(m.entry, m.score, at+n))
	}
	return out
}

// lineAt reads "blur.c:27", a line of a file, and "blur.c:27-31".
func (c *Catalogue) lineAt(tokens []token, at int) []part {
	if at+1 >= len(tokens) || !tokens[at+1].isNumber() || tokens[at+1].unit != "" || tokens[at+1].list != nil || !c.usable(samples.Line) {
		return nil
	}
	files := c.valuesAt(tokens[at].word, samples.File, at+2, 1)
	if len(files) != 1 {
		return nil
	}
	first, p := query.NumberValue(tokens[at+1].number), files[0]
	p.axes, p.one = []string{samples.Line}, ""
	name := strings.TrimPrefix(p.text, "file ")
	if at+3 < len(tokens) && tokens[at+2].word == to && tokens[at+3].isNumber() {
		last := query.NumberValue(tokens[at+3].number)
		p.text, p.end = fmt.Sprintf("%s lines %s to %s", name, first, last), at+4
		p.expr = query.And{Terms: []query.Expr{p.expr, query.Range{Column: samples.Line, Lo: first, Hi: last}}}
		return []part{p}
	}
	p.text = name + " line " + first.String()
	p.expr = query.And{Terms: []query.Expr{p.expr, query.Compare{Column: samples.Line, Op: query.Eq, Value: first}}}
	return []part{p}
}

// patternAt reads a name with stars: "m_*" is all objects whose names begin so, or
// functions or files if there are no such objects.
func (c *Catalogue) patternAt(tokens []token, at int) []part {
	word := tokens[at].word
	if !strings.Contains(word, "*") || strings.Trim(word, "*") == "" {
		return nil
	}
	pattern := "(?i)^" + strings.ReplaceAll(regexp.QuoteMeta(word), `\*`, ".*") + "$"
	parts := c.likeOf(nameColumns, pattern, word, at+1)
	if len(parts) > 0 && parts[0].missing != "" {
		return nil
	}
	return parts
}

func (c *Catalogue) setPart(n int, score float64, end int) part {
	e := &c.entries[n]
	p := part{score: score, text: e.name, lazy: e.lazy, end: end}
	if e.column != "" {
		p.axes = []string{e.column}
	}
	if e.lazy == nil {
		parsed, err := query.Parse(e.where, c.table)
		if err != nil || parsed == nil {
			p.kind, p.score = aStranger, perStranger
			return p
		}
		p.expr = parsed
	}
	if column, values := valuesOf(p.expr); values != nil {
		p.one = column
	}
	return p
}

// valuesAt finds values that are written exactly like a word, of one column if
// that is said. Files go by their last part too.
func (c *Catalogue) valuesAt(word, column string, end int, score float64) []part {
	var out []part
	for _, n := range c.values[word] {
		if column == "" || c.entries[n].column == column {
			out = append(out, c.setPart(n, score, end))
		}
	}
	return out
}

// nameValue lists a value under the ways it is typed in full.
func (c *Catalogue) nameValue(n int, column, value string) {
	keys := []string{strings.ToLower(value)}
	if bare := strings.ReplaceAll(keys[0], "_", ""); bare != keys[0] {
		keys = append(keys, bare)
	}
	if column == samples.File {
		keys = append(keys, strings.ToLower(path.Base(value)))
	}
	for _, k := range slices.Compact(keys) {
		if !strings.Contains(k, " ") {
			c.values[k] = append(c.values[k], n)
		}
	}
}
