package server

import (
	"net/http"
	"sync"

	"github.com/isobath/isobath/internal/app/server/frame"
)

// followed is a state that others follow while it changes: an import, a recording.
type followed[T any] struct {
	mu      sync.Mutex
	state   T
	changed chan struct{} // closed at each change and replaced; nil: nobody waits
}

func (f *followed[T]) now() T {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state
}

func (f *followed[T]) set(change func(*T)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(&f.state)
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
}

// next is the state, and what is closed when it is another.
func (f *followed[T]) next() (T, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.changed == nil {
		f.changed = make(chan struct{})
	}
	return f.state, f.changed
}

// stream sends the state as it changes, until the client goes or event says that it
// was the last.
func (f *followed[T]) stream(w http.ResponseWriter, r *http.Request, event func(T) (name string, last bool)) error {
	s := frame.OpenStream(w)
	defer s.Close()
	for {
		now, changed := f.next()
		name, last := event(now)
		if s.Send(name, now) != nil || last || !pause(r.Context(), frame.EventsEvery) {
			return nil
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return nil
		}
	}
}
