package demo

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/flow"
	"github.com/isobath/isobath/internal/locality/layout"
)

// The form of a recorded trace in the repository: the length of a header as four
// bytes, the header as JSON, then numbers as varints, all compressed together.
// First come the instructions: 0 where the one that followed last time follows
// again, else its number plus one. Then, instruction by instruction, how much
// each address differs from where the last stride would have led.

// refHeader describes a stored trace.
type refHeader struct {
	References int             `json:"references"`
	Codes      []storedCode    `json:"codes"`
	Places     []refs.Place    `json:"places"`
	Objects    []layout.Object `json:"objects"`
	Flow       *flow.Trace     `json:"flow"`
}

// storedCode is an instruction and the size of its references.
type storedCode struct {
	PC    uint64  `json:"pc"`
	Size  uint32  `json:"size"`
	Op    refs.Op `json:"op"`
	Place uint32  `json:"place"`
	// Enters is that of refs.Ref: mostly an instruction is always the first of its
	// block that makes a reference, or never.
	Enters bool `json:"enters,omitempty"`
}

// EncodeRefs returns a trace of one thread in the form the repository keeps it
// in, with the objects that lie behind it and the way through the code.
func EncodeRefs(all []refs.Ref, places []refs.Place, objects []layout.Object, way *flow.Trace) ([]byte, error) {
	h := refHeader{References: len(all), Places: places, Objects: objects, Flow: way}
	index := map[storedCode]int{}
	var order []byte
	var addrs [][]byte
	var last, stride []uint64
	var next []int
	before := -1
	for i := range all {
		r := &all[i]
		k := storedCode{r.PC, r.Size, r.Op, r.Place, r.Enters}
		c, ok := index[k]
		if !ok {
			c = len(h.Codes)
			index[k] = c
			h.Codes = append(h.Codes, k)
			addrs, last, stride, next = append(addrs, nil), append(last, 0), append(stride, 0), append(next, -1)
		}
		if before >= 0 && next[before] == c {
			order = binary.AppendUvarint(order, 0)
		} else {
			order = binary.AppendUvarint(order, uint64(c)+1)
		}
		if before >= 0 {
			next[before] = c
		}
		before = c
		addrs[c] = binary.AppendVarint(addrs[c], int64(r.Addr-last[c]-stride[c]))
		stride[c], last[c] = r.Addr-last[c], r.Addr
	}
	text, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	raw := append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...)
	raw = append(raw, order...)
	for _, a := range addrs {
		raw = append(raw, a...)
	}
	zw, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(64<<20), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer zw.Close()
	return zw.EncodeAll(raw, nil), nil
}

// storedRefs reads a stored trace.
type storedRefs struct {
	h            *refHeader
	about        refs.About
	order        []byte
	addrs        []*bytes.Reader
	last, stride []uint64
	next         []int
	before, left int
}

// maxStored bounds what a damaged trace can make us allocate.
const maxStored = 256 << 20

func openStored(data []byte) (*storedRefs, error) {
	zr, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxStored))
	if err != nil {
		return nil, err
	}
	defer zr.Close()
	raw, err := zr.DecodeAll(data, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if len(raw) < 4 || uint64(binary.LittleEndian.Uint32(raw)) > uint64(len(raw)-4) {
		return nil, errDamaged
	}
	n := binary.LittleEndian.Uint32(raw)
	s := &storedRefs{h: &refHeader{}, order: raw[4+n:], before: -1}
	if err := json.Unmarshal(raw[4:4+n], s.h); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return s, s.prepare()
}

// prepare finds where the addresses of each instruction begin.
func (s *storedRefs) prepare() error {
	codes := len(s.h.Codes)
	for _, c := range s.h.Codes {
		if int(c.Place) >= len(s.h.Places) {
			return fmt.Errorf("%w: place %d", errDamaged, c.Place)
		}
	}
	s.about = refs.About{Has: refs.HasPC | refs.HasSize | refs.HasPlace | refs.HasFlow, Places: s.h.Places, Objects: []refs.Object{{}}}
	s.left = s.h.References
	s.reset(codes)
	counts := make([]int, codes)
	rest := s.order
	for range s.h.References {
		c, n := s.code(rest)
		if n <= 0 || c < 0 {
			return fmt.Errorf("%w: instructions", errDamaged)
		}
		rest = rest[n:]
		counts[c]++
	}
	s.reset(codes)
	for _, n := range counts {
		at := 0
		for range n {
			_, k := binary.Varint(rest[at:])
			if k <= 0 {
				return fmt.Errorf("%w: addresses", errDamaged)
			}
			at += k
		}
		s.addrs = append(s.addrs, bytes.NewReader(rest[:at]))
		rest = rest[at:]
	}
	return nil
}

func (s *storedRefs) reset(codes int) {
	s.last, s.stride, s.next, s.before = make([]uint64, codes), make([]uint64, codes), make([]int, codes), -1
	for i := range s.next {
		s.next[i] = -1
	}
}

// code reads the next instruction; it is negative if there is none such.
func (s *storedRefs) code(from []byte) (code, length int) {
	v, n := binary.Uvarint(from)
	if n <= 0 || v > uint64(len(s.h.Codes)) {
		return -1, n
	}
	code = int(v) - 1
	if v == 0 && s.before >= 0 {
		code = s.next[s.before]
	}
	if s.before >= 0 && code >= 0 {
		s.next[s.before] = code
	}
	s.before = code
	return code, n
}

// About implements refs.Source.
func (s *storedRefs) About() *refs.About { return &s.about }

// Close implements refs.Reader.
func (s *storedRefs) Close() error { return nil }

// Read implements refs.Source.
func (s *storedRefs) Read(dst []refs.Ref) (int, error) {
	n := min(len(dst), s.left)
	for i := range dst[:n] {
		c, k := s.code(s.order)
		s.order = s.order[k:]
		off, err := binary.ReadVarint(s.addrs[c])
		if err != nil {
			return i, err
		}
		code := &s.h.Codes[c]
		addr := s.last[c] + s.stride[c] + uint64(off)
		s.stride[c], s.last[c] = addr-s.last[c], addr
		dst[i] = refs.Ref{Addr: addr, PC: code.PC, Size: code.Size, Op: code.Op, Place: code.Place, Enters: code.Enters}
	}
	if s.left -= n; s.left == 0 {
		return n, io.EOF
	}
	return n, nil
}
