package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/isobath/isobath/internal/base/term"
)

// startError is an error that says why a program could not be started in words, in
// place of those of the system.
type startError struct {
	error
	text string
}

func (e *startError) Error() string { return e.text }
func (e *startError) Unwrap() error { return e.error }

// withReason says why a program could not be started, if that is what an error is
// about. What is said around it stays.
func withReason(err error) error {
	program, failed := notStarted(err)
	if failed == nil {
		return err
	}
	reason := whyNotStarted(program, failed)
	if reason == "" {
		return err
	}
	return &startError{err, strings.Replace(err.Error(), failed.Error(), reason, 1)}
}

// notStarted is the program that an error is about and the part of it that says so.
func notStarted(err error) (program string, failed error) {
	if search := new(exec.Error); errors.As(err, &search) {
		return search.Name, search
	}
	if start := new(fs.PathError); errors.As(err, &start) && start.Op == "fork/exec" {
		return start.Path, start
	}
	if err != nil && strings.HasSuffix(err.Error(), errNoCommand) {
		return "", errors.New(errNoCommand)
	}
	return "", nil
}

// errNoCommand is what os/exec says of an empty word; it has no name there.
const errNoCommand = "exec: no command"

func whyNotStarted(program string, failed error) string {
	info, missing := os.Stat(program)
	switch {
	case program == "":
		return "the name of the program is empty"
	case missing != nil && strings.ContainsAny(program, " |&;<>"):
		return fmt.Sprintf("no such program; commands are words, not lines: sh -c %s runs a line", term.Shell([]string{program}))
	case errors.Is(failed, exec.ErrNotFound) && missing == nil && !info.IsDir():
		return fmt.Sprintf("no such program in PATH; ./%s is the one in this folder", program)
	case errors.Is(failed, exec.ErrNotFound) && filepath.Base(program) == program:
		return "no such program in PATH"
	case missing != nil && errors.Is(missing, fs.ErrNotExist):
		return "no such file"
	case missing != nil:
		return ""
	case info.IsDir():
		return "this is a folder, no program"
	case info.Mode()&0o111 == 0:
		return fmt.Sprintf("the file may not be executed; chmod +x %s allows it", term.Shell([]string{program}))
	case errors.Is(failed, fs.ErrNotExist):
		return "what should run it, an interpreter or a loader, is not there: 'file' says which it names"
	case errors.Is(failed, syscall.ENOEXEC):
		return "neither a program of this machine nor a script that begins with #!"
	}
	return ""
}
