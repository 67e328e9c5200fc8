package pyframe

import (
	"encoding/binary"
	"errors"
	"testing"
)

// room is memory that a test fills.
type room struct {
	start uint64
	data  []byte
	reads int
}

func (m *room) Read(addr uint64, to []byte) bool {
	m.reads++
	if addr < m.start || addr-m.start > uint64(len(m.data)) || uint64(len(to)) > uint64(len(m.data))-(addr-m.start) {
		return false
	}
	copy(to, m.data[addr-m.start:])
	return true
}

func (m *room) Ahead([]uint64, uint64) {}

func (m *room) put(at, v uint64) { binary.LittleEndian.PutUint64(m.data[at-m.start:], v) }

// Places of a made interpreter of 3.11 with one thread, in its memory.
const (
	madeStart   = 0x10000
	madeRuntime = madeStart
	madeHome    = madeStart + 0x1000 // the interpreter's state
	madeState   = madeStart + 0x2000
	madeFrames  = madeStart + 0x3000
	madeCode    = madeStart + 0x4000
	madeName    = madeStart + 0x5000
	madeTable   = madeStart + 0x6000
	madeStack   = madeStart + 0x7000
	madeSelf    = 0x7f0011223344
	madeTypes   = 0x900
)

// made is a function "spin", called by itself, in one run of the loop.
func made() (*room, *Reader) {
	l := layouts[11]
	m := &room{start: madeStart, data: make([]byte, 0x8000)}
	r := NewReader(&Interpreter{Minor: 11, layout: l, runtime: madeRuntime, codeType: madeTypes, frameType: madeTypes + 1, unicodeType: madeTypes + 2, bytesType: madeTypes + 3})
	m.put(madeRuntime+l.interpreters, madeHome)
	m.put(madeHome+l.threads, madeState)
	m.put(madeState+stateInterpreter, madeHome)
	m.put(madeState+l.thread, madeSelf)
	m.put(madeState+l.cframe, madeStack+0x40)
	m.put(madeStack+0x40+l.cframePrevious, madeState+l.rootCFrame)
	m.put(madeStack+0x40+l.cframeCurrent, madeFrames+0x100)
	for i, at := range []uint64{madeFrames, madeFrames + 0x100} {
		m.put(at+l.frameCode, madeCode)
		m.put(at+l.frameLast, madeCode+l.code+2*unit)
		m.data[at+l.frameEntry-m.start] = byte(1 - i)
	}
	m.put(madeFrames+0x100+l.frameBack, madeFrames)
	m.put(madeCode+objectType, madeTypes)
	m.put(madeCode+l.codeName, madeName)
	m.put(madeCode+l.codeFile, madeName)
	m.put(madeCode+l.codeLines, madeTable)
	m.put(madeCode+l.codeLine, 40)
	m.put(madeName+objectType, madeTypes+2)
	m.put(madeName+objectSize, 4)
	m.data[madeName+unicodeState-m.start] = 1<<2 | 1<<5 | 1<<6
	copy(m.data[madeName+unicodeASCII-m.start:], "spin")
	m.put(madeTable+objectType, madeTypes+3)
	m.put(madeTable+objectSize, 4)
	// Two instructions at the function's line, and four two lines below.
	copy(m.data[madeTable+bytesData-m.start:], []byte{0x80 | 10<<3 | 1, 0, 0x80 | 12<<3 | 3, 0})
	return m, r
}

func TestStack(t *testing.T) {
	m, r := made()
	for range 2 { // the second time it is known
		got, err := r.Stack(m, Thread{Self: madeSelf, Stack: madeStack})
		if err != nil || len(got.Frames) != 2 || len(got.Runs) != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
		for i, f := range got.Frames {
			if f.String() != "spin (spin:42)" || f.Outermost != (i == 1) {
				t.Errorf("frame %d is %v", i, f)
			}
		}
	}
}

