package logical

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/messages/trace"
)

// Report is what `isobath steps --json` prints. Times are nanoseconds.
type Report struct {
	Processes   int           `json:"processes"`
	Events      int           `json:"events"`
	Operations  int           `json:"operations"`
	Messages    int           `json:"messages"`
	Signals     int           `json:"signals,omitempty"` // of epochs, locks and neighbours; not among the messages
	Unmatched   int           `json:"unmatched"`
	Collectives int           `json:"collectives"`
	Partitions  int           `json:"partitions"`
	Steps       int           `json:"steps"`
	SpanNS      int64         `json:"span_ns"`
	Options     ReportOptions `json:"options"`
	Notes       []string      `json:"notes"`
	Merges      []ReportMerge `json:"merges"`
	Warnings    []string      `json:"warnings"`
	Threshold   int64         `json:"threshold"`
	Late        int           `json:"late"`
	Lateness    int64         `json:"lateness"`
	Cases       ReportCases   `json:"cases"`
	Top         []ReportCause `json:"top"`

	Patterns []ReportPattern `json:"patterns"`
	Critical *ReportCritical `json:"critical_path,omitempty"`
	Clusters *ReportClusters `json:"clusters,omitempty"`
	Profile  *ReportProfile  `json:"profile,omitempty"`
	Compare  *ReportCompare  `json:"compare,omitempty"`
}

// ReportMerge is what one way of merging did: coalesce to operations, the others
// (messages, waitall, calls, cycles, phases, leaps, merge_global) to partitions.
type ReportMerge struct {
	Name   string `json:"name"`
	Before int    `json:"before"`
	After  int    `json:"after"`
}

// ReportOptions are the options as they were used.
type ReportOptions struct {
	Coalesce    bool    `json:"coalesce"`
	Waitall     bool    `json:"waitall"`
	Guess       bool    `json:"waitall_guessed"`
	Calls       bool    `json:"calls"`
	Leaps       bool    `json:"leaps"`
	Force       bool    `json:"force"`
	Ratio       float64 `json:"ratio"`
	MergeGlobal bool    `json:"merge_global"`
	Reorder     bool    `json:"reorder"`
	Phases      bool    `json:"phases"`
}

// ReportCases counts late operations by how they became late.
type ReportCases struct {
	Compute     int `json:"compute"`
	Message     int `json:"message"`
	Call        int `json:"call"`
	FromSender  int `json:"inherited_by_message"`
	FromProcess int `json:"inherited_in_process"`
	AlsoSlow    int `json:"also_slow"` // of all but compute: after a computation that took longer than usual too
}

// ReportCause is one injected delay.
type ReportCause struct {
	Op         int32   `json:"op"` // number of the operation, by process and time
	Process    int32   `json:"process"`
	Kind       string  `json:"kind"` // compute, message or call
	Operation  string  `json:"operation"`
	Step       int32   `json:"step"`
	Partition  int32   `json:"partition"`
	Time       int64   `json:"time"`     // when the operation began, after the trace's origin
	Amount     int64   `json:"amount"`   // new here
	Lateness   int64   `json:"lateness"` // in all
	Operations int     `json:"operations"`
	Processes  int     `json:"processes"`
	Share      float64 `json:"share"`
	Waiting    int     `json:"waiting"`
	Waited     int64   `json:"waited"`
	StartUp    bool    `json:"startup"`
	Region     string  `json:"region,omitempty"`
	File       string  `json:"file,omitempty"`
	Line       uint32  `json:"line,omitempty"`
	// Of a late computation: how long it lasted, what is usual, and for whom.
	Computation int64  `json:"computation,omitempty"`
	Usual       int64  `json:"usual,omitempty"`
	ComparedTo  string `json:"compared_to,omitempty"`
	Text        string `json:"text"`

	sender     string
	senderLate int64
}

// ReportPattern is a recognised exchange.
type ReportPattern struct {
	Name     string `json:"name"`
	Stages   int    `json:"stages"`
	Messages int    `json:"messages"`
	First    int32  `json:"first_step"`
}

