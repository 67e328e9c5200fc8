// Package dataset opens what a user names, a run or a foreign file, and makes it
// ready for questions: table, topology, the places of its samples, sources, and
// an engine.
package dataset

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/base/redact"
	"github.com/isobath/isobath/internal/base/scratch"
	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/code/datasrc"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/source"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/clickhouse"
	"github.com/isobath/isobath/internal/engine/kernel"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/machine/hw"
	"github.com/isobath/isobath/internal/record"
)

// Options are what a user may say when opening foreign data.
type Options struct {
	foreign.Options
	Topology string   // a file to use in place of the one found with the data
	Sources  []string // more folders with source files
	// NoSources leaves source files where they are: none is read into the run.
	NoSources bool
	Names     string // a file that says what objects are, beside what the run says
	// AssumeL1, if set, is the latency of an L1 hit to assume in a run whose
	// latencies rest on such an assumption; see foreign.Options.L1Latency.
	AssumeL1 *int
	// Asked says that only questions will be asked: the rows of a run that is kept
	// in ClickHouse then stay there. Otherwise those that Fetch selects are brought
	// here; empty: all.
	Asked bool
	Fetch string
	// Warn is told when the budget is too small for the data; nil if nobody is.
	Warn func(string)
}

// Set is one opened data set of samples.
type Set struct {
	Run *run.Run
	// Table is the samples, or another table if there are none; Stored is the
	// same before objects were named after the fact.
	Table    *table.Table
	Stored   *table.Table
	Topology *hw.Topology // nil if there is none
	Places   *hw.Rows     // nil without a topology or a cpu column
	Data     query.Data
	Engine   Engine
	Digest   string // of the rows, if they are kept elsewhere
}

// Open opens a run or imports a foreign file into memory.
func Open(ctx context.Context, path string, opt Options) (*Set, error) {
	if opt.Asked && clickhouse.IsAddress(path) {
		return openStored(ctx, path, opt)
	}
	r, err := Load(ctx, path, opt)
	if err != nil {
		return nil, err
	}
	s, err := prepare(r, opt.AssumeL1, kernel.Options{Budget: budget.Of(ctx), Warn: opt.Warn})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), r.Close())
	}
	return s, nil
}

// Load is Open for whoever only wants to keep the samples: they are not made
// ready for questions.
func Load(ctx context.Context, path string, opt Options) (*run.Run, error) {
	var r *run.Run
	var err error
	if clickhouse.IsAddress(path) {
		r, err = fetched(ctx, path, opt)
	} else if run.IsRun(path) {
		r, err = run.Open(path)
	} else if left, ok := record.UnfinishedAt(path); ok {
		r, err = record.Recover(ctx, left)
	} else {
		r, err = imported(ctx, path, opt)
	}
	if err != nil {
		return nil, err
	}
	if opt.Names != "" {
		text, err := os.ReadFile(opt.Names)
		if err == nil {
			_, err = symbol.ReadNamings(bytes.NewReader(text))
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("names of objects: %w", err), r.Close())
		}
		// The first sentence about an object counts, and these are newer.
		r.Names = string(text) + "\n" + r.Names
	}
	if len(r.Contents) == 0 {
		return nil, errors.Join(&foreign.WrongKind{Path: path, Format: r.Format, Kind: r.Kind, Want: kind.Samples}, r.Close())
	}
	return r, nil
}

// FromRun makes a run ready for questions, which draw on the budget of the
// context.
func FromRun(ctx context.Context, r *run.Run) (*Set, error) {
	return prepare(r, nil, kernel.Options{Budget: budget.Of(ctx)})
}

// Close releases the files of the set.
func (s *Set) Close() error {
	s.Engine.Close()
	return s.Run.Close()
}

// Columns shows the columns of a foreign file, for choosing which is which.
func Columns(path string) ([]foreign.Candidate, error) {
	if run.IsRun(path) {
		return nil, fmt.Errorf("%s is a run: its columns were chosen when it was imported; import its source again with --map", path)
	}
	found, err := formats.Identify(path)
	if err != nil {
		return nil, err
	}
	return found.Columns()
}

