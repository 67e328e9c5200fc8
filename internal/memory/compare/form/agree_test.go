package form

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/engine/query/naive"
	"github.com/isobath/isobath/internal/memory/compare"
)

// drawn is a comparison of runs that were drawn at random, and what the draw says:
// sums of each group and of all, as means of runs.
type drawn struct {
	c      *compare.Comparison
	groups map[string][2]float64
	whole  [2]float64
	counts map[string][2]float64 // samples, and values that were summed, of each group
	values map[string][2]float64
	strict bool
	says   string // how the comparison was made
}

// draw makes one to six runs a side of a few functions, of a timer or of hardware
// with latencies, in which some function grew or fell.
func draw(t *testing.T, seed uint64) *drawn {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 25))
	names := []string{"alpha", "beta", "gamma", "delta", "epsilon"}[:2+r.IntN(4)]
	runs := []int{1, 1, 2, 6}[r.IntN(4)]
	timer, metric := r.IntN(2) == 0, []compare.Metric{compare.Cost, compare.Samples, compare.Share}[r.IntN(3)]
	grow := make([]float64, len(names))
	for i := range grow {
		grow[i] = []float64{1, 1, 1, .5, 3}[r.IntN(5)]
	}
	d := &drawn{groups: map[string][2]float64{}, counts: map[string][2]float64{}, values: map[string][2]float64{}}
	var sides [2][]compare.Run
	for side := range sides {
		for k := range runs {
			var codes []uint32
			var values []int64
			for g := range names {
				n := 40 + r.IntN(80)*(g+1)
				if side == 1 {
					n = int(float64(n) * grow[g])
				}
				for range n {
					v := int64(1_000_000)
					if !timer {
						v = int64(20 + r.IntN(300))
					}
					codes, values = append(codes, uint32(g)), append(values, v)
					amount := float64(v)
					if metric == compare.Samples {
						amount = 1
					}
					for sums, v := range map[*map[string][2]float64]float64{&d.groups: amount, &d.counts: 1, &d.values: float64(v)} {
						sum := (*sums)[names[g]]
						sum[side] += v / float64(runs)
						(*sums)[names[g]] = sum
					}
					d.whole[side] += amount / float64(runs)
				}
			}
			m := &run.Manifest{Kind: kind.Samples, Format: "record", Recording: &run.Recording{Mode: "timer", Period: 1_000_000, Samples: len(codes)}}
			m.Origin = kind.Origin{Command: []string{[]string{"./old", "./new"}[side], "two words"}, Time: fmt.Sprintf("2026-01-02T03:04:%02dZ", 2*k+side), Host: "h"}
			column := table.Ints("weight", "ns", table.Measured, values, nil)
			if !timer {
				m.Recording.Mode, m.Recording.Period = "PEBS", 0
				column = table.Ints("latency", "cycles", table.Measured, values, nil)
			}
			tab, err := table.New("samples", []*table.Column{table.Categories("function", table.Derived, codes, names, nil), column})
			if err != nil {
				t.Fatal(err)
			}
			sides[side] = append(sides[side], compare.Run{Name: fmt.Sprintf("%c%d", 'a'+side, k), Manifest: m, Table: tab, Engine: naive.New(query.Data{Table: tab})})
		}
	}
	q := compare.Question{By: []string{"function"}, Metric: metric}
	more := compare.Question{By: []string{"function"}, Metric: []compare.Metric{compare.Samples, compare.Cost}[r.IntN(2)], Gate: &compare.Gate{Change: .05, Below: r.IntN(2) == 0}}
	if r.IntN(2) == 0 {
		q.Gate = &compare.Gate{Change: .1, Points: metric == compare.Share}
	}
	opt := compare.Options{Pair: r.IntN(2) == 0, Questions: []compare.Question{q}}
	if more.Metric != metric && r.IntN(2) == 0 {
		opt.Questions = append(opt.Questions, more)
	}
	var err error
	if d.c, err = compare.Runs(t.Context(), sides[0], sides[1], opt); err != nil {
		t.Fatal(err)
	}
	d.strict = r.IntN(2) == 0
	d.says = fmt.Sprintf("seed %d, %d runs a side, timer %v, metric %s, grown %v", seed, runs, timer, metric, grow)
	return d
}

