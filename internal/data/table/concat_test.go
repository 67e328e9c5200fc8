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
