package tree

import "github.com/isobath/isobath/internal/data/refs/flow"

// frame is one call under way.
type frame struct {
	function int32
	back     uint64 // where the call returns to; 0 if unknown
	at       int32  // the basic that ran last in it; -1 before the first
	mark     int    // what the visitor keeps for it: the length of its own stack
	signal   bool   // it was not called: a signal came
}

// visitor is told what a thread does.
type visitor interface {
	// call enters a function with its first basic; the frame is on the stack.
	call(s *stack, v int32)
	// edge goes from one basic to another within the frame on top.
	edge(s *stack, u, v int32)
	// leave is told before the frame on top is removed, or replaced by that of a
	// function that is jumped to.
	leave(s *stack)
}

// stack follows the calls of one thread.
type stack struct {
	*code
	visit  visitor
	frames []frame
	// unwound says that calls were left other than by returning from them.
	unwound bool
}

// maxFrames bounds the stack: deeper recursion forgets its outermost frames
// only where it returns to them, which is said.
const maxFrames = 1 << 20

func (s *stack) top() *frame { return &s.frames[len(s.frames)-1] }

// enter moves a thread on to a basic.
func (s *stack) enter(v int32) {
	if len(s.frames) == 0 {
		s.push(v, 0)
		return
	}
	f := s.top()
	u := &s.basics[f.at]
	switch {
	case s.guessed:
		s.guess(v)
	case u.ending == flow.Call:
		if s.basics[v].start == u.end {
			s.move(v)
			return
		}
		if !s.land(v) {
			s.push(v, u.end)
		}
	case u.ending == flow.Return:
		s.back(v)
	case u.ending == flow.Straight && s.basics[v].start != u.end:
		s.interrupt(v)
	default:
		s.jump(v)
	}
}

// functionOf is the function of a basic that is entered from elsewhere: where
// nothing is known of it, it begins one.
func (s *stack) functionOf(v int32) int32 {
	if f := s.basics[v].function; f >= 0 {
		return f
	}
	return s.functionAt(s.basics[v].start, "", false)
}

func (s *stack) push(v int32, back uint64) {
	if len(s.frames) == maxFrames {
		s.frames = s.frames[:copy(s.frames, s.frames[1:])]
	}
	s.frames = append(s.frames, frame{function: s.functionOf(v), back: back, at: v})
	s.visit.call(s, v)
}

// move goes on within the frame.
func (s *stack) move(v int32) {
	f := s.top()
	u := f.at
	f.at = v
	s.visit.edge(s, u, v)
}

// back returns to the caller that expects it; frames above were left by other
// means. A return that nobody expects is a jump.
func (s *stack) back(v int32) {
	at := s.basics[v].start
	for i := len(s.frames) - 1; i > 0; i-- {
		if s.frames[i].back == at {
			s.unwound = s.unwound || i < len(s.frames)-1
			s.popTo(i)
			s.move(v)
			return
		}
	}
	s.jump(v)
}

// popTo removes frames until so many are left.
func (s *stack) popTo(n int) {
	for len(s.frames) > n {
		s.visit.leave(s)
		s.frames = s.frames[:len(s.frames)-1]
	}
}

// jump goes on within the function, to another one in place of a call, or back
// to one further down, as exceptions do.
func (s *stack) jump(v int32) {
	f := s.top()
	to := s.basics[v].function
	switch {
	case to == f.function, to < 0 && !s.functions[f.function].named:
		s.move(v)
	case to >= 0 && s.functions[to].start != s.basics[v].start && s.unwind(to, v):
	default:
		s.visit.leave(s)
		f.function, f.at = s.functionOf(v), v
		s.visit.call(s, v)
	}
}

// land goes on in the middle of a function that is under way, where an exception is
// caught or longjmp returns a second time: calls enter functions at their start.
func (s *stack) land(v int32) bool {
	to := s.basics[v].function
	if to < 0 || s.functions[to].start == s.basics[v].start {
		return false
	}
	if to == s.top().function {
		s.unwound = true
		s.move(v)
		return true
	}
	return s.unwind(to, v)
}

func (s *stack) unwind(to, v int32) bool {
	for i := len(s.frames) - 2; i >= 0; i-- {
		if s.frames[i].function == to {
			// The handler of a signal ends by going on where it came.
			s.unwound = s.unwound || !s.frames[i+1].signal
			s.popTo(i + 1)
			s.move(v)
			return true
		}
	}
	return false
}

// interrupt handles code that runs without having been called: a signal's
// handler, and the way back from it.
func (s *stack) interrupt(v int32) {
	if !s.land(v) {
		s.push(v, 0)
		s.top().signal = true
	}
}

// guess tells calls from returns by the functions alone: one that is under way
// is returned to.
func (s *stack) guess(v int32) {
	to := s.functionOf(v)
	if to == s.top().function {
		s.move(v)
		return
	}
	for i := len(s.frames) - 2; i >= 0; i-- {
		if s.frames[i].function == to {
			s.popTo(i + 1)
			s.move(v)
			return
		}
	}
	s.push(v, 0)
}
