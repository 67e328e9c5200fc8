// Package whatif replays a message-passing trace with changed durations: what
// the run would have taken if a computation, a message or a call had been
// faster, and so which of them is worth fixing.
//
// A call of MPI has two events, its enter and its exit. An exit is the latest of
// what it depends on: its own enter and the enters of calls on other processes,
// each with a constant that is fitted to the recording. Without a change the
// replay gives every recorded time back.
package whatif

import (
	"context"
	"math/bits"

	"github.com/isobath/isobath/internal/messages/trace"
)

// Kind is why an exit depends on another process.
type Kind uint8

// The kinds. Those from Progress on are inferred: no record names them.
const (
	Message     Kind = iota // a receive, on the enter of its send
	Rendezvous              // a send that cannot be buffered, on the posting of its receive
	Probe                   // a probe, on the send of the message it finds
	Full                    // a collective that waits for all its members
	Rooted                  // a collective that waits for its root, or the root for all
	NonBlocking             // the completion of a non-blocking collective
	Signal                  // an epoch, a lock or a collective of neighbours, on the partner that lets it go on
	Progress                // a transfer that went on when the partner entered MPI again
	Tree                    // a member of a rooted collective held up by the library's tree
	Epoch                   // one-sided and neighbour calls of which the partners are not recorded
	dropped                 // closed a cycle: the trace is damaged
)

var kindNames = [...]string{"message", "rendezvous", "probe", "collective", "rooted collective", "non-blocking collective", "signal", "progress", "tree", "epoch", "dropped"}

func (k Kind) String() string { return kindNames[k] }

// Graph is what happened before what, with constants that give the recording
// back. Calls are those of the trace; a cause is a call (its enter counts) or,
// if negative, node ^cause. It does not change once it is built.
type Graph struct {
	Trace *trace.Trace

	Start       []int32 // calls of line p: Start[p] to Start[p+1]
	Line        []int32
	Enter, Exit []int64
	Own         []int64 // what a call takes if nobody keeps it waiting
	UsualOwn    []int64
	Bytes       []int64 // sent and received in the call

	First []int32 // dependencies of call i: First[i] to First[i+1]
	Deps  Deps

	// Node n is the last enter of its members Member[NodeStart[n]:NodeStart[n+1]],
	// and not before node Prev[n].
	NodeStart []int32
	Member    []int32
	Prev      []int32

	Begin, Tail []int64 // per line: its first event, and the time after its last call
	First0      int64   // the earliest beginning

	// Eager is the largest size known to be sent without a receiver, Rendez the
	// smallest known to need one; -1 if there is no evidence.
	Eager, Rendez int64
	Inferred      Inferred
	signalled     []bool // calls that take part in signals; nil without
	Negative      int    // dependencies that end before their cause: clocks differ
	Cycles        int    // dependencies left out because the trace is damaged

	order []int32
	usual usual
	hubs  []hub
}

// Deps are the dependencies, in columns.
type Deps struct {
	Cause      []int32
	Kind       []Kind
	Lag, Usual []int64
	Bytes      []int64
}

// Inferred counts dependencies that no record names.
type Inferred struct {
	Rendezvous    int `json:"rendezvous"`
	Progress      int `json:"progress"`
	Tree          int `json:"tree"`
	Probe         int `json:"probe"`
	Polls         int `json:"polls"`
	Fences        int `json:"fences"`
	Communicators int `json:"communicators"`
	Epochs        int `json:"epochs"`
}

// Len returns the number of calls.
func (g *Graph) Len() int { return len(g.Enter) }

// Lines returns the number of processes.
func (g *Graph) Lines() int { return len(g.Begin) }

// Build makes the graph of a trace.
func Build(ctx context.Context, t *trace.Trace) (*Graph, error) {
	b := newBuilder(t)
	b.collect()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g := b.Graph
	g.sortOrder()
	b.fit()
	g.resort(b)
	g.hubs = g.findHubs()
	return g, ctx.Err()
}

// newBuilder begins a graph with the calls of a trace, and no dependencies.
func newBuilder(t *trace.Trace) *builder {
	c := &t.Calls
	g := &Graph{Trace: t, Start: c.Start, Enter: c.Enter, Exit: c.Exit, Eager: -1, Rendez: -1}
	g.Line = make([]int32, g.Len())
	g.Begin, g.Tail = make([]int64, len(t.Procs)), make([]int64, len(t.Procs))
	for p := range t.Procs {
		g.Begin[p], g.Tail[p] = t.Procs[p].First, t.Procs[p].Last-t.Procs[p].First
		for i := c.Start[p]; i < c.Start[p+1]; i++ {
			g.Line[i] = int32(p)
			g.Tail[p] = t.Procs[p].Last - c.Exit[i]
		}
		if p == 0 || g.Begin[p] < g.First0 {
			g.First0 = g.Begin[p]
		}
	}
	return &builder{Graph: g}
}

// Computation returns the recorded time between a call and the one before it.
func (g *Graph) Computation(i int32) int64 {
	p := g.Line[i]
	if i == g.Start[p] {
		return g.Enter[i] - g.Begin[p]
	}
	return g.Enter[i] - g.Exit[i-1]
}

// causeTime is the recorded time of a cause.
func (g *Graph) causeTime(cause int32) int64 {
	if cause >= 0 {
		return g.Enter[cause]
	}
	return g.nodeTime(^cause)
}

func (g *Graph) nodeTime(n int32) int64 {
	last := int64(-1 << 62)
	for ; n >= 0; n = g.Prev[n] {
		for _, m := range g.Member[g.NodeStart[n]:g.NodeStart[n+1]] {
			last = max(last, g.Enter[m])
		}
	}
	return last
}

// size is the class of a length.
func size(bytes int64) int { return bits.Len64(uint64(max(bytes, 0))) }

func (g *Graph) lineEnd(p int32) int64 {
	if g.Start[p] == g.Start[p+1] {
		return g.Begin[p] + g.Tail[p]
	}
	return g.Exit[g.Start[p+1]-1] + g.Tail[p]
}
