package symbol

import "sort"

// History is the mappings of all processes at any time. It answers in any order
// of time what Space answers in ascending order only, and keeps every state for
// that; states share what they have in common.
type History struct {
	processes map[int][]moment
}

// moment is the mappings of a process from a time on.
type moment struct {
	at   uint64
	live *node[*Mapping]
}

// History returns what was added so far.
func (s *Space) History() *History {
	h := &History{processes: map[int][]moment{}}
	s.replay(0)
	s.restart()
	for i := range s.events {
		e := &s.events[i]
		s.apply(e)
		h.processes[e.pid] = append(h.processes[e.pid], moment{e.at, s.live[e.pid]})
	}
	s.restart()
	return h
}

// View is the mappings of one process at one time.
type View struct{ own, kernel *node[*Mapping] }

// At returns the mappings of a process at a time.
func (h *History) At(pid int, at uint64) View {
	return View{h.live(pid, at), h.live(Kernel, at)}
}

func (h *History) live(pid int, at uint64) *node[*Mapping] {
	list := h.processes[pid]
	i := sort.Search(len(list), func(i int) bool { return list[i].at > at })
	if i == 0 {
		return nil
	}
	return list[i-1].live
}

// Find returns the mapping of an address; nil if there is none.
func (v View) Find(addr uint64) *Mapping {
	if n := v.own.find(addr); n != nil {
		return n.value
	}
	if addr>>63 == 1 {
		if n := v.kernel.find(addr); n != nil {
			return n.value
		}
	}
	return nil
}
