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

// Record runs the command with the library between its processes and MPI and
// writes the archive.
func Record(ctx context.Context, o Options) (*Result, error) {
	library, err := Library(ctx, o.Command[0])
	if err != nil {
		return nil, err
	}
	// Processes on other nodes must reach the folder: it lies beside the result.
	dir, err := scratch.Folder(filepath.Dir(o.Archive), "mpi")
	if err != nil {
		return nil, err
	}
	defer remove(dir)
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	set := append([]string{"LD_PRELOAD=" + preload(library), "ISOBATH_MPI_DIR=" + dir}, o.Env...)
	command := withSettings(ctx, o.Command, set)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), set...)
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
	sum, err := Convert(dir, o.Archive)
	if err != nil {
		return nil, err
	}
	res.Summary = *sum
	if res.Exit != 0 {
		res.Notes = append(res.Notes, fmt.Sprintf("the program ended with exit code %d", res.Exit))
	}
	return res, nil
}

// preload puts the library before what the user preloads already.
func preload(library string) string {
	if had := os.Getenv("LD_PRELOAD"); had != "" {
		return library + ":" + had
	}
	return library
}

// withSettings makes the launcher pass the settings on to processes it starts
// on other nodes. Slurm and unknown launchers pass on their own environment.
func withSettings(ctx context.Context, command, set []string) []string {
	out := []string{command[0]}
	switch kindOf(ctx, command[0]) {
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