// What does not check out gives no frames.
func TestStackContradicts(t *testing.T) {
	l := layouts[11]
	tests := map[string]struct {
		at, v uint64
		want  error
	}{
		"another thread":                {madeState + l.thread, 1, ErrIdle},
		"a state that is not listed":    {madeHome + l.threads, 0, ErrIdle},
		"no code":                       {madeCode + objectType, madeTypes + 3, ErrMemory},
		"a name that is no text":        {madeName + objectType, madeTypes, ErrMemory},
		"a name without end":            {madeName + objectSize, 1 << 40, ErrMemory},
		"a table without end":           {madeTable + objectSize, 1 << 40, ErrMemory},
		"an instruction elsewhere":      {madeFrames + l.frameLast, madeCode - 64, ErrMemory},
		"an instruction far behind":     {madeFrames + l.frameLast, madeCode + 1<<30, ErrMemory},
		"half an instruction":           {madeFrames + l.frameLast, madeCode + l.code + 3, ErrMemory},
		"a frame that called itself":    {madeFrames + 0x100 + l.frameBack, madeFrames + 0x100, ErrMemory},
		"a run that is not on stack":    {madeState + l.cframe, madeStack - 0x40, ErrMemory},
		"a run that leads to itself":    {madeStack + 0x40 + l.cframePrevious, madeStack + 0x40, ErrMemory},
		"a caller that is not the last": {madeFrames + l.frameBack, madeFrames + 0x100, ErrMemory},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m, r := made()
			m.put(tt.at, tt.v)
			got, err := r.Stack(m, Thread{Self: madeSelf, Stack: madeStack})
			if !errors.Is(err, tt.want) {
				t.Errorf("%+v, %v; want %v", got, err, tt.want)
			}
		})
	}
}

// A code object that another one took the place of is read anew.
func TestStackCodeReplaced(t *testing.T) {
	m, r := made()
	if _, err := r.Stack(m, Thread{Self: madeSelf, Stack: madeStack}); err != nil {
		t.Fatal(err)
	}
	copy(m.data[madeName+0x100-m.start:], m.data[madeName-m.start:][:0x100])
	copy(m.data[madeName+0x100+unicodeASCII-m.start:], "rest")
	m.put(madeCode+layouts[11].codeName, madeName+0x100)
	got, err := r.Stack(m, Thread{Self: madeSelf, Stack: madeStack})
	if err != nil || got.Frames[0].Function != "rest" {
		t.Errorf("%+v, %v", got, err)
	}
}

// Memory of any kind is read in bounds and in time.
func FuzzStack(f *testing.F) {
	f.Add(11, uint16(0), uint64(0))
	f.Add(11, uint16(0x2000), uint64(madeFrames))
	f.Add(10, uint16(0x3018), uint64(1<<63))
	f.Add(9, uint16(0x2018), uint64(madeFrames))
	f.Fuzz(func(t *testing.T, minor int, at uint16, v uint64) {
		l := layouts[minor]
		if l == nil || int(at) > 0x8000-8 {
			return
		}
		m, r := made()
		r.Minor, r.layout = minor, l
		m.put(madeState+l.thread, madeSelf)
		m.put(madeRuntime+l.interpreters, madeHome)
		m.put(madeHome+l.threads, madeState)
		if !l.ownFrames() {
			m.put(madeState+l.frame, madeFrames)
			m.put(madeFrames+objectType, madeTypes+1)
		}
		m.put(madeStart+uint64(at), v)
		got, err := r.Stack(m, Thread{Self: madeSelf, Stack: madeStack})
		if err == nil && len(got.Frames) > keptFrames || m.reads > 20*maxFrames {
			t.Errorf("%d frames, %d reads", len(got.Frames), m.reads)
		}
	})
}

func TestMayHold(t *testing.T) {
	for file, want := range map[string]bool{"/usr/bin/python3.11": true, "/usr/bin/python3": true, "libpython3.9.so.1.0": true, "libpython3.10.so": true, "python2.7": false, "libpythonic.so": false, "libpython3.so": true, "/usr/lib/python3.11/x.so": false} {
		if MayHold(file) != want {
			t.Errorf("MayHold(%s) is %v", file, !want)
		}
	}
}
