package cachesim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// slowLevel is a cache as a textbook draws it: for each set a list of lines,
// the latest used first.
type slowLevel struct {
	sets, ways int
	policy     Policy
	list       map[uint64][]uint64
	dirty      map[uint64]bool
}

func (l *slowLevel) key(line uint64) uint64 { return line % uint64(l.sets) }

func (l *slowLevel) has(line uint64) bool { return slices.Contains(l.list[l.key(line)], line) }

func (l *slowLevel) drop(line uint64) {
	k := l.key(line)
	l.list[k] = slices.DeleteFunc(l.list[k], func(x uint64) bool { return x == line })
	delete(l.dirty, line)
}

// slow is the whole reference: one core, any policies, and the number of lines
// written back to memory.
type slow struct {
	levels  []*slowLevel
	written int
}

func (s *slow) access(line uint64, store bool) int {
	hit := slices.IndexFunc(s.levels, func(l *slowLevel) bool { return l.has(line) })
	from, dirty := hit, false
	switch {
	case hit < 0:
		from = len(s.levels)
	case hit > 0 && s.levels[hit].policy == Exclusive:
		dirty = s.levels[hit].dirty[line]
		s.levels[hit].drop(line)
	default:
		l := s.levels[hit]
		d := l.dirty[line]
		l.drop(line)
		l.list[l.key(line)] = slices.Insert(l.list[l.key(line)], 0, line)
		l.dirty[line] = d
	}
	for k := from - 1; k >= 0; k-- {
		if k > 0 && s.levels[k].policy == Exclusive {
			continue
		}
		s.add(k, line, dirty)
		dirty = false
	}
	if store {
		s.levels[0].dirty[line] = true
	}
	return hit
}

func (s *slow) add(k int, line uint64, dirty bool) {
	l := s.levels[k]
	set := slices.Insert(l.list[l.key(line)], 0, line)
	l.list[l.key(line)] = set
	l.dirty[line] = dirty
	if len(set) <= l.ways {
		return
	}
	old := set[len(set)-1]
	oldDirty := l.dirty[old]
	l.drop(old)
	if l.policy == Inclusive {
		for _, n := range s.levels[:k] {
			oldDirty = oldDirty || n.dirty[old]
			n.drop(old)
		}
	}
	s.leave(k+1, old, oldDirty)
}

// leave brings a line that was evicted in front of level k to it.
func (s *slow) leave(k int, line uint64, dirty bool) {
	if k == len(s.levels) {
		if dirty {
			s.written++
		}
		return
	}
	l := s.levels[k]
	if l.has(line) {
		l.dirty[line] = l.dirty[line] || dirty
		return
	}
	if l.policy == Exclusive {
		for _, n := range s.levels[:k] {
			if n.has(line) {
				n.dirty[line] = n.dirty[line] || dirty
				return
			}
		}
		s.add(k, line, dirty)
	} else if dirty {
		s.add(k, line, true)
	}
}

// small is one core with caches of 8, 16 and 48 lines (the last with a set
// count that is no power of two) and no variable latency.
func small(p2, p3 Policy) Config {
	return Config{
		CPUs: Grid(1, 1, 1), LineSize: 64, PageSize: 4096,
		Levels: []Level{
			{Size: 8 * 64, Ways: 2, Latency: 4},
			{Size: 16 * 64, Ways: 4, Latency: 12, Policy: p2},
			{Size: 48 * 64, Ways: 4, Latency: 40, Policy: p3, Shared: true},
		},
		DTLB: TLB{Entries: 8, Ways: 2}, STLB: TLB{Entries: 16, Ways: 4, Latency: 7}, Walk: 30,
		LocalRAM: 200, RemoteRAM: 300, RemoteCache: 250, Snoop: 30,
	}
}

func reference(cfg Config) *slow {
	s := &slow{}
	for _, l := range cfg.Levels {
		s.levels = append(s.levels, &slowLevel{
			sets: l.Size / l.Ways / cfg.LineSize, ways: l.Ways, policy: l.Policy,
			list: map[uint64][]uint64{}, dirty: map[uint64]bool{},
		})
	}
	return s
}

// stream mixes strides, a hot set and random lines, so that every level hits
// and misses often.
func stream(r *rand.Rand, n int) (lines []uint64, stores []bool) {
	at := uint64(0)
	for range n {
		switch r.IntN(4) {
		case 0:
			at = (at + 1) % 200
		case 1:
			at = r.Uint64N(24)
		case 2:
			at = r.Uint64N(200)
		case 3:
			at = (at + 16) % 200
		}
		lines = append(lines, at)
		stores = append(stores, r.IntN(3) == 0)
	}
	return lines, stores
}

