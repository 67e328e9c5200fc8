package compare

import (
	"context"
	"fmt"
	"math"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/memory/guide"
)

// Remapped is an index of the domain whose neighbours are worked on in another way
// than before: apart in one side and together in the other.
type Remapped struct {
	Index string `json:"index"`
	Part  string `json:"part"` // of the machine, such as a package
	// A and B are how often two samples of neighbouring values come from one part.
	A float64 `json:"a"`
	B float64 `json:"b"`
}

// leastRemapped keeps runs apart from one another that are just on either side of
// what counts as scattered.
const leastRemapped = 0.25

// remapped compares how one run of each side was laid on the machine. What is
// selected of a run says nothing about that.
func remapped(ctx context.Context, a, b *Run) (*Remapped, error) {
	if a.Where != nil || b.Where != nil {
		return nil, nil
	}
	before := map[string]guide.Neighbours{}
	inA, err := guide.NeighboursOf(ctx, a.Table, a.Topology, a.Engine)
	if err != nil {
		return nil, err
	}
	for _, n := range inA {
		before[n.Index] = n
	}
	inB, err := guide.NeighboursOf(ctx, b.Table, b.Topology, b.Engine)
	if err != nil {
		return nil, err
	}
	for _, n := range inB {
		was, ok := before[n.Index]
		if ok && was.Part == n.Part && was.Apart != n.Apart && math.Abs(n.Across-was.Across) >= leastRemapped {
			return &Remapped{Index: n.Index, Part: n.Part, A: was.Across, B: n.Across}, nil
		}
	}
	return nil, nil
}

func (r *Remapped) text() string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf("; neighbouring %s share a %s in %s of cases, %s in A", r.Index, r.Part, term.Percent(r.B), term.Percent(r.A))
}
