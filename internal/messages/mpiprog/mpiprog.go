// Package mpiprog runs simulated message-passing programs and writes what a
// tracer would have recorded, so that tests and benchmarks can have traces
// whose structure is known by construction.
//
// Calls are executed in the order they are made: a receive must follow the
// send it takes, as in any execution that did not deadlock.
package mpiprog

import (
	"fmt"

	"github.com/isobath/isobath/internal/formats/otf2"
)

// Costs of the simulated machine, in nanoseconds.
const (
	overhead = 1_000 // of a call
	latency  = 5_000 // of a message
)

// Program is a running program.
type Program struct {
	w       *otf2.Writer
	ranks   []rank
	regions map[string]uint32
	comms   []comm
	queues  map[channel]*queue
	sent    uint64 // messages so far; a message's number is its length
	err     error
}

type rank struct {
	out      *otf2.EventWriter
	now      uint64
	requests map[uint64]*Request
	next     uint64
}

type comm struct {
	members []int
	rankOf  map[int]uint64
	id      uint32
}

// Comm is a communicator of the program.
type Comm int

// World is the communicator of all ranks.
const World Comm = 0

type channel struct {
	comm     Comm
	from, to int
	tag      uint32
}

// queue holds the messages of a channel in the order they were sent, and
// counts the receives that were posted for them.
type queue struct {
	sent   []message
	posted int
}

type message struct {
	at uint64
	id uint64
}

// Request is an open request of a rank.
type Request struct {
	id     uint64
	send   bool
	ch     channel
	index  int // posted receives: which message of the channel
	coll   *Collective
	member int
}

// New starts a program of n ranks whose trace is written to path.
func New(path string, n int) (*Program, error) {
	w, err := otf2.Create(path, otf2.WriterOptions{Creator: "mpiprog"})
	if err != nil {
		return nil, err
	}
	p := &Program{w: w, ranks: make([]rank, n), regions: map[string]uint32{}, queues: map[channel]*queue{}}
	node := w.Node("simulated", "machine", otf2.None)
	locations := make([]uint64, n)
	all := make([]int, n)
	for r := range n {
		group := w.Process(fmt.Sprintf("MPI Rank %d", r), node)
		p.ranks[r] = rank{out: w.Location("Master thread", group), now: 1000, requests: map[uint64]*Request{}}
		locations[r], all[r] = uint64(r), r
	}
	w.CommLocations(locations)
	p.NewComm("MPI_COMM_WORLD", all)
	for r := range n {
		p.Enter(r, "main")
	}
	return p, nil
}

// Size returns the number of ranks.
func (p *Program) Size() int { return len(p.ranks) }

// NewComm makes a communicator of some ranks, in the given order.
func (p *Program) NewComm(name string, members []int) Comm {
	c := comm{members: members, rankOf: map[int]uint64{}}
	world := make([]uint64, len(members))
	for i, r := range members {
		c.rankOf[r] = uint64(i)
		world[i] = uint64(r)
	}
	c.id = p.w.Comm(name, world, otf2.None)
	p.comms = append(p.comms, c)
	return Comm(len(p.comms) - 1)
}

func (p *Program) region(name string) uint64 {
	id, ok := p.regions[name]
	if !ok {
		info := otf2.RegionInfo{Name: name}
		if len(name) > 4 && name[:4] == "MPI_" {
			info.Paradigm = otf2.ParadigmMPI
		}
		id = p.w.Region(info)
		p.regions[name] = id
	}
	return uint64(id)
}

func (p *Program) event(r int, kind otf2.Kind, fields ...uint64) {
	ev := otf2.Event{Kind: kind, Time: p.ranks[r].now}
	copy(ev.F[:], fields)
	if err := p.ranks[r].out.Write(&ev); err != nil && p.err == nil {
		p.err = err
	}
}

// Enter and Leave open and close a region.
func (p *Program) Enter(r int, name string) { p.event(r, otf2.Enter, p.region(name)) }

// Leave closes a region.
func (p *Program) Leave(r int, name string) { p.event(r, otf2.Leave, p.region(name)) }

// Measure defines a counter that only grows, and returns its number for Count.
func (p *Program) Measure(name, unit string) uint64 {
	const accumulated, unsigned = 0, 4
	return uint64(p.w.MetricClass(p.w.MetricMember(name, unit, accumulated, unsigned)))
}

