package demo

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/isobath/isobath/internal/base/scratch"
	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/flow"
	"github.com/isobath/isobath/internal/data/refs/reftable"
	"github.com/isobath/isobath/internal/data/run"
	sourcefile "github.com/isobath/isobath/internal/data/source"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/locality/layout"
)

// Eight processes exchange the edges of a grid; rank 3 works 120 ms longer than
// the others in iteration 7. Recorded by our own recorder from
// whatif/programs/halo2d.c of the fixtures.
//
//go:embed data/messages
var messages embed.FS

// Example is a built-in example that can be had as a file.
type Example struct {
	Name, About string
	unpack      func(ctx context.Context, dir string) (string, error)
}

// Examples are all of them; the first is meant where none is named.
var Examples = []Example{
	{"stencil", "samples of a stencil program, simulated", samplesOf(Open)},
	{"fixed", "the same after its repair", samplesOf(OpenFixed)},
	{"lookup", "samples of a program with three phases, simulated", samplesOf(Lookup)},
	{"messages", "messages of eight processes, one of them late", unpackMessages},
	{"cycles", "every reference of a matrix multiplication", unpackCycle},
	{"locality", "every reference of particles in a cell", unpackLocality},
	{"mesh", "dumps of the stencil program's grid", unpackMesh},
}

// OnMesh reports whether the samples of an example are of the grid of Dumps.
func OnMesh(name string) bool { return name == "stencil" || name == "fixed" }

// Unpack writes an example below a folder and returns where it is.
func Unpack(ctx context.Context, name, dir string) (string, error) {
	if err := Known(name); err != nil {
		return "", err
	}
	return Examples[slices.IndexFunc(Examples, func(e Example) bool { return e.Name == name })].unpack(ctx, dir)
}

// Known is an error that lists the examples unless there is one of that name.
func Known(name string) error {
	names := []string{}
	for _, e := range Examples {
		names = append(names, e.Name)
	}
	if !slices.Contains(names, name) {
		return fmt.Errorf("there is no example %q; there are %s", name, strings.Join(names, ", "))
	}
	return nil
}

// free is an error if something is at path: what a user may have changed is never
// replaced.
func free(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s exists; remove it, or name another folder", path)
	}
	return nil
}

func samplesOf(open func() (*Run, error)) func(context.Context, string) (string, error) {
	return func(ctx context.Context, dir string) (string, error) {
		r, err := open()
		if err != nil {
			return "", err
		}
		return r.Write(ctx, dir)
	}
}

func unpackMessages(_ context.Context, dir string) (string, error) {
	archive, err := fs.Sub(messages, "data/messages")
	if err != nil {
		return "", err
	}
	folder := filepath.Join(dir, "messages")
	if err := free(folder); err != nil {
		return "", err
	}
	return filepath.Join(folder, "halo2d.otf2"), os.CopyFS(folder, archive)
}

func unpackCycle(ctx context.Context, dir string) (string, error) {
	at := slices.IndexFunc(Cycles, func(c Cycle) bool { return c.Name == "matrix multiplication" })
	src, err := Cycles[at].Open()
	if err != nil {
		return "", err
	}
	texts, err := Cycles[at].Texts()
	if err != nil {
		return "", errors.Join(err, src.Close())
	}
	return writeRefs(ctx, filepath.Join(dir, "matmul"+run.Suffix), src, known{texts: texts})
}

func unpackLocality(ctx context.Context, dir string) (string, error) {
	src, err := Particles.Open()
	if err != nil {
		return "", err
	}
	texts, err := Particles.Texts()
	if err != nil {
		return "", errors.Join(err, src.Close())
	}
	way, err := Particles.Flow()
	if err != nil {
		return "", errors.Join(err, src.Close())
	}
	objects, err := Particles.Objects()
	if err != nil {
		return "", errors.Join(err, src.Close())
	}
	return writeRefs(ctx, filepath.Join(dir, "particles"+run.Suffix), src, known{texts, way, objects})
}

// known is what there is beside the references of a trace.
type known struct {
	texts   map[string][]byte // of its sources
	way     *flow.Trace       // through the code; nil if it was not recorded
	objects []layout.Object   // with their types
}

