package parallel

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestEachVisitsAll(t *testing.T) {
	for _, n := range []int{0, 1, 2, 63, 1000} {
		seen := make([]atomic.Int32, n)
		busy := make([]atomic.Int32, Workers())
		err := Each(t.Context(), n, func(_ context.Context, worker, i int) error {
			if busy[worker].Add(1) != 1 {
				t.Error("two calls with one worker")
			}
			seen[i].Add(1)
			busy[worker].Add(-1)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range seen {
			if seen[i].Load() != 1 {
				t.Errorf("n %d: %d was visited %d times", n, i, seen[i].Load())
			}
		}
	}
}

func TestEachStops(t *testing.T) {
	bad := errors.New("bad")
	ended, end := context.WithCancel(context.Background())
	end()
	tests := []struct {
		name string
		ctx  context.Context
		do   func(i int) error
		want error
		most int
	}{
		{"error", t.Context(), func(i int) error {
			if i == 3 {
				return bad
			}
			return nil
		}, bad, 1000},
		{"panic with an error", t.Context(), func(int) error { panic(bad) }, bad, Workers()},
		{"context", ended, func(int) error { return nil }, context.Canceled, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var calls atomic.Int32
			err := Each(tt.ctx, 1<<30, func(ctx context.Context, _, i int) error {
				calls.Add(1)
				if err := tt.do(i); err != nil || i < 4 {
					return err
				}
				<-ctx.Done() // of those that did not fail
				return nil
			})
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if int(calls.Load()) > tt.most {
				t.Errorf("%d calls, want at most %d", calls.Load(), tt.most)
			}
		})
	}
}

func explode() error { panic("out of range") }

func TestPanicHasItsStack(t *testing.T) {
	group := NewGroup(t.Context())
	group.Go(func(context.Context) error { return explode() })
	for name, err := range map[string]error{
		"Safely": Safely(explode),
		"Group":  group.Wait(),
		"Task":   Start(t.Context(), func(context.Context) error { return explode() }).Wait(),
	} {
		var p *Panic
		if !errors.As(err, &p) || p.Value != "out of range" || !strings.Contains(err.Error(), "parallel.explode") {
			t.Errorf("%s: got %v, want a Panic with the function that panicked", name, err)
		}
	}
}

func TestPartsCoverAll(t *testing.T) {
	for _, n := range []int{0, 1, 64, 100, 129, 1 << 16} {
		for workers := 1; workers < 9; workers++ {
			at := 0
			for w := range workers {
				from, to := Part(n, workers, w)
				if from != at || to < from || (from%64 != 0 && from < n) {
					t.Fatalf("%d rows, worker %d of %d: %d to %d after %d", n, w, workers, from, to, at)
				}
				at = to
			}
			if at != n {
				t.Errorf("%d rows in %d parts end at %d", n, workers, at)
			}
			var rows atomic.Int64
			err := Parts(t.Context(), n, workers, func(_ context.Context, _, from, to int) error {
				rows.Add(int64(to - from))
				return nil
			})
			if err != nil || int(rows.Load()) != n {
				t.Errorf("%d rows in %d parts: %d were visited, %v", n, workers, rows.Load(), err)
			}
		}
	}
}

func TestTaskEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		task := Start(ctx, func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		select {
		case <-task.Done():
			t.Error("ended before its context")
		case <-time.After(time.Second / 2):
		}
		if err := task.Wait(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want the deadline", err)
		}
	})
}
