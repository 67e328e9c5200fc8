package budget

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestClaims(t *testing.T) {
	b := New(100)
	ctx := With(t.Context(), b)
	c, err := Take(ctx, "a table needs", 60)
	if err != nil {
		t.Fatal(err)
	}
	var over *Exceeded
	if _, err := Take(ctx, "a list needs", 50); !errors.As(err, &over) || over.Need != 50 || over.Left != 40 {
		t.Errorf("50 of 40 bytes: %v", err)
	}
	if err := c.Grow(50); err == nil || b.Used() != 60 {
		t.Errorf("a claim that cannot grow: %v, %d bytes used", err, b.Used())
	}
	if err := c.Resize(10); err != nil || b.Used() != 10 {
		t.Errorf("a smaller claim: %v, %d bytes used", err, b.Used())
	}
	if _, err := b.Claim("everything needs", 101); err == nil || !strings.Contains(err.Error(), "--memory") {
		t.Errorf("more than there is: %v", err)
	}
	c.Release()
	c.Release()
	(*Claim)(nil).Release()
	if b.Used() != 0 {
		t.Errorf("%d bytes used after all was given back", b.Used())
	}
}

// What can be made again makes room for claims, of whichever owner; what a lease
// uses does not.
func TestKeptMakesRoom(t *testing.T) {
	b := New(100)
	one, two := b.NewShare(), b.NewShare()
	for i, s := range []*Share{one, two, one} {
		if !s.Keep(i, 30, i) {
			t.Fatalf("no room for entry %d", i)
		}
	}
	l := two.Lease()
	if l.Look(1) != 1 {
		t.Fatal("entry 1 is gone")
	}
	c, err := b.Claim("a table needs", 70)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := one.Recall(0); ok {
		t.Error("the oldest entry was kept")
	}
	if v, ok := two.Recall(1); !ok || v != 1 {
		t.Error("an entry that is used was dropped")
	}
	c.Release()
	l.Done()
	two.Close()
	if two.Keep(1, 1, 1) {
		t.Error("a closed share keeps")
	}
	one.Close()
	if b.Used() != 0 {
		t.Errorf("%d bytes used after Close", b.Used())
	}
}

// Work is ended when the heap outgrows the budget, after what is kept was given
// up, and says so; its own errors and the caller's end stay what they are.
func TestWatch(t *testing.T) {
	b := New(1000)
	s := b.NewShare()
	s.Keep("kept", 500, 1)
	until := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	heap := func(collect bool) int64 {
		if collect {
			return 1500
		}
		return 1600
	}
	err := watch(With(t.Context(), b), "this import needs", heap, time.Microsecond, until)
	if over := new(*Exceeded); !errors.As(err, over) || !strings.HasPrefix(err.Error(), "this import needs ") {
		t.Errorf("a heap of 1500 bytes in a budget of 1000: %v", err)
	}
	if _, ok := s.Recall("kept"); ok {
		t.Error("what could be given up was kept")
	}
	garbage := func(collect bool) int64 {
		if collect {
			return 900
		}
		return 2000
	}
	wrong := errors.New("wrong")
	err = watch(With(t.Context(), b), "", garbage, time.Microsecond, func(ctx context.Context) error {
		time.Sleep(time.Millisecond)
		return errors.Join(wrong, ctx.Err())
	})
	if !errors.Is(err, wrong) || errors.Is(err, context.Canceled) {
		t.Errorf("garbage is not use: %v", err)
	}
	ended, cancel := context.WithCancel(With(t.Context(), b))
	cancel()
	if err := watch(ended, "", garbage, time.Hour, until); !errors.Is(err, context.Canceled) {
		t.Errorf("the caller went: %v", err)
	}
}

func TestHeap(t *testing.T) {
	large := make([]byte, 64<<20)
	if n := heapInUse(true); n < 64<<20 {
		t.Errorf("a heap of %d bytes holds 64 MB", n)
	}
	runtime.KeepAlive(large)
	if Default() < 64<<20 {
		t.Errorf("half of the memory of this machine is %d", Default())
	}
	if Of(t.Context()) != Of(context.Background()) {
		t.Error("the process has more than one budget")
	}
}
