package tree

import "slices"

// A recording may end while the program goes on: at its limit, or because a signal
// ended the program. What was counted until then is right, and loops that were under
// way would have gone on.

// whyCut is why a loop that was under way has no exact counts.
const whyCut = "the recording ended while it was under way: there were at least as many"

// cutNote says what counts are of, where the recording ended first.
const cutNote = "the recording ended before the program left the region: counts are of what was recorded, and loops that were under way have at least as many"

// underWay is what threads had not come to the end of when the recording was stopped.
type underWay struct {
	nodes map[int32]bool // loops and calls
	at    []position     // where their calls stood in the text
}

// stop notes what a thread has not come to the end of.
func (u *underWay) stop(w *walker, t *thread) {
	if len(t.frames) == 0 {
		return
	}
	for _, a := range t.active {
		u.nodes[a.node] = true
	}
	for i := range t.frames {
		at := t.frames[i].at
		if at < 0 {
			continue
		}
		list := w.listing(at)
		for k := range list {
			u.at = append(u.at, positionOf(&list[k]))
			for _, c := range list[k].Calls {
				u.at = append(u.at, position{c.File, place(c.Line, c.Column)})
			}
		}
	}
}

// cutShort makes counts of loops that were under way least numbers, and says so.
func (b *build) cutShort() {
	if !b.stopped {
		return
	}
	b.out.Notes = append(b.out.Notes, cutNote)
	open := map[int]bool{}
	for n := range b.open.nodes {
		if row := b.rowOfNode(n); row >= 0 {
			open[row] = true
		}
	}
	// Turns may run in copies that are in no loop of the code.
	for row := range b.members {
		if st := b.groups[b.members[row][0]].statement; st >= 0 {
			whole := b.statements[st].whole()
			if slices.ContainsFunc(b.open.at, func(p position) bool {
				return p.file == b.statements[st].file && p.line() > 0 && whole.covers(p)
			}) {
				open[row] = true
			}
		}
	}
	for row := range open {
		l := &b.out.Loops[row]
		l.Exits = nil
		if row < len(b.unsupported) {
			b.unsupported[row].Spread = true
		}
		if l.Exact {
			l.Exact, l.AtLeast, l.Why, l.Course = false, true, whyCut, nil
		}
	}
}
