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
	"github.com/isobath/isobath/internal/locality/layout"
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
		if rests := named.rests(n); strings.HasPrefix(rests, "i, j stand for the loops of 6, 20 turns") != (tt.order == "j i") ||
			strings.HasPrefix(rests, "y, x are the loops of the source") != (tt.order == "x y") {
			t.Errorf("%s: %s", tt.name, rests)
		}
	}
	// The loop that calls the function of both stays where it is, and is not printed.
	f, n := nestOf(y, x)
	n.Trips = []int{2, 6, 20}
	named, swapped := f.naming(n), []replay.Loop{{Of: 0}, {Of: 2}, {Of: 1}}
	if got := named.order(swapped); got != "x y" {
		t.Errorf("below a call: order %q", got)
	}
	if rests := named.rests(n); !strings.HasPrefix(rests, "y, x are") || !strings.Contains(rests, "turn 6, 20 times") {
		t.Errorf("below a call: %s", rests)
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

// TestLoopsHaveTheirPlaces: loops are where the outermost of the function begins; if
// that is not known they are around what they do, and not where the function begins.
func TestLoopsHaveTheirPlaces(t *testing.T) {
	at := func(line int, text string, trips uint64) tree.Loop {
		l := loopOf(text, trips)
		l.File, l.Line = "src/a.c", line
		return l
	}
	y, x := at(7, "for (int y = 1; y < 7; y++)", 6), at(8, "for (int x = 0; x < 20; x++)", 20)
	f, n := nestOf(y, x)
	if named := f.naming(n); named.place != "a.c:7" || named.where != "at a.c:7" {
		t.Errorf("both: %q, %q", named.place, named.where)
	}
	f, n = nestOf(y, x)
	n.Trips = []int{2, 6, 20} // the first of them calls the function
	if named := f.naming(n); named.place != "a.c:7" {
		t.Errorf("below a call: %q", named.place)
	}
	x.Exact = false
	f, n = nestOf(x)
	if named := f.naming(n); named.place != "a.c:8" || named.where != "within a.c:8" || named.outside != 1 {
		t.Errorf("of unknown turns: %q, %q, %d outside", named.place, named.where, named.outside)
	}
	f.Loops = nil
	if named := f.naming(n); named.place != "a.c:3" || named.where != "around a.c:3" || named.outside != 0 {
		t.Errorf("not known: %q, %q", named.place, named.where)
	}

	// Registers are saved at the beginning of the function, line 5.
	all := []refs.Ref{{Addr: 0x7fff0000, Size: 8, PC: 0x10, Place: 1, Op: refs.Store}}
	for j := range uint64(90) {
		for i := range uint64(90) {
			all = append(all, refs.Ref{Addr: 0x100000 + i*4096 + j*8, Size: 8, PC: 0x20, Place: 2}, refs.Ref{Addr: 0x900000 + i*4096 + j*8, Size: 8, PC: 0x30, Place: 3, Op: refs.Store})
		}
	}
	places := []refs.Place{{}, {Function: "work", File: "a.c", Line: 5}, {Function: "work", File: "a.c", Line: 9}, {Function: "work", File: "a.c", Line: 11}}
	table := layout.NewTable(&refs.About{}, nil, nil)
	reader := replay.NewReader(table.Number, len(all))
	if err := reader.Add(all); err != nil {
		t.Fatal(err)
	}
	tr := reader.Trace(places)
	r, err := Find(t.Context(), tr, table, Options{Machine: classic(t), Least: DefaultLeast, Kinds: []Kind{Interchange}})
	if err != nil || len(r.Advice) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	a := r.Advice[0]
	if a.At != "around a.c:9" || a.Lines != (Lines{"a.c", 9, 11}) || !strings.HasPrefix(a.Map, "loops a.c:9 ") {
		t.Errorf("%q, lines %+v, map %q", a.At, a.Lines, a.Map)
	}
	for _, line := range []string{"9", "11"} {
		if _, err := ReadMap(strings.NewReader(strings.Replace(a.Map, "a.c:9", "a.c:"+line, 1)), tr, table); err != nil {
			t.Errorf("line %s: %v", line, err)
		}
	}
	if _, err := ReadMap(strings.NewReader(strings.Replace(a.Map, "a.c:9", "a.c:5", 1)), tr, table); err == nil {
		t.Error("the beginning of the function is a loop")
	}
}

// TestCallsStay: a function that is called twice is no loop of two turns that could be
// exchanged with those in it, if it is known which loops the function has.
func TestCallsStay(t *testing.T) {
	var all []refs.Ref
	for range 2 {
		for j := range uint64(90) {
			for i := range uint64(90) {
				all = append(all, refs.Ref{Addr: 0x100000 + i*4096 + j*8, Size: 8, PC: 0x20}, refs.Ref{Addr: 0x900000 + i*4096 + j*8, Size: 8, PC: 0x30, Op: refs.Store})
			}
		}
	}
	loops := []tree.Loop{{Kind: tree.Plain, Parent: -1}, {Kind: tree.Plain, Parent: 0, Depth: 1, Accesses: []tree.Access{{PC: 0x20}, {PC: 0x30}}}}
	moved := func(known func() *tree.Tree) (moved, orders int) {
		table := layout.NewTable(&refs.About{}, nil, nil)
		reader := replay.NewReader(table.Number, len(all))
		if err := reader.Add(all); err != nil {
			t.Fatal(err)
		}
		r, err := Find(t.Context(), reader.Trace(nil), table, Options{Machine: classic(t), Least: 0.01, Kinds: []Kind{Interchange, Block}, Loops: known})
		if err != nil || len(r.Advice) != 1 {
			t.Fatalf("%+v, %v", r, err)
		}
		for _, a := range append(r.Advice[0].Instead, r.Advice[0]) {
			orders++
			if !strings.Contains(a.Map, "order i ") {
				moved++
			}
		}
		return moved, orders
	}
	if n, of := moved(nil); n == 0 {
		t.Errorf("without loops none of %d orders moves the calls", of)
	}
	if n, of := moved(func() *tree.Tree { return &tree.Tree{Loops: loops, Recorded: true} }); n > 0 || of == 0 {
		t.Errorf("%d of %d orders move the calls", n, of)
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
