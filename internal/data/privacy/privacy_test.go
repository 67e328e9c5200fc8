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
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &run.Run{Contents: []*table.Table{tab}, SourceFiles: nil, Names: "at /home/ada", Manifest: run.Manifest{
		Kind: kind.Samples, Format: "test", From: []string{"ada.csv"}, Warnings: []string{"/home/ada is odd"},
		Origin:    kind.Origin{Host: "node17.lab", Command: []string{"/home/ada/heat"}, Tool: "isobath record"},
		Sources:   []run.SourceEntry{{Name: "/home/ada/secret/heat.c"}},
		Recording: &run.Recording{Environment: map[string]string{"OMP_NUM_THREADS": "4"}, Modules: []run.Module{{Path: "/home/ada/heat"}}},
	}}
	p := Of(r)
	if p.Host != "node17.lab" || len(p.Columns) != 3 || len(p.Modules) != 1 || len(p.Sources) != 1 || !slices.Equal(p.Environment, []string{"OMP_NUM_THREADS=4"}) {
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
	all := string(text) + out.Names
	for _, c := range out.Contents[0].Columns() {
		all += strings.Join(c.Dict, " ")
	}
	for _, told := range []string{"ada", "node17", "/home", "OMP_"} {
		if strings.Contains(all, told) {
			t.Errorf("%q is still in %s", told, all)
		}
	}
	file := out.Contents[0].Column("file")
	if file.Text(0) != file.Text(2) || !strings.HasSuffix(file.Text(0), ".c") || file.Text(1) != "??" || out.Contents[0].Column("function").Text(0) != "step" || out.Contents[0].Column("where").Text(2) != "main" {
		t.Errorf("files %q, function %q", file.Dict, out.Contents[0].Column("function").Dict)
	}
	if tab.Column("file").Text(0) != "/home/ada/secret/heat.c" {
		t.Error("the run itself was changed")
	}
}