// NewReport describes a structure and its causes; top limits the list of
// delays of each class (computations; messages and calls; start-up skew).
func (s *Structure) NewReport(c *Causes, top int) *Report {
	t := s.Trace
	sends, recvs := t.Unmatched()
	o := s.Options
	r := &Report{
		Processes: len(t.Procs), Events: t.Events, Operations: s.Len(), Messages: t.Messages(), Signals: t.Signals(), Unmatched: sends + recvs,
		Collectives: len(t.Colls.Comm) + len(t.Async.Comm), Partitions: s.Parts.Count(), Steps: s.Steps,
		SpanNS: t.SpanNS(),
		Options: ReportOptions{o.Coalesce, o.Waitall, o.Guess, o.Calls, o.Leaps, o.Force, o.Ratio, o.MergeGlobal, o.Reorder,
			len(o.Phases) > 0},
		Notes: append([]string{}, s.Notes...), Warnings: append([]string{}, t.Warnings...),
		Threshold: t.NS(c.Threshold), Late: c.LateOps, Lateness: t.NS(c.Sum),
		Cases: ReportCases{c.ByCase[Computation], c.ByCase[Message], c.ByCase[Call], c.ByCase[FromSender], c.ByCase[FromProcess], c.AlsoSlow},
		Top:   []ReportCause{}, Patterns: []ReportPattern{},
	}
	if skewed := s.skewed(); skewed > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s received before being sent: the clocks differ, so lateness is not to be trusted", term.Counted(skewed, "message")+term.Agree(skewed, " is", " are")))
	}
	if s.Cyclic > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s before %s: the trace is damaged, and the steps of such operations are not in order", term.Counted(s.Cyclic, "operation")+term.Agree(s.Cyclic, " happens", " happen"), term.Agree(s.Cyclic, "itself", "themselves")))
	}
	if s.Len() == 0 {
		r.Warnings = append(r.Warnings, "no communication in this trace, hence no logical structure")
	}
	if recvs > 0 || sends > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d sends and %d receives have no partner in the trace; the structure comes from the messages that match", sends, recvs))
	}
	var listed [3]int
	for i := range c.List {
		if k := c.List[i].class(); listed[k] < top {
			listed[k]++
			r.Top = append(r.Top, s.describe(c, &c.List[i]))
		}
	}
	r.Merges = []ReportMerge{}
	for _, m := range s.Merges {
		r.Merges = append(r.Merges, ReportMerge(m))
	}
	for _, p := range s.Patterns() {
		r.Patterns = append(r.Patterns, ReportPattern(p))
	}
	return r
}

// skewed counts messages whose receive ends before their send begins.
func (s *Structure) skewed() int {
	t := s.Trace
	n := 0
	for i, m := range t.Sends.Match {
		if m >= 0 && t.Ops.Exit[t.Recvs.Op[m]] < t.Ops.Enter[t.Sends.Op[i]] {
			n++
		}
	}
	return n
}

// describe makes a report entry of a cause.
func (s *Structure) describe(c *Causes, e *Cause) ReportCause {
	t := s.Trace
	r := ReportCause{
		Op: e.Op, Process: s.Proc[e.Op], Kind: e.Case.String(), Operation: s.Name(e.Op), Step: s.Step[e.Op], Partition: s.Part[e.Op],
		Time: t.NS(s.Enter[e.Op]), Amount: t.NS(e.Amount), Lateness: t.NS(e.Late), Operations: e.Ops, Processes: e.Procs,
		Waiting: e.Waiting, Waited: t.NS(e.Waited), StartUp: e.StartUp,
	}
	if e.Case == Computation && !e.StartUp {
		r.Computation, r.Usual, r.ComparedTo = s.compared(e.Op)
	}
	if e.Sender >= 0 {
		r.sender, r.senderLate = s.Who(s.Proc[e.Sender]), t.NS(e.SenderLate)
	}
	if c.Sum > 0 {
		r.Share = float64(e.Reach) / float64(c.Sum)
	}
	if f := s.Around(e.Op); f >= 0 {
		region := t.Regions[f]
		r.Region, r.File, r.Line = region.Short(), region.File, region.Line
	}
	if site := s.site(e.Op); site != nil {
		r.File, r.Line = site.File, site.Line
	}
	r.Text = sentence(&r, s.Who(r.Process))
	return r
}

// Around returns the region that called an operation, or None.
func (s *Structure) Around(op int32) int32 {
	return s.Trace.Calls.Caller[s.CallOf(op)]
}

// CallOf returns the call of an operation, the first if several were joined.
func (s *Structure) CallOf(op int32) int32 { return s.Trace.Ops.Call[s.First[op]] }

// compared returns the longest computation before an operation, what is usual
// for it, and what it was compared with.
func (s *Structure) compared(op int32) (took, usual int64, with string) {
	p := s.Peers()
	from, to := s.callsBefore(op)
	best := from
	for i := from; i < to; i++ {
		if p.Excess(i) > p.Excess(best) {
			best = i
		}
	}
	if from == to {
		return 0, 0, ""
	}
	return s.Trace.NS(p.Computation(best)), s.Trace.NS(p.Usual[best]), p.Rule[best].String()
}

