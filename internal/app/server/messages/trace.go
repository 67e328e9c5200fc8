// Package messages answers what pages and scripts ask about message-passing
// traces: logical structure, lateness and its causes, timelines, and the samples
// of the same execution.
package messages

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/data/source"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/messages/logical"
	"github.com/isobath/isobath/internal/messages/timeline"
	"github.com/isobath/isobath/internal/messages/trace"
	"github.com/isobath/isobath/internal/messages/whatif"
)

// Trace is a message-passing trace and the analyses of it that were asked for
// last.
type Trace struct {
	*trace.Trace
	Run *frame.Run

	// link places samples of the same run in time; nil if there are none, or
	// they do not fit, and linkNote says why.
	link     *sampleLink
	linkNote string

	settling sync.Mutex // guards graph and slack; held while clocks are checked
	graph    *whatif.Graph
	clocks   whatif.Clocks
	slack    []int64 // of the computation before each call; nil before it is asked for, or unknown

	mu       sync.Mutex
	analyses []*analysis // newest first
}

// maxAnalyses is how many are kept: enough to go back and forth between two
// settings.
const maxAnalyses = 3

// Of returns the trace of a run; nil if it has none.
func Of(r *frame.Run) *Trace { return frame.PartOf[*Trace](r) }

// Kind implements frame.Part.
func (t *Trace) Kind() string { return frame.Messages }

// Rows implements frame.Part.
func (t *Trace) Rows() int { return len(t.Ops.Enter) }

func (t *Trace) String() string {
	return fmt.Sprintf("%s of %s", term.Counted(t.Rows(), "operation"), term.Counted(len(t.Procs), "process"))
}

// Tell implements frame.Part: the summary of the run says that there is a trace.
func (t *Trace) Tell(context.Context, *frame.Info) error { return nil }

// Close implements frame.Part: a large trace has files.
func (t *Trace) Close() { _ = t.Trace.Close() } // they have no names, and go with the program at the latest

// Join adds the trace of an archive to the run whose samples are of the same
// execution.
func Join(ctx context.Context, r *frame.Run, samples *table.Table, archive string) error {
	t, err := trace.Open(ctx, archive)
	if err != nil {
		return err
	}
	part := &Trace{Trace: t, Run: r}
	part.link, part.linkNote = linkSamples(samples, t)
	r.Warnings = append(slices.Clone(r.Warnings), t.Warnings...)
	r.Put(part)
	return nil
}

// Kind is message-passing traces as the server knows them.
type Kind struct{}

// Name implements frame.Kind.
func (Kind) Name() string { return frame.Messages }

// routes answer through a frame.
type routes struct{ *frame.Frame }

func noTrace(r *frame.Run) error {
	return frame.BadRequest("%s holds %s, not a message-passing trace", r.Name, r.Kind)
}

