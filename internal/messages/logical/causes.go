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

// DefaultThreshold is how late an operation must be to be called late, in ns.
const DefaultThreshold = 500_000

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
	// InWait is the part of a late computation spent in calls that wait for
	// sends to complete.
	InWait int64

	StartUp bool // at or before the first operation of its process: start-up skew
}

// Threshold returns the threshold to use when the user gives none: the usual
// one, or less if no delay in the whole trace reaches it.
func (s *Structure) Threshold() int64 {
	usual := s.Trace.Ticks(DefaultThreshold)
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
	c := &Causes{CauseOptions: o, Case: make([]Case, n), Up: make([]int32, n), Origin: make([]int32, n)}
	for i := range int32(n) {
		c.Case[i], c.Up[i] = s.step(i)
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
// and the operation to look at next.
func (s *Structure) step(op int32) (Case, int32) {
	late, began := s.GlobalLate[op], s.GlobalAggLate[op]
	if 2*s.GlobalDiff[op] >= late {
		if s.Kind[op] == trace.Recv {
			return Message, trace.None
		}
		return Call, trace.None
	}
	from := trace.None
	s.Senders(op, func(u int32) {
		if from < 0 || s.GlobalLate[u] > s.GlobalLate[from] {
			from = u
		}
	})
	if from >= 0 && s.GlobalLate[from] >= began {
		return FromSender, from
	}
	if 2*s.GlobalAggDiff[op] >= began || op == s.Start[s.Proc[op]] {
		return Computation, trace.None
	}
	return FromProcess, op - 1
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
			k = len(c.List)
			index[key] = k
			c.List = append(c.List, s.newCause(op, kind, c.Threshold))
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
		if s.GlobalAggDiff[i] >= c.Threshold {
			entry(i, Computation)
		}
		if s.GlobalDiff[i] >= c.Threshold {
			entry(i, s.callCase(i))
		}
		if s.GlobalLate[i] < c.Threshold {
			continue
		}
		c.LateOps++
		c.ByCase[c.Case[i]]++
		origin := c.Origin[i]
		kind, _ := s.step(origin)
		e := entry(origin, kind)
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
	e := Cause{Op: op, Case: kind, Amount: s.GlobalDiff[op], Late: s.GlobalLate[op], LastStep: s.Step[op],
		StartUp: op == s.Start[s.Proc[op]]}
	if kind != Computation {
		return e
	}
	e.Amount, e.Late = s.GlobalAggDiff[op], s.GlobalAggLate[op]
	if !e.StartUp {
		e.InWait = s.waitsBetween(s.Proc[op], s.Exit[op-1], s.Enter[op])
	}
	for _, m := range s.Collective(op) {
		if d := s.Enter[op] - s.Enter[s.of[m]]; d >= threshold {
			e.Waiting++
			e.Waited += d
		}
	}
	return e
}

// waitsBetween sums the calls of a process that complete sends but receive
// nothing, inside a stretch of time: they are part of what happened between
// two operations.
func (s *Structure) waitsBetween(proc int32, from, to int64) int64 {
	w := &s.Trace.Waits
	lo, _ := slices.BinarySearch(w.Proc, proc)
	hi, _ := slices.BinarySearch(w.Proc, proc+1)
	k, _ := slices.BinarySearch(w.Enter[lo:hi], from)
	sum := int64(0)
	for i := lo + k; i < hi && w.Exit[i] <= to; i++ {
		if w.Op[i] < 0 {
			sum += w.Exit[i] - w.Enter[i]
		}
	}
	return sum
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
