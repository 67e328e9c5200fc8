package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// browserReport is what vitest's JSON reporter writes of a run.
type browserReport struct {
	NumPassedTests, NumPendingTests, NumFailedTests int
	TestResults                                     []struct {
		Name, Status     string // path of the file
		AssertionResults []struct {
			FullName, Status string
			FailureMessages  []string
		}
	}
}

func readBrowserReport(file string) (*browserReport, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := new(browserReport)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return r, nil
}

// failedFiles lists the files with a failed test, or that could not be run.
func (r *browserReport) failedFiles() []string {
	var files []string
	for _, f := range r.TestResults {
		if f.Status == "failed" {
			files = append(files, filepath.Base(f.Name))
		}
	}
	return files
}

// said counts a run, and names tests that passed at their second try.
func (r *browserReport) said() string {
	said := fmt.Sprintf("%d browser tests passed, %d skipped", r.NumPassedTests, r.NumPendingTests)
	if r.NumFailedTests > 0 {
		said += fmt.Sprintf(", %d failed", r.NumFailedTests)
	}
	var unstable []string
	for _, file := range r.TestResults {
		for _, t := range file.AssertionResults {
			if t.Status == "passed" && len(t.FailureMessages) > 0 || t.Status == "failed" {
				unstable = append(unstable, t.FullName)
			}
		}
	}
	if len(unstable) > 0 {
		said += ", unstable: " + strings.Join(unstable, ", ")
	}
	return said
}

// browser runs the tests of a folder with vitest. Up to chances files that failed
// run once more, each alone and with a server and a browser of its own: a test that
// draws others with it, because they share a page, is one failure. What vitest
// reports of the second run stands in the report with "again" before its end.
func browser(folder, report string, chances int) error {
	report, err := filepath.Abs(report)
	if err != nil {
		return err
	}
	again := againReport(report)
	for _, old := range []string{report, again} {
		if err := os.RemoveAll(old); err != nil {
			return err
		}
	}
	failed := vitest(folder, report)
	if failed == nil {
		return nil
	}
	first, err := readBrowserReport(report)
	if err != nil {
		return failed // it ended before it could say
	}
	files := first.failedFiles()
	if len(files) == 0 || len(files) > chances {
		return failed
	}
	fmt.Println("again, alone:", strings.Join(files, " "))
	return vitest(folder, again, files...)
}

func vitest(folder, report string, files ...string) error {
	args := append([]string{"vitest", "run", "--reporter=default", "--reporter=json", "--outputFile=" + report}, files...)
	cmd := exec.Command("npx", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, os.Stdout, os.Stderr
	return cmd.Run()
}

func againReport(report string) string { return strings.TrimSuffix(report, ".json") + ".again.json" }
