// Package trace turns the events of a message-passing program into operations
// and the messages, collectives and requests that connect them.
//
// Everything is kept in columns with 32-bit indices. Operations are sorted by
// process and then by time, so that the neighbours of an operation on its
// process are its neighbours in the columns.
package trace

import (
	"math"
	"math/bits"
	"sort"

	"github.com/isobath/isobath/internal/formats/otf2"
)

// Kind is the class of an operation.
type Kind uint8

// The classes. A call that both sends and receives is split, because happened
// before has no order for it otherwise: a shift around a ring would be a cycle.
const (
	Send Kind = iota
	Recv
	Collective
)

// String returns the word used in output.
func (k Kind) String() string {
	switch k {
	case Send:
		return "send"
	case Recv:
		return "recv"
	}
	return "collective"
}

// Flags of operations.
const (
	// Joins says that the operation and the one before it are non-blocking
	// sends with no other region closing between them.
	Joins uint8 = 1 << iota
	// Starts says that a non-blocking collective is started here.
	Starts
	// Completes says that a non-blocking collective is completed here.
	Completes
	// Blocks says that a send returns only when it is done.
	Blocks
)

// None is the index of nothing.
const None = int32(-1)

// Trace is a whole message-passing trace. It does not change after Open.
type Trace struct {
	Path    string
	Format  string
	Version string
	Creator string

	Resolution uint64 // ticks per second
	Origin     uint64 // tick that all times are relative to
	Realtime   uint64 // ns since 1970 at the origin, 0 if not recorded
	First      int64  // earliest and latest event
	Last       int64

	Events    int
	Locations int
	Metrics   int // METRIC events; Series reads them
	Partial   int // locations that are incomplete
	Moved     Moved
	Guessed   bool // Sends.Wait is guessed: the trace records no completion
	Repairs   Repairs
	Warnings  []string
	// Unrecorded are calls of MPI that the recorder counted and left out.
	Unrecorded int

	Procs   []Process
	Threads []Thread
	Defined int // region definitions; several may share a row of Regions
	Regions []Region
	Comms   []Comm
	// Measures are the metrics that the trace has values of.
	Measures []Measure
	// Sites are the places in the source that operations were called from.
	Sites []Site

	Frames Frames
	Ops    Ops
	Sends  Ends
	Recvs  Ends
	Waits  Waits
	Colls  Collectives
	Async  Async
	Times  []RegionTime
	Calls  Calls

	archive *otf2.Archive // what was read: of other formats a copy that lasts as long as it is held
	signals int32         // the communicator of signals, None without

	room  *room    // of the columns
	moved []*clock // by process, of a trace whose times were changed; nil of a recorded one
}

// Process is one timeline: a location with communication.
type Process struct {
	Rank     int32 // in MPI_COMM_WORLD, None if unknown
	Location uint64
	Name     string // of the process, such as "MPI Rank 3"
	Thread   string // of the location
	Host     string // the system tree node the process ran on
	Home     int32  // first process with the same address space; messages go to homes
	Ops      [2]int32
	First    int64 // its first and last event
	Last     int64
	Ready    int64 // ticks, at least, without a processor just before its first event
	Partial  bool
}

// Thread is a location that takes no part in messages: a thread, a stream, a
// device. Where a row of the picture is meant, threads follow the processes.
type Thread struct {
	Location uint64
	Process  int32 // that it belongs to
	Name     string
}

// Region is a function or another named stretch of code.
type Region struct {
	Name string
	File string
	Line uint32
	MPI  bool
	// Group is what kind of work it is.
	Group Group
	short string
}

// Short is the name without parameters and template arguments.
func (r *Region) Short() string {
	if r.short == "" {
		return r.Name
	}
	return r.short
}

// Site is a place in the source.
type Site struct {
	File string
	Line uint32
}

// Comm is a communicator; Ranks are the processes by rank.
type Comm struct {
	ID    uint32
	Name  string
	Ranks []int32
	Self  bool
}

// Frames are the open regions around operations, one row per instance that
// holds communication. Parents come before their children.
type Frames struct {
	Region      []int32
	Parent      []int32
	Enter, Exit []int64
}

// Ops are the communication operations.
type Ops struct {
	Start       []int32 // operations of process p: Start[p] to Start[p+1]
	Enter, Exit []int64
	Region      []int32
	Frame       []int32 // the frame around the call
	Kind        []Kind
	Flags       []uint8
	// Ref and N are the rows of Sends or Recvs, or in Ref the collective.
	Ref []int32
	N   []int32
	// Last is the number, among the events of its location, of the event that
	// ends its call; the operations that one call is split into share it.
	Last []int32
	// Call is the row of Calls that the operation happens in.
	Call []int32
	// Site is the row of Sites of the call, None if it is not known; nil if the
	// trace has none.
	Site []int32
}

