package dataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/domain/mesh"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/mitosxml"
	"github.com/isobath/isobath/internal/formats/otf2"
	"github.com/isobath/isobath/internal/machine/hw"
	"github.com/isobath/isobath/internal/messages/mpiprog"
	"github.com/isobath/isobath/internal/messages/trace"
)

const (
	csvText      = "time,cpu,latency,file,line\n1000,0,5,a.c,1\n2000,1,7,a.c,2\n"
	hardwareText = `<Hardware id="0" name="box"><NUMA id="0" size="1024"><CPU id="0"/><CPU id="1"/></NUMA></Hardware>`
	vtkText      = "# vtk DataFile Version 3.0\ncubes\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 3 2 2\nORIGIN 0 0 0\nSPACING 1 1 1\n"
)

// packed writes a text with several packers and as it is.
func packed(t *testing.T, name, text string) map[string]string {
	t.Helper()
	dir, out := t.TempDir(), map[string]string{}
	for ext, open := range map[string]func(io.Writer) (io.WriteCloser, error){
		"gz":  func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
		"zst": func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
		"xz":  func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) },
	} {
		var b bytes.Buffer
		w, err := open(&b)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, text)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		out[ext] = write(t, filepath.Join(dir, name+"."+ext), b.String())
	}
	out["plain"] = write(t, filepath.Join(dir, name), text)
	return out
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Packed files of every kind go through the door.
func TestPackedFiles(t *testing.T) {
	for ext, path := range packed(t, "a.csv", csvText) {
		write(t, filepath.Join(filepath.Dir(path), "a.c"), "int main;\n")
		s, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatalf("%s: %v", ext, err)
		}
		if s.Table.Rows() != 2 || s.Run.Format != "csv" || len(s.Run.SourceFiles) != 1 || s.Run.From[0] != filepath.Base(path) {
			t.Errorf("%s: %d rows of %s, sources %v, from %v", ext, s.Table.Rows(), s.Run.Format, s.Run.SourceFiles, s.Run.From)
		}
		s.Close()
		if columns, err := Columns(path); err != nil || len(columns) != 5 || columns[2].ReadAs != samples.Latency {
			t.Errorf("%s: columns %v, %v", ext, columns, err)
		}
	}
	for ext, path := range packed(t, "hardware.xml", hardwareText) {
		if topo, err := formats.OpenTopology(path); err != nil || topo.Summary().CPUs != 2 {
			t.Errorf("%s: topology %v", ext, err)
		}
	}
	for ext, path := range packed(t, "cubes.vtk", vtkText) {
		series, err := mesh.Open(t.Context(), path)
		if err != nil {
			t.Fatalf("%s: %v", ext, err)
		}
		m, err := series.Mesh(t.Context(), 0)
		if err != nil || len(m.Blocks) != 1 {
			t.Errorf("%s: mesh %v, %v", ext, m, err)
		}
	}
	for ext, path := range packed(t, "broken.csv", "time,cpu\n1\n") {
		if _, err := Open(t.Context(), path, Options{}); err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "isobath-unpacked") {
			t.Errorf("%s: error %v does not name the file", ext, err)
		}
	}
}

// What is packed in a file that nobody knows is told by its head: the rest may be
// any number of zeros, and no disk is filled with them.
func TestUnknownIsNotUnpacked(t *testing.T) {
	test.NoRaces(t, "files one by one")
	files := packed(t, "zeros", strings.Repeat("\x00", 8<<20))
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	for ext, path := range files {
		if _, err := Identify(path); !errors.Is(err, foreign.ErrUnknown) {
			t.Errorf("%s: %v", ext, err)
		}
	}
}

// What is unpacked, or kept of standard input, draws on the budget where temporary
// files lie in memory.
func TestTemporaryFilesInMemory(t *testing.T) {
	test.NoRaces(t, "files one by one")
	var b strings.Builder // of rows that pack no better than real ones
	b.WriteString("time,cpu,latency\n")
	for i := range 200_000 {
		fmt.Fprintf(&b, "%d,%d,%d\n", i*977, i*i%8, i*i*31%4096)
	}
	text := b.String()
	files := packed(t, "a.csv", text)
	test.FilesInMemory(t)
	room := budget.New(1 << 20)
	ctx := budget.With(t.Context(), room)
	for _, ext := range []string{"gz", "zst", "xz"} {
		if _, err := Load(ctx, files[ext], Options{}); !errors.As(err, new(*budget.Exceeded)) || !strings.Contains(err.Error(), "kept in memory") {
			t.Errorf("%s: %v", ext, err)
		}
	}
	if _, _, err := Spool(ctx, strings.NewReader(text)); !errors.As(err, new(*budget.Exceeded)) || strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("standard input: %v", err)
	}
	if room.Used() != 0 {
		t.Errorf("%d bytes are in use after all was refused", room.Used())
	}
	path, remove, err := Spool(ctx, strings.NewReader(text[:1<<19]))
	if err != nil || room.Used() != 1<<19 {
		t.Fatalf("%d bytes are in use for %d, %v", room.Used(), 1<<19, err)
	}
	if remove(); room.Used() != 0 {
		t.Errorf("%d bytes are in use after %s was removed", room.Used(), path)
	}
}

