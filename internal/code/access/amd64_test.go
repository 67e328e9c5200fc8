package access

import (
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/refs"
)

// vectors are registers with known content: index 2 holds 0, 1, 2 … as 32-bit
// numbers, index 4 as 64-bit ones, index 3 has the sign of every other 64-bit
// element set, masks have every other bit.
type vectors struct{}

func (vectors) Vector(n int) (v [64]byte) {
	for i := range v {
		switch {
		case n == 2 && i%4 == 0:
			v[i] = byte(i / 4)
		case n == 4 && i%8 == 0:
			v[i] = byte(i / 8)
		case n == 3 && i%16 == 15:
			v[i] = 0x80
		}
	}
	return v
}

func (vectors) Mask(n int) uint64 { return 0x5555555555555555 }

var regs = RegsAMD64{General: [16]uint64{0x1000, 3, 0x3000, 0x4000, 0x7000, 0x8000, 0x9000, 0xa000, 0xb000, 9: 130, 15: 0xf000}, PC: 0x400000, FS: 0x100000, GS: 0x200000}

const (
	L = refs.Load
	S = refs.Store
	M = refs.Modify
)

// assembly and what it touches, by hand from the processor manual.
var cases = []struct {
	text string
	want []Access
}{
	{"mov 8(%rax,%rcx,4), %edx", []Access{{0x1014, 4, L}}},
	{"mov %dx, -2(%rbx)", []Access{{0x3ffe, 2, S}}},
	{"mov 0x10(%rip), %rdx", []Access{{0x400017, 8, L}}},
	{"vmovsd 0x10(%rip), %xmm7", []Access{{0x400018, 8, L}}},
	{"vfmadd231pd 0x10(%rip), %ymm1, %ymm2", []Access{{0x400019, 32, L}}},
	{"vmovupd 0x40(%rip), %zmm17", []Access{{0x40004a, 64, L}}},
	{"vmovsd 0x601000, %xmm7", []Access{{0x601000, 8, L}}},
	{"mov %fs:0x28, %rdx", []Access{{0x100028, 8, L}}},
	{"mov %gs:(%rax), %rdx", []Access{{0x201000, 8, L}}},
	{"vmovups %fs:(%rax), %ymm1", []Access{{0x101000, 32, L}}},
	{"mov (%eax), %edx", []Access{{0x1000, 4, L}}},
	{"add %eax, (%rbx)", []Access{{0x4000, 4, M}}},
	{"add (%rbx), %eax", []Access{{0x4000, 4, L}}},
	{"cmp %eax, (%rbx)", []Access{{0x4000, 4, L}}},
	{"testb $1, (%rbx)", []Access{{0x4000, 1, L}}},
	{"lock cmpxchg %rdx, (%rbx)", []Access{{0x4000, 8, M}}},
	{"lock cmpxchg16b (%rbx)", []Access{{0x4000, 16, M}}},
	{"xchg %eax, (%rbx)", []Access{{0x4000, 4, M}}},
	{"lea 8(%rax), %rdx", nil},
	{"nopw 0(%rax,%rax,1)", nil},
	{"prefetcht0 (%rax)", nil},
	{"clflush (%rax)", nil},
	{"clwb (%rax)", nil},
	{"endbr64", nil},
	{"push %rbx", []Access{{0x6ff8, 8, S}}},
	{"push $1", []Access{{0x6ff8, 8, S}}},
	{"pushw %bx", []Access{{0x6ffe, 2, S}}},
	{"push (%rbx)", []Access{{0x4000, 8, L}, {0x6ff8, 8, S}}},
	{"pop %rbx", []Access{{0x7000, 8, L}}},
	{"pop (%rbx)", []Access{{0x7000, 8, L}, {0x4000, 8, S}}},
	{"pop 8(%rsp)", []Access{{0x7000, 8, L}, {0x7010, 8, S}}},
	{"pushfq", []Access{{0x6ff8, 8, S}}},
	{"call .+64", []Access{{0x6ff8, 8, S}}},
	{"call *8(%rbx)", []Access{{0x4008, 8, L}, {0x6ff8, 8, S}}},
	{"jmp *(%rbx)", []Access{{0x4000, 8, L}}},
	{"ret", []Access{{0x7000, 8, L}}},
	{"leave", []Access{{0x8000, 8, L}}},
	{"movsb", []Access{{0x9000, 1, L}, {0xa000, 1, S}}},
	{"rep movsq", []Access{{0x9000, 8, L}, {0xa000, 8, S}}},
	{"rep stosl", []Access{{0xa000, 4, S}}},
	{"repe cmpsb", []Access{{0xa000, 1, L}, {0x9000, 1, L}}},
	{"lodsw", []Access{{0x9000, 2, L}}},
	{"repne scasb", []Access{{0xa000, 1, L}}},
	{"xlatb", []Access{{0x4000, 1, L}}},
	{"bts %r9, (%rbx)", []Access{{0x4010, 8, M}}},
	{"bt $3, %rdx", nil},
	{"btl $3, (%rbx)", []Access{{0x4000, 4, L}}},
	{"mull (%rbx)", []Access{{0x4000, 4, L}}},
	{"imul $3, (%rbx), %eax", []Access{{0x4000, 4, L}}},
	{"notq (%rbx)", []Access{{0x4000, 8, M}}},
	{"sete (%rbx)", []Access{{0x4000, 1, S}}},
	{"fldt (%rbx)", []Access{{0x4000, 10, L}}},
	{"fstpt (%rbx)", []Access{{0x4000, 10, S}}},
	{"fadds (%rbx)", []Access{{0x4000, 4, L}}},
	{"fldcw (%rbx)", []Access{{0x4000, 2, L}}},
	{"fxsave (%rbx)", []Access{{0x4000, 512, S}}},
	{"xrstor (%rbx)", []Access{{0x4000, 0, L}}},
	{"ldmxcsr (%rbx)", []Access{{0x4000, 4, L}}},
	{"movups (%rbx), %xmm1", []Access{{0x4000, 16, L}}},
	{"movsd %xmm1, (%rbx)", []Access{{0x4000, 8, S}}},
	{"addsd (%rbx), %xmm1", []Access{{0x4000, 8, L}}},
	{"pextrd $1, %xmm1, (%rbx)", []Access{{0x4000, 4, S}}},
	{"vextractf128 $1, %ymm1, (%rbx)", []Access{{0x4000, 16, S}}},
	{"vfmadd231pd (%rbx), %ymm1, %ymm2", []Access{{0x4000, 32, L}}},
	{"vaddpd (%rbx){1to8}, %zmm1, %zmm2", []Access{{0x4000, 8, L}}},
	{"vgatherdpd %ymm3, (%rax,%xmm2,8), %ymm1", []Access{{0x1008, 8, L}, {0x1018, 8, L}}},
	{"vgatherqps %xmm3, (%rax,%ymm4,4), %xmm1", []Access{{0x100c, 4, L}}},
	{"vpgatherdd (%rax,%zmm2,4), %zmm1{%k1}", []Access{{0x1000, 4, L}, {0x1008, 4, L}, {0x1010, 4, L}, {0x1018, 4, L}, {0x1020, 4, L}, {0x1028, 4, L}, {0x1030, 4, L}, {0x1038, 4, L}}},
	{"vpscatterqq %zmm1, 8(%rax,%zmm4,8){%k2}", []Access{{0x1008, 8, S}, {0x1018, 8, S}, {0x1028, 8, S}, {0x1038, 8, S}}},
	{"vmovupd (%rax), %zmm1{%k1}", []Access{{0x1000, 8, L}, {0x1010, 8, L}, {0x1020, 8, L}, {0x1030, 8, L}}},
	{"vmaskmovpd %ymm1, %ymm3, (%rax)", []Access{{0x1008, 8, S}, {0x1018, 8, S}}},
	{"vpcompressd %zmm1, (%rax){%k1}", []Access{{0x1000, 32, S}}},
	{"vpmovqd %zmm1, (%rax)", []Access{{0x1000, 32, S}}},
	{"maskmovdqu %xmm3, %xmm1", []Access{{0xa00f, 1, S}}},
	{"kmovq (%rax), %k1", []Access{{0x1000, 8, L}}},
	{"add %rax, %rbx", nil},
	{"syscall", nil},
}

