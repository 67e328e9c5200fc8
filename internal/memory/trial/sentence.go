package trial

import (
	"fmt"
	"math"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/memory/compare"
)

// Sentence is what a trial found.
func (r *Report) Sentence() string {
	if len(r.Lanes) == 0 {
		return "stopped before the first pair: nothing is measured"
	}
	l := &r.Lanes[0]
	by := fmt.Sprintf("%.1f %%", 100*math.Abs(*l.Change))
	after := "after " + term.Counted(r.Pairs, "pair")
	switch {
	case r.Stopped == Interrupted:
		return fmt.Sprintf("interrupted %s: B costs %s %s so far%s, not sure", after, compare.Signed(1+*l.Change), l.Lane, l.between())
	case l.Verdict == More:
		return fmt.Sprintf("B costs %s more %s%s, sure %s", by, l.Lane, l.between(), after)
	case l.Verdict == Less:
		return fmt.Sprintf("B costs %s less %s%s, sure %s", by, l.Lane, l.between(), after)
	case l.Verdict == Same:
		return fmt.Sprintf("B costs the same %s within the limit%s, %s", l.Lane, l.between(), after)
	}
	text := fmt.Sprintf("B and A cannot be told apart by %s: %s%s %s", l.Lane, compare.Signed(1+*l.Change), l.between(), after)
	switch {
	case r.Noise == nil:
	case r.Noise.Detectable == nil:
		text += fmt.Sprintf("; fewer than %d pairs are never sure: take --runs 20", leastPairs)
	default:
		text += fmt.Sprintf("; a change %s would not show with %s", compare.Below(*r.Noise.Detectable, *r.Noise.Detectable), term.Counted(r.Most, "pair"))
	}
	return text
}

// between is the interval of a lane, in brackets; empty if it has none.
func (l *Lane) between() string {
	if l.Low == nil || l.High == nil {
		return ""
	}
	return fmt.Sprintf(" (%s to %s)", strings.TrimSuffix(compare.Signed(1+*l.Low), " %"), compare.Signed(1+*l.High))
}

// Text is a lane in a line; empty if it has no values. The change is that of pairs,
// which the medians of both sides need not show.
func (l *Lane) Text() string {
	switch a := l.A.(type) {
	case Spread:
		b := l.B.(Spread)
		return fmt.Sprintf("%-5s median %s → %s; pair by pair %s%s", l.Lane, compare.Duration(a.Median), compare.Duration(b.Median), compare.Signed(1+*l.Change), l.between())
	case nil:
		return ""
	}
	if l.Exact != nil && !*l.Exact {
		return fmt.Sprintf("%-5s not deterministic here: A %v, then %v; B %v", l.Lane, l.A, l.Again, l.B)
	}
	a, b := l.Sides()
	text := fmt.Sprintf("%-5s %s → %s (%s)", l.Lane, a, b, l.Provenance)
	if l.Change != nil {
		text += ", " + compare.Signed(1+*l.Change)
	}
	return text
}

// Sides are the values of a lane for people.
func (l *Lane) Sides() (a, b string) {
	say := func(v any) string {
		switch v := v.(type) {
		case nil:
			return ""
		case Spread:
			return compare.Duration(v.Median)
		}
		return term.Roughly(l.Provenance == "modelled") + fmt.Sprint(v)
	}
	return say(l.A), say(l.B)
}

// Text says how much the machine disturbed the trial; empty if that is not known.
func (n *Noise) Text() string {
	if n == nil {
		return ""
	}
	text := fmt.Sprintf("noise: one pair differs from the next by %s", compare.Percent(n.Pair))
	if n.Load != nil {
		text += fmt.Sprintf("; load %.1f on %d CPUs", *n.Load, n.CPUs)
	}
	return text
}
