package sampler

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/record/pmu"
)

// spinner is a process that runs until the test ends.
func spinner(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sh", "-c", "while :; do :; done")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd
}

// seer calls a function at each timer sample with the processes that were sampled so
// far.
type seer struct {
	*log
	seen func(pids map[uint32]bool)
}

func (s seer) Sample(e *pmu.Event, p *perfevent.Sample) {
	s.log.Sample(e, p)
	if e.Use == pmu.Timer {
		s.seen(s.log.pids)
	}
}

// knows reports whether the sink was told what a process has mapped.
func (l *log) knows(pid int) bool {
	return slices.ContainsFunc(l.mappings, func(m perfevent.Mapping) bool { return int(m.PID) == pid && !m.Data })
}

// Of the whole machine, programs are sampled that were there before, with their
// mappings, and those that begin meanwhile.
func TestAll(t *testing.T) {
	before := spinner(t).Process.Pid
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	after := exec.Command("sh", "-c", "while :; do :; done")
	opt := options(1000)
	opt.Command, opt.All = nil, true
	l := newLog(t)
	out, err := Record(ctx, opt, seer{l, func(pids map[uint32]bool) {
		if after.Process == nil {
			if err := after.Start(); err != nil {
				t.Error(err)
				cancel()
			}
			return
		}
		if pids[uint32(before)] && pids[uint32(after.Process.Pid)] {
			cancel()
		}
	}})
	if err != nil {
		t.Skipf("this machine does not let us sample others: %v", err)
	}
	if after.Process == nil {
		t.Fatal("nothing was sampled")
	}
	after.Process.Kill()
	after.Wait()
	if out.End != Interrupted || !l.pids[uint32(before)] || !l.knows(before) || !l.knows(after.Process.Pid) {
		t.Errorf("outcome %+v, %d processes sampled, mappings known: %v, %v", out, len(l.pids), l.knows(before), l.knows(after.Process.Pid))
	}
	if l.pids[0] {
		t.Error("a CPU that does nothing was sampled")
	}
}

// newGroup makes a control group, or skips the test.
func newGroup(t *testing.T) string {
	t.Helper()
	for _, root := range groupRoots() {
		folder := filepath.Join(root, "isobath-test-"+strconv.Itoa(os.Getpid()))
		if os.Mkdir(folder, 0o755) == nil {
			t.Cleanup(func() { os.Remove(folder) })
			return folder
		}
	}
	t.Skip("this machine lets us make no control group that perf events know")
	return ""
}

func enter(t *testing.T, group string, pid int) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(group, processesFile), []byte(strconv.Itoa(pid)), 0); err != nil {
		t.Error(err)
	}
}

// Only the processes of a group are sampled, also those of groups below it and those
// that come into it, with their mappings; the recording ends with the group.
func TestControlGroup(t *testing.T) {
	group := newGroup(t)
	below := filepath.Join(group, "below")
	if err := os.Mkdir(below, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(below) })
	outside, inside, late := spinner(t), spinner(t), spinner(t)
	enter(t, below, inside.Process.Pid)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	opt := options(1000)
	opt.Command, opt.Group = nil, filepath.Base(group)
	l, state := newLog(t), 0
	out, err := Record(ctx, opt, seer{l, func(pids map[uint32]bool) {
		switch {
		case state == 0 && pids[uint32(inside.Process.Pid)]:
			state = 1
			enter(t, group, late.Process.Pid)
		case state == 1 && pids[uint32(late.Process.Pid)]:
			state = 2
			for _, cmd := range []*exec.Cmd{inside, late} {
				cmd.Process.Kill()
				cmd.Wait()
			}
			for _, folder := range []string{below, group} { // a process that was waited for has left
				if err := os.Remove(folder); err != nil {
					t.Error(err)
				}
			}
		}
	}})
	if err != nil {
		t.Skipf("this machine does not let us sample control groups: %v", err)
	}
	if out.End != Exited || state != 2 || l.pids[uint32(outside.Process.Pid)] || len(l.pids) != 2 {
		t.Errorf("outcome %+v, state %d, sampled %v", out, state, l.pids)
	}
	if !l.knows(inside.Process.Pid) || !l.knows(late.Process.Pid) || l.knows(outside.Process.Pid) {
		t.Error("what the processes have mapped is not known, or that of others is")
	}
}

func TestNoControlGroup(t *testing.T) {
	opt := options(1000)
	opt.Command, opt.Group = nil, "no/such/group"
	if _, err := Record(context.Background(), opt, newLog(t)); err == nil || !strings.Contains(err.Error(), "no control group no/such/group") {
		t.Errorf("error %v", err)
	}
}

func TestParseGroupRoots(t *testing.T) {
	const mounts = `30 25 0:26 / /sys/fs/cgroup ro,nosuid shared:4 - tmpfs tmpfs ro,mode=755
31 30 0:27 / /sys/fs/cgroup/unified rw shared:5 - cgroup2 cgroup2 rw
32 30 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
33 30 0:29 / /sys/fs/cgroup/perf_event rw - cgroup cgroup rw,perf_event
damaged
`
	if got, want := parseGroupRoots(mounts), []string{"/sys/fs/cgroup/unified", "/sys/fs/cgroup/perf_event"}; !slices.Equal(got, want) {
		t.Errorf("roots %v, want %v", got, want)
	}
}

// A refusal says which right is missing and how to get it.
func TestWideRefusals(t *testing.T) {
	event := pmu.TimerPlan(&pmu.Options{}).Events[0]
	kernel := pmu.TimerPlan(&pmu.Options{Kernel: true}).Events[0]
	for _, tt := range []struct {
		of   whom
		e    *pmu.Event
		err  error
		want string
	}{
		{whom{wide: true}, &event, unix.EACCES, "kernel.perf_event_paranoid=0"},
		{whom{wide: true}, &event, unix.EPERM, "CAP_PERFMON"},
		{whom{wide: true}, &kernel, unix.EACCES, "kernel.perf_event_paranoid=0"},
		{whom{wide: true, group: "/g"}, &event, unix.ENOENT, "/g belongs to a hierarchy without perf events"},
		{whom{}, &kernel, unix.EACCES, "kernel.perf_event_paranoid=1"},
		{whom{}, &event, unix.EACCES, "isobath doctor"},
	} {
		if got := tt.of.refusal(tt.e, tt.err); !strings.Contains(got.Error(), tt.want) {
			t.Errorf("%v says %q, want %q", tt.err, got, tt.want)
		}
	}
}
