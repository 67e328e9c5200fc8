package messages

import (
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/messages/logical"
	"github.com/isobath/isobath/internal/messages/timeline"
	"github.com/isobath/isobath/internal/messages/whatif"
)

// TraceOptions choose how a trace is partitioned; see logical.Options. Phases
// says where phases begin, as logical.Phases reads it.
type TraceOptions struct {
	Coalesce    bool    `json:"coalesce"`
	Waitall     bool    `json:"waitall"`
	Calls       bool    `json:"calls"`
	Leaps       bool    `json:"leaps"`
	Force       bool    `json:"force"`
	Ratio       float64 `json:"ratio"`
	MergeGlobal bool    `json:"mergeGlobal"`
	Reorder     bool    `json:"reorder"`
	Phases      string  `json:"phases"`
}

// TraceAsk says which analysis of the trace a question is about. Options is
// null for those that suit a trace nobody has said anything about.
type TraceAsk struct {
	Options *TraceOptions `json:"options"`
	// Threshold in ns says what is late; 0 lets the trace decide. From and To
	// are the steps whose causes count; To 0 is the end.
	Threshold int64 `json:"threshold"`
	From      int32 `json:"from"`
	To        int32 `json:"to"`
	// Against is the run that values are compared with; empty for none.
	Against string `json:"against"`
}

// TraceInfo describes a trace and why its operations are late. Report is what
// `isobath steps --json` prints.
type TraceInfo struct {
	Report    logical.Report `json:"report"`
	Options   TraceOptions   `json:"options"`
	Processes []TraceProcess `json:"processes"`
	Names     []string       `json:"names"` // of calls and functions, by the index in pictures
	// Groups are kinds of work; GroupOf has that of each name.
	Groups   []string       `json:"groups"`
	GroupOf  []int          `json:"groupOf"`
	Measures []TraceMeasure `json:"measures"`
	Threads  int            `json:"threads"` // threads, streams and devices that take no part in messages
	// Linked says that the run has samples of the same ranks by the same clock;
	// LinkNote why not, if it has samples.
	Linked   bool   `json:"linked"`
	LinkNote string `json:"linkNote"`
}

// TraceMeasure is a metric that the trace records, to be asked for as
// "metric:" and its name.
type TraceMeasure struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Unit        string `json:"unit"`
	Kind        string `json:"kind" ts:"'counter' | 'value' | 'change'"`
}

// TraceProcess is a timeline of the trace.
type TraceProcess struct {
	Rank int32  `json:"rank"`
	Name string `json:"name"`
	Host string `json:"host"`
}

// PictureAsk asks for what is to be drawn. A window that is null is not wanted;
// one without from and to is that of the whole trace, or what the other shows.
// Overview is its number of columns, 0 for none. Origin is the operation whose
// reach is marked, -1 for none.
type PictureAsk struct {
	TraceAsk
	Metric   timeline.Metric   `json:"metric" ts:"string"`
	Order    timeline.RowOrder `json:"order"`
	Origin   int32             `json:"origin"`
	Logical  *timeline.Window  `json:"logical"`
	Physical *timeline.Window  `json:"physical"`
	Overview int               `json:"overview"`
	// Stacks asks for call stacks in the physical timeline. Where are the
	// samples to be marked there, null for none; it needs a linked run.
	Stacks bool    `json:"stacks"`
	Where  *string `json:"where"`
	// Changes ask for the changed run in the same windows, as
	// `isobath steps --whatif` takes them.
	Changes []string `json:"changes"`
}

// PictureAnswer is the head of a picture; Took is in ms.
type PictureAnswer struct {
	Columns  []frame.ColumnRef `json:"columns"`
	Took     float64           `json:"took"`
	Logical  *TimelineAnswer   `json:"logical"`
	Physical *TimelineAnswer   `json:"physical"`
	Overview *TimelineOverview `json:"overview"`
	Ghost    *GhostAnswer      `json:"ghost"`
}

// GhostAnswer is the run with changes, in the windows of the recorded one. Its
// lines are the same; lateness is that of the changed run.
type GhostAnswer struct {
	Logical  *TimelineAnswer `json:"logical"`
	Physical *TimelineAnswer `json:"physical"`
	// Recorded and Span are how long the two runs take, in ns after the first
	// event.
	Recorded float64 `json:"recorded"`
	Span     float64 `json:"span"`
}

