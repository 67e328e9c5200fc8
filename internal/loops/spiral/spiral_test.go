package spiral

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/loops/cycle"
)

// loop is a trace of two nested loops: n passes of m turns over four symbols,
// with two more between the passes.
func loop(n, m int) *cycle.Trace {
	tr := &cycle.Trace{Symbol: cycle.PC, Symbols: 6}
	add := func(sites ...uint32) { tr.Syms = append(tr.Syms, sites...) }
	for range n {
		add(4)
		for range m {
			add(0, 1, 2, 3)
		}
		add(5)
	}
	tr.Where = tr.Syms
	tr.Records = uint64(len(tr.Syms))
	for i := range 6 {
		s := cycle.Site{PC: uint64(i + 1)}
		s.Place.File, s.Place.Line = "own.c", 10+i
		if i == 3 {
			s.Place.File, s.Place.Function = "/usr/include/move.h", "std::enable_if<x>::type std::swap<int>(int&, int&)"
		}
		tr.Sites = append(tr.Sites, s)
	}
	return tr
}

func analysed(t *testing.T, tr *cycle.Trace) *View {
	t.Helper()
	r, err := cycle.Analyse(t.Context(), tr, cycle.Options{Window: 6})
	if err != nil {
		t.Fatal(err)
	}
	return New(r, func(file string) bool { return file == "own.c" })
}

func TestColours(t *testing.T) {
	v := analysed(t, loop(5, 12))
	var labels []string
	for _, c := range v.Colouring(ByLine, nil).Colours {
		labels = append(labels, c.Label)
	}
	// In the order of sites; lines of the library become its function.
	if want := []string{"own.c:10", "own.c:11", "own.c:12", "std::swap", "own.c:14", "own.c:15"}; !slices.Equal(labels, want) {
		t.Errorf("colours %v, want %v", labels, want)
	}
	total := 0
	for _, l := range v.Lines {
		total += l.Count
	}
	if total != len(v.R.Trace.Syms) {
		t.Errorf("lines have %d references, the trace %d", total, len(v.R.Trace.Syms))
	}
}

// TestStructures: functions fold to one colour and open to their lines.
func TestStructures(t *testing.T) {
	tr := loop(5, 12)
	for i := range tr.Sites {
		if tr.Sites[i].Place.Function == "" {
			tr.Sites[i].Place.Function = "walk"
		}
	}
	v := analysed(t, tr)
	swap := tr.Sites[3].Place.Function
	for _, c := range []struct {
		by      By
		toggled []string
		want    []string
	}{
		{ByFunction, nil, []string{"walk", "std::swap"}},
		{ByFunction, []string{"walk"}, []string{"own.c:10", "own.c:11", "own.c:12", "std::swap", "own.c:14", "own.c:15"}},
		{ByLine, []string{"walk", swap}, []string{"walk", "move.h:13"}},
	} {
		got := v.Colouring(c.by, c.toggled)
		var labels []string
		for _, k := range got.Colours {
			labels = append(labels, k.Label)
		}
		if !slices.Equal(labels, c.want) {
			t.Errorf("by %s, toggled %q: %v, want %v", c.by, c.toggled, labels, c.want)
		}
		if len(got.Structures) != 2 || got.Structures[0].Lines != 5 || got.Structures[0].Count+got.Structures[1].Count != len(tr.Syms) {
			t.Errorf("structures %+v", got.Structures)
		}
	}
}

