package tree

import "testing"

// TestTurnsOfText holds what the text of a loop tells. The loop that is asked for
// is the last one.
func TestTurnsOfText(t *testing.T) {
	const unknown = -1
	tests := []struct {
		name, text string
		always     bool
		turns      int64 // of all entries, for one call of the function
	}{
		{"constant", "void f(void) { for (int i = 0; i < 10; i++) g(i); }", true, 10},
		{"macro", "#define N (3 * 4)\nvoid f(void) { for (int i = 1; i <= N; i += 2) g(i); }", true, 6},
		{"macro under a condition", "#ifdef A\n#define N 3\n#endif\nvoid f(void) { for (int i = 1; i <= N; i++) g(i); }", true, unknown},
		{"triangle", "void f(void) { for (int i = 0; i < 5; i++) { x(); for (int j = i; j < 5; ++j) g(); } }", true, 15},
		{"doubling", "void f(void) { for (int i = 1; i < 100; i <<= 1) g(i); }", true, 7},
		{"a break", "void f(void) { for (int i = 0; i < 10; i++) if (g(i)) break; }", true, unknown},
		{"a break of a switch", "void f(void) { for (int i = 0; i < 10; i++) switch (i) { case 1: g(i); break; default: h(); } }", true, 10},
		{"a return before it", "void f(int n) { if (n) return; for (int i = 0; i < 10; i++) g(i); }", false, 10},
		{"under a condition", "void f(int n) { if (n) { for (int i = 0; i < 10; i++) g(i); } }", false, 10},
		{"a continue before it", "void f(int n) { for (int k = 0; k < 3; k++) { if (k == n) continue; for (int i = 0; i < k; i++) g(i); } }", false, unknown},
		{"its variable is set", "void f(void) { for (int i = 0; i < 10; i++) { i = g(i); } }", true, unknown},
		{"its variable is given away", "void f(void) { for (int i = 0; i < 10; i++) g(&i); }", true, unknown},
		{"never changed", "static int n = 12;\nvoid f(void) { for (int i = 0; i < n; i++) g(i); }", true, 12},
		{"changed", "static int n = 12;\nvoid h(void) { n = 3; }\nvoid f(void) { for (int i = 0; i < n; i++) g(i); }", true, unknown},
		{"hidden by a parameter", "static int n = 12;\nvoid f(int n) { for (int i = 0; i < n; i++) g(i); }", true, unknown},
		{"others can change it", "int n = 12;\nvoid f(void) { for (int i = 0; i < n; i++) g(i); }", true, unknown},
		{"jumped into", "void f(int k) { switch (k) { case 0: for (int i = 0; i < 4; i++) { g(); case 1: h(); } } }", false, unknown},
		{"header of a macro", "#define EACH(v, n) for (int v = 0; v < (n); v++)\nvoid f(void) { EACH (k, 7) { g(k); } }", true, 7},
		{"member function", "struct s { void f() const { for (int i = 0; i < 9; i++) g(i); } };", true, 9},
		{"two limits", "void f(void) { for (int b = 0; b < 10; b += 4) for (int i = b; i < b + 4 && 10 > i; i++) g(i); }", true, 10},
		{"two limits, one of data", "void f(void) { for (int i = 0; i < 10 && a[i]; i++) g(i); }", true, unknown},
		{"the lesser by a function", "static int least(int x, int y) { return x < y ? x : y; }\nvoid f(void) { for (int b = 0; b < 10; b += 4) for (int i = b; i < least(b + 4, 10); i++) g(i); }", true, 10},
		{"the lesser by a macro", "#define MIN(a, b) ((a) < (b) ? (a) : (b))\nvoid f(void) { for (int b = 0; b < 10; b += 4) for (int i = b; i < MIN(b + 4, 10); i++) g(i); }", true, 10},
		{"a macro under a condition", "#ifdef X\n#define MIN(a, b) ((a) < (b) ? (a) : (b))\n#endif\nvoid f(void) { for (int i = 0; i < MIN(4, 10); i++) g(i); }", true, unknown},
		{"the lesser by the library", "void f(void) { for (int b = 0; b < 10; b += 4) for (int i = b; i < std::min(b + 4, 10); i++) g(i); }", true, 10},
		{"the greater", "void f(void) { for (int b = 0; b < 10; b += 4) for (int i = std::max<int>(b, 2); i < 10; i++) g(i); }", true, 8 + 6 + 2},
		{"a choice", "void f(void) { for (int b = 0; b < 10; b++) for (int i = 0; i < (b < 3 ? 1 : b % 2); i++) g(i); }", true, 3 + 4},
		{"a function of two definitions", "int least(int x, int y) { return x < y ? x : y; }\nint least(int x, long y) { return x; }\nvoid f(void) { for (int i = 0; i < least(4, 10); i++) g(i); }", true, unknown},
		{"a function that does more", "int least(int x, int y) { n++; return x < y ? x : y; }\nvoid f(void) { for (int i = 0; i < least(4, 10); i++) g(i); }", true, unknown},
		{"a function of another variable", "static int i;\nint past(int x) { return x + i; }\nvoid f(void) { for (int i = 0; i < 5; i++) for (int j = 0; j < past(2); j++) g(i); }", true, unknown},
		{"a function without a sign", "int last(unsigned x) { return x < 3 ? 3 : 1; }\nvoid f(void) { for (int i = 0; i < last(2); i++) g(i); }", true, unknown},
		{"comment", "void f(void) { /* return; */ for (int i = 0; i < 9; i++) g(i); }", true, 9},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all := statements("a.cpp", []byte(tt.text), func(string) []byte { return nil })
			if len(all) == 0 {
				t.Fatal("no loop")
			}
			last := int32(len(all) - 1)
			if got := all[last].shape.always; got != tt.always {
				t.Errorf("always %v, want %v", got, tt.always)
			}
			if got := turnsOf(all, last); got != tt.turns {
				t.Errorf("%d turns, want %d", got, tt.turns)
			}
		})
	}
}

