package logical

import (
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/messages/mpiprog"
	"github.com/isobath/isobath/internal/messages/trace"
)

// TestClassify: each shape by its own pairs, and the same with one pair less,
// which must not be called regular.
func TestClassify(t *testing.T) {
	each := func(n int, peers func(u int) []int) [][2]int32 {
		var out [][2]int32
		for u := range n {
			for _, v := range peers(u) {
				out = append(out, [2]int32{int32(u), int32(v)})
			}
		}
		return out
	}
	tests := []struct {
		want string
		n    int
		of   func(u int) []int
	}{
		{"ring", 6, func(u int) []int { return []int{(u + 1) % 6} }},
		{"shift by 2", 5, func(u int) []int { return []int{(u + 2) % 5} }},
		{"ring, both ways", 7, func(u int) []int { return []int{(u + 1) % 7, (u + 6) % 7} }},
		{"dissemination", 10, func(u int) []int { return []int{(u + 1) % 10, (u + 2) % 10, (u + 4) % 10, (u + 8) % 10} }},
		{"hypercube", 8, func(u int) []int { return []int{u ^ 1, u ^ 2, u ^ 4} }},
		{"stencil on a 3 x 5 grid", 15, func(u int) []int { return neighbours(u, []int{3, 5}, false, false) }},
		{"stencil on a 4 x 4 grid with corners", 16, func(u int) []int { return neighbours(u, []int{4, 4}, true, false) }},
		{"stencil on a 5 x 5 grid, periodic", 25, func(u int) []int { return neighbours(u, []int{5, 5}, false, true) }},
		{"stencil on a 3 x 3 x 3 grid", 27, func(u int) []int { return neighbours(u, []int{3, 3, 3}, false, false) }},
		{"stencil on a line", 9, func(u int) []int { return neighbours(u, []int{9}, false, false) }},
		{"all-to-all", 4, func(u int) []int { return []int{(u + 1) % 4, (u + 2) % 4, (u + 3) % 4} }},
		{"tree", 7, func(u int) []int {
			if u == 0 {
				return nil
			}
			return []int{(u - 1) / 2}
		}},
		{"star around process 0", 6, func(u int) []int {
			if u == 0 {
				return nil
			}
			return []int{0}
		}},
	}
	for _, tt := range tests {
		pairs := each(tt.n, tt.of)
		if got := classify(pairs, tt.n); got != tt.want {
			t.Errorf("%d processes: %q, want %q", tt.n, got, tt.want)
		}
		if got := classify(pairs[1:], tt.n); got == tt.want && tt.want != "tree" && tt.want != "star around process 0" {
			t.Errorf("%q with a pair missing is still called that", got)
		}
	}
}

// TestPartitionPattern names what single partitions do.
func TestPartitionPattern(t *testing.T) {
	s := simulate(t, 6, Default(), func(p *mpiprog.Program) { p.Halo(2, 3, 1, -1, 0, 0) })
	for q, want := range []string{"stencil on a 2 x 3 grid", "collective"} {
		if got := s.PartitionPattern(int32(q)); got != want {
			t.Errorf("partition %d: %q, want %q", q, got, want)
		}
	}
}

// TestNonBlockingCollective: the start is a send, the completion a receive; a
// late start makes completions late and is found as their cause.
func TestNonBlockingCollective(t *testing.T) {
	s := simulate(t, 4, Default(), func(p *mpiprog.Program) {
		p.Collective(mpiprog.World, mpiprog.Barrier)
		k := p.NewCollective(mpiprog.World, mpiprog.Allreduce)
		p.Compute(2, 3_000_000)
		q := make([]*mpiprog.Request, 4)
		for r := range 4 {
			q[r] = p.Start(r, k)
		}
		for r := range 4 {
			p.Compute(r, 1000)
			p.Waitall(r, q[r])
		}
		b := p.NewCollective(mpiprog.World, mpiprog.Bcast)
		for r := range 4 {
			q[r] = p.Start(r, b)
		}
		for r := range 4 {
			p.Waitall(r, q[r])
		}
	})
	if len(s.Trace.Async.Comm) != 2 || s.Steps != 5 {
		t.Fatalf("%d non-blocking collectives, %d steps; want 2, 5", len(s.Trace.Async.Comm), s.Steps)
	}
	if err := verify(s); err != nil {
		t.Error(err)
	}
	c := causes(t, s, CauseOptions{Threshold: 1_000_000})
	if e := c.List[0]; s.Proc[e.Op] != 2 || e.Case != Computation || e.Amount < 2_900_000 {
		t.Errorf("first cause: rank %d, %v, %d; want rank 2, compute, 3 ms", s.Proc[e.Op], e.Case, e.Amount)
	}
	if got := s.Name(s.Start[0] + 1); got != "MPI_IAllreduce" {
		t.Errorf("the start is %q", got)
	}
}

// PartitionPattern names the exchange inside one partition.
func (s *Structure) PartitionPattern(q int32) string {
	var pairs [][2]int32
	collective := true
	for _, r := range s.Parts.Runs(q) {
		for op := r.From; op < r.To; op++ {
			collective = collective && s.Kind[op] == trace.Collective
			s.Receivers(op, func(v int32) { pairs = append(pairs, [2]int32{s.Proc[op], s.Proc[v]}) })
		}
	}
	if collective {
		return "collective"
	}
	slices.SortFunc(pairs, func(a, b [2]int32) int {
		if a[0] != b[0] {
			return int(a[0] - b[0])
		}
		return int(a[1] - b[1])
	})
	if len(pairs) == 0 {
		return "no message"
	}
	return classify(slices.Compact(pairs), len(s.Trace.Procs))
}
