package kernel

import (
	"context"
	"math/bits"
	"sync"

	"isobath/internal/table"
)

// counter is one thing to count rows by: the cells of two axes, the cells of
// one, or groups whose values are summed as well.
type counter struct {
	key    any    // names it in the cache
	left   *codes // the only one unless it is a pair
	right  *codes
	values *values
	cells  int
}

func pairCounter(key any, left, right *codes) *counter {
	return &counter{key: key, left: left, right: right, cells: left.cells * right.cells}
}

func oneCounter(key any, c *codes) *counter { return &counter{key: key, left: c, cells: c.cells} }

func sumCounter(key any, c *codes, v *values) *counter {
	return &counter{key: key, left: c, values: v, cells: c.cells}
}

// exact reports whether its results may be subtracted from one another.
func (c *counter) exact() bool { return c.values == nil || c.values.exact }

// lone reports whether the counter has so many cells that a table for each
// worker would cost more than counting on one worker.
func (c *counter) lone() bool { return c.cells > 1<<20 }

// bytes is the size of a result.
func (c *counter) bytes() int64 {
	if c.values != nil {
		return int64(c.cells) * 80
	}
	return int64(c.cells) * 4
}

// result is what a counter counted of one set of rows.
type result struct {
	n      []uint32
	totals []total
}

func (c *counter) newResult() result {
	if c.values != nil {
		return result{totals: make([]total, c.cells)}
	}
	return result{n: make([]uint32, c.cells)}
}

func (r result) clone() result {
	return result{n: append([]uint32(nil), r.n...), totals: append([]total(nil), r.totals...)}
}

func (r result) add(o result) {
	for i, n := range o.n {
		r.n[i] += n
	}
	for i := range o.totals {
		r.totals[i].add(&o.totals[i])
	}
}

func (r result) sub(o result) {
	for i, n := range o.n {
		r.n[i] -= n
	}
	for i := range o.totals {
		r.totals[i].sub(&o.totals[i])
	}
}

// rowSet is a set of rows to be counted.
type rowSet struct {
	bits  table.Bits // nil: every row
	count int
}

// setBlock is the part of a set that lies in a block.
type setBlock struct {
	words []uint64
	count int
}

// count counts rows of each set by each counter: result [set][counter].
func (e *Engine) count(ctx context.Context, counters []*counter, sets []rowSet, disjoint bool) ([][]result, error) {
	rows := e.data.Table.Rows()
	out := make([][]result, len(sets))
	for k := range out {
		out[k] = make([]result, len(counters))
	}
	var shared, lone []int
	for i, c := range counters {
		if c.lone() {
			lone = append(lone, i)
		} else {
			shared = append(shared, i)
		}
	}
	err := e.countWith(ctx, workers(), pickCounters(counters, shared), sets, disjoint, rows, func(k, i int) *result { return &out[k][shared[i]] })
	for _, i := range lone {
		if err == nil {
			err = e.countWith(ctx, 1, counters[i:i+1], sets, disjoint, rows, func(k, _ int) *result { return &out[k][i] })
		}
	}
	return out, err
}

func pickCounters(counters []*counter, which []int) []*counter {
	out := make([]*counter, len(which))
	for i, k := range which {
		out[i] = counters[k]
	}
	return out
}

func (e *Engine) countWith(ctx context.Context, workers int, counters []*counter, sets []rowSet, disjoint bool, rows int, at func(set, counter int) *result) error {
	if len(counters) == 0 {
		return nil
	}
	columns := columnsOf(counters)
	crew := make([]*worker, workers)
	defer func() {
		for _, w := range crew {
			if w != nil {
				workerPool.Put(w)
			}
		}
	}()
	do := func(w, block int) {
		if crew[w] == nil {
			crew[w] = workerPool.Get().(*worker)
			crew[w].begin(counters, columns, len(sets), disjoint)
		}
		lo, hi := bounds(block, rows)
		crew[w].block(ctx, sets, lo, hi)
	}
	var err error
	if workers == 1 {
		for b := 0; b < blocks(rows) && err == nil; b++ {
			do(0, b)
			err = ctx.Err()
		}
	} else {
		err = parallel(ctx, blocks(rows), do)
	}
	if err != nil {
		return err
	}
	for k := range sets {
		for i, c := range counters {
			r := c.newResult()
			for _, w := range crew {
				if w != nil {
					r.add(w.tables[i].part(k+1, c.cells))
				}
			}
			*at(k, i) = r
		}
	}
	return nil
}

