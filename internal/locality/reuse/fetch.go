package reuse

import "github.com/isobath/isobath/internal/data/refs"

// fetcher numbers who a line is fetched for: an instruction, a member and a
// loop.
func (p *Pass) fetcher(code, member, loop uint32) uint32 {
	k := [3]uint32{code, member, loop}
	if k == p.fetch.last && len(p.fetch.all) > 0 {
		return p.fetch.lastID
	}
	id := p.fetch.memo.Number(refs.Key{uint64(code), uint64(member) | uint64(loop)<<32})
	if int(id) == len(p.fetch.all) {
		p.fetch.all = append(p.fetch.all, fetched{of: k})
	}
	p.fetch.last, p.fetch.lastID = k, id
	return id
}

// fetchers is what was fetched for whom.
type fetchers struct {
	memo   *refs.Memo
	all    []fetched
	last   [3]uint32
	lastID uint32
}

type fetched struct {
	of          [3]uint32 // code, member, loop
	lines, used uint64
}

// left counts a line that left the cache.
func (p *Pass) left(l leaving) {
	if !l.was {
		return
	}
	f := &p.fetch.all[l.owner]
	f.lines++
	f.used += uint64(l.bytes)
}

// charge adds what was fetched to the groups.
func (p *Pass) charge() {
	for _, t := range p.threads {
		if t.cache != nil {
			for place := range t.cache.ids {
				p.left(t.cache.leave(place))
			}
		}
	}
	for _, f := range p.fetch.all {
		groups := []*Group{&p.groups[f.of[0]].Group, p.members[f.of[1]]}
		if p.o.Loop != nil {
			groups = append(groups, p.loops[f.of[2]])
		}
		for _, g := range groups {
			g.Fetched += f.lines
			g.Used += f.used
		}
	}
	p.fetch.all = nil
	for _, g := range p.groups {
		g.Lines.settle()
	}
	for _, groups := range [][]*Group{p.members, p.loops} {
		for _, g := range groups {
			if g != nil {
				g.Lines.settle()
			}
		}
	}
}

// aliasWindow is how many of the latest stores a load is compared with: about
// as many as a store buffer holds.
const aliasWindow = 32

// storeRing is the latest stores of a thread.
type storeRing struct {
	addrs [aliasWindow]uint64
	next  int
	low   [512]uint8 // stores in the ring by bits 3 to 11
}

// alias counts loads whose address equals that of a recent store in bits 3 to
// 11 while the pages differ: the load waits for a store that is none of its
// business.
func (p *Pass) alias(t *threadState, r *refs.Ref) {
	ring := &t.stores
	low := r.Addr >> 3 & 511
	if r.Op != refs.Store {
		p.loads++
		if ring.low[low] > 0 && ring.aliases(r.Addr) {
			p.aliases++
		}
	}
	if r.Op == refs.Load {
		return
	}
	old := ring.addrs[ring.next]
	if old != 0 {
		ring.low[old>>3&511]--
	}
	ring.addrs[ring.next] = r.Addr
	ring.low[low]++
	ring.next = (ring.next + 1) % aliasWindow
}

func (s *storeRing) aliases(addr uint64) bool {
	for _, a := range s.addrs {
		if a != 0 && a>>3&511 == addr>>3&511 && a>>12 != addr>>12 {
			return true
		}
	}
	return false
}
