package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/isobath/isobath/internal/code/symbol"
)

// Programs that make code while they run say what they made in two ways, both
// agreed with perf: a list of functions /tmp/perf-PID.map, and a jitdump, a file
// jit-PID.dump that the program maps once, so that a recorder sees where it is.

// perfMapFolder is where perf maps lie, whatever TMPDIR says.
const perfMapFolder = "/tmp"

// generated reads the names of generated code of all sampled processes. The
// sentences say which files could not be used.
func (c *collector) generated(started time.Time) (*symbol.Generated, []string) {
	g, told := &symbol.Generated{}, []string(nil)
	take := func(pid int32, path string, read func(int, io.Reader) error) {
		switch err := readGenerated(int(pid), path, c.oldest(pid, started), read); {
		case err == nil || errors.Is(err, fs.ErrNotExist):
		default:
			told = append(told, fmt.Sprintf("names of generated code in %s: %v", path, err))
		}
	}
	for _, f := range c.scripts.frames {
		g.AddInterpreted(f)
	}
	for _, pid := range c.sampled() {
		take(pid, filepath.Join(perfMapFolder, fmt.Sprintf("perf-%d.map", pid)), g.ReadPerfMap)
		if dump := c.dumps[pid]; dump != "" {
			take(pid, dump, g.ReadJitdump)
		}
	}
	return g, told
}

// sampled lists the processes that have samples.
func (c *collector) sampled() []int32 {
	seen := map[int32]bool{}
	var out []int32
	for i := range c.rows {
		if pid := c.rows[i].pid; !seen[pid] {
			seen[pid] = true
			out = append(out, pid)
		}
	}
	slices.Sort(out)
	return out
}

// oldest is the time before which a process wrote nothing: a file that is older is
// of another process with the same number. A process that ran before the recording
// began may have written at any time.
func (c *collector) oldest(pid int32, started time.Time) time.Time {
	for _, b := range c.births {
		if b.pid == pid {
			// File times are those of the last tick of the kernel's clock.
			return started.Add(-time.Second)
		}
	}
	return time.Time{}
}

// readGenerated opens a file of names. The folder is everybody's: what is not a
// plain file of the process's owner or root may lie.
func readGenerated(pid int, path string, oldest time.Time, read func(int, io.Reader) error) error {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return errors.New("not a plain file")
	case ok && int(st.Uid) != os.Geteuid() && st.Uid != 0:
		return errors.New("it belongs to another user")
	case info.ModTime().Before(oldest):
		return errors.New("it is older than the process, so another one wrote it")
	}
	return read(pid, f)
}

// jitdumpOf reports whether a mapped file is the jitdump of a process.
func jitdumpOf(path string) bool {
	number, ok := strings.CutPrefix(filepath.Base(path), "jit-")
	number, dump := strings.CutSuffix(number, ".dump")
	_, err := strconv.Atoi(number)
	return ok && dump && err == nil && filepath.IsAbs(path)
}
