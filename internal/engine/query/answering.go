package query

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/isobath/isobath/internal/data/table"
)

// What follows is the part of answering that does not depend on how an engine
// counts: order, ranks, texts and errors.

// AskError refuses a question that this data cannot answer: who asked can put it
// another way, and nothing is wrong with the engine.
type AskError struct{ Problem string }

func (e *AskError) Error() string { return e.Problem }

// Refuse makes an AskError.
func Refuse(format string, args ...any) error { return &AskError{fmt.Sprintf(format, args...)} }

// ErrNotPlaced is for questions about a topology that is not there.
var ErrNotPlaced = Refuse("these samples are not placed on a topology; import them with --topology")

// NotNumbers is the error for a column that cannot be summed.
func NotNumbers(column string) error {
	return Refuse("column %q holds names, not numbers; it cannot be summed", column)
}

// Fits reports whether a pair refers to axes that exist, of n.
func (p Pair) Fits(n int) bool { return p.Left >= 0 && p.Left < n && p.Right >= 0 && p.Right < n }

// NearestRank returns the index, among n sorted values, of the quantile q by
// the nearest-rank rule: the least value with at least q·n values up to it.
func NearestRank(q float64, n int) int {
	k := math.Ceil(q*float64(n)) - 1
	return int(min(max(k, 0), float64(n-1)))
}

// CompareRows orders two rows by a column: numbers by value, names naturally,
// rows without a value last in either direction.
func CompareRows(c *table.Column, i, j int, down bool) int {
	x, hasX := Number(c, i)
	y, hasY := Number(c, j)
	switch {
	case !hasX || !hasY:
		return missingLast(hasX, hasY)
	case down:
		return -compareValues(c, i, j, x, y)
	}
	return compareValues(c, i, j, x, y)
}

func missingLast(hasX, hasY bool) int {
	switch {
	case hasX:
		return -1
	case hasY:
		return 1
	}
	return 0
}

func compareValues(c *table.Column, i, j int, x, y float64) int {
	switch d := c.Data.(type) {
	case []uint32:
		if d[i] == d[j] {
			return 0
		}
		return NaturalCompare(c.Dict[d[i]], c.Dict[d[j]])
	case []uint64:
		return cmp.Compare(d[i], d[j])
	case []int64:
		return cmp.Compare(d[i], d[j])
	}
	return cmp.Compare(x, y)
}

// RankedGroup is a group and one of its rows, whose values are its key.
type RankedGroup struct {
	Row   GroupRow
	First int
}

// Ranking puts groups in the order asked for and keeps the first ones. Few of
// many are found without keeping or sorting the rest: those that come before the
// last one so far are collected, and sorted when they are twice as many as
// wanted.
type Ranking struct {
	group  Group
	by     []*table.Column
	total  int
	first  []RankedGroup
	sorted bool // the wanted ones among first are the best of all so far, in order
}

// NewRanking returns a ranking of groups by the values of some columns.
func NewRanking(g Group, by []*table.Column) *Ranking { return &Ranking{group: g, by: by} }

// Add adds a group.
func (r *Ranking) Add(x RankedGroup) {
	r.total++
	n := r.group.Top
	if r.sorted && r.order(x, r.first[n-1]) >= 0 {
		return
	}
	if r.first = append(r.first, x); n > 0 && len(r.first) >= 2*n {
		slices.SortFunc(r.first, r.order)
		r.first, r.sorted = r.first[:n], true
	}
}

func (r *Ranking) order(a, b RankedGroup) int {
	if r.group.Order != ByKey {
		if o := cmp.Compare(r.group.rank(&b.Row), r.group.rank(&a.Row)); o != 0 {
			return o
		}
	}
	for _, c := range r.by {
		if o := CompareRows(c, a.First, b.First, false); o != 0 {
			return o
		}
	}
	return 0
}

// Groups returns the first groups with their keys.
func (r *Ranking) Groups() Groups {
	slices.SortFunc(r.first, r.order)
	if n := r.group.Top; n > 0 && len(r.first) > n {
		r.first = r.first[:n]
	}
	out := Groups{Total: r.total}
	for _, x := range r.first {
		x.Row.Keys = make([]string, len(r.by))
		for i, c := range r.by {
			if _, ok := Number(c, x.First); ok {
				x.Row.Keys[i] = c.Text(x.First)
			}
		}
		out.Rows = append(out.Rows, x.Row)
	}
	return out
}

// rank is the number that groups are ordered by.
func (g Group) rank(r *GroupRow) float64 {
	switch {
	case g.Order == ByCount || g.Sum == "":
		return float64(r.Counts[Selected])
	case g.Order == ByMean && r.Valued[Selected] == 0:
		return math.Inf(-1)
	case g.Order == ByMean:
		return r.Sums[Selected] / float64(r.Valued[Selected])
	}
	return r.Sums[Selected]
}

// RowTexts returns the texts of rows; no columns means all of them.
func RowTexts(t *table.Table, columns []string, index []int) (*Rows, error) {
	out := &Rows{Columns: columns, Index: index, Cells: make([][]string, len(index))}
	if columns == nil {
		for _, c := range t.Columns() {
			out.Columns = append(out.Columns, c.Name)
		}
	}
	for i := range index {
		out.Cells[i] = make([]string, len(out.Columns))
	}
	for k, name := range out.Columns {
		c := t.Column(name)
		if c == nil {
			return nil, UnknownColumn(t, name)
		}
		for i, row := range index {
			out.Cells[i][k] = c.Text(row)
		}
	}
	return out, nil
}
