package views

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/locality/layout"
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/locality/replay"
)

// element is a structure of two lines of which x and v are used.
var fields = []layout.Field{{Name: "x", Offset: 0, Size: 8}, {Name: "cold", Offset: 8, Size: 56}, {Name: "v", Offset: 64, Size: 8}, {Name: "rest", Offset: 72, Size: 56}}

// study walks an array of structures by x, then by v, and reads a table at
// random in between; some references lie over two lines.
func study(t *testing.T) *Study {
	t.Helper()
	objects := layout.NewTable(&refs.About{}, layout.Declared([]layout.Object{
		{Name: "p", Start: 1 << 20, Size: 128 * 1000, Elem: 128, Fields: fields, Sized: true, Known: layout.ByType},
		{Name: "table", Start: 2 << 20, Size: 1 << 18, Sized: true},
	}), nil)
	tr := &replay.Trace{Threads: []uint32{7}, Places: []refs.Place{{}, {Function: "walk", File: "a.c", Line: 3}, {Function: "look", File: "a.c", Line: 9}},
		Codes: []replay.Code{{PC: 16, Place: 1}, {PC: 32, Place: 1}, {PC: 48, Place: 2}}}
	r := rand.New(rand.NewPCG(3, 4))
	add := func(code, object uint32, addr uint64, size uint16) {
		tr.Accesses = append(tr.Accesses, replay.Access{Addr: addr, Code: code, Object: object, Size: size})
	}
	for pass := range 4 {
		for i := range uint64(1000) {
			add(uint32(pass%2), 1, 1<<20+128*i+64*uint64(pass%2), 8)
			add(2, 2, 2<<20+uint64(r.IntN(1<<18-16)), 16)
		}
	}
	m, _ := platform.Preset("classic")
	s, err := New(t.Context(), tr, objects, m, &replay.Plan{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sum(all []uint64) (n uint64) {
	for _, x := range all {
		n += x
	}
	return n
}

// TestBytes: what a study says that it takes is what the heap grows by, and what it was
// foreseen to take is no more.
func TestBytes(t *testing.T) {
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // what finalizers let go of
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	of := study(t)
	tr := &replay.Trace{Threads: of.Trace.Threads, Places: of.Trace.Places, Codes: of.Trace.Codes}
	for range 64 {
		tr.Accesses = append(tr.Accesses, of.Trace.Accesses...)
	}
	before := heap()
	s, err := New(t.Context(), tr, of.Table, of.Machine, &replay.Plan{})
	if err != nil {
		t.Fatal(err)
	}
	grown, said, foreseen := heap()-before, s.Bytes(), Weight(len(tr.Accesses), len(of.Machine.Levels))
	if grown < said*9/10 || grown > said*11/10 || foreseen > said {
		t.Errorf("the heap grew by %d bytes; the study says %d, and %d were foreseen", grown, said, foreseen)
	}
	runtime.KeepAlive(s)
}

// TestCountAddsUp: rows of every kind add up to the whole, selected and not, and
// bands add up to the curve.
func TestCountAddsUp(t *testing.T) {
	s := study(t)
	rows := table.NewBits(len(s.Trace.Accesses))
	for i := range s.Trace.Accesses {
		if s.Trace.Accesses[i].Object == 1 && i%3 == 0 {
			rows.Set(i)
		}
	}
	c, err := s.Count(t.Context(), &Choice{Rows: rows}, ByLine)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range [][]MissRow{c.Objects, c.Places, c.Functions} {
		var references, selected, misses, chosen uint64
		for _, r := range kind {
			references += r.References
			selected += r.Selected
			misses += r.Misses[0]
			chosen += r.Chosen[0]
			if n := sum(r.Reuse); n != r.References {
				t.Errorf("%s: distances of %d references, want %d", r.Name, n, r.References)
			}
		}
		if references != c.References || selected != c.Selected || misses != c.Levels[0].Misses || chosen != c.Levels[0].Chosen {
			t.Errorf("rows add up to %d references, %d selected, %d misses, %d chosen; want %d, %d, %d, %d",
				references, selected, misses, chosen, c.References, c.Selected, c.Levels[0].Misses, c.Levels[0].Chosen)
		}
	}
	if uint64(rows.Count()) != c.Selected {
		t.Errorf("%d selected, want %d", c.Selected, rows.Count())
	}
	for i := range c.Curve.Sizes {
		n := c.Curve.Selected[i]
		for _, b := range c.Curve.Bands {
			n += b.Misses[i]
		}
		if n != c.Curve.Total[i] {
			t.Errorf("bands at %d bytes add up to %d misses, want %d", c.Curve.Sizes[i], n, c.Curve.Total[i])
		}
	}
}

// TestEvictionsAddUp: every repeated miss has an evictor, and causes add up to
// misses.
func TestEvictionsAddUp(t *testing.T) {
	s := study(t)
	for level := range s.Levels {
		e, err := s.Evictions(t.Context(), level)
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.Count(t.Context(), &Choice{}, None)
		if err != nil {
			t.Fatal(err)
		}
		var lost uint64
		var causes int64
		for i, row := range e.Lost {
			lost += sum(row)
			causes += int64(e.Causes[i].First) + e.Causes[i].Capacity + e.Causes[i].Conflict
		}
		if l := c.Levels[level]; causes != int64(l.Misses) || lost > l.Misses-min(l.Misses, l.First) {
			t.Errorf("%s: causes add up to %d and lost lines to %d of %d misses, %d of them first", l.Level, causes, lost, l.Misses, l.First)
		}
	}
}

// TestPair: the references of every cell, that of all others among them, missed as many
// lines again as the cell tells.
func TestPair(t *testing.T) {
	const n = 20
	var all []layout.Object
	for i := range uint64(n) {
		name := fmt.Sprint("o", i)
		if i == n-1 {
			name = others // as an object may be called, too
		}
		all = append(all, layout.Object{Name: name, Start: (i + 1) << 20, Size: 1 << 16, Sized: true})
	}
	tr := &replay.Trace{Threads: []uint32{7}, Places: []refs.Place{{}}, Codes: []replay.Code{{}}}
	r := rand.New(rand.NewPCG(5, 6))
	for range 40_000 {
		object := uint32(min(r.IntN(n), r.IntN(n)) + 1)
		tr.Accesses = append(tr.Accesses, replay.Access{Addr: uint64(object)<<20 + uint64(r.IntN(1<<16-16)), Object: object, Size: 16})
	}
	m, _ := platform.Preset("classic")
	s, err := New(t.Context(), tr, layout.NewTable(&refs.About{}, layout.Declared(all), nil), m, &replay.Plan{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.Evictions(t.Context(), 0)
	if err != nil || e.Names[len(e.Names)-1] != others {
		t.Fatal(e, err)
	}
	for i, lost := range e.Names {
		for j, to := range e.Names {
			pair, err := s.Pair(t.Context(), 0, lost, to)
			if err != nil {
				t.Fatal(err)
			}
			got := uint64(0)
			for at := range s.Trace.Accesses {
				if o := &s.Levels[0][at]; s.has(&Choice{Pair: pair}, at) {
					got += uint64(o.Misses - o.First)
				}
			}
			if got != e.Lost[i][j] {
				t.Errorf("what %s lost to %s is %d lines, want %d", lost, to, got, e.Lost[i][j])
			}
		}
	}
	if _, err := s.Pair(t.Context(), 0, "nobody", others); err == nil {
		t.Error("an object that nobody knows is none of the others")
	}
}

// TestStruct: of each line that is fetched of p one field is touched.
func TestStruct(t *testing.T) {
	u := study(t).Struct(1)
	if u == nil || len(u.Parts) != 1 || len(u.Parts[0].Lines) != 2 {
		t.Fatalf("%+v", u)
	}
	want := map[string]float64{"x": 1, "cold": 0, "v": 1, "rest": 0}
	for _, f := range u.Parts[0].Fields {
		if f.Share == nil || *f.Share != want[f.Name] {
			t.Errorf("%s is touched in %v of the fetches, want %v", f.Name, f.Share, want[f.Name])
		}
	}
	for i, l := range u.Parts[0].Lines {
		if l.Fetched == 0 || l.Used != 8*l.Fetched {
			t.Errorf("line %d: %d bytes used in %d fetches, want 8 in each", i, l.Used, l.Fetched)
		}
	}
}

// TestSetInUse compares the sliding set with one that is counted anew at the end
// of every column.
func TestSetInUse(t *testing.T) {
	s := study(t)
	n := len(s.Trace.Accesses)
	const columns, window = 40, 700
	m, err := s.Map(t.Context(), &Choice{}, Shape{Columns: columns, Window: window, Rows: map[string]int{"p": 8}})
	if err != nil {
		t.Fatal(err)
	}
	var want []uint32
	for c := range columns {
		end := (c+1)*n/columns - 1 // last reference of the column
		lines := map[uint64]bool{}
		for i := max(0, end-window+1); i <= end; i++ {
			a := &s.Trace.Accesses[i]
			for line := a.Addr / 64; line <= (a.Addr+uint64(a.Size)-1)/64; line++ {
				lines[line] = true
			}
		}
		want = append(want, uint32(len(lines)))
	}
	if !slices.Equal(m.Set, want) {
		t.Errorf("set in use %v, want %v", m.Set, want)
	}
	misses := uint64(0)
	for _, x := range m.Lanes[0].All {
		misses += uint64(x)
	}
	c, err := s.Count(t.Context(), &Choice{}, None)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(c.Objects, func(r MissRow) bool { return r.Object == "p" })
	if misses != c.Objects[i].Misses[0] {
		t.Errorf("the lane of p has %d misses, want %d", misses, c.Objects[i].Misses[0])
	}
}

// TestLoopRows: every access is in one loop, and a selected loop has all of its
// own accesses and no other.
func TestLoopRows(t *testing.T) {
	s := study(t)
	n := len(s.Trace.Accesses)
	loops := &Loops{Names: []string{"(no loop)", "a.c:3 walk"}, Places: []refs.Place{{}, {Function: "walk", File: "a.c", Line: 3}}}
	inside := uint64(0)
	for i := range n - 10 { // traces may be longer than what was followed
		if s.Trace.Accesses[i].Code < 2 {
			loops.Add([]int{0})
			inside++
		} else {
			loops.Add(nil)
		}
	}
	one, err := loops.Number("a.c:3 walk")
	if err != nil {
		t.Fatal(err)
	}
	chosen := &Choice{Rows: loops.Rows(one, n)}
	rows, err := s.LoopRows(t.Context(), chosen, loops)
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Count(t.Context(), chosen, None)
	if err != nil {
		t.Fatal(err)
	}
	var references, misses uint64
	for _, r := range rows {
		references, misses = references+r.References, misses+r.Misses[0]
		if want := map[string]uint64{"a.c:3 walk": inside}[r.Loop]; r.Selected != want {
			t.Errorf("%s: %d selected, want %d", r.Loop, r.Selected, want)
		}
	}
	if references != uint64(n) || misses != c.Levels[0].Misses || c.Selected != inside {
		t.Errorf("%d references and %d misses, want %d and %d; %d selected, want %d", references, misses, n, c.Levels[0].Misses, c.Selected, inside)
	}
	if _, err := loops.Number("b.c:1"); err == nil {
		t.Error("a loop that is none was found")
	}
}

// TestRowsOfLoop: the references of a loop are those that it is around, at any
// depth, however loops and calls nest.
func TestRowsOfLoop(t *testing.T) {
	nests := [][]int{nil, {0}, {1, 0}, {1, 0}, {2, 1, 0}, {0}, {2}, {2, 0}, nil}
	var loops Loops
	for _, around := range nests {
		loops.Add(slices.Clone(around))
	}
	for loop := range 3 {
		rows := loops.Rows(uint32(loop)+1, len(nests)+2)
		for i, around := range nests {
			if got, want := rows.Get(i), slices.Contains(around, loop); got != want {
				t.Errorf("loop %d around access %d, in %v: %v, want %v", loop, i, around, got, want)
			}
		}
		if rows.Get(len(nests)) || rows.Get(len(nests)+1) {
			t.Errorf("loop %d is around accesses that nobody followed", loop)
		}
	}
}

// TestFieldRows: the references of a field by its name are those that its row
// counts.
func TestFieldRows(t *testing.T) {
	s := study(t)
	c, err := s.Count(t.Context(), &Choice{}, None)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, f := range c.Fields {
		if f.Object != "p" {
			continue
		}
		seen++
		rows, err := FieldRows(s.Trace, s.Table, f.Object+"."+f.Field)
		if err != nil {
			t.Fatal(err)
		}
		if n := rows.Count(); uint64(n) != f.References || n == 0 {
			t.Errorf("p.%s: %d references, its row says %d", f.Field, n, f.References)
		}
	}
	if seen != 2 {
		t.Errorf("%d fields of p have rows, want x and v", seen)
	}
	for _, name := range []string{"p", "p.", "p.none", "q.x", ".x", ""} {
		if _, err := FieldRows(s.Trace, s.Table, name); err == nil {
			t.Errorf("%q is a field", name)
		}
	}
}

// TestThreadRows: rows of threads hold every reference once, with its misses.
func TestThreadRows(t *testing.T) {
	s := study(t)
	s.Trace.Threads = []uint32{7, 31}
	want := map[uint32]uint64{}
	for i := range s.Trace.Accesses {
		if i%5 == 0 {
			s.Trace.Accesses[i].Thread = 1
		}
		want[s.Trace.Threads[s.Trace.Accesses[i].Thread]]++
	}
	rows, err := s.ThreadRows(t.Context(), &Choice{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.Count(t.Context(), &Choice{}, None)
	if err != nil {
		t.Fatal(err)
	}
	misses := uint64(0)
	for _, r := range rows {
		misses += r.Misses[0]
		if r.References != want[r.Thread] {
			t.Errorf("%s: %d references, want %d", r.Name, r.References, want[r.Thread])
		}
	}
	if len(rows) != 2 || misses != all.Levels[0].Misses {
		t.Errorf("%d rows with %d misses, want 2 with %d", len(rows), misses, all.Levels[0].Misses)
	}
}
