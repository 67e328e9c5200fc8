package budget

import (
	"context"
	"errors"
	"fmt"
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
	b := New(100_000)
	one, two := b.NewShare(), b.NewShare()
	for i, s := range []*Share{one, two, one} {
		if !s.Keep(i, 30_000, i) {
			t.Fatalf("no room for entry %d", i)
		}
	}
	l := two.Lease()
	if l.Look(1) != 1 {
		t.Fatal("entry 1 is gone")
	}
	c, err := b.Claim("a table needs", 60_000)
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

// What is kept counts with its key: a selection may be longer than its answer.
func TestKeysCount(t *testing.T) {
	type filter struct{ text string }
	type key struct {
		filter  filter
		counter any
	}
	b := New(1 << 20)
	s := b.NewShare()
	for i := range 1000 {
		name := key{filter{strings.Repeat("x", 60_000)}, fmt.Sprint(i)}
		if i%2 == 0 {
			s.Keep(name, 8, i)
			continue
		}
		l := s.Lease()
		if _, ok, err := l.Get(t.Context(), name, 8, func() (any, error) { return i, nil }); !ok || err != nil {
			t.Fatalf("no room for entry %d: %v", i, err)
		}
		l.Done()
	}
	if n := len(b.byKey); n == 0 || n > 1<<20/60_000 {
		t.Errorf("%d keys of 60 kB are kept in 1 MB", n)
	}
	if used := b.Used(); used < 60_000 || used > b.Limit() {
		t.Errorf("%d bytes are in use", used)
	}
}

// A share keeps no more than its bound, whatever the budget has: what was used
// longest ago goes, of this share alone, and what is in use stays.
func TestShareIsBounded(t *testing.T) {
	b := New(1 << 30)
	bounded, other := b.NewShare(), b.NewShare()
	bounded.Bound(10_000)
	other.Keep("other", 50_000, 1)
	bounded.Keep("in use", 4000, 1)
	l := bounded.Lease()
	l.Look("in use")
	for i := range 100 {
		bounded.Keep(i, 1000, i)
		if used := b.Used(); used > 50_000+place+10_000+10 {
			t.Fatalf("%d bytes are in use after %d entries", used, i)
		}
	}
	for key, want := range map[any]bool{"in use": true, 99: true, 98: true, 0: false, 90: false} {
		if _, ok := bounded.Recall(key); ok != want {
			t.Errorf("%v is there: %v, want %v", key, ok, want)
		}
	}
	if _, ok := other.Recall("other"); !ok {
		t.Error("what another share keeps was dropped")
	}
	if !bounded.Keep("large", 20_000, 1) {
		t.Error("what is larger than the bound is not kept until the next comes")
	}
	l.Done()
	bounded.Close()
	other.Close()
	if b.Used() != 0 || bounded.used != 0 {
		t.Errorf("%d and %d bytes are in use after Close", b.Used(), bounded.used)
	}
}

// What nobody has asked for since a moment goes, of shares that keep answers to
// questions, and what is in use stays.
func TestUnusedIsDropped(t *testing.T) {
	b := New(1 << 20)
	answers, files := b.NewShare(), b.NewShare()
	answers.Bound(1 << 19)
	for i := range 10 {
		answers.Keep(i, 1000, i)
	}
	files.Keep("file", 1000, 1)
	l := answers.Lease()
	l.Look(3)
	moment := time.Now()
	answers.Recall(5)
	again := answers.Lease()
	if _, _, err := again.Get(t.Context(), 7, 1000, func() (any, error) { return 7, nil }); err != nil {
		t.Fatal(err)
	}
	again.Done()
	answers.Keep("new", 1000, 1)
	b.DropUnused(moment)
	for _, key := range []any{3, 5, 7, "new"} {
		if _, ok := answers.Recall(key); !ok {
			t.Errorf("%v was dropped", key)
		}
	}
	if _, ok := files.Recall("file"); !ok {
		t.Error("what a share without a bound keeps was dropped")
	}
	l.Done()
	if n := len(b.byKey); n != 5 {
		t.Errorf("%d entries are kept, want 4 answers and a file", n)
	}
	b.DropUnused(time.Now())
	files.Close()
	if b.Used() != 0 || answers.used != 0 {
		t.Errorf("%d and %d bytes are in use", b.Used(), answers.used)
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
