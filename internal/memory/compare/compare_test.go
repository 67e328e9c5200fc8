package compare

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/engine/query/naive"
)

// input makes samples of lines with latencies; without latencies if nil.
func input(t *testing.T, lines []int64, latencies []int64) Input {
	t.Helper()
	columns := []*table.Column{table.Ints("line", "", table.Derived, lines, nil)}
	if latencies != nil {
		columns = append(columns, table.Ints("latency", "cycles", table.Measured, latencies, nil))
	}
	tab, err := table.New("samples", columns)
	if err != nil {
		t.Fatal(err)
	}
	return Input{Table: tab, Engine: naive.New(query.Data{Table: tab})}
}

func runs(t *testing.T, a, b Input) *Comparison {
	t.Helper()
	c, err := Runs(context.Background(), a, b, []string{"line"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestShares(t *testing.T) {
	a := input(t, []int64{1, 1, 2, 3}, []int64{10, 30, 40, 20})
	b := input(t, []int64{1, 2, 2, 4}, []int64{10, 100, 60, 30})
	c := runs(t, a, b)
	if c.Counts != "latency" || *c.A.Latency != 100 || *c.B.Latency != 200 || *c.B.Mean != 50 {
		t.Errorf("sides: %+v", c)
	}
	want := []struct {
		key  string
		a, b float64
	}{{"2", .4, .8}, {"1", .4, .05}, {"3", .2, 0}, {"4", 0, .15}}
	if len(c.Groups) != len(want) {
		t.Fatalf("%d groups, want %d", len(c.Groups), len(want))
	}
	for i, w := range want {
		g := c.Groups[i]
		if g.Key[0] != w.key || math.Abs(g.A.Share-w.a) > 1e-12 || math.Abs(g.B.Share-w.b) > 1e-12 || math.Abs(g.Change-(w.b-w.a)) > 1e-12 {
			t.Errorf("group %d: %+v, want %+v", i, g, w)
		}
	}
	if g := c.Groups[2]; g.B.Samples != 0 || g.B.Mean != nil {
		t.Errorf("a line that B does not have: %+v", g)
	}
}

// TestOneWithoutLatency counts samples: a share of latency would not compare.
func TestOneWithoutLatency(t *testing.T) {
	c := runs(t, input(t, []int64{1, 1, 2}, []int64{1, 1, 98}), input(t, []int64{1, 2, 2}, nil))
	if c.Counts != "samples" || c.B.Latency != nil || *c.A.Latency != 100 {
		t.Errorf("sides: %+v", c)
	}
	if g := c.Groups[0]; math.Abs(math.Abs(g.Change)-1.0/3) > 1e-12 {
		t.Errorf("change %v, want a third of the samples", g.Change)
	}
}

// TestCountError is the textbook's p(1-p)/n where every sample counts one.
func TestCountError(t *testing.T) {
	c := runs(t, input(t, []int64{1, 1, 1, 2, 2, 2, 2, 2, 2, 2}, nil), input(t, []int64{1, 2}, nil))
	want := math.Sqrt(.3*.7/10 + .5*.5/2)
	if got := c.Groups[0].Error; math.Abs(got-want) > 1e-12 {
		t.Errorf("error %v, want %v", got, want)
	}
}

// TestChance draws both runs from one program with heavy-tailed latencies many
// times: the error must describe how far shares really scatter.
func TestChance(t *testing.T) {
	draw := func(r *rand.Rand) Input {
		n := 400 + r.IntN(400)
		lines, latencies := make([]int64, n), make([]int64, n)
		for i := range lines {
			lines[i] = int64(min(r.ExpFloat64()*4, 9))
			latencies[i] = int64(20 * math.Exp(r.NormFloat64()))
		}
		return input(t, lines, latencies)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var z2, n, sure float64
	for range 200 {
		for _, g := range runs(t, draw(r), draw(r)).Groups {
			if g.A.Samples < 20 || g.B.Samples < 20 {
				continue // too few for a normal law
			}
			z2 += (g.Change / g.Error) * (g.Change / g.Error)
			n++
			if g.Sure() {
				sure++
			}
		}
	}
	if spread := math.Sqrt(z2 / n); spread < .9 || spread > 1.1 {
		t.Errorf("changes scatter by %.2f of their standard errors, want 1", spread)
	}
	if sure/n > .01 {
		t.Errorf("%.1f %% of chance changes are called sure", 100*sure/n)
	}
}

// TestFinds a change that was made.
func TestFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	draw := func(slow int64) Input {
		lines, latencies := make([]int64, 2000), make([]int64, 2000)
		for i := range lines {
			lines[i], latencies[i] = int64(r.IntN(20)), 20+int64(r.IntN(20))
			if lines[i] == slow {
				latencies[i] *= 3
			}
		}
		return input(t, lines, latencies)
	}
	for _, slow := range []int64{3, 17} {
		g := runs(t, draw(-1), draw(slow)).Groups[0]
		if g.Key[0] != strconv.FormatInt(slow, 10) || !g.Sure() || g.Change <= 0 {
			t.Errorf("line %d became slow; found %+v", slow, g)
		}
	}
}

func TestSelection(t *testing.T) {
	a := input(t, []int64{1, 1, 2}, []int64{5, 50, 50})
	var err error
	if a.Where, err = query.Parse("latency > 10", a.Table); err != nil {
		t.Fatal(err)
	}
	c := runs(t, a, a)
	if c.A.Samples != 2 || c.A.Of != 3 || c.Groups[0].A.Share != .5 || c.Groups[0].Change != 0 || c.Groups[0].Sure() {
		t.Errorf("%+v", c)
	}
}
