package logical

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/messages/mpiprog"
)

// oneOfMany is a number and a noun that do not agree.
var oneOfMany = regexp.MustCompile(`\b1 (stages|ranks|other ranks|operations|messages|calls|processes|times|steps)\b`)

// contradicts says what is wrong with the sentence of a cause by the numbers it
// rests on; "" if nothing is.
func contradicts(s *Structure, c *Causes, e *ReportCause) string {
	_, late := s.latestSender(e.Op)
	overlap := 0
	for _, m := range s.Collective(e.Op) {
		if u := s.of[m]; u != e.Op && s.Enter[u] < s.Enter[e.Op] && s.Exit[u] > s.Enter[u] && min(s.Enter[e.Op], s.Exit[u])-s.Enter[u] >= c.Threshold {
			overlap++
		}
	}
	switch {
	case strings.Contains(e.Text, "no sender was") && late > 0:
		return "a sender was late"
	case strings.Contains(e.Text, "waited inside") && e.Waiting != overlap:
		return "others overlap with it in the call"
	case strings.Contains(e.Text, "waited for its sends"):
		return "the receiver is the cause"
	case oneOfMany.MatchString(e.Text):
		return "one is not many"
	case strings.Contains(e.Text, " 0 ns"):
		return "nothing is no delay"
	case e.StartUp && e.Amount > s.Trace.NS(s.beganLate(e.Op)):
		return "what follows MPI_Init is no start-up"
	case strings.Contains(e.Text+e.Region, "_Z"):
		return "a mangled name"
	}
	return ""
}

// TestSentences: no sentence of any trace is contradicted by its own numbers.
func TestSentences(t *testing.T) {
	check := func(name string, s *Structure) {
		c := causes(t, s, CauseOptions{Threshold: s.Threshold()})
		if s.Threshold() <= 0 {
			t.Errorf("%s: everything is late by %d or more", name, s.Threshold())
		}
		r := s.NewReport(c, 1000)
		for k := range r.Top {
			if wrong := contradicts(s, c, &r.Top[k]); wrong != "" {
				t.Errorf("%s: %q: %s", name, r.Top[k].Text, wrong)
				return
			}
		}
	}
	for _, name := range []string{"binomial16", "ring16", "dissem16", "halo16", "commtag8", "lulesh8", "mg16", "mergetree64", "amg8", "lu8"} {
		check(name, analyze(t, openShared(t, name), Default()))
	}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 21))
		check("random", simulate(t, 2+rng.IntN(7), Default(), func(p *mpiprog.Program) { random(p, rng, 200) }))
	}
}
