package hdf5

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Class is the class of a datatype.
type Class uint8

// The datatype classes of the format.
const (
	Integer   Class = 0
	Float     Class = 1
	TimeClass Class = 2
	String    Class = 3
	Bitfield  Class = 4
	Opaque    Class = 5
	Compound  Class = 6
	Reference Class = 7
	Enum      Class = 8
	VarLen    Class = 9
	ArrayOf   Class = 10
)

// Type describes the elements of a dataset or an attribute.
type Type struct {
	Class   Class
	Size    int // bytes of one element in the file
	Signed  bool
	Order   binary.ByteOrder
	Text    bool     // VarLen: a string, not a list
	Members []Member // Compound
	Dims    []int    // ArrayOf
	Base    *Type    // ArrayOf, VarLen, Enum
}

// Member is one field of a compound.
type Member struct {
	Name   string
	Offset int
	Type   *Type
}

const maxTypeDepth = 16

// datatype parses a datatype message.
func (c *cursor) datatype(depth int) *Type {
	if depth > maxTypeDepth {
		c.err = fmt.Errorf("types nested deeper than %d", maxTypeDepth)
	}
	head := c.u8()
	bits := uint32(c.uint(3))
	t := &Type{Class: Class(head & 15), Size: int(c.u32()), Order: binary.LittleEndian}
	version := head >> 4
	if c.err == nil && (version < 1 || version > 4) {
		c.err = fmt.Errorf("datatype version %d is not read", version)
	}
	if c.err != nil {
		return t
	}
	if t.Size <= 0 && t.Class != Opaque {
		c.err = fmt.Errorf("datatype of size %d", t.Size)
		return t
	}
	switch t.Class {
	case Integer, Bitfield:
		t.order(bits&1 != 0)
		t.Signed = bits&8 != 0
		c.integerProps(t)
	case Float:
		t.order(bits&1 != 0)
		c.floatProps(t, bits)
	case TimeClass:
		c.skip(2)
	case String, Reference:
	case Opaque:
		c.skip(int(bits & 0xff))
	case Compound:
		c.members(t, int(bits&0xffff), version, depth)
	case Enum:
		t.Base = c.datatype(depth + 1)
		c.enumProps(t, int(bits&0xffff), version)
	case VarLen:
		t.Text = bits&15 == 1
		t.Base = c.datatype(depth + 1)
	case ArrayOf:
		c.arrayProps(t, version, depth)
	default:
		c.err = fmt.Errorf("datatype class %d is not known", t.Class)
	}
	return t
}

func (t *Type) order(big bool) {
	if big {
		t.Order = binary.BigEndian
	}
}

func (c *cursor) integerProps(t *Type) {
	offset, precision := c.u16(), c.u16()
	if c.err == nil && t.Class == Integer && (offset != 0 || precision != 8*t.Size) {
		c.err = fmt.Errorf("integer of %d bits at bit %d in %d bytes is not read", precision, offset, t.Size)
	}
}

// floatProps accepts IEEE 754 of 4 and 8 bytes only.
func (c *cursor) floatProps(t *Type, bits uint32) {
	offset, precision := c.u16(), c.u16()
	expAt, expSize, manAt, manSize := c.u8(), c.u8(), c.u8(), c.u8()
	c.u32()
	single := t.Size == 4 && expAt == 23 && expSize == 8 && manAt == 0 && manSize == 23
	double := t.Size == 8 && expAt == 52 && expSize == 11 && manAt == 0 && manSize == 52
	if c.err == nil && (offset != 0 || precision != 8*t.Size || !single && !double || bits&(1<<6) != 0) {
		c.err = fmt.Errorf("float of %d bytes with %d exponent bits is not IEEE 754 single or double", t.Size, expSize)
	}
}

