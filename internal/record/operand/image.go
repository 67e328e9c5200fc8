package operand

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/isobath/isobath/internal/base/plainfile"
)

// Bounds knows the symbols of a program, as symbol.Binary does.
type Bounds interface {
	// FunctionAt returns the link-time addresses of the function around one.
	FunctionAt(addr uint64) (low, high uint64, ok bool)
}

// Image is the code of one program or library, decoded function by function as
// samples ask for it. Not safe for concurrent use.
type Image struct {
	// Go says that the Go compiler made it.
	Go bool

	machine elf.Machine
	parts   []part
	bounds  Bounds
	unwind  []span // from .eh_frame_hdr, sorted
	far     []uint64
	scanned bool
	funcs   map[uint64]*Function
}

// part is a loaded segment with bytes in the file.
type part struct {
	pc   uint64
	code []byte
	exec bool
}

// span is the code of a function.
type span struct{ low, high uint64 }

// Bounds on what is decoded at once.
const (
	maxImage    = 2 << 30
	maxFunction = 4 << 20
)

// OpenImage reads the code of an ELF file. bounds may be nil.
func OpenImage(path string, bounds Bounds) (*Image, error) {
	f, err := plainfile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("code of %s: %w", path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("code of %s: %w", path, err)
	}
	im, err := newImage(f, info.Size(), bounds)
	if err != nil {
		return nil, fmt.Errorf("code of %s: %w", path, err)
	}
	return im, nil
}

// newImage reads what is loaded of an ELF file and does not change while it runs:
// code, and tables beside it. The rest, debug information above all, may be a
// hundred times as much.
func newImage(r io.ReaderAt, size int64, bounds Bounds) (im *Image, err error) {
	defer func() {
		if p := recover(); p != nil { // of the library, on damaged headers
			im, err = nil, fmt.Errorf("damaged ELF file: %v", p)
		}
	}()
	e, err := elf.NewFile(r)
	if err != nil {
		return nil, err
	}
	im = &Image{machine: e.Machine, bounds: bounds, funcs: map[uint64]*Function{}}
	im.Go = e.Section(".gopclntab") != nil || e.Section(".data.rel.ro.gopclntab") != nil || e.Section(".go.buildinfo") != nil
	var header *elf.Prog
	for _, p := range e.Progs {
		if p.Off > uint64(size) || p.Filesz > uint64(size)-p.Off || p.Filesz > maxImage {
			continue
		}
		exec := p.Flags&elf.PF_X != 0
		switch {
		case p.Type == elf.PT_LOAD && (exec || p.Flags&elf.PF_W == 0):
			code := make([]byte, p.Filesz)
			if _, err := r.ReadAt(code, int64(p.Off)); err != nil && err != io.EOF {
				return nil, err
			}
			im.parts = append(im.parts, part{p.Vaddr, code, exec})
		case p.Type == elf.PT_GNU_EH_FRAME:
			header = p
		}
	}
	if header != nil {
		im.unwind = im.readUnwind(header.Vaddr)
	}
	return im, nil
}

// codeImage makes an image of code that is in no file, such as the vdso or what
// a compiler made at run time. Its bounds are not known.
func codeImage(machine elf.Machine, pc uint64, code []byte) *Image {
	return &Image{machine: machine, parts: []part{{pc, code, true}}, funcs: map[uint64]*Function{}}
}

// Windows finds accesses in code that is in no file, and remembers what it has
// decoded: finding out where instructions begin takes a millisecond. Not safe for
// concurrent use.
type Windows struct {
	machine elf.Machine
	known   map[window]*Function // nil where no beginning is certain
}

// window is the code around a counter. Compilers at run time change code, so the
// bytes are part of it.
type window struct {
	low, pc uint64
	code    string
}

// maxWindows bounds what is remembered.
const maxWindows = 4096

// NewWindows returns one that knows nothing.
func NewWindows(machine elf.Machine) *Windows {
	return &Windows{machine: machine, known: map[window]*Function{}}
}

