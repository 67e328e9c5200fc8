package sharing

// mask is bytes of a line, of up to 256 bytes.
type mask [4]uint64

func (m *mask) set(from, to uint64) {
	for b := from; b < to; b++ {
		m[b/64] |= 1 << (b % 64)
	}
}

func (m *mask) meets(o *mask) bool {
	return m[0]&o[0]|m[1]&o[1]|m[2]&o[2]|m[3]&o[3] != 0
}

func (m *mask) join(o *mask) {
	for i := range m {
		m[i] |= o[i]
	}
}

// state is what a thread knows of a line.
type state struct {
	has, seen bool
	open      bool // a coherence miss that is not yet known to be true
	stale     mask // bytes others have written since it lost the line
}

// shift of line sizes that are counted.
const (
	shift64  = 6
	shift128 = 7
)

// count runs a schedule through private caches without limit: MESI by line, and
// by bytes whether a miss was needed (Dubois, Skeppstedt, Ricciulli, Ramamurthy
// and Stenström 1993). move shifts every address.
func (t *Trace) count(order []int32, shift uint, move uint64, each func(line uint64) *Misses) (total Misses) {
	lines := map[uint64][]state{}
	for _, i := range order {
		r := &t.refs[i]
		addr := r.addr + move
		for line := addr >> shift; line <= (addr+uint64(r.size)-1)>>shift; line++ {
			all := lines[line]
			if all == nil {
				all = make([]state, t.threads)
				lines[line] = all
			}
			var into *Misses
			if each != nil {
				into = each(line)
			}
			var m Misses
			access(all, r, touched(addr, r.size, line, shift), &m)
			total.add(m)
			if into != nil {
				into.add(m)
			}
		}
	}
	for line, all := range lines {
		for i := range all {
			if all[i].open {
				total.False++
				if each != nil {
					each(line).False++
				}
			}
		}
	}
	return total
}

// touched is the bytes of a line that an access touches.
func touched(addr uint64, size uint32, line uint64, shift uint) (m mask) {
	start := line << shift
	from, to := max(addr, start), min(addr+uint64(size), start+1<<shift)
	m.set(from-start, to-start)
	return m
}

// access runs one access to one line.
func access(all []state, r *ref, bytes mask, m *Misses) {
	s := &all[r.thread]
	if !s.has {
		if s.seen {
			m.Coherence++
			s.open = true
		}
		s.has, s.seen = true, true
	}
	if s.open && bytes.meets(&s.stale) {
		s.open = false
		m.True++
	}
	if !r.store {
		return
	}
	for u := range all {
		if u == int(r.thread) {
			continue
		}
		o := &all[u]
		if o.has {
			if o.open {
				m.False++
			}
			o.has, o.open, o.stale = false, false, mask{}
		}
		o.stale.join(&bytes)
	}
}

// Pair is how often a thread lost a line to another and missed it later, by the
// clock.
type Pair struct {
	Thread, To uint32 // ids
	Misses     uint64
}

// holder is who has a line, and whom those that lost it lost it to.
type holder struct {
	has, seen bool
	to        uint16
}

// pairs counts the coherence misses of a schedule by line, and there by who lost
// the line to whom. Their sum is what count counts.
func (t *Trace) pairs(order []int32) map[uint64]map[[2]uint16]uint64 {
	out := map[uint64]map[[2]uint16]uint64{}
	lines := map[uint64][]holder{}
	for _, i := range order {
		r := &t.refs[i]
		for line := r.addr >> shift64; line <= (r.addr+uint64(r.size)-1)>>shift64; line++ {
			all := lines[line]
			if all == nil {
				all = make([]holder, t.threads)
				lines[line] = all
			}
			h := &all[r.thread]
			if !h.has && h.seen {
				if out[line] == nil {
					out[line] = map[[2]uint16]uint64{}
				}
				out[line][[2]uint16{r.thread, h.to}]++
			}
			h.has, h.seen = true, true
			for u := range all {
				if o := &all[u]; r.store && u != int(r.thread) && o.has {
					o.has, o.to = false, r.thread
				}
			}
		}
	}
	return out
}
