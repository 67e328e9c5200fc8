package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/memory/profile"
)

const nestedC = `
volatile long sink;
void leaf(void) { for (int i = 0; i < 20000; i++) sink += i; }
void left(void) { leaf(); }
void right(void) { leaf(); leaf(); }
int main(void) { for (int i = 0; i < 4000; i++) { left(); right(); } }
`

// TestStacksAgainstPerf records call stacks with perf and compares the folded
// stacks of user code with what perf itself says about the same file.
func TestStacksAgainstPerf(t *testing.T) {
	perf, cc := test.Peer(t, "perf", "linux-perf"), test.Peer(t, "cc", "gcc")
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(in("nested.c"), []byte(nestedC), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-g", "-O0", "-fno-omit-frame-pointer", in("nested.c"), "-o", in("nested")).CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	if out, err := exec.Command(perf, "record", "-q", "-e", "cpu-clock:u", "-F", "2000", "-g", "-o", in("perf.data"), in("nested")).CombinedOutput(); err != nil {
		t.Skipf("perf cannot record here: %v\n%s", err, out)
	}
	root := newRoot()
	root.SetArgs([]string{"export", in("perf.data"), "-o", in("out.folded")})
	if err := root.ExecuteContext(context.Background()); err != nil {
		t.Fatal(err)
	}
	ours, err := os.ReadFile(in("out.folded"))
	if err != nil {
		t.Fatal(err)
	}
	script, err := exec.Command(perf, "script", "-i", in("perf.data"), "-F", "ip,sym").Output()
	if err != nil {
		t.Fatal(err)
	}
	got, want := ownStacks(string(ours)), ownStacks(foldScript(string(script)))
	if !slices.Equal(got, want) || len(want) < 2 {
		t.Errorf("stacks\n%s\nperf says\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := ownStacks(foldTree(t, in("perf.data"))); !slices.Equal(got, want) {
		t.Errorf("the tree of calls\n%s\nperf says\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// foldTree makes folded stacks of the tree of calls: a line for each node that
// has samples of its own.
func foldTree(t *testing.T, file string) string {
	t.Helper()
	root, printed := newRoot(), &strings.Builder{}
	root.SetArgs([]string{"callers", file, "--tree", "--least", "0", "--json"})
	root.SetOut(printed)
	if err := root.ExecuteContext(context.Background()); err != nil {
		t.Fatal(err)
	}
	var tree profile.CallTree
	if err := json.Unmarshal([]byte(printed.String()), &tree); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	var path []string
	for _, n := range tree.Callees {
		path = append(path[:n.Depth], n.Function)
		if n.Self.Samples > 0 {
			fmt.Fprintf(&out, "%s %d\n", strings.Join(path, ";"), n.Self.Samples)
		}
	}
	return out.String()
}

// foldScript folds the output of perf script: a line a frame, innermost first,
// samples separated by empty lines.
func foldScript(text string) string {
	counts := map[string]int{}
	frame := regexp.MustCompile(`^\s*[0-9a-f]+ (.*)$`)
	for sample := range strings.SplitSeq(text, "\n\n") {
		var names []string
		for line := range strings.Lines(sample) {
			if m := frame.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
				names = append(names, m[1])
			}
		}
		slices.Reverse(names)
		counts[strings.Join(names, ";")]++
	}
	var out strings.Builder
	for stack, n := range counts {
		fmt.Fprintf(&out, "%s %d\n", stack, n)
	}
	return out.String()
}

// ownStacks keeps the functions of the program, whose names both tools know:
// what libraries without symbols are called differs.
func ownStacks(folded string) []string {
	sums := map[string]int{}
	for line := range strings.Lines(folded) {
		at := strings.LastIndexByte(strings.TrimSpace(line), ' ')
		if at < 0 {
			continue
		}
		var names []string
		for name := range strings.SplitSeq(line[:at], ";") {
			if slices.Contains([]string{"main", "left", "right", "leaf"}, name) {
				names = append(names, name)
			}
		}
		n := 0
		fmt.Sscan(line[at:], &n)
		if len(names) > 0 {
			sums[strings.Join(names, ";")] += n
		}
	}
	var out []string
	for stack, n := range sums {
		out = append(out, fmt.Sprintf("%s %d", stack, n))
	}
	slices.Sort(out)
	return out
}
