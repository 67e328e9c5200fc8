package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/messages/logical"
	"github.com/isobath/isobath/internal/messages/trace"
	"github.com/isobath/isobath/internal/messages/whatif"
)

// stepsFlags are the flags of the verb steps.
type stepsFlags struct {
	logical.Options
	phases    string
	compare   string
	threshold time.Duration
	window    string
	top       int
	json, tsv bool
	ops, all  bool
	clusters  bool
	k         int
	part      int32
	profile   bool
	critical  bool
	whatif    []string
	clocks    string
	forms     findingsFlags
}

// stepsAnswer is the report of a trace with what its causes gain.
type stepsAnswer struct {
	*logical.Report
	*ranking
	predicted *whatif.Times // with changes; nil without
}

// ranking has another name than the report it is embedded beside.
type ranking whatif.Ranking

func newSteps() *cobra.Command {
	f := stepsFlags{Options: logical.Default()}
	cmd := &cobra.Command{
		Use:   "steps TRACE",
		Short: "Logical steps of a message-passing trace, how late each operation was, and why",
		Long: `Orders the operations of a message-passing trace (OTF2: NAME.otf2 or its folder)
by what had to happen before what, measures how late each one was against its
peers on other ranks, and follows every delay back to where it was injected.`,
		Args: exactlyOne("TRACE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), args[0])
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.Coalesce, "coalesce", true, "join neighbouring non-blocking sends into one operation")
	fl.BoolVar(&f.Waitall, "waitall", true, "merge the sends that complete in one call, and that call")
	fl.BoolVar(&f.Calls, "calls", false, "merge operations called from the same function")
	fl.BoolVar(&f.Leaps, "leaps", false, "merge until each leap holds all processes (bulk-synchronous programs)")
	fl.BoolVar(&f.Force, "force", false, "with --leaps: merge leaps that stay incomplete with the next")
	fl.Float64Var(&f.Ratio, "ratio", logical.DefaultRatio, "with --leaps: how much nearer the leap before must be to merge backwards")
	fl.BoolVar(&f.MergeGlobal, "merge-global", false, "merge partitions that share global steps")
	fl.BoolVar(&f.Reorder, "reorder", false, "put receives into an idealised order (needs --leaps, --phases or large partitions)")
	fl.StringVar(&f.phases, "phases", "", "where phases begin: functions (names or globs), step:N or time:1.5ms, comma-separated, or a `FILE` with one a line")
	fl.StringVar(&f.compare, "compare", "", "how this run differs from another `TRACE` of the same program")
	fl.DurationVar(&f.threshold, "threshold", 0, "what counts as late (default 500µs, less if no delay reaches it)")
	fl.StringVar(&f.window, "range", "", "only steps `A:B`, B not included")
	fl.IntVar(&f.top, "top", 10, "how many delays to list of each class")
	fl.BoolVar(&f.clusters, "clusters", false, "group processes whose lateness runs alike")
	fl.IntVar(&f.k, "k", 0, "with --clusters: how many groups (default: as the data says)")
	fl.Int32Var(&f.part, "partition", logical.None, "with --clusters: compare processes in this partition only")
	fl.BoolVar(&f.profile, "profile", false, "time by region, communication matrix, message sizes, waiting times")
	fl.BoolVar(&f.critical, "critical", false, "the critical path, by process and region")
	fl.StringArrayVar(&f.whatif, "whatif", nil, "what the run would take with this `CHANGE`; may be given several times (see `isobath guide`)")
	fl.StringVar(&f.clocks, "clocks", "repaired", "what to do with clocks that messages contradict: `repaired` or recorded")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	f.forms.add(cmd)
	fl.BoolVar(&f.ops, "ops", false, "with --json: every operation too")
	fl.BoolVar(&f.tsv, "tsv", false, "print every operation as tab-separated values, and nothing else")
	fl.BoolVar(&f.all, "all", false, "with --ops or --tsv: also computations between operations and waits for sends")
	return cmd
}

// exactlyOne wants one argument and says which.
func exactlyOne(name string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usagef("want one %s, got %d arguments", name, len(args))
		}
		return nil
	}
}

