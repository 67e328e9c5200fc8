package access

import (
	"errors"
	"math/bits"
	"slices"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"github.com/isobath/isobath/internal/data/refs"
)

// RegsAMD64 are the registers that addresses are made of, general ones in the
// order of their encoding: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 … r15.
type RegsAMD64 struct {
	General [16]uint64
	PC      uint64
	FS, GS  uint64 // bases
}

const (
	rax = 0
	rcx = 1
	rsp = 4
	rbp = 5
	rsi = 6
	rdi = 7
	rbx = 3
	// none is a base or index that is not there.
	none = 0xff
	rip  = 0xfe
)

type form uint8

const (
	plain  form = iota
	push        // below the stack pointer
	pop         // at the stack pointer
	stepSI      // string source
	stepDI      // string destination
	bit         // bit offset in a register selects the word
	gather      // one access per element of a vector of indices
	masked      // the elements a mask selects
	packed      // as many elements as the mask selects, side by side
	table       // XLATB: base plus AL
)

// operand is one memory operand of an instruction.
type operand struct {
	form        form
	op          refs.Op
	size        uint32
	base, index uint8
	scale       uint8
	segment     uint8 // 0, 4 for FS, 5 for GS
	short       bool  // 32-bit addresses
	popped      bool  // the address is taken after a pop
	disp        int64
	// Gathers and masked moves: sizes of an element and of an index, how many
	// elements there are, and where the mask is.
	elem, indexSize uint8
	count           uint8
	mask            uint8
	vectorMask      bool // the mask is the sign bits of a vector register
}

// AMD64 is one decoded instruction.
type AMD64 struct {
	Len  int
	Flow Flow
	// Repeats says that the instruction is a string instruction with a repeat
	// prefix: each step of a program makes one round of it.
	Repeats bool
	// PushesFlags says that the flags are stored: a debugger's trap flag is
	// then among them.
	PushesFlags bool
	ops         [2]operand
	n           int
}

// ErrUnknown is returned for bytes that are no instruction we know.
var ErrUnknown = errors.New("unknown instruction")

// endbr is the start of ENDBR64 and ENDBR32, which the decoder does not know.
var endbr = []byte{0xf3, 0x0f, 0x1e}

// vzero reports whether code starts with VZEROUPPER or VZEROALL, behind which
// the decoder takes more bytes for part of the instruction.
func vzero(code []byte) bool {
	return len(code) >= 3 && code[0] == 0xc5 && code[1]|4 == 0xfc && code[2] == 0x77
}

// DecodeAMD64 decodes the instruction that code starts with.
func DecodeAMD64(code []byte) (AMD64, error) {
	if vzero(code) {
		return AMD64{Len: 3}, nil
	}
	if len(code) >= 4 && slices.Equal(code[:3], endbr) && (code[3] == 0xfa || code[3] == 0xfb) {
		return AMD64{Len: 4}, nil
	}
	skip, vex := segmentBeforeVEX(code)
	in, err := x86asm.Decode(code[skip:], 64)
	if err != nil || in.Op == 0 || in.Len == 0 || skip+in.Len > min(len(code), 15) {
		return AMD64{}, ErrUnknown
	}
	d := decoder{in: &in, out: AMD64{Len: skip + in.Len}, near: vex && nearVEX(code[skip:])}
	d.prefixes(code)
	d.decode()
	return d.out, nil
}

// segmentBeforeVEX returns how many bytes of segment overrides stand before a
// VEX or EVEX prefix, where the decoder does not accept any, and whether there
// is such a prefix.
func segmentBeforeVEX(code []byte) (int, bool) {
	n := 0
	for n < len(code) && (code[n] == 0x64 || code[n] == 0x65 || code[n] == 0x67) {
		n++
	}
	if n < len(code) && (code[n] == 0xc4 || code[n] == 0xc5 || code[n] == 0x62) {
		return n, true
	}
	return 0, false
}

