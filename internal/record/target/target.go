// Package target knows the program that is about to be recorded: which file it
// is, where its functions lie, and where it was loaded.
package target

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"github.com/isobath/isobath/internal/data/refs"
)

// Program is an executable file.
type Program struct {
	Path    string // absolute
	Machine elf.Machine
	Entry   uint64
	// CodeStart is the lowest link address of executable code, from which
	// loaders' reports of where code starts give the bias.
	CodeStart uint64
	// Moves says that the program can be loaded anywhere.
	Moves bool
	// Static says that no dynamic linker runs.
	Static bool
	// Go says that the program was built by a compiler of Go.
	Go bool
	// Linker is the dynamic linker that the program asks for.
	Linker string
	// base is the lowest link address that is mapped, of whatever kind.
	base uint64

	functions []function
	chosen    map[string]bool // functions that stand for one of several
	code      []segment
}

type function struct {
	name, link string // demangled and as the linker has it
	at         refs.Range
}

type segment struct {
	addr uint64
	data []byte
}

// maxCode bounds the code that is read into memory.
const maxCode = 1 << 30

// Find opens the program that a command names, looking along PATH.
func Find(command string) (*Program, error) {
	path, err := exec.LookPath(command)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	return Open(path)
}

// Open reads the headers, functions and code of an executable.
func Open(path string) (*Program, error) {
	if head := headOf(path); bytes.HasPrefix(head, []byte("#!")) {
		return nil, fmt.Errorf("%s is a script; name the program it starts", path)
	}
	f, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: not a program of this system: %w", path, err)
	}
	defer f.Close()
	if f.Class != elf.ELFCLASS64 || f.Type != elf.ET_EXEC && f.Type != elf.ET_DYN {
		return nil, fmt.Errorf("%s: %v %v; want a 64-bit executable", path, f.Class, f.Type)
	}
	p := &Program{Path: path, Machine: f.Machine, Entry: f.Entry, Moves: f.Type == elf.ET_DYN, Static: true, Go: f.Section(".go.buildinfo") != nil}
	if err := p.readSegments(f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	p.readFunctions(f)
	return p, nil
}

func headOf(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, 2)
	n, _ := io.ReadFull(f, head)
	return head[:n]
}

func (p *Program) readSegments(f *elf.File) error {
	p.CodeStart, p.base = ^uint64(0), ^uint64(0)
	for _, s := range f.Progs {
		if s.Type == elf.PT_INTERP {
			p.Static, p.Linker = false, interpreter(s)
		}
		if s.Type == elf.PT_LOAD {
			p.base = min(p.base, s.Vaddr&^(pageSize-1))
		}
		if s.Type != elf.PT_LOAD || s.Flags&elf.PF_X == 0 {
			continue
		}
		if s.Filesz > maxCode {
			return fmt.Errorf("%d bytes of code are too many", s.Filesz)
		}
		// Open reads what the file has: a size in a header may be a lie.
		data, err := io.ReadAll(io.LimitReader(s.Open(), int64(s.Filesz)))
		if err != nil {
			return fmt.Errorf("read code: %w", err)
		}
		p.code = append(p.code, segment{s.Vaddr, data})
		p.CodeStart = min(p.CodeStart, s.Vaddr)
	}
	if len(p.code) == 0 {
		return errors.New("the program has no code")
	}
	return nil
}

// pageSize is the smallest unit of a mapping.
const pageSize = 4096

// interpreter reads the path of a dynamic linker.
func interpreter(s *elf.Prog) string {
	const longest = 4096 // PATH_MAX
	path, err := io.ReadAll(io.LimitReader(s.Open(), int64(min(s.Filesz, longest))))
	if err != nil {
		return ""
	}
	return string(bytes.TrimRight(path, "\x00"))
}

// coldPart is the name of what a compiler put aside of a function because it
// hardly ever runs: nobody calls it.
var coldPart = regexp.MustCompile(`\.cold(\.\d+)?$`)

func (p *Program) readFunctions(f *elf.File) {
	all, _ := f.Symbols() // an error means stripped: no names
	dynamic, _ := f.DynamicSymbols()
	p.chosen = map[string]bool{}
	for _, s := range append(all, dynamic...) {
		if elf.ST_TYPE(s.Info) == elf.STT_GNU_IFUNC && s.Section != elf.SHN_UNDEF {
			p.chosen[s.Name] = true
		}
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Value == 0 || s.Section == elf.SHN_UNDEF || coldPart.MatchString(s.Name) {
			continue
		}
		name := demangle.Filter(s.Name, demangle.NoParams, demangle.NoTemplateParams)
		p.functions = append(p.functions, function{name, s.Name, refs.Range{Low: s.Value, High: s.Value + max(s.Size, 1)}})
	}
}

