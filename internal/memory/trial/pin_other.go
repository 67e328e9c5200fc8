//go:build !linux

package trial

import (
	"errors"
	"os/exec"
)

func (e *Execution) start(cmd *exec.Cmd) error {
	if e.Pin != nil {
		return errors.New("commands can be bound to a CPU on Linux only")
	}
	return cmd.Start()
}
