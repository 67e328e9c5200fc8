package cycle

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/base/test"
)

func analyseCSV(t testing.TB, file string, symbol Symbol, o Options) *Result {
	t.Helper()
	o.Window = DefaultWindow // that of the shared numbers
	r, err := Analyse(t.Context(), loadCSV(t, test.Fixture(t, "refs/traces/"+file), symbol), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance*math.Max(1, math.Abs(b)) }

// The classes of strictly largest death are unique up to sign, and so are
// energy, lift and closed winding. The numbers come from scipy's LSQR.
func TestUniqueClasses(t *testing.T) {
	tests := []struct {
		file         string
		symbol       Symbol
		birth, death int
		visits       uint32
		closed       int64
		lift, energy float64
	}{
		{"matmul_standard.csv", PC, 2, 10, 64, 63, 63.87, 0.1053},
		{"matmul12.csv.gz", PC, 2, 10, 1728, 1727, 1727.91, 0.0929},
		{"bubble_array_sorted.csv", PC, 2, 8, 4, 3, 3.55, 0.1196},
		{"bubble_array_reverse.csv", PC, 2, 10, 10, 9, 9.97, 0.0215},
		{"bubble_array_reverse.csv", Addr, 2, 9, 10, 9, 9.98, 0.0863},
		{"bubble_array_shuffled.csv", PC, 2, 10, 6, 5, 6.02, 0.0221},
		{"bubble_vector_sorted.csv", Line, 2, 9, 8, 3, 4.05, 0.0533},
		{"bubble_vector_sorted.csv", Addr, 2, 8, 8, 10, 13.33, 0.5587},
		{"bubble_vector_reverse.csv", Line, 2, 10, 20, 9, 10.00, 0.0191},
	}
	for _, tt := range tests {
		t.Run(tt.file+" "+tt.symbol.String(), func(t *testing.T) {
			r := analyseCSV(t, tt.file, tt.symbol, Options{})
			i := slices.IndexFunc(r.Classes, func(c *Class) bool {
				return c.Birth == tt.birth && c.Death == tt.death && !c.Combination
			})
			if i < 0 {
				t.Fatalf("no class (%d,%d)", tt.birth, tt.death)
			}
			c := r.Classes[i]
			if r.Points.Visits[c.Anchor] != tt.visits || c.Winding != tt.closed {
				t.Errorf("anchor visited %d times, winding %d, want %d and %d", r.Points.Visits[c.Anchor], c.Winding, tt.visits, tt.closed)
			}
			if math.Abs(c.Lift-tt.lift) > 0.006 || math.Abs(c.Energy-tt.energy) > 6e-5 {
				t.Errorf("lift %.4f, energy %.5f, want %.2f and %.4f", c.Lift, c.Energy, tt.lift, tt.energy)
			}
			if c.Residual > 1e-11 {
				t.Errorf("residual %g", c.Residual)
			}
		})
	}
}

// winding of every return along the trace, for the step windings of a class.
func closedWindings(index []uint32, step func(t int) float64) []int64 {
	last := map[uint32]float64{}
	now := 0.0
	var out []int64
	for t, u := range index {
		if t > 0 {
			now += step(t)
		}
		if was, ok := last[u]; ok {
			out = append(out, int64(math.Round(now-was)))
		}
		last[u] = now
	}
	return out
}

// TestExpectedWindings compares every class of the expected files of at least
// persistence 3 with ours: the windings over all closed stretches of the trace
// must span the same lattice, at eps = birth and at death-1.
func TestExpectedWindings(t *testing.T) {
	test.NoRaces(t, "TestPaperCounts and the traces made up here go through the same loops")
	classes := 0
	for _, file := range expectedFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			e := readExpected(t, file)
			symbol, err := ParseSymbol(e.Mode)
			if err != nil {
				t.Fatal(err)
			}
			r := analyseCSV(t, e.Trace, symbol, Options{Cap: 10})
			if len(r.Refused) > 0 {
				t.Errorf("refused: %v", r.Refused)
			}
			var ours, theirs lattice
			for _, c := range r.Classes {
				if c.Combination || c.Persistence() < 3 {
					continue
				}
				ours.add(closedWindings(r.Points.Index, func(k int) float64 {
					return float64(c.alpha.on(int(r.Points.Index[k-1]), int(r.Points.Index[k])))
				}))
			}
			long := 0
			for _, bar := range e.Bars {
				if bar[1]-bar[0] >= 3 {
					long++
				}
			}
			for _, c := range e.Classes {
				if c.Death-c.Birth < 3 || c.Eps < 2 {
					continue
				}
				w := closedWindings(r.Points.Index, func(k int) float64 { return c.Lift[k] - c.Lift[k-1] })
				if !ours.contains(w) {
					t.Errorf("class (%d,%d) at eps %d is not in the lattice of ours", c.Birth, c.Death, c.Eps)
				}
				theirs.add(w)
				classes++
			}
			if long > 8 {
				return // the files hold eight classes at most
			}
			for _, row := range ours.rows {
				if !theirs.contains(row) {
					t.Errorf("a class of ours is not in the lattice of the expected ones")
				}
			}
		})
	}
	if classes < 100 {
		t.Errorf("only %d classes compared", classes)
	}
}

