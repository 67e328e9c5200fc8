package align

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

const before = `#include <stdio.h>
static int twice(int x)
{
	return 2 * x;
}
int sum(const int *v, int n)
{
	int s = 0;
	for (int i = 0; i < n; i++)
		s += twice(v[i]);
	return s;
}
`

const after = `#include <stdio.h>
#include <stdlib.h>
int total(const int *v, int n)
{
	int s = 0;
	for (int i = 0; i < n; i++)
		s += doubled(v[i]);
	return s;
}
static int doubled(int x)
{
	return 2 * x;
}
`

func side(file, text string, functions, objects []string) Side {
	return Side{Files: []string{file}, Functions: functions, Objects: objects, Text: func(name string) []string {
		if name == file {
			return strings.Split(text, "\n")
		}
		return nil
	}}
}

// TestRenamedFile aligns a file whose name, functions and lines all changed.
func TestRenamedFile(t *testing.T) {
	al := New(side("/x/old.c", before, []string{"sum", "twice", "printf"}, []string{"old.c:9 1 MiB", "u", "old.c:10 64 KiB"}),
		side("/y/new.c", after, []string{"total", "doubled", "printf"}, []string{"new.c:6 1 MiB", "u", "new.c:7 80 KiB"}), nil)
	for _, tt := range []struct {
		by   string
		key  []string
		want string
		how  How
	}{
		{"function", []string{"sum"}, "total", Modified},
		{"function", []string{"twice"}, "doubled", Modified},
		{"function", []string{"printf"}, "printf", Equal},
		{"file,line", []string{"/x/old.c", "9"}, "/y/new.c:6", Equal},
		{"file,line", []string{"/x/old.c", "10"}, "/y/new.c:7", Modified},
		{"file,line", []string{"/x/old.c", "4"}, "/y/new.c:12", Equal},
		{"file,line", []string{"/x/old.c", "99"}, "", ""},
		{"symbol", []string{"old.c:9 1 MiB"}, "new.c:6 1 MiB", Equal},
		{"symbol", []string{"old.c:10 64 KiB"}, "new.c:7 80 KiB", Modified},
		{"symbol", []string{"u"}, "u", Equal},
		{"level", []string{"L1"}, "L1", Equal},
	} {
		by := strings.Split(tt.by, ",")
		got, how, ok := al.Key(by, tt.key)
		if strings.Join(got, ":") != tt.want || how != tt.how || ok != (tt.want != "") {
			t.Errorf("%s %q: %q %q %v, want %q %q", tt.by, tt.key, got, how, ok, tt.want, tt.how)
		}
		if !ok {
			continue
		}
		if back, _, ok := al.Inverse().Key(by, got); !ok || strings.Join(back, ":") != strings.Join(tt.key, ":") {
			t.Errorf("%s %q and back is %q", tt.by, tt.key, back)
		}
	}
}

// TestWithoutSources compares lines by number unless builds are known to differ.
func TestWithoutSources(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		how  How
		ok   bool
	}{{"", "", ByNumber, true}, {"1", "1", Equal, true}, {"1", "2", "", false}} {
		al := New(Side{Files: []string{"a.c"}, Builds: map[string]string{"p": tt.a}}, Side{Files: []string{"a.c"}, Builds: map[string]string{"p": tt.b}}, nil)
		if _, how, ok := al.Key([]string{"file", "line"}, []string{"a.c", "3"}); how != tt.how || ok != tt.ok {
			t.Errorf("builds %q and %q: %q %v, want %q %v", tt.a, tt.b, how, ok, tt.how, tt.ok)
		}
	}
	al := New(Side{Files: []string{"a.c"}}, Side{Files: []string{"b.c"}}, map[string]string{"a.c": "b.c"})
	if got, _, ok := al.Key([]string{"file"}, []string{"a.c"}); !ok || got[0] != "b.c" {
		t.Errorf("renamed by hand: %q %v", got, ok)
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{"f": "f", "ns::C<int>::f(int, char)": "f", "main.(*T).Run": "Run", "f.part.0": "f", "f.constprop.1": "f",
		"ns::C::f(char) const": "f", "std::vector<int> ns::f<int>(int)": "f", "C::f[abi:cxx11]() const &": "f", "C::operator new(unsigned long)": "operator new"} {
		if got := lastName(name); got != want {
			t.Errorf("last name of %q is %q, want %q", name, got, want)
		}
	}
	var order Order
	for _, n := range []int64{7, 5, 7, 9} {
		order.Meet(n, n == 5)
	}
	threads := order.Threads()
	if threads["5"] != 0 || threads["7"] != 1 || threads["9"] != 2 {
		t.Errorf("threads %v", threads)
	}
}

