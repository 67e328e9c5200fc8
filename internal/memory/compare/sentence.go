package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/base/redact"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/memory/align"
)

// About is the sign before numbers that rest on a model; empty otherwise.
func (c *Comparison) About() string {
	if c.modelled {
		return samples.About(table.Modelled)
	}
	return ""
}

// Exact says that every reference is counted.
func (c *Comparison) Exact() bool { return c.exact }

// Amount is a cost for people, in the unit of the comparison.
func (c *Comparison) Amount(v float64) string {
	switch c.Unit {
	case samples.Nanoseconds:
		return Duration(v / 1e9)
	case "s":
		return Duration(v)
	}
	return c.About() + term.Short(v)
}

// value is a cell for people, in what is compared.
func (c *Comparison) value(cell *Cell) string {
	switch {
	case c.Metric == Mean && cell.Mean != nil:
		return c.About() + fmt.Sprintf("%.1f", *cell.Mean)
	case c.Metric == Share:
		return term.Percent(cell.Share)
	}
	return c.Amount(cell.Cost)
}

// Duration is seconds for people.
func Duration(s float64) string {
	switch abs := math.Abs(s); {
	case abs == 0:
		return "0 s"
	case abs < 1e-6:
		return fmt.Sprintf("%.3g ns", s*1e9)
	case abs < 1e-3:
		return fmt.Sprintf("%.3g µs", s*1e6)
	case abs < 1:
		return fmt.Sprintf("%.3g ms", s*1e3)
	}
	return fmt.Sprintf("%.4g s", s)
}

// unitWord follows an amount; durations carry their own.
func (c *Comparison) unitWord() string {
	switch c.Unit {
	case samples.Nanoseconds:
		return " of run time"
	case "s":
		return map[Metric]string{CPU: " of cpu time", Wall: " of wall time"}[c.Metric]
	case "":
		return ""
	}
	if c.Metric == Mean {
		return " " + c.Unit + " a sample"
	}
	return " " + c.Unit
}

// Signed is a change in percent with its sign.
func Signed(ratio float64) string {
	return strings.Replace(fmt.Sprintf("%+.1f %%", 100*(ratio-1)), "-", "−", 1)
}

// Percent is a fraction for people, with no more digits than it has meaning.
func Percent(f float64) string {
	if f >= .1 {
		return fmt.Sprintf("%.0f %%", 100*f)
	}
	return fmt.Sprintf("%.2g %%", 100*f)
}

// largeChange is one that is much less of a fall than of a growth: what doubles falls
// back by half.
const largeChange = .25

// Below is "below 5 %" for changes that would not show: as much growth, and what falls
// as far. From and to are the least and the most of several.
func Below(from, to float64) string {
	span := func(sign string, of func(float64) float64) string {
		text := sign + Percent(of(from))
		if to > 1.2*from {
			text += " to " + sign + Percent(of(to))
		}
		return text
	}
	same := func(f float64) float64 { return f }
	if from <= largeChange {
		return "below " + span("", same)
	}
	return "below " + span("+", same) + " or " + span("−", func(f float64) float64 { return f / (1 + f) })
}

// byHow much B differs: "37.8 % less".
func byHow(ratio float64) string {
	if ratio < 1 {
		return fmt.Sprintf("%.1f %% less", 100*(1-ratio))
	}
	return fmt.Sprintf("%.1f %% more", 100*(ratio-1))
}

// unevenEnds is the part of an interval by which its middle may be off the change for
// one number to stand for both ends.
const unevenEnds = .1

// byHowSure is how much B differs with how far that may be off: "37.8 ± 1.3 % less",
// or with both ends where one is much nearer.
func (c *Comparison) byHowSure(r *Row) string {
	if c.exact {
		return byHow(*r.Ratio)
	}
	wide := *r.High - *r.Low
	if c.allowed() || math.Abs(*r.High+*r.Low-2**r.Ratio)/2 > unevenEnds*wide {
		change := byHow(*r.Ratio)
		if r.Sure {
			change = c.sureChange(r)
		}
		return fmt.Sprintf("%s (%s)", change, between(*r.Low, *r.High))
	}
	return strings.Replace(byHow(*r.Ratio), " %", fmt.Sprintf(" ± %.1f %%", 50*wide), 1)
}

// between is an interval of a change in percent.
func between(low, high float64) string {
	return strings.ReplaceAll(fmt.Sprintf("%+.1f to %+.1f %%", 100*(low-1), 100*(high-1)), "-", "−")
}