// Spool writes a stream to a temporary file, which remove deletes: most readers
// go back and forth in their file. It ends early with the context, although the
// stream may not.
func Spool(ctx context.Context, r io.Reader) (path string, remove func(), err error) {
	dir, err := scratch.Folder("", "stdin")
	if err != nil {
		return "", nil, noRoom(err)
	}
	claim, err := budget.TakeFor(ctx, dir, "standard input, which is kept in memory here, needs")
	remove = func() {
		os.RemoveAll(dir)
		claim.Release()
	}
	path = filepath.Join(dir, "stdin")
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err == nil {
		if err = spool(f, claim.Reader(parallel.Reader(ctx, r))); ctx.Err() != nil {
			err = ctx.Err()
		}
	}
	if err != nil {
		remove()
		return "", nil, err
	}
	return path, remove, nil
}

func spool(f *os.File, r io.Reader) error {
	_, err := io.Copy(f, r)
	if err != nil && !errors.As(err, new(*budget.Exceeded)) {
		err = noRoom(err)
	}
	return errors.Join(err, f.Close())
}

func noRoom(err error) error {
	return fmt.Errorf("keep %s in a temporary file: %w; set TMPDIR to a folder with room", foreign.StdinName, err)
}

// imported reads a foreign file.
func imported(ctx context.Context, path string, opt Options) (*run.Run, error) {
	if path != formats.Stdin {
		return importedFrom(ctx, path, path, opt)
	}
	file, remove, err := Spool(ctx, os.Stdin)
	if err != nil {
		return nil, err
	}
	defer remove()
	r, err := importedFrom(ctx, file, foreign.StdinName, opt)
	if err != nil {
		return nil, foreign.Renamed(err, file, foreign.StdinName)
	}
	return r, nil
}

// importedFrom reads a foreign file that the user calls by a name.
func importedFrom(ctx context.Context, file, name string, opt Options) (*run.Run, error) {
	found, err := formats.Identify(file)
	if err != nil {
		return nil, err
	}
	got, err := found.Samples(ctx, &opt.Options)
	if err != nil {
		return nil, err
	}
	got.Origin.Command = redact.Args(got.Origin.Command)
	r := &run.Run{Contents: got.Tables, Manifest: run.Manifest{
		Version: run.Version, Kind: kind.Samples, Format: found.Format.Name, Origin: got.Origin,
		Imported: time.Now().UTC().Truncate(time.Second), From: []string{filepath.Base(name)}, Warnings: got.Warnings,
	}}
	if err := addTopology(r, got, opt.Topology); err != nil {
		return nil, errors.Join(err, r.Close()) // tables may lie in temporary files
	}
	if !opt.NoSources {
		r.FindSources(slices.Concat(opt.Sources, inside(file, got.SourceRoots)))
		r.Warnings = append(r.Warnings, elsewhere(r)...)
	}
	return r, nil
}

// inside returns those of the folders beside or below the data that really lie
// there: a folder from a stranger may hold a link to one of the user's.
func inside(path string, roots []string) []string {
	base := path
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		base = filepath.Dir(path)
	}
	base, err := filepath.EvalSymlinks(base)
	if err != nil {
		return nil
	}
	var out []string
	for _, root := range roots {
		real, err := filepath.EvalSymlinks(root)
		if err != nil {
			continue
		}
		// The samples of a folder may be named instead of it: their folder's is
		// as near.
		if rel, err := filepath.Rel(base, real); err == nil && (filepath.IsLocal(rel) || rel == "..") {
			out = append(out, root)
		}
	}
	return out
}

// elsewhere says that source files are named by absolute paths that nobody
// allowed to be read.
func elsewhere(r *run.Run) []string {
	first, more := "", 0
	for _, t := range r.Contents {
		file := t.Column(samples.File)
		if file == nil || file.Kind != table.Category {
			continue
		}
		for _, name := range file.Dict {
			if _, ok := r.SourceFiles[name]; ok || !filepath.IsAbs(name) || !source.Looks(name) {
				continue
			}
			if first == "" {
				first = name
			} else {
				more++
			}
		}
	}
	if first == "" {
		return nil
	}
	if more > 0 {
		return []string{fmt.Sprintf("the data names %s and %d more source files that do not lie beside it; they are read only below a folder given with --sources", first, more)}
	}
	return []string{fmt.Sprintf("the data names %s, which does not lie beside it; it is read only below a folder given with --sources", first)}
}

