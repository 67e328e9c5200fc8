package chrometrace

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/isobath/isobath/internal/formats/otf2"
	"github.com/isobath/isobath/internal/formats/tracecopy"
)

// message is a flow from a slice to another.
type message struct{ from, to flowEnd }

// record is a message at one of its ends, on the thread that has it.
type record struct {
	slice   int32
	time    int64
	kind    otf2.Kind
	peer    int32 // thread
	message uint32
	bytes   int64
}

// join makes messages of flows. A flow with one beginning and one end is one,
// whatever their times: clocks differ. One that passes on the way, or whose
// number is used again, is followed in the order of time.
func (r *reader) join() {
	for _, ends := range r.ends {
		if len(ends) == 2 && ends[0].phase != 's' {
			ends[0], ends[1] = ends[1], ends[0]
		}
		if len(ends) != 2 {
			slices.SortStableFunc(ends, func(a, b flowEnd) int { return cmp.Compare(a.time, b.time) })
		}
		from := flowEnd{slice: -1}
		for _, e := range ends {
			if e.phase != 's' && from.slice >= 0 {
				r.messages = append(r.messages, message{from, e})
			} else if e.phase != 's' {
				r.notes["flows that begin nowhere are left out"]++
			}
			if from = e; e.phase == 'f' {
				from.slice = -1
			}
		}
	}
	r.ends = nil
	leaving := map[[2]int32]int{} // messages of each slice
	for _, m := range r.messages {
		leaving[[2]int32{m.from.thread, m.from.slice}]++
	}
	for i, m := range r.messages {
		from, to := r.threads[r.order[m.from.thread]], r.threads[r.order[m.to.thread]]
		bytes := from.slices[m.from.slice].bytes
		if bytes < 0 || leaving[[2]int32{m.from.thread, m.from.slice}] > 1 {
			r.notes["messages whose size the file does not say have 0 bytes"]++
			bytes = 0
		}
		from.records = append(from.records, record{m.from.slice, m.from.time, otf2.MPISend, m.to.thread, uint32(i), bytes})
		to.records = append(to.records, record{m.to.slice, m.to.time, otf2.MPIRecv, m.from.thread, uint32(i), bytes})
	}
}

// archive writes what was read as OTF2.
func (r *reader) archive(path string) (*otf2.Archive, error) {
	m, err := tracecopy.New(otf2.WriterOptions{Creator: "Trace Event Format"})
	if err != nil {
		return nil, err
	}
	if err := r.fill(m); err != nil {
		return nil, fmt.Errorf("%w (%v)", err, m.Abandon())
	}
	for _, text := range sortedKeys(r.notes) {
		m.Note("%s (%d)", text, r.notes[text])
	}
	if r.samples > 0 {
		m.Note("%d samples of call stacks are left out: slices and messages are read", r.samples)
	}
	for _, phase := range sortedKeys(r.skipped) {
		name, why := aboutPhase(phase)
		m.Note("events of phase %s (%s) are left out: %s (%d)", phase, name, why, r.skipped[phase])
	}
	return m.Finish(path)
}

// aboutPhase says what the events of a phase are, and why they are no calls.
func aboutPhase(phase string) (name, why string) {
	const noSlice = "they are no slice of a thread"
	switch phase {
	case "b", "e", "n", "S", "T", "p", "F":
		return "asynchronous", "they are on no thread"
	case "i", "I", "R":
		return "moments", "they take no time"
	case "P":
		return "samples", noSlice
	case "N", "O", "D":
		return "objects", noSlice
	case "v", "V":
		return "memory dumps", noSlice
	}
	return "others", noSlice
}

// used are the threads that have slices, in the order the writer wants, then by
// number. Counters are of processes: their first thread gets values that are on
// no thread of slices.
func (r *reader) used() []int32 {
	var used []int32
	for i, key := range r.order {
		if len(r.threads[key].slices) > 0 {
			used = append(used, int32(i))
		}
	}
	slices.SortStableFunc(used, func(i, j int32) int {
		a, b := r.order[i], r.order[j]
		return cmp.Or(cmp.Compare(r.processes[a.process].position, r.processes[b.process].position), compareWords(a.process, b.process),
			cmp.Compare(r.threads[a].position, r.threads[b].position), compareWords(a.thread, b.thread))
	})
	first := map[string]*thread{}
	for _, i := range used {
		key := r.order[i]
		if first[key.process] == nil {
			first[key.process] = r.threads[key]
		}
	}
	for _, key := range r.order {
		th := r.threads[key]
		if len(th.slices) > 0 || len(th.counts) == 0 {
			continue
		}
		if to := first[key.process]; to != nil {
			to.counts = append(to.counts, th.counts...)
		} else {
			r.notes["values of counters in processes without slices are left out"] += len(th.counts)
		}
	}
	return used
}

