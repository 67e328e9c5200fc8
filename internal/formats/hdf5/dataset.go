package hdf5

import (
	"bytes"
	"errors"
	"fmt"
)

// maxBytes bounds one dataset in memory.
const maxBytes = 16 << 30

// maxExpansion is what deflate can reach at best; a chunked dataset cannot be
// larger than this many times the file and still hold data.
const maxExpansion = 1100

// Shape returns the dimensions of a dataset without reading it.
func (o *Object) Shape() ([]int, error) {
	c, err := o.message(msgSpace)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, fmt.Errorf("%s is not a dataset", o.Path)
	}
	s := c.dataspace()
	if c.err != nil {
		return nil, fmt.Errorf("%s: %w", o.Path, c.err)
	}
	if _, err := s.count(); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Path, err)
	}
	return s.ints(), nil
}

// Read returns all values of a dataset.
func (o *Object) Read() (*Value, error) {
	v, err := o.readAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Path, err)
	}
	return v, nil
}

func (o *Object) readAll() (*Value, error) {
	tc, err := o.message(msgType)
	if err != nil {
		return nil, err
	}
	sc, err := o.message(msgSpace)
	if err != nil {
		return nil, err
	}
	lc, err := o.message(msgLayout)
	if err != nil {
		return nil, err
	}
	if tc == nil || sc == nil || lc == nil {
		return nil, errors.New("is not a dataset")
	}
	t, s := tc.datatype(0), sc.dataspace()
	if err := errors.Join(tc.err, sc.err); err != nil {
		return nil, err
	}
	if o.has(msgExternal) {
		return nil, errors.New("data in external files is not read")
	}
	n, err := s.count()
	if err != nil {
		return nil, err
	}
	if n > maxBytes/uint64(max(1, t.Size)) {
		return nil, fmt.Errorf("%d elements of %d bytes; at most %d GiB are read", n, t.Size, maxBytes>>30)
	}
	v := &Value{Type: t, Dims: s.ints(), f: o.f}
	v.data, err = o.data(lc, s, t, n*uint64(t.Size))
	return v, err
}

// data reads the bytes of a dataset by its layout message.
func (o *Object) data(c *cursor, s space, t *Type, total uint64) ([]byte, error) {
	version := c.u8()
	switch version {
	case 1, 2:
		return o.oldLayout(c, s, t, total)
	case 3, 4, 5:
	default:
		return nil, fmt.Errorf("layout version %d is not read", version)
	}
	switch class := c.u8(); class {
	case 0:
		n := c.u16()
		return o.exactly(c.take(n), total, c.err)
	case 1:
		addr := c.addr()
		return o.contiguous(addr, total, c.err)
	case 2:
		if version == 3 {
			return o.chunkedV3(c, s, t, total)
		}
		return o.chunkedV4(c, s, t, total)
	case 3:
		return nil, errors.New("virtual datasets are not read")
	default:
		return nil, fmt.Errorf("layout class %d is not known", class)
	}
}

func (o *Object) oldLayout(c *cursor, s space, t *Type, total uint64) ([]byte, error) {
	rank, class := int(c.u8()), c.u8()
	c.skip(5)
	addr := undefined
	if class != 0 {
		addr = c.addr()
	}
	dims := make([]uint64, 0, rank)
	for range min(rank, 33) {
		dims = append(dims, uint64(c.u32()))
	}
	switch class {
	case 0:
		n := c.u32()
		return o.exactly(c.take(int(n)), total, c.err)
	case 1:
		return o.contiguous(addr, total, c.err)
	case 2:
		if c.err != nil {
			return nil, c.err
		}
		return o.chunked(s, t, total, dims, func(put chunkVisitor) error { return o.indexTreeV1(addr, len(dims), put) })
	}
	return nil, fmt.Errorf("layout class %d is not known", class)
}

func (o *Object) exactly(b []byte, total uint64, err error) ([]byte, error) {
	if err == nil && uint64(len(b)) < total {
		err = fmt.Errorf("%d bytes of data, want %d", len(b), total)
	}
	if err != nil {
		return nil, err
	}
	return b[:total], nil
}

func (o *Object) contiguous(addr, total uint64, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	if total == 0 {
		return nil, nil
	}
	if addr == undefined { // never written
		if err := o.plausible(total); err != nil {
			return nil, err
		}
		return o.filled(total)
	}
	c, err := o.f.block(addr, total)
	if err != nil {
		return nil, err
	}
	return c.b, nil
}

// plausible refuses a dataset that is larger than its file could fill.
func (o *Object) plausible(total uint64) error {
	if total > maxExpansion*o.f.size+1<<20 {
		return fmt.Errorf("%d bytes of data in a file of %d", total, o.f.size)
	}
	return nil
}

// filled returns total bytes of the fill value.
func (o *Object) filled(total uint64) ([]byte, error) {
	fill, err := o.fillValue()
	if err != nil {
		return nil, fmt.Errorf("fill value: %w", err)
	}
	out := make([]byte, total)
	if len(bytes.Trim(fill, "\x00")) > 0 {
		for at := 0; at < len(out); at += len(fill) {
			copy(out[at:], fill)
		}
	}
	return out, nil
}

func (o *Object) fillValue() ([]byte, error) {
	c, err := o.message(msgFill)
	if err != nil {
		return nil, err
	}
	if c == nil {
		if c, err = o.message(msgOldFill); c == nil || err != nil {
			return nil, err
		}
		return c.take(int(c.u32())), c.err
	}
	defined := true
	switch version := c.u8(); version {
	case 1:
		c.skip(3)
	case 2:
		c.skip(2)
		defined = c.u8() != 0
	default:
		defined = c.u8()&0x20 != 0
	}
	if !defined {
		return nil, c.err
	}
	return c.take(int(c.u32())), c.err
}
