package tree_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/loops/tree"
	"github.com/isobath/isobath/internal/record/reftrace"
)

// drawing is a program of loops, branches and calls put together at random. Every
// loop ends: no body assigns what its loop counts with.
type drawing struct {
	*rand.Rand
	text  strings.Builder
	loops int
	outer string // label behind the outermost loop that is being drawn, "" if it has none
}

const mostDrawnLoops = 14

// drawProgram returns the C source of a program and how many loops it has.
func drawProgram(seed uint64) (source string, loops int) {
	d := &drawing{Rand: rand.New(rand.NewPCG(seed, 23))}
	d.line(0, `#include "count.h"`)
	d.line(0, "#define EACH(v, l) for (int v = 0; v < (l); v++)")
	d.line(0, "static int a[64], b[64], c[64], p[64];")
	helpers := d.IntN(4)
	for h := range helpers {
		d.line(0, "static int h%d(int x, int n)\n{\n\tint m = n + 1;", h)
		again := d.Float64() < .25
		if again {
			d.line(1, "if (n < 1 || n > 6)\n\t\treturn x;")
		}
		d.block(scope{depth: 1, indent: 1, vars: []string{"x", "n"}, helpers: h, helper: true}, d.within(1, 3))
		if again {
			d.line(1, "%sh%d(%s, n - %d);", d.one("return x + ", "x ^= ", "return "), h, d.expr([]string{"x", "n"}, 0), d.within(1, 2))
		}
		d.line(0, "\treturn x;\n}")
	}
	d.line(0, "KERNEL int run(int n, int m)\n{\n\tint x = n;")
	d.block(scope{indent: 1, vars: []string{"x", "n", "m"}, helpers: helpers}, d.within(3, 6))
	d.line(0, `	return x;
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 64; i++)
		a[i] = random_number() %% 9, b[i] = random_number() %% 5, c[i] = i, p[i] = i ? random_number() %% i : 0;
	int r = run(argc + 4, argc + 6);
	report();
	return r == -7777777;
}`)
	return d.text.String(), d.loops
}

// scope is where a statement stands.
type scope struct {
	indent, depth int
	vars          []string
	helpers       int // functions that may be called
	loop, helper  bool
}

func (s scope) inner() scope {
	s.indent++
	s.depth++
	return s
}

func (d *drawing) within(lo, hi int) int { return lo + d.IntN(hi-lo+1) }

func (d *drawing) one(of ...string) string { return of[d.IntN(len(of))] }

func (d *drawing) line(indent int, format string, args ...any) {
	d.text.WriteString(strings.Repeat("\t", indent))
	fmt.Fprintf(&d.text, format+"\n", args...)
}

func (d *drawing) array() string { return d.one("a", "b", "c") }

func (d *drawing) expr(vars []string, depth int) string {
	switch k := d.Float64(); {
	case k < .35:
		return d.one(vars...)
	case k < .5:
		return strconv.Itoa(d.IntN(10))
	case k < .75 && depth < 1:
		return fmt.Sprintf("%s[(%s) & 63]", d.array(), d.expr(vars, depth+1))
	case k < .75:
		return fmt.Sprintf("%s[(%s) & 63]", d.array(), d.one(vars...))
	case depth > 1:
		return strconv.Itoa(d.within(1, 5))
	}
	return fmt.Sprintf("(%s %s %s)", d.expr(vars, depth+1), d.one("+", "-", "*", "^", "&"), d.expr(vars, depth+1))
}

func (d *drawing) condition(vars []string) string {
	switch k := d.Float64(); {
	case k < .5:
		return fmt.Sprintf("%s %s %s", d.expr(vars, 0), d.one("<", ">", "==", "!=", "<="), d.expr(vars, 0))
	case k < .65:
		return fmt.Sprintf("%s > %d %s %s[%s & 63]%s", d.one(vars...), d.IntN(4), d.one("&&", "||"), d.array(), d.one(vars...), d.one("", "++ & 1", " > 2"))
	}
	return fmt.Sprintf("(%s) & %d", d.expr(vars, 0), d.within(1, 4))
}

func (d *drawing) block(s scope, statements int) {
	for range statements {
		d.statement(s)
	}
}

func (d *drawing) statement(s scope) {
	switch k := d.Float64(); {
	case k < .3 || s.depth > 3:
		d.line(s.indent, "%s[(%s) & 63] %s %s;", d.array(), d.expr(s.vars, 0), d.one("=", "+=", "^=", "-="), d.expr(s.vars, 0))
	case k < .36:
		d.line(s.indent, "x %s %s;", d.one("+=", "^=", "="), d.expr(s.vars, 0))
	case k < .5:
		d.branch(s)
	case k < .56 && s.loop:
		d.line(s.indent, "if (%s)\n%s\t%s", d.condition(s.vars), strings.Repeat("\t", s.indent), d.way(s))
	case k < .64 && s.helpers > 0:
		d.line(s.indent, "%sh%d(%s, %s);", d.one("", "x += "), d.IntN(s.helpers), d.expr(s.vars, 0), d.one("n", "m", "4"))
	case k < .68:
		d.choice(s)
	case k < .71 && d.loops < mostDrawnLoops:
		d.plainLoop(s)
	case d.loops < mostDrawnLoops:
		d.loop(s)
	default:
		d.line(s.indent, "x ^= %s;", d.expr(s.vars, 0))
	}
}