// hugeFile is one function of so many lines, of so many different texts.
func hugeFile(lines, texts int, seed uint64) []string {
	random := rand.New(rand.NewPCG(seed, 1))
	out := []string{"void f(void)", "{"}
	for range lines {
		out = append(out, fmt.Sprintf("\tx[%d] = y + %d;", random.IntN(texts), random.IntN(texts)))
	}
	return append(out, "}")
}

// TestHugeFunctions end: nothing in common, everything alike, everything in
// another order. What grows faster than a user waits does not end here.
func TestHugeFunctions(t *testing.T) {
	n := 20_000
	if testing.Short() {
		n = 4000
	}
	turned := hugeFile(n, n, 1)
	for i, j := 2, len(turned)-2; i < j; i, j = i+1, j-1 {
		turned[i], turned[j] = turned[j], turned[i]
	}
	for name, pair := range map[string][2][]string{
		"different": {hugeFile(n, n, 1), hugeFile(n, n, 2)},
		"alike":     {hugeFile(n, 2, 1), hugeFile(n, 2, 2)},
		"some":      {hugeFile(n, 60, 1), hugeFile(n, 60, 2)},
		"turned":    {hugeFile(n, n, 1), turned},
	} {
		t.Run(name, func(t *testing.T) { checkMatching(t, matchTexts(pair[0], pair[1])) })
	}
}

// checkMatching holds that a matching is one: each line has at most one partner,
// and partners agree.
func checkMatching(t *testing.T, m *matching) {
	t.Helper()
	for i, j := range m.toB {
		if j >= 0 && m.toA[j] != i {
			t.Fatalf("line %d is %d, which is %d", i, j, m.toA[j])
		}
		if (j >= 0) != (m.how[i] != "") {
			t.Fatalf("line %d has partner %d, how %q", i, j, m.how[i])
		}
	}
	for j, i := range m.toA {
		if i >= 0 && m.toB[i] != j {
			t.Fatalf("line %d of B is %d, which is %d", j, i, m.toB[i])
		}
	}
}

func FuzzMatch(f *testing.F) {
	f.Add(before, after)
	f.Add("{{{{", "}}}}")
	f.Add("int f(){\"\n/*", "subroutine x\nend")
	f.Add("#define A \\", "func (t T) x() {\n}")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a)+len(b) > 1<<16 {
			return
		}
		m := matchTexts(strings.Split(a, "\n"), strings.Split(b, "\n"))
		checkMatching(t, m)
		New(side("a", a, []string{"f"}, nil), side("b", b, []string{"g"}, nil), nil)
		checkPlaces(t, a, b)
	})
}

// checkPlaces aligns a file with another that was cut in two, and holds that whatever
// has a partner is the partner of that.
func checkPlaces(t *testing.T, a, b string) {
	t.Helper()
	lines := strings.Split(b, "\n")
	halves := map[string][]string{"b": lines[:len(lines)/2], "c": lines[len(lines)/2:]}
	al := New(side("a", a, nil, nil), Side{Files: []string{"b", "c"}, Text: func(name string) []string { return halves[name] }}, nil)
	back, by := al.Inverse(), []string{"file", "line"}
	for i := range strings.Split(a, "\n") {
		key := []string{"a", fmt.Sprint(i + 1)}
		to, how, ok := al.Key(by, key)
		if !ok {
			continue
		}
		n, err := strconv.Atoi(to[1])
		if err != nil || how != ByNumber && (n < 1 || n > len(halves[to[0]])) {
			t.Fatalf("line %d is %q, %s", i+1, to, how)
		}
		if again, _, ok := back.Key(by, to); how != ByNumber && (!ok || again[0] != key[0] || again[1] != key[1]) {
			t.Fatalf("line %d is %q, which is %q", i+1, to, again)
		}
	}
}