// nearVEX reports whether the operand of an instruction that begins with a VEX
// or EVEX prefix is relative to the instruction. The decoder gives those as
// absolute addresses.
func nearVEX(code []byte) bool {
	at := map[byte]int{0xc5: 3, 0xc4: 4, 0x62: 5}[code[0]] // ModRM follows prefix and opcode
	return at < len(code) && code[at]&0xc7 == 0x05
}

type decoder struct {
	in      *x86asm.Inst
	out     AMD64
	segment uint8
	short   bool
	repeat  bool
	wide    bool // 66 prefix
	near    bool // relative to the instruction, though the decoder does not say so
}

// prefixes reads the legacy prefixes from the bytes: the decoder lists bytes of
// a VEX prefix among them, some of which look like segment overrides.
func (d *decoder) prefixes(code []byte) {
	for _, b := range code {
		switch b {
		case 0x64:
			d.segment = 4
		case 0x65:
			d.segment = 5
		case 0x67:
			d.short = true
		case 0xf2, 0xf3:
			d.repeat = true
		case 0x66:
			d.wide = true
		case 0xf0, 0x2e, 0x36, 0x3e, 0x26:
		default:
			return
		}
	}
}

func (d *decoder) add(o operand) {
	d.out.ops[d.out.n] = o
	d.out.n++
}

// wordSize is what PUSH, POP and their kind move.
func (d *decoder) wordSize() uint32 {
	if d.wide {
		return 2
	}
	return 8
}

// relative reports whether an operand is a place in the code, near the
// instruction.
func relative(a x86asm.Arg) bool {
	_, ok := a.(x86asm.Rel)
	return ok
}

func (d *decoder) decode() {
	in := d.in
	switch {
	case in.Op == x86asm.JMP || in.Op == x86asm.LJMP:
		d.out.Flow = Jump
	case relative(in.Args[0]) && in.Op != x86asm.CALL:
		d.out.Flow = Branch
	}
	switch in.Op {
	case x86asm.PUSH, x86asm.PUSHF, x86asm.PUSHFQ:
		d.out.PushesFlags = in.Op != x86asm.PUSH
		d.explicit(refs.Load)
		d.add(operand{form: push, op: refs.Store, size: d.wordSize()})
	case x86asm.CALL:
		d.out.Flow = Call
		d.explicit(refs.Load)
		d.add(operand{form: push, op: refs.Store, size: 8})
	case x86asm.ENTER:
		d.add(operand{form: push, op: refs.Store, size: d.wordSize()})
	case x86asm.POP, x86asm.POPF, x86asm.POPFQ:
		d.add(operand{form: pop, op: refs.Load, size: d.wordSize()})
		if d.explicit(refs.Store) {
			d.out.ops[1].popped = true
		}
	case x86asm.RET:
		d.out.Flow = Return
		d.add(operand{form: pop, op: refs.Load, size: 8})
	case x86asm.LEAVE:
		d.add(operand{op: refs.Load, size: d.wordSize(), base: rbp, index: none})
	case x86asm.XLATB:
		d.add(operand{form: table, op: refs.Load, size: 1, base: rbx, index: none, segment: d.segment, short: d.short})
	case x86asm.MASKMOVDQU, x86asm.VMASKMOVDQU, x86asm.MASKMOVQ:
		d.maskedBytes()
	default:
		if size, ok := stringSize(in.Op); ok {
			d.text(size)
			return
		}
		d.operandOf()
	}
}

// explicit adds the memory operand that is written in the instruction.
func (d *decoder) explicit(op refs.Op) bool {
	i := d.memory()
	if i < 0 {
		return false
	}
	o := d.address(i)
	o.op, o.size = op, uint32(d.in.MemBytes)
	d.add(o)
	return true
}

// memory returns the position of the memory operand, or -1.
func (d *decoder) memory() int {
	return slices.IndexFunc(d.in.Args[:], func(a x86asm.Arg) bool {
		_, ok := a.(x86asm.Mem)
		return ok
	})
}

