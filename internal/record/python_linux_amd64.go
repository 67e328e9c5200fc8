package record

import (
	"encoding/binary"
	"errors"

	"golang.org/x/sys/unix"

	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/record/pyframe"
	"github.com/isobath/isobath/internal/record/sampler"
)

// looker looks at threads. It belongs to the thread that empties the rings.
type looker struct {
	stopper *pyframe.Stopper
	pages   *pyframe.Pages
}

// instants looks at the threads of interpreters, if callers are wanted. Those of the
// whole machine are left alone.
func (c *collector) instants(opt *Options) sampler.Instants {
	if !opt.Sampling.Stacks || opt.All {
		return nil
	}
	c.pythons = newPythons(c.code.files)
	c.pythons.looker = looker{pyframe.NewStopper(), pyframe.NewPages()}
	return c.pythons
}

func (l *looker) late() { l.stopper.Late() }

// Done closes what was opened.
func (l *looker) Done() { l.stopper.Close() }

// Take looks at the thread of a sample, if it runs Python.
func (p *pythons) Take(s *perfevent.Sample) (ip, time uint64, stack int, ok bool) {
	known := p.find(int32(s.PID))
	if known == nil {
		return 0, 0, 0, false
	}
	err := pyframe.ErrTraced
	if !known.barred {
		ip, time, stack, err = p.take(known, s)
	}
	known.barred = errors.Is(err, pyframe.ErrTraced)
	p.count(known, err)
	return ip, time, stack, err == nil
}

// Passed counts a sample that another one of its thread came after too soon.
func (p *pythons) Passed(pid uint32) {
	if known := p.find(int32(pid)); known != nil {
		p.count(known, errPassed)
	}
}

var errPassed = errors.New("the recorder did not get the processor in time")

// errClock says that the time is not known.
var errClock = errors.New("the clock could not be read")

func (p *pythons) take(known *python, s *perfevent.Sample) (ip, time uint64, stack int, err error) {
	t, err := p.stopper.Stop(int(s.PID), int(s.TID), known.child)
	if err != nil {
		return 0, 0, 0, err
	}
	defer p.stopper.Go(t)
	p.pages.Begin(int(s.PID))
	frames, err := known.reader.Stack(p.pages, pyframe.Thread{Self: t.Registers.Fs_base, Stack: t.Registers.Rsp})
	if err != nil {
		return 0, 0, 0, err
	}
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		return 0, 0, 0, errClock
	}
	stack = p.pages.Copy(t.Registers.Rsp, s.StackUser)
	clear(s.StackUser[stack:])
	putRegisters(&s.RegsUser, &t.Registers)
	time = uint64(now.Nano())
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.taken) < mostTaken {
		p.taken[moment{int32(s.TID), time}] = frames
	}
	return t.Registers.Rip, time, stack, nil
}

// putRegisters writes registers in the order of perf's numbers, without segments.
func putRegisters(to *perfevent.Regs, r *unix.PtraceRegs) {
	byNumber := [...]uint64{r.Rax, r.Rbx, r.Rcx, r.Rdx, r.Rsi, r.Rdi, r.Rbp, r.Rsp, r.Rip, r.Eflags, r.Cs, r.Ss, r.Ds, r.Es, r.Fs, r.Gs,
		r.R8, r.R9, r.R10, r.R11, r.R12, r.R13, r.R14, r.R15}
	at := 0
	for number, v := range byNumber {
		if to.Mask>>number&1 == 1 && at < to.Values.Len() {
			binary.LittleEndian.PutUint64(to.Values.Bytes[8*at:], v)
			at++
		}
	}
}