// site is the place in the source an operation was called from, nil if unknown.
func (s *Structure) site(op int32) *trace.Site {
	t := s.Trace
	if t.Ops.Site == nil || t.Ops.Site[s.First[op]] < 0 {
		return nil
	}
	return &t.Sites[t.Ops.Site[s.First[op]]]
}

// sentence says who was late, where and by how much, why, and whom it held up.
func sentence(r *ReportCause, who string) string {
	where := fmt.Sprintf("%s at step %d", r.Operation, r.Step)
	var text string
	switch r.Kind {
	case "compute":
		text = fmt.Sprintf("%s computed %s before %s, %s more than usual %s", who, term.Duration(r.Computation), where, term.Duration(r.Amount), r.ComparedTo)
		if r.Lateness > 0 {
			text += fmt.Sprintf(", and entered %s late", term.Duration(r.Lateness))
		}
	case "message":
		text = fmt.Sprintf("%s left %s, %s late, %s of it new: the message was delayed or slowly received", who, where, term.Duration(r.Lateness), term.Duration(r.Amount))
		if r.sender == "" {
			text = fmt.Sprintf("%s left %s, %s late, though no sender was: the message was delayed or slowly received", who, where, term.Duration(r.Lateness))
		} else {
			text += fmt.Sprintf("; its latest sender, %s, was %s late", r.sender, term.Duration(r.senderLate))
		}
	default:
		text = fmt.Sprintf("%s left %s, %s late: the call itself took %s longer than on others", who, where, term.Duration(r.Lateness), term.Duration(r.Amount))
	}
	if r.StartUp {
		text = fmt.Sprintf("%s began to be recorded %s after the first process (start-up skew); it reached %s %s late", who, term.Duration(r.Amount), where, term.Duration(r.Lateness))
	}
	if r.Operations > 1 || r.Processes > 0 {
		text += fmt.Sprintf("; %s late because of it, %s affected", term.Counted(r.Operations, "operation"), term.Counted(r.Processes, "other rank"))
	}
	if r.Waiting > 0 {
		text += fmt.Sprintf("; %s waited inside the call", term.Counted(r.Waiting, "rank"))
	}
	return text
}

// Who names a process: its rank, and its thread where ranks have several.
func (s *Structure) Who(p int32) string {
	at := &s.Trace.Procs[p]
	rank := at.Rank
	if rank < 0 {
		return fmt.Sprintf("process %d", p)
	}
	threads := at.Home != p || int(p)+1 < len(s.Trace.Procs) && s.Trace.Procs[p+1].Home == at.Home
	if threads {
		return fmt.Sprintf("rank %d (%s)", rank, at.Thread)
	}
	return fmt.Sprintf("rank %d", rank)
}

// opColumns are the columns of the operation list, in TSV order and as JSON
// keys.
var opColumns = []string{"process", "enter", "exit", "name", "kind", "partition", "step", "lateness", "differential",
	"global_lateness", "global_differential", "aggregate_lateness", "aggregate_differential", "global_aggregate_lateness",
	"global_aggregate_differential", "location", "moved"}

// OpColumn is a column that a caller adds to the operation list, such as what a
// replay found: nanoseconds, and whether they are known.
type OpColumn struct {
	Name string
	Of   func(op int32) (int64, bool)
}

// row is one line of the operation list.
type row struct {
	op          int32 // of this row, or after the computation; None for a wait
	process     int32
	enter, exit int64
	name, kind  string
	part, step  int32
	metrics     [8]int64
	location    uint64
	moved       bool
}

// eachRow visits the operations in order; with all, also the computation
// before each of them and the calls that only wait for sends. A row is not to be
// kept: millions of them would fill the memory beside a large trace.
func (s *Structure) eachRow(all bool, visit func(*row) error) error {
	t := s.Trace
	wait := 0
	columns := [][]int64{s.Late, s.Diff, s.GlobalLate, s.GlobalDiff, s.AggLate, s.AggDiff, s.GlobalAggLate, s.GlobalAggDiff}
	var r, w row
	for i := range int32(s.Len()) {
		p := s.Proc[i]
		r = row{op: i, process: p, location: t.Procs[p].Location, part: s.Part[i], step: s.Step[i]}
		if all && i > s.Start[p] {
			w = r
			if err := s.computeRow(&w, i, visit); err != nil {
				return err
			}
			for ; wait < len(t.Waits.Op) && (t.Waits.Proc[wait] < p || t.Waits.Proc[wait] == p && t.Waits.Exit[wait] <= s.Enter[i]); wait++ {
				if t.Waits.Op[wait] >= 0 || t.Waits.Proc[wait] != p {
					continue
				}
				w = r
				w.op = None
				w.enter, w.exit = t.NS(t.Waits.Enter[wait]), t.NS(t.Waits.Exit[wait])
				w.name, w.kind = t.Regions[t.Waits.Region[wait]].Name, "wait"
				if err := visit(&w); err != nil {
					return err
				}
			}
		}
		r.enter, r.exit, r.name, r.kind = t.NS(s.Enter[i]), t.NS(s.Exit[i]), s.Name(i), s.Kind[i].String()
		r.moved = s.Moved != nil && s.Moved[i]
		for k, col := range columns {
			r.metrics[k] = t.NS(col[i])
		}
		if err := visit(&r); err != nil {
			return err
		}
	}
	return nil
}

