package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/reftable"
	"github.com/isobath/isobath/internal/data/run"
	datatable "github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/vtk"
)

func meshOutput(t *testing.T, args ...string) (string, error) {
	t.Helper()
	root := newRoot()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(append([]string{"mesh"}, args...))
	err := root.ExecuteContext(context.Background())
	return out.String(), err
}

// meshAnswer is the part of the JSON that DESIGN promises, and the counts.
type meshAnswer struct {
	Cells      int        `json:"cells"`
	Covered    int        `json:"covered"`
	OutOfRange int        `json:"out_of_range"`
	Mode       string     `json:"mode"`
	Variant    string     `json:"variant"`
	Iteration  int64      `json:"iteration"`
	Field      string     `json:"field"`
	Min        *float64   `json:"min"`
	Max        *float64   `json:"max"`
	Sum        float64    `json:"sum"`
	Values     []*float64 `json:"values"`
	Counts     struct {
		Selected int `json:"selected"`
		Used     int `json:"used"`
		NoCell   int `json:"no_cell"`
	} `json:"counts"`
}

func meshJSON(t *testing.T, args ...string) meshAnswer {
	t.Helper()
	out, err := meshOutput(t, append(args, "--json")...)
	if err != nil {
		t.Fatal(err)
	}
	var a meshAnswer
	if err := json.Unmarshal([]byte(out), &a); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return a
}

// small writes five samples and two dumps of a row of three cells.
func small(t *testing.T) (samples, pattern string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	samples = write("samples.csv", "x,y,z,iteration,latency,cpu\n0,0,0,1,10,0\n0,0,0,5,30,1\n2,0,0,9,50,1\n3,0,0,9,70,1\n1,0,0,20,90,0\n")
	const dump = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 4 2 2\nORIGIN 0 0 0\nSPACING 1 1 1\nCELL_DATA 3\nSCALARS rho double\nLOOKUP_TABLE default\n1 2 3\n"
	write("dump_0005.vtk", dump)
	write("dump_0010.vtk", dump)
	return samples, filepath.Join(dir, "dump_*.vtk")
}

func TestMeshVerb(t *testing.T) {
	samples, pattern := small(t)
	tests := []struct {
		name             string
		args             []string
		covered, outside int
		sum              float64
		used             int
	}{
		{"everything", nil, 3, 1, 160, 4},
		{"up to the last dump", []string{"--mode", "upto"}, 2, 1, 70, 3},
		{"up to the first dump", []string{"--mode", "upto", "--iteration", "5"}, 1, 0, 20, 2},
		{"since the dump before", []string{"--mode", "only", "--iteration", "10"}, 1, 1, 50, 1},
		{"one iteration", []string{"--mode", "only", "--exact", "--iteration", "5"}, 1, 0, 30, 1},
		{"a selection", []string{"--where", "cpu = 1"}, 2, 1, 80, 2},
		{"a sum", []string{"--field", "latency_sum"}, 3, 1, 180, 4},
		{"counts", []string{"--field", "samples"}, 3, 1, 4, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := meshJSON(t, append([]string{samples, "--mesh", pattern}, tt.args...)...)
			if a.Cells != 3 || a.Covered != tt.covered || a.OutOfRange != tt.outside || a.Sum != tt.sum || a.Counts.Used != tt.used {
				t.Errorf("%+v, want %+v", a, tt)
			}
		})
	}
	a := meshJSON(t, samples, "--mesh", pattern, "--values", "--mode", "upto")
	if len(a.Values) != 3 || *a.Values[0] != 20 || a.Values[1] != nil || *a.Values[2] != 50 || a.Mode != "upto" || a.Iteration != 10 || a.Field != "latency_avg" {
		t.Errorf("values %v of %s in mode %s at %d", a.Values, a.Field, a.Mode, a.Iteration)
	}
	text, err := meshOutput(t, samples, "--mesh", pattern)
	if err != nil || !strings.Contains(text, "5 samples: 4 on cells, 0 on no cell, 1 out of range") {
		t.Errorf("%v: %s", err, text)
	}
	for _, line := range strings.Split(text, "\n") {
		if len([]rune(line)) > 80 {
			t.Errorf("line of %d characters: %s", len([]rune(line)), line)
		}
	}
}

