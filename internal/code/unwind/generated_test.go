package unwind

import (
	"encoding/binary"
	"encoding/hex"
	"testing"

	"github.com/isobath/isobath/internal/code/symbol"
)

// Code in no file is left by what it does before its return, and by nothing that
// may go another way.
func TestLeave(t *testing.T) {
	for name, tt := range map[string]struct {
		machine         *machine
		code            string
		ok              bool
		pc, sp          uint64
		register, value uint64 // one that changes
	}{
		// someFrame: words 0x10, 0x11 … from 0x1000 on, rsp 0x1000, rbp 0x1010.
		"as CPython":          {x86, "4883c408c3", true, 0x11, 0x1010, 6, 0x1010},
		"return":              {x86, "c3", true, 0x10, 0x1008, 6, 0x1010},
		"registers are saved": {x86, "5b415c5dc3", true, 0x13, 0x1020, 3, 0x10},
		"frame pointer":       {x86, "c9c3", true, 0x13, 0x1020, 6, 0x12},
		"padded":              {x86, "90c3", true, 0x10, 0x1008, 6, 0x1010},
		"another number":      {x86, "4881c410000000c3", true, 0x12, 0x1018, 6, 0x1010},
		"it calls first":      {x86, "ffd14883c408c3", false, 0, 0, 0, 0},
		"it may jump":         {x86, "7402c3c3", false, 0, 0, 0, 0},
		"stack grows":         {x86, "4883c4f8c3", false, 0, 0, 0, 0},
		"beyond the copy":     {x86, "4883c47fc3", false, 0, 0, 0, 0},
		"no code":             {x86, "", false, 0, 0, 0, 0},
		"cut off":             {x86, "4883", false, 0, 0, 0, 0},
		"nothing but padding": {x86, "90909090909090909090909090909090c3", false, 0, 0, 0, 0},
		"ARM":                 {arm, "fd7bc1a8c0035fd6", true, 0x11, 0x1010, 29, 0x10},
		"ARM, another load":   {arm, "e00740f9c0035fd6", false, 0, 0, 0, 0},
		"ARM, cut off":        {arm, "fd7bc1", false, 0, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := someFrame()
			if f.machine = tt.machine; tt.machine == arm {
				f.set(31, 0x1000)
				f.known &^= 1 << 30
			}
			f.pc = 0x77
			code, err := hex.DecodeString(tt.code)
			if err != nil {
				t.Fatal(err)
			}
			before := *f
			ok := f.leave(code)
			if ok != tt.ok {
				t.Fatalf("left: %v", ok)
			}
			if !ok {
				if f.pc != before.pc || f.known != before.known || f.regs != before.regs {
					t.Error("a frame that was not left has changed")
				}
				return
			}
			sp, _ := f.get(f.sp)
			v, known := f.get(int(tt.register))
			if f.pc != tt.pc || sp != tt.sp || f.cfa != tt.sp || !known || v != tt.value {
				t.Errorf("%#x with the stack at %#x, register %#x; want %#x, %#x, %#x", f.pc, sp, v, tt.pc, tt.sp, tt.value)
			}
		})
	}
}

// Callers behind code in no file are found, if its code is known.
func TestUnwindThroughGenerated(t *testing.T) {
	made := &symbol.Mapping{Start: 0x5000, End: 0x6000, Path: "//anon", Exec: true}
	find := func(addr uint64) *symbol.Mapping {
		if addr >= 0x5000 && addr < 0x6000 {
			return made
		}
		return nil
	}
	// Two trampolines of CPython, then the end.
	var stack []byte
	for _, word := range []uint64{0, 0x5106, 0, 0x9000} {
		stack = binary.LittleEndian.AppendUint64(stack, word)
	}
	s := &Sample{Stack: stack, Order: binary.LittleEndian, Register: func(bit int) (uint64, bool) {
		switch bit {
		case x86.pc:
			return 0x5006, true
		case x86.bits[x86.sp]:
			return 0x7000, true
		}
		return 0, false
	}}
	chain := func() (out []uint64) {
		frames, stop := New(&symbol.Files{}, "amd64").Unwind(s, find, 10)
		if stop != NoMapping {
			t.Errorf("stopped by %d", stop)
		}
		for _, f := range frames {
			out = append(out, f.PC)
		}
		return out
	}
	if got := chain(); len(got) != 1 {
		t.Errorf("without its code: %#x", got)
	}
	s.Code = func(addr uint64) []byte {
		if find(addr) == nil {
			t.Errorf("code at %#x was asked for", addr)
		}
		return []byte{0x48, 0x83, 0xc4, 0x08, 0xc3}
	}
	if got := chain(); len(got) != 3 || got[1] != 0x5106 || got[2] != 0x9000 {
		t.Errorf("%#x, want both and where they were called", got)
	}
}
