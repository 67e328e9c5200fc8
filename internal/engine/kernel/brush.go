package kernel

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// split divides a selection into what concerns one column only, the brush, and
// the rest, in a form that does not depend on the order of its terms.
func split(e query.Expr, column string) (brush []query.Expr, rest []query.Expr) {
	for _, t := range termsOf(e) {
		if onlyAbout(t, column) {
			brush = append(brush, t)
		} else {
			rest = append(rest, t)
		}
	}
	slices.SortFunc(rest, func(a, b query.Expr) int { return strings.Compare(a.String(), b.String()) })
	return brush, rest
}

func termsOf(e query.Expr) []query.Expr {
	switch e := e.(type) {
	case nil:
		return nil
	case query.And:
		var terms []query.Expr
		for _, t := range e.Terms {
			terms = append(terms, termsOf(t)...)
		}
		return terms
	}
	return []query.Expr{e}
}

func onlyAbout(e query.Expr, column string) bool {
	not := func(t query.Expr) bool { return !onlyAbout(t, column) }
	switch e := e.(type) {
	case query.And:
		return !slices.ContainsFunc(e.Terms, not)
	case query.Or:
		return !slices.ContainsFunc(e.Terms, not)
	case query.Not:
		return onlyAbout(e.Term, column)
	}
	name, ok := query.ColumnOf(e)
	return ok && name == column
}

func joined(terms []query.Expr) query.Expr {
	switch len(terms) {
	case 0:
		return nil
	case 1:
		return terms[0]
	}
	return query.And{Terms: terms}
}

// share is how much of a bin a selection takes.
type share int

const (
	none share = iota
	some
	whole
)

// extremes are the rows of each bin with the least and the greatest value, -1
// for bins without rows.
type extremes struct {
	column      *table.Column
	missing     int // the bin of rows without a value
	least, most []int
}

func findExtremes(ctx context.Context, c *table.Column, a *axisCodes) (*extremes, error) {
	x := &extremes{column: c, missing: a.Binning.Bins}
	n := a.cells
	k := keysOf(c, false)
	type seen struct {
		least, most       []int
		leastKey, mostKey []uint64
		keys              []uint64
		codes             view
	}
	workers := make([]seen, workers())
	for w := range workers {
		s := &workers[w]
		s.least, s.most = slices.Repeat([]int{-1}, n), slices.Repeat([]int{-1}, n)
		s.leastKey, s.mostKey = slices.Repeat([]uint64{math.MaxUint64}, n), make([]uint64, n)
		s.codes = newView(n, blockRows)
	}
	rows := c.Len()
	err := eachBlock(ctx, blocks(rows), func(w, block int) {
		lo, hi := bounds(block, rows)
		s := &workers[w]
		keys, codes := k.block(lo, hi, grow(&s.keys, hi-lo)), a.block(lo, hi, s.codes)
		for i, key := range keys {
			bin := codes.at(i)
			if key <= s.leastKey[bin] {
				s.leastKey[bin], s.least[bin] = key, lo+i
			}
			if key >= s.mostKey[bin] {
				s.mostKey[bin], s.most[bin] = key, lo+i
			}
		}
	})
	x.least, x.most = slices.Repeat([]int{-1}, n), slices.Repeat([]int{-1}, n)
	for bin := range n {
		least, most := uint64(math.MaxUint64), uint64(0)
		for _, s := range workers {
			if s.least[bin] >= 0 && s.leastKey[bin] <= least {
				least, x.least[bin] = s.leastKey[bin], s.least[bin]
			}
			if s.most[bin] >= 0 && s.mostKey[bin] >= most {
				most, x.most[bin] = s.mostKey[bin], s.most[bin]
			}
		}
	}
	return x, err
}

// share returns how much of a bin with rows an expression about the column
// takes. It may answer some where the truth is none or whole, never otherwise.
func (x *extremes) share(e query.Expr, bin int) share {
	switch e := e.(type) {
	case query.And:
		least := whole
		for _, t := range e.Terms {
			least = min(least, x.share(t, bin))
		}
		return least
	case query.Or:
		most := none
		for _, t := range e.Terms {
			most = max(most, x.share(t, bin))
		}
		return most
	case query.Not:
		return whole - x.share(e.Term, bin)
	case query.Missing:
		if (bin == x.missing) == e.Not {
			return none
		}
		return whole
	}
	least, most := x.least[bin], x.most[bin]
	switch {
	case bin == x.missing:
		return none
	case query.CompareRows(x.column, least, most, false) == 0:
		return x.at(e, least)
	case x.column.Kind == table.Category:
		return some
	}
	switch e := e.(type) {
	case query.Range:
		return min(x.share(query.Compare{Column: e.Column, Op: query.Ge, Value: e.Lo}, bin),
			x.share(query.Compare{Column: e.Column, Op: query.Le, Value: e.Hi}, bin))
	case query.In:
		found := none
		for _, v := range e.Values {
			found = max(found, x.share(query.Compare{Column: e.Column, Op: query.Eq, Value: v}, bin))
		}
		return found
	case query.Compare:
		return x.compare(e, least, most)
	}
	return some
}

func (x *extremes) at(e query.Expr, row int) share {
	if query.Accepts(e, x.column, row) {
		return whole
	}
	return none
}

// compare is share for a comparison of a bin with more than one value.
func (x *extremes) compare(e query.Compare, least, most int) share {
	op := func(op query.Op, row int) bool {
		return query.Accepts(query.Compare{Column: e.Column, Op: op, Value: e.Value}, x.column, row)
	}
	outside := op(query.Gt, least) || op(query.Lt, most)
	switch {
	case e.Op == query.Eq && outside:
		return none
	case e.Op == query.Ne && outside:
		return whole
	case e.Op == query.Eq || e.Op == query.Ne:
		return some
	}
	if a, b := x.at(e, least), x.at(e, most); a == b {
		return a // these hold for all values up to, or from, one of them
	}
	return some
}

// run is a range of bins, the last one not included.
type run struct{ from, to int }

// runs returns the bins that terms take, or false if they cut through one.
func (x *extremes) runs(terms []query.Expr) ([]run, bool) {
	var out []run
	open := false
	for bin := range x.least {
		if x.least[bin] < 0 {
			continue // without rows it belongs to either side
		}
		taken := whole
		for _, t := range terms {
			taken = min(taken, x.share(t, bin))
		}
		switch {
		case taken == some:
			return nil, false
		case taken == none:
			open = false
		case open:
			out[len(out)-1].to = bin + 1
		default:
			out = append(out, run{bin, bin + 1})
			open = true
		}
	}
	return out, true
}
