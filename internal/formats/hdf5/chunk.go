package hdf5

import (
	"errors"
	"fmt"
	"math/bits"
)

// chunkVisitor takes one stored chunk: where it starts in the dataset (in
// elements), where it lies, its stored size and the filters it skipped.
type chunkVisitor func(start []uint64, addr, size uint64, mask uint32) error

func (o *Object) chunkedV3(c *cursor, s space, t *Type, total uint64) ([]byte, error) {
	rank := int(c.u8()) // one more than the dataset's: the last is the element
	addr := c.addr()
	dims := make([]uint64, 0, rank)
	for range rank {
		dims = append(dims, uint64(c.u32()))
	}
	if c.err != nil {
		return nil, c.err
	}
	return o.chunked(s, t, total, dims, func(put chunkVisitor) error { return o.indexTreeV1(addr, rank, put) })
}

// Index types of layout version 4.
const (
	indexSingle     = 1
	indexImplicit   = 2
	indexFixed      = 3
	indexExtensible = 4
	indexTree       = 5
)

func (o *Object) chunkedV4(c *cursor, s space, t *Type, total uint64) ([]byte, error) {
	flags := c.u8()
	rank, wide := int(c.u8()), int(c.u8())
	if wide < 1 || wide > 8 {
		return nil, fmt.Errorf("chunk dimensions of %d bytes", wide)
	}
	dims := make([]uint64, 0, rank)
	for range rank {
		dims = append(dims, c.uint(wide))
	}
	kind := c.u8()
	var single uint64
	var mask uint32
	switch kind {
	case indexSingle:
		if flags&2 != 0 {
			single, mask = c.len(), c.u32()
		}
	case indexImplicit:
	case indexFixed:
		c.skip(1)
	case indexExtensible:
		c.skip(5)
	case indexTree:
		c.skip(6)
	default:
		return nil, fmt.Errorf("chunk index type %d is not known", kind)
	}
	addr := c.addr()
	if c.err != nil {
		return nil, c.err
	}
	return o.chunked(s, t, total, dims, func(put chunkVisitor) error {
		if addr == undefined {
			return nil
		}
		g, err := newChunkGrid(s.dims, dims)
		if err != nil {
			return err
		}
		if single == 0 {
			single = g.bytes
		}
		switch kind {
		case indexSingle:
			return put(g.start(0), addr, single, mask)
		case indexImplicit:
			for i := range g.count {
				if err := put(g.start(i), addr+i*g.bytes, g.bytes, 0); err != nil {
					return err
				}
			}
			return nil
		case indexFixed:
			return o.indexFixedArray(addr, g, put)
		case indexExtensible:
			return o.indexExtensibleArray(addr, g, put)
		}
		return o.indexTreeV2(addr, g, put)
	})
}

// chunkGrid numbers the chunks of a dataset, last dimension fastest.
type chunkGrid struct {
	dims  []uint64 // elements per chunk
	per   []uint64 // chunks along each dimension
	count uint64
	bytes uint64 // of one chunk, unfiltered
}

func newChunkGrid(shape, chunk []uint64) (*chunkGrid, error) {
	g := &chunkGrid{count: 1, bytes: chunk[len(chunk)-1]}
	for i, d := range shape {
		g.dims = append(g.dims, chunk[i])
		g.per = append(g.per, (d+chunk[i]-1)/chunk[i])
		if g.per[i] != 0 && g.count > 1<<40/g.per[i] || g.bytes > 1<<40/chunk[i] {
			return nil, fmt.Errorf("dataset %v has too many chunks of %v", shape, chunk)
		}
		g.count *= g.per[i]
		g.bytes *= chunk[i]
	}
	return g, nil
}

func (g *chunkGrid) start(i uint64) []uint64 {
	at := make([]uint64, len(g.dims))
	for d := len(at) - 1; d >= 0; d-- {
		if g.per[d] > 0 {
			at[d] = i % g.per[d] * g.dims[d]
			i /= g.per[d]
		}
	}
	return at
}

// chunked collects the chunks that an index lists.
func (o *Object) chunked(s space, t *Type, total uint64, dims []uint64, index func(chunkVisitor) error) ([]byte, error) {
	if len(dims) != len(s.dims)+1 || len(s.dims) == 0 {
		return nil, fmt.Errorf("chunks of %d dimensions in a dataset of %d", len(dims)-1, len(s.dims))
	}
	size := uint64(1)
	for _, d := range dims {
		if d == 0 || size > 1<<34/d {
			return nil, fmt.Errorf("chunks of %v elements", dims)
		}
		size *= d
	}
	if dims[len(dims)-1] != uint64(t.Size) {
		return nil, fmt.Errorf("chunks of elements of %d bytes, the type has %d", dims[len(dims)-1], t.Size)
	}
	if total == 0 {
		return nil, nil
	}
	if err := o.plausible(total); err != nil {
		return nil, err
	}
	filters, err := o.filters()
	if err != nil {
		return nil, err
	}
	out, err := o.filled(total)
	if err != nil {
		return nil, err
	}
	err = index(func(start []uint64, addr, stored uint64, mask uint32) error {
		if addr == undefined {
			return nil
		}
		c, err := o.f.block(addr, stored)
		if err != nil {
			return fmt.Errorf("chunk at %v: %w", start, err)
		}
		b, err := filters.undo(c.b, mask, size)
		if err != nil {
			return fmt.Errorf("chunk at %v: %w", start, err)
		}
		if uint64(len(b)) < size {
			return fmt.Errorf("chunk at %v has %d bytes, want %d", start, len(b), size)
		}
		paste(out, b, s.dims, dims, start)
		return nil
	})
	return out, err
}

