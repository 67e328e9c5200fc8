// Package enginetest compares query engines with the plain evaluator: random
// tables, random questions, the same answers cell for cell.
package enginetest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/engine/query/naive"
)

// Run checks an engine against the plain evaluator. make builds the engine for
// some data; it may keep it in use until the end of the test.
func Run(t *testing.T, make func(t *testing.T, d query.Data) query.Engine) {
	for _, rows := range []int{0, 1, 2, 63, 64, 65, 1000, 5000, 70_000, 140_000} {
		// The plain evaluator is slow.
		seeds, rounds := min(12, 1+100_000/uint64(rows+1)), 12
		if rows > 10_000 {
			rounds = 280_000 / rows
		}
		if testing.Short() {
			seeds, rounds = min(2, seeds), min(4, rounds)
			if rows > 100_000 {
				continue
			}
		}
		for seed := range seeds {
			t.Run(fmt.Sprintf("rows=%d/seed=%d", rows, seed), func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, uint64(rows)))
				d := Data(r, rows)
				Same(t, r, d, naive.New(d), make(t, d), rounds)
			})
		}
	}
}

// Same asks two engines n random rounds of questions and reports differences.
func Same(t *testing.T, r *rand.Rand, d query.Data, want, got query.Engine, n int) {
	t.Helper()
	ctx := context.Background()
	nameRows(r, d)
	base := Request(r, d)
	for range n {
		// Most rounds change the selection only, as people do; that is where an
		// engine may reuse what it knows.
		if r.IntN(3) == 0 {
			base = Request(r, d)
		} else {
			base.Where, base.Hover = randomExpr(r, d, 2), randomExpr(r, d, 1)
			if r.IntN(3) == 0 {
				base.Hover = nil
			}
		}
		Check(t, ctx, d, base, want, got)
		if r.IntN(3) == 0 {
			steps(t, ctx, r, d, *base, want, got)
		}
	}
}

// steps does what people do next: click what is hovered, leave it, hover
// something else, undo, and open another view in place of one.
func steps(t *testing.T, ctx context.Context, r *rand.Rand, d query.Data, q query.Request, want, got query.Engine) {
	t.Helper()
	first := q
	for range r.IntN(6) {
		switch r.IntN(8) {
		case 0:
			q.Where = q.Hover
		case 1:
			q.Where = query.Both(q.Where, q.Hover)
		case 2:
			q.Hover = nil
		case 3:
			q.Hover = randomExpr(r, d, 1)
		case 4:
			q.Where, q.Hover = first.Where, nil
		case 5:
			q.Pairs = nil
		case 6:
			q.Axes = append(slices.Clone(q.Axes), axis(r, d))
		case 7:
			q.Axes, q.Pairs = first.Axes, first.Pairs
		}
		Check(t, ctx, d, &q, want, got)
	}
}

// nameRows gives `rows lot` a meaning.
func nameRows(r *rand.Rand, d query.Data) {
	b := table.NewBits(d.Table.Rows())
	for i := range d.Table.Rows() {
		if r.IntN(3) == 0 {
			b.Set(i)
		}
	}
	d.RowSets.FindBy(func(context.Context, string) (table.Bits, error) { return b, nil })
}

// Check asks both engines the same questions and compares the answers.
func Check(t *testing.T, ctx context.Context, d query.Data, q *query.Request, want, got query.Engine) {
	t.Helper()
	w, errW := want.Answer(ctx, q)
	g, errG := got.Answer(ctx, q)
	if (errW == nil) != (errG == nil) {
		t.Fatalf("%s\ngot error %v\nwant error %v", Describe(q), errG, errW)
	}
	if errW != nil {
		return
	}
	if diff := Diff(d, q, w, g); diff != "" {
		t.Fatalf("%s\n%s", Describe(q), diff)
	}
}

// Describe writes a request so that a failed test can be read.
func Describe(q *query.Request) string {
	text := func(e query.Expr) string {
		if e == nil {
			return "none"
		}
		return e.String()
	}
	return fmt.Sprintf("filter: %s\nwhere: %s\nhover: %s\naxes: %+v\npairs: %v\ngroups: %+v\nstats: %+v\nplaces: %v rows: %+v",
		text(q.Filter), text(q.Where), text(q.Hover), q.Axes, q.Pairs, q.Groups, q.Stats, q.Places, q.Rows)
}

