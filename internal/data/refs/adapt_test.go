package refs

import (
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pieces is a source that hands out at most k records at a time.
type pieces struct {
	all []Ref
	k   int
	has Fields
}

func (p *pieces) Read(dst []Ref) (int, error) {
	n := copy(dst[:min(p.k, len(dst))], p.all)
	p.all = p.all[n:]
	if len(p.all) == 0 {
		return n, io.EOF
	}
	return n, nil
}

func (p *pieces) About() *About { return &About{Has: p.has} }
func (p *pieces) Close() error  { return nil }

func source(k int, all ...Ref) *pieces { return &pieces{all: all, k: k, has: HasPC} }

func TestSplitAndJoin(t *testing.T) {
	whole := []Ref{{Addr: 1, PC: 9, Op: Modify}, {Addr: 2, PC: 8}, {Addr: 3, PC: 8, Op: Store}, {Addr: 4, PC: 7, Op: Modify}, {Addr: 5, PC: 7}}
	halves := []Ref{{Addr: 1, PC: 9}, {Addr: 1, PC: 9, Op: Store}, {Addr: 2, PC: 8}, {Addr: 3, PC: 8, Op: Store},
		{Addr: 4, PC: 7}, {Addr: 4, PC: 7, Op: Store}, {Addr: 5, PC: 7}}
	for k := 1; k < 8; k++ {
		got, err := All(Split(source(k, whole...)))
		if d := cmp.Diff(halves, got); d != "" || err != nil {
			t.Errorf("Split in pieces of %d: %v %s", k, err, d)
		}
		got, err = All(Join(source(k, halves...)))
		if d := cmp.Diff(whole, got); d != "" || err != nil {
			t.Errorf("Join in pieces of %d: %v %s", k, err, d)
		}
	}
	noPC := source(3, halves...)
	noPC.has = 0
	if got, _ := All(Join(noPC)); len(got) != len(halves) {
		t.Errorf("Join without instructions gave %d of %d records", len(got), len(halves))
	}
}

func TestRegion(t *testing.T) {
	all := []Ref{{PC: 50}, {PC: 10}, {PC: 11}, {PC: 50}, {PC: 51}, {PC: 20}, {PC: 50}}
	for k := 1; k < 8; k++ {
		got, err := All(Region(source(k, all...), Range{10, 12}, Range{20, 22}))
		if d := cmp.Diff([]Ref{{PC: 50}, {PC: 51}}, got); d != "" || err != nil {
			t.Errorf("in pieces of %d: %v %s", k, err, d)
		}
	}
}

func TestCount(t *testing.T) {
	c, err := Count(t.Context(), source(2, Ref{Addr: 1, PC: 1, Thread: 5}, Ref{Addr: 2, PC: 1, Op: Store, Thread: 6}, Ref{Addr: 3, PC: 1, Op: Modify, Thread: 5}))
	if err != nil {
		t.Fatal(err)
	}
	want := &Counts{Records: 3, Loads: 1, Stores: 1, Modifies: 1, Symbols: 1, Addresses: 3, Threads: 2, ByThread: []Thread{{5, 2}, {6, 1}}}
	if d := cmp.Diff(want, c); d != "" {
		t.Error(d)
	}
}
