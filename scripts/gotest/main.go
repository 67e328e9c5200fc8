// Command gotest runs `go test` and, when it ends, says in one line what was
// and was not run: how many tests, with which fixtures, peers and shared data,
// and why others were skipped.
//
//	go run ./scripts/gotest [-report FILE] [-again N] ARGUMENTS OF go test
//	go run ./scripts/gotest -tell FILE [VITEST.json …]
//
// With -report the line is also kept in a file; -tell prints it again at the end
// of a longer run, with the counts of browser tests that vitest wrote. With -again
// up to N failed tests run once more, each alone; what passes then is listed as
// unstable. See again.go for what gets no second chance.
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
	if len(args) > 1 && args[0] == "-tell" {
		return tell(os.Stdout, args[1], args[2:])
	}
	report, chances := "", 0
	for len(args) > 1 && (args[0] == "-report" || args[0] == "-again") {
		if args[0] == "-report" {
			report = args[1]
		} else if n, err := strconv.Atoi(args[1]); err == nil {
			chances = n
		} else {
			return fmt.Errorf("-again %q is not a number of tests", args[1])
		}
		args = args[2:]
	}
	s := newSummary()
	err := s.test(os.Stdout, args...)
	if again := s.again(chances); err != nil && len(again) > 0 {
		err = s.runAgain(again, args)
	}
	line := s.line()
	fmt.Println(line)
	if report != "" {
		err = errors.Join(err, os.WriteFile(report, []byte(line+"\n"), 0o666))
	}
	return err
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
		browser, err := browserTests(text)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		words = append(words, browser)
	}
	_, err = fmt.Fprintln(show, strings.Join(words, "; "))
	return err
}

// browserTests says what vitest's report of a run says.
func browserTests(report []byte) (string, error) {
	var counts struct {
		NumPassedTests, NumPendingTests int
		TestResults                     []struct {
			AssertionResults []struct {
				FullName, Status string
				FailureMessages  []string
			}
		}
	}
	if err := json.Unmarshal(report, &counts); err != nil {
		return "", err
	}
	said := fmt.Sprintf("%d browser tests passed, %d skipped", counts.NumPassedTests, counts.NumPendingTests)
	var unstable []string
	for _, file := range counts.TestResults {
		for _, t := range file.AssertionResults {
			if t.Status == "passed" && len(t.FailureMessages) > 0 {
				unstable = append(unstable, t.FullName)
			}
		}
	}
	if len(unstable) > 0 {
		said += ", unstable: " + strings.Join(unstable, ", ")
	}
	return said, nil
}
