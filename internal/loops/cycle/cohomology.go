package cycle

import (
	"context"
	"errors"
	"math/bits"
	"slices"
)

// Bar is the life of one class: it exists in the complexes at eps with
// Birth <= eps < Death.
type Bar struct {
	Birth int
	Death int  // for a bar alive at the cap: cap + 1, the first level not looked at
	Alive bool // has not died up to the cap
}

// Persistence is the length of the bar; of a bar alive at the cap, the length
// that was seen.
func (b Bar) Persistence() int { return b.Death - b.Birth }

// cocycle is a class over Z/p: coefficients on edges, oriented from the lower
// to the higher point.
type cocycle struct {
	edges []edge
	coefs []uint8
}

// barcode is the persistent cohomology in dimension 1.
type barcode struct {
	prime    int
	bars     []Bar
	cocycles []cocycle // one per bar
	columns  int       // that had to be looked at one by one
}

// limits stop a reduction that costs more than it may.
type limits struct {
	fits     func(bytes int64) bool        // whether the reduction's own tables may take so much; nil is no limit
	over     func() bool                   // the time is up
	progress func(done, total int, of int) // columns at diameter of
}

// errBudget is returned when limits are reached.
var errBudget = errors.New("over the budget")

// column is a reduced column: its cocycle without the leading edge, which has
// coefficient 1, and the coefficient at its pivot.
type column struct {
	lead  edge
	pivot uint8
	tail  cocycle
}

// slot is one edge of the column in work, and how far its cofacets have been
// merged at the current level.
type slot struct {
	e      edge
	d      uint8
	coef   uint8
	queued bool
}

// entry is the next cofacet of one slot.
type entry struct {
	t    triangle
	slot int32
	sign int8
	x    int32
}

// reducer computes the barcode. The columns are worked on from the latest edge
// to the earliest, each one level of diameter at a time. The cofacets of a
// column's edges are merged lazily, from one bit set scan per edge, so the
// memory is that of the edges and not of their triangles.
type reducer struct {
	*rips
	p       int
	inverse []uint8
	cols    []column
	owner   table[triangle]
	arena   arena
	lim     limits

	// The column in work.
	level int
	slots []slot
	index table[edge]
	heap  []entry
	steps int
}

// persist computes the bars and cocycles of the complex over Z/p.
func persist(ctx context.Context, r *rips, p int, lim limits) (*barcode, error) {
	cols, err := r.columns(ctx)
	if err != nil {
		return nil, err
	}
	clearTree(r.N, cols)
	total := 0
	for _, es := range cols {
		total += len(es)
	}
	w := &reducer{rips: r, p: p, inverse: inverses(p), lim: lim}
	out := &barcode{prime: p, columns: total}
	done := 0
	for d := r.Cap; d >= 1; d-- {
		for _, e := range cols[d] {
			if done++; done%256 == 0 {
				if err := w.pause(ctx, done, total, d); err != nil {
					return nil, err
				}
			}
			bar, err := w.reduce(ctx, e, d)
			if err != nil {
				return nil, err
			}
			if bar.Death != bar.Birth {
				out.bars = append(out.bars, bar)
				out.cocycles = append(out.cocycles, w.cocycle())
			}
		}
		cols[d] = nil
	}
	return out, nil
}