func (d *decoder) address(i int) operand {
	m := d.in.Args[i].(x86asm.Mem)
	o := operand{base: general(m.Base), index: general(m.Index), scale: m.Scale, disp: m.Disp, segment: d.segment, short: d.short}
	if m.Base == x86asm.RIP || m.Base == x86asm.EIP || d.near {
		o.base = rip
	}
	if m.Scale == 0 {
		o.index = none
	}
	return o
}

func general(r x86asm.Reg) uint8 {
	switch {
	case r >= x86asm.RAX && r <= x86asm.R15:
		return uint8(r - x86asm.RAX)
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return uint8(r - x86asm.EAX)
	}
	return none
}

// vector returns the number and size in bytes of a vector register.
func vector(a x86asm.Arg) (n uint8, size int, ok bool) {
	r, isReg := a.(x86asm.Reg)
	switch {
	case !isReg:
		return 0, 0, false
	case r >= x86asm.X0 && r <= x86asm.X31:
		return uint8(r - x86asm.X0), 16, true
	case r >= x86asm.Y0 && r <= x86asm.Y31:
		return uint8(r - x86asm.Y0), 32, true
	case r >= x86asm.Z0 && r <= x86asm.Z31:
		return uint8(r - x86asm.Z0), 64, true
	}
	return 0, 0, false
}

// maskRegister returns the AVX-512 mask among the operands of an instruction
// with a memory operand; the first operand is never the mask.
func (d *decoder) maskRegister() (uint8, bool) {
	for _, a := range d.in.Args[1:] {
		if r, ok := a.(x86asm.Reg); ok && r >= x86asm.K1 && r <= x86asm.K7 {
			return uint8(r-x86asm.K1) + 1, true
		}
	}
	return 0, false
}

// operandOf handles everything with at most one memory operand.
func (d *decoder) operandOf() {
	i := d.memory()
	if i < 0 || untouched[d.in.Op] || d.prefetch() || d.writesBack() {
		return
	}
	o := d.address(i)
	o.size, o.op = d.size(), direction(d.in.Op, i)
	name := d.in.Op.String()
	switch {
	case strings.Contains(name, "GATHER"), strings.Contains(name, "SCATTER"):
		d.indexed(&o, i, name)
	case name == "VMASKMOVPS", name == "VMASKMOVPD", name == "VPMASKMOVD", name == "VPMASKMOVQ":
		n, size, _ := vector(d.in.Args[1])
		o.form, o.mask, o.vectorMask = masked, n, true
		o.elem = elementSize(name)
		o.count = uint8(size / int(o.elem))
	case bitTest[d.in.Op]:
		if r, ok := d.in.Args[1].(x86asm.Reg); ok {
			o.form, o.mask = bit, general64(r)
		}
	default:
		if k, ok := d.maskRegister(); ok && strings.HasPrefix(name, "V") {
			d.maskedBy(&o, k, name)
		}
	}
	d.add(o)
}

// writesBack reports CLWB, which the decoder takes for XSAVEOPT.
func (d *decoder) writesBack() bool { return d.in.Op == x86asm.XSAVEOPT && d.wide }

func (d *decoder) prefetch() bool {
	name := d.in.Op.String()
	return strings.HasPrefix(name, "PREFETCH") || strings.HasPrefix(name, "VGATHERPF") || strings.HasPrefix(name, "VSCATTERPF")
}

func (d *decoder) size() uint32 {
	if s, ok := sizes[d.in.Op]; ok {
		return s
	}
	if n := d.in.MemBytes; n > 0 {
		return uint32(n)
	}
	// The x87 forms without a size are those of ten bytes.
	if d.in.Op == x86asm.FLD || d.in.Op == x86asm.FSTP {
		return 10
	}
	return 0
}

