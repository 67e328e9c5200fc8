package views

import (
	"cmp"
	"context"
	"slices"
)

// Evictions says at one level who lost lines to whom, and why lines were missed.
type Evictions struct {
	Level int      `json:"level"`
	Names []string `json:"names"` // of objects; the last may be all others
	// Lost is misses of the row's object on lines that the column's had pushed out.
	Lost   [][]uint64  `json:"lost"`
	Causes []MissCause `json:"causes"`
}

// MissCause is the misses of an object by cause; they add up to its misses.
type MissCause struct {
	First    uint64 `json:"first"`
	Capacity int64  `json:"capacity"`
	Conflict int64  `json:"conflict"`
}

// maxEvictors is how many objects a matrix has beside all others.
const maxEvictors = 7

// fewest is what part of the misses an object must have for a row of its own:
// a thousandth.
const fewest = 1000

const others = "other"

// evicted is the misses of every object at a level, and of the lines that one lost to
// another.
type evicted struct {
	objects []struct{ misses, first, full uint64 } // by number
	pairs   map[[2]uint32]uint64
	order   []uint32 // the objects with misses, those with the most first
	shown   int      // so many of them have a row of their own
}

func (s *Study) evicted(ctx context.Context, level int) (*evicted, error) {
	e := &evicted{objects: make([]struct{ misses, first, full uint64 }, len(s.Table.Objects)), pairs: map[[2]uint32]uint64{}}
	for i := range s.Trace.Accesses {
		if i%cancelEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		o := &s.Levels[level][i]
		of := s.Trace.Accesses[i].Object
		sum := &e.objects[of]
		sum.misses += uint64(o.Misses)
		sum.first += uint64(o.First)
		sum.full += uint64(o.Full)
		if o.Misses > o.First {
			e.pairs[[2]uint32{of, uint32(o.Evictor)}] += uint64(o.Misses - o.First)
		}
	}
	all := uint64(0)
	for n, sum := range e.objects {
		if all += sum.misses; sum.misses > 0 {
			e.order = append(e.order, uint32(n))
		}
	}
	slices.SortStableFunc(e.order, func(a, b uint32) int { return cmp.Compare(e.objects[b].misses, e.objects[a].misses) })
	e.shown = min(len(e.order), maxEvictors)
	if len(e.order) == maxEvictors+1 {
		e.shown = len(e.order)
	}
	for e.shown > 1 && e.objects[e.order[e.shown-1]].misses*fewest < all {
		e.shown--
	}
	return e, nil
}

// Pair finds the objects of a cell of Evictions by the names of its row and column. All
// others are those without a row of their own.
func (s *Study) Pair(ctx context.Context, level int, lost, to string) (*[2][]bool, error) {
	e, err := s.evicted(ctx, level)
	if err != nil {
		return nil, err
	}
	pair := &[2][]bool{}
	for i, name := range []string{lost, to} {
		pair[i] = make([]bool, len(s.Table.Objects))
		n, err := s.ObjectNumber(name)
		switch rest := e.order[e.shown:]; {
		case name == others && len(rest) > 0 && (err != nil || slices.Contains(rest, n)):
			for _, n := range rest {
				pair[i][n] = true
			}
		case err != nil:
			return nil, err
		default:
			pair[i][n] = true
		}
	}
	return pair, nil
}

// Evictions counts them at a level.
func (s *Study) Evictions(ctx context.Context, level int) (*Evictions, error) {
	e, err := s.evicted(ctx, level)
	if err != nil {
		return nil, err
	}
	objects, order, shown := e.objects, e.order, e.shown
	at := make([]int, len(objects)) // row of an object
	for i := range at {
		at[i] = shown
	}
	out := &Evictions{Level: level, Names: []string{}, Lost: [][]uint64{}, Causes: []MissCause{}}
	for i, n := range order[:shown] {
		at[n] = i
		out.Names = append(out.Names, s.objectName(n))
	}
	if len(order) > shown {
		out.Names = append(out.Names, others)
	}
	for range out.Names {
		out.Lost = append(out.Lost, make([]uint64, len(out.Names)))
	}
	out.Causes = make([]MissCause, len(out.Names))
	for _, n := range order {
		c, sum := &out.Causes[at[n]], objects[n]
		c.First += sum.first
		c.Capacity += int64(sum.full) - int64(sum.first)
		c.Conflict += int64(sum.misses) - int64(sum.full)
	}
	for p, n := range e.pairs {
		// An object without misses of its own pushes nobody out.
		if row, column := at[p[0]], at[p[1]]; column < len(out.Names) {
			out.Lost[row][column] += n
		}
	}
	return out, nil
}
