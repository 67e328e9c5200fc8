package perfdata

import (
	"fmt"
	"io"
)

// windowSize is how much of the file is in memory at once. It holds the
// largest record (64 KiB) many times over.
const windowSize = 1 << 20

// stream hands out the bytes of a section in order through one window, so that
// memory does not grow with the file. The file is read rather than mapped: a
// mapped file that another process cuts off kills the reader.
type stream struct {
	r        io.ReaderAt
	off, end int64 // of what has not been read into the window
	buf      []byte
	pos      int
}

func newStream(r io.ReaderAt, s section) *stream {
	return &stream{r: r, off: int64(s.off), end: int64(s.off + s.size), buf: make([]byte, 0, min(s.size, windowSize))}
}

// at is the offset in the file of the next byte.
func (s *stream) at() int64 { return s.off - int64(len(s.buf)-s.pos) }

// left is the number of bytes to the end of the section.
func (s *stream) left() int64 { return s.end - s.at() }

// peek returns the next n bytes, fewer at the end. They are valid until the
// next call.
func (s *stream) peek(n int) ([]byte, error) {
	if len(s.buf)-s.pos < n && s.off < s.end {
		if err := s.fill(n); err != nil {
			return nil, err
		}
	}
	return s.buf[s.pos:min(s.pos+n, len(s.buf))], nil
}

func (s *stream) fill(n int) error {
	rest := copy(s.buf[:cap(s.buf)], s.buf[s.pos:])
	s.buf, s.pos = s.buf[:rest], 0
	want := min(int64(cap(s.buf)-rest), s.end-s.off)
	got, err := s.r.ReadAt(s.buf[rest:rest+int(want)], s.off)
	s.buf = s.buf[:rest+got]
	s.off += int64(got)
	if err == io.EOF {
		s.end = s.off // the file became shorter since it was opened
		return nil
	}
	if err != nil {
		return fmt.Errorf("read at byte %d: %w", s.off, err)
	}
	return nil
}

// skip moves on by n bytes, which may lie beyond the window.
func (s *stream) skip(n int64) {
	if in := int64(len(s.buf) - s.pos); n > in {
		s.off = min(s.off+n-in, s.end)
		s.buf, s.pos = s.buf[:0], 0
		return
	}
	s.pos += int(n)
}
