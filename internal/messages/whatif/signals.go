package whatif

import (
	"strings"

	"github.com/isobath/isobath/internal/messages/trace"
)

// mostOrigins bounds the pairs that a chain of two signals may make at one call.
const mostOrigins = 32

// signals adds what epochs, locks and collectives of neighbours wait for. The
// end of an exposure needs the ends of all accesses, each of which needs the
// posts of its own partners: the enter of MPI_Win_complete alone would hide a
// late one.
func (b *builder) signals() {
	t := b.Trace
	if t.Signals() == 0 {
		return
	}
	b.signalled = make([]bool, b.Len())
	for s, comm := range t.Sends.Comm {
		if t.Signal(comm) {
			b.signalled[t.Ops.Call[t.Sends.Op[s]]] = true
		}
	}
	waits, completes := make([]bool, len(t.Regions)), make([]bool, len(t.Regions))
	for r := range t.Regions {
		name := strings.ToLower(t.Regions[r].Name)
		waits[r], completes[r] = name == "mpi_win_wait" || name == "mpi_win_test", name == "mpi_win_complete"
	}
	posts := map[int32][]int32{} // call that completes an access to the posts it waited for
	for r, m := range t.Recvs.Match {
		if !t.Signal(t.Recvs.Comm[r]) {
			continue
		}
		call := t.Ops.Call[t.Recvs.Op[r]]
		b.signalled[call] = true
		if m < 0 {
			continue
		}
		from := t.Ops.Call[t.Sends.Op[m]]
		b.depend(call, from, Signal, 0)
		if completes[t.Calls.Region[call]] {
			posts[call] = append(posts[call], from)
		}
	}
	b.exposures(waits, posts)
	b.starts(posts)
}

// exposures adds the posts that the accesses of an exposure waited for.
func (b *builder) exposures(waits []bool, posts map[int32][]int32) {
	t := b.Trace
	for r, m := range t.Recvs.Match {
		call := t.Ops.Call[t.Recvs.Op[r]]
		if m < 0 || !t.Signal(t.Recvs.Comm[r]) || !waits[t.Calls.Region[call]] {
			continue
		}
		if before := posts[t.Ops.Call[t.Sends.Op[m]]]; len(before) <= mostOrigins {
			for _, post := range before {
				if b.Line[post] != b.Line[call] {
					b.depend(call, post, Signal, 0)
				}
			}
		}
	}
}

// starts adds the posts to MPI_Win_start where it may have waited for them: MPI
// leaves it to the library whether that or MPI_Win_complete does.
func (b *builder) starts(posts map[int32][]int32) {
	t := b.Trace
	begins := make([]bool, len(t.Regions))
	for r := range t.Regions {
		begins[r] = strings.EqualFold(t.Regions[r].Name, "mpi_win_start")
	}
	for p := range b.Lines() {
		open := trace.None
		for i := b.Start[p]; i < b.Start[p+1]; i++ {
			if begins[t.Calls.Region[i]] {
				open = i
			}
			before, ok := posts[i]
			if open < 0 || !ok || open == i {
				continue
			}
			b.signalled[open] = true
			if b.latest(before) <= b.Exit[open] {
				for _, post := range before {
					b.depend(open, post, Signal, 0)
				}
			}
			open = trace.None
		}
	}
}

func (b *builder) latest(calls []int32) int64 {
	at := int64(-1) << 62
	for _, c := range calls {
		at = max(at, b.Enter[c])
	}
	return at
}
