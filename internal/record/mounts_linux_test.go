package record

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/record/pmu"
)

// A process that sees another program under a path than we do, as in a container, has
// the names of its own.
func TestOtherMounts(t *testing.T) {
	dir := t.TempDir()
	build := func(name, function string) string {
		source, program := filepath.Join(dir, name+".c"), filepath.Join(dir, name)
		text := "static volatile int a[4096];\n" + `__attribute__((noinline)) int ` + function + `(int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i * 7 & 4095]; return s; }
int main(void) { for (;;) ` + function + "(1000000); }\n"
		if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(test.Peer(t, "gcc", "gcc"), "-O1", "-g", "-o", program, source).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return program
	}
	outer, inner := build("outer", "works_outside"), build("inner", "works_inside")
	cmd := exec.Command("sh", "-c", `mount --bind "$1" "$0" && exec "$0"`, outer, inner)
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	if err := cmd.Start(); err != nil {
		t.Skipf("this machine lets us make no other mounts: %v", err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	runs := func() bool { // the program, and no shell any more
		name, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(cmd.Process.Pid), "comm"))
		return err == nil && string(name) == "outer\n"
	}
	for begin := time.Now(); !runs(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begin) > 20*time.Second {
			t.Skip("this machine lets us mount nothing")
		}
	}
	got, err := Record(t.Context(), &Options{PID: cmd.Process.Pid, Mode: Timer, Duration: 300 * time.Millisecond, Say: func(string) {}, Sampling: pmu.Options{Rate: 2000}})
	if err != nil {
		t.Skipf("this machine does not let us sample: %v", err)
	}
	cmd.Process.Kill()
	if in := shareOf(t, got.Run, "function", "works_inside"); in < 0.9 {
		t.Errorf("%.0f %% of %d samples are in works_inside, %.0f %% in works_outside", 100*in, got.Run.Contents[0].Rows(), 100*shareOf(t, got.Run, "function", "works_outside"))
	}
}