// addTopology reads the hardware description given or found. One that the user
// names must be readable; one that lies beside the data may be broken.
func addTopology(r *run.Run, got *foreign.Imported, file string) error {
	data, name := got.Topology, got.TopologyName
	if file != "" {
		var err error
		if data, err = os.ReadFile(file); err != nil {
			return fmt.Errorf("topology: %w", err)
		}
		name = filepath.Base(file)
	}
	if data == nil {
		for _, tab := range r.Contents {
			if summed, _ := samples.Summed(tab); summed != nil {
				return nil // sums of code are on no part of a machine
			}
		}
		r.Warnings = append(r.Warnings, "no hardware topology with the data: samples are not placed on one; give --topology XML")
		return nil
	}
	t, err := formats.ReadTopology(data)
	if err != nil {
		if file != "" {
			return fmt.Errorf("topology %s: %w", file, err)
		}
		r.Warnings = append(r.Warnings, fmt.Sprintf("the topology %s beside the data cannot be read (%v); give --topology XML", name, err))
		return nil
	}
	if r.Tree, err = json.Marshal(t); err != nil {
		return err
	}
	r.TopologyData, r.Manifest.Topology = data, name
	r.Warnings = append(r.Warnings, t.Warnings...)
	for i, tab := range r.Contents {
		checked, warnings, err := checkPlaces(tab, t)
		if err != nil {
			return err
		}
		r.Contents[i] = checked
		r.Warnings = append(r.Warnings, warnings...)
	}
	return nil
}

// checkPlaces compares the samples with the topology: CPUs it does not have, and
// a node column that contradicts it. Without such a column the node of each CPU
// is added.
func checkPlaces(t *table.Table, topology *hw.Topology) (*table.Table, []string, error) {
	cpu := t.Column(samples.CPU)
	if cpu == nil || cpu.Kind != table.Number {
		return t, nil, nil
	}
	node, err := nodes(topology, cpu)
	if err != nil {
		return nil, nil, err
	}
	var warnings []string
	if unknown := node.unknown; len(unknown) > 0 {
		warnings = append(warnings, fmt.Sprintf("the topology has no CPU %s, but samples do", list(unknown)))
	}
	if given := t.Column(samples.Node); given != nil {
		differ := 0
		for i := range t.Rows() {
			if given.Has(i) && node.valid.Get(i) && int32(given.Float(i)) != node.values[i] {
				differ++
			}
		}
		if differ > 0 {
			warnings = append(warnings, fmt.Sprintf("the node of %d of %d samples is not the one the topology gives their CPU: the topology is probably from another machine", differ, t.Rows()))
		}
		return t, warnings, nil
	}
	column := samples.Column(samples.Node, table.Derived, node.values, node.valid)
	column.Note = "NUMA node of the CPU, from the topology"
	column.Back(node.spill)
	columns := slices.Clone(t.Columns())
	at := slices.Index(columns, cpu) + 1
	out, err := table.New(t.Name, slices.Insert(columns, at, column))
	if err != nil {
		return nil, nil, errors.Join(err, node.spill.Close())
	}
	return out, warnings, nil
}

type cpuNodes struct {
	values  []int32
	spill   *table.Spill
	valid   table.Bits
	unknown []int
}