// Routes implements frame.Kind.
func (Kind) Routes(f *frame.Frame) []frame.Route {
	s := routes{f}
	of := func(f func(http.ResponseWriter, *http.Request, *Trace) error) func(http.ResponseWriter, *http.Request, *frame.Run) error {
		return frame.OfPart(noTrace, f)
	}
	return []frame.Route{
		{Method: "POST", Path: "runs/{id}/trace", Access: frame.Viewer, Does: "the report of a trace: structure, lateness and its causes", Command: "isobath steps",
			Takes: TraceAsk{}, Answers: TraceInfo{}, OfRun: of(s.traceInfo)},
		{Method: "POST", Path: "runs/{id}/trace/picture", Access: frame.Viewer, Does: "a window of logical steps or of time, and an overview",
			Takes: PictureAsk{}, Answers: PictureAnswer{}, Type: frame.TypeColumns, OfRun: of(s.picture)},
		{Method: "POST", Path: "runs/{id}/trace/operation", Access: frame.Viewer, Does: "one operation: its times, partners and causes", Command: "isobath steps --ops",
			Takes: OperationAsk{}, Answers: timeline.Operation{}, OfRun: of(s.operation)},
		{Method: "POST", Path: "runs/{id}/trace/report", Access: frame.Viewer, Does: "the report with every delay of a window", Command: "isobath steps",
			Takes: ReportAsk{}, Answers: logical.Report{}, OfRun: of(s.traceReport)},
		{Method: "POST", Path: "runs/{id}/trace/gains", Access: frame.Viewer, Does: "causes ranked by what removing them gains, and the run with changes", Command: "isobath steps --whatif",
			Takes: GainsAsk{}, Answers: GainsAnswer{}, OfRun: of(s.gains)},
		{Method: "POST", Path: "runs/{id}/trace/find", Access: frame.Viewer, Does: "the next operation that a text means", Command: "isobath steps --ops",
			Takes: FindAsk{}, Answers: FindAnswer{}, OfRun: of(s.find)},
		{Method: "POST", Path: "runs/{id}/trace/window", Access: frame.Viewer, Does: "calls, message sizes and waiting of a stretch of time",
			Takes: TraceWindowAsk{}, Answers: TraceWindow{}, OfRun: of(s.window)},
		{Method: "POST", Path: "runs/{id}/trace/samples", Access: frame.Viewer, Does: "how many samples fall into a window or an operation",
			Takes: SamplesAsk{}, Answers: SamplesAnswer{}, OfRun: of(s.traceSamples)},
	}
}

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

	ranking   sync.Mutex // one question about gains at a time
	ranked    *whatif.Causes
	report    *whatif.Ranking // of them
	predicted *prediction     // the newest
}

// maxCauses bounds the remembered searches for causes of an analysis.
const maxCauses = 8

// Open opens a message-passing trace as a run.
func Open(ctx context.Context, path, format string, sources []string) (*frame.Run, error) {
	t, err := trace.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(path)
	if name == "traces.otf2" { // what Score-P calls every archive; its folder has the name
		name = filepath.Base(filepath.Dir(path))
	}
	r := &frame.Run{
		ID: traceID(name, t), Name: name, Path: path, Kind: string(kind.Trace), Format: format,
		TopologyNote: "a message-passing trace has no hardware topology",
		Warnings:     t.Warnings, Origin: frame.Origin{Tool: t.Creator}, Sources: map[string]source.File{},
	}
	part := &Trace{Trace: t, Run: r}
	r.Put(part)
	folder := path
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		folder = filepath.Dir(path)
	}
	for name, m := range source.Find(part.SourceNames(), append(slices.Clone(sources), folder)) {
		r.Sources[name] = m.File
	}
	return r, nil
}

