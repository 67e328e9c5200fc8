package whatif

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/messages/logical"
)

// Ranking is what the causes and a change add to the report of a trace. Times
// are nanoseconds, shares fractions; everything but the recorded run is modelled.
type Ranking struct {
	Run      *RankedRun     `json:"run"`
	Coverage Coverage       `json:"coverage"`
	Gains    []ReportGain   `json:"gains"`
	Then     []ReportThen   `json:"then"`
	Closing  *ReportClosing `json:"closing,omitempty"`
	WhatIf   *ReportWhatIf  `json:"whatif,omitempty"`
}

// RankedRun is the recorded run as the replay sees it.
type RankedRun struct {
	Span        int64      `json:"span_ns"`
	Undisturbed int64      `json:"undisturbed_ns"` // 0 for traces of over a million calls
	Waiting     int64      `json:"waiting_ns"`
	Idle        int64      `json:"idle_ns"`
	Eager       int64      `json:"eager_bytes"`      // -1 if nothing tells
	Rendezvous  int64      `json:"rendezvous_bytes"` // the same
	Difference  int64      `json:"replay_difference_ns"`
	Efficiency  Efficiency `json:"efficiency"`
	Inferred    Inferred   `json:"inferred"`
	Replays     int        `json:"replays"`
	Text        string     `json:"text"`
	// Ready is what processes waited for a processor, which the span is without;
	// null if the recording does not say, or none waited.
	Ready *ReportReady `json:"ready"`
	// Slack is null where tasks may change hands, or nothing computes.
	Slack *ReportSlack `json:"slack"`
}

// ReportAmount is what the members of an entry took beyond the usual.
type ReportAmount struct {
	Sum    int64 `json:"sum_ns"`
	Median int64 `json:"median_ns"`
	P90    int64 `json:"p90_ns"`
	Max    int64 `json:"max_ns"`
	OnPath int64 `json:"on_path_ns"`
}

// ReportEvidence is what an entry rests on: the largest of its computations (or
// calls, or messages), and what is usual for it.
type ReportEvidence struct {
	Took       int64  `json:"took_ns"`
	Usual      int64  `json:"usual_ns"`
	ComparedTo string `json:"compared_to"`
	Ready      int64  `json:"ready_ns"` // what a computation besides waited for a processor
}

// ReportInstance is one member of an entry; Op is None if no operation belongs to
// its call.
type ReportInstance struct {
	Process int32 `json:"process"`
	Op      int32 `json:"op"`
	Step    int32 `json:"step"`
	Time    int64 `json:"time"` // enter of the call, after the trace's origin
	Amount  int64 `json:"amount_ns"`
	Took    int64 `json:"took_ns"`
	Ready   int64 `json:"ready_ns"` // what a computation besides waited for a processor
	// Slack is how much later a computation could end without delaying the run;
	// null for calls and messages, and where it is unknown.
	Slack *int64 `json:"slack_ns"`
}

// ReportLimit names an entry in short, in words that no other entry of the report
// has.
type ReportLimit struct {
	Rank      int     `json:"rank"`
	Kind      string  `json:"kind"`
	Operation string  `json:"operation,omitempty"`
	Region    string  `json:"region,omitempty"` // the function around the call
	File      string  `json:"file,omitempty"`
	Line      uint32  `json:"line,omitempty"`
	Processes []int32 `json:"processes"`
	Text      string  `json:"text"`
}

// ReportGain is an entry of the ranking.
type ReportGain struct {
	Rank        int              `json:"rank"`
	Kind        string           `json:"kind"`
	Class       string           `json:"class"`
	Operation   string           `json:"operation,omitempty"`
	Region      string           `json:"region,omitempty"` // the function around the call, in short
	Name        string           `json:"name,omitempty"`   // and in full
	File        string           `json:"file,omitempty"`
	Line        uint32           `json:"line,omitempty"`
	Processes   []int32          `json:"processes"`
	Count       int              `json:"count"`
	Steps       []int32          `json:"steps,omitempty"` // first and last
	Ops         []int32          `json:"ops"`
	Amount      ReportAmount     `json:"amount"`
	Evidence    ReportEvidence   `json:"evidence"`
	Instances   []ReportInstance `json:"instances"`
	GainNS      int64            `json:"gain_ns"`
	Gain        float64          `json:"gain"`
	Exact       bool             `json:"replayed"`
	Undisturbed int64            `json:"undisturbed_gain_ns"`
	After       []int            `json:"gains_after,omitempty"` // entries that must be gone before this one gains
	WaitingNS   int64            `json:"waiting_ns"`
	Waiting     float64          `json:"waiting"`
	Helped      int              `json:"ranks_waiting_less"`
	LimitedBy   *ReportLimit     `json:"limited_by,omitempty"`
	Provenance  string           `json:"provenance"`
	Text        string           `json:"text"`
}

