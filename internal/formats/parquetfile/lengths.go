package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The library makes room for every text and list of the footer and of the header
// of a page by the length that stands before it, up to two gigabytes. So these
// lengths are compared first with what is left. See the compact protocol of Thrift.

// headOfPage is how much of a page is looked at for its header. One that is longer
// is left to the library.
const headOfPage = 16 << 10

// deepest is how far structures may lie in each other; those of Parquet go to 7.
const deepest = 32

// errCut says that what was looked at ends before the structure.
var errCut = errors.New("cut")

// lengths goes through a structure.
type lengths struct {
	b      []byte
	beyond int64 // bytes that follow those
}

// checkFooter looks at the lengths of the footer.
func checkFooter(r io.ReaderAt, size int64) error {
	const tail = 8 // the length of the footer, and PAR1
	var end [tail]byte
	if size < tail {
		return nil // the library says so
	}
	if _, err := r.ReadAt(end[:], size-tail); err != nil {
		return err
	}
	long := int64(binary.LittleEndian.Uint32(end[:]))
	if long > size-tail {
		return fmt.Errorf("a footer of %d bytes in a file of %d", long, size)
	}
	b := make([]byte, long)
	if _, err := r.ReadAt(b, size-tail-long); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return (&lengths{b: b}).check()
}

// checkHeader looks at the lengths of the header of a page that begins there.
func checkHeader(r io.ReaderAt, from, end int64) error {
	b := make([]byte, min(headOfPage, end-from))
	n, err := r.ReadAt(b, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return (&lengths{b[:n], end - from - int64(n)}).check()
}

// check refuses a structure with a length beyond what is left. What cannot be
// read otherwise is left to the library, which says why.
func (l *lengths) check() error {
	if err := l.structure(0); err != nil && !errors.Is(err, errCut) {
		return err
	}
	return nil
}

func (l *lengths) skip(n uint64, what string) error {
	if n > uint64(len(l.b))+uint64(l.beyond) {
		return fmt.Errorf("%s of %d bytes where %d are left", what, n, int64(len(l.b))+l.beyond)
	}
	if n > uint64(len(l.b)) {
		return errCut
	}
	l.b = l.b[n:]
	return nil
}

func (l *lengths) next() (byte, error) {
	if len(l.b) == 0 {
		return 0, errCut
	}
	c := l.b[0]
	l.b = l.b[1:]
	return c, nil
}

func (l *lengths) varint() (uint64, error) {
	v, n := binary.Uvarint(l.b)
	if n <= 0 {
		return 0, errCut
	}
	l.b = l.b[n:]
	return v, nil
}

func (l *lengths) structure(depth int) error {
	if depth > deepest {
		return errCut
	}
	for {
		head, err := l.next()
		if err != nil || head == 0 {
			return err
		}
		if head>>4 == 0 { // the number of the field follows
			if _, err := l.varint(); err != nil {
				return err
			}
		}
		if kind := head & 0xf; kind > 2 { // else it is true or false
			if err := l.value(kind, depth); err != nil {
				return err
			}
		}
	}
}

func (l *lengths) value(kind byte, depth int) error {
	switch kind {
	case 1, 2, 3: // in a list a flag is a byte
		return l.skip(1, "a byte")
	case 4, 5, 6:
		_, err := l.varint()
		return err
	case 7:
		return l.skip(8, "a number")
	case 8:
		n, err := l.varint()
		if err != nil {
			return err
		}
		return l.skip(n, "a text")
	case 9, 10:
		return l.list(depth)
	case 12:
		return l.structure(depth + 1)
	}
	return errCut // Parquet has no others
}

func (l *lengths) list(depth int) error {
	head, err := l.next()
	if err != nil {
		return err
	}
	n := uint64(head >> 4)
	if n == 15 {
		if n, err = l.varint(); err != nil {
			return err
		}
	}
	if left := uint64(len(l.b)) + uint64(l.beyond); n > left { // each takes a byte at least
		return fmt.Errorf("a list of %d where %d bytes are left", n, left)
	}
	for range n {
		if err := l.value(head&0xf, depth); err != nil {
			return err
		}
	}
	return nil
}
