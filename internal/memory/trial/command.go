package trial

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/isobath/isobath/internal/base/parallel"
)

// Measured is what one run of a command took.
type Measured struct {
	Wall float64 `json:"wall"` // seconds
	CPU  float64 `json:"cpu"`  // user and system, of all processes waited for

	Status int    `json:"-"`
	Output uint64 `json:"-"` // a hash of what it wrote
	Left   bool   `json:"-"` // something that it started runs on, and may write
	tail   []byte
}

// Tail is the last lines of what a command wrote.
func (m *Measured) Tail(lines int) string {
	all := strings.Split(strings.TrimRight(string(m.tail), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// tailBytes is how much of a command's output is kept.
const tailBytes = 16 << 10

// Execution says how commands are run.
type Execution struct {
	Show io.Writer // where output goes too; nil for nowhere
	Pin  *int      // the CPU to run on; nil for any
	// Grace is how long a command that is asked to end may tidy up; without it an
	// interrupt ends it at once.
	Grace time.Duration
}

// watched keeps the end of what is written, and a hash of all.
type watched struct {
	hash io.Writer
	show io.Writer
	tail []byte
}

func (w *watched) Write(p []byte) (int, error) {
	if _, err := w.hash.Write(p); err != nil {
		return 0, err
	}
	w.tail = append(w.tail, p...)
	if len(w.tail) > 2*tailBytes {
		w.tail = append([]byte(nil), w.tail[len(w.tail)-tailBytes:]...)
	}
	if w.show != nil {
		return w.show.Write(p)
	}
	return len(p), nil
}

// lastWords is how long what a command wrote is still read after its end, where
// something that it started keeps its output open.
const lastWords = 500 * time.Millisecond

// Run runs a command and measures it. A command that ends with another status
// than 0 is no error; one that cannot be started is. What it leaves running, such as
// a daemon, is neither waited for nor ended.
func (e *Execution) Run(ctx context.Context, command []string) (*Measured, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	hash := fnv.New64a()
	out := &watched{hash: hash, show: e.Show}
	// A pipe of our own: cmd.Wait would wait for the end of all that hold it.
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer read.Close()
	cmd.Stdout, cmd.Stderr = write, write
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	ask := syscall.SIGKILL
	if e.Grace > 0 {
		ask, cmd.WaitDelay = syscall.SIGTERM, e.Grace
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, ask) }
	copied := parallel.Start(ctx, func(context.Context) error { _, err := io.Copy(out, read); return err })
	begin := time.Now()
	err = e.start(cmd)
	write.Close()
	if err == nil {
		err = cmd.Wait()
	}
	wall := time.Since(begin)
	_ = read.SetReadDeadline(time.Now().Add(lastWords))
	left := errors.Is(copied.Wait(), os.ErrDeadlineExceeded)
	if ctx.Err() != nil {
		if cmd.Process != nil {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it started and left behind
		}
		return nil, ctx.Err()
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, fmt.Errorf("%s: %w", command[0], err)
	}
	s := cmd.ProcessState
	status := s.ExitCode()
	if status < 0 { // ended by a signal
		if w, ok := s.Sys().(syscall.WaitStatus); ok {
			status = 128 + int(w.Signal())
		}
	}
	return &Measured{Wall: wall.Seconds(), CPU: (s.UserTime() + s.SystemTime()).Seconds(), Status: status, Output: hash.Sum64(), Left: left, tail: bytes.Clone(out.tail)}, nil
}
