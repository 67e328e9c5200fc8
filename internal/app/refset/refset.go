// Package refset opens a trace of every memory reference for questions about
// locality: which references to look at, what is known of their objects, and the
// machines they are replayed on.
package refset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/reftable"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/kernel"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/locality/layout"
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/loops/tree"
	"github.com/isobath/isobath/internal/machine/hw"
	"github.com/isobath/isobath/internal/machine/hw/sysfs"
)

// Options say which references to look at, and with what knowledge.
type Options struct {
	From, To uint64 // records of the file; To 0 is the end
	Thread   *uint32
	Where    string // selection over the table of a run
	Binary   string // the program; empty: the one a run was recorded from, if it is still there
	Objects  string // file that says what objects are
	Stdin    io.Reader
}

// Set is an opened trace.
type Set struct {
	Table   *layout.Table
	Records uint64 // read so far
	Notes   []string

	path    string
	again   func() (*tree.File, error) // opens a trace that has no path once more; nil for others
	machine string                     // where no other is asked for; empty: that of the run, or this one
	src     refs.Reader
	opt     Options
	rows    table.Bits // of Where; nil is all
	loops   *loops     // nil unless they are asked for
	lines   *symbol.Program
	places  map[uint64]uint32 // of a program given beside a trace without lines
}

// ErrNoReferences is returned for a trace, or a part of it, that is empty.
var ErrNoReferences = errors.New("the trace has no data references")

// Open opens a trace. The caller closes it.
func Open(ctx context.Context, path string, opt Options) (*Set, error) {
	src, format, err := formats.OpenRefs(path, opt.Stdin)
	if err != nil {
		return nil, err
	}
	s := &Set{path: path, src: src, opt: opt, places: map[uint64]uint32{}}
	if err := s.prepare(ctx, format); err != nil {
		src.Close()
		return nil, err
	}
	return s, nil
}

// Known makes a set of a trace whose objects are known, and which is looked at
// on a machine unless another is asked for; again opens it for its loops. The caller
// closes it.
func Known(src refs.Reader, objects []layout.Object, machine string, again func() (*tree.File, error)) *Set {
	return &Set{src: src, machine: machine, again: again, places: map[uint64]uint32{}, Table: layout.NewTable(src.About(), layout.Declared(objects), nil)}
}

func (s *Set) prepare(ctx context.Context, format string) error {
	given, err := s.given()
	if err != nil {
		return err
	}
	given = s.withTypes(given)
	if err := s.openProgram(format); err != nil {
		return err
	}
	s.Table = layout.NewTable(s.src.About(), given, s.lines)
	return s.choose(ctx)
}

// Close closes the files of the trace.
func (s *Set) Close() error {
	if s.lines != nil {
		s.lines.Close()
	}
	return s.src.Close()
}

// About is what the trace says of itself.
func (s *Set) About() *refs.About { return s.src.About() }

func (s *Set) given() (*layout.Given, error) {
	if s.opt.Objects == "" {
		return nil, nil
	}
	f, err := os.Open(s.opt.Objects)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	g, err := layout.ReadGiven(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.opt.Objects, err)
	}
	return g, nil
}

// withTypes adds the types that the run keeps of its objects, unless a program is
// given. Types that cannot be read are a note: the references are worth more.
func (s *Set) withTypes(given *layout.Given) *layout.Given {
	if s.opt.Binary != "" || !run.IsRun(s.path) {
		return given
	}
	r, err := run.Open(s.path)
	if err != nil {
		return given // whoever reads the references says so
	}
	defer r.Close()
	if r.Types == nil {
		return given
	}
	with, err := given.WithTypes(r.Types)
	if err != nil {
		s.Notes = append(s.Notes, fmt.Sprintf("types of objects that the run keeps cannot be read: %v; --binary EXE gives them", err))
	}
	return with
}

// AddTypes gives a run of references what its program tells about the types of its
// objects. A program without debug information tells nothing.
func AddTypes(r *run.Run, objects []refs.Object, program string) error {
	p, err := symbol.OpenProgram(program, symbol.BiasesOf(r.Format)...)
	if err != nil {
		return err
	}
	defer p.Close()
	if typed := layout.Typed(objects, p); len(typed) > 0 {
		r.Types, err = layout.Keep(typed)
	}
	return err
}

// openProgram opens the program for objects and types. One that a run merely
// remembers may be gone or changed: then nothing is known, and nothing is said.
func (s *Set) openProgram(format string) error {
	path, asked := s.opt.Binary, s.opt.Binary != ""
	if !asked && run.IsRun(s.path) {
		path = s.recordedProgram()
	}
	if path == "" {
		return nil
	}
	p, err := symbol.OpenProgram(path, symbol.BiasesOf(format)...)
	if err != nil {
		if asked {
			return err
		}
		return nil
	}
	s.lines = p
	return nil
}

// recordedProgram is the program of a run, if the file is not younger than the
// run.
func (s *Set) recordedProgram() string {
	r, err := run.Open(s.path)
	if err != nil {
		return ""
	}
	defer r.Close()
	if len(r.Origin.Command) == 0 || !strings.Contains(r.Origin.Command[0], "/") {
		return ""
	}
	info, err := os.Stat(r.Origin.Command[0])
	if err != nil || info.IsDir() || info.ModTime().After(r.Imported.Add(1e9)) {
		return ""
	}
	return r.Origin.Command[0]
}

