package symbol

import (
	"bytes"
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// Attributes of skeleton units before DWARF 5 (the GNU proposal "DebugFission").
const (
	attrDwoName       dwarf.Attr = 0x76
	attrGNUDwoName    dwarf.Attr = 0x2130
	attrGNUDwoID      dwarf.Attr = 0x2131
	attrGNURangesBase dwarf.Attr = 0x2132
	attrGNUAddrBase   dwarf.Attr = 0x2133
)

// splits finds the debug information that -gsplit-dwarf leaves beside the
// objects, in .dwo files or, packed, in one .dwp file.
type splits struct {
	binary string // path of the program
	roots  []string
	addr   []byte // .debug_addr of the program
	ranges []byte // .debug_ranges of the program

	once   sync.Once
	packed *dwpFile // nil if there is none

	mu      sync.Mutex
	missing map[string]string // why a file could not be used
}

// skeleton is what a unit of the program says about where the rest of it is.
type skeleton struct {
	name, folder string
	id           uint64
	base         uint64 // the address that ranges count from
	addrBase     uint64
	rangesBase   uint64
}

// skeletonOf returns what the first entry of a unit says; false if the unit is
// whole.
func skeletonOf(root *dwarf.Entry, id uint64) (s skeleton, ok bool) {
	for _, a := range []dwarf.Attr{attrDwoName, attrGNUDwoName} {
		if s.name, ok = root.Val(a).(string); ok {
			break
		}
	}
	if !ok || s.name == "" {
		return s, false
	}
	s.folder, _ = root.Val(dwarf.AttrCompDir).(string)
	s.base, _ = root.Val(dwarf.AttrLowpc).(uint64)
	s.id = id
	number := func(a dwarf.Attr) uint64 {
		switch v := root.Val(a).(type) {
		case int64:
			return uint64(v)
		case uint64:
			return v
		}
		return 0
	}
	if v := number(attrGNUDwoID); v != 0 {
		s.id = v
	}
	s.addrBase = number(dwarf.AttrAddrBase)
	if v := number(attrGNUAddrBase); v != 0 {
		s.addrBase = v
	}
	s.rangesBase = number(attrGNURangesBase)
	return s, true
}

// open reads the rest of a unit. What cannot be found costs the calls inlined
// and the variables of the unit, not its lines.
func (s *splits) open(k skeleton, order binary.ByteOrder) (*debugInfo, *header, error) {
	s.once.Do(s.openPackage)
	parts, err := s.packed.unit(k.id)
	if parts == nil && err == nil {
		parts, err = s.loose(k)
	}
	if err != nil {
		s.note(k.name, err)
		return nil, nil, err
	}
	d, h, err := s.assemble(parts, k, order)
	if err != nil {
		s.note(k.name, err)
	}
	return d, h, err
}

func (s *splits) note(name string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.missing[name] = err.Error()
}

// gaps is a sentence about what could not be found; empty if nothing is missing.
func (s *splits) gaps() string {
	if s == nil {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.missing) == 0 {
		return ""
	}
	var names []string
	for name := range s.missing {
		names = append(names, name)
	}
	slices.Sort(names)
	return fmt.Sprintf("%d of its files with split debug information cannot be used, so inlined calls and variables there are not known; %s: %s",
		len(names), names[0], s.missing[names[0]])
}

// splitParts are the sections of split debug information, by their name without
// ".debug_" and ".dwo".
type splitParts map[string][]byte

var splitNames = []string{"info", "abbrev", "str", "str_offsets", "line", "rnglists", "loclists"}

// loose reads a .dwo file. The name is as the compiler wrote it; programs move,
// so it is also looked for beside the program.
func (s *splits) loose(k skeleton) (splitParts, error) {
	candidates := []string{k.name}
	if !filepath.IsAbs(k.name) {
		candidates = []string{filepath.Join(k.folder, k.name)}
	}
	for _, root := range s.roots {
		candidates = append(candidates, filepath.Join(root, candidates[0]))
	}
	here := filepath.Dir(s.binary)
	candidates = append(candidates, filepath.Join(here, k.name), filepath.Join(here, filepath.Base(k.name)))
	var first error
	for _, path := range candidates {
		parts, err := readSplit(path)
		if err == nil {
			return parts, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// readSplit reads the sections of a .dwo file. Type units have sections of
// their own of the same name.
func readSplit(path string) (parts splitParts, err error) {
	im, err := openImage(path)
	if err != nil {
		return nil, err
	}
	defer im.close()
	defer guard(&err, "debug sections")
	parts = splitParts{}
	for _, name := range splitNames {
		for _, s := range im.elf.Sections {
			if s.Name != ".debug_"+name+".dwo" {
				continue
			}
			data, err := im.data(s)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			parts[name] = append(parts[name], data...)
		}
	}
	if len(parts["info"]) == 0 {
		return nil, fmt.Errorf("%s has no .debug_info.dwo", path)
	}
	return parts, nil
}

// assemble makes the sections of one split unit readable by the library, which
// knows them only in whole files: tables whose header the unit steps over by
// convention are given without it, and the addresses of the program from where
// this unit's begin.
func (s *splits) assemble(parts splitParts, k skeleton, order binary.ByteOrder) (*debugInfo, *header, error) {
	headers, err := scanUnits(parts["info"], order)
	if err != nil {
		return nil, nil, err
	}
	var own *header
	for i := range headers {
		h := &headers[i]
		if h.kind == unitSplit && (h.id == k.id || k.id == 0) || h.version < 5 && h.kind == unitCompile {
			own = h
			break
		}
	}
	if own == nil {
		return nil, nil, fmt.Errorf("it holds no unit %016x: it was built again since", k.id)
	}
	abbrev := parts["abbrev"]
	if own.version < 5 {
		abbrev = gnuForms(abbrev)
	}
	if err := checkAbbreviations(abbrev, headers); err != nil {
		return nil, nil, err
	}
	from := func(data []byte, at uint64) []byte { return data[min(at, uint64(len(data))):] }
	data, err := dwarf.New(abbrev, nil, nil, parts["info"], nil, nil, from(s.ranges, k.rangesBase), parts["str"])
	if err != nil {
		return nil, nil, err
	}
	offsets, lists := parts["str_offsets"], parts["rnglists"]
	if own.version >= 5 {
		offsets, lists = from(offsets, uint64(own.wide)*2), from(lists, uint64(own.wide)*2+4)
	}
	addresses := from(s.addr, k.addrBase)
	for name, body := range map[string][]byte{"addr": addresses, "str_offsets": offsets, "rnglists": lists} {
		if err := data.AddSection(".debug_"+name, body); err != nil {
			return nil, nil, err
		}
	}
	d := newDebugInfo(data, order)
	d.addrSize, d.base, d.addresses = own.addrSize, k.base, addresses
	for _, h := range headers {
		if h.kind == unitType || h.kind == unitSplitType {
			d.types[h.signature] = place{d, h.typeOffset}
		}
	}
	return d, own, nil
}

// gnuForms replaces the two forms of the GNU proposal by those that DWARF 5 made
// of them. Both are written in two bytes.
func gnuForms(abbrev []byte) []byte {
	out := bytes.Clone(abbrev)
	walkAbbreviations(out, 0, func(form []byte, value uint64) {
		switch {
		case value == 0x1f01 && len(form) == 2: // DW_FORM_GNU_addr_index
			form[0], form[1] = 0x9b, 0
		case value == 0x1f02 && len(form) == 2: // DW_FORM_GNU_str_index
			form[0], form[1] = 0x9a, 0
		}
	})
	return out
}

// dwpFile is a package of many .dwo files: their sections one after the other,
// and a table of where the parts of each unit are (DWARF 5, 7.3.5.3).
type dwpFile struct {
	parts splitParts
	units map[uint64]map[string][2]uint32 // by id: offset and size by name
}

// openPackage looks for the package of the program.
func (s *splits) openPackage() {
	for _, path := range append([]string{s.binary + ".dwp"}, s.packages()...) {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		p, err := readPackage(path)
		if err == nil {
			s.packed = p
			return
		}
		s.note(path, err)
	}
}

func (s *splits) packages() []string {
	var out []string
	for _, root := range s.roots {
		out = append(out, filepath.Join(root, filepath.Base(s.binary)+".dwp"))
	}
	return out
}

func readPackage(path string) (p *dwpFile, err error) {
	parts, err := readSplit(path)
	if err != nil {
		return nil, err
	}
	im, err := openImage(path)
	if err != nil {
		return nil, err
	}
	defer im.close()
	defer guard(&err, "debug sections")
	index, err := im.section(".debug_cu_index")
	if err != nil {
		return nil, err
	}
	units, err := parseIndex(index, im.elf.ByteOrder)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &dwpFile{parts, units}, nil
}

// The sections of a package by their number, in DWARF 5 and before.
var (
	indexNames5 = map[uint64]string{1: "info", 3: "abbrev", 4: "line", 5: "loclists", 6: "str_offsets", 8: "rnglists"}
	indexNames2 = map[uint64]string{1: "info", 3: "abbrev", 4: "line", 6: "str_offsets"}
)

// parseIndex reads .debug_cu_index: a hash table of ids, the row of each, the
// sections that the columns stand for, then offsets and sizes row by row.
func parseIndex(data []byte, order binary.ByteOrder) (map[uint64]map[string][2]uint32, error) {
	c := &cursor{data: data, order: order}
	version := c.number(2)
	c.number(2)
	columns, rows, slots := c.number(4), c.number(4), c.number(4)
	names := indexNames5
	if version == 2 {
		names = indexNames2
	}
	left := uint64(len(data) - c.at)
	if c.bad || columns > 16 || slots > left/12 || rows > left/8 || 12*slots+4*columns+8*rows*columns > left {
		return nil, errors.New("the index of units is damaged")
	}
	ids := make([]uint64, slots)
	for i := range ids {
		ids[i] = c.number(8)
	}
	row := make([]uint64, slots)
	for i := range row {
		row[i] = c.number(4)
	}
	sections := make([]uint64, columns)
	for i := range sections {
		sections[i] = c.number(4)
	}
	table := c.at
	at := func(half, r, col uint64) uint32 {
		return order.Uint32(data[uint64(table)+4*((half*rows+r)*columns+col):])
	}
	out := map[uint64]map[string][2]uint32{}
	for i, id := range ids {
		if row[i] == 0 || row[i] > rows {
			continue
		}
		where := map[string][2]uint32{}
		for col, number := range sections {
			if name := names[number]; name != "" {
				where[name] = [2]uint32{at(0, row[i]-1, uint64(col)), at(1, row[i]-1, uint64(col))}
			}
		}
		out[id] = where
	}
	return out, nil
}

// unit returns the parts of one unit; nil if the package does not have it.
func (p *dwpFile) unit(id uint64) (splitParts, error) {
	if p == nil {
		return nil, nil
	}
	where, ok := p.units[id]
	if !ok {
		return nil, nil
	}
	out := splitParts{"str": p.parts["str"]}
	for name, part := range where {
		whole := p.parts[name]
		end := uint64(part[0]) + uint64(part[1])
		if end > uint64(len(whole)) {
			return nil, fmt.Errorf("the part of unit %016x in .debug_%s.dwo is outside the section", id, name)
		}
		out[name] = whole[part[0]:end]
	}
	return out, nil
}
