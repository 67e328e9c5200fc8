package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/demo"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/refs/reftable"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/kernel"
	"github.com/isobath/isobath/internal/formats/topofile"
	"github.com/isobath/isobath/internal/messages/trace"
)

// Loader opens runs and foreign files for a server.
type Loader struct {
	Options dataset.Options
	// Binary is the program of reference traces, for their source lines.
	Binary string
	// Meshes are the dumps of the simulation's mesh, for samples.
	Meshes []string
}

// NewLoader returns a loader whose engines share one budget of memory.
func NewLoader(opt dataset.Options) *Loader {
	if opt.Budget == nil {
		opt.Budget = kernel.NewBudget(kernel.DefaultBudget())
	}
	return &Loader{Options: opt}
}

// Open is an Opener.
func (l *Loader) Open(ctx context.Context, path string, progress func(Progress)) (*Run, error) {
	opt := l.telling(progress)
	set, err := dataset.Open(ctx, path, opt)
	var other *dataset.NotSamples
	if errors.As(err, &other) {
		switch other.Format.Kind {
		case kind.Trace:
			return openTrace(ctx, path, other.Format, opt.Sources)
		case kind.Refs:
			return l.openRefs(ctx, path, other.Format.Name)
		case kind.Mesh:
			return openMesh(path)
		}
	}
	if err != nil {
		return nil, err
	}
	r := samplesRun(filepath.Base(path), path, set)
	r.Reading.Map = opt.Map
	if t := set.Run.Table(reftable.Name); t != nil { // a reference trace, by itself or beside samples
		if r.Refs, err = l.refs(path, r.Format); err != nil {
			return nil, errors.Join(err, r.Close())
		}
		r.Refs.records = int64(t.Rows())
		r.Refs.owns(r.Sources)
	}
	archive := ""
	if set.Run.Trace != "" { // a message trace beside the samples
		archive = filepath.Join(path, set.Run.Trace)
	}
	if err := l.join(ctx, r, set.Table, archive); err != nil {
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
	return func(ctx context.Context, name string, progress func(Progress)) (*Run, error) {
		set, archive, err := dataset.OpenTogether(ctx, paths, l.telling(progress))
		if err != nil {
			return nil, err
		}
		r := samplesRun(name, "", set)
		if err := l.join(ctx, r, set.Table, archive); err != nil {
			return nil, errors.Join(err, r.Close())
		}
		return r, nil
	}
}

// telling are the options with a progress that a page understands.
func (l *Loader) telling(progress func(Progress)) dataset.Options {
	opt := l.Options
	opt.Progress = func(done, total, rows int64) {
		stage := "reading"
		if done >= total {
			stage = "preparing"
		}
		progress(Progress{Stage: stage, Done: done, Total: total, Rows: rows})
	}
	return opt
}

// join adds to samples the message trace of the same execution, if there is
// one, and the meshes.
func (l *Loader) join(ctx context.Context, r *Run, samples *table.Table, archive string) error {
	if archive != "" {
		t, err := trace.Open(ctx, archive)
		if err != nil {
			return err
		}
		r.Trace = &Trace{Trace: t}
		r.Trace.link, r.Trace.linkNote = linkSamples(samples, t)
		r.Warnings = append(slices.Clone(r.Warnings), t.Warnings...)
	}
	if len(l.Meshes) > 0 {
		var err error
		r.Mesh, err = newMesh(samples, l.Meshes...)
		return err
	}
	return nil
}

// Demo opens the built-in example.
func (l *Loader) Demo() ([]*Run, error) {
	d, err := demo.Open()
	if err != nil {
		return nil, err
	}
	topology, err := topofile.Read(d.Topology)
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	tree, err := json.Marshal(topology)
	if err != nil {
		return nil, err
	}
	set, err := dataset.FromRun(&run.Run{
		Contents: []*table.Table{d.Samples}, TopologyData: d.Topology, Tree: tree,
		Manifest: run.Manifest{Version: run.Version, Kind: kind.Samples, Format: "demo", Origin: d.Origin, Warnings: d.Warnings},
	}, l.Options.Budget)
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	r := samplesRun(d.Name, "", set)
	r.Texts = d.Sources
	if r.Mesh, err = demoMesh(set.Table); err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	return []*Run{r}, nil
}

// samplesRun is how the server sees a set of samples.
func samplesRun(name, path string, set *dataset.Set) *Run {
	origin := set.Run.Origin
	r := &Run{
		ID: contentID(name, set.Stored), Name: name, Path: path, Kind: string(set.Run.Kind), Format: set.Run.Format,
		Data: set.Data, Engine: set.Engine, Places: set.Places, Topology: set.Topology,
		Sources: set.Run.SourceFiles, Warnings: set.Run.Warnings, Caveats: caveats(set.Table),
		Origin: Origin{Host: origin.Host, Command: origin.Command, Time: origin.Time, Tool: origin.Tool},
		Close:  set.Close, Code: set.Run.Table(symbol.ListingTable), Names: set.Run.Names,
		Gaps: set.Run.Table("gaps"), Touches: set.Run.Table("touches"),
		Foreign: set.Run.Path == "" && path != "",
	}
	switch {
	case set.Topology == nil:
		r.TopologyNote = "This data has no hardware topology."
	case set.Places == nil:
		r.TopologyNote = "the samples do not say on which CPU they were taken"
	}
	if set.Run.Path != "" {
		r.SaveNames = set.Run.SaveNames
		r.Save = func(list []NamedSelection) error {
			named := map[string]string{}
			for _, n := range list {
				named[n.Name] = n.Where
			}
			return set.Run.SaveSelections(named)
		}
	}
	named, err := set.Run.Selections()
	if err != nil {
		r.Warnings = append(slices.Clone(r.Warnings), err.Error())
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		r.Selections = append(r.Selections, NamedSelection{Name: name, Where: named[name]})
	}
	return r
}

// idRows is how many rows the hash of a run looks at, evenly spread: enough to
// tell runs apart, and the same for a small and a large one.
const idRows = 4096

// contentID names a run by its content, so that a link finds the same data
// again wherever it lies.
func contentID(name string, t *table.Table) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %d\n", t.Name, t.Rows())
	step := max(1, t.Rows()/idRows)
	for _, c := range t.Columns() {
		fmt.Fprintf(h, "%q %v\n", c.Name, c.Kind)
		for i := 0; i < t.Rows(); i += step {
			writeField(h, c.Text(i))
		}
	}
	return slug(name) + "-" + hex.EncodeToString(h.Sum(nil)[:4])
}

func writeField(h hash.Hash, text string) {
	io.WriteString(h, text)
	h.Write([]byte{0})
}

// slug makes a short name that needs no escaping in a link.
func slug(name string) string {
	name, _, _ = strings.Cut(strings.ToLower(name), ".")
	name = strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, name), "-")
	if name == "" {
		return "run"
	}
	return name[:min(len(name), 24)]
}

// caveats says what sampling hides or distorts, as far as the samples show it.
func caveats(t *table.Table) []string {
	var out []string
	if c := t.Column(samples.Latency); c != nil {
		if lowest, ok := describeColumn(c).Min.(int32); ok && c.Provenance == table.Measured && lowest >= thresholdFrom {
			out = append(out, fmt.Sprintf("No sample took less than %d cycles: faster accesses were below the recorder's threshold and are not in this data.", lowest))
		}
	}
	for _, name := range []string{samples.Latency, samples.Level, samples.Weight} {
		if c := t.Column(name); c != nil && c.Note != "" {
			out = append(out, name+": "+c.Note)
		}
	}
	return out
}

// thresholdFrom is more than an L1 hit takes on any machine that samples
// latency: data that starts there was filtered.
const thresholdFrom = 10
