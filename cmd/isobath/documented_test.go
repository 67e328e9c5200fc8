package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

// documentedCommand is a line of code in a document that calls the program, and
// where it stands.
type documentedCommand struct{ file, line string }

// documentedCommands are the calls in fenced code of the documents.
func documentedCommands(t *testing.T, files ...string) []documentedCommand {
	t.Helper()
	var out []documentedCommand
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code := false
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "```") {
				code = !code
			}
			line = strings.TrimSpace(line)
			if code && strings.HasPrefix(line, "isobath ") {
				out = append(out, documentedCommand{filepath.Base(file), line})
			}
		}
	}
	return out
}

var documentedFlag = regexp.MustCompile(`(?:^|\s)--([a-z][a-z0-9-]*)`)

// TestDocumentedVerbs holds that every command of the README and the guide names a
// verb that is there, with flags that it has.
func TestDocumentedVerbs(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(test.Root(), "docs", "guide", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	commands := documentedCommands(t, append(files, filepath.Join(test.Root(), "README.md"))...)
	if len(commands) < 60 {
		t.Fatalf("only %d commands found", len(commands))
	}
	for _, c := range commands {
		line, _, _ := strings.Cut(c.line, " #") // a comment
		line, _, _ = strings.Cut(line, " | ")   // another program
		line, _, _ = strings.Cut(line, " -- ")  // the program that is recorded
		line, _, _ = strings.Cut(line, " > ")   // a file
		line, _, _ = strings.Cut(line, " && ")  // another command
		name := strings.Fields(line)[1]
		root := newRoot()
		root.InitDefaultCompletionCmd()
		verb, _, err := root.Find([]string{name})
		if err != nil || verb == root {
			if !strings.ContainsAny(name, "./") { // a file without a verb is opened
				t.Errorf("%s: %q: there is no verb %s", c.file, c.line, name)
			}
			continue
		}
		for _, m := range documentedFlag.FindAllStringSubmatch(unquoted(line), -1) {
			if verb.Flags().Lookup(m[1]) == nil && verb.InheritedFlags().Lookup(m[1]) == nil {
				t.Errorf("%s: %q: %s has no flag --%s", c.file, c.line, name, m[1])
			}
		}
	}
}

// unquoted takes out what stands in quotes.
func unquoted(line string) string {
	return regexp.MustCompile(`'[^']*'|"[^"]*"`).ReplaceAllString(line, "")
}

// serving are commands that end only when they are told to.
var serving = regexp.MustCompile(`^isobath (open|serve|demo( \w+)?)$`)

// TestChaptersAsWritten runs the commands of the chapters for people who begin, in
// the order in which they stand, in one empty folder.
func TestChaptersAsWritten(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("left to the full tier on Linux, as its chapters record a program")
	}
	isobath, err := exec.LookPath("isobath")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, ".local/share/bash-completion/completions"), 0o755); err != nil {
		t.Fatal(err)
	}
	guide := filepath.Join(test.Root(), "docs", "guide")
	ran := 0
	for _, c := range documentedCommands(t, filepath.Join(guide, "install.md"), filepath.Join(guide, "first-picture.md")) {
		if serving.MatchString(c.line) {
			continue
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", c.line)
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), "HOME="+folder, "PATH="+filepath.Dir(isobath)+":"+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %s: %v\n%s", c.file, c.line, err, out)
		}
		ran++
	}
	if ran < 10 {
		t.Errorf("only %d commands ran", ran)
	}
}