// Rows is what the runs consist of, in a word.
func (c *Comparison) Rows() string {
	if c.exact {
		return "references"
	}
	return "samples"
}

// Sentence says the most important thing first.
func (c *Comparison) Sentence() string {
	w := &c.Whole
	if !w.Tested() || w.Ratio == nil {
		return c.sentenceWithoutWhole()
	}
	text := ""
	verb := map[bool]string{true: "makes", false: "costs"}[c.exact]
	switch w.Verdict {
	case More, Less:
		text = fmt.Sprintf("B %s %s%s (%s)", verb, c.About(), c.sureChange(w), c.sureness(w))
	case Same:
		text = fmt.Sprintf("B %s the same as A (%s)", verb, between(*w.Low, *w.High))
		if c.exact {
			text = "B makes as many references as A"
		}
	default:
		text = fmt.Sprintf("B and A cannot be told apart: %s (%s)", Signed(*w.Ratio), between(*w.Low, *w.High))
	}
	leader := c.leader()
	if !w.Sure && strings.HasPrefix(leader, parts) {
		text = "As a whole " + text
	}
	text += fmt.Sprintf(": %s → %s%s", c.value(&w.A), c.value(&w.B), c.unitWord())
	return text + c.Remapped.text() + leader
}

// allowed says that one run a side is compared, whose spread is not known but
// allowed for.
func (c *Comparison) allowed() bool {
	return c.Design == One && !c.exact && (c.Tau == nil || *c.Tau > 0)
}

// sureChange is as much of a change that is called as is sure. Of one run a side
// that is the end of its interval: the change that was seen is what both runs
// happened to be, and those that are called are the larger for it.
func (c *Comparison) sureChange(r *Row) string {
	switch {
	case !c.allowed():
		return byHow(*r.Ratio)
	case *r.Ratio < 1:
		return "at least " + byHow(*r.High)
	}
	return "at least " + byHow(*r.Low)
}

func (c *Comparison) sureness(w *Row) string {
	if c.exact {
		return "counted"
	}
	text := between(*w.Low, *w.High)
	switch c.Design {
	case Pairs:
		return fmt.Sprintf("%s, sure with %s", text, term.Counted(c.Pairs, "pair"))
	case Sides:
		return fmt.Sprintf("%s, %s against %d", text, term.Counted(len(c.A.Runs), "run"), len(c.B.Runs))
	}
	if c.Tau != nil && *c.Tau == 0 {
		return text + " by sampling"
	}
	if c.learned > 0 {
		return fmt.Sprintf("%s, one run a side, as %s %s", text, term.Counted(c.learned, "other run"), term.Agree(c.learned, "differs", "differ"))
	}
	return fmt.Sprintf("%s, if runs of one program differ by no more than some %s; one run a side cannot show that", text, Percent(*c.Tau))
}

// Named is a row in a sentence: a bare number says which column it is of.
func (c *Comparison) Named(r *Row) string {
	by := c.By
	if len(r.By) > 0 {
		by = r.By
	}
	if _, err := strconv.ParseFloat(r.Label, 64); err == nil && len(by) == 1 {
		return by[0] + " " + r.Label
	}
	if r.Label == notRecorded {
		if text := unknownOf[by[0]]; text != "" {
			return text
		}
	}
	return r.Label + r.With()
}

// unknownOf names samples that have no value in a column.
var unknownOf = map[string]string{samples.Symbol: "no known object", samples.File: "code without lines", samples.Line: "code without lines",
	samples.Function: "code without names", samples.Level: "no known level", samples.TID: "no known thread", samples.CPU: "no known CPU", samples.Node: "no known node"}

// mostStrange is the part of both sides that may have no partner before groups say
// nothing about what changed.
const mostStrange = .5

// strangers says that the sides of a table call the same things by other names, as
// where one of them has no debug information: then everything is new and gone. A and
// b are the parts that have no partner.
func (t *groups) strangers() (a, b float64, yes bool) {
	for _, r := range t.rows {
		switch r.Matched {
		case align.OnlyA:
			a += r.A.Share
		case align.OnlyB:
			b += r.B.Share
		}
	}
	return a, b, a > mostStrange && b > mostStrange
}

