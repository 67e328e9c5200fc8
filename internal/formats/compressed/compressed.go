// Package compressed opens a file whose content may be packed with gzip, xz,
// zstd, bzip2, lz4 or framed snappy, recognised by its first bytes.
package compressed

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/isobath/isobath/internal/base/plainfile"
)

// The longest signature is the stream identifier of framed snappy.
const magicSize = 10

type packer struct {
	name  string
	magic string
	open  func(io.Reader) (io.Reader, error)
}

var packers = []packer{
	{"gzip", "\x1f\x8b", func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	{"xz", "\xfd7zXZ\x00", XZ},
	{"zstd", "\x28\xb5\x2f\xfd", nil}, // see frames
	{"bzip2", "BZh", func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }},
	{"lz4", "\x04\x22\x4d\x18", func(r io.Reader) (io.Reader, error) { return lz4.NewReader(r), nil }},
	{"snappy", "\xff\x06\x00\x00sNaPpY", func(r io.Reader) (io.Reader, error) { return snappy.NewReader(r), nil }},
}

// Reader unpacks r if it is packed and passes it on otherwise.
func Reader(r io.Reader) (io.Reader, error) {
	br := bufio.NewReaderSize(r, 64<<10)
	head, err := br.Peek(magicSize)
	if err != nil && err != io.EOF {
		return nil, err
	}
	for _, p := range packers {
		if bytes.HasPrefix(head, []byte(p.magic)) {
			open := p.open
			if open == nil {
				open = func(br io.Reader) (io.Reader, error) { return frames(br, sizeOf(r)) }
			}
			u, err := open(br)
			if err != nil {
				return nil, fmt.Errorf("unpack %s: %w", p.name, err)
			}
			return u, nil
		}
	}
	return br, nil
}

// Head unpacks as much of the start of a file as its own start allows. What is
// not packed comes back as it is.
func Head(head []byte) (start []byte, packed bool) {
	if !isPacked(head) {
		return head, false
	}
	r, err := Reader(bytes.NewReader(narrow(head)))
	if err != nil {
		return head, false
	}
	out := make([]byte, max(len(head), 4096))
	n, _ := io.ReadFull(r, out) // ends early inside the last block: expected
	return out[:n], true
}

// Pack packs what is read from r, quickly, unless it is packed already.
func Pack(r io.Reader) (io.Reader, error) {
	p := &packing{in: bufio.NewReaderSize(r, 1<<20)}
	var err error
	p.z, err = zstd.NewWriter(&p.packed, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	return p, err
}

type packing struct {
	in      *bufio.Reader
	z       *zstd.Encoder
	packed  bytes.Buffer // what was not read yet
	begun   bool
	as      bool // it is passed on as it is
	flushed bool // the first block was
	ended   bool
}

func (p *packing) Read(dst []byte) (int, error) {
	if !p.begun { // not before somebody reads: a stream may let wait
		head, err := p.in.Peek(magicSize)
		if err != nil && err != io.EOF {
			return 0, err
		}
		p.begun, p.as = true, isPacked(head)
	}
	if p.as {
		return p.in.Read(dst)
	}
	for p.packed.Len() == 0 && !p.ended {
		if err := p.more(); err != nil {
			return 0, err
		}
	}
	return p.packed.Read(dst)
}

// more packs what the stream has next.
func (p *packing) more() error {
	_, err := p.in.Peek(1)
	if err == io.EOF {
		p.ended = true
		return p.z.Close()
	}
	if err != nil {
		return err
	}
	here, _ := p.in.Peek(p.in.Buffered())
	if !p.flushed {
		here = here[:min(len(here), firstBlock)]
	}
	if _, err := p.z.Write(here); err != nil {
		return err
	}
	if !p.flushed {
		p.flushed = true
		if err := p.z.Flush(); err != nil {
			return err
		}
	}
	_, err = p.in.Discard(len(here))
	return err
}

// firstBlock is how much is packed by itself, so that Head of a few kilobytes shows
// what it is.
const firstBlock = 8 << 10

func isPacked(head []byte) bool {
	return slices.ContainsFunc(packers, func(p packer) bool { return bytes.HasPrefix(head, []byte(p.magic)) })
}

// File is an open, unpacked file.
type File struct {
	io.Reader
	f *os.File
}

// Open opens the named file for reading what it holds.
func Open(path string) (*File, error) {
	f, err := plainfile.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := Reader(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &File{Reader: r, f: f}, nil
}

// Close closes the file.
func (f *File) Close() error { return f.f.Close() }
