package perfevent

import (
	"encoding/binary"
	"math/bits"
)

// Order is the byte order of the machine that recorded; true is big endian.
// The kernel's own buffers are always in the order of the machine, which is
// little endian wherever this program records.
type Order bool

// U16 reads 16 bits.
func (o Order) U16(b []byte) uint16 {
	v := binary.LittleEndian.Uint16(b)
	if o {
		v = bits.ReverseBytes16(v)
	}
	return v
}

// U32 reads 32 bits.
func (o Order) U32(b []byte) uint32 {
	v := binary.LittleEndian.Uint32(b)
	if o {
		v = bits.ReverseBytes32(v)
	}
	return v
}

// U64 reads 64 bits.
func (o Order) U64(b []byte) uint64 {
	v := binary.LittleEndian.Uint64(b)
	if o {
		v = bits.ReverseBytes64(v)
	}
	return v
}

// bitfield reads 64 flags that C declares as bit fields: their bytes keep
// their order, but compilers for big-endian machines fill each from the top.
func (o Order) bitfield(b []byte) uint64 {
	v := binary.LittleEndian.Uint64(b)
	if o {
		v = bits.ReverseBytes64(bits.Reverse64(v))
	}
	return v
}

// Cursor reads fields one after the other. Reading past the end sets Short and
// yields zeros from then on, so that a row of fields needs one check at its end.
type Cursor struct {
	Order
	B     []byte // what has not been read
	Short bool
}

func (c *Cursor) fail() {
	c.Short, c.B = true, nil
}

// Bytes returns the next n bytes.
func (c *Cursor) Bytes(n uint64) []byte {
	if n > uint64(len(c.B)) {
		c.fail()
		return nil
	}
	out := c.B[:n:n]
	c.B = c.B[n:]
	return out
}

// U32 reads 32 bits.
func (c *Cursor) U32() uint32 {
	if len(c.B) < 4 {
		c.fail()
		return 0
	}
	v := c.Order.U32(c.B)
	c.B = c.B[4:]
	return v
}

// U64 reads 64 bits.
func (c *Cursor) U64() uint64 {
	if len(c.B) < 8 {
		c.fail()
		return 0
	}
	v := c.Order.U64(c.B)
	c.B = c.B[8:]
	return v
}

// Count checks that n elements of at least size bytes can follow: a number
// that cannot fit in what is left is refused before anything is allocated.
func (c *Cursor) Count(n uint64, size int) int {
	if n > uint64(len(c.B)/size) {
		c.fail()
		return 0
	}
	return int(n)
}

// Text reads what is left up to the first zero byte.
func (c *Cursor) Text() string { return Text(c.B) }

// words returns the next n words.
func (c *Cursor) words(n uint64) Words {
	return Words{c.Bytes(8 * uint64(c.Count(n, 8))), c.Order}
}

// Text returns the bytes up to the first zero one.
func Text(b []byte) string {
	for i, ch := range b {
		if ch == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// Words are 64-bit words in a record, which need not be aligned.
type Words struct {
	Bytes []byte
	Order Order
}

// Len returns their number.
func (w Words) Len() int { return len(w.Bytes) / 8 }

// At returns word i.
func (w Words) At(i int) uint64 { return w.Order.U64(w.Bytes[8*i:]) }