// Find returns the access around a program counter in a window of code whose
// functions are not known. Instructions of x86 have no fixed length, but decoded
// from any byte they soon fall into step: where nearly all beginnings agree on
// the instructions before the counter they are taken for what ran. Jumps from
// outside the window remain unknown, so nothing is verified.
func (w *Windows) Find(low uint64, code []byte, pc uint64, s *State) (Access, Reason) {
	if pc < low || pc-low >= uint64(len(code)) {
		return Access{}, NoCode
	}
	key := window{low, pc, string(code)}
	f, seen := w.known[key]
	if !seen {
		if len(w.known) >= maxWindows {
			clear(w.known)
		}
		f = w.decode(low, code, pc)
		w.known[key] = f
	}
	if f == nil {
		return Access{}, NoFunction
	}
	a, why := f.Find(pc, 0, s)
	a.Unverified = true
	return a, why
}

func (w *Windows) decode(low uint64, code []byte, pc uint64) *Function {
	im := codeImage(w.machine, low, code)
	start, ok := im.inStep(low, pc)
	if !ok {
		return nil
	}
	f, _ := im.decodeCode(code[start-low:], start)
	if f != nil {
		f.join(nil)
		f.unverified = true
	}
	return f
}

// Beginnings tried, bytes apart from the counter; how many there must be at least,
// and how many of eight must agree.
const (
	stepNear, stepFar = 32, 96
	leastTried        = 6
	agreement         = 7
)

// inStep returns where decoding may begin so that it meets the counter in step.
func (im *Image) inStep(low, pc uint64) (uint64, bool) {
	if im.machine == elf.EM_AARCH64 {
		return max(low, pc-4*reach), true
	}
	if start, ok := im.loopHead(low, pc); ok {
		return start, true
	}
	// Where each beginning is once it is within the last instructions. Those that
	// meet bytes which are no instruction were not in step.
	met := map[uint64]int{}
	tried := 0
	for at := max(low, pc-min(pc, stepFar)); at+stepNear <= pc; at++ {
		f, _ := im.decodeCode(im.bytes(at)[:pc-at], at)
		if f == nil || slices.ContainsFunc(f.insts, func(in inst) bool { return in.flow == broken }) {
			continue
		}
		tried++
		i := slices.IndexFunc(f.insts, func(in inst) bool { return in.pc+stepNear > pc })
		if last := &f.insts[len(f.insts)-1]; i >= 0 && last.pc+uint64(last.len) == pc {
			met[f.insts[i].pc]++
		}
	}
	for start, n := range met {
		if tried >= leastTried && n*8 >= tried*agreement {
			return start, true
		}
	}
	return 0, false
}

// loopHead returns the farthest instruction before the counter that one behind it
// jumps back to: an instruction begins there, without any doubt.
func (im *Image) loopHead(low, pc uint64) (uint64, bool) {
	ahead, _ := im.decodeCode(im.bytes(pc), pc)
	head := pc
	for i := range ahead.insts {
		in := &ahead.insts[i]
		if in.flow == broken || i > round {
			break
		}
		if in.target >= low && in.target < head && !in.repeats {
			if f, _ := im.decodeCode(im.bytes(in.target)[:pc-in.target], in.target); f.meets(pc) {
				head = in.target
			}
		}
		if in.flow == leave && !in.calls {
			break
		}
	}
	return head, head < pc
}

// meets reports whether all is decoded, and ends where the next begins.
func (f *Function) meets(pc uint64) bool {
	if len(f.insts) == 0 || slices.ContainsFunc(f.insts, func(in inst) bool { return in.flow == broken }) {
		return false
	}
	last := &f.insts[len(f.insts)-1]
	return last.pc+uint64(last.len) == pc
}

// bytes returns the file's bytes from a link-time address to the end of its
// segment.
func (im *Image) bytes(pc uint64) []byte {
	for _, p := range im.parts {
		if pc >= p.pc && pc-p.pc < uint64(len(p.code)) {
			return p.code[pc-p.pc:]
		}
	}
	return nil
}

