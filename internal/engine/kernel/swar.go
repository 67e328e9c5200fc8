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

// countWide counts the rows of two axes of any size.
func countWide[A, B uint8 | uint16](t []uint32, a []A, b []B, nb int) {
	b = b[:len(a)]
	for i, x := range a {
		t[int(x)*nb+int(b[i])]++
	}
}

// countOne counts the rows of one axis or group.
func countOne[C uint8 | uint16 | uint32](t []uint32, a []C) {
	for _, x := range a {
		t[x]++
	}
}
