package compare

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// Changes is what changed between two runs, most important first.
type Changes struct {
	Sentence string   // about the whole run
	Limits   string   // what could not have been seen
	Findings []Change // none: Nothing says so
	Nothing  string
	Warnings []string
	Modelled bool
}

// Change is one finding.
type Change struct {
	Kind  ChangeKind
	By    []string
	Text  string
	Share float64 // of all change of its kind
	Score float64
	Sure  bool
	Where string // the samples it speaks of, in B's names
}

// ChangeKind is what sort of finding a change is.
type ChangeKind string

// The kinds of findings.
const (
	movedLevel ChangeKind = "moved-level"
	appeared   ChangeKind = "new"
	vanished   ChangeKind = "gone"
	dearer     ChangeKind = "dearer"
	cheaper    ChangeKind = "cheaper"
	rebalanced ChangeKind = "rebalanced"
	placed     ChangeKind = "placed"
)

const (
	mostChanges = 12
	heaviest    = 10 // lines and objects that are looked at level by level
	carries     = .8 // of a change: who has that much of it is named in its place
	leastShare  = .02
	leastMoved  = .05 // of the whole, from one thread, node or CPU to others
)

// candidates are the groups that findings are about.
var candidates = [][]string{
	{samples.File, samples.Line}, {samples.Function}, {samples.Symbol}, {samples.Level}, {samples.TID}, {samples.CPU}, {samples.Node},
	{samples.Level, samples.Symbol}, {samples.Level, samples.File, samples.Line},
}

// What finds what changed between two runs: groups of every kind, all tested as
// one family.
func What(ctx context.Context, a, b []Run, opt Options) (*Changes, error) {
	opt.Questions = nil
	for _, by := range candidates {
		q := Question{By: by, Metric: Cost}
		f := &fitting{}
		if f.columns(slices.Concat(a, b), a, b, &q, &opt) == nil {
			opt.Questions = append(opt.Questions, q)
		}
	}
	if len(opt.Questions) == 0 {
		return nil, query.Refuse("the runs have no column in common that samples are grouped by")
	}
	first := opt.Questions[0].By
	c, err := Runs(ctx, a, b, opt)
	if err != nil {
		return nil, err
	}
	for i := range c.Groups {
		if r := &c.Groups[i]; r.By == nil {
			r.By = first
		}
	}
	w := &whatChanged{c: c, a: a, b: b}
	if err := w.rank(ctx); err != nil {
		return nil, err
	}
	out := &Changes{Sentence: c.Sentence(), Limits: c.Limits(), Warnings: c.Warnings, Modelled: c.About() != "", Findings: w.found}
	if len(w.found) == 0 {
		out.Nothing = w.nothing()
	}
	return out, nil
}

// whatChanged makes findings of the rows of a comparison.
type whatChanged struct {
	c     *Comparison
	a, b  []Run
	found []Change
}

// kindOf names what rows are grouped by.
func kindOf(by []string) string { return strings.Join(by, "+") }

func (w *whatChanged) rank(ctx context.Context) error {
	sums := map[string]float64{}
	heavy := w.heaviest()
	inside, err := w.linesInFunctions(ctx)
	if err != nil {
		return err
	}
	var rows []*Row
	for i := range w.c.Groups {
		r := &w.c.Groups[i]
		sums[kindOf(r.By)] += math.Abs(r.Delta())
		if r.Tested() && (r.Sure || r.Mark == "?") && (len(r.By) < 2 || r.By[0] != samples.Level || heavy[nameIn(r, 1)]) {
			rows = append(rows, r)
		}
	}
	for _, r := range rows {
		share := math.Abs(r.Delta()) / max(sums[kindOf(r.By)], math.SmallestNonzeroFloat64)
		if share < leastShare || r.By[0] == samples.CPU || spreadOnly(r) || slices.ContainsFunc(rows, func(part *Row) bool { return replaces(part, r, inside) }) {
			continue
		}
		f := Change{Kind: kindOfChange(r), By: r.By, Share: share, Score: share, Sure: r.Sure, Where: whereOf(w.b[0].Table, r)}
		if r.By[0] == samples.TID || r.By[0] == samples.Node { // few share everything: what moved between them counts
			f.Score = math.Abs(r.B.Share - r.A.Share)
		}
		if !r.Sure {
			f.Score /= 2
		}
		if f.Text, err = w.say(ctx, r); err != nil {
			return err
		}
		w.found = append(w.found, f)
	}
	w.balance()
	slices.SortStableFunc(w.found, func(x, y Change) int { return -cmp.Compare(x.Score, y.Score) })
	w.found = w.found[:min(len(w.found), mostChanges)]
	return nil
}

// nameIn is the name of a row without the first columns of its key.
func nameIn(r *Row, from int) string {
	key := r.keys.b
	if key == nil {
		key = r.keys.a
	}
	return keyName(key[from:])
}

