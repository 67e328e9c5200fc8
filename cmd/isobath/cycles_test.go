package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

// nestedCSV writes a trace of two nested loops, outer turns of inner turns,
// for each of the threads.
func nestedCSV(t *testing.T, outer, inner int, threads ...int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("thread,op,addr,size,pc,func,file,line\n")
	emit := func(thread, from, n, line int) {
		for i := range n {
			fmt.Fprintf(&b, "%d,L,%#x,8,%#x,\"walk(int, int)\",walk.c,%d\n", thread, 0x1000+8*(from+i), 0x400+4*(from+i), line)
		}
	}
	for _, th := range threads {
		emit(th, 0, 5, 1)
		for range outer {
			emit(th, 10, 12, 2)
			for range inner {
				emit(th, 30, 14, 3)
			}
			emit(th, 50, 6, 4)
		}
		emit(th, 60, 8, 6)
	}
	path := filepath.Join(t.TempDir(), "walk.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func isobath(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(&out)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

// cyclesDoc is the shape that scripts rely on.
type cyclesDoc struct {
	Records, Windows, Unique, Window, Prime int
	Symbol                                  string
	Bars                                    [][2]*int
	EpsilonCap                              int `json:"epsilon_cap"`
	AliveAtCap                              int `json:"alive_at_cap"`
	Classes                                 []struct {
		Birth       int
		Death       *int
		Epsilon     int
		Winding     int
		Turns       int
		Persistence int
		Exact       bool
		Sentence    string
		Lines       []struct {
			File  string
			Line  int
			Share float64
		}
	}
	Threads []cyclesDoc
	Notes   []string
}

func cyclesOf(t *testing.T, args ...string) cyclesDoc {
	t.Helper()
	out, err := isobath(t, append([]string{"cycles", "--json"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	var doc cyclesDoc
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return doc
}

func TestCyclesJSON(t *testing.T) {
	doc := cyclesOf(t, nestedCSV(t, 9, 7, 1))
	want := 5 + 9*(12+7*14+6) + 8
	if doc.Records != want || doc.Windows != want-9 || doc.Symbol != "pc" || doc.Window != 10 || doc.Prime != 47 || doc.EpsilonCap != 10 {
		t.Errorf("document %+v", doc)
	}
	turns := map[int]bool{}
	for _, c := range doc.Classes {
		turns[c.Turns] = true
		share := 0.0
		for _, l := range c.Lines {
			share += l.Share
		}
		if c.Turns > 0 && (share < 0.999 || share > 1.001 || c.Lines[0].File != "walk.c") {
			t.Errorf("the lines of %q make up %v of a turn: %v", c.Sentence, share, c.Lines)
		}
		if c.Death == nil || c.Persistence != *c.Death-c.Birth {
			t.Errorf("class %+v", c)
		}
	}
	if !turns[63] || !turns[9] {
		t.Errorf("turns %v, want 63 and 9", turns)
	}
	if s := doc.Classes[0].Sentence; !strings.HasPrefix(s, "inner loop walk.c:3, 63 turns in 9 passes of walk.c:2–4") {
		t.Errorf("sentence %q", s)
	}
}

func TestCyclesAliveAtCap(t *testing.T) {
	doc := cyclesOf(t, "--epsilon-cap", "3", nestedCSV(t, 9, 7, 1))
	alive := 0
	for _, b := range doc.Bars {
		if b[1] == nil {
			alive++
		}
	}
	if alive == 0 || alive != doc.AliveAtCap || doc.EpsilonCap != 3 {
		t.Errorf("%d bars without end, alive_at_cap %d, cap %d", alive, doc.AliveAtCap, doc.EpsilonCap)
	}
}

func TestCyclesThreads(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	path := nestedCSV(t, 4, 5, 7, 8)
	doc := cyclesOf(t, path)
	if len(doc.Threads) != 2 || doc.Threads[0].Records != doc.Threads[1].Records {
		t.Fatalf("threads %+v", doc.Threads)
	}
	one := cyclesOf(t, "--thread", "8", path)
	if one.Threads != nil || one.Records != doc.Threads[1].Records {
		t.Errorf("one thread has %d records, want %d", one.Records, doc.Threads[1].Records)
	}
}

func TestCyclesSelections(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	path := nestedCSV(t, 9, 7, 1)
	if doc := cyclesOf(t, "--range", "100:400", path); doc.Records != 300 {
		t.Errorf("range: %d records, want 300", doc.Records)
	}
	thinned := cyclesOf(t, "--every", "3", "--range", "0:300", path)
	if thinned.Records != 100 || !strings.Contains(strings.Join(thinned.Notes, "\n"), "one reference in 3 is kept: turns are those of the thinned trace") {
		t.Errorf("every third: %d records, want 100; notes %q", thinned.Records, thinned.Notes)
	}
	for _, c := range thinned.Classes {
		if c.Exact {
			t.Errorf("%q of a thinned trace is exact", c.Sentence)
		}
	}
	for _, symbol := range []string{"line", "addr", "op+addr", "pc+addr", "cacheline"} {
		if doc := cyclesOf(t, "--symbol", symbol, path); doc.Symbol != symbol {
			t.Errorf("symbol %q, want %q", doc.Symbol, symbol)
		}
	}
	if doc := cyclesOf(t, "--range", "0:5", path); doc.Windows != 0 || len(doc.Notes) != 1 {
		t.Errorf("five records: %d windows, notes %q", doc.Windows, doc.Notes)
	}
}

func TestCyclesNoReferences(t *testing.T) {
	doc := cyclesOf(t, test.Shared(t, "refs/drmemtrace/drmemtrace.allasm_x86_64.trace.zip"))
	if doc.Records != 0 || doc.Bars == nil || doc.Classes == nil || !strings.Contains(doc.Notes[0], "no data references") {
		t.Errorf("document %+v", doc)
	}
}

func TestCyclesText(t *testing.T) {
	out, err := isobath(t, "cycles", nestedCSV(t, 9, 7, 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1 057 references, 1 048 windows of 10", "inner loop walk.c:3", "63", "exact repetition"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for line := range strings.Lines(out) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
}

// TestNoCircle: where no bar lasts it is said what to look at.
func TestNoCircle(t *testing.T) {
	out, err := isobath(t, "cycles", "--window", "3", nestedCSV(t, 9, 7, 1))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(strings.Fields(out), " "); !strings.Contains(got, "no circle: no bar lasts long enough at windows of 3 references; loops shorter than that are in 'isobath loops' and below, and another --window (3 to 64) may show more") {
		t.Errorf("no word about windows of 3:\n%s", out)
	}
}

func TestCyclesErrors(t *testing.T) {
	path := nestedCSV(t, 2, 2, 1)
	noPC := filepath.Join(t.TempDir(), "dram.trace")
	if err := os.WriteFile(noPC, []byte("0x40 READ 1\n0x80 READ 2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		args  []string
		usage bool
		want  string
	}{
		{"no file", nil, true, "wants one trace"},
		{"absent", []string{"absent.csv"}, false, "open absent.csv: no such file"},
		{"symbol", []string{"--symbol", "colour", path}, true, `symbol "colour": want pc, line, addr`},
		{"window", []string{"--window", "2", path}, true, "--window 2: want 3 to 64"},
		{"cap", []string{"--epsilon-cap", "11", path}, true, "more than the window"},
		{"range", []string{"--range", "9:3", path}, true, "A before B"},
		{"memory", []string{"--memory", "much", path}, true, "512MB"},
		{"modify", []string{"--modify", "drop", path}, true, "keep, split or join"},
		{"roi", []string{"--roi", "a,b", path}, true, "--roi needs --binary"},
		{"binary", []string{"--binary", path, path}, false, "not an ELF file"},
		{"no pc", []string{"--symbol", "pc", noPC}, false, "no instruction addresses"},
		{"no line", []string{"--symbol", "line", noPC}, false, "no source lines"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := isobath(t, append([]string{"cycles"}, tt.args...)...)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error = %v, want %q", err, tt.want)
			}
			if errors.As(err, new(usageError)) != tt.usage {
				t.Errorf("usage error: %v, want %v", !tt.usage, tt.usage)
			}
		})
	}
}
