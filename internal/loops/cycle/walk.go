package cycle

import (
	"context"
	"math"
	"slices"
)

// Walk is the trace as a walk over the points: the distinct steps, and how
// often each is taken. Sums along the trace need no more than that.
type Walk struct {
	start []int32 // steps leaving point u are start[u] to start[u+1]
	to    []uint32
	Count []uint64
}

// newWalk counts the steps from window to window.
func newWalk(p *Points) *Walk {
	index, points := p.Index, p.Len()
	// Nearly every point has one or two successors, so a list per point is
	// found faster than a hash.
	type succ struct {
		to    uint32
		count uint64
	}
	next := make([][]succ, points)
	for from, part := range p.files.parts(index) {
		for t := max(from, 1); t < from+len(part); t++ {
			u, v := index[t-1], index[t]
			l := next[u]
			k := slices.IndexFunc(l, func(s succ) bool { return s.to == v })
			if k < 0 {
				next[u] = append(l, succ{v, 1})
				continue
			}
			l[k].count++
		}
	}
	w := &Walk{start: make([]int32, points+1)}
	for u, l := range next {
		for _, s := range l {
			w.to = append(w.to, s.to)
			w.Count = append(w.Count, s.count)
		}
		w.start[u+1] = int32(len(w.to))
	}
	return w
}

// Steps is the number of distinct steps.
func (w *Walk) Steps() int { return len(w.to) }

// Step finds the number of the step from u to v, which must be in the walk.
func (w *Walk) Step(u, v uint32) int32 {
	for k := w.start[u]; k < w.start[u+1]; k++ {
		if w.to[k] == v {
			return k
		}
	}
	panic("cycle: a step that is not in the walk")
}

// each calls visit with every distinct step.
func (w *Walk) each(visit func(step, u, v int)) {
	for u := 0; u+1 < len(w.start); u++ {
		for k := w.start[u]; k < w.start[u+1]; k++ {
			visit(int(k), u, int(w.to[k]))
		}
	}
}

// longest is the largest distance that one step of the walk covers.
func (w *Walk) longest(m *Matrix) int {
	d := 0
	w.each(func(_, u, v int) {
		if u != v {
			d = max(d, m.At(u, v))
		}
	})
	return d
}

// returns holds, for every point, how the classes wind between one visit of it
// and the next. A loop that starts and ends at one point winds a whole number
// of times, exactly.
type returns struct {
	classes int
	visits  []uint32
	closed  [][]int64 // per point: winding from its first to its last visit
	kinds   [][]turn  // per point: distinct windings between visits, the first few
	all     []affine  // per point: the space of all of them
	scratch []uint64
}

// turn is one way of coming back to a point.
type turn struct {
	winding []int64
	count   uint64
	at      int32 // the window where the shortest one starts
	length  int32 // and its steps
}

// maxKinds bounds the distinct ways back that are kept per point. A point of an
// outer loop has as many as there are passes.
const maxKinds = 16

// follow walks the trace once and notes the returns to every point. winding
// gives for each class the winding of each step.
func follow(ctx context.Context, p *Points, w *Walk, winding [][]int32) (*returns, error) {
	index, points, k := p.Index, p.Len(), len(winding)
	r := &returns{classes: k, visits: make([]uint32, points), closed: make([][]int64, points), kinds: make([][]turn, points),
		all: make([]affine, points), scratch: make([]uint64, k)}
	first := make([]int64, points*k)
	last := make([]int64, points*k)
	when := make([]int32, points)
	now := make([]int64, k)
	for from, part := range p.files.parts(index) {
		for i, u := range part {
			t := from + i
			if t&0xffff == 0xffff && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if t > 0 && index[t-1] != u {
				s := w.Step(index[t-1], u)
				for c := range now {
					now[c] += int64(winding[c][s])
				}
			}
			was := last[int(u)*k : int(u+1)*k]
			if r.visits[u] == 0 {
				copy(first[int(u)*k:], now)
			} else {
				r.note(u, now, was, when[u], int32(t))
			}
			copy(was, now)
			when[u] = int32(t)
			r.visits[u]++
		}
	}
	for u := range r.closed {
		r.closed[u] = make([]int64, k)
		for c := range k {
			r.closed[u][c] = last[u*k+c] - first[u*k+c]
		}
	}
	return r, nil
}

func (r *returns) note(u uint32, now, was []int64, from, to int32) {
	kinds := r.kinds[u]
	for i := range kinds {
		if sameDifference(kinds[i].winding, now, was) {
			kinds[i].count++
			if to-from < kinds[i].length {
				kinds[i].at, kinds[i].length = from, to-from
			}
			if i > 0 && kinds[i].count > kinds[i-1].count {
				kinds[i], kinds[i-1] = kinds[i-1], kinds[i]
			}
			return
		}
	}
	r.all[u].add(now, was, r.scratch)
	if len(kinds) == maxKinds {
		return
	}
	d := make([]int64, len(now))
	for c := range d {
		d[c] = now[c] - was[c]
	}
	r.kinds[u] = append(kinds, turn{winding: d, count: 1, length: to - from, at: from})
}

func sameDifference(d, now, was []int64) bool {
	for c := range d {
		if d[c] != now[c]-was[c] {
			return false
		}
	}
	return true
}

// anchor is the most visited point; of several, the first.
func (r *returns) anchor() int {
	best := 0
	for u, v := range r.visits {
		if v > r.visits[best] {
			best = u
		}
	}
	return best
}

// once finds the most visited point at which every return winds the class
// exactly once, always in the same direction, and whose visits agree with the
// winding of the whole trace, which is lift up to its open ends. Its visits
// count the turns.
func (r *returns) once(class []int64, lift float64) (point int, ok bool) {
	point = -1
	for u, n := range r.visits {
		if n < 2 || point >= 0 && n <= r.visits[point] {
			continue
		}
		dir, same := r.all[u].winds(class)
		if same && (dir == 1 || dir == -1) && math.Abs(float64(n)-float64(dir)*lift) <= openEnds {
			point = u
		}
	}
	return point, point >= 0
}

// openEnds is how far the visits of a window may be from the turns of the open
// trace: at either end the trace joins and leaves the circle somewhere, which
// costs or adds less than a turn, and a visit more than there are returns.
const openEnds = 1.75

// turn finds a short way back to a point on which the class winds: where it
// starts and its steps, or 0, 0.
func (r *returns) turn(point int, class []int64) (at, length int) {
	for _, k := range r.kinds[point] {
		if along(class, k.winding) != 0 {
			return int(k.at), int(k.length)
		}
	}
	return 0, 0
}

func along(class, winding []int64) int64 {
	s := int64(0)
	for i, c := range class {
		s += c * winding[i]
	}
	return s
}