// Ends are one side of all messages, in the order of their operations.
type Ends struct {
	Op    []int32
	Peer  []int32 // home of the other process, None if unknown
	Comm  []int32
	Tag   []uint32
	Bytes []int64
	Match []int32 // row on the other side, None if unmatched
	Wait  []int32 // sends: row of Waits in which the request completed
	Post  []int32 // receives: row of Calls in which it was posted
}

// Waits are the calls in which sends complete.
type Waits struct {
	Op          []int32 // the receive operation of the same call, or None
	Proc        []int32
	Region      []int32
	Call        []int32 // row of Calls
	Enter, Exit []int64
}

// Collectives are the blocking collectives; Members of instance i are the
// operations Member[Start[i]:Start[i+1]], by process.
type Collectives struct {
	Comm   []int32
	Code   []uint8
	Root   []int32 // rank in the communicator, None if it has none
	Start  []int32
	Member []int32
}

// Codes of collectives that do not let everyone wait for everyone, as OTF2
// numbers them.
const (
	CodeBcast    = 1
	CodeGather   = 2
	CodeGatherv  = 3
	CodeScatter  = 4
	CodeScatterv = 5
	CodeReduce   = 12
	CodeScan     = 14
	CodeExscan   = 15
	CodeFile     = 255 // not of OTF2: all processes of a file read or write together
)

// Async are the non-blocking collectives: each member started in operation
// Begin and completed in Done (None if it never was).
type Async struct {
	Comm  []int32
	Code  []uint8
	Root  []int32
	Start []int32
	Begin []int32
	Done  []int32
	Rank  []int32 // of the member in the communicator
}

// RegionTime is the time one location spent in one region; Proc is the first
// process of its address space.
type RegionTime struct {
	Proc, Region int32
	Calls        int64
	Incl, Excl   int64 // ticks
}

// Repairs counts what had to be put right in the events.
type Repairs struct {
	Nesting      int // leaves that closed other regions, or none
	Unclosed     int // regions still open at the end
	Backwards    int // times that fall within a location
	Reused       int // request ids used again while open
	Orphans      int // completions of unknown requests
	BadPeers     int // peers outside their communicator
	LengthDiffer int // matched messages whose lengths differ
	Disagree     int // collectives whose members disagree on kind or root
	Incomplete   int // collectives that lack members
	NoComm       int // non-blocking collectives that never completed
	Cancelled    int // cancelled sends
}

// Messages returns the number of matched messages.
func (t *Trace) Messages() int { return t.matched(false) }

// Unmatched returns the number of sends and receives without a partner.
func (t *Trace) Unmatched() (sends, recvs int) {
	m := t.Messages()
	return t.ends(&t.Sends) - t.Repairs.Cancelled - m, t.ends(&t.Recvs) - m
}

// ends counts one side of the messages.
func (t *Trace) ends(e *Ends) int {
	n := 0
	for _, comm := range e.Comm {
		if !t.Signal(comm) {
			n++
		}
	}
	return n
}

// ProcOf returns the process of an operation.
func (t *Trace) ProcOf(op int32) int32 {
	return int32(sort.Search(len(t.Procs), func(p int) bool { return t.Ops.Start[p+1] > op }))
}

// SpanNS is how long the trace took.
func (t *Trace) SpanNS() int64 {
	return t.NS(int64(min(uint64(t.Last)-uint64(t.First), math.MaxInt64)))
}

// NS converts ticks to nanoseconds without losing precision.
func (t *Trace) NS(ticks int64) int64 {
	if t.Resolution == 1e9 {
		return ticks
	}
	if ticks < 0 {
		return -t.NS(-max(ticks, -math.MaxInt64)) // the least number has no opposite
	}
	hi, lo := bits.Mul64(uint64(ticks), 1e9)
	if hi >= t.Resolution {
		return 1<<63 - 1
	}
	q, _ := bits.Div64(hi, lo, t.Resolution)
	return int64(min(q, 1<<63-1))
}

// Ticks converts nanoseconds to ticks.
func (t *Trace) Ticks(ns int64) int64 {
	hi, lo := bits.Mul64(uint64(max(ns, 0)), t.Resolution)
	if hi >= 1e9 {
		return 1<<63 - 1
	}
	q, _ := bits.Div64(hi, lo, 1e9)
	return int64(min(q, 1<<63-1))
}
