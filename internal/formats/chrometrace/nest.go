package chrometrace

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// nest makes slices of the marks of every thread, in the order in which they
// begin and inside each other, and finds the slices that flows touch.
func (r *reader) nest() {
	for number, key := range r.order {
		th := r.threads[key]
		// The list may be in any order; what is at the same time keeps its own.
		slices.SortStableFunc(th.marks, func(a, b mark) int { return cmp.Compare(a.time, b.time) })
		touched := r.pair(th)
		if len(th.whole) > 0 {
			r.merge(th)
			touched = nil
		}
		r.touch(int32(number), th, touched)
		r.slices += len(th.slices)
		th.marks, th.whole = nil, nil
	}
}

// pair makes slices of beginnings and ends. It returns, for each mark, the slice
// that is open there, −1 for none.
func (r *reader) pair(th *thread) []int32 {
	open := opened{reader: r, th: th, late: map[uint32]int{}}
	at := make([]int32, len(th.marks))
	for i := range th.marks {
		m := &th.marks[i]
		at[i] = open.top()
		switch m.phase {
		case 'B':
			th.slices = append(th.slices, slice{start: m.time, end: math.MinInt64, name: m.name, parent: open.top(), bytes: m.bytes, order: int32(i)})
			open.slices = append(open.slices, int32(len(th.slices)-1))
		case 'E':
			open.end(m, int32(i))
		}
	}
	for _, i := range open.slices {
		r.notes["slices that never end last to the end of their thread"]++
		th.slices[i].end, th.slices[i].last = th.marks[len(th.marks)-1].time, math.MaxInt32
	}
	return at
}

// opened are the slices of a thread that have begun, outermost first.
type opened struct {
	*reader
	th     *thread
	slices []int32
	late   map[uint32]int // by name, ends that come after their slice was cut
}

func (o *opened) top() int32 {
	if len(o.slices) == 0 {
		return -1
	}
	return o.slices[len(o.slices)-1]
}

// end ends the innermost slice of the name that the mark has; ends need none,
// and one that is nowhere open ends the innermost of all. Slices inside that are
// still open, as where tasks share a thread, are cut: calls nest.
func (o *opened) end(m *mark, i int32) {
	from := len(o.slices) - 1
	for k := from; k >= 0 && o.words[m.name] != ""; k-- {
		if o.th.slices[o.slices[k]].name == m.name {
			from = k
			break
		}
	}
	named := from >= 0 && o.th.slices[o.slices[from]].name == m.name
	if !named && o.late[m.name] > 0 {
		o.late[m.name]--
		return
	}
	if from < 0 {
		o.notes["ends of slices without a beginning are left out"]++
		return
	}
	for _, k := range o.slices[from:] {
		s := &o.th.slices[k]
		s.end, s.last = m.time, i
	}
	for _, k := range o.slices[from+1:] {
		o.late[o.th.slices[k].name]++
		o.notes[cutNote]++
	}
	o.slices = o.slices[:from]
}

// cutNote tells of calls that do not nest.
const cutNote = "slices that end after the one they are in are cut there"

// merge puts slices that were written whole and those of pairs into one order.
// One that begins inside another and ends after it is cut there: calls nest.
func (r *reader) merge(th *thread) {
	for i := range th.whole {
		th.whole[i].order = int32(i)
	}
	all := append(th.slices, th.whole...)
	slices.SortStableFunc(all, func(a, b slice) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(a.order, b.order))
	})
	var open []int32
	for i := range all {
		s := &all[i]
		for len(open) > 0 && all[open[len(open)-1]].end <= s.start && !inside(s, &all[open[len(open)-1]]) {
			open = open[:len(open)-1]
		}
		s.parent = -1
		if len(open) > 0 {
			s.parent = open[len(open)-1]
			if outer := all[s.parent].end; s.end > outer {
				s.end = outer
				r.notes[cutNote]++
			}
		}
		open = append(open, int32(i))
	}
	th.slices = all
}

// inside reports whether a slice without a length, at the end of another, was
// written before that end.
func inside(s, outer *slice) bool {
	return s.start == outer.end && s.end == s.start && s.last >= 0 && outer.last >= 0 && s.last < outer.last
}

// flowEnd is where a flow leaves, passes or arrives.
type flowEnd struct {
	thread int32 // in the order of the file
	slice  int32
	time   int64
	phase  byte
}

// touch finds the slices of flows: those that were open, or else by time: some
// writers, go build -debug-trace among them, write a flow at the time of the end
// it leaves from, after that end.
func (r *reader) touch(number int32, th *thread, open []int32) {
	for i := range th.marks {
		m := &th.marks[i]
		if m.phase == 'B' || m.phase == 'E' {
			continue
		}
		at := int32(-1)
		switch {
		case m.next:
			at = th.beginning(m.time)
		case open != nil && open[i] >= 0:
			at = open[i]
		default:
			at = th.during(m.time, m.phase == 'f')
		}
		if at < 0 {
			r.notes["ends of flows outside all slices are left out"]++
			continue
		}
		r.ends[m.name] = append(r.ends[m.name], flowEnd{number, at, m.time, m.phase})
	}
}

// beginning is the first slice that begins at a time or after it, or the one
// around it if none does; −1 for none.
func (th *thread) beginning(time int64) int32 {
	i := sort.Search(len(th.slices), func(i int) bool { return th.slices[i].start >= time })
	if i < len(th.slices) {
		return int32(i)
	}
	return th.during(time, true)
}

// during is the innermost slice around a time. Where one ends as the next
// begins, it is the one that ends if arriving, else the other.
func (th *thread) during(time int64, arriving bool) int32 {
	last := func(before func(start int64) bool, holds func(*slice) bool) int32 {
		i := int32(sort.Search(len(th.slices), func(i int) bool { return !before(th.slices[i].start) })) - 1
		for i >= 0 && !holds(&th.slices[i]) {
			i = th.slices[i].parent
		}
		return i
	}
	upTo := func(start int64) bool { return start <= time }
	closed := func(s *slice) bool { return s.end >= time }
	strict := func() int32 { return last(upTo, func(s *slice) bool { return s.end > time }) }
	if arriving {
		strict = func() int32 { return last(func(start int64) bool { return start < time }, closed) }
	}
	if i := strict(); i >= 0 {
		return i
	}
	return last(upTo, closed)
}
