package flow

import (
	"errors"
	"math"

	"github.com/isobath/isobath/internal/data/table"
)

// Log collects the events of threads, in order of their first. Long ones are in
// temporary files.
type Log struct {
	byID  map[uint32]*eventLog
	order []uint32
}

// eventLog is the events of one thread so far.
type eventLog struct{ events table.Growing[Event] }

// Add adds an event of a thread.
func (l *Log) Add(thread uint32, expected uint64, block uint32) {
	t := l.byID[thread]
	if t == nil {
		if l.byID == nil {
			l.byID = map[uint32]*eventLog{}
		}
		t = &eventLog{}
		l.byID[thread] = t
		l.order = append(l.order, thread)
	}
	t.events.Append(Event{uint32(min(expected, math.MaxUint32)), block})
}

// Has reports whether a thread has events.
func (l *Log) Has(thread uint32) bool { return l.byID[thread] != nil }

// Threads returns the threads; nothing may be added afterwards.
func (l *Log) Threads() ([]Thread, error) {
	var all []Thread
	var failed error
	for _, id := range l.order {
		events, spill, err := l.byID[id].events.Values()
		failed = errors.Join(failed, err)
		all = append(all, Thread{ID: id, Events: events, spill: spill})
	}
	return all, failed
}

// Close frees the temporary file behind the events of a thread, which must not be
// used afterwards.
func (t *Thread) Close() error { return t.spill.Close() }

// Close frees what the threads take.
func (t *Trace) Close() error {
	var failed error
	for i := range t.Threads {
		failed = errors.Join(failed, t.Threads[i].Close())
	}
	return failed
}