func (w *reducer) pause(ctx context.Context, done, total, d int) error {
	if w.lim.progress != nil && total > 0 { // inside a column nothing is new
		w.lim.progress(done, total, d)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.lim.over != nil && w.lim.over() || w.lim.fits != nil && !w.lim.fits(w.bytes()) {
		return errBudget
	}
	return nil
}

func (w *reducer) bytes() int64 {
	return w.arena.bytes + int64(cap(w.cols))*64 + int64(len(w.owner.keys))*12 +
		int64(cap(w.heap))*24 + int64(cap(w.slots))*12 + int64(len(w.index.keys))*8
}

// clearTree removes the edges that join two components when they appear. They
// end a class of dimension 0 and so begin none of dimension 1. Edges in
// apparent pairs begin one, hence looking at the other edges is enough.
func clearTree(n int, cols [][]edge) {
	parent := make([]int32, n)
	for i := range parent {
		parent[i] = int32(i)
	}
	find := func(v int32) int32 {
		for parent[v] != v {
			parent[v] = parent[parent[v]]
			v = parent[v]
		}
		return v
	}
	for d := range cols {
		es := cols[d]
		keep := len(es)
		for k := len(es) - 1; k >= 0; k-- { // larger numbers come first
			hi, lo := es[k].ends()
			if a, b := find(int32(hi)), find(int32(lo)); a != b {
				parent[a] = b
				continue
			}
			keep--
			es[keep] = es[k]
		}
		cols[d] = es[keep:]
	}
}

func inverses(p int) []uint8 {
	inv := make([]uint8, p)
	for a := 1; a < p; a++ {
		for b := 1; b < p; b++ {
			if a*b%p == 1 {
				inv[a] = uint8(b)
			}
		}
	}
	return inv
}

// reduce finds the triangle that ends the class which edge e of diameter d
// begins, and remembers the column for later ones.
func (w *reducer) reduce(ctx context.Context, e edge, d int) (Bar, error) {
	if t, ok := w.emergent(e, d); ok {
		_, negative := w.signOf(e, t)
		w.remember(t, column{lead: e, pivot: w.unit(negative)})
		return Bar{Birth: d, Death: d}, nil
	}
	w.begin()
	w.add(e, 1, 0)
	for w.level = d; w.level <= w.Cap; w.level++ {
		w.fill()
		for {
			t, s := w.top()
			if s == 0 {
				break
			}
			if w.steps++; w.steps&0xfff == 0 {
				if err := w.pause(ctx, 0, 0, d); err != nil {
					return Bar{}, err
				}
			}
			if !w.cancel(t, s) {
				w.remember(t, column{lead: e, pivot: s, tail: w.store()})
				return Bar{Birth: d, Death: w.level}, nil
			}
		}
	}
	return Bar{Birth: d, Death: w.Cap + 1, Alive: true}, nil
}

// emergent reports whether the earliest cofacet of e is free, which makes it
// the pivot without any reduction.
func (w *reducer) emergent(e edge, d int) (triangle, bool) {
	hi, lo := e.ends()
	x := w.highest(d, hi, lo)
	if x < 0 {
		return 0, false
	}
	t, _ := cofacet(hi, lo, x)
	if _, taken := w.owner.get(t); taken {
		return 0, false
	}
	_, taken := w.apparent(t, d)
	return t, !taken
}

func (w *reducer) signOf(e edge, t triangle) (x int, negative bool) {
	a, b, c := t.corners()
	hi, lo := e.ends()
	switch {
	case a != hi:
		return a, false
	case b != lo:
		return b, true
	}
	return c, false
}

func (w *reducer) unit(negative bool) uint8 {
	if negative {
		return uint8(w.p - 1)
	}
	return 1
}

func (w *reducer) remember(t triangle, c column) {
	w.owner.put(t, int32(len(w.cols)))
	w.cols = append(w.cols, c)
}

// cancel removes pivot t with coefficient s by adding the column that owns it,
// and reports false if none does.
func (w *reducer) cancel(t triangle, s uint8) bool {
	if k, ok := w.owner.get(t); ok {
		c := &w.cols[k]
		f := w.factor(s, c.pivot)
		w.add(c.lead, f, t)
		for i, e := range c.tail.edges {
			w.add(e, uint8(int(f)*int(c.tail.coefs[i])%w.p), t)
		}
		return true
	}
	e, ok := w.apparent(t, w.level)
	if !ok {
		return false
	}
	_, negative := w.signOf(e, t)
	w.add(e, w.factor(s, w.unit(negative)), t)
	return true
}

// factor is -s/c.
func (w *reducer) factor(s, c uint8) uint8 {
	return uint8((w.p - int(s)) * int(w.inverse[c]) % w.p)
}

func (w *reducer) begin() {
	w.index.clear(func(free func(edge)) {
		for _, s := range w.slots {
			free(s.e)
		}
	}, len(w.slots))
	w.slots, w.heap = w.slots[:0], w.heap[:0]
}

// add adds f times edge e to the column. When the column has been cleared down
// to triangle t (0: not begun), so has what is added: a stored column is zero
// above its pivot. Its merging therefore starts below t.
func (w *reducer) add(e edge, f uint8, t triangle) {
	k, ok := w.index.get(e)
	if !ok {
		hi, lo := e.ends()
		k = int32(len(w.slots))
		w.index.put(e, k)
		w.slots = append(w.slots, slot{e: e, d: w.D[hi*w.N+lo]})
	}
	s := &w.slots[k]
	c := int(s.coef) + int(f)
	if c >= w.p {
		c -= w.p
	}
	s.coef = uint8(c)
	if c != 0 && !s.queued && t != 0 {
		w.queue(k, startBelow(e, t))
	}
}

// fill queues the first cofacet at the current level of every edge.
func (w *reducer) fill() {
	w.heap = w.heap[:0]
	for k := range w.slots {
		w.slots[k].queued = false
		if w.slots[k].coef != 0 {
			w.queue(int32(k), w.N)
		}
	}
}

// queue puts the cofacets of slot k with third corner below x into the merge.
func (w *reducer) queue(k int32, below int) {
	s := &w.slots[k]
	x := w.nextCofacet(s, below)
	if x < 0 {
		return
	}
	s.queued = true
	hi, lo := s.e.ends()
	t, negative := cofacet(hi, lo, x)
	w.heap = append(w.heap, entry{t: t, slot: k, sign: sign(negative), x: int32(x)})
	w.up(len(w.heap) - 1)
}

func sign(negative bool) int8 {
	if negative {
		return -1
	}
	return 1
}

// startBelow returns the bound under which third corners of e make triangles
// smaller than t.
func startBelow(e edge, t triangle) int {
	a, b, c := t.corners()
	hi, lo := e.ends()
	switch {
	case hi > a:
		return 0
	case hi < a:
		if packEdge(hi, lo) < packEdge(b, c) {
			return a + 1
		}
		return a
	case lo > b:
		return 0
	case lo < b:
		if lo < c {
			return b + 1
		}
		return b
	}
	return c
}

// nextCofacet returns the highest x below the bound that makes with the slot's
// edge a triangle of exactly the current level, or -1.
func (w *reducer) nextCofacet(s *slot, below int) int {
	if below <= 0 {
		return -1
	}
	hi, lo := s.e.ends()
	a, b := w.around(w.level, hi), w.around(w.level, lo)
	var a1, b1 []uint64
	if int(s.d) < w.level {
		a1, b1 = w.around(w.level-1, hi), w.around(w.level-1, lo)
	}
	k := (below - 1) / 64
	mask := ^uint64(0) >> (63 - (below-1)%64)
	for ; k >= 0; k-- {
		v := a[k] & b[k] & mask
		if a1 != nil {
			v &^= a1[k] & b1[k]
		}
		if v != 0 {
			return k*64 + 63 - bits.LeadingZeros64(v)
		}
		mask = ^uint64(0)
	}
	return -1
}

// top removes the earliest triangles of the merge until one has a non-zero
// coefficient, and returns it. A zero coefficient means the merge is empty.
func (w *reducer) top() (triangle, uint8) {
	for len(w.heap) > 0 {
		t := w.heap[0].t
		sum := 0
		for len(w.heap) > 0 && w.heap[0].t == t {
			h := &w.heap[0]
			s := &w.slots[h.slot]
			sum += int(h.sign) * int(s.coef)
			w.advance(h, s)
		}
		if sum %= w.p; sum != 0 {
			if sum < 0 {
				sum += w.p
			}
			return t, uint8(sum)
		}
	}
	return 0, 0
}

// advance moves the first entry of the merge to its edge's next cofacet.
func (w *reducer) advance(h *entry, s *slot) {
	x := -1
	if s.coef != 0 {
		x = w.nextCofacet(s, int(h.x))
	}
	if x >= 0 {
		hi, lo := s.e.ends()
		t, negative := cofacet(hi, lo, x)
		h.t, h.sign, h.x = t, sign(negative), int32(x)
	} else {
		s.queued = false
		last := len(w.heap) - 1
		w.heap[0] = w.heap[last]
		w.heap = w.heap[:last]
	}
	w.down()
}

// up and down keep the largest triangle, the earliest at this level, first.
func (w *reducer) up(k int) {
	h := w.heap
	e := h[k]
	for k > 0 && h[(k-1)/2].t < e.t {
		h[k] = h[(k-1)/2]
		k = (k - 1) / 2
	}
	h[k] = e
}

func (w *reducer) down() {
	h := w.heap
	if len(h) < 2 {
		return
	}
	e := h[0]
	k := 0
	for {
		c := 2*k + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1].t > h[c].t {
			c++
		}
		if h[c].t <= e.t {
			break
		}
		h[k] = h[c]
		k = c
	}
	h[k] = e
}

