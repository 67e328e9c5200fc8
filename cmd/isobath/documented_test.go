package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/base/test"
)

// documentedCommand is a line of code in a document, and where it stands.
type documentedCommand struct {
	file, line string
	needs      string // what its block says it needs that a test does not have
	python     bool   // a block of Python rather than a line for the shell
}

// aCommand tells commands from what they print.
var aCommand = regexp.MustCompile(`^(isobath|cc|mpirun|make|mkdir|python3|export|xvfb-run|[A-Z_]+=\S+) `)

// documentedCommands are the commands in fenced code of the documents. A block is
// either commands, with comments between them, or a command behind "$ " and what
// it printed, or neither. A block that begins "# needs …" is for readers who have
// that.
func documentedCommands(t *testing.T, files ...string) []documentedCommand {
	t.Helper()
	var out []documentedCommand
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, block := range strings.Split("\n"+string(text), "\n```") {
			language, block, _ := strings.Cut(block, "\n")
			switch {
			case i%2 == 0: // text
			case language == "python":
				first, _, _ := strings.Cut(block, "\n")
				needs, ok := strings.CutPrefix(first, "# needs ")
				if !ok {
					needs = ""
				}
				out = append(out, documentedCommand{file: filepath.Base(file), line: block, needs: needs, python: true})
			case language == "" || language == "sh":
				out = append(out, commandsOf(t, filepath.Base(file), block)...)
			}
		}
	}
	return out
}

func commandsOf(t *testing.T, file, block string) []documentedCommand {
	t.Helper()
	var out []documentedCommand
	needs, printed := "", 0
	for line := range strings.SplitSeq(block, "\n") {
		words, ok := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "# needs "):
			needs = strings.TrimPrefix(line, "# needs ")
		case ok || aCommand.MatchString(line):
			out = append(out, documentedCommand{file: file, line: words, needs: needs})
			if !ok && printed > 0 {
				t.Errorf("%s: %q stands below what a command printed", file, line)
			}
		case line != "" && !strings.HasPrefix(line, "#"):
			printed++
			if len(out) > 0 && !strings.Contains(block, "$ ") {
				t.Errorf("%s: %q is neither a command nor behind one that is marked with $", file, line)
			}
		}
	}
	return out
}

