package timeline

import (
	"fmt"

	"github.com/isobath/isobath/internal/messages/logical"
)

// Place is an operation in short: where it is and how late.
type Place struct {
	ID        int32   `json:"id"`
	Process   int32   `json:"process"`
	Rank      int32   `json:"rank"`
	Name      string  `json:"name"`
	Kind      string  `json:"kind"` // send, recv or collective
	Step      int32   `json:"step"`
	Partition int32   `json:"partition"`
	Enter     float64 `json:"enter"` // ns after the first event
	Exit      float64 `json:"exit"`
	Lateness  int64   `json:"lateness"` // of its exit, against all at the step
	New       int64   `json:"new"`      // the part of it that is new here
}

// Operation is everything known about an operation. Lateness is in nanoseconds,
// against all operations of the step (global) or of its partition too.
type Operation struct {
	Place
	Began        float64 `json:"began"` // when the computation before it began
	BeforeLate   int64   `json:"beforeLate"`
	BeforeNew    int64   `json:"beforeNew"`
	PartLate     int64   `json:"partitionLateness"`
	PartNew      int64   `json:"partitionNew"`
	Case         string  `json:"case" ts:"'' | 'compute' | 'message' | 'call' | 'sender' | 'process'"`
	Origin       int32   `json:"origin"` // operation at which its chain ends, -1 if on time
	Moved        bool    `json:"moved"`  // a receive that was put into its ideal place
	Calls        int     `json:"calls"`  // of the program, if several were joined
	Senders      []Place `json:"senders"`
	Receivers    []Place `json:"receivers"`
	Participants int     `json:"participants"` // of a collective
	Bytes        int64   `json:"bytes"`
	// Chain runs from the origin of the lateness to the operation; more than
	// MaxChain operations are cut in the middle, and Skipped counts them.
	Chain    []Place `json:"chain"`
	Skipped  int     `json:"skipped"`
	Previous int32   `json:"previous"` // on the process; -1 if there is none
	Next     int32   `json:"next"`
	// Peers are how long the other operations of the step computed before it:
	// the longest of them.
	PeersCompute int64  `json:"peersCompute"`
	Region       string `json:"region"` // function around the call
	// File and Line are where the call is, if the trace says so (Site), and
	// otherwise where the function around it begins.
	File string `json:"file"`
	Line int64  `json:"line"`
	Site bool   `json:"site"`
	// Slack is how much later the computation before it could end without delaying
	// the run, in ns; null where that is not known.
	Slack *int64 `json:"slack"`
	// Other is its partner in the run that is compared with; null if there is
	// none.
	Other *Counterpart `json:"other"`
}

// Counterpart is the same operation in another run; Compute is how long the
// computation before it took, in ns.
type Counterpart struct {
	Place
	Compute float64 `json:"compute"`
}

// MaxChain bounds the operations of a chain that are listed, MaxPartners the
// senders and receivers.
const (
	MaxChain    = 200
	MaxPartners = 200
)

// caseNames as they travel.
var caseNames = map[logical.Case]string{
	logical.OnTime: "", logical.Computation: "compute", logical.Message: "message", logical.Call: "call",
	logical.FromSender: "sender", logical.FromProcess: "process",
}

// Place describes an operation in short.
func (t *Timeline) Place(op int32) Place {
	s := t.S
	return Place{
		ID: op, Process: s.Proc[op], Rank: t.rankOf(s.Proc[op]), Name: s.Name(op), Kind: s.Kind[op].String(), Step: s.Step[op],
		Partition: s.Part[op], Enter: t.ns(s.Enter[op]), Exit: t.ns(s.Exit[op]),
		Lateness: s.Trace.NS(s.GlobalLate[op]), New: s.Trace.NS(s.GlobalDiff[op]),
	}
}

// Operation describes an operation; c tells where its lateness comes from.
func (t *Timeline) Operation(op int32, c *logical.Causes, against *Versus) (*Operation, error) {
	s := t.S
	if op < 0 || int(op) >= s.Len() {
		return nil, fmt.Errorf("no operation %d: there are %d", op, s.Len())
	}
	ns := s.Trace.NS
	o := &Operation{
		Place: t.Place(op), Began: t.ns(s.Began(op)), BeforeLate: ns(s.GlobalAggLate[op]), BeforeNew: ns(s.GlobalAggDiff[op]),
		PartLate: ns(s.Late[op]), PartNew: ns(s.Diff[op]), Case: caseNames[c.Case[op]], Origin: -1,
		Moved: s.Moved != nil && s.Moved[op], Calls: int(s.First[op+1] - s.First[op]),
		Senders: []Place{}, Receivers: []Place{}, Participants: len(s.Collective(op)), Bytes: s.Bytes(op),
		Chain: []Place{}, Previous: -1, Next: -1, PeersCompute: t.peersCompute(op),
	}
	s.Senders(op, func(u int32) { o.Senders = t.partner(o.Senders, u) })
	s.Receivers(op, func(v int32) { o.Receivers = t.partner(o.Receivers, v) })
	if c.Case[op] != logical.OnTime {
		o.Origin = c.Origin[op]
		chain := c.Chain(op)
		if o.Skipped = len(chain) - MaxChain; o.Skipped > 0 {
			chain = append(chain[:MaxChain/2:MaxChain/2], chain[len(chain)-MaxChain/2:]...)
		}
		o.Skipped = max(0, o.Skipped)
		for _, u := range chain {
			o.Chain = append(o.Chain, t.Place(u))
		}
	}
	if op > s.Start[s.Proc[op]] {
		o.Previous = op - 1
	}
	if op+1 < s.Start[s.Proc[op]+1] {
		o.Next = op + 1
	}
	if r := s.Around(op); r >= 0 {
		region := s.Trace.Regions[r]
		o.Region, o.File, o.Line = region.Name, region.File, int64(region.Line)
	}
	if row := s.Trace.Ops.Site; row != nil && row[s.First[op]] >= 0 {
		site := s.Trace.Sites[row[s.First[op]]]
		o.File, o.Line, o.Site = site.File, int64(site.Line), true
	}
	if against != nil && against.Align.Of[op] >= 0 {
		j, there := against.Align.Of[op], against.There
		o.Other = &Counterpart{there.Place(j), float64(there.S.Trace.NS(there.S.Enter[j] - there.S.Began(j)))}
	}
	return o, nil
}

func (t *Timeline) partner(list []Place, op int32) []Place {
	if len(list) >= MaxPartners {
		return list
	}
	return append(list, t.Place(op))
}

// peersCompute returns the longest computation before the other operations of
// the same step. The search looks at each process once.
func (t *Timeline) peersCompute(op int32) int64 {
	s := t.S
	step := s.Step[op]
	most := int64(0)
	for p := range s.Trace.Procs {
		a, b := s.Start[p], s.Start[p+1]
		i := search(a, b, func(i int32) bool { return s.Step[t.seq(i)] >= step })
		if i < b && s.Step[t.seq(i)] == step && t.seq(i) != op {
			most = max(most, s.Enter[t.seq(i)]-s.Began(t.seq(i)))
		}
	}
	return s.Trace.NS(most)
}
