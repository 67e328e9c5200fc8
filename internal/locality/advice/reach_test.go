package advice

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/refs"
)

const nodes, nodeBytes, objectStart = 6000, 32, 0x100000

// element is a load of eight bytes of an element of the object.
func element(e int, offset uint64) refs.Ref {
	return refs.Ref{Addr: objectStart + uint64(e)*nodeBytes + offset, Size: 8, PC: 16 + offset, Place: 1, Object: 1}
}

// outside is a load from elsewhere.
func outside(addr uint64) refs.Ref {
	return refs.Ref{Addr: addr, Size: 8, PC: 1, Place: 1}
}

// walks are ways to visit the elements of an object out of order, four times.
// Some follow what is stored, others compute where to go.
func walks() map[string]struct {
	stored bool
	refs   []refs.Ref
} {
	r := rand.New(rand.NewPCG(5, 6))
	order := r.Perm(nodes)
	out := map[string]struct {
		stored bool
		refs   []refs.Ref
	}{}
	add := func(name string, stored bool, visit func(round, i int) []refs.Ref) {
		var all []refs.Ref
		for round := range 4 {
			for i := range nodes {
				all = append(all, visit(round, i)...)
			}
		}
		out[name] = struct {
			stored bool
			refs   []refs.Ref
		}{stored, all}
	}
	add("list", true, func(_, i int) []refs.Ref { return []refs.Ref{element(order[i], 8), element(order[i], 0)} })
	add("list without optimisation", true, func(_, i int) []refs.Ref {
		const p = 0x7000_0000 // the pointer, on the stack
		return []refs.Ref{outside(p), outside(p), element(order[i], 8), outside(p), element(order[i], 0)}
	})
	add("numbers in an array", true, func(_, i int) []refs.Ref {
		return []refs.Ref{outside(0x900000 + 8*uint64(i)), element(order[i], 0), element(order[i], 8)}
	})
	add("hash of keys that are drawn", false, func(int, int) []refs.Ref {
		e := r.IntN(nodes)
		return []refs.Ref{element(e, 0), element(e, 8)}
	})
	add("hash of keys that are read once", false, func(round, i int) []refs.Ref {
		e := r.IntN(nodes)
		return []refs.Ref{outside(0x900000 + 8*uint64(round*nodes+i)), element(e, 0), element(e, 8)}
	})
	add("hash of keys that are read again", false, func(_, i int) []refs.Ref {
		e := order[i] * 7919 % (nodes / 3) * 3 // a third of the slots is in use
		return []refs.Ref{outside(0x900000 + 8*uint64(i)), element(e, 0), element(e, 8)}
	})
	add("bisection", false, func(int, int) (all []refs.Ref) {
		low, high, want := 0, nodes, r.IntN(nodes)
		for low < high {
			mid := (low + high) / 2
			if all = append(all, element(mid, 0)); mid < want {
				low = mid + 1
			} else {
				high = mid
			}
		}
		return all
	})
	return out
}

// TestOrderOfWhatIsStored: elements are offered in the order of their first use
// only where pointers or numbers in memory lead to them; a programmer cannot
// choose the places of others.
func TestOrderOfWhatIsStored(t *testing.T) {
	for name, w := range walks() {
		t.Run(name, func(t *testing.T) {
			tr, table := recorded(t, w.refs)
			r, err := Find(context.Background(), tr, table, Options{Machine: classic(t), Least: DefaultLeast})
			if err != nil {
				t.Fatal(err)
			}
			offered := slices.ContainsFunc(r.Advice, func(a *Advice) bool {
				return a.Kind == Order || slices.ContainsFunc(a.Instead, func(a *Advice) bool { return a.Kind == Order })
			})
			said := slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "not offered in the order of their first use") })
			// Free slots of a hash table and branches of a tree that nobody walks look alike.
			if i := slices.IndexFunc(r.Notes, func(n string) bool { return strings.Contains(n, "hash") }); i >= 0 {
				t.Errorf("says of what references do not tell: %q", r.Notes[i])
			}
			if offered && !w.stored || said && w.stored {
				t.Errorf("offered: %v, said to be computed: %v; notes %q", offered, said, r.Notes)
			}
			if w.stored && !offered {
				t.Errorf("not offered: %s; notes %q", r.Silence, r.Notes)
			}
		})
	}
}

// TestReachCounts: of the four rounds of a list the last three tell where each
// pointer leads, but for the ends; keys that are drawn lead nowhere.
func TestReachCounts(t *testing.T) {
	all := walks()
	for name, want := range map[string]uint64{"list": 3 * nodes, "list without optimisation": 3 * nodes, "numbers in an array": 3 * nodes} {
		tr, table := recorded(t, all[name].refs)
		infer(tr, table)
		r := newProfile(table.Objects[1]).reachOf(tr)
		if known, led := r.best(); r.visits != 4*nodes || known != led || led > want+4 || led < want-want/100 {
			t.Errorf("%s: of %d visits %d tell, %d lead; want %d", name, r.visits, known, led, want)
		}
	}
}
