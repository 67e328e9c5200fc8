package refs

// Key is what references are told apart by: an instruction, an address with an
// operation, a source position as codes.
type Key [2]uint64

// Memo numbers keys. A program runs through the same few hundred or thousand of
// them millions of times, each found by one look into an open table.
type Memo struct {
	slots []memoSlot // a power of two, at most three quarters taken
	shift uint       // leaves as many bits of 64 as a place in slots has
	keys  int
}

type memoSlot struct {
	key   Key
	id    uint32
	known bool
}

const leastBits = 9

// NewMemo returns a memo without keys.
func NewMemo() *Memo { return &Memo{slots: make([]memoSlot, 1<<leastBits), shift: 64 - leastBits} }

// Len is how many keys have a number.
func (m *Memo) Len() int { return m.keys }

// Get returns the number of a key, if it has one.
func (m *Memo) Get(k Key) (uint32, bool) {
	s := m.slot(k)
	return s.id, s.known
}

// Put gives a key a number.
func (m *Memo) Put(k Key, id uint32) {
	s := m.slot(k)
	if !s.known {
		if m.keys++; 4*m.keys > 3*len(m.slots) {
			m.grow()
			s = m.slot(k)
		}
	}
	*s = memoSlot{k, id, true}
}

// Number returns the number of a key; a new one gets the next.
func (m *Memo) Number(k Key) uint32 {
	if s := m.slot(k); s.known {
		return s.id
	}
	id := uint32(m.keys)
	m.Put(k, id)
	return id
}

func (m *Memo) grow() {
	old := m.slots
	m.slots = make([]memoSlot, 2*len(old))
	m.shift--
	for i := range old {
		if s := &old[i]; s.known {
			*m.slot(s.key) = *s
		}
	}
}

// slot is where a key is, or would be: from the upper bits of a product, which all
// bits of the key have a part in.
func (m *Memo) slot(k Key) *memoSlot {
	h := (k[0]*0x9e3779b97f4a7c15 ^ k[1]) * 0xff51afd7ed558ccd
	mask := uint64(len(m.slots) - 1)
	for i := h >> m.shift; ; i = (i + 1) & mask {
		if s := &m.slots[i]; !s.known || s.key == k {
			return s
		}
	}
}
