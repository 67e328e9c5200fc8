package replay

import (
	"fmt"

	"github.com/isobath/isobath/internal/locality/layout"
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/machine/cachesim"
)

// Part is one of the arrays that the elements of an object are put into.
type Part struct {
	Name   string
	Stride uint64 // bytes of one element of it
	Align  uint64 // what its start must be a multiple of; 0 is as malloc does

	base uint64
}

// dropped marks bytes that the changed element does not have.
const dropped = -1

// place is where a byte of an element goes: a part and an offset in its element.
type place struct {
	part   int16
	run    uint16 // how many bytes from here on stay together
	offset uint32
}

// Change moves the bytes of one object: byte b of element i goes to byte
// Offset of element Order[i] of a part.
type Change struct {
	Object *layout.Object
	// Elem is the element that is mapped: that of the object, or a row of it.
	Elem  uint64
	Parts []Part
	bytes []place
	count uint64 // of elements
	elem  cachesim.Divisor
	// Order is the new place of each element; nil keeps the order.
	Order []uint32
	// Start, where it is not nil, is where the first part begins whatever the
	// placement.
	Start *uint64
}

// Move says where a stretch of the bytes of an element goes.
type Move struct {
	From, Size uint64 // in the element
	Part       int    // dropped if negative
	To         uint64 // in the element of the part
}

// NewChange makes a change from the moves of an element. What no move names
// must not be referenced; it is left out.
func NewChange(o *layout.Object, elem uint64, parts []Part, moves []Move) (*Change, error) {
	if elem == 0 || elem > maxElement {
		return nil, fmt.Errorf("object %s: elements of %d bytes cannot be mapped", o.Name, elem)
	}
	c := &Change{Object: o, Elem: elem, Parts: parts, bytes: make([]place, elem), count: max((o.Size+elem-1)/elem, 1), elem: cachesim.NewDivisor(elem)}
	if o.Blocks != nil {
		c.count = uint64(len(o.Blocks))
	}
	for i := range c.bytes {
		c.bytes[i].part = dropped
	}
	for _, m := range moves {
		if m.From+m.Size > elem || m.Part >= 0 && (m.Part >= len(parts) || m.To+m.Size > parts[m.Part].Stride) {
			return nil, fmt.Errorf("object %s: bytes %d to %d of an element of %d do not fit", o.Name, m.From, m.From+m.Size, elem)
		}
		for b := range m.Size {
			c.bytes[m.From+b] = place{part: int16(m.Part), offset: uint32(m.To + b)}
		}
	}
	for i := int(elem) - 1; i >= 0; i-- {
		b := &c.bytes[i]
		b.run = 1
		if i+1 < int(elem) {
			if n := &c.bytes[i+1]; n.part == b.part && (b.part == dropped || n.offset == b.offset+1) && n.run < 1<<15 {
				b.run = n.run + 1
			}
		}
	}
	return c, nil
}

// maxElement bounds an element that is mapped byte by byte.
const maxElement = 1 << 22

// bytesOf is the size of each part.
func (c *Change) bytesOf(k int) uint64 { return c.Elements() * c.Parts[k].Stride }

// Elements counts those of the object, the last perhaps cut short.
func (c *Change) Elements() uint64 { return c.count }

// Piece is a part of a reference that lies together.
type Piece struct {
	Addr uint64
	Size uint32
}

// apply maps a reference to its pieces, appended to out.
func (c *Change) apply(addr uint64, size uint32, out []Piece) []Piece {
	for size > 0 {
		element, offset := c.locate(addr)
		if element >= c.count || offset >= c.Elem {
			return append(out, Piece{addr, size}) // behind the object
		}
		b := c.bytes[offset]
		n := min(size, uint32(b.run))
		if b.part != dropped {
			p := &c.Parts[b.part]
			if c.Order != nil {
				element = uint64(c.Order[element])
			}
			at := p.base + element*p.Stride + uint64(b.offset)
			if k := len(out) - 1; k >= 0 && out[k].Addr+uint64(out[k].Size) == at {
				out[k].Size += n
			} else {
				out = append(out, Piece{at, n})
			}
		}
		addr += uint64(n)
		size -= n
	}
	return out
}

func (c *Change) locate(addr uint64) (element, offset uint64) {
	if c.Object.Blocks != nil {
		return c.Object.Locate(addr)
	}
	return c.elem.Of(addr - c.Object.Start)
}

// Placement is where the parts of a changed object come to lie.
type Placement string

// The placements. Which of them a real program has nobody knows, so all are
// tried, and the answer is the range.
const (
	Kept   Placement = "kept"   // where the object was if the size is the same, else elsewhere in memory with the same offset in the page
	Malloc Placement = "malloc" // as glibc's malloc does: large ones 16 bytes into a page, small ones one after another
	Packed Placement = "packed" // each at the next line
)

// Placements are all of them.
var Placements = []Placement{Kept, Malloc, Packed}

// area hands out addresses that no object of the trace uses.
type area struct {
	next      uint64
	placement Placement
}

