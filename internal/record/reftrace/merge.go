package reftrace

import (
	"debug/elf"

	"github.com/isobath/isobath/internal/code/access"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/refs"
)

// merger makes one reference of what one operand of an instruction does. An
// emulator sees the accesses it makes itself: a modify as a load and a store, a
// vector as several words, an atomic operation as its store alone. What the
// instruction means is decoded from its bytes.
type merger struct {
	*job
	files   symbol.Files
	shapes  map[uint64][]access.Access // by running address; nil is unknown
	threads map[uint32]*group
	// scalarFMA are instructions that an over-reading emulator loads 16 bytes
	// for; half is where the second half of the last of a thread lies.
	scalarFMA map[uint64]bool
	half      map[uint32]uint64
}

// group is the records of one instruction of one thread so far.
type group struct {
	raw   []refs.Ref
	shape []access.Access
}

func newMerger(j *job) *merger {
	return &merger{job: j, shapes: map[uint64][]access.Access{}, threads: map[uint32]*group{}, scalarFMA: map[uint64]bool{}, half: map[uint32]uint64{}}
}

// add takes the next record; false once enough are kept.
func (m *merger) add(r refs.Ref) bool {
	g := m.threads[r.Thread]
	if g == nil {
		g = &group{}
		m.threads[r.Thread] = g
	}
	if len(g.raw) > 0 && g.raw[0].PC != r.PC && !m.give(g) {
		return false
	}
	if len(g.raw) == 0 {
		g.shape = m.shape(r.PC)
		if m.overreads && m.scalarFMA[r.PC] {
			// The second half of what was read belongs to nobody.
			if r.Addr == m.half[r.Thread] {
				delete(m.half, r.Thread)
				return true
			}
			m.half[r.Thread] = r.Addr + uint64(r.Size)
			r.Size = g.shape[0].Size
			return m.emit(r)
		}
		if g.shape == nil || len(g.shape) == 1 && g.shape[0].Op == r.Op && g.shape[0].Size == r.Size {
			return m.emit(r)
		}
	}
	g.raw = append(g.raw, r)
	switch whole, state := match(g.raw, g.shape); state {
	case complete:
		g.raw = g.raw[:0]
		for _, w := range whole {
			if !m.emit(w) {
				return false
			}
		}
	case different:
		return m.give(g)
	}
	return true
}

// give keeps the records of a group as they are.
func (m *merger) give(g *group) bool {
	for _, r := range g.raw {
		if !m.emit(r) {
			return false
		}
	}
	g.raw = g.raw[:0]
	return true
}

func (m *merger) flush() {
	for _, g := range m.threads {
		m.give(g)
	}
	m.files.Close()
}

// shape returns the operands of the instruction at an address.
func (m *merger) shape(pc uint64) []access.Access {
	s, ok := m.shapes[pc]
	if ok {
		return s
	}
	if m.program.Machine == elf.EM_X86_64 {
		code := m.codeAt(&m.files, pc)
		if in, err := access.DecodeAMD64(code); err == nil {
			if all, fixed := in.Shape(nil); fixed {
				s = all
			}
		}
		m.scalarFMA[pc] = len(s) == 1 && scalarFMA(code)
	}
	m.shapes[pc] = s
	return s
}

// scalarFMA reports whether an instruction multiplies and adds scalars: VEX map
// 0F38, odd opcodes 9 to f of rows 9, a and b.
func scalarFMA(code []byte) bool {
	if len(code) < 4 || code[0] != 0xc4 || code[1]&0x1f != 2 {
		return false
	}
	row, column := code[3]>>4, code[3]&0xf
	return row >= 9 && row <= 0xb && column >= 9 && column&1 == 1
}

// codeAt returns the bytes of an instruction of the program or a library.
func (j *job) codeAt(files *symbol.Files, pc uint64) []byte {
	if code := j.program.Code(pc - j.bias); code != nil {
		return code
	}
	for _, mod := range j.modules {
		if pc < mod.Start || pc >= mod.End {
			continue
		}
		b, err := files.Open(mod.Path, "")
		if err != nil {
			return nil
		}
		if bias, ok := b.Bias(&symbol.Mapping{Start: mod.Start, End: mod.End, Offset: mod.Offset, Path: mod.Path, Exec: true}); ok {
			code, _ := b.Code(pc-bias, 15) // no code is an unknown shape
			return code
		}
	}
	return nil
}

type matching uint8

const (
	partial matching = iota
	complete
	different
)

// match compares records with the operands of their instruction. Records of one
// operand lie side by side and add up to its size.
func match(raw []refs.Ref, shape []access.Access) ([]refs.Ref, matching) {
	var whole []refs.Ref
	for _, want := range shape {
		if len(raw) == 0 {
			return nil, partial
		}
		one := raw[0]
		one.Op, one.Size = want.Op, want.Size
		var state matching
		switch {
		case want.Op != refs.Modify:
			raw, state = take(raw, want.Op, want.Size)
		case raw[0].Op == refs.Store: // atomic: only the store is seen
			raw, state = take(raw, refs.Store, want.Size)
		default:
			if raw, state = take(raw, refs.Load, want.Size); state == complete {
				if len(raw) > 0 && raw[0].Addr != one.Addr {
					return nil, different
				}
				raw, state = take(raw, refs.Store, want.Size)
			}
		}
		if state != complete {
			return nil, state
		}
		whole = append(whole, one)
	}
	if len(raw) > 0 {
		return nil, different
	}
	return whole, complete
}

// take uses up the records of one operand.
func take(raw []refs.Ref, op refs.Op, size uint32) ([]refs.Ref, matching) {
	if len(raw) == 0 {
		return raw, partial
	}
	at, left := raw[0].Addr, size
	for left > 0 {
		switch {
		case len(raw) == 0:
			return raw, partial
		case raw[0].Op != op || raw[0].Addr != at || raw[0].Size > left:
			return raw, different
		}
		at, left = at+uint64(raw[0].Size), left-raw[0].Size
		raw = raw[1:]
	}
	return raw, complete
}
