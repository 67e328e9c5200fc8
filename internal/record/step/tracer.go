//go:build linux && (amd64 || arm64)

package step

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/isobath/isobath/internal/code/access"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/record/target"
)

// phase is where the recording stands.
type phase uint8

const (
	waiting phase = iota // for the region to be entered
	skipped              // inside a region that is passed over
	inStart              // inside the function after which the region begins
	inside
	over
)

// thread is one thread of the program.
type thread struct {
	tid      int
	number   int
	phase    phase
	stepping bool
	frame    frame // of the function whose return is awaited
	times
	// awaits is a breakpoint where a region that is passed over ends, 0 if the thread
	// is stepped through it.
	awaits uint64
	// next are the accesses of the instruction about to run; they count once it
	// has run.
	next []access.Access
	pc   uint64
	// signalled says that a signal was passed on with this step: the step may
	// have entered its handler without running anything.
	signalled   bool
	interrupted frame
	handler     *frame // what a signal handler interrupted; nil outside of one
	issued      bool   // it runs one instruction
	stopSent    bool   // a SIGSTOP of ours is on its way
	stopped     bool
	queued      bool // its last report waits in the queue
	fresh       bool // its first stop has not been seen
	block       block
	// g is the goroutine whose region the thread is in, nil outside of one and in
	// programs of other languages; home says that the instruction about to run is the
	// goroutine's own.
	g    *goroutine
	home bool
	// held is a signal that asks to give up the thread, since so many instructions.
	held      bool
	heldSince uint64
}

// times is how many regions were passed over, and recorded to their end.
type times struct{ skips, calls uint64 }

// counts are those of what is recorded: a thread, or a goroutine.
func (th *thread) counts() *times {
	if th.g != nil {
		return &th.g.times
	}
	return &th.times
}

// row says who makes a reference.
func (th *thread) row() uint32 {
	if th.g != nil {
		return th.g.number
	}
	return uint32(th.tid)
}

// block is the stretch of code that a thread is in.
type block struct {
	open   bool   // the instruction that ran last did not end it
	last   uint64 // that instruction
	next   uint64 // where the block goes on
	enters bool   // no reference was made since it was entered
}

type tracer struct {
	o       Options
	res     Result
	pid     int
	mem     *os.File
	threads map[int]*thread
	started int
	emitted uint64
	code    map[uint64]*instruction
	breaks  map[uint64][]byte // original bytes by address
	removed map[uint64]bool   // breakpoints that were there
	region  region
	owner   *thread    // the one that is recorded, if it is the first to come
	mine    *goroutine // the same of Go programs
	goes    *goRuntime // nil in programs of other languages
	done    bool       // nothing more is recorded
	queue   []report
	early   map[int]bool // stopped before their parents reported them
	quit    atomic.Bool
	vectors vectorState
}

// report is what wait says about a thread.
type report struct {
	tid int
	ws  syscall.WaitStatus
}

const options = unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK |
	unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_EXITKILL

func run(ctx context.Context, o Options) (*Result, error) {
	type outcome struct {
		res *Result
		err error
	}
	out := make(chan outcome)
	go onOwnThread(func() {
		t := &tracer{o: o, threads: map[int]*thread{}, early: map[int]bool{}, code: map[uint64]*instruction{}, breaks: map[uint64][]byte{}, removed: map[uint64]bool{}}
		err := t.run(ctx)
		out <- outcome{&t.res, err}
	})
	got := <-out
	return got.res, got.err
}

// onOwnThread runs f on a thread of the system that has no children, from which
// all requests to the program come. The tracer waits for whichever child of its
// thread reports next. A thread that others started children from would take
// their ends away from them ("waitid: no child processes"), and so would the
// first thread, which inherits the children of threads that end. Such a thread is
// held until f is done, so that the next one tried is another. The thread of f
// is not unlocked: it ends with the goroutine.
func onOwnThread(f func()) {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() && !hasChildren() {
		f()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		onOwnThread(f)
	}()
	<-done
	runtime.UnlockOSThread()
}

// hasChildren reports whether this thread of ours has children, also such as have
// ended and were not waited for.
func hasChildren() bool {
	err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WSTOPPED|unix.WNOHANG|unix.WNOWAIT|unix.WALL|unix.WNOTHREAD, nil)
	return err != unix.ECHILD
}

