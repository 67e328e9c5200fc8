//go:build linux && (amd64 || arm64)

package step

import (
	"encoding/binary"
	"syscall"

	"golang.org/x/sys/unix"
)

// goRuntime is what is known of the runtime of a Go program: there a region belongs
// to a goroutine, which has a stack of its own that may move, and may go on in
// another thread than the one that it began in.
type goRuntime struct {
	// leave is where a goroutine gives up its thread (runtime.mcall), resume where
	// a thread goes on with one (runtime.gogo, with a *gobuf as its argument).
	leave, resume uint64
	// slot is how far below a thread's base the current goroutine is; 0 until it
	// was found. It is the linker's choice.
	slot  uint64
	known map[uint64]*goroutine // by the address of its g
}

// goroutine is one that has entered the region.
type goroutine struct {
	id        uint64 // the address of its g
	number    uint32 // from 1, in the order in which they come
	low, high uint64 // bounds of its stack
	times
	over bool // it is not recorded any more
	// in is the thread that it is recorded in; nil outside of the region and while it
	// has none. The rest is what is recorded of it then.
	in    *thread
	phase phase
	frame frame
	block block
}

// Layout of the runtime's structures, which debuggers rely on too: g begins with the
// bounds of its stack, a gobuf has its g behind stack and program counter, and an
// argument on the stack follows the return address.
const (
	gobufG   = 16
	argument = 8
)

// patience is how many instructions a request to give up the thread may wait for. It
// is held back because every few hundred would bring one, at the speed of steps; a
// collection must not wait for ever.
const patience = 200_000

// findRuntime looks for the runtime of Go in a program.
func (t *tracer) findRuntime() {
	p := t.o.Program
	if !p.Go {
		return
	}
	leave, err := p.Function("runtime.mcall")
	if err != nil {
		return
	}
	resume, err := p.Function("runtime.gogo.abi0")
	if err != nil {
		if resume, err = p.Function("runtime.gogo"); err != nil { // before Go 1.17
			return
		}
	}
	t.goes = &goRuntime{leave: leave.Low + t.res.Bias, resume: resume.Low + t.res.Bias, known: map[uint64]*goroutine{}}
}

// word reads a word of the program; 0 where there is none.
func (t *tracer) word(at uint64) uint64 {
	var b [8]byte
	if _, err := t.mem.ReadAt(b[:], int64(at)); err != nil {
		return 0
	}
	return binary.NativeEndian.Uint64(b[:])
}

// contains reports whether an address is on the stack of a goroutine, by what its g
// says now.
func (t *tracer) contains(g, sp uint64) (low, high uint64, ok bool) {
	low, high = t.word(g), t.word(g+8)
	return low, high, low < sp && sp <= high
}

// goroutineAt is the goroutine that runs; nil in programs of other languages, and
// where it cannot be told.
func (t *tracer) goroutineAt(r *registers) *goroutine {
	if t.goes == nil {
		return nil
	}
	id := r.goroutine(t)
	low, high, ok := t.contains(id, r.sp())
	if id == 0 || !ok {
		return nil
	}
	g := t.goes.known[id]
	if g == nil {
		g = &goroutine{id: id, number: uint32(len(t.goes.known) + 1)}
		t.goes.known[id] = g
	}
	g.low, g.high = low, high
	return g
}

// stand finds out whether a thread runs code of its goroutine, and not of the
// scheduler, the collector or a handler, which have stacks of their own; gone says
// that it is about to give the goroutine up.
func (t *tracer) stand(th *thread, r *registers) (gone bool) {
	g, sp := th.g, r.sp()
	th.home = false
	if r.pc() == t.goes.resume {
		return t.word(t.word(sp+argument)+gobufG) != g.id
	}
	if r.goroutine(t) != g.id {
		return false
	}
	if th.home = g.low < sp && sp <= g.high; !th.home {
		if low, high, ok := t.contains(g.id, sp); ok {
			g.low, g.high, th.home = low, high, true
		}
	}
	return th.home && r.pc() == t.goes.leave
}

// part takes the goroutine that is recorded in a thread from it.
func (t *tracer) part(th *thread) {
	g, phase := th.g, th.phase
	t.dismiss(th)
	g.phase, g.frame, g.block = phase, th.frame, th.block
	th.phase, th.stepping, th.block = waiting, false, block{}
}

// park lets a thread go on without the goroutine that was recorded in it.
func (t *tracer) park(th *thread, r *registers, signal int) error {
	t.part(th)
	if r.pc() == t.goes.resume {
		t.resumed(th, r)
	}
	if err := r.clearTrap(th.tid); err != nil {
		return ignoreGone(err)
	}
	if _, set := t.breaks[r.pc()]; set {
		return t.passOver(th, r.pc(), signal)
	}
	return t.goOn(th, signal)
}

// resumed goes on with a goroutine of the region in the thread that got it. The thread
// that had it may still be looking for another one.
func (t *tracer) resumed(th *thread, r *registers) {
	g := t.goes.known[t.word(t.word(r.sp()+argument)+gobufG)]
	if g == nil || g.phase == waiting && g.in == nil || g.in == th || t.done {
		return
	}
	if g.in != nil {
		t.part(g.in)
	}
	th.g, th.home, th.stepping = g, false, true
	th.phase, th.frame, th.block = g.phase, g.frame, g.block
	g.in = th
}

// dismiss ends what a thread has to do with its goroutine. A request to give up the
// thread that was held back comes now.
func (t *tracer) dismiss(th *thread) {
	if th.g != nil {
		th.g.in, th.g.phase = nil, waiting
	}
	th.g, th.home = nil, false
	if th.held {
		th.held = false
		_ = unix.Tgkill(t.pid, th.tid, syscall.SIGURG) // it is ending
	}
}

// holds reports whether a signal is held back.
func (t *tracer) holds(th *thread, sig syscall.Signal) bool {
	if sig != syscall.SIGURG || th.g == nil {
		return false
	}
	if !th.held {
		th.held, th.heldSince = true, t.res.Instructions
	}
	return true
}

// lateSignal is a signal that was held back for too long; 0 if there is none.
func (t *tracer) lateSignal(th *thread) int {
	if !th.held || t.res.Instructions-th.heldSince < patience {
		return 0
	}
	th.held, th.signalled = false, true
	return int(syscall.SIGURG)
}
