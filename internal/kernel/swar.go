package kernel

import "encoding/binary"

// The hot loops. Two axes of at most 2^16 cells together are counted eight rows
// at a time: the cell numbers a*nb+b of four rows are worked out in the four
// 16-bit lanes of one word, where they cannot overflow. A table of 2^16 counters
// needs no bounds check for a 16-bit cell number.

const lanes = 0x00ff00ff00ff00ff

type cellTable = [1 << 16]uint32

// countPairs counts the rows of two axes.
func countPairs(t *cellTable, a, b []uint8, nb int) {
	m := uint64(nb)
	n := len(a) &^ 7
	for i := 0; i < n; i += 8 {
		x := binary.LittleEndian.Uint64(a[i : i+8 : i+8])
		y := binary.LittleEndian.Uint64(b[i : i+8 : i+8])
		even := (x&lanes)*m + y&lanes
		odd := (x>>8&lanes)*m + y>>8&lanes
		t[uint16(even)]++
		t[uint16(odd)]++
		t[uint16(even>>16)]++
		t[uint16(odd>>16)]++
		t[uint16(even>>32)]++
		t[uint16(odd>>32)]++
		t[uint16(even>>48)]++
		t[uint16(odd>>48)]++
	}
	for i := n; i < len(a); i++ {
		t[uint16(a[i])*uint16(nb)+uint16(b[i])]++
	}
}

// countPairsBy counts the rows of two axes into a part of the table for each
// class; all parts together have at most 2^16 cells.
func countPairsBy(t *cellTable, a, b, class []uint8, nb, cells int) {
	m, p := uint64(nb), uint64(cells)
	n := len(a) &^ 7
	for i := 0; i < n; i += 8 {
		x := binary.LittleEndian.Uint64(a[i : i+8 : i+8])
		y := binary.LittleEndian.Uint64(b[i : i+8 : i+8])
		z := binary.LittleEndian.Uint64(class[i : i+8 : i+8])
		even := (z&lanes)*p + (x&lanes)*m + y&lanes
		odd := (z>>8&lanes)*p + (x>>8&lanes)*m + y>>8&lanes
		t[uint16(even)]++
		t[uint16(odd)]++
		t[uint16(even>>16)]++
		t[uint16(odd>>16)]++
		t[uint16(even>>32)]++
		t[uint16(odd>>32)]++
		t[uint16(even>>48)]++
		t[uint16(odd>>48)]++
	}
	for i := n; i < len(a); i++ {
		t[uint16(class[i])*uint16(cells)+uint16(a[i])*uint16(nb)+uint16(b[i])]++
	}
}

// countWide counts the rows of two axes of any size; class may be nil if the
// table begins at the part to count into.
func countWide[A, B uint8 | uint16](t []uint32, a []A, b []B, class []uint8, nb, cells int) {
	b = b[:len(a)]
	if class == nil {
		for i, x := range a {
			t[int(x)*nb+int(b[i])]++
		}
		return
	}
	class = class[:len(a)]
	for i, x := range a {
		t[int(class[i])*cells+int(x)*nb+int(b[i])]++
	}
}

// countOne counts the rows of one axis or group.
func countOne[C uint8 | uint16 | uint32](t []uint32, a []C, class []uint8, cells int) {
	if class == nil {
		for _, x := range a {
			t[x]++
		}
		return
	}
	class = class[:len(a)]
	for i, x := range a {
		t[int(class[i])*cells+int(x)]++
	}
}

// spread has, for each byte, its bits as eight bytes.
var spread = func() (s [256]uint64) {
	for i := range s {
		for bit := range 8 {
			s[i] |= uint64(i>>bit&1) << (8 * bit)
		}
	}
	return s
}()

// classes gives each row of a block the number of its set, counted from 1, or
// 0 if it is in none. The sets are disjoint.
func classes(sets []setBlock, into []uint8) {
	n := len(into) / 64
	for w := range n {
		out := into[w*64 : w*64+64]
		for byteNo := range 8 {
			var x uint64
			for k := range sets {
				x += spread[uint8(sets[k].words[w]>>(8*byteNo))] * uint64(k+1)
			}
			binary.LittleEndian.PutUint64(out[byteNo*8:], x)
		}
	}
	for i := n * 64; i < len(into); i++ {
		into[i] = 0
		for k := range sets {
			into[i] += uint8(sets[k].words[i/64]>>(i%64)&1) * uint8(k+1)
		}
	}
}
