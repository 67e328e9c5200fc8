package trace

import (
	"cmp"
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
	return &Profile{Regions: t.regionTotals(), Pairs: t.pairs(), Sizes: t.sizes(func(int) bool { return true }), Waits: t.waitStates()}
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
		if m < 0 || t.Signal(t.Sends.Comm[i]) {
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

func (t *Trace) waitStates() WaitStates {
	var w WaitStates
	t.eachWait(func(p WaitPattern, _ int32, wait int64) {
		switch p {
		case LateSender:
			w.LateSender, w.LateSenderOps = w.LateSender+wait, w.LateSenderOps+1
		case LateReceiver:
			w.LateReceiver, w.LateReceiverOps = w.LateReceiver+wait, w.LateReceiverOps+1
		default:
			w.Collective, w.CollectiveOps = w.Collective+wait, w.CollectiveOps+1
		}
	})
	return w
}