// indexed describes a gather or scatter: VGATHERDPD has indices of 4 bytes (D)
// and elements of 8 (PD).
func (d *decoder) indexed(o *operand, i int, name string) {
	m := d.in.Args[i].(x86asm.Mem)
	index, indexBytes, _ := vector(m.Index)
	kinds := name[strings.Index(name, "ER")+2:]
	o.form, o.index, o.scale = gather, index, m.Scale
	o.indexSize, o.elem = 4, elementSize(kinds[1:])
	if kinds[0] == 'Q' {
		o.indexSize = 8
	}
	data := 64
	for _, a := range d.in.Args {
		if _, n, ok := vector(a); ok {
			data = n
			break
		}
	}
	o.count = uint8(min(data/int(o.elem), indexBytes/int(o.indexSize)))
	o.size = uint32(o.elem)
	if k, ok := d.maskRegister(); ok {
		o.mask = k
	} else if n, _, ok := vector(d.in.Args[2]); ok {
		o.mask, o.vectorMask = n, true
	}
}

// maskedBy describes an AVX-512 operand under a mask.
func (d *decoder) maskedBy(o *operand, k uint8, name string) {
	elem := elementSize(name)
	if d.in.Broadcast || elem == 0 || o.size <= uint32(elem) || o.size/uint32(elem) > 64 {
		return // a scalar is read, or not, as a whole
	}
	o.form, o.mask, o.elem, o.count = masked, k, elem, uint8(o.size/uint32(elem))
	if strings.Contains(name, "COMPRESS") || strings.Contains(name, "EXPAND") {
		o.form = packed
	}
}

// elementSize reads the size of an element from the end of a mnemonic. Those
// that narrow end with the size in memory (VPMOVQD stores four bytes each).
func elementSize(name string) uint8 {
	for _, s := range []struct {
		end  string
		size uint8
	}{
		{"PS", 4}, {"PD", 8}, {"PH", 2}, {"SS", 4}, {"SD", 8}, {"64", 8}, {"32", 4}, {"16", 2}, {"U8", 1},
		{"B", 1}, {"W", 2}, {"D", 4}, {"Q", 8},
	} {
		if strings.HasSuffix(name, s.end) {
			return s.size
		}
	}
	return 0
}

// maskedBytes is a store of the bytes of a register that another selects, to
// the address in RDI.
func (d *decoder) maskedBytes() {
	o := operand{form: masked, op: refs.Store, base: rdi, index: none, segment: d.segment, short: d.short, elem: 1, count: 16, vectorMask: true, size: 16}
	n, _, ok := vector(d.in.Args[1])
	if !ok {
		// The mask is an MMX register, which is not read: all eight bytes.
		o.form, o.size = plain, 8
	}
	o.mask = n
	d.add(o)
}

func (d *decoder) text(size uint32) {
	d.out.Repeats = d.repeat
	source := operand{form: stepSI, op: refs.Load, size: size, base: rsi, index: none, segment: d.segment, short: d.short}
	target := operand{form: stepDI, op: refs.Load, size: size, base: rdi, index: none, short: d.short}
	switch name := d.in.Op.String(); name[:4] {
	case "MOVS":
		target.op = refs.Store
		d.add(source)
		d.add(target)
	case "CMPS":
		// Valgrind and qemu read the destination first.
		d.add(target)
		d.add(source)
	case "LODS":
		d.add(source)
	case "SCAS":
		d.add(target)
	case "STOS":
		target.op = refs.Store
		d.add(target)
	}
}

// Accesses appends the accesses the instruction will make, given the registers
// before it. vectors may be nil: gathers and masked moves then give nothing.
func (in *AMD64) Accesses(r *RegsAMD64, vectors Vectors, dst []Access) []Access {
	if in.Repeats && in.counter(r) == 0 {
		return dst
	}
	for i := range in.n {
		o := &in.ops[i]
		switch o.form {
		case push:
			dst = append(dst, Access{r.General[rsp] - uint64(o.size), o.size, o.op})
		case pop:
			dst = append(dst, Access{r.General[rsp], o.size, o.op})
		case gather, masked, packed:
			if vectors != nil {
				dst = o.elements(r, in.Len, vectors, dst)
			}
		case bit:
			// The offset counts bits in both directions from the operand.
			word := int64(r.General[o.mask]) >> bits.TrailingZeros32(o.size*8)
			if o.size == 4 {
				word = int64(int32(r.General[o.mask])) >> 5
			}
			dst = append(dst, Access{o.addr(r, in.Len) + uint64(word*int64(o.size)), o.size, o.op})
		case table:
			dst = append(dst, Access{o.addr(r, in.Len) + r.General[rax]&0xff, o.size, o.op})
		default:
			dst = append(dst, Access{o.addr(r, in.Len), o.size, o.op})
		}
	}
	return dst
}

