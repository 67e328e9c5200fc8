package symbol

import (
	"context"
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/isobath/isobath/internal/base/parallel"
)

// debugInfo is the DWARF of one file. Units are found by their headers and read
// when an address in them is asked for, each once.
type debugInfo struct {
	data     *dwarf.Data
	order    binary.ByteOrder
	line     []byte // .debug_line, to check its headers
	addrSize int
	units    []*unit
	byCode   intervals
	types    map[uint64]place // type units by signature

	// alternate is what dwz moved out of several files; strings are those of
	// .debug_str, for the files that refer to this one.
	alternate *debugInfo
	strings   []byte
	split     *splits // where the rest of skeleton units is; nil if there are none
	// Of split debug information: what its ranges count from, and the addresses
	// that it refers to by number.
	base      uint64
	addresses []byte

	mu    sync.Mutex
	names map[dwarf.Offset]string

	everything sync.Once // reads all units for their variables
	variables  []variable
	byData     intervals
}

// unit is one compilation unit.
type unit struct {
	first dwarf.Offset // its first entry
	end   dwarf.Offset
	id    uint64 // of a skeleton
	once  sync.Once

	language int64

	files     []string
	rows      []row
	sequences intervals // over sequence starts; item is an index into spans
	spans     [][2]int32
	scopes    []scope
	code      []step
	variables []variable
	err       error

	onceBegins sync.Once
	begins     []Begin
}

// loadDWARF reads the sections of an image. It returns nil without an error if
// the file has no debug information.
func loadDWARF(im *image, split *splits) (d *debugInfo, err error) {
	defer guard(&err, "debug sections")
	info, err := im.section(".debug_info")
	if err != nil || len(info) == 0 {
		return nil, err
	}
	parts := map[string][]byte{}
	for _, name := range []string{"abbrev", "line", "ranges", "str", "addr", "line_str", "str_offsets", "rnglists", "loclists", "types"} {
		if parts[name], err = im.section(".debug_" + name); err != nil {
			return nil, err
		}
	}
	headers, err := scanUnits(info, im.elf.ByteOrder)
	if err != nil {
		return nil, err
	}
	d, err = newData(info, headers, parts, im.elf.ByteOrder)
	if err != nil {
		return nil, err
	}
	if split != nil {
		split.addr, split.ranges = parts["addr"], parts["ranges"]
		d.split = split
	}
	if err := d.typeUnits(parts); err != nil {
		return nil, err
	}
	return d, d.index(headers, im)
}

func newDebugInfo(data *dwarf.Data, order binary.ByteOrder) *debugInfo {
	return &debugInfo{data: data, order: order, names: map[dwarf.Offset]string{}, types: map[uint64]place{}}
}

// newData hands the sections to the library.
func newData(info []byte, headers []header, parts map[string][]byte, order binary.ByteOrder) (*debugInfo, error) {
	if err := checkAbbreviations(parts["abbrev"], headers); err != nil {
		return nil, err
	}
	data, err := dwarf.New(parts["abbrev"], nil, nil, info, parts["line"], nil, parts["ranges"], parts["str"])
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"addr", "line_str", "str_offsets", "rnglists", "loclists"} {
		if parts[name] != nil {
			if err := data.AddSection(".debug_"+name, parts[name]); err != nil {
				return nil, err
			}
		}
	}
	d := newDebugInfo(data, order)
	d.line, d.strings = parts["line"], parts["str"]
	return d, nil
}

// typeUnits reads .debug_types, where DWARF 4 keeps type units. Their header is
// that of other units, followed by the signature and the place of the type. The
// library cannot walk their entries, but it can walk those of ordinary units:
// with those two fields set to zero, which is how empty entries are written,
// every entry keeps its place.
func (d *debugInfo) typeUnits(parts map[string][]byte) error {
	if len(parts["types"]) == 0 {
		return nil
	}
	patched := slices.Clone(parts["types"])
	headers, err := scanTypeUnits(patched, d.order)
	if err != nil {
		return err
	}
	types, err := newData(patched, headers, parts, d.order)
	if err != nil {
		return err
	}
	types.types = d.types // they refer to each other
	for _, h := range headers {
		d.types[h.signature] = place{types, h.typeOffset}
		types.addrSize = h.addrSize
		types.units = append(types.units, &unit{first: h.first, end: h.end, language: types.language(h)})
	}
	return nil
}

