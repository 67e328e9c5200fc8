package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/isobath/isobath/internal/app/demo"
	"github.com/isobath/isobath/internal/base/test"
)

// client asks a server that was started with some files, and counts.
type client struct {
	t       *testing.T
	session *mcp.ClientSession
	names   []string
	calls   int
}

// agentAnswer is what every tool answers with.
type agentAnswer struct {
	Command, Selection, Shortened string
	Next                          []string
	Provenance                    struct{ Statement string }
	Answer                        map[string]any
}

func startMCP(t *testing.T, files ...string) *client {
	t.Helper()
	isobath, err := exec.LookPath("isobath")
	if err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "script", Version: "1"}, nil).
		Connect(t.Context(), &mcp.CommandTransport{Command: exec.Command(isobath, append([]string{"mcp"}, files...)...)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	c := &client{t: t, session: session}
	for _, f := range files {
		c.names = append(c.names, filepath.Base(f))
	}
	return c
}

// try asks and returns the text of the answer or of the refusal.
func (c *client) try(tool string, arguments map[string]any) (text string, refused bool) {
	c.t.Helper()
	c.calls++
	got, err := c.session.CallTool(context.WithoutCancel(c.t.Context()), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return err.Error(), true
	}
	for _, content := range got.Content {
		if t, ok := content.(*mcp.TextContent); ok {
			text += t.Text
		}
	}
	return text, got.IsError
}

func (c *client) ask(tool string, arguments map[string]any) agentAnswer {
	c.t.Helper()
	text, refused := c.try(tool, arguments)
	if refused {
		c.t.Fatalf("%s %v: %s", tool, arguments, text)
	}
	var a agentAnswer
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		c.t.Fatalf("%s %v: %v in %s", tool, arguments, err, text)
	}
	if !strings.HasPrefix(a.Command, "isobath ") || a.Provenance.Statement == "" {
		c.t.Errorf("%s %v: command %q, provenance %q", tool, arguments, a.Command, a.Provenance.Statement)
	}
	if where, _ := arguments["where"].(string); a.Selection != where {
		c.t.Errorf("%s %v: selection %q", tool, arguments, a.Selection)
	}
	return a
}

