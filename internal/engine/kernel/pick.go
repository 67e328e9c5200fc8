package kernel

import (
	"encoding/binary"
	"math/bits"
)

// slack is how far beyond the last element picking may write.
const slack = 64

// picks says which rows of a block are picked: as bits, and as a list of places
// for the loops that want one.
type picks struct {
	words []uint64
	count int
	room  []uint16
	list  []uint16 // nil until asked for
}

// places lists the rows.
func (p *picks) places() []uint16 {
	if p.list == nil {
		p.list = positions(p.words, p.room)
	}
	return p.list
}

// positions lists the set bits.
func positions(words []uint64, into []uint16) []uint16 {
	n := 0
	for w, word := range words {
		base := w << 6
		for word != 0 {
			into[n] = uint16(base + bits.TrailingZeros64(word))
			n++
			word &= word - 1
		}
	}
	return into[:n]
}

// fits reports whether vectors can be used, whole words of rows and room for
// what is written beyond the last one, and whether they pay: they read every row
// of size bytes, while a list of few rows skips most of the memory.
func (p *picks) fits(from, into, size int) bool {
	const sparse = 64 // bytes a row, about a line of memory
	return hasCompress && from == 64*len(p.words) && into >= p.count+slack && p.count*sparse >= from*size
}

func pick8(from []uint8, p *picks, into []uint8) []uint8 {
	if p.fits(len(from), len(into), 1) {
		compress8(&into[0], &from[0], &p.words[0], len(p.words))
		return into[:p.count]
	}
	return gatherBytes(from, p.places(), into)
}

func pick16(from []uint16, p *picks, into []uint16) []uint16 {
	if p.fits(len(from), len(into), 2) {
		compress16(&into[0], &from[0], &p.words[0], len(p.words))
		return into[:p.count]
	}
	return gather(from, p.places(), into)
}

func pick32(from []uint32, p *picks, into []uint32) []uint32 {
	if p.fits(len(from), len(into), 4) {
		compress32(&into[0], &from[0], &p.words[0], len(p.words))
		return into[:p.count]
	}
	return gather(from, p.places(), into)
}

func gather[T any](from []T, at []uint16, into []T) []T {
	into = into[:len(at)]
	for i, k := range at {
		into[i] = from[k]
	}
	return into
}

// gatherBytes picks the codes at the given places of a block, eight at a time:
// one store for eight loads.
func gatherBytes(from []uint8, at []uint16, into []uint8) []uint8 {
	into = into[:len(at)]
	if len(from) < blockRows {
		return gather(from, at, into)
	}
	block := (*[blockRows]uint8)(from)
	i := 0
	for ; i+8 <= len(at); i += 8 {
		p := (*[8]uint16)(at[i:])
		x := uint64(block[p[0]%blockRows]) | uint64(block[p[1]%blockRows])<<8 |
			uint64(block[p[2]%blockRows])<<16 | uint64(block[p[3]%blockRows])<<24 |
			uint64(block[p[4]%blockRows])<<32 | uint64(block[p[5]%blockRows])<<40 |
			uint64(block[p[6]%blockRows])<<48 | uint64(block[p[7]%blockRows])<<56
		binary.LittleEndian.PutUint64(into[i:i+8:i+8], x)
	}
	for ; i < len(at); i++ {
		into[i] = block[at[i]]
	}
	return into
}
