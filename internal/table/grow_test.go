package table

import (
	"os"
	"testing"
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