// language returns the language of a type unit.
func (d *debugInfo) language(h header) int64 {
	r := d.data.Reader()
	r.Seek(h.first)
	if e, err := r.Next(); err == nil && e != nil {
		n, _ := e.Val(dwarf.AttrLanguage).(int64)
		return n
	}
	return 0
}

// scanTypeUnits lists the units of .debug_types and clears what stands between
// their header and their entries.
func scanTypeUnits(data []byte, order binary.ByteOrder) ([]header, error) {
	headers, err := scanUnits(data, order)
	if err != nil {
		return nil, err
	}
	for i := range headers {
		h := &headers[i]
		c := &cursor{data: data[:h.end], at: int(h.first), order: order}
		start := int(h.first)
		h.kind, h.signature = unitType, c.number(8)
		h.typeOffset = h.start + dwarf.Offset(c.number(h.wide))
		if c.bad || h.version >= 5 {
			return nil, fmt.Errorf("the unit at byte %d of .debug_types is damaged", h.start)
		}
		clear(data[start:c.at])
		h.first = dwarf.Offset(c.at)
	}
	return headers, nil
}

// header is what the header of a unit says.
type header struct {
	start        dwarf.Offset
	first, end   dwarf.Offset
	version      int
	wide         int // bytes of an offset
	abbreviation uint64
	kind         uint8
	id           uint64 // of a skeleton and its split unit
	signature    uint64
	typeOffset   dwarf.Offset
	addrSize     int
}

// Kinds of units (DWARF 5, 7.5.1).
const (
	unitCompile   = 1
	unitType      = 2
	unitPartial   = 3
	unitSkeleton  = 4
	unitSplit     = 5
	unitSplitType = 6
)

// cursor reads numbers; past the end it reads zeros and says so.
type cursor struct {
	data  []byte
	at    int
	order binary.ByteOrder
	bad   bool
}

func (c *cursor) number(n int) uint64 {
	if n > len(c.data)-c.at {
		c.bad, c.at = true, len(c.data)
		return 0
	}
	b := c.data[c.at:]
	c.at += n
	switch n {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(c.order.Uint16(b))
	case 4:
		return uint64(c.order.Uint32(b))
	}
	return c.order.Uint64(b)
}

func (c *cursor) leb() uint64 {
	v, n := binary.Uvarint(c.data[c.at:])
	if n <= 0 {
		c.bad, c.at = true, len(c.data)
		return 0
	}
	c.at += n
	return v
}

func (c *cursor) skip(n uint64) {
	if n > uint64(len(c.data)-c.at) {
		c.bad, c.at = true, len(c.data)
		return
	}
	c.at += int(n)
}

// text skips a string that ends with a zero byte.
func (c *cursor) text() {
	for !c.bad && c.number(1) != 0 {
	}
}

// length reads the length of a unit, which also says the size of its offsets.
func (c *cursor) length() (n uint64, offset int) {
	n = c.number(4)
	if n == 0xffffffff {
		return c.number(8), 8
	}
	return n, 4
}

// scanUnits lists the units of .debug_info without reading their entries.
func scanUnits(info []byte, order binary.ByteOrder) ([]header, error) {
	var out []header
	c := &cursor{data: info, order: order}
	for c.at < len(info) {
		start := c.at
		n, wide := c.length()
		if c.bad || n > uint64(len(info)-c.at) {
			return nil, fmt.Errorf("the unit at byte %d of .debug_info is cut off", start)
		}
		if n == 0 {
			continue // padding
		}
		h := header{start: dwarf.Offset(start), end: dwarf.Offset(c.at + int(n)), kind: unitCompile, wide: wide}
		if h.end > 1<<32-1 {
			return nil, errors.New("more than 4 GiB of .debug_info")
		}
		h.version = int(c.number(2))
		if h.version >= 5 {
			h.kind = uint8(c.number(1))
			h.addrSize = int(c.number(1))
			h.abbreviation = c.number(wide)
		} else {
			h.abbreviation = c.number(wide)
			h.addrSize = int(c.number(1))
		}
		switch h.kind {
		case unitSkeleton, unitSplit:
			h.id = c.number(8)
		case unitType, unitSplitType:
			h.signature = c.number(8)
			h.typeOffset = dwarf.Offset(start) + dwarf.Offset(c.number(wide))
		}
		if c.bad || c.at > int(h.end) {
			return nil, fmt.Errorf("the unit at byte %d of .debug_info is cut off", start)
		}
		h.first = dwarf.Offset(c.at)
		if c.at < int(h.end) {
			out = append(out, h)
		}
		c.at = int(h.end)
	}
	return out, nil
}

