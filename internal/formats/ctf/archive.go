package ctf

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/isobath/isobath/internal/formats/otf2"
	"github.com/isobath/isobath/internal/formats/tracecopy"
)

// fill writes definitions and events.
func (r *reader) fill(m *tracecopy.Maker) error {
	slices.SortFunc(r.order, func(a, b threadKey) int {
		return cmp.Or(cmp.Compare(r.threads[a].rank, r.threads[b].rank), cmp.Compare(a.process, b.process), cmp.Compare(a.thread, b.thread), cmp.Compare(a.stream, b.stream))
	})
	hosts, processes := map[string]uint32{}, map[string]uint32{}
	writers := make([]*otf2.EventWriter, len(r.order))
	world := r.world()
	for i, key := range r.order {
		th := r.threads[key]
		host := cmp.Or(th.host, "host")
		node, ok := hosts[host]
		if !ok {
			node = m.Node(host, "node", otf2.None)
			hosts[host] = node
		}
		name := r.processName(key, th)
		process, ok := processes[name]
		if !ok {
			process = m.Process(name, node)
			processes[name] = process
		}
		writers[i] = m.Location(cmp.Or(th.name, threadName(key)), process)
		if int(th.rank) >= 0 && int(th.rank) < len(world) && world[th.rank] == otf2.Undefined {
			world[th.rank] = writers[i].ID
		}
	}
	if len(world) > 0 {
		m.CommLocations(world)
	}
	comms := r.communicators(m, len(world))
	for i, key := range r.order {
		if err := r.write(m, writers[i], r.threads[key], comms); err != nil {
			return err
		}
	}
	return nil
}

// world has a place for every rank. Ranks are fewer than threads: a damaged one
// cannot ask for more.
func (r *reader) world() []uint64 {
	top := int32(-1)
	for _, th := range r.threads {
		if int(th.rank) < len(r.threads) {
			top = max(top, th.rank)
		}
	}
	world := make([]uint64, top+1)
	for i := range world {
		world[i] = otf2.Undefined
	}
	return world
}

func (r *reader) processName(key threadKey, th *thread) string {
	switch {
	case th.process != "":
		return th.process
	case th.rank >= 0:
		return fmt.Sprintf("Rank %d", th.rank)
	case key.process >= 0:
		return fmt.Sprintf("process %d", key.process)
	}
	return "stream " + key.stream
}

func threadName(key threadKey) string {
	if key.stream != "" {
		return key.stream
	}
	return fmt.Sprintf("thread %d", key.thread)
}

// communicators defines those of our own traces, and returns their numbers.
func (r *reader) communicators(m *tracecopy.Maker, ranks int) map[uint64]uint64 {
	out := map[uint64]uint64{}
	for _, g := range r.groups {
		members := make([]uint64, len(g.ranks))
		for i, rank := range g.ranks {
			members[i] = uint64(rank)
			if rank < 0 || rank >= int64(ranks) {
				members[i] = uint64(ranks) // nobody
			}
		}
		if len(members) > 0 {
			out[uint64(g.id)] = uint64(m.Comm(g.name, members, otf2.None))
		}
	}
	return out
}

// commField is where each record has its communicator.
var commField = map[otf2.Kind]int{otf2.MPISend: 1, otf2.MPIRecv: 1, otf2.MPIIsend: 1, otf2.MPIIrecv: 1, otf2.MPICollectiveEnd: 1}

// write writes the events of a thread.
func (r *reader) write(m *tracecopy.Maker, out *otf2.EventWriter, th *thread, comms map[uint64]uint64) error {
	if th.fell { // from several streams
		slices.SortStableFunc(th.events, func(a, b happened) int { return cmp.Compare(a.time, b.time) })
	}
	var open []string
	for i := range th.events {
		h := &th.events[i]
		ev := otf2.Event{Kind: h.kind, Time: h.time, F: h.f}
		switch h.kind {
		case otf2.Enter:
			open = append(open, h.name)
			ev.F[0] = m.Named(h.name)
		case otf2.Leave:
			name := h.name
			if n := len(open); n > 0 {
				name = cmp.Or(name, open[n-1])
				open = open[:n-1]
			}
			ev.F[0] = m.Named(name)
		default:
			if at, ok := commField[h.kind]; ok {
				ev.F[at] = comms[ev.F[at]&0xffffffff]
				for k := range ev.F[:3] { // 32-bit fields that were read as signed
					ev.F[k] &= 0xffffffff
				}
			}
		}
		if err := out.Write(&ev); err != nil {
			return err
		}
	}
	return out.Close()
}
