package reftrace

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/code/access"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/flow"
)

// rawFlow is the way through the code by running addresses.
type rawFlow struct {
	blocks  []refs.Range
	threads []flow.Thread
	log     flow.Log // becomes threads
}

// The operations of the plugin's records that are no access; see c/buffer.c.
const (
	recordBlock = 0xfd
	recordEvent = 0xfe
)

// add takes a record of the plugin: the definition of a block, numbered from 1,
// or an event of a thread.
func (f *rawFlow) add(b []byte) {
	first, second := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	id := binary.LittleEndian.Uint32(b[16:])
	if b[22] == recordBlock {
		if id == 0 || id > flow.MaxBlocks || second < first {
			return
		}
		for len(f.blocks) < int(id) {
			f.blocks = append(f.blocks, refs.Range{})
		}
		f.blocks[id-1] = refs.Range{Low: first, High: second}
		return
	}
	f.log.Add(id, first, uint32(second)-1) // number 0 is no block and becomes flow.None
}

// way names the code that ran, with addresses as the references have them.
func (n *namer) way() {
	if len(n.flow.threads) == 0 {
		return
	}
	t := &flow.Trace{Threads: n.flow.threads, Blocks: make([]refs.Range, len(n.flow.blocks)), Stopped: n.full || n.rec.Signal != "" && !n.left}
	seen, marked := map[uint64]bool{}, map[uint64]bool{}
	for i, b := range n.flow.blocks {
		moved := n.look(b.Low).pc - b.Low
		t.Blocks[i] = refs.Range{Low: b.Low + moved, High: b.High + moved}
		for pc := b.Low; pc < b.High && !seen[pc]; {
			seen[pc] = true
			in := n.instruction(pc)
			in.PC = pc + moved
			t.Code = append(t.Code, in)
			pc += uint64(max(in.Length, 1))
		}
		n.marks(t, b, moved, marked)
	}
	slices.SortStableFunc(t.Marks, func(a, b flow.Mark) int { return cmp.Compare(a.PC, b.PC) })
	slices.SortFunc(t.Code, func(a, b flow.Instruction) int { return cmp.Compare(a.PC, b.PC) })
	if n.hooks != nil {
		n.leavings(t.Code, n.bias)
	}
	n.rec.Flow = t
	n.rec.Has |= refs.HasFlow
}

// marks adds where statements begin in a block, each address once.
func (n *namer) marks(t *flow.Trace, b refs.Range, moved uint64, marked map[uint64]bool) {
	bin, link := n.file(b.Low)
	if bin == nil {
		return
	}
	var last uint64
	for _, m := range bin.Begins(link, link+b.High-b.Low) {
		pc := m.Addr + b.Low - link
		if marked[pc] && pc != last {
			continue
		}
		marked[pc], last = true, pc
		t.Marks = append(t.Marks, flow.Mark{PC: pc + moved, File: m.File, Line: m.Line, Column: m.Column})
	}
}

// instruction decodes and names the instruction at a running address.
func (n *namer) instruction(pc uint64) flow.Instruction {
	var in flow.Instruction
	bin, link := n.file(pc)
	if bin == nil {
		return flow.Instruction{Length: 1}
	}
	code, _ := bin.Code(link, 15) // none is an instruction of unknown length
	switch {
	case n.program.Machine == elf.EM_AARCH64 && len(code) >= 4:
		in.Length, in.Ending = 4, endings[access.FlowARM64(binary.LittleEndian.Uint32(code))]
		what := bin.Instruction(link)
		in.Loads, in.Stores = what.Load, what.Store
	case n.program.Machine == elf.EM_X86_64:
		if d, err := access.DecodeAMD64(code); err == nil {
			in.Length, in.Ending = uint8(d.Len), endings[d.Flow]
			what := bin.Instruction(link)
			in.Loads, in.Stores = what.Load, what.Store && d.Flow != access.Call
			in.Element = packedElement(what.Op)
			shape, _ := d.Shape(nil)
			if in.Element == 0 && len(shape) == 1 && (shape[0].Size >= 16 || halfVector(what.Op)) && !constant(bin, &d, link) {
				in.Element = flow.Wide
			}
		}
	}
	in.Length = max(in.Length, 1)
	n.hooked(pc, &in)
	l := bin.Locate(link)
	inner := l.Inner()
	in.Place = refs.Place{Function: inner.Function, File: inner.File, Line: inner.Line}
	in.Home, in.Column = l.Outer().Function, bin.Column(link)
	for _, c := range bin.Calls(link) {
		in.Calls = append(in.Calls, flow.Site(c))
	}
	if l.Start != 0 {
		in.Function = l.Start + pc - link
		if bin == n.own {
			in.Function = l.Start
		}
	}
	return in
}

var endings = map[access.Flow]flow.Ending{access.Straight: flow.Straight, access.Call: flow.Call, access.Return: flow.Return,
	access.Jump: flow.Jump, access.Branch: flow.Branch}

// file returns the file that the code at a running address is of, and its
// address there.
func (n *namer) file(pc uint64) (*symbol.Binary, uint64) {
	if link := pc - n.bias; n.program.Code(link) != nil {
		return n.own, link
	}
	for _, m := range n.modules {
		if pc < m.Start || pc >= m.End {
			continue
		}
		b, err := n.files.Open(m.Path, "")
		if err != nil {
			return nil, 0
		}
		if bias, ok := b.Bias(&symbol.Mapping{Start: m.Start, End: m.End, Offset: m.Offset, Path: m.Path, Exec: true}); ok {
			return b, pc - bias
		}
	}
	return nil, 0
}

// constant reports whether an instruction reads one of the program's constants: the
// masks of a sign or of an absolute value are whole vectors, and scalar code has them.
func constant(bin *symbol.Binary, in *access.AMD64, link uint64) bool {
	at, fixed := in.Fixed(link)
	low, size, ok := bin.Room(".rodata")
	return fixed && ok && at-low < size
}

// halfVector reports whether an instruction moves one half of a vector between a
// register and memory: two or more elements, or one of eight bytes.
func halfVector(op string) bool {
	switch strings.TrimPrefix(strings.ToLower(op), "v") {
	case "movq", "movlps", "movhps", "movlpd", "movhpd":
		return true
	}
	return false
}

// packedElement returns the size of the elements that a vector instruction of
// x86 computes with; 0 for others. Moves, logic and shuffles do not count:
// scalar code has them too.
func packedElement(op string) uint8 {
	op = strings.TrimPrefix(strings.ToLower(op), "v")
	for _, p := range []string{"add", "sub", "mul", "div", "min", "max", "sqrt", "fmadd", "fmsub", "fnmadd", "fnmsub", "hadd", "addsub"} {
		if rest, ok := strings.CutPrefix(op, p); ok {
			switch strings.TrimLeft(rest, "0123456789") {
			case "ps":
				return 4
			case "pd":
				return 8
			}
		}
	}
	for _, p := range []string{"padd", "psub", "pmull", "pmax", "pmin", "pcmpeq", "pcmpgt", "pabs", "pavg", "psra", "psll", "psrl", "pmulh", "pmulu", "pmadd", "pblend"} {
		if rest, ok := strings.CutPrefix(op, p); ok && rest != "dq" {
			switch rest[max(len(rest)-1, 0):] {
			case "b":
				return 1
			case "w":
				return 2
			case "d":
				return 4
			case "q":
				return 8
			}
		}
	}
	return 0
}
