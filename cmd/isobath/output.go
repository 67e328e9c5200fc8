package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/formats"
)

// say prints a message, without the control characters that names in it may have.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "isobath: %s\n", term.Plain(fmt.Sprintf(format, args...)))
}

// note is say for what the user should know about an answer.
func note(text string) {
	fmt.Fprintf(os.Stderr, "isobath: %s %s\n", term.StyleFor(os.Stderr).Warn("note:"), term.Plain(text))
}

// keepInputs refuses to write over what is read, whatever it is called: the file
// or folder itself, or anything in a run.
func keepInputs(out string, inputs ...string) error {
	if out == "" || out == formats.Stdin {
		return nil
	}
	for _, in := range inputs {
		if in == formats.Stdin {
			continue
		}
		info, err := os.Stat(in)
		if err != nil {
			continue // whoever reads it says so
		}
		if leadsTo(out, info, run.IsRun(in)) {
			return fmt.Errorf("-o %s would write over the input %s; choose another name", out, in)
		}
	}
	return nil
}

// leadsTo reports whether a path, or with above a folder above it, is that file
// or folder.
func leadsTo(path string, input os.FileInfo, above bool) bool {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	for {
		if info, err := os.Stat(path); err == nil && os.SameFile(info, input) {
			return true
		}
		parent := filepath.Dir(path)
		if !above || parent == path {
			return false
		}
		path = parent
	}
}