// Count records a reading of a counter.
func (p *Program) Count(r int, measure, value uint64) {
	ev := otf2.Event{Kind: otf2.Metric, Time: p.ranks[r].now, List: []otf2.Value{{Type: 4, Bits: value}}}
	ev.F[0] = measure
	if err := p.ranks[r].out.Write(&ev); err != nil && p.err == nil {
		p.err = err
	}
}

// Place gives a region its file and lines; it must come before its first use.
func (p *Program) Place(name, file string, begin, end uint32) {
	p.regions[name] = p.w.Region(otf2.RegionInfo{Name: name, File: file, Begin: begin, End: end})
}

// Compute lets a rank work for some nanoseconds.
func (p *Program) Compute(r int, ns uint64) { p.ranks[r].now += ns }

// Now returns the clock of a rank.
func (p *Program) Now(r int) uint64 { return p.ranks[r].now }

func (p *Program) queue(ch channel) *queue {
	q := p.queues[ch]
	if q == nil {
		q = &queue{}
		p.queues[ch] = q
	}
	return q
}

// push sends a message on a channel and returns its number.
func (p *Program) push(ch channel) uint64 {
	p.sent++
	q := p.queue(ch)
	q.sent = append(q.sent, message{p.ranks[ch.from].now, p.sent})
	return p.sent
}

func (p *Program) message(kind otf2.Kind, r int, peer int, ch channel, id uint64, request ...uint64) {
	c := &p.comms[ch.comm]
	p.event(r, kind, append([]uint64{c.rankOf[peer], uint64(c.id), uint64(ch.tag), id}, request...)...)
}

// Send is MPI_Send.
func (p *Program) Send(r, to int, c Comm, tag uint32) {
	p.Enter(r, "MPI_Send")
	p.sendRecord(r, to, c, tag)
	p.Compute(r, overhead)
	p.Leave(r, "MPI_Send")
}

func (p *Program) sendRecord(r, to int, c Comm, tag uint32) {
	ch := channel{c, r, to, tag}
	p.message(otf2.MPISend, r, to, ch, p.push(ch))
}

// Recv is MPI_Recv.
func (p *Program) Recv(r, from int, c Comm, tag uint32) {
	p.Enter(r, "MPI_Recv")
	p.recvRecord(r, from, c, tag)
	p.Compute(r, overhead)
	p.Leave(r, "MPI_Recv")
}

func (p *Program) recvRecord(r, from int, c Comm, tag uint32) {
	ch := channel{c, from, r, tag}
	q := p.queue(ch)
	m := message{} // a receive that no send in the trace explains
	if q.posted < len(q.sent) {
		m = q.sent[q.posted]
	}
	q.posted++
	p.ranks[r].now = max(p.ranks[r].now, m.at+latency)
	p.message(otf2.MPIRecv, r, from, ch, m.id)
}

// Pending returns how many messages of a channel wait for a receive.
func (p *Program) Pending(from, to int, c Comm, tag uint32) int {
	q := p.queue(channel{c, from, to, tag})
	return len(q.sent) - q.posted
}

// BeginSendrecv and EndSendrecv are the two halves of MPI_Sendrecv: other
// ranks may send between them.
func (p *Program) BeginSendrecv(r, to int, c Comm, tag uint32) {
	p.Enter(r, "MPI_Sendrecv")
	p.sendRecord(r, to, c, tag)
}

// EndSendrecv receives and leaves MPI_Sendrecv.
func (p *Program) EndSendrecv(r, from int, c Comm, tag uint32) {
	p.recvRecord(r, from, c, tag)
	p.Compute(r, overhead)
	p.Leave(r, "MPI_Sendrecv")
}

func (p *Program) open(r int, q *Request) *Request {
	p.ranks[r].next++
	q.id = p.ranks[r].next
	return q
}

// Isend is MPI_Isend.
func (p *Program) Isend(r, to int, c Comm, tag uint32) *Request {
	q := p.open(r, &Request{send: true})
	ch := channel{c, r, to, tag}
	p.Enter(r, "MPI_Isend")
	p.message(otf2.MPIIsend, r, to, ch, p.push(ch), q.id)
	p.Compute(r, overhead/4)
	p.Leave(r, "MPI_Isend")
	return q
}