// meetStrangers warns of tables of strangers: what is new there fails no gate.
func (c *Comparison) meetStrangers(tables []*groups) {
	for i, t := range tables {
		a, b, yes := t.strangers()
		if !yes {
			continue
		}
		guarded := ""
		if t.question.Gate != nil {
			guarded = ", and fail nothing"
		}
		for _, r := range t.rows {
			r.Fails = r.Fails && r.Matched != align.OnlyB
		}
		c.strangers = c.strangers || i == 0
		c.Warnings = append(c.Warnings, fmt.Sprintf("%s of A and %s of B have no partner by %s: the runs may name the same code otherwise, as where one was built without -g or stripped; new and gone say little then%s",
			term.Percent(a), term.Percent(b), strings.Join(t.question.By, ":"), guarded))
	}
}

// parts begins what is said of a group where the whole run is not known to differ.
const parts = "; what differs most is "

// leader names the group that changed most among those that are sure: of those that
// move with the whole run, if that is sure, and then the one that moves against it if
// that moves further.
func (c *Comparison) leader() string {
	if c.strangers {
		return ""
	}
	text, first := "", true
	for i := range c.Groups {
		r := &c.Groups[i]
		if !r.Sure || r.Metric != "" {
			continue
		}
		if !c.Whole.Sure {
			return parts + c.moves(r)
		}
		if r.Verdict == c.Whole.Verdict {
			return fmt.Sprintf("; most in %s", c.moves(r)) + text
		}
		if first {
			text, first = fmt.Sprintf("; the other way %s", c.moves(r)), false
		}
	}
	if text != "" {
		return text
	}
	if c.Small == nil && len(c.Groups) == 0 {
		return ""
	}
	switch {
	case c.exact:
		return "; no group makes more or fewer"
	case c.Tau != nil && *c.Tau == 0:
		return "; no group is beyond the luck of sampling"
	}
	return "; no group is beyond how runs differ"
}

// moves is how a group changed, in a sentence.
func (c *Comparison) moves(r *Row) string {
	text := fmt.Sprintf("%s, %s → %s", c.Named(r), c.value(&r.A), c.value(&r.B))
	switch {
	case r.Ratio != nil && c.allowed():
		text += fmt.Sprintf(" (%s)", between(*r.Low, *r.High))
	case r.Ratio != nil:
		text += fmt.Sprintf(" (%s)", Signed(*r.Ratio))
	}
	return text
}

func (c *Comparison) sentenceWithoutWhole() string {
	switch {
	case c.A.Samples == 0 && c.B.Samples == 0:
		return "no samples in A or B"
	case c.A.Samples == 0:
		return fmt.Sprintf("no samples in A; B has %s", term.Counted(c.B.Samples, "sample"))
	case c.B.Samples == 0:
		return fmt.Sprintf("no samples in B; A has %s", term.Counted(c.A.Samples, "sample"))
	}
	sure := 0
	for i := range c.Groups {
		if c.Groups[i].Sure {
			sure++
		}
	}
	if sure == 0 {
		return "nothing" + strings.TrimPrefix(c.leader(), "; no group")
	}
	text := fmt.Sprintf("%d of %s differ in %s", sure, term.Counted(c.Tested, "group"), c.Metric)
	return text + c.leader()
}

// Limits says what could not have been seen, and what would decide it.
func (c *Comparison) Limits() string {
	least, most := math.Inf(1), 0.0
	for i := range c.Groups {
		if r := &c.Groups[i]; r.Metric == "" && r.Tested() && r.Ratio != nil {
			least, most = min(least, *r.Detectable), max(most, *r.Detectable)
		}
	}
	groups := !math.IsInf(least, 1)
	if c.exact || !c.Whole.Tested() && !groups {
		return ""
	}
	text, d, of := "a change of", least, "a group"
	if c.Metric == Share { // the whole run has no share of itself
		of = "the share of a group"
	}
	if c.Whole.Tested() {
		d = *c.Whole.Detectable
		text += " the whole run " + Below(d, d)
		if groups {
			text += ", of"
		}
	}
	if groups {
		text += " " + of + " " + Below(least, most)
	}
	switch {
	case c.Design == One && c.Tau != nil && *c.Tau == 0:
		return text + ", would not show among these samples"
	case c.Design == One:
		return "one run a side: " + text + ", cannot be told from how runs differ; pairs tell more: " + c.pairsCommand(usualPairs)
	}
	n := c.Pairs
	unit := "pairs"
	if c.Design == Sides {
		n, unit = min(len(c.A.Runs), len(c.B.Runs)), "runs a side"
	}
	text += fmt.Sprintf(", would not show with %d %s", n, unit)
	if c.Whole.Tested() {
		of = "the whole run"
	}
	return text + c.enough(n, d, of)
}

