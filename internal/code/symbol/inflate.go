package symbol

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/isobath/isobath/internal/base/term"
)

// inflate reads a section of the form before SHF_COMPRESSED: "ZLIB", the size
// as a big-endian number, then the stream.
func (im *image) inflate(s *elf.Section) ([]byte, error) {
	data, err := im.data(s)
	if err != nil {
		return nil, err
	}
	if len(data) < 12 || string(data[:4]) != "ZLIB" {
		return data, nil
	}
	size := binary.BigEndian.Uint64(data[4:])
	if size > maxSectionSize || size > smallSection && size/maxInflation > uint64(len(data)) {
		return nil, fmt.Errorf("section %s claims %d bytes from %d", term.ClipEnd(s.Name, 65), size, len(data))
	}
	z, err := zlib.NewReader(bytes.NewReader(data[12:]))
	if err != nil {
		return nil, fmt.Errorf("section %s: %w", term.ClipEnd(s.Name, 65), err)
	}
	defer z.Close()
	var out bytes.Buffer
	n, err := io.Copy(&out, io.LimitReader(z, int64(size)))
	if err == nil && uint64(n) != size {
		err = errors.New("ends early")
	}
	if err != nil {
		return nil, fmt.Errorf("section %s: %w", term.ClipEnd(s.Name, 65), err)
	}
	return out.Bytes(), nil
}
