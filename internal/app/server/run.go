package server

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/isobath/isobath/internal/code/datasrc"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/machine/hw"
	"github.com/isobath/isobath/internal/memory/command"
	"github.com/isobath/isobath/internal/memory/guide"
)

// Run is an open run as the server shows it.
type Run struct {
	// ID is a prefix of a hash of the content.
	ID, Name, Path, Kind, Format string

	// Data and Engine answer questions about samples; Engine is nil for runs
	// that have none.
	Data   query.Data
	Engine query.Engine
	// Places is how samples lie on the topology; nil if they do not, and
	// TopologyNote says why.
	Places       *hw.Rows
	Topology     *hw.Topology
	TopologyNote string

	// Sources maps the file names in the samples to files on disk, Texts to the
	// texts of those that are kept in memory.
	Sources map[string]string
	Texts   map[string][]byte

	// Trace is the message-passing trace of the run, Refs its reference trace;
	// nil if it has none.
	Trace *Trace
	Refs  *Refs
	// Mesh is the simulation's mesh, alone or with the samples of the run on it.
	Mesh *Mesh

	// Code is the machine code of the functions in which samples are; nil if it
	// was not kept.
	Code *table.Table
	// Gaps are the stretches in which samples were lost or throttled, Touches the
	// page faults; nil where none were recorded.
	Gaps, Touches *table.Table
	// Names are the sentences that name objects after the fact; SaveNames keeps
	// other ones, and is nil where nothing can be kept.
	Names     string
	SaveNames func(string) error

	Warnings, Caveats []string
	Origin            Origin

	// Foreign says that the run was made of a foreign file when it was opened,
	// Reading how that file was read.
	Foreign bool
	Reading Reading

	// Selections are kept by Save; nil keeps them only as long as the server
	// runs.
	Selections []NamedSelection
	Save       func([]NamedSelection) error
	SavedIn    string // where Save writes; empty: SavedInRun

	// Close releases the run's files.
	Close func() error

	describe sync.Once
	columns  []ColumnInfo
	idle     func() // ends what foresee began; nil if nothing did

	guided sync.Once
	guide  *guide.Guide // see guideTo

	searched  sync.Once
	searcher  *command.Searcher                  // see searchIn
	proposals atomic.Pointer[[]command.Proposal] // see worth

	mu      sync.RWMutex    // guards Selections, folders and Mesh
	folders []*sourceFolder // where users said that sources are

	use sync.RWMutex // held for reading by requests, for writing while closing
}

// Add shows a run. A run with the same content takes the place of the old one.
func (s *Server) Add(r *Run) {
	s.keepSelections(r)
	s.mu.Lock()
	i := slices.IndexFunc(s.runs, func(o *Run) bool { return o.ID == r.ID })
	var old *Run
	if i >= 0 {
		old, s.runs[i] = s.runs[i], r
	} else {
		s.runs = append(s.runs, r)
	}
	if len(s.runs) == 1 { // the one that is shown first
		r.idle = r.foresee()
	}
	link := s.linkTo
	if link != nil && r.onMesh() {
		s.linkTo = nil
	}
	s.mu.Unlock()
	if link != nil && r.onMesh() {
		if err := link(r); err != nil {
			s.opt.Log.Warn("no link to viewers", "err", err)
		}
	}
	if old != nil && old != r {
		old.close()
	}
	s.recent.add(r.Path, r.Name)
}

// close waits for requests under way, then releases the run.
func (r *Run) close() error {
	if m := r.mesh(); m != nil {
		m.unlink() // pages that follow it hold the run open
	}
	if r.idle != nil {
		r.idle()
	}
	r.use.Lock()
	defer r.use.Unlock()
	if r.Close == nil {
		return nil
	}
	return r.Close()
}

// handleRun adds a route about one run, {id} in the pattern. The run stays open
// until f returns.
func (s *Server) handleRun(mux *http.ServeMux, pattern string, f func(http.ResponseWriter, *http.Request, *Run) error) {
	s.handle(mux, pattern, s.withRun(f))
}

