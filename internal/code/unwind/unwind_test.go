package unwind

import (
	"encoding/binary"
	"math"
	"testing"
)

// someFrame has a stack of 64 bytes at 0x1000, whose words are 0x10, 0x11 …
func someFrame() *frame {
	f := &frame{machine: x86, order: binary.LittleEndian, low: 0x1000}
	for i := range uint64(8) {
		f.stack = binary.LittleEndian.AppendUint64(f.stack, 0x10+i)
	}
	f.set(7, 0x1000)
	f.set(6, 0x1010)
	return f
}

func TestExpressions(t *testing.T) {
	for name, tt := range map[string]struct {
		expr []byte
		want uint64
		stop Stop
	}{
		"register":             {[]byte{exprBreg0 + 7, 0x08}, 0x1008, None},
		"register, negative":   {[]byte{exprBreg0 + 6, 0x78}, 0x1008, None},
		"numbered register":    {[]byte{exprBregx, 7, 0x08}, 0x1008, None},
		"unknown register":     {[]byte{exprBreg0 + 3, 0}, 0, NoRegister},
		"register too high":    {[]byte{exprBregx, 0xff, 0x7f, 0}, 0, NoRegister},
		"load":                 {[]byte{exprBreg0 + 7, 0x10, exprDeref}, 0x12, None},
		"load of one byte":     {[]byte{exprBreg0 + 7, 0x38, exprDerefSize, 1}, 0x17, None},
		"load past the end":    {[]byte{exprBreg0 + 7, 0x39, exprDeref}, 0, ShortCopy},
		"load below":           {[]byte{exprBreg0 + 7, 0x78, exprDeref}, 0, OffStack},
		"load elsewhere":       {[]byte{exprAddr, 0, 0, 0, 0, 0, 1, 0, 0, exprDeref}, 0, OffStack},
		"load of nine bytes":   {[]byte{exprBreg0 + 7, 0, exprDerefSize, 9}, 0, Damaged},
		"literals":             {[]byte{exprLit0 + 31, exprLit0 + 2, exprMul}, 62, None},
		"signed bytes":         {[]byte{exprConst1s, 0xff}, math.MaxUint64, None},
		"two bytes":            {[]byte{exprConst2u, 0x34, 0x12}, 0x1234, None},
		"two signed bytes":     {[]byte{exprConst2s, 0xfe, 0xff, exprNeg}, 2, None},
		"four bytes":           {[]byte{exprConst4u, 1, 0, 0, 0x80}, 0x80000001, None},
		"four signed bytes":    {[]byte{exprConst4s, 0xff, 0xff, 0xff, 0xff, exprAbs}, 1, None},
		"eight bytes":          {[]byte{exprConst8u, 1, 0, 0, 0, 0, 0, 0, 0x80}, 1<<63 + 1, None},
		"variable numbers":     {[]byte{exprConstu, 0x80, 1, exprConsts, 0x7f, exprPlus}, 127, None},
		"order of minus":       {[]byte{exprLit0 + 9, exprLit0 + 4, exprMinus}, 5, None},
		"order of division":    {[]byte{exprLit0 + 9, exprLit0 + 4, exprDiv}, 2, None},
		"remainder":            {[]byte{exprLit0 + 9, exprLit0 + 4, exprMod}, 1, None},
		"division by zero":     {[]byte{exprLit0 + 9, exprLit0, exprDiv}, 0, Damaged},
		"remainder of zero":    {[]byte{exprLit0 + 9, exprLit0, exprMod}, 0, Damaged},
		"shifts":               {[]byte{exprLit0 + 1, exprLit0 + 4, exprShl, exprLit0 + 1, exprShr}, 8, None},
		"signed shift":         {[]byte{exprConst1s, 0xf0, exprLit0 + 2, exprShra, exprNot}, 3, None},
		"shift too far":        {[]byte{exprLit0 + 1, exprConst1u, 64, exprShl}, 0, None},
		"bits":                 {[]byte{exprLit0 + 12, exprLit0 + 10, exprXor, exprLit0 + 9, exprOr, exprLit0 + 14, exprAnd}, 14, None},
		"add a constant":       {[]byte{exprLit0 + 1, exprPlusConst, 0x80, 1}, 129, None},
		"swap":                 {[]byte{exprLit0 + 1, exprLit0 + 9, exprSwap, exprMinus}, 8, None},
		"over":                 {[]byte{exprLit0 + 5, exprLit0 + 9, exprOver, exprDrop, exprMinus, exprNeg}, 4, None},
		"rot":                  {[]byte{exprLit0 + 1, exprLit0 + 2, exprLit0 + 3, exprRot, exprMinus, exprPlus}, 2, None},
		"pick":                 {[]byte{exprLit0 + 7, exprLit0 + 2, exprLit0 + 3, exprPick, 2}, 7, None},
		"pick too deep":        {[]byte{exprLit0 + 7, exprPick, 1}, 0, Damaged},
		"compare":              {[]byte{exprLit0 + 7, exprLit0 + 8, exprLt}, 1, None},
		"compare signed":       {[]byte{exprConst1s, 0xff, exprLit0, exprGe}, 0, None},
		"branch taken":         {[]byte{exprLit0 + 3, exprLit0 + 1, exprBranch, 1, 0, exprNeg, exprNop}, 3, None},
		"branch not taken":     {[]byte{exprLit0 + 3, exprLit0, exprBranch, 1, 0, exprNeg}, uint64(math.MaxUint64 - 2), None},
		"for ever":             {[]byte{exprSkip, 0xfd, 0xff}, 0, Damaged},
		"skip outside":         {[]byte{exprSkip, 0xf0, 0xff}, 0, Damaged},
		"nothing":              {nil, 0, Damaged},
		"nothing to take":      {[]byte{exprPlus}, 0, Damaged},
		"cut off":              {[]byte{exprConst8u, 1}, 0, Damaged},
		"unknown":              {[]byte{0xe0}, 0, Damaged},
		"more than fits":       {[]byte{exprLit0, exprDup, exprSkip, 0xfc, 0xff}, 0, Damaged},
		"plt, at its first":    {[]byte{0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}, 0x1008, None},
		"plt, after its push":  {[]byte{0x77, 0x08, exprConst1u, 0x0b, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}, 0x1010, None},
		"operands come first":  {[]byte{exprNop}, 0, Damaged},
		"equal, greater, less": {[]byte{exprLit0 + 1, exprLit0 + 1, exprEq, exprLit0, exprGt, exprLit0 + 1, exprLe, exprLit0 + 2, exprNe}, 1, None},
	} {
		t.Run(name, func(t *testing.T) {
			f := someFrame()
			if name == "plt, at its first" {
				f.set(16, 0x401020) // breg16
			}
			got, stop := f.evaluate(tt.expr)
			if got != tt.want || stop != tt.stop {
				t.Errorf("%#x, %d; want %#x, %d", got, stop, tt.want, tt.stop)
			}
		})
	}
	if got, stop := someFrame().evaluate([]byte{exprLit0 + 8, exprMinus}, 0x1018); got != 0x1010 || stop != None {
		t.Errorf("with the frame's address: %#x, %d", got, stop)
	}
}

