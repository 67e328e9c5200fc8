package demo

import (
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/table"
)

// fixedRun is simulated once for all tests. One iteration is enough for its
// story.
var fixedRun = sync.OnceValues(func() (*Run, error) { return Stencil(StencilOptions{Fixed: true, Iterations: 1}) })

func built(t *testing.T) *table.Table {
	t.Helper()
	r, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	return r.Samples
}

func fixed(t *testing.T) *table.Table {
	t.Helper()
	r, err := fixedRun()
	if err != nil {
		t.Fatal(err)
	}
	return r.Samples
}

// rows reads the columns that stories are about.
type rows struct {
	*table.Table
	cpu, node, home, z, iteration, latency func(int) int
	level, function                        func(int) string
}

func read(s *table.Table) rows {
	ints := func(name string) func(int) int {
		c := s.Column(name)
		if c == nil {
			return func(int) int { return none }
		}
		return func(i int) int {
			if !c.Has(i) {
				return none
			}
			return int(c.Float(i))
		}
	}
	return rows{
		Table: s, cpu: ints("cpu"), node: ints("node"), home: ints("home"), z: ints("z"),
		iteration: ints("iteration"), latency: ints("latency"),
		level: s.Column("level").Text, function: s.Column("function").Text,
	}
}

func (r rows) all(yield func(int) bool) {
	for i := range r.Rows() {
		if !yield(i) {
			return
		}
	}
}

func ram(level string) bool { return level == "Local RAM" || level == "Remote RAM" }

// servers counts the accesses that the memory of each node answered. It goes
// by level and CPU, not by the home column.
func servers(r rows, of func(i int) bool) [2]int {
	var n [2]int
	for i := range r.all {
		switch r.level(i) {
		case "Local RAM":
			if of(i) {
				n[r.node(i)]++
			}
		case "Remote RAM":
			if of(i) {
				n[1-r.node(i)]++
			}
		}
	}
	return n
}

func always(int) bool { return true }

func TestIdleCore(t *testing.T) {
	for name, s := range map[string]*table.Table{"before": built(t), "after": fixed(t)} {
		r := read(s)
		var per [32]int
		for i := range r.all {
			per[r.cpu(i)]++
		}
		for cpu, n := range per {
			if idle := cpu == 15 || cpu == 31; idle != (n == 0) {
				t.Errorf("%s: CPU %d has %d samples", name, cpu, n)
			}
		}
	}
}

func TestMemoryOfOneNode(t *testing.T) {
	before := servers(read(built(t)), always)
	if before[0] < 3000 || before[1] != 0 {
		t.Errorf("before: memory answers by node %v, want all by node 0", before)
	}
	after := servers(read(fixed(t)), always)
	if share := float64(after[1]) / float64(after[0]+after[1]); share < 0.4 || share > 0.6 {
		t.Errorf("after: memory answers by node %v, want about half each", after)
	}
	for name, s := range map[string]*table.Table{"before": built(t), "after": fixed(t)} {
		r := read(s)
		for i := range r.all {
			if ram(r.level(i)) && (r.level(i) == "Local RAM") != (r.home(i) == r.node(i)) {
				t.Fatalf("%s: row %d: %s by CPU of node %d of a page of node %d", name, i, r.level(i), r.node(i), r.home(i))
			}
		}
	}
}

// socketOfPlane says which socket computes each plane.
func socketOfPlane(t *testing.T, r rows) [nz]int {
	t.Helper()
	var by [nz]int
	for z := range by {
		by[z] = none
	}
	for i := range r.all {
		z := r.z(i)
		if z == none || r.function(i) != "sweep" {
			continue
		}
		if by[z] == none {
			by[z] = r.node(i)
		} else if by[z] != r.node(i) {
			t.Fatalf("plane %d is computed on both sockets", z)
		}
	}
	return by
}

func TestNeighbouringPlanes(t *testing.T) {
	apart := func(s *table.Table) (n, of int) {
		by := socketOfPlane(t, read(s))
		for z := 2; z < nz-1; z++ {
			of++
			if by[z] != by[z-1] {
				n++
			}
		}
		return n, of
	}
	if n, of := apart(built(t)); n < of*9/10 {
		t.Errorf("before: %d of %d neighbouring planes lie on different sockets, want nearly all", n, of)
	}
	if n, _ := apart(fixed(t)); n != 1 {
		t.Errorf("after: %d borders between the sockets, want 1", n)
	}
}

// meanLatency is over the iteration that both runs have.
func meanLatency(r rows) float64 {
	sum, n := 0, 0
	for i := range r.all {
		if r.iteration(i) == 0 {
			sum += r.latency(i)
			n++
		}
	}
	return float64(sum) / float64(n)
}

