package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/data/source"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/messages/logical"
	"github.com/isobath/isobath/internal/messages/timeline"
	"github.com/isobath/isobath/internal/messages/trace"
)

// Trace is a message-passing trace and the analyses of it that were asked for
// last.
type Trace struct {
	*trace.Trace

	// link places samples of the same run in time; nil if there are none, or
	// they do not fit, and linkNote says why.
	link     *sampleLink
	linkNote string

	mu       sync.Mutex
	analyses []*analysis // newest first
}

// maxAnalyses is how many are kept: enough to go back and forth between two
// settings.
const maxAnalyses = 3

// analysis is one way to order a trace. It is made once, by the first request
// for it; others wait.
type analysis struct {
	key     string
	options logical.Options
	phases  string

	made sync.Mutex
	*timeline.Timeline

	mu     sync.Mutex
	causes map[logical.CauseOptions]*logical.Causes
	versus *timeline.Versus // the newest
}

// maxCauses bounds the remembered searches for causes of an analysis.
const maxCauses = 8

func (s *Server) traceRoutes(mux *http.ServeMux) {
	s.handleRun(mux, "POST runs/{id}/trace", s.traceInfo)
	s.handleRun(mux, "POST runs/{id}/trace/picture", s.picture)
	s.handleRun(mux, "POST runs/{id}/trace/operation", s.operation)
	s.handleRun(mux, "POST runs/{id}/trace/report", s.traceReport)
	s.handleRun(mux, "POST runs/{id}/trace/samples", s.traceSamples)
}

// openTrace opens a message-passing trace as a run.
func openTrace(ctx context.Context, path string, f foreign.Format, sources []string) (*Run, error) {
	t, err := trace.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(path)
	if name == "traces.otf2" { // what Score-P calls every archive; its folder has the name
		name = filepath.Base(filepath.Dir(path))
	}
	r := &Run{
		ID: traceID(name, t), Name: name, Path: path, Kind: string(kind.Trace), Format: f.Name,
		TopologyNote: "a message-passing trace has no hardware topology",
		Warnings:     t.Warnings, Origin: Origin{Tool: t.Creator}, Trace: &Trace{Trace: t}, Sources: map[string]string{},
	}
	folder := path
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		folder = filepath.Dir(path)
	}
	for name, m := range source.Find(r.Trace.sourceNames(), append(slices.Clone(sources), folder)) {
		r.Sources[name] = m.File
	}
	return r, nil
}

// sourceNames returns the source files that regions and calls are in, sorted.
func (t *Trace) sourceNames() []string {
	names := map[string]bool{}
	for _, r := range t.Regions {
		names[r.File] = true
	}
	for _, s := range t.Sites {
		names[s.File] = true
	}
	delete(names, "")
	return slices.Sorted(maps.Keys(names))
}

// traceID names a trace by its content.
func traceID(name string, t *trace.Trace) string {
	h := sha256.New()
	fmt.Fprintln(h, len(t.Procs), t.Events, t.First, t.Last, len(t.Ops.Enter), len(t.Sends.Op))
	for i := 0; i < len(t.Ops.Enter); i += max(1, len(t.Ops.Enter)/idRows) {
		fmt.Fprintln(h, t.Ops.Enter[i], t.Ops.Exit[i], t.Ops.Kind[i])
	}
	return slug(name) + "-" + hex.EncodeToString(h.Sum(nil)[:4])
}

// asked is what a question is about: an analysis, its causes, and the run it is
// compared with, if any.
type asked struct {
	*analysis
	causes *logical.Causes
	versus *timeline.Versus
	with   string // name of the other run
}

// analyse returns what a question is about.
func (s *Server) analyse(ctx context.Context, r *Run, a TraceAsk) (*asked, error) {
	if r.Trace == nil {
		return nil, badRequest("%s holds %s, not a message-passing trace", r.Name, r.Kind)
	}
	one, err := r.Trace.find(ctx, a.Options)
	if err != nil {
		return nil, err
	}
	o := logical.CauseOptions{Threshold: r.Trace.Ticks(a.Threshold), From: max(0, a.From), To: a.To}
	if o.Threshold <= 0 {
		o.Threshold = one.S.Threshold()
	}
	out := &asked{analysis: one}
	if a.Against == r.ID {
		return nil, badRequest("a run is compared with another one, not with itself")
	}
	if out.causes, err = one.why(ctx, o); err != nil {
		return nil, err
	}
	if a.Against != "" {
		err = s.against(ctx, out, a)
	}
	return out, err
}

// against pairs the operations with those of another run that is open.
func (s *Server) against(ctx context.Context, out *asked, a TraceAsk) error {
	other := s.shown(a.Against)
	if other == nil || !other.use.TryRLock() { // waiting here could lock two runs that close against each other
		return notFound("open its file again", "no run %s is open to compare with", a.Against)
	}
	defer other.use.RUnlock()
	if other.Trace == nil {
		return badRequest("%s holds %s, not a message-passing trace", other.Name, other.Kind)
	}
	there, err := other.Trace.find(ctx, a.Options)
	if err != nil {
		return err
	}
	one := out.analysis
	one.made.Lock()
	defer one.made.Unlock()
	key := a.Against + " " + there.key
	if one.versus == nil || one.versus.Key != key {
		align, err := logical.Align(ctx, one.S, there.S)
		if err != nil {
			return badRequest("%s and %s: %v", filepath.Base(one.S.Trace.Path), other.Name, err)
		}
		one.versus = &timeline.Versus{Key: key, There: there.Timeline, Align: align}
	}
	out.versus, out.with = one.versus, other.Name
	return nil
}

