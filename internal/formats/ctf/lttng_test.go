package ctf

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/formats/otf2"
)

// recordLTTng traces a program of two threads with LTTng.
func recordLTTng(t *testing.T) string {
	t.Helper()
	lttng, daemon := test.Peer(t, "lttng", "lttng-tools"), test.Peer(t, "lttng-sessiond", "lttng-tools")
	folder := t.TempDir()
	home, program, out := filepath.Join(folder, "home"), filepath.Join(folder, "traced"), filepath.Join(folder, "session")
	if err := os.Mkdir(home, 0o777); err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) error {
		cmd := exec.Command(name, args...)
		cmd.Env = append(os.Environ(), "LTTNG_HOME="+home)
		if name == program {
			cmd.Env = append(cmd.Env, "LD_PRELOAD=liblttng-ust-cyg-profile.so", "LTTNG_UST_REGISTER_TIMEOUT=20000")
		}
		if text, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s %s: %w: %s", filepath.Base(name), strings.Join(args, " "), err, text)
		}
		return nil
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(run(test.Peer(t, "gcc", "gcc"), "-O1", "-finstrument-functions", "-Itestdata/traced", "-o", program, "testdata/traced/main.c", "-llttng-ust", "-ldl", "-lpthread"))
	pidFile := filepath.Join(home, "pid")
	// A daemon of the system, which may run already, does as well.
	if run(daemon, "--daemonize", "--no-kernel", "--pidfile="+pidFile) == nil {
		t.Cleanup(func() {
			text, err := os.ReadFile(pidFile)
			if err != nil {
				t.Error(err)
				return
			}
			if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && pid > 1 {
				_ = syscall.Kill(pid, syscall.SIGTERM)
			}
		})
	}
	session := fmt.Sprintf("isobath-%d", os.Getpid())
	must(run(lttng, "create", session, "--output="+out))
	for _, args := range [][]string{{"enable-event", "-s", session, "-u", "lttng_ust_cyg_profile:*,mpi:*"}, {"add-context", "-s", session, "-u", "-t", "vpid", "-t", "vtid", "-t", "procname"}, {"start", session}} {
		must(run(lttng, args...))
	}
	err := run(program)
	must(run(lttng, "destroy", session))
	must(err)
	return out
}

// TestLTTng reads what LTTng wrote just now: thread by thread the calls that
// babeltrace2 prints, to the nanosecond.
func TestLTTng(t *testing.T) {
	folder := recordLTTng(t)
	text, err := exec.Command(test.Peer(t, "babeltrace2", "babeltrace2"), "--clock-cycles", folder).Output()
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`^\[(\d+)\] .* (mpi|lttng_ust_cyg_profile):(\w+)_(entry|exit): .*vtid = (\d+).*?(?:addr = 0x([0-9A-F]+).*)?\}$`)
	want, first, moments := map[string][]string{}, uint64(0), 0
	for _, l := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		m := line.FindStringSubmatch(l)
		if m == nil {
			if moments++; !strings.Contains(l, " mpi:progress: ") {
				t.Fatalf("babeltrace2 prints %s", l)
			}
			continue
		}
		at, err := strconv.ParseUint(m[1], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if first == 0 {
			first = at
		}
		name := m[3]
		if m[6] != "" {
			name = "0x" + strings.ToLower(m[6])
		}
		thread := "thread " + m[5]
		want[thread] = append(want[thread], fmt.Sprintf("%d %s %s", at-first, map[string]string{"entry": "ENTER", "exit": "LEAVE"}[m[4]], name))
	}
	a, err := open(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(want) != 2 || len(a.Defs.Locations) != 2 || moments != 110 {
		t.Fatalf("%d threads and %d moments of babeltrace2, %d threads here", len(want), moments, len(a.Defs.Locations))
	}
	if notes := strings.Join(a.Warnings.List(), "\n"); !strings.Contains(notes, "mpi:progress") || !strings.Contains(notes, "110") {
		t.Errorf("moments are not told of: %s", notes)
	}
	start := uint64(1<<64 - 1)
	got := map[string][]otf2.Event{}
	for _, l := range a.Defs.Locations {
		r, err := a.Events(l.ID)
		if err != nil {
			t.Fatal(err)
		}
		var ev otf2.Event
		for r.Next(&ev) {
			start = min(start, ev.Time)
			got[a.Defs.Text(l.Name)] = append(got[a.Defs.Text(l.Name)], ev)
		}
	}
	for thread, lines := range want {
		var have []string
		for _, ev := range got[thread] {
			have = append(have, fmt.Sprintf("%d %s %s", ev.Time-start, ev.Kind, a.Defs.Text(a.Defs.Regions[uint32(ev.F[0])].Name)))
		}
		if !slices.Equal(have, lines) {
			t.Errorf("%s: %d events, want %d: %q…, want %q…", thread, len(have), len(lines), have[:min(3, len(have))], lines[:min(3, len(lines))])
		}
	}
}
