package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
)

// oneRecordingWatched says what watches the goroutines of a recording.
const oneRecordingWatched = "TestRecordIsTransparent and TestRecordInterrupted run in the same goroutines"

// recorder runs the command as an ordinary user: as nobody if the test runs as
// root.
type recorder struct {
	t       *testing.T
	dir     string // may be written by that user
	isobath string
	nobody  bool
}

func newRecorder(t *testing.T) *recorder {
	t.Helper()
	level, err := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	if n, _ := strconv.Atoi(strings.TrimSpace(string(level))); err != nil || n > 2 {
		t.Skipf("kernel.perf_event_paranoid is %s: nobody may sample here", strings.TrimSpace(string(level)))
	}
	dir, err := os.MkdirTemp("", "isobath-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	os.Chmod(dir, 0o777)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Under this name the test binary is the command; see TestMain. It is
	// copied because others cannot reach the folder of test binaries.
	r := &recorder{t: t, dir: dir, isobath: filepath.Join(dir, "isobath"), nobody: os.Geteuid() == 0}
	in, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(r.isobath, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return r
}

// build compiles an example.
func (r *recorder) build(name string, flags ...string) string {
	r.t.Helper()
	gcc := test.Peer(r.t, "gcc", "gcc")
	program := filepath.Join(r.dir, name)
	args := append([]string{"-g", "-I", filepath.Join(test.Root(), "clients"), "-o", program, filepath.Join(test.Root(), "examples/record", name+".c")}, flags...)
	if out, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
		r.t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// command is a call of isobath by that user.
func (r *recorder) command(args ...string) *exec.Cmd {
	cmd := exec.Command(r.isobath, args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "HOME=/nonexistent", "XDG_CACHE_HOME=", "OMP_NUM_THREADS=2")
	if r.nobody {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	return cmd
}

// record records and opens the run.
func (r *recorder) record(args ...string) (*run.Run, *table.Table) {
	r.t.Helper()
	path := filepath.Join(r.dir, "out.isobath")
	os.RemoveAll(path)
	cmd := r.command(append([]string{"record", "-o", path}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("%v\n%s", err, out)
	}
	return r.open(path)
}

func (r *recorder) open(path string) (*run.Run, *table.Table) {
	r.t.Helper()
	got, err := run.Open(path)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { got.Close() })
	return got, got.Table("samples")
}

// counts counts the texts of a column; rows without a value are "".
func counts(t *table.Table, column string) map[string]int {
	out := map[string]int{}
	c := t.Column(column)
	for i := range t.Rows() {
		if c == nil || !c.Has(i) {
			out[""]++
		} else {
			out[c.Text(i)]++
		}
	}
	return out
}

// The matrix that is walked by columns is where the time goes.
func TestRecordMatmul(t *testing.T) {
	for _, tt := range []struct {
		name  string
		flags []string
		share float64 // of b
	}{{"O2", []string{"-O2"}, 0.9}, {"O3 AVX", []string{"-O3", "-mavx2", "-mfma"}, 0}} {
		t.Run(tt.name, func(t *testing.T) {
			if info, _ := os.ReadFile("/proc/cpuinfo"); tt.name != "O2" && !bytes.Contains(info, []byte(" avx2 ")) {
				t.Skip("this processor has no AVX2")
			}
			r := newRecorder(t)
			program := r.build("matmul", tt.flags...)
			got, samples := r.record("--rate", "4000", "--", program, "512")
			arrays := 0
			by := counts(samples, "symbol")
			for name, n := range by {
				if name == "a" || name == "b" || name == "c" {
					arrays += n
				}
			}
			b := by["b"]
			t.Logf("%d samples, %d in the arrays, %d in b; %v", samples.Rows(), arrays, b, got.Recording.Addresses)
			if samples.Rows() < 200 || float64(arrays) < 0.95*float64(samples.Rows()) || float64(b) < tt.share*float64(arrays) {
				t.Errorf("%d samples, %d in the arrays: %v", samples.Rows(), arrays, by)
			}
			if got.Recording.Mode == "timer" && (samples.Column("latency") != nil || samples.Column("level") != nil) {
				t.Error("a timer knows neither latency nor level")
			}
		})
	}
}

func TestRecordChase(t *testing.T) {
	r := newRecorder(t)
	_, samples := r.record("--rate", "2000", "--", r.build("chase", "-O2"), "1000000", "12000000")
	nodes := counts(samples, "symbol")["nodes"]
	t.Logf("%d of %d samples in the list", nodes, samples.Rows())
	if float64(nodes) < 0.95*float64(samples.Rows()) {
		t.Errorf("%d of %d samples in the list: %v", nodes, samples.Rows(), counts(samples, "symbol"))
	}
}

// Threads, lines, objects, coordinates and state variables.
func TestRecordStencil(t *testing.T) {
	r := newRecorder(t)
	got, samples := r.record("--rate", "2000", "--", r.build("stencil", "-O2", "-fopenmp"), "128", "20")
	symbols, lines := counts(samples, "symbol"), counts(samples, "line")
	if symbols["u"] == 0 || symbols["v"] == 0 {
		t.Errorf("objects %v", symbols)
	}
	if lines["23"]+lines["24"] < symbols["u"]/2 {
		t.Errorf("lines %v", lines)
	}
	if n := len(counts(samples, "tid")); n < 2 {
		t.Errorf("%d threads", n)
	}
	if n := len(counts(samples, "iteration")); n < 15 {
		t.Errorf("iterations %v", counts(samples, "iteration"))
	}
	index, x, y, z, symbol := samples.Column("index"), samples.Column("x"), samples.Column("y"), samples.Column("z"), samples.Column("symbol")
	for i := range samples.Rows() {
		if name := symbol.Text(i); name != "u" && name != "v" {
			continue
		}
		if at := (z.Float(i)*128+y.Float(i))*128 + x.Float(i); at != index.Float(i) || x.Float(i) > 127 || y.Float(i) > 127 {
			t.Fatalf("row %d: %v, %v, %v is not element %v", i, x.Float(i), y.Float(i), z.Float(i), index.Float(i))
		}
	}
	if touches := got.Table("touches"); touches == nil || counts(touches, "symbol")["u"] < 4000 {
		t.Error("the pages of u were not seen to be touched")
	}
	out, err := r.command("report", "out.isobath", "--touches", "--json").Output()
	var first struct {
		Objects []struct {
			Symbol         string
			Pages, Samples int
			Threads        []struct{ ID, Pages int }
		}
	}
	if err != nil || json.Unmarshal(out, &first) != nil || len(first.Objects) < 2 {
		t.Fatalf("first touches: %v\n%s", err, out)
	}
	// One thread fills u, both write v.
	for _, o := range first.Objects[:2] {
		if want := map[string]int{"u": 1, "v": 2}[o.Symbol]; len(o.Threads) != want || o.Pages < 4000 || o.Samples == 0 {
			t.Errorf("%+v: want %d threads", o, want)
		}
	}
	if got.Tree == nil || len(got.SourceFiles) == 0 || len(got.Recording.Modules) == 0 || got.Recording.Modules[0].BuildID == "" {
		t.Errorf("topology %d bytes, sources %v, modules %v", len(got.Tree), got.SourceFiles, got.Recording.Modules)
	}
}

// The program's streams and exit code are its own.
func TestRecordIsTransparent(t *testing.T) {
	r := newRecorder(t)
	cmd := r.command("record", "-o", filepath.Join(r.dir, "x.isobath"), "--", "sh", "-c", "cat; echo to stderr >&2; exit 5")
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("from stdin\n"), &out, &errs
	err := cmd.Run()
	var status *exec.ExitError
	if !errors.As(err, &status) || status.ExitCode() != 5 {
		t.Errorf("exit: %v", err)
	}
	if out.String() != "from stdin\n" || !strings.Contains(errs.String(), "to stderr\n") || !strings.Contains(errs.String(), "isobath: recording by ") {
		t.Errorf("stdout %q, stderr %q", out.String(), errs.String())
	}
}

// A program that crashes leaves a whole run that says so.
func TestRecordCrash(t *testing.T) {
	test.NoRaces(t, oneRecordingWatched)
	r := newRecorder(t)
	path := filepath.Join(r.dir, "crash.isobath")
	out, err := r.command("record", "-o", path, "--rate", "2000", "--", "sh", "-c", "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; kill -SEGV $$").CombinedOutput()
	var status *exec.ExitError
	if !errors.As(err, &status) || status.ExitCode() != 139 {
		t.Fatalf("exit: %v\n%s", err, out)
	}
	got, samples := r.open(path)
	if all := strings.Join(got.Warnings, "\n"); !strings.Contains(all, "segmentation fault") || got.Recording.Signal == "" || samples.Rows() == 0 {
		t.Errorf("warnings %q, signal %q, %d samples", all, got.Recording.Signal, samples.Rows())
	}
}

// start starts a recording and returns when the program runs.
func (r *recorder) start(args ...string) *exec.Cmd {
	r.t.Helper()
	cmd := r.command(args...)
	r.until(cmd, "recording by")
	return cmd
}

// until starts a recording and returns when it says a text. Only the test's end
// limits the time that takes.
func (r *recorder) until(cmd *exec.Cmd, text string) {
	r.t.Helper()
	stderr, err := cmd.StderrPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	var said []string
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if strings.Contains(lines.Text(), text) {
			go io.Copy(io.Discard, stderr)
			return
		}
		said = append(said, lines.Text())
	}
	r.t.Fatalf("it ended without %q: %v\n%s", text, cmd.Wait(), strings.Join(said, "\n"))
}

// stdin makes what ends a program that reads its standard input to the end.
func (r *recorder) stdin(cmd *exec.Cmd) io.Closer {
	r.t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { in.Close() })
	return in
}

// Killed in mid-recording, nothing is left under the run's name: what was recorded
// so far lies beside it (TestRecorderKilled opens it).
func TestRecordKilled(t *testing.T) {
	r := newRecorder(t)
	path := filepath.Join(r.dir, "killed.isobath")
	cmd := r.command("record", "-o", path, "--", "cat")
	r.stdin(cmd)
	r.until(cmd, "recording by")
	cmd.Process.Kill()
	cmd.Wait()
	left, _ := filepath.Glob(filepath.Join(r.dir, "*killed*"))
	if !slices.Equal(left, []string{path + ".part"}) {
		t.Errorf("left behind: %v", left)
	}
}

// Asked to end, the program ends and the run is whole.
func TestRecordTerminated(t *testing.T) {
	r := newRecorder(t)
	path := filepath.Join(r.dir, "term.isobath")
	cmd := r.start("record", "-o", path, "--", "sleep", "1000")
	cmd.Process.Signal(syscall.SIGTERM)
	err := cmd.Wait()
	var status *exec.ExitError
	if !errors.As(err, &status) || status.ExitCode() != 143 {
		t.Errorf("exit: %v", err)
	}
	if got, _ := r.open(path); !strings.Contains(strings.Join(got.Warnings, "\n"), "interrupted") {
		t.Errorf("warnings %v", got.Warnings)
	}
}

// Ctrl-C at a terminal reaches the program too: both end, the run is whole, and
// the exit code is the program's. The program ends on SIGUSR1, which only the
// recorder sends it: after the Ctrl-C that it got before.
func TestRecordInterrupted(t *testing.T) {
	r := newRecorder(t)
	path := filepath.Join(r.dir, "int.isobath")
	cmd := r.command("record", "-o", path, "--rate", "2000", "--", "sh", "-c",
		"trap : INT; trap 'exit 9' USR1 TERM; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo worked $i >&2; while :; do :; done")
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true // as a shell does for a job
	r.until(cmd, "worked 200000")  // the recorder itself says the command
	syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
	cmd.Process.Signal(syscall.SIGUSR1)
	err := cmd.Wait()
	var status *exec.ExitError
	if !errors.As(err, &status) || status.ExitCode() != 9 {
		t.Errorf("exit: %v", err)
	}
	got, samples := r.open(path)
	if all := strings.Join(got.Warnings, "\n"); !strings.Contains(all, "interrupted") || samples.Rows() == 0 || got.Recording.Ended != "interrupted" {
		t.Errorf("%d samples, ended %q, warnings %v", samples.Rows(), got.Recording.Ended, got.Warnings)
	}
}

// The time is up, the program is not: it goes on, and its exit code is ours.
func TestRecordDuration(t *testing.T) {
	test.NoRaces(t, oneRecordingWatched)
	r := newRecorder(t)
	path := filepath.Join(r.dir, "timed.isobath")
	cmd := r.command("record", "-o", path, "--duration", "200ms", "--", "sh", "-c", "cat; echo the end; exit 6")
	var out bytes.Buffer
	cmd.Stdout = &out
	stdin := r.stdin(cmd)
	begun := time.Now()
	r.until(cmd, "the program goes on")
	said := time.Since(begun)
	// The run is written already, while the program still runs.
	got, _ := r.open(path)
	if s := got.Recording.Seconds; s < 0.2 || s > said.Seconds() || got.Recording.Ended != "time up" {
		t.Errorf("recorded %.3f s of %.3f s, ended %q", s, said.Seconds(), got.Recording.Ended)
	}
	stdin.Close()
	err := cmd.Wait()
	var status *exec.ExitError
	if !errors.As(err, &status) || status.ExitCode() != 6 || out.String() != "the end\n" {
		t.Errorf("exit: %v, output %q", err, out.String())
	}
}

// A running program, with threads, is recorded and left running.
func TestRecordAttach(t *testing.T) {
	r := newRecorder(t)
	app := exec.Command(r.build("stencil", "-O2", "-fopenmp"), "64", "1000000")
	app.Env = append(os.Environ(), "OMP_NUM_THREADS=2")
	if r.nobody {
		app.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	if err := app.Start(); err != nil {
		t.Fatal(err)
	}
	defer app.Wait()
	defer app.Process.Kill()
	r.busy(app.Process.Pid)
	pid := strconv.Itoa(app.Process.Pid)
	timed := filepath.Join(r.dir, "timed.isobath")
	if out, err := r.command("record", "-o", timed, "--pid", pid, "--duration", "100ms").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got, _ := r.open(timed); got.Recording.Ended != "time up" || got.Recording.Seconds < 0.1 {
		t.Errorf("ended %q after %.3f s", got.Recording.Ended, got.Recording.Seconds)
	}
	// Ctrl-C ends a recording without a limit.
	path := filepath.Join(r.dir, "attached.isobath")
	cmd := r.start("record", "-o", path, "--rate", "2000", "--pid", pid)
	r.busy(app.Process.Pid)
	cmd.Process.Signal(syscall.SIGINT)
	if err := cmd.Wait(); err != nil {
		t.Errorf("interrupted: %v", err)
	}
	if err := app.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the program has ended: %v", err)
	}
	got, samples := r.open(path)
	if got.Recording.Ended != "interrupted" {
		t.Errorf("ended %q", got.Recording.Ended)
	}
	if out, err := r.command("record", "-o", "none.isobath", "--pid", "99999999").CombinedOutput(); err == nil || !strings.Contains(string(out), "there is no process 99999999") {
		t.Errorf("no such process: %v\n%s", err, out)
	}
	lines := counts(samples, "file")
	if n := len(counts(samples, "tid")); n < 2 || lines["stencil.c"]+lines[filepath.Join(test.Root(), "examples/record/stencil.c")] == 0 {
		t.Errorf("%d threads, files %v", n, lines)
	}
}

// busy waits until both threads of a process have used some more time of a
// processor, however long others keep it from them.
func (r *recorder) busy(pid int) {
	r.t.Helper()
	const ticks = 10 // of 10 ms
	begun := used(pid)
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		now := used(pid)
		worked := 0
		for tid, n := range now {
			if n >= begun[tid]+ticks {
				worked++
			}
		}
		if worked > 1 {
			return
		}
	}
	r.t.Fatalf("the program does not run: %v", begun)
}

// used returns the ticks of user time of each thread of a process.
func used(pid int) map[string]int {
	out := map[string]int{}
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, file := range files {
		stat, _ := os.ReadFile(file)
		_, rest, _ := strings.Cut(string(stat), ") ")
		if f := strings.Fields(rest); len(f) > 11 {
			out[file], _ = strconv.Atoi(f[11])
		}
	}
	return out
}

// A statically linked program, and a machine without a compiler, are recorded
// without the allocation log, and one sentence says so.
func TestRecordWithoutLog(t *testing.T) {
	r := newRecorder(t)
	static := r.build("matmul", "-O2", "-static")
	out, err := r.command("record", "-o", "static.isobath", "--", static, "200").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "no allocation log: matmul is linked statically") {
		t.Errorf("%v\n%s", err, out)
	}
	dynamic := r.build("matmul", "-O2")
	cmd := r.command("record", "-o", "nocc.isobath", "--", dynamic, "200")
	cmd.Env = append(cmd.Env, "PATH="+r.dir, "CC=", "TMPDIR="+r.dir)
	out, err = cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, samples := r.open(filepath.Join(r.dir, "nocc.isobath"))
	if samples.Rows() == 0 {
		t.Error("no samples")
	}
	// A release carries the library.
	if _, err := os.Stat(filepath.Join(test.Root(), "internal/record/heap/prebuilt", runtime.GOARCH+".so")); err == nil {
		if got.Recording.Heap.Allocations == 0 {
			t.Errorf("the built-in library logged nothing: %+v\n%s", got.Recording.Heap, out)
		}
		return
	}
	if got.Recording.Heap.Absent == "" || !strings.Contains(string(out), "no allocation log: ") || !strings.Contains(string(out), "apt-get install gcc") {
		t.Errorf("heap %+v\n%s", got.Recording.Heap, out)
	}
}