func TestPointers(t *testing.T) {
	base := bases{section: 0x1000, text: 0x2000, data: 0x3000, function: 0x4000}
	for name, tt := range map[string]struct {
		enc   byte
		bytes []byte
		at    int
		want  uint64
		bad   bool
	}{
		"address":           {formAddress, []byte{1, 2, 0, 0, 0, 0, 0, 0}, 0, 0x201, false},
		"relative to self":  {baseSelf | formS4, []byte{0xff, 0xfc, 0xff, 0xff, 0xff}, 1, 0x1001 - 4, false},
		"relative to text":  {baseText | formU2, []byte{1, 2}, 0, 0x2201, false},
		"relative to data":  {baseData | formS2, []byte{0xff, 0xff}, 0, 0x2fff, false},
		"to the function":   {baseFunction | formULEB, []byte{0x81, 1}, 0, 0x4081, false},
		"signed, variable":  {formSLEB, []byte{0x7f}, 0, math.MaxUint64, false},
		"four bytes":        {formU4, []byte{1, 0, 0, 0x80}, 0, 0x80000001, false},
		"eight":             {formU8, []byte{1, 0, 0, 0, 0, 0, 0, 1}, 0, 1<<56 + 1, false},
		"eight, signed":     {formS8 | encIndirect, []byte{1, 0, 0, 0, 0, 0, 0, 1}, 0, 1<<56 + 1, false},
		"aligned":           {baseAligned, []byte{9, 9, 9, 9, 9, 9, 9, 9, 5, 0, 0, 0, 0, 0, 0, 0}, 3, 5, false},
		"left out":          {encOmit, nil, 0, 0, false},
		"cut off":           {formU8, []byte{1, 2, 3}, 0, 0, true},
		"unknown form":      {0x0f, make([]byte, 8), 0, 0, true},
		"unknown base":      {0x60, make([]byte, 8), 0, 0, true},
		"endless variable":  {formULEB, []byte{0x80, 0x80}, 0, 0, true},
		"very long, signed": {formSLEB, []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0}, 0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := reader{b: tt.bytes, at: tt.at, order: binary.LittleEndian}
			if got := r.pointer(tt.enc, 8, base); r.bad != tt.bad || !tt.bad && got != tt.want {
				t.Errorf("%#x, bad %v; want %#x, bad %v", got, r.bad, tt.want, tt.bad)
			}
		})
	}
}

