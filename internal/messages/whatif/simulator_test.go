package whatif

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/formats/otf2"
)

// A second simulator, which shares nothing with the code it checks: every rank
// has a list of instructions, events wait in a queue by their time, and a call
// ends when the last of what MPI lets it wait for is there. Own times and lags
// are constants of the call and the length of the message.

type simCode uint8

const (
	simCompute simCode = iota
	simSend
	simSsend
	simRecv
	simIsend
	simIrecv
	simWaitall
	simCollective
	simStart // of a non-blocking collective
)

type simStep struct {
	code  simCode
	ns    uint64 // of a computation
	comm  int
	peer  int // rank of the world
	tag   uint32
	bytes uint64
	kind  simKind // of a collective
	id    int     // message or instance of a collective
	waits []int   // Waitall: the steps of the same rank that it completes
}

type simKind struct {
	name string
	code uint64
	wait simWait
}

// simWait is whom the members of a collective wait for.
type simWait uint8

const (
	waitAll   simWait = iota
	waitRoot          // the root waits for nobody
	waitAtTop         // only the root waits, for all
	waitLower         // for members of lower rank
)

var simKinds = []simKind{
	{"Barrier", 0, waitAll}, {"Bcast", 1, waitRoot}, {"Gather", 2, waitAtTop}, {"Gatherv", 3, waitAtTop}, {"Scatter", 4, waitRoot},
	{"Scatterv", 5, waitRoot}, {"Allgather", 6, waitAll}, {"Allgatherv", 7, waitAll}, {"Alltoall", 8, waitAll}, {"Alltoallv", 9, waitAll},
	{"Allreduce", 11, waitAll}, {"Reduce", 12, waitAtTop}, {"Reduce_scatter", 13, waitAll}, {"Scan", 14, waitLower}, {"Exscan", 15, waitLower},
}

// simProgram is what every rank does.
type simProgram struct {
	comms    [][]int // members, by rank of the communicator
	steps    [][]simStep
	messages int
	groups   []simGroup // instances of collectives
}

type simGroup struct {
	comm, root int // root: position in the communicator
	kind       simKind
}

func (p *simProgram) add(rank int, s simStep) int {
	p.steps[rank] = append(p.steps[rank], s)
	return len(p.steps[rank]) - 1
}

// drawProgram draws a program of three kinds of collectives and two lengths of
// messages.
func drawProgram(seed uint64, ranks, rounds int) *simProgram {
	rng := rand.New(rand.NewPCG(seed, 17))
	p := &simProgram{steps: make([][]simStep, ranks), comms: [][]int{make([]int, ranks)}}
	for r := range ranks {
		p.comms[0][r] = r
	}
	p.comms = append(p.comms, rng.Perm(ranks)[:(ranks+1)/2])
	kinds := make([]simKind, 3)
	for k := range kinds {
		kinds[k] = simKinds[rng.IntN(len(simKinds))]
	}
	for range rounds {
		for r := range ranks {
			p.add(r, simStep{code: simCompute, ns: uint64(20_000 + rng.IntN(180_000))})
		}
		bytes := uint64(8) << (4 * rng.IntN(2))
		switch rng.IntN(5) {
		case 0:
			p.shift(rng, bytes)
		case 1:
			p.pairs(rng, bytes)
		case 2, 3:
			p.collective(rng.IntN(2), kinds[rng.IntN(len(kinds))], rng)
		default:
			p.nonBlocking(rng.IntN(2), kinds[rng.IntN(len(kinds))], rng)
		}
	}
	return p
}

// shift sends from every rank to another and waits for both messages at once.
func (p *simProgram) shift(rng *rand.Rand, bytes uint64) {
	n := len(p.steps)
	by := 1 + rng.IntN(n-1)
	first := p.messages
	p.messages += n
	for r := range n {
		from := (r + n - by) % n
		in := p.add(r, simStep{code: simIrecv, peer: from, tag: 1, bytes: bytes, id: first + from})
		out := p.add(r, simStep{code: simIsend, peer: (r + by) % n, tag: 1, bytes: bytes, id: first + r})
		p.add(r, simStep{code: simCompute, ns: uint64(rng.IntN(60_000))})
		p.add(r, simStep{code: simWaitall, waits: []int{in, out}})
	}
}