func (f *stepsFlags) run(ctx context.Context, w io.Writer, path string) error {
	if err := f.forms.check(f.json); err != nil {
		return err
	}
	if f.tsv {
		return f.writeTSV(ctx, term.Data(w), path)
	}
	g, s, clocks, err := f.open(ctx, path)
	if err != nil {
		return err
	}
	r, err := f.report(ctx, s)
	if err != nil {
		return err
	}
	if s.Len() == 0 && r.Profile == nil { // nothing to order, but functions have times
		r.AddProfile(g.Trace)
	}
	a, err := f.rank(ctx, g, s, r, clocks)
	if err != nil {
		return err
	}
	if f.json {
		return f.writeJSON(w, g, s, a)
	}
	if f.forms.format != "" {
		return f.forms.write(w, a.findings())
	}
	return printSteps(w, a)
}

// writeTSV writes the operations; what only causes need is not made.
func (f *stepsFlags) writeTSV(ctx context.Context, w io.Writer, path string) error {
	if err := f.checkClocks(); err != nil {
		return err
	}
	t, err := trace.Open(ctx, path)
	if err != nil {
		return err
	}
	if f.clocks == "repaired" {
		if t, err = whatif.RepairedTrace(ctx, t); err != nil {
			return err
		}
	}
	s, err := f.structure(ctx, t)
	if err != nil {
		return err
	}
	t.Release()
	return s.WriteTSV(w, f.all)
}

func (f *stepsFlags) checkClocks() error {
	if f.clocks != "repaired" && f.clocks != "recorded" {
		return usagef("--clocks %q: want repaired or recorded", f.clocks)
	}
	return nil
}

// open reads a trace and finds its graph and its structure, with repaired clocks
// unless the recorded ones are asked for. Both are made at once, for clocks that
// need a repair are rare: then the structure is made again.
func (f *stepsFlags) open(ctx context.Context, path string) (g *whatif.Graph, s *logical.Structure, clocks whatif.Clocks, err error) {
	if err := f.checkClocks(); err != nil {
		return nil, nil, clocks, err
	}
	t, err := trace.Open(ctx, path)
	if err != nil {
		return nil, nil, clocks, err
	}
	both := parallel.NewGroup(ctx)
	both.Go(func(ctx context.Context) (err error) {
		g, clocks, err = f.graph(ctx, t)
		return err
	})
	both.Go(func(ctx context.Context) (err error) {
		if s, err = f.structure(ctx, t); err == nil {
			s.Peers() // which the causes need, and which is kept
		}
		return err
	})
	if err := both.Wait(); err != nil {
		return nil, nil, clocks, err
	}
	if g.Trace != t {
		s, err = f.structure(ctx, g.Trace)
	}
	return g, s, clocks, err
}

func (f *stepsFlags) graph(ctx context.Context, t *trace.Trace) (*whatif.Graph, whatif.Clocks, error) {
	if f.clocks == "repaired" {
		return whatif.Repaired(ctx, t)
	}
	g, err := whatif.Build(ctx, t)
	if err != nil {
		return nil, whatif.Clocks{}, err
	}
	return g, g.Clocks(), nil
}

func (f *stepsFlags) structure(ctx context.Context, t *trace.Trace) (*logical.Structure, error) {
	o := f.Options
	if f.phases != "" {
		var err error
		if o.Phases, err = readPhases(ctx, t, f.phases, o); err != nil {
			return nil, err
		}
	}
	return logical.Analyze(ctx, t, o)
}

