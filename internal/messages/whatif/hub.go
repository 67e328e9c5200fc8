package whatif

import (
	"slices"

	"github.com/isobath/isobath/internal/messages/trace"
)

// hub is a master that takes answers as they come and hands the next task to
// whoever answered. In a replay tasks may change hands: the recorded pairs of
// messages would keep every task with the worker that happened to be free.
type hub struct {
	line  int32
	calls []hubCall
}

// hubCall is one call of the master.
type hubCall struct {
	call    int32
	receive bool
	dep     int32 // of a receive
	answer  bool  // a send to the source of the receive before it
	to      int32 // recorded worker of a send
	task    task  // that a send hands out
}

// task is a stretch of calls of a worker: the receive of the task to the send of
// its result. A task without a result ends the worker.
type task struct {
	from, to int32 // calls; to is None without a result
	dep      int32 // of the receive on the master's send
}

// What makes a stream of receives a hub.
const (
	enoughWaits = 8
	passedBy    = 5 // usual lags
)

// findHubs looks for masters. A line with one must do nothing else between its
// first task and its last answer.
func (g *Graph) findHubs() []hub {
	type key struct {
		line, region, comm int32
		tag                uint32
	}
	t := g.Trace
	streams := map[key][]int32{}
	var keys []key
	for row, op := range t.Recvs.Op {
		if t.Signal(t.Recvs.Comm[row]) {
			continue
		}
		call := t.Ops.Call[op]
		k := key{g.Line[call], t.Calls.Region[call], t.Recvs.Comm[row], t.Recvs.Tag[row]}
		if streams[k] == nil {
			keys = append(keys, k)
		}
		streams[k] = append(streams[k], int32(row))
	}
	var hubs []hub
	for _, k := range keys {
		rows := streams[k]
		if len(rows) < enoughReceives || !g.takesWhatComes(rows) {
			continue
		}
		if h, ok := g.hubOf(k.line, rows); ok {
			hubs = append(hubs, h)
		}
	}
	return hubs
}

// takesWhatComes tells whether a stream of receives looks like one from any
// source: several, mostly waited for, and none passed over that was there.
func (g *Graph) takesWhatComes(rows []int32) bool {
	t := g.Trace
	sources := map[int32]bool{}
	waited := 0
	sent := make([]int64, len(rows))
	for k, row := range rows {
		m := t.Recvs.Match[row]
		if m < 0 {
			return false
		}
		sources[t.Recvs.Peer[row]] = true
		sent[k] = g.Enter[t.Ops.Call[t.Sends.Op[m]]]
		if sent[k] > g.Enter[t.Ops.Call[t.Recvs.Op[row]]] {
			waited++
		}
	}
	lag := g.usual.lag[lagClass{kind: Message, size: size(t.Recvs.Bytes[rows[0]])}]
	for k := range rows {
		for j := k + 1; j < min(len(rows), k+lookAhead); j++ {
			if sent[j]+passedBy*lag < sent[k] {
				return false
			}
		}
	}
	return len(sources) >= enoughSources && waited >= enoughWaits
}

// hubOf lists the calls of a master from its first task to its last answer.
func (g *Graph) hubOf(line int32, rows []int32) (hub, bool) {
	t := g.Trace
	h := hub{line: line}
	receives := map[int32]int32{} // call to row
	for _, row := range rows {
		receives[t.Ops.Call[t.Recvs.Op[row]]] = row
	}
	first, last := t.Ops.Call[t.Recvs.Op[rows[0]]], t.Ops.Call[t.Recvs.Op[rows[len(rows)-1]]]
	for first > g.Start[line] && g.sendTo(first-1) >= 0 {
		first--
	}
	if last+1 < g.Start[line+1] && g.sendTo(last+1) >= 0 {
		last++
	}
	source, answered := trace.None, 0
	for i := first; i <= last; i++ {
		c := hubCall{call: i, dep: trace.None, to: trace.None}
		if row, ok := receives[i]; ok {
			if c.dep = g.depOf(i, t.Ops.Call[t.Sends.Op[t.Recvs.Match[row]]]); c.dep < 0 {
				return h, false
			}
			c.receive, source = true, t.Recvs.Peer[row]
		} else {
			send := g.sendTo(i)
			if send < 0 || t.Sends.Match[send] < 0 {
				return h, false
			}
			c.to = t.Sends.Peer[send]
			if c.answer = c.to == source; c.answer {
				answered++
				source = trace.None
			}
			var ok bool
			if c.task, ok = g.taskOf(i, send, line); !ok {
				return h, false
			}
		}
		h.calls = append(h.calls, c)
	}
	return h, answered*10 >= len(rows)*8
}

// sendTo returns the only send of a call that does nothing else, or None.
func (g *Graph) sendTo(call int32) int32 {
	t := g.Trace
	p := g.Line[call]
	k, ok := slices.BinarySearch(t.Ops.Call[t.Ops.Start[p]:t.Ops.Start[p+1]], call)
	op := t.Ops.Start[p] + int32(k)
	if !ok || t.Ops.Kind[op] != trace.Send || t.Ops.N[op] != 1 || op+1 < t.Ops.Start[p+1] && t.Ops.Call[op+1] == call {
		return trace.None
	}
	return t.Ops.Ref[op]
}

