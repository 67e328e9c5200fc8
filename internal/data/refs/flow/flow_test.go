package flow

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
)

// walk reads all blocks of a thread as addresses.
func walk(blocks []refs.Range, t *Thread) []uint64 {
	var out []uint64
	c := t.Cursor(len(blocks))
	for range t.Length() {
		b, ok := c.Next()
		if !ok {
			break
		}
		out = append(out, blocks[b].Low)
	}
	return out
}

// What was entered comes back, whatever it was.
func TestBlocksComeBack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		want := map[uint32][]uint64{}
		e := NewEncoder()
		kinds := 1 + random.Uint64N(6)
		for range random.IntN(500) {
			thread, start := uint32(random.IntN(3)), 16*random.Uint64N(kinds)
			e.Enter(thread, start)
			e.Reach(thread, start+8)
			want[thread] = append(want[thread], start)
		}
		blocks, threads, err := e.Flow()
		if err != nil {
			t.Fatal(err)
		}
		for i := range threads {
			if got := walk(blocks, &threads[i]); !slices.Equal(got, want[threads[i].ID]) {
				t.Fatalf("thread %d: %v, want %v", threads[i].ID, got, want[threads[i].ID])
			}
		}
		if len(threads) != len(want) {
			t.Errorf("%d threads, want %d", len(threads), len(want))
		}
	}
}

func TestLoopIsFewEvents(t *testing.T) {
	e := NewEncoder()
	for range 1000 {
		e.Enter(1, 16)
		e.Enter(1, 32)
	}
	_, threads, err := e.Flow()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(threads[0].Events); n > 4 {
		t.Errorf("%d events of a loop of 1000 turns", n)
	}
}

// A recording that was cut goes on as expected.
func TestCut(t *testing.T) {
	th := Thread{Events: []Event{{0, 0}, {0, 1}, {0, 0}}}
	if !th.Cut() {
		t.Error("not cut")
	}
	c := th.Cursor(2)
	for i, want := range []uint32{0, 1, 0, 1, 0, 1} {
		if b, ok := c.Next(); !ok || b != want {
			t.Errorf("block %d: %d %v, want %d", i, b, ok, want)
		}
	}
}

// Events of a damaged run end the walk.
func TestDamagedEvents(t *testing.T) {
	for _, events := range [][]Event{nil, {{5, 0}}, {{0, 7}}, {{0, 0}, {3, 1}}} {
		th := Thread{Events: events}
		c := th.Cursor(2)
		for range 100 {
			if b, ok := c.Next(); ok && b > 1 {
				t.Errorf("%v: block %d of 2", events, b)
			}
		}
	}
}

func TestTables(t *testing.T) {
	want := &Trace{
		Blocks: []refs.Range{{Low: 16, High: 20}, {Low: 20, High: 40}},
		Code: []Instruction{
			{PC: 16, Length: 4, Ending: Branch, Function: 16, Place: refs.Place{Function: "f", File: "a.c", Line: 3}, Column: 7, Home: "g", Calls: []Site{{"a.h", 9, 2}, {"a.c", 30, 11}}},
			{PC: 20, Length: 3, Loads: true, Stores: true, Element: 4},
			{PC: 23, Length: 4, Unhooked: true},
		},
		Marks:   []Mark{{PC: 16, File: "a.c", Line: 3, Column: 7}},
		Threads: []Thread{{ID: 7, Events: []Event{{0, 0}, {3, 1}, {2, None}}}, {ID: 9, Events: []Event{{0, 1}, {0, None}}}},
	}
	tables, err := want.Tables()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(&run.Run{Contents: tables})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Thread{}, table.Spill{})); diff != "" {
		t.Error(diff)
	}
	want.Stopped = true
	if tables, err = want.Tables(); err != nil {
		t.Fatal(err)
	}
	if got, err = Read(&run.Run{Contents: tables}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Thread{}, table.Spill{})); diff != "" {
		t.Error("stopped:", diff)
	}
	if got, err := Read(&run.Run{Contents: []*table.Table{tables[0]}}); got != nil || err != nil {
		t.Errorf("half a flow: %v %v", got, err)
	}
}