// rank orders the causes by what removing them gains, and makes the changes asked
// for.
func (f *stepsFlags) rank(ctx context.Context, g *whatif.Graph, s *logical.Structure, r *logical.Report, clocks whatif.Clocks) (*stepsAnswer, error) {
	if f.critical {
		g.AddCritical(r, f.top)
	}
	c, err := whatif.Rank(ctx, g, s, f.top)
	if err != nil {
		return nil, err
	}
	a := &stepsAnswer{Report: r, ranking: (*ranking)(c.Report(f.top, clocks))}
	if len(f.whatif) == 0 {
		return a, nil
	}
	scenario := c.NewScenario()
	for _, change := range f.whatif {
		if err := scenario.Apply(ctx, change); err != nil {
			return nil, usagef("--whatif %v", err)
		}
	}
	a.WhatIf, a.predicted = scenario.Predict()
	return a, nil
}

func (f *stepsFlags) report(ctx context.Context, s *logical.Structure) (*logical.Report, error) {
	o := logical.CauseOptions{Threshold: s.Trace.Ticks(f.threshold.Nanoseconds())}
	if o.Threshold <= 0 {
		o.Threshold = s.Threshold()
	}
	if f.window != "" {
		if n, err := fmt.Sscanf(f.window, "%d:%d", &o.From, &o.To); n != 2 || err != nil || o.From < 0 || o.To <= o.From {
			return nil, usagef("--range %q: want A:B with B above A, such as 0:30", f.window)
		}
	}
	c, err := s.Causes(ctx, o)
	if err != nil {
		return nil, err
	}
	r := s.NewReport(c, f.top)
	if f.profile {
		r.AddProfile(s.Trace)
	}
	if f.clusters {
		if err := r.AddClusters(ctx, s, logical.ClusterOptions{From: o.From, To: o.To, Part: f.part, K: f.k}); err != nil {
			return nil, err
		}
	}
	if f.compare != "" {
		r.Compare, err = f.against(ctx, s)
	}
	return r, err
}

// against compares the structure with that of the other trace, analysed with the
// same options.
func (f *stepsFlags) against(ctx context.Context, s *logical.Structure) (*logical.ReportCompare, error) {
	t, err := trace.Open(ctx, f.compare)
	if err != nil {
		return nil, err
	}
	other, err := f.structure(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.compare, err)
	}
	a, err := logical.Align(ctx, s, other)
	if err != nil {
		return nil, fmt.Errorf("--compare %s: %w", f.compare, err)
	}
	return a.Compare(f.compare, f.top), nil
}

// writeJSON streams the operations behind the report, which may be a million
// times larger.
func (f *stepsFlags) writeJSON(w io.Writer, g *whatif.Graph, s *logical.Structure, r *stepsAnswer) error {
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	if !f.ops {
		_, err = fmt.Fprintf(w, "%s\n", data)
		return err
	}
	if _, err := fmt.Fprintf(w, "%s,\n \"ops\": ", strings.TrimSuffix(string(data), "\n}")); err != nil {
		return err
	}
	added := []logical.OpColumn{g.SlackColumn(s)}
	if r.predicted != nil {
		added = append(added, r.predicted.Columns(s)...)
	}
	if err := s.WriteJSON(w, f.all, added...); err != nil {
		return err
	}
	_, err = io.WriteString(w, "\n}\n")
	return err
}

// readPhases finds where phases begin: spec is a file with one beginning a
// line, or the beginnings themselves.
func readPhases(ctx context.Context, t *trace.Trace, spec string, o logical.Options) ([][]int64, error) {
	text := spec
	if data, err := os.ReadFile(spec); err == nil {
		text = string(data)
	}
	phases, err := logical.Phases(ctx, t, text, o)
	if err != nil {
		return nil, fmt.Errorf("--phases %q: %w", spec, err)
	}
	return phases, nil
}