// way leaves a turn or more.
func (d *drawing) way(s scope) string {
	switch k := d.Float64(); {
	case k < .12 && s.helper:
		return "return x;"
	case k < .24 && d.outer != "":
		return "goto " + d.outer + ";"
	}
	return d.one("break;", "continue;", "continue;")
}

func (d *drawing) choice(s scope) {
	d.line(s.indent, "switch (%s & 3) {", d.expr(s.vars, 0))
	for c := range d.within(2, 3) {
		ends := []string{"break;", "break;", "/* goes on */"}
		if s.loop {
			ends = append(ends, "continue;")
		}
		d.line(s.indent, "case %d: %s[%s & 63]++; %s", c, d.array(), d.one(s.vars...), d.one(ends...))
	}
	d.line(s.indent, "default: x++; }")
}

// plainLoop is one that compilers make vectors of.
func (d *drawing) plainLoop(s scope) {
	i := d.loops
	d.loops++
	limit := d.one("n", "m", "8", "16", "31", "64", fmt.Sprintf("(%s & 63)", d.one(s.vars...)))
	d.line(s.indent, "ENTER(%d);", i)
	d.line(s.indent, "for (int v%d = 0; v%d < %s; v%d++) {", i, i, limit, i)
	d.line(s.indent+1, "TURN(%d);", i)
	d.line(s.indent+1, "%s", strings.ReplaceAll(d.one("c[V] = a[V] + b[V];", "c[V] += a[V] * 3;", "x += b[V];", "if (a[V] > b[V])\n\tc[V] = x;", "a[V] = 0;", "b[V] = a[63 - V];", "x = a[V] > x ? a[V] : x;"), "V", fmt.Sprintf("v%d", i)))
	d.line(s.indent, "}")
}

func (d *drawing) branch(s scope) {
	d.line(s.indent, "if (%s) {", d.condition(s.vars))
	d.block(s.inner(), d.within(1, 2))
	if d.Float64() < .4 {
		d.line(s.indent, "} else {")
		d.block(s.inner(), 1)
	}
	d.line(s.indent, "}")
}

// shapeOfLoop is how a loop is written: before it, its head, the first lines of
// its body and its end. V is its variable, L its limit.
type shapeOfLoop struct{ before, head, first, end string }

func (d *drawing) shape(vars []string) shapeOfLoop {
	plain := shapeOfLoop{head: "for (int V = 0; V < L; V++) {", end: "}"}
	shapes := []shapeOfLoop{
		plain, plain, plain,
		{head: "for (int V = L; V > 0; V--) {", end: "}"},
		{head: fmt.Sprintf("for (int V = 0; V < L; V += %d) {", d.within(2, 3)), end: "}"},
		{head: fmt.Sprintf("for (int V = %s & 7; V < 8; V++) {", d.one(vars...)), end: "}"},
		{before: "int V = L;", head: "while (V-- > 0) {", end: "}"},
		{before: "int V = 0;", head: "do {", first: "V++;", end: "} while (V < L);"},
		{before: fmt.Sprintf("unsigned V = %s & 255;", d.expr(vars, 0)), head: "while (V) {", first: "V >>= 1;", end: "}"},
		{before: fmt.Sprintf("int V = %s & 63;", d.expr(vars, 0)), head: "while (p[V] != V) {", first: "V = p[V];", end: "}"},
		{before: "int V = 0;", head: "for (;;) {", first: "if (V++ >= L)\n\tbreak;", end: "}"},
		{head: "EACH(V, L) {", end: "}"},
		{head: fmt.Sprintf("for (int V = 0; V < L && %s[V & 63] != %d; V++) {", d.array(), d.IntN(9)), end: "}"},
		{head: "for (long V = 1; V < L * 8; V *= 2) {", end: "}"},
		{head: "for (unsigned char V = 0; V != (unsigned char)(L & 31); V++) {", end: "}"},
		{before: "int V = 0;", head: "do {", end: fmt.Sprintf("} while (++V < L && %s[V & 63] > %d);", d.array(), d.IntN(3))},
		{before: "int V = L;", head: "while (V > 0) {", first: fmt.Sprintf("V -= 1 + (%s[V & 63] & 1);", d.array()), end: "}"},
		{head: "for (int V = 0, W = L; V < W; V++, W--) {", end: "}"},
	}
	return shapes[d.IntN(len(shapes))]
}