// fill writes definitions and events.
func (r *reader) fill(m *tracecopy.Maker) error {
	used := r.used()
	node := m.Node("host", "node", otf2.None)
	groups := map[string]uint32{}
	writers := make(map[int32]*otf2.EventWriter, len(used))
	for _, i := range used {
		key := r.order[i]
		group, ok := groups[key.process]
		if !ok {
			group = m.Process(cmp.Or(r.processes[key.process].name, "process "+key.process), node)
			groups[key.process] = group
		}
		writers[i] = m.Location(cmp.Or(r.threads[key].name, "thread "+key.thread), group)
	}
	ranks := r.ranks(used)
	world, members, rank := make([]uint64, len(ranks)), make([]uint64, len(ranks)), map[int32]uint64{}
	for n, i := range ranks {
		world[n], members[n], rank[i] = writers[i].ID, uint64(n), uint64(n)
	}
	m.CommLocations(world)
	out := emitter{reader: r, m: m, rank: rank, comm: uint64(m.Comm("flows", members, otf2.None)), metrics: map[uint32]uint64{}}
	for _, i := range used {
		if err := out.thread(writers[i], r.threads[r.order[i]]); err != nil {
			return err
		}
	}
	return nil
}

// compareWords compares numbers as numbers, before all other words.
func compareWords(a, b string) int {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	switch {
	case errX == nil && errY == nil:
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a, b))
	case errX == nil:
		return -1
	case errY == nil:
		return 1
	}
	return cmp.Compare(a, b)
}

// ranks are the threads that send to each other. Usually that is one of each
// process; where flows join threads of one process, each of these is a rank.
func (r *reader) ranks(used []int32) []int32 {
	talks := map[int32]bool{}
	for _, m := range r.messages {
		talks[m.from.thread], talks[m.to.thread] = true, true
	}
	speaker, several := map[string]int32{}, false
	for _, i := range used {
		process := r.order[i].process
		old, ok := speaker[process]
		switch {
		case !ok || talks[i] && !talks[old]:
			speaker[process] = i
		case talks[i]:
			several = true
		}
	}
	if several {
		r.notes["flows join threads of one process: every thread that has some is taken for a rank"]++
	}
	var out []int32
	for _, i := range used {
		if several && talks[i] || !several && speaker[r.order[i].process] == i {
			out = append(out, i)
		}
	}
	return out
}

// emitter writes the events of threads.
type emitter struct {
	*reader
	m       *tracecopy.Maker
	rank    map[int32]uint64
	comm    uint64
	metrics map[uint32]uint64 // classes of counters, by name
	out     *otf2.EventWriter
	now     uint64
	err     error
}

// thread writes one: slices as they begin and end, with messages inside.
func (e *emitter) thread(out *otf2.EventWriter, th *thread) error {
	e.out, e.now = out, 0
	slices.SortStableFunc(th.counts, func(a, b count) int { return cmp.Compare(a.time, b.time) })
	slices.SortStableFunc(th.records, func(a, b record) int { return cmp.Or(cmp.Compare(a.slice, b.slice), cmp.Compare(a.time, b.time)) })
	// Records of a slice lie together; begin is where those of each begin.
	begin := make([]int, len(th.slices)+1)
	for _, rec := range th.records {
		begin[rec.slice+1]++
	}
	for i := range th.slices {
		begin[i+1] += begin[i]
	}
	done := slices.Clone(begin)
	happen := func(i int32, time int64) { // the messages of slice i up to a time
		for ; i >= 0 && done[i] < begin[i+1] && th.records[done[i]].time <= time; done[i]++ {
			e.record(&th.records[done[i]])
		}
	}
	at := int32(-1)
	leave := func() {
		s := &th.slices[at]
		happen(at, math.MaxInt64)
		e.counts(th, s.end)
		e.put(s.end, otf2.Leave, e.m.Named(e.words[s.name]))
		at = s.parent
	}
	for i := range th.slices {
		s := &th.slices[i]
		for at >= 0 && at != s.parent {
			leave()
		}
		happen(at, s.start)
		e.counts(th, s.start)
		e.put(s.start, otf2.Enter, e.m.Named(e.words[s.name]))
		at = int32(i)
	}
	for at >= 0 {
		leave()
	}
	e.counts(th, math.MaxInt64)
	if e.err != nil {
		return e.err
	}
	return out.Close()
}

// put writes an event at a time of the file, or at the last one's if that is
// later.
func (e *emitter) put(time int64, kind otf2.Kind, fields ...uint64) {
	ev := e.event(time, kind, fields...)
	e.write(&ev)
}

// event counts times from the first of the file.
func (e *emitter) event(time int64, kind otf2.Kind, fields ...uint64) otf2.Event {
	e.now = max(e.now, uint64(max(time-e.first, 0)))
	ev := otf2.Event{Kind: kind, Time: e.now}
	copy(ev.F[:], fields)
	return ev
}

func (e *emitter) write(ev *otf2.Event) {
	if e.err == nil {
		e.err = e.out.Write(ev)
	}
}

// record writes one end of a message. Its number is the tag, so that it is
// matched with its other end whatever the order is.
func (e *emitter) record(r *record) {
	e.put(r.time, r.kind, e.rank[r.peer], e.comm, uint64(r.message), uint64(r.bytes))
}

// counts writes the values of counters up to a time.
func (e *emitter) counts(th *thread, time int64) {
	const absolute, double = 1, 10 // modes and types of OTF2
	for ; len(th.counts) > 0 && th.counts[0].time <= time; th.counts = th.counts[1:] {
		c := th.counts[0]
		class, ok := e.metrics[c.name]
		if !ok {
			class = uint64(e.m.MetricClass(e.m.MetricMember(e.words[c.name], "", absolute, double)))
			e.metrics[c.name] = class
		}
		ev := e.event(c.time, otf2.Metric, class)
		ev.List = []otf2.Value{{Type: double, Bits: math.Float64bits(c.value)}}
		e.write(&ev)
	}
}
