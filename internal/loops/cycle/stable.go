package cycle

// Lengths is a range of window lengths, both ends included; zero if there is none.
type Lengths struct{ Least, Most int }

// stabilise finds for each class the window lengths at which its marker is passed
// as often: a count that depends on the length of the window is that of one path,
// or loses turns that are shorter than it.
func (a *analysis) stabilise() {
	if a.CoverRadius > 0 { // points stand for windows unlike them
		return
	}
	for _, c := range a.Classes {
		if !c.Exact {
			continue
		}
		c.Same = Lengths{a.leastSame(c.Marker), a.mostSame(c.Marker)}
		c.Stable = a.stable(c)
	}
}

// stable reports whether shorter windows count as many, a whole turn shorter where
// the window spans several, and the next longer one too if it fits into a turn.
func (a *analysis) stable(c *Class) bool {
	window, turn := a.Points.Window, c.TurnLength
	less := 1
	if 0 < turn && turn < window {
		less = turn
	}
	return c.Same.Least <= window-less && (c.Same.Most > window || turn == window)
}

// leastSame is the length of the shortest window that is the beginning or the end of
// the marker and is passed as often. The end of the trace may cost one.
func (a *analysis) leastSame(marker uint32) int {
	m := a.Points.At(int(marker))
	visits := uint64(a.Points.Visits[marker])
	head, tail := a.partsPassed(m)
	least := len(m)
	for least > MinWindow && min(head[least-1], tail[least-1]) <= visits+1 {
		least--
	}
	return least
}

// partsPassed counts by length how often the beginning and the end of a window are
// passed, wherever windows begin with the one or end with the other.
func (a *analysis) partsPassed(m []uint32) (head, tail []uint64) {
	head, tail = make([]uint64, len(m)+1), make([]uint64, len(m)+1)
	for u := range a.Points.Len() {
		s, visits := a.Points.At(u), uint64(a.Points.Visits[u])
		for k := 1; k <= len(m) && s[k-1] == m[k-1]; k++ {
			head[k] += visits
		}
		for k := 1; k <= len(m) && s[len(m)-k] == m[len(m)-k]; k++ {
			tail[k] += visits
		}
	}
	return head, tail
}

// mostSame is the length of the longest window that holds the marker at its
// beginning or at its end and is passed as often, looked for up to twice the length
// of windows here. The ends of the trace may cost one.
func (a *analysis) mostSame(marker uint32) int {
	after, before := &sameAround{direction: 1}, &sameAround{direction: -1}
	index, middle := a.Points.Index, a.visit(marker, int(a.Points.Visits[marker])/2) // the ends of the trace do not cut this one
	for _, s := range []*sameAround{after, before} {
		for j := 1; j <= a.Points.Window; j++ {
			like := middle + j*s.direction
			if like < 0 || like >= len(index) {
				break
			}
			s.like = append(s.like, index[like])
		}
		s.others = make([]int, len(s.like))
	}
	for from, part := range a.Points.files.parts(index) {
		for i, u := range part {
			if u == marker {
				after.compare(index, from+i)
				before.compare(index, from+i)
			}
		}
	}
	return a.Points.Window + max(len(after.like), len(before.like))
}

// visit is the window of the n-th visit of a point, counted from 0.
func (a *analysis) visit(point uint32, n int) int {
	for from, part := range a.Points.files.parts(a.Points.Index) {
		for i, u := range part {
			if u != point {
				continue
			}
			if n == 0 {
				return from + i
			}
			n--
		}
	}
	return 0
}

// sameAround is the points next to a visit of the marker in one direction, as far as
// they are the same next to all visits but one.
type sameAround struct {
	direction int
	like      []uint32
	others    []int // by distance: visits that have another point there
}

// compare looks at the visit at a window.
func (s *sameAround) compare(index []uint32, t int) {
	for j, like := range s.like {
		at := t + (j+1)*s.direction
		if at >= 0 && at < len(index) && index[at] == like {
			continue
		}
		if s.others[j]++; s.others[j] > 1 {
			s.like = s.like[:j]
			return
		}
	}
}