// freshArea is beyond what programs of 64 bits are given.
const freshArea = 1 << 50

const (
	pageBytes     = 4096
	mmapThreshold = 128 << 10 // glibc's M_MMAP_THRESHOLD
)

func up(n, to uint64) uint64 { return (n + to - 1) / to * to }

// put returns the address of an array.
func (a *area) put(size, align uint64) uint64 {
	at := a.next
	switch {
	case align > 1:
		at = up(at, align)
	case a.placement == Packed:
		at = up(at, 64)
	case size >= mmapThreshold:
		at = up(at, pageBytes) + 16
	default:
		at = up(at+8, 16)
	}
	a.next = at + size
	return at
}

// settle gives the parts of changes their addresses.
func settle(changes []*Change, p Placement) {
	a := &area{next: freshArea, placement: p}
	for _, c := range changes {
		total := uint64(0)
		for k := range c.Parts {
			total += c.bytesOf(k)
		}
		for k := range c.Parts {
			part := &c.Parts[k]
			switch {
			case k == 0 && c.Start != nil:
				part.base = *c.Start
			case k == 0 && p == Kept && part.Align <= 1 && len(c.Parts) == 1 && total <= c.Object.Size && c.Object.Blocks == nil:
				part.base = c.Object.Start
			case k == 0 && p == Kept && part.Align <= 1:
				a.next = up(a.next, pageBytes) + c.Object.Start%pageBytes
				part.base = a.next
				a.next += c.bytesOf(k)
			default:
				part.base = a.put(c.bytesOf(k), part.Align)
			}
		}
	}
}

// Plan is what is changed in one replay.
type Plan struct {
	Changes []*Change
	// Huge are the objects on pages of 2 MiB.
	Huge map[uint32]bool
	// Homes says on which memory node the pages of objects lie; first touch where
	// nothing is said.
	Homes map[uint32]Policy
	// Order is the positions of the accesses in their new order; nil keeps it.
	Order []uint32
}

// Check reports what a machine does not have: memory nodes that pages are to lie
// on. A replay takes the last one in their place.
func (p *Plan) Check(m *platform.Machine) error {
	for _, home := range p.Homes {
		if err := home.check(m); err != nil {
			return err
		}
	}
	return nil
}

// hugeShift is of pages of 2 MiB, hugeTag marks their numbers.
const (
	hugeShift = 21
	hugeTag   = 1 << 62
)

// spanning counts the references to an object that a change parts.
func (c *Change) spanning(t *Trace) (parted, all uint64) {
	var room [16]Piece
	for i := range t.Accesses {
		a := &t.Accesses[i]
		if a.Object != c.Object.Number {
			continue
		}
		all++
		if len(c.apply(a.Addr, uint32(a.Size), room[:0])) > 1 {
			parted++
		}
	}
	return parted, all
}

// Spanning is the share of the references to the object that the change parts
// into several.
func (c *Change) Spanning(t *Trace) float64 {
	parted, all := c.spanning(t)
	if all == 0 {
		return 0
	}
	return float64(parted) / float64(all)
}

// PartLayout is an array of elements and where in them the fields of an object
// lie.
type PartLayout struct {
	Name     string
	Stride   uint64
	Elements uint64
	Fields   []PlacedField
	part     *Part
	base     uint64
}

// PlacedField is a stretch of a field, by its index in the object.
type PlacedField struct {
	Field        int
	Offset, Size uint64
}

// Base is where the array starts, in the placement that was replayed last.
func (p *PartLayout) Base() uint64 {
	if p.part != nil {
		return p.part.base
	}
	return p.base
}

// AsItIs is the layout of an object that is not changed.
func AsItIs(o *layout.Object) PartLayout {
	p := PartLayout{Name: o.Name, Stride: o.Elem, Elements: o.Elements(), base: o.Start}
	for i, f := range o.Fields {
		p.Fields = append(p.Fields, PlacedField{i, f.Offset, f.Size})
	}
	return p
}

// Layout says where the fields of the changed object lie. A change of rows or
// of order alone leaves the elements as they are.
func (c *Change) Layout() []PartLayout {
	if c.Elem != c.Object.Elem {
		p := AsItIs(c.Object)
		if len(c.Parts) == 1 {
			p.part = &c.Parts[0]
		}
		return []PartLayout{p}
	}
	var out []PartLayout
	for k := range c.Parts {
		p := PartLayout{Name: c.Parts[k].Name, Stride: c.Parts[k].Stride, Elements: c.Elements(), part: &c.Parts[k]}
		for i, f := range c.Object.Fields {
			for at := f.Offset; at < f.Offset+f.Size; {
				b := c.bytes[at]
				n := min(uint64(b.run), f.Offset+f.Size-at)
				if int(b.part) == k {
					p.Fields = append(p.Fields, PlacedField{i, uint64(b.offset), n})
				}
				at += n
			}
		}
		out = append(out, p)
	}
	return out
}