// columnsOf lists the codes that counters read, each once.
func columnsOf(counters []*counter) []*codes {
	var list []*codes
	seen := map[*codes]bool{}
	for _, c := range counters {
		for _, x := range []*codes{c.left, c.right} {
			if x != nil && !seen[x] {
				seen[x] = true
				list = append(list, x)
			}
		}
	}
	return list
}

// tableOf is where a worker counts: part 0 for rows in no set, then one part a
// set.
type tableOf struct {
	n      []uint32
	totals []total
	packed []packed
	due    int // rows until packed sums must be flushed
	cells  int
}

func (t *tableOf) part(k, cells int) result {
	if t.totals != nil {
		t.flush()
		return result{totals: t.totals[k*cells : (k+1)*cells]}
	}
	return result{n: t.n[k*cells : (k+1)*cells]}
}

func (t *tableOf) flush() {
	flush(t.packed, t.totals, t.cells)
	t.due = packedRows
}

// worker is the memory one goroutine counts in.
type worker struct {
	counters []*counter
	columns  []*codes
	disjoint bool
	tables   []tableOf

	parts   []setBlock
	class   []uint8
	at      []uint16
	loaded  map[*codes]view // codes of the block
	picked  map[*codes]view // those of the rows picked from it
	scratch map[*codes]*scratchViews
	sums    map[*values]*sumState
}

type scratchViews struct{ block, picked view }

type sumState struct {
	block      valueBlock
	picked     valueBlock
	load, pick valueScratch
	// class is twice the class of each row, plus one without a value; doubled
	// says that it is that of the rows at hand.
	class   []uint8
	doubled bool
}

var workerPool = sync.Pool{New: func() any { return new(worker) }}

// maxPacked is the largest table of packed sums, in slots.
const maxPacked = 1 << 17

func (w *worker) begin(counters []*counter, columns []*codes, sets int, disjoint bool) {
	w.counters, w.columns, w.disjoint = counters, columns, disjoint
	if cap(w.tables) < len(counters) {
		w.tables = append(w.tables[:cap(w.tables)], make([]tableOf, len(counters)-cap(w.tables))...)
	}
	w.tables = w.tables[:len(counters)]
	for i, c := range counters {
		t := &w.tables[i]
		parts := sets + 1
		t.cells = c.cells
		if c.values == nil {
			t.totals, t.packed = nil, nil
			// One table more than the parts, so that the last part can be
			// addressed by any 16-bit number.
			zeroed(&t.n, parts*c.cells+1<<16, parts*c.cells)
			continue
		}
		t.totals = make([]total, parts*c.cells)
		t.packed, t.due = nil, packedRows
		if 2*parts*c.cells <= maxPacked && c.values.exact {
			t.packed = make([]packed, 2*parts*c.cells)
		}
	}
	w.loaded, w.picked = map[*codes]view{}, map[*codes]view{}
	w.scratch = map[*codes]*scratchViews{}
	w.sums = map[*values]*sumState{}
	for _, c := range counters {
		if c.values != nil {
			w.sums[c.values] = &sumState{}
		}
	}
	w.class, w.at = grow(&w.class, blockRows), grow(&w.at, blockRows)
}

// zeroed makes *s n long with the first used zero; memory beyond was never
// written to.
func zeroed(s *[]uint32, n, used int) {
	if cap(*s) < n {
		*s = make([]uint32, n)
		return
	}
	*s = (*s)[:n]
	clear((*s)[:used])
}

