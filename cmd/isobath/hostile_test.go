package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/isobath/isobath/internal/base/test"
)

// evil is a name that a terminal obeys: it sets the title, moves up, begins a
// sequence with one character, and turns the order of letters around.
const evil = "f\x1b]0;owned\x07\x1b[1A\u009b2J\x7f\u202e\u2028"

// hostileInputs writes files of every kind of data with such names.
func hostileInputs(t *testing.T, folder string) {
	t.Helper()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var samples, others, refs strings.Builder
	head := "time,cpu,ip,addr,latency,level,function,file,line,symbol,bad" + evil + "\n"
	samples.WriteString(head)
	others.WriteString(head)
	refs.WriteString("seq,op,addr,size,pc,func,file,line\n")
	for i := range 400 {
		row := "%d,%d,0x%x,0x%x,%d,%s,%s%d,%s.c,%d,%s,%s%d\n"
		fmt.Fprintf(&samples, row, i*100, i%2, 0x1000+i%7, 0x8000+64*i, 10+i%5*100, "L2", evil, i%3, evil, i%9, evil, evil, i%4)
		fmt.Fprintf(&others, row, i*100, i%2, 0x1000+i%7, 0x8000+64*i, 90+i%5*100, "Local RAM", evil, i%3, evil, i%9, evil, evil, i%4)
		fmt.Fprintf(&refs, "%d,L,0x%x,8,0x%x,%s%d,%s.c,%d\n", i, 0x10000+i%50*64, 0x1000+i%5, evil, i%2, evil, i%5)
	}
	write("a.csv", samples.String())
	write("b.csv", others.String())
	write("refs.csv", refs.String())
	write("mesh.vtk", "# vtk DataFile Version 3.0\n"+evil+"\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 3 3 3\nORIGIN 0 0 0\nSPACING 1 1 1\nCELL_DATA 8\nSCALARS "+
		evil+" double 1\nLOOKUP_TABLE default\n1 2 3 4 5 6 7 8\n")
	write("machine.xml", `<?xml version="1.0"?><topology version="2.0"><object type="Machine" os_index="0" cpuset="0x3" name="`+"\u009b2J"+
		`"><info name="HostName" value="`+"\u009b2J"+`"/><object type="PU" os_index="0" cpuset="0x1"/><object type="PU" os_index="1" cpuset="0x2"/></object></topology>`)
	hostileTrace(t, filepath.Join(folder, "trace"))
}

// hostileTrace is an archive of ours whose names are replaced.
func hostileTrace(t *testing.T, folder string) {
	t.Helper()
	if err := os.CopyFS(folder, os.DirFS(test.Fixture(t, "otf2/binomial16"))); err != nil {
		t.Fatal(err)
	}
	defs := filepath.Join(folder, "traces.def")
	text, err := os.ReadFile(defs)
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`(?i)(rank |process |master |main|node)`)
	changed := names.ReplaceAllFunc(text, func(name []byte) []byte { return append([]byte("\x1b]"), name[2:]...) })
	if bytes.Equal(changed, text) {
		t.Fatalf("no name to replace among %q", regexp.MustCompile(`[ -~]{4,}`).FindAll(text, 40))
	}
	if err := os.WriteFile(defs, changed, 0o666); err != nil {
		t.Fatal(err)
	}
}

// silent are verbs that print no names of files of strangers, and why.
var silent = map[string]string{
	"open": "serves; prints what serve prints", "serve": "prints through the same screens", "demo": "our own run",
	"mcp": "JSON on standard output; the verbs that answer are here", "record": "records a program of the user's", "cc": "is the compiler", "ab": "runs commands of the user's",
	"doctor": "the machine", "version": "the program", "guide": "our own book", "reference": "the program", "formats": "the program", "help": "the program", "completion": "the program",
}