// paste copies a chunk to its place. Chunks at the edge are stored whole and
// clipped here.
func paste(out, chunk []byte, shape, dims, start []uint64) {
	rank := len(shape)
	elem := dims[rank]
	keep := make([]uint64, rank) // elements of the chunk inside the dataset
	for d := range keep {
		if start[d] >= shape[d] {
			return
		}
		keep[d] = min(dims[d], shape[d]-start[d])
	}
	run := keep[rank-1] * elem
	at := make([]uint64, rank) // position of the run in the chunk
	for {
		var from, to uint64
		for d := range at {
			from = from*dims[d] + at[d]
			to = to*shape[d] + start[d] + at[d]
		}
		copy(out[to*elem:to*elem+run], chunk[from*elem:])
		d := rank - 2
		for ; d >= 0; d-- {
			if at[d]++; at[d] < keep[d] {
				break
			}
			at[d] = 0
		}
		if d < 0 {
			return
		}
	}
}

func (o *Object) indexTreeV1(addr uint64, rank int, put chunkVisitor) error {
	if addr == undefined {
		return nil
	}
	return o.f.treeV1(addr, 1, 0, func(key *cursor, child uint64) error {
		size, mask := key.u32(), key.u32()
		start := make([]uint64, rank-1)
		for d := range start {
			start[d] = key.uint(8)
		}
		if key.err != nil {
			return key.err
		}
		return put(start, child, uint64(size), mask)
	}, 8+8*rank)
}

// indexTreeV2 reads chunk records: type 10 is an address and scaled offsets,
// type 11 has the stored size and filter mask between them.
func (o *Object) indexTreeV2(addr uint64, g *chunkGrid, put chunkVisitor) error {
	return o.f.treeV2(addr, 10, func(rec *cursor) error {
		child, size, mask := rec.addr(), g.bytes, uint32(0)
		if wide := rec.left() - 8*len(g.dims); wide > 0 {
			size, mask = rec.uint(max(0, wide-4)), rec.u32()
		}
		start := make([]uint64, len(g.dims))
		for d := range start {
			start[d] = rec.uint(8)
			if start[d] > 1<<40 {
				return fmt.Errorf("chunk number %d", start[d])
			}
			start[d] *= g.dims[d]
		}
		if rec.err != nil {
			return rec.err
		}
		return put(start, child, size, mask)
	})
}

// entries reads chunk entries of fixed and extensible arrays: an address, and
// for filtered data stored size and mask.
func (o *Object) entries(c *cursor, n uint64, size int, filtered bool, from uint64, g *chunkGrid, put chunkVisitor) error {
	for i := range n {
		addr, stored, mask := c.addr(), g.bytes, uint32(0)
		if filtered {
			stored, mask = c.uint(max(0, size-o.f.offset-4)), c.u32()
		}
		if c.err != nil {
			return c.err
		}
		if from+i >= g.count || addr == undefined {
			continue
		}
		if err := put(g.start(from+i), addr, stored, mask); err != nil {
			return err
		}
	}
	return nil
}

func (o *Object) indexFixedArray(addr uint64, g *chunkGrid, put chunkVisitor) error {
	f := o.f
	c, err := f.block(addr, uint64(8+f.length+f.offset))
	if err != nil {
		return err
	}
	c.sign("FAHD")
	c.skip(1)
	filtered := c.u8() == 1
	size, pageBits := int(c.u8()), c.u8()
	n, data := c.len(), c.addr()
	if c.err != nil {
		return c.err
	}
	if data == undefined {
		return nil
	}
	if n > g.count || size < f.offset || size > 64 || pageBits > 32 {
		return fmt.Errorf("fixed array of %d entries of %d bytes for %d chunks", n, size, g.count)
	}
	head := uint64(6 + f.offset)
	page := uint64(1) << pageBits
	if n <= page {
		return o.page(data+head, n, size, filtered, 0, g, put)
	}
	pages := (n + page - 1) / page
	set, err := f.block(data+head, (pages+7)/8)
	if err != nil {
		return err
	}
	at := data + head + (pages+7)/8 + 4
	for p := range pages {
		k := min(page, n-p*page)
		if set.b[p/8]>>(7-p%8)&1 == 1 {
			if err := o.page(at, k, size, filtered, p*page, g, put); err != nil {
				return err
			}
		}
		at += k*uint64(size) + 4
	}
	return nil
}

func (o *Object) page(addr, n uint64, size int, filtered bool, from uint64, g *chunkGrid, put chunkVisitor) error {
	if n > 1<<34 {
		return errors.New("too many chunk entries")
	}
	c, err := o.f.block(addr, n*uint64(size))
	if err != nil {
		return err
	}
	return o.entries(c, n, size, filtered, from, g, put)
}

