package record

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/record/pmu"
)

// workPython spends its time in two functions, one of them below others.
const workPython = `def inner(n):
    s = 0
    for i in range(n):
        s += i * i % 7
    return s
def lookup(d, n):
    s = 0
    for i in range(n):
        s += d[i % len(d)]
    return s
def recurse(k, n):
    return inner(n) if k == 0 else recurse(k - 1, n)
def main():
    d = {i: i for i in range(1000)}
    s = 0
    for r in range(60):
        s += recurse(5, 60000)
        s += lookup(d, 60000)
    print(s)
main()
`

// namingPythons are the interpreters of this machine with a way to name functions.
func namingPythons(t *testing.T) []string {
	t.Helper()
	var found []string
	home, _ := os.UserHomeDir()
	folders := append(filepath.SplitList(os.Getenv("PATH")), filepath.Join(home, ".pyenv", "versions", "*", "bin"))
	for _, dir := range folders {
		here, _ := filepath.Glob(filepath.Join(dir, "python3.[0-9][0-9]"))
		found = append(found, here...)
	}
	found = slices.DeleteFunc(found, func(program string) bool {
		cmd := exec.Command(program, "-X", "perf", "-c", "import sys; sys.exit(not sys.is_stack_trampoline_active())")
		err := cmd.Run()
		if cmd.Process != nil { // it leaves its list of functions for ever
			_ = os.Remove(filepath.Join(perfMapFolder, fmt.Sprintf("perf-%d.map", cmd.Process.Pid)))
		}
		return err != nil
	})
	if len(found) == 0 {
		t.Skip("there is no Python here that names its functions (3.12 and later can)")
	}
	return found
}

// Functions of Python have their names where its interpreter says them, and those
// that called them too; the program is as without.
func TestPythonNames(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: records a program that must not end before it was looked at")
	}
	script := filepath.Join(t.TempDir(), "work.py")
	if err := os.WriteFile(script, []byte(workPython), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, python := range namingPythons(t) {
		t.Run(filepath.Base(python), func(t *testing.T) {
			got, err := Record(t.Context(), &Options{Command: []string{python, "-X", "perf", script}, Mode: Timer, Heap: true, Sampling: pmu.Options{Rate: 1000, Stacks: true}, Say: func(string) {}})
			if err != nil {
				t.Skipf("this machine does not let us sample: %v", err)
			}
			defer os.Remove(filepath.Join(perfMapFolder, fmt.Sprintf("perf-%d.map", got.Outcome.PID)))
			samples := got.Run.Table("samples")
			script, stack := samples.Column("script"), samples.Column("stack")
			if script == nil || stack == nil {
				t.Fatal("no function of the script has a name")
			}
			by, whole, ends := map[string]int{}, 0, []string{"inner;", "lookup;", "recurse;", "main;", "<module>;"}
			for i := range samples.Rows() {
				by[textOf(script, i)]++
				if name := textOf(script, i); name != "inner (work.py)" && name != "lookup (work.py)" {
					continue
				}
				text := ";" + stack.Text(i) + ";"
				want := []string{";<module>;", ";main;", ";lookup;"}
				if textOf(script, i) == "inner (work.py)" {
					want = []string{";<module>;", ";main;", ";recurse;", ";inner;"}
				}
				switch {
				case inOrder(text, want) && strings.Count(text, ";recurse;") != 1:
					whole++
				case !slices.ContainsFunc(ends, func(first string) bool { return strings.HasPrefix(stack.Text(i), first) }):
					// Code that is not known ends a stack, and makes no other of it.
					t.Errorf("a stack of %s is %s", textOf(script, i), stack.Text(i))
				}
			}
			t.Logf("%d samples: %v, %d with all callers", samples.Rows(), by, whole)
			work := by["inner (work.py)"] + by["lookup (work.py)"]
			// What is left is the start of the interpreter.
			if work < samples.Rows()/2 || by["inner (work.py)"] < work/5 || by["lookup (work.py)"] < work/5 {
				t.Errorf("%v of %d samples", by, samples.Rows())
			}
			// Memory that is made executable later is looked for five times a second.
			if whole < work*3/4 {
				t.Errorf("%d of %d stacks are whole", whole, work)
			}
		})
	}
}

// inOrder reports whether a text has all parts, one after the other; they may share
// their ends.
func inOrder(text string, parts []string) bool {
	for _, p := range parts {
		at := strings.Index(text, p)
		if at < 0 {
			return false
		}
		text = text[at+len(p)-1:]
	}
	return true
}
