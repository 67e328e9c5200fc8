package whatif

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/messages/mpiprog"
)

// TestTimes: the product in a sentence is what the delays add up to.
func TestTimes(t *testing.T) {
	for _, tt := range []struct {
		amount ReportAmount
		count  int
		want   string
	}{
		{ReportAmount{Median: 2e6, Max: 2e6, Sum: 80e6}, 40, "40 × 2.00 ms"},
		{ReportAmount{Median: 144e3, Max: 120e6, Sum: 120.1e6}, 2, "120 ms (2 times, up to 120 ms)"},
		{ReportAmount{Median: 5e6, Max: 5e6, Sum: 5e6}, 1, "5.00 ms"},
	} {
		if got := tt.amount.times(tt.count); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.amount, got, tt.want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		parts := make([]int64, 2+rng.IntN(60))
		var sum int64
		for i := range parts {
			parts[i] = int64(1e5 * (1 + rng.ExpFloat64()*float64(rng.IntN(3))))
			sum += parts[i]
		}
		slices.Sort(parts)
		a := ReportAmount{Median: parts[len(parts)/2], Max: parts[len(parts)-1], Sum: sum}
		said := a.times(len(parts))
		if product := a.Median * int64(len(parts)); strings.Contains(said, "×") && (product < sum*94/100 || product > sum*106/100) {
			t.Fatalf("%s of delays that add up to %s", said, term.Duration(sum))
		}
		if !strings.HasPrefix(said, fmt.Sprint(len(parts), " × ")) && !strings.HasPrefix(said, term.Duration(sum)) {
			t.Fatalf("%q is neither a product nor the sum", said)
		}
	}
}

var (
	wrongNumber = regexp.MustCompile(`\b1 (ranks|other ranks|times|calls|processes)\b`)
	waitsLess   = regexp.MustCompile(`without it (\d+) (other )?ranks? waits? less`)
)

// contradicts says what is wrong with the text of an entry by its own numbers; ""
// if nothing is.
func contradicts(c *Causes, r *ReportGain) string {
	if m := waitsLess.FindStringSubmatch(r.Text); m != nil {
		n, _ := strconv.Atoi(m[1])
		switch {
		case r.Waiting >= 0:
			return "all in all nobody waits less"
		case m[2] != "" && n > c.Lines()-len(r.Processes), n > c.Lines():
			return "there are not so many ranks"
		}
	}
	for _, id := range c.Entries[r.Rank-1].elements {
		if e := &c.elements[id]; strings.HasPrefix(r.Text, "messages to") && c.Deps.Kind[e.dep] != Message {
			return "what came late is no message but a " + c.Deps.Kind[e.dep].String()
		}
	}
	switch {
	case wrongNumber.MatchString(r.Text):
		return "one is not many"
	case strings.Contains(r.Text, "_Z"):
		return "a mangled name"
	case r.Evidence.Took < r.Amount.Max:
		return "it claims more than it lasted"
	case r.Evidence.Took < r.Evidence.Usual && r.Kind != "message": // clocks that differ make lags negative
		return "it took less than usual"
	case r.GainNS < 0:
		return "removing it costs time"
	}
	return ""
}

// TestEntriesDoNotContradictThemselves looks at every entry of every trace.
func TestEntriesDoNotContradictThemselves(t *testing.T) {
	check := func(name string, g *Graph) {
		c := ranked(t, g)
		r := c.Report(50, g.Clocks())
		for k := range r.Gains {
			if wrong := contradicts(c, &r.Gains[k]); wrong != "" {
				t.Errorf("%s: %q (waiting %+.3f, %+v): %s", name, r.Gains[k].Text, r.Gains[k].Waiting, r.Gains[k].Evidence, wrong)
			}
		}
		for _, then := range r.Then {
			for _, n := range then.Remove {
				if short := c.short(&c.Entries[n-1]); n > len(r.Gains) && !strings.Contains(then.Text, short) {
					t.Errorf("%s: %q, where %d are listed and number %d is %s", name, then.Text, len(r.Gains), n, short)
				}
			}
		}
	}
	for _, path := range sharedTraces(t) {
		if g := build(t, path); g.Len() < 100_000 {
			check(path, g)
		}
	}
	for seed := range uint64(20) {
		check("random", simulate(t, 2+int(seed%7), func(p *mpiprog.Program) { random(p, seed, 40, nothing) }))
	}
}
