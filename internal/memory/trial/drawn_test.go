package trial

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestTrialsDrawn replays the look at a trial on machines that are made up: the runs
// of a pair share what the machine does, which drifts, comes in bursts or is none.
func TestTrialsDrawn(t *testing.T) {
	const trials = 300
	looks := Looks(60)
	var false2, found5 float64
	cells := 0.0
	for _, m := range []struct {
		name                 string
		own, shared, outlier float64 // noise of a run, of a pair, and how often a run takes up to twice as long
	}{{"quiet", .02, .01, 0}, {"drifting", .03, .3, .02}, {"bursts", .03, .05, .12}} {
		random := rand.New(rand.NewPCG(2025, 9))
		called := func(slower float64) float64 {
			n := 0.0
			for trial := range trials {
				d := Design{Looks: looks, Seed: uint64(trial + 1)}
				coin := NewCoin(d.Seed)
				var x []float64
				drift := 0.0
				for range 60 {
					drift = .9*drift + m.shared*random.NormFloat64()
					run := func() float64 {
						v := drift + m.own*random.NormFloat64()
						if random.Float64() < m.outlier {
							v += random.Float64() * math.Ln2
						}
						return v
					}
					first, second := run(), run()+.01 // what runs second has a warmer or colder cache
					if coin.BFirst() {
						first, second = second, first
					}
					x = append(x, second+math.Log1p(slower)-first)
					if got, stop := d.At(x); stop != Going {
						if got.Verdict == More || got.Verdict == Less {
							n++
						}
						break
					}
				}
			}
			return n / trials
		}
		f, p := called(0), called(.05)
		t.Logf("%s: called without a difference in %.3f, 5 %% found in %.3f", m.name, f, p)
		if f > .065 || p < .60 {
			t.Errorf("%s: called without a difference in %.3f of trials, 5 %% found in %.3f", m.name, f, p)
		}
		false2, found5, cells = false2+f, found5+p, cells+1
	}
	if false2 > .05*cells || found5 < .85*cells {
		t.Errorf("on average %.3f false, %.3f found", false2/cells, found5/cells)
	}
}
