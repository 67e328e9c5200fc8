package symbol

import (
	"debug/elf"
	"fmt"
	"strings"

	"golang.org/x/arch/arm64/arm64asm"
	"golang.org/x/arch/x86/x86asm"

	"github.com/isobath/isobath/internal/code/access"
	"github.com/isobath/isobath/internal/data/refs"
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

// accessName is the operation as the column of that name spells it.
func (in *Instruction) accessName() string {
	switch {
	case in.Load && in.Store:
		return "load+store"
	case in.Load:
		return "load"
	case in.Store:
		return "store"
	case in.Len > 0:
		return "none"
	}
	return ""
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
	if mode == 64 {
		in.access(code)
	}
	return in
}

// access says what the instruction does with memory, where that does not depend
// on registers. Operands that are read and written are one access.
func (in *Instruction) access(code []byte) {
	form, err := access.DecodeAMD64(code)
	if err != nil || form.Len != in.Len {
		return
	}
	list, _ := form.Shape(nil)
	for _, a := range list {
		in.Load = in.Load || a.Op == refs.Load || a.Op == refs.Modify
		in.Store = in.Store || a.Op == refs.Store || a.Op == refs.Modify
		in.Width = max(in.Width, int(a.Size))
	}
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
