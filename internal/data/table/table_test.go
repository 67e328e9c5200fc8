package table

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func mixed(t testing.TB) *Table {
	t.Helper()
	valid := FullBits(5)
	valid.Clear(1)
	valid.Clear(4)
	latency := Ints("latency", "cycles", Modelled, []int64{4, 0, 12, 400, 0}, valid)
	latency.Note, latency.Label = "L1 hits assumed at 4 cycles", "load latency"
	tab, err := New("samples", []*Column{
		Times("time", "ns", Measured, []uint64{1 << 62, 1<<62 + 5, 1<<62 + 9, 1<<62 + 7, 1<<62 + 1}, nil),
		latency,
		Ints("big", "", Measured, []int64{1 << 40, -1, 0, 2, 3}, nil),
		Floats("x", "m", Derived, []float64{0.5, -1, 2, 3, 1e300}, nil),
		Categories("symbol", Derived, []uint32{0, 1, 0, 2, 0}, []string{"m_x", "a \"b\", c", "µ"}, valid),
		Flags("lock", Measured, []uint8{0, 1, 0, 1, 0}, nil),
		Addresses("addr", Measured, []uint64{0, ^uint64(0), 1 << 63, 5, 6}, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func TestArrowRoundTrip(t *testing.T) {
	tab := mixed(t)
	path := filepath.Join(t.TempDir(), "samples.arrow")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := tab.WriteArrow(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := openArrow(path)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	if diff := cmp.Diff(tab.Columns(), got.Columns(), cmpopts.EquateEmpty()); diff != "" || got.Name != "samples" {
		t.Errorf("table %q read back differs: %s", got.Name, diff)
	}
}

func TestEmptyTable(t *testing.T) {
	tab, err := New("samples", []*Column{Ints("a", "", Measured, nil, nil), Categories("c", Measured, []uint32{}, nil, nil)})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := tab.WriteArrow(&b); err != nil {
		t.Fatal(err)
	}
	got, err := fromArrow(b.Bytes(), nil)
	if err != nil || got.Rows() != 0 || len(got.Columns()) != 2 {
		t.Errorf("empty table read back: %v, %v", got, err)
	}
}

func TestInconsistentTables(t *testing.T) {
	tests := []struct {
		name    string
		columns []*Column
		want    string
	}{
		{"lengths", []*Column{Ints("a", "", Measured, []int64{1}, nil), Ints("b", "", Measured, nil, nil)}, "rows"},
		{"names", []*Column{Ints("a", "", Measured, nil, nil), Ints("a", "", Measured, nil, nil)}, "two columns named"},
		{"codes", []*Column{Categories("c", Measured, []uint32{1}, []string{"x"}, nil)}, "code 1 of 1"},
		{"kind", []*Column{{Name: "k", Kind: Flag, Data: []int32{1}}}, "cannot hold"},
		{"validity", []*Column{{Name: "k", Kind: Number, Data: make([]int32, 65), Valid: Bits{1}}}, "validity"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := New("t", tt.columns); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestTimesCountFromTheFirst(t *testing.T) {
	valid := FullBits(3)
	valid.Clear(0)
	c := Times("time", "ns", Measured, []uint64{0, 700, 500}, valid)
	if diff := cmp.Diff([]int64{0, 200, 0}, c.Data); diff != "" || c.Base != 500 {
		t.Errorf("base %d, values differ: %s", c.Base, diff)
	}
}

// TestTimesFarApart: a span beyond 2^63 became a negative time, and a clock that
// begins below zero counted from the first reading above it.
func TestTimesFarApart(t *testing.T) {
	signed := func(values ...int64) []uint64 {
		out := make([]uint64, len(values))
		for i, v := range values {
			out[i] = uint64(v)
		}
		return out
	}
	for _, tt := range []struct {
		name  string
		clock []uint64
		want  []int64
		has   []bool
		base  uint64
	}{
		{"below zero", signed(5, -5, 0), []int64{10, 0, 5}, nil, uint64(math.MaxUint64 - 4)},
		{"high in the range", []uint64{math.MaxUint64, math.MaxUint64 - 7}, []int64{7, 0}, nil, math.MaxUint64 - 7},
		{"the longest", []uint64{1, 1 << 63}, []int64{0, math.MaxInt64}, nil, 1},
		{"garbage in one", []uint64{0, 1<<63 + 1, 1 << 62, 5}, []int64{0, 0, 1 << 62, 5}, []bool{true, false, true, true}, 0},
		{"none", nil, []int64{}, nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := Times("time", "ns", Measured, tt.clock, nil)
			if diff := cmp.Diff(tt.want, c.Data); diff != "" || c.Base != tt.base {
				t.Errorf("base %#x, want %#x; values differ: %s", c.Base, tt.base, diff)
			}
			for i := range tt.clock {
				if want := tt.has == nil || tt.has[i]; c.Has(i) != want {
					t.Errorf("row %d has a value: %v, want %v", i, c.Has(i), want)
				}
			}
			if (c.Note != "") != (tt.has != nil) {
				t.Errorf("note %q", c.Note)
			}
		})
	}
}

func TestCSV(t *testing.T) {
	rows := NewBits(5)
	rows.Set(0)
	rows.Set(1)
	var b bytes.Buffer
	if err := mixed(t).WriteCSV(&b, rows); err != nil {
		t.Fatal(err)
	}
	want := "time,latency,big,x,symbol,lock,addr\n" +
		"0,4,1099511627776,0.5,m_x,0,0x0\n" +
		"5,,-1,-1,,1,0xffffffffffffffff\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestTake(t *testing.T) {
	got := mixed(t).Take([]int{3, 1})
	if got.Column("latency").Text(0) != "400" || got.Column("latency").Has(1) || got.Column("symbol").Text(0) != "µ" {
		t.Errorf("rows 3 and 1 taken wrongly: %q %q", got.Column("latency").Text(0), got.Column("symbol").Text(0))
	}
}

func TestBits(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 200} {
		b := FullBits(n)
		if b.Count() != n {
			t.Errorf("FullBits(%d).Count() = %d", n, b.Count())
		}
		b.Not(n)
		if b.Count() != 0 {
			t.Errorf("complement of all %d rows has %d", n, b.Count())
		}
	}
}

// FuzzOpen feeds damaged files to the reader of our own tables.
func FuzzOpen(f *testing.F) {
	var b bytes.Buffer
	if err := mixed(f).WriteArrow(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, in []byte) {
		tab, err := fromArrow(in, nil)
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := tab.WriteCSV(&out, nil); err != nil {
			t.Fatal(err)
		}
	})
}
