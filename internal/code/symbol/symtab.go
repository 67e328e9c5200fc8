package symbol

import (
	"bytes"
	"cmp"
	"debug/elf"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ianlancetaylor/demangle"
)

// entry is one symbol. Names stay in their string table until they are asked
// for: few of a large binary's symbols ever are.
type entry struct {
	addr, size uint64
	name       uint32
	strings    []byte
	rank       uint8
	data       bool
}

func (e *entry) text() string {
	if uint64(e.name) >= uint64(len(e.strings)) {
		return ""
	}
	s := e.strings[e.name:]
	s = s[:min(len(s), maxName)]
	if end := bytes.IndexByte(s, 0); end >= 0 {
		s = s[:end]
	}
	return string(s)
}

// symtab is the functions and objects of a file's symbol tables.
type symtab struct {
	entries   []entry
	functions intervals
	objects   intervals
}

// readSymtab reads .symtab and .dynsym of each image: a stripped file keeps the
// second, its debug file has the first.
func readSymtab(images ...*image) (t *symtab, err error) {
	defer guard(&err, "symbol tables")
	t = &symtab{}
	for _, im := range images {
		if im == nil {
			continue
		}
		for _, s := range im.elf.Sections {
			if s.Type == elf.SHT_SYMTAB || s.Type == elf.SHT_DYNSYM {
				if err := t.read(im, s); err != nil {
					return nil, err
				}
			}
		}
	}
	t.index()
	return t, nil
}

func (t *symtab) read(im *image, s *elf.Section) error {
	body, err := im.data(s)
	if err != nil {
		return err
	}
	if int(s.Link) >= len(im.elf.Sections) {
		return nil
	}
	names, err := im.data(im.elf.Sections[s.Link])
	if err != nil {
		return err
	}
	size := elf.Sym32Size
	if im.elf.Class == elf.ELFCLASS64 {
		size = elf.Sym64Size
	}
	order := im.elf.ByteOrder
	for ; len(body) >= size; body = body[size:] {
		e := entry{name: order.Uint32(body), strings: names}
		var info byte
		var section uint16
		if size == elf.Sym64Size {
			info, section = body[4], order.Uint16(body[6:])
			e.addr, e.size = order.Uint64(body[8:]), order.Uint64(body[16:])
		} else {
			info, section = body[12], order.Uint16(body[14:])
			e.addr, e.size = uint64(order.Uint32(body[4:])), uint64(order.Uint32(body[8:]))
		}
		if elf.SectionIndex(section) == elf.SHN_UNDEF || e.addr == 0 || e.addr+e.size < e.addr || !t.wanted(&e, info) {
			continue
		}
		t.entries = append(t.entries, e)
	}
	return nil
}

// wanted keeps functions and objects, and untyped symbols of code (hand-written
// assembly), and ranks symbols of equal address.
func (t *symtab) wanted(e *entry, info byte) bool {
	switch elf.ST_TYPE(info) {
	case elf.STT_FUNC, elf.STT_GNU_IFUNC:
		e.rank = 8
	case elf.STT_OBJECT, elf.STT_COMMON:
		e.data, e.rank = true, 8
	case elf.STT_NOTYPE:
		if uint64(e.name) >= uint64(len(e.strings)) || e.strings[e.name] == 0 || e.strings[e.name] == '$' {
			return false // no name, or a mapping symbol of ARM
		}
	default:
		return false
	}
	if e.size > 0 {
		e.rank += 4
	}
	switch elf.ST_BIND(info) {
	case elf.STB_GLOBAL:
		e.rank += 2
	case elf.STB_WEAK:
		e.rank++
	}
	return true
}

// index sorts the symbols so that the best of several at one address comes last,
// where intervals.find sees it first.
func (t *symtab) index() {
	slices.SortStableFunc(t.entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.rank, b.rank), cmp.Compare(b.name, a.name))
	})
	var code, data []interval
	for i, e := range t.entries {
		v := interval{e.addr, e.addr + e.size, int32(i)}
		if e.size == 0 {
			// A symbol without a size reaches to the next one.
			for k := i + 1; k < len(t.entries) && k < i+16; k++ {
				if t.entries[k].addr > e.addr {
					v.high = t.entries[k].addr
					break
				}
			}
		}
		if e.data {
			data = append(data, v)
		} else {
			code = append(code, v)
		}
	}
	t.functions, t.objects = newIntervals(code), newIntervals(data)
}

func (t *symtab) function(addr uint64) (*entry, bool) {
	i, ok := t.functions.find(addr)
	if !ok {
		return nil, false
	}
	return &t.entries[i], true
}

func (t *symtab) object(addr uint64) (*entry, bool) {
	i, ok := t.objects.find(addr)
	if !ok {
		return nil, false
	}
	return &t.entries[i], true
}

// readable turns a linker's name into the programmer's: C++ and Rust are
// demangled, gfortran's module procedures written as module::procedure. Bytes
// that are no text are replaced, since names end up in JSON.
func readable(name string) string {
	if len(name) > maxName {
		name = name[:maxName]
	}
	switch {
	case strings.HasPrefix(name, "_Z"), strings.HasPrefix(name, "_R"), strings.HasPrefix(name, "__Z"):
		name = demangled(name)
	case strings.HasPrefix(name, "__"):
		if module, procedure, ok := strings.Cut(name[2:], "_MOD_"); ok && module != "" && procedure != "" {
			name = module + "::" + procedure
		}
	}
	if !utf8.ValidString(name) {
		name = strings.ToValidUTF8(name, "\uFFFD")
	}
	return name
}

func demangled(name string) (out string) {
	defer func() {
		if recover() != nil {
			out = name
		}
	}()
	// 2^12 bytes hold every real name; nested back references could make a
	// short one grow without end.
	return demangle.Filter(name, demangle.MaxLength(12))
}
