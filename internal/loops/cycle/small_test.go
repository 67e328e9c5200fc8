package cycle

import (
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/refs"
)

// fromSyms makes a trace whose instructions are the symbols.
func fromSyms(syms []uint32) *Trace {
	tr := &Trace{Symbol: PC, Every: 1, Records: uint64(len(syms)), Syms: syms, Where: syms}
	for _, s := range syms {
		for int(s) >= len(tr.Sites) {
			pc := uint64(0x1000 + 4*len(tr.Sites))
			tr.Sites = append(tr.Sites, Site{PC: pc, Place: refs.Place{Function: "f", File: "f.c", Line: len(tr.Sites) + 1}})
		}
	}
	tr.Symbols = len(tr.Sites)
	return tr
}

func analyse(t *testing.T, syms []uint32) *Result {
	t.Helper()
	r, err := Analyse(t.Context(), fromSyms(syms), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func count(n int, of func(i int) uint32) []uint32 {
	out := make([]uint32, n)
	for i := range out {
		out[i] = of(i)
	}
	return out
}

func TestDegenerate(t *testing.T) {
	tests := []struct {
		name                           string
		syms                           []uint32
		windows, points, bars, classes int
		note                           string
	}{
		{"nothing", nil, 0, 0, 0, 0, "0 references are fewer than one window"},
		{"one record", []uint32{0}, 0, 0, 0, 0, "1 references are fewer"},
		{"fewer than a window", count(9, func(i int) uint32 { return uint32(i) }), 0, 0, 0, 0, "9 references are fewer"},
		{"one window", count(10, func(i int) uint32 { return uint32(i) }), 1, 1, 0, 0, ""},
		{"one symbol", make([]uint32, 1000), 991, 1, 0, 0, "too short"},
		{"two in turn", count(1000, func(i int) uint32 { return uint32(i % 2) }), 991, 2, 0, 0, "too short"},
		{"all different", count(300, func(i int) uint32 { return uint32(i) }), 291, 291, 0, 0, "no window occurs twice"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := analyse(t, tt.syms)
			if len(r.Points.Index) != tt.windows || r.Points.Len() != tt.points || len(r.Bars) != tt.bars || len(r.Classes) != tt.classes {
				t.Errorf("%d windows, %d points, %d bars, %d classes, want %d, %d, %d, %d",
					len(r.Points.Index), r.Points.Len(), len(r.Bars), len(r.Classes), tt.windows, tt.points, tt.bars, tt.classes)
			}
			if !strings.Contains(strings.Join(r.Notes, "\n"), tt.note) {
				t.Errorf("notes = %q, want %q", r.Notes, tt.note)
			}
		})
	}
}

// loop writes n turns of a body of the given length between entry and exit.
func loop(n, body int) []uint32 {
	out := []uint32{0, 1, 2}
	for range n {
		for i := range body {
			out = append(out, uint32(3+i))
		}
	}
	return append(out, uint32(3+body), uint32(4+body), uint32(5+body))
}

// A loop of n turns is counted as n, whatever its length, although windows at
// its ends are seen n-1 or n-2 times.
func TestCountsOneLoop(t *testing.T) {
	for _, body := range []int{4, 5, 7, 9, 10, 12, 20, 33} {
		for _, n := range []int{5, 17, 1000} {
			r := analyse(t, loop(n, body))
			if len(r.Classes) == 0 {
				t.Errorf("%d turns of %d: no class, bars %v", n, body, r.Bars)
				continue
			}
			if c := r.Classes[0]; c.Turns != int64(n) || !c.Exact || c.TurnLength != body {
				t.Errorf("%d turns of %d: counted %d of %d, exact %v, bar %+v", n, body, c.Turns, c.TurnLength, c.Exact, c.Bar)
			}
		}
	}
}

// A nest of three loops with a test at each head: the turns of each level are
// found, and which lies in which.
func TestCountsNestedLoops(t *testing.T) {
	var out []uint32
	emit := func(from, n uint32) {
		for i := range n {
			out = append(out, from+i)
		}
	}
	emit(0, 4)
	for range 5 {
		emit(10, 3) // test of i
		for range 6 {
			emit(20, 3) // test of j
			for range 7 {
				emit(30, 3)  // test of k
				emit(40, 12) // body
			}
			emit(30, 3)
			emit(55, 4) // end of j
		}
		emit(20, 3)
		emit(60, 4) // end of i
	}
	emit(10, 3)
	emit(70, 5)
	r := analyse(t, out)
	for _, want := range []int64{5 * 6 * 7, 5 * 6, 5} {
		i := slices.IndexFunc(r.Classes, func(c *Class) bool { return c.Turns == want && c.Exact })
		if i < 0 {
			for _, c := range r.Classes {
				t.Logf("%+v turns %d exact %v lift %.2f", c.Bar, c.Turns, c.Exact, c.Lift)
			}
			t.Errorf("no class with %d turns", want)
			continue
		}
		c := r.Classes[i]
		switch want {
		case 210:
			if c.Role != Inner || c.Passes != 30 {
				t.Errorf("k: %s in %d passes, want the inner loop in 30", c.Role, c.Passes)
			}
			if want := "inner loop f.c:31–52, 210 turns in 30 passes of f.c:"; !strings.HasPrefix(c.Sentence, want) {
				t.Errorf("sentence %q, want %q…", c.Sentence, want)
			}
		case 30:
			if c.Role != Middle || c.Passes != 5 {
				t.Errorf("j: %s in %d passes, want the middle loop in 5", c.Role, c.Passes)
			}
		case 5:
			if c.Role != Outer || c.Parent >= 0 {
				t.Errorf("i: %s with parent %d, want the outer loop", c.Role, c.Parent)
			}
		}
	}
	_, folds, err := FoldLoops(t.Context(), fromSyms(out), 10, 8)
	if err != nil {
		t.Fatal(err)
	}
	want := [][3]int64{{15, 30, 210}, {25, 5, 30}, {35, 1, 5}}
	for i, f := range folds {
		if i >= len(want) || [3]int64{int64(f.Period), int64(f.Entries), f.Turns} != want[i] {
			t.Errorf("fold %d: period %d, %d entries, %d turns, want %v", i, f.Period, f.Entries, f.Turns, want)
		}
	}
	if len(folds) != len(want) {
		t.Errorf("%d folds, want %d", len(folds), len(want))
	}
}

// A loop with a branch: the two ways are counted apart, and as duals. What both
// share is longer than a window, so the whole can be counted as well.
func TestCountsBranches(t *testing.T) {
	var out []uint32
	emit := func(from, n uint32) {
		for i := range n {
			out = append(out, from+i)
		}
	}
	emit(0, 12)
	for i := range 100 {
		emit(20, 4)
		if i*7%10 < 3 {
			emit(30, 14)
		} else {
			emit(50, 15)
		}
		emit(70, 12)
	}
	emit(90, 12)
	r := analyse(t, out)
	have := map[int64]*Class{}
	for _, c := range r.Classes {
		have[c.Turns] = c
	}
	for _, want := range []int64{30, 70, 100} {
		if have[want] == nil || !have[want].Exact {
			t.Errorf("no class with %d turns in %v", want, have)
		}
	}
	if a, b := have[30], have[70]; a != nil && b != nil {
		if a.Dual < 0 || r.Classes[a.Dual] != b {
			t.Errorf("the branches are not marked as duals: %q, %q", a.Sentence, b.Sentence)
		}
		if a.Parent >= 0 || b.Parent >= 0 {
			t.Errorf("a branch was taken for a loop: %q, %q", a.Sentence, b.Sentence)
		}
	}
}

// The paper's programs: comparisons, lookups, passes, swaps.
func TestPaperCounts(t *testing.T) {
	tests := []struct {
		file   string
		symbol Symbol
		turns  []int64
	}{
		{"bubble_vector_sorted.csv", PC, []int64{4}},
		{"bubble_vector_sorted.csv", Line, []int64{4, 8}}, // comparisons, vector lookups
		{"bubble_vector_reverse.csv", PC, []int64{10, 4}}, // comparisons with swap, passes
		{"bubble_array_sorted.csv", PC, []int64{4}},
		{"bubble_array_reverse.csv", PC, []int64{10, 4}},
		{"bubble_array_reverse.csv", Addr, []int64{10, 4}},
		{"bubble_array_shuffled.csv", PC, []int64{6, 4}}, // swaps, plain comparisons
		{"matmul_standard.csv", PC, []int64{64, 48, 16, 12, 4}},
		{"matmul12.csv.gz", PC, []int64{1728, 1584, 144, 132, 12}},
	}
	for _, tt := range tests {
		r := analyseCSV(t, tt.file, tt.symbol, Options{})
		for _, want := range tt.turns {
			if !slices.ContainsFunc(r.Classes, func(c *Class) bool { return c.Turns == want && c.Exact }) {
				t.Errorf("%s by %s: no class with %d turns", tt.file, tt.symbol, want)
			}
		}
	}
}

func TestAmbles(t *testing.T) {
	for file, want := range map[string][2]int{
		"bubble_array_sorted.csv": {10, 4}, "bubble_array_reverse.csv": {6, 3}, "bubble_array_shuffled.csv": {6, 4},
		"bubble_vector_sorted.csv": {18, 5}, "bubble_vector_reverse.csv": {5, 4}, "matmul_standard.csv": {3, 3}, "matmul12.csv.gz": {6, 3},
	} {
		r := analyseCSV(t, file, PC, Options{})
		if got := [2]int{r.Preamble, r.Postamble}; got != want {
			t.Errorf("%s: %v, want %v", file, got, want)
		}
	}
}

// TestAmblesByCoordinate holds the paper's rule against its definition, on the
// circle: from the first window on, and from the last one back.
func TestAmblesByCoordinate(t *testing.T) {
	r := analyseCSV(t, "bubble_array_reverse.csv", PC, Options{})
	index := r.Points.Index
	for _, c := range r.Classes {
		apart := func(a, b uint32) float64 {
			d := c.Theta(int(a)) - c.Theta(int(b))
			return math.Abs(d - math.Round(d))
		}
		for _, tolerance := range []float64{0, 0.01, AmbleTolerance, 0.1, 0.4} {
			pre, post := r.Ambles(c, tolerance)
			for i, p := range index {
				in := apart(p, index[0]) < tolerance
				if i < pre && !in || i == pre && in {
					t.Errorf("tolerance %v: %d windows lead in, but window %d is %v from the first", tolerance, pre, i, apart(p, index[0]))
				}
				last := apart(p, index[len(index)-1]) < tolerance
				if i >= len(index)-post && !last || i == len(index)-post-1 && last && i >= pre {
					t.Errorf("tolerance %v: %d windows lead out, but window %d is %v from the last", tolerance, post, i, apart(p, index[len(index)-1]))
				}
			}
		}
		if pre, post := r.Ambles(c, 0.6); pre != len(index) || post != 0 {
			t.Errorf("everything is near everything, but %d windows lead in and %d out", pre, post)
		}
	}
}

func TestFoldedShared(t *testing.T) {
	tests := []struct {
		file    string
		records []int
		periods []int
	}{
		{"matmul12.csv.gz", []int{2950, 310, 35}, []int{15, 20, 25}},
		{"matmul_standard.csv", []int{311, 95, 29}, []int{14, 18, 22}},
		{"bubble_vector_reverse.csv", []int{504}, []int{94}},
	}
	for _, tt := range tests {
		tr := loadCSV(t, test.Fixture(t, "refs/traces/"+tt.file), PC)
		folded, folds, err := FoldLoops(t.Context(), tr, 10, len(tt.records))
		if err != nil {
			t.Fatal(err)
		}
		var records, periods []int
		for _, f := range folds {
			records, periods = append(records, f.Records), append(periods, f.Period)
		}
		if !slices.Equal(records, tt.records) || !slices.Equal(periods, tt.periods) || len(folded.Syms) != tt.records[len(tt.records)-1] {
			t.Errorf("%s: records %v, periods %v, want %v, %v", tt.file, records, periods, tt.records, tt.periods)
		}
	}
}

// What is left after folding the inner loop is the loop around it.
func TestFoldedClasses(t *testing.T) {
	tr := loadCSV(t, test.Fixture(t, "refs/traces/matmul12.csv.gz"), PC)
	for level, want := range []int64{1728, 144, 12} {
		folded, _, err := FoldLoops(t.Context(), tr, 10, level)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Analyse(t.Context(), folded, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if c := r.Classes[0]; c.Birth != 2 || c.Death != 10 || c.Turns != want {
			t.Errorf("level %d: (%d,%d) with %d turns, want (2,10) with %d", level, c.Birth, c.Death, c.Turns, want)
		}
	}
}

// zeros is a trace in which some references have no instruction.
type zeros struct{ left []refs.Ref }

func (z *zeros) About() *refs.About { return &refs.About{Has: refs.HasPC} }
func (z *zeros) Read(dst []refs.Ref) (int, error) {
	n := copy(dst, z.left)
	if z.left = z.left[n:]; len(z.left) == 0 {
		return n, io.EOF
	}
	return n, nil
}

// With symbol PC every record has a site, those without an instruction too.
func TestSitesWithoutInstruction(t *testing.T) {
	pcs := []uint64{5, 0, 5, 7, 0, 7}
	src := &zeros{}
	for i, pc := range pcs {
		src.left = append(src.left, refs.Ref{PC: pc, Addr: uint64(i)})
	}
	traces, err := Load(t.Context(), src, Input{Expect: 2, Operands: true})
	if err != nil {
		t.Fatal(err)
	}
	tr := traces[0]
	for i, pc := range pcs {
		if got := tr.Sites[tr.Where[i]].PC; got != pc {
			t.Errorf("record %d has instruction %#x, want %#x", i, got, pc)
		}
	}
	if len(tr.Ops) != len(pcs) || len(tr.Object) != len(pcs) {
		t.Errorf("%d operations and %d objects of %d records", len(tr.Ops), len(tr.Object), len(pcs))
	}
}