// ReportThen is the run after the first entries are gone.
type ReportThen struct {
	Remove  []int        `json:"remove"`
	Span    int64        `json:"span_ns"`
	Gain    float64      `json:"gain"`
	Waiting float64      `json:"waiting"`
	Next    *ReportLimit `json:"next,omitempty"`
	Text    string       `json:"text"` // which are gone: by their number if they are listed
}

// ReportClosing is how long the last collective took to let everyone go.
type ReportClosing struct {
	Operation string `json:"operation"`
	Processes int    `json:"processes"`
	Max       int64  `json:"max_ns"`
	Sum       int64  `json:"sum_ns"`
	Text      string `json:"text"`
}

// instances is how many members of an entry are listed.
const instances = 20

// Report describes the causes; top is how many entries are listed.
func (c *Causes) Report(top int, clocks Clocks) *Ranking {
	c.slack = c.Graph.slack(c.Base)
	r := &Ranking{Run: c.run(), Coverage: c.Graph.Coverage(clocks), Gains: []ReportGain{}, Then: []ReportThen{}}
	quiet := c.quietRun()
	var listed []int32
	for k := range c.Entries {
		if len(listed) < top && c.worthListing(&c.Entries[k]) {
			listed = append(listed, int32(k))
		}
	}
	c.names = c.named(listed)
	for _, k := range listed {
		c.quietGain(k, quiet)
		r.Gains = append(r.Gains, c.describe(k))
	}
	if quiet != nil {
		r.Run.Undisturbed = c.Trace.NS(quiet.span)
	}
	all := float64(max(c.Times.Waiting+c.Times.Idle, 1))
	for _, round := range c.Then {
		then := ReportThen{Span: c.Trace.NS(round.Span), Gain: 1 - float64(round.Span)/float64(max(c.Times.Span, 1)),
			Waiting: float64(round.Waiting)/all - 1, Next: c.limit(round.Next)}
		for _, k := range round.Remove {
			then.Remove = append(then.Remove, int(k)+1)
		}
		then.Text = c.without(round.Remove, len(r.Gains))
		r.Then = append(r.Then, then)
	}
	if c.Closing.Call >= 0 {
		name := c.operation(c.Closing.Call)
		r.Closing = &ReportClosing{name, c.Closing.Lines, c.Trace.NS(c.Closing.Most), c.Trace.NS(c.Closing.Sum),
			fmt.Sprintf("%s, the last call, lets %s go up to %s later than usual; nothing follows it", name, term.Counted(c.Closing.Lines, "rank"), term.Duration(c.Trace.NS(c.Closing.Most)))}
	}
	return r
}

// worthListing tells whether an entry gains a two-hundredth of the run, alone or
// after others, or changes a hundredth of all waiting.
func (c *Causes) worthListing(e *Entry) bool {
	all := c.Times.Waiting + c.Times.Idle
	return len(e.After) > 0 || e.Gain*worth >= c.Times.Span && e.Gain > 0 || e.Exact && -e.Waiting*100 >= all && e.Waiting < 0
}

// quietRun is the undisturbed run: weights, and their span.
type quietRun struct {
	w    *Weights
	span int64
}

// mostForQuiet bounds the calls of a trace whose gains are also worked out for
// the undisturbed run: that takes a replay more for each.
const mostForQuiet = 400_000

func (c *Causes) quietRun() *quietRun {
	if c.Len() > longTrace {
		return nil
	}
	w := c.Recorded()
	c.Graph.Undisturbed(w)
	c.scratch = c.Replay(w, c.scratch)
	return &quietRun{w, c.scratch.Span}
}