func (t *tracer) run(ctx context.Context) error {
	if err := t.start(); err != nil {
		return err
	}
	defer t.mem.Close()
	ended := make(chan struct{})
	defer close(ended)
	go t.watch(ctx, ended)
	for {
		r, err := t.next()
		if err == syscall.ECHILD {
			return nil
		}
		if err == nil {
			err = t.event(r.tid, r.ws)
		}
		if err != nil {
			syscall.Kill(t.pid, syscall.SIGKILL)
			return err
		}
	}
}

// next returns the next report, those first that came while threads were being
// stopped.
func (t *tracer) next() (r report, err error) {
	if len(t.queue) > 0 {
		r, t.queue = t.queue[0], t.queue[1:]
		if th := t.threads[r.tid]; th != nil {
			th.queued = false
		}
		return r, nil
	}
	for {
		// Other children of ours are none of our business, hence WNOTHREAD.
		r.tid, err = syscall.Wait4(-1, &r.ws, syscall.WALL|unix.WNOTHREAD, nil)
		if err != syscall.EINTR {
			return r, err
		}
	}
}

// watch ends the program when ctx does.
func (t *tracer) watch(ctx context.Context, ended <-chan struct{}) {
	select {
	case <-ended:
		return
	case <-ctx.Done():
	}
	t.quit.Store(true)
	syscall.Kill(t.pid, syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		syscall.Kill(t.pid, syscall.SIGKILL)
	}
}

// start runs the program up to its first instruction and sets breakpoints.
func (t *tracer) start() error {
	restore := fixedAddresses()
	p := t.o.Program
	env := t.o.Env
	if env == nil {
		env = os.Environ()
	}
	pid, err := syscall.ForkExec(p.Path, append([]string{p.Path}, t.o.Args...), &syscall.ProcAttr{
		Env: env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Ptrace: true},
	})
	restore()
	if err != nil {
		return fmt.Errorf("start %s under ptrace: %w; containers need --cap-add SYS_PTRACE", p.Path, err)
	}
	t.pid = pid
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &ws, syscall.WALL, nil); err != nil || !ws.Stopped() {
		return fmt.Errorf("start %s under ptrace: it did not stop (%v)", p.Path, err)
	}
	if err := t.prepare(); err != nil {
		syscall.Kill(pid, syscall.SIGKILL)
		syscall.Wait4(pid, &ws, syscall.WALL, nil)
		return err
	}
	t.add(pid, false)
	return t.resume(pid, 0)
}

func (t *tracer) prepare() error {
	err := unix.PtraceSetOptions(t.pid, options)
	if err != nil {
		return fmt.Errorf("ptrace: %w", err)
	}
	if t.mem, err = os.OpenFile("/proc/"+strconv.Itoa(t.pid)+"/mem", os.O_RDWR, 0); err != nil {
		return fmt.Errorf("open the program's memory: %w", err)
	}
	if t.res.Bias, err = t.bias(); err != nil {
		return err
	}
	t.findRuntime()
	return t.findRegion()
}

// fixedAddresses switches address randomisation off for programs this thread
// starts, so that two recordings have the same addresses. It is a comfort:
// systems that refuse it (seccomp) lose nothing else.
func fixedAddresses() func() {
	const query, noRandomise = 0xffffffff, 0x40000
	old, _, errno := syscall.RawSyscall(unix.SYS_PERSONALITY, query, 0, 0)
	if errno != 0 {
		return func() {}
	}
	syscall.RawSyscall(unix.SYS_PERSONALITY, old|noRandomise, 0, 0)
	return func() { syscall.RawSyscall(unix.SYS_PERSONALITY, old, 0, 0) }
}

// bias compares the program's entry point with the one the kernel told it.
func (t *tracer) bias() (uint64, error) {
	entry, err := t.auxiliary(programEntry)
	return entry - t.o.Program.Entry, err
}

// What the kernel tells a program; see getauxval(3).
const (
	linkerBase   = 7 // AT_BASE
	programEntry = 9 // AT_ENTRY
)

