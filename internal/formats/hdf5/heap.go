package hdf5

import (
	"errors"
	"fmt"
	"math/bits"
)

// globalHeap holds the values of variable-length elements by their number.
type globalHeap struct{ objects map[uint32][]byte }

func (f *File) globalObject(addr uint64, index uint32) ([]byte, error) {
	h, ok := f.heaps[addr]
	if !ok {
		var err error
		if h, err = f.readGlobalHeap(addr); err != nil {
			return nil, fmt.Errorf("global heap at %d: %w", addr, err)
		}
		f.heaps[addr] = h
	}
	b, ok := h.objects[index]
	if !ok {
		return nil, fmt.Errorf("global heap at %d has no object %d", addr, index)
	}
	return b, nil
}

func (f *File) readGlobalHeap(addr uint64) (*globalHeap, error) {
	head := uint64(8 + f.length)
	c, err := f.block(addr, head)
	if err != nil {
		return nil, err
	}
	c.sign("GCOL")
	c.skip(4)
	size := c.len()
	if c.err != nil {
		return nil, c.err
	}
	if size < head {
		return nil, fmt.Errorf("size %d", size)
	}
	if c, err = f.block(addr+head, size-head); err != nil {
		return nil, err
	}
	h := &globalHeap{objects: map[uint32][]byte{}}
	for c.left() >= 8+f.length {
		index := uint32(c.u16())
		c.skip(6)
		n := c.len()
		if index == 0 { // the free space at the end
			break
		}
		h.objects[index] = c.take(int(min(n, 1<<40)))
		if c.err != nil {
			return nil, c.err
		}
		c.skip(min((8-int(n%8))%8, c.left()))
	}
	return h, nil
}

// fractalHeap holds the links or attributes of an object that has many.
type fractalHeap struct {
	f                  *File
	flags              uint8
	width              uint64 // blocks per row of the doubling table
	start, maxDirect   uint64 // block sizes
	offsetLen, sizeLen int    // bytes of a managed object's offset and length
	root               uint64
	rows               int // rows of the root indirect block, 0 = a direct block
	maxHeap            int // bits
}

func (f *File) fractalHeap(addr uint64) (*fractalHeap, error) {
	c, err := f.upto(addr, uint64(64+12*f.length+4*f.offset))
	if err != nil {
		return nil, err
	}
	c.sign("FRHP")
	c.skip(1 + 2)
	filters := c.u16()
	h := &fractalHeap{f: f, flags: c.u8()}
	maxObject := uint64(c.u32())
	c.len()
	c.addr()
	c.len()
	c.addr()
	for range 8 {
		c.len()
	}
	h.width = uint64(c.u16())
	h.start, h.maxDirect = c.len(), c.len()
	h.maxHeap = c.u16()
	c.skip(2)
	h.root = c.addr()
	h.rows = c.u16()
	if c.err != nil {
		return nil, c.err
	}
	if filters != 0 {
		return nil, errors.New("compressed fractal heaps are not read")
	}
	if h.width == 0 || h.width > 1<<12 || !powerOfTwo(h.start) || !powerOfTwo(h.maxDirect) || h.maxDirect < h.start ||
		h.maxDirect > 1<<32 || h.maxHeap < 8 || h.maxHeap > 64 || h.rows > 128 {
		return nil, errors.New("fractal heap with an impossible doubling table")
	}
	h.offsetLen = (h.maxHeap + 7) / 8
	h.sizeLen = bytesFor(min(h.maxDirect, maxObject))
	return h, nil
}

func powerOfTwo(v uint64) bool { return v > 0 && v&(v-1) == 0 }

// get returns the object of a heap ID.
func (h *fractalHeap) get(id []byte) ([]byte, error) {
	if len(id) == 0 {
		return nil, errors.New("empty heap ID")
	}
	switch id[0] >> 4 & 3 {
	case 0:
		c := &cursor{b: id[1:]}
		at, n := c.uint(h.offsetLen), c.uint(h.sizeLen)
		if c.err != nil {
			return nil, c.err
		}
		return h.managed(at, n)
	case 2: // the object is in the ID itself
		n := int(id[0]&15) + 1
		if n > len(id)-1 {
			return nil, fmt.Errorf("tiny object of %d bytes in an ID of %d", n, len(id))
		}
		return id[1 : 1+n], nil
	}
	return nil, errors.New("huge heap objects are not read")
}

func (h *fractalHeap) managed(at, n uint64) ([]byte, error) {
	if h.rows == 0 {
		return h.direct(h.root, at, n)
	}
	return h.indirect(h.root, h.rows, at, n, 0)
}

func (h *fractalHeap) direct(addr, at, n uint64) ([]byte, error) {
	c, err := h.f.block(addr+at, n)
	if err != nil {
		return nil, err
	}
	return c.b, nil
}

// rowSize is the size of the blocks in a row: start, start, 2 start, 4 start…
func (h *fractalHeap) rowSize(row int) uint64 {
	if row == 0 {
		return h.start
	}
	return h.start << min(row-1, 62)
}

// indirect finds the block of the doubling table that holds offset at.
func (h *fractalHeap) indirect(addr uint64, rows int, at, n uint64, depth int) ([]byte, error) {
	if depth > maxTreeDepth {
		return nil, errors.New("fractal heap nested too deep")
	}
	directRows := bits.TrailingZeros64(h.maxDirect/h.start) + 2
	first := uint64(0) // number of the row's first entry
	for row := range rows {
		size := h.rowSize(row)
		if size == 0 || at >= size*h.width {
			at -= size * h.width
			first += h.width
			continue
		}
		entry := first + at/size
		head := uint64(5 + h.f.offset + h.offsetLen)
		c, err := h.f.block(addr+head+entry*uint64(h.f.offset), uint64(h.f.offset))
		if err != nil {
			return nil, err
		}
		child := c.addr()
		if row < directRows {
			return h.direct(child, at%size, n)
		}
		// A child indirect block spans size bytes: as many rows as that takes.
		below := bits.TrailingZeros64(size) - bits.TrailingZeros64(h.start*h.width) + 1
		return h.indirect(child, max(1, below), at%size, n, depth+1)
	}
	return nil, errors.New("heap offset beyond the heap")
}

// heapObjects visits every object that a name index lists. id cuts the heap
// ID out of a record.
func (f *File) heapObjects(heap, tree uint64, kind uint8, id func(*cursor) []byte, visit func(*cursor) error) error {
	h, err := f.fractalHeap(heap)
	if err != nil {
		return err
	}
	return f.treeV2(tree, kind, func(rec *cursor) error {
		b, err := h.get(id(rec))
		if err != nil {
			return err
		}
		return visit(&cursor{b: b, offset: f.offset, length: f.length})
	})
}
