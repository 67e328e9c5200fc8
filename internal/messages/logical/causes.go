package logical

import (
	"cmp"
	"context"
	"slices"

	"github.com/isobath/isobath/internal/messages/trace"
)

// Case says how an operation became late (the paper's figure 7, with the
// calls that take long by themselves apart).
type Case uint8

// The cases. OnTime is below the threshold.
const (
	OnTime      Case = iota
	Computation      // the computation before it was late: imbalance or noise
	Message          // a receive, but no sender was late: in flight, or receiving
	Call             // a send or collective that took long by itself
	FromSender       // inherited by a message
	FromProcess      // inherited from the operation before it
)

// String returns the word used in output.
func (c Case) String() string {
	return [...]string{"on time", "compute", "message", "call", "inherited by message", "inherited in process"}[c]
}

// lateThreshold is how late an operation must be to be called late, in ns.
const lateThreshold = 500_000

// CauseOptions choose what is late and which steps count.
type CauseOptions struct {
	Threshold int64 // ticks
	From, To  int32 // steps From to To-1; To 0 is the end
}

// Causes traces every late operation back to where its delay was injected.
type Causes struct {
	CauseOptions
	Case   []Case
	Up     []int32 // next operation of the chain, None where it ends
	Origin []int32 // operation at which the chain ends
	List   []Cause // ranked

	LateOps int
	Sum     int64 // lateness of all operations in the window
	ByCase  [6]int
	// AlsoSlow are late most of all by something else, and the computation before them
	// took longer than usual by the threshold or more too.
	AlsoSlow int

	kind []Case // of every operation, whatever the threshold
}

// Cause is one injected delay.
type Cause struct {
	Op     int32
	Case   Case  // Computation, Message or Call
	Amount int64 // the lateness that is new here
	Late   int64 // how late the operation began (Computation) or ended

	Ops      int   // late operations whose chain ends here
	Procs    int   // other processes among them
	Reach    int64 // sum of their lateness
	LastStep int32 // of the reach

	// Waiting processes were held up inside the collective that absorbed the
	// delay, Waited in all.
	Waiting int
	Waited  int64
	// Sender is the latest sender of a message, None if none was late.
	Sender     int32
	SenderLate int64

	StartUp bool // its process began to be recorded later than others
}

// Threshold returns the threshold to use when the user gives none: the usual
// one, or less if no delay in the whole trace reaches it.
func (s *Structure) Threshold() int64 {
	usual := s.Trace.Ticks(lateThreshold)
	most := int64(0)
	for i := range int32(s.Len()) {
		if i > s.Start[s.Proc[i]] {
			most = max(most, s.GlobalAggDiff[i], s.GlobalDiff[i])
		}
	}
	if most < 2*usual {
		return max(1, most/4)
	}
	return usual
}

// Causes finds the injected delays.
func (s *Structure) Causes(ctx context.Context, o CauseOptions) (*Causes, error) {
	if o.To <= 0 || int(o.To) > s.Steps {
		o.To = int32(s.Steps)
	}
	n := s.Len()
	c := &Causes{CauseOptions: o, Case: make([]Case, n), kind: make([]Case, n), Up: make([]int32, n), Origin: make([]int32, n)}
	for i := range int32(n) {
		c.Case[i], c.Up[i] = c.step(s, i)
		c.kind[i] = c.Case[i]
		c.Origin[i] = trace.None
	}
	c.follow()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.collect(s)
	return c, nil
}

// step applies the chain rule to one operation: where its lateness comes from,
// and the operation to look at next. A computation is where it came from only if
// it took longer than like computations did; differences between steps that hold
// different processes are no evidence.
func (c *Causes) step(s *Structure, op int32) (Case, int32) {
	late, began := s.GlobalLate[op], s.GlobalAggLate[op]
	if 2*s.GlobalDiff[op] >= late {
		if s.Kind[op] == trace.Recv {
			return Message, trace.None
		}
		if u := s.lateReceiver(op); u >= 0 {
			return FromSender, u
		}
		return Call, trace.None
	}
	if from, most := s.latestSender(op); from >= 0 && most >= began {
		return FromSender, from
	}
	first := op == s.Start[s.Proc[op]]
	if (2*s.GlobalAggDiff[op] >= began || first) && 2*s.Excess(op) >= s.GlobalAggDiff[op] {
		return Computation, trace.None
	}
	if first {
		if 2*s.beganLate(op) >= began {
			return Computation, trace.None
		}
		return FromProcess, trace.None
	}
	if u := s.waitedFor(op); u >= 0 {
		return FromSender, u
	}
	return FromProcess, op - 1
}