// name gives references the objects that they lie in.
func (k *known) name(all []refs.Ref, about *refs.About) {
	if len(k.objects) == 0 {
		return
	}
	about.Has |= refs.HasObject
	about.Objects = []refs.Object{{}}
	for i := range k.objects {
		about.Objects = append(about.Objects, refs.Object{Name: k.objects[i].Name, Start: k.objects[i].Start})
	}
	for i := range all {
		at := slices.IndexFunc(k.objects, func(o layout.Object) bool { return all[i].Addr-o.Start < o.Size })
		all[i].Object = uint32(at + 1)
	}
}

// writeRefs keeps a trace as a run, and closes it.
func writeRefs(ctx context.Context, path string, src refs.Reader, k known) (_ string, err error) {
	if err := free(path); err != nil {
		return "", errors.Join(err, src.Close())
	}
	all, err := refs.All(src)
	err = errors.Join(err, src.Close())
	if err != nil {
		return "", err
	}
	about := src.About()
	k.name(all, about)
	t, err := reftable.New(all, about.Places, about.Objects, about.Has)
	if err != nil {
		return "", err
	}
	contents := []*table.Table{t}
	if k.way != nil {
		more, err := k.way.Tables()
		if err != nil {
			return "", err
		}
		contents = append(contents, more...)
	}
	b := &run.Run{Contents: contents, SourceFiles: map[string]sourcefile.File{}, Manifest: run.Manifest{
		Version: run.Version, Kind: kind.Refs, Format: "demo", Origin: kind.Origin{Tool: "isobath record --refs"},
		Imported: time.Now().UTC().Truncate(time.Second), Warnings: about.Notes,
	}}
	if len(k.objects) > 0 {
		if b.Types, err = layout.Keep(k.objects); err != nil {
			return "", err
		}
	}
	tmp, err := scratch.Folder("", "demo")
	if err != nil {
		return "", fmt.Errorf("unpack the demo: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	for _, name := range slices.Sorted(maps.Keys(k.texts)) {
		if err := os.WriteFile(filepath.Join(tmp, name), k.texts[name], 0o644); err != nil {
			return "", fmt.Errorf("unpack the demo: %w", err)
		}
		b.SourceFiles[name] = sourcefile.File{Root: tmp, Name: name}
		b.Sources = append(b.Sources, run.SourceEntry{Name: name, Found: "path"})
	}
	return path, b.Write(ctx, path, false)
}

func unpackMesh(_ context.Context, dir string) (string, error) {
	folder := filepath.Join(dir, "mesh")
	if err := free(folder); err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return "", err
	}
	for _, iteration := range Dumps() {
		m, err := Dump(int(iteration))
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("stencil_%d.vtk", iteration)), legacyImage(m.Blocks[0].Grid), 0o666); err != nil {
			return "", err
		}
	}
	return folder, nil
}

// legacyImage is a regular grid as the text form of VTK's legacy files, which
// every viewer reads.
func legacyImage(g *grid.Grid) []byte {
	w := &bytes.Buffer{}
	e := g.Extent
	fmt.Fprintf(w, "# vtk DataFile Version 3.0\nstencil\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS %d %d %d\n", e[1]-e[0]+1, e[3]-e[2]+1, e[5]-e[4]+1)
	fmt.Fprintf(w, "ORIGIN 0 0 0\nSPACING %g %g %g\nCELL_DATA %d\n", g.Spacing[0], g.Spacing[1], g.Spacing[2], g.NumCells())
	for _, a := range g.CellData {
		switch values := a.Data.(type) {
		case []float64:
			fmt.Fprintf(w, "SCALARS %s double 1\nLOOKUP_TABLE default\n%s\n", a.Name, strings.Trim(fmt.Sprint(values), "[]"))
		case []int32:
			fmt.Fprintf(w, "SCALARS %s int 1\nLOOKUP_TABLE default\n%s\n", a.Name, strings.Trim(fmt.Sprint(values), "[]"))
		}
	}
	return w.Bytes()
}