// extensible is the header of an extensible array: chunk entries in an index
// block, then in data blocks that double in size, found directly or through
// super blocks.
type extensible struct {
	filtered            bool
	size                int // bytes of an entry
	maxBits             int
	inIndex, minElems   uint64
	minPointers         uint64
	pageBits            int
	realised            uint64 // entries that may be set
	index               uint64
	from                uint64 // entries passed so far
	o                   *Object
	g                   *chunkGrid
	put                 chunkVisitor
	offsetLen, preamble uint64
}

func (o *Object) indexExtensibleArray(addr uint64, g *chunkGrid, put chunkVisitor) error {
	f := o.f
	c, err := f.block(addr, uint64(12+6*f.length+f.offset))
	if err != nil {
		return err
	}
	c.sign("EAHD")
	c.skip(1)
	e := &extensible{o: o, g: g, put: put, filtered: c.u8() == 1, size: int(c.u8()), maxBits: int(c.u8())}
	e.inIndex, e.minElems, e.minPointers = uint64(c.u8()), uint64(c.u8()), uint64(c.u8())
	e.pageBits = int(c.u8())
	for range 4 {
		c.len()
	}
	e.realised = c.len()
	c.len()
	e.index = c.addr()
	if c.err != nil {
		return c.err
	}
	if e.size < f.offset || e.size > 64 || e.maxBits > 64 || !powerOfTwo(e.minElems) || !powerOfTwo(e.minPointers) || e.pageBits > 32 {
		return errors.New("extensible array with impossible parameters")
	}
	e.offsetLen = uint64(e.maxBits+7) / 8
	e.preamble = uint64(6+f.offset) + e.offsetLen
	e.realised = min(e.realised, g.count)
	if e.index == undefined {
		return nil
	}
	return e.walk()
}

func (e *extensible) walk() error {
	f := e.o.f
	superBlocks := 1 + e.maxBits - bits.TrailingZeros64(e.minElems)
	direct := 2 * bits.TrailingZeros64(e.minPointers) // super blocks whose data blocks the index names itself
	pointers := 2 * (e.minPointers - 1)
	head := uint64(6 + f.offset)
	c, err := f.upto(e.index, head+e.inIndex*uint64(e.size)+(pointers+uint64(max(0, superBlocks-direct)))*uint64(f.offset))
	if err != nil {
		return err
	}
	c.sign("EAIB")
	c.skip(2 + f.offset)
	if err := e.o.entries(c, e.inIndex, e.size, e.filtered, 0, e.g, e.put); err != nil {
		return err
	}
	e.from = e.inIndex
	for u := 0; u < superBlocks && e.from < e.realised; u++ {
		blocks, elems := uint64(1)<<(u/2), uint64(1)<<((u+1)/2)*e.minElems
		if u < direct {
			for range blocks {
				if err := e.dataBlock(c.addr(), elems, nil); err != nil {
					return err
				}
			}
		} else if err := e.superBlock(c.addr(), blocks, elems); err != nil {
			return err
		}
		if c.err != nil {
			return c.err
		}
	}
	return nil
}

// pages is the number of pages of a data block, 0 when it is not paged.
func (e *extensible) pages(elems uint64) uint64 {
	if elems <= 1<<e.pageBits {
		return 0
	}
	return elems >> e.pageBits
}

func (e *extensible) superBlock(addr, blocks, elems uint64) error {
	if addr == undefined {
		e.from += blocks * elems
		return nil
	}
	set := (e.pages(elems) + 7) / 8 // bytes of a data block's page bitmap
	if blocks > e.o.f.size || set > e.o.f.size {
		return errors.New("super block larger than the file")
	}
	c, err := e.o.f.block(addr, e.preamble+blocks*(set+uint64(e.o.f.offset)))
	if err != nil {
		return err
	}
	c.sign("EASB")
	c.skip(int(e.preamble) - 4)
	maps := c.take(int(blocks * set))
	for i := range blocks {
		var pages []byte
		if set > 0 && c.err == nil {
			pages = maps[i*set : (i+1)*set]
		}
		if err := e.dataBlock(c.addr(), elems, pages); err != nil {
			return err
		}
	}
	return c.err
}

func (e *extensible) dataBlock(addr, elems uint64, set []byte) error {
	from := e.from
	e.from += elems
	if addr == undefined || from >= e.realised {
		return nil
	}
	pages := e.pages(elems)
	if pages == 0 {
		n := min(elems, e.realised-from)
		return e.o.page(addr+e.preamble, n, e.size, e.filtered, from, e.g, e.put)
	}
	page := uint64(1) << e.pageBits
	at := addr + e.preamble + 4
	for p := range pages {
		if from+p*page >= e.realised {
			break
		}
		if p/8 >= uint64(len(set)) || set[p/8]>>(7-p%8)&1 == 1 {
			if err := e.o.page(at, page, e.size, e.filtered, from+p*page, e.g, e.put); err != nil {
				return err
			}
		}
		at += page*uint64(e.size) + 4
	}
	return nil
}
