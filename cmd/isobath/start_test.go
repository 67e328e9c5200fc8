package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/memory/trial"
	"github.com/isobath/isobath/internal/record/target"
)

// TestWhyNotStarted: a program that does not start is told in words, whichever part
// of the system refused it.
func TestWhyNotStarted(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("systems refuse in their own ways")
	}
	t.Chdir(t.TempDir())
	if err := os.Mkdir("folder", 0o777); err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]struct {
		text string
		mode os.FileMode
	}{"plain": {"#!/bin/sh\n", 0o666}, "two words": {"#!/bin/sh\n", 0o666}, "noise": {"\x00\x01\x02\x03", 0o777}, "lost": {"#!/no/such/interpreter\n", 0o777}, "here": {"#!/bin/sh\n", 0o777}} {
		if err := os.WriteFile(name, []byte(f.text), f.mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ program, want string }{
		{"no-such-program", "no-such-program: no such program in PATH"},
		{"here", "here: no such program in PATH; ./here is the one in this folder"},
		{"./none", "./none: no such file"},
		{"./folder", "./folder: this is a folder, no program"},
		{"./plain", "./plain: the file may not be executed; chmod +x ./plain allows it"},
		{"./two words", "./two words: the file may not be executed; chmod +x './two words' allows it"},
		{"", "the name of the program is empty"},
		{"sleep 1 | cat", "sleep 1 | cat: no such program; commands are words, not lines: sh -c 'sleep 1 | cat' runs a line"},
		{"./noise", "./noise: neither a program of this machine nor a script that begins with #!"},
		{"./lost", "./lost: what should run it, an interpreter or a loader, is not there: 'file' says which it names"},
	} {
		t.Run(tt.program, func(t *testing.T) {
			_, err := (&trial.Execution{}).Run(t.Context(), []string{tt.program})
			if got := fmt.Sprint(withReason(err)); strings.TrimPrefix(got, ": ") != tt.want {
				t.Errorf("run: %s, want %s", got, tt.want)
			}
			if strings.Contains(tt.want, "interpreter") || strings.Contains(tt.want, "script") {
				return // those are found, and read for what is in them
			}
			_, err = target.Find(tt.program)
			if got := fmt.Sprint(withReason(err)); strings.TrimPrefix(got, ": ") != tt.want {
				t.Errorf("find: %s, want %s", got, tt.want)
			}
		})
	}
	for _, err := range []error{nil, errors.New("the disk is full"), &exec.ExitError{}, &os.PathError{Op: "open", Path: "./none", Err: os.ErrNotExist}} {
		if got := withReason(err); got != err {
			t.Errorf("%v became %v", err, got)
		}
	}
}