// TimelineAnswer is one of the two timelines. Either ops or cells is set; an
// operation or line that is none is 0xffffffff.
type TimelineAnswer struct {
	Window   timeline.Window   `json:"window"`
	Rows     int               `json:"rows"` // of the order, in all
	Lines    []timeline.Line   `json:"lines"`
	LineOf   frame.Column      `json:"lineOf"` // by process
	Ops      *TimelineOps      `json:"ops"`
	Cells    *TimelineCells    `json:"cells"`
	Messages *TimelineMessages `json:"messages"`
	Flow     frame.Column      `json:"flow"`   // messages that arrive in each column, where there are too many to list
	Sent     int               `json:"sent"`   // messages of the window
	Ribbon   frame.Column      `json:"ribbon"` // of cells by steps: the partition of each column
	Stack    *TimelineStack    `json:"stack"`
	Marks    *TimelineMarks    `json:"marks"`
	Others   *TimelineOthers   `json:"others"`
	Track    frame.Column      `json:"track"` // of a recorded measure, line by line; empty without one
}

// TimelineOthers are calls that are no operations.
type TimelineOthers struct {
	Line  frame.Column `json:"line"`
	Name  frame.Column `json:"name"`
	Enter frame.Column `json:"enter"`
	Exit  frame.Column `json:"exit"`
}

// TimelineStack are nested regions; depth 0 is the outermost.
type TimelineStack struct {
	Levels int          `json:"levels"`
	Line   frame.Column `json:"line"`
	Depth  frame.Column `json:"depth"`
	Region frame.Column `json:"region"`
	Enter  frame.Column `json:"enter"`
	Exit   frame.Column `json:"exit"`
}

// TimelineMarks count the samples of a selection, by line and column of the
// window. Cells without any are left out.
type TimelineMarks struct {
	Samples int `json:"samples"` // in the window
	// All are the samples of the selection, taken from First to Last, in ns
	// after the first event.
	All   int          `json:"all"`
	First float64      `json:"first"`
	Last  float64      `json:"last"`
	Line  frame.Column `json:"line"`
	At    frame.Column `json:"at"`
	Count frame.Column `json:"count"`
}

// TimelineOps are operations. Times are in ns after the first event, values of
// the metric in ns. Bands are the pieces of partitions, four numbers each:
// line, partition, first step, number of steps.
type TimelineOps struct {
	ID     frame.Column `json:"id"`
	Line   frame.Column `json:"line"`
	Step   frame.Column `json:"step"`
	Part   frame.Column `json:"part"`
	Kind   frame.Column `json:"kind"`
	Name   frame.Column `json:"name"`
	Value  frame.Column `json:"value"`
	Before frame.Column `json:"before"`
	Began  frame.Column `json:"began"`
	Enter  frame.Column `json:"enter"`
	Exit   frame.Column `json:"exit"`
	Reach  frame.Column `json:"reach"`
	Bands  frame.Column `json:"bands"`
}

// TimelineCells are pixels, line by line; most and mean are NaN where there is
// no operation.
type TimelineCells struct {
	Count int          `json:"count"` // columns of a line
	Most  frame.Column `json:"most"`
	Mean  frame.Column `json:"mean"`
	Op    frame.Column `json:"op"` // the operation of most
	Part  frame.Column `json:"part"`
	Name  frame.Column `json:"name"`
}

// TimelineMessages are the messages of a window.
type TimelineMessages struct {
	From     frame.Column `json:"from"`
	To       frame.Column `json:"to"`
	FromLine frame.Column `json:"fromLine"`
	ToLine   frame.Column `json:"toLine"`
	FromStep frame.Column `json:"fromStep"`
	ToStep   frame.Column `json:"toStep"`
	FromExit frame.Column `json:"fromExit"`
	ToExit   frame.Column `json:"toExit"`
	Late     frame.Column `json:"late"` // 1 for a message that made its receiver late
}

// TimelineOverview is the metric over all steps.
type TimelineOverview struct {
	Most frame.Column `json:"most"`
	Mean frame.Column `json:"mean"`
	Op   frame.Column `json:"op"`
}

