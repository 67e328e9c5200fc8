package trace

import (
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/formats/otf2"
)

// Signals are messages that no send or receive of the program names but that its
// records imply: an epoch that its group opens and closes, a lock that is handed
// on, data that neighbours exchange in one collective call. They are rows of
// Sends and Recvs in a communicator of their own, so that operations with them
// have steps and what waits in them is known. They count as no messages.
type signal uint32

const (
	signalPost      signal = iota // the window of a process may be used by its group
	signalComplete                // the group of an epoch has used it
	signalLock                    // who had a lock has it no longer
	signalNeighbour               // a neighbour has taken part
	signalKinds
)

// tag numbers the channel of a signal; window is 0 where there is none.
func (k signal) tag(window uint64) uint32 { return uint32(window)*uint32(signalKinds) + uint32(k) }

// Attributes of our recorder at the end of a call: the groups that a collective
// of neighbours sent to and got from.
const (
	sentTo    = "isobath::sent to"
	gotFrom   = "isobath::got from"
	typeGroup = 15
)

// findSignals prepares what signals need, if the archive may have any: groups as
// home rows, and a communicator that their channels belong to.
func (n *names) findSignals(d *otf2.Definitions, h *homes) {
	n.signals, n.sentTo, n.gotFrom = None, otf2.None, otf2.None
	for id, a := range d.Attributes {
		if a.Type == typeGroup {
			switch d.Text(a.Name) {
			case sentTo:
				n.sentTo = id
			case gotFrom:
				n.gotFrom = id
			}
		}
	}
	if len(d.Windows) == 0 && n.sentTo == otf2.None {
		return
	}
	n.signals = int32(len(n.comms))
	n.comms = append(n.comms, Comm{ID: otf2.None, Name: "windows and neighbours"})
	n.members = append(n.members, otf2.Members{})
	n.groups = map[uint64][]int32{}
	for id := range d.Groups {
		_, locations := d.GroupLocations(id)
		n.groups[uint64(id)] = h.rows(locations)
	}
}

// signalsPerEvent bounds the signals of a location: groups of a hostile file may
// be large and named often.
const signalsPerEvent = 64

// signal adds one end of a signal for each member of a group.
func (w *walker) signal(kind signal, window uint64, group []int32, from bool, at int64) {
	if w.names.signals < 0 || w.signals+len(group) > signalsPerEvent*(w.events+64) {
		return
	}
	w.signals += len(group)
	if !from && w.loose == int32(len(w.sends.Op)) { // nothing completes them
		w.loose += int32(len(group))
	}
	for _, peer := range group {
		e, class := &w.sends, Send
		if from {
			e, class = &w.recvs, Recv
		}
		row := int32(len(e.Op))
		e.Op, e.Peer, e.Comm = append(e.Op, None), append(e.Peer, peer), append(e.Comm, w.names.signals)
		e.Tag, e.Bytes = append(e.Tag, kind.tag(window)), append(e.Bytes, 0)
		if from {
			e.Post = append(e.Post, w.inCall())
			w.posts = append(w.posts, int32(w.events))
		} else {
			e.Match, e.Wait = append(e.Match, None), append(e.Wait, None)
		}
		w.record(pending{class: uint8(class), row: row})
		w.records[len(w.records)-1].time = at
	}
}

// groupSync is a part of an epoch that a group takes part in; which is known from
// the call.
func (w *walker) groupSync(ev *otf2.Event) {
	if len(w.stack) == 0 {
		return
	}
	window, group := ev.F[1], w.names.groups[ev.F[2]]
	switch strings.ToLower(w.names.regions[w.stack[len(w.stack)-1].region].Name) {
	case "mpi_win_post":
		w.signal(signalPost, window, group, false, w.now)
	case "mpi_win_complete":
		w.signal(signalPost, window, group, true, w.now)
		w.signal(signalComplete, window, group, false, w.now)
	case "mpi_win_wait", "mpi_win_test":
		w.signal(signalComplete, window, group, true, w.now)
	}
}

// neighbours are the signals of a collective of neighbours, which is known when
// its call ends.
func (w *walker) neighbours(list []otf2.AttributeValue) {
	if len(w.stack) == 0 || w.names.sentTo == otf2.None {
		return
	}
	for i := range list {
		group := w.names.groups[list[i].Value.Bits]
		switch {
		case list[i].Value.Type != typeGroup:
		case list[i].ID == w.names.sentTo: // as soon as the call began
			w.signal(signalNeighbour, 0, group, false, w.stack[len(w.stack)-1].enter)
		case list[i].ID == w.names.gotFrom:
			w.signal(signalNeighbour, 0, group, true, w.now)
		}
	}
}

