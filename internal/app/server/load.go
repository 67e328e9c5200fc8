package server

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/demo"
	"github.com/isobath/isobath/internal/app/server/executions"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/app/server/memory"
	"github.com/isobath/isobath/internal/app/server/mesh"
	"github.com/isobath/isobath/internal/app/server/messages"
	"github.com/isobath/isobath/internal/app/server/references"
	"github.com/isobath/isobath/internal/app/sides"
	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/refs/reftable"
	"github.com/isobath/isobath/internal/data/table"
	domain "github.com/isobath/isobath/internal/domain/mesh"
	"github.com/isobath/isobath/internal/engine/clickhouse"
	"github.com/isobath/isobath/internal/memory/compare"
)

// Loader opens runs and foreign files for a server.
type Loader struct {
	Options dataset.Options
	// Binary is the program of reference traces, for their source lines.
	Binary string
	// Meshes are the dumps of the simulation's mesh, for samples.
	Meshes []string
	// OnDemoMesh tells whether the file at path is a built-in run, which lies on the
	// mesh of the demo; nil: none is.
	OnDemoMesh func(path string) bool
	// CellBytes are the objects that lie over the cells, with their bytes for each;
	// References are all that a part of the program touched. Nil: not known.
	CellBytes  map[string]int
	References *table.Table
}

// NewLoader returns a loader. What it opens draws on the budget of the context
// that it is given.
func NewLoader(opt dataset.Options) *Loader { return &Loader{Options: opt} }

// Open is an Opener.
func (l *Loader) Open(ctx context.Context, path string, progress func(frame.Progress)) (*frame.Run, error) {
	opt := l.telling(progress)
	opt.Asked = true
	if executions.Holds(path) {
		return executions.Open(path)
	}
	content, err := dataset.Identify(path)
	if err != nil {
		return nil, err
	}
	if !content.Table {
		switch content.Kind {
		case kind.Trace:
			return messages.Open(ctx, path, content.Format, opt.Sources)
		case kind.Refs:
			return references.Open(ctx, path, content.Format, l.Binary, opt.Sources, func(records int64) {
				progress(frame.Progress{Stage: "reading", Rows: records})
			})
		case kind.Mesh:
			return mesh.Open(ctx, path)
		}
	}
	set, err := dataset.Open(ctx, path, opt)
	if err != nil {
		return nil, err
	}
	if set.Table.Elsewhere() && len(l.Meshes) > 0 {
		return nil, errors.Join(clickhouse.ErrElsewhere, set.Close())
	}
	r := memory.Open(dataset.Name(path), path, set)
	r.Reading.Map = opt.Map
	if t := set.Run.Table(reftable.Name); t != nil { // a reference trace, by itself or beside samples
		if err := references.Join(r, l.Binary, t); err != nil {
			return nil, errors.Join(err, r.Close())
		}
		if names := memory.Of(r).Data.RowSets; names != nil {
			names.FindBy(references.Of(r).RowsNamed)
		}
	}
	archive := ""
	if set.Run.Trace != "" { // a message trace beside the samples
		archive = filepath.Join(path, set.Run.Trace)
	}
	if err := l.join(ctx, r, set.Table, set.Run.Table(reftable.Name), archive); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	for _, folder := range opt.Sources {
		if set.Run.Path != "" { // an import has looked there itself
			r.AddSources(folder)
		}
	}
	return r, nil
}

// Together opens the samples and the message trace of one execution as one run,
// which is in memory only.
func (l *Loader) Together(paths []string) Opener {
	return func(ctx context.Context, name string, progress func(frame.Progress)) (*frame.Run, error) {
		set, archive, err := dataset.OpenTogether(ctx, paths, l.telling(progress))
		if err != nil {
			return nil, err
		}
		r := memory.Open(name, "", set)
		if err := l.join(ctx, r, set.Table, nil, archive); err != nil {
			return nil, errors.Join(err, r.Close())
		}
		return r, nil
	}
}

// Sides opens several runs of A and as many of B, each side as one run.
func (l *Loader) Sides(ctx context.Context, a, b []string) ([]*frame.Run, error) {
	var out []*frame.Run
	for i, paths := range [][]string{a, b} {
		r, err := l.side(ctx, paths)
		if err != nil {
			for _, r := range out {
				err = errors.Join(err, r.Close())
			}
			return nil, fmt.Errorf("%s: %w", []string{"A", "B"}[i], err)
		}
		out = append(out, r)
	}
	return out, nil
}