// Irecv is MPI_Irecv; the message may be sent later.
func (p *Program) Irecv(r, from int, c Comm, tag uint32) *Request {
	ch := channel{c, from, r, tag}
	q := p.open(r, &Request{ch: ch, index: p.queue(ch).posted})
	p.queue(ch).posted++
	p.Enter(r, "MPI_Irecv")
	p.event(r, otf2.MPIIrecvRequest, q.id)
	p.Compute(r, overhead/4)
	p.Leave(r, "MPI_Irecv")
	return q
}

// Ready tells whether the message of a posted receive was sent.
func (p *Program) Ready(q *Request) bool {
	switch {
	case q.send:
		return true
	case q.coll != nil:
		return q.coll.complete()
	}
	return q.index < len(p.queue(q.ch).sent)
}

// Waitall completes requests, all of which must be ready.
func (p *Program) Waitall(r int, requests ...*Request) {
	p.Enter(r, "MPI_Waitall")
	for _, q := range requests {
		switch {
		case q.send:
			p.event(r, otf2.MPIIsendComplete, q.id)
		case q.coll != nil:
			q.coll.finish(p, r, q)
		default:
			m := p.queue(q.ch).sent[q.index]
			p.ranks[r].now = max(p.ranks[r].now, m.at+latency)
			p.message(otf2.MPIIrecv, r, q.ch.from, q.ch, m.id, q.id)
		}
	}
	p.Compute(r, overhead)
	p.Leave(r, "MPI_Waitall")
}

// Codes of collectives.
const (
	Barrier   = 0
	Bcast     = 1
	Gather    = 2
	Allreduce = 11
	Reduce    = 12
	Scan      = 14
)

var collectiveNames = map[uint64]string{Barrier: "Barrier", Bcast: "Bcast", Gather: "Gather", Allreduce: "Allreduce", Reduce: "Reduce", Scan: "Scan"}

// noRoot is the root of collectives that have none.
func rootOf(code uint64) uint64 {
	switch code {
	case Bcast, Gather, Reduce:
		return 0
	}
	return otf2.RootNone
}

// Collective runs a blocking collective on all members of a communicator.
func (p *Program) Collective(c Comm, code uint64) {
	name := "MPI_" + collectiveNames[code]
	last := uint64(0)
	for _, r := range p.comms[c].members {
		p.Enter(r, name)
		p.event(r, otf2.MPICollectiveBegin)
		last = max(last, p.ranks[r].now)
	}
	for _, r := range p.comms[c].members {
		p.ranks[r].now = last + overhead
		p.event(r, otf2.MPICollectiveEnd, code, uint64(p.comms[c].id), rootOf(code), 8, 8)
		p.Leave(r, name)
	}
}

// Collective in progress, non-blocking.
type Collective struct {
	comm  Comm
	code  uint64
	begun []uint64 // per member: when, 0 for not yet
}

// NewCollective announces a non-blocking collective; every member must Start
// it, in the same order as the others of its communicator.
func (p *Program) NewCollective(c Comm, code uint64) *Collective {
	return &Collective{comm: c, code: code, begun: make([]uint64, len(p.comms[c].members))}
}

// Start begins a non-blocking collective on one rank.
func (p *Program) Start(r int, k *Collective) *Request {
	member := int(p.comms[k.comm].rankOf[r])
	q := p.open(r, &Request{coll: k, member: member})
	name := "MPI_I" + collectiveNames[k.code]
	p.Enter(r, name)
	p.event(r, otf2.NBCRequest, q.id)
	k.begun[member] = p.ranks[r].now
	p.Compute(r, overhead/4)
	p.Leave(r, name)
	return q
}

func (k *Collective) complete() bool {
	for _, at := range k.begun {
		if at == 0 {
			return false
		}
	}
	return true
}

func (k *Collective) finish(p *Program, r int, q *Request) {
	last := uint64(0)
	for _, at := range k.begun {
		last = max(last, at)
	}
	p.ranks[r].now = max(p.ranks[r].now, last+latency)
	p.event(r, otf2.NBCComplete, k.code, uint64(p.comms[k.comm].id), rootOf(k.code), 8, 8, q.id)
}

// Close ends the program and its trace.
func (p *Program) Close() error {
	for r := range p.ranks {
		p.Leave(r, "main")
		if err := p.ranks[r].out.Close(); err != nil && p.err == nil {
			p.err = err
		}
	}
	if err := p.w.Close(); err != nil && p.err == nil {
		p.err = err
	}
	return p.err
}
