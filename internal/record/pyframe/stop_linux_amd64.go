package pyframe

import (
	"errors"
	"fmt"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Stopper stops threads for a moment. All its functions are called by one thread
// of ours, which may not do anything else: the kernel lets no other one look.
type Stopper struct {
	calls map[int]*os.File // says whether a thread runs, by thread
	// late are threads that did not stop in time: they will, and must go on then.
	late map[int]*Stopped
	left time.Duration // that may be waited before the next Late
}

// NewStopper returns a stopper.
func NewStopper() *Stopper { return &Stopper{calls: map[int]*os.File{}, late: map[int]*Stopped{}} }

// Stopped is a thread that stands still.
type Stopped struct {
	Registers unix.PtraceRegs
	tid       int
	ours      bool // it is the first thread of our own child
	signal    int  // that it is about to be given
	since     time.Time
}

// The ways not to stop a thread.
var (
	ErrAsleep  = errors.New("its thread had gone into the kernel")
	ErrTraced  = errors.New("the kernel lets us not stop its threads; is a debugger at work?")
	ErrGone    = errors.New("its thread had ended")
	ErrTooLate = errors.New("its thread did not stop in time")
)

// Bounds of a stop: how long is waited without sleeping, and at all. A thread that others
// keep from its processor stops when it is its turn again, where it was; but whoever
// waits for one does not look at others, so all that are looked at together share the
// most, and have at least the least.
const (
	spinning = 300 * time.Microsecond
	most     = 20 * time.Millisecond
	least    = time.Millisecond
	mostOpen = 256
)

// Stop stops a thread that runs outside the kernel. Ours says that its process is
// our own child, whose end another part of us waits for.
func (s *Stopper) Stop(pid, tid int, ours bool) (*Stopped, error) {
	if s.late[tid] != nil {
		return nil, ErrTooLate
	}
	if !s.running(pid, tid) {
		return nil, ErrAsleep
	}
	switch err := unix.PtraceSeize(tid); err {
	case nil:
	case unix.ESRCH:
		return nil, ErrGone
	default:
		return nil, ErrTraced
	}
	t := &Stopped{tid: tid, ours: ours && pid == tid, since: time.Now()}
	if err := unix.PtraceInterrupt(tid); err != nil {
		s.late[tid] = t // it is ending
		return nil, ErrGone
	}
	defer func() { s.left -= time.Since(t.since) }()
	for {
		stands, gone := t.look()
		switch waited := time.Since(t.since); {
		case gone:
			s.gone(pid, tid, ours)
			return nil, ErrGone
		case stands:
			if err := unix.PtraceGetRegs(tid, &t.Registers); err != nil {
				s.Go(t)
				return nil, ErrGone
			}
			if int64(t.Registers.Orig_rax) >= 0 {
				s.Go(t)
				return nil, ErrAsleep
			}
			return t, nil
		case waited > max(s.left, least):
			s.late[tid] = t
			return nil, ErrTooLate
		case waited > spinning:
			time.Sleep(100 * time.Microsecond)
		default:
			_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
		}
	}
}

// gone forgets a thread that ended. If it began another program while it was to
// stop, it is the first of its process now, and must not stay stopped.
func (s *Stopper) gone(pid, tid int, ours bool) {
	if f := s.calls[tid]; f != nil {
		f.Close()
		delete(s.calls, tid)
	}
	if tid != pid && s.late[pid] == nil {
		s.late[pid] = &Stopped{tid: pid, ours: ours, since: time.Now()}
	}
}

// Go lets a thread go on, with the signal that it was to get. One that was killed
// meanwhile has to be taken note of, or it would never be gone for its parent.
func (s *Stopper) Go(t *Stopped) {
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_DETACH, uintptr(t.tid), 0, uintptr(t.signal), 0, 0)
	if errno != 0 {
		s.late[t.tid] = t
	}
}

// Late lets threads go on that stopped after nobody waited for them any more, and
// takes note of the end of others.
func (s *Stopper) Late() {
	s.left = most
	for tid, t := range s.late {
		stands, gone := t.look()
		if stands || gone {
			delete(s.late, tid)
		}
		if stands {
			s.Go(t)
		}
	}
}

// Close closes files. The thread of ours that stopped others must end then: what it
// still holds goes on by that.
func (s *Stopper) Close() {
	for _, f := range s.calls {
		f.Close()
	}
	clear(s.calls)
}

// look asks whether a thread stands still, or has ended. The end of our own child
// is not taken from whoever waits for it.
func (t *Stopped) look() (stands, gone bool) {
	what := unix.WSTOPPED | unix.WNOHANG | unix.WALL
	if !t.ours {
		what |= unix.WEXITED
	}
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, t.tid, &info, what, nil)
	switch {
	case err == unix.EINTR:
		return false, false
	case err != nil:
		return false, true
	case info.Signo == 0:
		return false, false
	}
	const codeTrapped, codeStopped = 4, 5
	if info.Code != codeTrapped && info.Code != codeStopped {
		return false, true
	}
	// Behind the process and user of a child lies how it stopped.
	status := *(*int32)(unsafe.Add(unsafe.Pointer(&info), unsafe.Sizeof(info)-112+8))
	if status>>8 == 0 { // it was about to be given a signal, and gets it from us
		t.signal = int(status)
	}
	return true, false
}

// running reports whether a thread is not in the kernel.
func (s *Stopper) running(pid, tid int) bool {
	f := s.calls[tid]
	if f == nil {
		var err error
		if f, err = os.Open(fmt.Sprintf("/proc/%d/task/%d/syscall", pid, tid)); err != nil {
			return false
		}
		if len(s.calls) >= mostOpen {
			s.Close()
		}
		s.calls[tid] = f
	}
	var b [8]byte
	n, err := f.ReadAt(b[:], 0)
	if n == 0 && err != nil {
		f.Close()
		delete(s.calls, tid)
	}
	return n > 0 && b[0] == 'r'
}