func (t *tracer) auxiliary(what uint64) (uint64, error) {
	auxv, err := os.ReadFile("/proc/" + strconv.Itoa(t.pid) + "/auxv")
	if err != nil {
		return 0, err
	}
	for ; len(auxv) >= 16; auxv = auxv[16:] {
		if binary.NativeEndian.Uint64(auxv) == what {
			return binary.NativeEndian.Uint64(auxv[8:]), nil
		}
	}
	return 0, errors.New("the kernel does not say where the program starts")
}

func (t *tracer) add(tid int, fresh bool) *thread {
	th := &thread{tid: tid, number: t.started, fresh: fresh}
	t.started++
	t.threads[tid] = th
	return th
}

// set puts a breakpoint at a running address.
func (t *tracer) set(addr uint64) error {
	old := make([]byte, len(breakpoint))
	if _, err := t.mem.ReadAt(old, int64(addr)); err != nil {
		return fmt.Errorf("read the instruction at 0x%x: %w", addr, err)
	}
	if bytes.Equal(old, breakpoint) {
		return nil
	}
	t.breaks[addr] = old
	if _, err := t.mem.WriteAt(breakpoint, int64(addr)); err != nil {
		return fmt.Errorf("set a breakpoint at 0x%x: %w", addr, err)
	}
	return nil
}

func (t *tracer) unset(addr uint64) error {
	old, ok := t.breaks[addr]
	if !ok {
		return nil
	}
	delete(t.breaks, addr)
	t.removed[addr] = true
	_, err := t.mem.WriteAt(old, int64(addr))
	return err
}

func (t *tracer) resume(tid, signal int) error { return request(unix.PTRACE_CONT, tid, signal) }

// request is a ptrace request that lets a thread go on. A thread that was
// killed meanwhile is no error: its end is reported by wait.
func request(what, tid, signal int) error {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PTRACE, uintptr(what), uintptr(tid), 0, uintptr(signal), 0, 0)
	if errno != 0 && errno != syscall.ESRCH {
		return fmt.Errorf("ptrace: %w", errno)
	}
	return nil
}

// event handles one report of wait.
func (t *tracer) event(tid int, ws syscall.WaitStatus) error {
	th := t.threads[tid]
	switch {
	case ws.Exited() || ws.Signaled():
		t.ended(tid, ws)
		return nil
	case !ws.Stopped():
		return nil
	}
	if th == nil { // its parent has not reported it yet
		t.early[tid] = true
		return nil
	}
	th.stopped = true
	issued := th.issued
	th.issued = false
	if cause := int(ws) >> 16; cause != 0 {
		return t.system(th, cause)
	}
	sig := ws.StopSignal()
	switch {
	case sig == syscall.SIGSTOP && (th.fresh || th.stopSent):
		th.fresh, th.stopSent = false, false
		if th.stepping && !issued {
			return t.look(th, 0)
		}
		return t.goOn(th, 0)
	case sig == syscall.SIGTRAP && issued:
		return t.stepped(th)
	case sig == syscall.SIGTRAP:
		return t.hit(th)
	}
	if th.stepping && t.holds(th, sig) {
		return t.look(th, 0)
	}
	if th.stepping {
		th.signalled = true
		return t.look(th, int(sig)) // the instruction did not run
	}
	return t.goOn(th, int(sig))
}

// goOn lets a thread run as its state wants it to.
func (t *tracer) goOn(th *thread, signal int) error {
	th.stopped = false
	if th.stepping {
		th.issued = true
		return request(unix.PTRACE_SINGLESTEP, th.tid, signal)
	}
	return t.resume(th.tid, signal)
}

func (t *tracer) ended(tid int, ws syscall.WaitStatus) {
	delete(t.threads, tid)
	if tid != t.pid {
		return
	}
	t.finish()
	if ws.Signaled() {
		t.res.Exit, t.res.Signal = 128+int(ws.Signal()), ws.Signal().String()
		return
	}
	t.res.Exit = ws.ExitStatus()
}

// bottom is the frame of a thread's first function, which nothing is above.
var bottom = frame{sp: ^uint64(0)}

