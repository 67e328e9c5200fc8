package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/engine/query"
)

const byCell = " GROUP BY cell"

// smallKeys is how many keys are grouped by as an index, without hashing: those of two
// bytes.
const smallKeys = 1 << 16

// pairing is a pair of axes to be counted: how its cells are grouped, and where they go.
type pairing struct {
	left, right *query.Binner
	cell        string // SQL
	keys, width int    // cells are below keys; width is how many a bin of the left axis has
	// odd is SQL for whether a row is in the second of the two bins of the right axis
	// that share a cell; nothing if each has its own.
	odd string

	into    *query.Density
	margins [2]*query.Histogram // of axes that no other pair counts
}

// pairing finds the cells of two axes: one number is grouped faster than two, and one
// of two bytes much faster than a longer one. Where two bytes do not suffice, two bins
// may share a cell, whose counts are then halves of one number.
func (e *Engine) pairing(left, right *query.Binner) (*pairing, error) {
	l, err := e.binSQL(left)
	if err != nil {
		return nil, err
	}
	r, err := e.binSQL(right)
	if err != nil {
		return nil, err
	}
	p := &pairing{left: left, right: right, width: right.Binning.Cells()}
	if half := (p.width + 1) / 2; left.Binning.Cells()*p.width > smallKeys && left.Binning.Cells()*half <= smallKeys && e.document.Rows <= maxHalf {
		p.odd, p.width, r = "bitAnd("+r+", 1)", half, "bitShiftRight("+r+", 1)"
	}
	p.keys = left.Binning.Cells() * p.width
	p.cell = fmt.Sprintf("%s * %d + (%s)", l, p.width, r) // a product has the bits of both factors
	return p, nil
}

// maxHalf is the largest count that fits into half of a number.
const maxHalf = half

// key is SQL for the cell of a row, by itself.
func (p *pairing) key() string {
	if p.keys <= smallKeys {
		return "toUInt16(" + p.cell + ")"
	}
	return "toUInt32(" + p.cell + ")"
}

// counting is SQL for the rows of a cell that meet a condition.
func (p *pairing) counting(condition string) string {
	if p.odd == "" {
		return counting(condition)
	}
	return summing(fmt.Sprintf("1 + %s * %d", p.odd, half+1), condition)
}

// bins is how many bins of the right axis share a cell.
func (p *pairing) bins() int {
	if p.odd == "" {
		return 1
	}
	return 2
}

// count is the count of one of the bins that share a cell, of what counting said.
func (p *pairing) count(said uint64, bin int) uint64 {
	switch {
	case p.odd == "":
		return said
	case bin == 1:
		return said >> 32
	}
	return said&half - said>>32
}

// pair counts the cells of two axes, and from them the histograms of axes that no
// other pair counts.
func (e *Engine) pair(ctx context.Context, p *pairing, ls *layers) error {
	n := ls.aggregate(p.counting, "1")
	got, err := e.table(ctx, ls, append([]string{p.key() + " AS cell"}, n.columns...), byCell)
	if err != nil {
		return err
	}
	var cells []uint64
	if got.rows > 0 {
		cells = got.columns[0].numbersOf()
	}
	binners := [2]*query.Binner{p.left, p.right}
	for side, h := range p.margins {
		if h != nil {
			for layer := range query.Layers {
				h.Counts[layer] = make([]uint32, binners[side].Binning.Cells())
			}
		}
	}
	d := p.into
	for _, row := range rowsInOrder(cells, p.keys) {
		for bin := range p.bins() {
			if p.count(n.count(got, 1, query.All, row), bin) == 0 {
				continue // a cell that is the same for all rows is there without any
			}
			at := [2]int{int(cells[row]) / p.width, int(cells[row])%p.width*p.bins() + bin}
			for side, b := range binners {
				if at[side] >= b.Binning.Cells() {
					return fmt.Errorf("axis %s: a row in bin %d of %d", b.Binning.Column, at[side], b.Binning.Cells())
				}
			}
			d.Left, d.Right = append(d.Left, uint16(at[0])), append(d.Right, uint16(at[1]))
			for layer := range query.Layers {
				count := uint32(p.count(n.count(got, 1, query.Layer(layer), row), bin))
				d.Counts[layer] = append(d.Counts[layer], count)
				for side, h := range p.margins {
					if h != nil {
						h.Counts[layer][at[side]] += count
					}
				}
			}
		}
	}
	return nil
}