// lattice keeps generators in echelon form by integer elimination.
type lattice struct{ rows [][]int64 }

func (l *lattice) add(v []int64) {
	v = slices.Clone(v)
	for i := 0; i < len(l.rows); i++ {
		row := l.rows[i]
		k := leading(row)
		if j := leading(v); j >= 0 && j < k {
			l.rows = slices.Insert(l.rows, i, v)
			return
		}
		for v[k] != 0 { // Euclid on the leading entries
			subtract(row, v, row[k]/v[k])
			if row[k] == 0 {
				row, v = v, row
				l.rows[i] = row
				break
			}
			row, v = v, row
			l.rows[i] = row
		}
	}
	if leading(v) >= 0 {
		l.rows = append(l.rows, v)
	}
}

func (l *lattice) contains(v []int64) bool {
	v = slices.Clone(v)
	for _, row := range l.rows {
		k := leading(row)
		if v[k]%row[k] != 0 {
			return false
		}
		subtract(v, row, v[k]/row[k])
	}
	return leading(v) < 0
}

func leading(v []int64) int { return slices.IndexFunc(v, func(x int64) bool { return x != 0 }) }

func subtract(a, b []int64, times int64) {
	for i := range a {
		a[i] -= times * b[i]
	}
}

func TestLatticeOfTheTest(t *testing.T) {
	var l lattice
	l.add([]int64{4, 2, 0})
	l.add([]int64{6, 0, 0})
	for v, want := range map[[3]int64]bool{{2, -2, 0}: true, {0, 6, 0}: true, {1, 0, 0}: false, {0, 2, 0}: false, {0, 0, 1}: false} {
		if got := l.contains(v[:]); got != want {
			t.Errorf("contains(%v) = %v, want %v", v, got, want)
		}
	}
}