// system handles the stops at clone, fork and exec.
func (t *tracer) system(th *thread, cause int) error {
	switch cause {
	case unix.PTRACE_EVENT_CLONE:
		if id, err := unix.PtraceGetEventMsg(th.tid); err == nil {
			if err := t.cloned(th, int(id)); err != nil {
				return err
			}
		}
	case unix.PTRACE_EVENT_FORK, unix.PTRACE_EVENT_VFORK:
		if id, err := unix.PtraceGetEventMsg(th.tid); err == nil {
			t.letGo(int(id), cause == unix.PTRACE_EVENT_FORK)
		}
	case unix.PTRACE_EVENT_EXEC:
		// Another program: ours is over.
		t.breaks = map[uint64][]byte{}
		t.finish()
		th.stepping = false
	}
	// A step that ends in a clone still reports itself afterwards.
	return t.goOn(th, 0)
}

// cloned adds a new thread, which stops before its first instruction. Where all
// threads are wanted, what the region starts is part of it.
func (t *tracer) cloned(parent *thread, tid int) error {
	th := t.add(tid, !t.early[tid])
	if t.o.Thread == AllThreads && parent.phase == inside && t.goes == nil && !t.done {
		th.phase, th.stepping, th.frame = inside, true, bottom
	}
	if th.fresh {
		return nil
	}
	delete(t.early, tid)
	if th.stepping {
		return t.look(th, 0)
	}
	return t.goOn(th, 0)
}

// letGo detaches from a child process. It has a copy of our breakpoints unless
// it shares memory with its parent until it starts another program.
func (t *tracer) letGo(pid int, copied bool) {
	var ws syscall.WaitStatus
	if t.early[pid] {
		delete(t.early, pid)
	} else if _, err := syscall.Wait4(pid, &ws, syscall.WALL, nil); err != nil || !ws.Stopped() {
		return
	}
	if copied {
		if mem, err := os.OpenFile("/proc/"+strconv.Itoa(pid)+"/mem", os.O_RDWR, 0); err == nil {
			for addr, old := range t.breaks {
				mem.WriteAt(old, int64(addr))
			}
			mem.Close()
		}
	}
	unix.PtraceDetach(pid)
}

// finish ends the recording; the program goes on without breakpoints.
func (t *tracer) finish() {
	if t.done {
		return
	}
	t.done = true
	for addr := range t.breaks {
		t.unset(addr) // fails only if the program is gone
	}
	for _, th := range t.threads {
		th.stepping = false
		t.dismiss(th)
	}
	t.modules()
}

func (t *tracer) modules() {
	if text, err := os.ReadFile("/proc/" + strconv.Itoa(t.pid) + "/maps"); err == nil && len(text) > 0 {
		t.res.Modules, t.res.PID, t.res.Maps = target.ParseMaps(text), t.pid, text
	}
}

// hit handles a SIGTRAP of a thread that runs freely: one of our breakpoints,
// or one of the program's own.
func (t *tracer) hit(th *thread) error {
	var r registers
	if err := r.read(th.tid); err != nil {
		return ignoreGone(err)
	}
	at := r.pc() - breakpointAdvance
	if _, ours := t.breaks[at]; !ours && !t.removed[at] {
		return t.goOn(th, int(syscall.SIGTRAP))
	}
	r.setPC(at)
	if err := r.write(th.tid); err != nil {
		return ignoreGone(err)
	}
	if err := t.reach(th, &r, at); err != nil {
		return err
	}
	if _, set := t.breaks[at]; set {
		return t.passOver(th, at, 0)
	}
	// It hit the breakpoint just before that was removed, because the region was
	// entered or the recording ended.
	if th.stepping {
		return t.look(th, 0)
	}
	return t.goOn(th, 0)
}

// enter begins to record a thread at the entry of the region.
func (t *tracer) enter(th *thread) error {
	th.phase, th.stepping = inside, true
	t.res.Entered = true
	if t.o.Bounds.After {
		// Step through the marker too: it is short, and its return is where the
		// region begins.
		th.phase = inStart
	}
	if t.o.Thread == AllThreads {
		return nil // others must find the breakpoints
	}
	return t.disarm()
}

