package symbol

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// Binary is one executable or library, with its debug information wherever that
// is. Its methods may be called by several goroutines.
type Binary struct {
	Path    string
	BuildID string

	image   *image
	debug   *image // a separate file with the debug information; nil if none
	symbols *symtab
	// noSymbols says why they could not be read.
	noSymbols error

	once    sync.Once // reads what follows
	info    *debugInfo
	noLines string
	roots   []string // below which split debug information may be
	// alternate is what dwz moved out of several files, and noShared says why that is
	// not known. It is opened with the binary, since both may be in a container that
	// is gone when they are read.
	alternate *image
	noShared  error

	typeMu sync.Mutex
	types  map[place]*Type
}

// Open opens a binary by its path. Debug information in a separate file is
// found by Files only.
func Open(path string) (*Binary, error) {
	im, err := openImage(path)
	if err != nil {
		return nil, fmt.Errorf("open program: %w", err)
	}
	return newBinary(path, im, nil, &Files{}), nil
}

// newBinary reads symbols. Damage costs names only.
func newBinary(path string, im, debug *image, files *Files) *Binary {
	b := &Binary{Path: path, BuildID: im.buildID, image: im, debug: debug, symbols: &symtab{}, types: map[place]*Type{}, roots: files.Roots}
	t, err := readSymtab(im, debug)
	if err == nil {
		b.symbols = t
	}
	b.noSymbols = err
	for _, from := range []*image{im, debug} {
		if from != nil && b.alternate == nil && b.noShared == nil {
			b.alternate, b.noShared = files.openAlternate(from, debugPath(from, path))
		}
	}
	return b
}

// dwarf returns the debug information; nil if there is none. It is read when it is
// first asked for: that of a large program takes seconds, which who follows a living
// process does not have, and code, symbols and unwind tables do without.
func (b *Binary) dwarf() *debugInfo {
	b.once.Do(func() {
		reasons := []error{b.noSymbols}
		for _, from := range []*image{b.image, b.debug} {
			if from == nil || b.info != nil {
				continue
			}
			d, err := loadDWARF(from, &splits{binary: b.Path, roots: b.roots, missing: map[string]string{}})
			if err == nil && d != nil && b.alternate != nil {
				d.alternate, b.noShared = loadDWARF(b.alternate, nil)
			}
			reasons = append(reasons, err)
			b.info = d
		}
		switch err := errors.Join(reasons...); {
		case b.info != nil:
		case err != nil:
			b.noLines = err.Error()
		default:
			b.noLines = noDebug
		}
	})
	return b.info
}

// noDebug is why most files have no lines.
const noDebug = "it has no debug information; build with -g, or give the folder of its debug file"

// NoLines says why there are no source lines; empty if there are.
func (b *Binary) NoLines() string {
	b.dwarf()
	return b.noLines
}

// debugPath is where an image was opened.
func debugPath(im *image, otherwise string) string {
	if im.file != nil {
		return im.file.Name()
	}
	return otherwise
}

// Gaps are sentences about debug information that is elsewhere and could not be
// found, as far as it was needed.
func (b *Binary) Gaps() []string {
	var out []string
	d := b.dwarf()
	if d == nil {
		return nil
	}
	if b.noShared != nil {
		out = append(out, b.noShared.Error())
	}
	if text := d.split.gaps(); text != "" {
		out = append(out, text)
	}
	return out
}

// Close closes the files.
func (b *Binary) Close() error {
	return errors.Join(b.image.close(), b.debug.close(), b.alternate.close())
}

// Machine returns the architecture.
func (b *Binary) Machine() elf.Machine { return b.image.elf.Machine }

// Entry returns the link-time address where the program begins.
func (b *Binary) Entry() uint64 { return b.image.elf.Entry }

// ByteOrder returns the order of the bytes of numbers.
func (b *Binary) ByteOrder() binary.ByteOrder { return b.image.elf.ByteOrder }

// Section returns the contents of a section and its link-time address, from the
// file or, if it is not there, from its debug file; nil if neither has it.
func (b *Binary) Section(name string) (data []byte, addr uint64, err error) {
	for _, im := range []*image{b.image, b.debug} {
		if im == nil || data != nil {
			continue
		}
		if data, err = im.guarded(name); data != nil {
			if s := im.elf.Section(name); s != nil {
				addr = s.Addr
			}
		}
	}
	return data, addr, err
}

// Segment returns the link-time addresses of the first segment of a type.
func (b *Binary) Segment(t elf.ProgType) (addr, size uint64, ok bool) {
	for _, p := range b.image.elf.Progs {
		if p.Type == t {
			return p.Vaddr, p.Memsz, true
		}
	}
	return 0, 0, false
}

// Movable reports whether the program is loaded at a place of the loader's
// choice: a position-independent executable or a library.
func (b *Binary) Movable() bool { return b.image.elf.Type == elf.ET_DYN }

