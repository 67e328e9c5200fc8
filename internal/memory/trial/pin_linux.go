package trial

import (
	"fmt"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// start starts the command on the CPU asked for: a child inherits where the
// thread that starts it may run.
func (e *Execution) start(cmd *exec.Cmd) error {
	if e.Pin == nil {
		return cmd.Start()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return err
	}
	one.Set(*e.Pin)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return fmt.Errorf("run on CPU %d: %w", *e.Pin, err)
	}
	err := cmd.Start()
	if back := unix.SchedSetaffinity(0, &before); err == nil {
		err = back
	}
	return err
}