func nodes(topology *hw.Topology, cpu *table.Column) (cpuNodes, error) {
	n := cpu.Len()
	out := cpuNodes{valid: table.NewBits(n)}
	var values table.Growing[int32]
	node := map[int]int{}          // -1: no single node, -2: no such CPU
	last, os := math.MinInt, -2    // samples come in runs of one CPU
	small, _ := cpu.Data.([]int32) // the usual form
	for i := range n {
		if !cpu.Has(i) {
			continue
		}
		var c int
		if small != nil {
			c = int(small[i])
		} else {
			c = int(cpu.Float(i))
		}
		if c != last {
			last = c
			var seen bool
			if os, seen = node[c]; !seen {
				os = nodeOf(topology, c)
				node[c] = os
				if os == -2 {
					out.unknown = append(out.unknown, c)
				}
			}
		}
		if os > 0 { // node 0 is what is padded
			values.Pad(i)
			values.Append(int32(os))
		}
		if os >= 0 {
			out.valid.Set(i)
		}
	}
	slices.Sort(out.unknown)
	cpu.Release()
	var err error
	if values.Len() == 0 {
		out.values, out.spill, err = table.Zeros[int32](n)
		return out, err
	}
	values.Pad(n)
	out.values, out.spill, err = values.Values()
	return out, err
}

// nodeOf is the node of a CPU: -1 if it has no single one, -2 if the topology
// has no such CPU.
func nodeOf(topology *hw.Topology, cpu int) int {
	if topology.ByCPU(cpu) == nil {
		return -2
	}
	if r, ok := topology.Node(cpu); ok {
		return r.OS
	}
	return -1
}

func list(numbers []int) string {
	var words []string
	for i, n := range numbers {
		if i == 8 {
			return strings.Join(words, ", ") + fmt.Sprintf(" and %d more", len(numbers)-i)
		}
		words = append(words, fmt.Sprint(n))
	}
	return strings.Join(words, ", ")
}

// prepare places the samples and starts an engine.
func prepare(r *run.Run, assumeL1 *int, opt kernel.Options) (*Set, error) {
	s := &Set{Run: r, Table: r.Table(samples.Table)}
	if s.Table == nil {
		if len(r.Contents) == 0 {
			return nil, errors.New("the run has no table")
		}
		s.Table = r.Contents[0]
	}
	s.Stored = s.Table
	if err := s.rename(); err != nil {
		return nil, err
	}
	if assumeL1 != nil {
		var err error
		if s.Table, err = datasrc.AssumeL1(s.Table, *assumeL1); err != nil {
			return nil, err
		}
	}
	s.Data.Table, s.Data.RowSets = s.Table, &query.RowSets{}
	if r.Tree != nil {
		s.Topology = new(hw.Topology)
		if err := json.Unmarshal(r.Tree, s.Topology); err != nil {
			return nil, fmt.Errorf("topology of the run: %w", err)
		}
		if err := s.place(); err != nil {
			return nil, err
		}
	}
	s.Engine = kernel.New(s.Data, opt)
	return s, nil
}

// rename applies the names that were given after the fact. The table of the run
// stays as it is: names may change again. Sentences in a run that cannot be read
// cost names, not the run.
func (s *Set) rename() error {
	if s.Run.Names == "" {
		return nil
	}
	names, err := symbol.ReadNamings(strings.NewReader(s.Run.Names))
	if err != nil {
		s.Run.Warnings = append(slices.Clone(s.Run.Warnings), fmt.Sprintf("the names of objects in the run are not used: %v", err))
		return nil
	}
	s.Table, err = symbol.Rename(s.Table, names)
	return err
}

func (s *Set) place() error {
	if c := s.Table.Column(samples.CPU); c == nil || c.Kind != table.Number {
		return nil
	}
	rows, err := hw.PlaceRows(hw.NewPlacer(s.Topology), s.Table)
	if err != nil {
		return err
	}
	s.Places = rows
	s.Data.Placing = &query.Placing{Row: rows.Code, Count: len(rows.Coder.Places), Touching: rows.Coder.Touching}
	return nil
}

// PlaceCounts returns an answer about places in the form the topology is folded
// from.
func PlaceCounts(p *query.Places, layer query.Layer) []hw.Count {
	counts := make([]hw.Count, len(p.Counts[layer]))
	for i, n := range p.Counts[layer] {
		counts[i].Samples = n
		if p.Sums[layer] != nil {
			counts[i].Sum, counts[i].Squares, counts[i].Valued = p.Sums[layer][i], p.Squares[layer][i], p.Valued[layer][i]
		}
	}
	return counts
}