// whole is a source of two functions, which splitCore and splitRest have in a file
// each: one by its name, the other under a new one.
const whole = `#include <stdio.h>
double relax(double *u, const double *v, int n)
{
	double worst = 0;
	for (int i = 1; i < n - 1; i++) {
		u[i] = 0.25 * (v[i - 1] + 2 * v[i] + v[i + 1]);
		if (u[i] > worst)
			worst = u[i];
	}
	return worst;
}
static long checksum(const double *u, int n)
{
	long sum = 17;
	for (int i = 0; i < n; i++)
		sum = sum * 31 + (long)(u[i] * 1000);
	return sum;
}
int main(void)
{
	static double u[100], v[100];
	relax(u, v, 100);
	printf("%ld\n", checksum(u, 100));
}
`

const splitCore = `double relax(double *u, const double *v, int n)
{
	double worst = 0;
	for (int i = 1; i < n - 1; i++) {
		u[i] = 0.5 * (v[i - 1] + 2 * v[i] + v[i + 1]);
		if (u[i] > worst)
			worst = u[i];
	}
	return worst;
}
`

const splitRest = `#include <stdio.h>
int main(void)
{
	static double u[100], v[100];
	relax(u, v, 100);
	printf("%ld\n", fingerprint(u, 100));
}
`

const splitSum = `// Sums of all values.
long fingerprint(const double *u, int n)
{
	long sum = 17;
	for (int i = 0; i < n; i++)
		sum = sum * 31 + (long)(u[i] * 1000);
	return sum;
}
`

// TestFunctionsInOtherFiles aligns a file that was split: lines are found wherever
// their functions went, and back again.
func TestFunctionsInOtherFiles(t *testing.T) {
	texts := map[string]string{"/b/main.c": splitRest, "/b/core.c": splitCore, "/b/sum.c": splitSum}
	b := Side{Files: []string{"/b/core.c", "/b/main.c", "/b/sum.c"}, Functions: []string{"relax", "fingerprint", "main"}, Objects: []string{"core.c:5 1 MiB"},
		Text: func(name string) []string { return strings.Split(texts[name], "\n") }}
	a := side("/a/main.c", whole, []string{"relax", "checksum", "main"}, []string{"main.c:6 1 MiB"})
	al := New(a, b, nil)
	back := al.Inverse()
	for _, tt := range []struct {
		line int
		want string
		how  How
	}{
		{1, "/b/main.c:1", Equal}, {2, "/b/core.c:1", Moved}, {6, "/b/core.c:5", Modified}, {8, "/b/core.c:7", Moved}, {15, "/b/sum.c:5", Moved}, {16, "/b/sum.c:6", Moved},
		{21, "/b/main.c:4", Equal}, {23, "/b/main.c:6", Modified},
	} {
		by, key := []string{"file", "line"}, []string{"/a/main.c", fmt.Sprint(tt.line)}
		got, how, ok := al.Key(by, key)
		if strings.Join(got, ":") != tt.want || how != tt.how || !ok {
			t.Errorf("line %d: %q %q %v, want %q %q", tt.line, got, how, ok, tt.want, tt.how)
			continue
		}
		if again, _, ok := back.Key(by, got); !ok || strings.Join(again, ":") != strings.Join(key, ":") {
			t.Errorf("line %d and back is %q", tt.line, again)
		}
	}
	if got, _, ok := al.Key([]string{"function"}, []string{"checksum"}); !ok || got[0] != "fingerprint" {
		t.Errorf("checksum is %q", got)
	}
	if got, _, ok := al.Key([]string{"symbol"}, []string{"main.c:6 1 MiB"}); !ok || got[0] != "core.c:5 1 MiB" {
		t.Errorf("the allocation is %q", got)
	}
	core, ok := al.Pairs("/b/core.c")
	if !ok || core.FileA != "" || core.Lines[4] != 6 || core.How[4] != Modified || core.From[5] != "/a/main.c" {
		t.Errorf("core.c: %+v %v", core, ok)
	}
	rest, ok := al.Pairs("/b/main.c")
	if !ok || rest.FileA != "/a/main.c" || rest.Lines[0] != 1 || rest.Left[6] != (Place{"/b/core.c", 5}) || rest.Left[1] != (Place{}) || len(rest.From) > 0 {
		t.Errorf("main.c: %+v %v", rest, ok)
	}
	if file, ok := al.Beside("/a/main.c"); !ok || file != "/b/main.c" {
		t.Errorf("lines of main.c stand in %q", file)
	}
	if file, ok := al.Beside("/a/other.c"); ok {
		t.Errorf("lines of a file that B has not stand in %q", file)
	}
}