func (g *Graph) depOf(call, cause int32) int32 {
	for d := g.First[call]; d < g.First[call+1]; d++ {
		if g.Deps.Cause[d] == cause {
			return d
		}
	}
	return trace.None
}

// taskOf follows the worker from the receive of a task to its next call that
// talks to the master: a send is the result, anything else means there is none.
func (g *Graph) taskOf(send, row, master int32) (task, bool) {
	t := g.Trace
	from := t.Ops.Call[t.Recvs.Op[t.Sends.Match[row]]]
	k := task{from: from, to: trace.None, dep: g.depOf(from, send)}
	if k.dep < 0 {
		return k, false
	}
	p := g.Line[from]
	for i := from + 1; i < g.Start[p+1]; i++ {
		if s := g.sendTo(i); s >= 0 && t.Sends.Peer[s] == master {
			k.to = i
			return k, true
		}
		if g.First[i] < g.First[i+1] { // waits for somebody: the tasks are over
			break
		}
	}
	return k, true
}

// worker is the state of a worker in a replay by arrival.
type worker struct {
	exits []int64 // of the calls of its tasks, in order
	free  int64   // when its last call ended
	sent  int64   // when it began to send a result that is not taken yet
	busy  bool
}

// ReplayByArrival replays with tasks that go to whoever is free. Without a hub
// it is Replay. Times of single calls of workers are those of the tasks they get
// in the replay, as far as there are so many.
func (g *Graph) ReplayByArrival(w *Weights, t *Times) *Times {
	t = g.Replay(w, t)
	for i := range g.hubs {
		if fixed := g.arrive(&g.hubs[i], w, t); fixed != nil {
			t = g.replayFixed(w, t, fixed)
		}
	}
	return t
}

// arrive plays one hub and returns the exits that follow, nil if it does not
// work out.
func (g *Graph) arrive(h *hub, w *Weights, t *Times) map[int32]int64 {
	fixed := map[int32]int64{}
	workers := map[int32]*worker{}
	now := t.Enter[h.calls[0].call] - w.Comp[h.calls[0].call]
	source := trace.None
	for k := range h.calls {
		c := &h.calls[k]
		enter := now + w.Comp[c.call]
		now = enter + w.Own[c.call]
		if c.receive {
			if source = earliest(workers); source < 0 {
				return nil
			}
			workers[source].busy = false
			now = max(now, workers[source].sent+w.Lag[c.dep])
		} else {
			to := c.to
			if c.answer && source >= 0 {
				to = source
			}
			if workers[to] == nil {
				workers[to] = &worker{free: t.Enter[c.task.from] - w.Comp[c.task.from]}
			}
			workers[to].do(g, w, &c.task, enter)
		}
		fixed[c.call] = now
	}
	g.spread(h, workers, fixed)
	return fixed
}

// earliest returns the worker whose result comes first.
func earliest(workers map[int32]*worker) int32 {
	best := trace.None
	for p, k := range workers {
		if k.busy && (best < 0 || k.sent < workers[best].sent || k.sent == workers[best].sent && p < best) {
			best = p
		}
	}
	return best
}

// do lets a worker take a task that was sent at a time.
func (k *worker) do(g *Graph, w *Weights, task *task, sent int64) {
	at := k.free + w.Comp[task.from]
	at = max(at+w.Own[task.from], sent+w.Lag[task.dep])
	k.exits = append(k.exits, at)
	for i := task.from + 1; i <= task.to; i++ {
		enter := at + w.Comp[i]
		at = enter + w.Own[i]
		if i == task.to {
			k.sent, k.busy = enter, true
		}
		k.exits = append(k.exits, at)
	}
	k.free = at
}

// spread gives the recorded calls of each worker the exits of the tasks it got;
// what it did more often in the recording happens at the end, without time.
func (g *Graph) spread(h *hub, workers map[int32]*worker, fixed map[int32]int64) {
	next := map[int32]int{}
	for k := range h.calls {
		c := &h.calls[k]
		if c.receive {
			continue
		}
		p := c.to
		for i := c.task.from; i <= max(c.task.from, c.task.to); i++ {
			got := workers[p]
			if got == nil || len(got.exits) == 0 {
				continue
			}
			fixed[i] = got.exits[min(next[p], len(got.exits)-1)]
			next[p]++
		}
		// The last recorded call of a worker ends when its last task does.
		if got := workers[p]; got != nil && c.task.to < 0 {
			fixed[c.task.from] = got.free
		}
	}
}

// replayFixed replays with some exits given.
func (g *Graph) replayFixed(w *Weights, t *Times, fixed map[int32]int64) *Times {
	changed := w.Clone()
	for i, x := range fixed {
		for d := g.First[i]; d < g.First[i+1]; d++ {
			changed.Lag[d] = never
		}
		changed.Comp[i], changed.Own[i] = 0, 0
		if i > g.Start[g.Line[i]] {
			if before, ok := fixed[i-1]; ok {
				changed.Own[i] = max(0, x-before)
				continue
			}
		}
		changed.Own[i] = 0
		changed.Comp[i] = max(0, x-(t.Enter[i]-w.Comp[i]))
	}
	wait := slices.Clone(t.Wait)
	t = g.Replay(changed, t)
	copy(t.Wait, wait) // what is waited for in a hub is not followed
	return t
}