// documents are the README and the chapters of the guide.
func documents(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(test.Root(), "docs", "guide", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	return append(files, filepath.Join(test.Root(), "README.md"))
}

var documentedFlag = regexp.MustCompile(`(?:^|\s)--([a-z][a-z0-9-]*)`)

// TestDocumentedVerbs holds that every command of the README and the guide names a
// verb that is there, with flags that it has, also those that are not run.
func TestDocumentedVerbs(t *testing.T) {
	checked := 0
	for _, c := range documentedCommands(t, documents(t)...) {
		if !strings.HasPrefix(c.line, "isobath ") {
			continue
		}
		checked++
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
	if checked < 60 {
		t.Errorf("only %d commands found", checked)
	}
}

// unquoted takes out what stands in quotes.
func unquoted(line string) string {
	return regexp.MustCompile(`'[^']*'|"[^"]*"`).ReplaceAllString(line, "")
}

// longDocuments take longer than the other commands together.
var longDocuments = map[string]string{
	"did-it-help": "it records twenty pairs of runs",
	"late-ranks":  "it records processes that wait for each other and samples of each",
	"locality":    "it predicts for other machines and records a changed program",
	"notebooks":   "it builds the package of Python and executes a notebook, as TestNotebooks does",
}

// TestDocumentsAsWritten runs the commands of the README and of every chapter, in
// the order in which they stand, in a folder that has what a reader of it has:
// testdata/reader/NAME.sh makes that.
func TestDocumentsAsWritten(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("left to the full tier on Linux, as chapters record programs")
	}
	cache := t.TempDir() // what is compiled on first use
	for _, file := range documents(t) {
		commands := documentedCommands(t, file)
		if len(commands) == 0 {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		t.Run(name, func(t *testing.T) {
			if why := longDocuments[name]; why != "" && os.Getenv("ISOBATH_DOCUMENTS") == "" {
				t.Skipf("%d commands are left to 'make documents': %s", len(commands), why)
			}
			r := newReader(t, cache)
			if slices.ContainsFunc(commands, func(c documentedCommand) bool { return c.python && c.needs == "" }) {
				r.python = test.PythonPeer(t, "numpy,pandas,setuptools,nbconvert,ipykernel", "jupyter-nbconvert")
			}
			r.prepare(t)
			r.isTold(t, file, commands)
			ran, left := 0, 0
			for _, c := range commands {
				if c.needs != "" {
					t.Logf("left to readers with %s: %s", c.needs, c.line)
					left++
					continue
				}
				began := time.Now()
				if err := r.follow(t, c); err != nil {
					t.Errorf("%s: %v", c.line, err)
				}
				t.Logf("%.1f s: %s", time.Since(began).Seconds(), c.line)
				ran++
			}
			t.Logf("%d commands ran as written, %d were left", ran, left)
		})
	}
}

// reader follows a document in a folder of their own, which has from the source
// what the document says is there.
type reader struct {
	folder string
	env    []string
	python string // Debian's, if the document has Python in it
	made   []string
}

// inSource are the folders of a checkout that documents name files in.
var inSource = []string{"examples", "clients", "docs/guide/notebooks"}

func newReader(t *testing.T, cache string) *reader {
	t.Helper()
	isobath, err := exec.LookPath("isobath")
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{folder: t.TempDir()}
	for _, name := range inSource {
		// A copy: pip leaves files beside what it builds.
		if err := os.CopyFS(filepath.Join(r.folder, name), os.DirFS(filepath.Join(test.Root(), name))); err != nil {
			t.Fatal(err)
		}
	}
	programs := filepath.Join(r.folder, ".programs")
	if err := os.Mkdir(programs, 0o755); err != nil {
		t.Fatal(err)
	}
	// The browser that is found first.
	if err := os.WriteFile(filepath.Join(programs, "xdg-open"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.env = append(os.Environ(), "HOME="+r.folder, "XDG_CONFIG_HOME="+r.folder+"/.config", "XDG_CACHE_HOME="+cache,
		"PATH="+programs+":"+filepath.Dir(isobath)+":"+os.Getenv("PATH"), "REPOSITORY="+test.Root(),
		// No network: a package of ours builds itself.
		"PIP_NO_INDEX=1",
		// A container with few cores, and root in it.
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_btl=self,vader", "OMPI_MCA_mpi_yield_when_idle=1")
	return r
}

// documentPeers are programs that readers have, and the packages they are in.
var documentPeers = map[string]string{
	"cc": "gcc", "mpicc": "libopenmpi-dev", "lstopo-no-graphics": "hwloc-nox",
}

var fixtureWord = regexp.MustCompile(`\$FIXTURES/([\w/.-]+)`)

// prepare runs the script of what the reader has, if there is one.
func (r *reader) prepare(t *testing.T) {
	t.Helper()
	name := filepath.Join("testdata", "reader", filepath.Base(t.Name())+".sh")
	script, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for program, debianPackage := range documentPeers {
		if regexp.MustCompile(`(?m)^` + program + ` `).Match(script) {
			test.Peer(t, program, debianPackage)
		}
	}
	text := fixtureWord.ReplaceAllStringFunc(string(script), func(word string) string {
		return test.Fixture(t, strings.TrimPrefix(word, "$FIXTURES/"))
	})
	before := r.files(t)
	if out, err := r.shell(t.Context(), text).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	r.made = slices.DeleteFunc(r.files(t), func(name string) bool { return slices.Contains(before, name) })
}

// files are the names in the reader's folder.
func (r *reader) files(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(r.folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// isTold holds that files which a script made for the reader, and which commands
// name, are spoken of in the text: a reader who types the commands has them not.
func (r *reader) isTold(t *testing.T, file string, commands []documentedCommand) {
	t.Helper()
	document, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile("(?s)\n```.*?\n```").ReplaceAllString(string(document), "")
	for _, name := range r.made {
		word := regexp.MustCompile(`(^|[\s/'"])` + regexp.QuoteMeta(name) + `($|[\s/'"])`)
		named := slices.ContainsFunc(commands, func(c documentedCommand) bool { return c.needs == "" && word.MatchString(c.line) })
		if named && !regexp.MustCompile("`"+regexp.QuoteMeta(name)+"/?`").MatchString(text) {
			t.Errorf("commands name %s, and the text does not say what it is", name)
		}
	}
}

func (r *reader) shell(ctx context.Context, text string) *exec.Cmd {
	if r.python != "" {
		text = fmt.Sprintf("PATH=%s:$PATH\n%s", filepath.Dir(r.python), text)
	}
	cmd := exec.CommandContext(ctx, "sh", "-e", "-c", text)
	cmd.Dir, cmd.Env = r.folder, r.env
	// What it starts ends with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Minute
	return cmd
}

// serving are commands that print an address and end when they are told to.
var serving = regexp.MustCompile(`^isobath (open|serve|demo)\b`)

// statedExit is what a comment says a command may end with.
var statedExit = regexp.MustCompile(`# exit (\d)`)

func (r *reader) follow(t *testing.T, c documentedCommand) error {
	t.Helper()
	line := c.line
	switch {
	case serving.MatchString(line) && !strings.Contains(line, "--unpack"):
		return r.serve(t, line)
	case c.python:
		line = "python3 - <<'PYTHON'\n" + line + "\nPYTHON"
	case strings.HasPrefix(line, "export "):
		out, err := r.shell(t.Context(), line+"; env").Output()
		r.env = strings.Split(string(out), "\n")
		return err
	}
	out, err := r.shell(t.Context(), line).CombinedOutput()
	if code, ok := err.(*exec.ExitError); ok {
		if m := statedExit.FindStringSubmatch(line); m != nil && m[1] == strconv.Itoa(code.ExitCode()) {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// serve starts a command that serves, waits for its address and interrupts it.
func (r *reader) serve(t *testing.T, line string) error {
	cmd := r.shell(t.Context(), "exec "+line)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewReader(out)
	address, readErr := lines.ReadString('\n')
	if readErr == nil {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			return err
		}
		_, readErr = io.Copy(io.Discard, lines)
	}
	if err := cmd.Wait(); err != nil || readErr != nil || !slices.ContainsFunc([]string{"http://127.0.0.1:", "http://localhost:"}, func(p string) bool { return strings.HasPrefix(address, p) }) {
		return fmt.Errorf("it printed %q, then ended: %v\n%s", address, err, complaint.String())
	}
	return nil
}