// pairs passes messages along the ranks of a communicator, some of them with
// sends that wait for their receiver.
func (p *simProgram) pairs(rng *rand.Rand, bytes uint64) {
	comm := rng.IntN(2)
	code := simSend
	if rng.IntN(3) == 0 {
		code = simSsend
	}
	members := p.comms[comm]
	for k := 0; k+1 < len(members); k++ {
		p.add(members[k], simStep{code: code, comm: comm, peer: members[k+1], tag: 2, bytes: bytes, id: p.messages})
		p.add(members[k+1], simStep{code: simRecv, comm: comm, peer: members[k], tag: 2, bytes: bytes, id: p.messages})
		p.messages++
	}
}

func (p *simProgram) collective(comm int, kind simKind, rng *rand.Rand) {
	p.groups = append(p.groups, simGroup{comm, rng.IntN(len(p.comms[comm])), kind})
	for _, r := range p.comms[comm] {
		p.add(r, simStep{code: simCollective, comm: comm, kind: kind, id: len(p.groups) - 1})
	}
}

func (p *simProgram) nonBlocking(comm int, kind simKind, rng *rand.Rand) {
	p.groups = append(p.groups, simGroup{comm, rng.IntN(len(p.comms[comm])), kind})
	for _, r := range p.comms[comm] {
		at := p.add(r, simStep{code: simStart, comm: comm, kind: kind, id: len(p.groups) - 1})
		p.add(r, simStep{code: simCompute, ns: uint64(rng.IntN(90_000))})
		p.add(r, simStep{code: simWaitall, waits: []int{at}})
	}
}

// Names of calls, and constants of the simulated machine by name and length.

func (s *simStep) name() string {
	switch s.code {
	case simCollective:
		return "MPI_" + s.kind.name
	case simStart:
		return "MPI_I" + s.kind.name
	}
	return [...]string{simSend: "MPI_Send", simSsend: "MPI_Ssend", simRecv: "MPI_Recv", simIsend: "MPI_Isend", simIrecv: "MPI_Irecv", simWaitall: "MPI_Waitall"}[s.code]
}

const (
	simOwn        = 1_500 // of a call that waits for nobody
	simNear       = 9_000 // of a message, beside its length
	simAnswer     = 4_000 // of a receiver to a send that waits for it
	simTogether   = 6_000 // of a collective
	simBackground = 8_000 // of a non-blocking one
)

// simTerm is a constant that sets exits: what of, and for which length.
type simTerm struct {
	what  string
	bytes uint64
}

// simCause is the enter of a call that an exit waits for.
type simCause struct {
	rank, step int // whose enter
	lag        uint64
	term       simTerm
}

// causesOf lists whom a call waits for, in the order of MPI's rules.
func (m *simMachine) causesOf(r, i int) []simCause {
	s := &m.p.steps[r][i]
	switch s.code {
	case simRecv:
		return []simCause{m.ofMessage(s)}
	case simSsend:
		at := m.posted[s.id]
		return []simCause{{at[0], at[1], simAnswer, simTerm{"answer", s.bytes}}}
	case simCollective:
		return m.ofGroup(r, s, simTogether, s.name())
	case simWaitall:
		var all []simCause
		for _, w := range s.waits {
			switch q := &m.p.steps[r][w]; q.code {
			case simIrecv:
				all = append(all, m.ofMessage(q))
			case simStart:
				all = append(all, m.ofGroup(r, q, simBackground, "wait")...)
			}
		}
		return all
	}
	return nil
}

func (m *simMachine) ofMessage(s *simStep) simCause {
	at := m.sent[s.id]
	return simCause{at[0], at[1], simNear + 3*s.bytes, simTerm{"message", s.bytes}}
}

