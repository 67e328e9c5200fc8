package sampler

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/record/pmu"
	"golang.org/x/sys/unix"
)

// log counts what it is given and checks the order.
type log struct {
	t          *testing.T
	last       uint64
	samples    map[pmu.Use]int
	times      []uint64 // of the timer's samples
	tids       map[uint32]bool
	pids       map[uint32]bool
	mappings   []perfevent.Mapping
	noRegs     int
	operations []Operation
	losses     []Loss
}

func newLog(t *testing.T) *log {
	return &log{t: t, samples: map[pmu.Use]int{}, tids: map[uint32]bool{}, pids: map[uint32]bool{}}
}

func (l *log) order(time uint64) {
	if time < l.last {
		l.t.Errorf("time %d after %d", time, l.last)
	}
	l.last = time
}

func (l *log) Sample(e *pmu.Event, s *perfevent.Sample) {
	l.order(s.Time)
	l.samples[e.Use]++
	l.tids[s.TID], l.pids[s.PID] = true, true
	if e.Use != pmu.Timer {
		return
	}
	l.times = append(l.times, s.Time)
	if _, ok := s.RegsUser.Get(7); !ok {
		l.noRegs++
	}
}
func (l *log) Operation(e *pmu.Event, o *Operation) { l.operations = append(l.operations, *o) }
func (l *log) Mapping(time uint64, m *perfevent.Mapping) {
	l.order(time)
	l.mappings = append(l.mappings, *m)
}
func (l *log) Fork(t *perfevent.Task)              { l.order(t.Time) }
func (l *log) Comm(time uint64, c *perfevent.Comm) { l.order(time) }
func (l *log) Drained()                            {}

func (l *log) Loss(s *Loss) {
	l.order(s.Time)
	l.losses = append(l.losses, *s)
}

func options(rate int, command ...string) *Options {
	o := &pmu.Options{Rate: rate, Arch: runtime.GOARCH}
	touch := pmu.Touches(o)
	return &Options{Command: command, Env: os.Environ(), Plans: []pmu.Plan{pmu.TimerPlan(o)}, Touch: &touch}
}

// record skips the test where the machine forbids sampling: what it does then
// is tested by refusals.
func record(t *testing.T, opt *Options) (*Outcome, *log) {
	t.Helper()
	l := newLog(t)
	out, err := Record(context.Background(), opt, l)
	if err != nil {
		t.Skipf("this machine does not let us sample: %v", err)
	}
	return out, l
}

const spin = `i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; `

func TestRecordProgram(t *testing.T) {
	out, l := record(t, options(2000, "sh", "-c", spin+"exit 7"))
	if out.Status != 7 || out.End != Exited || out.Running != nil {
		t.Errorf("outcome %+v", out)
	}
	// One sample each half millisecond. A machine that is busy with others pauses
	// the program now and then, so most of the gaps tell, and not their sum.
	const period = 500 * time.Microsecond
	n := len(l.times)
	if n < 20 || n > int(out.Elapsed/period)+5 {
		t.Fatalf("%d samples in %v", n, out.Elapsed)
	}
	var gaps []uint64
	for i := range n - 1 {
		gaps = append(gaps, l.times[i+1]-l.times[i])
	}
	slices.Sort(gaps)
	if gap := time.Duration(gaps[len(gaps)/2]); out.Losses.Throttled == 0 && (gap < period*9/10 || gap > 3*period) {
		t.Errorf("a sample every %v, want %v: %d samples in %v", gap, period, n, out.User)
	}
	if l.samples[pmu.Touch] == 0 || l.noRegs > 0 || out.Losses.Damaged+out.Losses.Truncated > 0 {
		t.Errorf("%d touches, %d samples without registers, losses %+v", l.samples[pmu.Touch], l.noRegs, out.Losses)
	}
	if len(l.mappings) < 5 {
		t.Errorf("only %d mappings", len(l.mappings))
	}
}

func TestChildProcesses(t *testing.T) {
	script := "(" + spin + ") & " + spin + "wait"
	_, l := record(t, options(2000, "sh", "-c", script))
	if len(l.pids) < 2 {
		t.Errorf("samples of %d processes, want 2", len(l.pids))
	}
}

func TestSignalEndsProgram(t *testing.T) {
	out, _ := record(t, options(1000, "sh", "-c", "kill -SEGV $$"))
	if out.Status != 139 || out.End != Killed || out.Signal.String() != "segmentation fault" {
		t.Errorf("outcome %+v", out)
	}
}

