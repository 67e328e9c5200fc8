package perfdata

import (
	"context"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"

	"github.com/isobath/isobath/internal/code/perfevent"
)

// visitor is told of every record in the order of the file.
type visitor interface {
	// record is given one record. The payload of an AUXTRACE record, which
	// stands behind it in the file, is read from rest; what is left of it is
	// skipped.
	record(r record, rest *payload) error
	// progress is told how far the file has been read.
	progress(done int64)
}

// payload is what stands behind a record without being counted in its size.
type payload struct {
	s    *stream
	left int64
}

// next returns the next piece of at most n bytes, nil at the end.
func (p *payload) next(n int) ([]byte, error) {
	if p == nil || p.left == 0 {
		return nil, nil
	}
	b, err := p.s.peek(int(min(int64(n), p.left)))
	if err != nil || len(b) == 0 {
		return nil, err
	}
	p.left -= int64(len(b))
	p.s.skip(int64(len(b)))
	return b, nil
}

// scan reads a section record by record.
func (f *file) scan(ctx context.Context, r io.ReaderAt, data section, v visitor) error {
	s := newStream(r, data)
	z := &unzipper{Order: f.Order, window: windowOf(data.size)}
	defer z.close()
	var told int64
	for s.pos < len(s.buf) || s.off < s.end {
		if s.off-told >= windowSize {
			told = s.off
			v.progress(told)
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		rec, err := f.nextRecord(s)
		if err != nil {
			return err
		}
		if rec.b == nil {
			return f.stray(s)
		}
		if err := f.deliver(rec, s, z, v); err != nil {
			if err = f.forgive(err, rec.at); err != nil {
				return err
			}
			return nil
		}
	}
	if n := z.rest(); n > 0 {
		return f.forgive(fmt.Errorf("the compressed records end inside a record, %d bytes of it are there: %w", n, errDamaged), s.at())
	}
	return nil
}

// nextRecord returns the next record; one without bytes if what follows cannot
// be a record.
func (f *file) nextRecord(s *stream) (record, error) {
	if b := s.buf[s.pos:]; len(b) >= perfevent.HeaderSize {
		size := int(f.U16(b[6:]))
		if typ := f.U32(b); size >= perfevent.HeaderSize && size <= len(b) && !impossible(typ) {
			at := s.at()
			s.pos += size
			return record{typ: typ, misc: f.U16(b[4:]), b: b[:size:size], at: at}, nil
		}
	}
	at := s.at()
	head, err := s.peek(perfevent.HeaderSize)
	if err != nil || len(head) < perfevent.HeaderSize {
		return record{}, err
	}
	typ, size := f.U32(head), int(f.U16(head[6:]))
	if size < perfevent.HeaderSize || impossible(typ) || int64(size) > s.left() {
		return record{}, nil
	}
	b, err := s.peek(size)
	if err != nil || len(b) < size {
		return record{}, err
	}
	s.pos += size
	return record{typ: typ, misc: f.U16(b[4:]), b: b, at: at}, nil
}

// deliver hands over a record, the records compressed in it, and its payload.
func (f *file) deliver(r record, s *stream, z *unzipper, v visitor) error {
	switch r.typ {
	case recCompressed:
		return z.feed(r.b[perfevent.HeaderSize:], r.at, v)
	case recCompressed2:
		return z.feed2(r, v)
	case recAuxtrace:
		return f.withPayload(r, s, v, 8)
	case recTracingData:
		return f.withPayload(r, s, v, 4)
	}
	return v.record(r, nil)
}

// withPayload delivers a record whose first field, width bytes wide, is the
// size of what follows it.
func (f *file) withPayload(r record, s *stream, v visitor, width int) error {
	if len(r.b) < perfevent.HeaderSize+width {
		return fmt.Errorf("record of type %d at byte %d has no size in it: %w", r.typ, r.at, errDamaged)
	}
	var size uint64
	if width == 8 {
		size = f.U64(r.b[perfevent.HeaderSize:])
	} else {
		size = (uint64(f.U32(r.b[perfevent.HeaderSize:])) + 7) &^ 7
	}
	left := uint64(s.left())
	p := &payload{s: s, left: int64(min(size, left))}
	// The record's bytes are gone once the payload is read.
	own := r
	own.b = append([]byte(nil), r.b...)
	if err := v.record(own, p); err != nil {
		return err
	}
	s.skip(p.left)
	if size > left {
		return fmt.Errorf("record of type %d at byte %d announces %d bytes, %d are left: %w", r.typ, r.at, size, left, errDamaged)
	}
	return nil
}

// stray judges what is left where no record can be. Text at the end of a pipe
// is perf's own messages; anything else is damage.
func (f *file) stray(s *stream) error {
	at, left := s.at(), s.left()
	tail, err := s.peek(int(min(left, 4096)))
	if err != nil {
		return err
	}
	if f.pipe && isText(tail) {
		f.warnf("%d bytes of text after the last record are not part of the recording", left)
		return nil
	}
	return f.forgive(fmt.Errorf("no record begins at byte %d, %d bytes before the end: %w", at, left, errDamaged), at)
}

// forgive turns damage into a warning if the user wants what is there.
func (f *file) forgive(err error, at int64) error {
	if !f.salvage {
		return fmt.Errorf("%w; give --salvage to import what comes before byte %d", err, at)
	}
	f.warnf("damaged at byte %d (%v): imported up to there", at, err)
	return nil
}

func isText(b []byte) bool {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 && len(b) >= utf8.UTFMax || !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return false
		}
		b = b[n:]
	}
	return true
}
