package logical

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/isobath/isobath/internal/messages/mpiprog"
	"github.com/isobath/isobath/internal/messages/trace"
)

// run executes a simulated program and reads its trace.
func run(t testing.TB, ranks int, body func(*mpiprog.Program)) *trace.Trace {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program.otf2")
	p, err := mpiprog.New(path, ranks)
	if err != nil {
		t.Fatal(err)
	}
	body(p)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.Warnings) > 0 {
		t.Errorf("warnings: %v", tr.Warnings)
	}
	return tr
}

func simulate(t testing.TB, ranks int, o Options, body func(*mpiprog.Program)) *Structure {
	t.Helper()
	return analyze(t, run(t, ranks, body), o)
}

// random runs a random program: sends and receives of every kind on several
// communicators and tags, waits for any set of requests, blocking and
// non-blocking collectives, nested functions.
func random(p *mpiprog.Program, rng *rand.Rand, actions int) {
	n := p.Size()
	comms := []mpiprog.Comm{mpiprog.World}
	members := [][]int{all(n)}
	for range 2 {
		if n > 3 {
			m := rng.Perm(n)[:2+rng.IntN(n-2)]
			comms = append(comms, p.NewComm("part", m))
			members = append(members, m)
		}
	}
	g := &generator{p: p, rng: rng, comms: comms, members: members, open: make([][]*mpiprog.Request, n),
		flight: map[mpiprog.Comm][][3]int{}}
	for range actions {
		g.act()
	}
	g.drain()
}

func all(n int) []int {
	m := make([]int, n)
	for i := range m {
		m[i] = i
	}
	return m
}

type generator struct {
	p       *mpiprog.Program
	rng     *rand.Rand
	comms   []mpiprog.Comm
	members [][]int
	open    [][]*mpiprog.Request
	flight  map[mpiprog.Comm][][3]int // sent, no receive posted: from, to, tag
}

func (g *generator) act() {
	k := g.rng.IntN(len(g.comms))
	c, m := g.comms[k], g.members[k]
	from, to := m[g.rng.IntN(len(m))], m[g.rng.IntN(len(m))]
	tag := g.rng.IntN(3)
	g.p.Compute(from, uint64(g.rng.IntN(50_000)))
	switch x := g.rng.IntN(100); {
	case x < 25:
		g.p.Send(from, to, c, uint32(tag))
		g.flight[c] = append(g.flight[c], [3]int{from, to, tag})
	case x < 50:
		g.open[from] = append(g.open[from], g.p.Isend(from, to, c, uint32(tag)))
		g.flight[c] = append(g.flight[c], [3]int{from, to, tag})
	case x < 75:
		g.receive(c, g.rng.IntN(2) == 0)
	case x < 90:
		g.wait(from)
	case x < 95 && len(m) < 64:
		g.collect(c, m)
	case x < 97 && len(m) < 64:
		g.p.Collective(c, []uint64{mpiprog.Barrier, mpiprog.Bcast, mpiprog.Allreduce, mpiprog.Reduce}[g.rng.IntN(4)])
	default:
		g.p.Enter(from, "solve")
		g.p.Send(from, to, c, 9)
		g.p.Leave(from, "solve")
		g.p.Recv(to, from, c, 9)
	}
}

// receive posts a receive for a message in flight.
func (g *generator) receive(c mpiprog.Comm, blocking bool) {
	list := g.flight[c]
	if len(list) == 0 {
		return
	}
	i := g.rng.IntN(len(list))
	m := list[i]
	list[i] = list[len(list)-1]
	g.flight[c] = list[:len(list)-1]
	if blocking {
		g.p.Recv(m[1], m[0], c, uint32(m[2]))
	} else {
		g.open[m[1]] = append(g.open[m[1]], g.p.Irecv(m[1], m[0], c, uint32(m[2])))
	}
}

// wait completes a random part of a rank's ready requests.
func (g *generator) wait(r int) {
	var now, later []*mpiprog.Request
	for _, q := range g.open[r] {
		if g.p.Ready(q) && g.rng.IntN(3) > 0 {
			now = append(now, q)
		} else {
			later = append(later, q)
		}
	}
	if len(now) > 0 {
		g.p.Waitall(r, now...)
	}
	g.open[r] = later
}

// collect starts a non-blocking collective on all members.
func (g *generator) collect(c mpiprog.Comm, m []int) {
	code := []uint64{mpiprog.Barrier, mpiprog.Bcast, mpiprog.Gather, mpiprog.Allreduce, mpiprog.Reduce, mpiprog.Scan}[g.rng.IntN(6)]
	k := g.p.NewCollective(c, code)
	for _, r := range m {
		g.p.Compute(r, uint64(g.rng.IntN(20_000)))
		g.open[r] = append(g.open[r], g.p.Start(r, k))
	}
}

// drain receives everything and completes all requests.
func (g *generator) drain() {
	for _, c := range g.comms {
		for len(g.flight[c]) > 0 {
			g.receive(c, g.rng.IntN(2) == 0)
		}
	}
	for r, q := range g.open {
		if len(q) > 0 {
			g.p.Waitall(r, q...)
		}
	}
}