// passOver runs the instruction under a breakpoint in one thread while all
// others are stopped, so that none passes it unseen.
func (t *tracer) passOver(th *thread, at uint64, signal int) error {
	if err := t.stopOthers(th); err != nil {
		return err
	}
	if err := t.unset(at); err != nil {
		return err
	}
	var r registers
	if th.stepping {
		if err := r.read(th.tid); err != nil {
			return ignoreGone(err)
		}
		t.predict(th, &r)
	}
	ws, err := stepOnce(th, signal)
	if err != nil {
		return err
	}
	if !ws.Exited() && !ws.Signaled() {
		if err := t.set(at); err != nil {
			return err
		}
	}
	for _, other := range t.threads {
		if other != th && other.stopped && !other.queued {
			if err := t.goOn(other, 0); err != nil {
				return err
			}
		}
	}
	return t.event(th.tid, ws)
}

// stepOnce steps a thread and waits for it. A SIGSTOP of ours that is still on
// its way comes before the step and is passed over.
func stepOnce(th *thread, signal int) (ws syscall.WaitStatus, err error) {
	for {
		if err := request(unix.PTRACE_SINGLESTEP, th.tid, signal); err != nil {
			return ws, err
		}
		if _, err := syscall.Wait4(th.tid, &ws, syscall.WALL, nil); err != nil {
			return ws, fmt.Errorf("step over a breakpoint: %w", err)
		}
		if !th.stopSent || !ws.Stopped() || ws.StopSignal() != syscall.SIGSTOP {
			th.issued = true
			return ws, nil
		}
		th.stopSent = false
	}
}

// stopOthers stops all threads that run freely. What they report on the way
// waits in the queue, and so do they.
func (t *tracer) stopOthers(th *thread) error {
	for _, other := range t.threads {
		if other == th || other.stopped || other.fresh || other.issued {
			continue
		}
		if err := unix.Tgkill(t.pid, other.tid, syscall.SIGSTOP); err != nil {
			continue // it is ending
		}
		var ws syscall.WaitStatus
		if _, err := syscall.Wait4(other.tid, &ws, syscall.WALL, nil); err != nil {
			return fmt.Errorf("stop a thread: %w", err)
		}
		other.stopped, other.stopSent = true, false
		if !ws.Stopped() || ws.StopSignal() != syscall.SIGSTOP || int(ws)>>16 != 0 {
			other.stopSent, other.queued = true, true
			t.queue = append(t.queue, report{other.tid, ws})
		}
	}
	return nil
}

// stepped handles a thread that has run one instruction.
func (t *tracer) stepped(th *thread) error {
	ran := true
	if th.signalled {
		th.signalled = false
		if enteredHandler(th.tid) {
			ran = false
			if th.g == nil { // a goroutine's code is told by its stack
				th.handler = &frame{th.interrupted.sp, th.interrupted.pc}
			}
		}
	}
	if !th.stepping { // over while this step was under way, or a breakpoint passed
		return t.goOn(th, 0)
	}
	if ran {
		t.commit(th)
		if err := t.fixFlags(th); err != nil {
			return err
		}
	}
	return t.look(th, 0)
}

// commit records the accesses of the instruction that has run.
func (t *tracer) commit(th *thread) {
	t.res.Instructions++
	if th.phase == inside && (th.g == nil || th.home) {
		t.follow(th)
		for _, a := range th.next {
			if t.o.Limit > 0 && t.emitted == t.o.Limit {
				t.res.Full = true
				break
			}
			t.emitted++
			t.o.Emit(refs.Ref{Addr: a.Addr, PC: th.pc, Size: a.Size, Op: a.Op, Thread: th.row(), Enters: th.block.enters})
			th.block.enters = false
		}
	}
	th.next = th.next[:0]
}

// follow notes the block of the instruction that has run: a new one after a
// jump, a call or a return, taken or not.
func (t *tracer) follow(th *thread) {
	in := t.code[th.pc]
	if t.o.Flow == nil || in == nil {
		return
	}
	b := &th.block
	again := th.pc == b.last && in.repeats()
	if !again && (!b.open || th.pc != b.next) {
		t.o.Flow.Enter(th.row(), th.pc)
		b.enters = true
	}
	b.last, b.next, b.open = th.pc, th.pc+in.length(), !in.bad && in.flow() == access.Straight
	t.o.Flow.Reach(th.row(), b.next)
}

