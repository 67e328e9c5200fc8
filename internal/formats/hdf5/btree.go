package hdf5

import (
	"fmt"
	"math/bits"
)

const maxTreeDepth = 40

// symbolTable lists an old-style group: a B-tree of symbol nodes whose names
// lie in a local heap.
func (f *File) symbolTable(tree, heapAddr uint64) ([]Link, error) {
	names, err := f.localHeap(heapAddr)
	if err != nil {
		return nil, err
	}
	var links []Link
	err = f.treeV1(tree, 0, 0, func(_ *cursor, child uint64) error {
		more, err := f.symbolNode(child, names)
		links = append(links, more...)
		return err
	}, f.length)
	return links, err
}

func (f *File) localHeap(addr uint64) ([]byte, error) {
	c, err := f.block(addr, uint64(8+2*f.length+f.offset))
	if err != nil {
		return nil, err
	}
	c.sign("HEAP")
	c.skip(4)
	size := c.len()
	c.len()
	data := c.addr()
	if c.err != nil {
		return nil, c.err
	}
	d, err := f.block(data, size)
	if err != nil {
		return nil, err
	}
	return d.b, nil
}

// treeV1 visits the children of all leaves of a version 1 B-tree. Each child
// comes with a cursor at its key.
func (f *File) treeV1(addr uint64, kind uint8, depth int, visit func(key *cursor, child uint64) error, keySize int) error {
	if depth > maxTreeDepth {
		return fmt.Errorf("B-tree deeper than %d", maxTreeDepth)
	}
	head := 8 + 2*f.offset
	c, err := f.block(addr, uint64(head))
	if err != nil {
		return err
	}
	c.sign("TREE")
	if got := c.u8(); c.err == nil && got != kind {
		return fmt.Errorf("B-tree of type %d, want %d", got, kind)
	}
	level, n := c.u8(), c.u16()
	if c.err != nil {
		return c.err
	}
	body, err := f.block(addr+uint64(head), uint64(n*(keySize+f.offset)))
	if err != nil {
		return err
	}
	for range n {
		key := &cursor{b: body.take(keySize), offset: f.offset, length: f.length}
		child := body.addr()
		if body.err != nil {
			return body.err
		}
		if level > 0 {
			err = f.treeV1(child, kind, depth+1, visit, keySize)
		} else {
			err = visit(key, child)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *File) symbolNode(addr uint64, names []byte) ([]Link, error) {
	c, err := f.block(addr, 8)
	if err != nil {
		return nil, err
	}
	c.sign("SNOD")
	c.skip(2)
	n := c.u16()
	if c.err != nil {
		return nil, c.err
	}
	entry := 2*f.offset + 24
	if c, err = f.block(addr+8, uint64(n*entry)); err != nil {
		return nil, err
	}
	links := make([]Link, 0, n)
	for range n {
		name, err := heapText(names, c.addr())
		if err != nil {
			return nil, err
		}
		l := Link{Name: name, addr: c.addr()}
		cache := c.u32()
		c.skip(4)
		scratch := &cursor{b: c.take(16)}
		if cache == 2 {
			if l.soft, err = heapText(names, uint64(scratch.u32())); err != nil {
				return nil, err
			}
		}
		if c.err != nil {
			return nil, c.err
		}
		links = append(links, l)
	}
	return links, nil
}

func heapText(heap []byte, at uint64) (string, error) {
	if at > uint64(len(heap)) {
		return "", fmt.Errorf("name at %d is beyond its heap of %d bytes", at, len(heap))
	}
	c := &cursor{b: heap[at:]}
	s := c.text()
	return s, c.err
}

// treeV2 visits every record of a version 2 B-tree in order.
type treeV2 struct {
	f                *File
	nodeSize, recLen int
	kind             uint8
	visit            func(rec *cursor) error
	width            []int    // bytes of the record count of a node, by depth
	total            []int    // bytes of the count of all records below, by depth
	cumulative       []uint64 // most records in a subtree, by depth
}

func (f *File) treeV2(addr uint64, kind uint8, visit func(rec *cursor) error) error {
	c, err := f.block(addr, uint64(16+f.offset+2+f.length))
	if err != nil {
		return err
	}
	c.sign("BTHD")
	c.skip(1)
	t := &treeV2{f: f, kind: c.u8(), nodeSize: int(c.u32()), recLen: c.u16(), visit: visit}
	depth := c.u16()
	c.skip(2)
	root, n := c.addr(), c.u16()
	if c.err != nil {
		return c.err
	}
	if kind != t.kind && !(kind == 10 && t.kind == 11) {
		return fmt.Errorf("B-tree of type %d, want %d", t.kind, kind)
	}
	if depth > maxTreeDepth || t.recLen == 0 || t.nodeSize < 16+t.recLen || t.nodeSize > 1<<26 {
		return fmt.Errorf("B-tree of depth %d with nodes of %d and records of %d bytes", depth, t.nodeSize, t.recLen)
	}
	if n == 0 || root == undefined {
		return nil
	}
	t.measure(depth)
	return t.node(root, n, depth)
}

// measure computes how wide the counts in child pointers are; it depends on
// how many records a node of each depth can hold.
func (t *treeV2) measure(depth int) {
	most := uint64(t.nodeSize-10) / uint64(t.recLen)
	t.width, t.total, t.cumulative = []int{limitBytes(most)}, []int{0}, []uint64{most}
	for d := 1; d <= depth; d++ {
		pointer := t.f.offset + t.width[d-1] + t.total[d-1]
		n := uint64(max(0, t.nodeSize-10-pointer)) / uint64(t.recLen+pointer)
		below := t.cumulative[d-1]
		all := n + (n+1)*min(below, 1<<40)
		t.width = append(t.width, limitBytes(n))
		t.cumulative = append(t.cumulative, all)
		t.total = append(t.total, limitBytes(all))
	}
}

func limitBytes(v uint64) int { return (max(1, bits.Len64(v))-1)/8 + 1 }

func (t *treeV2) node(addr uint64, n, depth int) error {
	c, err := t.f.upto(addr, uint64(t.nodeSize))
	if err != nil {
		return err
	}
	if depth == 0 {
		c.sign("BTLF")
	} else {
		c.sign("BTIN")
	}
	c.skip(2)
	recs := c.take(n * t.recLen)
	if c.err != nil {
		return c.err
	}
	for i := 0; i <= n; i++ {
		if depth > 0 {
			child := c.addr()
			count := int(c.uint(t.width[depth-1]))
			if depth > 1 {
				c.uint(t.total[depth-1])
			}
			if c.err != nil {
				return c.err
			}
			if err := t.node(child, count, depth-1); err != nil {
				return err
			}
		}
		if i < n {
			rec := &cursor{b: recs[i*t.recLen : (i+1)*t.recLen], offset: t.f.offset, length: t.f.length}
			if err := t.visit(rec); err != nil {
				return err
			}
		}
	}
	return nil
}
