// Package memory answers what pages and scripts ask about memory samples:
// histograms and densities, groups, the topology, guided analysis, command
// search, and what addresses and instructions mean.
package memory

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/code/datasrc"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/clickhouse"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/machine/hw"
	"github.com/isobath/isobath/internal/memory/allocated"
	"github.com/isobath/isobath/internal/memory/assembly"
	"github.com/isobath/isobath/internal/memory/cacheline"
	"github.com/isobath/isobath/internal/memory/command"
	"github.com/isobath/isobath/internal/memory/guide"
	"github.com/isobath/isobath/internal/memory/profile"
)

// Name is what the kind is called.
const Name = "memory"

// Samples is the samples of a run.
type Samples struct {
	Run *frame.Run

	// Data and Engine answer questions.
	Data   query.Data
	Engine query.Engine
	// Manifest is what the run says about itself.
	Manifest *run.Manifest
	// Places is how samples lie on the topology; nil if they do not.
	Places   *hw.Rows
	Topology *hw.Topology

	// Code is the machine code of the functions in which samples are; nil if it
	// was not kept.
	Code *table.Table
	// Gaps are the stretches in which samples were lost or throttled, Touches the
	// page faults; nil where none were recorded.
	Gaps, Touches *table.Table
	// Allocations is what each place of the program allocated; nil if nobody knows.
	Allocations *table.Table
	// Names are the sentences that name objects after the fact; SaveNames keeps
	// other ones, and is nil where nothing can be kept.
	Names     string
	SaveNames func(string) error

	pair *pair // the runs that these samples are of; nil for one
	// members are the runs of a side that these samples are of; nil for one.
	members []Member

	columns atomic.Pointer[[]frame.ColumnInfo] // see describe

	showingOnce sync.Once
	showing     *shown // see shown

	guided sync.Once
	guide  *guide.Guide // see guideTo

	searched  sync.Once
	searcher  *command.Searcher                  // see searchIn
	proposals atomic.Pointer[[]command.Proposal] // see worth
}

// Of returns the samples of a run; nil if it has none.
func Of(r *frame.Run) *Samples { return frame.PartOf[*Samples](r) }

// Kind implements frame.Part.
func (s *Samples) Kind() string { return Name }

// Rows implements frame.Part.
func (s *Samples) Rows() int { return s.Data.Table.Rows() }

// Close implements frame.Part: the run's files are the table's, what is remembered
// of its guide goes back to the budget.
func (s *Samples) Close() {
	if s.guide != nil {
		s.guide.Close()
	}
}

func (s *Samples) String() string {
	return term.Counted(s.Rows(), "sample") + ", " + term.Counted(len(s.Data.Table.Columns()), "column")
}

// SourceNames returns the files that samples name.
func (s *Samples) SourceNames() []string {
	if c := s.Data.Table.Column("file"); c != nil {
		return c.Dict
	}
	return nil
}

// CheckSelection refuses a selection that cannot be read.
func (s *Samples) CheckSelection(where string) error {
	_, _, err := s.parse("", where)
	return err
}

// Tell implements frame.Part.
func (s *Samples) Tell(ctx context.Context, info *frame.Info) error {
	columns, err := s.describe(ctx)
	if err != nil {
		return err
	}
	info.Columns = frame.List(columns)
	info.Topology = s.topology()
	info.Gaps = s.Gaps != nil || s.Data.Table.Column("counting") != nil
	info.Touches = s.Touches != nil
	info.Allocations = s.Allocations != nil
	if p := s.pair; p != nil {
		info.Pair = &frame.Pair{A: p.a, B: p.b, Unlike: frame.List(p.unlike), Allowance: p.allowance, Apart: p.apart, Beside: p.beside, Each: p.each}
	}
	if cycles, ok := datasrc.AssumedL1(s.Data.Table); ok {
		info.L1Latency = &cycles
	}
	return nil
}