func (m *simMachine) ofGroup(r int, s *simStep, lag uint64, what string) []simCause {
	g := m.p.groups[s.id]
	members := m.p.comms[g.comm]
	me := slices.Index(members, r)
	var all []simCause
	for k, rank := range members {
		needs := g.kind.wait == waitAll || g.kind.wait == waitRoot && k == g.root && me != k ||
			g.kind.wait == waitAtTop && me == g.root || g.kind.wait == waitLower && k <= me
		if needs {
			all = append(all, simCause{rank, m.taking[[2]int{s.id, rank}], lag, simTerm{what, 0}})
		}
	}
	return all
}

// simMachine runs a program.
type simMachine struct {
	p      *simProgram
	sent   [][2]int         // message: rank and step that sends it
	posted [][2]int         // message: rank and step that posts its receive
	taking map[[2]int]int   // instance and rank: the step that takes part
	enter  []map[int]uint64 // rank: step to when it was entered
	next   []int            // rank: its step
	queue  simQueue
	parked map[int]bool // ranks inside a call whose exit is not known
	seen   map[simTerm]int
	calls  [][]simCall
	end    []uint64
}

type simCall struct {
	step        int
	enter, exit uint64
}

type simEvent struct {
	at   uint64
	rank int
	exit bool
}

type simQueue []simEvent

