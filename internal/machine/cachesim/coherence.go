package cachesim

import "iter"

// Coherence invariants, which TestInvariants checks after every access:
//
//   - if any cache of a core holds a line exclusive or modified, no other core
//     holds it, and no other socket does;
//   - if a shared cache holds a line exclusive or modified, no other socket
//     holds it;
//   - the copies a core holds of one line differ only in exclusive or modified.

// snooped is what the caches that were asked knew.
type snooped struct {
	best  state // the strongest state found
	dirty bool
}

func (s *snooped) add(st state) {
	s.best = max(s.best, st)
	s.dirty = s.dirty || st == modified
}

// snoop is the outcome when no modified copy was found. A copy that was known
// to be shared need not be asked.
func (s snooped) snoop() Snoop {
	if s.best >= exclusive {
		return SnoopHit
	}
	return SnoopNone
}

// snoopSocket asks the other cores of the socket: a load makes their copies
// shared, a store takes them away.
func (m *Machine) snoopSocket(c *core, line uint64, store bool) snooped {
	var s snooped
	if m.filtered(c.socket, line) {
		return s
	}
	for _, peer := range c.socket.cores {
		if peer != c {
			m.weaken(peer.path[:m.private], line, store, &s)
		}
	}
	return s
}

// snoopOthers asks the other sockets, their shared caches included.
func (m *Machine) snoopOthers(c *core, line uint64, store bool) snooped {
	var s snooped
	for _, o := range m.sockets {
		if o == c.socket || m.filtered(o, line) {
			continue
		}
		m.weaken(o.caches, line, store, &s)
		for _, peer := range o.cores {
			m.weaken(peer.path[:m.private], line, store, &s)
		}
	}
	return s
}

// filtered reports that no core of the socket can hold the line, because a
// shared cache that includes their caches does not.
func (m *Machine) filtered(s *socket, line uint64) bool {
	for i, c := range s.caches {
		if m.cfg.Levels[m.private+i].Policy == Inclusive && c.peek(line) == invalid {
			return true
		}
	}
	return false
}

func (m *Machine) weaken(caches []*cache, line uint64, store bool, s *snooped) {
	for _, c := range caches {
		st := c.peek(line)
		if st == invalid {
			continue
		}
		s.add(st)
		if store {
			c.remove(line)
		} else {
			c.put(line, shared)
		}
	}
}

// keepDirty keeps the modified data that a peer core shares from now on: in the
// shared cache if that has the line, else in memory.
func (m *Machine) keepDirty(c *core, line uint64) {
	for _, cache := range c.path[m.private:] {
		if cache.put(line, modified) {
			return
		}
	}
	m.writeBack(line)
}

// fill brings the line to every cache nearer than level from (-1: memory) that
// is filled on misses. The nearest copy is modified by a store; the ones behind
// it only know that they are alone.
func (m *Machine) fill(c *core, line uint64, from int, st state, store bool) {
	if store && st < exclusive {
		st = exclusive
	}
	if from >= 0 && store {
		own(c.path[from:], line)
	}
	behind := st
	if from > 0 && m.cfg.Levels[from].Policy == Exclusive {
		c.path[from].remove(line)
	} else if behind == modified {
		behind = exclusive // the copy at from keeps the duty to write back
	}
	if from < 0 {
		from = len(c.path)
	}
	for k := from - 1; k >= 0; k-- {
		if k > 0 && m.cfg.Levels[k].Policy == Exclusive {
			continue
		}
		if c.path[k].peek(line) == invalid {
			m.insert(c, k, line, behind)
		}
		if behind == modified {
			behind = exclusive
		}
	}
	if store {
		c.path[0].put(line, modified)
	}
}

// own makes the copies of a core's path exclusive to it or its socket, after a
// store has taken all others away.
func own(path []*cache, line uint64) {
	for _, cache := range path {
		if cache.peek(line) == shared {
			cache.put(line, exclusive)
		}
	}
}

// insert puts the line into level k and deals with the line that leaves.
func (m *Machine) insert(c *core, k int, line uint64, st state) {
	victim, was := c.path[k].insert(line, st)
	if was != invalid {
		m.evict(c, k, victim, was)
	}
}

// evict sends a line that left level k of the core's path on its way.
func (m *Machine) evict(c *core, k int, line uint64, st state) {
	if m.cfg.Levels[k].Policy == Inclusive && m.dropNearer(c, k, line) {
		st = modified
	}
	next := k + 1
	if next == len(c.path) {
		if st == modified {
			m.writeBack(line)
		}
		return
	}
	if held := c.path[next].peek(line); held != invalid {
		if st == modified {
			c.path[next].put(line, modified)
		}
		return
	}
	if m.cfg.Levels[next].Policy == Exclusive {
		if !m.heldNearer(c, next, line, st) {
			m.insert(c, next, line, st)
		}
		return
	}
	if st == modified {
		m.insert(c, next, line, st)
	}
}

// dropNearer takes the line from every cache that level k includes, and reports
// whether one of them had modified it.
func (m *Machine) dropNearer(c *core, k int, line uint64) bool {
	dirty := false
	for cache := range m.nearer(c, k) {
		dirty = cache.remove(line) == modified || dirty
	}
	return dirty
}

// heldNearer reports whether a cache nearer than the exclusive level k still
// holds the line. The data then stays there, and so does the duty to write it
// back.
func (m *Machine) heldNearer(c *core, k int, line uint64, st state) bool {
	for cache := range m.nearer(c, k) {
		if cache.peek(line) != invalid {
			if st == modified {
				cache.put(line, modified)
			}
			return true
		}
	}
	return false
}

// nearer yields the caches in front of level k of the core's path: its own, or,
// for a shared level, those of all cores of the socket.
func (m *Machine) nearer(c *core, k int) iter.Seq[*cache] {
	return func(yield func(*cache) bool) {
		cores := []*core{c}
		if k >= m.private {
			cores = c.socket.cores
			for _, cache := range c.path[m.private:k] {
				if !yield(cache) {
					return
				}
			}
		}
		for _, o := range cores {
			for _, cache := range o.path[:min(k, m.private)] {
				if !yield(cache) {
					return
				}
			}
		}
	}
}

// writeBack sends a modified line to its home.
func (m *Machine) writeBack(line uint64) {
	m.sockets[m.homes[line>>(m.pageShift-m.lineShift)]].memory.pass(m.now)
}
