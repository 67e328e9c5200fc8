// Package logical orders message-passing operations by what had to happen
// before what, and measures how late each one was.
//
// The method is that of Isaacs et al., "Ordering Traces Logically to Identify
// Lateness in Message-Passing Programs" (2016): operations are merged into
// partitions that cannot be separated, partitions form an acyclic graph, and
// inside each partition sends and collectives set the steps. Only the leap
// merge and the metrics look at the clock.
package logical

import (
	"context"
	"fmt"
	"sync"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/messages/trace"
)

// Structure is the logical structure of a trace and the lateness of its
// operations. Columns are parallel; operations are sorted by process and time.
type Structure struct {
	Trace   *trace.Trace
	Options Options
	Notes   []string // what was chosen for this trace, and why
	Merges  []Merge  // what each way of merging did, in order

	Start       []int32 // operations of process p: Start[p] to Start[p+1]
	First       []int32 // operation i is made of the trace's First[i] to First[i+1]
	Proc        []int32
	Kind        []trace.Kind
	Enter, Exit []int64
	Part        []int32
	Step        []int32
	Moved       []bool // by receive reordering; nil without it

	Parts Partitions
	Steps int
	// Cyclic counts sends and collectives that happen before themselves, which
	// only a damaged trace has; their steps break happened before.
	Cyclic int

	// Ticks after the earliest of the peers: of exit, of entry, and how much
	// of each is new here. Peers share partition and step, or for the Global
	// ones the step alone.
	Late, AggLate, Diff, AggDiff                         []int64
	GlobalLate, GlobalAggLate, GlobalDiff, GlobalAggDiff []int64

	of []int32 // trace operation to operation
	// order is the operations as the steps see them: by process, and inside
	// a partition in the idealised order if receives were reordered.
	order []int32
	place []int32 // position in order
	async *asyncNodes
	peers func() *Peers // found once, when first asked for
}

// Partitions are sets of operations that belong together, numbered by their
// first step. Partition q spans the steps First[q] to First[q]+Len[q]-1; its
// runs are the pieces of processes Run[Start[q]] to Run[Start[q+1]].
type Partitions struct {
	First, Len []int32
	Ops        []int32
	Start      []int32
	Run        []Run
}

// Run is a stretch of consecutive operations of one process, From to To-1.
type Run struct {
	Proc     int32
	From, To int32
}

// Count returns the number of partitions.
func (p *Partitions) Count() int { return len(p.Ops) }

// Runs returns the runs of partition q, by process.
func (p *Partitions) Runs(q int32) []Run { return p.Run[p.Start[q]:p.Start[q+1]] }

