package pyframe

import (
	"encoding/binary"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/isobath/isobath/internal/code/symbol"
)

// Memory reads a process. False is for what is not all there.
type Memory interface {
	Read(addr uint64, to []byte) bool
	// Ahead says what is read next, so that it may come at once.
	Ahead(addrs []uint64, size uint64)
}

// Thread is a thread that stands still.
type Thread struct {
	Self  uint64 // what pthread_self returns in it
	Stack uint64 // stack pointer
}

// Stack is what a thread runs, innermost first.
type Stack struct {
	Frames []Frame
	// Runs are the addresses, on the C stack, of the records that runs of the
	// loop have there; nil where the version has none.
	Runs []uint64
}

// Frame is one function of Python.
type Frame struct {
	symbol.Frame
	// Outermost is set for the last one of those that one run of the loop has.
	Outermost bool
}

// The ways not to get frames.
var (
	ErrIdle    = errors.New("its thread runs no Python")
	ErrAnother = errors.New("its thread has several interpreters")
	ErrMemory  = errors.New("the interpreter's memory made no sense")
)

// Bounds of what is believed.
const (
	maxInterpreters = 16
	maxThreads      = 1 << 12
	maxFrames       = 1 << 12
	keptFrames      = 128
	maxName         = 1 << 10
	maxPath         = 1 << 12
	maxTable        = 1 << 20
	maxKnown        = 1 << 14
	farthest        = 1 << 30 // from the stack pointer to a record of the loop
)

// Reader reads the frames of one interpreter. Not safe for concurrent use.
type Reader struct {
	*Interpreter
	known  map[uint64]*code
	states map[uint64]uint64 // of threads, by what they call themselves
}

// NewReader returns a reader that knows nothing of the process yet.
func NewReader(i *Interpreter) *Reader {
	return &Reader{Interpreter: i, known: map[uint64]*code{}, states: map[uint64]uint64{}}
}

// code is a code object as it was last seen.
type code struct {
	object [maxCodeSize]byte // to see that it is still the same
	name   string
	file   string
	first  int
	table  []byte
}

// Sizes of the largest objects of all versions.
const (
	maxCodeSize  = 184
	maxFrameSize = 112
	maxStateSize = 344
)

// Stack returns what a thread runs.
func (r *Reader) Stack(m Memory, t Thread) (*Stack, error) {
	state, err := r.state(m, t.Self)
	if err != nil {
		return nil, err
	}
	w := walk{Reader: r, Memory: m, thread: t}
	switch {
	case r.layout.ownFrames():
		err = w.runs(state)
	default:
		err = w.objects(state)
	}
	if err != nil {
		return nil, err
	}
	if len(w.places) == 0 {
		return nil, ErrIdle
	}
	return w.named()
}

func word(b []byte, at uint64) uint64 { return binary.LittleEndian.Uint64(b[at:]) }

func pointer(m Memory, addr uint64) (uint64, bool) {
	var b [8]byte
	ok := m.Read(addr, b[:])
	return word(b[:], 0), ok
}

// state finds the state of a thread. What was found before is looked at again: it
// must still be among those of its interpreter.
func (r *Reader) state(m Memory, self uint64) (uint64, error) {
	current, ok := pointer(m, r.runtime+r.layout.current)
	if !ok {
		return 0, ErrMemory
	}
	if current != 0 && r.belongs(m, current, self) {
		return current, nil
	}
	if known := r.states[self]; known != 0 && r.belongs(m, known, self) {
		return known, nil
	}
	delete(r.states, self)
	found, err := r.search(m, self)
	if err == nil && len(r.states) < maxThreads {
		r.states[self] = found
	}
	return found, err
}

// belongs reports whether a state is that of a thread, and in the list of its
// interpreter.
func (r *Reader) belongs(m Memory, state, self uint64) bool {
	var b [maxStateSize]byte
	if !m.Read(state, b[:r.layout.stateSize]) || word(b[:], r.layout.thread) != self {
		return false
	}
	if before := word(b[:], previousState); before != 0 {
		at, ok := pointer(m, before+nextState)
		return ok && at == state
	}
	at, ok := pointer(m, word(b[:], stateInterpreter)+r.layout.threads)
	return ok && at == state
}