func printSteps(w io.Writer, r *stepsAnswer) error {
	p := &printer{w: w}
	signals := ""
	if r.Signals > 0 {
		signals = fmt.Sprintf(", %d signals of epochs, locks and neighbours", r.Signals)
	}
	p.line("%s, %s, %s, %s%s", term.Counted(r.Processes, "process"), term.Counted(r.Operations, "operation"), term.Counted(r.Messages, "message"), term.Counted(r.Collectives, "collective"), signals)
	p.line("%s, %s, %s", term.Counted(r.Partitions, "partition"), term.Counted(r.Steps, "step"), term.Duration(r.SpanNS))
	for _, e := range r.Patterns {
		p.wrapped("", fmt.Sprintf("%s: %s in %s", e.Name, term.Counted(e.Messages, "message"), term.Counted(e.Stages, "stage")))
	}
	for _, n := range r.Notes {
		p.wrapped("note: ", n)
	}
	for _, n := range r.Warnings {
		p.wrapped("warning: ", n)
	}
	lead := "coverage: "
	if r.Coverage.Low {
		lead = "warning: "
	}
	p.wrapped(lead, r.Coverage.Text)
	if r.WhatIf != nil {
		p.whatIf(r.WhatIf)
		return p.err
	}
	p.gains(r)
	p.causes(r.Report)
	if r.Compare != nil {
		p.line("")
		p.compare(r.Compare)
	}
	p.critical(r.Critical)
	p.clusters(r.Clusters)
	p.profile(r.Profile)
	return p.err
}

// printer writes lines of at most 80 columns and remembers the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// wrapped breaks a sentence between words.
func (p *printer) wrapped(lead, text string) {
	const width = 80
	indent := strings.Repeat(" ", len(lead))
	at := lead
	for _, word := range strings.Fields(text) {
		if len(at) > len(indent) && len([]rune(at))+1+len([]rune(word)) > width {
			p.line("%s", at)
			at = indent
		}
		if len(strings.TrimSpace(at)) > 0 && !strings.HasSuffix(at, " ") {
			at += " "
		}
		at += word
	}
	p.line("%s", at)
}

// gains prints the ranking.
func (p *printer) gains(r *stepsAnswer) {
	p.line("")
	p.wrapped("", r.Run.Text)
	if r.Run.Slack != nil {
		p.wrapped("slack: ", r.Run.Slack.Text)
	}
	if len(r.Gains) == 0 && r.Operations > 0 {
		p.wrapped("", "nothing in this run took long enough beyond the usual that removing it alone would gain half a percent")
	}
	for _, g := range r.Gains {
		p.line("")
		head := fmt.Sprintf("≈ −%.1f %% run time (%s of %s)", 100*g.Gain, term.Duration(g.GainNS), term.Duration(r.Run.Span))
		if g.GainNS == 0 {
			head = "no gain in run time alone"
		}
		if g.WaitingNS != 0 {
			head += ", " + term.Change(g.Waiting) + " waiting"
		}
		p.line("%3d  %s", g.Rank, head)
		p.wrapped("     ", g.Text)
		if g.LimitedBy != nil {
			then := g.LimitedBy.Text
			if n := g.LimitedBy.Rank; n <= len(r.Gains) {
				then += fmt.Sprintf(" (%d)", n)
			}
			p.wrapped("     ", "then: "+then)
		}
	}
	if n := len(r.Then); n > 1 {
		p.line("")
		p.wrapped("     ", fmt.Sprintf("%s: ≈ −%.1f %%", r.Then[n-1].Text, 100*r.Then[n-1].Gain))
	}
	if r.Closing != nil {
		p.line("")
		p.wrapped("     ", r.Closing.Text)
	}
}

// whatIf prints the comparison with a changed run.
func (p *printer) whatIf(r *whatif.ReportWhatIf) {
	p.line("")
	p.wrapped("", r.Text)
	for _, a := range r.Assumptions {
		p.wrapped("assumed: ", a)
	}
}