func (s *Server) withRun(f func(http.ResponseWriter, *http.Request, *Run) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		id := r.PathValue("id")
		s.mu.RLock()
		i := slices.IndexFunc(s.runs, func(o *Run) bool { return o.ID == id })
		if i < 0 {
			s.mu.RUnlock()
			return notFound("open its file again", "no run %s is open", id)
		}
		run := s.runs[i]
		run.use.RLock() // before s.mu is released, so that it cannot be closed between
		s.mu.RUnlock()
		defer run.use.RUnlock()
		return f(w, r, run)
	}
}

// shown returns an open run, or nil. It may be closed at any time.
func (s *Server) shown(id string) *Run {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if i := slices.IndexFunc(s.runs, func(o *Run) bool { return o.ID == id }); i >= 0 {
		return s.runs[i]
	}
	return nil
}

func (s *Server) runRoutes(mux *http.ServeMux) {
	s.handle(mux, "GET runs", s.home)
	s.handleRun(mux, "GET runs/{id}", func(w http.ResponseWriter, r *http.Request, run *Run) error {
		return s.answerJSON(w, r, http.StatusOK, run.info())
	})
	s.handle(mux, "DELETE runs/{id}", s.private(s.closeRun))
	s.handleRun(mux, "GET runs/{id}/selections", func(w http.ResponseWriter, r *http.Request, run *Run) error {
		return s.answerJSON(w, r, http.StatusOK, run.selections())
	})
	s.handleRun(mux, "PUT runs/{id}/selections", s.putSelections)
}

func (s *Server) home(w http.ResponseWriter, r *http.Request) error {
	h := Home{
		Version: s.opt.Version, Runs: []RunSummary{}, Jobs: s.jobs.list(), Recent: []Recent{},
		Record: s.opt.Record, Formats: list(s.opt.Formats), UploadLimit: s.opt.UploadLimit,
		Shared: s.opt.Shared,
	}
	if !s.opt.Shared { // the names of other files are nobody else's business
		h.Recent = s.recent.list()
	}
	s.mu.RLock()
	for _, run := range s.runs {
		h.Runs = append(h.Runs, run.summary())
	}
	s.mu.RUnlock()
	return s.answerJSON(w, r, http.StatusOK, h)
}

