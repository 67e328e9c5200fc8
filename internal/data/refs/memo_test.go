package refs

import (
	"math/rand/v2"
	"testing"
)

// A memo numbers keys as a map does, however often it grows.
func TestMemo(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	m, want := NewMemo(), map[Key]uint32{}
	if id, ok := m.Get(Key{}); ok {
		t.Errorf("the zero key has number %d before it was met", id)
	}
	for range 50_000 {
		k := Key{rng.Uint64N(3000), rng.Uint64N(2)}
		if _, ok := want[k]; !ok {
			want[k] = uint32(len(want))
		}
		if got := m.Number(k); got != want[k] {
			t.Fatalf("key %v: number %d, want %d", k, got, want[k])
		}
	}
	if m.Len() != len(want) {
		t.Errorf("%d keys, want %d", m.Len(), len(want))
	}
	m.Put(Key{9999, 9}, 7)
	if id, ok := m.Get(Key{9999, 9}); !ok || id != 7 {
		t.Errorf("a key that was given 7 has %d, %v", id, ok)
	}
}
