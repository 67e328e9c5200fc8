package sampler

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/machine/hw"
	"github.com/isobath/isobath/internal/record/pmu"
)

// session is a set of open events with one ring per CPU.
type session struct {
	plan   pmu.Plan
	events []pmu.Event // of the plan and the touches
	fds    []int
	rings  []*ring
	byID   map[uint64]*pmu.Event
	first  map[output]int // the fd whose ring all events of an output write to
	ring   int            // bytes; 0 means as many as possible
	whom   *whom
}

// output is a ring. Page faults come in storms, at the start of a program and
// after a fork, which must not cost samples or the record of the fork itself:
// they have rings of their own where the system lets us lock that much.
type output struct {
	cpu   int
	touch bool
}

// open opens the first plan that the system allows, and says what it refused.
func open(opt *Options, of *whom) (*session, []error, error) {
	cpus, others, err := onlineCPUs(opt.CPUs)
	if err != nil {
		return nil, nil, err
	}
	if opt.Ring != 0 && (opt.Ring < os.Getpagesize() || opt.Ring&(opt.Ring-1) != 0) {
		return nil, nil, fmt.Errorf("ring buffer of %d bytes: want a power of two of at least %d", opt.Ring, os.Getpagesize())
	}
	var refused []error
	for _, p := range opt.Plans {
		s := &session{plan: p, events: slices.Clone(p.Events), byID: map[uint64]*pmu.Event{}, first: map[output]int{}, ring: opt.Ring, whom: of}
		err := s.open(cpus, s.events)
		for _, more := range []struct {
			event *pmu.Event
			cpus  []int
		}{{opt.Touch, cpus}, {opt.Tracking, others}} {
			if err == nil && more.event != nil {
				err = s.open(more.cpus, []pmu.Event{*more.event})
			}
		}
		if err != nil {
			s.close()
			refused = append(refused, err)
			continue
		}
		return s, refused, nil
	}
	return nil, refused, fmt.Errorf("cannot sample on this machine: %w", errors.Join(refused...))
}

// Try opens a plan for this process and closes it again.
func Try(p pmu.Plan) error {
	s, refused, err := open(&Options{Plans: []pmu.Plan{p}}, threadsOf(os.Getpid()))
	if err != nil {
		return errors.Join(refused...)
	}
	s.close()
	return nil
}

// open opens events for all threads on all CPUs.
func (s *session) open(cpus []int, events []pmu.Event) error {
	for _, tid := range s.whom.ids {
		for _, cpu := range cpus {
			if err := s.openOn(tid, cpu, events); err != nil {
				return err
			}
		}
	}
	if len(s.rings) == 0 {
		return fmt.Errorf("%s: none of the CPUs %v has such a unit", s.plan.Name, cpus)
	}
	return nil
}

func (s *session) openOn(tid, cpu int, events []pmu.Event) error {
	leaders := make([]int, len(events))
	for i := range events {
		e := &events[i]
		leaders[i] = -1
		if e.CPUs != nil && !slices.Contains(e.CPUs, cpu) {
			continue
		}
		group := -1
		if e.Leader >= 0 {
			group = leaders[e.Leader]
		}
		fd, err := s.whom.openEvent(&e.Attr, tid, cpu, group)
		switch {
		case err == unix.ENODEV && len(s.rings) > 0:
			return nil // the CPU went offline
		case err == unix.ESRCH && len(s.rings) > 0:
			return nil // the thread has ended
		case err != nil:
			return s.whom.refusal(e, err)
		}
		leaders[i] = fd
		s.fds = append(s.fds, fd)
		if err := s.attach(e, fd, cpu); err != nil {
			return err
		}
	}
	return nil
}

// attach makes the event write into the ring of its CPU.
func (s *session) attach(e *pmu.Event, fd, cpu int) error {
	id, err := eventID(fd)
	if err != nil {
		return fmt.Errorf("%s: %w", e.Name, err)
	}
	s.byID[id] = e
	out := output{cpu, e.Use == pmu.Touch}
	if _, ok := s.first[out]; !ok {
		r, err := openRing(fd, cpu, e.Aux, s.sizes(out.touch))
		if err == nil {
			s.first[out] = fd
			s.rings = append(s.rings, r)
			return nil
		}
		if !out.touch {
			return err
		}
		out.touch = false // that of the samples has to do
	}
	first, ok := s.first[out]
	if !ok {
		return fmt.Errorf("%s: CPU %d has no ring buffer", e.Name, cpu)
	}
	if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_OUTPUT, first); err != nil {
		return fmt.Errorf("%s: share a ring buffer: %w", e.Name, err)
	}
	return nil
}

// sizes are those to try for a ring.
func (s *session) sizes(touch bool) [][2]int {
	switch {
	case s.ring > 0:
		return [][2]int{{s.ring, s.ring}}
	case touch:
		return touchSizes
	}
	return ringSizes
}

// touches reports whether a number is that of an event of page faults.
func (s *session) touches(id uint64) bool {
	e := s.byID[id]
	return e != nil && e.Use == pmu.Touch
}

func (s *session) close() {
	for _, r := range s.rings {
		r.close()
	}
	for _, fd := range s.fds {
		_ = unix.Close(fd)
	}
}

// enable starts or stops all events.
func (s *session) enable(on bool) {
	request := uint(unix.PERF_EVENT_IOC_DISABLE)
	if on {
		request = unix.PERF_EVENT_IOC_ENABLE
	}
	for _, fd := range s.fds {
		_ = unix.IoctlSetInt(fd, request, 0)
	}
}

// wakeup is how many bytes wait in a ring before we are woken.
const wakeup = 64 << 10

// openEvent opens one event. The attr goes to the kernel as bytes: the struct
// of x/sys would do, but the bytes are what the tests compare.
func (w *whom) openEvent(attr *perfevent.Attr, tid, cpu, group int) (int, error) {
	a := *attr
	if w.wide { // whoever runs there is sampled, whosever child it is
		a.Flags = a.Flags&^(perfevent.FlagInherit|perfevent.FlagInheritThread) | perfevent.FlagExcludeIdle
	}
	a.Flags |= perfevent.FlagWatermark
	a.Wakeup = wakeup
	b := a.Bytes()
	fd, _, errno := unix.Syscall6(unix.SYS_PERF_EVENT_OPEN, uintptr(unsafe.Pointer(&b[0])), uintptr(tid), uintptr(cpu), uintptr(group), uintptr(w.flags()), 0)
	runtime.KeepAlive(b)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

// eventID asks for the number that samples of an event carry.
func eventID(fd int) (uint64, error) {
	var id uint64
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.PERF_EVENT_IOC_ID, uintptr(unsafe.Pointer(&id)))
	if errno != 0 {
		return 0, errno
	}
	return id, nil
}

func paranoid() int {
	b, err := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	return n
}

// onlineCPUs returns the CPUs to sample on, and the others.
func onlineCPUs(only []int) (chosen, others []int, err error) {
	b, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return nil, nil, fmt.Errorf("which CPUs are online: %w", err)
	}
	set, err := hw.ParseCPUs(string(b))
	if err != nil {
		return nil, nil, fmt.Errorf("which CPUs are online: %w", err)
	}
	for _, cpu := range set {
		if only == nil || slices.Contains(only, cpu) {
			chosen = append(chosen, cpu)
		} else {
			others = append(others, cpu)
		}
	}
	if len(chosen) == 0 {
		return nil, nil, fmt.Errorf("none of the CPUs %v is online; there are %s", only, strings.TrimSpace(string(b)))
	}
	return chosen, others, nil
}