// SourceNames returns the source files that regions and calls are in, sorted.
func (t *Trace) SourceNames() []string {
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
	for i := 0; i < len(t.Ops.Enter); i += max(1, len(t.Ops.Enter)/frame.IdentityRows) {
		fmt.Fprintln(h, t.Ops.Enter[i], t.Ops.Exit[i], t.Ops.Kind[i])
	}
	return frame.Identity(name, h)
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
func (s routes) analyse(ctx context.Context, r *Trace, a TraceAsk) (*asked, error) {
	one, err := r.find(ctx, a.Options)
	if err != nil {
		return nil, err
	}
	o := logical.CauseOptions{Threshold: r.Ticks(a.Threshold), From: max(0, a.From), To: a.To}
	if o.Threshold <= 0 {
		o.Threshold = one.S.Threshold()
	}
	out := &asked{analysis: one}
	if a.Against == r.Run.ID {
		return nil, frame.BadRequest("a run is compared with another one, not with itself")
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
func (s routes) against(ctx context.Context, out *asked, a TraceAsk) error {
	other, release := s.Hold(a.Against)
	if other == nil {
		return frame.NotFound("open its file again", "no run %s is open to compare with", a.Against)
	}
	defer release()
	with := Of(other)
	if with == nil {
		return noTrace(other)
	}
	there, err := with.find(ctx, a.Options)
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
			return frame.BadRequest("%s and %s: %v", filepath.Base(one.S.Trace.Path), other.Name, err)
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
	g, err := t.settle(ctx)
	if err != nil {
		return nil, err
	}
	return a, a.make(ctx, g.Trace)
}

// settle finds out whether the clocks of the trace can be trusted and repairs
// them if messages contradict them, as `isobath steps` does. What is shown is the
// trace of the graph.
func (t *Trace) settle(ctx context.Context) (*whatif.Graph, error) {
	t.settling.Lock()
	defer t.settling.Unlock()
	if t.graph != nil {
		return t.graph, nil
	}
	g, clocks, err := whatif.Repaired(ctx, t.Trace)
	if err != nil {
		return nil, err
	}
	t.graph, t.clocks = g, clocks
	return g, nil
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
			return frame.WrongAsk(err)
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

func (s routes) traceInfo(w http.ResponseWriter, r *http.Request, run *Trace) error {
	var ask TraceAsk
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	a, err := s.analyse(r.Context(), run, ask)
	if err != nil {
		return err
	}
	t := run
	info := TraceInfo{
		Report: *a.S.NewReport(a.causes, topCauses), Options: defaultTraceOptions(), Processes: []TraceProcess{}, Names: []string{},
		Groups: trace.GroupNames, GroupOf: []int{}, Measures: []TraceMeasure{}, Threads: len(t.Threads), Linked: t.link != nil, LinkNote: t.linkNote,
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
	return s.Answer(w, r, info)
}

func (s routes) operation(w http.ResponseWriter, r *http.Request, run *Trace) error {
	var ask OperationAsk
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	a, err := s.analyse(r.Context(), run, ask.TraceAsk)
	if err != nil {
		return err
	}
	o, err := a.Operation(ask.Op, a.causes, a.versus)
	if err != nil {
		return frame.WrongAsk(err)
	}
	o.Slack = run.slackOf(a.S.CallOf(ask.Op))
	return s.Answer(w, r, o)
}

// slackOf is how much later the computation before a call could end, in ns; nil
// if that is not known. The trace is settled by now.
func (t *Trace) slackOf(call int32) *int64 {
	t.settling.Lock()
	defer t.settling.Unlock()
	if t.slack == nil {
		if t.slack = t.graph.Slack(); t.slack == nil {
			return nil
		}
	}
	ns := t.NS(t.slack[call])
	return &ns
}

func (s routes) traceReport(w http.ResponseWriter, r *http.Request, run *Trace) error {
	var ask ReportAsk
	if err := frame.ReadJSON(w, r, &ask); err != nil {
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
		run.graph.AddCritical(report, topCauses)
	}
	if ask.Clusters {
		if ask.K < 0 || ask.K > timeline.MaxClusters {
			return frame.BadRequest("k %d: want at most %d", ask.K, timeline.MaxClusters)
		}
		// Of the whole trace, as the rows in the order of clusters are.
		if err := report.AddClusters(r.Context(), a.S, logical.ClusterOptions{Part: logical.None, K: ask.K}); err != nil {
			return err
		}
	}
	return s.Answer(w, r, report)
}

func (s routes) picture(w http.ResponseWriter, r *http.Request, run *Trace) error {
	var ask PictureAsk
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	start := time.Now()
	a, err := s.analyse(r.Context(), run, ask.TraceAsk)
	if err != nil {
		return err
	}
	a.Settle(ask.Logical, ask.Physical)
	q := timeline.Ask{Metric: ask.Metric, Order: ask.Order, Origin: ask.Origin, Causes: a.causes, Versus: a.versus, Stacks: ask.Stacks}
	var col frame.Body
	var head PictureAnswer
	draw := func(window *timeline.Window, f func(context.Context, timeline.Ask) (*timeline.Picture, error)) (*TimelineAnswer, error) {
		if window == nil {
			return nil, nil
		}
		q.Window = *window
		p, err := f(r.Context(), q)
		if err != nil {
			return nil, frame.WrongAsk(err)
		}
		return timelineAnswer(&col, *window, p, a.Bands(p)), nil
	}
	if head.Logical, err = draw(ask.Logical, a.Steps); err != nil {
		return err
	}
	if head.Physical, err = draw(ask.Physical, a.Times); err != nil {
		return err
	}
	if len(ask.Changes) > 0 {
		p, err := a.predict(r.Context(), run, ask.Changes)
		if err != nil {
			return frame.WrongAsk(err)
		}
		if head.Ghost, err = p.draw(r.Context(), q, &ask, &col); err != nil {
			return err
		}
	}
	if head.Physical != nil && ask.Where != nil {
		if head.Physical.Marks, err = run.marks(r.Context(), &col, *ask.Where, a.Timeline, ask.Order, head.Physical); err != nil {
			return err
		}
	}
	if ask.Overview > 0 {
		o, err := a.Overview(r.Context(), ask.Metric, a.versus, min(ask.Overview, timeline.MaxColumns))
		if err != nil {
			return frame.WrongAsk(err)
		}
		head.Overview = &TimelineOverview{frame.Add(&col, o.Most), frame.Add(&col, o.Mean), frame.Add(&col, o.Op)}
	}
	head.Columns = frame.List(col.Refs)
	head.Took = frame.Since(start)
	return s.AnswerColumns(w, r, head, &col)
}

func timelineAnswer(c *frame.Body, w timeline.Window, p *timeline.Picture, bands [][4]uint32) *TimelineAnswer {
	t := &TimelineAnswer{Window: w, Rows: p.Rows, Lines: frame.List(p.Lines), Sent: p.Sent, Flow: frame.Add(c, p.Flow), Ribbon: frame.Add(c, p.Ribbon)}
	t.LineOf, t.Track = frame.Add(c, p.LineOf), frame.Add(c, p.Track)
	if k := p.Others; k != nil {
		t.Others = &TimelineOthers{Line: frame.Add(c, k.Line), Name: frame.Add(c, k.Name), Enter: frame.Add(c, k.Enter), Exit: frame.Add(c, k.Exit)}
	}
	if k := p.Stack; k != nil {
		t.Stack = &TimelineStack{Levels: k.Levels, Line: frame.Add(c, k.Line), Depth: frame.Add(c, k.Depth), Region: frame.Add(c, k.Region), Enter: frame.Add(c, k.Enter), Exit: frame.Add(c, k.Exit)}
	}
	if o := p.Ops; o != nil {
		flat := make([]uint32, 0, 4*len(bands))
		for _, b := range bands {
			flat = append(flat, b[:]...)
		}
		t.Ops = &TimelineOps{
			ID: frame.Add(c, o.ID), Line: frame.Add(c, o.Line), Step: frame.Add(c, o.Step), Part: frame.Add(c, o.Part), Kind: frame.Add(c, o.Kind), Name: frame.Add(c, o.Name),
			Value: frame.Add(c, o.Value), Before: frame.Add(c, o.Before), Began: frame.Add(c, o.Began), Enter: frame.Add(c, o.Enter), Exit: frame.Add(c, o.Exit),
			Reach: frame.Add(c, o.Reach), Bands: frame.Add(c, flat),
		}
	}
	if k := p.Cells; k != nil {
		t.Cells = &TimelineCells{Count: k.Columns, Most: frame.Add(c, k.Most), Mean: frame.Add(c, k.Mean), Op: frame.Add(c, k.Op), Part: frame.Add(c, k.Part), Name: frame.Add(c, k.Name)}
	}
	if m := p.Messages; m != nil {
		t.Messages = &TimelineMessages{
			From: frame.Add(c, m.From), To: frame.Add(c, m.To), FromLine: frame.Add(c, m.FromLine), ToLine: frame.Add(c, m.ToLine),
			FromStep: frame.Add(c, m.FromStep), ToStep: frame.Add(c, m.ToStep), FromExit: frame.Add(c, m.FromExit), ToExit: frame.Add(c, m.ToExit),
			Late: frame.Add(c, m.Late),
		}
	}
	return t
}
