package unwind

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"sort"
)

// Section is the contents of a section and where it is loaded.
type Section struct {
	Data []byte
	Addr uint64
}

// File is what the unwinder reads of a program.
type File interface {
	Machine() elf.Machine
	ByteOrder() binary.ByteOrder
	// Section returns the contents of a section of the program, else of its
	// debug file; none if neither has it.
	Section(name string) (data []byte, addr uint64, err error)
	// Segment returns the link-time addresses of the first segment of a type.
	Segment(t elf.ProgType) (addr, size uint64, ok bool)
	// Code returns up to n bytes from a link-time address.
	Code(addr uint64, n int) ([]byte, error)
}

// Tables is the call frame information of one file.
type Tables struct {
	machine *machine
	order   binary.ByteOrder
	frames  []*frames // .eh_frame, .debug_frame: those the file has
	// rows remembers the rules of instructions: most samples are of few. A nil
	// row has none, or damaged ones.
	rows map[uint64]*row
}

// frames is one section of call frame information.
type frames struct {
	Section
	order binary.ByteOrder
	word  int  // bytes of an address
	debug bool // .debug_frame, whose entries begin differently
	bases bases

	index []byte // sorted pairs of 32 bits from .eh_frame_hdr; nil: list
	first uint64 // what the pairs are relative to
	list  []span
	cies  map[int]*cie
}

// span is the code that an entry is about.
type span struct {
	low, high uint64
	at        int // of the entry in its section
}

// cie is what several entries share.
type cie struct {
	code      uint64 // factors of advances and of offsets
	data      int64
	ra        int // register of the return address
	encoding  byte
	augmented bool
	signal    bool
	program   []byte
	word      int
}

const (
	// maxRows bounds the memory of remembered rules.
	maxRows = 1 << 18
	// maxSection is far above the tables of the largest programs; a header
	// without sections may claim a whole segment.
	maxSection = 1 << 30
)

// NewTables reads where the tables of a file are. Entries are read when they
// are needed.
func NewTables(f File) (*Tables, error) {
	t := &Tables{machine: machineOf(f.Machine()), order: f.ByteOrder(), rows: map[uint64]*row{}}
	if t.machine == nil {
		return nil, errors.New("stacks of its architecture are not unwound")
	}
	if eh := t.ehFrame(f); eh != nil {
		t.frames = append(t.frames, eh)
	}
	if data, addr, err := f.Section(".debug_frame"); err == nil && len(data) > 0 && len(data) <= math.MaxInt32 {
		debug := t.newFrames(Section{data, addr})
		debug.debug = true
		debug.scan()
		t.frames = append(t.frames, debug)
	}
	if len(t.frames) == 0 {
		return nil, errors.New("it has no unwind tables (.eh_frame, .debug_frame)")
	}
	return t, nil
}

func (t *Tables) newFrames(s Section) *frames {
	return &frames{Section: s, order: t.order, word: 8, bases: bases{section: s.Addr}, cies: map[int]*cie{}}
}

// ehFrame finds .eh_frame and its index, by section or, in a file without
// section headers, through the segment that the C library uses.
func (t *Tables) ehFrame(f File) *frames {
	data, addr, _ := f.Section(".eh_frame")
	header, at := t.header(f)
	if len(data) == 0 && header != nil {
		r := reader{b: header, order: t.order, at: 4}
		addr = r.pointer(header[1], 8, bases{section: at, data: at})
		if r.bad {
			return nil
		}
		data, _ = f.Code(addr, maxSection)
	}
	if len(data) == 0 || len(data) > math.MaxInt32 {
		return nil
	}
	eh := t.newFrames(Section{data, addr})
	if text, at, err := f.Section(".text"); err == nil && text != nil {
		eh.bases.text = at
	}
	eh.bases.data = at
	if !eh.useIndex(header, at) {
		eh.scan()
	}
	return eh
}

// header returns .eh_frame_hdr, at least its four bytes.
func (t *Tables) header(f File) ([]byte, uint64) {
	data, addr, _ := f.Section(".eh_frame_hdr")
	if len(data) == 0 {
		if at, size, ok := f.Segment(elf.PT_GNU_EH_FRAME); ok && size < maxSection {
			addr = at
			data, _ = f.Code(at, int(size))
		}
	}
	if len(data) < 8 || data[0] != 1 {
		return nil, addr
	}
	return data, addr
}

// useIndex takes the sorted table behind the header if it has the one form that
// linkers write: pairs of 32 bits relative to the header.
func (f *frames) useIndex(header []byte, at uint64) bool {
	const pairs = baseData | formS4
	if header == nil || header[3] != pairs {
		return false
	}
	r := reader{b: header, order: f.order, at: 4}
	base := bases{section: at, data: at}
	start := r.pointer(header[1], f.word, base)
	n := r.pointer(header[2], f.word, base)
	if r.bad || start != f.Addr || n == 0 || n > uint64(r.left())/8 {
		return false
	}
	f.index, f.first = r.bytes(8*n), at
	return true
}

// pair returns the first address and the place of entry i of the index.
func (f *frames) pair(i int) (addr, entry uint64) {
	r := reader{b: f.index, at: 8 * i, order: f.order}
	return r.signed(4) + f.first, r.signed(4) + f.first
}

// scan lists all entries of a section without an index.
func (f *frames) scan() {
	for at := 0; at < len(f.Data); {
		e, next := f.entry(at)
		if next <= at {
			break
		}
		if e != nil && e.low < e.high {
			f.list = append(f.list, span{e.low, e.high, at})
		}
		at = next
	}
	slices.SortStableFunc(f.list, func(a, b span) int { return cmp.Compare(a.low, b.low) })
}

