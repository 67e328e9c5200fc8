package callgrind

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/foreign"
)

const program = `
#include <stdlib.h>
#include <stdio.h>
static double sum(double *a, int n) { double s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
static double *make(int n) { double *a = malloc(n * sizeof *a); for (int i = 0; i < n; i++) a[i] = i; return a; }
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void) {
	double t = fib(12);
	for (int k = 0; k < 10; k++) { double *a = make(1000 + k); t += sum(a, 1000); free(a); }
	return printf("%g\n", t) < 0;
}
`

// TestAgainstAnnotate reads recordings of both tools, with and without
// addresses, and compares totals and the cost of every function with what the
// tools' own readers print.
func TestAgainstAnnotate(t *testing.T) {
	valgrind, cc := test.Peer(t, "valgrind", "valgrind"), test.Peer(t, "cc", "gcc")
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(in("t.c"), []byte(program), 0o666); err != nil {
		t.Fatal(err)
	}
	run(t, cc, "-g", "-O1", "-fno-inline", in("t.c"), "-o", in("t"))
	for _, tool := range []struct {
		name, annotate string
		all            string // the option that shows every function
		args           []string
	}{
		{"lines", "callgrind_annotate", "--threshold=100", []string{"--tool=callgrind", "--callgrind-out-file=" + in("lines")}},
		{"addresses", "callgrind_annotate", "--threshold=100", []string{"--tool=callgrind", "--dump-instr=yes", "--collect-jumps=yes", "--callgrind-out-file=" + in("addresses")}},
		{"caches", "cg_annotate", "--threshold=0", []string{"--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=" + in("caches")}},
	} {
		t.Run(tool.name, func(t *testing.T) {
			annotate := test.Peer(t, tool.annotate, "valgrind")
			run(t, valgrind, append(append([]string{"-q"}, tool.args...), in("t"))...)
			input, err := foreign.Look(in(tool.name))
			if err != nil {
				t.Fatal(err)
			}
			if !Format.Sniff(input) {
				t.Fatal("not recognised")
			}
			got, err := Format.Samples(t.Context(), input, &foreign.Options{})
			if err != nil {
				t.Fatal(err)
			}
			compare(t, got.Tables[0], run(t, annotate, tool.all, "--auto=no", in(tool.name)))
			for _, w := range got.Warnings {
				if strings.Contains(w, "the file says") {
					t.Error(w)
				}
			}
		})
	}
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Fatalf("%s %v: %v", name, args, err)
	}
	return string(out)
}

// A row of either reader: costs, then file:function, then perhaps an object.
var annotated = regexp.MustCompile(`^\s*([\d,]+) \([ \d.]+%\).*?\s{2,}(\S+?):(\S+)( \[.*\])?$`)

// compare checks the first event, the one both tools sort by.
func compare(t *testing.T, tab *table.Table, text string) {
	t.Helper()
	weight, file, function := tab.Column(samples.Weight), tab.Column(samples.File), tab.Column(samples.Function)
	sums, all := map[string]int64{}, int64(0)
	for i := range tab.Rows() {
		name := "???"
		if file.Has(i) {
			name = file.Text(i)
		}
		v := int64(weight.Float(i))
		sums[name+":"+function.Text(i)] += v
		all += v
	}
	checked := 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasSuffix(line, "PROGRAM TOTALS") {
			first, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			if want := number(first); want != all {
				t.Errorf("%d in all, want %d", all, want)
			}
			continue
		}
		m := annotated.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name := m[2] + ":" + m[3]
		if got := sums[name]; got != number(m[1]) {
			t.Errorf("%s: %d, want %s", name, got, m[1])
		}
		checked++
	}
	if checked < 30 {
		t.Errorf("only %d functions compared", checked)
	}
}

func number(text string) int64 {
	v, err := strconv.ParseInt(strings.ReplaceAll(text, ",", ""), 10, 64)
	if err != nil {
		return math.MinInt64
	}
	return v
}

func TestHostile(t *testing.T) {
	for name, text := range map[string]string{
		"no events":      "version: 1\n",
		"unknown name":   "events: Ir\nfn=(7)\n",
		"too many costs": "events: Ir\nfn=f\n1 2 3\n",
		"no number":      "events: Ir\nfn=f\n1 x\n",
		"no position":    "events: Ir\npositions: instr line\nfn=f\n1\n",
		"nothing":        "events: Ir\n",
		"other events":   "events: Ir\nfn=f\n1 1\nevents: Dr\n",
		"many totals":    "events: Ir\nfn=f\n1 1\ntotals:" + strings.Repeat(" 1", 1000) + "\n",
		"words":          "events: Ir\nonce upon a time\n",
	} {
		if _, err := parse(t.Context(), strings.NewReader(text), nil); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestPositions reads relative positions, files of inlined code and calls,
// whose costs are not those of the caller.
func TestPositions(t *testing.T) {
	text := "# callgrind format\nevents: Ir Dr\nfl=(1) a.c\nfn=(1) main\n10 5 1\n+2 7\nfi=(2) b.h\n3 1\nfe=(1)\n* 2\n" +
		"cfn=(2) g\ncalls=1 30\n-1 99 9\nfn=(2)\n30 4\ntotals: 19 1\n"
	out, err := parse(t.Context(), strings.NewReader(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	tab := out.Tables[0]
	var got []string
	for i := range tab.Rows() {
		got = append(got, fmt.Sprint(tab.Column(samples.Function).Text(i), " ", tab.Column(samples.File).Text(i), ":", tab.Column(samples.Line).Float(i), " ", tab.Column(samples.Weight).Float(i)))
	}
	want := "main a.c:10 5, main a.c:12 7, main b.h:3 1, main a.c:3 2, g a.c:30 4"
	if strings.Join(got, ", ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, ", "), want)
	}
	for _, w := range out.Warnings {
		if strings.Contains(w, "the file says") {
			t.Error(w)
		}
	}
}

// TestParts reads a file of several dumps, each with its own totals, of which
// the summaries have costs that no line has.
func TestParts(t *testing.T) {
	part := "events: Ir Dr\nsummary: 12 1\nfl=a.c\nfn=main\n10 5 1\n11 5\ntotals: 10 1\n"
	out, err := parse(t.Context(), strings.NewReader("# callgrind format\npart: 1\n"+part+"part: 2\n"+part), nil)
	if err != nil {
		t.Fatal(err)
	}
	if weight := out.Tables[0].Column(samples.Weight); weight.Float(0) != 10 || weight.Float(1) != 10 {
		t.Errorf("%v and %v, want 10 and 10", weight.Float(0), weight.Float(1))
	}
	for _, w := range out.Warnings {
		if strings.Contains(w, "the file says") {
			t.Error(w)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("# callgrind format\npositions: instr line\nevents: Ir\nfl=(1) a.c\nfn=(1) main\n0x10 1 5\n+3 * 1\ncalls=1 0x20 3\n* * 5\nfn=(1)\n"))
	f.Add([]byte("desc: I1\nevents: Ir Dr\nfl=a.c\nfn=f\n1 2 .\nsummary: 2 0\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		sniff(data)
		_, _ = parse(t.Context(), bytes.NewReader(data), nil)
	})
}