// quietGain is the gain of an entry in the undisturbed run.
func (c *Causes) quietGain(k int32, q *quietRun) {
	if q == nil || c.Len() > mostForQuiet {
		return
	}
	type saved struct {
		at  *int64
		was int64
	}
	var undo []saved
	lower := func(at *int64, to int64) {
		if to < *at {
			undo = append(undo, saved{at, *at})
			*at = to
		}
	}
	for _, id := range c.Entries[k].elements {
		switch e := &c.elements[id]; e.kind {
		case ByComputation:
			lower(&q.w.Comp[e.call], c.Base.Comp[e.call]-e.amount)
		case ByCall:
			lower(&q.w.Own[e.call], c.Base.Own[e.call]-e.amount)
		case ByStart:
			lower(&q.w.Begin[e.call], c.Base.Begin[e.call]-e.amount)
		default:
			lower(&q.w.Lag[e.dep], c.Base.Lag[e.dep]-e.amount)
			if e.kind == ByCollective {
				lower(&q.w.Own[e.call], max(0, c.Base.Lag[e.dep]-e.amount))
			}
		}
	}
	c.scratch = c.Replay(q.w, c.scratch)
	c.Entries[k].Undisturbed = q.span - c.scratch.Span
	for i := len(undo) - 1; i >= 0; i-- {
		*undo[i].at = undo[i].was
	}
}

func (c *Causes) run() *RankedRun {
	ns := c.Trace.NS
	r := &RankedRun{Span: ns(c.Times.Span), Waiting: ns(c.Times.Waiting), Idle: ns(c.Times.Idle), Eager: c.Eager, Rendezvous: c.Rendez,
		Difference: ns(c.difference()), Efficiency: c.Graph.Efficiency(c.Base, c.Times.Span, c.scratch), Inferred: c.Inferred, Replays: c.Replays, Slack: c.slackReport(), Ready: c.ready()}
	lead := "%s in all"
	if r.Ready != nil {
		lead = "≈ %s without waiting for a processor"
	}
	r.Text = fmt.Sprintf(lead+", %.1f %% of the time of %s in computation, %s waiting", term.Duration(r.Span), 100*r.Efficiency.Parallel,
		term.Counted(c.Lines(), "process"), term.Duration(r.Waiting))
	if c.Share["unexplained"]*5 > c.Times.Span {
		r.Text += fmt.Sprintf("; %.0f %% of the run is time in calls that nothing in the trace explains, as where there are more ranks than cores",
			100*float64(c.Share["unexplained"])/float64(max(c.Times.Span, 1)))
	}
	if r.Ready != nil {
		r.Text += "; " + r.Ready.Text
	}
	return r
}

// difference is how far the unchanged replay is from the recording: 0.
func (c *Causes) difference() int64 {
	most := int64(0)
	for i := range c.Enter {
		most = max(most, c.Times.Enter[i]-c.Enter[i], c.Enter[i]-c.Times.Enter[i], c.Times.Exit[i]-c.Exit[i], c.Exit[i]-c.Times.Exit[i])
	}
	return most
}

func (c *Causes) operation(call int32) string {
	return c.Trace.Regions[c.Trace.Calls.Region[call]].Short()
}

// source is where a call stands: the function around it, in short and in full, and
// the line.
type source struct {
	region, name, file string
	line               uint32
}

func (c *Causes) source(call int32) source {
	t := c.Trace
	var s source
	if caller := t.Calls.Caller[call]; caller >= 0 {
		g := &t.Regions[caller]
		s = source{g.Short(), g.Name, g.File, g.Line}
	}
	if t.Calls.Site != nil && t.Calls.Site[call] >= 0 {
		site := t.Sites[t.Calls.Site[call]]
		s.file, s.line = site.File, site.Line
	}
	return s
}

// at names a call with its place.
func (c *Causes) at(call int32) string {
	text, s := c.operation(call), c.source(call)
	if s.region != "" && s.region != "PROGRAM" {
		text += " in " + s.region
	}
	if s.file != "" {
		text += fmt.Sprintf(" (%s:%d)", s.file, s.line)
	}
	return text
}

