package tree_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/loops/tree"
	"github.com/isobath/isobath/internal/record/reftrace"
)

// describedProgram has a loop of each kind that a row says something of. Of 1, 3, 5 …
// 63 the odd numbers are found: of 0 … 39 as many are not.
const describedProgram = `static int a[64], b[64], total;
static float x[104], y[104];
#define ALONE __attribute__((noinline, noclone))
ALONE static int find(int what, int n)
{
	for (int i = 0; i < n; i++)
		if (a[i] == what)
			return i;
	return -1;
}
ALONE static int left(int n) { return find(3, n); }
ALONE static int right(int n) { return find(-1, n) + find(5, n); }
static inline __attribute__((always_inline)) int sum(const int *p, int n)
{
	int s = 0;
	for (int j = 0; j < n; j++)
		s += p[j];
	return s;
}
ALONE static int depth(int n)
{
	b[n] = n;
	return n == 0 ? 0 : 1 + depth(n - 1);
}
ALONE static void jumpIn(int middle)
{
	int k = 0;
	if (middle)
		goto inside;
	while (k < 10) {
		b[k] += 2;
inside:
		a[k] += 2;
		k++;
	}
}
ALONE void run(int n)
{
	for (int w = 0; w < 40; w++)
		total += find(w, 20);
	total += left(20) + right(20);
	for (int t = 0; t < 9; t++)
		for (int u = 0; u < t; u++)
			b[u] += a[t];
	total += sum(b, n);
	total += depth(7) + depth(2);
	for (int v = 0; v < 104; v++)
		y[v] = 2.5f * x[v] + y[v];
	for (;;) {
		total += a[n];
		if (++n > 8)
			break;
	}
	jumpIn(0);
	jumpIn(1);
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 64; i++)
		a[i] = 2 * i + 1;
	run(argc + 4);
	return total == -1;
}
`

// described compiles and records the program.
func described(t *testing.T, level string) (found *tree.Tree, line func(text string) int) {
	t.Helper()
	gcc := test.Peer(t, "gcc", "gcc")
	dir := t.TempDir()
	source, program := filepath.Join(dir, "described.c"), filepath.Join(dir, "described")
	if err := os.WriteFile(source, []byte(describedProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), gcc, "-g", level, source, "-o", program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(describedProgram, "\n")
	return recordTree(t, program, reftrace.Step), func(text string) int {
		return 1 + slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, text) })
	}
}

// TestLoopsAreDescribed holds what a row says of a loop beside its entries and trips:
// how many turns its entries make, where it is left, whose text it is, that a function
// calls itself, that a loop is entered at two places, and the counts by path of calls.
func TestLoopsAreDescribed(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles and steps programs")
	}
	for _, level := range []string{"-O0", "-O2"} {
		t.Run(level, func(t *testing.T) {
			got, line := described(t, level)
			at := func(text string) *tree.Loop {
				t.Helper()
				l := loopAt(got, line(text))
				if l == nil {
					t.Fatalf("no loop at %q", text)
				}
				return l
			}
			// find is called for 0 … 39, 3, -1 and 5 and knows 1, 3 … 39.
			if l := at("int i = 0; i < n"); !l.Exact || l.Entries != 43 || l.Min != 1 || l.Median != 20 || l.Max != 20 {
				t.Errorf("find: %+v", l.Trips)
			} else if want := "left 22 times at line 7, 21 times by its condition"; l.ExitText() != want {
				t.Errorf("find: %q, want %q", l.ExitText(), want)
			}
			if l := at("u < t"); l.Exact && (l.Min != 0 || l.Median != 4 || l.Max != 8 || l.Skipped != 1 || l.ExitText() != "") {
				t.Errorf("the triangle: %+v, %q", l.Trips, l.ExitText())
			} else if level == "-O0" && !l.Exact {
				t.Errorf("the triangle is not exact: %s", l.Why)
			}
			if l := at("j < n"); l.Function != "sum" || l.Home != "run" {
				t.Errorf("a loop of sum in run is %s's in %s", l.Function, l.Home)
			}
			if l := at("for (;;)"); l.Exact && l.ExitText() != "left 1 time at line 51" {
				t.Errorf("the endless loop: %q", l.ExitText())
			}
			if l := at("while (k < 10)"); level == "-O0" && !l.Irreducible || at("w < 40").Irreducible {
				t.Errorf("entered at two places: %v, %v", l.Irreducible, at("w < 40").Irreducible)
			}
			if l := at("int v"); (l.Factor > 1) != (level == "-O2") {
				t.Errorf("at %s one turn of the code is %d of the text", level, l.Factor)
			}
			checkRecursion(t, got, level)
			if level == "-O0" { // else the call in left is a jump
				checkPaths(t, got, line("int i = 0; i < n"))
			}
		})
	}
}

// checkRecursion: depth(7) and depth(2) are ten calls that are entered twice, unless the
// compiler made a loop of them.
func checkRecursion(t *testing.T, got *tree.Tree, level string) {
	t.Helper()
	i := slices.IndexFunc(got.Loops, func(l tree.Loop) bool { return l.Kind == tree.Recursion && l.Function == "depth" })
	switch {
	case i < 0 && level == "-O0":
		t.Error("depth does not call itself")
	case i >= 0 && (got.Loops[i].Entries != 2 || got.Loops[i].Trips.Trips != 11):
		t.Errorf("depth is called %d times, %d of them from outside", got.Loops[i].Trips.Trips, got.Loops[i].Entries)
	}
}

// checkPaths: find by itself, through left and through right.
func checkPaths(t *testing.T, got *tree.Tree, line int) {
	t.Helper()
	want := map[string][2]uint64{"find": {40, 610}, "left find": {1, 2}, "right find": {2, 20 + 3}}
	for i := range got.Nodes {
		n := &got.Nodes[i]
		if got.Loops[n.Loop].Line != line {
			continue
		}
		path := strings.TrimPrefix(strings.Join(n.Path, " "), "run ")
		if w, ok := want[path]; !ok || n.Entries != w[0] || n.Trips.Trips != w[1] {
			t.Errorf("by %q: %d trips in %d entries, want %v", path, n.Trips.Trips, n.Entries, w)
		}
		delete(want, path)
	}
	if len(want) > 0 {
		t.Errorf("no counts by %v", want)
	}
}
