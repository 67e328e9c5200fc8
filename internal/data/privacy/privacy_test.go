package privacy

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
)

// Nothing that names a person, a machine or a place is left; what rows share
// stays shared.
func TestAnonymised(t *testing.T) {
	tab, err := table.New("samples", []*table.Column{
		table.Ints("cpu", "", table.Measured, []int64{0, 1, 2}, nil),
		table.Categories("file", table.Measured, []uint32{0, 1, 0}, []string{"/home/ada/secret/heat.c", "??"}, nil),
		table.Categories("host", table.Measured, []uint32{0, 0, 0}, []string{"node17.lab"}, nil),
		table.Categories("where", table.Measured, []uint32{0, 0, 1}, []string{"/home/ada/x.so", "main"}, nil),
		table.Categories("function", table.Measured, []uint32{0, 0, 0}, []string{"step"}, nil),
		table.Categories("user", table.Measured, []uint32{0, 0, 0}, []string{"a.lovel"}, nil),
		table.Categories("stack", table.Measured, []uint32{0, 1, 1}, []string{"main;step (/home/ada/run.py:3);I/O", "main;a/b;step"}, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	tree := `{"version":2,"hosts":[{"name":"node17.lab","machine":0},{"name":"node18.lab","machine":0}],"machines":[{"version":1,"name":"node17.lab","warnings":["/home/ada/x.xml"],"objects":[{"type":"PU","os":0,"cpus":"0","size":18446744073709551615}]}]}`
	r := &run.Run{Contents: []*table.Table{tab}, SourceFiles: nil, Names: "at /home/ada", Tree: []byte(tree), Manifest: run.Manifest{
		Kind: kind.Samples, Format: "test", From: []string{"ada.csv"}, Warnings: []string{"/home/ada is odd"},
		Origin:  kind.Origin{Host: "node17.lab", Command: []string{"/home/ada/heat"}, Tool: "isobath record"},
		Sources: []run.SourceEntry{{Name: "/home/ada/secret/heat.c"}},
		Recording: &run.Recording{Environment: map[string]string{"OMP_NUM_THREADS": "4"}, Modules: []run.Module{{Path: "/home/ada/heat"}}, Group: "/user.slice/ada.service",
			Trial: &run.Trial{ID: "7", Commands: [][]string{{"/home/ada/heat", "--fast"}, {"/home/ada/heat"}}}, Model: &run.Model{Topology: "node17.lab"}, Heap: &run.Heap{Absent: "/home/ada/heat is static"}},
	}}
	p := Of(r)
	if p.Host != "node17.lab" || len(p.Columns) != 5 || len(p.Modules) != 1 || len(p.Sources) != 1 || !slices.Equal(p.Environment, []string{"OMP_NUM_THREADS=4"}) {
		t.Errorf("%+v", p)
	}
	if p.Group == "" || !slices.Equal(p.Trial, []string{"/home/ada/heat --fast", "/home/ada/heat"}) || !slices.Equal(p.Machines, []string{"node17.lab", "node18.lab"}) {
		t.Errorf("%+v", p)
	}
	out, err := Anonymised(r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(out.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	all := string(text) + out.Names + string(out.Tree)
	for _, c := range out.Contents[0].Columns() {
		all += strings.Join(c.Dict, " ")
	}
	for _, told := range []string{"ada", "node1", "lab", "/home", "OMP_", "lovel"} {
		if strings.Contains(all, told) {
			t.Errorf("%q is still in %s", told, all)
		}
	}
	file := out.Contents[0].Column("file")
	if file.Text(0) != file.Text(2) || !strings.HasSuffix(file.Text(0), ".c") || file.Text(1) != "??" || out.Contents[0].Column("function").Text(0) != "step" || out.Contents[0].Column("where").Text(2) != "main" {
		t.Errorf("files %q, function %q", file.Dict, out.Contents[0].Column("function").Dict)
	}
	if host := out.Contents[0].Column("host").Text(0); !strings.Contains(string(out.Tree), `{"machine":0,"name":"`+host+`"}`) || !strings.Contains(string(out.Tree), "18446744073709551615") {
		t.Errorf("the rows are of %s, the machine is %s", host, out.Tree)
	}
	if stack := out.Contents[0].Column("stack"); !strings.HasPrefix(stack.Text(0), "main;step (path") || !strings.HasSuffix(stack.Text(0), ".py:3);I/O") || stack.Text(1) != "main;a/b;step" {
		t.Errorf("stacks %q", stack.Dict)
	}
	if tab.Column("file").Text(0) != "/home/ada/secret/heat.c" || len(r.Recording.Trial.Commands[0]) != 2 || r.Recording.Model.Topology != "node17.lab" {
		t.Error("the run itself was changed")
	}
}