func (c *Causes) describe(k int32) ReportGain {
	e, ns := &c.Entries[k], c.Trace.NS
	r := ReportGain{Rank: int(k) + 1, Kind: e.Kind.String(), Class: e.Kind.Class(), Processes: e.Lines, Count: e.Count, Ops: []int32{},
		Instances: []ReportInstance{}, GainNS: ns(e.Gain), Gain: float64(e.Gain) / float64(max(c.Times.Span, 1)), Exact: e.Exact, Undisturbed: ns(e.Undisturbed),
		WaitingNS: ns(e.Waiting), Waiting: float64(e.Waiting) / float64(max(c.Times.Waiting+c.Times.Idle, 1)), Helped: e.Helped,
		LimitedBy: c.limit(e.Next), Provenance: "modelled"}
	for _, first := range e.After {
		r.After = append(r.After, int(first)+1)
	}
	if e.Kind != ByStart {
		s := c.source(e.Call)
		r.Operation, r.Region, r.Name, r.File, r.Line = c.operation(e.Call), s.region, s.name, s.file, s.line
	}
	for n, id := range e.elements {
		if n < instances {
			r.Instances = append(r.Instances, c.instance(&c.elements[id]))
			if op := r.Instances[n].Op; op >= 0 {
				r.Ops = append(r.Ops, op)
			}
		}
		if step := c.stepOf(&c.elements[id]); step >= 0 {
			if r.Steps == nil {
				r.Steps = []int32{step, step}
			}
			r.Steps[0], r.Steps[1] = min(r.Steps[0], step), max(r.Steps[1], step)
		}
	}
	r.Amount = c.amount(e)
	r.Evidence = c.evidence(&c.elements[e.elements[0]])
	r.Text = c.sentence(&r, e)
	return r
}

func (c *Causes) amount(e *Entry) ReportAmount {
	ns := c.Trace.NS
	amounts := make([]int64, len(e.elements))
	for n, id := range e.elements {
		amounts[n] = c.elements[id].amount
	}
	slices.Sort(amounts)
	last := len(amounts) - 1
	return ReportAmount{ns(e.Sum), ns(amounts[last/2]), ns(amounts[last*9/10]), ns(amounts[last]), ns(e.OnPath)}
}

func (c *Causes) instance(e *element) ReportInstance {
	ns := c.Trace.NS
	r := ReportInstance{Process: c.lineOfElement(e), Op: logical.None, Step: c.stepOf(e), Amount: ns(e.amount), Took: ns(c.took(e)), Ready: ns(c.unready(e))}
	if e.kind == ByStart {
		r.Time = ns(c.Begin[e.call])
		return r
	}
	r.Time = ns(c.recorded.Enter[e.call])
	if e.kind == ByComputation && c.slack != nil {
		slack := ns(c.slack[e.call])
		r.Slack = &slack
	}
	o := &c.Trace.Ops
	p := c.Line[e.call]
	if k, _ := slices.BinarySearch(o.Call[o.Start[p]:o.Start[p+1]], e.call); o.Start[p]+int32(k) < o.Start[p+1] {
		r.Op = c.S.Of(o.Start[p] + int32(k))
	}
	return r
}

// took is how long what an element is about lasted.
func (c *Causes) took(e *element) int64 {
	switch e.kind {
	case ByComputation:
		return c.Computation(e.call)
	case ByCall:
		return c.Own[e.call]
	case ByStart:
		return e.amount
	}
	return c.Deps.Lag[e.dep]
}

func (c *Causes) evidence(e *element) ReportEvidence {
	took := c.took(e)
	r := ReportEvidence{Took: c.Trace.NS(took), Usual: c.Trace.NS(took - e.amount), ComparedTo: "like calls of the run", Ready: c.Trace.NS(c.unready(e))}
	switch e.kind {
	case ByComputation:
		r.ComparedTo = c.Peers.Rule[e.call].String()
	case ByStart:
		r.ComparedTo = "the first process to begin"
	}
	return r
}

func (c *Causes) limit(k int32) *ReportLimit {
	if k < 0 {
		return nil
	}
	e := &c.Entries[k]
	r := &ReportLimit{Rank: int(k) + 1, Kind: e.Kind.String(), Processes: e.Lines}
	if e.Kind != ByStart {
		s := c.source(e.Call)
		r.Operation, r.Region, r.File, r.Line = c.operation(e.Call), s.region, s.file, s.line
	}
	r.Text = c.names[k]
	return r
}

