// Package tracks writes what happened on tracks over time (slices, flows between
// them, counters, samples of call stacks) for timeline viewers: as the JSON of
// Chrome's trace viewer and as a trace of Perfetto.
package tracks

// Track is a line of the picture: a thread of a process.
type Track struct{ PID, TID int64 }

// Value is a named detail of a slice: a string, a number or a bool.
type Value struct {
	Name  string
	Value any // string, int64, uint64 or float64
}

// Frame is a place in the code.
type Frame struct {
	Name, File string
	Line       int
}

// Sink takes what happened. Times are nanoseconds and not negative; slices of a
// track nest, and their ends come in order. The first error is kept and returned
// by Close.
type Sink interface {
	// Process names a process, Thread one of its threads; both come before what
	// happens there.
	Process(pid int64, name string)
	Thread(t Track, name string)
	// Begin begins a slice that flows leave from; End ends the innermost one of
	// the track, where flows arrive.
	Begin(t Track, time int64, name, category string, details []Value, leaving []uint64)
	End(t Track, time int64, arriving []uint64)
	// Counter says the value of something from a time on. The same name and
	// track are one counter.
	Counter(t Track, time int64, name, unit string, value float64)
	// Sample says what a thread was doing, outermost frame first; cpu is
	// negative if it is not known.
	Sample(t Track, time int64, cpu int64, stack []Frame)
	Close() error
}

// stacks numbers call stacks as a tree: each frame once below each caller.
type stacks struct {
	nodes map[stackNode]uint64
	add   func(id, parent uint64, f Frame)
}

type stackNode struct {
	parent uint64
	frame  Frame
}

// of returns the number of a stack, from 1, and tells add about new frames.
func (s *stacks) of(frames []Frame) uint64 {
	at := uint64(0)
	for _, f := range frames {
		key := stackNode{at, f}
		id, ok := s.nodes[key]
		if !ok {
			id = uint64(len(s.nodes) + 1)
			s.nodes[key] = id
			s.add(id, at, f)
		}
		at = id
	}
	return at
}
