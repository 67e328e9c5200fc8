package cycle

// table is an open-addressing hash table from simplices to numbers. No simplex
// is packed as 0 (its corners would be equal), so 0 marks a free place.
type table[K edge | triangle] struct {
	keys []K
	vals []int32
	used int
	free []int // scratch of clear
}

func (m *table[K]) place(key K) int {
	mask := len(m.keys) - 1
	k := int(mix(uint64(key))) & mask
	for m.keys[k] != 0 && m.keys[k] != key {
		k = (k + 1) & mask
	}
	return k
}

func (m *table[K]) get(key K) (int32, bool) {
	if m.used == 0 {
		return 0, false
	}
	k := m.place(key)
	return m.vals[k], m.keys[k] == key
}

// put adds a key that is not there yet.
func (m *table[K]) put(key K, v int32) {
	if 2*(m.used+1) > len(m.keys) {
		m.grow()
	}
	k := m.place(key)
	m.keys[k], m.vals[k] = key, v
	m.used++
}

func (m *table[K]) grow() {
	old := *m
	size := max(16, 2*len(old.keys))
	m.keys, m.vals = make([]K, size), make([]int32, size)
	for i, key := range old.keys {
		if key != 0 {
			at := m.place(key)
			m.keys[at], m.vals[at] = key, old.vals[i]
		}
	}
}

// clear empties a table of n keys, which each passes to the function it is
// given. A large table with few keys is not wiped as a whole.
func (m *table[K]) clear(each func(free func(K)), n int) {
	if 4*n > len(m.keys) {
		clear(m.keys)
	} else {
		// All are found before the first is freed: a freed place would end the
		// probing for those behind it.
		m.free = m.free[:0]
		each(func(key K) { m.free = append(m.free, m.place(key)) })
		for _, k := range m.free {
			m.keys[k] = 0
		}
	}
	m.used = 0
}
