package symbol

import (
	"debug/elf"
	"fmt"
	"strings"

	"golang.org/x/arch/arm64/arm64asm"
	"golang.org/x/arch/x86/x86asm"
)

// Instruction is one decoded machine instruction.
type Instruction struct {
	Addr uint64 // link-time
	Len  int
	Op   string // mnemonic, lower case
	Text string // as GNU tools write it
	// Load and Store say whether it reads or writes memory, Width how many
	// bytes; 0 if it accesses none or the size is not known.
	Load, Store bool
	Width       int
	// Target is where a jump or call with a fixed target goes.
	Target uint64
}

// maxInstruction is the longest of x86.
const maxInstruction = 15

// Instruction decodes the instruction at a link-time address. Its Len is 0 if
// there is no code or it is of an unknown kind.
func (b *Binary) Instruction(addr uint64) Instruction {
	code, err := b.Code(addr, maxInstruction)
	if err != nil {
		return Instruction{Addr: addr}
	}
	return decode(b.Machine(), code, addr)
}

// Disassemble decodes the code of a range, at most limit instructions. Bytes
// that are no instruction are stepped over one by one and have no text.
func (b *Binary) Disassemble(low, high uint64, limit int) ([]Instruction, error) {
	const longest = 1 << 20
	if high <= low {
		return nil, nil
	}
	code, err := b.Code(low, int(min(high-low, longest)))
	if err != nil {
		return nil, err
	}
	var out []Instruction
	for at := 0; at < len(code) && len(out) < limit; {
		in := decode(b.Machine(), code[at:min(len(code), at+maxInstruction)], low+uint64(at))
		out = append(out, in)
		at += max(in.Len, minLength(b.Machine()))
	}
	return out, nil
}

func minLength(m elf.Machine) int {
	if m == elf.EM_AARCH64 {
		return 4
	}
	return 1
}

// decode decodes one instruction. The decoders are libraries that read bytes of
// unknown origin, hence the guard.
func decode(machine elf.Machine, code []byte, addr uint64) (in Instruction) {
	in.Addr = addr
	defer func() {
		if recover() != nil {
			in = Instruction{Addr: addr}
		}
	}()
	switch machine {
	case elf.EM_X86_64:
		return decodeX86(code, addr, 64)
	case elf.EM_386:
		return decodeX86(code, addr, 32)
	case elf.EM_AARCH64:
		return decodeARM(code, addr)
	}
	return in
}

func decodeX86(code []byte, addr uint64, mode int) Instruction {
	in := Instruction{Addr: addr}
	for _, u := range unknownX86 {
		if strings.HasPrefix(string(code[:min(len(code), 4)]), u.code) {
			in.Len, in.Op, in.Text = len(u.code), u.op, u.op
			return in
		}
	}
	x, err := x86asm.Decode(code, mode)
	if err != nil || x.Op == 0 {
		return in
	}
	in.Len = x.Len
	in.Op = strings.ToLower(x.Op.String())
	in.Text = x86asm.GNUSyntax(x, addr, nil)
	for _, a := range x.Args {
		if rel, ok := a.(x86asm.Rel); ok {
			in.Target = addr + uint64(x.Len) + uint64(int64(rel))
		}
	}
	in.access(x)
	return in
}

// access finds which operands are in memory and what is done with them. The
// first operand of x86 is the destination, except where nothing is written.
func (in *Instruction) access(x x86asm.Inst) {
	switch x.Op {
	case x86asm.LEA, x86asm.NOP, x86asm.PREFETCHNTA, x86asm.PREFETCHT0, x86asm.PREFETCHT1, x86asm.PREFETCHT2, x86asm.PREFETCHW, x86asm.CLFLUSH:
		return
	case x86asm.PUSH, x86asm.CALL:
		in.Store, in.Width = true, x.Mode/8
	case x86asm.POP, x86asm.RET, x86asm.LEAVE:
		in.Load, in.Width = true, x.Mode/8
	}
	for i, a := range x.Args {
		if _, ok := a.(x86asm.Mem); !ok {
			continue
		}
		if i == 0 {
			in.Store = in.Store || writes(x.Op)
			in.Load = in.Load || reads(x.Op)
		} else {
			in.Load = true
		}
		if x.MemBytes > 0 {
			in.Width = x.MemBytes
		}
	}
}