func defaultTraceOptions() TraceOptions {
	d := logical.Default()
	return TraceOptions{Coalesce: d.Coalesce, Waitall: d.Waitall, Calls: d.Calls, Leaps: d.Leaps, Force: d.Force, Ratio: d.Ratio, MergeGlobal: d.MergeGlobal, Reorder: d.Reorder}
}

// find returns the analysis with these options, newest first in the list.
func (t *Trace) find(ctx context.Context, o *TraceOptions) (*analysis, error) {
	if o == nil {
		d := defaultTraceOptions()
		o = &d
	}
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	i := slices.IndexFunc(t.analyses, func(a *analysis) bool { return a.key == string(text) })
	var a *analysis
	if i >= 0 {
		a = t.analyses[i]
		t.analyses = slices.Delete(t.analyses, i, i+1)
	} else {
		l := logical.Default()
		l.Coalesce, l.Waitall, l.Calls, l.Leaps, l.Force, l.Ratio = o.Coalesce, o.Waitall, o.Calls, o.Leaps, o.Force, o.Ratio
		l.MergeGlobal, l.Reorder = o.MergeGlobal, o.Reorder
		a = &analysis{key: string(text), options: l, phases: o.Phases, causes: map[logical.CauseOptions]*logical.Causes{}}
	}
	t.analyses = slices.Insert(t.analyses, 0, a)
	t.analyses = t.analyses[:min(len(t.analyses), maxAnalyses)]
	t.mu.Unlock()
	return a, a.make(ctx, t.Trace)
}

// make analyses the trace unless that is done. A request that is taken back
// leaves it to the next.
func (a *analysis) make(ctx context.Context, t *trace.Trace) error {
	a.made.Lock()
	defer a.made.Unlock()
	if a.Timeline != nil {
		return nil
	}
	if a.phases != "" {
		phases, err := logical.Phases(ctx, t, a.phases, a.options)
		if err != nil {
			return wrongAsk(err)
		}
		a.options.Phases = phases
	}
	s, err := logical.Analyze(ctx, t, a.options)
	if err != nil {
		return err
	}
	a.Timeline = timeline.New(s)
	return nil
}

// why returns the causes of lateness.
func (a *analysis) why(ctx context.Context, o logical.CauseOptions) (*logical.Causes, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.causes[o]; c != nil {
		return c, nil
	}
	c, err := a.S.Causes(ctx, o)
	if err != nil {
		return nil, err
	}
	if len(a.causes) >= maxCauses {
		clear(a.causes)
	}
	a.causes[o] = c
	return c, nil
}

// topCauses is how many delays of each class the page lists.
const topCauses = 20

func (s *Server) traceInfo(w http.ResponseWriter, r *http.Request, run *Run) error {
	var ask TraceAsk
	if err := readJSON(w, r, &ask); err != nil {
		return err
	}
	a, err := s.analyse(r.Context(), run, ask)
	if err != nil {
		return err
	}
	t := run.Trace
	info := TraceInfo{
		Report: *a.S.NewReport(a.causes, topCauses), Options: defaultTraceOptions(), Processes: []TraceProcess{}, Names: []string{},
		Groups: trace.GroupNames, GroupOf: []int{}, Measures: []TraceMeasure{}, Linked: t.link != nil, LinkNote: t.linkNote,
	}
	if ask.Options != nil {
		info.Options = *ask.Options
	}
	if a.versus != nil {
		info.Report.Compare = a.versus.Align.Compare(a.with, topCauses)
	}
	for _, p := range t.Procs {
		info.Processes = append(info.Processes, TraceProcess{p.Rank, p.Name, p.Host})
	}
	for _, region := range t.Regions {
		info.Names, info.GroupOf = append(info.Names, region.Name), append(info.GroupOf, int(region.Group))
	}
	for _, m := range t.Measures {
		kind := [...]string{trace.Accumulated: "counter", trace.Absolute: "value", trace.Relative: "change"}[m.Kind]
		info.Measures = append(info.Measures, TraceMeasure{m.Name, m.Description, m.Unit, kind})
	}
	return s.answerJSON(w, r, http.StatusOK, info)
}

func (s *Server) operation(w http.ResponseWriter, r *http.Request, run *Run) error {
	var ask OperationAsk
	if err := readJSON(w, r, &ask); err != nil {
		return err
	}
	a, err := s.analyse(r.Context(), run, ask.TraceAsk)
	if err != nil {
		return err
	}
	o, err := a.Operation(ask.Op, a.causes, a.versus)
	if err != nil {
		return wrongAsk(err)
	}
	return s.answerJSON(w, r, http.StatusOK, o)
}