// look decides what a stopped thread does next: it may have left the region.
func (t *tracer) look(th *thread, signal int) error {
	var r registers
	if err := r.read(th.tid); err != nil {
		return ignoreGone(err)
	}
	// A handler may run on another stack: until it returns, the stack pointer
	// says nothing about the region.
	if th.handler != nil && *th.handler == r.here() {
		th.handler = nil
	}
	if th.signalled {
		th.interrupted = r.here()
	}
	pc, stack, away := r.pc(), r, th.handler != nil
	if th.stepping && th.g != nil {
		if t.stand(th, &r) {
			return t.park(th, &r, signal)
		}
		stack, away = r.moved(th.g.high), !th.home
		if signal == 0 {
			signal = t.lateSignal(th)
		}
	}
	if th.phase == inStart && !away && th.frame.left(&stack) {
		th.phase = inside
	}
	switch {
	case t.res.Full || t.res.Stuck || t.quit.Load():
		t.finish()
	case away:
	case th.phase == skipped && t.leaves(th, &stack):
		th.phase, th.stepping = waiting, false
		t.dismiss(th)
		if err := t.arm(); err != nil {
			return err
		}
	case th.phase == inside && t.leaves(th, &stack):
		if err := t.leave(th); err != nil {
			return err
		}
	}
	if !th.stepping {
		if err := r.clearTrap(th.tid); err != nil {
			return ignoreGone(err)
		}
		return t.goOn(th, signal)
	}
	if _, set := t.breaks[pc]; set {
		// The function was called again from inside the region, or a library is
		// loaded there.
		if pc == t.region.loading {
			if err := t.findLibrary(); err != nil {
				return err
			}
		}
		return t.passOver(th, pc, signal)
	}
	t.predict(th, &r)
	return t.goOn(th, signal)
}

// leave ends the recording of one call, and of the thread with its last, and of
// all if only one thread was wanted.
func (t *tracer) leave(th *thread) error {
	t.res.Left = true
	th.phase, th.stepping, th.block = waiting, false, block{}
	n, g := th.counts(), th.g
	t.dismiss(th)
	n.calls++
	t.res.Calls++
	if n.calls < t.o.Bounds.Times(t.o.Thread == AllThreads) {
		if n.calls&(n.calls-1) == 0 {
			t.modules() // the last call may never come, and then nothing is mapped any more
		}
		return t.arm()
	}
	if g != nil {
		g.over = true
	} else {
		th.phase = over
	}
	if t.o.Thread != AllThreads {
		t.finish()
		return nil
	}
	t.modules() // nothing is mapped any more when the last thread has ended
	return nil
}

// instruction is a decoded instruction; bad ones are remembered too.
type instruction struct {
	decoded
	bad bool
}

// predict works out the accesses of the instruction a thread is about to run.
func (t *tracer) predict(th *thread, r *registers) {
	th.pc, th.next = r.pc(), th.next[:0]
	in := t.code[th.pc]
	if in == nil {
		in = t.decode(th.pc)
		t.code[th.pc] = in
	}
	if in.bad {
		t.res.Unknown++
		return
	}
	th.next = in.accesses(t, th, r)
}

func (t *tracer) decode(pc uint64) *instruction {
	buf := make([]byte, 15)
	n, _ := t.mem.ReadAt(buf, int64(pc)) // fewer at the end of a mapping
	buf = buf[:n]
	for at := range buf {
		if old, set := t.breaks[pc+uint64(at)]; set {
			copy(buf[at:], old)
		}
	}
	d, err := decode(buf)
	return &instruction{d, err != nil}
}

// enteredHandler reports whether the stop is that of a thread about to run a
// signal handler: the kernel then gives the signal number as the code.
func enteredHandler(tid int) bool {
	var info [128]byte // siginfo_t: signo, errno, code
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PTRACE, unix.PTRACE_GETSIGINFO, uintptr(tid), 0, uintptr(ptr(&info[0])), 0, 0)
	return errno == 0 && binary.NativeEndian.Uint32(info[8:]) == uint32(syscall.SIGTRAP)
}

func ignoreGone(err error) error {
	if errors.Is(err, syscall.ESRCH) {
		return nil // killed meanwhile; wait reports it
	}
	return err
}