// heaviest are the lines and objects that cost most on either side.
func (w *whatChanged) heaviest() map[string]bool {
	out := map[string]bool{}
	for _, by := range [][]string{{samples.File, samples.Line}, {samples.Symbol}} {
		var rows []*Row
		for i := range w.c.Groups {
			if r := &w.c.Groups[i]; slices.Equal(r.By, by) {
				rows = append(rows, r)
			}
		}
		slices.SortFunc(rows, func(x, y *Row) int {
			return -cmp.Compare(max(x.A.Cost, x.B.Cost), max(y.A.Cost, y.B.Cost))
		})
		for _, r := range rows[:min(len(rows), heaviest)] {
			out[nameIn(r, 0)] = true
		}
	}
	return out
}

// linesInFunctions says which lines each function has, by the names of rows.
func (w *whatChanged) linesInFunctions(ctx context.Context) (map[[2]string]bool, error) {
	out := map[[2]string]bool{}
	by := []string{samples.Function, samples.File, samples.Line}
	for _, r := range slices.Concat(w.a, w.b) {
		for _, name := range by {
			if samples.Usable(r.Table, name) == nil {
				return out, nil
			}
		}
		answer, err := r.Engine.Answer(ctx, &query.Request{Where: r.Where, Filter: r.Filter, Groups: []query.Group{{By: by, Order: query.ByKey}}})
		if err != nil {
			return nil, err
		}
		for _, row := range answer.Groups[0].Rows {
			out[[2]string{row.Keys[0], keyName(row.Keys[1:])}] = true
		}
	}
	return out, nil
}

// replaces says that a part carries nearly all of the change of what contains
// it: then it is named in its place.
func replaces(part, whole *Row, inside map[[2]string]bool) bool {
	if part == whole || !part.Sure || part.Delta()*whole.Delta() <= 0 || math.Abs(part.Delta()) < carries*math.Abs(whole.Delta()) {
		return false
	}
	switch {
	case slices.Equal(whole.By, []string{samples.Function}) && slices.Equal(part.By, []string{samples.File, samples.Line}):
		return inside[[2]string{nameIn(whole, 0), nameIn(part, 0)}]
	case len(part.By) > 1 && part.By[0] == samples.Level && slices.Equal(part.By[1:], whole.By):
		return nameIn(part, 1) == nameIn(whole, 0)
	}
	return false
}

// spreadOnly says of a thread or a node that it has about the part of the whole
// that it had: the change is the whole run's.
func spreadOnly(r *Row) bool {
	return (r.By[0] == samples.TID || r.By[0] == samples.Node) && math.Abs(r.B.Share-r.A.Share) < leastMoved
}

func kindOfChange(r *Row) ChangeKind {
	switch {
	case r.A.Samples == 0:
		return appeared
	case r.B.Samples == 0:
		return vanished
	case r.By[0] == samples.Level:
		return movedLevel
	case r.By[0] == samples.Node:
		return placed
	case r.Delta() > 0:
		return dearer
	}
	return cheaper
}

// whereOf selects the samples of a row.
func whereOf(t *table.Table, r *Row) string {
	key := r.keys.b
	if key == nil {
		key = r.keys.a
	}
	var all []query.Expr
	for i, name := range r.By {
		var e query.Expr = query.Missing{Column: name}
		if key[i] != "" {
			v := query.TextValue(key[i])
			if n, err := strconv.ParseFloat(key[i], 64); err == nil && t.Column(name).Kind == table.Number {
				v = query.NumberValue(n)
			}
			e = query.Compare{Column: name, Op: "=", Value: v}
		}
		all = append(all, e)
	}
	return query.And{Terms: all}.String()
}

// words names a row for a sentence: "Line stencil.c:104", "Remote RAM for u".
func words(r *Row) string {
	key := r.keys.b
	if key == nil {
		key = r.keys.a
	}
	of := func(by, key []string) string {
		if strings.Join(key, "") == "" {
			return unknownOf[by[0]]
		}
		switch by[0] {
		case samples.File:
			switch {
			case key[0] == "":
				return "line " + key[1] + " of no known file"
			case key[1] == "":
				return "code without lines of " + path.Base(key[0])
			}
			return "line " + path.Base(key[0]) + ":" + key[1]
		case samples.Function:
			return "function " + key[0] + r.With()
		case samples.TID:
			return "thread " + key[0]
		case samples.Node:
			return "node " + key[0] + " by its CPUs"
		}
		return key[0]
	}
	if r.By[0] == samples.Level && len(r.By) > 1 {
		return of(r.By[:1], key[:1]) + " for " + of(r.By[1:], key[1:])
	}
	return of(r.By, key)
}

