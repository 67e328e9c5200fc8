package trace

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/formats/otf2"
)

// Open reads the archive at path and matches its messages and collectives.
func Open(ctx context.Context, path string) (*Trace, error) {
	a, format, err := formats.OpenTrace(path)
	if err != nil {
		return nil, err
	}
	n := newNames(a.Defs)
	homes := homesOf(a.Defs)
	n.findSignals(a.Defs, homes)
	waiting := &shelf{}
	defer waiting.Close()
	lines, err := readAll(ctx, a, n, homes, waiting)
	if err == nil {
		err = waiting.Take()
	}
	if err != nil {
		return nil, err
	}
	v := a.Anchor.Version
	t := &Trace{
		Path: path, Format: format, archive: a, Creator: a.Anchor.Creator,
		Version:    fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]),
		Resolution: a.Defs.Clock.Resolution, Origin: a.Defs.Clock.Offset,
		Defined: len(a.Defs.Regions), Regions: n.regions, Comms: n.comms, Sites: n.sites, signals: n.signals,
	}
	if a.Defs.Clock.Realtime != otf2.Undefined {
		t.Realtime = a.Defs.Clock.Realtime
	}
	order := t.arrange(a.Defs, lines, homes)
	if t.Metrics > 0 {
		seen := map[uint32]bool{}
		for _, l := range lines {
			maps.Copy(seen, l.seen)
		}
		t.Measures = measuresOf(a.Defs, seen)
	}
	t.guessWaits(lines)
	t.room = &room{spilled: waiting.held.Load() > spillAbove}
	t.join(lines, order, waiting)
	t.joinCalls(lines, order, waiting)
	if t.room.err != nil {
		return nil, errors.Join(t.room.err, t.Close())
	}
	t.joinTimes(lines, homes)
	t.resolveComms(n, homes)
	posts := collect(lines, order, func(l *timeline) []int32 { return l.posts })
	giveBack := func() {
		t.Release()
		waiting.Release()
	}
	giveBack()
	t.matchMessages(posts)
	giveBack()
	t.matchLocks(lines, order)
	t.matchCollectives(lines, order)
	giveBack()
	t.matchAsync(lines, order)
	t.Unrecorded = a.Anchor.Unrecorded()
	t.Warnings = append(a.Warnings.List(), t.Repairs.list()...)
	t.Release()
	if ctx.Err() != nil {
		return nil, errors.Join(ctx.Err(), t.Close())
	}
	return t, nil
}

// Archive opens what was read again.
func (t *Trace) Archive() (*otf2.Archive, error) { return t.archive.Reopen() }

// homes says which process a location belongs to before processes have
// numbers: all locations of one location group share the row of the first.
type homes struct {
	row  map[uint64]int32 // location id to row
	of   []int32          // row to home row
	rank []int32          // home row to rank in MPI_COMM_WORLD
	proc []int32          // row to process number, filled by arrange
}

func homesOf(d *otf2.Definitions) *homes {
	h := &homes{row: rowOf(d.Locations), of: make([]int32, len(d.Locations)), rank: make([]int32, len(d.Locations))}
	byGroup := map[uint32]int32{}
	for i, l := range d.Locations {
		h.of[i], h.rank[i] = int32(i), None
		if l.Group == otf2.None {
			continue
		}
		if first, ok := byGroup[l.Group]; ok {
			h.of[i] = first
		} else {
			byGroup[l.Group] = int32(i)
		}
	}
	for r, id := range d.CommLocations[otf2.ParadigmMPI] {
		if row, ok := h.row[id]; ok && h.rank[h.of[row]] < 0 {
			h.rank[h.of[row]] = int32(r)
		}
	}
	return h
}

// readAll walks every location, as many at once as there are processors.
func readAll(ctx context.Context, a *otf2.Archive, n *names, h *homes, waiting *shelf) ([]*timeline, error) {
	lines := make([]*timeline, len(a.Defs.Locations))
	peers := newPeers(n, h)
	err := parallel.Each(ctx, len(lines), func(ctx context.Context, _, i int) error {
		l := a.Defs.Locations[i]
		r, err := a.Events(l.ID)
		if err != nil {
			return err
		}
		defer r.Close()
		w := walker{timeline: &timeline{loc: l}, names: n, origin: a.Defs.Clock.Offset, resolution: a.Defs.Clock.Resolution, home: peers.home, call: None}
		lines[i] = w.timeline
		if err := w.walk(ctx, r); err != nil {
			return err
		}
		w.mergePolls()
		w.settle()
		return waiting.keep(w.timeline)
	})
	return lines, err
}

// peers resolves ranks of communicators to home rows of locations.
type peers struct {
	homes *homes
	comms []commPeers
}

type commPeers struct {
	ranks   []int32
	members otf2.Members // where the answer depends on who asks
	special bool
}

func newPeers(n *names, h *homes) *peers {
	p := &peers{homes: h, comms: make([]commPeers, len(n.members))}
	ranks := n.perGroup(h.rows)
	for i, m := range n.members {
		p.comms[i] = commPeers{members: m, special: m.Self || m.Other != nil, ranks: ranks[i]}
	}
	return p
}

// rows translates location ids to home rows.
func (h *homes) rows(ids []uint64) []int32 {
	out := make([]int32, len(ids))
	for i, id := range ids {
		out[i] = None
		if row, ok := h.row[id]; ok {
			out[i] = h.of[row]
		}
	}
	return out
}