// Function returns the link addresses of a function. The name is that of the
// source, with or without namespace, or that of the linker, or an address 0x….
func (p *Program) Function(name string) (refs.Range, error) {
	if strings.HasPrefix(name, "0x") {
		a, err := p.address(name)
		return refs.Range{Low: a, High: a + 1}, err
	}
	if at, ok := p.named(name); ok {
		return at, nil
	}
	plain, _, _ := strings.Cut(name, "(")
	switch near := p.nearest(plain); {
	case len(p.functions) == 0:
		return refs.Range{}, fmt.Errorf("%s has no symbols: build it without -s, or give an address such as 0x%x", filepath.Base(p.Path), p.Entry)
	case near != "":
		return refs.Range{}, fmt.Errorf("%s has no function %q; did you mean %q?", filepath.Base(p.Path), name, near)
	}
	return refs.Range{}, fmt.Errorf("%s has no function %q; was it inlined?", filepath.Base(p.Path), name)
}

// address reads the link address of an instruction.
func (p *Program) address(text string) (uint64, error) {
	a, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
	if err != nil || len(p.Code(a)) == 0 {
		return 0, fmt.Errorf("%s is not the address of an instruction of %s", text, filepath.Base(p.Path))
	}
	return a, nil
}

// named finds a function by its name.
func (p *Program) named(name string) (refs.Range, bool) {
	plain, _, _ := strings.Cut(name, "(")
	for _, same := range []func(f function) bool{
		func(f function) bool { return f.link == name },
		func(f function) bool { return f.name == plain },
		// Fortran compilers add an underscore or a module's name.
		func(f function) bool {
			return f.link == strings.ToLower(name)+"_" || strings.HasSuffix(f.name, "::"+plain) || strings.HasSuffix(f.link, "_MOD_"+strings.ToLower(name))
		},
	} {
		if i := slices.IndexFunc(p.functions, same); i >= 0 {
			return p.functions[i].at, true
		}
	}
	return refs.Range{}, false
}

// nearest returns a function whose name contains the wanted one, or is
// contained in it; the shortest.
func (p *Program) nearest(name string) string {
	best := ""
	want := strings.ToLower(name)
	for _, f := range p.functions {
		have := strings.ToLower(f.name)
		if len(have) < 3 || !strings.Contains(have, want) && !strings.Contains(want, have) {
			continue
		}
		if best == "" || len(f.name) < len(best) {
			best = f.name
		}
	}
	return best
}

// Code returns up to fifteen bytes, the longest instruction, at a link address;
// nil outside of code.
func (p *Program) Code(addr uint64) []byte {
	for _, s := range p.code {
		if off := addr - s.addr; off < uint64(len(s.data)) {
			return s.data[off:min(off+15, uint64(len(s.data)))]
		}
	}
	return nil
}

// Module is a file mapped into the recorded program as code.
type Module struct {
	Path       string
	Start, End uint64
	Offset     uint64 // in the file
}

// ParseMaps reads the executable mappings of files from the text of
// /proc/PID/maps.
func ParseMaps(text []byte) []Module {
	return parseMaps(text, func(access string) bool { return access[2] == 'x' })
}

// ParseEmulatedMaps reads all mappings of files: an emulator maps the code of its
// program as data, and reads it.
func ParseEmulatedMaps(text []byte) []Module {
	return parseMaps(text, func(access string) bool { return access[0] == 'r' })
}

func parseMaps(text []byte, wanted func(access string) bool) []Module {
	var all []Module
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 6 || len(f[1]) < 3 || !wanted(f[1]) || !strings.HasPrefix(f[5], "/") {
			continue
		}
		low, high, ok := strings.Cut(f[0], "-")
		start, err1 := strconv.ParseUint(low, 16, 64)
		end, err2 := strconv.ParseUint(high, 16, 64)
		offset, err3 := strconv.ParseUint(f[2], 16, 64)
		if !ok || err1 != nil || err2 != nil || err3 != nil || end <= start {
			continue
		}
		all = append(all, Module{strings.Join(f[5:], " "), start, end, offset})
	}
	return all
}
