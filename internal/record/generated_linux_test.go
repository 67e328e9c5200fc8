package record

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/run"
)

// chaseJS spends nearly all its time in chaseTable.
const chaseJS = `function fillTable(a) {
	for (let i = 0; i < a.length; i++) a[i] = (i + 7919) % a.length;
}
function chaseTable(a, n) {
	let p = 0, s = 0;
	for (let i = 0; i < n; i++) {
		p = a[p];
		s += p;
	}
	return s;
}
const t = new Int32Array(1 << 18);
fillTable(t);
let s = 0;
for (let r = 0; r < 120; r++) s += chaseTable(t, 1 << 20);
if (s < 0) console.log(s);
`

// shareOf is the part of the samples whose column has a value.
func shareOf(t *testing.T, r *run.Run, column, want string) float64 {
	t.Helper()
	c := r.Contents[0].Column(column)
	if c == nil {
		t.Fatalf("no column %s", column)
	}
	n := 0
	for i := range c.Len() {
		if c.Has(i) && c.Text(i) == want {
			n++
		}
	}
	return float64(n) / float64(c.Len())
}

// elsewhere complains about samples of a function whose line is not one of its own.
func elsewhere(t *testing.T, r *run.Run, function string, first, last float64) {
	t.Helper()
	functions, lines := r.Contents[0].Column("function"), r.Contents[0].Column("line")
	for i := range functions.Len() {
		if functions.Has(i) && functions.Text(i) == function && lines.Has(i) && (lines.Float(i) < first || lines.Float(i) > last) {
			t.Errorf("a sample of %s is in line %s", function, lines.Text(i))
			return
		}
	}
}

// Code that V8 makes has the names of the script, by both ways V8 has to say them;
// the second knows lines too.
func TestGeneratedNames(t *testing.T) {
	node := test.Peer(t, "node", "nodejs")
	dir := t.TempDir()
	script := filepath.Join(dir, "chase.js")
	if err := os.WriteFile(script, []byte(chaseJS), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir) // where V8 puts a jitdump
	for _, flag := range []string{"--perf-basic-prof", "--perf-prof"} {
		r := recorded(t, &Options{Command: []string{node, flag, script}})
		if got := shareOf(t, r, "function", "chaseTable"); got < 0.5 {
			t.Errorf("%s: %.0f %% of the samples are in chaseTable, want most", flag, got*100)
		}
		for _, w := range r.Warnings {
			if strings.Contains(w, "generated") {
				t.Errorf("%s: %s", flag, w)
			}
		}
		// Some tables of lines that V8 writes are garbled and left out, so that there
		// may be none; those there are lie in the function.
		if flag == "--perf-prof" {
			elsewhere(t, r, "chaseTable", 4, 11)
		}
	}
	left, _ := filepath.Glob(filepath.Join(perfMapFolder, "perf-*.map"))
	for _, path := range left { // V8 leaves them for ever
		if body, err := os.ReadFile(path); err == nil && strings.Contains(string(body), script) {
			_ = os.Remove(path)
		}
	}
}

// sweepJava spends nearly all its time in sweep.
const sweepJava = `public class Sweep {
	static long[] table = new long[1 << 20];
	static long sweep(int n) {
		long s = 0;
		for (int i = 0; i < n; i++) {
			int at = (int) ((i * 2654435761L) & (table.length - 1));
			s += table[at];
			table[at] = s;
		}
		return s;
	}
	public static void main(String[] args) {
		long s = 0;
		for (int i = 0; i < 100; i++) s += sweep(1 << 20);
		if (s == 42) System.out.println(s);
	}
}
`

// A Java machine lists what it compiled when it ends, without an agent.
func TestGeneratedNamesOfJava(t *testing.T) {
	javac := test.Peer(t, "javac", "openjdk-17-jdk-headless")
	dir := t.TempDir()
	source := filepath.Join(dir, "Sweep.java")
	if err := os.WriteFile(source, []byte(sweepJava), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(javac, "-d", dir, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, err := Record(t.Context(), &Options{Command: []string{"java", "-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit", "-cp", dir, "Sweep"}, Mode: Timer, Say: func(string) {}})
	if err != nil {
		t.Skipf("this machine does not let us sample: %v", err)
	}
	if got.Outcome.Status != 0 {
		t.Skipf("this Java lists nothing: status %d", got.Outcome.Status)
	}
	defer os.Remove(filepath.Join(perfMapFolder, fmt.Sprintf("perf-%d.map", got.Outcome.PID)))
	if share := shareOf(t, got.Run, "function", "long Sweep.sweep(int)"); share < 0.5 {
		t.Errorf("%.0f %% of the samples are in sweep, want most", share*100)
	}
}

// A file that another process or user left has no names for this one.
func TestGeneratedOfOthers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "perf-7.map")
	if err := os.WriteFile(path, []byte("1000 80 old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	reads := 0
	read := func(int, io.Reader) error { reads++; return nil }
	now := time.Now()
	if err := readGenerated(7, path, now.Add(-time.Hour), read); err != nil || reads != 1 {
		t.Errorf("a new file: %v", err)
	}
	if err := readGenerated(7, path, now.Add(time.Hour), read); err == nil || reads != 1 {
		t.Error("a file from before the process was read")
	}
	link := filepath.Join(dir, "perf-8.map")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := readGenerated(8, link, time.Time{}, read); err == nil || reads != 1 {
		t.Error("a link was followed")
	}
	pipe := filepath.Join(dir, "perf-9.map")
	if out, err := exec.Command("mkfifo", pipe).CombinedOutput(); err != nil {
		t.Fatal(fmt.Errorf("%w: %s", err, out))
	}
	if err := readGenerated(9, pipe, time.Time{}, read); err == nil || reads != 1 {
		t.Error("a pipe was read")
	}
}
