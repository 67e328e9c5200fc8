// Package champsim reads the instruction traces of the ChampSim simulator:
// fixed-size records without a header, usually packed with xz or gzip.
package champsim

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// Format recognises and opens ChampSim traces.
var Format = foreign.Format{
	Name:  "champsim",
	Kind:  kind.Refs,
	Sniff: func(in *foreign.Input) bool { return !in.Dir() && guess(in.Head) != nil },
	Refs:  foreign.StreamedRefs(func(r io.Reader) refs.Source { return NewReader(r) }),
}

// layout is the C layout of one record: u64 ip, two flag bytes, registers,
// stored-to addresses, loaded-from addresses.
type layout struct {
	name            string
	size            int
	stores, nStores int // offset and count
	loads, nLoads   int
	padLow, padHigh int // bytes that the compiler leaves unused
}

// input_instr and cloudsuite_instr in ChampSim's inc/trace_instruction.h.
var layouts = []layout{
	{name: "standard", size: 64, stores: 16, nStores: 2, loads: 32, nLoads: 4},
	{name: "CloudSuite", size: 96, stores: 24, nStores: 4, loads: 56, nLoads: 4, padLow: 18, padHigh: 24},
}

// sniffed is how many records guess looks at. The format has no signature, so
// one record proves nothing.
const sniffed = 8

// guess returns the layout whose flag bytes and instruction addresses are
// plausible in every record of the head, or nil.
func guess(head []byte) *layout {
	for i := range layouts {
		if l := &layouts[i]; l.fits(head) {
			return l
		}
	}
	return nil
}

func (l *layout) fits(head []byte) bool {
	n := min(len(head)/l.size, 64)
	if n < sniffed {
		return false
	}
	branches, memory, near := 0, 0, 0
	var before uint64
	for k := range n {
		rec := head[k*l.size : (k+1)*l.size]
		ip := binary.LittleEndian.Uint64(rec)
		if ip == 0 || ip>>57 != 0 || rec[8] > 1 || rec[9] > 1 || rec[9] > rec[8] {
			return false
		}
		for _, pad := range rec[l.padLow:l.padHigh] {
			if pad != 0 {
				return false
			}
		}
		if d := int64(ip - before); d > -1<<20 && d < 1<<20 {
			near++
		}
		before = ip
		branches += int(rec[8])
		for j := l.stores; j < l.loads+8*l.nLoads; j += 8 {
			a := binary.LittleEndian.Uint64(rec[j:])
			if a>>57 != 0 {
				return false
			}
			if a != 0 {
				memory++
			}
		}
	}
	// Most instructions follow their predecessor closely; some touch memory.
	return near*2 >= n && branches < n && memory > 0
}

// Reader reads one trace.
type Reader struct {
	r     *bufio.Reader
	l     *layout
	rec   []byte
	queue refs.Queue
	found []refs.Ref
	count uint64
	about refs.About
}

// NewReader reads the unpacked records of r.
func NewReader(r io.Reader) *Reader {
	br := bufio.NewReaderSize(r, 256<<10)
	head, _ := br.Peek(16 << 10)
	l := guess(head)
	if l == nil {
		l = &layouts[0]
	}
	return &Reader{r: br, l: l, rec: make([]byte, l.size), about: refs.About{Has: refs.HasPC}}
}

// About implements refs.Source.
func (r *Reader) About() *refs.About { return &r.about }

// Read implements refs.Source. Within an instruction loads come before stores,
// as they do in execution.
func (r *Reader) Read(dst []refs.Ref) (int, error) { return r.queue.Fill(dst, r.next) }

func (r *Reader) next() ([]refs.Ref, error) {
	k, err := io.ReadFull(r.r, r.rec)
	if err == io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("record %d has %d bytes of %d: %w", r.count, k, r.l.size, err)
	}
	if err != nil {
		return nil, err
	}
	r.count++
	r.about.Instructions++
	if r.rec[8] > 1 || r.rec[9] > 1 {
		return nil, fmt.Errorf("record %d has branch flags %d, %d; want 0 or 1: this is not a ChampSim trace of %d-byte records",
			r.count-1, r.rec[8], r.rec[9], r.l.size)
	}
	pc := binary.LittleEndian.Uint64(r.rec)
	r.found = r.found[:0]
	r.collect(pc, r.l.loads, r.l.nLoads, refs.Load)
	r.collect(pc, r.l.stores, r.l.nStores, refs.Store)
	return r.found, nil
}

func (r *Reader) collect(pc uint64, offset, n int, op refs.Op) {
	for i := range n {
		if addr := binary.LittleEndian.Uint64(r.rec[offset+8*i:]); addr != 0 {
			r.found = append(r.found, refs.Ref{Addr: addr, PC: pc, Op: op})
		}
	}
}