// named gives each entry that a report with these listed speaks of a name in a few
// words: with its place only if another has the same without, and with its amount
// if that does not tell them apart either.
func (c *Causes) named(listed []int32) map[int32]string {
	names := map[int32]string{}
	add := func(entries ...int32) {
		for _, k := range entries {
			if k >= 0 {
				names[k] = ""
			}
		}
	}
	add(listed...)
	for _, k := range listed {
		add(c.Entries[k].Next)
		add(c.Entries[k].After...)
	}
	for _, round := range c.Then {
		add(round.Next)
		add(round.Remove...)
	}
	open := slices.Sorted(maps.Keys(names))
	for _, name := range []func(k int32) string{c.short, c.shortAt, c.shortOf, c.numbered} {
		same := map[string]int{}
		for _, k := range open {
			names[k] = name(k)
			same[names[k]]++
		}
		open = slices.DeleteFunc(open, func(k int32) bool { return same[names[k]] == 1 })
	}
	return names
}

func (c *Causes) short(k int32) string {
	return c.inShort(k, c.operation)
}

func (c *Causes) shortAt(k int32) string {
	return c.inShort(k, c.at)
}

func (c *Causes) shortOf(k int32) string {
	e := &c.Entries[k]
	if step := c.stepOf(&c.elements[e.elements[0]]); e.Count == 1 && step >= 0 {
		return fmt.Sprintf("%s at step %d", c.shortAt(k), step)
	}
	return c.shortAt(k) + ", " + c.amount(e).times(e.Count)
}

func (c *Causes) numbered(k int32) string {
	return fmt.Sprintf("%s, cause %d", c.shortOf(k), k+1)
}

// inShort names an entry by its ranks and its call.
func (c *Causes) inShort(k int32, call func(int32) string) string {
	e := &c.Entries[k]
	who := c.who(e.Lines)
	switch e.Kind {
	case ByComputation:
		return fmt.Sprintf("%s before %s", who, call(e.Call))
	case ByMessage:
		return fmt.Sprintf(lagWords[c.lagKind(e)].short, call(e.Call), who)
	case ByCall:
		return fmt.Sprintf("%s on %s", call(e.Call), who)
	case ByCollective:
		return fmt.Sprintf("%s, which leaves late on %s", call(e.Call), who)
	}
	return "the late beginning of " + who
}

// without names the entries that are gone: by number the first ones, which are
// listed, and what gains only after them in words.
func (c *Causes) without(gone []int32, listed int) string {
	names := make([]string, len(gone))
	for n, k := range gone {
		names[n] = fmt.Sprint(k + 1)
		if int(k) >= listed {
			names[n] = c.names[k]
		}
	}
	text := "without " + strings.Join(names[:len(names)-1], ", ")
	if len(names) == 1 {
		return text + names[0]
	}
	return text + " and " + names[len(names)-1] + " together"
}

// lagWords say what took long in coming: with operation and ranks, and with
// place, ranks, how much, the longest and the usual.
var lagWords = map[Kind]struct{ short, long string }{
	Message: {"slow messages to %s on %s",
		"messages to %s on %s took %s longer than usual; the slowest %s where %s is usual for its size"},
	Rendezvous: {"sends that end late in %s on %s",
		"sends that end in %s on %s took %s longer than usual from when their receive was posted; the slowest %s where %s is usual for its size"},
	Probe: {"%s, which finds messages late on %s",
		"%s on %s found messages %s later than usual after they were sent; at worst %s where %s is usual for their size"},
	Rooted: {"%s, which comes late to %s",
		"%s on %s ended %s later than usual after those it needs had come; at worst %s where %s is usual"},
	NonBlocking: {"a non-blocking collective that ends late in %s on %s",
		"collectives that end in %s on %s took %s longer than usual after those they need had begun; the slowest %s where %s is usual"},
	lagMixed: {"%s, which ends late on %s",
		"%s on %s ended %s later than usual after what it waited for had begun; at worst %s where %s is usual"},
	Signal: {"%s, which goes on late on %s",
		"%s on %s went on %s later than usual after the last of its partners had come; at worst %s where %s is usual"},
}