// assemble returns the bytes of each line, from the listing of the assembler.
func assemble(t *testing.T) [][]byte {
	t.Helper()
	as := test.Peer(t, "as", "binutils")
	dir := t.TempDir()
	var text strings.Builder
	for _, c := range cases {
		text.WriteString(c.text + "\n.byte 0xf4,0xf4,0xf4\n") // HLT: a mark between
	}
	source := filepath.Join(dir, "a.s")
	if err := os.WriteFile(source, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(as, "-o", filepath.Join(dir, "a.o"), source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	objcopy := test.Peer(t, "objcopy", "binutils")
	flat := filepath.Join(dir, "a.bin")
	if out, err := exec.Command(objcopy, "-O", "binary", "-j", ".text", filepath.Join(dir, "a.o"), flat).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	code, err := os.ReadFile(flat)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	for _, b := range strings.Split(string(code), "\xf4\xf4\xf4") {
		all = append(all, []byte(b))
	}
	return all
}

func TestAccesses(t *testing.T) {
	code := assemble(t)
	for i, c := range cases {
		in, err := DecodeAMD64(append(code[i], 0x90, 0x90, 0x90, 0x90))
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if in.Len != len(code[i]) {
			t.Errorf("%s is %d bytes long, got %d", c.text, len(code[i]), in.Len)
		}
		if d := cmp.Diff(c.want, in.Accesses(&regs, vectors{}, nil)); d != "" {
			t.Errorf("%s (%x): %s", c.text, code[i], d)
		}
	}
}

// A string instruction with nothing to repeat touches nothing.
func TestNothingToRepeat(t *testing.T) {
	in, err := DecodeAMD64([]byte{0xf3, 0xa4})
	if err != nil {
		t.Fatal(err)
	}
	empty := regs
	empty.General[rcx] = 0
	if got := in.Accesses(&empty, nil, nil); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

func TestFlow(t *testing.T) {
	for code, want := range map[string]Flow{"c3": Return, "f3c3": Return, "c20800": Return, "e800000000": Call, "ff10": Call, "ffe0": Jump, "ff20": Jump, "eb00": Jump, "7400": Branch, "0f8400000000": Branch, "e2fe": Branch, "488d0500000000": Straight, "660f6f0500000000": Straight, "90": Straight} {
		b, _ := hex.DecodeString(code)
		in, err := DecodeAMD64(b)
		if err != nil || in.Flow != want {
			t.Errorf("%s: %v, %v, want %v", code, in.Flow, err, want)
		}
	}
}

// No bytes may panic the decoder or give an instruction longer than they are.
func FuzzDecodeAMD64(f *testing.F) {
	for _, s := range []string{"f3a4", "c4e2e9920c d0", "62f27d499 00c90", "660fae30", "67f3a5", "c8100000", "0fc70f", "d72e"} {
		b, _ := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		in, err := DecodeAMD64(code)
		if err != nil {
			return
		}
		if in.Len <= 0 || in.Len > len(code) || in.Len > 15 {
			t.Fatalf("%x: %d bytes long", code, in.Len)
		}
		in.Accesses(&regs, vectors{}, nil)
		in.Shape(nil)
	})
}

// TestVzero: what follows is another instruction.
func TestVzero(t *testing.T) {
	for _, code := range []string{"\xc5\xf8\x77\xc3", "\xc5\xf8\x77\x90\x90\x90\x90\x90", "\xc5\xfc\x77\x48\x8b\x07"} {
		in, err := DecodeAMD64([]byte(code))
		accesses, known := in.Shape(nil)
		if err != nil || in.Len != 3 || len(accesses) != 0 || !known {
			t.Errorf("%x: %d bytes, %v, %v", code, in.Len, accesses, err)
		}
	}
}
