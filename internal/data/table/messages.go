package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"
)

// messages hands the messages of a mapped Arrow file to the library without
// copying their bodies. The library's own reader of mapped files cannot read
// dictionaries (v18.8.0 leaves its table of them nil). The file format is the
// stream format between a magic word and a footer, so the stream reader serves.
type messages struct {
	data []byte
	at   int
}

const (
	arrowMagic   = "ARROW1\x00\x00"
	continuation = 0xffffffff
)

func (m *messages) Retain()  {}
func (m *messages) Release() {}

// Message returns the next message, or io.EOF at the mark that ends the stream.
func (m *messages) Message() (*ipc.Message, error) {
	if m.at == 0 {
		if !strings.HasPrefix(string(m.data[:min(8, len(m.data))]), arrowMagic) {
			return nil, errors.New("it does not start with ARROW1")
		}
		m.at = len(arrowMagic)
	}
	head, err := m.take(8)
	if err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint32(head) != continuation {
		return nil, fmt.Errorf("no message at byte %d", m.at-8)
	}
	size := binary.LittleEndian.Uint32(head[4:])
	if size == 0 {
		return nil, io.EOF
	}
	meta, err := m.take(int(size))
	if err != nil {
		return nil, err
	}
	if err := checkSchema(meta); err != nil {
		return nil, err
	}
	// The length of the body is in the metadata, which only a Message reads.
	length := ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(nil)).BodyLen()
	if length < 0 || length > int64(len(m.data)) {
		return nil, fmt.Errorf("message body of %d bytes in a file of %d", length, len(m.data))
	}
	body, err := m.take(int(length))
	if err != nil {
		return nil, err
	}
	return ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(body)), nil
}

func (m *messages) take(n int) ([]byte, error) {
	if n > len(m.data)-m.at {
		return nil, fmt.Errorf("the file ends at byte %d inside a message of %d bytes", len(m.data), n)
	}
	b := m.data[m.at : m.at+n]
	m.at += n
	return b, nil
}

// checkSchema refuses a schema message that claims more fields or metadata than
// its bytes can hold: the library allocates by those numbers before it looks.
// Reading beyond the bytes panics, which fromArrow turns into an error. See
// Message.fbs and Schema.fbs of the Arrow format for the slots.
func checkSchema(meta []byte) error {
	const headerType, header, schema = 1, 2, 1
	message := flatbuffers.Table{Bytes: meta, Pos: flatbuffers.GetUOffsetT(meta)}
	if o := message.Offset(slot(headerType)); o == 0 || message.GetByte(message.Pos+flatbuffers.UOffsetT(o)) != schema {
		return nil
	}
	o := message.Offset(slot(header))
	if o == 0 {
		return errors.New("a message without a header")
	}
	var s flatbuffers.Table
	message.Union(&s, flatbuffers.UOffsetT(o))
	const fields, metadata = 1, 2
	if err := checkVector(&s, metadata); err != nil {
		return err
	}
	budget := len(meta) / 4
	return eachTable(&s, fields, func(f *flatbuffers.Table) error { return checkField(f, &budget) })
}

// checkField visits a field and its children. The budget is the most fields
// that so many bytes can hold; shared or cyclic children exhaust it.
func checkField(f *flatbuffers.Table, budget *int) error {
	const children, metadata = 5, 6
	if *budget--; *budget < 0 {
		return errors.New("more fields than bytes")
	}
	if err := checkVector(f, metadata); err != nil {
		return err
	}
	return eachTable(f, children, func(c *flatbuffers.Table) error { return checkField(c, budget) })
}

func slot(field int) flatbuffers.VOffsetT { return flatbuffers.VOffsetT(4 + 2*field) }

// checkVector refuses a vector of 4-byte offsets that is longer than the rest
// of the bytes.
func checkVector(t *flatbuffers.Table, field int) error {
	o := flatbuffers.UOffsetT(t.Offset(slot(field)))
	if o == 0 {
		return nil
	}
	n, start := t.VectorLen(o), t.Vector(o)
	if n < 0 || int64(start)+4*int64(n) > int64(len(t.Bytes)) {
		return fmt.Errorf("a list of %d entries in %d bytes", n, len(t.Bytes))
	}
	return nil
}

func eachTable(t *flatbuffers.Table, field int, visit func(*flatbuffers.Table) error) error {
	if err := checkVector(t, field); err != nil {
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