// rowsInOrder is the rows of keys in the order of the keys, which are below a bound.
func rowsInOrder(keys []uint64, bound int) []int {
	order := make([]int, len(keys))
	for row := range order {
		order[row] = row
	}
	if bound > smallKeys {
		slices.SortFunc(order, func(x, y int) int { return int(int64(keys[x]) - int64(keys[y])) })
		return order
	}
	rowOf := make([]int, smallKeys) // and one more; 0 for none
	for row, key := range keys {
		if int(key) >= smallKeys { // told later, by the bin that it is
			return order
		}
		rowOf[key] = row + 1
	}
	order = order[:0]
	for _, row := range rowOf {
		if row > 0 {
			order = append(order, row-1)
		}
	}
	return order
}

// bundles divides pairs into those that are counted together in one statement, and those
// that are not. To find the rows of a selection costs more than to count them in cells,
// so those pairs are counted together whose cells without a selection are known.
func (e *Engine) bundles(pairs []*pairing, ls *layers) (together [][]*pairing, alone []*pairing) {
	var bundle []*pairing
	keys := 0
	for _, p := range pairs {
		n := ls.aggregate(counting, "1")
		d := divideColumns(n.columns, "")
		key := wholeKey(ls, slices.Concat([]string{p.key() + " AS cell"}, pick(n.columns, d.whole)), byCell)
		if ls.drag != nil || len(d.parts) == 0 || p.odd != "" || p.keys > smallKeys || e.wholes.find(key) == nil {
			alone = append(alone, p)
			continue
		}
		if keys+p.keys > smallKeys {
			together, bundle, keys = append(together, bundle), nil, 0
		}
		bundle, keys = append(bundle, p), keys+p.keys
	}
	if len(bundle) > 0 {
		together = append(together, bundle)
	}
	return together, alone
}

// bundle counts pairs in one statement: the cells of the next begin where those of one
// end.
func (e *Engine) bundle(ctx context.Context, pairs []*pairing, ls *layers) error {
	own := *ls
	if len(pairs) > 1 {
		n := ls.aggregate(counting, "1")
		d := divideColumns(n.columns, "")
		cells, from := make([]string, len(pairs)), 0
		for i, p := range pairs {
			cells[i] = fmt.Sprintf("toUInt16(%s + %d)", p.cell, from)
			from += p.keys
		}
		found, err := e.ofLayers(ctx, ls, []string{"arrayJoin([" + strings.Join(cells, ", ") + "]) AS cell"}, pick(n.columns, d.parts), byCell)
		if err != nil {
			return err
		}
		own.cells, from = map[string]*block{}, 0
		for _, p := range pairs {
			if own.cells[p.key()+" AS cell"], err = found.ofPair(from, from+p.keys, len(d.parts)); err != nil {
				return err
			}
			from += p.keys
		}
	}
	for _, p := range pairs {
		if err := e.pair(ctx, p, &own); err != nil {
			return err
		}
	}
	return nil
}

// ofPair is the rows of one pair of a bundle: its cells, which begin at from, and their
// counts.
func (b *block) ofPair(from, to, counts int) (*block, error) {
	if b.rows == 0 {
		return &block{columns: slices.Repeat([]column{{data: []uint64{}}}, 1+counts)}, nil
	}
	var cells []uint64
	var rows []int
	for row, cell := range b.columns[0].numbersOf() {
		if int(cell) >= from && int(cell) < to {
			cells, rows = append(cells, cell-uint64(from)), append(rows, row)
		}
	}
	out := &block{rows: len(rows), columns: []column{{data: cells}}}
	for _, c := range b.columns[1:] {
		d, ok := c.data.([]uint64)
		if !ok {
			return nil, fmt.Errorf("a count is %T", c.data)
		}
		out.columns = append(out.columns, column{data: pick(d, rows)})
	}
	return out, nil
}
