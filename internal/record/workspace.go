package record

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/isobath/isobath/internal/base/plainfile"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/record/heap"
)

// workspace is a folder of its own for what the recorded program writes: the
// allocation log and its marks.
type workspace struct {
	dir       string
	env       []string
	threshold int64
	library   string // what is preloaded
	absent    string // why there is no allocation log
}

const workspacePrefix = "isobath-record-"

// marksVariable names the file that clients/isobath.h writes to.
const marksVariable = "ISOBATH_MARKS"

// newWorkspace makes the folder and what is preloaded.
func newWorkspace(ctx context.Context, opt *Options) *workspace {
	if len(opt.Command) == 0 {
		absent := "the process was running already"
		if opt.PID == 0 {
			absent = "the processes were not started by isobath"
		}
		return &workspace{absent: absent}
	}
	sweep(os.TempDir())
	dir, err := os.MkdirTemp("", workspacePrefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		// Samples need none, and the program is to run.
		w := &workspace{env: os.Environ(), absent: fmt.Sprintf("there is no folder for it: %v", err)}
		opt.Say(fmt.Sprintf("no allocation log and no marks of the program: %v; TMPDIR names another folder", err))
		return w
	}
	w := &workspace{dir: dir, env: append(os.Environ(), marksVariable+"="+filepath.Join(dir, "marks")), threshold: opt.Threshold}
	if w.threshold <= 0 {
		w.threshold = heap.DefaultThreshold
	}
	w.preload(ctx, opt)
	return w
}

// preload prepares the allocation log, or says why there is none.
func (w *workspace) preload(ctx context.Context, opt *Options) {
	if !opt.Heap {
		w.absent = "it was switched off"
		return
	}
	err := heap.Suits(opt.Command[0])
	library := ""
	if err == nil {
		library, err = heap.Library(ctx)
	}
	if err != nil {
		w.absent = err.Error()
		opt.Say(fmt.Sprintf("no allocation log: %v; %s", err, namedWithout(err)))
		return
	}
	w.library = library
	w.env = heap.Environ(w.env, library, w.dir, w.threshold)
}

// namedWithout says what heap objects are called where there is no allocation log.
func namedWithout(err error) string {
	const mapping = "heap objects are named by their memory mapping only"
	var program *heap.InGo
	switch {
	case !errors.As(err, &program):
		return mapping
	case !program.Told:
		return mapping + "; built without -ldflags '-s -w', its runtime tells more"
	}
	return "heap objects are named by their size, large ones by the variable that holds them or their type"
}

// keepFor says which journal needs the folder, for sweep.
func (w *workspace) keepFor(journal string) {
	if at, err := filepath.Abs(journal); err == nil && w.dir != "" {
		_ = os.Symlink(at, filepath.Join(w.dir, journalNote))
	}
}

// journalNote is a link to the journal.
const journalNote = "journal"

func (w *workspace) environ() []string { return w.env }

func (w *workspace) remove() {
	if w.dir != "" {
		_ = os.RemoveAll(w.dir)
	}
}

// ours reports whether a folder is one that newWorkspace made for this user.
func ours(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || !strings.HasPrefix(filepath.Base(dir), workspacePrefix) {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// sweep removes the folders of recordings that were killed, once nobody can open
// what they left.
func sweep(parent string) {
	old, _ := filepath.Glob(filepath.Join(parent, workspacePrefix+"*"))
	for _, dir := range old {
		rest := strings.TrimPrefix(filepath.Base(dir), workspacePrefix)
		pid, err := strconv.Atoi(rest[:max(0, strings.IndexByte(rest, '-'))])
		if _, err := os.Stat(filepath.Join(dir, journalNote)); err == nil {
			continue
		}
		if err == nil && ours(dir) && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			_ = os.RemoveAll(dir)
		}
	}
}

// read takes in what the program wrote. Damage costs names, never the samples.
func (w *workspace) read(c *collector, r *run.Run) *marks {
	r.Recording.Heap = &run.Heap{Threshold: w.threshold, Absent: w.absent}
	if w.dir == "" {
		return &marks{}
	}
	logs, err := heap.Read(w.dir)
	if err != nil {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the allocation log: %v", err))
	}
	var copies []heap.Copy
	callers := heap.NewCallers(c.space.History(), c.code.files)
	c.allocations = &allocations{logs: logs, callers: callers}
	busy := heap.Sums{}
	for _, l := range logs {
		n, of := l.Replay(c.objects, callers)
		d, rest := r.Recording.Heap, l.Unlogged()
		d.Allocations, d.Missed = d.Allocations+n, d.Missed+l.Missed
		d.Summed, d.SummedBytes = d.Summed+rest.Calls, d.SummedBytes+rest.Bytes
		d.Small, d.SmallBytes = d.Small+rest.SmallCalls, d.SmallBytes+rest.SmallBytes
		copies = append(copies, of...)
		if l.Why == heap.GoesOn {
			busy.Calls, busy.Bytes = busy.Calls+rest.Calls, busy.Bytes+rest.Bytes
		} else {
			said := fmt.Sprintf("the allocation log of process %d ended early: %s. From then on its heap objects have no name", l.PID, l.Why)
			if l.Missed > 0 { // a program that is confined is left alone, and nothing counted
				said += fmt.Sprintf(" (%d entries)", l.Missed)
			}
			r.Warnings = append(r.Warnings, said)
		}
	}
	c.logged(copies)
	if busy.Calls > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s (%d MiB in all) %s from places that allocate all the time: only counted, and of memory without a name", term.Counted(busy.Calls, "allocation"), busy.Bytes>>20, term.Agree(busy.Calls, "comes", "come")))
	}
	return w.readMarks(c, r)
}

func (w *workspace) readMarks(c *collector, r *run.Run) *marks {
	f, err := plainfile.Open(filepath.Join(w.dir, "marks"))
	if err != nil {
		return &marks{} // the program makes none
	}
	defer f.Close()
	m, err := readMarks(f)
	if err != nil || m.damaged > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d marks of the program could not be read", m.damaged))
	}
	m.name(c.objects)
	return m
}