func (p *printer) causes(r *logical.Report) {
	if r.Late == 0 {
		return
	}
	p.line("")
	p.line("%s late by %s or more: %d by computation, %d by messages,", term.Counted(r.Late, "operation"), term.Duration(r.Threshold), r.Cases.Compute, r.Cases.Message)
	p.line("%d by calls, %d inherited by message, %d inherited in the process", r.Cases.Call, r.Cases.FromSender, r.Cases.FromProcess)
	if n := r.Cases.AlsoSlow; n > 0 {
		p.wrapped("", fmt.Sprintf("of those not by computation %d follow one that took %s or more beyond the usual too", n, term.Duration(r.Threshold)))
	}
}

func (p *printer) compare(c *logical.ReportCompare) {
	p.wrapped("", fmt.Sprintf("against %s: %s in pairs, %d only here, %d only there", c.With, term.Counted(c.Matched, "operation"), c.OnlyHere, c.OnlyThere))
	if c.Moved > 0 {
		p.line("%s at different steps", term.Counted(c.Moved, "pair"))
	}
	p.line("the run takes %s, computing %s, calls %s, lateness %s", signed(c.Span), signed(c.Compute), signed(c.Calls), signed(c.Lateness))
	for i, e := range c.Top {
		p.line("")
		p.line("%3d  %-10s %s", i+1, signed(e.Amount), e.Kind)
		p.wrapped("     ", e.Text)
	}
}

// signed prints a difference.
func signed(ns int64) string {
	if ns < 0 {
		return "-" + term.Duration(-ns)
	}
	return "+" + term.Duration(ns)
}

func (p *printer) critical(c *logical.ReportCritical) {
	if c == nil {
		return
	}
	p.line("")
	p.line("critical path: %s, %s of it computation, %s in calls", term.Duration(c.Length), term.Duration(c.Compute), term.Duration(c.Calls))
	for _, e := range c.Processes {
		p.line("  %-10s %5.1f %%  rank %d", term.Duration(e.Time), 100*e.Share, *e.Process)
	}
	for _, e := range c.Regions {
		p.line("  %-10s %5.1f %%  %s in %s", term.Duration(e.Time), 100*e.Share, e.Kind, e.Region)
	}
}

func (p *printer) clusters(c *logical.ReportClusters) {
	if c == nil {
		return
	}
	p.line("")
	p.line("%s of processes, separation %.2f", term.Counted(len(c.List), "group"), c.Silhouette)
	for _, l := range c.List {
		p.line("  %5d processes like rank %d, %s late on average, spread %s", l.Size, l.Medoid, term.Duration(l.Mean), term.Duration(l.Spread))
		p.wrapped("        ", ranges(l.Members))
	}
}

// ranges prints sorted numbers as 0-3, 7, 9-12.
func ranges(v []int32) string {
	var parts []string
	for i := 0; i < len(v); {
		j := i
		for j+1 < len(v) && v[j+1] == v[j]+1 {
			j++
		}
		if i == j {
			parts = append(parts, fmt.Sprint(v[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", v[i], v[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}

func (p *printer) profile(r *logical.ReportProfile) {
	if r == nil {
		return
	}
	p.line("")
	p.line("late senders cost %s, late receivers %s, waiting in collectives %s", term.Duration(r.Waits.LateSender),
		term.Duration(r.Waits.LateReceiver), term.Duration(r.Waits.Collective))
	p.line("")
	p.line("%-32s %9s %11s %11s %11s", "region", "calls", "exclusive", "least", "most")
	for _, g := range r.Regions {
		p.line("%-32s %9d %11s %11s %11s", term.ClipEnd(g.Name, 32), g.Calls, term.Duration(g.Exclusive), term.Duration(g.Least), term.Duration(g.Most))
	}
	p.line("")
	p.line("%-32s %9s %11s", "message size in bytes", "messages", "bytes")
	for _, b := range r.Sizes {
		p.line("%-32s %9d %11d", fmt.Sprintf("%d to %d", b.From, b.To-1), b.Messages, b.Bytes)
	}
	p.line("")
	p.line("%s of processes that communicate; --json lists them", term.Counted(len(r.Matrix), "pair"))
}
