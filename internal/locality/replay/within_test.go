package replay

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/isobath/isobath/internal/locality/platform"
)

// TestRunWithin replays until a cost that is below, at and above what the whole
// costs: a replay that ends has all the counts of Run, and one that does not
// costs more than it may.
func TestRunWithin(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	tr := &Trace{Codes: make([]Code, 8), Threads: []uint32{1, 2}}
	for i := range 3 * cancelEvery {
		a := Access{Addr: 0x1000 + uint64(i)*24, Code: uint32(i % 8), Size: 8, Thread: uint16(i % 2)}
		if i%3 == 0 {
			a.Addr = 0x8000000 + random.Uint64N(1<<22)
		}
		tr.Accesses = append(tr.Accesses, a)
	}
	for _, name := range []string{"classic", "zen2"} { // powers of two, and not
		m, ok := platform.Preset(name)
		if !ok {
			t.Fatal(name)
		}
		whole, err := Run(t.Context(), tr, m, nil, Kept)
		if err != nil {
			t.Fatal(err)
		}
		cost := whole.Cost(m)
		for _, most := range []float64{0, cost / 2, math.Nextafter(cost, 0), cost, 2 * cost, math.Inf(1)} {
			n, within, err := RunWithin(t.Context(), tr, m, nil, Kept, most)
			if err != nil || within != (cost <= most) {
				t.Fatalf("%s: within %g of %g: %v, %v", name, most, cost, within, err)
			}
			if within && !reflect.DeepEqual(n, whole) {
				t.Errorf("%s: %+v, want %+v", name, n, whole)
			}
			if !within && n.Cost(m) <= most {
				t.Errorf("%s: ended at %g of %g", name, n.Cost(m), most)
			}
			if most == cost/2 && n.References == whole.References {
				t.Errorf("%s: did not end early", name)
			}
		}
	}
}