// store copies the column in work, without its leading edge, into the arena.
func (w *reducer) store() cocycle {
	n := 0
	for _, s := range w.slots[1:] {
		if s.coef != 0 {
			n++
		}
	}
	c := w.arena.take(n)
	k := 0
	for _, s := range w.slots[1:] {
		if s.coef != 0 {
			c.edges[k], c.coefs[k] = s.e, s.coef
			k++
		}
	}
	return c
}

// cocycle copies the whole column in work.
func (w *reducer) cocycle() cocycle {
	var c cocycle
	for _, s := range w.slots {
		if s.coef != 0 {
			c.edges = append(c.edges, s.e)
			c.coefs = append(c.coefs, s.coef)
		}
	}
	return cocycle{slices.Clip(c.edges), slices.Clip(c.coefs)}
}

// arena hands out memory for columns in large pieces.
type arena struct {
	edges []edge
	coefs []uint8
	bytes int64
}

const arenaPiece = 1 << 15

func (a *arena) take(n int) cocycle {
	if n > len(a.edges) {
		size := max(n, arenaPiece)
		a.edges, a.coefs = make([]edge, size), make([]uint8, size)
		a.bytes += int64(size) * 5
	}
	c := cocycle{a.edges[:n:n], a.coefs[:n:n]}
	a.edges, a.coefs = a.edges[n:], a.coefs[n:]
	return c
}
