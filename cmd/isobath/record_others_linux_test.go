package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/samples"
)

// Who may not sample the processes of others, or the kernel, is told which right is
// missing: the first before anything is written, the second while the rest is
// recorded.
func TestRecordOthersRefused(t *testing.T) {
	r := newRecorder(t)
	level, _ := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	if n, _ := strconv.Atoi(strings.TrimSpace(string(level))); n < 2 || os.Geteuid() != 0 {
		t.Skipf("kernel.perf_event_paranoid is %d: everybody may", n)
	}
	for _, args := range [][]string{{"--all"}, {"--cgroup", "/"}} {
		path := filepath.Join(r.dir, "others.isobath")
		out, err := r.command(append([]string{"record", "-o", path, "--duration", "10ms"}, args...)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "CAP_PERFMON") || !strings.Contains(string(out), "kernel.perf_event_paranoid=0") {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
		if left, _ := filepath.Glob(path + "*"); len(left) > 0 {
			t.Errorf("%v left %v", args, left)
		}
	}
	path := filepath.Join(r.dir, "user.isobath")
	out, err := r.command("record", "-o", path, "--kernel", "--rate", "2000", "--", r.build("matmul", "-O2"), "256").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "the kernel is not sampled") || !strings.Contains(string(out), "kernel.perf_event_paranoid=1") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, rows := r.open(path); rows.Rows() == 0 || rows.Column(samples.Kernel) != nil {
		t.Errorf("%d samples, or some in the kernel", rows.Rows())
	}
}

// The processes of a control group are recorded with the names of their code and
// data, and no others.
func TestRecordControlGroup(t *testing.T) {
	r := newRecorder(t)
	r.nobody = false
	group := ""
	for _, root := range []string{"/sys/fs/cgroup/unified", "/sys/fs/cgroup", "/sys/fs/cgroup/perf_event"} {
		folder := filepath.Join(root, "isobath-"+filepath.Base(r.dir))
		if _, err := os.Stat(filepath.Join(root, "cgroup.procs")); err == nil && os.Mkdir(folder, 0o755) == nil {
			group = folder
			t.Cleanup(func() { os.Remove(folder) })
			break
		}
	}
	if group == "" {
		t.Skip("this machine lets us make no control group")
	}
	other := r.running()
	member := r.running() // builds the program anew, so that the file of the other is gone
	t.Cleanup(func() {    // before the group is removed
		member.Process.Kill()
		member.Wait()
	})
	if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(member.Process.Pid)), 0); err != nil {
		t.Fatal(err)
	}
	got, rows := r.record("--cgroup", filepath.Base(group), "--duration", "700ms", "--rate", "2000")
	if by := counts(rows, "pid"); by[strconv.Itoa(member.Process.Pid)] != rows.Rows() || rows.Rows() < 20 {
		t.Errorf("samples by process: %v; the member is %d, another %d", by, member.Process.Pid, other.Process.Pid)
	}
	if by := counts(rows, "function"); by["main"] < rows.Rows()/2 {
		t.Errorf("samples by function: %v", by)
	}
	if got.Recording.Group != filepath.Base(group) || got.Recording.All {
		t.Errorf("recording %+v", got.Recording)
	}
}
