package mpitrace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/isobath/isobath/internal/base/scratch"
)

// Options say what to record.
type Options struct {
	Command []string // a launcher such as mpirun with its program
	Archive string   // the archive to write, ending in .otf2
	Env     []string // more settings for the processes
}

// Result is a finished recording.
type Result struct {
	Summary
	Exit   int
	Signal string
}

// Launch is a command that is about to run with the library between its
// processes and MPI.
type Launch struct {
	options Options
	family  family
	library string
	dir     string // for the processes' files
}

// Prepare makes the library, and a folder for the processes' files beside the
// result: processes on other nodes must reach it. Remove it in the end.
func Prepare(ctx context.Context, o Options) (*Launch, error) {
	if err := traceable(o.Command); err != nil {
		return nil, err
	}
	library, err := Library(ctx, o.Command[0])
	if err != nil {
		return nil, err
	}
	dir, err := scratch.Folder(filepath.Dir(o.Archive), "mpi")
	if err != nil {
		return nil, err
	}
	l := &Launch{options: o, family: kindOf(ctx, o.Command[0]), library: library, dir: dir}
	if l.dir, err = filepath.Abs(dir); err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	return l, nil
}

// Remove deletes the processes' files.
func (l *Launch) Remove() error { return os.RemoveAll(l.dir) }

// Start is the command to run and its environment, made of the one it would have
// had. What that preloads stays so, behind the library.
func (l *Launch) Start(environ []string) (command, env []string) {
	preload := l.library
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		if name != preloadVariable {
			env = append(env, e)
		} else if value != "" {
			preload += ":" + value
		}
	}
	set := append([]string{preloadVariable + "=" + preload, "ISOBATH_MPI_DIR=" + l.dir}, l.options.Env...)
	return withSettings(l.family, l.options.Command, set), append(env, set...)
}

const preloadVariable = "LD_PRELOAD"

// Write makes the archive of what the processes wrote.
func (l *Launch) Write() (*Summary, error) { return Convert(l.dir, l.options.Archive) }

// Ranks says which rank each process of this host has in MPI_COMM_WORLD, by its
// id. Call it when the processes have begun MPI; what they did before belongs to
// the same processes. The sentence tells which ranks are missing, and why.
//
// Samples that are taken here have the times of CLOCK_MONOTONIC, and so have the
// messages of ranks of one host. Times of other hosts are moved to the clock of
// rank 0: if that is not ours, samples and messages do not meet.
func (l *Launch) Ranks(host string) (ranks map[int]int, missing string) {
	ranks = map[int]int{}
	paths, _ := filepath.Glob(filepath.Join(l.dir, "rank.*")) // the pattern is well formed
	elsewhere, first := 0, host
	for _, path := range paths {
		r, err := openRank(path)
		if err != nil {
			continue // Write says so
		}
		r.f.Close()
		if r.rank == 0 {
			first = r.host
		}
		if r.host == host {
			ranks[r.pid] = int(r.rank)
		} else {
			elsewhere++
		}
	}
	switch {
	case first != host:
		return nil, fmt.Sprintf("rank 0 ran on %s: the times of messages are those of its clock, so samples, which were taken on %s, have no rank", first, host)
	case elsewhere > 0:
		missing = fmt.Sprintf("%d of %d ranks ran on other hosts than %s: they have messages but no samples", elsewhere, len(ranks)+elsewhere, host)
	}
	return ranks, missing
}

// Record runs the command and writes the archive.
func Record(ctx context.Context, o Options) (*Result, error) {
	l, err := Prepare(ctx, o)
	if err != nil {
		return nil, err
	}
	defer l.Remove()
	command, env := l.Start(os.Environ())
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	res := &Result{}
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && cmd.ProcessState == nil {
		return nil, fmt.Errorf("start %s: %w", command[0], err)
	}
	res.Exit = cmd.ProcessState.ExitCode()
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		res.Exit, res.Signal = 128+int(ws.Signal()), ws.Signal().String()
	}
	sum, err := l.Write()
	if err != nil {
		return nil, err
	}
	res.Summary = *sum
	if res.Exit != 0 {
		res.Notes = append(res.Notes, fmt.Sprintf("the program ended with exit code %d", res.Exit))
	}
	return res, nil
}

// withSettings makes the launcher pass the settings on to processes it starts
// on other nodes. Slurm and unknown launchers pass on their own environment.
func withSettings(f family, command, set []string) []string {
	out := []string{command[0]}
	switch f {
	case openMPI:
		for _, s := range set {
			out = append(out, "-x", s)
		}
	case mpich:
		for _, s := range set {
			name, value, _ := strings.Cut(s, "=")
			out = append(out, "-genv", name, value)
		}
	}
	return append(out, command[1:]...)
}