// The lift of a unique class is that of the expected file, window by window.
func TestExpectedLift(t *testing.T) {
	e := readExpected(t, filepath.Join(test.Fixture(t, "refs/expected"), "bubble_array_reverse.pc.json"))
	r := analyseCSV(t, e.Trace, PC, Options{Cap: 10})
	c, want := r.Classes[0], e.Classes[0]
	if c.Birth != want.Birth || c.Death != want.Death || c.Epsilon != want.Eps {
		t.Fatalf("class (%d,%d) at %d, want (%d,%d) at %d", c.Birth, c.Death, c.Epsilon, want.Birth, want.Death, want.Eps)
	}
	if !near(c.Energy, want.Energy, 1e-9) || c.Edges != want.Edges {
		t.Errorf("energy %v on %d edges, want %v on %d", c.Energy, c.Edges, want.Energy, want.Edges)
	}
	sign := math.Copysign(1, want.Winding)
	err := r.Unwrapped(t.Context(), c, func(w int, lift float64) {
		if math.Abs(lift-sign*want.Lift[w]) > 1e-4 {
			t.Fatalf("lift at window %d = %v, want %v", w, lift, sign*want.Lift[w])
		}
		theta := c.Theta(int(r.Points.Index[w]))
		turns := sign * want.Theta[w]
		if d := math.Abs(theta - turns - math.Round(theta-turns)); d > 1e-5 {
			t.Fatalf("theta at window %d = %v, want %v", w, theta, turns)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Another eps gives other coordinates of the same class.
func TestSmoothed(t *testing.T) {
	e := readExpected(t, filepath.Join(test.Fixture(t, "refs/expected"), "bubble_vector_sorted.addr.json"))
	r := analyseCSV(t, e.Trace, Addr, Options{Cap: 10})
	c := r.Classes[0]
	for _, want := range e.Classes[:2] {
		if want.Birth != c.Birth || want.Death != c.Death {
			t.Fatalf("class (%d,%d), want (%d,%d)", c.Birth, c.Death, want.Birth, want.Death)
		}
		got, err := r.Smoothed(t.Context(), c, want.Eps)
		if err != nil {
			t.Fatal(err)
		}
		if !near(got.Energy, want.Energy, 1e-9) || !near(math.Abs(got.Lift), math.Abs(want.Winding), 1e-6) || got.Winding != c.Winding {
			t.Errorf("eps %d: energy %v, lift %v, want %v, %v", want.Eps, got.Energy, got.Lift, want.Energy, want.Winding)
		}
	}
	for _, eps := range []int{1, 8} {
		if _, err := r.Smoothed(t.Context(), c, eps); err == nil {
			t.Errorf("eps %d is accepted for a class that exists from 2 to 7", eps)
		}
	}
}

// shuffled renumbers the points of a trace: nothing that is reported as exact
// may depend on their order.
func shuffled(t *testing.T, tr *Trace, seed uint64) *analysis {
	t.Helper()
	o, err := Options{Window: DefaultWindow, Cap: 10}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Windows(t.Context(), tr.Syms, o.Window)
	if err != nil {
		t.Fatal(err)
	}
	perm := rand.New(rand.NewPCG(seed, 5)).Perm(p.Len())
	q := &Points{Window: p.Window, Syms: p.Syms, First: make([]int32, p.Len()), Visits: make([]uint32, p.Len())}
	for u, v := range perm {
		q.First[v], q.Visits[v] = p.First[u], p.Visits[u]
	}
	for _, u := range p.Index {
		q.Index = append(q.Index, uint32(perm[u]))
	}
	claim, err := budget.New(o.Memory).Claim("cycles need", 0)
	if err != nil {
		t.Fatal(err)
	}
	a := &analysis{Result: &Result{Trace: tr, Points: q, graphs: map[int]*graph{}}, opts: o, deadline: o.now().Add(o.Time), claim: claim}
	if err := a.measure(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.Walk = newWalk(q)
	if err := a.classify(t.Context(), 47, true); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestGramDeterminantIsInvariant(t *testing.T) {
	tr := loadCSV(t, test.Fixture(t, "refs/traces/matmul_standard.csv"), PC)
	for seed := range uint64(5) {
		a := shuffled(t, tr, seed)
		g := a.Groups[0]
		for _, cand := range a.Groups {
			if len(cand.Bars) > len(g.Bars) {
				g = cand
			}
		}
		if det := gramDeterminant(g.Gram); math.Abs(det-0.00066581) > 5e-9 {
			t.Errorf("order %d: det G = %.9f, want 0.000665810", seed, det)
		}
		reduced := make([][]float64, len(g.Reduced))
		for i, x := range g.Reduced {
			for _, y := range g.Reduced {
				reduced[i] = append(reduced[i], product(g.Gram, x, y))
			}
		}
		if det := gramDeterminant(reduced); math.Abs(det-0.00066581) > 5e-9 {
			t.Errorf("order %d: det of the reduced Gram = %.9f", seed, det)
		}
		if c := a.Classes[0]; c.Turns != 64 || !c.Exact {
			t.Errorf("order %d: first class turns %d, exact %v, want 64", seed, c.Turns, c.Exact)
		}
	}
}

func gramDeterminant(g [][]float64) float64 {
	_, norm := orthogonal(g, identity(len(g)))
	det := 1.0
	for _, n := range norm {
		det *= n
	}
	return det
}

func identity(n int) [][]int64 {
	u := make([][]int64, n)
	for i := range u {
		u[i] = make([]int64, n)
		u[i][i] = 1
	}
	return u
}

func TestReduceBasis(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for round := range 50 {
		n := 1 + rng.IntN(7)
		b := make([][]float64, n)
		for i := range b {
			for range n {
				b[i] = append(b[i], rng.NormFloat64()*math.Pow(10, float64(rng.IntN(3))))
			}
		}
		gram := make([][]float64, n)
		for i := range b {
			for j := range b {
				gram[i] = append(gram[i], dot(b[i], b[j]))
			}
		}
		u, err := reduceBasis(gram)
		if err != nil {
			t.Fatal(err)
		}
		if d := determinant(u); d != 1 && d != -1 {
			t.Fatalf("round %d: determinant %d", round, d)
		}
		mu, norm := orthogonal(gram, u)
		for i := range u {
			for j := range i {
				if math.Abs(mu[i][j]) > 0.5+1e-6 {
					t.Errorf("round %d: mu[%d][%d] = %v, not reduced", round, i, j, mu[i][j])
				}
			}
			if i > 0 && norm[i] < (0.75-mu[i][i-1]*mu[i][i-1])*norm[i-1]*(1-1e-9) {
				t.Errorf("round %d: row %d breaks the Lovász condition", round, i)
			}
		}
	}
}

// Over small primes some classes do not lift. Then the next prime is used, and
// at the last one the class is refused with a reason.
func TestNextPrime(t *testing.T) {
	r := analyseCSV(t, "bubble_vector_reverse.csv", PC, Options{Cap: 10, Persistence: 2, Primes: []int{2, 47}})
	if r.Prime != 47 || len(r.Refused) != 0 || !strings.Contains(strings.Join(r.Notes, "\n"), "did not lift") {
		t.Errorf("prime %d, refused %v, notes %q", r.Prime, r.Refused, r.Notes)
	}
	r = analyseCSV(t, "bubble_vector_reverse.csv", PC, Options{Cap: 10, Persistence: 2, Primes: []int{2}})
	if len(r.Refused) == 0 || !strings.Contains(r.Refused[0].Reason, "no class over the integers") {
		t.Errorf("refused %v over Z/2, want some", r.Refused)
	}
}

// clock is a clock that advances with every look at it.
func clock(step time.Duration) func() time.Time {
	now := time.Unix(0, 0)
	return func() time.Time {
		now = now.Add(step)
		return now
	}
}

func TestCapIsLowered(t *testing.T) {
	tr := loadCSV(t, test.Fixture(t, "refs/traces/matmul_standard.csv"), Addr)
	n := 936
	for name, o := range map[string]Options{
		"memory of the matrix":    {Cap: 8, Memory: matrixBytes(n, 4)},
		"memory of the reduction": {Cap: 8, Memory: matrixBytes(n, 8) + 300<<10},
		"time":                    {Cap: 10, Time: time.Minute, now: clock(2 * time.Second)},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Analyse(t.Context(), tr, o)
			if err != nil {
				t.Fatal(err)
			}
			if r.Matrix.Cap >= o.Cap || !strings.Contains(strings.Join(r.Notes, "\n"), "was lowered from") {
				t.Errorf("cap %d, notes %q", r.Matrix.Cap, r.Notes)
			}
			for _, b := range r.Bars {
				if b.Death > r.Matrix.Cap+1 || b.Alive != (b.Death == r.Matrix.Cap+1) {
					t.Fatalf("bar %+v with cap %d", b, r.Matrix.Cap)
				}
			}
		})
	}
	if _, err := Analyse(t.Context(), tr, Options{Memory: 1000}); !errors.As(err, new(*TooManyError)) {
		t.Errorf("error = %v, want TooManyError", err)
	}
}

func TestCancel(t *testing.T) {
	tr := loadCSV(t, test.Fixture(t, "refs/traces/matmul_standard.csv"), Addr)
	stages := map[string]bool{}
	for _, stop := range []string{"windows", "distances", "reducing", "coordinates"} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := Analyse(ctx, tr, Options{Cap: 6, Progress: func(p Progress) {
			stages[p.Stage] = true
			if p.Stage == stop {
				cancel()
			}
		}})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled while %s: error = %v", stop, err)
		}
	}
	if len(stages) != 4 {
		t.Errorf("stages reported: %v", stages)
	}
}

func TestLandmarks(t *testing.T) {
	full := analyseCSV(t, "bubble_vector_reverse.csv", Addr, Options{Cap: 10})
	r := analyseCSV(t, "bubble_vector_reverse.csv", Addr, Options{Cap: 10, Landmarks: 117})
	if r.Points.Len() != 117 || r.CoverRadius < 1 || !strings.Contains(strings.Join(r.Notes, "\n"), "landmarks") {
		t.Fatalf("%d points, radius %d, notes %q", r.Points.Len(), r.CoverRadius, r.Notes)
	}
	for _, b := range full.Bars {
		if b.Persistence() <= 4*r.CoverRadius {
			continue
		}
		if !slices.ContainsFunc(r.Bars, func(c Bar) bool {
			return max(b.Birth-c.Birth, c.Birth-b.Birth, b.Death-c.Death, c.Death-b.Death) <= 2*r.CoverRadius
		}) {
			t.Errorf("bar %+v is lost among landmarks of radius %d", b, r.CoverRadius)
		}
	}
	if c := r.Classes[0]; c.Turns != 10 {
		t.Errorf("first class turns %d times on landmarks, want 10", c.Turns)
	}
	tr := loadCSV(t, test.Fixture(t, "refs/traces/bubble_vector_reverse.csv"), Addr)
	if _, err := Analyse(t.Context(), tr, Options{Landmarks: 5}); err == nil || !strings.Contains(err.Error(), "cover") {
		t.Errorf("five landmarks: error = %v", err)
	}
}

// Unwrapped calls visit with the lift at every window from on: the coordinate
// along the trace without jumps. Neighbouring values differ by less than a
// turn; whole numbers are passed once per turn.
func (r *Result) Unwrapped(ctx context.Context, c *Class, visit func(window int, lift float64)) error {
	lift := 0.0
	for t, u := range r.Points.Index {
		if t&0xffff == 0xffff && ctx.Err() != nil {
			return ctx.Err()
		}
		if t > 0 && r.Points.Index[t-1] != u {
			lift += c.steps[r.Walk.Step(r.Points.Index[t-1], u)]
		}
		visit(t, lift)
	}
	return nil
}

// The memory of an analysis comes from the budget of its context, whatever its
// own limit, and its time ends at twice what is allowed.
func TestWithinBudgetOfProcess(t *testing.T) {
	tr := fromSyms(count(3000, func(i int) uint32 { return uint32(i * i % 211) }))
	whole, err := Analyse(t.Context(), tr, Options{Cap: 8})
	if err != nil {
		t.Fatal(err)
	}
	n := whole.Points.Len()
	small := budget.New(matrixBytes(n, 4))
	r, err := Analyse(budget.With(t.Context(), small), tr, Options{Cap: 8})
	if err != nil || r.Matrix.Cap > 4 || len(r.Notes) == 0 {
		t.Errorf("%d points in %d bytes: %v, %v", n, small.Limit(), r, err)
	}
	if used := small.Used(); used == 0 || used > small.Limit() {
		t.Errorf("%d bytes of %d are in use while the result is", used, small.Limit())
	}
	runtime.KeepAlive(r)
	none := budget.New(1000)
	if _, err := Analyse(budget.With(t.Context(), none), tr, Options{}); !errors.As(err, new(*TooManyError)) || none.Used() != 0 {
		t.Errorf("%d points in 1000 bytes: %v; %d bytes are in use", n, err, none.Used())
	}
	if _, err := Analyse(t.Context(), tr, Options{Time: time.Nanosecond}); err == nil || !strings.Contains(err.Error(), "allowed time (1ns)") {
		t.Errorf("a nanosecond: %v", err)
	}
}
