package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/isobath/isobath/internal/base/test"
)

// longEnough is when a command that does not end counts as one that never does.
const longEnough = time.Minute

// stalled starts a command whose input has said something and then waits, and
// returns it when it has read that.
func stalled(t *testing.T, isobath, tmp, said string, args ...string) *exec.Cmd {
	t.Helper()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); out.Close() }) // the writer holds the pipe open until the end
	cmd := exec.Command(isobath, args...)
	cmd.Stdin, cmd.Env = in, append(os.Environ(), "TMPDIR="+tmp)
	var told strings.Builder
	cmd.Stderr = &told
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.WriteString(said); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(longEnough); ; time.Sleep(time.Millisecond) {
		left, err := unix.IoctlGetInt(int(in.Fd()), unix.TIOCINQ)
		if err != nil || time.Now().After(end) {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			t.Fatalf("isobath %s read nothing: %d bytes are left, %v: %s", strings.Join(args, " "), left, err, told.String())
		}
		if left == 0 {
			return cmd
		}
	}
}

// ends waits for a command, and kills it if it does not end.
func ends(cmd *exec.Cmd) (ended bool) {
	timer := time.AfterFunc(longEnough, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait()
	return timer.Stop()
}

// TestStalledInput: one signal ends every verb that reads standard input, although
// whoever writes to it holds the pipe open and says nothing; so does a second one
// at once. Nothing is left behind.
func TestStalledInput(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	if testing.Short() {
		t.Skip("starts programs that wait")
	}
	isobath, err := exec.LookPath("isobath")
	if err != nil {
		t.Fatal(err)
	}
	references := strings.Repeat(" L 1ffeffe7e,8\nI  04001000,3\n", 8000) // beyond all heads and buffers but not the pipe's
	for _, tt := range []struct{ name, said, verbs string }{
		{"nothing was said", "I", "cycles loops reuse sharing advise whatif info report open import"},
		{"in the middle", references[:60_000], "cycles loops reuse sharing advise"},
	} {
		for verb := range strings.FieldsSeq(tt.verbs) {
			for _, signals := range []int{1, 2} {
				tmp := t.TempDir()
				args := []string{verb, "-"}
				switch verb {
				case "open":
					args = append(args, "--no-browser", "--port", "0")
				case "import":
					args = append(args, "-o", filepath.Join(tmp, "out.isobath"))
				}
				cmd := stalled(t, isobath, tmp, tt.said, args...)
				for range signals {
					_ = cmd.Process.Signal(syscall.SIGINT)
				}
				if !ends(cmd) {
					t.Errorf("%s, isobath %s: %d signals did not end it", tt.name, strings.Join(args, " "), signals)
				}
				if left, _ := os.ReadDir(tmp); signals == 1 && len(left) > 0 {
					t.Errorf("%s, isobath %s left %v", tt.name, strings.Join(args, " "), left)
				}
			}
		}
	}
}

// TestPipesAsFiles: a pipe in place of a file, and one in a folder of a stranger, is
// named at once although nobody writes to it; so is a device.
func TestPipesAsFiles(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	isobath, err := exec.LookPath("isobath")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	pipe := func(name string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(in(name)), 0o777); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(in(name))
		if err := syscall.Mkfifo(in(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command(isobath, "import", "demo", "-o", in("run.isobath")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.CopyFS(in("trace"), os.DirFS(test.Fixture(t, "otf2/ring16"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pipe", "mitos/data/samples.csv", "mitos/hardware.xml", "trace/traces.def", "run.isobath/samples.arrow", "perf/data", "loop/x"} {
		pipe(name)
	}
	if err := os.Symlink("loop", in("loop/loop")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ args, want string }{
		{"info pipe", "is a pipe, which can be read only once"}, {"open pipe --no-browser --port 0", "is a pipe"}, {"steps pipe", "is a pipe"}, {"cycles pipe", "is a pipe"}, {"loops pipe", "is a pipe"},
		{"reuse pipe", "is a pipe"}, {"mesh --mesh pipe run.isobath", "is a pipe"}, {"topology pipe", "is a pipe"}, {"import pipe -o out.isobath", "is a pipe"}, {"info mitos", "is a pipe"},
		{"steps trace/traces.otf2", "is a pipe"}, {"report run.isobath", "is a pipe"}, {"info perf", ""}, {"info loop", ""}, {"info loop/loop/loop", ""},
		{"info /dev/zero", "is a device"}, {"cycles /dev/zero", "is a device"}, {"report /dev/tty0", ""}, {"info /dev/null", "is a device"},
	} {
		cmd := exec.Command(isobath, strings.Fields(tt.args)...)
		cmd.Dir = dir
		var said strings.Builder
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		switch ended := ends(cmd); {
		case !ended:
			t.Errorf("isobath %s does not end", tt.args)
		case cmd.ProcessState.ExitCode() != 1 || !strings.Contains(said.String(), tt.want) || strings.Count(said.String(), "\n") != 1:
			t.Errorf("isobath %s: exit %d, %q, want one sentence with %q", tt.args, cmd.ProcessState.ExitCode(), said.String(), tt.want)
		}
	}
}
