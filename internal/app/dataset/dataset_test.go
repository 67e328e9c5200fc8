package dataset

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/machine/hw"
)

func open(t *testing.T, path string, opt Options) *Set {
	t.Helper()
	s, err := Open(context.Background(), path, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestTopologyOfAnotherMachine(t *testing.T) {
	s := open(t, test.Shared(t, "samples/lulesh_dev_2015"), Options{})
	all := strings.Join(s.Run.Warnings, "\n")
	if !strings.Contains(all, "7482 of 15676") {
		t.Errorf("warnings do not count the samples on the wrong node: %s", all)
	}
}

// No sample may be lost or counted twice on the way to the tree.
func TestEverySampleIsSomewhere(t *testing.T) {
	for _, name := range []string{"lulesh_legacy", "lulesh_dev_2015", "mitos_1636037395"} {
		s := open(t, test.Shared(t, "samples/"+name), Options{})
		a, err := s.Engine.Answer(context.Background(), &query.Request{Places: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := foldCheck(s, PlaceCounts(a.Places, query.All)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRunRoundTrip(t *testing.T) {
	s := open(t, fixture(t), Options{})
	path := filepath.Join(t.TempDir(), "x.isobath")
	if err := s.Run.Write(t.Context(), path, false); err != nil {
		t.Fatal(err)
	}
	again := open(t, path, Options{})
	if again.Table.Rows() != s.Table.Rows() || len(again.Table.Columns()) != len(s.Table.Columns()) {
		t.Errorf("%d × %d after writing, %d × %d before", again.Table.Rows(), len(again.Table.Columns()), s.Table.Rows(), len(s.Table.Columns()))
	}
	if body, err := again.Run.Source("heat.c"); err != nil || string(body) != "int main;\n" {
		t.Errorf("source %q, %v", body, err)
	}
	if again.Topology == nil || again.Topology.Summary().CPUs != 2 {
		t.Errorf("topology is not restored: %v", again.Topology)
	}
	if again.Table.Column("node") == nil {
		t.Error("no node column from the topology")
	}
}

func fixture(t *testing.T) string {
	dir := t.TempDir()
	files := map[string]string{
		"data/samples.csv": "source,line,time,cpu,latency,level,hit_type\nheat.c,3,10,0,20,L1,Hit\nheat.c,4,11,1,30,L2,Hit\n??,??,12,7,400,Local RAM,Hit\n",
		"hardware.xml":     `<Hardware id="0" name="box"><NUMA id="0" size="1024"><Cache id="3" size="4096"><Cache id="2" size="2048"><Cache id="1" size="1024"><CPU id="0"/><CPU id="1"/></Cache></Cache></Cache></NUMA></Hardware>`,
		"src/heat.c":       "int main;\n",
	}
	for name, body := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		os.MkdirAll(filepath.Dir(file), 0o755)
		if err := os.WriteFile(file, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestUnknownCPUIsSaid(t *testing.T) {
	s := open(t, fixture(t), Options{})
	if all := strings.Join(s.Run.Warnings, "\n"); !strings.Contains(all, "no CPU 7") {
		t.Errorf("warnings %q", all)
	}
}

func TestBrokenTopology(t *testing.T) {
	dir := fixture(t)
	if err := os.WriteFile(filepath.Join(dir, "hardware.xml"), []byte("<Hardware"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, Options{})
	if all := strings.Join(s.Run.Warnings, "\n"); s.Topology != nil || !strings.Contains(all, "--topology") {
		t.Errorf("warnings %q", all)
	}
	_, err := Open(context.Background(), dir, Options{Topology: filepath.Join(dir, "hardware.xml")})
	if err == nil {
		t.Error("a broken topology that the user named is not an error")
	}
}

func TestNewerRunIsRefused(t *testing.T) {
	s := open(t, fixture(t), Options{})
	path := filepath.Join(t.TempDir(), "x.isobath")
	if err := s.Run.Write(t.Context(), path, false); err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(path, "manifest.json")
	body, _ := os.ReadFile(manifest)
	os.WriteFile(manifest, []byte(strings.Replace(string(body), `"version": 1`, `"version": 99`, 1)), 0o644)
	if _, err := run.Open(path); err == nil || !strings.Contains(err.Error(), "newer isobath") {
		t.Errorf("error %v", err)
	}
}

func TestOtherKindsAreNamed(t *testing.T) {
	_, err := Open(context.Background(), filepath.Join(fixture(t), "hardware.xml"), Options{})
	if err == nil || !strings.Contains(err.Error(), "isobath topology") {
		t.Errorf("error %v", err)
	}
	empty := filepath.Join(t.TempDir(), "empty")
	os.WriteFile(empty, nil, 0o644)
	if _, err := Open(context.Background(), empty, Options{Options: foreign.Options{}}); err == nil {
		t.Error("an empty file is no error")
	}
}

func foldCheck(s *Set, counts []hw.Count) error { return hw.Fold(s.Places.Coder, counts).Check() }

// spilled is a format whose samples lie in a temporary file.
var spilled = foreign.Format{Name: "spilled", Kind: kind.Samples,
	Sniff: func(in *foreign.Input) bool { return strings.HasPrefix(string(in.Head), "spilled") },
	Samples: func(context.Context, *foreign.Input, *foreign.Options) (*foreign.Imported, error) {
		var cpu table.Growing[int32]
		cpu.Pad(1 << 20)
		cpu.Append(1)
		values, spill, err := cpu.Values()
		if err != nil {
			return nil, err
		}
		t, err := table.New(samples.Table, []*table.Column{samples.Column(samples.CPU, table.Measured, values, nil).Back(spill)})
		return &foreign.Imported{Tables: []*table.Table{t}}, err
	}}

// mappedColumns counts the columns of this process that lie in temporary files.
func mappedColumns(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip("the system does not say what is mapped")
	}
	return strings.Count(string(text), "isobath-column-")
}

func TestBadTopologyLeavesNoFilesOpen(t *testing.T) {
	known := formats.Known
	formats.Known = append(foreign.List{spilled}, known...)
	t.Cleanup(func() { formats.Known = known })
	dir := t.TempDir()
	file, bad := filepath.Join(dir, "file"), filepath.Join(dir, "bad.xml")
	for name, text := range map[string]string{file: "spilled", bad: "<Hardware"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	before := mappedColumns(t)
	s, err := Open(t.Context(), file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if mappedColumns(t) == before {
		t.Fatal("the format does not spill, so the test tests nothing")
	}
	s.Close()
	if _, err := Open(t.Context(), file, Options{Topology: bad}); err == nil {
		t.Error("a broken topology is no error")
	}
	if n := mappedColumns(t); n != before {
		t.Errorf("%d columns are still mapped, %d before", n, before)
	}
}