// checkAbbreviations bounds the work that tables of abbreviations are. The
// library reads the table of each distinct offset, so a million units that point
// into one long table would take forever. Linkers that merge tables let a few
// overlap.
func checkAbbreviations(data []byte, units []header) error {
	var offsets []uint64
	for _, u := range units {
		offsets = append(offsets, u.abbreviation)
	}
	slices.Sort(offsets)
	left := 1<<20 + 8*len(data)
	for _, at := range slices.Compact(offsets) {
		if at >= uint64(len(data)) {
			return fmt.Errorf("a unit names byte %d of %d of .debug_abbrev", at, len(data))
		}
		if left -= walkAbbreviations(data, int(at), nil); left < 0 {
			return errors.New("tables in .debug_abbrev overlap too much")
		}
	}
	return nil
}

// walkAbbreviations goes over the table at an offset, shows each form with the
// bytes it is written in, and returns the table's length.
func walkAbbreviations(data []byte, at int, visit func(form []byte, value uint64)) int {
	c := &cursor{data: data, at: at}
	for !c.bad && c.at < len(data) {
		if c.leb() == 0 {
			if visit != nil {
				continue // all tables, one after the other
			}
			break
		}
		c.leb()
		c.skip(1)
		for !c.bad {
			attribute := c.leb()
			start := c.at
			form := c.leb()
			if visit != nil && !c.bad {
				visit(data[start:c.at], form)
			}
			if form == 0x21 { // DW_FORM_implicit_const: the value is here
				c.leb()
			}
			if attribute == 0 && form == 0 {
				break
			}
		}
	}
	return c.at - at
}

// index finds which addresses belong to which unit from the first entry of each.
func (d *debugInfo) index(headers []header, im *image) error {
	var code []interval
	r := d.data.Reader()
	budget := newBudget(headers)
	for _, h := range headers {
		if h.kind == unitType {
			d.types[h.signature] = place{d, h.typeOffset}
			continue
		}
		if h.kind != unitCompile && h.kind != unitPartial && h.kind != unitSkeleton {
			continue
		}
		u := &unit{first: h.first, end: h.end, id: h.id}
		if d.addrSize == 0 {
			d.addrSize = h.addrSize
		}
		r.Seek(h.first)
		e, err := r.Next()
		if err != nil {
			return err
		}
		if e == nil {
			continue
		}
		u.language, _ = e.Val(dwarf.AttrLanguage).(int64)
		ranges, err := d.ranges(e, &budget)
		if err != nil {
			return err
		}
		for _, p := range ranges {
			if im.executable(p[0]) {
				code = append(code, interval{p[0], p[1], int32(len(d.units))})
			}
		}
		d.units = append(d.units, u)
	}
	d.byCode = newIntervals(code)
	return nil
}

// executable reports whether an address of a file is code. The linker gives
// what it discards the address 0; such entries must not be found. A file that
// holds debug information only still has the program headers.
func (im *image) executable(addr uint64) bool {
	if len(im.segments) == 0 {
		return addr != 0
	}
	for _, s := range im.segments {
		if s.exec && addr >= s.vaddr && addr-s.vaddr < s.memory {
			return true
		}
	}
	return false
}

// budget bounds the work that a few bytes may ask for: abbreviations with
// thousands of empty attributes, long range lists that many entries share.
type budget struct{ left int }

