package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/isobath/isobath/internal/data/run"
)

// blocksOf is how many bytes a file takes on the disk, 0 if there is none.
func blocksOf(name string) int64 {
	var st syscall.Stat_t
	if syscall.Stat(name, &st) != nil {
		return 0
	}
	return st.Blocks * 512
}

// lines starts a command and returns what it says, line by line.
func (r *recorder) lines(cmd *exec.Cmd) *bufio.Scanner {
	r.t.Helper()
	stderr, err := cmd.StderrPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { cmd.Process.Kill() })
	return bufio.NewScanner(stderr)
}

// upTo reads until a line has a text, and returns that.
func upTo(t *testing.T, lines *bufio.Scanner, text string) string {
	t.Helper()
	for lines.Scan() {
		if strings.Contains(lines.Text(), text) {
			return lines.Text()
		}
	}
	t.Fatalf("it never said %q", text)
	return ""
}

// spanOf checks that a run has the last second, and all of it with names.
func (r *recorder) spanOf(path string) *run.Last {
	r.t.Helper()
	got, samples := r.open(path)
	l := got.Recording.Last
	if l == nil || l.Asked != 1 || l.To-l.From > 1.000001 || l.From < 1 {
		r.t.Fatalf("%s: last %+v", path, l)
	}
	at := samples.Column("time")
	if held := at.Float(samples.Rows()-1) - at.Float(0); held > 1e9 || held < 0.5e9 {
		r.t.Errorf("%s: samples of %.3f s", path, held/1e9)
	}
	if by := counts(samples, "symbol"); float64(by["nodes"]) < 0.5*float64(samples.Rows()) {
		r.t.Errorf("%s: %d samples: %v", path, samples.Rows(), by)
	}
	if all := strings.Join(got.Warnings, "\n"); !strings.Contains(all, "as --last said") {
		r.t.Errorf("%s: warnings %q", path, all)
	}
	return l
}

// A recording that keeps its last second takes the place of that, writes it at
// SIGUSR1 while it goes on, which the program does not notice, and at Ctrl-C.
func TestRecordLast(t *testing.T) {
	r := newRecorder(t)
	path, program := filepath.Join(r.dir, "end.isobath"), r.build("chase", "-O2")
	cmd := r.command("record", "-o", path, "--last", "1s", "--rate", "2000", "--", program, "200000", "40000000000")
	cmd.SysProcAttr = own(cmd.SysProcAttr)
	said := r.lines(cmd)
	upTo(t, said, "kill -USR1 "+strconv.Itoa(cmd.Process.Pid))
	upTo(t, said, "recording by")
	rows := filepath.Join(path+".part", "rows")
	most, length := int64(0), int64(0)
	for begin := time.Now(); length < 1_200_000; time.Sleep(50 * time.Millisecond) {
		if info, err := os.Stat(rows); err == nil {
			length = info.Size()
		}
		most = max(most, blocksOf(rows))
		if time.Since(begin) > 2*time.Minute {
			t.Fatalf("%d bytes of samples", length)
		}
	}
	if most > 900_000 { // a second and a quarter of 2000 samples, and what is reserved ahead
		t.Errorf("%d bytes of samples took up to %d on the disk", length, most)
	}
	cmd.Process.Signal(syscall.SIGUSR1)
	upTo(t, said, "end-1.isobath")
	first := r.spanOf(filepath.Join(r.dir, "end-1.isobath"))
	time.Sleep(1200 * time.Millisecond)
	cmd.Process.Signal(syscall.SIGINT)
	upTo(t, said, "end.isobath: ")
	cmd.Wait()
	if second := r.spanOf(path); second.From < first.To {
		t.Errorf("%+v and later %+v", first, second)
	}
	if _, err := os.Stat(path + ".part"); err == nil {
		t.Error("what was kept while it ran is still there")
	}
}

// own gives a command a session of its own: no terminal sends its signals to the
// program too.
func own(attr *syscall.SysProcAttr) *syscall.SysProcAttr {
	if attr == nil {
		attr = &syscall.SysProcAttr{}
	}
	attr.Setsid = true
	return attr
}

// running is a program that is there before its recorder, and ends with the test.
func (r *recorder) running() *exec.Cmd {
	r.t.Helper()
	app := exec.Command(r.build("chase", "-O2"), "200000", "40000000000")
	app.SysProcAttr = r.command().SysProcAttr
	if err := app.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		app.Process.Kill()
		app.Wait()
	})
	return app
}

// A process that was there before is recorded in the same way, and goes on.
func TestRecordLastAttached(t *testing.T) {
	r := newRecorder(t)
	app := r.running()
	path := filepath.Join(r.dir, "there.isobath")
	cmd := r.command("record", "-o", path, "--last", "500ms", "--pid", strconv.Itoa(app.Process.Pid), "--rate", "2000")
	said := r.lines(cmd)
	upTo(t, said, "recording by")
	time.Sleep(1500 * time.Millisecond)
	for _, name := range []string{"there-1.isobath", "there-2.isobath"} {
		cmd.Process.Signal(syscall.SIGUSR1)
		upTo(t, said, name)
		got, samples := r.open(filepath.Join(r.dir, name))
		at := samples.Column("time")
		if held := at.Float(samples.Rows()-1) - at.Float(0); got.Recording.Ended != "still running" || held > 0.5e9 || held < 0.2e9 {
			t.Errorf("%s: %q, %.3f s", name, got.Recording.Ended, held/1e9)
		}
	}
	cmd.Process.Signal(syscall.SIGINT)
	upTo(t, said, "there.isobath: ")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if err := app.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the process has ended: %v", err)
	}
}

// terminal opens a new one: what is written to the first file is typed, and the
// second is what a program reads.
func terminal(t *testing.T) (keyboard, program *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { keyboard.Close() })
	if err := unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return keyboard, program
}

// Enter in the terminal of the recorder writes what is kept; other keys do not.
func TestRecordLastAtEnter(t *testing.T) {
	r := newRecorder(t)
	app := r.running()
	keyboard, tty := terminal(t)
	cmd := r.command("record", "-o", filepath.Join(r.dir, "typed.isobath"), "--last", "500ms", "--pid", strconv.Itoa(app.Process.Pid))
	cmd.Stdin, cmd.SysProcAttr = tty, own(cmd.SysProcAttr)
	cmd.SysProcAttr.Setctty = true // file 0
	said := r.lines(cmd)
	upTo(t, said, "Enter here or 'kill -USR1 ")
	upTo(t, said, "recording by")
	time.Sleep(700 * time.Millisecond)
	for _, step := range []struct{ keys, name string }{{"\n", "typed-1.isobath"}, {"write it\n", "typed-2.isobath"}} {
		if _, err := keyboard.WriteString(step.keys); err != nil {
			t.Fatal(err)
		}
		upTo(t, said, step.name)
	}
	cmd.Process.Signal(syscall.SIGINT)
	upTo(t, said, "typed.isobath: ")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if exists(filepath.Join(r.dir, "typed-3.isobath")) {
		t.Error("there is a third")
	}
}