// say is the sentence of a finding, with what carries it.
func (w *whatChanged) say(ctx context.Context, r *Row) (string, error) {
	name := words(r)
	name = strings.ToUpper(name[:1]) + name[1:]
	if r.By[0] == samples.Symbol || r.By[0] == samples.Level {
		name = words(r)
	}
	costs := fmt.Sprintf("%s → %s%s", w.c.Amount(r.A.Cost), w.c.Amount(r.B.Cost), w.c.unitWord())
	text := ""
	switch {
	case r.A.Samples == 0:
		text = fmt.Sprintf("%s %s: %s%s in %s", name, r.appears(), w.c.Amount(r.B.Cost), w.c.unitWord(), term.Counted(r.B.Samples, "sample"))
	case r.B.Samples == 0:
		text = fmt.Sprintf("%s %s: %s%s in A", name, r.vanishes(), w.c.Amount(r.A.Cost), w.c.unitWord())
	default:
		verb := "costs"
		if slices.Equal(r.By, []string{samples.Level}) {
			verb = "serves"
		}
		text = fmt.Sprintf("%s %s %s%s: %s", name, verb, w.c.About(), w.c.byHowSure(r), costs)
	}
	if !r.Sure {
		text += "; unsure: runs of one program differ as much"
	}
	of, err := w.carriers(ctx, r)
	if err != nil || of == "" {
		return text, err
	}
	return text + ", " + of, nil
}

// carriers names the objects that have most of the change of a line, function or
// level; empty where there are none or too many.
func (w *whatChanged) carriers(ctx context.Context, r *Row) (string, error) {
	if len(r.By) > 1 && r.By[0] == samples.Level || r.By[0] == samples.Symbol {
		return "", nil
	}
	by := append(slices.Clone(r.By), samples.Symbol)
	changes := map[string]float64{}
	for side, runs := range [][]Run{w.a, w.b} {
		for k := range runs {
			run := &runs[k]
			if samples.Usable(run.Table, samples.Symbol) == nil {
				return "", nil
			}
			key := [][]string{r.keys.a, r.keys.b}[side]
			sum := costColumn(run)
			answer, err := run.Engine.Answer(ctx, &query.Request{Where: run.Where, Filter: run.Filter, Groups: []query.Group{{By: by, Sum: sum, Order: query.ByKey}}})
			if err != nil {
				return "", err
			}
			for _, row := range answer.Groups[0].Rows {
				if key == nil || !slices.Equal(row.Keys[:len(key)], key) {
					continue
				}
				v := row.Sums[query.Selected]
				if sum == "" {
					v = float64(row.Counts[query.Selected])
				}
				changes[row.Keys[len(key)]] += float64(2*side-1) * v / float64(len(runs))
			}
		}
	}
	return mostOf(changes, r.Delta()), nil
}

// mostOf names the one or two that have most of a change.
func mostOf(changes map[string]float64, delta float64) string {
	var names []string
	for name := range changes {
		if name != "" && changes[name]*delta > 0 {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(x, y string) int {
		return cmp.Or(-cmp.Compare(math.Abs(changes[x]), math.Abs(changes[y])), cmp.Compare(x, y))
	})
	switch {
	case len(names) > 0 && math.Abs(changes[names[0]]) >= carries*math.Abs(delta):
		return "nearly all of it of " + names[0]
	case len(names) > 1 && math.Abs(changes[names[0]]+changes[names[1]]) >= carries*math.Abs(delta):
		return fmt.Sprintf("most of it of %s and %s", names[0], names[1])
	}
	return ""
}

// balance adds a finding about how cost is spread over CPUs: what part of it has
// moved from one to another, beyond what became more or less everywhere.
func (w *whatChanged) balance() {
	moved, sure := 0.0, false
	most, count := [2]float64{}, 0
	for i := range w.c.Groups {
		r := &w.c.Groups[i]
		if !slices.Equal(r.By, []string{samples.CPU}) || nameIn(r, 0) == "" {
			continue
		}
		count++
		moved += math.Abs(r.B.Share-r.A.Share) / 2
		most[0], most[1] = max(most[0], r.A.Share), max(most[1], r.B.Share)
		sure = sure || r.Sure
	}
	n := float64(count)
	if !sure || count < 2 || moved < leastMoved || math.Abs(most[1]-most[0])*n < .1 {
		return
	}
	w.found = append(w.found, Change{Kind: rebalanced, By: []string{samples.CPU}, Share: moved, Score: moved, Sure: true,
		Text: fmt.Sprintf("%s of the cost is on other CPUs: the busiest has %.2f times the mean in A, %.2f times in B", Percent(moved), most[0]*n, most[1]*n)})
}

// nothing says what would have been seen.
func (w *whatChanged) nothing() string {
	least, by := math.Inf(1), ""
	for i := range w.c.Groups {
		r := &w.c.Groups[i]
		if r.Tested() && len(r.By) <= 2 && r.By[0] != samples.Level && *r.Detectable < least {
			least, by = *r.Detectable, map[string]string{samples.File: "line", samples.Symbol: "object", samples.TID: "thread", samples.CPU: "CPU"}[r.By[0]]
			by = cmp.Or(by, r.By[0])
		}
	}
	if math.IsInf(least, 1) {
		return "Nothing is beyond how runs differ."
	}
	return fmt.Sprintf("Nothing is beyond how runs differ; smallest detectable change of a %s here: %s.", by, Percent(least))
}