func TestMeshWrites(t *testing.T) {
	samples, pattern := small(t)
	for _, name := range []string{"out.vtu", "out.vtk"} {
		path := filepath.Join(t.TempDir(), name)
		if _, err := meshOutput(t, samples, "--mesh", pattern, "--field", "latency_max", "--field", "samples", "-o", path); err != nil {
			t.Fatal(err)
		}
		m, err := vtk.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		g := m.Blocks[0].Grid
		hi, rho := grid.Find(g.CellData, "latency_max"), grid.Find(g.CellData, "rho")
		if hi == nil || rho == nil || hi.At(0) != 30 || hi.At(1) != 90 || hi.At(2) != 50 || rho.At(2) != 3 {
			t.Errorf("%s: %v %v", name, hi, rho)
		}
	}
	samplesOnly, _ := meshOutput(t, samples, "--mesh", pattern, "--where", "latency > 1000", "--json")
	if !strings.Contains(samplesOnly, `"min": null`) {
		t.Errorf("a field without samples has a minimum: %s", samplesOnly)
	}
}

func TestMeshUsage(t *testing.T) {
	samples, pattern := small(t)
	for _, args := range [][]string{
		{samples},
		{samples, "--mesh", pattern, "--mode", "sometimes"},
		{samples, "--mesh", pattern, "--field", "colour_sum"},
		{samples, "--mesh", pattern, "--map", "q=x"},
		{samples, "--mesh", pattern, "--order", "yxz"},
		{samples, "--mesh", pattern, "--where", "latency >"},
		{samples, "--mesh", pattern, "-o", "out.png"},
		{samples, samples, "--mesh", pattern},
	} {
		if _, err := meshOutput(t, args...); err == nil || !errors.As(err, new(usageError)) {
			t.Errorf("mesh %v: %v, want a usage error", args[1:], err)
		}
	}
	// An iteration between dumps is shown on the dump before, and said so.
	out, err := meshOutput(t, samples, "--mesh", pattern, "--mode", "upto", "--iteration", "7", "--json")
	if err != nil || !strings.Contains(out, "there is no dump of iteration 7; the mesh is that of 5") || !strings.Contains(out, `"dump": 5`) {
		t.Errorf("%v: %s", err, out)
	}
}

// TestMeshReal projects the real samples on a mesh of their extent; the sums
// are those of another program.
func TestMeshReal(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	samples := test.Shared(t, "samples/lulesh_legacy")
	a := meshJSON(t, samples, "--dims", "32x32x32", "--field", "latency_sum")
	if a.Covered != 3783 || a.Sum != 250755 || *a.Max != 3180 || a.Counts.Used != 4543 || a.Counts.NoCell != 11133 {
		t.Errorf("%+v", a)
	}
	b := meshJSON(t, samples, "--dims", "32x32x32", "--field", "latency_avg", "--values")
	if v := b.Values[5120]; v == nil || math.Abs(*v-3180.0/9) > 1e-9 {
		t.Errorf("cell 5120: %v", v)
	}
	// A mesh that is no series: any iteration can be asked for, and only means it alone.
	for mode, want := range map[string][2]int{"upto": {626, 31662}, "only": {5, 385}} {
		m := meshJSON(t, samples, "--dims", "32x32x32", "--field", "sum", "--mode", mode, "--iteration", "100")
		if m.Counts.Used != want[0] || m.Sum != float64(want[1]) || m.Iteration != 100 || m.Field != "latency_sum" {
			t.Errorf("%s 100: %+v, want %v", mode, m, want)
		}
	}
	dev := meshJSON(t, test.Shared(t, "samples/lulesh_dev_2015"), "--dims", "32x32x32", "--field", "latency_sum")
	if dev.Sum != a.Sum || dev.Covered != a.Covered {
		t.Errorf("the same samples in another column style: %+v", dev)
	}
	none := meshJSON(t, test.Shared(t, "samples/mitos_1636037395"), "--dims", "32x32x32", "--field", "samples")
	if none.Counts.Used != 0 || none.Counts.NoCell != none.Counts.Selected {
		t.Errorf("unattributed samples are on cells: %+v", none)
	}
}

