package server

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/app/server/memory"
	"github.com/isobath/isobath/internal/data/kind"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/memory/assembly"
	"github.com/isobath/isobath/internal/memory/cacheline"
	"github.com/isobath/isobath/internal/memory/profile"
)

// countedRun writes a run of four samples: two threads that write into one
// line, with their code and stacks.
func countedRun(t *testing.T, withCode bool) string {
	t.Helper()
	names := func(name string, dict []string, codes ...uint32) *table.Column {
		return table.Categories(name, table.Derived, codes, dict, nil)
	}
	samples, err := table.New("samples", []*table.Column{
		table.Addresses("addr", table.Measured, []uint64{0x1000, 0x1008, 0x1000, 0x1008}, nil),
		table.Ints("tid", "", table.Measured, []int64{1, 2, 1, 2}, nil),
		table.Ints("cpu", "", table.Measured, []int64{0, 1, 0, 1}, nil),
		table.Ints("latency", "cycles", table.Measured, []int64{5, 5, 200, 300}, nil),
		table.Ints("x", "", table.Measured, []int64{0, 0, 0, 0}, nil),
		table.Ints("y", "", table.Measured, []int64{0, 0, 0, 0}, nil),
		table.Ints("z", "", table.Measured, []int64{0, 0, 0, 0}, nil),
		names("op", []string{"load", "store"}, 1, 1, 0, 0),
		names("snoop", []string{"none", "hit modified"}, 0, 0, 1, 1),
		names("level", []string{"L1", "Remote Cache"}, 0, 0, 1, 1),
		names("symbol", []string{"count.c:3 4 KiB"}, 0, 0, 0, 0),
		names("allocation", []string{"count.c:3"}, 0, 0, 0, 0),
		table.Ints("offset", "bytes", table.Derived, []int64{0, 8, 0, 8}, nil),
		table.Addresses("code", table.Derived, []uint64{0x401004, 0x401004, 0x401000, 0x401000}, nil),
		names("module", []string{"count"}, 0, 0, 0, 0),
		names("function", []string{"bump"}, 0, 0, 0, 0),
		names("file", []string{"count.c"}, 0, 0, 0, 0),
		table.Ints("line", "", table.Derived, []int64{11, 11, 10, 10}, nil),
		names("instruction", []string{"mov (%rdi),%rax", "mov %rax,(%rdi)"}, 1, 1, 0, 0),
		names("stack", []string{"main (count.c:30);bump (count.c:11)", "main (count.c:30);bump (count.c:10)"}, 0, 0, 1, 1),
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &run.Run{Contents: []*table.Table{samples}, Manifest: run.Manifest{Kind: kind.Samples, Format: "test"}}
	if withCode {
		code, err := table.New("code", []*table.Column{
			table.Addresses("code", table.Derived, []uint64{0x401000, 0x401004, 0x401008, 0x401010}, nil),
			table.Ints("line", "", table.Derived, []int64{10, 11, 12, 11}, nil),
			names("module", []string{"count"}, 0, 0, 0, 0),
			names("function", []string{"bump", "cold"}, 0, 0, 0, 1),
			names("file", []string{"count.c"}, 0, 0, 0, 0),
			names("instruction", []string{"mov (%rdi),%rax", "mov %rax,(%rdi)", "ret"}, 0, 1, 2, 2),
		})
		if err != nil {
			t.Fatal(err)
		}
		r.Contents = append(r.Contents, code)
	}
	path := filepath.Join(t.TempDir(), "count.isobath")
	if err := r.Write(t.Context(), path, false); err != nil {
		t.Fatal(err)
	}
	return path
}

func codeServer(t *testing.T, withCode bool) (*Server, string, string) {
	t.Helper()
	loader := NewLoader(dataset.Options{})
	path := countedRun(t, withCode)
	s := newTestServer(t, func(o *Options) { o.Open = loader.Open })
	r, err := loader.Open(t.Context(), path, func(frame.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	s.Add(r)
	return s, "/api/v1/runs/" + r.ID + "/", path
}

func TestCode(t *testing.T) {
	s, base, _ := codeServer(t, true)
	lines := get[cacheline.CacheLines](t, do(s, "POST", base+"cachelines", `{}`), http.StatusOK)
	if len(lines.Lines) != 1 || lines.Lines[0].Sharing != cacheline.False || lines.Lines[0].HITM != 2 {
		t.Errorf("lines %+v", lines)
	}
	lines = get[cacheline.CacheLines](t, do(s, "POST", base+"cachelines", `{"where":"tid = 1"}`), http.StatusOK)
	if len(lines.Lines) != 1 || lines.Lines[0].Sharing != cacheline.Private || lines.Addressed != 2 {
		t.Errorf("lines of one thread %+v", lines)
	}
	spreads := get[memory.Spreads](t, do(s, "POST", base+"spread", `{"by":["file","line"],"where":"op = load"}`), http.StatusOK)
	if len(spreads.Groups) != 1 || spreads.Groups[0].Latency.Max != 300 || spreads.Groups[0].Levels[0].Name != "Remote Cache" || spreads.Provenance != "measured" {
		t.Errorf("spreads %+v", spreads)
	}
	calls := get[profile.Calls](t, do(s, "POST", base+"calls", `{"function":"main"}`), http.StatusOK)
	if want := (profile.Calls{Function: "main", Total: 4, Callers: []profile.Call{{Samples: 4, Latency: 510}}, Callees: []profile.Call{{Function: "bump", Samples: 4, Latency: 510}}}); !cmp.Equal(want, calls) {
		t.Errorf("calls (-want +got):\n%s", cmp.Diff(want, calls))
	}
	got := get[assembly.Assembly](t, do(s, "POST", base+"assembly", `{"file":"count.c","line":11}`), http.StatusOK)
	want := assembly.Assembly{Function: "bump", Functions: []string{"bump", "cold"}, Module: "count", Instructions: []assembly.Instruction{
		{Addr: "0x401000", Text: "mov (%rdi),%rax", File: "count.c", Line: 10, Samples: 2, Latency: 500},
		{Addr: "0x401004", Text: "mov %rax,(%rdi)", File: "count.c", Line: 11, Samples: 2, Latency: 10},
		{Addr: "0x401008", Text: "ret", File: "count.c", Line: 12, Samples: 0, Latency: 0},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("assembly (-want +got):\n%s", diff)
	}
	got = get[assembly.Assembly](t, do(s, "POST", base+"assembly", `{"file":"count.c","line":11,"function":"cold"}`), http.StatusOK)
	if len(got.Instructions) != 1 || got.Function != "cold" {
		t.Errorf("assembly of cold %+v", got)
	}
	for path, body := range map[string]string{"spread": `{"by":["none"]}`, "cachelines": `{"where":"tid ="}`, "assembly": `{"where":"x"}`} {
		get[frame.Failure](t, do(s, "POST", base+path, body), http.StatusBadRequest)
	}
	get[frame.Failure](t, do(s, "POST", "/api/v1/runs/six/calls", `{}`), http.StatusBadRequest)
	get[frame.Failure](t, do(s, "POST", "/api/v1/runs/six/calltree", `{"value":"samples","most":10}`), http.StatusBadRequest)
	get[frame.Failure](t, do(s, "GET", "/api/v1/runs/six/speedscope", ""), http.StatusBadRequest)
}

// TestPartialCode lists what was sampled where no code was kept.
func TestPartialCode(t *testing.T) {
	s, base, _ := codeServer(t, false)
	got := get[assembly.Assembly](t, do(s, "POST", base+"assembly", `{"file":"count.c","line":10}`), http.StatusOK)
	if !got.Partial || len(got.Instructions) != 2 || got.Instructions[1].Text != "mov %rax,(%rdi)" {
		t.Errorf("assembly %+v", got)
	}
}

// TestNames names an object in the page: the run keeps the sentence, its ID and
// its table.
func TestNames(t *testing.T) {
	s, base, path := codeServer(t, true)
	before, err := os.ReadFile(filepath.Join(path, "samples.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	const sentence = "allocation at count.c:3 is counters long[512]\\n"
	named := get[memory.ObjectNames](t, do(s, "PUT", base+"names", `{"text":"`+sentence+`"}`), http.StatusOK)
	if !named.Saved || !strings.Contains(named.Text, "counters") {
		t.Errorf("names %+v", named)
	}
	spreads := get[memory.Spreads](t, do(s, "POST", base+"spread", `{"by":["symbol","index"]}`), http.StatusOK)
	if len(spreads.Groups) != 2 || !cmp.Equal(spreads.Groups[0].Key, []string{"counters", "1"}) {
		t.Errorf("spreads %+v", spreads)
	}
	after, err := os.ReadFile(filepath.Join(path, "samples.arrow"))
	if err != nil || !cmp.Equal(before, after) {
		t.Errorf("the table changed: %v", err)
	}
	get[frame.Failure](t, do(s, "PUT", base+"names", `{"text":"count.c:3 is x quux[2]"}`), http.StatusBadRequest)
	if again := get[memory.ObjectNames](t, do(s, "GET", base+"names", ""), http.StatusOK); again.Text != named.Text {
		t.Errorf("a wrong sentence was kept: %+v", again)
	}
	get[frame.Failure](t, do(s, "PUT", "/api/v1/runs/six/names", `{"text":""}`), http.StatusBadRequest)
}

// TestNamesKeepTheRest: saving names opens the run again; what the page gave to
// the open one stays.
func TestNamesKeepTheRest(t *testing.T) {
	s, base, _ := codeServer(t, true)
	dir := t.TempDir()
	dump := filepath.Join(dir, "two.vtk")
	for name, text := range map[string]string{dump: vtkText, filepath.Join(dir, "count.c"): "long counters[512];\n"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	get[frame.Info](t, do(s, "POST", base+"mesh/attach", fmt.Sprintf(`{"paths":[%q]}`, dump)), http.StatusOK)
	get[frame.Info](t, do(s, "POST", base+"sources", fmt.Sprintf(`{"folder":%q}`, dir)), http.StatusOK)
	get[frame.SourceText](t, do(s, "GET", base+"source?file=count.c", ""), http.StatusOK)
	get[memory.ObjectNames](t, do(s, "PUT", base+"names", `{"text":"allocation at count.c:3 is counters long[512]\n"}`), http.StatusOK)
	if info := get[frame.Info](t, do(s, "GET", strings.TrimSuffix(base, "/"), ""), http.StatusOK); !info.Mesh || len(info.Warnings) > 0 {
		t.Errorf("after saving names: mesh %v, warnings %q", info.Mesh, info.Warnings)
	}
	if text := get[frame.SourceText](t, do(s, "GET", base+"source?file=count.c", ""), http.StatusOK); !strings.Contains(text.Text, "counters") {
		t.Errorf("the source after saving names: %+v", text)
	}
}

// TestCallTree asks for the stacks of a run with a selection and a hover.
func TestCallTree(t *testing.T) {
	s, base, _ := codeServer(t, false)
	tree := get[profile.CallTree](t, do(s, "POST", base+"calltree", `{"select":"tid = 1","hover":"latency > 250","value":"latency","most":100}`), http.StatusOK)
	w := func(n int64, l float64) profile.CallWeight { return profile.CallWeight{Samples: n, Latency: l} }
	want := []profile.CallNode{
		{Function: "main", Total: w(4, 510), Selected: w(2, 205), Hovered: w(1, 300)},
		{Function: "bump", Depth: 1, Total: w(4, 510), Self: w(4, 510), Selected: w(2, 205), Hovered: w(1, 300)},
	}
	if diff := cmp.Diff(want, tree.Callees); diff != "" || tree.Total != w(4, 510) {
		t.Errorf("total %v (-want +got):\n%s", tree.Total, diff)
	}
	tree = get[profile.CallTree](t, do(s, "POST", base+"calltree", `{"where":"tid = 1","function":"bump","value":"samples","most":100}`), http.StatusOK)
	if len(tree.Callers) != 2 || tree.Callers[0].Function != "main" || tree.Callers[0].Total != w(2, 205) || len(tree.Callees) != 1 {
		t.Errorf("around bump: %+v", tree)
	}
	for _, wrong := range []string{`{"value":"bytes","most":10}`, `{"value":"samples","most":0}`, `{"value":"samples","most":10,"where":"nope = 1"}`} {
		get[frame.Failure](t, do(s, "POST", base+"calltree", wrong), http.StatusBadRequest)
	}
	file := get[struct {
		Profiles []struct {
			Name     string
			EndValue int64
		}
	}](t, do(s, "GET", base+"speedscope?where=tid+%3D+1", ""), http.StatusOK)
	if len(file.Profiles) != 2 || file.Profiles[0].EndValue != 2 || file.Profiles[1].EndValue != 205 {
		t.Errorf("for speedscope: %+v", file)
	}
}
