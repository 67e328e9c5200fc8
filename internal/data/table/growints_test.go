package table

import (
	"fmt"
	"testing"
)

// Whole numbers stay in 32 bits until one does not fit, wherever it comes.
func TestGrowingInts(t *testing.T) {
	const n = 3 * spillBytes / 4 // beyond what is kept in memory
	for _, tt := range []struct {
		at   int // of the first large number; -1 is none
		want string
	}{{-1, "[]int32"}, {0, "[]int64"}, {5000, "[]int64"}, {n - 1, "[]int64"}} {
		value := func(i int) int64 {
			switch {
			case i%7 == 3:
				return 0 // left out, and padded
			case tt.at >= 0 && i == tt.at:
				return -1 << 40
			}
			return int64(i) - 100
		}
		var g GrowingInts
		for i := range n {
			if v := value(i); v != 0 {
				g.Pad(i)
				g.Append(v)
			}
		}
		g.Pad(n)
		if g.Len() != n {
			t.Fatalf("%d values, want %d", g.Len(), n)
		}
		data, spill, err := g.Values()
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%T", data); got != tt.want {
			t.Errorf("a large number at %d: %s, want %s", tt.at, got, tt.want)
		}
		c := Column{Data: data}
		for i := range n {
			if got := int64(c.Float(i)); got != value(i) {
				t.Fatalf("a large number at %d: value %d is %d, want %d", tt.at, i, got, value(i))
			}
		}
		if err := spill.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestGrowingIntsRoom(t *testing.T) {
	var g GrowingInts
	narrow, wide := g.Room(3)
	if len(narrow) != 3 || wide != nil {
		t.Fatalf("%d and %d values of room", len(narrow), len(wide))
	}
	copy(narrow, []int32{1, 2, 3})
	g.Widen()
	narrow, wide = g.Room(2)
	if narrow != nil || len(wide) != 2 {
		t.Fatalf("%d and %d values of room", len(narrow), len(wide))
	}
	copy(wide, []int64{4, 1 << 33})
	data, _, err := g.Values()
	if got := fmt.Sprint(data); err != nil || got != "[1 2 3 4 8589934592]" {
		t.Errorf("%s, %v", got, err)
	}
}