func (s *Server) traceReport(w http.ResponseWriter, r *http.Request, run *Run) error {
	var ask ReportAsk
	if err := readJSON(w, r, &ask); err != nil {
		return err
	}
	a, err := s.analyse(r.Context(), run, ask.TraceAsk)
	if err != nil {
		return err
	}
	report := a.S.NewReport(a.causes, 0)
	if ask.Profile {
		report.AddProfile(a.S.Trace)
	}
	if ask.Critical {
		report.AddCritical(a.S, topCauses)
	}
	if ask.Clusters {
		if ask.K < 0 || ask.K > timeline.MaxClusters {
			return badRequest("%d clusters: want at most %d", ask.K, timeline.MaxClusters)
		}
		// Of the whole trace, as the rows in the order of clusters are.
		if err := report.AddClusters(r.Context(), a.S, logical.ClusterOptions{Part: logical.None, K: ask.K}); err != nil {
			return err
		}
	}
	return s.answerJSON(w, r, http.StatusOK, report)
}

func (s *Server) picture(w http.ResponseWriter, r *http.Request, run *Run) error {
	var ask PictureAsk
	if err := readJSON(w, r, &ask); err != nil {
		return err
	}
	start := time.Now()
	a, err := s.analyse(r.Context(), run, ask.TraceAsk)
	if err != nil {
		return err
	}
	a.Settle(ask.Logical, ask.Physical)
	q := timeline.Ask{Metric: ask.Metric, Order: ask.Order, Origin: ask.Origin, Causes: a.causes, Versus: a.versus, Stacks: ask.Stacks}
	var col columns
	var head PictureAnswer
	draw := func(window *timeline.Window, f func(context.Context, timeline.Ask) (*timeline.Picture, error)) (*TimelineAnswer, error) {
		if window == nil {
			return nil, nil
		}
		q.Window = *window
		p, err := f(r.Context(), q)
		if err != nil {
			return nil, wrongAsk(err)
		}
		return timelineAnswer(&col, *window, p, a.Bands(p)), nil
	}
	if head.Logical, err = draw(ask.Logical, a.Steps); err != nil {
		return err
	}
	if head.Physical, err = draw(ask.Physical, a.Times); err != nil {
		return err
	}
	if head.Physical != nil && ask.Where != nil {
		if head.Physical.Marks, err = run.marks(r.Context(), &col, *ask.Where, a.Timeline, ask.Order, head.Physical); err != nil {
			return err
		}
	}
	if ask.Overview > 0 {
		o, err := a.Overview(r.Context(), ask.Metric, a.versus, min(ask.Overview, timeline.MaxColumns))
		if err != nil {
			return wrongAsk(err)
		}
		head.Overview = &TimelineOverview{add(&col, o.Most), add(&col, o.Mean), add(&col, o.Op)}
	}
	head.Columns = list(col.refs)
	head.Took = float64(time.Since(start).Microseconds()) / 1000
	body, err := message(head, col.body)
	if err != nil {
		return err
	}
	s.answerBytes(w, r, http.StatusOK, "application/vnd.isobath", body)
	return nil
}

func timelineAnswer(c *columns, w timeline.Window, p *timeline.Picture, bands [][4]uint32) *TimelineAnswer {
	t := &TimelineAnswer{Window: w, Rows: p.Rows, Lines: list(p.Lines), Sent: p.Sent, Flow: add(c, p.Flow), Ribbon: add(c, p.Ribbon)}
	if k := p.Stack; k != nil {
		t.Stack = &TimelineStack{Levels: k.Levels, Line: add(c, k.Line), Depth: add(c, k.Depth), Region: add(c, k.Region), Enter: add(c, k.Enter), Exit: add(c, k.Exit)}
	}
	if o := p.Ops; o != nil {
		flat := make([]uint32, 0, 4*len(bands))
		for _, b := range bands {
			flat = append(flat, b[:]...)
		}
		t.Ops = &TimelineOps{
			ID: add(c, o.ID), Line: add(c, o.Line), Step: add(c, o.Step), Part: add(c, o.Part), Kind: add(c, o.Kind), Name: add(c, o.Name),
			Value: add(c, o.Value), Before: add(c, o.Before), Began: add(c, o.Began), Enter: add(c, o.Enter), Exit: add(c, o.Exit),
			Reach: add(c, o.Reach), Bands: add(c, flat),
		}
	}
	if k := p.Cells; k != nil {
		t.Cells = &TimelineCells{Count: k.Columns, Most: add(c, k.Most), Mean: add(c, k.Mean), Op: add(c, k.Op), Part: add(c, k.Part), Name: add(c, k.Name)}
	}
	if m := p.Messages; m != nil {
		t.Messages = &TimelineMessages{
			From: add(c, m.From), To: add(c, m.To), FromLine: add(c, m.FromLine), ToLine: add(c, m.ToLine),
			FromStep: add(c, m.FromStep), ToStep: add(c, m.ToStep), FromExit: add(c, m.FromExit), ToExit: add(c, m.ToExit),
			Late: add(c, m.Late),
		}
	}
	return t
}
