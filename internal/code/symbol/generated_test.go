package symbol

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
)

// jitRecord is a record of a jitdump: numbers, and bytes as they are.
func jitRecord(kind uint32, at uint64, fields ...any) []byte {
	var body bytes.Buffer
	for _, f := range fields {
		if text, ok := f.(string); ok {
			body.WriteString(text + "\x00")
			continue
		}
		_ = binary.Write(&body, binary.LittleEndian, f) // to memory
	}
	head := binary.LittleEndian.AppendUint32(nil, kind)
	head = binary.LittleEndian.AppendUint32(head, uint32(jitRecordHead+body.Len()))
	return append(binary.LittleEndian.AppendUint64(head, at), body.Bytes()...)
}

func jitdump(records ...[]byte) []byte {
	head := make([]byte, jitHeader)
	binary.LittleEndian.PutUint32(head, jitMagic)
	binary.LittleEndian.PutUint32(head[8:], jitHeader)
	return append(head, bytes.Join(records, nil)...)
}

func loadRecord(at, start, size, index uint64, name string) []byte {
	return jitRecord(jitLoad, at, uint32(7), uint32(7), start, start, size, index, name, make([]byte, size))
}

// frameOf is what a resolver says about an instruction of process 7 that no file
// has.
func frameOf(t *testing.T, g *Generated, at, pc uint64) Frame {
	t.Helper()
	r := NewResolver(&Space{}, &Files{}, nil)
	r.Generated = g
	n := r.number(7, at, pc)
	if err := r.locate(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if len(r.sites[n].location.Frames) == 0 {
		return Frame{}
	}
	return r.sites[n].location.Frames[0]
}

func TestPerfMap(t *testing.T) {
	g := &Generated{}
	text := `1000 80 JS:~warm /src/app.js:3:9
1080 0x40 Builtin:ArrayMap
0x2000 10 py::inner_loop:/src/hot.py
3000 20 JS:* /src/app.js:12:1
4000 20 void Foo.bar(int)
1000 80 JS:*hot /src/app.js:5:9
not a line
5000 zz broken
ffffffffffffff00 200 beyond the end
6000 0 empty
`
	if err := g.ReadPerfMap(7, strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	for pc, want := range map[uint64]Frame{
		0x107f: {Function: "hot", File: "/src/app.js"}, // further down, so later
		0x1080: {Function: "Builtin:ArrayMap"},
		0x10c0: {},
		0x2005: {Function: "inner_loop", File: "/src/hot.py"},
		0x3000: {Function: "(app.js:12)", File: "/src/app.js"},
		0x4010: {Function: "void Foo.bar(int)"},
		0x5000: {},
		0x6000: {},
	} {
		if got := frameOf(t, g, 1, pc); got != want {
			t.Errorf("%#x: %+v, want %+v", pc, got, want)
		}
	}
	if g.find(8, 1, 0x1000) != none {
		t.Error("another process has the same names")
	}
}

func TestJitdump(t *testing.T) {
	dump := jitdump(
		loadRecord(100, 0x1000, 0x80, 1, "JS:~first /src/app.js:3:9"),
		jitRecord(9, 150, "of a kind that is not known"),
		jitRecord(jitDebug, 200, uint64(0x1000), uint64(3),
			uint64(0x1000), uint32(5), uint32(0), "/src/app.js",
			uint64(0x1010), uint32(6), uint32(0), "\xff",
			uint64(0x1020), uint32(9), uint32(0), "/src/other.js"),
		loadRecord(200, 0x1000, 0x40, 2, "JS:*second /src/app.js:5:9"),
		jitRecord(jitMove, 300, uint32(7), uint32(7), uint64(0x5000), uint64(0x1000), uint64(0x5000), uint64(0x40), uint64(2)),
		// V8 adds the size of an ELF header to the addresses of lines.
		jitRecord(jitDebug, 400, uint64(0x8000), uint64(2), uint64(0x8040), uint32(1), uint32(0), "/src/v8.js", uint64(0x8050), uint32(2), uint32(0), "/src/v8.js"),
		loadRecord(400, 0x8000, 0x40, 3, "JS:*shifted /src/v8.js:1:1"),
		jitRecord(jitDebug, 500, uint64(0x9000), uint64(2), uint64(0x9000), uint32(1), uint32(0), "/src/a.js", uint64(0xffff0000), uint32(2), uint32(0), "/src/a.js"),
		loadRecord(500, 0x9000, 0x40, 4, "JS:^garbled /src/a.js:1:1"),
	)
	g := &Generated{}
	if err := g.ReadJitdump(7, bytes.NewReader(dump)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at, pc uint64
		want   Frame
	}{
		{50, 0x1004, Frame{Function: "first", File: "/src/app.js"}}, // by a clock that is a little behind
		{150, 0x1004, Frame{Function: "first", File: "/src/app.js"}},
		{250, 0x1004, Frame{"second", "/src/app.js", 5}},
		{250, 0x101f, Frame{"second", "/src/app.js", 6}},
		{250, 0x1030, Frame{"second", "/src/other.js", 9}},
		{250, 0x1050, Frame{Function: "first", File: "/src/app.js"}},
		{350, 0x5010, Frame{"second", "/src/app.js", 6}},
		{450, 0x800f, Frame{"shifted", "/src/v8.js", 1}},
		{450, 0x8010, Frame{"shifted", "/src/v8.js", 2}},
		{550, 0x9001, Frame{Function: "garbled", File: "/src/a.js"}},
	} {
		if got := frameOf(t, g, c.at, c.pc); got != c.want {
			t.Errorf("%#x at %d: %+v, want %+v", c.pc, c.at, got, c.want)
		}
	}
	// A program that still runs has written part of a record.
	cut := &Generated{}
	if err := cut.ReadJitdump(7, bytes.NewReader(dump[:len(dump)-3])); err != nil || cut.find(7, 500, 0x8000) == none || cut.find(7, 500, 0x9000) != none {
		t.Errorf("a dump without its end: %v", err)
	}
	if err := cut.ReadJitdump(7, strings.NewReader("no dump")); err == nil {
		t.Error("a file of another kind was read")
	}
}

// FuzzGenerated: whatever is in these files, which any user may write, reading them
// ends and asks for no memory that they do not have.
func FuzzGenerated(f *testing.F) {
	f.Add([]byte("1000 80 JS:~warm /src/app.js:3:9\n"))
	f.Add(jitdump(jitRecord(jitDebug, 1, uint64(64), uint64(1)<<60, uint64(64), uint32(5), uint32(0), "/src/app.js"),
		loadRecord(2, 64, 32, 1, "JS:*a b:1:1"), jitRecord(jitMove, 3, uint64(0), uint64(0), uint64(0), uint64(1)<<63, uint64(32), uint64(1))))
	f.Fuzz(func(t *testing.T, data []byte) {
		g := &Generated{}
		_ = g.ReadPerfMap(7, bytes.NewReader(data)) // damage is expected
		_ = g.ReadJitdump(7, bytes.NewReader(data))
		for i := range g.all {
			if f := &g.all[i]; g.find(7, f.since, f.start) == none {
				t.Fatalf("%+v is not found", f)
			}
			frameOf(t, g, g.all[i].since, g.all[i].end-1)
		}
	})
}

// A function that is no code has a name in every process, and its neighbours have none.
func TestGeneratedInterpreted(t *testing.T) {
	g := &Generated{}
	if g.find(1, 0, InterpretedPC(0)) != none {
		t.Error("a name where there is none")
	}
	frames := []Frame{{"f", "a.py", 3}, {"f", "a.py", 4}}
	for _, f := range frames {
		g.AddInterpreted(f)
	}
	for i, want := range frames {
		n := g.find(7, 0, InterpretedPC(i))
		if n == none || g.all[n].frameAt(InterpretedPC(i)) != want {
			t.Errorf("number %d is %d", i, n)
		}
	}
	for _, pc := range []uint64{InterpretedPC(0) - 1, InterpretedPC(2), 1 << 63, 0x1000} {
		if g.find(7, 0, pc) != none {
			t.Errorf("%#x has a name", pc)
		}
	}
}