// readUnwind reads the sorted table of functions that exception handling needs,
// which stripped programs have too. Version 1 with a table of 32-bit pairs
// relative to the header is the only form that linkers write.
func (im *Image) readUnwind(at uint64) []span {
	b := im.bytes(at)
	if len(b) < 12 || b[0] != 1 || b[2] != 3 || b[3] != 0x3b {
		return nil
	}
	n := uint64(binary.LittleEndian.Uint32(b[8:]))
	if n > uint64(len(b)-12)/8 {
		return nil
	}
	out := make([]span, 0, n)
	for i := range n {
		low := at + uint64(int64(int32(binary.LittleEndian.Uint32(b[12+8*i:]))))
		fde := at + uint64(int64(int32(binary.LittleEndian.Uint32(b[16+8*i:]))))
		if size, ok := im.frameSize(fde, low); ok {
			out = append(out, span{low, low + size})
		}
	}
	slices.SortFunc(out, func(a, b span) int {
		if a.low < b.low {
			return -1
		}
		return 1
	})
	return out
}

// frameSize reads the size of a function from its frame description: length,
// CIE, start, size. It is believed if the start is the one expected.
func (im *Image) frameSize(fde, low uint64) (uint64, bool) {
	b := im.bytes(fde)
	if len(b) < 16 {
		return 0, false
	}
	start := fde + 8 + uint64(int64(int32(binary.LittleEndian.Uint32(b[8:]))))
	return uint64(binary.LittleEndian.Uint32(b[12:])), start == low
}

// function returns the bounds of the function around an address.
func (im *Image) function(pc uint64) (span, bool) {
	if im.bounds != nil {
		if low, high, ok := im.bounds.FunctionAt(pc); ok && low <= pc && pc < high {
			return span{low, high}, true
		}
	}
	i, found := slices.BinarySearchFunc(im.unwind, pc, func(s span, pc uint64) int {
		switch {
		case s.high <= pc:
			return -1
		case s.low > pc:
			return 1
		}
		return 0
	})
	if !found {
		return span{}, false
	}
	return im.unwind[i], true
}

// Find returns the access around a program counter; see Function.Find.
func (im *Image) Find(pc, bias uint64, s *State) (Access, Reason) {
	at, ok := im.function(pc)
	if !ok || at.high-at.low > maxFunction {
		return im.findAhead(pc, bias, s.Registers)
	}
	f, seen := im.funcs[at.low]
	if !seen {
		f = im.decode(at)
		im.funcs[at.low] = f
	}
	if f == nil {
		return Access{}, NoCode
	}
	return f.Find(pc, bias, s)
}

// Spins reports whether a counter is in a loop that waits for another thread: one
// that pauses.
func (im *Image) Spins(pc uint64) bool {
	s, ok := im.function(pc)
	if !ok {
		return false
	}
	f := im.funcs[s.low] // decoded when its sample was
	if f == nil {
		return false
	}
	i, ok := f.at(pc)
	return ok && slices.ContainsFunc(f.insts[max(0, i-reach):min(len(f.insts), i+reach)], func(in inst) bool { return in.pauses })
}

// findAhead looks ahead only, where the bounds of the function are not known.
func (im *Image) findAhead(pc, bias uint64, r *Registers) (Access, Reason) {
	code := im.bytes(pc)
	if code == nil {
		return Access{}, NoCode
	}
	f, _ := im.decodeCode(code[:min(len(code), 16*(reach+1))], pc)
	if f == nil || len(f.insts) == 0 {
		return Access{}, Undecodable
	}
	return f.next(0, &emulation{regs: *r, bias: bias}, NoFunction)
}

func (im *Image) decodeCode(code []byte, pc uint64) (*Function, []uint64) {
	switch im.machine {
	case elf.EM_X86_64:
		return DecodeAMD64(code, pc)
	case elf.EM_AARCH64:
		return DecodeARM64(code, pc)
	}
	return nil, nil
}

