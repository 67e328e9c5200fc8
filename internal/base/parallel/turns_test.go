package parallel

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestLongWorkStandsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var turns Turns
		ctx := turns.Behind(t.Context())
		waited := func() time.Duration {
			began := time.Now()
			StandBack(ctx)
			return time.Since(began)
		}
		time.Sleep(time.Second)
		if w := waited(); w != 0 {
			t.Errorf("waits %v for nothing", w)
		}
		one, two := turns.First(), turns.First()
		end := Start(t.Context(), func(context.Context) error {
			time.Sleep(50 * time.Millisecond)
			one()
			time.Sleep(50 * time.Millisecond)
			two()
			return nil
		})
		if w := waited(); w != 100*time.Millisecond+drawing {
			t.Errorf("waits %v for what takes 100 ms, and its picture", w)
		}
		if w := waited(); w != 0 {
			t.Errorf("waits %v again", w)
		}
		if err := end.Wait(); err != nil {
			t.Error(err)
		}
		done := turns.First()
		if w := waited(); w != patience {
			t.Errorf("waits %v for what does not end", w)
		}
		if w := waited(); w != 0 {
			t.Errorf("waits %v once its patience is over", w)
		}
		began := time.Now()
		StandBack(t.Context())
		if w := time.Since(began); w != 0 {
			t.Errorf("other work waits %v", w)
		}
		done()
	})
}

func TestStandingBackEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var turns Turns
		defer turns.First()()
		ctx, cancel := context.WithCancel(turns.Behind(t.Context()))
		cancel()
		began := time.Now()
		StandBack(ctx)
		if w := time.Since(began); w != 0 {
			t.Errorf("waits %v for nobody", w)
		}
	})
}

// Every loop stands back between its parts, without being told.
func TestEachStandsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var turns Turns
		done := turns.First()
		began := time.Now()
		short := Start(t.Context(), func(context.Context) error {
			time.Sleep(30 * time.Millisecond)
			done()
			return nil
		})
		err := Each(turns.Behind(t.Context()), 3, func(context.Context, int, int) error {
			if w := time.Since(began); w < 30*time.Millisecond {
				t.Errorf("a part after %v", w)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if err := short.Wait(); err != nil {
			t.Error(err)
		}
	})
}
