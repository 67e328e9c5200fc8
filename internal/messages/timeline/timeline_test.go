package timeline_test

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/messages/logical"
	"github.com/isobath/isobath/internal/messages/mpiprog"
	"github.com/isobath/isobath/internal/messages/timeline"
	"github.com/isobath/isobath/internal/messages/trace"
)

func halo(t *testing.T, o logical.Options) *timeline.Timeline {
	t.Helper()
	path := filepath.Join(t.TempDir(), "halo.otf2")
	p, err := mpiprog.New(path, 24)
	if err != nil {
		t.Fatal(err)
	}
	p.Halo(4, 6, 40, 7, 12, 3_000_000)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return open(t, path, o)
}

func open(t *testing.T, path string, o logical.Options) *timeline.Timeline {
	t.Helper()
	tr, err := trace.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := logical.Analyze(t.Context(), tr, o)
	if err != nil {
		t.Fatal(err)
	}
	return timeline.New(s)
}

func causes(t *testing.T, s *logical.Structure) *logical.Causes {
	t.Helper()
	c, err := s.Causes(t.Context(), logical.CauseOptions{Threshold: s.Threshold()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCellsEqualSlow compares the pyramid's pixels with a loop over all
// operations, for random windows at every zoom, in both planes.
func TestCellsEqualSlow(t *testing.T) {
	reordered := logical.Default()
	reordered.Leaps, reordered.Reorder = true, true
	for name, o := range map[string]logical.Options{"usual": logical.Default(), "reordered": reordered} {
		tl := halo(t, o)
		span := float64(tl.S.Trace.NS(tl.S.Trace.Last - tl.S.Trace.First))
		random := rand.New(rand.NewPCG(1, 2))
		for range 60 {
			for _, steps := range []bool{true, false} {
				whole := span
				if steps {
					whole = float64(tl.S.Steps)
				}
				a := timeline.Ask{Origin: logical.None, Metric: timeline.Lateness}
				a.Window = timeline.Window{From: math.Floor(random.Float64() * whole / 2), Columns: 1 + random.IntN(50), Lines: 1 + random.IntN(12)}
				a.Window.To = a.Window.From + 1 + math.Floor(random.Float64()*whole)
				compareCells(t, name, tl, a, steps)
			}
		}
	}
}

func compareCells(t *testing.T, name string, tl *timeline.Timeline, a timeline.Ask, steps bool) {
	t.Helper()
	draw := tl.Times
	if steps {
		draw = tl.Steps
	}
	p, err := draw(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	if p.Cells == nil {
		t.Fatalf("%s: %d lines of 24 rows are not cells", name, len(p.Lines))
	}
	s, w := tl.S, a.Window
	scale := float64(w.Columns) / (w.To - w.From)
	if !steps { // the plane is made of ticks
		from, to := s.Trace.Ticks(int64(w.From)), s.Trace.Ticks(int64(w.To))
		scale = float64(w.Columns) / float64(to-from)
	}
	for y, l := range p.Lines {
		most := slices.Repeat([]float64{math.NaN()}, w.Columns)
		for q := l.First; q < l.First+l.Count; q++ {
			for i := s.Start[q]; i < s.Start[q+1]; i++ {
				x0, x1 := int64(s.Step[i])-int64(w.From), int64(s.Step[i])-int64(w.From)
				touches := x0 >= 0 && x0 < int64(w.To-w.From)
				a, b := int(float64(x0)*scale), max(int(float64(x0)*scale), int(float64(x1+1)*scale)-1)
				if !steps {
					from, to := s.Trace.Ticks(int64(w.From)), s.Trace.Ticks(int64(w.To))
					x0, x1 = s.Enter[i]-s.Trace.First-from, s.Exit[i]-s.Trace.First-from
					touches = x1 >= 0 && x0 < to-from
					a, b = int(float64(x0)*scale), int(float64(x1)*scale)
				}
				if !touches {
					continue
				}
				for x := max(0, a); x <= min(b, w.Columns-1); x++ {
					if v := float64(s.Trace.NS(s.GlobalLate[i])); !(most[x] >= v) {
						most[x] = v
					}
				}
			}
		}
		for x, want := range most {
			got := float64(p.Cells.Most[y*w.Columns+x])
			if !(got == want || math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= 1e-6*want) {
				t.Fatalf("%s, steps %v, window %+v: line %d column %d is %v, want %v", name, steps, w, y, x, got, want)
			}
			if op := p.Cells.Op[y*w.Columns+x]; !math.IsNaN(want) && float64(s.Trace.NS(s.GlobalLate[op])) != want {
				t.Fatalf("%s: cell names operation %d, which is %d late, not %v", name, op, s.GlobalLate[op], want)
			}
		}
	}
}

// TestOpsAndMessages counts what a window that can tell operations apart shows.
func TestOpsAndMessages(t *testing.T) {
	tl := halo(t, logical.Default())
	a := timeline.Ask{Origin: logical.None, Window: timeline.Window{To: float64(tl.S.Steps), Columns: 4000, Lines: 24}}
	p, err := tl.Steps(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	if p.Ops == nil || len(p.Ops.ID) != tl.S.Len() {
		t.Fatalf("the whole trace shows %v operations, want %d", p.Ops, tl.S.Len())
	}
	if p.Sent != tl.S.Trace.Messages() {
		t.Errorf("%d messages, want %d", p.Sent, tl.S.Trace.Messages())
	}
	if p.Messages == nil {
		t.Fatalf("%d messages are not listed", p.Sent)
	}
	for i := range p.Messages.From {
		if p.Messages.FromStep[i] >= p.Messages.ToStep[i] {
			t.Fatalf("message %d goes from step %d to step %d", i, p.Messages.FromStep[i], p.Messages.ToStep[i])
		}
	}

	// A window that begins between a send and its receive still has the message.
	a.Window.From, a.Window.To = 1, 2
	if p, err = tl.Steps(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if p.Sent != 76 { // 2·(4·5 + 3·6) neighbours on a grid of 4 by 6, all from step 0 to step 1
		t.Errorf("step 1 receives %d messages, want 76", p.Sent)
	}
}

// TestReach finds the injected delay and the operations it made late.
func TestReach(t *testing.T) {
	tl := open(t, test.Fixture(t, "otf2/ring16"), logical.Default())
	s := tl.S
	c, err := s.Causes(t.Context(), logical.CauseOptions{Threshold: s.Trace.Ticks(500_000), To: 31})
	if err != nil {
		t.Fatal(err)
	}
	origin := c.List[0].Op
	a := timeline.Ask{Origin: origin, Causes: c, Window: timeline.Window{To: 31, Columns: 1000, Lines: 16}}
	p, err := tl.Steps(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	reach := 0
	for _, r := range p.Ops.Reach {
		reach += int(r)
	}
	if reach != 249 { // look-pages.md §2
		t.Errorf("%d operations are late because of operation %d, want 249", reach, origin)
	}
	o, err := tl.Operation(origin, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	if o.Rank != 11 || o.Step != 1 || o.Case != "compute" || o.PeersCompute > 10_000 {
		t.Errorf("the cause is rank %d step %d, %s; peers computed %d ns", o.Rank, o.Step, o.Case, o.PeersCompute)
	}
}

// TestRows checks the orders, and that clusters can be opened.
func TestRows(t *testing.T) {
	tl := halo(t, logical.Default())
	rows := func(o timeline.RowOrder) []timeline.Row {
		r, err := tl.Rows(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := rows(timeline.RowOrder{By: "rank"}); len(r) != 24 || r[23].Rank != 23 {
		t.Errorf("by rank: %v", r)
	}
	ranks := func(r []timeline.Row) (out []int32) {
		for _, x := range r {
			out = append(out, x.Rank)
		}
		return out
	}
	if got := ranks(rows(timeline.RowOrder{By: "neighbours", Process: 7})); !slices.Equal(got, []int32{1, 6, 7, 8, 13}) {
		t.Errorf("rank 7 talks to %v", got)
	}
	folded := rows(timeline.RowOrder{By: "cluster"})
	members := 0
	open := []int{}
	for i, r := range folded {
		members += r.Members
		open = append(open, i)
	}
	if members != 24 || len(folded) == 24 {
		t.Errorf("%d clusters have %d members", len(folded), members)
	}
	if r := rows(timeline.RowOrder{By: "cluster", Open: open}); len(r) != 24 {
		t.Errorf("all clusters open: %d rows", len(r))
	}
	if r := rows(timeline.RowOrder{By: "cluster", K: 1}); len(r) != 24 {
		t.Errorf("one cluster alone is %d rows", len(r))
	}
	for _, o := range []timeline.RowOrder{{By: "colour"}, {By: "neighbours", Process: 24}} {
		if _, err := tl.Rows(t.Context(), o); err == nil {
			t.Errorf("order %+v is accepted", o)
		}
	}
}

// TestOverview holds the overview against the operations.
// TestRowsOfThreads holds that the threads of one rank stand in one order,
// whatever order a map has.
func TestRowsOfThreads(t *testing.T) {
	tl := halo(t, logical.Default())
	for p := range tl.S.Trace.Procs {
		tl.S.Trace.Procs[p].Rank = 0
	}
	for range 20 {
		rows, err := tl.Rows(t.Context(), timeline.RowOrder{By: "neighbours", Process: 7})
		if err != nil {
			t.Fatal(err)
		}
		var got []int32
		for _, r := range rows {
			got = append(got, r.Process)
		}
		if want := []int32{1, 6, 7, 8, 13}; !slices.Equal(got, want) {
			t.Fatalf("threads in the order %v, want %v", got, want)
		}
	}
}

func TestOverview(t *testing.T) {
	tl := halo(t, logical.Default())
	for _, columns := range []int{1, 7, tl.S.Steps, 10 * tl.S.Steps} {
		o, err := tl.Overview(t.Context(), timeline.Lateness, nil, columns)
		if err != nil {
			t.Fatal(err)
		}
		n := min(columns, tl.S.Steps)
		if len(o.Most) != n {
			t.Fatalf("%d columns, want %d", len(o.Most), n)
		}
		if got, want := slices.Max(o.Most), float64(tl.S.Trace.NS(slices.Max(tl.S.GlobalLate))); got != want {
			t.Errorf("%d columns: largest %v, want %v", n, got, want)
		}
	}
}

// TestSettle: an open window shows the whole, or what the other one shows.
func TestSettle(t *testing.T) {
	tl := halo(t, logical.Default())
	var steps, times timeline.Window
	tl.Settle(&steps, &times)
	if steps.To != float64(tl.S.Steps) || times.To != float64(tl.S.Trace.NS(tl.S.Trace.Last-tl.S.Trace.First)) {
		t.Errorf("open windows are %+v and %+v", steps, times)
	}
	times = timeline.Window{}
	steps = timeline.Window{From: 5, To: 8}
	tl.Settle(&steps, &times)
	for i := range tl.S.Step {
		enter, exit := float64(tl.S.Trace.NS(tl.S.Enter[i]-tl.S.Trace.First)), float64(tl.S.Trace.NS(tl.S.Exit[i]-tl.S.Trace.First))
		if s := tl.S.Step[i]; s >= 5 && s < 8 && (enter < times.From || exit > times.To) {
			t.Fatalf("operation %d at step %d, %v to %v, is outside %+v", i, s, enter, exit, times)
		}
	}
	back := timeline.Window{}
	tl.Settle(&back, &times)
	if back.From > 5 || back.To < 8 {
		t.Errorf("steps 5 to 7 happen in %+v, whose steps are %+v", times, back)
	}
}

func TestWrongQuestions(t *testing.T) {
	tl := halo(t, logical.Default())
	ok := timeline.Window{To: 10, Columns: 10, Lines: 10}
	for name, change := range map[string]func(*timeline.Ask){
		"empty window": func(a *timeline.Ask) { a.Window.To = 0 },
		"NaN":          func(a *timeline.Ask) { a.Window.From = math.NaN() },
		"no columns":   func(a *timeline.Ask) { a.Window.Columns = 0 },
		"many lines":   func(a *timeline.Ask) { a.Window.Lines = 1 << 30 },
		"metric":       func(a *timeline.Ask) { a.Metric = "colour" },
	} {
		a := timeline.Ask{Window: ok, Origin: logical.None}
		change(&a)
		if _, err := tl.Steps(t.Context(), a); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := tl.Operation(int32(tl.S.Len()), causes(t, tl.S), nil); err == nil {
		t.Error("an operation after the last is described")
	}
}
