package trace

import (
	"cmp"
	"math/bits"
	"slices"
)

// WaitPattern is what a call waits for, as Scalasca users know it.
type WaitPattern uint8

// The patterns.
const (
	LateSender WaitPattern = iota
	LateReceiver
	InCollective
	waitPatterns
)

// eachWait visits the operations that wait, with how long from their enter on.
func (t *Trace) eachWait(visit func(p WaitPattern, op int32, wait int64)) {
	o := &t.Ops
	for op := range int32(len(o.Enter)) {
		first, n := o.Ref[op], o.N[op]
		wait := int64(0)
		switch o.Kind[op] {
		case Recv:
			for i := first; i < first+n; i++ {
				if m := t.Recvs.Match[i]; m >= 0 {
					wait = max(wait, min(o.Enter[t.Sends.Op[m]], o.Exit[op])-o.Enter[op])
				}
			}
			if wait > 0 {
				visit(LateSender, op, wait)
			}
		case Send:
			for i := first; i < first+n; i++ {
				// A send whose request completes elsewhere does not block.
				if m := t.Sends.Match[i]; m >= 0 && t.Sends.Wait[i] < 0 && !t.Signal(t.Sends.Comm[i]) {
					if r := t.Recvs.Op[m]; o.Exit[op] > o.Enter[r] {
						wait = max(wait, o.Enter[r]-o.Enter[op])
					}
				}
			}
			if wait > 0 {
				visit(LateReceiver, op, wait)
			}
		}
	}
	for i := range t.Colls.Comm {
		members := t.Colls.Member[t.Colls.Start[i]:t.Colls.Start[i+1]]
		last := o.Enter[members[0]]
		for _, m := range members {
			last = max(last, o.Enter[m])
		}
		for _, m := range members {
			if wait := min(last, o.Exit[m]) - o.Enter[m]; wait > 0 {
				visit(InCollective, m, wait)
			}
		}
	}
}

// WindowStats are the numbers of a stretch of time. Times are ticks of all
// processes together.
type WindowStats struct {
	Calls     []RegionTotal // MPI calls, the most time first
	Computing int64         // outside them
	MPI       int64
	Sizes     []SizeBin // of the messages that were sent in it
	Wait      [waitPatterns]int64
	WaitOps   [waitPatterns]int64
}

// Window counts what happened between two times.
func (t *Trace) Window(from, to int64) *WindowStats {
	w := &WindowStats{}
	clip := func(a, b int64) int64 { return max(0, min(b, to)-max(a, from)) }
	byRegion := make([]RegionTotal, len(t.Regions))
	for p := range t.Procs {
		w.Computing += clip(t.Procs[p].First, t.Procs[p].Last)
		c := &t.Calls
		for i := c.Start[p]; i < c.Start[p+1]; i++ {
			d := clip(c.Enter[i], c.Exit[i])
			if c.Exit[i] < from || c.Enter[i] >= to {
				continue
			}
			r := &byRegion[c.Region[i]]
			r.Region = c.Region[i]
			r.Calls++
			r.Incl, r.Excl = r.Incl+d, r.Excl+d
			w.MPI += d
		}
	}
	w.Computing -= w.MPI
	w.Calls = slices.DeleteFunc(byRegion, func(r RegionTotal) bool { return r.Calls == 0 })
	slices.SortStableFunc(w.Calls, func(a, b RegionTotal) int { return cmp.Compare(b.Excl, a.Excl) })
	sent := func(i int) bool {
		at := t.Ops.Enter[t.Sends.Op[i]]
		return at >= from && at < to
	}
	w.Sizes = t.sizes(sent)
	t.eachWait(func(p WaitPattern, op int32, wait int64) {
		if d := clip(t.Ops.Enter[op], t.Ops.Enter[op]+wait); d > 0 {
			w.Wait[p] += d
			w.WaitOps[p]++
		}
	})
	return w
}

// sizes counts matched messages by powers of two.
func (t *Trace) sizes(counts func(send int) bool) []SizeBin {
	var bins [65]SizeBin
	for i := range t.Sends.Match {
		if t.Sends.Match[i] >= 0 && !t.Signal(t.Sends.Comm[i]) && counts(i) {
			b := &bins[bits.Len64(uint64(t.Sends.Bytes[i]))]
			b.Messages++
			b.Bytes += t.Sends.Bytes[i]
		}
	}
	var out []SizeBin
	for k, b := range bins {
		if b.Messages == 0 {
			continue
		}
		b.To = 1 << min(k, 62)
		if k > 0 {
			b.From = b.To / 2
		}
		out = append(out, b)
	}
	return out
}
