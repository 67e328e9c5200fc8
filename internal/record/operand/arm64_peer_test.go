package operand

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/arch/arm64/arm64asm"

	"github.com/isobath/isobath/internal/data/refs"
)

var (
	armMemory  = regexp.MustCompile(`\[(x\d+|sp)(?:,#(-?(?:0x)?[0-9a-f]+))?(?:,([xw]\d+|[xw]zr)(?:,?\s*(lsl|uxtw|sxtw|sxtx)?\s*#?(\d*))?)?\](!)?(?:,\s*#(-?(?:0x)?[0-9a-f]+))?`)
	armAccess  = regexp.MustCompile(`^(ld|st)`)
	armAtomics = regexp.MustCompile(`^(ld(add|clr|eor|set|smax|smin|umax|umin)|swp|cas)`)
)

// TestAgainstDisassembler decodes random loads and stores and compares base,
// index, displacement and direction with an independent disassembler.
func TestAgainstDisassembler(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	checked := 0
	for range 400_000 {
		w := r.Uint32()&^(0b0101<<25) | 0b0100<<25 // a load or store
		w &^= 1 << 25
		b := words(w)
		x, err := arm64asm.Decode(b)
		if err != nil {
			continue
		}
		text := strings.ToLower(arm64asm.GNUSyntax(x))
		m := armMemory.FindStringSubmatch(text)
		if m == nil || !armAccess.MatchString(text) || armAtomics.MatchString(text) {
			continue
		}
		f, _ := DecodeARM64(b, 0x1000)
		in := &f.insts[0]
		if !in.accesses || in.why != Found {
			t.Fatalf("%08x %s: no access", w, text)
		}
		checked++
		compareARM(t, w, text, m, f)
	}
	if checked < 20_000 {
		t.Errorf("only %d instructions were compared", checked)
	}
	t.Logf("%d instructions compared", checked)
}

// compareARM works out the address from the text, by registers whose values
// tell them apart.
func compareARM(t *testing.T, w uint32, text string, m []string, f *Function) {
	t.Helper()
	var regs Registers
	for i := range regs {
		regs[i] = uint64(i+1) << 40
	}
	want := armAddress(m, &regs)
	a, ok := f.eval(f, 0, 0, &regs)
	if !ok || a.Addr != want {
		t.Fatalf("%08x %s: address %#x, want %#x", w, text, a.Addr, want)
	}
	if load := strings.HasPrefix(text, "ld"); load != (a.Op == refs.Load) {
		t.Fatalf("%08x %s: %v", w, text, a.Op)
	}
	// A base that is written back is followed.
	after := regs
	lost := uint32(0)
	for _, e := range f.insts[0].effects {
		lost = e.follow(&after, lost)
	}
	wantAfter := armRegister(m[1], &regs)
	switch {
	case m[6] == "!":
		wantAfter += armNumber(m[2])
	case m[7] != "":
		wantAfter += armNumber(m[7])
	default:
		return
	}
	base := 31
	if m[1] != "sp" {
		base, _ = strconv.Atoi(m[1][1:])
	}
	if after[base] != wantAfter {
		t.Fatalf("%08x %s: base becomes %#x, want %#x", w, text, after[base], wantAfter)
	}
}

// armAddress works out the address of a disassembled operand.
func armAddress(m []string, regs *Registers) uint64 {
	at := armRegister(m[1], regs) + armNumber(m[2])
	if m[3] == "" {
		return at
	}
	shift, _ := strconv.Atoi(m[5])
	index := armRegister(m[3], regs)
	if m[4] == "sxtw" {
		index = uint64(int64(int32(index)))
	}
	return at + index<<shift
}

func armNumber(s string) uint64 {
	v, _ := strconv.ParseInt(s, 0, 64)
	return uint64(v)
}

func armRegister(s string, regs *Registers) uint64 {
	if s == "sp" {
		return regs[31]
	}
	n, err := strconv.Atoi(s[1:])
	switch {
	case err != nil: // the zero register
		return 0
	case s[0] == 'w':
		return uint64(uint32(regs[n]))
	}
	return regs[n]
}
