package study

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

func readJSON(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(test.Shared(t, "compare/"+name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

func sameLaw(l *Law, want []float64) bool {
	if want == nil {
		return l.constant()
	}
	return math.Abs(l.power()-want[0]) < 1e-9 && float64(l.Log) == want[1]
}

// TestGrowthReference compares recordings of four functions with numbers that
// numpy gave.
func TestGrowthReference(t *testing.T) {
	var want struct {
		Growth map[string]struct {
			Law             []float64
			Error, Exponent float64
			Low             float64 `json:"exponent_low"`
			High            float64 `json:"exponent_high"`
			Others          [][]float64
		}
	}
	readJSON(t, "expected/numbers.json", &want)
	text, err := os.ReadFile(test.Shared(t, "compare/study/growth.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for function, w := range want.Growth {
		var n, y []float64
		for _, r := range rows[1:] {
			cost, err := strconv.ParseFloat(r[3], 64)
			if err != nil {
				t.Fatal(err)
			}
			size, _ := strconv.ParseFloat(r[0], 64)
			if r[2] == function && cost > 0 {
				n, y = append(n, size), append(y, cost)
			}
		}
		g, ok := Grow(n, y)
		if !ok || !sameLaw(&g.Law, w.Law) || len(g.Others) != len(w.Others) {
			t.Errorf("%s: %+v, want %+v", function, g, w)
			continue
		}
		for what, pair := range map[string][2]float64{"error": {g.Error, w.Error}, "exponent": {g.Exponent, w.Exponent}, "low": {g.Low, w.Low}, "high": {g.High, w.High}} {
			if math.Abs(pair[0]-pair[1]) > 1e-4 {
				t.Errorf("%s: %s %v, want %v", function, what, pair[0], pair[1])
			}
		}
	}
}

// TestLaws counts right laws among sets made by known ones.
func TestLaws(t *testing.T) {
	var sets []struct {
		Truth string
		Law   []float64
		Noise float64
		N, Y  []float64
	}
	readJSON(t, "study/laws.json", &sets)
	right, all := map[bool]float64{}, map[bool]float64{}
	for _, s := range sets {
		noisy := s.Noise > .05
		all[noisy]++
		if g, ok := Grow(s.N, s.Y); ok && sameLaw(&g.Law, s.Law) {
			right[noisy]++
		}
	}
	t.Logf("right: %.2f of %.0f at noise up to 5 %%, %.2f of %.0f above", right[false]/all[false], all[false], right[true]/all[true], all[true])
	if right[false]/all[false] < .9 || right[true]/all[true] < .7 {
		t.Errorf("right laws: %.2f at noise up to 5 %%, %.2f above", right[false]/all[false], right[true]/all[true])
	}
}

// What falls is no constant: no law of growth says anything about it, and runs far
// from its mean are not odd for that.
func TestWhatFallsHasNoLaw(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, power := range []float64{-.3, -1} {
		var n, y []float64
		for i := range 30 {
			n = append(n, float64(int(64)<<(i%5)))
			y = append(y, 1e6*math.Pow(n[i], power)*(1+.02*random.NormFloat64()))
		}
		if g, ok := Grow(n, y); ok {
			t.Errorf("n^%g is %s with an error of %.2f", power, g.Law.Text, g.Error)
		}
	}
}

// Equal values, and values that differ in how they were rounded, do not grow.
func TestConstantIsNoLaw(t *testing.T) {
	n := []float64{3, 7, 12, 33, 64, 90}
	for _, value := range []float64{14.2, 1.0 / 3, 6.02e23, 1e-9} {
		for _, step := range []float64{0, 1e-16, -3e-15} {
			y := make([]float64, len(n))
			for i := range n {
				y[i] = value * (1 + float64(i)*step)
			}
			g, ok := Grow(n, y)
			if !ok || !g.Law.constant() || len(g.Others) > 0 || math.Abs(g.Exponent) > 1e-12 || g.Low > 0 || g.High < 0 {
				t.Errorf("%g by %g: %+v", value, step, g)
			}
		}
	}
}

// TestSeries counts changes found and changes imagined.
func TestSeries(t *testing.T) {
	var series []struct {
		Kind string
		Step float64
		At   *int
		LN   []float64 `json:"ln"`
	}
	readJSON(t, "study/series.json", &series)
	type tally struct{ n, called, near, drift float64 }
	by := map[string]*tally{}
	count := func(name string) *tally {
		if by[name] == nil {
			by[name] = &tally{}
		}
		return by[name]
	}
	for _, s := range series {
		steps := Steps(s.LN)
		name := s.Kind
		if s.At != nil {
			name = "step"
			if s.Step < .05-1e-9 {
				continue
			}
		}
		c := count(name)
		c.n++
		if len(steps) > 0 {
			c.called++
		}
		for _, step := range steps {
			if s.At != nil && step.At >= *s.At-2 && step.At <= *s.At+2 {
				c.near++
				break
			}
		}
		if Drifts(s.LN, steps) {
			c.drift++
		}
	}
	clean, called := 0.0, 0.0
	for name, c := range by {
		t.Logf("%s: %.0f series, called %.2f, near %.2f, drift %.2f", name, c.n, c.called/c.n, c.near/c.n, c.drift/c.n)
		switch name {
		case "step":
			if c.near/c.n < .8 {
				t.Errorf("steps found near their place in %.2f", c.near/c.n)
			}
		case "machine, raw":
			if c.drift/c.n < .8 {
				t.Errorf("%.2f of raw series are said to drift", c.drift/c.n)
			}
		case "machine, against baseline":
			if c.called/c.n > .08 {
				t.Errorf("changes in %.2f of series against a baseline", c.called/c.n)
			}
		case "correlated": // what drifts is no clean series
		default:
			clean, called = clean+c.n, called+c.called
		}
	}
	if called > .04*clean {
		t.Errorf("changes in %.0f of %.0f series without any", called, clean)
	}
}

func TestOdd(t *testing.T) {
	x := []float64{1, 1.1, .9, 1, 1.05, 9, .95, 1, 1.02, .98}
	if got := Odd(x); len(got) != 1 || got[0] != 5 {
		t.Errorf("odd %v", got)
	}
	if got := Odd(x[:6]); got != nil {
		t.Errorf("of six runs %v are odd", got)
	}
}
