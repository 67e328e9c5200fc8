package kernel_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/isobath/isobath/bench/synth"
	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/engine/kernel"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/engine/query/enginetest"
	"github.com/isobath/isobath/internal/engine/query/naive"
)

// Who goes through the tabs of a page, each asked about when it is pointed at and
// when it is clicked, finds the first one as it was: its rows are not counted again.
func TestComesBackToWhatWasCounted(t *testing.T) {
	e := kernel.New(query.Data{Table: synth.Samples(50_000)}, kernel.Options{})
	defer e.Close()
	ctx := context.Background()
	ask := func(r *query.Request) {
		t.Helper()
		if err := synth.Ask(ctx, e, r); err != nil {
			t.Fatal(err)
		}
	}
	for i, permille := range []int{300, 500} {
		b := synth.Bounds(permille, 1)
		where := synth.Brush("chance", b[0], b[1])
		pairs := &query.Request{Axes: synth.Axes[:9], Pairs: synth.Pairs(9), Groups: synth.Groups, Where: where}
		if known, err := kernel.Known(ctx, e, pairs); known || err != nil {
			t.Fatalf("selection %d: known %v before it was asked, %v", i, known, err)
		}
		ask(pairs)
		for _, axis := range []int{3, 10} {
			ask(&query.Request{Axes: synth.Axes[axis : axis+1], Where: where})
			ask(&query.Request{Axes: synth.Axes[axis : axis+1], Groups: synth.Groups, Where: where})
		}
		if known, err := kernel.Known(ctx, e, pairs); !known || err != nil {
			t.Errorf("selection %d: known %v after two other tabs, %v; want true", i, known, err)
		}
	}
}

// A few questions about a few rows in any order: every answer may be made of what
// the same questions found in other rows, or others in the same.
func TestEqualsNaiveInAnyOrder(t *testing.T) {
	test.NoRaces(t, askedAtOnce)
	seeds := uint64(6)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 9))
		d := enginetest.Data(r, 2000)
		e := kernel.New(d, kernel.Options{Budget: budget.New(1 << 30)})
		want := naive.New(d)
		enginetest.Same(t, r, d, want, e, 1) // which names rows, too
		var about []*query.Request
		for range 4 {
			about = append(about, enginetest.Request(r, d))
		}
		for range 80 {
			q := *about[r.IntN(len(about))]
			rows := about[r.IntN(len(about))]
			q.Filter, q.Where, q.Hover = rows.Filter, rows.Where, about[r.IntN(len(about))].Hover
			if r.IntN(2) == 0 {
				q.Hover = nil
			}
			if r.IntN(3) == 0 {
				q.Filter = nil
			}
			enginetest.Check(t, context.Background(), d, &q, want, e)
		}
		e.Close()
	}
}