// search looks through all states of all interpreters: other threads may change
// the lists meanwhile, so what is found is looked at once more.
func (r *Reader) search(m Memory, self uint64) (uint64, error) {
	found := uint64(0)
	at, ok := pointer(m, r.runtime+r.layout.interpreters)
	for n := 0; ok && at != 0 && n < maxInterpreters; n++ {
		state, listed := pointer(m, at+r.layout.threads)
		for k := 0; listed && state != 0 && k < maxThreads; k++ {
			if id, ok := pointer(m, state+r.layout.thread); ok && id == self && r.belongs(m, state, self) {
				if found != 0 && found != state {
					return 0, ErrAnother
				}
				found = state
			}
			state, listed = pointer(m, state+nextState)
		}
		at, ok = pointer(m, at+nextInterpreter)
	}
	if found == 0 {
		return 0, ErrIdle
	}
	return found, nil
}

// place is where a function stands.
type place struct {
	code      uint64
	last      int // offset of the instruction; negative before the first
	raw       uint64
	outermost bool
	generator bool
}

// walk is one look at a thread.
type walk struct {
	*Reader
	Memory
	thread Thread
	places []place
	marks  []uint64
}

// objects follows frames that are objects, until 3.10. Each has a run of the loop.
func (w *walk) objects(state uint64) error {
	frame, ok := pointer(w, state+w.layout.frame)
	if !ok {
		return ErrMemory
	}
	for n := 0; frame != 0; n++ {
		var b [maxFrameSize]byte
		if n == maxFrames || !w.Read(frame, b[:w.layout.frameSize]) || word(b[:], objectType) != w.frameType {
			return ErrMemory
		}
		last := int(int32(binary.LittleEndian.Uint32(b[w.layout.frameLast:])))
		if w.Minor >= 10 { // counts instructions
			last *= unit
		}
		w.places = append(w.places, place{code: word(b[:], w.layout.frameCode), last: last, outermost: true})
		frame = word(b[:], w.layout.frameBack)
	}
	if w.layout.cframe == 0 {
		return nil
	}
	return w.marked(state)
}

// marked collects the records of the runs of the loop in 3.10, one a frame. The last
// is that of the state itself.
func (w *walk) marked(state uint64) error {
	at, ok := pointer(w, state+w.layout.cframe)
	for ok && w.onStack(at) {
		if len(w.marks) == maxFrames {
			return ErrMemory
		}
		w.marks = append(w.marks, at)
		at, ok = pointer(w, at+w.layout.cframePrevious)
	}
	if !ok || len(w.marks) != len(w.places) {
		return ErrMemory
	}
	return nil
}

// onStack reports whether an address is on the stack, beyond the records so far.
func (w *walk) onStack(at uint64) bool {
	low := w.thread.Stack
	if n := len(w.marks); n > 0 {
		low = w.marks[n-1] + 1
	}
	return at >= low && at-w.thread.Stack < farthest && at%8 == 0
}

// runs follows the records of runs of the loop in 3.11, and the frames of each.
func (w *walk) runs(state uint64) error {
	at, ok := pointer(w, state+w.layout.cframe)
	root := state + w.layout.rootCFrame
	if !ok {
		return ErrMemory
	}
	var b [24]byte
	expected := uint64(0) // the frame that called the run before
	for ; ; at = word(b[:], w.layout.cframePrevious) {
		if !w.Read(at, b[:]) {
			return ErrMemory
		}
		current := word(b[:], w.layout.cframeCurrent)
		if len(w.marks) > 0 && current != expected {
			return ErrMemory
		}
		if at == root {
			return nil
		}
		if !w.onStack(at) || len(w.marks) == maxFrames {
			return ErrMemory
		}
		w.marks = append(w.marks, at)
		if expected, ok = w.run(current); !ok {
			return ErrMemory
		}
	}
}

// run follows the frames of one run of the loop, and returns the one that called it.
func (w *walk) run(frame uint64) (caller uint64, ok bool) {
	for n := 0; n < maxFrames && frame != 0 && frame%8 == 0; n++ {
		var b [maxFrameSize]byte
		if !w.Read(frame, b[:w.layout.frameSize]) || b[w.layout.frameEntry] > 1 || len(w.places) == maxFrames {
			return 0, false
		}
		entry := b[w.layout.frameEntry] == 1
		w.places = append(w.places, place{code: word(b[:], w.layout.frameCode), raw: word(b[:], w.layout.frameLast), outermost: entry, generator: b[w.layout.frameOwner] == ownedByGenerator})
		frame = word(b[:], w.layout.frameBack)
		if entry {
			return frame, true
		}
	}
	return 0, false
}

