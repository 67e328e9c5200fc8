package operand

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/data/refs"
)

// mm is the inner product of a matrix multiplication as gcc -O2 made it.
const mm = `85c97e7d4c63d941544189cc4989f94a8d0cdd00000000554989d231ed534889f3488d340f0f1f004989d831ff0f1f004c89c24c89c8660fefc9
660f1f440000f20f1000f20f59024883c0084801caf20f58c84839f075e8f2410f110cfa4883c7014983c0084939fb75c583c5014901ca4901c9
4801ce4139ec75ac5b5d415cc3c3`

const mmStart = 0x13a0

func code(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// perfRegs maps perf's register bits to those of instructions.
var perfRegs = map[int]int{0: rax, 1: rbx, 2: rcx, 3: rdx, 4: rsi, 5: rdi, 6: rbp, 7: rsp, 16: 8, 17: 9, 18: 10, 19: 11, 20: 12, 21: 13, 22: 14, 23: 15}

func TestBackwardRule(t *testing.T) {
	f, targets := DecodeAMD64(code(t, mm), mmStart)
	f.join(targets)
	// rax walks along a row of a, rdx down a column of b, rcx is a row's bytes.
	regs := Registers{rax: 0x1008, rdx: 0x9000, rcx: 0x400}
	tests := []struct {
		pc   uint64
		dist int
		addr uint64
		why  string
	}{
		{0x13e0, -6, 0x8c00, "target of the loop's jump: the way round"},
		{0x13e4, -1, 0x1008, "mulsd: movsd (%rax) has run"},
		{0x13e8, -1, 0x9000, "add $8,%rax: mulsd (%rdx) has run"},
		{0x13ec, -2, 0x9000, "add %rcx,%rdx"},
		{0x13ef, -3, 0x8c00, "rdx has been advanced"},
		{0x13f3, -4, 0x8c00, "cmp"},
	}
	for _, tt := range tests {
		a, why := f.Find(tt.pc, 0, &State{Registers: &regs})
		if why != Found || a.Dist != tt.dist || a.Addr != tt.addr || a.Size != 8 || a.Op != refs.Load {
			t.Errorf("%#x (%s): %+v, %v; want %#x at distance %d", tt.pc, tt.why, a, why, tt.addr, tt.dist)
		}
	}
	if _, why := f.Find(0x13e1, 0, &State{Registers: &regs}); why != Desync {
		t.Errorf("inside an instruction: %v", why)
	}
}

// The samples of a real recording of a matrix multiplication: which instruction
// accessed, and which array.
func TestRecordedRegisters(t *testing.T) {
	attr, records := perfData(t, test.Fixture(t, "perf/local_userregs.data"))
	f, targets := DecodeAMD64(code(t, mm), mmStart)
	f.join(targets)
	const bias = 0x55e2642b6000 - 0x1000
	const a, b, c, size = 0x7fd180fab010, 0x7fd180e8a010, 0x7fd180d69010, 384 * 384 * 8
	dist, arrays := map[int]int{}, map[string]int{}
	for _, body := range records {
		var s perfevent.Sample
		if err := attr.Decode(body, &s); err != nil {
			t.Fatal(err)
		}
		var regs Registers
		for from, to := range perfRegs {
			regs[to], _ = s.RegsUser.Get(from)
		}
		got, why := f.Find(s.IP-bias, bias, &State{Registers: &regs})
		if why != Found {
			t.Fatalf("ip %#x: %v", s.IP-bias, why)
		}
		dist[got.Dist]++
		for name, at := range map[string]uint64{"a": a, "b": b, "c": c} {
			if got.Addr >= at && got.Addr < at+size && (got.Addr-at)%8 == 0 {
				arrays[name]++
			}
			// The row of b is the column of a, its column is rdi.
			if name == "b" && got.Addr >= at && got.Addr < at+size && (got.Addr-at)/8%384 != regs[rdi] {
				t.Errorf("%#x is column %d of b, rdi is %d", got.Addr, (got.Addr-at)/8%384, regs[rdi])
			}
		}
	}
	if len(records) != 147 || dist[-1] != 64 || dist[-2] != 10 || dist[-3] != 6 || dist[-4] != 61 || dist[-6] != 6 {
		t.Errorf("%d samples, distances %v", len(records), dist)
	}
	if arrays["b"] != 133 || arrays["a"] != 14 {
		t.Errorf("arrays %v; want b 133, of them 6 by the way round the loop, and a 14", arrays)
	}
}

// perfData reads the samples of a plain perf.data file with one event.
func perfData(t *testing.T, path string) (perfevent.Attr, [][]byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	u64 := func(at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
	attr, err := perfevent.ParseAttr(false, b[u64(24):])
	if err != nil {
		t.Fatal(err)
	}
	data := b[u64(40) : u64(40)+u64(48)]
	var out [][]byte
	for len(data) > 0 {
		h := perfevent.ParseHeader(data)
		if h.Type == perfevent.RecordSample {
			out = append(out, data[8:h.Size])
		}
		data = data[h.Size:]
	}
	return attr, out
}

// last walks back from the last instruction.
func (f *Function) last(regs *Registers) (Access, Reason) {
	left := ways
	t := f.back(walk{i: len(f.insts) - 1, regs: *regs, left: &left})
	return t.access, t.why
}

// An access that overwrote its base is named, and never another one in its place.
func TestClobberedBase(t *testing.T) {
	const flagsNotZero = 1 << 1
	regs := Registers{rax: 100, rcx: 7, rdx: 1000, rsi: 50, flagsAMD64: flagsNotZero}
	for _, tt := range []struct {
		name, code string
		at         int // instruction
		pc         uint64
		addr       uint64
		dist       int
		why        Reason
	}{
		{"mov (%rdx),%rdx; [] incq (%rsi); ret", "488b12 48ff06 c3", 1, 0x1000, 0, 0, Clobbered},
		{"again: mov (%rdx),%rdx; [] incq (%rsi); dec %rcx; jne -12", "488b12 48ff06 48ffc9 75f5", 1, 0x1000, 1000, 3, Found},
		{"the last round", "488b12 48ff06 4883e907 75f4 c3", 1, 0x1000, 0, 0, Clobbered},
		{"mov (%rdx),%rdx; incq (%rsi); [] dec %rcx; jne", "488b12 48ff06 48ffc9 75f5", 2, 0x1003, 50, -1, Found},
		{"at the head of the loop: incq (%rsi); mov (%rdx),%rdx; dec %rcx; jne", "48ff06 488b12 48ffc9 75f5", 0, 0x1003, 1000, 1, Found},
	} {
		f, targets := DecodeAMD64(code(t, tt.code), 0x1000)
		f.join(targets)
		a, why := f.Find(f.insts[tt.at].pc, 0, &State{Registers: &regs})
		if why != tt.why || a.PC != tt.pc || why == Found && (a.Addr != tt.addr || a.Dist != tt.dist || a.Again != (tt.dist > 0)) {
			t.Errorf("%s: %+v, %v; want %#x by %#x at distance %d, %v", tt.name, a, why, tt.addr, tt.pc, tt.dist, tt.why)
		}
	}
}

// A chain of loads that each overwrite their base is followed through memory as it
// is later, to the same instruction's next time; that is not verified.
func TestClobberedChain(t *testing.T) {
	const flagsNotZero = 1 << 1
	regs := Registers{rcx: 7, rdx: 1000, flagsAMD64: flagsNotZero}
	// mov (%rdx),%rdx; [] mov (%rdx),%rdx; add 8(%rdx),%rdx; dec %rcx; jne
	f, targets := DecodeAMD64(code(t, "488b12 488b12 48035208 48ffc9 75f1"), 0x1000)
	f.join(targets)
	later := Memory(func(addr uint64) (uint64, bool) {
		v, ok := map[uint64]uint64{1000: 2000, 2008: 500}[addr]
		return v, ok
	})
	a, why := f.Find(0x1003, 0, &State{Registers: &regs, Later: later})
	if why != Found || !a.Again || !a.Unverified || a.PC != 0x1000 || a.Addr != 2500 {
		t.Errorf("%+v, %v; want 2500 by 0x1000, again and unverified", a, why)
	}
	if a, why := f.Find(0x1003, 0, &State{Registers: &regs}); why != Clobbered || a.PC != 0x1000 {
		t.Errorf("without memory: %+v, %v", a, why)
	}
}

// Decoding is remembered by the bytes: code that changed is decoded anew.
func TestWindows(t *testing.T) {
	w := NewWindows(elf.EM_X86_64)
	find := func(last string) (Access, Reason) {
		body := append(bytes.Repeat([]byte{0x90}, 128), code(t, last+" 90 90")...)
		return w.Find(0x1000, body, 0x1000+uint64(len(body))-2, &State{Registers: &Registers{rax: 100, rdx: 1000}})
	}
	for _, tt := range []struct {
		code string
		addr uint64
	}{{"8b18", 100}, {"8b1a", 1000}, {"8b18", 100}} {
		if a, why := find(tt.code); why != Found || a.Addr != tt.addr || !a.Unverified {
			t.Errorf("%s: %+v, %v; want %d", tt.code, a, why, tt.addr)
		}
	}
	// Nothing is in step behind zeros, but the jump back says where the loop begins:
	// add (%rax),%rdx; [] add $64,%rax; sub $8,%rcx; jne
	loop := append(make([]byte, 80), code(t, "480310 4883c040 4883e908 75f3")...)
	if a, why := w.Find(0x1000, loop, 0x1000+83, &State{Registers: &Registers{rax: 100}}); why != Found || a.Addr != 100 || a.Dist != -1 {
		t.Errorf("loop: %+v, %v", a, why)
	}
	if len(w.known) != 3 {
		t.Errorf("%d windows are remembered, want 3", len(w.known))
	}
}

func TestEffectsAMD64(t *testing.T) {
	regs := Registers{rax: 100, rcx: 7, rdx: 1000, rsp: 0x7000, rsi: 50}
	tests := []struct {
		name, code string // the last instruction is a NOP, where the sample is
		addr       uint64
		op         refs.Op
		size       uint32
		why        Reason
	}{
		{"mov (%rax),%rcx", "488b08 90", 100, refs.Load, 8, Found},
		{"mov %ecx,4(%rax)", "894804 90", 104, refs.Store, 4, Found},
		{"add %rcx,(%rax)", "480108 90", 100, refs.Modify, 8, Found},
		{"mov (%rax),%rax", "488b00 90", 0, 0, 0, Clobbered},
		{"add (%rdx),%rax", "480302 90", 1000, refs.Load, 8, Found},
		{"mov (%rax),%ecx; sub $8,%rax", "8b08 4883e808 90", 108, refs.Load, 4, Found},
		{"mov (%rax),%esi; inc %rax", "8b30 48ffc0 90", 99, refs.Load, 4, Found},
		{"mov (%rax),%esi; lea 8(%rax,%rcx,2),%rax", "8b30 488d444808 90", 78, refs.Load, 4, Found},
		{"mov (%rax),%esi; mov %rax,%rdx; mov $100,%eax", "8b30 4889c2 b864000000 90", 1000, refs.Load, 4, Found},
		{"mov (%rax),%esi; xchg %rax,%rdx", "8b30 4887d0 90", 1000, refs.Load, 4, Found},
		{"mov (%rax),%esi; mov $1,%al", "8b30 b001 90", 0, 0, 0, Clobbered},
		{"mov (%rdx),%esi; mul %rcx", "8b32 48f7e1 90", 0, 0, 0, Clobbered},
		{"mov (%rsi),%ebx; imul %rcx,%rdx", "8b1e 480fafd1 90", 50, refs.Load, 4, Found},
		{"mov (%rcx),%esi; cpuid", "8b31 0fa2 90", 0, 0, 0, Clobbered},
		{"push %rbx", "53 90", 0x7000, refs.Store, 8, Found},
		{"pop %rbx", "5b 90", 0x6ff8, refs.Load, 8, Found},
		{"mov %fs:0x28,%rax", "64488b042528000000 90", 0, 0, 0, Segment},
		{"vgatherdps", "c4e2759204 88 90", 0, 0, 0, Vector},
		{"call", "e800000000 90", 0, 0, 0, Jump},
		{"vmovupd (%rax,%rcx,8),%ymm0", "c5fd1004c8 90", 156, refs.Load, 32, Found},
		{"vmovupd %zmm1,64(%rdx)", "62f1fd48114a01 90", 1064, refs.Store, 64, Found},
		{"prefetcht0 (%rax) is no access", "0f1808 90", 0, 0, 0, Start},
		{"lea 993(%rcx),%rdx is no access", "488d91e1030000 90", 0, 0, 0, Start},
		{"mov (%rax),%esi; jne +0", "8b30 7500 90", 100, refs.Load, 4, Found},
		{"mov (%rax),%esi; jne +2; mov (%rdx),%esi", "8b30 7502 8b32 90", 0, 0, 0, Join},
		{"mov (%rax),%esi; jne +2; lea (%rdx),%esi", "8b30 7502 8d32 90", 100, refs.Load, 4, Found},
		{"mov (%rax),%esi; jmp +1; nop; []", "8b30 eb01 90 90", 100, refs.Load, 4, Found},
		{"mov (%rax),%ebx; jne +3; movzbl (%rsi),%edx: 1000 is no byte", "8b18 7503 0fb616 90", 100, refs.Load, 4, Found},
		{"mov (%rax),%esi; jne away", "8b30 7540 90", 100, refs.Load, 4, Found},
		{"unknown byte", "06 90", 0, 0, 0, Undecodable},
	}
	for _, tt := range tests {
		b := code(t, tt.code)
		f, targets := DecodeAMD64(b, 0x1000)
		f.join(targets)
		a, why := f.last(&regs)
		if why != tt.why || why == Found && (a.Addr != tt.addr || a.Op != tt.op || a.Size != tt.size) {
			t.Errorf("%s: %+v, %v; want %#x %v of %d, %v", tt.name, a, why, tt.addr, tt.op, tt.size, tt.why)
		}
	}
}

func TestAhead(t *testing.T) {
	regs := Registers{rax: 100, rcx: 7, rdx: 1000, rsp: 0x7000}
	tests := []struct {
		name, code string
		dist       int
		addr       uint64
		ok         bool
	}{
		{"direct", "488b08", 0, 100, true},
		{"add $8,%rax; mov (%rax),%rcx", "4883c008 488b08", 1, 108, true},
		{"mov %rdx,%rax; mov (%rax),%rcx", "4889d0 488b08", 1, 1000, true},
		{"xor %eax,%eax; mov 8(%rax),%rcx", "31c0 488b4808", 1, 8, true},
		{"and $0x64,%ecx; mov (%rdx,%rcx,4),%eax", "83e164 8b048a", 1, 1016, true},
		{"shl $2,%rcx; mov (%rdx,%rcx),%eax", "48c1e102 8b040a", 1, 1028, true},
		{"movslq %ecx,%rsi; mov (%rdx,%rsi),%eax", "4863f1 8b0432", 1, 1007, true},
		{"movzbl %ah,%esi; mov (%rdx,%rsi),%eax", "0fb6f4 8b0432", 0, 0, false},
		{"shr %cl,%rax; mov (%rax),%rcx", "48d3e8 488b08", 0, 0, false},
		{"imul %rcx,%rax; mov (%rax),%rcx", "480fafc1 488b08", 0, 0, false},
		{"ret", "c3", 0, 0x7000, true},
		{"jmp", "eb01 90 488b08", 1, 100, true},
		{"jmp *%rax", "ffe0 488b08", 0, 0, false},
		{"sub $7,%rcx; jne +1; (nop); mov (%rax),%rcx: falls through", "4883e907 7501 90 488b08", 3, 100, true},
		{"sub $6,%rcx; jne +3; mov (%rdx),%esi; jumps over it to mov (%rax),%rcx", "4883e906 7502 8b32 488b08", 2, 100, true},
		{"dec %ecx; jg -7: back to itself until mov", "ffc9 7ffc 488b08", 0, 0, false},
		{"comisd; jne", "660f2fc1 7500 488b08", 0, 0, false},
		{"jne with unknown flags", "7500 488b08", 0, 0, false},
	}
	for _, tt := range tests {
		f, _ := DecodeAMD64(code(t, tt.code), 0x1000)
		a, ok := f.ahead(0, &emulation{regs: regs}, 0)
		if ok != tt.ok || ok && (a.Addr != tt.addr || a.Dist != tt.dist) {
			t.Errorf("%s: %+v, %v; want %#x at %d", tt.name, a, ok, tt.addr, tt.dist)
		}
	}
}

func words(ws ...uint32) []byte {
	var b []byte
	for _, w := range ws {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

const armNop = 0xd503201f

func TestARM64(t *testing.T) {
	regs := Registers{0: 100, 1: 7, 2: 1000, 3: 0xffffffff_fffffffe, 31: 0x7000}
	tests := []struct {
		name string
		code []uint32
		addr uint64
		op   refs.Op
		size uint32
		why  Reason
	}{
		{"ldr x1,[x0]", []uint32{0xf9400001}, 100, refs.Load, 8, Found},
		{"ldr x0,[x0]", []uint32{0xf9400000}, 0, 0, 0, Clobbered},
		{"str w1,[x2,#4]", []uint32{0xb9000441}, 1004, refs.Store, 4, Found},
		{"ldrb w1,[x2,x0]", []uint32{0x38606841}, 1100, refs.Load, 1, Found},
		{"ldr x5,[x2,x0,lsl #3]", []uint32{0xf8607845}, 1800, refs.Load, 8, Found},
		{"ldr x5,[x2,w3,sxtw]", []uint32{0xf863c845}, 998, refs.Load, 8, Found},
		{"ldr x5,[x2],#8", []uint32{0xf8408445}, 992, refs.Load, 8, Found},
		{"ldr x5,[x2,#8]!", []uint32{0xf8408c45}, 1000, refs.Load, 8, Found},
		{"ldr q0,[x2,#16]", []uint32{0x3dc00440}, 1016, refs.Load, 16, Found},
		{"ldp x5,x6,[x2,#16]", []uint32{0xa9411845}, 1016, refs.Load, 16, Found},
		{"stp x29,x30,[sp,#-16]!", []uint32{0xa9bf7bfd}, 0x7000, refs.Store, 16, Found},
		{"ldr d0,[x0]; add x0,x0,#8", []uint32{0xfd400000, 0x91002000}, 92, refs.Load, 8, Found},
		{"ldr d0,[x2]; add x2,x2,x1", []uint32{0xfd400040, 0x8b010042}, 993, refs.Load, 8, Found},
		{"ldr d0,[x2]; sub x2,x2,x1,lsl #1", []uint32{0xfd400040, 0xcb010442}, 1014, refs.Load, 8, Found},
		{"ldr d0,[x0]; mov x0,x1: it is not x1", []uint32{0xfd400000, 0xaa0103e0}, 0, 0, 0, Refuted},
		{"ldr d0,[x0]; mov x2,x0; mov x0,#0", []uint32{0xfd400000, 0xaa0003e2, 0xd2800000}, 1000, refs.Load, 8, Found},
		{"ldr d0,[x0]; cmp x0,x1", []uint32{0xfd400000, 0xeb01001f}, 100, refs.Load, 8, Found},
		{"ldr d0,[x0]; fmadd d0,d1,d2,d0", []uint32{0xfd400000, 0x1f420020}, 100, refs.Load, 8, Found},
		{"ldr d0,[x0]; fmov x0,d0", []uint32{0xfd400000, 0x9e660000}, 0, 0, 0, Clobbered},
		{"ldr d0,[x0]; b.ne away", []uint32{0xfd400000, 0x54000801}, 100, refs.Load, 8, Found},
		{"bl", []uint32{0x94000000}, 0, 0, 0, Jump},
		{"prfm pldl1keep,[x0]", []uint32{0xf9800000}, 0, 0, 0, Start},
		{"ld1 {v0.4s},[x2],#16", []uint32{0x4cdf7840}, 984, refs.Load, 16, Found},
		{"ldadd x1,x5,[x2]", []uint32{0xf8210045}, 1000, refs.Modify, 8, Found},
		{"ldaxr w5,[x2]", []uint32{0x885ffc45}, 1000, refs.Load, 4, Found},
		{"stlr x1,[x2]", []uint32{0xc89ffc41}, 1000, refs.Store, 8, Found},
		{"sve ld1d", []uint32{0xa5e0a040}, 0, 0, 0, Vector},
	}
	for _, tt := range tests {
		f, targets := DecodeARM64(words(append(tt.code, armNop)...), 0x1000)
		f.join(targets)
		a, why := f.last(&regs)
		if why != tt.why || why == Found && (a.Addr != tt.addr || a.Op != tt.op || a.Size != tt.size) {
			t.Errorf("%s: %+v, %v; want %d %v of %d, %v", tt.name, a, why, tt.addr, tt.op, tt.size, tt.why)
		}
	}
	// Loops are followed: add x2,x2,#8; subs x1,x1,#1; b.ne -2; at its end ldr.
	loop, _ := DecodeARM64(words(0xf9400040, 0x91002042, 0xf1000421, 0x54ffffa1, armNop), 0x1000)
	if a, ok := loop.ahead(1, &emulation{regs: regs}, 0); !ok || a.Addr != 1008 || a.PC != 0x1000 || a.Dist != 3 {
		t.Errorf("loop: %+v, %v", a, ok)
	}
	cbz, _ := DecodeARM64(words(0xb4000041, armNop, 0xf9400040), 0x1000) // cbz x1, +8
	if a, ok := cbz.ahead(0, &emulation{regs: regs}, 0); !ok || a.Dist != 2 {
		t.Errorf("cbz: %+v, %v", a, ok)
	}
	// Loads near the instruction are relative to where it was loaded.
	f, _ := DecodeARM64(words(0x58000040, armNop), 0x1000) // ldr x0, .+8
	if a, why := f.Find(0x1004, 0x500000, &State{Registers: &regs}); why != Found || a.Addr != 0x501008 {
		t.Errorf("literal: %+v, %v", a, why)
	}
}

func TestNoBounds(t *testing.T) {
	im := codeImage(elf.EM_X86_64, 0x5000, code(t, "8b30 4883c008 488b08"))
	regs := Registers{rax: 100}
	a, why := im.Find(0x5002, 0, &State{Registers: &regs})
	if why != Found || a.Dist != 1 || a.Addr != 108 {
		t.Errorf("%+v, %v: without bounds only what comes can be known", a, why)
	}
	if _, why := im.Find(0x9000, 0, &State{Registers: &regs}); why != NoCode {
		t.Errorf("outside: %v", why)
	}
}

// FuzzDecode checks that no bytes break the decoders or the rules.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{0x48, 0x8b, 0x08, 0x90}, uint64(3))
	f.Add(words(0xf9400001, armNop), uint64(4))
	f.Fuzz(func(t *testing.T, b []byte, at uint64) {
		if len(b) > 4096 {
			return
		}
		for _, decode := range []func([]byte, uint64) (*Function, []uint64){DecodeAMD64, DecodeARM64} {
			fn, targets := decode(b, 0x1000)
			fn.join(targets)
			var regs Registers
			for i := range fn.insts {
				if a, why := fn.Find(fn.insts[i].pc, at, &State{Registers: &regs}); why == Found && (a.Dist < -reach || a.Dist > reach && !a.Again || a.Dist > round) {
					t.Errorf("distance %d", a.Dist)
				}
			}
		}
	})
}

// Behind a call nothing is known of what was accessed before. What comes next is told
// if it reads; a processor that has no room for one more store waits for older ones.
func TestStoreAhead(t *testing.T) {
	regs := Registers{rbp: 0x7000, rax: 0x100, rdi: 0x5000, rcx: 3}
	for _, tt := range []struct {
		name, code string
		why        Reason
		addr       uint64
	}{
		{"a store", "e800000000 4801d0 488945f8", StoreAhead, 0},
		{"a store, then a load", "e800000000 4801d0 488945f8 488b45f0", StoreAhead, 0},
		{"at a push", "e800000000 50", StoreAhead, 0},
		{"a load", "e800000000 4801d0 488b45f8", Found, 0x6ff8},
		{"reads and writes", "e800000000 4801d0 48ff45f8", Found, 0x6ff8},
		{"a store in rounds", "e800000000 f3aa", Found, 0x5000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, targets := DecodeAMD64(code(t, tt.code), 0x1000)
			f.join(targets)
			if a, why := f.Find(0x1005, 0, &State{Registers: &regs}); why != tt.why || a.Addr != tt.addr {
				t.Errorf("%v at %#x, want %v at %#x", why, a.Addr, tt.why, tt.addr)
			}
		})
	}
}

// TestCopied: behind a copy that has run through all its rounds it is not known
// whether its reads or its writes were waited for; behind a fill it is.
func TestCopied(t *testing.T) {
	regs := Registers{rsi: 0x9040, rdi: 0x5040}
	for _, tt := range []struct {
		name, code string
		why        Reason
		addr       uint64
	}{
		{"rep movsq", "f348a5 4801d0", Copied, 0},
		{"rep movsb", "f3a4 90 4801d0", Copied, 0},
		{"a loop of copies", "f3a4 90 ebfb", Copied, 0},
		{"rep stosq", "f348ab 4801d0", Found, 0x5038},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, targets := DecodeAMD64(code(t, tt.code), 0x1000)
			f.join(targets)
			if a, why := f.Find(0x1003, 0, &State{Registers: &regs}); why != tt.why || a.Addr != tt.addr || a.PC != 0x1000 {
				t.Errorf("%v at %#x by %#x, want %v at %#x by 0x1000", why, a.Addr, a.PC, tt.why, tt.addr)
			}
		})
	}
}