// TestOperands: references are told apart by what they do and to what.
func TestOperands(t *testing.T) {
	tr := loop(5, 12)
	for _, s := range tr.Syms {
		tr.Ops = append(tr.Ops, map[bool]refs.Op{true: refs.Store}[s == 2])
		tr.Object = append(tr.Object, map[bool]uint16{true: 1}[s >= 2])
	}
	tr.Objects = []string{"stack", "value"}
	v := analysed(t, tr)
	counts := func(by By) map[string]int {
		out := map[string]int{}
		for _, k := range v.Colouring(by, nil).Colours {
			out[k.Label] = k.Count
		}
		return out
	}
	if got, want := counts(ByOp), map[string]int{"load": 190, "store": 60}; !maps.Equal(got, want) {
		t.Errorf("by operation %v, want %v", got, want)
	}
	if got, want := counts(ByObject), map[string]int{"stack": 120, "value": 130}; !maps.Equal(got, want) {
		t.Errorf("by object %v, want %v", got, want)
	}
	c := v.Colouring(ByOp, nil)
	for i := range v.Windows() {
		if want := uint8(tr.Ops[i]); c.Of(i) != want {
			t.Fatalf("window %d has colour %d, want %d", i, c.Of(i), want)
		}
	}
	// The ring holds every window of its range once.
	lift, err := v.Lift(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	n, _ := c.Ring(lift, 3, 200, 24)
	if total := sum(n); total != 197 {
		t.Errorf("the ring has %d windows, want 197", total)
	}
}

func sum(list []uint32) (total int) {
	for _, n := range list {
		total += int(n)
	}
	return total
}

func TestShortName(t *testing.T) {
	for full, want := range map[string]string{
		"main":                             "main",
		"std::vector<int>::push_back(int)": "std::vector::push_back",
		"std::enable_if<a, b<c>>::type std::swap<int>(int&, int&)": "std::swap",
		"operator<(A const&, B const&)":                            "operator<",
	} {
		if got := shortName(full); got != want {
			t.Errorf("%q becomes %q, want %q", full, got, want)
		}
	}
}

// TestBubbleArray compares turns and passes with the known run.
func TestBubbleArray(t *testing.T) {
	src, _, err := formats.OpenRefs(test.Fixture(t, "refs/traces/bubble_array_reverse.csv"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	traces, err := cycle.Load(t.Context(), src, cycle.Input{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := cycle.Analyse(t.Context(), traces[0], cycle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v := New(r, func(f string) bool { return f == "bubble_array.cpp" })
	inner := slices.IndexFunc(r.Classes, func(c *cycle.Class) bool { return c.Birth == 2 && c.Death == 10 })
	lift, err := v.Lift(t.Context(), inner, 0)
	if err != nil {
		t.Fatal(err)
	}
	if at, every := Turns(lift); len(at) != 10 || every != 1 {
		t.Errorf("%d turns begin, every %d, want 10", len(at), every)
	}
	passes, err := v.Passes(t.Context(), inner)
	if err != nil || len(passes) != 4 {
		t.Errorf("%d passes (%v), want 4", len(passes), err)
	}
	if got := v.ByPass(inner); !slices.Equal(got, []int{4, 3, 2, 1}) {
		t.Errorf("turns by pass %v, want 4 3 2 1", got)
	}
	if Teeth(lift) {
		t.Error("the inner loop of a bubble sort has no teeth")
	}
}

// TestPolarEqualsSlow: each pixel has the most frequent colour of the arcs that
// touch it, in the whole circle and in a sector over the seam.
func TestPolarEqualsSlow(t *testing.T) {
	v := analysed(t, loop(9, 40))
	lift, err := v.Lift(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	const radii, angles = 13, 16
	colours := v.Colouring(ByLine, nil)
	for _, s := range []Sector{{5, len(lift), 0, 1}, {0, len(lift) / 2, 0.9, 0.25}, {40, 90, 0.5, 0.125}} {
		p, err := colours.Polar(t.Context(), lift, s, radii, angles)
		if err != nil {
			t.Fatal(err)
		}
		for r := range radii {
			for a := range angles {
				var counts [MaxColours + 1]int32
				for i := s.First; i < s.Last; i++ {
					if rowOf(i-s.First, s.Last-s.First, radii) == r {
						counts[colours.Of(i)] += int32(touches(lift, i, s, a, angles))
					}
				}
				if got, want := p.Colour[r*angles+a], most(&counts); got != want {
					t.Fatalf("%+v: pixel %d, %d has colour %d, want %d", s, r, a, got, want)
				}
			}
		}
	}
}

func rowOf(i, n, radii int) int {
	r := 0
	for ; i >= n*(r+1)/radii; r++ {
	}
	return r
}

// touches counts how often the arc from a window to the next one passes a pixel
// of a sector.
func touches(lift []float32, t int, s Sector, a, angles int) int {
	lo, hi := float64(lift[t])-s.From, float64(lift[min(t+1, len(lift)-1)])-s.From
	if lo > hi {
		lo, hi = hi, lo
	}
	n := 0
	for turn := -50.0; turn < 500; turn++ {
		from, to := turn+float64(a)/float64(angles)*s.Span, turn+float64(a+1)/float64(angles)*s.Span
		if lo < to && hi >= from {
			n++
		}
	}
	return n
}

// TestMix: the ends of a morph are the classes themselves.
func TestMix(t *testing.T) {
	a, b := []float32{0, 1, 2}, []float32{0, 4, 9}
	if got := Mix(a, b, 0); !slices.Equal(got, a) {
		t.Errorf("at 0: %v", got)
	}
	if got := Mix(a, b, 1); !slices.Equal(got, b) {
		t.Errorf("at 1: %v", got)
	}
	if got := Mix(a, b, 0.5); !slices.Equal(got, []float32{0, 2.5, 5.5}) {
		t.Errorf("half way: %v", got)
	}
}

// TestScale recovers points of the plane from their distances.
func TestScale(t *testing.T) {
	want := [][2]float64{{0, 0}, {4, 0}, {4, 3}, {0, 3}, {1, 7}}
	n := len(want)
	d := make([]float64, n*n)
	for i := range n {
		for j := range n {
			d[i*n+j] = math.Hypot(want[i][0]-want[j][0], want[i][1]-want[j][1])
		}
	}
	x, y, err := scale(t.Context(), slices.Clone(d), n)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		for j := range n {
			if got := math.Hypot(x[i]-x[j], y[i]-y[j]); math.Abs(got-d[i*n+j]) > 1e-3 {
				t.Errorf("points %d and %d are %v apart, want %v", i, j, got, d[i*n+j])
			}
		}
	}
}

func TestProjection(t *testing.T) {
	v := analysed(t, loop(4, 10))
	for _, method := range []string{"isomap", "mds"} {
		c, err := Project(t.Context(), v.R, method)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.X) != v.R.Points.Len() {
			t.Errorf("%s: %d of %d points", method, len(c.X), v.R.Points.Len())
		}
	}
	if _, err := Project(t.Context(), v.R, "guess"); err == nil {
		t.Error("an unknown projection is accepted")
	}
}