func (c *cursor) members(t *Type, n int, version uint8, depth int) {
	for range n {
		start := c.at
		m := Member{Name: c.text()}
		if version < 3 {
			c.align(start)
		}
		switch version {
		case 1:
			m.Offset = int(c.u32())
			dims := int(c.u8())
			c.skip(3 + 4 + 4)
			sizes := [4]int{int(c.u32()), int(c.u32()), int(c.u32()), int(c.u32())}
			m.Type = c.datatype(depth + 1)
			if dims > 0 && dims <= 4 && c.err == nil {
				m.Type = arrayType(m.Type, sizes[:dims])
			}
		case 2:
			m.Offset = int(c.u32())
			m.Type = c.datatype(depth + 1)
		default:
			m.Offset = int(c.uint(bytesFor(uint64(t.Size))))
			m.Type = c.datatype(depth + 1)
		}
		if c.err == nil && (m.Type == nil || m.Offset < 0 || m.Type.Size < 0 || m.Offset+m.Type.Size > t.Size) {
			c.err = fmt.Errorf("member %q lies outside its compound of %d bytes", m.Name, t.Size)
		}
		if c.err != nil {
			return
		}
		t.Members = append(t.Members, m)
	}
}

// bytesFor is the number of bytes that hold v.
func bytesFor(v uint64) int {
	n := 1
	for v >>= 8; v > 0; v >>= 8 {
		n++
	}
	return n
}

func arrayType(base *Type, dims []int) *Type {
	t := &Type{Class: ArrayOf, Base: base, Dims: dims, Size: base.Size, Order: base.Order}
	for _, d := range dims {
		if d < 0 || d > 1<<24 || t.Size > 1<<30 {
			t.Size = -1
			return t
		}
		t.Size *= d
	}
	return t
}

func (c *cursor) enumProps(t *Type, n int, version uint8) {
	for range n {
		start := c.at
		c.text()
		if version < 3 {
			c.align(start)
		}
		if c.err != nil {
			return
		}
	}
	if t.Base == nil || t.Base.Class != Integer || t.Base.Size != t.Size {
		c.err = errors.New("enumeration without an integer base of its own size")
		return
	}
	t.Signed, t.Order = t.Base.Signed, t.Base.Order
	c.skip(n * t.Base.Size)
}

func (c *cursor) arrayProps(t *Type, version uint8, depth int) {
	n := int(c.u8())
	if version < 3 {
		c.skip(3)
	}
	dims := make([]int, n)
	for i := range dims {
		dims[i] = int(c.u32())
	}
	if version < 3 {
		c.skip(4 * n)
	}
	base := c.datatype(depth + 1)
	if c.err != nil {
		return
	}
	if a := arrayType(base, dims); a.Size == t.Size {
		*t = *a
		return
	}
	c.err = fmt.Errorf("array type of %v elements of %d bytes says it has %d bytes", dims, base.Size, t.Size)
}

// space is a dataspace: nil dims for a scalar.
type space struct {
	dims []uint64
	null bool
}

func (c *cursor) dataspace() space {
	version, rank, flags := c.u8(), int(c.u8()), c.u8()
	var s space
	switch version {
	case 1:
		c.skip(5)
	case 2:
		s.null = c.u8() == 2
	default:
		if c.err == nil {
			c.err = fmt.Errorf("dataspace version %d is not read", version)
		}
		return s
	}
	if rank > 32 && c.err == nil {
		c.err = fmt.Errorf("dataspace of %d dimensions", rank)
	}
	for range rank {
		if c.err == nil {
			s.dims = append(s.dims, c.len())
		}
	}
	if flags&1 != 0 {
		c.skip(rank * c.length)
	}
	return s
}

// count returns the number of elements, or an error when it cannot be.
func (s space) count() (uint64, error) {
	if s.null {
		return 0, nil
	}
	n := uint64(1)
	for _, d := range s.dims {
		if d != 0 && n > (1<<48)/d {
			return 0, fmt.Errorf("dataspace %v has more than 2^48 elements", s.dims)
		}
		n *= d
	}
	return n, nil
}