// latestSender returns the sender of an operation that was latest, and by how
// much.
func (s *Structure) latestSender(op int32) (from int32, late int64) {
	from = trace.None
	s.Senders(op, func(u int32) {
		if from < 0 || s.GlobalLate[u] > late {
			from, late = u, s.GlobalLate[u]
		}
	})
	return from, late
}

// Excess is what the computation before an operation took beyond that of its
// peers, summed over the calls since the operation before. It never exceeds the
// time between the two.
func (s *Structure) Excess(op int32) int64 {
	p := s.Peers()
	from, to := s.callsBefore(op)
	sum := int64(0)
	for i := from; i < to; i++ {
		sum += p.Excess(i)
	}
	return sum
}

// callsBefore are the calls whose computation lies between an operation and the
// one before it on its process.
func (s *Structure) callsBefore(op int32) (from, to int32) {
	t := s.Trace
	first := s.First[op]
	from, to = t.Calls.Start[s.Proc[op]], t.Ops.Call[first]+1
	if op > s.Start[s.Proc[op]] {
		from = t.Ops.Call[first-1] + 1
	}
	return from, max(from, to)
}

// beganLate is how much later than the first its process began to be recorded.
func (s *Structure) beganLate(op int32) int64 {
	return s.Trace.Procs[s.Proc[op]].First - s.Trace.First
}

// lateReceiver returns the operation of the receiver that kept a blocking send
// waiting: its receive was posted after the send began, and let it go.
func (s *Structure) lateReceiver(op int32) int32 {
	from, to := s.sends(op)
	if from == to || s.Trace.Ops.Flags[s.First[op]]&trace.Blocks == 0 {
		return trace.None
	}
	rows := make([]int32, 0, to-from)
	for i := from; i < to; i++ {
		rows = append(rows, i)
	}
	return s.lastPosted(rows, s.Enter[op], s.Exit[op])
}

// lastPosted returns the operation at which the last receive of some sends was
// posted, if that was inside a stretch of time.
func (s *Structure) lastPosted(sends []int32, enter, exit int64) int32 {
	t := s.Trace
	best, at := trace.None, enter
	for _, i := range sends {
		m := t.Sends.Match[i]
		if m < 0 {
			continue
		}
		post := t.Recvs.Post[m]
		if e := t.Calls.Enter[post]; e > at && e <= exit {
			best, at = t.Recvs.Op[m], e
		}
	}
	if best < 0 {
		return trace.None
	}
	return s.of[best]
}

// waitedFor returns the receiver that kept the process waiting, between an
// operation and the one before it, for a send to complete.
func (s *Structure) waitedFor(op int32) int32 {
	t := s.Trace
	p := s.Peers()
	lo, hi := s.waitRows(s.Proc[op], s.Exit[op-1], s.Enter[op])
	for w := hi - 1; w >= lo; w-- {
		if t.Waits.Op[w] >= 0 {
			continue
		}
		if u := s.lastPosted(p.waitSends[p.waitAt[w]:p.waitAt[w+1]], t.Waits.Enter[w], t.Waits.Exit[w]); u >= 0 {
			return u
		}
	}
	return trace.None
}

// follow resolves the ends of all chains; each operation is walked once.
// Chains go back along happened before, so they end, unless the trace is
// damaged: a chain that meets itself is cut there.
func (c *Causes) follow() {
	const walking = int32(-2)
	var path []int32
	for i := range int32(len(c.Up)) {
		at := i
		path = path[:0]
		for c.Origin[at] == trace.None && c.Up[at] >= 0 {
			c.Origin[at] = walking
			path = append(path, at)
			at = c.Up[at]
		}
		end := c.Origin[at]
		if end < 0 {
			end = at
			c.Origin[at], c.Up[at] = at, trace.None
		}
		for _, op := range path {
			c.Origin[op] = end
		}
	}
}