// find returns the entry about a link-time address; nil if there is none.
func (f *frames) find(pc uint64) *fde {
	at := -1
	if f.index != nil {
		i := sort.Search(len(f.index)/8, func(i int) bool { low, _ := f.pair(i); return low > pc }) - 1
		if i < 0 {
			return nil
		}
		_, entry := f.pair(i)
		if entry -= f.Addr; entry >= uint64(len(f.Data)) {
			return nil
		}
		at = int(entry)
	} else {
		i := sort.Search(len(f.list), func(i int) bool { return f.list[i].low > pc }) - 1
		if i < 0 || pc >= f.list[i].high {
			return nil
		}
		at = f.list[i].at
	}
	e, _ := f.entry(at)
	if e == nil || pc < e.low || pc >= e.high {
		return nil
	}
	return e
}

// fde is the entry of one function.
type fde struct {
	*cie
	low, high uint64
	program   []byte
	at        uint64 // address of the program's first byte, for relative pointers
}

// extent reads the length of an entry: where its body begins and ends, and
// whether its offsets have 64 bits.
func (f *frames) extent(at int) (r reader, end int, wide bool) {
	r = reader{b: f.Data, at: at, order: f.order}
	size := r.number(4)
	if size == math.MaxUint32 {
		wide = true
		size = r.number(8)
	}
	if r.bad || size > uint64(r.left()) {
		return r, -1, wide
	}
	end = r.at + int(size)
	r.b = r.b[:end]
	return r, end, wide
}

// entry reads the entry at a place and where the next one begins. It is nil for
// one that is about no function: shared parts, ends and damage.
func (f *frames) entry(at int) (*fde, int) {
	r, end, wide := f.extent(at)
	if end < 0 {
		return nil, 0
	}
	if r.left() == 0 {
		return nil, end // a zero ends the tables of one object file
	}
	here := r.at
	id := f.readID(&r, wide)
	if f.isCIE(id, wide) {
		return nil, end
	}
	shared := id
	if !f.debug {
		shared = uint64(here) - id // from here back
	}
	if r.bad || shared >= uint64(len(f.Data)) {
		return nil, end
	}
	c := f.cie(int(shared))
	if c == nil {
		return nil, end
	}
	e := &fde{cie: c}
	e.low = r.pointer(c.encoding, c.word, f.bases)
	e.high = e.low + r.pointer(c.encoding&formMask, c.word, f.bases)
	if c.augmented {
		r.bytes(r.uleb())
	}
	if r.bad {
		return nil, end
	}
	e.program, e.at = r.b[r.at:], f.Addr+uint64(r.at)
	return e, end
}

func (f *frames) readID(r *reader, wide bool) uint64 {
	if wide && f.debug {
		return r.number(8)
	}
	return r.number(4)
}

func (f *frames) isCIE(id uint64, wide bool) bool {
	switch {
	case !f.debug:
		return id == 0
	case wide:
		return id == math.MaxUint64
	}
	return id == math.MaxUint32
}

// cie reads the shared part at a place; nil if it cannot be understood.
func (f *frames) cie(at int) *cie {
	c, ok := f.cies[at]
	if !ok {
		c = f.readCIE(at)
		f.cies[at] = c
	}
	return c
}

func (f *frames) readCIE(at int) *cie {
	r, end, wide := f.extent(at)
	if end < 0 || r.left() == 0 || !f.isCIE(f.readID(&r, wide), wide) {
		return nil
	}
	c := &cie{word: f.word}
	version := r.byte()
	augmentation := r.text()
	switch version {
	case 1, 3:
	case 4:
		c.word = int(r.byte())
		if segment := r.byte(); segment != 0 || c.word != 4 && c.word != 8 {
			return nil
		}
	default:
		return nil
	}
	if augmentation == "eh" {
		r.number(f.word) // of GCC 2
	}
	c.code, c.data = r.uleb(), r.sleb()
	if version == 1 {
		c.ra = int(r.byte())
	} else {
		c.ra = int(min(r.uleb(), math.MaxInt32))
	}
	if !f.augment(c, &r, augmentation) || r.bad {
		return nil
	}
	c.program = r.b[r.at:]
	return c
}

// augment reads what the letters of an augmentation announce. After "z" unknown
// letters can be stepped over; without it they cannot.
func (f *frames) augment(c *cie, r *reader, letters string) bool {
	if letters == "" || letters == "eh" {
		return true
	}
	if letters[0] != 'z' {
		return false
	}
	c.augmented = true
	size := r.uleb()
	if size > uint64(r.left()) {
		return false
	}
	end := r.at + int(size)
	for _, letter := range letters[1:] {
		switch letter {
		case 'R':
			c.encoding = r.byte()
		case 'P':
			r.pointer(r.byte(), c.word, f.bases)
		case 'L':
			r.byte()
		case 'S':
			c.signal = true
		case 'B', 'G': // keys of Arm's pointer authentication and memory tags
		default:
			r.at = end
			return true
		}
		if r.bad || r.at > end {
			return false
		}
	}
	r.at = end
	return true
}

// row returns the rules at a link-time address.
func (t *Tables) row(pc uint64) *row {
	got, ok := t.rows[pc]
	if !ok {
		got = t.makeRow(pc)
		if len(t.rows) == maxRows {
			clear(t.rows)
		}
		t.rows[pc] = got
	}
	return got
}

func (t *Tables) makeRow(pc uint64) *row {
	for _, f := range t.frames {
		if e := f.find(pc); e != nil {
			return t.machine.rules(f, e, pc)
		}
	}
	return nil
}
