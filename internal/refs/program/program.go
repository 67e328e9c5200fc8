// Package program finds the functions, source lines and data objects of an ELF
// executable by address, for traces that hold addresses only.
package program

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sort"

	"github.com/ianlancetaylor/demangle"

	"isobath/internal/refs"
)

// Program is the symbols and line table of one executable.
type Program struct {
	biases    []uint64
	functions []symbol // sorted by address
	objects   []symbol
	lines     []row // sorted by address
	low, high uint64
}

type symbol struct {
	name      string
	addr, end uint64
}

type row struct {
	addr uint64
	file string
	line int // 0 ends a sequence
}

// Where position-independent executables are loaded, by what loads them.
// Valgrind and qemu-user always use the same place.
const (
	ValgrindBias = 0x108000
	QemuBias     = 0x4000000000
	NoRandomBias = 0x555555554000 // Linux with address randomisation off
)

// Open reads the executable. The addresses of the trace are looked up minus
// each of the biases in turn; executables that cannot be moved ignore them.
func Open(path string, biases ...uint64) (*Program, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open program %s: %w", path, err)
	}
	defer f.Close()
	p := &Program{biases: biases}
	if f.Type != elf.ET_DYN || len(biases) == 0 {
		p.biases = []uint64{0}
	}
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR == 0 {
			continue
		}
		if p.high == 0 || s.Addr < p.low {
			p.low = s.Addr
		}
		p.high = max(p.high, s.Addr+s.Size)
	}
	if err := p.readSymbols(f); err != nil {
		return nil, fmt.Errorf("symbols of %s: %w", path, err)
	}
	if err := p.readLines(f); err != nil {
		return nil, fmt.Errorf("line table of %s: %w; was it built with -g?", path, err)
	}
	return p, nil
}

func (p *Program) readSymbols(f *elf.File) error {
	syms, err := f.Symbols()
	if err != nil {
		return err
	}
	for _, s := range syms {
		if s.Value == 0 || s.Size == 0 {
			continue
		}
		out := symbol{demangle.Filter(s.Name), s.Value, s.Value + s.Size}
		if out.end < out.addr {
			continue
		}
		switch elf.ST_TYPE(s.Info) {
		case elf.STT_FUNC:
			p.functions = append(p.functions, out)
		case elf.STT_OBJECT:
			p.objects = append(p.objects, out)
		}
	}
	byAddr := func(a, b symbol) int {
		if a.addr < b.addr {
			return -1
		} else if a.addr > b.addr {
			return 1
		}
		return 0
	}
	slices.SortFunc(p.functions, byAddr)
	slices.SortFunc(p.objects, byAddr)
	return nil
}

func (p *Program) readLines(f *elf.File) error {
	d, err := f.DWARF()
	if err != nil {
		return err
	}
	for r := d.Reader(); ; {
		e, err := r.Next()
		if err != nil {
			return err
		}
		if e == nil {
			break
		}
		if e.Tag != dwarf.TagCompileUnit {
			r.SkipChildren()
			continue
		}
		if err := p.readUnit(d, e); err != nil {
			return err
		}
		r.SkipChildren()
	}
	sort.SliceStable(p.lines, func(i, j int) bool { return p.lines[i].addr < p.lines[j].addr })
	return nil
}

func (p *Program) readUnit(d *dwarf.Data, unit *dwarf.Entry) error {
	lr, err := d.LineReader(unit)
	if err != nil || lr == nil {
		return err
	}
	var e dwarf.LineEntry
	for {
		err := lr.Next(&e)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		r := row{addr: e.Address}
		if !e.EndSequence && e.File != nil {
			r.file, r.line = filepath.Base(e.File.Name), e.Line
		}
		p.lines = append(p.lines, r)
	}
}

// link returns the link-time address of an instruction of the trace.
func (p *Program) link(pc uint64) (uint64, bool) {
	for _, b := range p.biases {
		if a := pc - b; a >= p.low && a < p.high {
			return a, true
		}
	}
	return 0, false
}

// Line returns the source position and function of an instruction; empty where
// the program does not know.
func (p *Program) Line(pc uint64) (file string, line int, function string) {
	a, ok := p.link(pc)
	if !ok {
		return "", 0, ""
	}
	if s, ok := find(p.functions, a); ok {
		function = s.name
	}
	// The last of several rows at one address is the one that holds.
	k := sort.Search(len(p.lines), func(i int) bool { return p.lines[i].addr > a }) - 1
	if k >= 0 && p.lines[k].line > 0 {
		file, line = p.lines[k].file, p.lines[k].line
	}
	return file, line, function
}

func find(s []symbol, a uint64) (symbol, bool) {
	k := sort.Search(len(s), func(i int) bool { return s[i].addr > a }) - 1
	if k < 0 || a >= s[k].end {
		return symbol{}, false
	}
	return s[k], true
}

// Function returns the addresses of a function as they appear in a trace with
// the first bias.
func (p *Program) Function(name string) (refs.Range, error) {
	for _, s := range p.functions {
		if s.name == name {
			return refs.Range{Low: s.addr + p.biases[0], High: s.end + p.biases[0]}, nil
		}
	}
	return refs.Range{}, fmt.Errorf("the program has no function %q", name)
}

// Object implements cycle.Objects for the program's variables. Each is a kind
// of its own.
func (p *Program) Object(addr uint64) (kind uint32, base uint64, ok bool) {
	for _, b := range p.biases {
		k := sort.Search(len(p.objects), func(i int) bool { return p.objects[i].addr > addr-b }) - 1
		if k >= 0 && addr-b < p.objects[k].end {
			return uint32(k), p.objects[k].addr + b, true
		}
	}
	return 0, 0, false
}
