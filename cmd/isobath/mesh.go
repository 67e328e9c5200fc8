package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/base/wholefile"
	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/refs/reftable"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/domain/link"
	"github.com/isobath/isobath/internal/domain/mesh"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/vtk"
)

// meshFlags are the flags of the verb mesh.
type meshFlags struct {
	meshes    []string
	insitu    string
	fields    []string
	mode      string
	iteration int64
	exact     bool
	from      int64
	where     string
	dims      string
	columns   map[string]string
	layout    map[string]int
	bytes     map[string]int
	accesses  string
	first     int
	order     string
	per       string
	output    string
	json      bool
	values    bool
	zero      bool
	correlate []string
	category  string
	least     int
	trace     string
	overTime  bool
	rank      bool
	front     string
	change    int64
	line      string
	cells     []int
	link      string
	tokenFile string

	given func(flag string) bool
}

func newMesh() *cobra.Command {
	f := &meshFlags{}
	cmd := &cobra.Command{
		Use:   "mesh FILE --mesh DUMP… [-- PROGRAM]",
		Short: "Memory behaviour on the cells of the simulation's own mesh",
		Long: `Puts the samples of FILE on the cells of a mesh: legacy and XML VTK with their
collections, VTKHDF, Chombo, Silo, Exodus. Several dumps make a series; a dump's
iteration comes from the file, else from the digits of its name.

A field is samples, or COLUMN_AGGREGATE: latency_sum, latency_avg, latency_max,
latency_p90, cpu_distinct, cpu_dominant, … Cells without samples have no value.
With --accesses a field samples or COLUMN_sum with _per_access behind it is shared
out over the recorded accesses to each cell.
Without FILE the mesh alone is described. With --insitu a program that calls
clients/isobath_step.h, .f90 or .py hands its mesh over step by step, in place of dumps. With --link viewers connect: see
clients/ and docs/guide.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.given = cmd.Flags().Changed
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				if f.insitu == "" || at == len(args) {
					return usagef("a program after -- is for --insitu FOLDER, which it hands its mesh over in")
				}
				if err := f.handedOver(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), args[at:]); err != nil {
					return err
				}
				args = args[:at]
			}
			if f.insitu != "" {
				f.meshes = append(f.meshes, f.insitu)
			}
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), args)
		},
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.meshes, "mesh", nil, "mesh `DUMP`: a file, a pattern or a folder; may be repeated")
	fl.StringVar(&f.insitu, "insitu", "", "`FOLDER` of the steps that a program hands over; the program may follow after --")
	fl.StringArrayVar(&f.fields, "field", nil, "field to compute; may be repeated (default latency_avg)")
	fl.StringVar(&f.mode, "mode", "all", "samples of `all` iterations, `upto` a dump's, or `only` since the dump before")
	fl.Int64Var(&f.iteration, "iteration", 0, "iteration of the dump (default: the last)")
	fl.BoolVar(&f.exact, "exact", false, "with --mode only: the iteration itself, not since the dump before")
	fl.Int64Var(&f.from, "from", 0, "with --mode only: samples after this iteration")
	fl.StringVar(&f.where, "where", "", "only samples that satisfy `EXPR`")
	fl.StringVar(&f.dims, "dims", "", "cells per axis, `NXxNYxNZ`; without --mesh, of a mesh of unit cells")
	fl.StringToStringVar(&f.columns, "map", nil, "columns that place samples: `x=NAME`, y, z, cell, level (of refinement), domain, object, index, iteration")
	fl.StringToIntVar(&f.layout, "layout", nil, "data objects indexed by cell: `OBJECT=ENTRIES` per cell, as m_nodelist=8")
	fl.StringToIntVar(&f.bytes, "cell-bytes", nil, cellBytesUsage)
	fl.StringVar(&f.accesses, "accesses", "", accessesUsage)
	fl.IntVar(&f.first, "first", 0, "first index of cells: 0, or 1 in Fortran programs")
	fl.StringVar(&f.per, "per-cell", "", "cells of the program in one of the mesh, `NXxNYxNZ`, where the mesh is written coarser")
	fl.StringVar(&f.order, "order", "xyz", "which index runs fastest: `xyz` or zyx")
	fl.StringVarP(&f.output, "output", "o", "", "write the mesh with the fields to `FILE`.vtu or .vtk")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	fl.BoolVar(&f.values, "values", false, "with --json: the value of every cell; null where there is none")
	fl.BoolVar(&f.zero, "zero", false, "cells without samples are 0 in written files")
	fl.StringArrayVar(&f.correlate, "correlate", nil, "relate the field to this `VARIABLE` of the simulation; may be repeated")
	fl.StringVar(&f.category, "by", "", "with --correlate or --over-time: split by this `VARIABLE`, such as a region, or \"index x\"")
	fl.BoolVar(&f.rank, "rank", false, "all variables by how much of the field they explain")
	fl.StringVar(&f.trace, "trace", "", "message `TRACE` of the same run: its ranks' lateness is a variable of the cells that they own")
	fl.BoolVar(&f.overTime, "over-time", false, "the field at every dump: of all cells, of the regions of --by, of the picks of --cells")
	fl.IntSliceVar(&f.cells, "cells", nil, "with --over-time: these `CELLS` by number, together")
	fl.StringVar(&f.front, "front", "", "how the field changes where a front in this `VARIABLE` passes")
	fl.Int64Var(&f.change, "change-from", 0, "the change of the field since the dump of this `ITERATION`, with --mode only")
	fl.StringVar(&f.line, "line", "", "the field along a line, `X,Y,Z:X,Y,Z`")
	fl.IntVar(&f.least, "min-samples", 1, "with --correlate: only cells with at least this many samples")
	fl.StringVar(&f.link, "link", "", "serve viewers on this `ADDRESS`, as 127.0.0.1:0, until interrupted")
	fl.StringVar(&f.tokenFile, "token-file", "", "with --link: where viewers find address and token (default ~/.cache/isobath/link)")
	return cmd
}

func (f *meshFlags) run(ctx context.Context, stdout, stderr io.Writer, args []string) error {
	file, err := f.sort(args)
	if err != nil {
		return err
	}
	if err := keepInputs(f.output, append(slices.Clone(f.meshes), file)...); err != nil {
		return err
	}
	series, err := f.openSeries(ctx)
	if err != nil {
		return err
	}
	if file == "" {
		return f.describe(ctx, stdout)
	}
	settings, err := f.settings()
	if err != nil {
		return err
	}
	set, err := dataset.Open(ctx, file, dataset.Options{Options: foreign.Options{L1Latency: foreign.DefaultL1Latency, Map: f.sampleColumns()}})
	if err != nil {
		return err
	}
	defer set.Close()
	settings.Columns.Rename(set.Table)
	if settings.ByRank, err = f.byRank(ctx); err != nil {
		return err
	}
	references, err := openReferences(ctx, f.accesses)
	if err != nil {
		return err
	}
	defer references.Close()
	if settings.References = references.Table(); settings.References == nil {
		settings.References = set.Run.Table(reftable.Name) // recorded beside the samples
	}
	view, err := mesh.NewView(ctx, series, set.Table, settings)
	if err != nil {
		return err
	}
	if f.link != "" {
		return f.serve(ctx, stderr, set, view)
	}
	r, err := f.project(ctx, set, view)
	if err != nil {
		return err
	}
	if f.output != "" {
		if err := r.write(ctx, f.output, f.zero); err != nil {
			return err
		}
	}
	if f.json {
		return r.printJSON(stdout, f.values)
	}
	r.print(stdout)
	return nil
}

// sort tells the sample file from dumps that a shell pattern put behind it.
func (f *meshFlags) sort(args []string) (file string, err error) {
	for _, a := range args {
		if mesh.IsMesh(a) {
			f.meshes = append(f.meshes, a)
			continue
		}
		if file != "" {
			return "", usagef("two files of samples: %s and %s", file, a)
		}
		file = a
	}
	if len(f.meshes) == 0 && f.dims == "" {
		return "", usagef("no mesh; name its dumps with --mesh, or its cells per axis with --dims")
	}
	return file, nil
}

func (f *meshFlags) openSeries(ctx context.Context) (*mesh.Series, error) {
	if len(f.meshes) > 0 {
		return mesh.Open(ctx, f.meshes...)
	}
	d, err := mesh.ParseDims(f.dims)
	if err != nil {
		return nil, usageError{err}
	}
	return mesh.UnitMesh(ctx, d)
}

func (f *meshFlags) describe(ctx context.Context, w io.Writer) error {
	if len(f.meshes) == 0 {
		return usagef("no file of samples")
	}
	i, err := describeMesh(ctx, f.meshes...)
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(w, i.fields())
	}
	return i.write(w)
}

func (f *meshFlags) settings() (mesh.Settings, error) {
	s := mesh.Settings{Numbering: mesh.Numbering{First: f.first}}
	c := &s.Columns
	c.PerCell, c.CellBytes = f.layout, f.bytes
	known := map[string]*string{"x": &c.X, "y": &c.Y, "z": &c.Z, "cell": &c.Cell, "level": &c.Level, "domain": &c.Domain,
		"object": &c.Object, "index": &c.Index, "iteration": &s.Iteration}
	for name, column := range f.columns {
		if dst := known[name]; dst != nil {
			*dst = column
		} else if !isSampleColumn(name) {
			return s, usagef("--map %s=%s: want x, y, z, cell, level, domain, object, index, iteration, or a column of samples such as latency", name, column)
		}
	}
	switch f.order {
	case "xyz":
	case "zyx":
		s.Numbering.ZFast = true
	default:
		return s, usagef("--order %q: want xyz or zyx", f.order)
	}
	if f.per != "" {
		var err error
		if s.Numbering.Per, err = mesh.ParseDims(f.per); err != nil {
			return s, usagef("--per-cell: %v", err)
		}
	}
	if f.dims != "" {
		var err error
		if s.Dims, err = mesh.ParseDims(f.dims); err != nil {
			return s, usageError{err}
		}
	}
	return s, nil
}

// isSampleColumn reports whether --map names a column of samples, which the reader of
// the file takes; level is the mesh's here.
func isSampleColumn(name string) bool {
	_, ok := samples.Lookup(name)
	return ok && name != samples.Level
}

// sampleColumns are the parts of --map that the reader of the samples takes.
func (f *meshFlags) sampleColumns() map[string]string {
	m := map[string]string{}
	for name, column := range f.columns {
		if isSampleColumn(name) {
			m[name] = column
		}
	}
	return m
}

// meshResult is what the verb prints and writes.
type meshResult struct {
	name string
	step mesh.Step // the dump whose mesh is used
	// iteration is the one asked for; a dump may be of an earlier one.
	iteration int64
	window    mesh.Window
	where     string
	placed    *mesh.Placed
	positions bool   // samples are placed by their coordinates
	outside   string // that many lie outside, and why
	fields    []*mesh.Field
	accesses  *mesh.AccessCounts // nil: not known
	relation  []relation
	inTime    meshInTime
}

// relation is a field against a variable of the simulation.
type relation struct {
	Field    string `json:"field"`
	Variable string `json:"variable"`
	*mesh.Correlation
	Categories []mesh.CategoryStats `json:"categories,omitempty"`
}

func (f *meshFlags) project(ctx context.Context, set *dataset.Set, view *mesh.View) (*meshResult, error) {
	series := view.Series
	step := len(series.Steps) - 1
	iteration := series.Steps[step].Iteration
	if f.given("iteration") {
		iteration = f.iteration
		step, _ = series.At(iteration)
	}
	var from *int64
	if f.given("from") {
		from = &f.from
	}
	window, err := mesh.NewWindow(series, mesh.Mode(f.mode), iteration, f.exact, from)
	if err != nil {
		return nil, usageError{err}
	}
	rows, err := f.rows(ctx, set)
	if err != nil {
		return nil, err
	}
	r := &meshResult{name: series.Name, step: series.Steps[step], iteration: iteration, window: window, where: f.where}
	if r.placed, err = view.At(ctx, step); err != nil {
		return nil, err
	}
	r.positions, r.outside = view.ByPosition(), view.OutsideNote(r.placed)
	if view.HasAccesses(r.placed) {
		counts, err := view.AccessCounts(ctx, r.placed)
		if err != nil {
			return nil, err
		}
		r.accesses = &counts
	}
	names := f.fields
	if len(names) == 0 {
		names = []string{"latency_avg"}
		if set.Table.Column(samples.Latency) == nil {
			names = []string{"samples"}
		}
	}
	for _, name := range names {
		spec, err := mesh.ParseField(name, set.Table)
		if err != nil {
			return nil, usageError{err}
		}
		field, err := r.placed.Field(ctx, set.Table, rows, window, spec)
		if err == nil && f.given("change-from") {
			field, err = f.changed(ctx, view, rows, field, r)
		}
		if err != nil {
			return nil, err
		}
		r.fields = append(r.fields, field)
	}
	if err := f.inTime(ctx, view, rows, r); err != nil {
		return nil, err
	}
	return r, f.relate(ctx, view, r)
}

// rows evaluates --where; nil takes all rows.
func (f *meshFlags) rows(ctx context.Context, set *dataset.Set) (table.Bits, error) {
	if f.where == "" {
		return nil, nil
	}
	e, err := selection(set, f.where)
	if err != nil {
		return nil, err
	}
	return set.Engine.Select(ctx, e)
}

func (f *meshFlags) relate(ctx context.Context, view *mesh.View, r *meshResult) error {
	var category []float64
	if f.category != "" {
		var err error
		if category, err = view.Variable(ctx, r.placed, f.category); err != nil {
			return err
		}
	}
	for _, name := range f.correlate {
		physics, err := view.Variable(ctx, r.placed, name)
		if err != nil {
			return err
		}
		for _, field := range r.fields {
			p, err := mesh.Pair(field, physics, category, max(1, f.least))
			if err != nil {
				return err
			}
			c, err := p.Correlate(ctx, max(1, f.least))
			if err != nil {
				return fmt.Errorf("%s against %s: %w", field.Spec, name, err)
			}
			p.Spatial(r.placed.Mesh, c)
			rel := relation{Field: field.Name(), Variable: name, Correlation: c}
			if category != nil {
				rel.Categories = p.ByCategory(ctx, r.placed.Mesh, max(1, f.least), true)
			}
			r.relation = append(r.relation, rel)
		}
	}
	return nil
}

// meshField is one field in the JSON answer.
type meshField struct {
	Field      string      `json:"field"`
	Covered    int         `json:"covered"` // cells with samples
	Few        int         `json:"few"`     // of these, cells whose value rests on fewer than five
	OutOfRange int         `json:"out_of_range"`
	NoAccess   int         `json:"no_access,omitempty"` // cells with samples, none of whose accesses was recorded
	Min        *float64    `json:"min"`
	Max        *float64    `json:"max"`
	Sum        float64     `json:"sum"`
	Counts     mesh.Counts `json:"counts"`
	Values     []*float64  `json:"values,omitempty"`
}

func jsonField(f *mesh.Field, values bool) meshField {
	lo, hi, sum, covered := f.Stats()
	m := meshField{Field: f.Name(), Covered: covered, Few: f.Few(mesh.FewSamples), OutOfRange: f.Counts.OutOfRange, NoAccess: f.NoAccess, Sum: sum, Counts: f.Counts}
	if covered > 0 && !math.IsNaN(lo) {
		m.Min, m.Max = &lo, &hi
	}
	if values {
		m.Values = make([]*float64, len(f.Values))
		for i := range f.Values {
			if !math.IsNaN(f.Values[i]) {
				m.Values[i] = &f.Values[i]
			}
		}
	}
	return m
}

func (r *meshResult) printJSON(w io.Writer, values bool) error {
	type part struct {
		Domain int    `json:"domain"`
		Level  int    `json:"level"`
		Name   string `json:"name,omitempty"`
		Cells  int    `json:"cells"`
		First  int    `json:"first"`
	}
	out := struct {
		Mesh      string    `json:"mesh"`
		Cells     int       `json:"cells"`
		Mode      mesh.Mode `json:"mode"`
		Variant   string    `json:"variant,omitempty"`
		Iteration int64     `json:"iteration"`
		Dump      int64     `json:"dump"` // iteration of the dump that was used
		From      string    `json:"iteration_from"`
		Time      *float64  `json:"time,omitempty"`
		Where     string    `json:"where,omitempty"`
		meshField
		Fields       []meshField `json:"fields,omitempty"` // after the first
		Parts        []part      `json:"parts"`
		Correlations []relation  `json:"correlations,omitempty"`
		ByPosition   bool        `json:"by_position,omitempty"` // samples were placed by their coordinates
		// Accesses says what became of the recorded references.
		Accesses *mesh.AccessCounts `json:"accesses,omitempty"`
		Warnings []string           `json:"warnings,omitempty"`
		meshInTime
	}{meshInTime: r.inTime, Accesses: r.accesses, Mesh: r.name, Cells: r.placed.Cells, Mode: r.window.Mode, Variant: r.window.Variant(), Iteration: r.iteration, Dump: r.step.Iteration, From: r.step.From,
		Where: r.where, meshField: jsonField(r.fields[0], values), Correlations: r.relation, ByPosition: r.positions, Warnings: slices.Concat(r.placed.Mesh.Warnings, r.warnings())}
	if r.step.HasTime {
		out.Time = &r.step.Time
	}
	for _, f := range r.fields[1:] {
		out.Fields = append(out.Fields, jsonField(f, values))
	}
	for _, p := range r.placed.Space.Parts {
		out.Parts = append(out.Parts, part{p.Domain, p.Level, p.Name, p.Cells, p.First})
	}
	if values { // one line: a value a line would be as long as the mesh is large
		return json.NewEncoder(w).Encode(out)
	}
	return printJSON(w, out)
}

// warnings say that much of the selection is not on the mesh.
func (r *meshResult) warnings() []string {
	var list []string
	if r.step.From != "ordinal" && r.iteration != r.step.Iteration {
		list = append(list, fmt.Sprintf("there is no dump of iteration %d; the mesh is that of %d", r.iteration, r.step.Iteration))
	}
	if r.outside != "" {
		list = append(list, r.outside)
	}
	c := r.fields[0].Counts
	if c.Selected > 0 && float64(c.Used) < 0.9*float64(c.Selected) {
		list = append(list, fmt.Sprintf("%s of %s on the mesh: %s on no cell, %s outside it, %s without an iteration, %s without a level",
			term.Thousands(c.Used), term.Counted(c.Selected, "sample"), term.Thousands(c.NoCell), term.Thousands(c.OutOfRange), term.Thousands(c.NoIteration), term.Thousands(c.NoLevel)))
	}
	return list
}

func (r *meshResult) print(w io.Writer) {
	fmt.Fprintf(w, "mesh %s, %s\n", r.name, r.placed.Space.Describe())
	text := "samples of all iterations"
	switch r.window.Mode {
	case mesh.UpTo:
		text = fmt.Sprintf("samples up to iteration %d", r.window.To)
	case mesh.Only:
		text = fmt.Sprintf("samples of iteration %d", r.window.To)
		if !r.window.Exact && r.window.After > math.MinInt64 {
			text = fmt.Sprintf("samples after iteration %d up to %d", r.window.After, r.window.To)
		} else if !r.window.Exact {
			text = fmt.Sprintf("samples up to iteration %d, the first dump", r.window.To)
		}
	}
	if r.step.From == "ordinal" {
		fmt.Fprintf(w, "%s\n\n", text)
	} else {
		fmt.Fprintf(w, "%s, on the mesh of iteration %d (from the %s)\n\n", text, r.step.Iteration, r.step.From)
	}
	fmt.Fprintf(w, "%-18s %9s %12s %12s %14s\n", "field", "cells", "min", "max", "sum")
	for _, f := range r.fields {
		lo, hi, sum, covered := f.Stats()
		fmt.Fprintf(w, "%-18s %9d %12s %12s %14s\n", f.Name(), covered, short(lo), short(hi), short(sum))
	}
	for _, f := range r.fields {
		if few := f.Few(mesh.FewSamples); few > 0 {
			fmt.Fprintf(w, "%s rests on fewer than %s in %s\n", f.Name(), term.Counted(mesh.FewSamples, "sample"), term.Counted(few, "cell"))
		}
	}
	c := r.fields[0].Counts
	fmt.Fprintf(w, "\n%s: %s on cells, %s on no cell, %s out of range", term.Counted(c.Selected, "sample"), term.Thousands(c.Used), term.Thousands(c.NoCell), term.Thousands(c.OutOfRange))
	if c.NoIteration > 0 || c.NoLevel > 0 {
		fmt.Fprintf(w, ",\n%s without an iteration, %s without a level", term.Thousands(c.NoIteration), term.Thousands(c.NoLevel))
	}
	if r.positions {
		fmt.Fprint(w, "; placed by their positions x, y, z")
	}
	fmt.Fprintln(w)
	r.printAccesses(w)
	var said strings.Builder
	for _, warning := range slices.Concat(r.placed.Mesh.Warnings, r.warnings()) {
		wrap(&said, "warning: ", warning)
	}
	fmt.Fprint(w, said.String())
	r.printRelations(w)
	r.inTime.print(w)
}

// printAccesses says what the fields per access rest on.
func (r *meshResult) printAccesses(w io.Writer) {
	a := r.accesses
	if a == nil {
		return
	}
	fmt.Fprintf(w, "%d recorded references: %d to cells, %d to other data, %d beyond the mesh\n", a.Recorded, a.OnCells, a.Other, a.OutOfRange)
	for _, f := range r.fields {
		if f.NoAccess > 0 {
			fmt.Fprintf(w, "%s has no value in %s with samples: no access to them was recorded\n", f.Name(), term.Counted(f.NoAccess, "cell"))
		}
	}
}

func (r *meshResult) printRelations(w io.Writer) {
	for _, rel := range r.relation {
		fmt.Fprintf(w, "\n%s against %s, %s with %s or more\n", rel.Field, rel.Variable, term.Counted(rel.Cells, "cell"), term.Counted(rel.MinSamples, "sample"))
		fmt.Fprintf(w, "  Spearman %+.3f (p %.3g)  Pearson %+.3f  mutual information %.3f bit\n", rel.Spearman, rel.SpatialP, rel.Pearson, rel.Mutual)
		fmt.Fprintf(w, "  neighbours are alike: these cells are worth %.0f independent ones, and p is with so many\n", rel.Effective)
		for _, c := range rel.Categories {
			related := ""
			if c.Correlation != nil {
				related = fmt.Sprintf("  ρ %+.2f (p %.2g)", c.Correlation.Spearman, c.Correlation.SpatialP)
			}
			fmt.Fprintf(w, "  %8s %6d cells  p10 %s  median %s  p90 %s%s\n", short(c.Value), c.Cells, short(c.P10), short(c.Median), short(c.P90), related)
		}
	}
}

func short(v float64) string {
	if math.IsNaN(v) {
		return "none"
	}
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// write puts the fields on the mesh and writes it whole or not at all.
func (r *meshResult) write(ctx context.Context, path string, zero bool) error {
	flat, err := r.placed.Mesh.Flatten()
	if err != nil {
		return err
	}
	for _, f := range r.fields {
		values := f.Values
		if zero {
			values = slices.Clone(values)
			for i, v := range values {
				if math.IsNaN(v) {
					values[i] = 0
				}
			}
		}
		flat.CellData = append(flat.CellData, grid.Array{Name: f.Name(), Comps: 1, Data: values})
	}
	ext := strings.ToLower(filepath.Ext(path))
	if ext != ".vtu" && ext != ".vtk" {
		return usagef("-o %s: want a name that ends in .vtu or .vtk", path)
	}
	return wholefile.Write(ctx, path, 0, func(w io.Writer) error {
		if ext == ".vtu" {
			return vtk.WriteVTU(w, flat)
		}
		return vtk.WriteLegacy(w, flat, r.name)
	})
}

// serve answers viewers until interrupted.
func (f *meshFlags) serve(ctx context.Context, stderr io.Writer, set *dataset.Set, view *mesh.View) error {
	set.Data.RowSets.FindBy(view.RowsOfSet)
	session := link.NewSession(set.Table, set.Engine, link.Mesh{Name: view.Series.Name, View: view})
	if f.where != "" {
		if _, _, err := session.SetWhere(ctx, f.where, "command line"); err != nil {
			return usageError{err}
		}
	}
	if _, err := view.At(ctx, len(view.Series.Steps)-1); err != nil {
		return err
	}
	ln, err := net.Listen("tcp", f.link)
	if err != nil {
		return fmt.Errorf("--link %s: %w", f.link, err)
	}
	path := f.tokenFile
	if path == "" {
		if path, err = link.DefaultFile(); err != nil {
			return err
		}
	}
	token := rand.Text()
	if err := link.WriteToken(path, ln.Addr().String(), token); err != nil {
		return fmt.Errorf("write the token file: %w", err)
	}
	fmt.Fprintf(stderr, "viewers connect to %s; address and token are in %s\n", ln.Addr(), path)
	if tcp, ok := ln.Addr().(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
		fmt.Fprintln(stderr, "warning: the link is not encrypted; over a network use an ssh tunnel")
	}
	log := slog.New(slog.NewTextHandler(stderr, nil))
	return link.NewServer(session, token, log).Serve(ctx, ln)
}