// amount reads a number as it is written for people.
func amount(text string) float64 {
	text = strings.TrimSpace(strings.NewReplacer("−", "-", "\u202f", "", "\u00a0", " ", "≈", "").Replace(text))
	number, unit, _ := strings.Cut(text, " ")
	v, err := strconv.ParseFloat(number, 64)
	scale, known := map[string]float64{"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "%": 1}[strings.TrimSpace(unit)]
	if err != nil || !known {
		return math.NaN()
	}
	return v * scale
}

// near allows for digits that are not written: of shares, all but one behind the
// point.
func near(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= math.Max(tolerance*math.Abs(want), .06)
}

var (
	totals  = regexp.MustCompile(`: (\S+(?: [kMG]| [nµm]?s)?) → (\S+(?: [kMG]| [nµm]?s)?)(?: of run time| cycles| samples)?;`)
	leading = regexp.MustCompile(`; (?:most in|what differs most is) (\w+), (.+?) → (.+?)(?: \(|;|$)`)
	turned  = regexp.MustCompile(`^B costs (?:at least )?([\d.]+) % (more|less)`)
	belowOf = regexp.MustCompile(`of (the share of )?a group below \+?([\d.]+) %`)
	// A fall is counted from what it fell from.
	fallBelow = regexp.MustCompile(`the whole run below \+[\d.]+ % or −([\d.]+) %`)
	below     = regexp.MustCompile(`the whole run below \+?([\d.]+) %`)
)

// TestSentencesAgree compares many random runs: every number of a sentence is that
// of the draw, and sentence, gate, table and forms say the same.
func TestSentencesAgree(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(400) {
		d := draw(t, seed)
		if err := d.check(t, seen); err != nil {
			t.Fatalf("%s: %v\n%s", d.says, err, printed(t, d.c))
		}
	}
	for _, what := range []string{"totals", "leading", "more", "less", "below", "below of a group", "command", "failed", "passed", "not sure", "rows", "further rows"} {
		if seen[what] < 10 {
			t.Errorf("%s was looked at %d times only", what, seen[what])
		}
	}
}

func printed(t *testing.T, c *compare.Comparison) string {
	var b bytes.Buffer
	if err := Text(&b, c, 0); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func (d *drawn) check(t *testing.T, seen map[string]int) error {
	c, sentence := d.c, d.c.Sentence()
	if m := totals.FindStringSubmatch(sentence); m != nil {
		seen["totals"]++
		if a, b := amount(m[1]), amount(m[2]); !near(a, d.whole[0], .01) || !near(b, d.whole[1], .01) {
			return fmt.Errorf("%q: %v → %v, drawn were %v", sentence, a, b, d.whole)
		}
	} else if c.Metric != compare.Share {
		return fmt.Errorf("%q has no totals", sentence)
	}
	if m := turned.FindStringSubmatch(sentence); m != nil {
		seen[m[2]]++
		if (d.whole[1] > d.whole[0]) != (m[2] == "more") || c.Design == compare.One && amount(m[1]) > 100*math.Abs(d.whole[1]/d.whole[0]-1)+.1 {
			return fmt.Errorf("%q, drawn were %v", sentence, d.whole)
		}
	}
	if err := d.checkLeader(sentence, seen); err != nil {
		return err
	}
	if m := below.FindStringSubmatch(c.Limits()); m != nil {
		seen["below"]++
		if !near(amount(m[1]), 100**c.Whole.Detectable, .06) {
			return fmt.Errorf("%q, detectable is %v", c.Limits(), *c.Whole.Detectable)
		}
	}
	// What is sure did show: it is beyond what would not.
	if w := &c.Whole; w.Sure && w.Ratio != nil && c.Design != compare.One {
		if m := fallBelow.FindStringSubmatch(c.Limits()); m != nil && *w.Ratio < 1 {
			seen["falls"]++
			if d := *w.Detectable; !near(amount(m[1]), 100*d/(1+d), .06) {
				return fmt.Errorf("%q, detectable is %v", c.Limits(), d)
			}
		}
	}
	if m := belowOf.FindStringSubmatch(c.Limits()); m != nil {
		seen["below of a group"]++
		least := math.Inf(1)
		for _, r := range c.Groups {
			if r.Metric == "" && r.Tested() && r.Ratio != nil {
				least = min(least, *r.Detectable)
			}
		}
		if (m[1] != "") != (c.Metric == compare.Share) || !near(amount(m[2]), 100*least, .06) {
			return fmt.Errorf("%q, detectable is %v", c.Limits(), least)
		}
	} else if c.Tested > 0 {
		return fmt.Errorf("%q does not say which change of a group would have shown", c.Limits())
	}
	if strings.Contains(c.Limits(), "isobath record") {
		seen["command"]++
		if !strings.HasSuffix(c.Limits(), "--pair -- ./old 'two words' -- ./new 'two words'") {
			return fmt.Errorf("%q", c.Limits())
		}
	}
	if err := d.checkGate(t, seen); err != nil {
		return err
	}
	return d.checkRows(seen)
}

// checkLeader holds that the group that is named is the one that changed most among
// those that are sure, and that it is named only then.
func (d *drawn) checkLeader(sentence string, seen map[string]int) error {
	most, largest, turned := "", 0.0, false
	for _, r := range d.c.Groups {
		sums := d.groups[r.Label]
		change := math.Abs(sums[1] - sums[0])
		if d.c.Metric == compare.Share {
			change = math.Abs(sums[1]/d.whole[1] - sums[0]/d.whole[0])
		}
		if against := d.c.Whole.Sure && r.Verdict != d.c.Whole.Verdict; against && r.Sure && r.Metric == "" {
			seen["against"]++
			turned = true
		} else if r.Metric == "" && r.Sure && change > largest {
			most, largest = r.Label, change
		}
	}
	if strings.Contains(sentence, "; the other way ") && !turned {
		return fmt.Errorf("%q: nothing moves against the whole", sentence)
	}
	m := leading.FindStringSubmatch(sentence)
	if m == nil {
		if most != "" {
			return fmt.Errorf("%q does not name %s", sentence, most)
		}
		return nil
	}
	seen["leading"]++
	want := d.groups[m[1]]
	if d.c.Metric == compare.Share {
		want = [2]float64{100 * want[0] / d.whole[0], 100 * want[1] / d.whole[1]}
	}
	if m[1] != most || !near(amount(m[2]), want[0], .01) || !near(amount(m[3]), want[1], .01) {
		return fmt.Errorf("%q names %s (%v), largest is %s", sentence, m[1], want, most)
	}
	return nil
}

// checkGate holds that the word of a gate, its exit code and the forms agree, and
// that what fails moved the wrong way by the limit.
func (d *drawn) checkGate(t *testing.T, seen map[string]int) error {
	g := d.c.Gate
	if g == nil {
		return nil
	}
	if d.strict {
		g.Strict()
	}
	text, failing := gateText(d.c), d.c.Failing()
	word, names, _ := strings.Cut(text, ": ")
	seen[word]++
	if _, names, _ = strings.Cut(names, ": "); g.Failed != (word == "failed") || g.Failed != (len(failing) > 0) || g.Failed && names == "" ||
		map[string]int{"failed": compare.ExitRegression, "passed": compare.ExitPassed, "not sure": compare.ExitUnsure}[word] != g.Exit {
		return fmt.Errorf("%q, %d fail, exit %d", text, len(failing), g.Exit)
	}
	var b bytes.Buffer
	if err := JUnit(&b, d.c); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "<failure"); n != len(failing) {
		return fmt.Errorf("%d rows fail, in JUnit %d\n%s", len(failing), n, b.String())
	}
	for _, r := range failing {
		if !r.Sure || r.Verdict != compare.More && r.Verdict != compare.Less {
			return fmt.Errorf("%s fails and is %s", r.Label, r.Verdict)
		}
		said := d.c.Says(r)
		if want := map[compare.Verdict]string{compare.More: " (more|larger)", compare.Less: " (less|smaller)"}[r.Verdict]; !regexp.MustCompile(want).MatchString(said) {
			return fmt.Errorf("%s is %s: %q", r.Label, r.Verdict, said)
		}
		limit := slices.IndexFunc(g.Limits, func(l compare.Limit) bool {
			return (r.Metric == "" && l.Metric == d.c.Metric || l.Metric == r.Metric) && l.Below == (r.Verdict == compare.Less)
		})
		if limit < 0 {
			return fmt.Errorf("%s fails of no limit: %+v", r.Label, g.Limits)
		}
		if l := g.Limits[limit]; !l.Points && math.Abs(*r.Ratio-1) < l.Change {
			return fmt.Errorf("%s changed by %v and fails of %v", r.Label, *r.Ratio, l.Change)
		}
	}
	return nil
}

// checkRows holds that A, B and B − A of every row of the table are those drawn.
func (d *drawn) checkRows(seen map[string]int) error {
	for i := range d.c.Groups {
		r := &d.c.Groups[i]
		cell, sums := cells(d.c, r), d.groups[r.Label]
		switch r.Metric {
		case compare.Samples:
			sums = d.counts[r.Label]
			seen["further rows"]++
		case compare.Cost:
			sums = d.values[r.Label]
			seen["further rows"]++
		}
		seen["rows"]++
		if d.c.Metric == compare.Share && r.Metric == "" {
			sums = [2]float64{100 * sums[0] / d.whole[0], 100 * sums[1] / d.whole[1]}
		}
		if !near(amount(cell[0]), sums[0], .01) || !near(amount(cell[1]), sums[1], .01) || math.Abs(amount(cell[2])-(sums[1]-sums[0])) > max(.11, .01*max(sums[0], sums[1])) {
			return fmt.Errorf("%q, drawn were %v", cell, sums)
		}
		if mark := cell[4]; r.Sure != (mark == "") && r.Tested() {
			return fmt.Errorf("%s is sure %v and marked %q", r.Label, r.Sure, mark)
		}
		if r.Sure && (sums[1] > sums[0]) != (r.Verdict == compare.More) {
			return fmt.Errorf("%s is %s, drawn were %v", r.Label, r.Verdict, sums)
		}
	}
	return nil
}