// Locate returns what the code at a link-time address belongs to.
func (b *Binary) Locate(addr uint64) Location {
	var l Location
	if u := b.dwarf().unitAt(addr); u != nil {
		l.Frames, l.Start = u.frames(addr)
	}
	if n := len(l.Frames); n > 0 && l.Frames[n-1].Function != "" {
		return l
	}
	if s, ok := b.symbols.function(addr); ok {
		if len(l.Frames) == 0 {
			l.Frames = []Frame{{}}
		}
		l.Frames[len(l.Frames)-1].Function = readable(s.text())
		l.Start = s.addr
	}
	return l
}

// Column returns the column of the source line that the code at a link-time
// address comes from; 0 if it is not known.
func (b *Binary) Column(addr uint64) int {
	u := b.dwarf().unitAt(addr)
	if u == nil {
		return 0
	}
	r, _ := u.row(addr)
	return r.column()
}

// Calls returns where the functions that the code at a link-time address was inlined
// from are called, innermost first; nothing for code that was not inlined.
func (b *Binary) Calls(addr uint64) []CallSite {
	u := b.dwarf().unitAt(addr)
	if u == nil {
		return nil
	}
	return u.calls(addr)
}

// Function returns the addresses of a function by its readable name.
func (b *Binary) Function(name string) (low, high uint64, err error) {
	for i := range b.symbols.entries {
		e := &b.symbols.entries[i]
		if !e.data && e.size > 0 && readable(e.text()) == name {
			return e.addr, e.addr + e.size, nil
		}
	}
	return 0, 0, fmt.Errorf("%s has no function %q", b.Path, name)
}

// FunctionAt returns the addresses of the function around an address.
func (b *Binary) FunctionAt(addr uint64) (low, high uint64, ok bool) {
	e, ok := b.symbols.function(addr)
	if !ok {
		return 0, 0, false
	}
	return e.addr, e.addr + e.size, e.size > 0
}

// Contains reports whether an address is in a segment of the file.
func (b *Binary) Contains(addr uint64) bool {
	for _, s := range b.image.segments {
		if addr >= s.vaddr && addr-s.vaddr < s.memory {
			return true
		}
	}
	return false
}

// Bias returns what is to be added to link-time addresses where the file is
// mapped like that.
func (b *Binary) Bias(m *Mapping) (uint64, bool) {
	list := b.biases(m)
	if len(list) == 0 {
		return 0, false
	}
	return list[0], true
}

// biases returns every bias that fits a mapping, best first. The kernel maps
// whole pages, so a mapping may begin before its segment, and the page where
// one segment ends and the next begins is mapped for both.
func (b *Binary) biases(m *Mapping) []uint64 {
	const page = 4096 - 1
	var same, other []uint64
	for _, s := range b.image.segments {
		if m.Offset < s.offset&^page || m.Offset >= s.offset+max(s.bytes, 1) {
			continue
		}
		bias := m.Start - (s.vaddr - s.offset + m.Offset)
		if s.exec == m.Exec {
			same = append(same, bias)
		} else {
			other = append(other, bias)
		}
	}
	var out []uint64
	for _, v := range append(same, other...) {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// biasIn decides between biases by the code of the same file: it must be mapped
// where the bias says.
func (b *Binary) biasIn(space *Space, pid int, at uint64, m *Mapping) (uint64, bool) {
	list := b.biases(m)
	if len(list) == 0 {
		return 0, false
	}
	if len(list) == 1 {
		return list[0], true
	}
	for _, bias := range list {
		for _, s := range b.image.segments {
			if !s.exec {
				continue
			}
			// The same part of the file must be there: a recording that does not
			// say what is executable may have any part at that place.
			code := space.Find(pid, at, s.vaddr+bias)
			if code != nil && code.Exec && code.Path == m.Path && s.vaddr+bias-code.Start+code.Offset == s.offset {
				return bias, true
			}
		}
	}
	return list[0], true
}

// Code returns up to n bytes of code from a link-time address.
func (b *Binary) Code(addr uint64, n int) ([]byte, error) {
	for _, s := range b.image.segments {
		if addr < s.vaddr || addr-s.vaddr >= s.bytes {
			continue
		}
		at := s.offset + addr - s.vaddr
		if at >= uint64(b.image.size) {
			break
		}
		n = int(min(uint64(max(n, 0)), s.bytes-(addr-s.vaddr), uint64(b.image.size)-at))
		out := make([]byte, n)
		got, err := b.image.reader().ReadAt(out, int64(at))
		if got == 0 && err != nil {
			return nil, fmt.Errorf("code of %s: %w", b.Path, err)
		}
		return out[:got], nil
	}
	return nil, fmt.Errorf("%s has no code at %#x", b.Path, addr)
}

func (im *image) reader() io.ReaderAt {
	if im.file != nil {
		return im.file
	}
	return im.memory
}

// Global is a data object of a binary.
type Global struct {
	Name  string
	Start uint64 // link-time address
	Size  uint64
	Type  *Type // nil without debug information
}

// Global returns the variable at a link-time address.
func (b *Binary) Global(addr uint64) (Global, bool) {
	v, t := b.variableAt(addr)
	s, named := b.symbols.object(addr)
	switch {
	case v == nil && !named:
		return Global{}, false
	case v == nil:
		return Global{Name: readable(s.text()), Start: s.addr, Size: s.size}, true
	}
	return Global{Name: v.entry.name(), Start: v.addr, Size: t.Size, Type: t}, true
}
