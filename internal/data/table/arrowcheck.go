package table

import (
	"encoding/binary"
	"errors"
	"fmt"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/klauspost/compress/zstd"
)

// The library believes what a message says of itself: it allocates by numbers of
// fields and by the sizes of what compressed buffers hold, and turns the bytes of
// a file from a machine of the other endianness around in place, which here is a
// mapping that cannot be written to. So everything is compared with the bytes
// that are there before the library sees it. Reading beyond the bytes of the
// metadata panics, which the callers of ArrowReader turn into an error.
//
// See Message.fbs and Schema.fbs of the Arrow format for the slots.

// Kinds of header of a message.
const (
	headerSchema     = 1
	headerDictionary = 2
	headerBatch      = 3
)

// check refuses a message that does not fit into its bytes.
func (m *messages) check(meta, body []byte) error {
	const headerType, header = 1, 2
	message := flatbuffers.Table{Bytes: meta, Pos: flatbuffers.GetUOffsetT(meta)}
	o := message.Offset(slot(headerType))
	if o == 0 {
		return errors.New("a message without a type")
	}
	kind := message.GetByte(message.Pos + flatbuffers.UOffsetT(o))
	if o = message.Offset(slot(header)); o == 0 {
		return errors.New("a message without a header")
	}
	var head flatbuffers.Table
	message.Union(&head, flatbuffers.UOffsetT(o))
	switch kind {
	case headerSchema:
		return checkSchema(&head)
	case headerDictionary:
		const data = 1
		o := head.Offset(slot(data))
		if o == 0 {
			return errors.New("a dictionary without entries")
		}
		return m.checkBatch(&flatbuffers.Table{Bytes: meta, Pos: head.Indirect(head.Pos + flatbuffers.UOffsetT(o))}, body)
	case headerBatch:
		return m.checkBatch(&head, body)
	}
	return fmt.Errorf("a message of kind %d", kind)
}

// checkSchema refuses a schema of big-endian data, and one that claims more
// fields or metadata than its bytes can hold.
func checkSchema(s *flatbuffers.Table) error {
	const endianness, fields, metadata = 0, 1, 2
	if o := s.Offset(slot(endianness)); o != 0 && s.GetInt16(s.Pos+flatbuffers.UOffsetT(o)) != 0 {
		return errors.New("its numbers are big-endian; write it again on a little-endian machine")
	}
	if err := checkVector(s, metadata, 4); err != nil {
		return err
	}
	budget := len(s.Bytes) / 4
	return eachTable(s, fields, func(f *flatbuffers.Table) error { return checkField(f, &budget) })
}

// maxRowsPerByte is how many rows a byte of a file can hold: flags take a bit.
const maxRowsPerByte = 8

