package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/isobath/isobath/bench/synth"
	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/kernel"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/engine/query/enginetest"
	"github.com/isobath/isobath/internal/engine/query/naive"
)

// With no memory to keep codes in, answers come from the columns, are the same,
// and a warning says so once.
func TestTightBudget(t *testing.T) {
	for _, bytes := range []int64{0, 3000, 300_000} {
		t.Run(fmt.Sprint(bytes), func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(bytes)))
			d := enginetest.Data(r, 1500)
			room := budget.New(bytes)
			var warnings []string
			e := kernel.New(d, kernel.Options{Budget: room, Warn: func(s string) { warnings = append(warnings, s) }})
			enginetest.Same(t, r, d, naive.New(d), e, 25)
			if used := room.Used(); used > bytes {
				t.Errorf("uses %d bytes of a budget of %d", used, bytes)
			}
			if bytes < 100_000 && (len(warnings) != 1 || !strings.Contains(warnings[0], "--memory")) {
				t.Errorf("warnings %q, want one that names --memory", warnings)
			}
			e.Close()
			if used := room.Used(); used != 0 {
				t.Errorf("%d bytes in use after Close", used)
			}
		})
	}
}

// Engines that share a budget make room for each other.
func TestSharedBudget(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	room := budget.New(2 << 20)
	var engines []*kernel.Engine
	var datas []query.Data
	for range 3 {
		d := enginetest.Data(r, 2000)
		datas = append(datas, d)
		engines = append(engines, kernel.New(d, kernel.Options{Budget: room}))
	}
	for range 3 {
		for i, e := range engines {
			enginetest.Same(t, r, datas[i], naive.New(datas[i]), e, 3)
		}
	}
	if used := room.Used(); used > 2<<20 {
		t.Errorf("uses %d bytes of a budget of %d", used, 2<<20)
	}
}

// countdown is a context that is cancelled at the n-th time somebody looks.
type countdown struct {
	context.Context
	left atomic.Int64
	done chan struct{}
	once sync.Once
}

func newCountdown(n int) *countdown {
	c := &countdown{Context: context.Background(), done: make(chan struct{})}
	c.left.Store(int64(n))
	return c
}

func (c *countdown) Done() <-chan struct{} { return c.done }

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		c.once.Do(func() { close(c.done) })
		return context.Canceled
	}
	return nil
}

// Wherever a request is cancelled, it says so, and later answers are right.
func TestCancelAnywhere(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	d := enginetest.Data(r, 150_000)
	want := naive.New(d)
	e := kernel.New(d, kernel.Options{Budget: budget.New(1 << 30)})
	defer e.Close()
	q := &query.Request{
		Where:  query.Compare{Column: "cpu", Op: query.Lt, Value: query.NumberValue(70)},
		Hover:  query.Compare{Column: "line", Op: query.Lt, Value: query.NumberValue(99)},
		Axes:   []query.Axis{{Column: "latency"}, {Column: "level"}, {Column: "time", Bins: 1000}},
		Pairs:  []query.Pair{{Left: 0, Right: 1}, {Left: 1, Right: 2}},
		Groups: []query.Group{{By: []string{"symbol"}, Sum: "latency", Distinct: "line"}},
		Stats:  []query.Stat{{Column: "latency", Quantiles: []float64{0.5}}},
		Rows:   &query.Page{Offset: 5, Count: 5, Sort: "latency"},
		Places: true,
	}
	cancelled := 0
	for n := 0; ; n += 1 + n/8 {
		ctx := newCountdown(n)
		_, err := e.Answer(ctx, q)
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled at look %d: %v", n, err)
		}
		cancelled++
	}
	if cancelled < 10 {
		t.Errorf("looked only %d times for a cancellation", cancelled)
	}
	enginetest.Check(t, context.Background(), d, q, want, e)
}

