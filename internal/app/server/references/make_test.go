package references

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/isobath/isobath/internal/app/demo"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/data/refs"
)

// endless is a reference trace that has no end; it says when it is read.
type endless struct {
	about refs.About
	read  chan struct{}
	once  sync.Once
}

func (e *endless) About() *refs.About { return &e.about }
func (e *endless) Close() error       { return nil }
func (e *endless) Read(dst []refs.Ref) (int, error) {
	e.once.Do(func() { close(e.read) })
	for i := range dst {
		dst[i] = refs.Ref{PC: uint64(i % 7)}
	}
	return len(dst), nil
}

// The analysis that begins with the run serves whoever asks first, ends when
// they go, and ends with the run if nobody asks.
func TestForesee(t *testing.T) {
	open := func() (*Refs, *endless) {
		src := &endless{about: refs.About{Has: refs.HasPC}, read: make(chan struct{})}
		return &Refs{Open: func() (refs.Reader, error) { return src, nil }, records: 1, loops: newLoopTable(nil)}, src
	}
	t.Run("nobody asks", func(t *testing.T) {
		part, src := open()
		r := &frame.Run{}
		r.Put(part)
		r.Foresee(t.Context())
		<-src.read
		if err := r.Close(); err != nil { // hangs if the analysis goes on
			t.Error(err)
		}
	})
	t.Run("a request that goes ends it", func(t *testing.T) {
		r, src := open()
		stop := r.Foresee(t.Context())
		defer stop()
		<-src.read
		ctx, cancel := context.WithCancel(t.Context())
		told := make(chan struct{})
		var once sync.Once
		go func() {
			<-told // the progress of an analysis that it did not begin
			cancel()
		}()
		_, err := r.find(ctx, CyclesAsk{Thread: -1}, func(string, int, int) { once.Do(func() { close(told) }) })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want that it was cancelled", err)
		}
		if r.analyses[0].making != nil || r.analyses[0].made {
			t.Error("the analysis goes on for nobody")
		}
	})
	t.Run("samples beside it", func(t *testing.T) {
		r, _ := open()
		r.beside = true
		r.Foresee(t.Context())
		if len(r.analyses) > 0 {
			t.Error("the cycles of a run of samples are made before somebody asks")
		}
	})
}

// An analysis ends when the request is taken back, and is made for the next.
func TestTakenBack(t *testing.T) {
	r := &Refs{Open: demo.Cycles[0].Open, loops: newLoopTable(demoFile(demo.Cycles[0].Open, nil, nil))}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.find(ctx, CyclesAsk{Thread: -1, Window: 8}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled analysis: %v", err)
	}
	if c, err := r.find(t.Context(), CyclesAsk{Thread: -1, Window: 8}, nil); err != nil || c.view == nil {
		t.Errorf("asked again: %v", err)
	}
}

// What panics while a trace is read is an error of whoever asks for it.
func TestPanicIsAnError(t *testing.T) {
	r := &Refs{Open: func() (refs.Reader, error) { panic("boom") }}
	if _, err := r.find(t.Context(), CyclesAsk{Thread: -1}, nil); err == nil || frame.StatusOf(err) != 500 {
		t.Errorf("error %v", err)
	}
}

// Of two requests for one analysis the one that stays gets it.
func TestTwoWait(t *testing.T) {
	r := &Refs{Open: demo.Cycles[0].Open, loops: newLoopTable(demoFile(demo.Cycles[0].Open, nil, nil))}
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := r.find(ctx, CyclesAsk{Thread: -1}, func(string, int, int) { cancel() })
		left <- err
	}()
	c, err := r.find(t.Context(), CyclesAsk{Thread: -1}, nil)
	if err != nil || c.view == nil {
		t.Fatalf("no answer: %v", err)
	}
	if err := <-left; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if n := len(c.threads); n != 1 {
		t.Errorf("%d threads, want 1", n)
	}
}
