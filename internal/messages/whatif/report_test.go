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
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/messages/mpiprog"
	"github.com/isobath/isobath/internal/messages/trace"
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
	test.NoRaces(t, sameReplay)
	check := func(name string, g *Graph) {
		c := ranked(t, g)
		r := c.Report(50, g.Clocks())
		for k := range r.Gains {
			if wrong := contradicts(c, &r.Gains[k]); wrong != "" {
				t.Errorf("%s: %q (waiting %+.3f, %+v): %s", name, r.Gains[k].Text, r.Gains[k].Waiting, r.Gains[k].Evidence, wrong)
			}
		}
		if a, b := sameName(r); a != b {
			t.Errorf("%s: entries %d and %d have one name", name, a, b)
		}
		for _, then := range r.Then {
			for _, n := range then.Remove {
				if short := c.names[int32(n-1)]; n > len(r.Gains) && !strings.Contains(then.Text, short) {
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

// sameName looks for two entries that a report names with the same words; 0 and 0
// if there are none.
func sameName(r *Ranking) (a, b int) {
	names := map[string]int{}
	look := func(l *ReportLimit) {
		if l == nil || a != b {
			return
		}
		if other, known := names[l.Text]; known && other != l.Rank {
			a, b = other, l.Rank
		}
		names[l.Text] = l.Rank
	}
	for k := range r.Gains {
		look(r.Gains[k].LimitedBy)
	}
	for _, then := range r.Then {
		look(then.Next)
	}
	return a, b
}

// TestNamesOfOneRank: causes of one rank before one call are told apart by the line
// of the call, and by their size if they are of one line too.
func TestNamesOfOneRank(t *testing.T) {
	// delays of rank 1 before a barrier that two lines of the source have
	program := func(more func(round int) uint64, line func(round int) int32) *Ranking {
		const rounds = 40
		g := simulate(t, 4, func(p *mpiprog.Program) {
			for round := range rounds {
				for rank := range p.Size() {
					p.Compute(rank, 5e6)
					if rank == 1 {
						p.Compute(rank, more(round))
					}
				}
				p.Collective(mpiprog.World, mpiprog.Barrier)
			}
		})
		g.Trace.Sites = []trace.Site{{File: "solve.c", Line: 12}, {File: "solve.c", Line: 40}}
		g.Trace.Calls.Site = make([]int32, g.Len())
		for p := range g.Lines() {
			for round := range g.Start[p+1] - g.Start[p] {
				g.Trace.Calls.Site[g.Start[p]+round] = line(int(round))
			}
		}
		return ranked(t, g).Report(9, Clocks{})
	}
	named := func(r *Ranking) []string {
		var names []string
		for _, g := range r.Gains {
			if g.LimitedBy != nil {
				names = append(names, g.LimitedBy.Text)
			}
		}
		for _, then := range r.Then {
			if then.Next != nil {
				names = append(names, then.Next.Text)
			}
		}
		return names
	}
	for _, tt := range []struct {
		name string
		more func(round int) uint64
		line func(round int) int32
		want []string
	}{
		{"two lines", func(round int) uint64 { return map[int]uint64{10: 60e6, 11: 25e6, 20: 60e6, 21: 25e6}[round] }, func(round int) int32 { return int32(round % 2) },
			[]string{"(solve.c:12)", "(solve.c:40)"}},
		{"one line, two sizes", func(round int) uint64 { return map[int]uint64{10: 60e6, 20: 25e6}[round] }, func(int) int32 { return 0 },
			[]string{"at step 10", "at step 20"}},
	} {
		r := program(tt.more, tt.line)
		if a, b := sameName(r); a != b {
			t.Errorf("%s: entries %d and %d have one name", tt.name, a, b)
		}
		names := named(r)
		for _, want := range tt.want {
			if !slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, want) }) {
				t.Errorf("%s: %q, want one with %s", tt.name, names, want)
			}
		}
		for _, g := range r.Gains {
			if l := g.LimitedBy; l != nil && l.File != r.Gains[l.Rank-1].File || l != nil && l.Line != r.Gains[l.Rank-1].Line {
				t.Errorf("%s: entry %d is at %s:%d, and at %s:%d where it limits", tt.name, l.Rank, r.Gains[l.Rank-1].File, r.Gains[l.Rank-1].Line, l.File, l.Line)
			}
		}
	}
}
