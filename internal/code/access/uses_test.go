package access

import "testing"

// TestFixed: only the address of an access that no register decides is known beforehand.
func TestFixed(t *testing.T) {
	for name, c := range map[string]struct {
		code  []byte
		at    uint64
		fixed bool
	}{
		"andpd 0x20(%rip),%xmm0":   {[]byte{0x66, 0x0f, 0x54, 0x05, 0x20, 0, 0, 0}, 0x1028, true},
		"movapd (%rax),%xmm0":      {[]byte{0x66, 0x0f, 0x28, 0x00}, 0, false},
		"movapd %xmm1,%xmm0":       {[]byte{0x66, 0x0f, 0x28, 0xc1}, 0, false},
		"movaps 0x8(,%rcx,4),%xmm": {[]byte{0x0f, 0x28, 0x04, 0x8d, 0x08, 0, 0, 0}, 0, false},
		"mov %fs:0x28,%rax":        {[]byte{0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0}, 0, false},
		"push %rax":                {[]byte{0x50}, 0, false},
	} {
		in, err := DecodeAMD64(c.code)
		if err != nil {
			t.Fatal(name, err)
		}
		if at, fixed := in.Fixed(0x1000); at != c.at || fixed != c.fixed {
			t.Errorf("%s: %#x %v, want %#x %v", name, at, fixed, c.at, c.fixed)
		}
	}
}