// block counts the rows of a block.
func (w *worker) block(ctx context.Context, sets []rowSet, lo, hi int) {
	rows := hi - lo
	w.parts = w.parts[:0]
	counted := 0
	for _, s := range sets {
		p := setBlock{count: rows}
		if s.bits != nil {
			p.words = s.bits[lo/64 : (hi+63)/64]
			p.count = 0
			for _, word := range p.words {
				p.count += bits.OnesCount64(word)
			}
		}
		counted += p.count
		w.parts = append(w.parts, p)
	}
	if counted == 0 {
		return
	}
	w.load(lo, hi)
	full := -1
	for k, p := range w.parts {
		if p.count == rows {
			full = k
		}
	}
	// Picking the rows of a set costs about as much as counting them, so from
	// some share on all rows of the block are counted, each into the part of
	// its set.
	if w.disjoint && full < 0 && counted > rows*2/5 {
		classes(w.parts, w.class[:rows])
		w.countRows(ctx, w.class[:rows], 0)
		return
	}
	for k, p := range w.parts {
		switch {
		case p.count == rows:
			w.countRows(ctx, nil, k+1)
		case p.count > 0:
			w.pickRows(p)
			w.countPicked(ctx, k+1)
		}
	}
}

// load fetches the codes and values of a block.
func (w *worker) load(lo, hi int) {
	for _, c := range w.columns {
		s := w.scratchOf(c)
		if !c.kept() && s.block.len() == 0 {
			s.block = newView(c.cells, blockRows)
		}
		w.loaded[c] = c.block(lo, hi, s.block)
	}
	for v, s := range w.sums {
		s.block = v.block(lo, hi, &s.load)
	}
}

func (w *worker) scratchOf(c *codes) *scratchViews {
	s := w.scratch[c]
	if s == nil {
		s = &scratchViews{}
		w.scratch[c] = s
	}
	return s
}

// pickRows compacts the codes and values of the rows of a set.
func (w *worker) pickRows(p setBlock) {
	at := positions(p.words, w.at)
	for _, c := range w.columns {
		s := w.scratchOf(c)
		if s.picked.len() == 0 {
			s.picked = w.loaded[c].fresh(blockRows)
		}
		w.picked[c] = gatherView(w.loaded[c], at, s.picked)
	}
	for _, s := range w.sums {
		s.picked = s.block.pick(at, &s.pick)
	}
}

func gatherView(v view, at []uint16, into view) view {
	switch {
	case v.u8 != nil:
		return view{u8: gather(v.u8, at, into.u8)}
	case v.u16 != nil:
		return view{u16: gather(v.u16, at, into.u16)}
	}
	return view{u32: gather(v.u32, at, into.u32)}
}

// positions lists the set bits.
func positions(words []uint64, into []uint16) []uint16 {
	n := 0
	for w, word := range words {
		base := w << 6
		for word != 0 {
			into[n] = uint16(base + bits.TrailingZeros64(word))
			n++
			word &= word - 1
		}
	}
	return into[:n]
}

func (w *worker) countRows(ctx context.Context, class []uint8, part int) {
	w.newRows()
	for i, c := range w.counters {
		if ctx.Err() != nil {
			return
		}
		t := &w.tables[i]
		switch {
		case c.values != nil:
			s := w.sums[c.values]
			t.sum(w.loaded[c.left], class, part, s.block, s)
		case c.right != nil:
			t.pairs(c, w.loaded[c.left], w.loaded[c.right], class, part)
		default:
			t.one(w.loaded[c.left], class, part)
		}
	}
}

