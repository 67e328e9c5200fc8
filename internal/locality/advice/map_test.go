package advice

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/locality/layout"
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/locality/replay"
)

func classic(t testing.TB) *platform.Machine {
	m, ok := platform.Preset("classic")
	if !ok {
		t.Fatal("no preset classic")
	}
	return m
}

func apart(a, b uint64) uint64 { return max(a, b) - min(a, b) }

func describe(a *Advice) string {
	name := ""
	if a.Object != nil {
		name = a.Object.Name
	}
	return fmt.Sprintf("%s %s: %s, gain %.3f to %.3f", a.Kind, name, a.What, a.Gain[0], a.Gain[1])
}

// sweep is an array of structures of four words of which two are used, and a
// matrix walked along its columns.
func sweep(t testing.TB) (*replay.Trace, *layout.Table) {
	t.Helper()
	given, err := layout.ReadGiven(strings.NewReader("p 0x100000 64000 32\nm 0x200000 524288 8\n"))
	if err != nil {
		t.Fatal(err)
	}
	about := &refs.About{Places: []refs.Place{{}, {Function: "work", File: "a.c", Line: 7}}}
	table := layout.NewTable(about, given, nil)
	r := replay.NewReader(table.Number, 1<<24)
	var all []refs.Ref
	for range 3 {
		for i := range uint64(2000) {
			all = append(all, refs.Ref{Addr: 0x100000 + i*32, Size: 8, PC: 1}, refs.Ref{Addr: 0x100000 + i*32 + 16, Size: 8, PC: 2, Op: refs.Store})
		}
	}
	for j := range uint64(256) {
		for i := range uint64(256) {
			all = append(all, refs.Ref{Addr: 0x200000 + i*2048 + j*8, Size: 8, PC: 3, Place: 1, Op: refs.Modify})
		}
	}
	if err := r.Add(all); err != nil {
		t.Fatal(err)
	}
	table.Finish()
	return r.Trace(about.Places), table
}

// TestMaps replays what advise prints, and the identity.
func TestMaps(t *testing.T) {
	m := classic(t)
	tr, table := sweep(t)
	base, err := replay.Run(context.Background(), tr, m, nil, replay.Kept)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Find(context.Background(), tr, table, Options{Machine: m, Least: DefaultLeast})
	if err != nil || len(r.Advice) < 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, a := range r.Advice {
		plan, err := ReadMap(strings.NewReader(a.Map), tr, table)
		if err != nil {
			t.Errorf("%q: %v", a.Map, err)
			continue
		}
		n, err := replay.Run(context.Background(), tr, m, plan, a.Then[0].Placement)
		if err != nil || n.Cost(m) != a.Then[0].Counts.Cost(m) {
			t.Errorf("%q: %+v, %v; advice %+v", a.Map, n, err, a.Then[0].Counts)
		}
	}
	same, err := ReadMap(strings.NewReader("object p element 32 is 32\nobject m element 2048 is 2048"), tr, table)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := replay.Run(context.Background(), tr, m, same, replay.Kept); err != nil || n.Cost(m) != base.Cost(m) {
		t.Errorf("the identity misses %+v, the base %+v", n, base)
	}
}