// Vectors reports whether Accesses needs vector registers.
func (in *AMD64) Vectors() bool {
	for i := range in.n {
		if f := in.ops[i].form; f == gather || f == masked || f == packed {
			return true
		}
	}
	return false
}

// Shape returns what the instruction does each time it runs: an operation and a
// size per operand, without addresses. It is false where that depends on
// registers.
func (in *AMD64) Shape(dst []Access) ([]Access, bool) {
	if in.Vectors() {
		return dst, false
	}
	for i := range in.n {
		dst = append(dst, Access{Size: in.ops[i].size, Op: in.ops[i].op})
	}
	return dst, true
}

func (in *AMD64) counter(r *RegsAMD64) uint64 {
	if in.ops[0].short {
		return r.General[rcx] & (1<<32 - 1)
	}
	return r.General[rcx]
}

func (o *operand) addr(r *RegsAMD64, length int) uint64 {
	a := o.baseAddr(r, length)
	if o.index != none {
		a += r.General[o.index] * uint64(o.scale)
	}
	return o.finish(a, r)
}

func (o *operand) baseAddr(r *RegsAMD64, length int) uint64 {
	a := uint64(o.disp)
	switch o.base {
	case none:
	case rip:
		a += r.PC + uint64(length)
	default:
		a += r.General[o.base]
		if o.popped && o.base == rsp {
			a += 8
		}
	}
	return a
}

func (o *operand) finish(a uint64, r *RegsAMD64) uint64 {
	if o.short {
		a &= 1<<32 - 1
	}
	switch o.segment {
	case 4:
		a += r.FS
	case 5:
		a += r.GS
	}
	return a
}

// elements appends one access per run of selected elements, or per element of
// a gather.
func (o *operand) elements(r *RegsAMD64, length int, v Vectors, dst []Access) []Access {
	selected := o.selected(v)
	if o.form == packed {
		if n := bits.OnesCount64(selected); n > 0 {
			dst = append(dst, Access{o.addr(r, length), uint32(n) * uint32(o.elem), o.op})
		}
		return dst
	}
	if o.form == gather {
		base, index := o.baseAddr(r, length), v.Vector(int(o.index))
		for i := range int(o.count) {
			if selected>>i&1 != 0 {
				k := signed(index[i*int(o.indexSize):], int(o.indexSize))
				dst = append(dst, Access{o.finish(base+uint64(k*int64(o.scale)), r), uint32(o.elem), o.op})
			}
		}
		return dst
	}
	at := o.addr(r, length)
	for i := 0; i < int(o.count); i++ {
		if selected>>i&1 == 0 {
			continue
		}
		from := i
		for i+1 < int(o.count) && selected>>(i+1)&1 != 0 {
			i++
		}
		dst = append(dst, Access{at + uint64(from*int(o.elem)), uint32((i + 1 - from) * int(o.elem)), o.op})
	}
	return dst
}

// selected returns a bit for each element that is accessed.
func (o *operand) selected(v Vectors) uint64 {
	all := uint64(1)<<o.count - 1
	if o.count == 64 {
		all = ^uint64(0)
	}
	if !o.vectorMask {
		return v.Mask(int(o.mask)) & all
	}
	m, set := v.Vector(int(o.mask)), uint64(0)
	for i := range int(o.count) {
		set |= uint64(m[(i+1)*int(o.elem)-1]>>7) << i
	}
	return set
}

func signed(b []byte, size int) int64 {
	v := uint64(0)
	for i := range size {
		v |= uint64(b[i]) << (8 * i)
	}
	if size == 4 {
		return int64(int32(v))
	}
	return int64(v)
}