// enough says how many pairs would show a change that matters, where these, which
// show a change of d, do not.
func (c *Comparison) enough(pairs int, d float64, of string) string {
	threshold := defaultThreshold
	if c.Gate != nil && !c.Gate.inPoints() && c.Gate.FailAbove > 0 {
		threshold = c.Gate.FailAbove
	}
	if d <= threshold {
		return ""
	}
	enough := math.Ceil(float64(pairs) * (d / threshold) * (d / threshold))
	if enough > mostPairs {
		return fmt.Sprintf("; for %s of %s it would take more than %s", Percent(threshold), of, term.Thousands(mostPairs))
	}
	return fmt.Sprintf("; for %s of %s some %d would do: %s", Percent(threshold), of, int(enough), c.pairsCommand(int(enough)))
}

// Pairs that show how runs differ, and the most that are recorded in one go.
const (
	usualPairs = 8
	mostPairs  = 10_000
)

// pairsCommand is the command that records pairs of what is compared. Where the
// programs are not known, or cannot be told apart by their names, words stand for
// them.
func (c *Comparison) pairsCommand(pairs int) string {
	a, b := c.commands[0], c.commands[1]
	switch {
	case !runnable(a) || !runnable(b):
		a, b = []string{"A"}, []string{"B"}
	case slices.Equal(a, b):
		a, b = append([]string{"OLD"}, a[1:]...), append([]string{"NEW"}, b[1:]...)
	}
	return fmt.Sprintf("isobath record --repeat %d --pair -- %s -- %s", pairs, term.Shell(a), term.Shell(b))
}

// runnable says that a command line is known as it was given: secrets are taken out
// of what is recorded.
func runnable(command []string) bool {
	return len(command) > 0 && !slices.ContainsFunc(command, redact.Hides)
}

// As is the comparison as one row was compared: a row of a further question has a
// metric of its own, and numbers in its unit.
func (c *Comparison) As(r *Row) *Comparison {
	if r.Metric == "" {
		return c
	}
	own := *c
	own.Metric, own.Unit = r.Metric, c.unitOf(r.Metric)
	return &own
}

// unitOf is what amounts of a metric are in.
func (c *Comparison) unitOf(m Metric) string {
	switch {
	case m == Samples:
		return c.Rows()
	case m.ofRun():
		return "s"
	}
	return c.costUnit
}

// appears and vanishes say that only one side has samples of a row. A line whose text
// is in both may have none in one: it is neither new nor gone.
func (r *Row) appears() string {
	if r.Matched == align.OnlyB {
		return "is new in B"
	}
	return "has samples in B only"
}

func (r *Row) vanishes() string {
	if r.Matched == align.OnlyA {
		return "is gone in B"
	}
	return "has no samples in B"
}

// does is what a row does more or less: "costs 53 % less".
func (c *Comparison) does(change string) string {
	switch c.Metric {
	case Share:
		return "takes a share that is " + strings.NewReplacer("more", "larger", "less", "smaller").Replace(change)
	case Samples:
		verb := "has "
		if c.exact {
			verb = "makes "
		}
		return verb + change + " " + c.Rows()
	case Mean:
		return "costs " + change + " a sample"
	}
	return "costs " + change
}

// Says is what to say about a row: "costs 53 % less: …".
func (c *Comparison) Says(r *Row) string {
	c = c.As(r)
	switch {
	case r.A.Samples == 0 && r.A.Cost == 0:
		return fmt.Sprintf("%s %s: %s", c.Named(r), r.appears(), c.value(&r.B))
	case r.B.Samples == 0 && r.B.Cost == 0:
		return fmt.Sprintf("%s %s: %s in A", c.Named(r), r.vanishes(), c.value(&r.A))
	case r.Ratio == nil:
		return fmt.Sprintf("%s: %s → %s, not tested", c.Named(r), c.value(&r.A), c.value(&r.B))
	}
	change := byHow(*r.Ratio)
	if r.Sure {
		change = c.sureChange(r)
	}
	text := fmt.Sprintf("%s %s (%s): %s → %s", c.Named(r), c.does(change), between(*r.Low, *r.High), c.value(&r.A), c.value(&r.B))
	if r.Verdict == Unsure {
		text += fmt.Sprintf("; unsure: detectable %s", Percent(*r.Detectable))
	}
	return text
}
