package whatif

import (
	"cmp"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/messages/trace"
)

// partnerIndex finds who a call talked to; made when first asked for.
type partnerIndex struct {
	sendAt  []int32 // sends of call i: sends[sendAt[i]:sendAt[i+1]], those begun or completed in it
	sends   []int32
	rooted  map[int32]int      // call that waits for a rooted collective to its row in taking
	taking  [][]int32          // the calls in which members take part
	byName  map[string][]int32 // calls of an epoch, by enter
	epochOf []string           // per region: the calls that let it go on, or ""
	back    map[int32][]int32  // node of a non-blocking collective to the calls in which members came back to MPI, by enter
}

func (b *builder) index() *partnerIndex {
	if b.talk != nil {
		return b.talk
	}
	t := b.Trace
	x := &partnerIndex{rooted: map[int32]int{}, back: map[int32][]int32{}}
	x.sendAt = make([]int32, b.Len()+1)
	each := func(visit func(call, s int32)) {
		for s, op := range t.Sends.Op {
			visit(t.Ops.Call[op], int32(s))
			if w := t.Sends.Wait[s]; w >= 0 && t.Waits.Call[w] != t.Ops.Call[op] {
				visit(t.Waits.Call[w], int32(s))
			}
		}
	}
	each(func(call, _ int32) { x.sendAt[call+1]++ })
	for i := range b.Len() {
		x.sendAt[i+1] += x.sendAt[i]
	}
	x.sends = make([]int32, x.sendAt[b.Len()])
	next := slices.Clone(x.sendAt)
	each(func(call, s int32) { x.sends[next[call]] = s; next[call]++ })
	x.findRooted(b)
	x.epochs(b)
	b.talk = x
	return x
}

// isRooted tells whether a collective lets some members go before others come.
func isRooted(code uint8) bool {
	switch code {
	case trace.CodeBcast, trace.CodeScatter, trace.CodeScatterv, trace.CodeGather, trace.CodeGatherv, trace.CodeReduce, trace.CodeScan, trace.CodeExscan:
		return true
	}
	return false
}

// findRooted lists the members of rooted collectives, blocking or not.
func (x *partnerIndex) findRooted(b *builder) {
	t := b.Trace
	calls := func(ops []int32) []int32 {
		out := make([]int32, len(ops))
		for k, op := range ops {
			out[k] = t.Ops.Call[op]
		}
		return out
	}
	add := func(begin, done []int32) {
		x.taking = append(x.taking, calls(begin))
		for _, op := range done {
			if op >= 0 {
				x.rooted[t.Ops.Call[op]] = len(x.taking) - 1
			}
		}
	}
	for id, code := range t.Colls.Code {
		if members := t.Colls.Member[t.Colls.Start[id]:t.Colls.Start[id+1]]; isRooted(code) {
			add(members, members)
		}
	}
	for id, code := range t.Async.Code {
		if from, to := t.Async.Start[id], t.Async.Start[id+1]; isRooted(code) {
			add(t.Async.Begin[from:to], t.Async.Done[from:to])
		}
	}
}

// epochs lists the calls that one-sided and neighbour calls wait for.
func (x *partnerIndex) epochs(b *builder) {
	t := b.Trace
	x.epochOf = make([]string, len(t.Regions))
	x.byName = map[string][]int32{}
	name := make([]string, len(t.Regions))
	for r := range t.Regions {
		name[r] = strings.ToLower(t.Regions[r].Name)
		x.epochOf[r] = releasedBy(name[r])
		if x.epochOf[r] != "" {
			x.byName[x.epochOf[r]] = nil
		}
	}
	if len(x.byName) == 0 {
		return
	}
	for i, r := range t.Calls.Region {
		if list, ok := x.byName[name[r]]; ok {
			x.byName[name[r]] = append(list, int32(i))
		}
	}
	for _, list := range x.byName {
		slices.SortStableFunc(list, func(p, q int32) int { return int(min(max(b.Enter[p]-b.Enter[q], -1), 1)) })
	}
}

