package advice

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/locality/layout"
	"github.com/isobath/isobath/internal/locality/replay"
)

// recorded is a trace over one object of which nothing but its start is known.
func recorded(t testing.TB, all []refs.Ref) (*replay.Trace, *layout.Table) {
	t.Helper()
	about := &refs.About{Objects: []refs.Object{{}, {Name: "u", Start: 0x100000}}, Places: []refs.Place{{}, {Function: "work", File: "a.c", Line: 7}}}
	table := layout.NewTable(about, nil, nil)
	r := replay.NewReader(table.Number, len(all))
	if err := r.Add(all); err != nil {
		t.Fatal(err)
	}
	table.Finish()
	return r.Trace(about.Places), table
}

// TestLastElement holds that a change moves the last element too, of which only
// the first bytes are touched.
func TestLastElement(t *testing.T) {
	var all []refs.Ref
	const n = 4000
	for i := range uint64(n) {
		all = append(all, refs.Ref{Addr: 0x100000 + i*144 + 96, Size: 4, PC: 1, Object: 1}, refs.Ref{Addr: 0x100000 + i*144 + 104, Size: 8, PC: 2, Object: 1})
	}
	tr, table := recorded(t, all)
	infer(tr, table)
	if o := table.Objects[1]; o.Elem != 144 || o.Elements() != n {
		t.Errorf("%d elements of %d bytes, want %d of 144", o.Elements(), o.Elem, n)
	}
}

// TestRefusedOnce holds that loops without another order are named once a place.
func TestRefusedOnce(t *testing.T) {
	var all []refs.Ref
	for pass := range uint64(40) { // triangular, with two loops on one line
		for pc := uint64(1); pc <= 2; pc++ {
			for i := range 40 - pass + pc {
				all = append(all, refs.Ref{Addr: 0x100000 + pass*4096 + i*8, Size: 8, PC: pc, Place: 1, Object: 1, Op: refs.Store})
			}
		}
	}
	tr, table := recorded(t, all)
	r, err := Find(context.Background(), tr, table, Options{Machine: classic(t), Least: DefaultLeast})
	if err != nil {
		t.Fatal(err)
	}
	notes := slices.DeleteFunc(r.Notes, func(n string) bool { return !strings.Contains(n, "keep their order") })
	if len(notes) != 1 || strings.Count(notes[0], "a.c:7 (") != 1 {
		t.Errorf("%q: want one note with a.c:7 once", r.Notes)
	}
}

// TestCountersOnTheStack: loops whose counters lie in memory are told from those
// whose data forbids another order.
func TestCountersOnTheStack(t *testing.T) {
	const rows, row = 90, 4096
	nest := func(kept uint64, object uint32) (all []refs.Ref) {
		for j := range uint64(rows) {
			for i := range uint64(rows) {
				all = append(all, refs.Ref{Addr: 0x100000 + i*row + j*8, Size: 8, PC: 1, Place: 1, Object: 1, Op: refs.Store},
					refs.Ref{Addr: kept, Size: 8, PC: 2, Place: 1, Object: object, Op: refs.Modify})
			}
		}
		return all
	}
	about := &refs.About{Objects: []refs.Object{{}, {Name: "u", Start: 0x100000}, {Name: "stack", Start: 0x7fff0000}, {Name: "sum", Start: 0x900000}},
		Places: []refs.Place{{}, {Function: "work", File: "a.c", Line: 7}}}
	for want, all := range map[string][]refs.Ref{
		"because of variables on the stack alone": nest(0x7fff0010, 2),
		"a byte would see its accesses":           nest(0x900000, 3),
	} {
		table := layout.NewTable(about, nil, nil)
		reader := replay.NewReader(table.Number, len(all))
		if err := reader.Add(all); err != nil {
			t.Fatal(err)
		}
		table.Finish()
		r, err := Find(context.Background(), reader.Trace(about.Places), table, Options{Machine: classic(t), Least: DefaultLeast, Kinds: []Kind{Interchange, Block}})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Advice) > 0 || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], want) || !strings.Contains(r.Notes[0], "a.c:7") {
			t.Errorf("want %q: %d pieces of advice, notes %q", want, len(r.Advice), r.Notes)
		}
	}
}
