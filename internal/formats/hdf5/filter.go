package hdf5

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// Filters by their registered numbers.
const (
	filterDeflate  = 1
	filterShuffle  = 2
	filterFletcher = 3
	filterZstd     = 32015
)

var filterNames = map[int]string{4: "szip", 5: "nbit", 6: "scaleoffset", 307: "bzip2", 32000: "lzf", 32001: "blosc",
	32004: "lz4", 32008: "bitshuffle", 32013: "zfp", 32017: "sz"}

type filter struct {
	id     int
	client []uint32
}

type pipeline []filter

func (o *Object) filters() (pipeline, error) {
	c, err := o.message(msgFilters)
	if c == nil || err != nil {
		return nil, err
	}
	version, n := c.u8(), int(c.u8())
	if version == 1 {
		c.skip(6)
	} else if version != 2 && c.err == nil {
		return nil, fmt.Errorf("filter message version %d is not read", version)
	}
	var p pipeline
	for range n {
		f := filter{id: c.u16()}
		name := 0
		if version == 1 || f.id >= 256 {
			name = c.u16()
		}
		c.skip(2)
		values := c.u16()
		if version == 1 {
			name = (name + 7) / 8 * 8
		}
		c.skip(name)
		for range values {
			if c.err != nil {
				return nil, c.err
			}
			f.client = append(f.client, c.u32())
		}
		if version == 1 && values%2 == 1 {
			c.skip(4)
		}
		switch f.id {
		case filterDeflate, filterShuffle, filterFletcher, filterZstd:
		default:
			return nil, fmt.Errorf("filter %d (%s) is not read; write the data with deflate (gzip) or none", f.id, filterNames[f.id])
		}
		p = append(p, f)
	}
	return p, c.err
}

// undo reverses the filters of one chunk, last first. Bit i of mask says that
// filter i was not applied.
func (p pipeline) undo(b []byte, mask uint32, size uint64) ([]byte, error) {
	for i := len(p) - 1; i >= 0; i-- {
		if i < 32 && mask>>i&1 == 1 {
			continue
		}
		var err error
		switch p[i].id {
		case filterDeflate:
			b, err = inflate(b, size)
		case filterShuffle:
			b = p[i].unshuffle(b)
		case filterFletcher:
			b, err = fletcher32(b)
		case filterZstd:
			b, err = unzstd(b, size)
		}
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

func inflate(b []byte, size uint64) ([]byte, error) {
	r, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("deflate: %w", err)
	}
	defer r.Close()
	// Fletcher32 may follow inside: a few bytes more than the chunk.
	var out bytes.Buffer
	if _, err := io.Copy(&out, io.LimitReader(r, int64(size)+64)); err != nil {
		return nil, fmt.Errorf("deflate: %w", err)
	}
	return out.Bytes(), nil
}

func unzstd(b []byte, size uint64) ([]byte, error) {
	d, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(size+1<<20))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	defer d.Close()
	var out bytes.Buffer
	if _, err := io.Copy(&out, io.LimitReader(d, int64(size)+64)); err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	return out.Bytes(), nil
}

// unshuffle gathers the bytes of each element, which are stored byte by byte.
func (f filter) unshuffle(b []byte) []byte {
	if len(f.client) == 0 || f.client[0] < 2 || int64(f.client[0]) > int64(len(b)) {
		return b
	}
	size := int(f.client[0])
	n := len(b) / size
	out := make([]byte, len(b))
	for k := range size {
		plane := b[k*n : (k+1)*n]
		for i, v := range plane {
			out[i*size+k] = v
		}
	}
	copy(out[n*size:], b[n*size:])
	return out
}

// fletcher32 checks and removes the checksum at the end of a chunk: sums of
// big-endian 16-bit words, as H5_checksum_fletcher32 in H5checksum.c.
func fletcher32(b []byte) ([]byte, error) {
	if len(b) < 4 {
		return nil, fmt.Errorf("%d bytes with a checksum", len(b))
	}
	data, want := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	var s1, s2 uint32
	words := data[:len(data)/2*2]
	for len(words) > 0 {
		n := min(len(words), 720)
		for i := 0; i < n; i += 2 {
			s1 += uint32(words[i])<<8 | uint32(words[i+1])
			s2 += s1
		}
		s1, s2 = s1&0xffff+s1>>16, s2&0xffff+s2>>16
		words = words[n:]
	}
	if len(data)%2 == 1 {
		s1 += uint32(data[len(data)-1]) << 8
		s2 += s1
		s1, s2 = s1&0xffff+s1>>16, s2&0xffff+s2>>16
	}
	s1, s2 = s1&0xffff+s1>>16, s2&0xffff+s2>>16
	if got := s2<<16 | s1; got != want {
		return nil, fmt.Errorf("checksum %08x, want %08x: the chunk is damaged", got, want)
	}
	return data, nil
}