func (s *Server) closeRun(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	found, err := s.forget(id)
	switch {
	case !found:
		return notFound("", "no run %s is open", id)
	case err != nil:
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// forget closes a run; found is false if it is not open.
func (s *Server) forget(id string) (found bool, err error) {
	s.mu.Lock()
	i := slices.IndexFunc(s.runs, func(o *Run) bool { return o.ID == id })
	if i < 0 {
		s.mu.Unlock()
		return false, nil
	}
	run := s.runs[i]
	s.runs = slices.Delete(s.runs, i, i+1)
	s.mu.Unlock()
	return true, run.close()
}

func (r *Run) summary() RunSummary {
	s := RunSummary{ID: r.ID, Name: r.Name, Kind: r.Kind, Trace: r.Trace != nil}
	switch {
	case r.Data.Table != nil:
		s.Rows = r.Data.Table.Rows()
	case r.Trace != nil:
		s.Rows = len(r.Trace.Ops.Enter)
	case r.Refs != nil:
		s.Rows = int(r.Refs.records)
	case r.mesh() != nil:
		s.Rows = r.mesh().cells
	}
	return s
}

// Describe says in a line what a run holds; empty if it is not open.
func (s *Server) Describe(id string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, r := range s.runs {
		if r.ID == id {
			return r.String()
		}
	}
	return ""
}

// String says in a line what the run holds.
func (r *Run) String() string {
	t := r.Data.Table
	switch {
	case r.Trace != nil && t != nil:
		return fmt.Sprintf("%s: %s operations of %d processes, %s samples", r.Name, grouped(len(r.Trace.Ops.Enter)), len(r.Trace.Procs), grouped(t.Rows()))
	case r.Trace != nil:
		return fmt.Sprintf("%s: %s operations of %d processes", r.Name, grouped(len(r.Trace.Ops.Enter)), len(r.Trace.Procs))
	case r.Refs != nil:
		return fmt.Sprintf("%s: %s references", r.Name, grouped(int(r.Refs.records)))
	case t == nil && r.mesh() != nil:
		return fmt.Sprintf("%s: %s cells, %d dumps", r.Name, grouped(r.mesh().cells), len(r.mesh().Series.Steps))
	case t == nil:
		return r.Name + ": " + r.Kind
	}
	return fmt.Sprintf("%s: %s samples, %d columns", r.Name, grouped(t.Rows()), len(t.Columns()))
}

// grouped writes a count with its thousands apart: 15 676.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

func (r *Run) info() Info {
	r.describe.Do(func() { r.columns = describeColumns(context.Background(), r.Data.Table) })
	return Info{
		RunSummary: r.summary(), Path: r.Path, Format: r.Format, Columns: list(r.columns),
		Topology: r.topology(), TopologyNote: r.TopologyNote,
		Sources: r.sources(), Warnings: list(r.Warnings), Caveats: list(r.Caveats), Origin: r.origin(),
		Selections: r.selections(), Saved: r.Save != nil, SavedIn: r.savedIn(), Foreign: r.Foreign, L1Latency: r.assumedL1(), Mesh: r.mesh() != nil, Linked: r.mesh().linked() != nil,
		Gaps: r.Gaps != nil || r.Data.Table != nil && r.Data.Table.Column("counting") != nil, Touches: r.Touches != nil, Refs: r.Refs != nil,
	}
}

func (r *Run) savedIn() string {
	switch {
	case r.Save == nil:
		return ""
	case r.SavedIn == "":
		return SavedInRun
	}
	return r.SavedIn
}

// assumedL1 is the assumption behind the latencies; nil if there is none.
func (r *Run) assumedL1() *int {
	if r.Data.Table == nil {
		return nil
	}
	if cycles, ok := datasrc.AssumedL1(r.Data.Table); ok {
		return &cycles
	}
	return nil
}

func (r *Run) origin() Origin {
	o := r.Origin
	o.Command = list(o.Command)
	return o
}

// topology lists the resources in the order of the answers' columns.
func (r *Run) topology() *Topology {
	if r.Topology == nil {
		return nil
	}
	resources := r.Topology.Resources
	if r.Places != nil {
		resources = r.Places.Coder.Placer.Resources
	}
	t := &Topology{Resources: make([]Resource, len(resources)), Levels: []Level{}}
	for i, n := range resources {
		label := n.Name
		if n.Model != "" {
			label = n.Model
		}
		t.Resources[i] = Resource{
			Name: n.ID, Type: n.Kind.String(), ID: n.Number, Label: label, Parent: n.Parent,
			Size: int64(n.Size), CPUs: len(n.CPUs), Aside: n.Aside, Blocked: n.Blocked, Virtual: n.Virtual, Note: n.Note,
		}
	}
	for _, l := range r.Topology.Summary().Levels {
		t.Levels = append(t.Levels, Level(l))
	}
	return t
}

func (r *Run) selections() []NamedSelection {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return list(slices.Clone(r.Selections))
}

// maxSelections bounds what a run keeps.
const maxSelections = 1000

func (s *Server) putSelections(w http.ResponseWriter, r *http.Request, run *Run) error {
	var given []NamedSelection
	if err := readJSON(w, r, &given); err != nil {
		return err
	}
	if len(given) > maxSelections {
		return badRequest("a run keeps %d selections at most, not %d", maxSelections, len(given))
	}
	for i, n := range given {
		if n.Name == "" {
			return badRequest("selection %d has no name", i+1)
		}
		if slices.ContainsFunc(given[:i], func(o NamedSelection) bool { return o.Name == n.Name }) {
			return badRequest("two selections are called %q", n.Name)
		}
		if _, _, err := run.parse("", n.Where); err != nil {
			return err
		}
	}
	run.mu.Lock()
	defer run.mu.Unlock()
	if run.Save != nil {
		if err := run.Save(given); err != nil {
			return err
		}
	}
	run.Selections = given
	return s.answerJSON(w, r, http.StatusOK, list(given))
}
