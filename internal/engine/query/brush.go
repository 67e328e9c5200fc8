package query

import (
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/table"
)

// SplitBrush divides a selection into what concerns one column only, the brush, and
// the rest, in a form that does not depend on the order of its terms.
func SplitBrush(e Expr, column string) (brush []Expr, rest []Expr) {
	for _, t := range termsOf(e) {
		if onlyAbout(t, column) {
			brush = append(brush, t)
		} else {
			rest = append(rest, t)
		}
	}
	slices.SortFunc(rest, func(a, b Expr) int { return strings.Compare(a.String(), b.String()) })
	return brush, rest
}

func termsOf(e Expr) []Expr {
	switch e := e.(type) {
	case nil:
		return nil
	case And:
		var terms []Expr
		for _, t := range e.Terms {
			terms = append(terms, termsOf(t)...)
		}
		return terms
	}
	return []Expr{e}
}

func onlyAbout(e Expr, column string) bool {
	not := func(t Expr) bool { return !onlyAbout(t, column) }
	switch e := e.(type) {
	case And:
		return !slices.ContainsFunc(e.Terms, not)
	case Or:
		return !slices.ContainsFunc(e.Terms, not)
	case Not:
		return onlyAbout(e.Term, column)
	}
	name, ok := ColumnOf(e)
	return ok && name == column
}

// AllOf is the selection of what all terms select; nil for none.
func AllOf(terms []Expr) Expr {
	switch len(terms) {
	case 0:
		return nil
	case 1:
		return terms[0]
	}
	return And{Terms: terms}
}

// share is how much of a bin a selection takes.
type share int

const (
	none share = iota
	some
	whole
)

// Extremes are the rows of each bin with the least and the greatest value, -1
// for bins without rows.
type Extremes struct {
	Column      *table.Column
	Missing     int // the bin of rows without a value
	Least, Most []int
}

// share returns how much of a bin with rows an expression about the column
// takes. It may answer some where the truth is none or whole, never otherwise.
func (x *Extremes) share(e Expr, bin int) share {
	switch e := e.(type) {
	case And:
		least := whole
		for _, t := range e.Terms {
			least = min(least, x.share(t, bin))
		}
		return least
	case Or:
		most := none
		for _, t := range e.Terms {
			most = max(most, x.share(t, bin))
		}
		return most
	case Not:
		return whole - x.share(e.Term, bin)
	case Missing:
		if (bin == x.Missing) == e.Not {
			return none
		}
		return whole
	}
	least, most := x.Least[bin], x.Most[bin]
	switch {
	case bin == x.Missing:
		return none
	case CompareRows(x.Column, least, most, false) == 0:
		return x.at(e, least)
	case x.Column.Kind == table.Category:
		return some
	}
	switch e := e.(type) {
	case Range:
		return min(x.share(Compare{Column: e.Column, Op: Ge, Value: e.Lo}, bin),
			x.share(Compare{Column: e.Column, Op: Le, Value: e.Hi}, bin))
	case In:
		found := none
		for _, v := range e.Values {
			found = max(found, x.share(Compare{Column: e.Column, Op: Eq, Value: v}, bin))
		}
		return found
	case Compare:
		return x.compare(e, least, most)
	}
	return some
}

func (x *Extremes) at(e Expr, row int) share {
	if Accepts(e, x.Column, row) {
		return whole
	}
	return none
}

// compare is share for a comparison of a bin with more than one value.
func (x *Extremes) compare(e Compare, least, most int) share {
	op := func(op Op, row int) bool {
		return Accepts(Compare{Column: e.Column, Op: op, Value: e.Value}, x.Column, row)
	}
	outside := op(Gt, least) || op(Lt, most)
	switch {
	case e.Op == Eq && outside:
		return none
	case e.Op == Ne && outside:
		return whole
	case e.Op == Eq || e.Op == Ne:
		return some
	}
	if a, b := x.at(e, least), x.at(e, most); a == b {
		return a // these hold for all values up to, or from, one of them
	}
	return some
}

// BinRun is a range of bins, the last one not included.
type BinRun struct{ From, To int }

// Runs returns the bins that terms take, or false if they cut through one.
func (x *Extremes) Runs(terms []Expr) ([]BinRun, bool) {
	var out []BinRun
	open := false
	for bin := range x.Least {
		if x.Least[bin] < 0 {
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
			out[len(out)-1].To = bin + 1
		default:
			out = append(out, BinRun{bin, bin + 1})
			open = true
		}
	}
	return out, true
}

// MentionsRows reports whether terms refer to rows that may have been replaced.
func MentionsRows(terms []Expr) bool {
	return slices.ContainsFunc(terms, func(e Expr) bool {
		switch e := e.(type) {
		case RowSet:
			return true
		case And:
			return MentionsRows(e.Terms)
		case Or:
			return MentionsRows(e.Terms)
		case Not:
			return MentionsRows([]Expr{e.Term})
		}
		return false
	})
}