// What the page and the scripts read of a recording.
func TestRecordInfo(t *testing.T) {
	r := newRecorder(t)
	r.record("--rate", "4000", "--", r.build("matmul", "-O2"), "200")
	out, err := r.command("info", "out.isobath", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var info struct {
		Format    string
		Columns   []struct{ Name, Provenance string }
		Recording *run.Recording
	}
	if err := json.Unmarshal(out, &info); err != nil {
		t.Fatal(err)
	}
	provenance := map[string]string{}
	for _, c := range info.Columns {
		provenance[c.Name] = c.Provenance
	}
	if info.Format != "record" || provenance["addr"] != "derived" || provenance["interrupted"] != "measured" || info.Recording == nil || info.Recording.Machine.Kernel == "" {
		t.Errorf("%s", out)
	}
}

// Levels that are asked for are there, and everywhere said to be modelled.
func TestRecordModel(t *testing.T) {
	r := newRecorder(t)
	xml := filepath.Join(r.dir, "small.xml")
	cpus, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil || strings.TrimSpace(string(cpus)) != "0-1" {
		xml = "local" // the description below has two CPUs
	} else if err := os.WriteFile(xml, []byte(smallMachine), 0o644); err != nil {
		t.Fatal(err)
	}
	got, samples := r.record("--rate", "4000", "--model", xml, "--", r.build("chase", "-O2"), "100000", "3000000")
	level := samples.Column("level")
	if level == nil || level.Provenance != table.Modelled || samples.Column("latency") != nil {
		t.Fatalf("level %+v", level)
	}
	// The list has 6 MiB: more than any cache of the small machine.
	if by := counts(samples, "level"); xml != "local" && float64(by["Local RAM"]) < 0.9*float64(samples.Rows()) {
		t.Errorf("levels %v", by)
	}
	if m := got.Recording.Model; m == nil || m.Method == "" || !strings.Contains(strings.Join(got.Warnings, "\n"), "modelled") {
		t.Errorf("model %+v, warnings %v", m, got.Warnings)
	}
	text, err := r.command("info", "out.isobath").Output()
	if err != nil || !strings.Contains(string(text), "levels modelled for") {
		t.Errorf("%v\n%s", err, text)
	}
	for name, text := range map[string]string{"none.xml": "", "odd.xml": "<topology>"} {
		path := filepath.Join(r.dir, name)
		if text != "" {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if out, err := r.command("record", "--model", path, "-o", "x.isobath", "--", "true").CombinedOutput(); err == nil || !strings.Contains(string(out), "--model") {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// smallMachine has two CPUs with 4 KiB and 32 KiB each and 256 KiB together.
const smallMachine = `<?xml version="1.0" encoding="UTF-8"?>
<topology version="2.0">
<object type="Machine" os_index="0" cpuset="0x3" nodeset="0x1">
<object type="Package" os_index="0" cpuset="0x3" nodeset="0x1">
<object type="NUMANode" os_index="0" cpuset="0x3" nodeset="0x1" local_memory="1073741824"/>
<object type="L3Cache" cpuset="0x3" nodeset="0x1" cache_size="262144" depth="3" cache_linesize="64" cache_associativity="16" cache_type="0">
<object type="L2Cache" cpuset="0x1" nodeset="0x1" cache_size="32768" depth="2" cache_linesize="64" cache_associativity="8" cache_type="0">
<object type="L1Cache" cpuset="0x1" nodeset="0x1" cache_size="4096" depth="1" cache_linesize="64" cache_associativity="8" cache_type="1">
<object type="Core" os_index="0" cpuset="0x1" nodeset="0x1"><object type="PU" os_index="0" cpuset="0x1" nodeset="0x1"/></object>
</object></object>
<object type="L2Cache" cpuset="0x2" nodeset="0x1" cache_size="32768" depth="2" cache_linesize="64" cache_associativity="8" cache_type="0">
<object type="L1Cache" cpuset="0x2" nodeset="0x1" cache_size="4096" depth="1" cache_linesize="64" cache_associativity="8" cache_type="1">
<object type="Core" os_index="1" cpuset="0x2" nodeset="0x1"><object type="PU" os_index="1" cpuset="0x2" nodeset="0x1"/></object>
</object></object>
</object></object></object>
</topology>
`

func TestRecordUsage(t *testing.T) {
	r := newRecorder(t)
	for _, rate := range []string{"0", "-1", "100001"} { // the limits are named
		cmd := r.command("record", "--rate", rate, "-o", "rate.isobath", "--", "sh", "-c", "echo ran")
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "--rate "+rate+": want 1 to 100000 samples a second") || strings.Contains(string(out), "ran\n") {
			t.Errorf("--rate %s: %v\n%s", rate, err, out)
		}
	}
	for _, args := range [][]string{
		{"record"},
		{"record", "--mode", "magic", "--", "true"},
		{"record", "--rate", "10", "--period", "10", "--", "true"},
		{"record", "--pid", "1", "--", "true"},
		{"record", "--cpu", "x", "--", "true"},
		{"record", "--refs", "--mpi", "--", "true"},
		{"record", "--refs", "--rate", "10", "--", "true"},
		{"record", "--mpi", "--model", "local", "--", "true"},
		{"record", "--limit", "10", "--", "true"},
	} {
		err := r.command(args...).Run()
		var status *exec.ExitError
		if !errors.As(err, &status) || status.ExitCode() != 2 {
			t.Errorf("%v: %v, want exit code 2", args, err)
		}
	}
}

// What is missing is said with what would bring it, and what the recorder itself uses
// is no object of the program.
func TestRecordSaysWhatIsMissing(t *testing.T) {
	r := newRecorder(t)
	program := r.build("chase", "-O2", "-s")
	out, err := r.command("record", "--children=false", "-o", "shell.isobath", "--", "sh", "-c", "true").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "only sh itself is recorded") {
		t.Errorf("a shell without its programs: %v\n%s", err, out)
	}
	got, samples := r.record("--rate", "4000", "--heap-threshold", "1", "--", program, "100000", "3000000")
	if note := strings.Join(got.Warnings, "\n"); strings.Count(note, "no source lines") != 1 || !strings.Contains(note, "build with -g") {
		t.Errorf("notes of a program without debug information: %s", note)
	}
	out, err = r.command("record", "-o", "static.isobath", "--", r.build("matmul", "-O2", "-s", "-static"), "200").CombinedOutput() // libraries may have lines
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err = r.command("report", "static.isobath", "--by", "line").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "with -g") || strings.Contains(string(out), "did you mean") {
		t.Errorf("lines that are not there: %v\n%s", err, out)
	}
	for name := range counts(samples, "symbol") {
		if strings.Contains(name, "heap.") {
			t.Errorf("the log of allocations is the object %q", name)
		}
	}
	out, err = r.command("insights", "out.isobath").CombinedOutput()
	if err != nil || strings.Contains(strings.ToLower(string(out)), "idle") {
		t.Errorf("a serial program on a machine with more cores: %v\n%s", err, out)
	}
}

// One run per rank, merged.
func TestRecordRanks(t *testing.T) {
	r := newRecorder(t)
	program := r.build("matmul", "-O2")
	total := 0
	for _, rank := range []string{"0", "1"} {
		cmd := r.command("record", "--rate", "4000", "--", program, "200")
		cmd.Env = append(cmd.Env, "OMPI_COMM_WORLD_RANK="+rank)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		_, samples := r.open(filepath.Join(r.dir, "rank"+rank+".isobath"))
		total += samples.Rows()
	}
	if out, err := r.command("import", "rank1.isobath", "rank0.isobath", "-o", "all.isobath").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, samples := r.open(filepath.Join(r.dir, "all.isobath"))
	if all := strings.Join(got.Warnings, "\n"); strings.Contains(all, "another kind of machine") {
		t.Errorf("both ranks ran here: %s", all)
	}
	ranks := counts(samples, "rank")
	if samples.Rows() != total || ranks["0"] == 0 || ranks["1"] == 0 || len(ranks) != 2 || samples.Column("node") == nil {
		t.Errorf("%d of %d samples, ranks %v", samples.Rows(), total, ranks)
	}
	if got.Recording == nil || got.Recording.Samples != total || got.Tree == nil || len(got.SourceFiles) == 0 {
		t.Errorf("recording %+v", got.Recording)
	}
}

// A full disk is found before the program runs, or costs the place of the run, and
// never the program's exit code.
func TestRecordDiskFull(t *testing.T) {
	test.NoRaces(t, oneRecordingWatched)
	r := newRecorder(t)
	mount := func(size string) string {
		dir := t.TempDir()
		os.Chmod(filepath.Dir(dir), 0o755)
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=777,size="+size); err != nil {
			t.Skipf("a small file system cannot be made here: %v", err)
		}
		t.Cleanup(func() { syscall.Unmount(dir, 0) })
		return dir
	}
	small := mount("1m")
	out, err := r.command("record", "-o", filepath.Join(small, "a.isobath"), "--", "sh", "-c", "echo ran; exit 3").CombinedOutput()
	var status *exec.ExitError
	if !errors.As(err, &status) || status.ExitCode() != 1 || strings.Contains(string(out), "ran\n") || !strings.Contains(string(out), "no room") {
		t.Errorf("no room at the start: %v\n%s", err, out)
	}
	full := mount("5m")
	busy := "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done; "
	fill := "head -c 9000000 /dev/zero >" + filepath.Join(full, "filler") + " 2>/dev/null; "
	cmd := r.command("record", "--heap=false", "--rate", "2000", "-o", filepath.Join(full, "a.isobath"), "--", "sh", "-c", busy+fill+busy+"exit 3")
	out, err = cmd.CombinedOutput()
	if !errors.As(err, &status) || status.ExitCode() != 3 {
		t.Errorf("the disk fills: %v\n%s", err, out)
	}
	// The room that was kept free has place for the run. What was taken before the disk
	// was full is there, and if that is not all, it says so.
	got, samples := r.open(filepath.Join(full, "a.isobath"))
	missing := strings.Contains(string(out), "samples are missing at the end")
	if samples.Rows() < 500 || got.Recording.Status != 3 || !missing && samples.Rows() < 1000 {
		t.Errorf("%d samples, status %d, some are missing: %v\n%s", samples.Rows(), got.Recording.Status, missing, out)
	}
	left, _ := filepath.Glob(filepath.Join(full, ".isobath-room-*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// The recorder alone gets SIGINT, as from another terminal: the program gets it too.
func TestRecordInterruptedAlone(t *testing.T) {
	test.NoRaces(t, oneRecordingWatched)
	r := newRecorder(t)
	path := filepath.Join(r.dir, "alone.isobath")
	cmd := r.command("record", "-o", path, "--", "sh", "-c", "trap 'exit 9' INT; echo ready >&2; while :; do :; done")
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid = true // no terminal
	r.until(cmd, "ready")
	cmd.Process.Signal(syscall.SIGINT)
	err := cmd.Wait()
	var status *exec.ExitError
	if !errors.As(err, &status) || status.ExitCode() != 9 {
		t.Errorf("exit: %v", err)
	}
	if got, _ := r.open(path); got.Recording.Ended != "interrupted" {
		t.Errorf("ended %q", got.Recording.Ended)
	}
}

// A program for which Ctrl-C is ignored, as for what a script runs behind it, has it
// ignored when it is recorded.
func TestRecordIgnoredInterrupt(t *testing.T) {
	if testing.Short() {
		t.Skip("records a living program")
	}
	r := newRecorder(t)
	const program = `sh -c 'kill -INT $$; echo went on; exit 3'`
	for _, kind := range []string{"", r.isobath + " record -o ignored.isobath -- "} {
		cmd := r.command()
		cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", "trap '' INT; exec " + kind + program}
		var out bytes.Buffer
		cmd.Stdout = &out
		_ = cmd.Run()
		if out.String() != "went on\n" || cmd.ProcessState.ExitCode() != 3 {
			t.Errorf("%q: it printed %q, %v", kind, out.String(), cmd.ProcessState)
		}
	}
}

// A recorder that is killed leaves what it had up to the last second: with names of
// its objects, and as a run once it is imported.
func TestRecorderKilled(t *testing.T) {
	r := newRecorder(t)
	own := filepath.Join(r.dir, "tmp") // other recorders of this machine clean up in theirs
	if err := os.Mkdir(own, 0o777); err != nil {
		t.Fatal(err)
	}
	os.Chmod(own, 0o777)
	path, program := filepath.Join(r.dir, "dead.isobath"), r.build("chase", "-O2")
	cmd := r.command("record", "-o", path, "--rate", "2000", "--", program, "200000", "40000000000")
	cmd.Env = append(cmd.Env, "TMPDIR="+own)
	r.until(cmd, "recording by")
	rows := filepath.Join(path+".part", "rows")
	for size, begin := int64(0), time.Now(); size < 40_000; time.Sleep(20 * time.Millisecond) {
		if info, err := os.Stat(rows); err == nil {
			size = info.Size()
		}
		if time.Since(begin) > 2*time.Minute {
			t.Fatalf("%d bytes of samples", size)
		}
	}
	// The program outlives its recorder, so the test ends it. Whichever thread of the
	// recorder started it is its parent.
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", cmd.Process.Pid))
	var children []string
	for _, file := range threads {
		text, _ := os.ReadFile(file)
		children = append(children, strings.Fields(string(text))...)
	}
	cmd.Process.Kill()
	killed := time.Now()
	cmd.Wait()
	if len(children) == 0 {
		t.Error("the recorder has no program")
	}
	for _, child := range children {
		pid, _ := strconv.Atoi(child)
		syscall.Kill(pid, syscall.SIGKILL)
	}
	saved := filepath.Join(r.dir, "saved.isobath")
	imported := r.command("import", path, "-o", saved)
	imported.Env = append(imported.Env, "TMPDIR="+own)
	if out, err := imported.CombinedOutput(); err != nil || !strings.Contains(string(out), "never finished") {
		t.Fatalf("%v\n%s", err, out)
	}
	got, samples := r.open(saved)
	by := counts(samples, "symbol")
	if samples.Rows() < 200 || float64(by["nodes"]) < 0.5*float64(samples.Rows()) || samples.Column("stack") == nil && samples.Column("caller") == nil {
		t.Errorf("%d samples: %v", samples.Rows(), by)
	}
	last := got.Recording.ClockOffset + int64(samples.Column("time").Base) + int64(samples.Column("time").Float(samples.Rows()-1))
	if missing := killed.Sub(time.Unix(0, last)); missing > time.Second {
		t.Errorf("the last %v before the recorder was killed are missing", missing)
	}
	again, err := r.command("record", "-o", path, "--", "true").CombinedOutput()
	if err == nil || !strings.Contains(string(again), "never finished") {
		t.Errorf("a recording of that name: %v\n%s", err, again)
	}
	if out, err := r.command("record", "-o", path, "--force", "--", "true").CombinedOutput(); err != nil {
		t.Errorf("--force: %v\n%s", err, out)
	}
	if _, err := os.Stat(path + ".part"); err == nil {
		t.Error("the unfinished recording is still there")
	}
}
