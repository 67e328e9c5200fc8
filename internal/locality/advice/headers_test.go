package advice

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/locality/replay"
	"github.com/isobath/isobath/internal/loops/tree"
)

// TestReadHeader: the variable of a loop is read where the text has one, its parts
// only where it counts up by one.
func TestReadHeader(t *testing.T) {
	for text, want := range map[string]header{
		"for (int y = 1; y < n - 1; y++)":                   {"y", "for (int y = 1; y < n - 1; y++)", "1", "n - 1", "int ", false},
		"for (std::size_t row=0; row<=last(m); ++row) {":    {"row", "for (std::size_t row=0; row<=last(m); ++row)", "0", "(last(m)) + 1", "std::size_t ", false},
		"for (k = lo; k < hi; k += 1)":                      {"k", "for (k = lo; k < hi; k += 1)", "lo", "hi", "", false},
		"for (int k = n; k > 0; k--)":                       {name: "k", text: "for (int k = n; k > 0; k--)"},
		"for (int k = 0; k < n; k += 2)":                    {name: "k", text: "for (int k = 0; k < n; k += 2)"},
		"for (int i = 0, k = 0; i < n; i++)":                {name: "i", text: "for (int i = 0, k = 0; i < n; i++)"},
		"for (int i = 0; k < n; i++)":                       {name: "i", text: "for (int i = 0; k < n; i++)"},
		"for i := 0; i < n; i++ {":                          {name: "i", text: "for i := 0; i < n; i++ {"},
		"DO j = 2, n - 1":                                   {"j", "DO j = 2, n - 1", "2", "n - 1", "", false},
		"outer: do jj = 1, size(a, 2) ! columns":            {},
		"do 10 i = 1, 20":                                   {"i", "do 10 i = 1, 20", "1", "20", "", false},
		"while (p)":                                         {},
		"for (; i < n; i++)":                                {},
		"for (auto &x : all)":                               {},
		"for (it = v.begin(); it != v.end(); ++it) f(*it);": {name: "it", text: "for (it = v.begin(); it != v.end(); ++it) f(*it);"},
	} {
		got, ok := readHeader(text)
		if ok != (want.name != "") || got != want {
			t.Errorf("%q: %+v, %v, want %+v", text, got, ok, want)
		}
	}
}

// nestOf is a finder with a nest of three trips and the loops of a program.
func nestOf(loops ...tree.Loop) (*finder, *replay.Nest) {
	for i := range loops {
		loops[i].Kind, loops[i].Parent, loops[i].Depth = tree.Plain, i-1, i
	}
	loops[len(loops)-1].Accesses = []tree.Access{{PC: 0x400}}
	f := &finder{trace: &replay.Trace{Codes: []replay.Code{{PC: 0x400}}, Accesses: make([]replay.Access, 1), Places: []refs.Place{{File: "a.c", Line: 3}}}}
	f.Loops = func() *tree.Tree { return &tree.Tree{Loops: loops, Recorded: true} }
	return f, &replay.Nest{Body: []uint32{0}, Trips: []int{6, 20}}
}

func loopOf(text string, trips uint64) tree.Loop {
	return tree.Loop{Text: text, Exact: true, Trips: tree.Trips{Min: trips, Max: trips, Median: trips}}
}

