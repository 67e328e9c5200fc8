package logical

import (
	"context"
	"errors"
	"hash/maphash"
	"slices"

	"github.com/isobath/isobath/internal/messages/trace"
)

// Alignment pairs the operations of two runs of a program: here and there. It
// does not look at the clock, so what differs in time is compared like with
// like.
type Alignment struct {
	Here, There *Structure
	Of          []int32 // operation here to its partner there, or None
	From        []int32 // and back
	Matched     int
	Moved       int // pairs whose steps differ
	Ranks       int // processes that both have
}

// ErrNothingAlike says that two traces share no operation.
var ErrNothingAlike = errors.New("the two traces have no operation in common: they are not runs of the same program")

// maxEdits bounds how many operations of a process may be missing on either
// side before its rest is left without partners: the search costs their square.
const maxEdits = 1000

// Align pairs the operations of two structures. On each rank the longest common
// sequence of calls (kind, name and partners) is found; what is left between two
// pairs is then paired by kind and name alone, as a receive from any source may
// have taken another message.
func Align(ctx context.Context, here, there *Structure) (*Alignment, error) {
	a := &Alignment{Here: here, There: there, Of: slices.Repeat([]int32{None}, here.Len()), From: slices.Repeat([]int32{None}, there.Len())}
	at := there.byRank()
	seed := maphash.MakeSeed()
	h, t := here.signatures(seed), there.signatures(seed)
	for p := range here.Trace.Procs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		q, ok := at[here.rankKey(int32(p))]
		if !ok {
			continue
		}
		a.Ranks++
		a.process(int32(p), q, h, t)
	}
	a.agree()
	for i, j := range a.Of {
		if j >= 0 {
			a.From[j] = int32(i)
			a.Matched++
			if here.Step[i] != there.Step[j] {
				a.Moved++
			}
		}
	}
	if a.Matched == 0 {
		return nil, ErrNothingAlike
	}
	return a, nil
}

// rankKey tells the processes of a trace apart across runs: the rank, and which
// of its threads.
type rankKey struct{ rank, thread int32 }

func (s *Structure) rankKey(p int32) rankKey {
	at := &s.Trace.Procs[p]
	if at.Rank < 0 {
		return rankKey{None, p}
	}
	return rankKey{at.Rank, p - at.Home}
}

func (s *Structure) byRank() map[rankKey]int32 {
	out := map[rankKey]int32{}
	for p := range s.Trace.Procs {
		out[s.rankKey(int32(p))] = int32(p)
	}
	return out
}

// signatures returns two hashes of each operation: of its call and partners, and
// of its call alone.
func (s *Structure) signatures(seed maphash.Seed) (out struct{ whole, call []uint64 }) {
	n := s.Len()
	out.whole, out.call = make([]uint64, n), make([]uint64, n)
	names := make([]uint64, len(s.Trace.Regions))
	for r := range names {
		names[r] = maphash.String(seed, s.Trace.Regions[r].Name)
	}
	for i := range int32(n) {
		call := maphash.Comparable(seed, [2]uint64{names[s.Trace.Ops.Region[s.First[i]]], uint64(s.Kind[i])})
		partners := uint64(0) // a sum: their order says nothing
		add := func(u int32) { partners += maphash.Comparable(seed, s.rankKey(s.Proc[u])) }
		s.Senders(i, add)
		s.Receivers(i, add)
		if s.Kind[i] == trace.Collective {
			partners += uint64(len(s.Collective(i)))
		}
		out.call[i], out.whole[i] = call, maphash.Comparable(seed, [2]uint64{call, partners})
	}
	return out
}

