package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// launchWord as the first argument makes this program a launcher.
const launchWord = "launch"

// taken is what a started program used, as the launcher tells it.
type taken struct {
	WallNS, CPUNS int64
	PeakKB        int64
}

// launched runs a program and returns its output and what it used. The kernel
// counts as the peak memory of a program also that of the process that forked
// it, and this one holds gigabytes after a row with a large table; so the
// program is started by a small process in between.
func launched(ctx context.Context, name string, args ...string) ([]byte, taken, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, taken{}, err
	}
	report, told, err := os.Pipe()
	if err != nil {
		return nil, taken{}, err
	}
	defer report.Close()
	cmd := exec.CommandContext(ctx, self, append([]string{launchWord, name}, args...)...)
	cmd.ExtraFiles = []*os.File{told}
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	told.Close()
	if err != nil {
		return out, taken{}, fmt.Errorf("%s: %w", name, err)
	}
	var t taken
	err = json.NewDecoder(report).Decode(&t)
	return out, t, err
}

// launch is the launcher: it runs a program and tells what it used on file 3.
// It returns the exit code.
func launch(args []string) int {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	start := time.Now()
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	t := taken{WallNS: time.Since(start).Nanoseconds(), CPUNS: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Nanoseconds()}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		t.PeakKB = u.Maxrss
	}
	if err := json.NewEncoder(os.NewFile(3, "report")).Encode(t); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