// computeRow visits the computation before operation i.
func (s *Structure) computeRow(r *row, i int32, visit func(*row) error) error {
	t := s.Trace
	r.enter, r.exit, r.kind = t.NS(s.Exit[i-1]), t.NS(s.Enter[i]), "compute"
	r.name = "(computation)"
	if f := s.Around(i); f >= 0 {
		r.name = t.Regions[f].Name
	}
	late := [4]int64{s.AggLate[i], s.AggDiff[i], s.GlobalAggLate[i], s.GlobalAggDiff[i]}
	for k, v := range late {
		r.metrics[k] = t.NS(v)
	}
	return visit(r)
}

// WriteTSV writes the operations, one line each, after a line of column names.
func (s *Structure) WriteTSV(w io.Writer, all bool) error {
	out := bufio.NewWriterSize(w, 1<<16)
	out.WriteString(strings.Join(opColumns, "\t"))
	out.WriteByte('\n')
	var b []byte
	err := s.eachRow(all, func(r *row) error {
		b = r.append(b[:0], func(b []byte, _ string) []byte {
			if len(b) > 0 {
				b = append(b, '\t')
			}
			return b
		}, func(b []byte, text string) []byte { return append(b, text...) })
		_, err := out.Write(append(b, '\n'))
		return err
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// WriteJSON writes the operations as a JSON array. What is not known of the
// columns that are added is left out.
func (s *Structure) WriteJSON(w io.Writer, all bool, added ...OpColumn) error {
	out := bufio.NewWriterSize(w, 1<<16)
	out.WriteByte('[')
	var b []byte
	first := true
	err := s.eachRow(all, func(r *row) error {
		b = b[:0]
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(b, '\n', '{')
		b = r.append(b, func(b []byte, name string) []byte {
			if b[len(b)-1] != '{' {
				b = append(b, ',')
			}
			b = append(b, '"')
			return append(append(b, name...), '"', ':')
		}, appendQuoted)
		for _, c := range added {
			if v, ok := r.added(c); ok {
				b = append(append(append(b, ',', '"'), c.Name...), '"', ':')
				b = strconv.AppendInt(b, v, 10)
			}
		}
		_, err := out.Write(append(b, '}'))
		return err
	})
	if err != nil {
		return err
	}
	out.WriteString("\n]")
	return out.Flush()
}

func (r *row) added(c OpColumn) (int64, bool) {
	if r.op == None {
		return 0, false
	}
	return c.Of(r.op)
}

// append adds the columns of a row to b.
func (r *row) append(b []byte, key func([]byte, string) []byte, text func([]byte, string) []byte) []byte {
	k := 0
	next := func() { b = key(b, opColumns[k]); k++ }
	number := func(v int64) { next(); b = strconv.AppendInt(b, v, 10) }
	number(int64(r.process))
	number(r.enter)
	number(r.exit)
	next()
	b = text(b, r.name)
	next()
	b = text(b, r.kind)
	number(int64(r.part))
	number(int64(r.step))
	for _, v := range r.metrics {
		number(v)
	}
	next()
	b = strconv.AppendUint(b, r.location, 10)
	next()
	return strconv.AppendBool(b, r.moved)
}

// appendQuoted adds a JSON string. Names come from files, so everything that
// JSON does not take as it is is escaped.
func appendQuoted(b []byte, text string) []byte {
	b = append(b, '"')
	for _, c := range text { // invalid bytes arrive as U+FFFD
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', byte(c))
		case c < 0x20:
			b = fmt.Appendf(b, `\u%04x`, c)
		default:
			b = append(b, string(c)...)
		}
	}
	return append(b, '"')
}

// None marks the absence of a partition in ClusterOptions.
const None = trace.None
