package unwind

import (
	"encoding/binary"
	"fmt"

	"github.com/isobath/isobath/internal/code/symbol"
)

// Stop is why a chain of callers ends where it does.
type Stop uint8

// The ends of a chain. All but Complete leave callers out.
const (
	None       Stop = iota
	Complete        // the outermost function, which says that nobody called it
	ShortCopy       // the caller is beyond the copy of the stack
	OffStack        // the caller is in memory that was not copied: another stack
	NoMapping       // the caller is in no mapped file: code made at run time, or a stack overwritten
	NoFile          // the file of the caller cannot be opened
	NoTables        // the tables of the file say nothing about the caller
	Damaged         // the tables contradict themselves
	NoRegister      // a register that is needed was not sampled
	TooDeep         // more callers than are kept
	NoMachine       // no 64-bit program of an architecture whose tables are known
	stops
)

// Stops is the number of ends, to count them by.
const Stops = int(stops)

// Sample is what was copied when a sample was taken.
type Sample struct {
	Stack []byte // from the stack pointer on
	// Order is the byte order of Stack.
	Order binary.ByteOrder
	// Register returns a register by the kernel's number.
	Register func(bit int) (uint64, bool)
	// Code returns code that is in no file from an address on; it is nil where
	// nothing but the copy is known.
	Code func(addr uint64) []byte
}

// Caller is one frame of a chain.
type Caller struct {
	PC uint64
	// Exact says that PC is the instruction that was interrupted or is about to
	// run, and not the one behind a call.
	Exact bool
	// SP is its stack pointer: what the frame has on the stack lies from here to
	// the stack pointer of the next one.
	SP uint64
}

// Unwinder finds callers. It is not safe for concurrent use.
type Unwinder struct {
	files   *symbol.Files
	machine *machine
	tables  map[*symbol.Binary]*Tables
	opened  map[*symbol.Mapping]*opened

	frames []Caller
	// Where the last chain ended, if a file was to blame.
	blame string
}

// opened is a mapping whose file was looked for.
type opened struct {
	tables *Tables
	bias   uint64
	entry  uint64 // where the program begins, at link time
	stop   Stop
	why    string
}

// New returns an unwinder for samples of an architecture, in the words of uname.
func New(files *symbol.Files, arch string) *Unwinder {
	return &Unwinder{files: files, machine: named(arch), tables: map[*symbol.Binary]*Tables{}, opened: map[*symbol.Mapping]*opened{}}
}

// Blame returns the file, and why, that ended the last chain; empty if no file
// did.
func (u *Unwinder) Blame() string { return u.blame }

// Function reports whether two addresses of a process are in one function by
// the tables.
func (u *Unwinder) Function(find func(addr uint64) *symbol.Mapping, a, b uint64) bool {
	m := find(a)
	if m == nil || find(b) != m {
		return false
	}
	in := u.open(m)
	if in.stop != None {
		return false
	}
	r := in.tables.row(a - in.bias)
	return r != nil && b-in.bias >= r.low && b-in.bias < r.high
}

// Unwind returns the interrupted instruction and its callers, at most limit,
// and why there are no more. The slice is valid until the next call.
func (u *Unwinder) Unwind(s *Sample, find func(addr uint64) *symbol.Mapping, limit int) ([]Caller, Stop) {
	u.frames, u.blame = u.frames[:0], ""
	if u.machine == nil {
		return nil, NoMachine
	}
	f, ok := newFrame(u.machine, s)
	if !ok {
		return nil, NoRegister
	}
	exact := true
	for len(u.frames) < limit {
		at := f.pc
		if !exact {
			at-- // the call, which may be the last instruction of its function
		}
		r, stop := u.rules(find, at)
		sp, _ := f.get(f.sp)
		u.frames = append(u.frames, Caller{f.pc, exact || r != nil && r.signal, sp})
		before, cfa := f.pc, f.cfa
		if stop == NoMapping && s.Code != nil && find(at) != nil && f.leave(s.Code(f.pc)) && f.cfa > cfa {
			exact = false
			continue
		}
		if stop != None {
			return u.frames, stop
		}
		if stop := f.step(r); stop != None {
			return u.frames, stop
		}
		if f.pc == before && f.cfa == cfa {
			return u.frames, Damaged // it would go on for ever
		}
		exact = r.signal
	}
	return u.frames, TooDeep
}

// rules finds the rules at an address of a process.
func (u *Unwinder) rules(find func(addr uint64) *symbol.Mapping, addr uint64) (*row, Stop) {
	m := find(addr)
	if m == nil {
		return nil, NoMapping
	}
	in := u.open(m)
	if in.stop != None {
		u.blame = in.why
		return nil, in.stop
	}
	r := in.tables.row(addr - in.bias)
	switch {
	case r != nil:
		return r, None
	case in.entry != 0 && addr-in.bias-in.entry < entryCode:
		return nil, Complete
	}
	u.blame = m.Path
	return nil, NoTables
}

// entryCode is how many bytes from the entry of a program on nobody called. The
// dynamic linker's, which every process starts in, has no unwind tables.
const entryCode = 64