// checkBatch refuses rows and buffers that the body cannot hold.
func (m *messages) checkBatch(b *flatbuffers.Table, body []byte) error {
	const nodes, buffers, compression, variadic = 1, 2, 3, 4
	rows := int64(len(m.data)) * maxRowsPerByte
	err := eachPair(b, nodes, func(length, nulls int64) error {
		if length < 0 || length > rows || nulls < 0 || nulls > length {
			return fmt.Errorf("a column of %d rows, %d of them without a value, in a file of %d bytes", length, nulls, len(m.data))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := checkVector(b, variadic, 8); err != nil {
		return err
	}
	o := b.Offset(slot(compression))
	packed, framed := o != 0, false
	if packed {
		const codec = 0
		how := flatbuffers.Table{Bytes: b.Bytes, Pos: b.Indirect(b.Pos + flatbuffers.UOffsetT(o))}
		at := how.Offset(slot(codec))
		framed = at != 0 && how.GetByte(how.Pos+flatbuffers.UOffsetT(at)) == codecZstd
	}
	return eachPair(b, buffers, func(offset, length int64) error {
		if offset < 0 || length < 0 || offset > int64(len(body)) || length > int64(len(body))-offset {
			return fmt.Errorf("a buffer of %d bytes at byte %d of a body of %d", length, offset, len(body))
		}
		if packed && length > 0 {
			return m.checkPacked(body[offset:offset+length], framed)
		}
		return nil
	})
}

// codecZstd is the number of ZSTD among the codecs of a body; LZ4 is the other.
const codecZstd = 1

// Bounds of what compressed buffers may say they hold. LZ4 packs 255 bytes into
// one at best; ZSTD more, but not data that somebody measured.
const (
	unpackFreely = 16 << 20
	mostPacked   = 1 << 10
)

// checkPacked refuses a compressed buffer that says it holds more than it can.
// The size comes first; -1 says that the rest is not compressed.
func (m *messages) checkPacked(buffer []byte, framed bool) error {
	if len(buffer) < 8 {
		return fmt.Errorf("a compressed buffer of %d bytes", len(buffer))
	}
	size := int64(binary.LittleEndian.Uint64(buffer))
	if size == -1 {
		return nil
	}
	if size < 0 || size > 1<<48 {
		return fmt.Errorf("a compressed buffer of %d bytes that says it holds %d", len(buffer), size)
	}
	if m.unpacked += size; m.unpacked > unpackFreely && m.unpacked > mostPacked*int64(len(m.data)) {
		return fmt.Errorf("compressed buffers that say they hold %d bytes in a file of %d", m.unpacked, len(m.data))
	}
	if framed {
		return checkFrames(buffer[8:], uint64(max(size, mostWindow)))
	}
	return nil
}

// mostWindow is what every decoder of ZSTD is to have room for, and what encoders
// are not to ask for more than, see RFC 8878, 3.1.1.1.2.
const mostWindow = 8 << 20

// checkFrames refuses frames of ZSTD whose window is larger than most bytes: the
// library allocates a window before it reads what is in the frame.
func checkFrames(b []byte, most uint64) error {
	for len(b) > 0 {
		var h zstd.Header
		if err := h.Decode(b); err != nil {
			return fmt.Errorf("a compressed buffer: %w", err)
		}
		if h.WindowSize > most || h.FrameContentSize > most {
			return fmt.Errorf("a compressed buffer whose window has %d bytes where %d are enough", max(h.WindowSize, h.FrameContentSize), most)
		}
		rest := h.HeaderSize + int(h.SkippableSize)
		for last := h.Skippable; !last && rest+3 <= len(b); {
			block := uint32(b[rest]) | uint32(b[rest+1])<<8 | uint32(b[rest+2])<<16
			last = block&1 != 0
			size := int(block >> 3)
			if block>>1&3 == 1 { // one byte, that many times
				size = 1
			}
			rest += 3 + size
		}
		if h.HasCheckSum {
			rest += 4
		}
		b = b[min(rest, len(b)):]
	}
	return nil
}

// eachPair visits a vector of structures of two 64-bit numbers.
func eachPair(t *flatbuffers.Table, field int, visit func(a, b int64) error) error {
	if err := checkVector(t, field, 16); err != nil {
		return err
	}
	o := flatbuffers.UOffsetT(t.Offset(slot(field)))
	if o == 0 {
		return nil
	}
	start := t.Vector(o)
	for i := range t.VectorLen(o) {
		at := start + flatbuffers.UOffsetT(16*i)
		if err := visit(t.GetInt64(at), t.GetInt64(at+8)); err != nil {
			return err
		}
	}
	return nil
}

// checkField visits a field and its children. The budget is the most fields
// that so many bytes can hold; shared or cyclic children exhaust it.
func checkField(f *flatbuffers.Table, budget *int) error {
	const children, metadata = 5, 6
	if *budget--; *budget < 0 {
		return errors.New("more fields than bytes")
	}
	if err := checkVector(f, metadata, 4); err != nil {
		return err
	}
	return eachTable(f, children, func(c *flatbuffers.Table) error { return checkField(c, budget) })
}

func slot(field int) flatbuffers.VOffsetT { return flatbuffers.VOffsetT(4 + 2*field) }

// checkVector refuses a vector of elements of that size that is longer than the
// rest of the bytes.
func checkVector(t *flatbuffers.Table, field, size int) error {
	o := flatbuffers.UOffsetT(t.Offset(slot(field)))
	if o == 0 {
		return nil
	}
	n, start := t.VectorLen(o), t.Vector(o)
	if n < 0 || int64(start)+int64(size)*int64(n) > int64(len(t.Bytes)) {
		return fmt.Errorf("a list of %d entries in %d bytes", n, len(t.Bytes))
	}
	return nil
}

func eachTable(t *flatbuffers.Table, field int, visit func(*flatbuffers.Table) error) error {
	if err := checkVector(t, field, 4); err != nil {
		return err
	}
	o := flatbuffers.UOffsetT(t.Offset(slot(field)))
	if o == 0 {
		return nil
	}
	start := t.Vector(o)
	for i := range t.VectorLen(o) {
		at := t.Indirect(start + flatbuffers.UOffsetT(4*i))
		if err := visit(&flatbuffers.Table{Bytes: t.Bytes, Pos: at}); err != nil {
			return err
		}
	}
	return nil
}
