package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/bench/synth"
	"github.com/isobath/isobath/internal/app/demo"
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/engine/clickhouse/clickhousetest"
)

// twin is a run in a folder, and the same in ClickHouse.
type twin struct{ local, stored string }

// ask asks one of the two. RUN in the arguments is the run, DIR a fresh folder; what is
// written there counts as printed. What differs by where the run is, is made alike.
func (w twin) ask(t *testing.T, run string, args []string) (out string, err error) {
	t.Helper()
	dir := t.TempDir()
	name, _, _ := strings.Cut(filepath.Base(run), "?")
	name = strings.TrimSuffix(name, ".isobath")
	alike := strings.NewReplacer(run, "RUN", dir, "DIR", name+".isobath", "NAME", name, "NAME")
	real := slices.Clone(args)
	for i, a := range real {
		real[i] = strings.NewReplacer("RUN", run, "DIR", dir).Replace(a)
	}
	said, err := isobath(t, real...)
	if err != nil {
		return "", fmt.Errorf("%s", alike.Replace(err.Error()))
	}
	all := strings.Builder{}
	all.WriteString(said)
	walked := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&all, "\n%s: %s", path, text)
		return err
	})
	if walked != nil {
		t.Fatal(walked)
	}
	return alike.Replace(all.String()), nil
}

// needsLocal begins every sentence by which a run in ClickHouse is refused.
const needsLocal = "kept in ClickHouse"

// same asks both and holds that the answers are equal, or that the second is one
// sentence that says that the run is to be local. It returns whether it was answered.
func (w twin) same(t *testing.T, args ...string) bool {
	t.Helper()
	want, wantErr := w.ask(t, w.local, args)
	got, gotErr := w.ask(t, w.stored, args)
	switch {
	case gotErr != nil && strings.Contains(gotErr.Error(), needsLocal) && !strings.Contains(gotErr.Error(), "\n"):
		return false
	case wantErr != nil && gotErr != nil && wantErr.Error() == gotErr.Error():
		return true // both refuse what was asked
	case wantErr != nil || gotErr != nil:
		t.Errorf("isobath %s\nlocal:  %v\nstored: %v", strings.Join(args, " "), wantErr, gotErr)
	case want != got:
		at := 0
		for at < min(len(want), len(got)) && want[at] == got[at] {
			at++
		}
		from := max(0, at-200)
		t.Errorf("isobath %s: at byte %d of %d and %d\nlocal  …%s\nstored …%s", strings.Join(args, " "), at, len(want), len(got),
			want[from:min(len(want), at+200)], got[from:min(len(got), at+200)])
	}
	return true
}

// keptTwin stores a run that is in a folder.
func keptTwin(t *testing.T, server *clickhousetest.Server, local, name string) twin {
	t.Helper()
	outputOf(t, "import", local, "--engine", server.Address(name))
	return twin{local, server.Address(name)}
}

// verbsOfRuns are the verbs that take a run of samples, each with what is asked of it.
// RUN is the run, DIR a folder.
var verbsOfRuns = map[string][]string{
	"info":     {"RUN", "RUN --json", "RUN --privacy"},
	"report":   {"RUN", "RUN --json", "RUN --by function", "RUN --by object", "RUN --by level --where latency>20", "RUN --spread", "RUN --touches", "RUN --allocations", "RUN --by cacheline", "RUN --format markdown", "RUN --format sarif", "RUN --format junit", "RUN --by nothing", "RUN --where nothing=1"},
	"topology": {"RUN", "RUN --json", "RUN --where latency>20", "RUN --svg"},
	"metrics":  {"RUN", "RUN --json", "RUN --axis latency"},
	"clusters": {"RUN", "RUN --json"},
	"insights": {"RUN", "RUN --json", "RUN --format markdown"},
	"heatmap":  {"RUN", "RUN --by function", "RUN --json"},
	"search":   {"RUN sweep", "RUN latency>20 --json"},
	"export":   {"RUN -o DIR/a.csv", "RUN -o DIR/a.json", "RUN -o DIR/a.svg", "RUN -o DIR/a.folded", "RUN -o DIR/a.html", "RUN -o DIR/a.nothing", "RUN --where latency>100 -o DIR/a.csv"},
	"assembly": {"RUN", "RUN --function sweep"},
	"callers":  {"RUN", "RUN --function sweep"},
	"source":   {"RUN", "RUN heat.c"},
	"why":      {"RUN --row 3"},
	"diff":     {"RUN RUN", "RUN RUN --json"},
	"study":    {"RUN RUN", "RUN RUN --json"},
	"steps":    {"RUN"},
	"cycles":   {"RUN"},
	"reuse":    {"RUN"},
	"whatif":   {"RUN"},
	"advise":   {"RUN"},
	"sharing":  {"RUN"},
	"loops":    {"RUN"},
	"mesh":     {"RUN"},
}

