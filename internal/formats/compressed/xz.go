package compressed

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"
)

// mostDictionary is the dictionary of xz -9, the largest that a level has.
const mostDictionary = 64 << 20

// XZ unpacks an xz stream. The library allocates the dictionary that a block names,
// up to four gigabytes, before it reads the block; what is larger than that of any
// level is refused before it sees it, and what is larger than a short block unpacks
// to is made smaller: no byte can be copied from further back.
func XZ(r io.Reader) (io.Reader, error) { return xz.NewReader(&xzBlocks{in: r}) }

// xzBlocks passes an xz file on and looks at the header of every block on the way.
// See the xz file format, 1.2.0.
type xzBlocks struct {
	in   io.Reader
	head []byte // read here, not passed on yet
	left int    // to be passed on unread
	next func() error

	check   int    // bytes of what checks a block, after it
	packed  int    // bytes of the block so far, or of the index
	content int    // most bytes that the block so far unpacks to
	ended   bool   // the block
	numbers uint64 // that are left in the index
}

var errXZ = errors.New("not a readable xz file")

func (x *xzBlocks) Read(p []byte) (int, error) {
	if x.next == nil {
		x.next = x.stream
	}
	for len(x.head) == 0 && x.left == 0 {
		if err := x.next(); err != nil {
			return 0, err
		}
	}
	if len(x.head) > 0 {
		n := copy(p, x.head)
		x.head = x.head[n:]
		return n, nil
	}
	n, err := x.in.Read(p[:min(len(p), x.left)])
	x.left -= n
	return n, err
}

// take reads n bytes, which are passed on too.
func (x *xzBlocks) take(n int) ([]byte, error) {
	from := len(x.head)
	x.head = append(x.head, make([]byte, n)...)
	got, err := io.ReadFull(x.in, x.head[from:])
	x.head = x.head[:from+got]
	x.packed += n
	return x.head[from:], err
}

// stream reads the header of a stream, or four bytes of padding before one.
func (x *xzBlocks) stream() error {
	b, err := x.take(4)
	if err != nil || bytes.Equal(b, make([]byte, 4)) {
		return err
	}
	if b, err = x.take(8); err != nil {
		return err
	}
	x.check = []int{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64}[b[3]&15]
	x.next = x.block
	return nil
}

// block reads the header of a block, or the byte that begins the index instead.
func (x *xzBlocks) block() error {
	x.packed = 0
	size, err := x.take(1)
	if err != nil {
		return err
	}
	if size[0] == 0 {
		x.next = x.index
		return nil
	}
	b, err := x.take(4*int(size[0]) + 3)
	if err != nil {
		return err
	}
	in := bytes.NewReader(b)
	flags, _ := in.ReadByte()
	for _, sized := range []byte{0x40, 0x80} {
		if flags&sized != 0 {
			if _, err := varint(in); err != nil {
				return err
			}
		}
	}
	const lzma2 = 0x21
	filter := make([]byte, 3) // which, how many bytes follow, the dictionary
	if _, err := io.ReadFull(in, filter); err != nil || flags&3 != 0 || filter[0] != lzma2 || filter[1] != 1 {
		return fmt.Errorf("%w: a block with other filters than LZMA2", errXZ)
	}
	dictionary, err := lzma.DecodeDictCap(filter[2])
	if err != nil {
		return err
	}
	if dictionary > mostDictionary {
		return fmt.Errorf("a dictionary of %d MB, where xz -9 takes %d; unpack the file first", dictionary>>20, mostDictionary>>20)
	}
	x.packed, x.content, x.ended, x.next = 0, 0, false, x.chunk
	header := x.head[len(x.head)-1-len(b):]
	if crc32.ChecksumIEEE(header[:len(b)-3]) != binary.LittleEndian.Uint32(header[len(b)-3:]) {
		return nil // which the library says
	}
	whole := x.ahead() // moves what was read
	if header = x.head[:1+len(b)]; whole && int64(x.content) < dictionary {
		header[len(b)-in.Len()] = lzma.EncodeDictCap(int64(x.content))
		binary.LittleEndian.PutUint32(header[len(b)-3:], crc32.ChecksumIEEE(header[:len(b)-3]))
	}
	return nil
}

// mostAhead is how much of a block is read before the library sees its header: a
// longer block may well need the dictionary that it names.
const mostAhead = 1 << 20

// ahead reads a short block and reports whether that is all of it that there is; an
// error is met again when it is the turn of what follows.
func (x *xzBlocks) ahead() (whole bool) {
	for len(x.head) < mostAhead {
		if err := x.next(); err != nil {
			x.next = func() error { return err }
			return true
		}
		from := len(x.head)
		x.head = append(x.head, make([]byte, x.left)...)
		n, err := io.ReadFull(x.in, x.head[from:])
		x.head, x.left = x.head[:from+n], 0
		if err != nil {
			x.next = func() error { return err }
			return true
		}
		if x.ended {
			return true
		}
	}
	return false
}

// mostOfAByte is more than a byte of LZMA can stand for: the longest match, 273 bytes,
// is 14 decisions of 0.022 bits at the least.
const mostOfAByte = 1 << 13

// chunk reads the header of a chunk, or the end of a block.
func (x *xzBlocks) chunk() error {
	control, err := x.take(1)
	if err != nil {
		return err
	}
	switch c := control[0]; {
	case c == 0:
		x.left, x.next, x.ended = -x.packed&3+x.check, x.block, true
		return nil
	case c <= 2: // not packed
		b, err := x.take(2)
		if err != nil {
			return err
		}
		x.left = int(b[0])<<8 + int(b[1]) + 1
		x.content += x.left
	case c < 0x80:
		return fmt.Errorf("%w: a chunk of kind %d", errXZ, c)
	default:
		b, err := x.take(4)
		if err != nil {
			return err
		}
		x.left = int(b[2])<<8 + int(b[3]) + 1
		if c >= 0xc0 { // with properties
			x.left++
		}
		x.content += min(int(c&0x1f)<<16+int(b[0])<<8+int(b[1])+1, mostOfAByte*x.left)
	}
	x.packed += x.left
	return nil
}

// index reads how many numbers there are.
func (x *xzBlocks) index() error {
	records, err := varint(x)
	x.numbers, x.next = 2*records, x.record
	return err
}

// record reads a number of the index, or what follows the last: padding, a check
// and the end of the stream.
func (x *xzBlocks) record() error {
	if x.numbers > 0 {
		x.numbers--
		_, err := varint(x)
		return err
	}
	x.left, x.next = -x.packed&3+4+12, x.stream
	return nil
}

// ReadByte reads a byte that is passed on too.
func (x *xzBlocks) ReadByte() (byte, error) {
	b, err := x.take(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

// varint reads a number of a variable length.
func varint(r io.ByteReader) (uint64, error) {
	var n uint64
	for shift := 0; shift < 63; shift += 7 {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n, nil
		}
	}
	return 0, fmt.Errorf("%w: a number of more than nine bytes", errXZ)
}
