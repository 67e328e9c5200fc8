package kernel

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/engine/query/enginetest"
)

// A build that nobody waits for any more is over when Close returns: the table
// is unmapped then, and reading it would end the program.
func TestCloseWaitsForBuilds(t *testing.T) {
	e := New(enginetest.Data(rand.New(rand.NewPCG(1, 1)), 100), Options{})
	began, proceed, over := make(chan struct{}), make(chan struct{}), false
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-began
		cancel() // the client goes
	}()
	l := e.share.Lease()
	_, _, err := l.Get(ctx, "slow", 1, func() (any, error) {
		close(began)
		<-proceed
		over = true
		return 1, nil
	})
	l.Done()
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("the request that was taken back: %v", err)
	}
	closed := make(chan struct{})
	go func() {
		e.Close()
		close(closed)
	}()
	for range 100 { // let Close get as far as it can
		runtime.Gosched()
	}
	select {
	case <-closed:
		t.Error("Close returned while a build runs")
	default:
	}
	close(proceed)
	<-closed
	if !over {
		t.Error("Close returned before the build was over")
	}
	if _, _, err := e.share.Lease().Get(t.Context(), "late", 1, func() (any, error) { return 1, nil }); !errors.Is(err, budget.ErrClosed) {
		t.Errorf("a build after Close: %v", err)
	}
	if e.share.Budget().Used() != 0 {
		t.Errorf("%d bytes are in use after Close", e.share.Budget().Used())
	}
}

// What panics in a build is an error of whoever asks.
func TestBuildPanics(t *testing.T) {
	e := New(enginetest.Data(rand.New(rand.NewPCG(1, 1)), 100), Options{})
	defer e.Close()
	_, _, err := e.share.Lease().Get(t.Context(), "bad", 1, func() (any, error) { panic("boom") })
	if err == nil || !strings.Contains(err.Error(), "boom") {
		t.Errorf("error %v", err)
	}
}

// A question that takes more than the budget is refused with the numbers, before
// anything is allocated; a page's question is answered by any budget.
func TestQuestionWithinBudget(t *testing.T) {
	d := enginetest.Data(rand.New(rand.NewPCG(1, 1)), 1000)
	e := New(d, Options{Budget: budget.New(64 << 20)})
	defer e.Close()
	large := &query.Request{}
	for i := range 17 {
		large.Axes = append(large.Axes, query.Axis{Column: []string{"latency", "time"}[i%2], Bins: 1000, Scale: query.Linear, Lo: float64(i), Hi: float64(i + 1000)})
	}
	for i := range 16 {
		large.Pairs = append(large.Pairs, query.Pair{Left: i, Right: i + 1})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := e.Answer(t.Context(), large)
	runtime.ReadMemStats(&after)
	var refused *budget.Exceeded
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "64 MiB") {
		t.Errorf("16 pairs of 1000 × 1000 bins in 64 MB: %v", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("refusing took %d MB", took>>20)
	}
	for i := range large.Axes {
		large.Axes[i].Bins = 100
	}
	if _, err := e.Answer(t.Context(), large); err != nil {
		t.Errorf("16 pairs of 100 × 100 bins in 64 MB: %v", err)
	}
	roomy := New(d, Options{Budget: budget.New(4 << 30)})
	defer roomy.Close()
	if _, err := roomy.Answer(t.Context(), large); err != nil {
		t.Error(err)
	}
}
