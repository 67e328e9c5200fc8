package sampler

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/record/pmu"
)

// whom is for whom events are opened: threads, or whoever runs on a CPU, all of
// them or those of a control group.
type whom struct {
	ids   []int // threads; -1 is everybody; of a group the descriptor of its folder
	group string
	wide  bool
	close func()
}

// threadsOf are the threads of a process; of one that has not begun its only one.
func threadsOf(tids ...int) *whom { return &whom{ids: tids, close: func() {}} }

// chosen is whom the options name.
func chosen(opt *Options) (*whom, error) {
	switch {
	case opt.All:
		return &whom{ids: []int{-1}, wide: true, close: func() {}}, nil
	case opt.Group != "":
		return openGroup(opt.Group)
	}
	tids, err := threads(opt.PID)
	if err != nil {
		return nil, err
	}
	return threadsOf(tids...), nil
}

// flags are those of perf_event_open.
func (w *whom) flags() int {
	if w.group != "" {
		return unix.PERF_FLAG_FD_CLOEXEC | unix.PERF_FLAG_PID_CGROUP
	}
	return unix.PERF_FLAG_FD_CLOEXEC
}

// processes are those that are there now, of all or of a group.
func (w *whom) processes() []int {
	if w.group != "" {
		return members(w.group)
	}
	all, _ := numbered("/proc")
	return all
}

// ended reports whether nobody is left who could be sampled.
func (w *whom) ended(opt *Options) bool {
	switch {
	case w.group != "":
		_, err := os.Stat(w.group)
		return errors.Is(err, fs.ErrNotExist)
	case w.wide:
		return false
	}
	return unix.Kill(opt.PID, 0) == unix.ESRCH
}

// refusal explains why an event could not be opened for these.
func (w *whom) refusal(e *pmu.Event, err error) error {
	name, forbidden := e.Name, errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM)
	switch {
	case e.Attr.Flags&perfevent.FlagExcludeKernel == 0 && forbidden && !w.wide:
		return fmt.Errorf("%s: the kernel is not sampled: that needs kernel.perf_event_paranoid of at most 1 (it is %d: 'sudo sysctl kernel.perf_event_paranoid=1') or the capability CAP_PERFMON: %w", name, paranoid(), err)
	case w.wide && forbidden:
		return fmt.Errorf("%s: to sample the processes of others needs kernel.perf_event_paranoid of at most 0 (it is %d: 'sudo sysctl kernel.perf_event_paranoid=0') or the capability CAP_PERFMON (as root, or 'sudo setcap cap_perfmon,cap_sys_ptrace+ep' of the program isobath); a process of your own can be recorded with --pid: %w", name, paranoid(), err)
	case w.group != "" && (errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EBADF)):
		return fmt.Errorf("%s: %s belongs to a hierarchy without perf events; name a group below %s: %w", name, w.group, strings.Join(groupRoots(), " or "), err)
	}
	return refusal(name, err, paranoid())
}

// openGroup opens the folder of a control group.
func openGroup(name string) (*whom, error) {
	folder, err := groupFolder(name)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Open(folder, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("control group %s: %w", folder, err)
	}
	return &whom{ids: []int{fd}, group: folder, wide: true, close: func() { _ = unix.Close(fd) }}, nil
}

// processesFile lists the processes of a control group; every group has one.
const processesFile = "cgroup.procs"

// groupFolder finds a control group: by its folder, or by its name below the place
// of all groups, as /proc/PID/cgroup and systemd say it.
func groupFolder(name string) (string, error) {
	tried := []string{name}
	for _, root := range groupRoots() {
		tried = append(tried, filepath.Join(root, name))
	}
	for _, folder := range tried {
		if _, err := os.Stat(filepath.Join(folder, processesFile)); err == nil {
			return filepath.Abs(folder)
		}
	}
	return "", fmt.Errorf("there is no control group %s (looked at %s); /proc/PID/cgroup says that of a process", name, strings.Join(tried, ", "))
}

// groupRoots are where the groups that perf events know are mounted: the unified
// hierarchy, or in the older layout that of perf events.
func groupRoots() []string {
	body, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	return parseGroupRoots(string(body))
}

// parseGroupRoots reads mountinfo: … mount-point options … - type source options.
func parseGroupRoots(mounts string) []string {
	var out []string
	for line := range strings.Lines(mounts) {
		place, what, ok := strings.Cut(line, " - ")
		fields, of := strings.Fields(place), strings.Fields(what)
		if !ok || len(fields) < 5 || len(of) < 3 {
			continue
		}
		if of[0] == "cgroup2" || of[0] == "cgroup" && slices.Contains(strings.Split(of[2], ","), "perf_event") {
			out = append(out, fields[4])
		}
	}
	return out
}

// members are the processes of a group and of those below it.
func members(folder string) []int {
	var out []int
	_ = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return nil // a group that has ended meanwhile
		}
		body, err := os.ReadFile(filepath.Join(path, processesFile))
		if err != nil {
			return nil
		}
		for _, text := range strings.Fields(string(body)) {
			if pid, err := strconv.Atoi(text); err == nil && pid > 0 { // 0 is one of another namespace
				out = append(out, pid)
			}
		}
		return nil
	})
	return out
}

// threads returns the threads of a process.
func threads(pid int) ([]int, error) {
	tids, err := numbered(fmt.Sprintf("/proc/%d/task", pid))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no process %d", pid)
	case err != nil:
		return nil, fmt.Errorf("process %d: %w", pid, err)
	}
	return tids, nil
}

// numbered lists the entries of a folder whose names are numbers.
func numbered(folder string) ([]int, error) {
	entries, err := os.ReadDir(folder)
	var out []int
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil {
			out = append(out, n)
		}
	}
	return out, err
}