// topology lists the resources in the order of the answers' columns.
func (s *Samples) topology() *frame.Topology {
	if s.Topology == nil {
		return nil
	}
	resources := s.Topology.Resources
	if s.Places != nil {
		resources = s.Places.Coder.Placer.Resources
	}
	shown := s.shown()
	t := &frame.Topology{Resources: make([]frame.Resource, len(shown.resources)), Levels: []frame.Level{}, Without: []string{}}
	for _, k := range shown.without {
		t.Without = append(t.Without, k.String())
	}
	for i, n := range pick(shown, resources) {
		label := n.ShortName()
		if n.Model != "" {
			label = n.Model
		}
		t.Resources[i] = frame.Resource{
			Name: n.ID, Type: n.Kind.String(), ID: n.Number, Label: label, Parent: shown.parent(n.Parent),
			Size: int64(n.Size), CPUs: len(n.CPUs), Aside: n.Aside, Blocked: n.Blocked, Virtual: n.Virtual, Note: n.Note,
		}
	}
	for _, l := range s.Topology.Summary().Levels {
		if !slices.Contains(t.Without, l.Type) {
			t.Levels = append(t.Levels, frame.Level(l))
		}
	}
	return t
}

// Kind is memory samples as the server knows them.
type Kind struct{}

// Name implements frame.Kind.
func (Kind) Name() string { return Name }

// routes answer through a frame.
type routes struct{ *frame.Frame }

func noSamples(r *frame.Run) error {
	return frame.BadRequest("%s holds %s, which has no samples to ask about", r.Name, r.Kind)
}