// Command is what a run was recorded from; nil if that is not known.
func (s *Set) Command() []string {
	if !run.IsRun(s.path) {
		return nil
	}
	r, err := run.Open(s.path)
	if err != nil {
		return nil
	}
	defer r.Close()
	return r.Origin.Command
}

// choose finds the rows that a selection means.
func (s *Set) choose(ctx context.Context) error {
	if s.opt.Where == "" {
		return nil
	}
	if !run.IsRun(s.path) {
		return fmt.Errorf("--where needs the columns of a run; make one with 'isobath import %s -o NAME.isobath'", s.path)
	}
	r, err := run.Open(s.path)
	if err != nil {
		return err
	}
	defer r.Close()
	t := r.Table(reftable.Name)
	x, err := query.Parse(s.opt.Where, t)
	if err != nil {
		return err
	}
	engine := kernel.New(query.Data{Table: t}, kernel.Options{Budget: budget.Of(ctx)})
	defer engine.Close()
	rows, err := engine.Select(ctx, x)
	if err == nil {
		s.rows = append(table.Bits{}, rows...)
	}
	return err
}

// Each visits the chosen references in batches, once. Where the trace has no
// source lines and a program is given, its lines are filled in.
func (s *Set) Each(ctx context.Context, visit func([]refs.Ref) error) error {
	seen := uint64(0)
	err := refs.Each(s.src, func(batch []refs.Ref) error {
		kept := s.keep(batch)
		if len(kept) > 0 {
			seen += uint64(len(kept))
			if err := visit(kept); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	s.Table.Finish()
	s.Notes = append(s.Notes, s.src.About().Notes...)
	if err == nil && seen == 0 {
		return ErrNoReferences
	}
	return err
}

// keep filters a batch in place, and adds the places that the program knows.
func (s *Set) keep(batch []refs.Ref) []refs.Ref {
	kept := batch
	if s.loops != nil || s.opt.From > 0 || s.opt.To > 0 || s.opt.Thread != nil || s.rows != nil {
		kept = s.filter(batch)
	} else {
		s.Records += uint64(len(batch))
	}
	if s.lines == nil {
		return kept
	}
	for i := range kept {
		if r := &kept[i]; r.Place == 0 && r.PC != 0 {
			r.Place = s.place(r.PC)
		}
	}
	return kept
}

func (s *Set) filter(batch []refs.Ref) []refs.Ref {
	if s.loops != nil {
		s.loops.begin()
	}
	kept := batch[:0]
	for i := range batch {
		r := &batch[i]
		chosen := s.chosen(s.Records, r)
		s.Records++
		if s.loops != nil {
			s.loops.keep(chosen)
		}
		if chosen {
			kept = append(kept, *r)
		}
	}
	return kept
}

// chosen says that the options leave a record.
func (s *Set) chosen(at uint64, r *refs.Ref) bool {
	switch {
	case at < s.opt.From || s.opt.To > 0 && at >= s.opt.To:
	case s.opt.Thread != nil && r.Thread != *s.opt.Thread:
	case s.rows != nil && (at>>6 >= uint64(len(s.rows)) || !s.rows.Get(int(at))):
	default:
		return true
	}
	return false
}

// place looks an instruction up in the program.
func (s *Set) place(pc uint64) uint32 {
	id, ok := s.places[pc]
	if ok {
		return id
	}
	file, line, function := s.lines.Line(pc)
	if p := (refs.Place{Function: function, File: file, Line: line}); p != (refs.Place{}) {
		about := s.src.About()
		if len(about.Places) == 0 {
			about.Places = []refs.Place{{}}
		}
		id = uint32(len(about.Places))
		about.Places = append(about.Places, p)
		about.Has |= refs.HasPlace
	}
	s.places[pc] = id
	return id
}

// localMachine is the name of this machine.
const localMachine = "local"

// Machine finds a machine: a preset, a hardware description, a run with one, or
// this machine. An empty name is the machine of the trace's run, or this one.
func (s *Set) Machine(name, set string) (*platform.Machine, error) {
	if name == "" {
		name = s.machine
	}
	if name == "" {
		name = localMachine
		if run.IsRun(s.path) {
			if r, err := run.Open(s.path); err == nil {
				if len(r.TopologyData) > 0 {
					name = s.path
				}
				r.Close()
			}
		}
	}
	return findMachine(name, set)
}

// findMachine is Machine without a trace.
func findMachine(name, set string) (*platform.Machine, error) {
	m, ok := platform.Preset(strings.ToLower(name))
	if !ok {
		t, err := topology(name)
		if err != nil {
			return nil, err
		}
		if m, err = platform.FromTopology(t); err != nil {
			return nil, err
		}
	}
	if set != "" {
		if err := m.Set(set); err != nil {
			return nil, err
		}
	}
	return m, m.Check()
}

func topology(name string) (*hw.Topology, error) {
	if name == localMachine {
		return sysfs.Local()
	}
	if run.IsRun(name) {
		r, err := run.Open(name)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		if len(r.TopologyData) == 0 {
			return nil, fmt.Errorf("%s has no hardware description", name)
		}
		return formats.ReadTopology(r.TopologyData)
	}
	t, err := formats.OpenTopology(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("machine %q is no file and none of %s, %s", name, localMachine, strings.Join(platform.Presets(), ", "))
	}
	return t, err
}