func TestAgainstReference(t *testing.T) {
	want := map[int]Source{-1: LocalRAM, 0: L1, 1: L2, 2: L3}
	for _, p2 := range []Policy{NonInclusive, Inclusive, Exclusive} {
		for _, p3 := range []Policy{NonInclusive, Inclusive, Exclusive} {
			t.Run(fmt.Sprintf("L2 policy %d, L3 policy %d", p2, p3), func(t *testing.T) {
				for seed := range uint64(3) {
					cfg := small(p2, p3)
					cfg.MemoryService = 1
					m, err := New(cfg)
					if err != nil {
						t.Fatal(err)
					}
					ref := reference(cfg)
					lines, stores := stream(rand.New(rand.NewPCG(seed, 7)), 5000)
					seen := map[Source]int{}
					reads := 0
					for i, line := range lines {
						got := m.Access(Ref{Addr: line * 64, Width: 8, Store: stores[i]}).Source
						seen[got]++
						level := ref.access(line, stores[i])
						if got != want[level] {
							t.Fatalf("seed %d, access %d to line %d: %v answers, the reference says %v", seed, i, line, got, want[level])
						}
						if level < 0 {
							reads++
						}
						sameContent(t, m, ref, i)
					}
					if len(seen) != 4 {
						t.Errorf("seed %d: only %v answered; the stream tests too little", seed, seen)
					}
					if got, want := m.sockets[0].memory.lines, int64(reads+ref.written); got != want {
						t.Errorf("seed %d: %d lines passed the memory controller, the reference says %d", seed, got, want)
					}
				}
			})
		}
	}
}

// sameContent compares every set of every level, in order of use, with the
// dirty lines.
func sameContent(t *testing.T, m *Machine, ref *slow, step int) {
	t.Helper()
	for k, c := range m.cores[0].path {
		for set := range int(c.sets) {
			i := 0
			want := ref.levels[k].list[uint64(set)]
			for _, e := range c.entries[set*c.ways:][:c.ways] {
				line, st := unpack(e)
				if st == invalid {
					break
				}
				if i >= len(want) || want[i] != line || (st == modified) != ref.levels[k].dirty[line] {
					t.Fatalf("step %d: L%d set %d holds line %d (state %d) at %d, the reference has %v", step, k+1, set, line, st, i, want)
				}
				i++
			}
			if i != len(want) {
				t.Fatalf("step %d: L%d set %d holds %d lines, the reference %v", step, k+1, set, i, want)
			}
		}
	}
}

// TestInvariants runs eight CPUs of two sockets on few lines and checks after
// every access what coherence.go promises.
func TestInvariants(t *testing.T) {
	for _, p2 := range []Policy{NonInclusive, Inclusive, Exclusive} {
		for _, p3 := range []Policy{NonInclusive, Inclusive, Exclusive} {
			cfg := small(p2, p3)
			cfg.CPUs = Grid(2, 2, 2)
			m, err := New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(11, uint64(p2)<<8|uint64(p3)))
			lines, stores := stream(r, 8000)
			written := map[uint64]bool{}
			for i, line := range lines {
				cpu := r.IntN(8)
				res := m.Access(Ref{CPU: cpu, Addr: line * 64, Width: 8, Store: stores[i], Now: int64(i)})
				c := m.cpus[cpu]
				if res.Snoop == SnoopHitM && !written[line] {
					t.Fatalf("step %d: modified copy found of a line that nobody wrote", i)
				}
				written[line] = written[line] || stores[i]
				if err := m.coherent(line, stores[i], c); err != nil {
					t.Fatalf("policies %d %d, step %d, line %d: %v", p2, p3, i, line, err)
				}
				if i%50 == 0 {
					if err := m.nested(); err != nil {
						t.Fatalf("policies %d %d, step %d: %v", p2, p3, i, err)
					}
				}
			}
		}
	}
}

// coherent checks one line over all caches of the machine.
func (m *Machine) coherent(line uint64, stored bool, by *core) error {
	if stored && by.path[0].peek(line) != modified {
		return fmt.Errorf("a store left L1 in state %d", by.path[0].peek(line))
	}
	holders, owners := 0, 0
	socketHolds, socketOwns := make([]bool, len(m.sockets)), make([]bool, len(m.sockets))
	for _, c := range m.cores {
		best := invalid
		for _, cache := range c.path[:m.private] {
			st := cache.peek(line)
			if best != invalid && st != invalid && (best >= exclusive) != (st >= exclusive) {
				return fmt.Errorf("one core holds it in states %d and %d", best, st)
			}
			best = max(best, st)
		}
		if best != invalid {
			holders++
			socketHolds[c.socket.id] = true
		}
		if best >= exclusive {
			owners++
			socketOwns[c.socket.id] = true
		}
	}
	if owners > 0 && holders > 1 {
		return fmt.Errorf("%d cores hold it, %d of them alone", holders, owners)
	}
	for i, s := range m.sockets {
		for _, cache := range s.caches {
			st := cache.peek(line)
			socketHolds[i] = socketHolds[i] || st != invalid
			socketOwns[i] = socketOwns[i] || st >= exclusive
		}
	}
	if slices.Contains(socketOwns, true) && socketHolds[0] && socketHolds[1] {
		return fmt.Errorf("sockets hold it %v and own it %v", socketHolds, socketOwns)
	}
	return nil
}

// nested checks inclusion and exclusion of every line of every cache.
func (m *Machine) nested() error {
	for _, c := range m.cores {
		for k := 1; k < len(c.path); k++ {
			for near := range m.nearer(c, k) {
				for _, e := range near.entries {
					line, st := unpack(e)
					if st == invalid {
						continue
					}
					held := c.path[k].peek(line) != invalid
					if p := m.cfg.Levels[k].Policy; p == Inclusive && !held || p == Exclusive && held {
						return fmt.Errorf("L%d with policy %d and line %d nearer: held is %v", k+1, p, line, held)
					}
				}
			}
		}
	}
	return nil
}
