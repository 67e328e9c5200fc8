package table

import (
	"context"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/base/parallel"
)

// TestShelf puts slices of many workers away and takes them back.
func TestShelf(t *testing.T) {
	type kept struct {
		small []uint8
		wide  []int64
		none  []int32
		empty []int32
	}
	const n = 50
	work := make([]kept, n)
	var s Shelf
	err := parallel.Each(t.Context(), n, func(_ context.Context, _, i int) error {
		k := &work[i]
		k.empty = []int32{}
		for v := range 10 * i {
			k.small, k.wide = append(k.small, uint8(v)), append(k.wide, int64(v*i))
		}
		if err := s.Put(Shelve(&k.small), Shelve(&k.wide), Shelve(&k.none), Shelve(&k.empty)); err != nil {
			return err
		}
		if len(k.small)+len(k.wide) > 0 {
			t.Errorf("%d is still in memory", i)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Take(); err != nil {
		t.Fatal(err)
	}
	for round := range 2 { // what was written outlives the pages
		for i := range work {
			k := &work[i]
			if len(k.small) != 10*i || len(k.wide) != 10*i || k.none != nil || k.empty == nil {
				t.Fatalf("%d: %d and %d values, %v %v", i, len(k.small), len(k.wide), k.none, k.empty)
			}
			for v := range k.wide {
				if k.small[v] != uint8(v) || k.wide[v] != int64(v*i+round) {
					t.Fatalf("%d: value %d is %d and %d", i, v, k.small[v], k.wide[v])
				}
				k.wide[v]++
			}
		}
		s.Release()
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := new(Shelf).Close(); err != nil {
		t.Error(err)
	}
}

func TestRoom(t *testing.T) {
	values, spill, err := Room[int32](300_000)
	if err != nil {
		t.Fatal(err)
	}
	if len(values) != 300_000 || slices.ContainsFunc(values, func(v int32) bool { return v != 0 }) {
		t.Fatal("room is not zeros")
	}
	values[299_999] = 7
	spill.Release()
	if values[299_999] != 7 || values[0] != 0 {
		t.Error("what was written is lost")
	}
	if err := spill.Close(); err != nil {
		t.Error(err)
	}
	if values, spill, err := Room[int64](0); values != nil || spill.Close() != nil || err != nil {
		t.Errorf("no room: %v %v", values, err)
	}
	f, err := unnamed()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := writeZeros(f, 3<<20+5); err != nil {
		t.Fatal(err)
	}
	if info, err := f.Stat(); err != nil || info.Size() != 3<<20+5 {
		t.Errorf("%v %v", info, err)
	}
}
