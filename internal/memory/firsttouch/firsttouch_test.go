package firsttouch

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/data/table"
)

func TestObjects(t *testing.T) {
	ints := func(name string, v ...int64) *table.Column { return table.Ints(name, "", table.Measured, v, nil) }
	touches, err := table.New("touches", []*table.Column{
		ints("pid", 1, 1, 1, 1, 2), ints("tid", 10, 10, 11, 11, 20), ints("node", 0, 0, 1, 1, 1),
		// The third is the first page again: the write that places what the
		// first only read.
		table.Addresses("addr", table.Measured, []uint64{0x1000, 0x2008, 0x1ff8, 0x3000, 0x1000}, nil),
		table.Categories("symbol", table.Derived, []uint32{0, 0, 0, 1, 0}, []string{"u", "v"}, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	known := table.FullBits(4)
	known.Clear(3)
	samples, err := table.New("samples", []*table.Column{
		ints("pid", 1, 1, 1, 2), ints("node", 0, 1, 1, 1), table.Ints("touch_node", "", table.Derived, []int64{0, 0, 1, 0}, known),
		table.Categories("symbol", table.Derived, []uint32{0, 0, 1, 0}, []string{"u", "v"}, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	one, two := int64(1), int64(2)
	// u of process 2 is another u.
	want := []Touched{
		{Symbol: "u", Pid: &one, Pages: 2, Nodes: []PageCount{{0, 1}, {1, 1}}, Threads: []PageCount{{10, 1}, {11, 1}}, Samples: 2, Known: 2, Away: 1},
		{Symbol: "u", Pid: &two, Pages: 1, Nodes: []PageCount{{1, 1}}, Threads: []PageCount{{20, 1}}, Samples: 1},
		{Symbol: "v", Pid: &one, Pages: 1, Nodes: []PageCount{{1, 1}}, Threads: []PageCount{{11, 1}}, Samples: 1, Known: 1},
	}
	got, err := Objects(t.Context(), samples, touches)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(diff)
	}
	if got, err := Objects(t.Context(), nil, nil); err != nil || len(got) != 0 {
		t.Errorf("%v", got)
	}
	if got := Text([]PageCount{{0, 5}, {3, 1}}); got != "0: 5, 3: 1" {
		t.Error(got)
	}
}

// TestObjectsOfOneProcess: its number says nothing, and samples without one are its.
func TestObjectsOfOneProcess(t *testing.T) {
	touches, err := table.New("touches", []*table.Column{
		table.Ints("pid", "", table.Measured, []int64{7, 7}, nil), table.Ints("tid", "", table.Measured, []int64{7, 8}, nil),
		table.Addresses("addr", table.Measured, []uint64{0x1000, 0x2000}, nil),
		table.Categories("symbol", table.Derived, []uint32{0, 0}, []string{"u"}, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	samples, err := table.New("samples", []*table.Column{table.Categories("symbol", table.Derived, []uint32{0, 0, 0}, []string{"u"}, nil)})
	if err != nil {
		t.Fatal(err)
	}
	want := []Touched{{Symbol: "u", Pages: 2, Nodes: []PageCount{}, Threads: []PageCount{{7, 1}, {8, 1}}, Samples: 3}}
	got, err := Objects(t.Context(), samples, touches)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(diff, err)
	}
}

// TestObjectsOfHosts: processes of two hosts may have one number.
func TestObjectsOfHosts(t *testing.T) {
	touches, err := table.New("touches", []*table.Column{
		table.Ints("pid", "", table.Measured, []int64{7, 7}, nil), table.Ints("tid", "", table.Measured, []int64{7, 7}, nil),
		table.Categories("host", table.Measured, []uint32{0, 1}, []string{"a", "b"}, nil),
		table.Addresses("addr", table.Measured, []uint64{0x1000, 0x1000}, nil),
		table.Categories("symbol", table.Derived, []uint32{0, 0}, []string{"u"}, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Objects(t.Context(), nil, touches)
	if err != nil || len(got) != 2 || got[0].Host != "a" || got[1].Host != "b" || got[0].Pages != 1 || got[1].Pages != 1 {
		t.Errorf("%+v, %v: want a page of u on each host", got, err)
	}
}