// side opens the runs of one side as one: on the machine of the first, with its text,
// and what is known of samples alone.
func (l *Loader) side(ctx context.Context, paths []string) (_ *frame.Run, err error) {
	var runs []compare.Run
	var members []memory.Member
	var sets []*dataset.Set
	defer func() {
		for _, s := range sets {
			err = errors.Join(err, s.Close())
		}
	}()
	opt := l.Options
	opt.Asked = true
	for _, path := range paths {
		set, err := dataset.Open(ctx, path, opt)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
		if set.Table.Elsewhere() {
			return nil, clickhouse.ErrElsewhere
		}
		name := dataset.Name(path)
		if slices.ContainsFunc(members, func(m memory.Member) bool { return m.Name == name }) {
			name = path
		}
		runs, members = append(runs, sides.Run(name, set, nil)), append(members, memory.Member{Name: name, Manifest: &set.Run.Manifest})
	}
	merged, err := compare.Merge(ctx, runs)
	if err != nil {
		return nil, err
	}
	first := sets[0]
	sets = sets[1:]
	first.Engine.Close()
	for _, t := range first.Run.Contents {
		err = errors.Join(err, t.Close())
	}
	first.Run.Contents, first.Run.Names, first.Run.Trace = []*table.Table{merged}, "", ""
	set, more := dataset.FromRun(ctx, first.Run)
	if err = errors.Join(err, more); err != nil {
		return nil, errors.Join(err, first.Run.Close())
	}
	name := fmt.Sprintf("%s and %d more", members[0].Name, len(members)-1)
	r := memory.OpenSide(name, set, members)
	r.Save, memory.Of(r).SaveNames = nil, nil // the folder is that of one run
	if err := l.join(ctx, r, set.Table, nil, ""); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// telling are the options with a progress that a page understands.
func (l *Loader) telling(progress func(frame.Progress)) dataset.Options {
	opt := l.Options
	opt.Progress = func(done, total, rows int64) {
		stage := "reading"
		if done >= total {
			stage = "preparing"
		}
		progress(frame.Progress{Stage: stage, Done: done, Total: total, Rows: rows})
	}
	return opt
}

// join adds to samples the message trace of the same execution, if there is
// one, and the meshes. Refs are all references beside the samples; nil: none.
func (l *Loader) join(ctx context.Context, r *frame.Run, samples, refs *table.Table, archive string) error {
	if archive != "" {
		if err := messages.Join(ctx, r, samples, archive); err != nil {
			return err
		}
	}
	switch {
	case l.OnDemoMesh != nil && l.OnDemoMesh(r.Path):
		return mesh.JoinDemo(ctx, r)
	case len(l.Meshes) > 0:
		return mesh.Join(ctx, r, l.meshSettings(refs), l.Meshes...)
	}
	return nil
}

// meshSettings is how samples and references lie on the meshes. References that were
// named win over those that lie beside the samples.
func (l *Loader) meshSettings(beside *table.Table) domain.Settings {
	set := domain.Settings{Columns: domain.Columns{CellBytes: l.CellBytes}, References: l.References}
	if set.References == nil {
		set.References = beside
	}
	return set
}

// Demo opens the built-in example.
func (l *Loader) Demo(ctx context.Context) ([]*frame.Run, error) { return l.demos(ctx, demo.Open) }

// DemoCompare opens the built-in example and its repaired form.
func (l *Loader) DemoCompare(ctx context.Context) ([]*frame.Run, error) {
	return l.demos(ctx, demo.Open, demo.OpenFixed)
}

func (l *Loader) demos(ctx context.Context, open ...func() (*demo.Run, error)) ([]*frame.Run, error) {
	var out []*frame.Run
	for _, o := range open {
		r, err := l.demo(ctx, o)
		if err != nil {
			return nil, fmt.Errorf("demo: %w", err)
		}
		out = append(out, r)
	}
	return out, nil
}

func (l *Loader) demo(ctx context.Context, open func() (*demo.Run, error)) (*frame.Run, error) {
	d, err := open()
	if err != nil {
		return nil, err
	}
	b, err := d.Bundle()
	if err != nil {
		return nil, err
	}
	b.Contents, b.Imported, b.Manifest.Topology, b.Sources = []*table.Table{d.Samples}, time.Time{}, "", nil
	set, err := dataset.FromRun(ctx, b)
	if err != nil {
		return nil, err
	}
	r := memory.Open(d.Name, "", set)
	r.Texts = d.Sources
	return r, mesh.JoinDemo(ctx, r)
}

// DemoCycles opens the built-in reference traces.
func (l *Loader) DemoCycles(ctx context.Context) ([]*frame.Run, error) { return references.Demo(ctx) }

// DemoLocality opens the built-in example of the locality page.
func (l *Loader) DemoLocality(ctx context.Context) ([]*frame.Run, error) {
	return references.DemoLocality(ctx)
}

// OpenMeshes shows the loader's dumps as a run of their own.
func (l *Loader) OpenMeshes(ctx context.Context) ([]*frame.Run, error) {
	r, err := mesh.Open(ctx, l.Meshes...)
	return []*frame.Run{r}, err
}