// decode decodes a function and finds every jump into it.
func (im *Image) decode(s span) *Function {
	code := im.bytes(s.low)
	if uint64(len(code)) < s.high-s.low {
		return nil
	}
	f, _ := im.decodeCode(code[:s.high-s.low], s.low)
	if f == nil {
		return nil
	}
	targets := im.neighbours(s)
	im.scan()
	i, _ := slices.BinarySearch(im.far, s.low)
	for ; i < len(im.far) && im.far[i] < s.high; i++ {
		targets = append(targets, im.far[i])
	}
	tables, indirect := im.tables(f, s)
	f.unverified = indirect > tables.count
	f.join(append(targets, tables.targets...))
	return f
}

// neighbours returns the targets of short jumps from functions so near that a
// distance of one byte reaches in; longer ones are found by scan.
func (im *Image) neighbours(s span) []uint64 {
	if im.machine != elf.EM_X86_64 {
		return nil
	}
	const near = 128
	var out []uint64
	for at := s.low - near; at < s.high+near; {
		n, ok := im.function(at)
		if !ok {
			at++
			continue
		}
		if code := im.bytes(n.low); n != s && n.high-n.low <= maxFunction && uint64(len(code)) >= n.high-n.low {
			_, targets := DecodeAMD64(code[:n.high-n.low], n.low)
			out = append(out, targets...)
		}
		at = max(n.high, at+1)
	}
	return out
}

// scan collects the targets of long jumps of the whole text, once.
func (im *Image) scan() {
	if im.scanned {
		return
	}
	im.scanned = true
	keep := func(target uint64) {
		if im.bytes(target) != nil {
			im.far = append(im.far, target)
		}
	}
	for _, p := range im.parts {
		switch {
		case !p.exec:
		case im.machine == elf.EM_X86_64:
			farTargetsAMD64(p.code, p.pc, keep)
		case im.machine == elf.EM_AARCH64:
			targetsARM64(p.code, p.pc, keep)
		}
	}
	slices.Sort(im.far)
	im.far = slices.Compact(im.far)
}

// jumpTables are the targets that tables of a switch name.
type jumpTables struct {
	count   int
	targets []uint64
}

// tables reads the jump tables of a function with indirect jumps. A table is
// where the function takes the address of read-only data whose entries, as
// distances from it, all lead to instructions of the function.
func (im *Image) tables(f *Function, s span) (t jumpTables, indirect int) {
	for i := range f.insts {
		if f.insts[i].indirect {
			indirect++
		}
	}
	if indirect == 0 || im.machine != elf.EM_X86_64 {
		return t, indirect
	}
	starts := make(map[uint64]bool, len(f.insts))
	for i := range f.insts {
		starts[f.insts[i].pc] = true
	}
	code := im.bytes(s.low)
	for i := range f.insts {
		at, ok := leaTarget(code[f.insts[i].pc-s.low:], &f.insts[i])
		if !ok || at >= s.low && at < s.high {
			continue
		}
		n := 0
		for b := im.bytes(at); len(b) >= 4; b = b[4:] {
			target := at + uint64(int64(int32(binary.LittleEndian.Uint32(b))))
			if !starts[target] {
				break
			}
			t.targets = append(t.targets, target)
			n++
		}
		if n > 1 {
			t.count++
		}
	}
	return t, indirect
}

// leaTarget returns what LEA r64, [rip+disp32] points to: REX.W 8D with a
// ModRM byte of mode 0 and register 5.
func leaTarget(code []byte, in *inst) (uint64, bool) {
	if in.len != 7 || len(code) < 7 || code[0]&0xf8 != 0x48 || code[1] != 0x8d || code[2]&0xc7 != 5 {
		return 0, false
	}
	return in.pc + 7 + uint64(int64(int32(binary.LittleEndian.Uint32(code[3:])))), true
}