// hold is one process's time with a lock of a window, in rows of ends: from the
// receive of the signal that it is free to the send of the same.
type hold struct {
	window, target uint64
	shared         bool
	from, to       int32
}

// everyTarget is what OTF2 has for a lock at all processes of a window.
const everyTarget = uint64(otf2.Undefined32)

// lock begins a hold. Locks at every target are shared by nature and left out:
// they hold up nobody but a rare exclusive one.
func (w *walker) lock(ev *otf2.Event) {
	if ev.F[1] == everyTarget || len(w.stack) == 0 {
		return
	}
	before := len(w.recvs.Op)
	w.signal(signalLock, ev.F[0], []int32{None}, true, w.now)
	if len(w.recvs.Op) > before {
		w.holds = append(w.holds, hold{ev.F[0], ev.F[1], ev.F[3] != 0, int32(before), None})
	}
}

func (w *walker) unlock(ev *otf2.Event) {
	if len(w.stack) == 0 {
		return
	}
	for i := len(w.holds) - 1; i >= 0; i-- {
		h := &w.holds[i]
		if h.to >= 0 || h.window != ev.F[0] || h.target != ev.F[1] {
			continue
		}
		before := len(w.sends.Op)
		w.signal(signalLock, ev.F[0], []int32{None}, false, w.now)
		if len(w.sends.Op) > before {
			h.to = int32(before)
		}
		return
	}
}

// moveHolds follows ends to where an order puts them.
func (l *timeline) moveHolds(order []int32, end func(*hold) *int32) {
	if len(l.holds) == 0 {
		return
	}
	to := make([]int32, len(order))
	for at, from := range order {
		to[from] = int32(at)
	}
	for i := range l.holds {
		if row := end(&l.holds[i]); *row >= 0 {
			*row = to[*row]
		}
	}
}

// matchLocks pairs the end of each hold of a lock with the beginning of the one
// that had to wait for it: the last that ended before, of those that exclude each
// other. Holds end in the order in which the lock was had.
func (t *Trace) matchLocks(lines []*timeline, order []int32) {
	type place struct{ window, target uint64 }
	byPlace := map[place][]hold{}
	var places []place
	for _, row := range order {
		for _, h := range lines[row].holds {
			if h.to < 0 {
				continue
			}
			k := place{h.window, h.target}
			if byPlace[k] == nil {
				places = append(places, k)
			}
			byPlace[k] = append(byPlace[k], h)
		}
	}
	for _, k := range places {
		t.handOn(byPlace[k])
	}
}

// handOn matches the holds of one lock.
func (t *Trace) handOn(holds []hold) {
	end := func(h *hold) int64 { return t.Ops.Enter[t.Sends.Op[h.to]] }
	slices.SortStableFunc(holds, func(a, b hold) int { return compare(end(&a), end(&b)) })
	exclusive, last := -1, -1
	for i := range holds {
		before := exclusive // a shared hold waits for an exclusive one only
		if !holds[i].shared {
			before = last
		}
		// A library may ask for a lock later than it lets the caller go on.
		if before >= 0 && t.Sends.Match[holds[before].to] < 0 && t.Ops.Exit[t.Recvs.Op[holds[i].from]] >= end(&holds[before]) {
			send, recv := holds[before].to, holds[i].from
			t.Sends.Match[send], t.Recvs.Match[recv] = recv, send
			t.Sends.Peer[send] = t.Procs[t.ProcOf(t.Recvs.Op[recv])].Home
			t.Recvs.Peer[recv] = t.Procs[t.ProcOf(t.Sends.Op[send])].Home
		}
		if !holds[i].shared {
			exclusive = i
		}
		last = i
	}
}

// Signal tells whether the ends of a communicator are signals.
func (t *Trace) Signal(comm int32) bool { return comm == t.signals && comm > 0 }

// Signals returns the number of matched signals.
func (t *Trace) Signals() int { return t.matched(true) }

func (t *Trace) matched(signals bool) int {
	n := 0
	for i, m := range t.Sends.Match {
		if m >= 0 && t.Signal(t.Sends.Comm[i]) == signals {
			n++
		}
	}
	return n
}
