package trial

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/base/test"
)

// TestBounds has the bounds that were published for the usual trials.
func TestBounds(t *testing.T) {
	for _, want := range [][]Look{
		{{8, 2.715}, {12, 2.793}, {18, 2.675}, {27, 2.534}, {40, 2.388}, {60, 2.220}},
		{{8, 2.881}, {12, 2.959}, {18, 2.852}, {27, 2.723}, {40, 2.585}, {60, 2.427}, {100, 2.192}},
		{{8, 2.328}, {12, 2.382}, {20, 2.179}},
	} {
		got := Looks(want[len(want)-1].Pairs)
		var at []int
		for _, look := range want {
			at = append(at, look.Pairs)
		}
		for i, computed := range bounds(at) {
			if math.Abs(computed.Bound-want[i].Bound) > 6e-3 {
				t.Errorf("integrated bound %v, want %v", computed, want[i])
			}
		}
		if len(got) != len(want) {
			t.Fatalf("looks %v, want %v", got, want)
		}
		for i := range want {
			if got[i].Pairs != want[i].Pairs || math.Abs(got[i].Bound-want[i].Bound) > 5e-4 {
				t.Errorf("look %v, want %v", got[i], want[i])
			}
		}
	}
}

type timed struct {
	machine, kind, chunk, block, label string
	wall, cpu                          float64
}