// OperationAsk asks for all about an operation.
type OperationAsk struct {
	TraceAsk
	Op int32 `json:"op"`
}

// SamplesAsk asks for the samples taken while something happened: an operation
// (-1 for none), and a stretch of time in ns after the first event; and for those
// of a source file, whenever they were taken.
type SamplesAsk struct {
	TraceAsk
	Op       int32   `json:"op"`
	TimeFrom float64 `json:"timeFrom"`
	TimeTo   float64 `json:"timeTo"`
	File     string  `json:"file"` // empty for none
}

// SamplesAnswer has the selections; call and before are null without an
// operation.
type SamplesAnswer struct {
	Call   *SampleCount `json:"call"`   // of the rank, in the call
	Before *SampleCount `json:"before"` // of the rank, in the computation before it
	Window SampleCount  `json:"window"` // of all ranks
	Lines  []LineCount  `json:"lines"`  // of the file
}

// LineCount is a line of a source file and its samples.
type LineCount struct {
	Line int `json:"line"`
	SampleCount
}

// SampleCount is a selection and how many samples it has.
type SampleCount struct {
	Where   string `json:"where"`
	Samples int    `json:"samples"`
}

// ReportAsk asks for the parts of the report that take time.
type ReportAsk struct {
	TraceAsk
	Profile  bool `json:"profile"`
	Critical bool `json:"critical"`
	Clusters bool `json:"clusters"`
	K        int  `json:"k"` // clusters; 0: as many as the data says
}

// GainsAsk asks for the causes ranked by what removing them gains, and for the
// run with changes, as `isobath steps --whatif` takes them.
type GainsAsk struct {
	TraceAsk
	Top     int      `json:"top"` // 0 for as many as the page lists
	Changes []string `json:"changes"`
}

// GainsAnswer is the ranking, and in it the run with the changes. Refused says
// why a change cannot be made, as people write them; empty if all can.
type GainsAnswer struct {
	Ranking whatif.Ranking `json:"ranking"`
	Refused string         `json:"refused"`
}

// FindAsk looks for operations by a text such as "rank 20", "MPI_Waitall" or
// "late > 10ms": the next one after From in time (-1 for the first), or the one
// before it.
type FindAsk struct {
	TraceAsk
	Text string `json:"text"`
	From int32  `json:"from"`
	Back bool   `json:"back"`
}

// FindAnswer is what was found; Refused says why the text means nothing here.
type FindAnswer struct {
	Found   *timeline.FoundOperation `json:"found"`
	Refused string                   `json:"refused"`
}

// TraceWindowAsk asks for the numbers of a stretch of time, in ns after the first
// event.
type TraceWindowAsk struct {
	TraceAsk
	TimeFrom float64 `json:"timeFrom"`
	TimeTo   float64 `json:"timeTo"`
}

// TraceWindow is how all processes together spent a window, in ns: functions, calls
// of MPI, messages that were sent by size, and waiting by what was waited for.
type TraceWindow struct {
	Computing int64        `json:"computing"`
	MPI       int64        `json:"mpi"`
	Calls     []WindowCall `json:"calls"`
	// Functions are those of the program, by themselves; null where there are more
	// processes than are looked into.
	Functions    []WindowCall `json:"functions" ts:"WindowCall[] | null"`
	Sizes        []WindowSize `json:"sizes"`
	LateSender   WindowWait   `json:"lateSender"`
	LateReceiver WindowWait   `json:"lateReceiver"`
	Collective   WindowWait   `json:"collective"`
}

// WindowCall is a call of MPI or a function in a window.
type WindowCall struct {
	Name  string `json:"name"`
	Calls int64  `json:"calls"`
	Time  int64  `json:"time"`
}

// WindowSize counts messages of from to to-1 bytes.
type WindowSize struct {
	From     int64 `json:"from"`
	To       int64 `json:"to"`
	Messages int64 `json:"messages"`
	Bytes    int64 `json:"bytes"`
}

// WindowWait is waiting of one pattern.
type WindowWait struct {
	Operations int64 `json:"operations"`
	Time       int64 `json:"time"`
}