// Analyze computes the structure of t and the lateness of its operations.
// It can be called again with other options; the trace is not changed.
func Analyze(ctx context.Context, t *trace.Trace, o Options) (*Structure, error) {
	s := &Structure{Trace: t, Options: o.settle(t)}
	s.note()
	s.coalesce()
	set := newUnion(s.Len())
	sets := func() int { return set.sets }
	s.merging("messages", true, sets, func() { s.mergeMessages(set) })
	if len(o.Phases) == 0 {
		s.merging("waitall", s.Options.Waitall, sets, func() { s.mergeWaits(set) })
		s.merging("calls", s.Options.Calls, sets, func() { s.mergeCalls(set) })
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.contract(set)
	s.Merges = append(s.Merges, Merge{"cycles", set.sets, s.Parts.Count()})
	s.merging("phases", len(o.Phases) > 0, s.Parts.Count, s.mergePhases)
	var err error
	s.merging("leaps", s.Options.Leaps, s.Parts.Count, func() { err = s.mergeLeaps(ctx) })
	if err != nil {
		return nil, err
	}
	if err := s.assignSteps(ctx); err != nil {
		return nil, err
	}
	s.merging("merge_global", s.Options.MergeGlobal, s.Parts.Count, s.mergeAcross)
	s.measure()
	s.advise()
	s.peers = sync.OnceValue(s.findPeers)
	return s, ctx.Err()
}

// Retimed returns the structure with the times of t, which is its trace with
// other times. Steps do not change; lateness does.
func (s *Structure) Retimed(t *trace.Trace) *Structure {
	out := *s
	out.Trace = t
	out.Enter, out.Exit = make([]int64, s.Len()), make([]int64, s.Len())
	for i := range out.Enter {
		out.Enter[i], out.Exit[i] = t.Ops.Enter[s.First[i]], t.Ops.Exit[s.First[i+1]-1]
	}
	if s.async != nil {
		nodes := *s.async
		out.async = &nodes
	}
	out.measure()
	out.peers = sync.OnceValue(out.findPeers)
	return &out
}

// Merge is how many partitions one way of merging found and left. Before any,
// every operation is one; coalesce counts operations.
type Merge struct {
	Name          string
	Before, After int
}

// merging merges if that is wanted, and notes what it did.
func (s *Structure) merging(name string, wanted bool, count func() int, merge func()) {
	if !wanted {
		return
	}
	before := count()
	merge()
	s.Merges = append(s.Merges, Merge{name, before, count()})
}

// Len returns the number of operations.
func (s *Structure) Len() int { return len(s.Proc) }

// Name returns the name of the call an operation is.
func (s *Structure) Name(op int32) string {
	return s.Trace.Regions[s.Trace.Ops.Region[s.First[op]]].Name
}

// Of returns the operation that contains operation op of the trace.
func (s *Structure) Of(op int32) int32 { return s.of[op] }

// sends returns the rows of the trace's sends of an operation.
func (s *Structure) sends(op int32) (from, to int32) {
	o := &s.Trace.Ops
	if s.Kind[op] != trace.Send {
		return 0, 0
	}
	first, last := s.First[op], s.First[op+1]-1
	if o.N[first] == 0 {
		return 0, 0
	}
	return o.Ref[first], o.Ref[last] + o.N[last]
}

// recvs returns the rows of the trace's receives of an operation.
func (s *Structure) recvs(op int32) (from, to int32) {
	o := &s.Trace.Ops
	if s.Kind[op] != trace.Recv || o.N[s.First[op]] == 0 {
		return 0, 0
	}
	first := s.First[op]
	return o.Ref[first], o.Ref[first] + o.N[first]
}

// receiver returns the operation that receives send row i, or None.
func (s *Structure) receiver(i int32) int32 {
	m := s.Trace.Sends.Match[i]
	if m < 0 {
		return trace.None
	}
	return s.of[s.Trace.Recvs.Op[m]]
}

// sender returns the operation that sends to receive row i, or None.
func (s *Structure) sender(i int32) int32 {
	m := s.Trace.Recvs.Match[i]
	if m < 0 {
		return trace.None
	}
	return s.of[s.Trace.Sends.Op[m]]
}

// Senders calls visit for each operation that an operation received from.
func (s *Structure) Senders(op int32, visit func(int32)) {
	from, to := s.recvs(op)
	for i := from; i < to; i++ {
		if u := s.sender(i); u >= 0 {
			visit(u)
		}
	}
	s.async.senders(op, visit)
}

// Receivers calls visit for each operation that received from an operation.
func (s *Structure) Receivers(op int32, visit func(int32)) {
	from, to := s.sends(op)
	for i := from; i < to; i++ {
		if v := s.receiver(i); v >= 0 {
			visit(v)
		}
	}
}

// Collective returns the members of the blocking collective an operation is
// part of, as rows of the trace.
func (s *Structure) Collective(op int32) []int32 {
	if s.Kind[op] != trace.Collective {
		return nil
	}
	c := &s.Trace.Colls
	id := s.Trace.Ops.Ref[s.First[op]]
	return c.Member[c.Start[id]:c.Start[id+1]]
}

// coalesce joins runs of non-blocking sends into one operation each.
func (s *Structure) coalesce() {
	o := &s.Trace.Ops
	n := len(o.Enter)
	s.of = make([]int32, n)
	joined := 0
	join := func(i int32, first int32) bool {
		return s.Options.Coalesce && o.Flags[i]&trace.Joins != 0 && i > first
	}
	ops := 0
	for p := range s.Trace.Procs {
		for i := o.Start[p]; i < o.Start[p+1]; i++ {
			if !join(i, o.Start[p]) {
				ops++
			}
		}
	}
	s.First = make([]int32, 0, ops+1)
	s.Proc, s.Kind = make([]int32, 0, ops), make([]trace.Kind, 0, ops)
	s.Enter, s.Exit = make([]int64, 0, ops), make([]int64, 0, ops)
	s.Start = make([]int32, 1, len(s.Trace.Procs)+1)
	for p := range s.Trace.Procs {
		for i := o.Start[p]; i < o.Start[p+1]; i++ {
			if join(i, o.Start[p]) {
				s.Exit[len(s.Exit)-1] = o.Exit[i]
				joined++
			} else {
				s.First = append(s.First, i)
				s.Proc, s.Kind = append(s.Proc, int32(p)), append(s.Kind, o.Kind[i])
				s.Enter, s.Exit = append(s.Enter, o.Enter[i]), append(s.Exit, o.Exit[i])
			}
			s.of[i] = int32(len(s.First) - 1)
		}
		s.Start = append(s.Start, int32(len(s.First)))
	}
	s.First = append(s.First, int32(n))
	if s.Options.Coalesce {
		s.Merges = append(s.Merges, Merge{"coalesce", n, s.Len()})
	}
	if joined > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("coalesced %s into %s, because processes with different numbers of neighbours would otherwise be compared at different steps",
			term.Counted(joined+s.coalesced(), "neighbouring non-blocking send"), term.Counted(s.coalesced(), "operation")))
	}
}

// coalesced counts the operations made of several sends.
func (s *Structure) coalesced() int {
	n := 0
	for i := range s.Proc {
		if s.First[i+1]-s.First[i] > 1 {
			n++
		}
	}
	return n
}

// Bytes returns the length of the messages an operation sends or receives.
func (s *Structure) Bytes(op int32) int64 {
	sum := int64(0)
	for i, to := s.sends(op); i < to; i++ {
		sum += s.Trace.Sends.Bytes[i]
	}
	for i, to := s.recvs(op); i < to; i++ {
		sum += s.Trace.Recvs.Bytes[i]
	}
	return sum
}
