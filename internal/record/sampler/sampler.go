// Package sampler runs a program, or attaches to one, and hands on what the
// kernel samples of it: one event per CPU, inherited by threads and children,
// written into ring buffers that are drained while the program runs.
package sampler

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/code/spe"
	"github.com/isobath/isobath/internal/record/pmu"
)

// ErrSystem is returned on systems other than Linux.
var ErrSystem = errors.New("samples can be recorded on Linux only")

// Options say what to record and how.
type Options struct {
	// Command is the program to start; its standard streams are ours.
	Command []string
	Env     []string
	// PID is a running process to attach to, if there is no Command; Group a control
	// group, with those below it; All means every process of the machine.
	PID   int
	Group string
	All   bool
	// Plans are the ways to sample, best first; the first that can be opened
	// is used.
	Plans []pmu.Plan
	// Touch is the event that goes with any plan.
	Touch *pmu.Event
	// Tracking is an event without samples that tells of mappings and processes
	// on the CPUs where none are taken.
	Tracking *pmu.Event
	// CPUs limits where samples are taken; nil means everywhere.
	CPUs []int
	// Ring is how many bytes each ring buffer has, a power of two and at least a
	// page; 0 means as many as the system lets us lock.
	Ring int
	// Duration ends the recording, not the program; 0 means no limit.
	Duration time.Duration
	// Stop ends the recording when it is closed, not the program; nil never is.
	Stop <-chan struct{}
	// Asked, if it is not nil, is called at each SIGUSR1; the program then gets
	// none of them.
	Asked func()
	// Keys, if it is not nil, is a terminal that nobody else reads; Asked is called at
	// each Enter too. It is used for a process that was there before: another program
	// has our standard input.
	Keys *os.File
	// Instants, if it is not nil, looks at sampled threads while they stand still.
	Instants Instants
	// Chosen is told the plan, and why better ones were not possible, before
	// the program runs.
	Chosen func(plan *pmu.Plan, refused []error)
}

// Sink receives what happened, in order of time and from one goroutine. Times
// are CLOCK_MONOTONIC in nanoseconds; 0 means before the recording. What the
// arguments point to is only valid during the call. Operations are the exception:
// a unit keeps them for a while, so that they come later than their time.
type Sink interface {
	Sample(e *pmu.Event, s *perfevent.Sample)
	Operation(e *pmu.Event, o *Operation)
	Mapping(time uint64, m *perfevent.Mapping)
	Fork(t *perfevent.Task)
	Comm(time uint64, c *perfevent.Comm)
	Loss(l *Loss)
	// Drained is called some times a second, when all that had come was handed on.
	Drained()
}

// Instants looks at threads while they stand still, for what the kernel does not copy
// into samples. Its functions are called by one thread of ours only.
type Instants interface {
	// Looks is called at each look at the rings. True keeps the looks close
	// together: a sample is then taken out as soon as it is there.
	Looks() bool
	// Take is given a sample of the timer that has just come, in the room that it
	// has, StackUser in full. It may put another moment of the same thread in its
	// place, of which it returns the instruction, the time and the bytes of stack.
	Take(s *perfevent.Sample) (ip, time uint64, stack int, ok bool)
	// Passed says that a sample of a process was followed by another of its thread
	// before either was taken out.
	Passed(pid uint32)
	// Exec says that a process began, or began another program.
	Exec(pid uint32)
	// Done is called last.
	Done()
}

// Why says how samples got lost.
type Why uint8

// The ways to lose samples.
const (
	Full     Why = iota // records found the ring full, up to now
	Paused              // the kernel pauses an event that costs too much
	Resumed             // it goes on
	AreaFull            // a unit's own area was full, up to now
)

// Loss tells that samples are missing.
type Loss struct {
	Why     Why
	CPU     uint32
	Time    uint64
	Records uint64 // that found the ring full
}

// Operation is what a unit with an area of its own (SPE) followed.
type Operation struct {
	Time     uint64
	PID, TID uint32
	CPU      uint32
	Record   *spe.Record
}

// End says how a recording ended.
type End string

// The ways to end.
const (
	Exited      End = "exited"      // the program ended by itself
	Killed      End = "killed"      // a signal ended the program
	Interrupted End = "interrupted" // we were asked to stop
	TimeUp      End = "time up"     // Options.Duration
	Stopped     End = "stopped"     // Options.Stop
)

// Outcome is what is known after a recording.
type Outcome struct {
	Plan    pmu.Plan
	PID     int
	End     End
	Signal  syscall.Signal // that ended the program, if any
	Status  int            // exit status as a shell says it: 128 + signal
	Started time.Time
	Elapsed time.Duration
	// ClockOffset is what the time of day is ahead of the clock of samples.
	ClockOffset int64
	// CPUTime is the user and system time of the program and its children, if
	// it has ended.
	User, System time.Duration
	Losses       Losses
	// Running is set while the program goes on after the recording.
	Running *Program
}

// Losses count what was not recorded or could not be read.
type Losses struct {
	Lost      uint64 `json:"lost"`      // records that found the buffer full
	Throttled uint64 `json:"throttled"` // times the kernel paused an event
	Damaged   uint64 `json:"damaged"`   // records of an unexpected length
	// Touches are page faults that found their own buffer full; no sample is lost
	// with them.
	Touches uint64 `json:"touches,omitempty"`
	// Truncated counts the times that a unit found its own area full.
	Truncated uint64 `json:"truncated,omitempty"`
}

// Program is a program that outlives its recording.
type Program struct {
	done <-chan *os.ProcessState
}

// Wait waits until the program ends and returns its status.
func (p *Program) Wait() int {
	state := <-p.done
	if state == nil {
		return 1
	}
	status, _ := statusOf(state)
	return status
}

// statusOf returns the exit status as a shell says it, and the signal that
// ended the program, if any.
func statusOf(state *os.ProcessState) (int, syscall.Signal) {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), ws.Signal()
	}
	return state.ExitCode(), 0
}

// refusal explains why an event could not be opened, and what to do.
func refusal(name string, err error, paranoid int) error {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return fmt.Errorf("%s: %w", name, err)
	}
	switch errno {
	case syscall.EACCES, syscall.EPERM:
		return fmt.Errorf("%s: not permitted: kernel.perf_event_paranoid is %d, or a container forbids perf_event_open; 'isobath doctor' says what to change: %w", name, paranoid, err)
	case syscall.ENOENT, syscall.EOPNOTSUPP, syscall.ENODEV:
		return fmt.Errorf("%s: this machine does not offer it, as usual in virtual machines: %w", name, err)
	case syscall.EINVAL:
		return fmt.Errorf("%s: the kernel does not know this form of the event: %w", name, err)
	case syscall.EMFILE:
		return fmt.Errorf("%s: too many open files, one is needed for each CPU and event; raise 'ulimit -n': %w", name, err)
	case syscall.EBUSY:
		return fmt.Errorf("%s: another profiler holds the counter: %w", name, err)
	case syscall.ENOSYS:
		return fmt.Errorf("%s: this kernel has no perf events, or a container hides them: %w", name, err)
	}
	return fmt.Errorf("%s: %w", name, err)
}