func (p *peers) home(comm int32, rank, loc uint64) int32 {
	c := &p.comms[comm]
	if !c.special {
		if rank >= uint64(len(c.ranks)) {
			return None
		}
		return c.ranks[rank]
	}
	id, ok := c.members.Peer(rank, loc)
	if !ok {
		return None
	}
	return p.homes.rows([]uint64{id})[0]
}

// settle brings the message ends into the order of their operations, which
// they leave only where a call that communicates holds another one.
func (l *timeline) settle() {
	if !slices.IsSorted(l.sends.Op) {
		order := sortedBy(l.sends.Op)
		l.moveHolds(order, func(h *hold) *int32 { return &h.to })
		l.sends.permute(order)
	}
	if !slices.IsSorted(l.recvs.Op) {
		order := sortedBy(l.recvs.Op)
		l.moveHolds(order, func(h *hold) *int32 { return &h.from })
		l.recvs.permute(order)
		l.posts = permuted(l.posts, order)
	}
	for i := range l.ops.N {
		if l.ops.Kind[i] != Collective {
			l.ops.N[i] = 0
		}
	}
	l.ops.refs(&l.sends)
	l.ops.refs(&l.recvs)
}

// refs points operations at their rows of e.
func (o *Ops) refs(e *Ends) {
	for row, op := range e.Op {
		if o.N[op] == 0 {
			o.Ref[op] = int32(row)
		}
		o.N[op]++
	}
}

func sortedBy(key []int32) []int32 {
	order := make([]int32, len(key))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return int(key[a]) - int(key[b]) })
	return order
}

func permuted[T any](col []T, order []int32) []T {
	if col == nil {
		return nil
	}
	out := make([]T, len(col))
	for i, from := range order {
		out[i] = col[from]
	}
	return out
}

func (e *Ends) permute(order []int32) {
	e.Op, e.Peer, e.Comm = permuted(e.Op, order), permuted(e.Peer, order), permuted(e.Comm, order)
	e.Tag, e.Bytes = permuted(e.Tag, order), permuted(e.Bytes, order)
	e.Match, e.Wait, e.Post = permuted(e.Match, order), permuted(e.Wait, order), permuted(e.Post, order)
}

// arrange decides which locations are processes and in which order: those
// that communicate, and the first thread of every process that does not.
// It returns their rows.
func (t *Trace) arrange(d *otf2.Definitions, lines []*timeline, h *homes) []int32 {
	talks := make([]bool, len(lines)) // by home
	for i, l := range lines {
		if l.mpi {
			talks[h.of[i]] = true
		}
		t.Locations++
		t.Events += l.events
		t.Metrics += l.metrics
		t.Moved.add(&l.sided.moved)
		t.addSpan(l)
	}
	var order []int32
	for i, l := range lines {
		quiet := !talks[h.of[i]] && int(h.of[i]) == i && l.loc.Type <= otf2.LocationCPU
		if l.mpi || quiet {
			order = append(order, int32(i))
		}
	}
	rankOf := func(row int32) int { return int(uint32(h.rank[h.of[row]])) } // unknown ranks last
	slices.SortStableFunc(order, func(a, b int32) int { return rankOf(a) - rankOf(b) })
	first := map[int32]int32{}
	for p, row := range order {
		l := lines[row]
		home, ok := first[h.of[row]]
		if !ok {
			home = int32(p)
			first[h.of[row]] = home
		}
		g := d.LocationGroups[l.loc.Group]
		t.Procs = append(t.Procs, Process{
			Rank: h.rank[h.of[row]], Location: l.loc.ID, Home: home, Partial: l.partial,
			Name: d.Text(g.Name), Thread: d.Text(l.loc.Name), Host: host(d, g.Parent),
		})
	}
	h.number(first)
	listed := make([]bool, len(lines))
	for _, row := range order {
		listed[row] = true
	}
	for i, l := range lines {
		if len(l.times) > 0 && h.proc[i] >= 0 && !listed[i] {
			t.Threads = append(t.Threads, Thread{l.loc.ID, h.proc[i], d.Text(l.loc.Name)})
		}
	}
	return order
}

// measureValue notes the process of every row; a location that is no process of
// the trace has none.
func (h *homes) number(first map[int32]int32) {
	h.proc = make([]int32, len(h.of))
	for i, row := range h.of {
		p, ok := first[row]
		if !ok {
			p = None
		}
		h.proc[i] = p
	}
}

// host returns the name of the system tree node a process belongs to.
func host(d *otf2.Definitions, node uint32) string {
	n, ok := d.Nodes[node]
	if !ok {
		return ""
	}
	return d.Text(n.Name)
}

func (t *Trace) addSpan(l *timeline) {
	if l.partial {
		t.Partial++
	}
	if l.events == 0 {
		return
	}
	if t.Events == l.events { // the first location with events
		t.First, t.Last = l.first, l.last
	}
	t.First, t.Last = min(t.First, l.first), max(t.Last, l.last)
}

// guessWaits uses the guessed completions of sends if the whole trace has no
// recorded one.
func (t *Trace) guessWaits(lines []*timeline) {
	guesses := 0
	for _, l := range lines {
		if l.completions > 0 {
			return
		}
		guesses += len(l.guesses)
	}
	t.Guessed = guesses > 0
	for _, l := range lines {
		for _, g := range l.guesses {
			for row := g.from; row < g.to; row++ {
				l.sends.Wait[row] = g.wait
			}
		}
	}
}
