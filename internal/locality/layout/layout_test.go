package layout

import (
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/refs"
)

func TestGiven(t *testing.T) {
	g, err := ReadGiven(strings.NewReader("p 0x1000 640 64 # particles\n\nobject \"heap\" is h struct node[10]\nallocation at a.c:5 is u double[4]\n"))
	if err != nil || len(g.objects) != 1 || len(g.statements) != 2 || g.statements[0].structure != "node" {
		t.Fatalf("%+v, %v", g, err)
	}
	for _, text := range []string{"p 0x1000 0 8", "p 0x1000 8 16", "p 0xfffffffffffffff0 64 8", "nonsense", "object is"} {
		if _, err := ReadGiven(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestTable holds that given objects come first, that like allocations are one
// object with an element each, and what is touched is the size of the rest.
func TestTable(t *testing.T) {
	given, err := ReadGiven(strings.NewReader("p 0x1000 640 64"))
	if err != nil {
		t.Fatal(err)
	}
	about := &refs.About{Objects: []refs.Object{{}, {Name: "a.c:9 32 B", Start: 0x5000}, {Name: "a.c:9 32 B #2", Start: 0x4000}, {Name: "u", Start: 0x9000}}}
	tab := NewTable(about, given, nil)
	number := func(addr uint64, object uint32) uint32 {
		return tab.Number(&refs.Ref{Addr: addr, Size: 8, Object: object})
	}
	if n := number(0x1008, 3); tab.Objects[n].Name != "p" {
		t.Errorf("%s", tab.Objects[n].Name)
	}
	a, b := number(0x5008, 1), number(0x4010, 2)
	if a != b || a == 0 {
		t.Errorf("two allocations of one line are objects %d and %d", a, b)
	}
	u := number(0x9010, 3)
	number(0x9100, 3)
	tab.Finish()
	o := tab.Objects[a]
	if e, off := o.Locate(0x5008); e != 1 || off != 8 || o.Elements() != 2 {
		t.Errorf("element %d, offset %d of %d", e, off, o.Elements())
	}
	if got := tab.Objects[u].Size; got != 0x108 {
		t.Errorf("%#x bytes were touched", got)
	}
	if number(0x20, 0) != 0 {
		t.Error("an object for what is none")
	}
}

func TestField(t *testing.T) {
	o := &Object{Elem: 24, Fields: []Field{{Name: "a", Offset: 0, Size: 4}, {Name: "b", Offset: 8, Size: 8}}}
	for offset, want := range map[uint64]int{0: 0, 3: 0, 4: -1, 8: 1, 15: 1, 16: -1} {
		if got := o.Field(offset); got != want {
			t.Errorf("offset %d: field %d, want %d", offset, got, want)
		}
	}
}
