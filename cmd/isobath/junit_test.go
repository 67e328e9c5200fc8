package main

import (
	"bytes"
	"encoding/xml"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

// checkedByXmllint is what is wrong with a report by the schema; empty if nothing
// is.
func checkedByXmllint(t *testing.T, report string) string {
	t.Helper()
	cmd := exec.Command(test.Peer(t, "xmllint", "libxml2-utils"), "--noout", "--schema", "testdata/junit.xsd", "-")
	cmd.Stdin = strings.NewReader(report)
	out, err := cmd.CombinedOutput()
	if err == nil {
		return ""
	}
	return string(out)
}

func printedBy(t *testing.T, command string) string {
	t.Helper()
	var out bytes.Buffer
	cmd := newRoot()
	cmd.SetArgs(strings.Fields(command))
	cmd.SetOut(&out)
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestJUnitSchema lets xmllint hold reports against the schema of build servers,
// and compares the counts with the cases.
func TestJUnitSchema(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	for _, command := range []string{"report demo --format junit", "insights demo --format junit", "diff demo demo:fixed --junit -", "steps demo:messages --format junit", adviseExample + "--format junit"} {
		if testing.Short() && strings.HasPrefix(command, adviseExample) {
			continue
		}
		t.Run(command, func(t *testing.T) {
			text := printedBy(t, command)
			if wrong := checkedByXmllint(t, text); wrong != "" {
				t.Errorf("%s", wrong)
			}
			var suite struct {
				Tests    int `xml:"tests,attr"`
				Failures int `xml:"failures,attr"`
				Cases    []struct {
					Failure *struct{} `xml:"failure"`
				} `xml:"testcase"`
			}
			if err := xml.Unmarshal([]byte(text), &suite); err != nil {
				t.Fatal(err)
			}
			failures := 0
			for _, c := range suite.Cases {
				if c.Failure != nil {
					failures++
				}
			}
			if suite.Tests == 0 || suite.Tests != len(suite.Cases) || suite.Failures != failures {
				t.Errorf("says %d tests and %d failures, has %d and %d", suite.Tests, suite.Failures, len(suite.Cases), failures)
			}
		})
	}
	for _, wrong := range []string{`<testsuite/>`, `<testsuite tests="many"/>`, `<testsuite tests="1"><testcase/></testsuite>`, `<testsuite tests="1"><testcase name="a" colour="red"/></testsuite>`, `<suite tests="1"/>`} {
		if checkedByXmllint(t, wrong) == "" {
			t.Errorf("accepted: %s", wrong)
		}
	}
}

// adviseExample replays for seconds; -short leaves that to TestSARIFSchema.
const adviseExample = "advise demo:locality --machine classic --kind interchange "

// TestGitHubCommands holds every line against the documented form of a workflow
// command: its name, properties in which , and : are escaped, and a text without
// an end of line.
func TestGitHubCommands(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	form := regexp.MustCompile(`^::(error|warning|notice) ((file=[^,:\s]+,line=[1-9]\d*,)?title=[^,:]+)::([^%]|%25|%0A|%0D)+$`)
	for _, command := range []string{"report demo --format github", "insights demo --format github", "diff demo demo:fixed --format github", "steps demo:messages --format github", adviseExample + "--format github"} {
		if testing.Short() && strings.HasPrefix(command, adviseExample) {
			continue
		}
		lines, placed := strings.Split(strings.TrimSuffix(printedBy(t, command), "\n"), "\n"), 0
		for _, line := range lines {
			if !form.MatchString(line) {
				t.Errorf("%s prints %s", command, line)
			}
			if strings.Contains(line, ",line=") {
				placed++
			}
		}
		if placed == 0 && !strings.Contains(command, "demo:messages") { // its trace has no lines
			t.Errorf("%s puts none of %d findings on a line", command, len(lines))
		}
	}
}