func readSeries(t *testing.T) []timed {
	t.Helper()
	f, err := os.Open(test.Shared(t, "compare/ab/series.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(z).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []timed
	for _, r := range rows[1:] {
		wall, err1 := strconv.ParseFloat(r[7], 64)
		cpu, err2 := strconv.ParseFloat(r[8], 64)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		out = append(out, timed{r[0], r[1], r[2], r[3], r[4], wall, cpu})
	}
	return out
}

// TestReference compares with what numpy gave for real slowdowns. Its bounds are
// those of the table to two decimals.
func TestReference(t *testing.T) {
	text, err := os.ReadFile(test.Shared(t, "compare/expected/numbers.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		AB []struct {
			Kind                        string
			First                       int `json:"first_pair"`
			Pairs                       int
			Z, Bound, Change, Low, High float64
			Decided                     bool
		} `json:"ab"`
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	series := readSeries(t)
	for _, w := range want.AB {
		x := blocks(series, w.Kind)[w.First : w.First+60]
		d := Design{Looks: []Look{{8, 2.71}, {12, 2.79}, {18, 2.68}, {27, 2.53}, {40, 2.39}, {60, 2.22}}}
		var got Decision
		stop := Going
		for n := 1; n <= len(x) && stop == Going; n++ {
			got, stop = d.At(x[:n])
		}
		close := func(what string, got, want float64) {
			if math.Abs(got-want) > 1e-4*max(1, math.Abs(want)) {
				t.Errorf("%s from %d: %s %.6g, want %.6g", w.Kind, w.First, what, got, want)
			}
		}
		if got.Pairs != w.Pairs || (stop == Decided) != w.Decided {
			t.Errorf("%s from %d: %d pairs, %s; want %d, decided %v", w.Kind, w.First, got.Pairs, stop, w.Pairs, w.Decided)
		}
		close("z", got.Z, w.Z)
		close("bound", got.Bound, w.Bound)
		close("change", got.Change, w.Change)
		close("low", got.Low, w.Low)
		close("high", got.High, w.High)
	}
}

// blocks are ln(b/a) of the pairs of blocks A B B A.
func blocks(series []timed, kind string) []float64 {
	type key struct{ machine, chunk, block string }
	var order []key
	by := map[key][]float64{}
	for _, r := range series {
		if r.kind == kind && r.block != "" && (r.label == "A" || r.label == kind) {
			k := key{r.machine, r.chunk, r.block}
			if by[k] == nil {
				order = append(order, k)
			}
			by[k] = append(by[k], math.Log(r.cpu))
		}
	}
	var x []float64
	for _, k := range order {
		if b := by[k]; len(b) == 4 {
			x = append(x, b[1]-b[0], b[2]-b[3])
		}
	}
	return x
}

// TestReplay runs trials on recorded series of one command: 120 commands in a
// row, neighbours paired, the sign of each pair by a coin, a slowdown added.
func TestReplay(t *testing.T) {
	cells := map[string][]timed{}
	for _, r := range readSeries(t) {
		if r.kind == "stencil" || r.kind == "chase" {
			cell := r.machine + ", " + r.kind
			cells[cell] = append(cells[cell], r)
		}
	}
	random := rand.New(rand.NewPCG(3, 25))
	d := Design{Looks: Looks(60)}
	const trials = 400
	var false2, found3, found5 []float64
	for _, cell := range slices.Sorted(maps.Keys(cells)) {
		p := cells[cell]
		rate := func(slower float64, of func(timed) float64) float64 {
			called := 0
			for range trials {
				from := random.IntN(len(p) - 119)
				x := make([]float64, 0, 60)
				for i := range 60 {
					v := math.Log(of(p[from+2*i+1])) - math.Log(of(p[from+2*i]))
					if random.IntN(2) == 1 {
						v = -v
					}
					x = append(x, v+math.Log1p(slower))
				}
				for _, look := range d.Looks {
					if math.Abs(Score(x[:look.Pairs], 0)) > look.Bound { // as At does, without the interval
						called++
						break
					}
				}
			}
			return float64(called) / float64(trials)
		}
		cpu := func(r timed) float64 { return r.cpu }
		wall := func(r timed) float64 { return r.wall }
		fc, fw, p3, p5 := rate(0, cpu), rate(0, wall), rate(.03, cpu), rate(.05, cpu)
		t.Logf("%s: false %.3f (wall %.3f), 3 %% found %.2f, 5 %% %.2f", cell, fc, fw, p3, p5)
		if fc > .065 || fw > .065 || p3 < .35 || p5 < .60 {
			t.Errorf("%s: false calls %.3f by cpu, %.3f by wall; 3 %% slower found in %.2f, 5 %% in %.2f", cell, fc, fw, p3, p5)
		}
		false2, found3, found5 = append(false2, fc, fw), append(found3, p3), append(found5, p5)
	}
	if len(found5) < 3 {
		t.Fatalf("only %d cells", len(found5))
	}
	if m := mean(false2); m > .05 {
		t.Errorf("mean of false calls %.3f", m)
	}
	if m3, m5 := mean(found3), mean(found5); m3 < .60 || m5 < .85 {
		t.Errorf("3 %% slower found in %.2f, 5 %% in %.2f on average", m3, m5)
	}
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// TestFlips counts by hand: all signs equal is the most extreme of 2ⁿ⁻¹.
func TestFlips(t *testing.T) {
	if got, want := Flips([]float64{1, 1, 1, 1, 1}, 0), 2./32; math.Abs(got-want) > 1e-12 {
		t.Errorf("five equal differences: %v, want %v", got, want)
	}
	if got := Flips([]float64{1, -1, 1, -1}, 0); got < .5 {
		t.Errorf("balanced differences: %v", got)
	}
	random := rand.New(rand.NewPCG(1, 1))
	x := make([]float64, 20)
	for i := range x {
		x[i] = random.NormFloat64() + .8
	}
	if p, normal := Flips(x, 0), Flips(append(x, x[0]), 0); p > .02 || normal > .02 {
		t.Errorf("a clear difference: %v, %v", p, normal)
	}
}

// TestStops: same within limits, precision asked for, once at the end.
func TestStops(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	x := make([]float64, 60)
	for i := range x {
		x[i] = .002 * random.NormFloat64()
	}
	run := func(d Design) (Decision, Stop) {
		for n := range x {
			if got, stop := d.At(x[:n+1]); stop != Going {
				return got, stop
			}
		}
		return Decision{}, Going
	}
	if got, stop := run(Design{Looks: Looks(60), Within: .05}); stop != SameStop || got.Verdict != Same || got.Pairs > 12 {
		t.Errorf("%+v %s", got, stop)
	}
	if got, stop := run(Design{Looks: Looks(60)}); stop != MostPairs && stop != Decided || got.Low > 0 && got.Verdict == Unsure {
		t.Errorf("%+v %s", got, stop)
	}
	if got, stop := run(Design{Looks: Looks(60), Until: .0009}); stop == Going || got.Pairs < 18 {
		t.Errorf("%+v %s", got, stop)
	}
	if got, stop := run(Design{Looks: bounds([]int{20}), Fixed: true}); stop == Going || got.Pairs != 20 || math.Abs(got.Bound-1.96) > .001 {
		t.Errorf("%+v %s", got, stop)
	}
}

// TestIntervalsAgree: an interval holds no difference where the verdict says that
// there is none to be sure of, and only there; what is unsure is not said to be large
// enough to have shown.
func TestIntervalsAgree(t *testing.T) {
	random := rand.New(rand.NewPCG(25, 3))
	unsure := 0
	for round := range 600 {
		x := make([]float64, []int{6, 7, 8, 9, 10, 11}[round%6])
		shift, spread := .1*random.Float64(), .01+.1*random.Float64()
		for i := range x {
			x[i] = shift + spread*random.NormFloat64()
			if random.IntN(6) == 0 {
				x[i] = -.02 * random.Float64() // a pair that something disturbed
			}
		}
		r := &Report{Version: reportVersion, Metric: LaneCPU, Most: len(x), Fixed: round%12 < 6 || len(x) < firstLook, Stopped: MostPairs}
		for i, v := range x {
			r.Values = append(r.Values, Value{Pair: i, First: "a", A: Measured{CPU: 1, Wall: 1}, B: Measured{CPU: math.Exp(v), Wall: 1}})
		}
		r.Design().Conclude(r)
		l := r.Lanes[0]
		sure := l.Verdict == More || l.Verdict == Less
		if sure == (*l.Low <= 0 && *l.High >= 0) {
			t.Fatalf("%v: %s, %+.4f (%+.4f to %+.4f)", x, l.Verdict, *l.Change, *l.Low, *l.High)
		}
		if l.Verdict == Unsure && math.Abs(*l.Change) > 1.3**r.Noise.Detectable {
			unsure++
		}
	}
	if unsure > 12 { // four in five are found, so some are not
		t.Errorf("%d of 600 trials are unsure of a change that they say would show", unsure)
	}
	// Five pairs of six with 5 to 11 % less.
	r := &Report{Version: reportVersion, Metric: LaneCPU, Most: 6, Fixed: true, Stopped: MostPairs}
	for _, v := range []float64{-.0531, -.1073, -.1099, -.0998, .0069, -.1019} {
		r.Values = append(r.Values, Value{A: Measured{CPU: 1, Wall: 1}, B: Measured{CPU: math.Exp(v), Wall: 1}})
	}
	r.Design().Conclude(r)
	if said := r.Sentence(); !strings.HasPrefix(said, "B and A cannot be told apart by cpu: −8.7 % (−10.4 to +0.7 %) after 6 pairs; a change below 8") {
		t.Error(said)
	}
}

// TestFewPairs is about trials that can say nothing: five pairs of one sign are
// the coin's in one trial of sixteen, so they are neither called nor bounded.
func TestFewPairs(t *testing.T) {
	for pairs, bounded := range map[int]bool{1: false, 5: false, 6: true, 8: true} {
		r := &Report{Version: reportVersion, Metric: LaneCPU, Most: pairs, Fixed: true, Stopped: MostPairs}
		for i := range pairs {
			a := 1 + .01*float64(i%3)
			r.Values = append(r.Values, Value{Pair: i, First: "a", A: Measured{CPU: a, Wall: a}, B: Measured{CPU: 2 * a, Wall: a}})
		}
		r.Design().Conclude(r)
		l, said := r.Lanes[0], r.Sentence()
		if (l.Low != nil) != bounded || (r.Noise.Detectable != nil) != bounded || (l.Verdict == More) != bounded {
			t.Errorf("%d pairs of twice the cost: %+v, noise %+v", pairs, l, r.Noise)
		}
		want := fmt.Sprintf("B and A cannot be told apart by cpu: +100.0 %% after %s; fewer than 6 pairs are never sure: take --runs 20", term.Counted(pairs, "pair"))
		if !bounded && said != want {
			t.Errorf("%d pairs: %s", pairs, said)
		}
	}
	// Interrupted: three pairs cannot refuse anything at the bound of the first look.
	d := Design{Looks: Looks(60)}
	if got := d.Partial([]float64{.7, .7, .7}); got.Bounded {
		t.Errorf("three pairs: %+v", got)
	}
}