func (u *Unwinder) open(m *symbol.Mapping) *opened {
	got, ok := u.opened[m]
	if !ok {
		got = u.find(m)
		u.opened[m] = got
	}
	return got
}

func (u *Unwinder) find(m *symbol.Mapping) *opened {
	if m.Named() && !m.VDSO() {
		return &opened{stop: NoMapping}
	}
	b, err := u.files.Open(m.Path, m.BuildID)
	if err != nil {
		return &opened{stop: NoFile, why: fmt.Sprintf("%s (%v)", m.Path, err)}
	}
	bias, ok := b.Bias(m)
	if !ok {
		return &opened{stop: NoTables, why: m.Path}
	}
	t, ok := u.tables[b]
	if !ok {
		t, err = NewTables(b)
		if err == nil && t.machine != u.machine {
			t = nil
		}
		u.tables[b] = t
	}
	if t == nil {
		return &opened{stop: NoTables, why: m.Path}
	}
	return &opened{tables: t, bias: bias, entry: b.Entry()}
}

// frame is the registers in one function of a chain.
type frame struct {
	*machine
	order   binary.ByteOrder
	regs    [registers]uint64
	known   uint64 // bits of the registers that are known
	pc, cfa uint64
	stack   []byte
	low     uint64 // address of the first byte of stack
}

func newFrame(m *machine, s *Sample) (*frame, bool) {
	f := &frame{machine: m, order: s.Order, stack: s.Stack}
	for i, bit := range m.bits {
		if bit < 0 {
			continue
		}
		if v, ok := s.Register(bit); ok {
			f.set(i, v)
		}
	}
	pc, ok := s.Register(m.pc)
	sp, hasSP := f.get(m.sp)
	f.pc, f.low = pc, sp
	if m.address >= 0 {
		f.set(m.address, pc)
	}
	return f, ok && hasSP
}

func (f *frame) get(i int) (uint64, bool) {
	if i < 0 || i >= registers || f.known>>i&1 == 0 {
		return 0, false
	}
	return f.regs[i], true
}

func (f *frame) set(i int, v uint64) {
	f.regs[i] = v
	f.known |= 1 << i
}

// load reads memory as far as it was copied.
func (f *frame) load(addr uint64, size int) (uint64, Stop) {
	at := addr - f.low
	if n := uint64(len(f.stack)); at >= n || n-at < uint64(size) {
		if at >= n && at-n > nearby {
			return 0, OffStack
		}
		return 0, ShortCopy
	}
	b := f.stack[at : at+uint64(size)]
	if size == wordBytes {
		return f.order.Uint64(b), None
	}
	var word [wordBytes]byte
	if f.order == binary.BigEndian {
		copy(word[wordBytes-size:], b)
	} else {
		copy(word[:], b)
	}
	return f.order.Uint64(word[:]), None
}

// nearby is how far beyond the copy memory is still the same stack: the default
// limit of a stack.
const nearby = 8 << 20

// step goes to the caller.
func (f *frame) step(r *row) Stop {
	cfa, stop := f.frameAddress(r)
	if stop != None {
		return stop
	}
	caller := *f
	caller.cfa = cfa
	caller.set(f.sp, cfa)
	if f.address >= 0 {
		caller.known &^= 1 << f.address // it has to be found
	}
	for i := range r.rules {
		n := &r.rules[i]
		v, stop := f.value(&n.rule, cfa)
		switch {
		case n.kind == undefined && n.register == r.ra:
			return Complete
		case n.kind == undefined:
			caller.known &^= 1 << n.register
		case stop != None && n.register == r.ra:
			return stop
		case stop != None:
			caller.known &^= 1 << n.register // only those that depend on it suffer
		default:
			caller.set(n.register, v)
		}
	}
	pc, ok := caller.get(r.ra)
	if r.signed {
		pc &= userAddress
	}
	switch {
	case !ok:
		return NoRegister
	case pc == 0:
		return Complete // Go and hand-written code end so
	}
	caller.pc = pc
	*f = caller
	return None
}

func (f *frame) frameAddress(r *row) (uint64, Stop) {
	if r.cfa.kind == computed {
		return f.evaluate(r.cfa.expr)
	}
	base, ok := f.get(r.cfa.reg)
	if !ok {
		return 0, NoRegister
	}
	return base + uint64(r.cfa.n), None
}

// value returns what a register of the caller is.
func (f *frame) value(r *rule, cfa uint64) (uint64, Stop) {
	switch r.kind {
	case saved:
		return f.load(cfa+uint64(r.n), wordBytes)
	case offset:
		return cfa + uint64(r.n), None
	case moved:
		if v, ok := f.get(r.reg); ok {
			return v, None
		}
		return 0, NoRegister
	case savedBy:
		at, stop := f.evaluate(r.expr, cfa)
		if stop != None {
			return 0, stop
		}
		return f.load(at, wordBytes)
	case computed:
		return f.evaluate(r.expr, cfa)
	}
	return 0, None
}
