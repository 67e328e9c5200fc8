package table

import (
	"strings"
	"testing"
)

func TestConcat(t *testing.T) {
	some := NewBits(2)
	some.Set(1)
	a, err := New("samples", []*Column{
		Times("time", "ns", Measured, []uint64{1000, 1005}, nil),
		Ints("cpu", "", Measured, []int64{1, 2}, nil),
		Ints("latency", "cycles", Measured, []int64{7, 8}, some),
		Categories("level", Measured, []uint32{0, 1}, []string{"L1", "L2"}, nil),
		Addresses("addr", Derived, []uint64{1 << 63, 5}, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := New("samples", []*Column{
		Times("time", "ns", Measured, []uint64{900}, nil),
		Floats("latency", "cycles", Modelled, []float64{2.5}, nil),
		Categories("level", Measured, []uint32{0}, []string{"L2"}, nil),
		Flags("remote", Measured, []uint8{1}, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Concat("all", []*Table{a, b})
	if err != nil {
		t.Fatal(err)
	}
	var csv strings.Builder
	if err := got.WriteCSV(&csv, nil); err != nil {
		t.Fatal(err)
	}
	want := "time,cpu,latency,level,addr,remote\n100,1,,L1,0x8000000000000000,\n105,2,8,L2,0x5,\n0,,2.5,L2,,1\n"
	if csv.String() != want {
		t.Errorf("got\n%s\nwant\n%s", csv.String(), want)
	}
	if c := got.Column("latency"); c.Provenance != Modelled || got.Column("time").Base != 900 {
		t.Errorf("latency is %s, time counts from %d", c.Provenance, got.Column("time").Base)
	}
	odd, _ := New("samples", []*Column{Addresses("cpu", Measured, []uint64{1}, nil)})
	if _, err := Concat("all", []*Table{a, odd}); err == nil {
		t.Error("a number and an address were joined")
	}
}

// What a column says about itself survives, and a part without values says
// nothing about the others.
func TestConcatKeepsWhatColumnsSay(t *testing.T) {
	labelled := func(label, note string, p Provenance, valid Bits) *Table {
		c := Ints("ibs_dc_miss_lat", "cycles", p, []int64{3, 4}, valid)
		c.Label, c.Note = label, note
		tab, err := New("samples", []*Column{c})
		if err != nil {
			t.Fatal(err)
		}
		return tab
	}
	got, err := Concat("all", []*Table{labelled("", "a threshold of 3", Measured, nil), labelled("miss latency", "", Absent, NewBits(2)), labelled("other", "a threshold of 4", Measured, nil),
		labelled("", "a threshold of 3", Measured, nil)})
	if err != nil {
		t.Fatal(err)
	}
	c := got.Column("ibs_dc_miss_lat")
	if c.Label != "miss latency" || c.Note != "a threshold of 3; a threshold of 4" || c.Provenance != Measured || c.Text(2) != "" || c.Text(4) != "3" {
		t.Errorf("label %q, note %q, %s, row 2 %q, row 4 %q", c.Label, c.Note, c.Provenance, c.Text(2), c.Text(4))
	}
	if _, ok := c.Data.([]int32); !ok {
		t.Errorf("numbers of 32 bits became %T", c.Data)
	}
}

// A large result is in files, and each cell takes what its type needs.
func TestConcatOfMany(t *testing.T) {
	const rows = 1 << 20
	flags := make([]uint8, rows)
	flags[rows-1] = 1
	tab, err := New("samples", []*Column{Flags("remote", Measured, flags, nil), Ints("cpu", "", Measured, make([]int64, rows), nil)})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Concat("all", []*Table{tab, tab})
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	for name, bytes := range map[string]int{"remote": 2 * rows, "cpu": 8 * rows} {
		c := got.Column(name)
		if c.Spill == nil || len(c.Spill.data) != bytes {
			t.Errorf("%s is not in a file of %d bytes", name, bytes)
		}
	}
	if c := got.Column("remote"); c.Text(rows-1) != "1" || c.Text(rows) != "0" || c.Text(2*rows-1) != "1" {
		t.Error("rows are not where they were")
	}
}