func (d *drawing) loop(s scope) {
	i := d.loops
	d.loops++
	limit := d.one("n", "m", strconv.Itoa(d.within(1, 9)), fmt.Sprintf("(%s & 7)", d.expr(s.vars, 0)), "n - 2", "m + 1")
	v := fmt.Sprintf("v%d", i)
	fill := strings.NewReplacer("V", v, "W", "w"+strconv.Itoa(i), "L", limit)
	write := func(indent int, text string) {
		if text != "" {
			d.line(indent, "%s", strings.ReplaceAll(fill.Replace(text), "\n", "\n"+strings.Repeat("\t", indent)))
		}
	}
	shape := d.shape(s.vars)
	outermost := d.outer == "" && d.Float64() < .5
	if outermost {
		d.outer = fmt.Sprintf("out%d", i)
		defer func() {
			d.line(s.indent, "%s: ;", d.outer)
			d.outer = ""
		}()
	}
	write(s.indent, shape.before)
	d.line(s.indent, "ENTER(%d);", i)
	write(s.indent, shape.head)
	in := s.inner()
	d.line(in.indent, "TURN(%d);", i)
	write(in.indent, shape.first)
	in.loop, in.vars = true, append(slices.Clone(s.vars), v)
	d.block(in, d.within(1, 3))
	write(s.indent, shape.end)
}

// TestDrawn draws programs that nobody has looked at and holds that no count of
// theirs is shown as exact and wrong, that no loop is absent around one that makes
// references, and that a third or more are exact. ISOBATH_DRAWN is how
// many are kept and from which seed on: 'make loops DRAWN="20 5000"'.
func TestDrawn(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles and steps programs")
	}
	programs, seed := 1, uint64(1)
	if asked := os.Getenv("ISOBATH_DRAWN"); asked != "" {
		if _, err := fmt.Sscan(asked, &programs, &seed); err != nil {
			t.Fatalf("ISOBATH_DRAWN=%q: want a number of programs and a seed: %v", asked, err)
		}
	}
	var tally struct{ loops, exact, absent int }
	for kept := 0; kept < programs; seed++ {
		source := drawnFile(t, seed)
		if source == "" {
			continue
		}
		kept++
		for _, level := range []string{"-O0", "-O1", "-O2", "-O3"} {
			program, want := compile(t, source, level, drawnFlags(t)...)
			got := recordTree(t, program, reftrace.Step)
			checkAgree(t, got)
			for _, w := range want {
				tally.loops++
				switch l := loopAt(got, w.line); {
				case l == nil:
					tally.absent++
					if in := referencing(got, source, w.line); in != nil && w.turns > 0 {
						t.Errorf("seed %d %s line %d: absent, though the loop of line %d inside it makes %d references", seed, level, w.line, in.Line, in.References)
					}
				case !l.Exact:
				case l.Entries == w.entries && l.Trips.Trips == w.turns:
					tally.exact++
				default:
					t.Errorf("seed %d %s line %d: %d entries, %d trips shown as exact, want %d and %d", seed, level, w.line, l.Entries, l.Trips.Trips, w.entries, w.turns)
				}
			}
		}
	}
	t.Logf("%d programs at four levels: %d loops, %d exact, %d told with ≈, %d absent", programs, tally.loops, tally.exact, tally.loops-tally.exact-tally.absent, tally.absent)
	if 3*tally.exact < tally.loops {
		t.Errorf("%d of %d loops have exact counts", tally.exact, tally.loops)
	}
}

// referencing returns a loop inside that of a line that makes references: braces
// and tabs of drawn programs tell where it ends.
func referencing(of *tree.Tree, source string, line int) *tree.Loop {
	text, _ := os.ReadFile(source) // written by the test
	lines := strings.Split(string(text), "\n")
	depth := func(s string) int { return len(s) - len(strings.TrimLeft(s, "\t")) }
	end := line
	for end < len(lines) && depth(lines[end]) > depth(lines[line-1]) {
		end++
	}
	for i := range of.Loops {
		if l := &of.Loops[i]; l.Line > line && l.Line <= end && l.References > 0 {
			return l
		}
	}
	return nil
}

// drawnFlags make overflow of drawn arithmetic mean the same in both programs.
func drawnFlags(t *testing.T) []string {
	t.Helper()
	include, err := filepath.Abs("testdata/programs")
	if err != nil {
		t.Fatal(err)
	}
	return []string{"-fwrapv", "-I", include}
}

// drawnFile writes a drawn program, or returns "" if it has too few turns to tell
// anything or too many to step through.
func drawnFile(t *testing.T, seed uint64) string {
	t.Helper()
	text, loops := drawProgram(seed)
	if loops < 3 {
		return ""
	}
	source := filepath.Join(t.TempDir(), fmt.Sprintf("drawn%d.c", seed))
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	_, want := compile(t, source, "-O1", drawnFlags(t)...)
	var turns uint64
	for _, w := range want {
		turns += w.turns
	}
	if turns < 20 || turns > 4000 {
		return ""
	}
	return source
}

// loopAt returns the loop of a line, or nil.
func loopAt(of *tree.Tree, line int) *tree.Loop {
	for i := range slices.Backward(of.Loops) {
		if of.Loops[i].Line == line && of.Loops[i].Kind == tree.Plain {
			return &of.Loops[i]
		}
	}
	return nil
}
