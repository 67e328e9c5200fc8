package record

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/record/pmu"
)

// readPythons are the interpreters of this machine whose frames are read: one of
// each version and build.
func readPythons(t *testing.T) []string {
	t.Helper()
	home, _ := os.UserHomeDir()
	folders := append(filepath.SplitList(os.Getenv("PATH")), "/usr/bin", filepath.Join(home, ".pyenv", "versions", "*", "bin"))
	var found []string
	seen := map[string]bool{}
	for _, dir := range folders {
		for _, version := range []string{"9", "10", "11"} {
			here, _ := filepath.Glob(filepath.Join(dir, "python3."+version))
			for _, program := range here {
				// A wrapper is asked which program it starts.
				out, err := exec.Command(program, "-c", "import os; print(os.readlink('/proc/self/exe'))").Output()
				if real := strings.TrimSpace(string(out)); err == nil && !seen[real] {
					seen[real] = true
					found = append(found, real)
				}
			}
		}
	}
	if len(found) == 0 {
		t.Skip("there is no Python 3.9 to 3.11 here")
	}
	return found
}

// pythonTruth is what a program says about itself: which function calls which, and
// the lines of each.
type pythonTruth struct {
	Calls [][2]string
	Lines [][2]any

	calls map[[2]string]bool
	lines map[[2]any]bool
}

func truthOf(t *testing.T, python, program string) *pythonTruth {
	t.Helper()
	out, err := exec.Command(python, program, "truth").Output()
	if err != nil {
		t.Fatal(err)
	}
	truth := &pythonTruth{calls: map[[2]string]bool{{"<module>", "main"}: true}, lines: map[[2]any]bool{}}
	if err := json.Unmarshal(out, truth); err != nil {
		t.Fatal(err)
	}
	for _, c := range truth.Calls {
		truth.calls[c] = true
	}
	for _, l := range truth.Lines {
		truth.lines[[2]any{l[0], int(l[1].(float64))}] = true
	}
	return truth
}

// wrong says what of a stack, outermost first, is not so; empty if all is. Lines of
// <module> are not known, as its end runs only outside the truth.
func (p *pythonTruth) wrong(stack []symbol.Frame, program string, mainThread bool) string {
	var before *symbol.Frame
	for i := range stack {
		f := &stack[i]
		if f.File != program {
			if strings.HasSuffix(f.File, ".py") {
				before = nil
			}
			continue
		}
		switch {
		case before != nil && !p.calls[[2]string{before.Function, f.Function}]:
			return before.String() + " does not call " + f.String()
		case f.Function != "<module>" && !p.lines[[2]any{f.Function, f.Line}]:
			return f.String() + " has no such line"
		case f.Function == "<module>" && !mainThread:
			return "another thread is in the main program"
		}
		before = f
	}
	return ""
}

// Stacks of a recorded program in Python have the functions that it runs, and no
// others, whatever it does.
func TestPythonFrames(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: records programs that must not end before they were looked at")
	}
	program, err := filepath.Abs("testdata/frames.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, python := range readPythons(t) {
		t.Run(filepath.Base(filepath.Dir(filepath.Dir(python)))+"/"+filepath.Base(python), func(t *testing.T) {
			truth := truthOf(t, python, program)
			got, err := Record(t.Context(), &Options{Command: []string{python, program, "8"}, Mode: Timer, Heap: true, Sampling: pmu.Options{Rate: 1000, Stacks: true}, Say: func(string) {}})
			if err != nil {
				t.Skipf("this machine does not let us sample: %v", err)
			}
			if got.Outcome.Status != 0 {
				t.Fatalf("the program ended with status %d", got.Outcome.Status)
			}
			checkFrames(t, got.Run.Table("samples"), truth, program)
			for _, w := range got.Run.Warnings {
				if strings.Contains(w, "in Python 3") {
					t.Log(w)
				}
			}
		})
	}
}

func checkFrames(t *testing.T, samples *table.Table, truth *pythonTruth, program string) {
	t.Helper()
	stack, script := samples.Column("stack"), samples.Column("script")
	if script == nil {
		t.Fatal("no sample has a function of the script")
	}
	pid, tid := samples.Column("pid"), samples.Column("tid")
	with, whole, wrong, seen := 0, 0, 0, map[string]int{}
	for i := range samples.Rows() {
		if !script.Has(i) {
			continue
		}
		with++
		mainThread := pid.Float(i) == tid.Float(i)
		frames := symbol.ParseStack(stack.Text(i))
		if why := truth.wrong(frames, program, mainThread); why != "" {
			if wrong++; wrong <= 5 {
				t.Errorf("%s: %s", why, stack.Text(i))
			}
		}
		seen[textOf(script, i)]++
		if text := stack.Text(i); mainThread && strings.Contains(text, "<module>") || strings.Contains(text, "_bootstrap (") || strings.Contains(text, "Thread._bootstrap (") {
			whole++
		}
	}
	t.Logf("%d samples, %d with functions of the script, %d of them to the outermost, %d wrong: %v", samples.Rows(), with, whole, wrong, seen)
	if wrong > 0 {
		t.Errorf("%d of %d stacks are wrong", wrong, with)
	}
	if with < 300 || whole < with*9/10 {
		t.Errorf("%d of %d samples have functions of the script, %d of them to the outermost", with, samples.Rows(), whole)
	}
	for _, name := range []string{"busy", "key", "numbers"} {
		if seen[name+" (frames.py)"] == 0 {
			t.Errorf("no sample is in %s: %v", name, seen)
		}
	}
}

// A program that ends threads, forks and begins other programs while its threads are
// looked at goes on as it would.
func TestPythonLookedAtChanges(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: runs many programs")
	}
	program := filepath.Join(t.TempDir(), "change.py")
	text := `import os, signal, subprocess, sys, threading, time
if len(sys.argv) > 1:
    for i in range(200000): pass
    os._exit(int(sys.argv[1]))
hits = 0
def hit(*_):
    global hits
    hits += 1
signal.signal(signal.SIGALRM, hit)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
def work():
    for i in range(100000): pass
bad = 0
until = time.monotonic() + 4
while time.monotonic() < until:
    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads: t.start()
    pid = os.fork()
    if pid == 0:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for i in range(100000): pass
        os.execv(sys.executable, [sys.executable, __file__, '7'])
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 7: bad += 1
    if subprocess.run([sys.executable, __file__, '5']).returncode != 5: bad += 1
    child = subprocess.Popen([sys.executable, '-c', 'while True: pass'])
    time.sleep(0.05)
    child.kill()
    if child.wait() != -9: bad += 1
    for t in threads: t.join()
signal.setitimer(signal.ITIMER_REAL, 0)
os._exit(3 if bad == 0 and hits > 10 else 4)
`
	if err := os.WriteFile(program, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, python := range readPythons(t) {
		t.Run(filepath.Base(python), func(t *testing.T) {
			begun := time.Now()
			got, err := Record(t.Context(), &Options{Command: []string{python, program}, Mode: Timer, Sampling: pmu.Options{Rate: 1000, Stacks: true}, Say: func(string) {}})
			if err != nil {
				t.Skipf("this machine does not let us sample: %v", err)
			}
			if got.Outcome.Status != 3 {
				t.Errorf("the program ended with status %d after %v", got.Outcome.Status, time.Since(begun))
			}
			if got.Run.Table("samples").Column("script") == nil {
				t.Error("no sample has a function of the script")
			}
		})
	}
}
