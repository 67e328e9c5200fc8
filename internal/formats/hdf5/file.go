// Package hdf5 reads HDF5 files: superblock versions 0 to 3, old and new
// groups, contiguous, compact and chunked data with every chunk index, the
// filters deflate, shuffle, fletcher32 and zstd, compound types, strings and
// attributes. It follows the HDF5 File Format Specification, version 3.0.
//
// What a file has and the reader has not is an error that names it; nothing is
// left out in silence. Every size is compared with the file before memory is
// taken for it.
package hdf5

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/isobath/isobath/internal/base/plainfile"
)

// Magic starts every HDF5 file.
var Magic = []byte("\x89HDF\r\n\x1a\n")

// undefined is an address that points nowhere: all bits set.
const undefined = ^uint64(0)

// File is an open HDF5 file. It is not safe for concurrent use.
type File struct {
	r       io.ReaderAt
	close   func() error
	size    uint64
	base    uint64 // added to every address
	offset  int    // bytes of an address
	length  int    // bytes of a length
	root    uint64
	heaps   map[uint64]*globalHeap
	steps   int // nodes visited since Open, against loops
	maxStep int
}

// Open opens the file at path.
func Open(path string) (*File, error) {
	h, err := plainfile.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := h.Stat()
	if err == nil {
		var f *File
		if f, err = New(h, info.Size()); err == nil {
			f.close = h.Close
			return f, nil
		}
		err = fmt.Errorf("%s: %w", info.Name(), err)
	}
	h.Close()
	return nil, err
}

// New reads the superblock of an HDF5 file of the given size.
func New(r io.ReaderAt, size int64) (*File, error) {
	f := &File{r: r, size: uint64(max(0, size)), heaps: map[uint64]*globalHeap{}}
	// Every node is at least 16 bytes; visiting more nodes than fit in the
	// file several times over is a loop.
	f.maxStep = int(min(f.size/4+100_000, 1<<30))
	start, err := f.findSuperblock()
	if err != nil {
		return nil, err
	}
	if err := f.superblock(start); err != nil {
		return nil, fmt.Errorf("superblock: %w", err)
	}
	return f, nil
}

// Close closes a file that Open opened.
func (f *File) Close() error {
	if f.close == nil {
		return nil
	}
	return f.close()
}

func (f *File) findSuperblock() (uint64, error) {
	for at := uint64(0); at+8 <= f.size; at = max(512, 2*at) {
		b, err := f.read(at, 8)
		if err != nil {
			return 0, err
		}
		if bytes.Equal(b, Magic) {
			return at, nil
		}
	}
	return 0, errors.New("not an HDF5 file: no signature")
}

func (f *File) superblock(start uint64) error {
	b, err := f.read(start, min(128, f.size-start))
	if err != nil {
		return err
	}
	c := &cursor{b: b, at: 8}
	version := c.u8()
	switch version {
	case 0, 1:
		c.skip(4)
		f.offset, f.length = int(c.u8()), int(c.u8())
		c.skip(1 + 4 + 4)
		if version == 1 {
			c.skip(4)
		}
	case 2, 3:
		f.offset, f.length = int(c.u8()), int(c.u8())
		c.skip(1)
	default:
		return fmt.Errorf("version %d is not read", version)
	}
	if !width(f.offset) || !width(f.length) {
		return fmt.Errorf("addresses of %d and lengths of %d bytes; want 2, 4 or 8", f.offset, f.length)
	}
	c.offset, c.length = f.offset, f.length
	f.base = c.addr()
	if version >= 2 {
		c.addr()
		c.addr()
		f.root = c.addr()
	} else {
		c.addr()
		c.addr()
		c.addr()
		c.addr() // name of the root entry
		f.root = c.addr()
	}
	if f.base == undefined {
		f.base = 0
	}
	return c.err
}

func width(n int) bool { return n == 2 || n == 4 || n == 8 }

// read returns n bytes at an absolute position.
func (f *File) read(at, n uint64) ([]byte, error) {
	if at > f.size || n > f.size-at {
		return nil, fmt.Errorf("%d bytes at %d lie beyond the end of the file at %d", n, at, f.size)
	}
	b := make([]byte, n)
	_, err := f.r.ReadAt(b, int64(at))
	if err != nil && err != io.EOF {
		return nil, err
	}
	return b, nil
}

// block returns a cursor over n bytes at an address of the file format.
func (f *File) block(addr, n uint64) (*cursor, error) {
	if addr == undefined {
		return nil, errors.New("undefined address")
	}
	if f.steps++; f.steps > f.maxStep {
		return nil, errors.New("the file's structures do not end; is there a loop?")
	}
	b, err := f.read(addr+f.base, n)
	if err != nil {
		return nil, err
	}
	return &cursor{b: b, offset: f.offset, length: f.length}, nil
}

// upto returns a cursor over at most n bytes, fewer at the end of the file.
func (f *File) upto(addr, n uint64) (*cursor, error) {
	if at := addr + f.base; addr != undefined && at < f.size {
		n = min(n, f.size-at)
	}
	return f.block(addr, n)
}

// cursor reads little-endian fields and remembers the first failure.
type cursor struct {
	b              []byte
	at             int
	offset, length int // bytes of addresses and lengths in this file
	err            error
}

func (c *cursor) take(n int) []byte {
	if c.err == nil && (n < 0 || n > len(c.b)-c.at) {
		c.err = fmt.Errorf("field of %d bytes, %d are left: %w", n, len(c.b)-c.at, io.ErrUnexpectedEOF)
	}
	if c.err != nil {
		return nil
	}
	c.at += n
	return c.b[c.at-n : c.at]
}

func (c *cursor) left() int { return len(c.b) - c.at }

func (c *cursor) skip(n int) { c.take(n) }

func (c *cursor) uint(n int) uint64 {
	var v uint64
	for i, b := range c.take(n) {
		v |= uint64(b) << (8 * i)
	}
	return v
}

func (c *cursor) u8() uint8 { return uint8(c.uint(1)) }

func (c *cursor) u16() int { return int(c.uint(2)) }

func (c *cursor) u32() uint32 {
	if b := c.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// addr reads an address; all ones of any width become undefined.
func (c *cursor) addr() uint64 {
	v := c.uint(c.offset)
	if c.offset < 8 && v == 1<<(8*c.offset)-1 {
		return undefined
	}
	return v
}

func (c *cursor) len() uint64 { return c.uint(c.length) }

func (c *cursor) sign(want string) {
	if got := c.take(len(want)); c.err == nil && string(got) != want {
		c.err = fmt.Errorf("signature %q, want %q", got, want)
	}
}

// text reads a string that ends with a zero byte.
func (c *cursor) text() string {
	if c.err != nil {
		return ""
	}
	i := bytes.IndexByte(c.b[c.at:], 0)
	if i < 0 {
		c.err = errors.New("text without an end")
		return ""
	}
	s := string(c.b[c.at : c.at+i])
	c.at += i + 1
	return s
}

// align moves on to a multiple of 8 from the given start.
func (c *cursor) align(start int) {
	if pad := (8 - (c.at-start)%8) % 8; pad > 0 {
		c.skip(min(pad, c.left()))
	}
}
