package otf2

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Value is a typed value of an attribute, a metric or a property: Bits holds
// the number, the reference after mapping, or the bits of a float.
type Value struct {
	Type uint8
	Bits uint64
}

// cursor reads the fields of one record. It never reads beyond end: a field
// that is not there reads as all ones (undefined) and is remembered in short;
// a size byte no writer produces sets bad. The caller checks once per record.
type cursor struct {
	b     []byte
	i     int
	end   int
	big   bool
	bad   bool
	short bool
}

func (c *cursor) left() int { return c.end - c.i }

func (c *cursor) byte() uint64 {
	if c.i >= c.end {
		c.short = true
		return 0xff
	}
	v := c.b[c.i]
	c.i++
	return uint64(v)
}

// fixed reads an n-byte number in file order, n at most 8.
func (c *cursor) fixed(n int) uint64 {
	if c.left() < n {
		c.short = true
		c.i = c.end
		return Undefined >> (64 - 8*n)
	}
	b := c.b[c.i : c.i+n]
	c.i += n
	if n == 8 {
		if c.big {
			return binary.BigEndian.Uint64(b)
		}
		return binary.LittleEndian.Uint64(b)
	}
	var v uint64
	if c.big {
		for _, x := range b {
			v = v<<8 | uint64(x)
		}
		return v
	}
	for k, x := range b {
		v |= uint64(x) << (8 * k)
	}
	return v
}

// compressed reads a number of at most width bytes behind its size byte. OTF2
// 1.1 writes zero with size one, so sizes need not be minimal.
func (c *cursor) compressed(width int) uint64 {
	if c.i >= c.end {
		c.short = true
		return Undefined >> (64 - 8*width)
	}
	n := int(c.b[c.i])
	c.i++
	switch {
	case n == 0:
		return 0
	case n == 0xff:
		return Undefined >> (64 - 8*width)
	case n > width || n > c.left():
		c.bad = true
		c.i = c.end
		return 0
	case n == 1:
		v := uint64(c.b[c.i])
		c.i++
		return v
	}
	return c.fixed(n)
}

// signed sign-extends the bits of a compressed 32-bit number.
func signed32(v uint64) uint64 { return uint64(int64(int32(uint32(v)))) }

func (c *cursor) str() string {
	n := bytes.IndexByte(c.b[c.i:c.end], 0)
	if n < 0 {
		c.bad = true
		c.i = c.end
		return ""
	}
	s := string(c.b[c.i : c.i+n])
	c.i += n + 1
	return s
}

// scalar reads one number of encoding e.
func (c *cursor) scalar(e encoding) uint64 {
	switch e {
	case c32:
		return c.compressed(4)
	case c64, i64:
		return c.compressed(8)
	case u8:
		return c.byte()
	case full64:
		return c.fixed(8)
	case u16enc:
		return c.fixed(2)
	case f32enc:
		return c.fixed(4)
	}
	c.bad = true
	return 0
}

// value reads an attribute value of the given type; maps may be nil.
func (c *cursor) value(typ uint8, maps *mappings) Value {
	f := fC64
	if int(typ) < len(attributeEncoding) {
		f = attributeEncoding[typ]
	}
	bits := maps.apply(f.mapping, c.scalar(f.enc))
	if typ == 7 { // int32
		bits = signed32(bits)
	}
	return Value{typ, bits}
}

// count reads the length of a list and refuses one that the bytes left in the
// record cannot hold, so that nothing is allocated by a number from the file.
func (c *cursor) count(e encoding, least int) int {
	n := c.scalar(e)
	if c.short {
		return 0
	}
	if n > uint64(c.left()/least) {
		c.bad = true
		c.i = c.end
		return 0
	}
	return int(n)
}

// recordLength reads LEN: one byte, or 255 and 8 bytes. ok is false when the
// record does not fit before limit.
func recordLength(b []byte, i, limit int, big bool) (body, end int, ok bool) {
	if i >= limit {
		return 0, 0, false
	}
	n := uint64(b[i])
	i++
	if n == 0xff {
		if limit-i < 8 {
			return 0, 0, false
		}
		if big {
			n = binary.BigEndian.Uint64(b[i:])
		} else {
			n = binary.LittleEndian.Uint64(b[i:])
		}
		i += 8
	}
	if n > uint64(limit-i) {
		return 0, 0, false
	}
	return i, i + int(n), true
}

// stream walks the chunks of one file that is held in memory.
type stream struct {
	file  string // for messages
	data  []byte
	chunk int
	big   bool
	pos   int
	limit int // end of the current chunk
	start int // start of the current chunk
}

// headSize is the length of a chunk head: mark, byte order, two event numbers.
const headSize = 18

// minChunk is the smallest chunk size that can hold a head and a record. The
// library accepts 256 KiB to 16 MiB only; a reader need not be that strict.
const minChunk = 32

func newStream(file string, data []byte, chunk uint64) (*stream, error) {
	s := &stream{file: file, data: data}
	if chunk < minChunk {
		return nil, fmt.Errorf("%s: the anchor gives a chunk size of %d bytes; at least %d is needed", file, chunk, minChunk)
	}
	s.chunk = int(min(chunk, uint64(max(len(data), minChunk))))
	if len(data) < headSize {
		return nil, fmt.Errorf("%s: %d bytes are too few for the head of a chunk; was the run stopped before it was written?", file, len(data))
	}
	if !s.head(0) {
		return nil, fmt.Errorf("%s: starts with % x, not with the head of a chunk (03 42 or 03 23)", file, data[:2])
	}
	return s, nil
}

// head enters the chunk that begins at byte i.
func (s *stream) head(i int) bool {
	if len(s.data)-i < headSize || s.data[i] != chunkHead {
		return false
	}
	switch s.data[i+1] {
	case 0x42:
		s.big = false
	case 0x23:
		s.big = true
	default:
		return false
	}
	s.start, s.pos = i, i+headSize
	s.limit = min(len(s.data), i+s.chunk)
	return true
}

// next enters the following chunk; false means there is none, which before an
// end of file record is damage.
func (s *stream) next() bool { return s.head(s.start + s.chunk) }