func (w *worker) countPicked(ctx context.Context, part int) {
	w.newRows()
	for i, c := range w.counters {
		if ctx.Err() != nil {
			return
		}
		t := &w.tables[i]
		switch {
		case c.values != nil:
			s := w.sums[c.values]
			t.sum(w.picked[c.left], nil, part, s.picked, s)
		case c.right != nil:
			t.pairs(c, w.picked[c.left], w.picked[c.right], nil, part)
		default:
			t.one(w.picked[c.left], nil, part)
		}
	}
}

func (w *worker) newRows() {
	for _, s := range w.sums {
		s.doubled = false
	}
}

// pairs counts the cells of two axes: rows of one part, or of the part their
// class says.
func (t *tableOf) pairs(c *counter, a, b view, class []uint8, part int) {
	nb := c.right.cells
	n := t.n
	if class == nil {
		n = n[part*t.cells:]
	}
	switch {
	case a.u8 != nil && b.u8 != nil && class == nil:
		countPairs((*cellTable)(n), a.u8, b.u8, nb)
	case a.u8 != nil && b.u8 != nil && len(t.n)-1<<16 <= 1<<16:
		countPairsBy((*cellTable)(n), a.u8, b.u8, class, nb, t.cells)
	case a.u8 != nil && b.u8 != nil:
		countWide(n, a.u8, b.u8, class, nb, t.cells)
	case a.u8 != nil:
		countWide(n, a.u8, b.u16, class, nb, t.cells)
	case b.u8 != nil:
		countWide(n, a.u16, b.u8, class, nb, t.cells)
	default:
		countWide(n, a.u16, b.u16, class, nb, t.cells)
	}
}

func (t *tableOf) one(a view, class []uint8, part int) {
	n := t.n
	if class == nil {
		n = n[part*t.cells:]
	}
	switch {
	case a.u8 != nil:
		countOne(n, a.u8, class, t.cells)
	case a.u16 != nil:
		countOne(n, a.u16, class, t.cells)
	default:
		countOne(n, a.u32, class, t.cells)
	}
}

// sum adds the values of the rows to their groups.
func (t *tableOf) sum(a view, class []uint8, part int, b valueBlock, s *sumState) {
	if b.small == nil || t.packed == nil {
		offset := part * t.cells
		switch {
		case a.u8 != nil:
			sumWide(t.totals, a.u8, class, t.cells, offset, b)
		case a.u16 != nil:
			sumWide(t.totals, a.u16, class, t.cells, offset, b)
		default:
			sumWide(t.totals, a.u32, class, t.cells, offset, b)
		}
		return
	}
	if t.due < blockRows {
		t.flush()
	}
	rows := a.len()
	t.due -= rows
	if class == nil && b.lacking == nil {
		offset := 2 * part * t.cells
		switch {
		case a.u8 != nil:
			sumPacked(t.packed, a.u8, offset, b.small)
		case a.u16 != nil:
			sumPacked(t.packed, a.u16, offset, b.small)
		default:
			sumPacked(t.packed, a.u32, offset, b.small)
		}
		return
	}
	if !s.doubled {
		s.class = doubled(class, b.lacking, part, grow(&s.class, rows))
		s.doubled = true
	}
	t.sumBy(a, s.class, b.small)
}

func (t *tableOf) sumBy(a view, class []uint8, v []uint32) {
	var offsets [16]uint32
	for i := range offsets {
		offsets[i] = uint32(i * t.cells)
	}
	switch {
	case a.u8 != nil:
		sumPackedBy(t.packed, a.u8, class, &offsets, v)
	case a.u16 != nil:
		sumPackedBy(t.packed, a.u16, class, &offsets, v)
	default:
		sumPackedBy(t.packed, a.u32, class, &offsets, v)
	}
}

// doubled is twice the class of each row, plus one if it lacks a value.
func doubled(class, lacking []uint8, part int, into []uint8) []uint8 {
	for i := range into {
		c := uint8(part)
		if class != nil {
			c = class[i]
		}
		c *= 2
		if lacking != nil {
			c += lacking[i]
		}
		into[i] = c
	}
	return into
}
