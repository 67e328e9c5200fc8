package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// failure is a test that failed.
type failure struct{ pkg, name string }

// What shows a fault of the program whenever it is seen once, however seldom that
// is: no second chance.
var neverByChance = []string{"DATA RACE", "panic:", "a fault of the program", "goroutine leak", "test timed out"}

// final reports whether what a failed test said leaves no room for chance.
func final(said string) bool {
	for _, sign := range neverByChance {
		if strings.Contains(said, sign) {
			return true
		}
	}
	return false
}

// again lists the failed tests that get a second chance: all of them, or none if
// there are more than a few or one of them shows a fault. Recordings of real
// programs on a shared machine are statistics: some test of thousands is disturbed
// by what else the machine does, and that is said in the last line.
func (s *summary) again(chances int) []failure {
	if s.broken || len(s.failures) > chances {
		return nil
	}
	return s.failures
}

// runAgain runs failed tests one by one with the arguments of the run they failed
// in. It fails if one of them does.
func (s *summary) runAgain(failures []failure, args []string) error {
	var flags []string
	for _, a := range args {
		if !strings.HasPrefix(a, "./") {
			flags = append(flags, a)
		}
	}
	for _, f := range failures {
		fmt.Printf("again, alone: %s %s\n", f.pkg, f.name)
		alone := newSummary()
		if err := alone.test(os.Stdout, append(flags, "-count=1", "-run", "^"+f.name+"$", f.pkg)...); err != nil {
			alone.tellFailures(os.Stdout, false)
			return err
		}
		s.unstable = append(s.unstable, f.pkg[strings.LastIndex(f.pkg, "/")+1:]+"."+f.name)
	}
	s.passed += s.failed // with their parts
	s.failed = 0
	return nil
}

// tellFailures prints what failed tests said. A line of tests that passed alone
// afterwards begins with a mark: who reads a long log for the reason why it failed
// must not meet them first.
func (s *summary) tellFailures(show io.Writer, passedAlone bool) {
	text := s.told.String()
	if passedAlone && text != "" {
		text = "once: " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\nonce: ") + "\n"
	}
	fmt.Fprint(show, text)
}