// TestHostileNames holds that no verb prints what a terminal obeys, on standard
// output or standard error, whatever the names in a file are.
func TestHostileNames(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	isobath, err := exec.LookPath("isobath")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	hostileInputs(t, folder)
	verbs := map[string][]string{
		"import":   {"a.csv -o a.isobath", "a.csv b.csv -o both.isobath"},
		"engine":   {"ls " + evil, "check clickhouse://127.0.0.1:9/x" + evil, "rm clickhouse://127.0.0.1:9/perf/" + evil},
		"info":     {"a.csv", "a.csv --json", "a.csv --privacy", "a.isobath", "trace", "refs.csv", "mesh.vtk", "machine.xml", "none" + evil},
		"report":   {"a.csv --by function", "a.csv --by line", "a.csv --by file", "a.csv --by symbol --json", "a.csv --by bad" + evil, "a.csv --by no" + evil, "a.csv --spread", "a.csv --by line --format github", "a.csv --format markdown", "a.csv --format junit", "a.csv --format sarif"},
		"topology": {"machine.xml", "machine.xml --json", "machine.xml --svg", "--topology machine.xml a.csv"},
		"metrics":  {"a.csv --axis time --metric latency --topology machine.xml"},
		"clusters": {"a.csv --axis time --metric latency --topology machine.xml"},
		"insights": {"a.csv", "a.csv --json", "a.csv --format github", "trace"},
		"heatmap":  {"a.csv --by function", "a.csv --by symbol --json", "a.csv --by no" + evil},
		"search":   {"a.csv " + evil, "a.csv f"},
		"steps":    {"trace", "trace --json --ops", "trace --tsv", "trace --format github", "trace --format sarif"},
		"cycles":   {"refs.csv --symbol line", "refs.csv --symbol line --json"},
		"loops":    {"refs.csv", "refs.csv --json"},
		"reuse":    {"refs.csv", "refs.csv --json"},
		"whatif":   {"refs.csv", "refs.csv --set x" + evil},
		"advise":   {"refs.csv"},
		"sharing":  {"refs.csv"},
		"mesh":     {"a.csv --mesh mesh.vtk", "mesh.vtk"},
		"diff":     {"a.csv b.csv", "a.csv b.csv --json", "a.csv b.csv --format github", "trace trace"},
		"study":    {"a.csv b.csv", "a.csv b.csv --json"},
		"export":   {"a.csv -o a.svg --topology machine.xml", "a.csv -o a.html", "trace -o out.otf2"},
		"assembly": {"a.csv --function " + evil},
		"callers":  {"a.csv --function " + evil + "0"},
		"source":   {"a.csv " + evil + ".c:3", "a.csv other.c"},
		"why":      {"a.csv --row 3", "a.csv --row 9999" + evil},
	}
	names := []string{}
	for _, c := range newRoot().Commands() {
		names = append(names, c.Name())
		if _, ok := verbs[c.Name()]; !ok && silent[c.Name()] == "" {
			t.Errorf("nobody tries hostile names with %s", c.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(order(a), order(b)) }) // import makes what others read
	shown := 0
	for _, verb := range names {
		for _, line := range verbs[verb] {
			cmd := exec.Command(isobath, append([]string{verb}, strings.Fields(line)...)...)
			cmd.Dir = folder
			out, _ := cmd.CombinedOutput() // what is refused must be refused in plain text too
			if at := bytes.IndexFunc(out, obeyed); at >= 0 {
				t.Errorf("%s %q prints %q", verb, line, out[max(at-60, 0):min(at+60, len(out))])
			}
			if bytes.ContainsRune(out, utf8.RuneError) {
				shown++
			}
			t.Logf("%s %q: %.80q", verb, line, out)
		}
	}
	for _, written := range []string{"a.svg", "a.html"} { // for people, who open them elsewhere
		text, err := os.ReadFile(filepath.Join(folder, written))
		if err != nil {
			t.Fatal(err)
		}
		if at := bytes.IndexFunc(text, obeyed); at >= 0 {
			t.Errorf("%s holds %q", written, text[max(at-60, 0):min(at+60, len(text))])
		}
		if written == "a.html" && !bytes.Contains(text, []byte(`\u202e`)) {
			t.Errorf("%s does not show a hostile name", written)
		}
	}
	if shown < 20 {
		t.Errorf("only %d answers show a hostile name: the test tries too little", shown)
	}
}

func order(verb string) string {
	if verb == "import" {
		return ""
	}
	return verb
}

// obeyed are the characters that a terminal obeys, but for line ends and tabs.
func obeyed(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || r == '\u202e' || r == '\u2028')
}

// Whoever prints goes through say, note or the command's own output: nothing else
// knows the files of the process.
func TestOnePlaceWrites(t *testing.T) {
	test.NoRaces(t, "it reads code")
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	direct := regexp.MustCompile(`(?m)^.*\b(fmt\.Print|Fprint\w*\(os\.Std|[^.\w]println?\().*$`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") || file == "output.go" {
			continue
		}
		for _, line := range direct.FindAllString(string(text), -1) {
			t.Errorf("%s prints without base/term: %s", file, strings.TrimSpace(line))
		}
	}
}
