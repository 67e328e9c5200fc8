package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// messages hands the messages of a mapped Arrow file to the library without
// copying their bodies. The library's own reader of mapped files cannot read
// dictionaries (v18.8.0 leaves its table of them nil). The file format is the
// stream format between a magic word and a footer, so the stream reader serves.
type messages struct {
	data []byte
	at   int
	// unpacked is what the compressed buffers so far say they hold.
	unpacked int64
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
	// The length of the body is in the metadata, which only a Message reads.
	length := ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(nil)).BodyLen()
	if length < 0 || length > int64(len(m.data)) {
		return nil, fmt.Errorf("message body of %d bytes in a file of %d", length, len(m.data))
	}
	body, err := m.take(int(length))
	if err != nil {
		return nil, err
	}
	if err := m.check(meta, body); err != nil {
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
