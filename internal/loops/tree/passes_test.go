package tree

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/data/refs"
)

// way is references of a program whose loops are known, without its control flow.
type way []refs.Ref

func (w *way) load(pc, addr int) { w.in(1, pc, addr) }

func (w *way) in(thread uint32, pc, addr int) {
	*w = append(*w, refs.Ref{Thread: thread, PC: uint64(0x401000 + pc), Addr: uint64(0x100000 + addr), Size: 8})
}

// built is the tree of references alone, with how many lie in each loop.
func (w way) built(t *testing.T) (*Tree, []uint64) {
	t.Helper()
	var inside []uint64
	found, err := Build(t.Context(), Input{
		Open: func() (refs.Reader, error) {
			return &kept{about: &refs.About{Has: refs.HasPC | refs.HasSize | refs.HasThread}, left: w}, nil
		},
		Visit: func(_ *refs.Ref, around []int) {
			for _, l := range around {
				for len(inside) <= l {
					inside = append(inside, 0)
				}
				inside[l]++
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return found, inside
}

// kept is references in memory.
type kept struct {
	about *refs.About
	left  []refs.Ref
}

func (k *kept) About() *refs.About { return k.about }
func (k *kept) Close() error       { return nil }

func (k *kept) Read(dst []refs.Ref) (int, error) {
	n := copy(dst, k.left)
	k.left = k.left[n:]
	if len(k.left) == 0 {
		return n, io.EOF
	}
	return n, nil
}

// nest says the loops of a tree, outermost first: trips in entries.
func nest(t *Tree) []string {
	var out []string
	var below func(parent int)
	below = func(parent int) {
		for i := range t.Loops {
			if l := &t.Loops[i]; l.Parent == parent {
				out = append(out, fmt.Sprintf("%d/%d", l.Trips.Trips, l.Entries))
				below(i)
			}
		}
	}
	below(-1)
	return out
}

// TestLoopsThatMakeNoReferences: of nests whose outer loops make no references, a
// trace without control flow has the inner one alone; its addresses tell the
// others. What looks alike and is no nest stays one loop.
func TestLoopsThatMakeNoReferences(t *testing.T) {
	const n = 24
	product := func(stores bool) way {
		var w way
		for i := range n {
			for j := range n {
				for k := range n {
					w.load(0, 8*(i*n+k))
					w.load(4, 100000+8*(k*n+j))
				}
				if stores {
					w.load(8, 200000+8*(i*n+j))
				}
			}
		}
		return w
	}
	for name, c := range map[string]struct {
		way  func() way
		want []string
	}{
		"a product, kept in a register": {func() way { return product(false) }, []string{"24/1", "576/24", "13824/576"}},
		"a product, stored":             {func() way { return product(true) }, []string{"24/1", "576/24", "13824/576"}},
		"steps over a vector": {func() (w way) {
			for range 7 {
				for i := range 100 {
					w.load(0, 8*i)
					w.load(4, 5000+8*i)
				}
			}
			return w
		}, []string{"7/1", "700/7"}},
		"a matrix that goes on, a vector that begins anew": {func() (w way) {
			for i := range 10 {
				for j := range 30 {
					w.load(0, 8*(30*i+j))
					w.load(4, 90000+8*j)
				}
			}
			return w
		}, []string{"10/1", "300/10"}},
		"a column at a time": {func() (w way) {
			for j := range 20 {
				for i := range 50 {
					w.load(0, 8*(20*i+j))
				}
			}
			return w
		}, []string{"20/1", "1000/20"}},
		"two threads with other shares": {func() (w way) {
			for thread, rows := range []int{6, 9} {
				for i := range rows {
					for k := range 16 {
						w.in(uint32(thread+1), 0, 4000*thread+8*k)
						w.in(uint32(thread+1), 4, 90000+4000*thread+8*(40*k+i))
					}
				}
			}
			return w
		}, []string{"15/2", "240/15"}},
		"entries that are seen": {func() (w way) {
			for i := range 5 {
				w.load(0, 90000+8*i)
				for range 3 {
					for k := range 8 {
						w.load(4, 8*k)
					}
				}
			}
			return w
		}, []string{"5/1", "15/5", "120/15"}},
		// What follows is one loop, or cannot be told.
		"one vector": {func() (w way) {
			for i := range 500 {
				w.load(0, 8*i)
			}
			return w
		}, []string{"500/1"}},
		"two values in turn": {func() (w way) {
			for i := range 500 {
				w.load(0, 8*(i%2))
			}
			return w
		}, []string{"500/1"}},
		"any order": {func() (w way) {
			r := rand.New(rand.NewPCG(1, 2))
			for range 5000 {
				w.load(0, 8*r.IntN(1000))
			}
			return w
		}, []string{"5000/1"}},
		"a triangle": {func() (w way) {
			for i := range 30 {
				for j := range i + 4 {
					w.load(0, 8*j)
				}
			}
			return w
		}, []string{"555/1"}},
		"a pass that ends early": {func() (w way) {
			for i := range 1003 {
				w.load(0, 8*(i%10))
			}
			return w
		}, []string{"1003/1"}},
		"passes that contradict each other": {func() (w way) {
			for i := range 1200 {
				w.load(0, 8*(i%8))
				w.load(4, 9000+8*(i%12))
			}
			return w
		}, []string{"1200/1"}},
		"entries of different length": {func() (w way) {
			for i := range 6 {
				w.load(0, 90000+8*i)
				for k := range 8 * (1 + i%2) {
					w.load(4, 8*(k%8))
				}
			}
			return w
		}, []string{"6/1", "72/6"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := c.way()
			found, inside := w.built(t)
			if got := nest(found); !slices.Equal(got, c.want) {
				t.Fatalf("loops %v, want %v", got, c.want)
			}
			names := map[string]bool{}
			for i := range found.Loops {
				l := &found.Loops[i]
				if l.Exact || l.Why == "" {
					t.Errorf("%s: what was rebuilt is shown as exact", l.Where())
				}
				if i >= len(inside) || inside[i] != l.References {
					t.Errorf("%s: has %d references, and visits told of %v", l.Where(), l.References, inside)
				}
				if l.Depth > 0 && l.References > found.Loops[l.Parent].References {
					t.Errorf("%s: more references than what is around it", l.Where())
				}
				names[l.Where()] = true
			}
			if len(c.want) == 2 && len(names) != 2 {
				t.Errorf("loops are called alike: %v", names)
			}
			for i, node := range found.Nodes {
				if node.Parent >= 0 && found.Loops[node.Loop].Parent != found.Nodes[node.Parent].Loop {
					t.Errorf("node %d lies in another loop than its row", i)
				}
			}
		})
	}
}

// TestStridesOfPasses: how an address moves with the turns of loops that make no
// references.
func TestStridesOfPasses(t *testing.T) {
	var w way
	for i := range 6 {
		for j := range 5 {
			for k := range 4 {
				w.load(0, 8*(4*i+k))       // a[i][k]
				w.load(4, 9000+8*(5*k+j))  // b[k][j]
				w.load(8, 20000+8*(5*i+j)) // c[i][j]
				w.load(12, 30000)          // one value
			}
		}
	}
	found, _ := w.built(t)
	at := slices.IndexFunc(found.Loops, func(l Loop) bool { return l.Own > 0 })
	for i, want := range [][]int64{{8, 0, 32}, {40, 8, 0}, {0, 8, 40}, {0, 0, 0}} {
		a := found.Loops[at].Accesses[i]
		var got []int64
		for _, s := range a.Strides {
			got = append(got, s.Bytes)
		}
		if a.Irregular != 0 || !slices.Equal(got, want) {
			t.Errorf("access %d: strides %v, %d irregular, want %v", i, got, a.Irregular, want)
		}
	}
}
