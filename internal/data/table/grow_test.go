package table

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"
)

// Values beyond what is kept in memory come back as they were appended.
func TestGrowingSpills(t *testing.T) {
	for _, n := range []int{0, 1, 1023, 1025, spillBytes/8 - 1, spillBytes / 8, spillBytes/8 + 1, 1_500_000} {
		var g Growing[uint64]
		for i := range n {
			g.Append(uint64(i) * 3)
		}
		got, spill, err := g.Values()
		if err != nil {
			t.Fatal(err)
		}
		if (spill != nil) != (n > spillBytes/8) {
			t.Errorf("%d values: in a file: %v", n, spill != nil)
		}
		if len(got) != n {
			t.Fatalf("%d values, want %d", len(got), n)
		}
		for _, release := range []bool{false, true} {
			if release {
				spill.Release()
			}
			for i, v := range got {
				if v != uint64(i)*3 {
					t.Fatalf("value %d of %d is %d", i, n, v)
				}
			}
		}
		if err := spill.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestGrowingWithoutRoom(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()+"/missing")
	if _, err := os.Stat(os.TempDir()); err == nil {
		t.Skip("TMPDIR does not decide the folder of temporary files here")
	}
	var g Growing[uint64]
	for range spillBytes/8 + 2 {
		g.Append(1)
	}
	if _, _, err := g.Values(); err == nil {
		t.Error("no error without a folder for temporary files")
	}
}

func TestSpread(t *testing.T) {
	few := Categories("level", Measured, []uint32{0, 1, 0}, []string{"L1", "L2"}, Bits{0b011})
	rows := []uint32{2, 1, 0, 1}
	c, err := few.Spread(rows)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"", "L2", "L1", "L2"}
	for i := range rows {
		if c.Text(i) != want[i] {
			t.Errorf("row %d is %q, want %q", i, c.Text(i), want[i])
		}
	}
}

// A column that says the same everywhere costs nothing and reads as zeros.
func TestZeros(t *testing.T) {
	for _, n := range []int{0, 5, spillBytes} {
		v, spill, err := Zeros[uint32](n)
		if err != nil {
			t.Fatal(err)
		}
		spill.Release()
		for i, x := range v {
			if x != 0 {
				t.Fatalf("value %d of %d is %d", i, n, x)
			}
		}
		if len(v) != n || spill.Close() != nil {
			t.Errorf("%d values, want %d", len(v), n)
		}
	}
}

// A table whose columns are partly zero reads back the same from a file with
// holes, which takes less room than it is long.
func TestHoles(t *testing.T) {
	const n = 1 << 20
	zeros, spill, err := Zeros[int64](n)
	if err != nil {
		t.Fatal(err)
	}
	more, spill2, err := Zeros[uint32](n)
	if err != nil {
		t.Fatal(err)
	}
	values := make([]int64, n)
	for i := range values {
		values[i] = int64(i) * 7
	}
	tab, err := New("samples", []*Column{
		(&Column{Name: "a", Kind: Number, Data: zeros}).Back(spill), {Name: "b", Kind: Number, Data: values},
		(&Column{Name: "c", Kind: Category, Data: more, Dict: []string{"only"}}).Back(spill2),
	})
	if err != nil {
		t.Fatal(err)
	}
	path := writtenArrow(t, tab)
	var whole bytes.Buffer
	if err := tab.WriteArrow(&whole); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, whole.Bytes()) {
		t.Fatalf("the file with holes differs (%d and %d bytes): %v", len(got), whole.Len(), err)
	}
	back, err := openArrow(path)
	if err != nil {
		t.Fatal(err)
	}
	defer back.Close()
	if back.Column("a").Float(n-1) != 0 || back.Column("b").Float(n-1) != 7*(n-1) || back.Column("c").Text(n-1) != "only" {
		t.Error("the last row is another")
	}
	if err := tab.Close(); err != nil {
		t.Error(err)
	}
}

// TestSettle: values are the same from a file, and closing frees it.
func TestSettle(t *testing.T) {
	valid := NewBits(3)
	valid.Set(0)
	valid.Set(2)
	table, err := New("samples", []*Column{
		{Name: "flag", Kind: Flag, Data: []uint8{1, 0, 1}},
		{Name: "level", Kind: Category, Data: []uint32{1, 0, 1}, Dict: []string{"L1", "L2"}},
		{Name: "cpu", Data: []int32{3, 0, -5}, Valid: valid},
		{Name: "wide", Data: []int64{1 << 40, -1, 0}},
		{Name: "share", Data: []float64{0.5, -2, 1e300}},
		{Name: "addr", Kind: Address, Data: []uint64{1 << 63, 2, 3}},
	})
	if err != nil {
		t.Fatal(err)
	}
	text := func() string {
		var b strings.Builder
		if err := table.WriteCSV(&b, nil); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	want := text()
	for range 2 { // what is settled stays so
		if err := table.Settle(); err != nil {
			t.Fatal(err)
		}
		if table.file == nil {
			t.Fatal("the values are still in memory")
		}
		table.Release()
		if got := text(); got != want {
			t.Errorf("settled:\n%s\nwant:\n%s", got, want)
		}
	}
	if err := table.Close(); err != nil {
		t.Error(err)
	}
	empty, err := New("samples", []*Column{{Name: "cpu", Data: []int32{}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(empty.Settle(), empty.Close()); err != nil {
		t.Error(err)
	}
}

// TestPartsOfAFile: a long column of a table that a file is behind gives back its
// own memory, whole pages that hold its values; closing it leaves the others, and
// what is closed is not touched again.
func TestPartsOfAFile(t *testing.T) {
	const n = spillBytes/4 + 1000 // beyond what a column keeps in memory
	values := make([]int32, n)
	for i := range values {
		values[i] = int32(i) * 3
	}
	made, err := New("samples", []*Column{
		{Name: "flag", Kind: Flag, Data: make([]uint8, n)},
		{Name: "first", Kind: Number, Data: values},
		{Name: "second", Kind: Number, Data: values},
	})
	if err != nil {
		t.Fatal(err)
	}
	path := writtenArrow(t, made)
	opened, err := openArrow(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := made.Settle(); err != nil {
		t.Fatal(err)
	}
	for what, table := range map[string]*Table{"opened": opened, "settled": made} {
		first, second := table.Column("first"), table.Column("second")
		if table.Column("flag").Spill != nil || first.Spill == nil || first.Spill == second.Spill {
			t.Fatalf("%s: the long columns, and only they, have a part each", what)
		}
		page, part := uintptr(os.Getpagesize()), first.Spill.data
		start := uintptr(unsafe.Pointer(&part[0]))
		if before := uintptr(unsafe.Pointer(&first.raw()[0])) - start; start%page != 0 || before >= page || len(part) != int(before)+len(first.raw()) {
			t.Errorf("%s: a part of %d bytes from %#x, %d before the values", what, len(part), start, before)
		}
		if err := first.Spill.Close(); err != nil {
			t.Error(err)
		}
		second.Release()
		if got := second.Float(n - 1); got != 3*(n-1) {
			t.Errorf("%s: the last value is %v after another column was closed", what, got)
		}
		shifted := table.Shifted(1)
		if err := table.Close(); err != nil {
			t.Error(err)
		}
		shifted.Release() // the address may be another's by now
		if table.file.data != nil || second.Spill.data != nil {
			t.Errorf("%s: what is closed can still be released", what)
		}
	}
}

// writtenArrow writes a table as an Arrow file.
func writtenArrow(t *testing.T, of *Table) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "t.arrow")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(of.WriteArrowFile(f), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}
