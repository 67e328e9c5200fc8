package operand

import (
	"testing"

	"github.com/isobath/isobath/internal/data/refs"
)

// Encodings and meanings are those of the Arm Architecture Reference Manual.
func TestOneARM64(t *testing.T) {
	r := Registers{0: 0x1000, 1: 0x2000, 2: 4, 29: 0x7000, 31: 0x8000}
	for _, tt := range []struct {
		word uint32
		text string
		want Access
		ok   bool
	}{
		{0xf9400001, "ldr x1, [x0]", Access{Addr: 0x1000, Size: 8, Op: refs.Load}, true},
		{0xb9000420, "str w0, [x1, #4]", Access{Addr: 0x2004, Size: 4, Op: refs.Store}, true},
		{0xa9bf7bfd, "stp x29, x30, [sp, #-16]!", Access{Addr: 0x7ff0, Size: 16, Op: refs.Store}, true},
		{0xa8c17bfd, "ldp x29, x30, [sp], #16", Access{Addr: 0x8000, Size: 16, Op: refs.Load}, true},
		{0xf8627820, "ldr x0, [x1, x2, lsl #3]", Access{Addr: 0x2020, Size: 8, Op: refs.Load}, true},
		{0x58000040, "ldr x0, .+8", Access{Addr: 0x400008, Size: 8, Op: refs.Load}, true},
		{0xf8200022, "ldadd x0, x2, [x1]", Access{Addr: 0x2000, Size: 8, Op: refs.Modify}, true},
		{0x3dc00000, "ldr q0, [x0]", Access{Addr: 0x1000, Size: 16, Op: refs.Load}, true},
		{0x8b020020, "add x0, x1, x2", Access{}, false},
		{0xd65f03c0, "ret", Access{}, false},
	} {
		got, why, ok := OneARM64(tt.word, 0x400000, &r)
		got.PC = 0
		if got != tt.want || ok != tt.ok || why != Found {
			t.Errorf("%s: %+v, %v, %v; want %+v, %v", tt.text, got, why, ok, tt.want, tt.ok)
		}
	}
}