// Verbs that are not about a run that is there, or that have tests of their own.
var verbsApart = []string{
	"open", "serve", "mcp", // TestStoredRoutes of the server
	"import", "engine", // below
	"record", "cc", "ab", "demo", "doctor", "formats", "version", "reference", "guide", "help", "completion",
}

// TestStoredVerbs asks every verb the same of runs in a folder and in ClickHouse.
func TestStoredVerbs(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	for _, c := range newRoot().Commands() {
		if _, ok := verbsOfRuns[c.Name()]; ok == slices.Contains(verbsApart, c.Name()) {
			t.Errorf("%s is not asked, and not known to be apart", c.Name())
		}
	}
	servers := clickhousetest.Start(t, 2)
	dir := t.TempDir()
	runs := map[string]twin{}
	paths, err := synth.WriteHosts(t.Context(), dir, 6, 300)
	if err != nil {
		t.Fatal(err)
	}
	for name, write := range map[string]func(path string){
		"many hosts": func(path string) { outputOf(t, slices.Concat([]string{"import", "-o", path}, paths)...) },
		"sources":    func(path string) { writeWithSources(t, path) },
	} {
		// A name that occurs nowhere else in what verbs print.
		called := "kept-" + strings.ReplaceAll(name, " ", "-")
		local := filepath.Join(dir, called+".isobath")
		write(local)
		runs[name] = keptTwin(t, servers[0], local, called)
	}
	for name, run := range runs {
		for verb, all := range verbsOfRuns {
			answered := 0
			for _, line := range all {
				t.Run(fmt.Sprintf("%s %s %s", name, verb, line), func(t *testing.T) {
					if run.same(t, append([]string{verb}, strings.Fields(line)...)...) {
						answered++
					}
				})
			}
			t.Logf("%s: %s answers %d of %d", name, verb, answered, len(all))
		}
	}
}

// writeDemo writes the example run, which has sources, a topology and objects, with a
// selection that has a name.
func writeDemo(t *testing.T, path string) {
	t.Helper()
	d, err := demo.Open()
	if err != nil {
		t.Fatal(err)
	}
	bundle, err := d.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	if err := bundle.Write(context.Background(), path, true); err != nil {
		t.Fatal(err)
	}
	nameSelection(t, path, "slow ones", "latency > 100")
}

func nameSelection(t *testing.T, path, name, where string) {
	t.Helper()
	r, err := run.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.SaveSelections(map[string]string{name: where}), r.Close()); err != nil {
		t.Fatal(err)
	}
}

// writeWithSources writes a run that keeps source files.
func writeWithSources(t *testing.T, path string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"heat.c":       "int main(void)\n{\n\tfor (int i = 0; i < 9; i++)\n\t\tu[i] = v[i];\n}\n",
		"sub/größe.c":  "/* 'quoted' \\ \"twice\" */\n",
		"samples.csv":  "time,cpu,latency,function,file,line,address\n1,0,5,main,heat.c,3,0x1000\n2,1,700,main,heat.c,4,0x1040\n3,0,9,f,sub/größe.c,1,0x1000\n4,1,80,f,sub/größe.c,1,0x2000\n",
		"objects.text": "allocation at heat.c:4 is u double[8]\n",
	} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	outputOf(t, "import", filepath.Join(dir, "samples.csv"), "--sources", dir, "--objects", filepath.Join(dir, "objects.text"), "-o", path)
}