// collect makes the list: every origin of a late operation, and every delay
// above the threshold that a collective absorbed before it made anyone late.
func (c *Causes) collect(s *Structure) {
	index := map[int32]int{}
	entry := func(op int32, kind Case) *Cause {
		key := 2 * op
		if kind == Computation {
			key++
		}
		k, ok := index[key]
		if !ok {
			cause := s.newCause(op, kind, c.Threshold)
			if cause.Amount <= 0 { // a chain may end where no time was lost: then its beginning is not known
				return nil
			}
			k = len(c.List)
			index[key] = k
			c.List = append(c.List, cause)
		}
		return &c.List[k]
	}
	lastProc := map[int32]int32{} // cause to the last process counted
	for i := range int32(s.Len()) {
		if s.Step[i] < c.From || s.Step[i] >= c.To {
			c.Case[i] = OnTime
			continue
		}
		c.Sum += s.GlobalLate[i]
		slow := s.Excess(i) >= c.Threshold
		if slow {
			entry(i, Computation)
		}
		if s.GlobalDiff[i] >= c.Threshold && c.kind[i] != FromSender {
			entry(i, s.callCase(i))
		}
		if s.GlobalLate[i] < c.Threshold {
			continue
		}
		c.LateOps++
		c.ByCase[c.Case[i]]++
		if slow && c.Case[i] != Computation {
			c.AlsoSlow++
		}
		origin := c.Origin[i]
		kind := c.kind[origin]
		if kind > Call {
			continue // where it began is not known
		}
		e := entry(origin, kind)
		if e == nil {
			continue
		}
		e.Ops++
		e.Reach += s.GlobalLate[i]
		e.LastStep = max(e.LastStep, s.Step[i])
		// Operations come process by process, so one mark per cause counts
		// each process once.
		key := int32(index[2*origin+boolInt(kind == Computation)])
		if last, seen := lastProc[key]; s.Proc[i] != s.Proc[origin] && (!seen || last != s.Proc[i]) {
			e.Procs++
			lastProc[key] = s.Proc[i]
		}
	}
	for i := range c.Case {
		if s.GlobalLate[i] < c.Threshold {
			c.Case[i] = OnTime
		}
	}
	slices.SortStableFunc(c.List, func(a, b Cause) int { return rank(&a, &b) })
}

func boolInt(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

func (s *Structure) callCase(op int32) Case {
	if s.Kind[op] == trace.Recv {
		return Message
	}
	return Call
}

func (s *Structure) newCause(op int32, kind Case, threshold int64) Cause {
	e := Cause{Op: op, Case: kind, Amount: s.GlobalDiff[op], Late: s.GlobalLate[op], LastStep: s.Step[op], Sender: trace.None}
	if kind == Message {
		if from, late := s.latestSender(op); late > 0 {
			e.Sender, e.SenderLate = from, late
		}
	}
	if kind != Computation {
		return e
	}
	e.Amount, e.Late = s.Excess(op), s.GlobalAggLate[op]
	if op == s.Start[s.Proc[op]] && e.Amount < threshold {
		e.StartUp, e.Amount = true, s.beganLate(op)
	}
	for _, m := range s.Collective(op) {
		u := s.of[m]
		if d := min(s.Enter[op], s.Exit[u]) - s.Enter[u]; d >= threshold {
			e.Waiting++
			e.Waited += d
		}
	}
	return e
}

// waitRows are the calls of a process that complete sends, inside a stretch of
// time.
func (s *Structure) waitRows(proc int32, from, to int64) (lo, hi int) {
	w := &s.Trace.Waits
	lo, _ = slices.BinarySearch(w.Proc, proc)
	end, _ := slices.BinarySearch(w.Proc, proc+1)
	k, _ := slices.BinarySearch(w.Enter[lo:end], from)
	lo += k
	for hi = lo; hi < end && w.Exit[hi] <= to; hi++ {
	}
	return lo, hi
}

// rank orders causes: computations first, because they are the program's own,
// then messages and calls, start-up skew last; in each by what they cost.
func rank(a, b *Cause) int {
	return cmp.Or(cmp.Compare(a.class(), b.class()), cmp.Compare(b.Cost(), a.Cost()), cmp.Compare(b.Amount, a.Amount), cmp.Compare(a.Op, b.Op))
}

func (e *Cause) class() int {
	switch {
	case e.StartUp:
		return 2
	case e.Case == Computation:
		return 0
	}
	return 1
}

// Cost is what a delay took from others: its amount for every other process
// that it made late or kept waiting.
func (e *Cause) Cost() int64 { return e.Amount * int64(max(e.Procs, e.Waiting)) }

// Chain returns the operations from the origin of op's lateness to op.
func (c *Causes) Chain(op int32) []int32 {
	chain := []int32{op}
	for c.Up[op] >= 0 {
		op = c.Up[op]
		chain = append(chain, op)
	}
	slices.Reverse(chain)
	return chain
}