// releasedBy names the call of a partner that lets a call go on: MPI's rules for
// general active target synchronisation and locks, and neighbour collectives,
// whose partners OTF2 has no record for.
func releasedBy(region string) string {
	switch region {
	case "mpi_win_start", "mpi_win_complete":
		return "mpi_win_post"
	case "mpi_win_wait":
		return "mpi_win_complete"
	case "mpi_win_lock", "mpi_win_lock_all":
		return strings.Replace(region, "lock", "unlock", 1)
	}
	if strings.HasPrefix(region, "mpi_neighbor_") {
		return region
	}
	return ""
}

// partners are the lines that a call sends to, receives from, or shares a
// rooted collective with; rooted tells whether there is one.
func (b *builder) partners(i int32, rooted *bool) []int32 {
	t, x := b.Trace, b.index()
	var lines []int32
	add := func(p int32) {
		if p >= 0 && p != b.Line[i] && !slices.Contains(lines, p) {
			lines = append(lines, p)
		}
	}
	for d := b.First[i]; d < b.First[i+1]; d++ {
		if cause := b.Deps.Cause[d]; cause >= 0 {
			add(b.Line[cause])
		}
	}
	for _, s := range x.sends[x.sendAt[i]:x.sendAt[i+1]] {
		add(t.Sends.Peer[s])
	}
	if id, ok := x.rooted[i]; ok {
		*rooted = true
		for _, call := range x.taking[id] {
			add(b.Line[call])
		}
	}
	return lines
}

// callsBack is how many calls after the start of a non-blocking collective are
// looked at for the member's return to MPI.
const callsBack = 3

// memberBack returns the last call of another member of a non-blocking
// collective that let it go on: libraries move data only while a process is
// inside a call, so a member that computes holds up those that wait.
func (b *builder) memberBack(i, node int32, excess int64) int32 {
	x := b.index()
	list, ok := x.back[node]
	if !ok {
		for _, m := range b.Member[b.NodeStart[node]:b.NodeStart[node+1]] {
			for j := m + 1; j < min(m+1+callsBack, b.Start[b.Line[m]+1]); j++ {
				list = append(list, j)
			}
		}
		slices.SortFunc(list, func(p, q int32) int { return cmp.Or(cmp.Compare(b.Enter[p], b.Enter[q]), cmp.Compare(p, q)) })
		x.back[node] = list
	}
	k, _ := slices.BinarySearchFunc(list, b.Exit[i]+1, func(j int32, at int64) int { return cmp.Compare(b.Enter[j], at) })
	for k--; k >= 0 && b.Exit[i]-b.Enter[list[k]] <= excess/2; k-- {
		if j := list[k]; b.Line[j] != b.Line[i] && b.Computation(j) >= excess/2 {
			return j
		}
	}
	return trace.None
}

// lastMember returns the member of the rooted collective of i that entered last
// inside its stay, if that explains at least half of the excess.
func (b *builder) lastMember(i int32, excess int64) int32 {
	x := b.index()
	best := trace.None
	for _, j := range x.taking[x.rooted[i]] {
		if j != i && b.Enter[j] > b.Enter[i] && b.Enter[j] <= b.Exit[i] && (best < 0 || b.Enter[j] > b.Enter[best]) {
			best = j
		}
	}
	if best >= 0 && b.Exit[i]-b.Enter[best] > excess/2 {
		return trace.None
	}
	return best
}

// epochPartner returns the last call on another line that could have let an
// epoch or neighbour call go on, if it entered in the second half of the excess.
func (b *builder) epochPartner(i int32, excess int64) int32 {
	x := b.index()
	list := x.byName[x.epochOf[b.Trace.Calls.Region[i]]]
	k, _ := slices.BinarySearchFunc(list, b.Exit[i]+1, func(j int32, at int64) int { return int(min(max(b.Enter[j]-at, -1), 1)) })
	for k--; k >= 0; k-- {
		j := list[k]
		if b.Exit[i]-b.Enter[j] > excess/2 {
			return trace.None
		}
		if b.Line[j] != b.Line[i] {
			return j
		}
	}
	return trace.None
}
