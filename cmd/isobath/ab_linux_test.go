package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/machine/hw/sysfs"
	"github.com/isobath/isobath/internal/memory/trial"
)

// chase is a program whose function solve does ROUNDS rounds.
const chase = `#include <stdlib.h>
static unsigned next[1 << 16];
__attribute__((noinline)) static unsigned solve(long rounds) {
	unsigned at = 0;
	while (rounds--)
		at = next[at];
	return at;
}
int main(void) {
	for (unsigned i = 0; i < 1 << 16; i++)
		next[i] = (i * 40503 + 1) & 0xffff;
	return solve(ROUNDS) == 1 << 20;
}
`

// compile builds chase under a name.
func (r *recorder) compile(name string, rounds int) string {
	r.t.Helper()
	source := filepath.Join(r.dir, "chase.c")
	if err := os.WriteFile(source, []byte(chase), 0o666); err != nil {
		r.t.Fatal(err)
	}
	program := filepath.Join(r.dir, name)
	if out, err := exec.Command(test.Peer(r.t, "gcc", "gcc"), "-O1", "-g", fmt.Sprintf("-DROUNDS=%d", rounds), "-o", program, source).CombinedOutput(); err != nil {
		r.t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// told is a command that writes a word to a file before it does its work.
func told(file, word, work string) []string {
	return []string{"sh", "-c", fmt.Sprintf("echo %s >> %s; %s", word, file, work)}
}

// pairsIn are the recordings of a folder by their names, and what else is there.
func pairsIn(t *testing.T, folder string) (names []string, manifests map[string]*run.Manifest) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	manifests = map[string]*run.Manifest{}
	for _, e := range entries {
		names = append(names, e.Name())
		if m, err := run.ReadManifest(filepath.Join(folder, e.Name())); err == nil {
			manifests[e.Name()] = m
		}
	}
	return names, manifests
}

// wanted are the names of so many whole pairs.
func wanted(pairs int, others ...string) []string {
	for i := range pairs {
		others = append(others, fmt.Sprintf("p%02da.isobath", i), fmt.Sprintf("p%02db.isobath", i))
	}
	slices.Sort(others)
	return others
}

func keptTrial(t *testing.T, folder string) *trial.Report {
	t.Helper()
	r, err := trial.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRecordPairs records two programs in pairs: in the order of the coin, as the
// programs themselves say, each run with the flags that were given, for diff to
// compare in pairs.
func TestRecordPairs(t *testing.T) {
	r := newRecorder(t)
	old, young := r.compile("old", 6_000_000), r.compile("new", 12_000_000)
	log, folder := filepath.Join(r.dir, "log"), filepath.Join(r.dir, "trial")
	const pairs = 6
	args := append([]string{"record", "--repeat", strconv.Itoa(pairs), "--pair", "--rate", "2000", "--stacks=false", "-o", folder, "--"}, told(log, "a", "exec "+old)...)
	out, err := r.command(append(append(args, "--"), told(log, "b", "exec "+young)...)...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "isobath diff "+folder) {
		t.Fatalf("%v\n%s", err, out)
	}
	report := keptTrial(t, folder)
	if report.Pairs != pairs || report.Stopped != trial.MostPairs && report.Stopped != trial.Decided || report.Commands[0][2] != "echo a >> "+log+"; exec "+old {
		t.Errorf("%d pairs, %s, commands %q", report.Pairs, report.Stopped, report.Commands)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	order := strings.Fields(string(text))
	want := []string{"a", "b"} // to warm up
	coin := trial.NewCoin(report.Seed)
	for range pairs {
		if coin.BFirst() {
			want = append(want, "b", "a")
		} else {
			want = append(want, "a", "b")
		}
	}
	if !slices.Equal(order, want) {
		t.Errorf("the programs ran as %v, the coin says %v", order, want)
	}
	names, manifests := pairsIn(t, folder)
	if all := wanted(pairs, trial.File); !slices.Equal(names, all) {
		t.Errorf("the folder holds %v", names)
	}
	for name, m := range manifests {
		var pair int
		var side string
		if _, err := fmt.Sscanf(name, "p%02d%1s", &pair, &side); err != nil {
			t.Fatal(err)
		}
		x := m.Recording.Trial
		if first := want[2+2*pair] == side; x == nil || x.Pair != pair || x.Side != side || x.First != first || m.Recording.Period != 500_000 {
			t.Errorf("%s: %+v, one sample every %d ns", name, x, m.Recording.Period)
		}
		if stack := r.columns(filepath.Join(folder, name), "stack"); stack {
			t.Errorf("%s: --stacks=false was not passed on", name)
		}
	}
	var d struct {
		Design, Drift string
		Pairs         int
		A, B          struct{ Cost float64 }
		Groups        []struct{ Key map[string]any }
	}
	shown, err := r.command("diff", folder, "--by", "function", "--json").Output()
	if err == nil {
		err = json.Unmarshal(shown, &d)
	}
	if err != nil || d.Design != "pairs" || d.Drift != "controlled" || d.Pairs != pairs || d.B.Cost < d.A.Cost || len(d.Groups) == 0 || d.Groups[0].Key["function"] != "solve" {
		t.Errorf("%v: %+v", err, d)
	}
	// The folder is not recorded into again.
	if out, err := r.command(append(args, "--", "true")...).CombinedOutput(); err == nil || !strings.Contains(string(out), "exists") {
		t.Errorf("%v\n%s", err, out)
	}
}

// columns says whether a run has values in a column.
func (r *recorder) columns(path, name string) bool {
	r.t.Helper()
	_, samples := r.open(path)
	c := samples.Column(name)
	return c != nil && c.Provenance.String() != "absent"
}

// TestRecordPairsFails: a program that fails in the middle ends the recording with
// its last words; the pairs before it stay and compare, its own is gone.
func TestRecordPairsFails(t *testing.T) {
	r := newRecorder(t)
	old := r.compile("old", 3_000_000)
	for _, tt := range []struct {
		name string
		good int // runs of B that end well, the one to warm up among them
		left int // pairs
	}{{"at first", 0, 0}, {"in the first pair", 1, 0}, {"in the fourth", 4, 3}} {
		t.Run(tt.name, func(t *testing.T) {
			count, folder := filepath.Join(r.dir, fmt.Sprintf("count%d", tt.good)), filepath.Join(r.dir, fmt.Sprintf("trial%d", tt.good))
			cmd := r.command("record", "--repeat", "6", "--pair", "-o", folder, "--", old, "--", "sh", "-c",
				fmt.Sprintf("echo x >> %s; [ $(wc -l < %[1]s) -le %d ] || { echo the disk is full >&2; exit 7; }; exec %s", count, tt.good, old))
			out, err := cmd.CombinedOutput()
			var status *exec.ExitError
			if !errors.As(err, &status) || status.ExitCode() != 1 || !strings.Contains(string(out), "ended with status 7") || !strings.Contains(string(out), "the disk is full") {
				t.Fatalf("%v\n%s", err, out)
			}
			if tt.left == 0 {
				if _, err := os.Lstat(folder); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("%s stays: %v", folder, err)
				}
				return
			}
			if said := fmt.Sprintf("%d pairs recorded before are in %s", tt.left, folder); !strings.Contains(string(out), said) {
				t.Errorf("%q is not said:\n%s", said, out)
			}
			if names, _ := pairsIn(t, folder); !slices.Equal(names, wanted(tt.left)) {
				t.Errorf("the folder holds %v", names)
			}
			if out, err := r.command("diff", folder, "--by", "function").CombinedOutput(); err != nil || !strings.Contains(string(out), fmt.Sprintf("with %d pairs", tt.left)) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestRecordPairsInterrupted: Ctrl-C in the middle of a pair keeps the pairs before
// it, and nothing of the one that it ended, in the folder or running.
func TestRecordPairsInterrupted(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	r := newRecorder(t)
	began, gate := filepath.Join(r.dir, "began"), filepath.Join(r.dir, "gate")
	var ends []*os.File
	for _, path := range []string{began, gate} {
		if err := syscall.Mkfifo(path, 0o666); err != nil {
			t.Fatal(err)
		}
		os.Chmod(path, 0o666)
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		ends = append(ends, f)
	}
	lines := bufio.NewReader(ends[0])
	folder := filepath.Join(r.dir, "trial")
	waits := []string{"sh", "-c", fmt.Sprintf("echo $$ > %s; read word < %s", began, gate)}
	cmd := r.command(append(append(append([]string{"record", "--repeat", "5", "--pair", "-o", folder, "--"}, waits...), "--"), waits...)...)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := 0
	const whole = 2
	for i := range 2 + 2*whole + 2 { // to warm up, two pairs, and into the third
		line, err := lines.ReadString('\n')
		if err == nil {
			pid, err = strconv.Atoi(strings.TrimSpace(line))
		}
		if err != nil {
			t.Fatal(err)
		}
		if i < 2+2*whole+1 {
			fmt.Fprintln(ends[1], "go")
		}
	}
	cmd.Process.Signal(syscall.SIGINT)
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	if !strings.Contains(out.String(), fmt.Sprintf("interrupted after %d pairs", whole)) {
		t.Errorf("%s", out.String())
	}
	if names, _ := pairsIn(t, folder); !slices.Equal(names, wanted(whole, trial.File)) {
		t.Errorf("the folder holds %v", names)
	}
	if report := keptTrial(t, folder); report.Stopped != trial.Interrupted || report.Pairs != whole {
		t.Errorf("%s after %d pairs", report.Stopped, report.Pairs)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the program is still there: %v", err)
	}
}

// TestTrialStoppedAtOnce: Ctrl-C before there is a pair says that nothing is measured,
// ends with 1 and leaves nothing behind, whether a command warms up or the first pair
// is under way.
func TestTrialStoppedAtOnce(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	r := newRecorder(t)
	for name, runs := range map[string]int{"while A warms up": 1, "while B warms up": 2, "in the first pair": 3} {
		t.Run(name, func(t *testing.T) {
			began := filepath.Join(r.dir, fmt.Sprintf("began%d", runs))
			if err := syscall.Mkfifo(began, 0o666); err != nil {
				t.Fatal(err)
			}
			os.Chmod(began, 0o666)
			f, err := os.OpenFile(began, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			folder := filepath.Join(r.dir, "stopped")
			// The run that is to be interrupted waits for ever, those before it do not.
			waits := []string{"sh", "-c", fmt.Sprintf("echo x >> %s.runs; echo $$ > %[1]s; [ $(wc -l < %[1]s.runs) -lt %d ] || exec sleep 1000", began, runs)}
			cmd := r.command(append(append(append([]string{"ab", "--record", folder, "--"}, waits...), "--"), waits...)...)
			var out strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewReader(f)
			pid := 0
			for range runs {
				line, err := lines.ReadString('\n')
				if err == nil {
					pid, err = strconv.Atoi(strings.TrimSpace(line))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			cmd.Process.Signal(syscall.SIGINT)
			err = cmd.Wait()
			var status *exec.ExitError
			if !errors.As(err, &status) || status.ExitCode() != 1 || !strings.Contains(out.String(), "stopped before the first pair: nothing is measured") || strings.Contains(out.String(), "context") {
				t.Errorf("%v\n%s", err, out.String())
			}
			if _, err := os.Lstat(folder); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s stays: %v", folder, err)
			}
			if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("the command is still there: %v", err)
			}
		})
	}
}

// TestRecordPairsFlags: what would do nothing is refused before anything runs.
func TestRecordPairsFlags(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "trial")
	for flags, want := range map[string]string{
		"--repeat -3": "--repeat -3: want 1 to", "--repeat 0": "--repeat 0: want 1 to", "--force": "--force replaces one run", "--duration 1s": "mean nothing with --pair",
		"--rate -1": "--rate -1: want 1 to", "--mode fast": "want auto, pmu or timer", "--refs": "record one", "--backend step": "belongs to --refs",
	} {
		args := append(append([]string{"record", "--pair", "-o", folder}, strings.Fields(flags)...), "--", "false", "--", "false")
		if _, err := isobath(t, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", flags, err, want)
		}
	}
	if _, err := os.Lstat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s was made: %v", folder, err)
	}
}

// TestTrialCountsReferences: the lane without noise. Each round of the program makes
// one reference, so 30 more are 30 more, however noisy the times are.
func TestTrialCountsReferences(t *testing.T) {
	if testing.Short() {
		t.Skip("records programs")
	}
	r := newRecorder(t)
	old, young := r.compile("old", 1000), r.compile("new", 1030)
	kept := filepath.Join(r.dir, "trial.json")
	out, err := r.command("ab", "--runs", "2", "--refs", "solve", "--backend", "step", "-o", kept, "--", old, "--", young).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lanes := map[string]trial.Lane{}
	for _, l := range keptTrial(t, kept).Lanes {
		lanes[l.Lane] = l
	}
	refs := lanes["refs"]
	a, isA := refs.A.(float64)
	b, isB := refs.B.(float64)
	if !isA || !isB || refs.Provenance != "derived" || refs.Exact == nil || !*refs.Exact || b-a != 30 || a < 1000 || a > 1100 || refs.Verdict != "" || refs.Low != nil {
		t.Errorf("references %+v", refs)
	}
	if want := fmt.Sprintf("refs  %v → %v (derived), +%.1f %%", a, b, 100*(b/a-1)); !strings.Contains(string(out), want) {
		t.Errorf("%q is not said:\n%s", want, out)
	}
	// Misses follow where the machine says its caches; those of more rounds are no fewer.
	t.Run("misses", func(t *testing.T) {
		topology, err := sysfs.Local()
		if err != nil {
			t.Skip("the machine does not describe itself")
		}
		machine, err := platform.FromTopology(topology)
		if err != nil {
			t.Skipf("caches that cannot be modelled: %v", err)
		}
		for _, level := range machine.Levels {
			l := lanes["misses "+level.Name]
			a, isA := l.A.(float64)
			b, isB := l.B.(float64)
			if !isA || !isB || l.Provenance != "modelled" || a <= 0 || b < a || b > 1100 || !strings.Contains(string(out), fmt.Sprintf("≈ %v → ≈ %v (modelled)", a, b)) {
				t.Errorf("misses of %s: %+v\n%s", level.Name, l, out)
			}
		}
	})
	// What is not the same twice is said to be so, with both counts.
	random := filepath.Join(r.dir, "random.c")
	if err := os.WriteFile(random, []byte(strings.Replace(chase, "solve(ROUNDS)", "solve(100 + getpid() % 1000)", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(r.dir, "random")
	if out, err := exec.Command(test.Peer(t, "gcc", "gcc"), "-O1", "-g", "-include", "unistd.h", "-o", program, random).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err = r.command("ab", "--runs", "2", "--refs", "solve", "--backend", "step", "--", program, "--", old).CombinedOutput(); err != nil || !strings.Contains(string(out), "refs  not deterministic here: A ") || strings.Contains(string(out), "misses") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestDiffEmptyRun: a run without samples is no run without debug information.
func TestDiffEmptyRun(t *testing.T) {
	r := newRecorder(t)
	for _, run := range [][]string{{"none", "true"}, {"some", r.compile("old", 20_000_000)}} {
		// Often enough for a tenth of a second, too seldom for the start of a program.
		if out, err := r.command("record", "--rate", "100", "-o", run[0]+".isobath", "--", run[1]).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	for args, want := range map[string]string{"none some": "A: none.isobath has no samples", "some none": "B: none.isobath has no samples"} {
		a, b, _ := strings.Cut(args, " ")
		out, err := r.command("diff", a+".isobath", b+".isobath").CombinedOutput()
		var status *exec.ExitError
		if !errors.As(err, &status) || status.ExitCode() != 1 || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v\n%s", args, err, out)
		}
	}
}