// TestQualifiedNames pairs functions whose namespace, class or crate has another name,
// where the sources say that they are one; of several of a name nothing is known.
func TestQualifiedNames(t *testing.T) {
	a := side("/x/old.cpp", strings.Replace(before, "sum(const", "Totals::sum(const", 1), []string{"text::Totals::sum(int const*, int)", "text::twice(int)", "a::at(int)", "b::at(int)"}, nil)
	b := side("/y/new.cpp", strings.Replace(before, "sum(const", "Sums::sum(const", 1), []string{"math::Sums::sum(int const*, int)", "math::twice(int)", "c::at(int)"}, nil)
	al := New(a, b, nil)
	for own, want := range map[string]string{"text::Totals::sum(int const*, int)": "math::Sums::sum(int const*, int)", "text::twice(int)": "math::twice(int)", "a::at(int)": "", "b::at(int)": ""} {
		if got, _, ok := al.Key([]string{"function"}, []string{own}); ok != (want != "") || ok && got[0] != want {
			t.Errorf("%s is %q, want %q", own, got, want)
		}
	}
}

// TestSameNameElsewhere: a function of another file is a partner only where a name
// is that of one function on each side.
func TestSameNameElsewhere(t *testing.T) {
	texts := map[string]string{
		"a.c": "int run(int x)\n{\n\treturn solve(x) + 1;\n}\nint old(int y)\n{\n\tabort();\n\texit(4);\n}\n",
		"b.c": "int run(int x)\n{\n\treturn solve(x) + 1;\n}\nint this(void)\n{\n\tfork();\n\tpause();\n}\nint that(void)\n{\n\tkill(0);\n\tsync();\n}\n",
		"c.c": "int run(char c)\n{\n\tputs(c);\n}\nint these(void)\n{\n\twait();\n}\n",
	}
	of := func(files ...string) Side {
		return Side{Files: files, Text: func(name string) []string { return strings.Split(texts[name], "\n") }}
	}
	by, key := []string{"file", "line"}, []string{"a.c", "3"}
	if got, how, ok := New(of("a.c"), of("b.c"), nil).Key(by, key); !ok || got[0] != "b.c" || how != Moved {
		t.Errorf("the only one of its name: %q %q", got, how)
	}
	al := New(of("a.c"), of("b.c", "c.c"), nil)
	if got, how, ok := al.Key(by, key); !ok || got[0] != "b.c" || how != Moved { // by what is in it
		t.Errorf("one of two of its name: %q %q", got, how)
	}
	texts["b.c"] = strings.Replace(texts["b.c"], "return solve(x) + 1", "while (wait())", 1)
	if got, _, ok := New(of("a.c"), of("b.c", "c.c"), nil).Key(by, key); ok {
		t.Errorf("one of two of its name, and neither like it: %q", got)
	}
}
