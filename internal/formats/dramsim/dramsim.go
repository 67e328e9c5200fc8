// Package dramsim reads the text traces that drive the DRAM simulators
// DRAMsim3 and Ramulator 2. They hold addresses and no instructions.
package dramsim

import (
	"bytes"
	"fmt"
	"io"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// Format recognises and opens DRAM simulator traces.
var Format = foreign.Format{
	Name:  "dramsim",
	Kind:  kind.Refs,
	Sniff: func(in *foreign.Input) bool { return !in.Dir() && sniff(in.Head) },
	Refs:  foreign.StreamedRefs(func(r io.Reader) refs.Source { return NewReader(r) }),
}

// dialect parses one line into at most two references.
type dialect struct {
	name  string
	parse func(r *Reader, line []byte) ([]refs.Ref, bool)
	note  string
}

var dialects = []dialect{
	{name: "DRAMsim3", parse: (*Reader).dramsim3},
	{name: "Ramulator load/store", parse: (*Reader).loadStore},
	{name: "Ramulator read/write", parse: (*Reader).readWrite,
		note: "the trace gives address vectors (channel, rank, bank, …); addresses are numbered in order of appearance"},
	{name: "Ramulator SimpleO3", parse: (*Reader).simpleO3,
		note: "stores are write-backs, not the program's stores"},
}

// sniffed lines must all speak one dialect. Two bare numbers on a line are
// too little to go by, so that dialect wants more of them.
const sniffed = 4

func sniff(head []byte) bool {
	var d *dialect
	r := &Reader{vectors: map[string]uint64{}}
	seen := 0
	for line := range bytes.Lines(head) {
		if !bytes.HasSuffix(line, []byte("\n")) && seen > 0 {
			break
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if d == nil {
			d = r.recognise(line)
		}
		if d == nil {
			return false
		}
		if _, ok := d.parse(r, line); !ok {
			return false
		}
		if seen++; seen == 4*sniffed {
			break
		}
	}
	return d != nil && (seen >= sniffed || d.name != "Ramulator SimpleO3")
}

// Reader reads one trace.
type Reader struct {
	lines   *refs.Lines
	d       *dialect
	vectors map[string]uint64
	pair    [2]refs.Ref
	queue   refs.Queue
	about   refs.About
}

// NewReader reads the text of r.
func NewReader(r io.Reader) *Reader {
	return &Reader{lines: refs.NewLines(r), vectors: map[string]uint64{}}
}

// About implements refs.Source.
func (r *Reader) About() *refs.About { return &r.about }

// Read implements refs.Source.
func (r *Reader) Read(dst []refs.Ref) (int, error) { return r.queue.Fill(dst, r.next) }

func (r *Reader) next() ([]refs.Ref, error) {
	line, err := r.lines.Next()
	if err != nil {
		return nil, err
	}
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] == '#' {
		return nil, nil
	}
	if r.d == nil {
		if r.d = r.recognise(line); r.d == nil {
			return nil, fmt.Errorf("line %d: %q is neither a DRAMsim3 nor a Ramulator line", r.lines.Number(), line[:min(len(line), 40)])
		}
		if r.d.note != "" {
			r.about.Notes = []string{r.d.note}
		}
	}
	found, ok := r.d.parse(r, line)
	if !ok {
		return nil, fmt.Errorf("line %d: %q is not a line of a %s trace", r.lines.Number(), line[:min(len(line), 40)], r.d.name)
	}
	return found, nil
}

func (r *Reader) recognise(line []byte) *dialect {
	for i := range dialects {
		if _, ok := dialects[i].parse(r, line); ok {
			return &dialects[i]
		}
	}
	return nil
}

// dramsim3 reads "0x2000D5C0 READ  30".
func (r *Reader) dramsim3(line []byte) ([]refs.Ref, bool) {
	if !bytes.HasPrefix(line, []byte("0x")) {
		return nil, false
	}
	addr, rest, ok := refs.Hex(line)
	word, rest, _ := bytes.Cut(refs.SkipSpace(rest), []byte(" "))
	if !ok {
		return nil, false
	}
	var op refs.Op
	switch string(word) {
	case "READ":
	case "WRITE":
		op = refs.Store
	default:
		return nil, false
	}
	if _, rest, ok = refs.Decimal(refs.SkipSpace(rest)); !ok || len(rest) != 0 {
		return nil, false
	}
	return r.one(addr, op)
}

// loadStore reads "LD 0x12340" or "ST 4096".
func (r *Reader) loadStore(line []byte) ([]refs.Ref, bool) {
	if len(line) < 4 || line[2] != ' ' {
		return nil, false
	}
	var op refs.Op
	switch string(line[:2]) {
	case "LD":
	case "ST":
		op = refs.Store
	default:
		return nil, false
	}
	addr, rest, ok := refs.Number(refs.SkipSpace(line[3:]))
	if !ok || len(rest) != 0 {
		return nil, false
	}
	return r.one(addr, op)
}

// readWrite reads "R 0,1,2,100,32". How the parts make up an address depends
// on the memory simulated, so each distinct vector becomes one line-sized
// address of its own.
func (r *Reader) readWrite(line []byte) ([]refs.Ref, bool) {
	if len(line) < 3 || line[1] != ' ' || line[0] != 'R' && line[0] != 'W' {
		return nil, false
	}
	vector := refs.SkipSpace(line[2:])
	for rest := vector; ; {
		var ok bool
		if _, rest, ok = refs.Decimal(rest); !ok {
			return nil, false
		}
		if len(rest) == 0 {
			break
		}
		if rest[0] != ',' {
			return nil, false
		}
		rest = rest[1:]
	}
	id, ok := r.vectors[string(vector)]
	if !ok {
		id = uint64(len(r.vectors))
		r.vectors[string(vector)] = id
	}
	var op refs.Op
	if line[0] == 'W' {
		op = refs.Store
	}
	return r.one(id<<6, op)
}

// simpleO3 reads "3 20734016" or "3 20734016 20734080": instructions between,
// the address loaded, the address written back.
func (r *Reader) simpleO3(line []byte) ([]refs.Ref, bool) {
	_, rest, ok := refs.Decimal(line)
	if !ok || len(rest) == 0 || rest[0] != ' ' {
		return nil, false
	}
	addr, rest, ok := refs.Number(refs.SkipSpace(rest))
	if !ok {
		return nil, false
	}
	r.pair[0] = refs.Ref{Addr: addr}
	if rest = refs.SkipSpace(rest); len(rest) == 0 {
		return r.pair[:1], true
	}
	back, rest, ok := refs.Number(rest)
	if !ok || len(rest) != 0 {
		return nil, false
	}
	r.pair[1] = refs.Ref{Addr: back, Op: refs.Store}
	return r.pair[:2], true
}

func (r *Reader) one(addr uint64, op refs.Op) ([]refs.Ref, bool) {
	r.pair[0] = refs.Ref{Addr: addr, Op: op}
	return r.pair[:1], true
}