func TestInfoMesh(t *testing.T) {
	_, pattern := small(t)
	root := newRoot()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetArgs([]string{"info", strings.Replace(pattern, "*", "0005", 1), "--json"})
	if err := root.ExecuteContext(context.Background()); err != nil {
		t.Fatal(err)
	}
	var i struct {
		Kind, Format  string
		Cells, Points int
		Levels        int
		Iterations    []int64
		Fields        []struct{ Name string }
	}
	if err := json.Unmarshal(out.Bytes(), &i); err != nil {
		t.Fatal(err)
	}
	if i.Kind != "mesh" || i.Format != "vtk" || i.Cells != 3 || i.Points != 16 || i.Levels != 1 || i.Iterations[0] != 5 || i.Fields[0].Name != "rho" {
		t.Errorf("%+v", i)
	}
	// Of several dumps one is described, and which one is said.
	text, err := meshOutput(t, "--mesh", pattern)
	if err != nil || !strings.Contains(text, "those of the last of 2 dumps, 10; viewers such as ParaView open the first") {
		t.Errorf("%v: %s", err, text)
	}
	if text, err = meshOutput(t, "--mesh", pattern, "--json"); err != nil || !strings.Contains(text, `"dump": 10`) {
		t.Errorf("%v: %s", err, text)
	}
}

// TestMeshChapter runs the commands of the guide's chapter that print or write
// something, as they stand there, on LULESH's samples and dumps. Those that serve
// until they are interrupted are run by the browser's tests.
func TestMeshChapter(t *testing.T) {
	dir, dumps := t.TempDir(), test.Shared(t, "mesh/lulesh")
	root := newRoot()
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	root.SetArgs([]string{"import", test.Shared(t, "samples/lulesh_legacy"), "-o", filepath.Join(dir, "run.isobath")})
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "dumps"), os.DirFS(dumps)); err != nil {
		t.Fatal(err)
	}
	buildInSitu(t, filepath.Join(dir, "program"))
	writeReferences(t, filepath.Join(dir, "refs.isobath"))
	chapter := filepath.Join(test.Root(), "docs", "guide", "mesh.md")
	t.Chdir(dir)
	ran := 0
	for _, c := range documentedCommands(t, chapter) {
		args, ok := strings.CutPrefix(c.line, "isobath mesh ")
		if !ok || strings.Contains(args, "--link") {
			continue
		}
		ran++
		out, err := meshOutput(t, words(args)...)
		if err != nil || !strings.Contains(out, "cells") {
			t.Errorf("%s: %v: %s", c.line, err, out)
		}
	}
	if ran < 10 {
		t.Errorf("only %d commands found", ran)
	}
	if m, err := vtk.Read("latency.vtu"); err != nil || m.NumCells() != 8000 {
		t.Errorf("the file that a command writes: %v", err)
	}
}

// writeReferences writes a run of references to the first cells of LULESH's arrays.
func writeReferences(t *testing.T, path string) {
	t.Helper()
	objects := []refs.Object{{}, {Name: "m_e", Start: 1 << 20}, {Name: "m_nodelist", Start: 1 << 24}}
	var all []refs.Ref
	for c := range uint64(4000) {
		all = append(all, refs.Ref{Addr: objects[1].Start + 8*c, Size: 8, Object: 1}, refs.Ref{Addr: objects[2].Start + 32*c, Size: 4, Object: 2})
	}
	table, err := reftable.New(all, nil, objects, refs.HasObject|refs.HasSize)
	if err != nil {
		t.Fatal(err)
	}
	r := &run.Run{Contents: []*datatable.Table{table}, Manifest: run.Manifest{Version: run.Version, Kind: kind.Refs, Format: "step"}}
	if err := r.Write(t.Context(), path, false); err != nil {
		t.Fatal(err)
	}
}

// words splits a command as a shell does, for quotes without spaces around them.
func words(line string) []string {
	var out []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			out = append(out, part)
		} else {
			out = append(out, strings.Fields(part)...)
		}
	}
	return out
}
