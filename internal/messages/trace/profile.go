package trace

import (
	"cmp"
	"math/bits"
	"slices"
)

// Profile holds the numbers that need no logical structure. Times are ticks.
type Profile struct {
	Regions []RegionTotal
	Pairs   []Pair
	Sizes   []SizeBin
	Waits   WaitStates
}

// RegionTotal is the time all locations spent in a region.
type RegionTotal struct {
	Region     int32
	Locations  int // that entered it
	Calls      int64
	Incl, Excl int64
	Least      int64 // smallest and largest exclusive time of a location
	Most       int64
}

// Pair is a cell of the communication matrix that is not empty.
type Pair struct {
	From, To int32
	Messages int64
	Bytes    int64
}

// SizeBin counts messages of From to To-1 bytes.
type SizeBin struct {
	From, To int64
	Messages int64
	Bytes    int64
}

// WaitStates are the waiting times that Scalasca users know. A late sender
// keeps a receive waiting; a late receiver keeps a blocking send waiting; in a
// collective all wait for the last to enter.
type WaitStates struct {
	LateSender, LateSenderOps     int64
	LateReceiver, LateReceiverOps int64
	Collective, CollectiveOps     int64
}

// Profile computes the profile of the whole trace.
func (t *Trace) Profile() *Profile {
	return &Profile{Regions: t.regionTotals(), Pairs: t.pairs(), Sizes: t.sizes(), Waits: t.waitStates()}
}

func (t *Trace) regionTotals() []RegionTotal {
	byRegion := make([]RegionTotal, len(t.Regions))
	for _, r := range t.Times {
		s := &byRegion[r.Region]
		if s.Locations == 0 {
			s.Region, s.Least = r.Region, r.Excl
		}
		s.Locations++
		s.Calls += r.Calls
		s.Incl += r.Incl
		s.Excl += r.Excl
		s.Least, s.Most = min(s.Least, r.Excl), max(s.Most, r.Excl)
	}
	out := slices.DeleteFunc(byRegion, func(s RegionTotal) bool { return s.Locations == 0 })
	slices.SortStableFunc(out, func(a, b RegionTotal) int { return cmp.Compare(b.Excl, a.Excl) })
	return out
}

// pairs lists the communication matrix by sender and receiver.
func (t *Trace) pairs() []Pair {
	index := map[[2]int32]int32{}
	var out []Pair
	proc := int32(0)
	for i, m := range t.Sends.Match {
		if m < 0 {
			continue
		}
		for t.Ops.Start[proc+1] <= t.Sends.Op[i] {
			proc++
		}
		key := [2]int32{proc, t.ProcOf(t.Recvs.Op[m])}
		k, ok := index[key]
		if !ok {
			k = int32(len(out))
			index[key] = k
			out = append(out, Pair{From: key[0], To: key[1]})
		}
		out[k].Messages++
		out[k].Bytes += t.Sends.Bytes[i]
	}
	slices.SortFunc(out, func(a, b Pair) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	return out
}

// sizes counts messages by powers of two.
func (t *Trace) sizes() []SizeBin {
	var bins [65]SizeBin
	for i, m := range t.Sends.Match {
		if m >= 0 {
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

func (t *Trace) waitStates() WaitStates {
	var w WaitStates
	o := &t.Ops
	for op := range o.Enter {
		first, n := o.Ref[op], o.N[op]
		wait := int64(0)
		switch o.Kind[op] {
		case Recv:
			for i := first; i < first+n; i++ {
				if m := t.Recvs.Match[i]; m >= 0 {
					wait = max(wait, min(o.Enter[t.Sends.Op[m]], o.Exit[op])-o.Enter[op])
				}
			}
			w.LateSender, w.LateSenderOps = addWait(w.LateSender, w.LateSenderOps, wait)
		case Send:
			for i := first; i < first+n; i++ {
				// A send whose request completes elsewhere does not block.
				if m := t.Sends.Match[i]; m >= 0 && t.Sends.Wait[i] < 0 {
					if r := t.Recvs.Op[m]; o.Exit[op] > o.Enter[r] {
						wait = max(wait, o.Enter[r]-o.Enter[op])
					}
				}
			}
			w.LateReceiver, w.LateReceiverOps = addWait(w.LateReceiver, w.LateReceiverOps, wait)
		}
	}
	for i := range t.Colls.Comm {
		members := t.Colls.Member[t.Colls.Start[i]:t.Colls.Start[i+1]]
		last := o.Enter[members[0]]
		for _, m := range members {
			last = max(last, o.Enter[m])
		}
		for _, m := range members {
			w.Collective, w.CollectiveOps = addWait(w.Collective, w.CollectiveOps, min(last, o.Exit[m])-o.Enter[m])
		}
	}
	return w
}

func addWait(sum, n, wait int64) (int64, int64) {
	if wait <= 0 {
		return sum, n
	}
	return sum + wait, n + 1
}