func TestTheFixPays(t *testing.T) {
	before, after := read(built(t)), read(fixed(t))
	if b, a := meanLatency(before), meanLatency(after); a > 0.7*b {
		t.Errorf("mean latency %.1f cycles before, %.1f after; want a drop of 30 %% at least", b, a)
	}
	remote := func(r rows) float64 {
		n := 0
		for i := range r.all {
			if l := r.level(i); l == "Remote RAM" || l == "Remote Cache" {
				n++
			}
		}
		return float64(n) / float64(r.Rows())
	}
	if b, a := remote(before), remote(after); b < 0.02 || a > b/10 {
		t.Errorf("remote share %.4f before, %.4f after; want a tenth at most", b, a)
	}
}

// TestLatencies checks that each level has the latencies that the description
// of the machine promises, and a tail.
func TestLatencies(t *testing.T) {
	want := map[string][3]int{ // least, and bounds of the median
		"L1": {4, 4, 5}, "L2": {12, 12, 14}, "L3": {40, 41, 60},
		"Local RAM": {190, 191, 300}, "Remote RAM": {310, 311, 450}, "Remote Cache": {230, 230, 300},
	}
	r := read(built(t))
	by := map[string][]int{}
	for i := range r.all {
		by[r.level(i)] = append(by[r.level(i)], r.latency(i))
	}
	for level, w := range want {
		l := by[level]
		if len(l) < 500 {
			t.Errorf("%s: only %d samples", level, len(l))
			continue
		}
		slices.Sort(l)
		if median := l[len(l)/2]; l[0] < w[0] || median < w[1] || median > w[2] {
			t.Errorf("%s: least %d, median %d; want at least %d, median %d to %d", level, l[0], median, w[0], w[1], w[2])
		}
	}
	if l := by["Local RAM"]; l[len(l)*99/100] < l[len(l)/2]*5/4 {
		t.Errorf("Local RAM: median %d, 99th percentile %d: no queueing", l[len(l)/2], l[len(l)*99/100])
	}
}

// imbalance is equation 2 of the MemAxes paper over the 16 L2 caches; 0 if
// none answered.
func imbalance(r rows, of func(i int) bool) float64 {
	var n [16]float64
	sum := 0.0
	for i := range r.all {
		if r.level(i) == "L2" && of(i) {
			n[r.cpu(i)%16]++
			sum++
		}
	}
	mean, squares, most := sum/16, 0.0, 0.0
	for _, v := range n {
		squares += (v - mean) * (v - mean)
		most = max(most, math.Abs(v-mean))
	}
	if squares == 0 {
		return 0
	}
	return most / math.Sqrt(squares/16)
}

func TestLookupPhases(t *testing.T) {
	test.NoRaces(t, "simulations in one goroutine")
	run, err := Lookup()
	if err != nil {
		t.Fatal(err)
	}
	r := read(run.Samples)
	clock := run.Samples.Column("time").Data.([]int64)
	phaseOf := map[string]int{"generate": 1, "sort": 2, "find": 3, "lookup": 3}
	end := [4]int64{}
	for i := range r.all {
		if p := phaseOf[r.function(i)]; p > 0 {
			for later := p + 1; later < 4; later++ {
				if end[later] > 0 {
					t.Fatalf("row %d belongs to phase %d and comes after phase %d began", i, p, later)
				}
			}
			end[p] = clock[i]
		}
	}
	phase := func(p int) func(int) bool {
		return func(i int) bool { return clock[i] <= end[p] && (p == 1 || clock[i] > end[p-1]) }
	}
	for p := 1; p <= 3; p++ {
		n := servers(r, phase(p))
		if p < 3 && n != [2]int{} || p == 3 && (n[0] < 1000 || n[1] != 0) {
			t.Errorf("phase %d: memory answers by node %v; want none before phase 3, and there node 0 only", p, n)
		}
	}
	i1, i2, i3 := imbalance(r, phase(1)), imbalance(r, phase(2)), imbalance(r, phase(3))
	if i2 < 3.5 || i1 > i2-1 || i3 > i2-1 {
		t.Errorf("L2 imbalance by phase %.2f, %.2f, %.2f; want it high in the second", i1, i2, i3)
	}
}

func TestUniformIsUniform(t *testing.T) {
	test.NoRaces(t, "simulations in one goroutine")
	run, err := Uniform(64000, 9)
	if err != nil {
		t.Fatal(err)
	}
	r := read(run.Samples)
	var per [32]float64
	for i := range r.all {
		per[r.cpu(i)]++
	}
	// Chi-squared with 31 degrees of freedom exceeds 61 once in a thousand.
	chi := 0.0
	for _, n := range per {
		chi += (n - 2000) * (n - 2000) / 2000
	}
	if chi > 61 {
		t.Errorf("samples by CPU %v: chi-squared %.1f", per, chi)
	}
	n := servers(r, always)
	if share := float64(n[0]) / float64(n[0]+n[1]); share < 0.47 || share > 0.53 {
		t.Errorf("memory answers by node %v", n)
	}
}