func newBudget(headers []header) budget {
	size := 0
	for _, h := range headers {
		size += int(h.end - h.first)
	}
	return budget{1<<20 + 8*size}
}

var errBudget = errors.New("the debug information asks for more work than its size allows")

func (b *budget) spend(n int) error {
	if b.left -= n; b.left < 0 {
		return errBudget
	}
	return nil
}

// ranges returns the addresses of an entry.
func (d *debugInfo) ranges(e *dwarf.Entry, b *budget) ([][2]uint64, error) {
	if err := b.spend(1 + len(e.Field)); err != nil {
		return nil, err
	}
	if e.AttrField(dwarf.AttrRanges) == nil {
		low, ok := e.Val(dwarf.AttrLowpc).(uint64)
		if !ok {
			return nil, nil
		}
		switch high := e.Val(dwarf.AttrHighpc).(type) {
		case uint64:
			return [][2]uint64{{low, high}}, nil
		case int64:
			return [][2]uint64{{low, low + uint64(high)}}, nil
		}
		return nil, nil
	}
	list, err := d.data.Ranges(e)
	if err != nil {
		return nil, err
	}
	for i := range list {
		// The unit that split ranges count from is elsewhere, and begins before
		// all of its code.
		if list[i][0] < d.base {
			list[i][0] += d.base
			list[i][1] += d.base
		}
	}
	return list, b.spend(len(list))
}

// maxChain bounds how far a name is followed from entry to entry.
const maxChain = 16

// name returns the readable name of a function or variable entry, following
// abstract origins and specifications.
func (d *debugInfo) name(at dwarf.Offset) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s, ok := d.names[at]; ok {
		return s
	}
	s := d.findName(at)
	d.names[at] = s
	return s
}

func (d *debugInfo) findName(at dwarf.Offset) (name string) {
	defer func() {
		if recover() != nil {
			name = ""
		}
	}()
	p := place{d, at}
	for range maxChain {
		e := p.entry()
		if e == nil {
			return name
		}
		if s := p.d.text(e, dwarf.AttrLinkageName); s != "" {
			return readable(s)
		}
		if s := p.d.text(e, dwarf.AttrName); s != "" && name == "" {
			name = readable(s)
		}
		next, ok := p.d.follow(e, dwarf.AttrAbstractOrigin)
		if !ok {
			next, ok = p.d.follow(e, dwarf.AttrSpecification)
		}
		if !ok {
			return name
		}
		p = next
	}
	return name
}

// unitAt returns the unit of an instruction, read.
func (d *debugInfo) unitAt(addr uint64) *unit {
	if d == nil {
		return nil
	}
	i, ok := d.byCode.find(addr)
	if !ok {
		return nil
	}
	u := d.units[i]
	u.readOnce(d)
	return u
}

// variableAt returns the variable that starts nearest below an address and its
// unit read with all others: nothing says which unit has which variable.
func (b *Binary) variableAt(addr uint64) (*variable, *Type) {
	d := b.dwarf()
	if d == nil {
		return nil, nil
	}
	d.everything.Do(func() { d.readAll(b) })
	i, ok := d.byData.find(addr)
	if !ok {
		return nil, nil
	}
	v := &d.variables[i]
	return v, b.typeAt(v.kind)
}

// readOnce reads a unit. What cannot be read, and what no reader of such files
// foresaw, stays with the unit: the other units are not to suffer for it.
func (u *unit) readOnce(d *debugInfo) {
	u.once.Do(func() { u.err = parallel.Safely(func() error { return u.read(d) }) })
}

// readAll reads every unit, as many at once as there are processors, and orders
// the variables whose size is known.
func (d *debugInfo) readAll(b *Binary) {
	parallel.Each(context.Background(), len(d.units), func(_ context.Context, _, i int) error {
		d.units[i].readOnce(d)
		return nil
	})
	var data []interval
	for _, u := range d.units {
		for _, v := range u.variables {
			t := b.typeAt(v.kind)
			if t == nil || v.addr+t.Size < v.addr {
				continue
			}
			data = append(data, interval{v.addr, v.addr + t.Size, int32(len(d.variables))})
			d.variables = append(d.variables, v)
		}
	}
	d.byData = newIntervals(data)
}