// TestStoredAndBack stores a run, brings it back as a folder, and compares the two by
// their files: sources, topology, names of objects and selections travel with the rows.
func TestStoredAndBack(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	servers := clickhousetest.Start(t, 2)
	dir := t.TempDir()
	local := filepath.Join(dir, "first.isobath")
	for _, write := range []func(*testing.T, string){writeDemo, writeWithSources} {
		whole := filepath.Join(t.TempDir(), "whole.isobath")
		write(t, whole)
		nameSelection(t, whole, "slow", "latency > 100")
		comesBack(t, keptTwin(t, servers[0], whole, "whole"))
		outputOf(t, "engine", "rm", servers[0].Address("whole"))
	}
	writeWithSources(t, local)
	nameSelection(t, local, "slow", "latency > 100")
	keptTwin(t, servers[0], local, "first")

	// A second import changes nothing; one of a run that differs in a source, a
	// selection or a name of an object is another.
	again := func(args ...string) error {
		_, err := isobath(t, append([]string{"import", local, "--engine", servers[0].Address("first")}, args...)...)
		return err
	}
	attempts := func() string {
		text, err := servers[0].Do(t.Context(), "SELECT groupArray(attempt) FROM (SELECT attempt FROM isobath_runs WHERE state = 'committed' ORDER BY attempt)")
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	was := attempts()
	if err := again(); err != nil || attempts() != was {
		t.Errorf("the same again: %v; attempts %s, before %s", err, attempts(), was)
	}
	for name, text := range map[string]string{
		"selections.json": `{"fast ones": "latency < 10"}`, "objects.txt": "allocation at heat.c:57 is w double[8]\n", "sources/heat.c": "int main(void) { return 1; }\n",
	} {
		file := filepath.Join(local, name)
		old, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := again(); err == nil || !strings.Contains(err.Error(), "another run") {
			t.Errorf("with another %s: %v", name, err)
		}
		if err := os.WriteFile(file, old, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := again(); err != nil || attempts() != was {
		t.Errorf("the first one again: %v", err)
	}
	if err := again("--force"); err != nil {
		t.Error(err)
	}
}

// comesBack brings a run back and compares its files with those it was made from.
func comesBack(t *testing.T, w twin) {
	t.Helper()
	back := filepath.Join(t.TempDir(), "back.isobath")
	outputOf(t, "import", w.stored, "-o", back)
	files := func(folder string) map[string][]byte {
		out := map[string][]byte{}
		err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || d.Name() == "manifest.json" {
				return err
			}
			name, err := filepath.Rel(folder, path)
			if err == nil {
				out[name], err = os.ReadFile(path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	want, got := files(w.local), files(back)
	if len(want) < 5 {
		t.Fatalf("the example has %d files", len(want))
	}
	for name, text := range want {
		if !bytes.Equal(text, got[name]) {
			t.Errorf("%s: %d bytes came back of %d", name, len(got[name]), len(text))
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files came back of %d", len(got), len(want))
	}
	for name := range got {
		if want[name] == nil {
			t.Errorf("%s came back and was not there", name)
		}
	}
}

// TestEngineVerb lists, checks and removes runs, and says what is wrong with one.
func TestEngineVerb(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	servers := clickhousetest.Start(t, 2)
	all := servers[0].Address("")
	if out := string(outputOf(t, "engine", "ls", all)); strings.Contains(out, "committed") || strings.Count(out, "\n") > 1 {
		t.Errorf("nothing is there: %q", out)
	}
	csv := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(csv, []byte("cpu,latency\n0,5\n1,7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two"} {
		outputOf(t, "import", csv, "--engine", servers[0].Address(name))
	}
	odd := filepath.Join(t.TempDir(), "größe 1.csv")
	if err := os.WriteFile(odd, []byte("cpu,latency\n0,5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := isobath(t, "import", odd, "--engine", all); err == nil || !strings.Contains(err.Error(), servers[0].Host()+"/default/NAME") {
		t.Errorf("a file whose name is no name of a run: %v", err)
	}
	if out := string(outputOf(t, "engine", "ls", all)); !strings.Contains(out, "one") || !strings.Contains(out, "two") {
		t.Errorf("listed: %s", out)
	}
	outputOf(t, "engine", "check", all)
	// Rows that a shard lost, or has twice.
	table, err := servers[0].Do(t.Context(), "SELECT name FROM system.tables WHERE name LIKE 'isobath_%_rows' ORDER BY name LIMIT 1")
	if err != nil {
		t.Fatal(err)
	}
	table = strings.TrimSpace(table)
	if _, err := servers[0].Do(t.Context(), "INSERT INTO "+table+" SELECT * FROM "+table); err != nil {
		t.Fatal(err)
	}
	out, err := isobath(t, "engine", "check", all)
	if err == nil || !strings.Contains(err.Error(), "not whole: 1 of 2 runs") || !strings.Contains(out, "import it again with --force") {
		t.Errorf("rows that are there twice: %v\n%s", err, out)
	}
	for _, name := range []string{"one", "two"} {
		outputOf(t, "engine", "rm", servers[0].Address(name))
	}
	if _, err := isobath(t, "engine", "rm", servers[0].Address("one")); err == nil || !strings.Contains(err.Error(), "no run") {
		t.Errorf("removed twice: %v", err)
	}
	if _, err := isobath(t, "engine", "rm", all); err == nil || !strings.Contains(err.Error(), "address of a run") {
		t.Errorf("removed nothing: %v", err)
	}
	for i, server := range servers {
		left, err := server.Do(t.Context(), "SELECT count() FROM system.tables WHERE name LIKE 'isobath_%_rows' OR name LIKE 'isobath_%_pieces'")
		if err != nil || strings.TrimSpace(left) != "0" {
			t.Errorf("shard %d keeps %s tables (%v)", i, left, err)
		}
	}
}

// TestStoredShapes stores runs of shapes that nobody expects, and asks the same of them
// in a folder.
func TestStoredShapes(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	servers := clickhousetest.Start(t, 2)
	wide := &strings.Builder{}
	for i := range 500 {
		fmt.Fprintf(wide, "column%d,", i)
	}
	wide.WriteString("latency\n")
	for row := range 40 {
		for i := range 500 {
			if (row+i)%11 > 0 {
				fmt.Fprint(wide, row*i)
			}
			wide.WriteByte(',')
		}
		fmt.Fprintln(wide, row)
	}
	for name, csv := range map[string]string{
		"no-cpu":  "time,latency,level\n1000,5,L1\n2000,7,L2\n3000,400,RAM\n",
		"one-row": "cpu,latency\n3,12\n",
		"no-rows": "cpu,latency,level\n",
		"wide":    wide.String(),
		"names": "function,file,line,latency,it's,back\\slash,größe 目\n" +
			"\"f(\"\"a\"\", 'b')\",a'b.c,1,5,\\,x,é\n" + "operator\\n,\"c,d\\\".c\",2,9,',\\n,目\n" + "目\t次,DROP TABLE; --,3,40,\\',0x00,\u202e\n" + "f(\"\"),,4,1,,,\n",
		"numbers": "latency,huge,ratio,cpu\n" +
			"1,9223372036854775807,NaN,0\n" + "2,-9223372036854775808,inf,1\n" + "3,9007199254740993,-inf,0\n" + "4,0,1e308,1\n" + "5,,-1e308,0\n" + "6,-1,5e-324,1\n" + "7,1,,0\n",
		"unreadable": "function,latency\nf\xff\xfe,5\ng\xc3,7\nf\xff\xff,9\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			name := "kept-" + name // which occurs nowhere else
			file, local := filepath.Join(dir, name+".csv"), filepath.Join(dir, name+".isobath")
			if err := os.WriteFile(file, []byte(csv), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := isobath(t, "import", file, "-o", local); err != nil {
				t.Logf("no run: %v", err)
				if _, stored := isobath(t, "import", file, "--engine", servers[0].Address(name)); stored == nil || stored.Error() != err.Error() {
					t.Errorf("in a folder: %v; in ClickHouse: %v", err, stored)
				}
				return
			}
			run := keptTwin(t, servers[0], local, name)
			asked := [][]string{
				{"info", "RUN", "--json"}, {"report", "RUN", "--json"}, {"topology", "RUN", "--json"}, {"metrics", "RUN", "--json"}, {"clusters", "RUN", "--json"}, {"insights", "RUN", "--json"},
				{"search", "RUN", "latency", "--json"}, {"diff", "RUN", "RUN", "--json"}, {"export", "RUN", "-o", "DIR/a.csv"}, {"heatmap", "RUN", "--json"},
				{"report", "RUN", "--json", "--where", "latency > 1e9"}, {"export", "RUN", "--where", "latency < 0", "-o", "DIR/a.csv"}, {"insights", "RUN", "--json", "--where", "latency > 1e9"},
			}
			for _, by := range []string{"function", "file,line", "cpu", "huge", "ratio", "it's", "back\\slash", "größe 目", "column7"} {
				asked = append(asked, []string{"report", "RUN", "--json", "--by", by})
			}
			for _, where := range []string{
				`function = "f(\"a\", 'b')"`, `function ~ "\\\\"`, `function ~ 目`, `"it's" = "'"`, `file = "a'b.c"`, `"back\\slash" != none`, `huge = 9223372036854775807`, `huge < -9223372036854775807`,
				`huge = 9007199254740993`, `huge = 9007199254740992`, `ratio > 1e307`, `ratio = none`, `ratio < 0`, `column7 = none`, `column499 > 20`, "cpu = 0", "cpu = 0 & cpu = 1",
			} {
				asked = append(asked, []string{"report", "RUN", "--json", "--where", where}, []string{"export", "RUN", "--where", where, "-o", "DIR/a.csv"})
			}
			for _, args := range asked {
				run.same(t, args...)
			}
		})
	}
}