// turnsOf runs the outermost loop around one that tells its turns.
func turnsOf(all []statement, st int32) int64 {
	root := st
	for all[root].shape.always && all[root].shape.parent >= 0 && all[all[root].shape.parent].shape.counted != nil {
		root = all[root].shape.parent
	}
	if all[st].shape.counted == nil {
		return -1
	}
	p := &prover{build: &build{walker: &walker{forest: &forest{statements: all}}}, told: map[int32]*histogram{}}
	if p.simulate(root, 1) == nil || p.told[st] == nil {
		return -1
	}
	return int64(p.told[st].trips().Trips)
}

// TestHollow: turns around a loop can be left out if the loop is empty and a
// compiler can know it. The loop that is asked for is the last one.
func TestHollow(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       bool
	}{
		{"turns that are empty from a number on", "void f(void) { for (int i = 0; i < 9; i++) for (int j = i; j < 5; j++) a[j] = i; }", true},
		{"a store of its own", "void f(void) { for (int i = 0; i < 9; i++) { b[i] = 0; for (int j = i; j < 5; j++) a[j] = i; } }", false},
		{"the same limits in all turns", "void f(int n) { for (int i = 0; i < 9; i++) for (int j = 0; j < n; j++) a[j] = i; }", false},
		{"data that the turns around it choose", "void f(void) { for (int i = 0; i < 9; i++) { int c = b[i]; while (c) { a[c] = i; c >>= 1; } } }", false},
		{"data that they do not", "void f(int k) { for (int i = 0; i < 9; i++) { int c = b[k]; while (c) { a[c] = i; c >>= 1; } } }", true},
		{"a limit that a loop further out changes", "void f(void) { for (int k = 0; k < 9; k++) for (int i = 0; i < 9; i++) { int c = k & 255; while (c) { a[c] = i; c >>= 1; } } }", true},
		{"a variable that only the loop changes", "void f(int x) { for (int i = 0; i < 9; i++) while (x & 7) { a[x] = i; x >>= 1; } }", true},
		{"that variable in what ends an endless one", "void f(int x) { for (int i = 0; i < 9; i++) { int j = 0; for (;;) { if (j++ >= (x & 7)) break; a[j] = x ^= i; } } }", true},
		{"and what sets it", "void f(int x, int n) { for (int i = 0; i < 9; i++) { int c = x & 7; while (c) { a[x] = i; x += n; c >>= 1; } } }", true},
		{"a variable that is set before it", "void f(int n) { for (int i = 0; i < 9; i++) { int c = b[i]; while (c & 7) { a[c] = i; c >>= 1; } } }", false},
		{"never empty", "void f(int k) { for (int i = 0; i < 9; i++) { int c = b[k]; do { a[c] = i; c >>= 1; } while (c); } }", false},
	} {
		all := statements("a.c", []byte(tt.text), func(string) []byte { return nil })
		if got := all[len(all)-1].shape.hollow; got != tt.want {
			t.Errorf("%s: hollow is %v", tt.name, got)
		}
	}
}

// TestLabelLoops finds loops that a goto makes.
func TestLabelLoops(t *testing.T) {
	text := "void f(int n) {\nagain:\n\tg(n);\n\tif (--n > 0)\n\t\tgoto again;\n\tif (n) goto out;\nout:;\n}\n"
	all := statements("a.c", []byte(text), func(string) []byte { return nil })
	if len(all) != 1 || (position{"", all[0].at}).line() != 2 {
		t.Errorf("%d loops: %+v", len(all), all)
	}
}

// What the text of a hostile file says is never more than text.
func FuzzStatements(f *testing.F) {
	f.Add("void f() { for (int i = 0; i < 9; i++) { do x(); while (y); } a: goto a; }")
	f.Add("#define A(x) for (x; x; x)\nA(((")
	f.Add("for (((;;){ while")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2000 {
			return
		}
		for _, st := range statements("a.c", []byte(text), func(string) []byte { return nil }) {
			if st.from < 0 || st.bodyTo > len(text) || st.bodyAt > st.bodyTo {
				t.Errorf("%+v", st)
			}
		}
	})
}
