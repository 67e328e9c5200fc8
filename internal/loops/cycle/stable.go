package cycle

import "slices"

// stabilise finds the classes whose marker is passed as often by shorter and by
// longer windows: a count that depends on the length of the window is that of one
// path, or loses turns that are shorter than it.
func (a *analysis) stabilise() {
	if a.CoverRadius > 0 { // points stand for windows unlike them
		return
	}
	for _, c := range a.Classes {
		c.Stable = c.Exact && a.sameShorter(c) && a.sameLonger(c.Marker)
	}
}

// sameShorter reports whether a part of the marker is passed as often: all but one
// reference, or a whole turn less where it spans several. The end of the trace may
// cost one.
func (a *analysis) sameShorter(c *Class) bool {
	m, less := a.Points.At(int(c.Marker)), 1
	if 0 < c.TurnLength && c.TurnLength < a.Points.Window {
		less = c.TurnLength
	}
	keep := a.Points.Window - less
	var head, tail uint64
	for u := range a.Points.Len() {
		s := a.Points.At(u)
		if slices.Equal(s[:keep], m[:keep]) {
			head += uint64(a.Points.Visits[u])
		}
		if slices.Equal(s[less:], m[less:]) {
			tail += uint64(a.Points.Visits[u])
		}
	}
	return min(head, tail) <= uint64(a.Points.Visits[c.Marker])+1
}

// sameLonger reports whether the marker with one more reference before or behind
// it is passed as often.
func (a *analysis) sameLonger(marker uint32) bool {
	most := uint64(0)
	a.Walk.each(func(step, u, v int) {
		if u == int(marker) || v == int(marker) {
			most = max(most, a.Walk.Count[step])
		}
	})
	return most+1 >= uint64(a.Points.Visits[marker])
}