// named looks up the functions. A frame that is not complete yet is none; the run
// that it begins keeps its place all the same.
func (w *walk) named() (*Stack, error) {
	// Of deep recursion the innermost are kept.
	places := w.places
	var addrs []uint64
	for i := range places[:min(len(places), keptFrames)] {
		addrs = append(addrs, places[i].code)
	}
	w.Ahead(addrs, w.layout.codeSize)
	out := &Stack{Runs: w.marks}
	for i := range addrs {
		p := &places[i]
		c, ok := w.codeAt(p.code)
		if !ok {
			return nil, ErrMemory
		}
		last := p.last
		if w.layout.ownFrames() {
			begin := p.code + w.layout.code
			last = int(int64(p.raw - begin))
			if p.raw < begin-unit || last%unit != 0 || last > maxTable {
				return nil, ErrMemory
			}
			traceable := int(int32(binary.LittleEndian.Uint32(c.object[w.layout.codeTraceable:])))
			if !p.generator && last < traceable*unit {
				out.Frames = append(out.Frames, Frame{Outermost: p.outermost})
				continue
			}
		}
		out.Frames = append(out.Frames, Frame{symbol.Frame{Function: c.name, File: c.file, Line: w.layout.lines(c.table, c.first, last)}, p.outermost})
	}
	return out, nil
}

// codeAt returns a code object. It is read at every look, and what it points to
// only if it is another than the one that was there.
func (w *walk) codeAt(addr uint64) (*code, bool) {
	var b [maxCodeSize]byte
	if addr == 0 || addr%8 != 0 || !w.Read(addr, b[:w.layout.codeSize]) || word(b[:], objectType) != w.codeType {
		return nil, false
	}
	clear(b[:objectType]) // how many refer to it
	if c := w.known[addr]; c != nil && w.same(&c.object, &b) {
		return c, true
	}
	c := &code{object: b, first: int(int32(binary.LittleEndian.Uint32(b[w.layout.codeLine:])))}
	var named, filed bool
	c.name, named = w.text(word(b[:], w.layout.codeName), maxName)
	c.file, filed = w.text(word(b[:], w.layout.codeFile), maxPath)
	table, ok := w.bytes(word(b[:], w.layout.codeLines))
	if !named || !filed || !ok || c.name == "" || c.first < 0 {
		return nil, false
	}
	c.table = table
	if len(w.known) == maxKnown {
		clear(w.known)
	}
	w.known[addr] = c
	return c, true
}

// same compares what of code objects does not change while they live: names, lines
// and the bytecode are what they were made with.
func (w *walk) same(a, b *[maxCodeSize]byte) bool {
	l := w.layout
	for _, at := range []uint64{l.codeName, l.codeFile, l.codeLines} {
		if word(a[:], at) != word(b[:], at) {
			return false
		}
	}
	sized := word(a[:], objectSize) == word(b[:], objectSize)
	if !l.ownFrames() {
		sized = word(a[:], l.code) == word(b[:], l.code)
	}
	return sized && binary.LittleEndian.Uint32(a[l.codeLine:]) == binary.LittleEndian.Uint32(b[l.codeLine:])
}

// bytes reads a bytes object.
func (w *walk) bytes(addr uint64) ([]byte, bool) {
	var head [bytesData]byte
	if !w.Read(addr, head[:]) || word(head[:], objectType) != w.bytesType || word(head[:], objectSize) > maxTable {
		return nil, false
	}
	out := make([]byte, word(head[:], objectSize))
	return out, w.Read(addr+bytesData, out)
}

// text reads a string object of at most so many characters. What cannot be shown is
// replaced.
func (w *walk) text(addr uint64, most uint64) (string, bool) {
	var head [unicodeASCII]byte
	if !w.Read(addr, head[:]) || word(head[:], objectType) != w.unicodeType || word(head[:], objectSize) > most {
		return "", false
	}
	state := binary.LittleEndian.Uint32(head[unicodeState:])
	kind, compact, ascii := uint64(state>>2&7), state>>5&1, state>>6&1
	data := addr + unicodeCompact
	if ascii == 1 {
		data = addr + unicodeASCII
	}
	if compact == 0 || kind != 1 && kind != 2 && kind != 4 || ascii == 1 && kind != 1 {
		return "", false
	}
	raw := make([]byte, word(head[:], objectSize)*kind)
	if !w.Read(data, raw) {
		return "", false
	}
	var out strings.Builder
	for ; len(raw) > 0; raw = raw[kind:] {
		var c rune
		switch kind {
		case 1:
			c = rune(raw[0])
		case 2:
			c = rune(binary.LittleEndian.Uint16(raw))
		default:
			c = rune(binary.LittleEndian.Uint32(raw) & (1<<31 - 1))
		}
		if !unicode.IsPrint(c) {
			c = utf8.RuneError
		}
		out.WriteRune(c)
	}
	return out.String(), true
}