func TestDurationEndsRecordingOnly(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	opt := options(1000, "sh", "-c", `read line <"$0"; exit 3`, gate) // goes on when somebody writes
	opt.Duration = time.Millisecond
	out, _ := record(t, opt)
	if out.End != TimeUp || out.Running == nil {
		t.Fatalf("outcome %+v", out)
	}
	if err := os.WriteFile(gate, []byte("go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := out.Running.Wait(); got != 3 {
		t.Errorf("status %d, want 3", got)
	}
}

func TestCancelEndsProgram(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	out, err := Record(ctx, options(1000, "sleep", "600"), newLog(t))
	if err != nil {
		t.Skipf("this machine does not let us sample: %v", err)
	}
	status := out.Status
	if out.Running != nil { // asked to end, and slow about it
		status = out.Running.Wait()
	}
	if out.End != Interrupted || status != 143 {
		t.Errorf("outcome %+v, status %d", out, status)
	}
}

// stopper ends a recording when a sample of it has come.
type stopper struct {
	*log
	stop func()
}

func (s stopper) Sample(e *pmu.Event, p *perfevent.Sample) {
	s.log.Sample(e, p)
	if e.Use == pmu.Timer {
		s.stop()
	}
}

func TestAttach(t *testing.T) {
	cmd := exec.Command("sh", "-c", "while :; do :; done")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	opt := options(1000)
	opt.Command, opt.PID = nil, cmd.Process.Pid
	l := newLog(t)
	out, err := Record(ctx, opt, stopper{l, cancel})
	if err != nil {
		t.Skipf("this machine does not let us sample: %v", err)
	}
	if out.End != Interrupted || !l.pids[uint32(cmd.Process.Pid)] {
		t.Errorf("outcome %+v, samples %v", out, l.samples)
	}
	opt.Duration = time.Millisecond
	if out, _ := record(t, opt); out.End != TimeUp {
		t.Errorf("outcome %+v", out)
	}
}

func TestNoSuchProgram(t *testing.T) {
	_, err := Record(context.Background(), options(1000, filepath.Join(t.TempDir(), "nothing")), newLog(t))
	if err == nil {
		t.Error("a program that does not exist was recorded")
	}
}

func TestParseMaps(t *testing.T) {
	got := parseMaps(9, []byte("55d0-55e0 r-xp 00001000 fe:00 12 /a b/c\n7f00-7f10 rw-p 00000000 00:00 0 \nbad\n7ffd-7fff rw-p 00000000 00:00 0 [stack]\n"))
	want := []perfevent.Mapping{
		{PID: 9, TID: 9, Start: 0x55d0, Len: 0x10, Offset: 0x1000, Prot: 5, Name: "/a b/c"},
		{PID: 9, TID: 9, Start: 0x7f00, Len: 0x10, Prot: 3, Name: "//anon", Data: true},
		{PID: 9, TID: 9, Start: 0x7ffd, Len: 2, Prot: 3, Name: "[stack]", Data: true},
	}
	if len(got) != len(want) {
		t.Fatalf("got %+v", got)
	}
	for i := range want {
		if g, w := got[i], want[i]; g.Start != w.Start || g.Len != w.Len || g.Offset != w.Offset || g.Prot != w.Prot || g.Name != w.Name || g.Data != w.Data {
			t.Errorf("got %+v, want %+v", g, w)
		}
	}
}

// Events in a group, events that only some CPUs have, and events that are
// opened because another needs them: what hardware needs, tried with software.
func TestGroup(t *testing.T) {
	opt := options(2000, "sh", "-c", spin)
	timer := opt.Plans[0].Events[0]
	leader := timer
	leader.Name, leader.Use = "leader", pmu.Silent
	leader.Attr.Config, leader.Attr.Period = perfevent.SoftwareTaskClock, 0
	leader.Attr.Flags &^= perfevent.FlagMmap | perfevent.FlagMmap2 | perfevent.FlagMmapData | perfevent.FlagComm | perfevent.FlagTask
	timer.Leader = 0
	nowhere := timer
	nowhere.Name, nowhere.CPUs, nowhere.Leader = "nowhere", []int{9999}, -1
	opt.Plans = []pmu.Plan{{Name: "group", Events: []pmu.Event{leader, timer, nowhere}}}
	_, l := record(t, opt)
	if l.samples[pmu.Timer] == 0 || l.samples[pmu.Silent] != 0 {
		t.Errorf("samples %v", l.samples)
	}
}

// A plan that the kernel refuses gives way to the next, with a reason.
func TestRefusedPlan(t *testing.T) {
	opt := options(2000, "true")
	bad := opt.Plans[0]
	bad.Events = []pmu.Event{{Name: "no such unit", Attr: perfevent.Attr{Type: 4_000_000}, Leader: -1}}
	aux := pmu.Plan{Name: "SPE", Events: []pmu.Event{{Name: "arm_spe_0", Aux: true, Leader: -1}}}
	opt.Plans = append([]pmu.Plan{bad, aux}, opt.Plans...)
	var reasons []error
	opt.Chosen = func(p *pmu.Plan, refused []error) { reasons = refused }
	out, _ := record(t, opt)
	if out.Plan.Name != "timer" || len(reasons) != 2 || !strings.Contains(reasons[0].Error(), "does not offer it") {
		t.Errorf("plan %s, refused %v", out.Plan.Name, reasons)
	}
	opt.Plans = opt.Plans[:1]
	if _, err := Record(context.Background(), opt, newLog(t)); err == nil {
		t.Error("a refused plan is no error")
	}
}

// Without child processes only the first one is recorded.
func TestThreadsOnly(t *testing.T) {
	opt := options(2000, "sh", "-c", "("+spin+") & "+spin+"wait")
	only := &pmu.Options{Rate: 2000, Arch: runtime.GOARCH, Threads: true}
	opt.Plans, opt.Touch = []pmu.Plan{pmu.TimerPlan(only)}, nil
	_, l := record(t, opt)
	if len(l.pids) != 1 {
		t.Errorf("samples of %d processes, want 1", len(l.pids))
	}
}

func TestOneCPU(t *testing.T) {
	opt := options(2000, "true")
	opt.CPUs = []int{9999}
	if _, err := Record(context.Background(), opt, newLog(t)); err == nil || !strings.Contains(err.Error(), "online") {
		t.Errorf("a CPU that does not exist: %v", err)
	}
}

// lostRecord is a LOST record as the kernel writes it, with the trailer of an
// event: thread, time, CPU and number.
func lostRecord(id, n, time uint64, cpu uint32) (perfevent.Header, []byte) {
	b := binary.LittleEndian.AppendUint64(nil, id)
	b = binary.LittleEndian.AppendUint64(b, n)
	b = append(b, make([]byte, 8)...)
	b = binary.LittleEndian.AppendUint64(b, time)
	b = binary.LittleEndian.AppendUint64(b, uint64(cpu))
	b = binary.LittleEndian.AppendUint64(b, id)
	return perfevent.Header{Type: perfevent.RecordLost, Size: uint16(perfevent.HeaderSize + len(b))}, b
}

// Page faults that are lost in a ring of their own are no lost samples; in a
// ring that is shared they may be.
func TestLostTouches(t *testing.T) {
	o := &pmu.Options{}
	timer, touch := pmu.TimerPlan(o).Events[0], pmu.Touches(o)
	s := &session{events: []pmu.Event{timer}, byID: map[uint64]*pmu.Event{1: &timer, 2: &touch}, first: map[output]int{{cpu: 0}: 10, {cpu: 0, touch: true}: 11, {cpu: 1}: 12}}
	l := newLog(t)
	d := newDrainer(s, l, nil)
	for i, r := range []struct{ id, n, cpu uint64 }{{1, 5, 0}, {2, 30, 0}, {2, 7, 1}, {1, 0, 1}} {
		d.add(lostRecord(r.id, r.n, uint64(100+i), uint32(r.cpu)))
	}
	d.flush(^uint64(0))
	d.start()
	if got, err := d.finish(); err != nil || got != (Losses{Lost: 12, Touches: 30}) {
		t.Errorf("%+v, %v", got, err)
	}
	if want := []Loss{{Full, 0, 100, 5}, {Full, 1, 102, 7}}; !slices.Equal(l.losses, want) {
		t.Errorf("told %+v, want %+v", l.losses, want)
	}
}

// TestDrainerWithoutPipe lets the pipe that stops a drainer fail, as it does when
// the process has no descriptor left.
func TestDrainerWithoutPipe(t *testing.T) {
	timer := pmu.TimerPlan(&pmu.Options{}).Events[0]
	s := &session{events: []pmu.Event{timer}}
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 0, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	d := newDrainer(s, newLog(t), nil)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	if d.stop != [2]int{-1, -1} {
		t.Fatalf("the pipe was made: %v", d.stop)
	}
	d.start()
	finished := make(chan error, 1)
	go func() {
		_, err := d.finish()
		finished <- err
	}()
	select {
	case err := <-finished:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("finish waits for ever")
	}
}

// brokenSink is a sink with a bug.
type brokenSink struct{ Sink }

// TestBrokenSink holds that a panic while records are handed on is an error of
// the recording and does not hang it.
func TestBrokenSink(t *testing.T) {
	timer := pmu.TimerPlan(&pmu.Options{}).Events[0]
	d := newDrainer(&session{events: []pmu.Event{timer}, byID: map[uint64]*pmu.Event{1: &timer}}, brokenSink{}, nil)
	d.add(lostRecord(1, 5, 100, 0))
	d.start()
	var p *parallel.Panic
	if _, err := d.finish(); !errors.As(err, &p) {
		t.Errorf("error %v, want the panic of the sink", err)
	}
}