// TestLoopsHaveTheirNames: loops are called as in the source where every loop of a
// nest is one of the text with as many turns; else the code says that its names are
// placeholders.
func TestLoopsHaveTheirNames(t *testing.T) {
	rough := loopOf("for (int y = 0; y < 6; y++)", 6)
	rough.Exact = false
	varies := loopOf("for (int y = 0; y < m; y++)", 6)
	varies.Max = 7
	y, x := loopOf("for (int y = 1; y < 7; y++)", 6), loopOf("for (int x = 2; x <= 21; ++x)", 20)
	for _, tt := range []struct {
		name  string
		loops []tree.Loop
		order string // of the loops exchanged
	}{
		{"both", []tree.Loop{y, x}, "x y"},
		{"of three", []tree.Loop{loopOf("for (int step = 0; step < 3; step++)", 3), y, x}, "x y"},
		{"not exact", []tree.Loop{rough, x}, "j i"},
		{"of varying turns", []tree.Loop{varies, x}, "j i"},
		{"other turns", []tree.Loop{x, y}, "j i"},
		{"too few", []tree.Loop{x}, "j i"},
		{"no variable", []tree.Loop{loopOf("while (more())", 6), x}, "j i"},
		{"two of a name", []tree.Loop{y, loopOf("for (int y = 0; y < 20; y++)", 20)}, "j i"},
	} {
		f, n := nestOf(tt.loops...)
		named := f.naming(n)
		swapped := []replay.Loop{{Of: 1}, {Of: 0}}
		if got := named.order(swapped); got != tt.order {
			t.Errorf("%s: order %q, want %q", tt.name, got, tt.order)
		}
		if code := named.code(n, swapped); strings.Contains(code, "placeholders") != (tt.order == "j i") {
			t.Errorf("%s:\n%s", tt.name, code)
		}
	}
	// The loop that calls the function of both stays where it is, and is not printed.
	f, n := nestOf(y, x)
	n.Trips = []int{2, 6, 20}
	named, swapped := f.naming(n), []replay.Loop{{Of: 0}, {Of: 2}, {Of: 1}}
	if got := named.order(swapped); got != "x y" {
		t.Errorf("below a call: order %q", got)
	}
	want := "// now\nfor (int y = 1; y < 7; y++)\n\tfor (int x = 2; x <= 21; ++x)\n// then\nfor (int x = 2; x <= 21; ++x)\n\tfor (int y = 1; y < 7; y++)\n"
	if code := named.code(n, swapped); code != want {
		t.Errorf("below a call:\n%s", code)
	}
	if code := named.code(n, []replay.Loop{{Of: 1}, {Of: 0}, {Of: 2}}); !strings.Contains(code, "the variables count turns") {
		t.Errorf("the call itself is exchanged:\n%s", code)
	}
	f, n = nestOf(y, x)
	f.Loops = nil
	if got := f.naming(n).order([]replay.Loop{{Of: 1}}); got != "j" {
		t.Errorf("without a tree: %q", got)
	}
}

// TestWrittenLoopsVisitTheSame compiles orders of loops as advice prints them, with
// the headers of the source: exchanged and cut into tiles they visit the same turns.
func TestWrittenLoopsVisitTheSame(t *testing.T) {
	gcc := test.Peer(t, "gcc", "gcc")
	parts := regexp.MustCompile(`(?m)^// (?:now|then)\n`)
	for _, texts := range [][2]string{
		{"for (int y = 1; y < 7; y++)", "for (int x = 2; x <= 21; ++x)"},
		{"for (i = 0; i < n; i++)", "for (ii = lo; ii < lo + 20; ii += 1)"},
		{"for (int y = 6; y > 0; y--)", "for (int x = 0; x < 20; x++)"},
		{"for (int y = 0; y < 6; y++)", "for (int x = y; x < y + 20; x++)"}, // turns are counted
	} {
		f, n := nestOf(loopOf(texts[0], 6), loopOf(texts[1], 20))
		named := f.naming(n)
		for what, loops := range map[string][]replay.Loop{
			"exchanged": {{Of: 1}, {Of: 0}},
			"tiled":     {{Of: 1, Tile: 8}, {Of: 1, Tile: 8, In: true}, {Of: 0}},
			"even":      {{Of: 0}, {Of: 1, Tile: 5}, {Of: 1, Tile: 5, In: true}},
			"outer":     {{Of: 0, Tile: 4}, {Of: 1}, {Of: 0, Tile: 4, In: true}},
		} {
			code := named.code(n, loops)
			var sums []string
			for _, part := range parts.Split(code, -1)[1:] {
				a, b := named.names[0], named.names[1]
				source := fmt.Sprintf("#include <stdio.h>\n#define min(a, b) ((a) < (b) ? (a) : (b))\nint main(void) { int i, ii, i_block, iiii, x, xx, y, yy, n = 6, lo = 3; long turns = 0, sum = 0; (void)i, (void)ii, (void)i_block, (void)iiii, (void)x, (void)xx, (void)y, (void)yy, (void)n, (void)lo;\n%s{ turns++; sum += 1000 * %s + %s * %s; }\nprintf(\"%%ld %%ld\", turns, sum); }\n", part, a, b, b)
				file, exe := filepath.Join(t.TempDir(), "a.c"), filepath.Join(t.TempDir(), "a")
				if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
					t.Fatal(err)
				}
				if out, err := exec.Command(gcc, "-o", exe, file).CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s\n%s", err, out, source)
				}
				out, err := exec.Command(exe).Output()
				if err != nil {
					t.Fatal(err)
				}
				sums = append(sums, string(out))
			}
			if len(sums) != 2 || sums[0] != sums[1] || !strings.HasPrefix(sums[0], "120 ") {
				t.Errorf("%q, %s: turns and their sum %v\n%s", texts, what, sums, code)
			}
		}
	}
}
