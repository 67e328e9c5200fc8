// Command gotest runs `go test` and, when it ends, says in one line what was
// and was not run: how many tests, with which fixtures, peers and shared data,
// and why others were skipped.
//
//	go run ./scripts/gotest [-report FILE] [-again N] ARGUMENTS OF go test
//	go run ./scripts/gotest -browser FOLDER -report VITEST.json [-again N]
//	go run ./scripts/gotest -tell FILE [VITEST.json …]
//	go run ./scripts/gotest -racing PACKAGES
//
// With -report the line is also kept in a file; -tell prints it again at the end
// of a longer run, with the counts of browser tests that vitest wrote. With -again
// up to N failed tests run once more, each alone; what passes then is listed as
// unstable. See again.go for what gets no second chance. -browser runs the tests of
// a folder with vitest in the same way, file by file. -racing lists the packages in
// which the race detector can find something.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			os.Exit(failed.ExitCode())
		}
		fmt.Fprintln(os.Stderr, "gotest:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	// A make that a test starts is no part of the one that runs the tests.
	for _, name := range []string{"MAKEFLAGS", "MFLAGS", "MAKELEVEL"} {
		os.Unsetenv(name)
	}
	if len(args) > 1 && args[0] == "-tell" {
		return tell(os.Stdout, args[1], args[2:])
	}
	if len(args) > 1 && args[0] == "-racing" {
		return printRacing(os.Stdout, args[1:]...)
	}
	how, args, err := options(args)
	if err != nil {
		return err
	}
	if how.folder != "" {
		return browser(how.folder, how.report, how.chances)
	}
	s := newSummary()
	err = s.test(os.Stdout, args...)
	again := s.again(how.chances)
	if err != nil && len(again) > 0 {
		err = s.runAgain(again, args)
	}
	s.tellFailures(os.Stdout, err == nil)
	line := s.line()
	fmt.Println(line)
	if how.report != "" {
		err = errors.Join(err, os.WriteFile(how.report, []byte(line+"\n"), 0o666))
	}
	return err
}

// how a run is done and kept.
type how struct {
	report, folder string
	chances        int
}

// options takes its own options from the front of the arguments; the rest is for
// go test.
func options(args []string) (how, []string, error) {
	var h how
	for ; len(args) > 1; args = args[2:] {
		switch value := args[1]; args[0] {
		case "-report":
			h.report = value
		case "-browser":
			h.folder = value
		case "-again":
			n, err := strconv.Atoi(value)
			if err != nil {
				return h, nil, fmt.Errorf("-again %q is not a number of tests", value)
			}
			h.chances = n
		default:
			return h, args, nil
		}
	}
	return h, args, nil
}

// test runs `go test` and adds what it says to a summary.
func (s *summary) test(show io.Writer, args ...string) error {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	readErr := s.read(out, show)
	return errors.Join(cmd.Wait(), readErr)
}

// event is a line of `go test -json`.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// read prints a line a package, as it comes, and keeps what failed tests said.
func (s *summary) read(in io.Reader, show io.Writer) error {
	lines := bufio.NewReader(in)
	for {
		text, err := lines.ReadBytes('\n')
		if len(text) > 0 {
			var e event
			if json.Unmarshal(text, &e) != nil {
				fmt.Fprintf(show, "%s", text) // of the build
			} else {
				s.add(e, show)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// tell prints a kept line, and what each file that vitest wrote says. A file that
// failed first and ran again alone has a second report beside the first.
func tell(show io.Writer, report string, vitest []string) error {
	line, err := os.ReadFile(report)
	if err != nil {
		return err
	}
	words := []string{strings.TrimSpace(string(line))}
	for _, file := range vitest {
		r, err := readBrowserReport(file)
		if err != nil {
			return err
		}
		words = append(words, r.said())
		if r, err := readBrowserReport(againReport(file)); err == nil {
			words = append(words, "again, alone: "+r.said())
		}
	}
	_, err = fmt.Fprintln(show, strings.Join(words, "; "))
	return err
}