// Routes implements frame.Kind.
func (Kind) Routes(f *frame.Frame) []frame.Route {
	s := routes{f}
	of := func(f func(http.ResponseWriter, *http.Request, *Samples) error) func(http.ResponseWriter, *http.Request, *frame.Run) error {
		return frame.OfPart(noSamples, f)
	}
	// What looks at single rows needs them here.
	here := func(f func(http.ResponseWriter, *http.Request, *Samples) error) func(http.ResponseWriter, *http.Request, *frame.Run) error {
		return of(func(w http.ResponseWriter, r *http.Request, run *Samples) error {
			if run.Data.Table.Elsewhere() {
				return clickhouse.ErrElsewhere
			}
			return f(w, r, run)
		})
	}
	return []frame.Route{
		{Method: "POST", Path: "runs/{id}/ask", Access: frame.Viewer, Does: "histograms, densities, groups, statistics, topology and rows of a selection", Command: "isobath report",
			Takes: Ask{}, Answers: Answer{}, Type: frame.TypeColumns, OfRun: of(s.ask)},
		{Method: "POST", Path: "runs/{id}/prepare", Access: frame.Viewer, Does: "gets ready for a brush that is about to be dragged; answers when it is",
			Takes: Prepare{}, OfRun: of(s.prepare)},
		{Method: "GET", Path: "runs/{id}/rows.csv", Access: frame.Viewer, Does: "the selected rows", Command: "isobath export", Query: []string{"filter", "where", "columns"},
			Type: frame.TypeCSV, OfRun: of(s.rows)},
		{Method: "GET", Path: "runs/{id}/guide", Access: frame.Viewer, Does: "what guided analysis can do with this run",
			Answers: guide.GuideInfo{}, OfRun: of(s.guideInfo)},
		{Method: "POST", Path: "runs/{id}/metrics", Access: frame.Viewer, Does: "a metric over windows of an axis", Command: "isobath metrics",
			Takes: guide.AskStrip{}, Answers: guide.StripAnswer{}, OfRun: of(s.strip)},
		{Method: "POST", Path: "runs/{id}/clusters", Access: frame.Viewer, Does: "neighbouring windows merged into phases", Command: "isobath clusters",
			Takes: guide.AskTree{}, Answers: guide.TreeAnswer{}, Watchable: true, OfRun: of(s.clusters)},
		{Method: "POST", Path: "runs/{id}/insights", Access: frame.Viewer, Does: "what is wrong with this run, ranked", Command: "isobath insights",
			Takes: guide.AskInsights{}, Answers: guide.InsightsAnswer{}, Watchable: true, OfRun: of(s.insights)},
		{Method: "POST", Path: "runs/{id}/search", Access: frame.Viewer, Does: "what a typed text may mean; also of runs without samples", Command: "isobath search",
			Takes: Search{}, Answers: Found{}, OfRun: s.search},
		{Method: "POST", Path: "runs/{id}/cachelines", Access: frame.Viewer, Does: "cache lines that threads share, most contended first", Command: "isobath report --by cacheline",
			Takes: AskLines{}, Answers: cacheline.CacheLines{}, OfRun: here(s.cachelines)},
		{Method: "POST", Path: "runs/{id}/spread", Access: frame.Viewer, Does: "how groups spread over levels and latencies", Command: "isobath report --spread",
			Takes: AskSpread{}, Answers: Spreads{}, OfRun: of(s.spread)},
		{Method: "POST", Path: "runs/{id}/heatmap", Access: frame.Viewer, Does: "samples over time and over the values of a column", Command: "isobath heatmap",
			Takes: AskHeatmap{}, Answers: Heatmap{}, Type: frame.TypeColumns, OfRun: here(s.heatmap)},
		{Method: "POST", Path: "runs/{id}/resources", Access: frame.Viewer, Does: "a measure of any column over the samples of each resource", Command: "isobath topology --by",
			Takes: AskResources{}, Answers: ResourceAmounts{}, Type: frame.TypeColumns, OfRun: here(s.resources)},
		{Method: "POST", Path: "runs/{id}/compare", Access: frame.Viewer, Does: "how another open run differs from this one, group by group, and whether that is chance", Command: "isobath diff",
			Takes: AskCompare{}, Answers: Compared{}, OfRun: of(s.compare)},
		{Method: "POST", Path: "runs/{id}/changes", Access: frame.Viewer, Does: "what changed between the runs of a pair, ranked", Command: "isobath diff",
			Takes: AskChanges{}, Answers: WhatChanged{}, OfRun: here(s.changes)},
		{Method: "GET", Path: "runs/{id}/matched", Access: frame.Viewer, Does: "which line of A each line of a source file of B was, in a pair", Command: "isobath diff --by line",
			Query: []string{"file"}, Answers: MatchedLines{}, OfRun: here(s.matched)},
		{Method: "POST", Path: "runs/{id}/calls", Access: frame.Viewer, Does: "who calls a function and what it calls", Command: "isobath callers",
			Takes: AskCalls{}, Answers: profile.Calls{}, OfRun: here(s.calls)},
		{Method: "POST", Path: "runs/{id}/calltree", Access: frame.Viewer, Does: "samples by the paths of their call stacks, or by those to and from a function", Command: "isobath callers --tree",
			Takes: AskCallTree{}, Answers: profile.CallTree{}, OfRun: here(s.callTree)},
		{Method: "GET", Path: "runs/{id}/speedscope", Access: frame.Viewer, Does: "the call stacks of the selected samples for speedscope", Command: "isobath export -o FILE.speedscope.json", Query: []string{"filter", "where"},
			Type: frame.TypeFile, OfRun: here(s.speedscope)},
		{Method: "POST", Path: "runs/{id}/assembly", Access: frame.Viewer, Does: "the machine code around a source line, with samples", Command: "isobath assembly",
			Takes: AskAssembly{}, Answers: assembly.Assembly{}, OfRun: here(s.assembly)},
		{Method: "GET", Path: "runs/{id}/gaps", Access: frame.Viewer, Does: "when samples are missing or stand for more than they count", Command: "isobath info",
			Answers: Gaps{}, OfRun: here(s.gaps)},
		{Method: "GET", Path: "runs/{id}/touches", Access: frame.Viewer, Does: "who touched the pages of each data object first", Command: "isobath report --touches",
			Answers: Touches{}, OfRun: here(s.touches)},
		{Method: "GET", Path: "runs/{id}/allocations", Access: frame.Viewer, Does: "what each place of the program allocates, how long that lives, and how much it is used", Command: "isobath report --allocations",
			Answers: allocated.Allocations{}, OfRun: here(s.allocations)},
		{Method: "GET", Path: "runs/{id}/names", Access: frame.Viewer, Does: "the sentences that say what objects are",
			Answers: ObjectNames{}, OfRun: of(s.names)},
		{Method: "GET", Path: "runs/{id}/why", Access: frame.Viewer, Does: "how the level of a sample was decided, by its row or the first of a selection", Command: "isobath why",
			Query: []string{"row", "where", "filter"}, Answers: Why{}, OfRun: here(s.why)},
	}
}
