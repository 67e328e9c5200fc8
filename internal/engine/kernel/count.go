package kernel

import (
	"context"
	"slices"
	"sync"

	"github.com/isobath/isobath/internal/data/table"
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
func (c *counter) exact() bool { return c.values == nil || c.values.exact() }

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

// margin sums the cells of a pair along one of its axes: what remains are the
// cells of the other, the left one or the right one.
func (r result) margin(cells int, left bool) result {
	into := make([]uint32, cells)
	if left {
		for i := range into {
			for _, n := range r.n[i*len(r.n)/cells : (i+1)*len(r.n)/cells] {
				into[i] += n
			}
		}
		return result{n: into}
	}
	for row := r.n; len(row) > 0; row = row[cells:] {
		for j, n := range row[:cells] {
			into[j] += n
		}
	}
	return result{n: into}
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

// rowSet is a set of rows to be counted: those in bits that are not in minus.
type rowSet struct {
	bits  table.Bits // nil: every row
	minus table.Bits // nil: none
	count int
}

// equal reports whether two sets, of which nothing is left out, have the same
// rows.
func (s *rowSet) equal(o rowSet) bool {
	return s.count == o.count && s.minus == nil && o.minus == nil && slices.Equal(s.bits, o.bits)
}

// words returns the members among the rows from lo to hi; scratch is used if
// some must be left out.
func (s *rowSet) words(lo, hi int, scratch []uint64) table.Bits {
	words := s.bits[lo/64 : (hi+63)/64]
	if s.minus == nil {
		return words
	}
	minus := s.minus[lo/64 : (hi+63)/64]
	scratch = scratch[:len(words)]
	for i, w := range words {
		scratch[i] = w &^ minus[i]
	}
	return scratch
}

// count counts rows of each set by each counter: result [set][counter].
func (e *Engine) count(ctx context.Context, counters []*counter, sets []rowSet) ([][]result, error) {
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
	err := e.countWith(ctx, workers(), pickCounters(counters, shared), sets, rows, func(k, i int) *result { return &out[k][shared[i]] })
	for _, i := range lone {
		if err == nil {
			err = e.countWith(ctx, 1, counters[i:i+1], sets, rows, func(k, _ int) *result { return &out[k][i] })
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

func (e *Engine) countWith(ctx context.Context, workers int, counters []*counter, sets []rowSet, rows int, at func(set, counter int) *result) error {
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
			crew[w].begin(counters, columns, len(sets))
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
		err = eachBlock(ctx, blocks(rows), do)
	}
	if err != nil {
		return err
	}
	for k := range sets {
		for i, c := range counters {
			r := c.newResult()
			for _, w := range crew {
				if w != nil {
					r.add(w.tables[i].part(k))
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

// tableOf is where a worker counts, one part a set.
type tableOf struct {
	n      []uint32
	totals []total
	packed []packed
	due    int // rows until packed sums must be flushed
	cells  int

	left, right *column
	sums        *sumState
}

func (t *tableOf) part(k int) result {
	from, to := k*t.cells, (k+1)*t.cells
	if t.totals != nil {
		t.flush()
		return result{totals: t.totals[from:to]}
	}
	return result{n: t.n[from:to]}
}

func (t *tableOf) flush() {
	if t.packed != nil {
		flush(t.packed[:2*len(t.totals)], t.totals, t.cells)
	}
	t.due = packedRows
}

// worker is the memory one goroutine counts in.
type worker struct {
	counters []*counter
	columns  []*column
	tables   []tableOf
	sums     []*sumState
	picks    picks
	words    [blockRows / 64]uint64
}

// column is codes as a worker sees them: of the whole block, and of the rows
// picked from it. Both are fetched when first used, so that the codes of a pair
// are still in the nearest cache when they are counted.
type column struct {
	codes          *codes
	block, picked  view
	loaded, chosen bool
	scratch, room  view
}

// sumState is the same for values.
type sumState struct {
	values         *values
	block, picked  valueBlock
	loaded, chosen bool
	load, pick     valueScratch
}

var workerPool = sync.Pool{New: func() any { return new(worker) }}

// maxPacked is the largest table of packed sums, in slots.
const maxPacked = 1 << 17

func (w *worker) begin(counters []*counter, columns []*codes, sets int) {
	w.counters = counters
	if cap(w.tables) < len(counters) {
		w.tables = append(w.tables[:cap(w.tables)], make([]tableOf, len(counters)-cap(w.tables))...)
	}
	w.tables = w.tables[:len(counters)]
	w.columns = w.columns[:0]
	for _, c := range columns {
		w.columns = append(w.columns, &column{codes: c})
	}
	w.sums = w.sums[:0]
	for i, c := range counters {
		t := &w.tables[i]
		t.begin(c, sets)
		t.left = w.columns[slices.Index(columns, c.left)]
		if c.right != nil {
			t.right = w.columns[slices.Index(columns, c.right)]
		}
		if c.values != nil {
			t.sums = w.sumsOf(c.values)
		}
	}
	w.picks.room = grow(&w.picks.room, blockRows)
}

func (w *worker) sumsOf(v *values) *sumState {
	for _, s := range w.sums {
		if s.values == v {
			return s
		}
	}
	s := &sumState{values: v}
	w.sums = append(w.sums, s)
	return s
}

func (t *tableOf) begin(c *counter, sets int) {
	t.cells = c.cells
	t.totals, t.packed, t.right, t.sums = nil, nil, nil, nil
	if c.values == nil {
		// One table more than the parts, so that the last part can be addressed
		// by any 16-bit number.
		zeroed(&t.n, sets*c.cells+1<<16, sets*c.cells)
		return
	}
	t.totals, t.due = make([]total, sets*c.cells), packedRows
	if 2*sets*c.cells <= maxPacked && c.values.form == inUnits {
		// One more for the largest one-byte code, as above.
		t.packed = make([]packed, 2*sets*c.cells+1<<8)
	}
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
	for _, c := range w.columns {
		c.loaded = false
	}
	for _, s := range w.sums {
		s.loaded = false
	}
	rows := hi - lo
	for k, s := range sets {
		n := rows
		var words table.Bits
		if s.bits != nil {
			words = s.words(lo, hi, w.words[:])
			n = words.Count()
		}
		switch n {
		case 0:
		case rows:
			w.count(ctx, k, lo, hi, nil)
		default:
			w.picks.words, w.picks.count, w.picks.list = words, n, nil
			w.count(ctx, k, lo, hi, &w.picks)
		}
	}
}

// count counts the picked rows of a block, all if p is nil, into a part.
func (w *worker) count(ctx context.Context, part, lo, hi int, p *picks) {
	for _, c := range w.columns {
		c.chosen = false
	}
	for _, s := range w.sums {
		s.chosen = false
	}
	for i := range w.counters {
		if ctx.Err() != nil {
			return
		}
		t := &w.tables[i]
		left := t.left.rows(lo, hi, p)
		switch {
		case t.sums != nil:
			t.sum(left, part, t.sums.rows(lo, hi, p))
		case t.right != nil:
			t.pairs(left, t.right.rows(lo, hi, p), part)
		default:
			t.one(left, part)
		}
	}
}

// rows returns the codes of a block, or of some of its rows.
func (c *column) rows(lo, hi int, p *picks) view {
	c.load(lo, hi)
	if p == nil {
		return c.block
	}
	if !c.chosen {
		c.picked = pickView(c.block, p, c.room)
		c.chosen = true
	}
	return c.picked
}

func (c *column) load(lo, hi int) {
	if c.loaded {
		return
	}
	if !c.codes.kept() && c.scratch.len() == 0 {
		c.scratch = newView(c.codes.cells, blockRows)
	}
	c.block = c.codes.block(lo, hi, c.scratch)
	c.loaded = true
	if c.room.len() == 0 {
		c.room = c.block.fresh(blockRows + slack)
	}
}

func (s *sumState) rows(lo, hi int, p *picks) valueBlock {
	if !s.loaded {
		s.block = s.values.block(lo, hi, &s.load)
		s.loaded = true
	}
	if p == nil {
		return s.block
	}
	if !s.chosen {
		s.picked = s.block.pick(p, &s.pick)
		s.chosen = true
	}
	return s.picked
}

func pickView(v view, p *picks, into view) view {
	switch {
	case v.u8 != nil:
		return view{u8: pick8(v.u8, p, into.u8)}
	case v.u16 != nil:
		return view{u16: pick16(v.u16, p, into.u16)}
	}
	return view{u32: pick32(v.u32, p, into.u32)}
}

// pairs counts the cells of two axes.
func (t *tableOf) pairs(a, b view, part int) {
	nb := t.right.codes.cells
	n := t.n[part*t.cells:]
	switch {
	case a.u8 != nil && b.u8 != nil:
		countPairs((*cellTable)(n), a.u8, b.u8, nb)
	case a.u8 != nil:
		countWide(n, a.u8, b.u16, nb)
	case b.u8 != nil:
		countWide(n, a.u16, b.u8, nb)
	default:
		countWide(n, a.u16, b.u16, nb)
	}
}

func (t *tableOf) one(a view, part int) {
	n := t.n[part*t.cells:]
	switch {
	case a.u8 != nil:
		countOne(n, a.u8)
	case a.u16 != nil:
		countOne(n, a.u16)
	default:
		countOne(n, a.u32)
	}
}

// sum adds the values of the rows to their groups.
func (t *tableOf) sum(a view, part int, b valueBlock) {
	if b.small == nil || t.packed == nil {
		totals := t.totals[part*t.cells:]
		switch {
		case a.u8 != nil:
			sumWide(totals, a.u8, b)
		case a.u16 != nil:
			sumWide(totals, a.u16, b)
		default:
			sumWide(totals, a.u32, b)
		}
		return
	}
	if t.due < blockRows {
		t.flush()
	}
	t.due -= a.len()
	p := t.packed[2*part*t.cells:]
	switch {
	case a.u8 != nil:
		sumBytes(p, a.u8, t.cells, b)
	case a.u16 != nil:
		sumWords(p, a.u16, t.cells, b)
	default:
		sumPacked(p, a.u32, t.cells, b)
	}
}