// Every instruction of a call frame program, one after the other.
func TestInstructions(t *testing.T) {
	start := []byte{opDefCFA, 7, 8, opOffset | 16, 1} // rsp+8, ra at c-8
	for name, tt := range map[string]struct {
		program []byte
		cfa     string
		rules   map[int]string
	}{
		"nothing":            {nil, "rsp+8", map[int]string{16: "c-8"}},
		"later code":         {[]byte{opAdvance | 4, opDefCFAOffset, 16, opAdvance | 60, opDefCFAOffset, 99}, "rsp+16", nil},
		"later by one byte":  {[]byte{opAdvance1, 16, opDefCFAOffset, 16, opAdvance1, 1, opDefCFAOffset, 99}, "rsp+16", nil},
		"later by two":       {[]byte{opAdvance2, 17, 0, opDefCFAOffset, 99}, "rsp+8", nil},
		"later by four":      {[]byte{opAdvance4, 0, 1, 0, 0, opDefCFAOffset, 99}, "rsp+8", nil},
		"later by eight":     {[]byte{opAdvance8, 0, 1, 0, 0, 0, 0, 0, 0, opDefCFAOffset, 99}, "rsp+8", nil},
		"set location":       {[]byte{opSetLoc, 0x11, 0x10, 0, 0, 0, 0, 0, 0, opDefCFAOffset, 99}, "rsp+8", nil},
		"register":           {[]byte{opDefCFARegister, 6}, "rbp+8", nil},
		"register, factored": {[]byte{opDefCFASF, 6, 0x7e}, "rbp+16", nil},
		"offset, factored":   {[]byte{opDefCFAOffsetSF, 0x7d}, "rsp+24", nil},
		"expression":         {[]byte{opDefCFAExpr, 2, exprBreg0 + 6, 0}, "exp", nil},
		"saved":              {[]byte{opOffset | 6, 2, opOffsetExtended, 3, 3, opOffsetSF, 12, 0x7f, opNegativeOffset, 13, 2}, "rsp+8", map[int]string{6: "c-16", 3: "c-24", 12: "c+8", 13: "c+16"}},
		"values":             {[]byte{opValOffset, 6, 2, opValOffsetSF, 3, 0x7f}, "rsp+8", map[int]string{6: "v-16", 3: "v+8"}},
		"computed":           {[]byte{opExpression, 6, 1, exprNop, opValExpression, 3, 1, exprNop}, "rsp+8", map[int]string{6: "exp", 3: "vexp"}},
		"moved, unknown":     {[]byte{opRegister, 6, 3, opUndefined, 16}, "rsp+8", map[int]string{6: "r3", 16: "u"}},
		"restored":           {[]byte{opOffset | 16, 5, opOffset | 6, 5, opRestore | 16, opRestoreExtended, 6}, "rsp+8", map[int]string{16: "c-8", 6: "u"}},
		"remembered":         {[]byte{opRememberState, opDefCFA, 6, 16, opSameValue, 16, opRestoreState, opArgsSize, 8, opNop}, "rsp+8", map[int]string{16: "c-8"}},
		"not remembered":     {[]byte{opRestoreState}, "", nil},
		"unknown":            {[]byte{0x3f, 0}, "", nil},
		"signed on x86":      {[]byte{opNegateRA}, "", nil},
		"cut off":            {[]byte{opAdvance4, 1}, "", nil},
		"vast expression":    {[]byte{opDefCFAExpr, 0xff, 0xff, 0xff, 0x7f}, "", nil},
		"offset of expr":     {[]byte{opDefCFAExpr, 1, exprNop, opDefCFAOffset, 8}, "", nil},
		"vector registers":   {[]byte{opOffset | 40, 2, opOffsetExtended, 0x80, 1, 2}, "rsp+8", nil},
	} {
		t.Run(name, func(t *testing.T) {
			e := &fde{cie: &cie{code: 1, data: -8, ra: 16, program: start, word: 8}, low: 0x1000, high: 0x1100, program: tt.program}
			r := x86.rules(&frames{order: binary.LittleEndian}, e, 0x1010)
			if (r == nil) != (tt.cfa == "") {
				t.Fatalf("rules %v, want frame %q", r, tt.cfa)
			}
			if r == nil {
				return
			}
			if got := spellCFA(0x3e, r); got != tt.cfa {
				t.Errorf("frame at %s, want %s", got, tt.cfa)
			}
			for register, want := range tt.rules {
				if got := spell(r, register); got != want {
					t.Errorf("register %d is %s, want %s", register, got, want)
				}
			}
		})
	}
}

// A program that only remembers ends, and one that is all advances too.
func TestProgramsAreBounded(t *testing.T) {
	many := make([]byte, 1<<16)
	for i := range many {
		many[i] = opRememberState
	}
	e := &fde{cie: &cie{code: 1, data: -8, ra: 16, word: 8}, high: 8, program: many}
	if r := x86.rules(&frames{order: binary.LittleEndian}, e, 4); r != nil {
		t.Errorf("rules %v of 65536 remembered states", r)
	}
}