func (q simQueue) Len() int { return len(q) }
func (q simQueue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].rank < q[j].rank
}
func (q simQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *simQueue) Push(x any)   { *q = append(*q, x.(simEvent)) }
func (q *simQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// run executes the program.
func (p *simProgram) run() *simMachine {
	n := len(p.steps)
	m := &simMachine{p: p, sent: make([][2]int, p.messages), posted: make([][2]int, p.messages), taking: map[[2]int]int{}, enter: make([]map[int]uint64, n),
		next: make([]int, n), parked: map[int]bool{}, seen: map[simTerm]int{}, calls: make([][]simCall, n), end: make([]uint64, n)}
	for r, steps := range p.steps {
		m.enter[r] = map[int]uint64{}
		for i, s := range steps {
			switch s.code {
			case simSend, simSsend, simIsend:
				m.sent[s.id] = [2]int{r, i}
			case simRecv, simIrecv:
				m.posted[s.id] = [2]int{r, i}
			case simCollective, simStart:
				m.taking[[2]int{s.id, r}] = i
			}
		}
		m.goOn(r, 1000)
	}
	for m.queue.Len() > 0 {
		e := heap.Pop(&m.queue).(simEvent)
		if e.exit {
			m.next[e.rank]++
			m.goOn(e.rank, e.at)
			continue
		}
		m.enter[e.rank][m.next[e.rank]] = e.at
		m.parked[e.rank] = true
		m.release()
	}
	return m
}

// goOn brings a rank to its next call.
func (m *simMachine) goOn(r int, at uint64) {
	for ; m.next[r] < len(m.p.steps[r]); m.next[r]++ {
		s := &m.p.steps[r][m.next[r]]
		if s.code != simCompute {
			heap.Push(&m.queue, simEvent{at, r, false})
			return
		}
		at += s.ns
	}
	m.end[r] = at
}

// release lets every parked rank go whose causes have all come.
func (m *simMachine) release() {
	for r := range len(m.next) {
		if !m.parked[r] {
			continue
		}
		step := m.next[r]
		if exit, ok := m.exit(r, step); ok {
			delete(m.parked, r)
			m.calls[r] = append(m.calls[r], simCall{step, m.enter[r][step], exit})
			heap.Push(&m.queue, simEvent{exit, r, true})
		}
	}
}

// exit returns when a call ends, and notes which constant that shows.
func (m *simMachine) exit(r, step int) (uint64, bool) {
	enter := m.enter[r][step]
	s := &m.p.steps[r][step]
	causes := m.causesOf(r, step)
	exit, latest, free := enter+simOwn, uint64(0), true
	for _, c := range causes {
		at, ok := m.enter[c.rank][c.step]
		if !ok {
			return 0, false
		}
		exit, latest, free = max(exit, at+c.lag), max(latest, at), free && at+c.lag <= enter
	}
	own := simTerm{s.name(), m.moved(r, s)}
	m.seen[own] += 0 // it is one to be seen
	if free {
		m.seen[own]++
	}
	for _, c := range causes {
		at := m.enter[c.rank][c.step]
		m.seen[c.term] += 0
		if at == latest && at > enter && at+c.lag == exit {
			m.seen[c.term]++
			break
		}
	}
	return exit, true
}

// moved is how many bytes a call sends and receives.
func (m *simMachine) moved(r int, s *simStep) uint64 {
	switch s.code {
	case simSend, simSsend, simIsend, simRecv:
		return s.bytes
	case simWaitall:
		n := uint64(0)
		for _, w := range s.waits {
			if q := &m.p.steps[r][w]; q.code == simIrecv {
				n += q.bytes
			}
		}
		return n
	}
	return 0
}

func (m *simMachine) span() uint64 { return slices.Max(m.end) - 1000 }

// write writes what a tracer would have recorded.
func (m *simMachine) write(path string) error {
	w, err := otf2.Create(path, otf2.WriterOptions{Creator: "simulator"})
	if err != nil {
		return err
	}
	node := w.Node("simulated", "machine", otf2.None)
	out := make([]*otf2.EventWriter, len(m.next))
	world := make([]uint64, len(m.next))
	for r := range out {
		out[r] = w.Location("Master thread", w.Process(fmt.Sprintf("MPI Rank %d", r), node))
		world[r] = uint64(r)
	}
	w.CommLocations(world)
	comms := make([]uint64, len(m.p.comms))
	for c, members := range m.p.comms {
		list := make([]uint64, len(members))
		for k, r := range members {
			list[k] = uint64(r)
		}
		comms[c] = uint64(w.Comm(fmt.Sprintf("comm %d", c), list, otf2.None))
	}
	regions := map[string]uint64{"main": uint64(w.Region(otf2.RegionInfo{Name: "main"}))}
	for r := range out {
		if err := m.writeRank(r, &simWriter{out: out[r], w: w, regions: regions, comms: comms}); err != nil {
			return err
		}
	}
	return w.Close()
}

type simWriter struct {
	out     *otf2.EventWriter
	w       *otf2.Writer
	regions map[string]uint64
	comms   []uint64
	err     error
}

func (w *simWriter) event(at uint64, kind otf2.Kind, fields ...uint64) {
	e := otf2.Event{Kind: kind, Time: at}
	copy(e.F[:], fields)
	if err := w.out.Write(&e); err != nil && w.err == nil {
		w.err = err
	}
}

func (w *simWriter) region(name string) uint64 {
	id, ok := w.regions[name]
	if !ok {
		id = uint64(w.w.Region(otf2.RegionInfo{Name: name, Paradigm: otf2.ParadigmMPI}))
		w.regions[name] = id
	}
	return id
}

func (m *simMachine) writeRank(r int, w *simWriter) error {
	w.event(1000, otf2.Enter, w.regions["main"])
	for _, c := range m.calls[r] {
		s := &m.p.steps[r][c.step]
		w.event(c.enter, otf2.Enter, w.region(s.name()))
		m.writeRecords(r, c, w)
		w.event(c.exit, otf2.Leave, w.region(s.name()))
	}
	w.event(m.end[r], otf2.Leave, w.regions["main"])
	if err := w.out.Close(); err != nil {
		return err
	}
	return w.err
}

func (m *simMachine) writeRecords(r int, c simCall, w *simWriter) {
	s := &m.p.steps[r][c.step]
	comm := w.comms[s.comm]
	peer := uint64(max(0, slices.Index(m.p.comms[s.comm], s.peer)))
	switch s.code {
	case simSend, simSsend:
		w.event(c.enter, otf2.MPISend, peer, comm, uint64(s.tag), s.bytes)
	case simIsend:
		w.event(c.enter, otf2.MPIIsend, peer, comm, uint64(s.tag), s.bytes, uint64(c.step))
	case simIrecv:
		w.event(c.enter, otf2.MPIIrecvRequest, uint64(c.step))
	case simRecv:
		w.event(c.exit, otf2.MPIRecv, peer, comm, uint64(s.tag), s.bytes)
	case simCollective:
		w.event(c.enter, otf2.MPICollectiveBegin)
		w.event(c.exit, otf2.MPICollectiveEnd, s.kind.code, comm, m.root(s), 8, 8)
	case simStart:
		w.event(c.enter, otf2.NBCRequest, uint64(c.step))
	case simWaitall:
		for _, at := range s.waits {
			switch q := &m.p.steps[r][at]; q.code {
			case simIsend:
				w.event(c.exit, otf2.MPIIsendComplete, uint64(at))
			case simIrecv:
				from := uint64(slices.Index(m.p.comms[q.comm], q.peer))
				w.event(c.exit, otf2.MPIIrecv, from, w.comms[q.comm], uint64(q.tag), q.bytes, uint64(at))
			case simStart:
				w.event(c.exit, otf2.NBCComplete, q.kind.code, w.comms[q.comm], m.root(q), 8, 8, uint64(at))
			}
		}
	}
}

func (m *simMachine) root(s *simStep) uint64 {
	if s.kind.wait == waitRoot || s.kind.wait == waitAtTop {
		return uint64(m.p.groups[s.id].root)
	}
	return otf2.RootNone
}

// delayed adds to the first computation of a rank from a step on, and returns
// which of its calls comes after it.
func (p *simProgram) delayed(rank, from int, ns uint64) (call int) {
	for i, s := range p.steps[rank] {
		if s.code != simCompute {
			call++
			continue
		}
		if i >= from && i+1 < len(p.steps[rank]) {
			p.steps[rank][i].ns += ns
			break
		}
	}
	return call
}

// TestEventQueueSimulator: programs of every kind of call are simulated with and
// without a delay; the run that is recorded with it predicts the one without.
// Where every constant was seen the prediction is exact, otherwise the truth
// lies in the interval.
func TestEventQueueSimulator(t *testing.T) {
	exact, guessed := 0, 0
	kinds := map[string]bool{}
	for seed := range uint64(80) {
		n := 3 + int(seed%5)
		late := int(seed/5) % n
		rounds := 5 + int(seed*7)%90
		draw := func() *simProgram { return drawProgram(seed, n, rounds) }
		program := draw()
		call := program.delayed(late, rounds/2, 2_000_000)
		with, without := program.run(), draw().run()
		path := filepath.Join(t.TempDir(), "simulated.otf2")
		if err := with.write(path); err != nil {
			t.Fatal(err)
		}
		g := build(t, path)
		if got := g.Span(); got != int64(with.span()) {
			t.Fatalf("seed %d: the trace takes %d, the simulator %d", seed, got, with.span())
		}
		s := ranked(t, g).NewScenario()
		s.W.Comp[g.Start[late]+int32(call)] -= 2_000_000
		r, _ := s.Predict()
		known := true
		for term, times := range with.seen {
			known = known && times > 0
			kinds[term.what] = true
		}
		want := int64(without.span())
		switch {
		case known && r.Span != want:
			t.Errorf("seed %d: everything was seen, predicted %d, simulated %d (%+d)", seed, r.Span, want, r.Span-want)
		case known:
			exact++
		case want < r.Low || want > r.High:
			t.Errorf("seed %d: predicted %d (%d to %d), simulated %d", seed, r.Span, r.Low, r.High, want)
		default:
			guessed++
		}
	}
	if exact < 20 || guessed < 20 {
		t.Errorf("%d predictions were exact and %d in their interval: the programs no longer try both", exact, guessed)
	}
	t.Logf("%d exact, %d in their interval, %d kinds of constants", exact, guessed, len(kinds))
}