// lagMixed stands for lags of several kinds in one entry: a collective that
// waits for all its members is told by another kind of cause.
const lagMixed = Full

// lagKind is the kind of the lags of an entry, lagMixed if they are of several.
func (c *Causes) lagKind(e *Entry) Kind {
	kind := c.Deps.Kind[c.elements[e.elements[0]].dep]
	for _, id := range e.elements {
		if c.Deps.Kind[c.elements[id].dep] != kind {
			return lagMixed
		}
	}
	if _, known := lagWords[kind]; !known {
		return lagMixed
	}
	return kind
}

// who names up to three processes, or counts them.
func (c *Causes) who(lines []int32) string {
	if len(lines) > 3 {
		return fmt.Sprintf("%d ranks", len(lines))
	}
	names := make([]string, len(lines))
	for k, p := range lines {
		names[k] = c.S.Who(p)
		if k > 0 {
			names[k] = strings.TrimPrefix(names[k], "rank ")
		}
	}
	switch len(names) {
	case 1:
		return names[0]
	default:
		return strings.Replace(strings.Join(names, ", "), "rank ", "ranks ", 1)
	}
}

// sentence says who did what where, how often and by how much, with the numbers
// it rests on.
func (c *Causes) sentence(r *ReportGain, e *Entry) string {
	at := ""
	if e.Kind != ByStart {
		at = c.at(e.Call)
	}
	if r.Count == 1 && r.Steps != nil {
		at += fmt.Sprintf(" at step %d", r.Steps[0])
	}
	times := r.Amount.times(r.Count)
	who := c.who(e.Lines)
	var text string
	switch e.Kind {
	case ByComputation:
		took := term.Duration(r.Evidence.Took)
		if r.Evidence.Ready > 0 {
			took += fmt.Sprintf(" (and %s without a processor)", term.Duration(r.Evidence.Ready))
		}
		text = fmt.Sprintf("%s before %s: %s more computation than usual; the longest took %s where %s is usual %s", who, at, times,
			took, term.Duration(r.Evidence.Usual), r.Evidence.ComparedTo)
	case ByMessage:
		text = fmt.Sprintf(lagWords[c.lagKind(e)].long, at, who, times, term.Duration(r.Evidence.Took), term.Duration(r.Evidence.Usual))
	case ByCall:
		text = fmt.Sprintf("%s on %s took %s longer by itself than usual, with nobody in the trace that it waited for", at, who, times)
	case ByCollective:
		text = fmt.Sprintf("%s left late on %s after its last member had come: %s more than usual", at, who, times)
	default:
		text = fmt.Sprintf("%s began up to %s after the first process", who, term.Duration(r.Amount.Max))
	}
	if len(e.After) > 0 {
		gains := "; it gains more "
		if r.GainNS == 0 {
			gains = "; it gains only "
		}
		text += gains + c.without(e.After, len(c.Entries))
	}
	if r.GainNS == 0 && len(r.Instances) > 0 && r.Instances[0].Slack != nil && *r.Instances[0].Slack > 0 {
		longest := "it"
		if r.Count > 1 {
			longest = "the longest"
		}
		text += fmt.Sprintf("; %s could end ≈ %s later still without delaying the run", longest, term.Duration(*r.Instances[0].Slack))
	}
	// Where the waiting moves elsewhere and grows, that some wait less is no news.
	if e.Helped > 0 && e.Waiting < 0 {
		rank := "other rank"
		if len(e.Lines) > 1 {
			rank = "rank"
		}
		text += fmt.Sprintf("; without it %s less", term.Counted(e.Helped, rank)+map[bool]string{true: " waits", false: " wait"}[e.Helped == 1])
	}
	return text
}

// times says how often how much: "40 × 2.0 ms" only where that is the sum, else
// the sum with its largest part.
func (a ReportAmount) times(count int) string {
	switch {
	case count == 1:
		return term.Duration(a.Max)
	case 20*math.Abs(float64(count)*float64(a.Median)-float64(a.Sum)) <= float64(a.Sum) && 2*a.Max <= 3*a.Median:
		return fmt.Sprintf("%d × %s", count, term.Duration(a.Median))
	}
	return fmt.Sprintf("%s (%d times, up to %s)", term.Duration(a.Sum), count, term.Duration(a.Max))
}