// entries is a list of objects in an answer.
func entries(v any) []map[string]any {
	list, _ := v.([]any)
	var out []map[string]any
	for _, e := range list {
		if m, ok := e.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// conclude is the script: what an agent does that knows nothing but what kind of
// data there is, and what it would say in the end.
func (c *client) conclude() string {
	c.t.Helper()
	opened := c.ask("open", map[string]any{"file": c.names[0]})
	if len(c.names) == 2 {
		return c.concludeDiff(opened)
	}
	switch opened.Answer["kind"] {
	case "trace":
		gains := entries(c.ask("steps", map[string]any{"file": c.names[0], "top": 3}).Answer["gains"])
		if len(gains) == 0 {
			return "no rank is late"
		}
		return fmt.Sprint(gains[0]["text"])
	case "refs":
		advice := entries(c.ask("advise", map[string]any{"file": c.names[0], "machine": "classic", "top": 1}).Answer["advice"])
		if len(advice) == 0 {
			return "nothing to gain"
		}
		return fmt.Sprintf("%v of %v: %v", advice[0]["kind"], advice[0]["object"], advice[0]["text"])
	}
	return c.concludeSamples()
}

func (c *client) concludeDiff(opened agentAnswer) string {
	a := c.ask("diff", map[string]any{"a": c.names[0], "b": c.names[1], "top": 3}).Answer
	if opened.Answer["kind"] == "trace" {
		text, _ := json.Marshal(a)
		return string(text)
	}
	groups := entries(a["groups"])
	if len(groups) == 0 {
		return "nothing changed"
	}
	return fmt.Sprintf("%v: %v", groups[0]["verdict"], groups[0]["key"])
}

// concludeSamples takes the findings, and the costliest line of the first that
// names what to change: phases only say when, and parts belong to another.
func (c *client) concludeSamples() string {
	found := entries(c.ask("insights", map[string]any{"file": c.names[0]}).Answer["insights"])
	said := "nothing stands out"
	for _, f := range found {
		if f["kind"] == "phase" || f["partOf"] != nil {
			continue
		}
		where, _ := f["where"].(string)
		said = fmt.Sprintf("%v: %v", f["kind"], f["text"])
		groups := entries(c.ask("report", map[string]any{"file": c.names[0], "by": "line", "where": where, "top": 1}).Answer["groups"])
		if len(groups) == 0 {
			return said
		}
		key, _ := groups[0]["key"].(map[string]any)
		said += fmt.Sprintf("; most in %v:%v", key["file"], key["line"])
		// The text of the line, where the run has it.
		text, refused := c.try("source", map[string]any{"file": c.names[0], "place": fmt.Sprintf("%v:%v", key["file"], key["line"]), "context": 0})
		if !refused {
			said += "; " + text
		}
		return said
	}
	return said
}

// plantedCSV are samples of which one line, or one CPU, costs more than others.
func plantedCSV(t *testing.T, name string, cost func(line, cpu int) int) string {
	t.Helper()
	random := rand.New(rand.NewPCG(7, 9))
	text := &strings.Builder{}
	text.WriteString("time,cpu,latency,level,file,line,function\n")
	for i := range 6000 {
		line, cpu := 10+random.IntN(12), random.IntN(8)
		fmt.Fprintf(text, "%d,%d,%d,L2,work.c,%d,f%d\n", 1000*i, cpu, cost(line, cpu)+random.IntN(9), line, line%3)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func demoRun(t *testing.T, open func() (*demo.Run, error)) string {
	t.Helper()
	r, err := open()
	if err != nil {
		t.Fatal(err)
	}
	path, err := r.Write(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAgentFindsWhatWasPlanted asks one script, which knows nothing of the cases,
// about data in which the answer is known by construction. Ranks are those that
// whatif/programs/cases.txt delays, objects those that the locality programs were
// written to waste.
func TestAgentFindsWhatWasPlanted(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	whatif, locality := test.Fixture(t, "whatif"), test.Fixture(t, "locality")
	trace := func(name, with string) string { return filepath.Join(whatif, "traces", name, with+".otf2") }
	refs := func(name string) string { return filepath.Join(locality, "traces", name+".csv.gz") }
	even := plantedCSV(t, "even.csv", func(int, int) int { return 20 })
	hot := func(n int) func(int, int) int {
		return func(line, _ int) int {
			if line == n {
				return 400
			}
			return 20
		}
	}
	cases := []struct {
		name  string
		files []string
		want  []string // all of it must be said
	}{
		{"halo2d", []string{trace("halo2d", "with")}, []string{"rank 3 "}},
		{"allred", []string{trace("allred", "with")}, []string{"rank 2 ", "20 ×"}},
		{"ring", []string{trace("ring", "with")}, []string{"rank 4 "}},
		{"pipeline", []string{trace("pipeline", "with")}, []string{"rank 3 "}},
		{"bcastred", []string{trace("bcastred", "with")}, []string{"rank 5 "}},
		{"subcomm", []string{trace("subcomm", "with")}, []string{"rank 1 "}},
		{"rendez", []string{trace("rendez", "with")}, []string{"rank 3 "}},
		{"sweep", []string{trace("sweep", "with")}, []string{"rank 2 "}},
		{"nbc", []string{trace("nbc", "with")}, []string{"rank 4 "}},
		{"probe", []string{trace("probe", "with")}, []string{"rank 2 "}},
		{"fence", []string{trace("fence", "with")}, []string{"rank 1 "}},
		{"a trace and the same with a delay", []string{trace("allred", "without"), trace("allred", "with")}, []string{"rank 2 computed"}},
		{"structures of which half is used", []string{refs("aos_soa")}, []string{"of p:"}},
		{"a key among cold fields", []string{refs("hot_cold")}, []string{"of r:"}},
		{"two counters in one line", []string{refs("share8")}, []string{"counters", "thread"}},
		{"counters 128 bytes apart", []string{refs("share128")}, []string{"nothing to gain"}},
		{"pages touched by one thread", []string{demoRun(t, demo.Open)}, []string{"first-touch", "fill (stencil.c:61"}},
		{"nothing depends on anything", []string{demoRun(t, func() (*demo.Run, error) { return demo.Uniform(20000, 3) })}, []string{"nothing stands out"}},
		{"one line in twelve", []string{plantedCSV(t, "line.csv", hot(17))}, []string{"work.c:17"}},
		{"a line that became slow", []string{even, plantedCSV(t, "slow.csv", hot(13))}, []string{"more", "13"}},
		{"a line that became fast", []string{plantedCSV(t, "slow.csv", hot(19)), even}, []string{"less", "19"}},
	}
	if len(cases) < 20 {
		t.Fatalf("%d cases", len(cases))
	}
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			c := startMCP(t, tt.files...)
			said := c.conclude()
			for _, want := range tt.want {
				if !strings.Contains(said, want) {
					t.Errorf("said %q, want %q", said, want)
				}
			}
			if c.calls > 6 {
				t.Errorf("%d calls, at most 6", c.calls)
			}
		})
	}
}

// TestAgentReadsOnlyItsFiles holds that no parameter of any tool leads to another
// file or to a flag.
func TestAgentReadsOnlyItsFiles(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	secret := plantedCSV(t, "secret.csv", func(int, int) int { return 1 })
	mine := plantedCSV(t, "mine.csv", func(int, int) int { return 20 })
	c := startMCP(t, mine)
	for name, arguments := range map[string]map[string]any{
		"a path for a name":         {"file": secret},
		"a path up":                 {"file": "../secret.csv"},
		"another name":              {"file": "secret.csv"},
		"a flag as parameter":       {"file": "mine.csv", "topology": secret},
		"a list":                    {"file": []string{"mine.csv", secret}},
		"no file":                   {},
		"a number that is too high": {"file": "mine.csv", "top": 100000},
	} {
		if text, refused := c.try("report", arguments); !refused {
			t.Errorf("%s: %s", name, text)
		}
	}
	for tool, arguments := range map[string]map[string]any{
		"source": {"file": "mine.csv", "place": secret},
		"reuse":  {"file": "mine.csv", "machine": secret},
		"report": {"file": "mine.csv", "by": "line --topology=" + secret},
	} {
		if text, refused := c.try(tool, arguments); !refused {
			t.Errorf("%s %v: %s", tool, arguments, text)
		}
	}
	// A text that looks like a flag is a text: nothing is found for it.
	if a := c.ask("search", map[string]any{"file": "mine.csv", "text": "--topology=" + secret}); !strings.Contains(a.Command, " -- ") {
		t.Errorf("command %s", a.Command)
	}
}

// TestAgentCommandsGiveTheAnswerAgain holds, for every tool, that the command of an
// answer, typed into a shell, prints that answer, and that the answer says what it
// is about and where its numbers come from.
func TestAgentCommandsGiveTheAnswerAgain(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	file := plantedCSV(t, "it's mine.csv", func(int, int) int { return 20 })
	c := startMCP(t, "demo", "demo:fixed", "demo:messages", "demo:cycles", file, "--bytes=10000000")
	asked := map[string]bool{}
	for _, q := range []struct {
		tool      string
		arguments map[string]any
	}{
		{"open", map[string]any{"file": "demo"}},
		{"info", map[string]any{"file": "demo:messages"}},
		{"insights", map[string]any{"file": "demo", "where": "cpu in 0..15", "top": 3}},
		{"report", map[string]any{"file": "demo", "by": "symbol,level", "where": `level = "Remote RAM" & line != 3`, "spread": true}},
		{"report", map[string]any{"file": filepath.Base(file), "where": "latency > 3"}},
		{"search", map[string]any{"file": "demo", "text": "slowest 2 % of $HOME `u'"}},
		{"source", map[string]any{"file": "demo", "place": "stencil.c:104", "where": "cpu = 3", "context": 2}},
		{"steps", map[string]any{"file": "demo:messages", "critical": true, "range": "2:9"}},
		{"loops", map[string]any{"file": "demo:cycles", "machine": "classic"}},
		{"reuse", map[string]any{"file": "demo:cycles", "by": "object", "where": "op = load"}},
		{"advise", map[string]any{"file": "demo:cycles", "machine": "classic"}},
		{"diff", map[string]any{"a": "demo", "b": "demo:fixed", "by": "function", "where": "cpu in 0..15"}},
	} {
		asked[q.tool] = true
		a := c.ask(q.tool, q.arguments) // which checks selection and provenance
		out, err := exec.CommandContext(t.Context(), "sh", "-c", a.Command).Output()
		if err != nil {
			t.Errorf("%s: %v", a.Command, err)
			continue
		}
		var again map[string]any
		if err := json.Unmarshal(out, &again); err != nil {
			t.Errorf("%s: %v", a.Command, err)
			continue
		}
		if a.Shortened != "" || !reproduces(again, a.Answer, q.tool == "open") {
			t.Errorf("%s printed another answer:\n%s\nwant %v (%s)", a.Command, out, a.Answer, a.Shortened)
		}
	}
	for tool := range c.session.Tools(t.Context(), nil) {
		if !asked[tool.Name] {
			t.Errorf("the tool %s is not asked here", tool.Name)
		}
	}
}

// reproduces reports whether an answer is what a command printed; a digest has the
// names of columns alone.
func reproduces(printed, answer map[string]any, digest bool) bool {
	if digest {
		var names []any
		for _, c := range entries(printed["columns"]) {
			names = append(names, c["name"])
		}
		printed["columns"] = names
	}
	return reflect.DeepEqual(printed, answer)
}

// TestAgentAnswersAreBounded holds that a long answer is cut and says so.
func TestAgentAnswersAreBounded(t *testing.T) {
	c := startMCP(t, test.Fixture(t, "otf2/halo16"), "--bytes=6000")
	text, refused := c.try("steps", map[string]any{"file": "halo16", "top": 100})
	if refused || len(text) > 6000 || !strings.Contains(text, `"shortened":`) {
		t.Errorf("%d bytes, refused %v: %.300s", len(text), refused, text)
	}
}
