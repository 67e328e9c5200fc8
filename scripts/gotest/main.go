// Command gotest runs `go test` and, when it ends, says in one line what was
// and was not run: how many tests, with which fixtures, peers and shared data,
// and why others were skipped.
//
//	go run ./scripts/gotest [-report FILE] ARGUMENTS OF go test
//	go run ./scripts/gotest -tell FILE [VITEST.json …]
//
// With -report the line is also kept in a file; -tell prints it again at the end
// of a longer run, with the counts of browser tests that vitest wrote.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
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
	if len(args) > 1 && args[0] == "-tell" {
		return tell(os.Stdout, args[1], args[2:])
	}
	report := ""
	if len(args) > 1 && args[0] == "-report" {
		report, args = args[1], args[2:]
	}
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	s := newSummary()
	readErr := s.read(out, os.Stdout)
	failed := cmd.Wait()
	line := s.line()
	fmt.Println(line)
	if report != "" {
		readErr = errors.Join(readErr, os.WriteFile(report, []byte(line+"\n"), 0o666))
	}
	return errors.Join(failed, readErr)
}

// event is a line of `go test -json`.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// read prints what people want to see of a run, as it comes: a line a package,
// and all that failed tests said.
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

// tell prints a kept line, and a line for each file that vitest wrote.
func tell(show io.Writer, report string, vitest []string) error {
	line, err := os.ReadFile(report)
	if err != nil {
		return err
	}
	words := []string{strings.TrimSpace(string(line))}
	for _, file := range vitest {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var counts struct{ NumPassedTests, NumPendingTests int }
		if err := json.Unmarshal(text, &counts); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		words = append(words, fmt.Sprintf("%d browser tests passed, %d skipped", counts.NumPassedTests, counts.NumPendingTests))
	}
	_, err = fmt.Fprintln(show, strings.Join(words, "; "))
	return err
}