// toys are a format of each kind that only this test knows: a file that starts
// with its name.
func toys(archive string) foreign.List {
	toy := func(k kind.Kind) foreign.Format {
		name := "toy " + string(k)
		return foreign.Format{Name: name, Kind: k, Sniff: func(in *foreign.Input) bool { return strings.HasPrefix(string(in.Head), name) }}
	}
	a, b, c, d, e := toy(kind.Samples), toy(kind.Refs), toy(kind.Topology), toy(kind.Mesh), toy(kind.Trace)
	a.Samples = func(context.Context, *foreign.Input, *foreign.Options) (*foreign.Imported, error) {
		tab, err := table.New(samples.Table, []*table.Column{samples.Ints(samples.Latency, table.Measured, []int64{3, 4}, nil)})
		return &foreign.Imported{Tables: []*table.Table{tab}}, err
	}
	b.Refs = foreign.StreamedRefs(func(io.Reader) refs.Source { return &oneRef{} })
	c.Topology = mitosTopology
	d.Mesh = grid.OneDump(func(string) (*grid.Mesh, error) { return nil, errToyMesh })
	e.Trace = func(string) (*otf2.Archive, error) { return otf2.Open(archive) }
	return foreign.List{a, b, c, d, e}
}

var mitosTopology = func(io.Reader) (*hw.Topology, error) { return mitosxml.Read(strings.NewReader(hardwareText)) }

var errToyMesh = errors.New("the toy mesh was asked for")

type oneRef struct{ done bool }

func (r *oneRef) Read(dst []refs.Ref) (int, error) {
	if r.done {
		return 0, io.EOF
	}
	r.done, dst[0] = true, refs.Ref{Addr: 64, Size: 8}
	return 1, nil
}

func (r *oneRef) About() *refs.About { return &refs.About{} }

// A folder of dumps is a series of them, and any other still unknown.
func TestFolderOfDumps(t *testing.T) {
	dumps, other := t.TempDir(), t.TempDir()
	for _, name := range []string{"wave_10.vtk", "wave_20.vtk"} {
		write(t, filepath.Join(dumps, name), vtkText)
	}
	write(t, filepath.Join(dumps, "ball.vtk"), vtkText)
	write(t, filepath.Join(other, "notes.txt"), "a text")
	if c, err := Identify(dumps); err != nil || c.Kind != kind.Mesh || c.Format != "vtk" || c.Table {
		t.Errorf("folder of dumps: %+v, %v", c, err)
	}
	s, err := mesh.Open(t.Context(), dumps)
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(s.Notes(), "\n"); len(s.Steps) != 2 || s.Steps[1].Iteration != 20 || !strings.Contains(notes, "1 mesh file besides this series") || !strings.Contains(notes, "ball.vtk") {
		t.Errorf("%d steps, %q", len(s.Steps), notes)
	}
	if _, err := Identify(other); !errors.Is(err, foreign.ErrUnknown) || !strings.Contains(err.Error(), "notes.txt") {
		t.Errorf("folder without dumps: %v", err)
	}
}

// A new format is one entry of the list: everything that opens files then knows
// it.
func TestNewFormatIsOneLine(t *testing.T) {
	dir := t.TempDir()
	archive := filepath.Join(dir, "a.otf2")
	p, err := mpiprog.New(archive, 2)
	if err != nil {
		t.Fatal(err)
	}
	p.Collective(mpiprog.World, mpiprog.Barrier)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	known := formats.Known
	formats.Known = append(toys(archive), known...)
	t.Cleanup(func() { formats.Known = known })
	file := map[kind.Kind]string{}
	for _, f := range toys(archive) {
		file[f.Kind] = write(t, filepath.Join(dir, string(f.Kind)), f.Name)
		c, err := Identify(file[f.Kind])
		if err != nil || c.Kind != f.Kind || c.Format != f.Name || c.Table != (f.Kind == kind.Samples) {
			t.Errorf("%s is identified as %+v, %v", f.Name, c, err)
		}
		if _, err := Open(t.Context(), file[f.Kind], Options{}); f.Kind != kind.Samples && (err == nil || !strings.Contains(err.Error(), "not memory samples; try 'isobath ")) {
			t.Errorf("%s as samples: %v", f.Name, err)
		}
	}
	if s, err := Open(t.Context(), file[kind.Samples], Options{}); err != nil || s.Table.Rows() != 2 {
		t.Errorf("samples: %v", err)
	}
	if r, format, err := formats.OpenRefs(file[kind.Refs], nil); err != nil || format != "toy refs" {
		t.Errorf("refs: %s, %v", format, err)
	} else if all, err := refs.All(r); err != nil || len(all) != 1 {
		t.Errorf("refs: %v, %v", all, err)
	}
	if topo, err := formats.OpenTopology(file[kind.Topology]); err != nil || topo.Summary().CPUs != 2 {
		t.Errorf("topology: %v", err)
	}
	if _, err := mesh.Open(t.Context(), file[kind.Mesh]); !errors.Is(err, errToyMesh) {
		t.Errorf("mesh: %v", err)
	}
	if tr, err := trace.Open(t.Context(), file[kind.Trace]); err != nil || len(tr.Warnings) != 0 {
		t.Errorf("trace: %v", err)
	}
}