// process pairs the operations of one process.
func (a *Alignment) process(p, q int32, h, t struct{ whole, call []uint64 }) {
	i0, i1, j0, j1 := a.Here.Start[p], a.Here.Start[p+1], a.There.Start[q], a.There.Start[q+1]
	a.pairs(i0, i1, j0, j1, h.whole, t.whole)
	// The gaps between pairs, once more by call alone.
	i, j := i0, j0
	for i < i1 || j < j1 {
		e := i
		for e < i1 && a.Of[e] < 0 {
			e++
		}
		f := j1
		if e < i1 {
			f = a.Of[e]
		}
		if e > i && f > j {
			a.pairs(i, e, j, f, h.call, t.call)
		}
		i, j = e+1, f+1
	}
}

// pairs finds the longest common subsequence of two stretches (Myers 1986).
func (a *Alignment) pairs(i0, i1, j0, j1 int32, h, t []uint64) {
	for i0 < i1 && j0 < j1 && h[i0] == t[j0] {
		a.Of[i0] = j0
		i0, j0 = i0+1, j0+1
	}
	for i0 < i1 && j0 < j1 && h[i1-1] == t[j1-1] {
		i1, j1 = i1-1, j1-1
		a.Of[i1] = j1
	}
	n, m := int(i1-i0), int(j1-j0)
	if n == 0 || m == 0 {
		return
	}
	most := min(n+m, maxEdits)
	far := make([]int32, 2*most+2) // on diagonal k: how far along the first
	var trail [][]int32
	at := func(v []int32, k, d int) int32 { return v[k+d] } // v holds the diagonals -d to d
	for d := 0; d <= most; d++ {
		for k := -d; k <= d; k += 2 {
			x := far[most+k] // unused at d = 0
			if d > 0 {
				if k == -d || k != d && far[most+k-1] < far[most+k+1] {
					x = far[most+k+1]
				} else {
					x = far[most+k-1] + 1
				}
			}
			for int(x) < n && int(x)-k < m && int(x)-k >= 0 && h[int(i0)+int(x)] == t[int(j0)+int(x)-k] {
				x++
			}
			far[most+k] = x
			if int(x) >= n && int(x)-k >= m {
				trail = append(trail, slices.Clone(far[most-d:most+d+1]))
				a.walkBack(trail, at, n, m, i0, j0)
				return
			}
		}
		trail = append(trail, slices.Clone(far[most-d:most+d+1]))
	}
}

// walkBack pairs what lies on the diagonals of the shortest edit, from its end.
func (a *Alignment) walkBack(trail [][]int32, at func([]int32, int, int) int32, n, m int, i0, j0 int32) {
	x, y := n, m
	for d := len(trail) - 1; d >= 0 && (x > 0 || y > 0); d-- {
		k := x - y
		px, py := 0, 0
		if d > 0 {
			before := trail[d-1]
			from := k - 1
			if k == -d || k != d && at(before, k-1, d-1) < at(before, k+1, d-1) {
				from = k + 1
			}
			px = int(at(before, from, d-1))
			py = px - from
		}
		for x > px && y > py && x > 0 && y > 0 {
			x, y = x-1, y-1
			a.Of[i0+int32(x)] = j0 + int32(y)
		}
		x, y = px, py
	}
}

// agree drops pairs that take the members of one collective to different ones:
// the one most of them agree on counts.
func (a *Alignment) agree() {
	h, t := a.Here, a.There
	instance := func(s *Structure, op int32) int32 { return s.Trace.Ops.Ref[s.First[op]] }
	c := &h.Trace.Colls
	votes := map[int32]int{}
	for id := range c.Comm {
		clear(votes)
		best := None
		members := c.Member[c.Start[id]:c.Start[id+1]]
		for _, m := range members {
			if j := a.Of[h.Of(m)]; j >= 0 && t.Kind[j] == trace.Collective {
				to := instance(t, j)
				votes[to]++
				if best < 0 || votes[to] > votes[best] {
					best = to
				}
			}
		}
		if len(votes) < 2 {
			continue
		}
		for _, m := range members {
			if i := h.Of(m); a.Of[i] >= 0 && instance(t, a.Of[i]) != best {
				a.Of[i] = None
			}
		}
	}
}
