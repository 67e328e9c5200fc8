package references

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/parallel"
)

// making is an analysis under way. It goes on as long as somebody waits for it.
type making struct {
	cancel  context.CancelFunc
	task    *parallel.Task // ends with or without an answer
	waiting int            // requests; guarded by the mu of Refs

	mu    sync.Mutex
	watch map[*frame.Told]struct{}
}

// tell passes progress on to everyone who waits.
func (m *making) tell(stage string, done, total int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for p := range m.watch {
		(*p)(stage, done, total)
	}
}

// follow adds progress, which may be nil, until the returned function is called.
func (m *making) follow(progress frame.Told) (leave func()) {
	if progress == nil {
		return func() {}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watch[&progress] = struct{}{}
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.watch, &progress)
	}
}

// find returns the analysis that is asked for; the first who asks has it made,
// others wait with them. Progress may be nil. It does not return while the trace
// is read for nobody else, so that the caller may close it.
func (r *Refs) find(ctx context.Context, ask CyclesAsk, progress frame.Told) (*cycles, error) {
	for {
		r.mu.Lock()
		c := r.newest(ask)
		if c.made {
			r.mu.Unlock()
			return c, nil
		}
		m := c.making
		if m == nil {
			m = r.start(ctx, c)
		}
		m.waiting++
		r.mu.Unlock()
		err := r.wait(ctx, m, progress)
		if err == nil {
			return c, nil
		}
		// Those who waited for it before may have gone just now, and ended it.
		if !errors.Is(err, context.Canceled) || ctx.Err() != nil {
			return nil, err
		}
	}
}

// newest returns the analysis of a question, new or remembered, and remembers it
// as the one that was asked for last.
func (r *Refs) newest(ask CyclesAsk) *cycles {
	i := slices.IndexFunc(r.analyses, func(c *cycles) bool { return c.ask == ask })
	c := &cycles{ask: ask}
	if i >= 0 {
		c = r.analyses[i]
		r.analyses = slices.Delete(r.analyses, i, i+1)
	}
	r.analyses = slices.Insert(r.analyses, 0, c)
	r.analyses = r.analyses[:min(len(r.analyses), maxCycles)]
	return c
}

// start begins an analysis, which draws on the budget of who asked first and
// does not end with them. The caller holds mu.
func (r *Refs) start(ctx context.Context, c *cycles) *making {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	m := &making{cancel: cancel, watch: map[*frame.Told]struct{}{}}
	c.making = m
	m.task = parallel.Start(ctx, func(ctx context.Context) error {
		defer cancel()
		err := parallel.Safely(func() error { return c.analyse(ctx, r, m.tell) })
		r.mu.Lock()
		defer r.mu.Unlock()
		c.making, c.made = nil, err == nil
		return err
	})
	return m
}

// wait waits for an analysis. The last who goes ends it.
func (r *Refs) wait(ctx context.Context, m *making, progress frame.Told) error {
	leave := m.follow(progress)
	defer leave()
	select {
	case <-m.task.Done():
		return m.task.Wait()
	case <-ctx.Done():
	}
	r.mu.Lock()
	m.waiting--
	last := m.waiting == 0
	r.mu.Unlock()
	if last {
		m.cancel()
		<-m.task.Done()
	}
	return ctx.Err()
}

// maxForeseen bounds the references that are analysed before anyone asks: ten
// million take about two seconds of a processor.
const maxForeseen = 10_000_000

// Foresee begins the analysis that the cycles page will ask for, while the
// browser starts, and returns how to end it. Only a run that is nothing but a
// reference trace is nearly sure to be asked for it. It does not count as
// waiting: a request that joins and goes away ends the analysis.
func (r *Refs) Foresee(ctx context.Context) (stop func()) {
	if r.beside || r.records > maxForeseen {
		return func() {}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.newest(CyclesAsk{Thread: -1})
	if c.made {
		return func() {}
	}
	m := r.start(ctx, c)
	return func() {
		r.mu.Lock()
		if m.waiting == 0 {
			m.cancel()
		}
		r.mu.Unlock()
		<-m.task.Done()
	}
}