// writes reports whether the first operand is written.
func writes(op x86asm.Op) bool {
	switch op {
	case x86asm.CMP, x86asm.TEST, x86asm.PUSH, x86asm.CALL, x86asm.JMP, x86asm.COMISD, x86asm.COMISS, x86asm.UCOMISD, x86asm.UCOMISS,
		x86asm.BT, x86asm.MUL, x86asm.DIV, x86asm.IDIV, x86asm.FLD, x86asm.FILD, x86asm.FADD, x86asm.FMUL, x86asm.FSUB, x86asm.FDIV, x86asm.PTEST:
		return false
	case x86asm.IMUL:
		return false // one-operand form; the others write a register
	}
	return true
}

// reads reports whether the first operand is read.
func reads(op x86asm.Op) bool {
	switch op {
	case x86asm.POP, x86asm.MOVAPS, x86asm.MOVAPD, x86asm.MOVUPS, x86asm.MOVUPD, x86asm.MOVDQA, x86asm.MOVDQU, x86asm.MOVSS, x86asm.MOVSD_XMM,
		x86asm.MOVNTI, x86asm.MOVNTPS, x86asm.MOVNTPD, x86asm.MOVNTDQ, x86asm.MOVD, x86asm.MOVQ, x86asm.MOVHPS, x86asm.MOVHPD, x86asm.MOVLPS, x86asm.MOVLPD,
		x86asm.FST, x86asm.FSTP, x86asm.FIST, x86asm.FISTP, x86asm.PEXTRD, x86asm.PEXTRQ:
		return false
	}
	name := op.String()
	// Vector instructions with three operands write memory without reading it.
	return name != "MOV" && !strings.HasPrefix(name, "SET") && !strings.HasPrefix(name, "V")
}

func decodeARM(code []byte, addr uint64) Instruction {
	in := Instruction{Addr: addr}
	x, err := arm64asm.Decode(code)
	if err != nil {
		return in
	}
	in.Len = 4
	in.Op = strings.ToLower(x.Op.String())
	in.Text = arm64asm.GNUSyntax(x)
	if rel, ok := firstRel(x); ok {
		in.Target = addr + uint64(rel)
		in.Text = fmt.Sprintf("%s %#x", in.Op, in.Target)
	}
	in.armAccess(x)
	return in
}

func firstRel(x arm64asm.Inst) (int64, bool) {
	switch x.Op {
	case arm64asm.B, arm64asm.BL:
		for _, a := range x.Args {
			if rel, ok := a.(arm64asm.PCRel); ok {
				return int64(rel), true
			}
		}
	}
	return 0, false
}

// armAccess follows the names of AArch64: ld… loads, st… stores, and the ending
// or the register says the width.
func (in *Instruction) armAccess(x arm64asm.Inst) {
	op := in.Op
	switch {
	case strings.HasPrefix(op, "prfm"):
		return
	case strings.HasPrefix(op, "ld"):
		in.Load = true
	case strings.HasPrefix(op, "st"):
		in.Store = true
	default:
		return
	}
	switch {
	case strings.HasSuffix(op, "sw"):
		in.Width = 4
		return
	case strings.HasSuffix(op, "b"):
		in.Width = 1
		return
	case strings.HasSuffix(op, "h"):
		in.Width = 2
		return
	}
	r, ok := x.Args[0].(arm64asm.Reg)
	if !ok {
		return
	}
	switch {
	case r <= arm64asm.WZR:
		in.Width = 4
	case r <= arm64asm.XZR:
		in.Width = 8
	case r <= arm64asm.B31:
		in.Width = 1
	case r <= arm64asm.H31:
		in.Width = 2
	case r <= arm64asm.S31:
		in.Width = 4
	case r <= arm64asm.D31:
		in.Width = 8
	case r <= arm64asm.Q31:
		in.Width = 16
	}
	if strings.HasPrefix(op, "ldp") || strings.HasPrefix(op, "stp") || strings.HasPrefix(op, "ldnp") || strings.HasPrefix(op, "stnp") {
		in.Width *= 2
	}
}

// unknownX86 are instructions of ordinary programs that the decoder lacks or
// measures wrongly.
var unknownX86 = []struct{ code, op string }{
	{"\xf3\x0f\x1e\xfa", "endbr64"},
	{"\xf3\x0f\x1e\xfb", "endbr32"},
	{"\xc5\xf8\x77", "vzeroupper"},
	{"\xc5\xfc\x77", "vzeroall"},
}
