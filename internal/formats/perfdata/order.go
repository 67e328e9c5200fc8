package perfdata

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// errDamaged is in every error about a file that is cut off or contradicts
// itself. With --salvage what comes before the damage is imported.
var errDamaged = errors.New("the file is damaged")

// order is the byte order of the machine that recorded; true is big endian.
type order bool

func (o order) u16(b []byte) uint16 {
	v := binary.LittleEndian.Uint16(b)
	if o {
		v = bits.ReverseBytes16(v)
	}
	return v
}

func (o order) u32(b []byte) uint32 {
	v := binary.LittleEndian.Uint32(b)
	if o {
		v = bits.ReverseBytes32(v)
	}
	return v
}

func (o order) u64(b []byte) uint64 {
	v := binary.LittleEndian.Uint64(b)
	if o {
		v = bits.ReverseBytes64(v)
	}
	return v
}

// bitfield reads 64 flags that C declares as bit fields: their bytes keep
// their order, but compilers for big-endian machines fill each from the top.
func (o order) bitfield(b []byte) uint64 {
	v := binary.LittleEndian.Uint64(b)
	if o {
		v = bits.ReverseBytes64(bits.Reverse64(v))
	}
	return v
}

// cursor reads fields from a section of the file one after the other. Reading
// past the end sets short and yields zeros, so that a row of fields needs one
// check at its end.
type cursor struct {
	order
	b     []byte
	short bool
}

func (c *cursor) bytes(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.short = true
		c.b = nil
		return nil
	}
	out := c.b[:n]
	c.b = c.b[n:]
	return out
}

func (c *cursor) u32() uint32 {
	if b := c.bytes(4); b != nil {
		return c.order.u32(b)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if b := c.bytes(8); b != nil {
		return c.order.u64(b)
	}
	return 0
}

// text reads a string of the features: its length with padding, then its bytes.
func (c *cursor) text() string { return cstring(c.bytes(uint64(c.u32()))) }

// count reads how many elements of at least size bytes follow. A number that
// cannot fit in what is left is refused before anything is allocated.
func (c *cursor) count(n uint64, size int) int {
	if n > uint64(len(c.b)/size) {
		c.short = true
		c.b = nil
		return 0
	}
	return int(n)
}

func (c *cursor) err(what string) error {
	if c.short {
		return fmt.Errorf("%s is shorter than its own fields say: %w", what, errDamaged)
	}
	return nil
}

// cstring returns the text up to the first zero byte.
func cstring(b []byte) string {
	for i, ch := range b {
		if ch == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}
