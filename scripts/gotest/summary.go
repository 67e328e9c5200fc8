package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/base/test"
)

// summary is what a run of tests said.
type summary struct {
	passed, failed, skipped int
	fixtures, peers, shared map[string]bool
	reasons                 map[string]int      // why tests were skipped
	said                    map[string][]string // output, by package and test
	failures                []failure           // of tests, not of their parts
	broken                  bool                // something failed that no single test explains
	unstable                []string            // tests that failed and passed alone
	told                    strings.Builder     // what failures said, until it is known whether they count
}

func newSummary() *summary {
	return &summary{fixtures: map[string]bool{}, peers: map[string]bool{}, shared: map[string]bool{}, reasons: map[string]int{}, said: map[string][]string{}}
}

// logged is a line of a test: file, number, text.
var logged = regexp.MustCompile(`^\s+\S+\.go:\d+: (.*)\n?$`)

func (s *summary) add(e event, show io.Writer) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		s.said[key] = append(s.said[key], e.Output)
		if m := logged.FindStringSubmatch(e.Output); m != nil {
			s.used(m[1])
		}
		return
	case "build-output":
		fmt.Fprint(show, e.Output)
		return
	case "pass", "skip", "fail":
	default:
		return
	}
	if e.Test == "" {
		s.packageEnded(e, show)
	} else {
		s.testEnded(e, s.said[key], show)
	}
	delete(s.said, key)
}

// used counts what a test said it found.
func (s *summary) used(text string) {
	for prefix, set := range map[string]map[string]bool{test.FixtureUsed: s.fixtures, test.PeerUsed: s.peers, test.SharedUsed: s.shared} {
		name, ok := strings.CutPrefix(text, prefix)
		if !ok {
			continue
		}
		if prefix != test.PeerUsed {
			name = firstFolders(name)
		}
		set[name] = true
	}
}

// firstFolders is the set that a file belongs to: the first two parts of its
// path.
func firstFolders(name string) string {
	parts := strings.SplitN(name, "/", 3)
	return strings.Join(parts[:min(2, len(parts))], "/")
}

func (s *summary) packageEnded(e event, show io.Writer) {
	word := map[string]string{"pass": "ok  ", "fail": "not ok", "skip": "?   "}[e.Action]
	if e.Action == "fail" {
		text := strings.Join(s.said[e.Package+" "], "")
		s.told.WriteString(text)
		if final(text) || !slices.ContainsFunc(s.failures, func(f failure) bool { return f.pkg == e.Package }) {
			s.broken = true // it did not compile, ended early or ran out of time
		}
	}
	if e.Action != "skip" { // no test files
		fmt.Fprintf(show, "%s\t%s\t%.1fs\n", word, e.Package, e.Elapsed)
	}
}

// slow is how many seconds a test takes that is named, so that it is known what a run
// spends its time on.
const slow = 10

func (s *summary) testEnded(e event, said []string, show io.Writer) {
	if e.Elapsed >= slow && !strings.Contains(e.Test, "/") {
		fmt.Fprintf(show, "slow:   %s %s\t%.1fs\n", e.Package, e.Test, e.Elapsed)
	}
	switch e.Action {
	case "pass":
		s.passed++
	case "fail":
		s.failed++
		text := strings.Join(said, "")
		s.told.WriteString(text)
		s.broken = s.broken || final(text)
		if !strings.Contains(e.Test, "/") {
			s.failures = append(s.failures, failure{e.Package, e.Test})
			fmt.Fprintf(show, "failed: %s %s\n", e.Package, e.Test)
		}
	case "skip":
		s.skipped++
		s.reasons[reason(said)]++
	}
}

// reason is the last thing that a skipped test said, without the names that
// differ from test to test.
func reason(said []string) string {
	for _, line := range slices.Backward(said) {
		m := logged.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if name, ok := strings.CutPrefix(m[1], "no shared data: shared/data/"); ok {
			return "no shared data " + firstFolders(strings.Fields(name)[0])
		}
		if strings.HasPrefix(m[1], "-short: not compared with") {
			return "-short: no peers"
		}
		text, _, _ := strings.Cut(m[1], ":")
		return text
	}
	return "no reason given"
}

// line says what was and was not run.
func (s *summary) line() string {
	words := []string{
		fmt.Sprintf("tests: %d passed, %d failed, %d skipped", s.passed, s.failed, s.skipped),
		fmt.Sprintf("%d sets of fixtures", len(s.fixtures)),
		"peers: " + listed(s.peers),
		"shared data: " + listed(s.shared),
	}
	if len(s.unstable) > 0 {
		words = append(words, "unstable, passed alone after a failure: "+strings.Join(s.unstable, ", "))
	}
	why := slices.SortedFunc(maps.Keys(s.reasons), func(a, b string) int {
		return cmp.Or(s.reasons[b]-s.reasons[a], strings.Compare(a, b))
	})
	for i, r := range why {
		why[i] = fmt.Sprintf("%s (%d)", r, s.reasons[r])
	}
	if len(why) > 0 {
		words = append(words, "not run: "+strings.Join(why, ", "))
	}
	return strings.Join(words, "; ")
}

func listed(names map[string]bool) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(names)), " ")
}