func TestMapErrors(t *testing.T) {
	tr, table := sweep(t)
	for text, want := range map[string]string{
		"object q soa": "not in the trace", "object p fields nix": "no field", "object p element 0 is 8": "cannot become", "object p start 9 of 8": "power of two",
		"loops order i": "has 2 loops", "loops order i i": "twice", "loops b.c:1 order j i": "no rectangular nest", "pages 3M for p": "want 2M", "hello": "no change", "pages of p on node:x": "want node:N", "pages of p on moon": "want first", "pages of q on best": "not in the trace",
		"object p soa\nobject p soa": "changed twice", "object p start 0 of 64\nobject p turn": "changed twice",
	} {
		if _, err := ReadMap(strings.NewReader(text), tr, table); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestOrdersKeepResults holds that an order which changes what a load reads is
// not offered: a recurrence along the rows.
func TestOrdersKeepResults(t *testing.T) {
	table := layout.NewTable(&refs.About{}, nil, nil)
	r := replay.NewReader(table.Number, 1<<24)
	var all []refs.Ref
	for j := uint64(1); j < 200; j++ {
		for i := range uint64(199) { // a[i][j] = a[i+1][j-1]
			all = append(all, refs.Ref{Addr: 0x200000 + (i+1)*4096 + (j-1)*8, Size: 8, PC: 1}, refs.Ref{Addr: 0x200000 + i*4096 + j*8, Size: 8, PC: 2, Op: refs.Store})
		}
	}
	if err := r.Add(all); err != nil {
		t.Fatal(err)
	}
	tr := r.Trace(nil)
	nests, _ := replay.FindNests(tr)
	if len(nests) != 1 || len(nests[0].Trips) != 2 || nests[0].Trips[0] != 199 || nests[0].Trips[1] != 199 {
		t.Fatalf("%+v", nests)
	}
	deps := replay.NewDependences(tr)
	if deps.Keeps(nests[0].Order(tr, []replay.Loop{{Of: 1}, {Of: 0}})) {
		t.Error("exchanged loops would load what is stored later")
	}
	if !deps.Keeps(nests[0].Order(tr, []replay.Loop{{Of: 0}, {Of: 1}})) {
		t.Error("the recorded order is refused")
	}
	res, err := Find(context.Background(), tr, table, Options{Machine: classic(t), Least: DefaultLeast, Kinds: []Kind{Interchange, Block}})
	if err != nil || len(res.Advice) != 0 {
		t.Errorf("%+v, %v", res.Advice, err)
	}
}

// walkTrace is references of one instruction without objects.
func walkTrace(t *testing.T, addrs []uint64) (*replay.Trace, *layout.Table) {
	t.Helper()
	table := layout.NewTable(&refs.About{}, nil, nil)
	r := replay.NewReader(table.Number, 1<<24)
	for _, a := range addrs {
		if err := r.Add([]refs.Ref{{Addr: a, Size: 8, PC: 1 + a%128/32}}); err != nil {
			t.Fatal(err)
		}
	}
	return r.Trace(nil), table
}

// TestAdopt holds that memory without objects gets them: two fields of each
// element of 128 bytes.
func TestAdopt(t *testing.T) {
	var addrs []uint64
	for range 4 {
		for i := range uint64(4000) {
			addrs = append(addrs, 0x500008+i*128, 0x500038+i*128)
		}
	}
	tr, table := walkTrace(t, addrs)
	r, err := Find(context.Background(), tr, table, Options{Machine: classic(t), Least: DefaultLeast})
	if err != nil || len(r.Advice) == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	o := r.Advice[0].Object
	if o == nil || o.Elem != 128 || o.Known != layout.Inferred || r.Advice[0].Gain[0] < 0.7 {
		t.Errorf("%+v: %s", o, describe(r.Advice[0]))
	}
}

// TestComputedPlacesStay holds that an array walked by constant steps is not
// advised to change its order, though its first uses are out of order.
func TestComputedPlacesStay(t *testing.T) {
	var addrs []uint64
	for step := uint64(7); step < 60; step += 4 {
		for i := uint64(0); i < 20000; i += step {
			addrs = append(addrs, 0x500000+i*8)
		}
	}
	tr, table := walkTrace(t, addrs)
	r, err := Find(context.Background(), tr, table, Options{Machine: classic(t), Least: DefaultLeast, Kinds: []Kind{Order}})
	if err != nil || len(r.Advice) != 0 {
		t.Errorf("%+v, %v", r.Advice, err)
	}
}

// TestCostliestLine: the line of an object is where its references cost most, all
// instructions of the line together.
func TestCostliestLine(t *testing.T) {
	tr, table := sweep(t)
	_, byObject, err := profiles(t.Context(), tr, table, classic(t))
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range table.Objects {
		if o == nil {
			continue
		}
		if want := map[string]string{"p": "", "m": "a.c:7"}[o.Name]; byObject[i].line != want { // those of p have no place
			t.Errorf("%s: %q, want %q", o.Name, byObject[i].line, want)
		}
	}
	places := []refs.Place{{}, {File: "a.c", Line: 7}, {File: "a.c", Line: 9}, {File: "a.c", Line: 7, Function: "inlined"}}
	p := &profile{}
	costliestLines(&replay.Trace{Places: places}, []replay.ChargedPlace{{Object: 1, Place: 2, Cost: 5}, {Object: 1, Place: 1, Cost: 4}, {Object: 1, Place: 3, Cost: 3}, {Object: 1, Place: 9, Cost: 99}, {Cost: 99}}, []*profile{nil, p})
	if p.line != "a.c:7" {
		t.Errorf("%q", p.line)
	}
}
