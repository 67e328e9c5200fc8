package sampler

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"isobath/internal/hw"
	"isobath/internal/perfevent"
	"isobath/internal/record/pmu"
)

// session is a set of open events with one ring per CPU.
type session struct {
	plan   pmu.Plan
	events []pmu.Event // of the plan and the touches
	fds    []int
	rings  []*ring
	byID   map[uint64]*pmu.Event
	first  map[int]int // CPU to the fd whose ring all its events write to
}

// open opens the first plan that the system allows, and says what it refused.
func open(opt *Options, tids []int) (*session, []error, error) {
	cpus, err := onlineCPUs(opt.CPUs)
	if err != nil {
		return nil, nil, err
	}
	var refused []error
	for _, p := range opt.Plans {
		s := &session{plan: p, events: slices.Clone(p.Events), byID: map[uint64]*pmu.Event{}, first: map[int]int{}}
		if opt.Touch != nil {
			s.events = append(s.events, *opt.Touch)
		}
		if err := s.open(tids, cpus); err != nil {
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
	s, refused, err := open(&Options{Plans: []pmu.Plan{p}}, []int{os.Getpid()})
	if err != nil {
		return errors.Join(refused...)
	}
	s.close()
	return nil
}

// open opens all events for all threads on all CPUs.
func (s *session) open(tids, cpus []int) error {
	for _, tid := range tids {
		for _, cpu := range cpus {
			if err := s.openOn(tid, cpu); err != nil {
				return err
			}
		}
	}
	if len(s.rings) == 0 {
		return fmt.Errorf("%s: none of the CPUs %v has such a unit", s.plan.Name, cpus)
	}
	return nil
}

func (s *session) openOn(tid, cpu int) error {
	leaders := make([]int, len(s.events))
	for i := range s.events {
		e := &s.events[i]
		leaders[i] = -1
		if e.CPUs != nil && !slices.Contains(e.CPUs, cpu) {
			continue
		}
		group := -1
		if e.Leader >= 0 {
			group = leaders[e.Leader]
		}
		fd, err := openEvent(&e.Attr, tid, cpu, group)
		switch {
		case err == unix.ENODEV && len(s.rings) > 0:
			return nil // the CPU went offline
		case err == unix.ESRCH && len(s.rings) > 0:
			return nil // the thread has ended
		case err != nil:
			return refusal(e.Name, err, paranoid())
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
	if first, ok := s.first[cpu]; ok {
		if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_OUTPUT, first); err != nil {
			return fmt.Errorf("%s: share a ring buffer: %w", e.Name, err)
		}
		return nil
	}
	r, err := openRing(fd, cpu, e.Aux)
	if err != nil {
		return err
	}
	s.first[cpu] = fd
	s.rings = append(s.rings, r)
	return nil
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
func openEvent(attr *perfevent.Attr, tid, cpu, group int) (int, error) {
	a := *attr
	a.Flags |= perfevent.FlagWatermark
	a.Wakeup = wakeup
	b := a.Bytes()
	fd, _, errno := unix.Syscall6(unix.SYS_PERF_EVENT_OPEN, uintptr(unsafe.Pointer(&b[0])), uintptr(tid), uintptr(cpu), uintptr(group), unix.PERF_FLAG_FD_CLOEXEC, 0)
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

// onlineCPUs returns the CPUs to sample on.
func onlineCPUs(only []int) ([]int, error) {
	b, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return nil, fmt.Errorf("which CPUs are online: %w", err)
	}
	set, err := hw.ParseCPUs(string(b))
	if err != nil {
		return nil, fmt.Errorf("which CPUs are online: %w", err)
	}
	var cpus []int
	for _, cpu := range set {
		if only == nil || slices.Contains(only, cpu) {
			cpus = append(cpus, cpu)
		}
	}
	if len(cpus) == 0 {
		return nil, fmt.Errorf("none of the CPUs %v is online; there are %s", only, strings.TrimSpace(string(b)))
	}
	return cpus, nil
}

// threads returns the threads of a process.
func threads(pid int) ([]int, error) {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no process %d", pid)
	}
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", pid, err)
	}
	var tids []int
	for _, e := range entries {
		if tid, err := strconv.Atoi(e.Name()); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids, nil
}
