package vtk

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
	"github.com/pierrec/lz4/v4"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/formats/compressed"
)

// packed reads "blocks, block size, size of the last, compressed sizes…" and
// the blocks. most bounds the result when the caller knows its size.
func (s *stream) packed(compressor string, most int) ([]byte, error) {
	var head []byte
	var err error
	if s.raw {
		if len(s.src) < s.width {
			return nil, io.ErrUnexpectedEOF
		}
		head = s.src[:s.width]
	} else if head, err = s.peek(s.width); err != nil {
		return nil, err
	}
	blocks := s.integer(head)
	if blocks > uint64(len(s.src)/s.width) {
		return nil, fmt.Errorf("%d compressed blocks cannot be in %d bytes", blocks, len(s.src))
	}
	if blocks == 0 {
		return nil, nil
	}
	if head, err = s.take(s.width * (3 + int(blocks))); err != nil {
		return nil, err
	}
	size, last := s.integer(head[s.width:]), s.integer(head[2*s.width:])
	if last == 0 {
		last = size
	}
	total := 0
	sizes := make([]int, blocks)
	for i := range sizes {
		sizes[i] = clampInt(s.integer(head[(3+i)*s.width:]))
		if total += sizes[i]; total > len(s.src) {
			return nil, fmt.Errorf("block %d ends beyond the data", i)
		}
	}
	data, err := s.take(total)
	if err != nil {
		return nil, err
	}
	return unpack(compressor, data, sizes, size, last, most)
}

// maxExpansion is more than zlib (1032), lz4 (255) and typical xz data reach:
// a block that claims more is refused before memory is taken for it.
const maxExpansion = 8192

func unpack(compressor string, data []byte, sizes []int, size, last uint64, most int) ([]byte, error) {
	var out []byte
	for i, n := range sizes {
		want := size
		if i == len(sizes)-1 {
			want = last
		}
		if want > uint64(n)*maxExpansion+64 {
			return nil, fmt.Errorf("block %d of %d bytes claims %d when unpacked", i, n, want)
		}
		if most >= 0 && len(out) > most {
			return nil, fmt.Errorf("unpacks to more than the %d bytes wanted", most)
		}
		var err error
		if out, err = unpackBlock(compressor, out, data[:n], int(want)); err != nil {
			return nil, fmt.Errorf("block %d: %w", i, err)
		}
		data = data[n:]
	}
	return out, nil
}

func unpackBlock(compressor string, out, block []byte, want int) ([]byte, error) {
	var r io.Reader
	var err error
	switch compressor {
	case "vtkZLibDataCompressor":
		r, err = zlib.NewReader(bytes.NewReader(block))
	case "vtkLZMADataCompressor": // VTK writes the xz container
		r, err = compressed.XZ(bytes.NewReader(block))
	case "vtkLZ4DataCompressor":
		at := len(out)
		out = append(out, make([]byte, want)...)
		n, err := lz4.UncompressBlock(block, out[at:])
		if err == nil && n != want {
			err = fmt.Errorf("unpacks to %d bytes, want %d", n, want)
		}
		return out, err
	default:
		return nil, fmt.Errorf("compressor %q is not known; write the file with zlib, lz4, lzma or none", term.ClipEnd(compressor, 25))
	}
	if err != nil {
		return nil, err
	}
	buf := bytes.NewBuffer(out)
	n, err := io.Copy(buf, io.LimitReader(r, int64(want)+1))
	if err != nil {
		return nil, err
	}
	if int(n) != want {
		return nil, fmt.Errorf("unpacks to %d bytes, want %d", n, want)
	}
	return buf.Bytes(), nil
}