// Several clients ask at once, one of them drags, and rows are replaced.
func TestConcurrentClients(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	d := enginetest.Data(r, 3000)
	e := kernel.New(d, kernel.Options{Budget: budget.New(4 << 20)})
	defer e.Close()
	want := naive.New(d)
	lot, err := e.Select(context.Background(), query.Compare{Column: "cpu", Op: query.Lt, Value: query.NumberValue(50)})
	if err != nil {
		t.Fatal(err)
	}
	known := func(context.Context, string) (table.Bits, error) { return lot, nil }
	d.RowSets.FindBy(known)
	var wg sync.WaitGroup
	for client := range uint64(4) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(client, 1))
			for range 15 {
				q := enginetest.Request(r, d)
				if client == 0 {
					if err := e.Prepare(context.Background(), q, query.Axis{Column: "line"}); err != nil {
						t.Log(err) // the budget may be too small; answers must be right all the same
					}
					d.RowSets.FindBy(known) // which makes older answers worthless
				}
				w, errW := want.Answer(context.Background(), q)
				g, errG := e.Answer(context.Background(), q)
				if errW != nil || errG != nil {
					t.Errorf("%s: %v, %v", enginetest.Describe(q), errW, errG)
					return
				}
				if diff := enginetest.Diff(d, q, w, g); diff != "" {
					t.Errorf("%s\n%s", enginetest.Describe(q), diff)
					return
				}
			}
		})
	}
	wg.Wait()
}

// Allocations do not grow with the rows: each answer is to another selection, so
// its rows are found and counted anew.
func TestNoAllocationPerRow(t *testing.T) {
	test.NoRaces(t, "it counts allocations")
	allocations := func(rows int) float64 {
		e := kernel.New(query.Data{Table: synth.Samples(rows)}, kernel.Options{})
		defer e.Close()
		i := 0
		ask := func() {
			i++
			q := synth.Selection(300, i)
			q.Stats = []query.Stat{{Column: "latency", Quantiles: []float64{0.5}}, {Column: "weight", Quantiles: []float64{0.9}}}
			if err := synth.Ask(context.Background(), e, q); err != nil {
				t.Fatal(err)
			}
		}
		ask()
		return testing.AllocsPerRun(5, ask)
	}
	const rows = 100_000
	few, many := allocations(rows), allocations(4*rows)
	if grown := (many - few) / (3 * rows); grown > 0.001 {
		t.Errorf("%.0f allocations for %d rows, %.0f for %d: %.4f a row", few, rows, many, 4*rows, grown)
	}
}

// What is kept for the next question is bounded by the data, however many places
// an axis is zoomed to and whatever is filtered: a page that was played with took
// half a gigabyte for ninety thousand samples, and would have gone on.
func TestKeptIsBoundedByData(t *testing.T) {
	const rows = 16_000
	d := query.Data{Table: synth.Overlaid(rows)}
	room := budget.New(8 << 30)
	e := kernel.New(d, kernel.Options{Budget: room})
	defer e.Close()
	most := int64(0)
	for i := range 300 {
		q := &query.Request{Filter: query.Compare{Column: "c2", Op: query.Gt, Value: query.NumberValue(float64(i % 50))},
			Axes: []query.Axis{{Column: "c0", Lo: float64(i), Hi: float64(i + 500), Bins: 300}, {Column: "c1", Bins: 100 + i}}, Pairs: []query.Pair{{Left: 0, Right: 1}}}
		if _, err := e.Answer(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		most = max(most, room.Used())
	}
	if limit := int64(16<<20+8*rows*len(d.Table.Columns())) * 3 / 2; most > limit || most < limit/2 {
		t.Errorf("%d bytes are kept of %d rows and %d columns, at most %d are wanted", most, rows, len(d.Table.Columns()), limit)
	}
}

// What is prepared for drags is bounded by the data, however much is shown: a
// page of twelve axes took half a gigabyte for sixteen thousand samples.
func TestCubesAreBoundedByData(t *testing.T) {
	const rows = 16_000
	d := query.Data{Table: synth.Overlaid(rows)}
	bytes := int64(rows * len(d.Table.Columns()) * 8)
	room := budget.New(4 << 30)
	e := kernel.New(d, kernel.Options{Budget: room})
	defer e.Close()
	q := &query.Request{Pairs: synth.Pairs(synth.OverlaidAxes)}
	for i := range synth.OverlaidAxes {
		q.Axes = append(q.Axes, query.Axis{Column: fmt.Sprintf("c%d", i), Bins: 100})
	}
	for _, axis := range q.Axes {
		if err := e.Prepare(t.Context(), q, axis); err != nil {
			t.Fatal(err)
		}
		moved := *q
		moved.Where = synth.Brush(axis.Column, 1000, 6000)
		if err := synth.Ask(t.Context(), e, &moved); err != nil {
			t.Fatal(err)
		}
	}
	if used := room.Used(); used > 32<<20+2*bytes {
		t.Errorf("%d MB are kept for %d kB of data", used>>20, bytes>>10)
	}
}
