package replay

import (
	"slices"
	"testing"
)

// TestNestsInSteps: two loops that turn equally often in every step of a loop
// around both are two nests.
func TestNestsInSteps(t *testing.T) {
	tr := &Trace{Threads: []uint32{1}, Codes: []Code{{PC: 0x10}, {PC: 0x20}, {PC: 0x30}, {PC: 0x40}}}
	add := func(code uint32, addr int) {
		tr.Accesses = append(tr.Accesses, Access{Addr: uint64(0x10000 + 8*addr), Code: code, Size: 8})
	}
	const n = 12
	for range 3 {
		for i := range n {
			for j := range n {
				add(0, j*n+i)
				add(1, 1000+j*n+i)
			}
		}
		for j := range n {
			for i := range n {
				add(2, 1000+j*n+i)
				add(3, 2000+j*n+i)
			}
		}
	}
	nests, refused := FindNests(tr)
	if len(nests) != 2 || len(refused) > 0 {
		t.Fatalf("%d nests, refused %v; want 2 nests", len(nests), refused)
	}
	// The second walks rows that follow each other: one loop of all elements.
	for i, want := range [][]int{{3, n, n}, {3, n * n}} {
		if nest := nests[i]; !slices.Equal(nest.Trips, want) {
			t.Errorf("body %v: trips %v, want %v", nest.Body, nest.Trips, want)
		}
	}
	if inner := nests[0].Strides[2][0]; inner != 8*n {
		t.Errorf("the first nest steps %d bytes, want %d", inner, 8*n)
	}
}