// Diff returns the first difference between two answers, or nothing. Sums of
// whole numbers must be equal; those of other numbers may differ by rounding.
func Diff(d query.Data, q *query.Request, want, got *query.Answer) string {
	differ := func(what string, w, g any) string {
		return fmt.Sprintf("%s\n got %+v\nwant %+v", what, g, w)
	}
	if want.Counts != got.Counts || want.HoverAll != got.HoverAll {
		return differ("counts", []any{want.Counts, want.HoverAll}, []any{got.Counts, got.HoverAll})
	}
	if len(want.Axes) != len(got.Axes) || len(want.Pairs) != len(got.Pairs) ||
		len(want.Groups) != len(got.Groups) || len(want.Stats) != len(got.Stats) {
		return "number of answers differs"
	}
	for i, w := range want.Axes {
		g := got.Axes[i]
		if !sameBinning(w.Binning, g.Binning) {
			return differ(fmt.Sprintf("binning of axis %d", i), *w.Binning, *g.Binning)
		}
		for l := range w.Counts {
			if !slices.Equal(w.Counts[l], g.Counts[l]) {
				return differ(fmt.Sprintf("axis %d layer %d", i, l), w.Counts[l], g.Counts[l])
			}
		}
	}
	for i, w := range want.Pairs {
		g := got.Pairs[i]
		if !slices.Equal(w.Left, g.Left) || !slices.Equal(w.Right, g.Right) {
			return differ(fmt.Sprintf("cells of pair %d", i), []any{w.Left, w.Right}, []any{g.Left, g.Right})
		}
		for l := range w.Counts {
			if !slices.Equal(w.Counts[l], g.Counts[l]) {
				return differ(fmt.Sprintf("pair %d layer %d", i, l), w.Counts[l], g.Counts[l])
			}
		}
	}
	for i, w := range want.Groups {
		if diff := diffGroups(d, q.Groups[i], w, got.Groups[i]); diff != "" {
			return fmt.Sprintf("groups %d: %s", i, diff)
		}
	}
	for i, w := range want.Stats {
		if diff := diffStats(whole(d, q.Stats[i].Column), w, got.Stats[i]); diff != "" {
			return fmt.Sprintf("stats %d: %s", i, diff)
		}
	}
	if diff := diffPlaces(want.Places, got.Places); diff != "" {
		return "places: " + diff
	}
	if !reflect.DeepEqual(want.Rows, got.Rows) && !(want.Rows != nil && len(want.Rows.Index) == 0 && len(got.Rows.Index) == 0) {
		return differ("rows", want.Rows, got.Rows)
	}
	return ""
}

func sameBinning(w, g *query.Binning) bool {
	same := func(a, b float64) bool { return a == b || a != a && b != b }
	return w.Axis == g.Axis && slices.Equal(w.Edges, g.Edges) && slices.Equal(w.Labels, g.Labels) && w.More == g.More &&
		w.Missing == g.Missing && w.Below == g.Below && w.Above == g.Above && same(w.Min, g.Min) && same(w.Max, g.Max)
}

func whole(d query.Data, column string) bool {
	c := d.Table.Column(column)
	if c == nil {
		return true
	}
	_, isFloat := c.Data.([]float64)
	return !isFloat
}

// sameSum compares sums; n and squares bound the rounding that order causes.
func sameSum(whole bool, want, got float64, n int, squares float64) bool {
	switch {
	case want == got || want != want && got != got:
		return true
	case whole && squares < 1<<53, want != want || got != got || math.IsInf(want, 0):
		return false
	}
	return math.Abs(want-got) <= 1e-10*(math.Abs(want)+math.Sqrt(squares*float64(n)))
}

func diffGroups(d query.Data, q query.Group, w, g query.Groups) string {
	if w.Total != g.Total || len(w.Rows) != len(g.Rows) {
		return fmt.Sprintf("got %d of %d groups, want %d of %d", len(g.Rows), g.Total, len(w.Rows), w.Total)
	}
	for i, x := range w.Rows {
		y := g.Rows[i]
		ok := slices.Equal(x.Keys, y.Keys) && x.Counts == y.Counts && x.Valued == y.Valued && x.Distinct == y.Distinct
		for l := range x.Sums {
			ok = ok && sameSum(whole(d, q.Sum), x.Sums[l], y.Sums[l], x.Valued[l], x.Squares[l]) &&
				sameSum(whole(d, q.Sum), x.Squares[l], y.Squares[l], x.Valued[l], x.Squares[l])
		}
		if !ok {
			return fmt.Sprintf("rank %d\n got %+v\nwant %+v", i, y, x)
		}
	}
	return ""
}

func diffStats(whole bool, w, g query.Stats) string {
	same := func(a, b float64) bool { return a == b || a != a && b != b }
	ok := w.Counts == g.Counts
	for l := range w.Counts {
		ok = ok && sameSum(whole, w.Sums[l], g.Sums[l], w.Counts[l], w.Squares[l]) &&
			sameSum(whole, w.Squares[l], g.Squares[l], w.Counts[l], w.Squares[l]) &&
			same(w.Min[l], g.Min[l]) && same(w.Max[l], g.Max[l]) && slices.EqualFunc(w.Quantiles[l], g.Quantiles[l], same)
	}
	if !ok {
		return fmt.Sprintf("\n got %+v\nwant %+v", g, w)
	}
	return ""
}

func diffPlaces(w, g *query.Places) string {
	if (w == nil) != (g == nil) {
		return fmt.Sprintf("got %v, want %v", g, w)
	}
	if w == nil {
		return ""
	}
	same := func(a, b float64) bool { return sameSum(false, a, b, 1, a*a) }
	for l := range w.Counts {
		ok := slices.Equal(w.Counts[l], g.Counts[l]) && slices.Equal(w.Valued[l], g.Valued[l]) &&
			slices.EqualFunc(w.Sums[l], g.Sums[l], same) && slices.EqualFunc(w.Squares[l], g.Squares[l], same)
		if !ok {
			return fmt.Sprintf("layer %d\n got %v %v %v\nwant %v %v %v", l, g.Counts[l], g.Sums[l], g.Squares[l], w.Counts[l], w.Sums[l], w.Squares[l])
		}
	}
	return ""
}
