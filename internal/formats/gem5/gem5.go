// Package gem5 reads the packet traces of gem5's communication monitor and
// CPU probes: protobuf messages, each preceded by its length.
package gem5

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// Format recognises and opens gem5 packet traces.
var Format = foreign.Format{
	Name: "gem5",
	Kind: kind.Refs,
	Sniff: func(in *foreign.Input) bool {
		return !in.Dir() && bytes.HasPrefix(in.Head, []byte(magic))
	},
	Refs: foreign.StreamedRefs(func(r io.Reader) refs.Source { return NewReader(r) }),
}

// magic is the first word of every gem5 protobuf file (src/proto/protoio.hh).
const magic = "gem5"

// The commands that are references of the program: MemCmd in src/mem/packet.hh.
const (
	cmdReadReq  = 1
	cmdWriteReq = 4
)

// flagFetch marks an instruction fetch (Request::INST_FETCH).
const flagFetch = 0x100

// maxMessage bounds one message; a header with thousands of id strings stays
// far below it.
const maxMessage = 16 << 20

// Reader reads one trace.
type Reader struct {
	r       *bufio.Reader
	off     int64
	msg     []byte
	started bool
	about   refs.About
	other   uint64
	pcs     bool
}

// NewReader reads the unpacked trace of r.
func NewReader(r io.Reader) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, 256<<10), about: refs.About{Has: refs.HasSize | refs.HasPC}}
}

// About implements refs.Source.
func (r *Reader) About() *refs.About { return &r.about }

// Read implements refs.Source.
func (r *Reader) Read(dst []refs.Ref) (int, error) {
	if !r.started {
		if err := r.start(); err != nil {
			return 0, err
		}
	}
	n := 0
	for n < len(dst) {
		if err := r.message(); err != nil {
			if errors.Is(err, io.EOF) {
				r.finish()
			}
			return n, err
		}
		p, err := parsePacket(r.msg)
		if err != nil {
			return n, fmt.Errorf("packet before byte %d: %w", r.off, err)
		}
		switch {
		case p.flags&flagFetch != 0:
			r.about.Instructions++
			continue
		case p.cmd == cmdReadReq:
		case p.cmd == cmdWriteReq:
			p.ref.Op = refs.Store
		default:
			r.other++
			continue
		}
		r.pcs = r.pcs || p.ref.PC != 0
		dst[n] = p.ref
		n++
	}
	return n, nil
}

func (r *Reader) start() error {
	r.started = true
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(r.r, head); err != nil || string(head) != magic {
		return fmt.Errorf("the file starts with %q, not with %q", head, magic)
	}
	r.off = int64(len(magic))
	if err := r.message(); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("header: %w", err)
	}
	return nil
}

func (r *Reader) finish() {
	if r.about.Notes != nil {
		return
	}
	r.about.Notes = []string{}
	r.about.Skipped = r.other
	if r.other > 0 {
		r.about.Notes = append(r.about.Notes, fmt.Sprintf(
			"%d packets are neither ReadReq nor WriteReq (responses, write-backs, prefetches) and were passed over", r.other))
	}
	if !r.pcs {
		r.about.Has &^= refs.HasPC
	}
}

// message reads the next length-prefixed message into r.msg. The buffer grows
// with the bytes that really arrive, not with the announced length.
func (r *Reader) message() error {
	n, err := binary.ReadUvarint(r.r)
	if err != nil {
		return err // io.EOF only when no byte of the length was there
	}
	if n > maxMessage {
		return fmt.Errorf("byte %d: message of %d bytes, more than %d", r.off, n, maxMessage)
	}
	if uint64(cap(r.msg)) >= n {
		r.msg = r.msg[:n]
		_, err = io.ReadFull(r.r, r.msg)
	} else {
		var b bytes.Buffer
		if _, err = io.CopyN(&b, r.r, int64(n)); err == nil {
			r.msg = b.Bytes()
		}
	}
	if err != nil {
		return fmt.Errorf("byte %d: message of %d bytes is cut: %w", r.off, n, io.ErrUnexpectedEOF)
	}
	r.off += int64(n) + int64(uvarintLen(n))
	return nil
}

func uvarintLen(v uint64) int { return len(binary.AppendUvarint(nil, v)) }

type packet struct {
	cmd, flags uint64
	ref        refs.Ref
}

// parsePacket reads the fields of a Packet message (src/proto/packet.proto).
func parsePacket(b []byte) (p packet, err error) {
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		if n <= 0 {
			return p, errors.New("bad field key")
		}
		b = b[n:]
		v, rest, err := fieldValue(b, key&7)
		if err != nil {
			return p, err
		}
		b = rest
		switch key >> 3 {
		case 2:
			p.cmd = v
		case 3:
			p.ref.Addr = v
		case 4:
			p.ref.Size = uint32(min(v, 1<<32-1))
		case 5:
			p.flags = v
		case 7:
			p.ref.PC = v
		}
	}
	return p, nil
}

// fieldValue returns the value of a number field, or 0 for text, and the rest.
func fieldValue(b []byte, wire uint64) (v uint64, rest []byte, err error) {
	switch wire {
	case 0:
		v, n := binary.Uvarint(b)
		if n > 0 {
			return v, b[n:], nil
		}
	case 1:
		if len(b) >= 8 {
			return binary.LittleEndian.Uint64(b), b[8:], nil
		}
	case 2:
		size, n := binary.Uvarint(b)
		if n > 0 && size <= uint64(len(b)-n) {
			return 0, b[n+int(size):], nil
		}
	case 5:
		if len(b) >= 4 {
			return uint64(binary.LittleEndian.Uint32(b)), b[4:], nil
		}
	}
	return 0, nil, fmt.Errorf("a field of wire type %d does not fit in its message", wire)
}
