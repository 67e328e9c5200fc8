package reftable

import (
	"io"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/table"
)

func TestRoundTrip(t *testing.T) {
	places := []refs.Place{{}, {Function: "sort", File: "/src/a/bubble.c", Line: 4}, {Function: "main", File: "/src/b/bubble.c", Line: 9}, {Function: "free"},
		{Function: "main", File: "/src/x.c", Line: 1}}
	all := []refs.Ref{
		{Addr: 1 << 63, PC: 0x1180, Size: 8, Thread: 7, Place: 1}, {Addr: 2, PC: 0x1184, Size: 4, Thread: 8, Place: 2, Op: refs.Store},
		{Addr: 3, PC: 0x1188, Thread: 8, Place: 3, Op: refs.Modify}, {Addr: 4, PC: 0x118c, Size: 1, Thread: 8}, {Addr: 4, Size: 1, Place: 4},
	}
	all[1].Object, all[3].Object = 1, 2
	objects := []refs.Object{{}, {Name: "value", Start: 1}, {Name: "stack", Start: 4}}
	full := refs.HasPC | refs.HasSize | refs.HasThread | refs.HasPlace | refs.HasObject
	tab, err := New(all, places, objects, full)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(tab)
	if err != nil {
		t.Fatal(err)
	}
	got, err := refs.All(r)
	if d := cmp.Diff(all, got); d != "" || err != nil {
		t.Errorf("%v %s", err, d)
	}
	// Names that differ in their last part only are shortened.
	want := []refs.Place{{}, places[1], places[2], places[3], {Function: "main", File: "x.c", Line: 1}}
	if d := cmp.Diff(want, r.About().Places); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(objects, r.About().Objects); d != "" {
		t.Error(d)
	}
	if r.About().Has != full {
		t.Errorf("has %b", r.About().Has)
	}
}

// TestBatches holds that every row is read as it was written, whatever it lacks and
// wherever a batch ends.
func TestBatches(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	places := []refs.Place{{}, {Function: "f"}, {Function: "f", File: "a.c", Line: 3}, {File: "b.c", Line: 3}}
	objects := []refs.Object{{}, {Name: "a", Start: 100}, {Name: "a", Start: 50}, {Name: "b", Start: 100}}
	all := make([]refs.Ref, 3*stretch+5)
	for i := range all {
		all[i] = refs.Ref{Addr: 1000 + rng.Uint64N(9), PC: rng.Uint64N(9), Size: uint32(rng.Uint64N(3)), Thread: uint32(rng.Uint64N(2)), Op: refs.Op(rng.IntN(3)),
			Place: uint32(rng.IntN(len(places))), Object: uint32(rng.IntN(len(objects))), Enters: rng.IntN(2) == 0}
	}
	tab, err := New(all, places, objects, refs.HasPC|refs.HasSize|refs.HasThread|refs.HasPlace|refs.HasObject|refs.HasFlow)
	if err != nil {
		t.Fatal(err)
	}
	for _, batch := range []int{1, stretch - 1, stretch, stretch + 1, len(all)} {
		r, err := NewReader(tab)
		if err != nil {
			t.Fatal(err)
		}
		for from := 0; from < len(all); {
			got := make([]refs.Ref, batch)
			n, err := r.Read(got)
			if err != nil && err != io.EOF {
				t.Fatal(err)
			}
			for k, g := range got[:n] {
				want := all[from+k]
				place, object := r.About().Places[g.Place], r.About().Objects[g.Object]
				if place != places[want.Place] || object != objects[want.Object] {
					t.Fatalf("row %d in batches of %d: place %v, object %v, want %v, %v", from+k, batch, place, object, places[want.Place], objects[want.Object])
				}
				if g.Place, g.Object = want.Place, want.Object; g != want {
					t.Fatalf("row %d in batches of %d: %+v, want %+v", from+k, batch, g, want)
				}
			}
			from += n
		}
	}
}

func TestLittle(t *testing.T) {
	tab, err := New([]refs.Ref{{Addr: 5}}, nil, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(tab)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := refs.All(r); err != nil || len(got) != 1 || r.About().Has != 0 {
		t.Errorf("%v, %v, has %b", got, err, r.About().Has)
	}
	empty, err := New(nil, nil, nil, refs.HasPC)
	if err != nil {
		t.Fatal(err)
	}
	r, err = NewReader(empty)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := refs.All(r); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	other, err := table.New("samples", []*table.Column{table.Ints("addr", "", table.Measured, []int64{1}, nil), table.Categories("op", table.Measured, []uint32{0}, []string{"load"}, nil)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewReader(other); err == nil {
		t.Error("a number is taken for an address")
	}
}

// TestManyObjects holds that every block of a long list keeps its own start.
func TestManyObjects(t *testing.T) {
	const n = 1<<16 + 100
	all, objects := make([]refs.Ref, n), make([]refs.Object, 1, n+1)
	for i := range all {
		at := uint64(0x10000 + 64*i)
		objects = append(objects, refs.Object{Name: "node", Start: at})
		all[i] = refs.Ref{Addr: at + 8, Size: 8, Object: uint32(i + 1)}
	}
	tab, err := New(all, nil, objects, refs.HasSize|refs.HasObject)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(tab)
	if err != nil {
		t.Fatal(err)
	}
	got, err := refs.All(r)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if o := r.About().Objects[got[i].Object]; o != objects[i+1] {
			t.Fatalf("reference %d is in %+v, want %+v", i, o, objects[i+1])
		}
	}
}
