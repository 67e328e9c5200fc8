package symbol

import (
	"cmp"
	"debug/dwarf"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"sort"
)

// row is one row of a line table. Column 0 is unknown; those beyond a byte are
// kept as its largest value, since rows are most of what a large program needs.
type row struct {
	addr uint64
	line uint32
	at   uint32 // file in the upper bits, column in the lowest eight
}

func (r row) file() uint32 { return r.at >> 8 }
func (r row) column() int  { return int(r.at & 0xff) }

// scope is a function, or one inlined into its parent.
type scope struct {
	entry              place
	low                uint64
	parent             int32 // -1 for a function
	callFile, callLine uint32
	callColumn         uint32
}

// step says which scope is innermost from addr on; -1 is none.
type step struct {
	addr  uint64
	scope int32
}

// variable is an object with a fixed address.
type variable struct {
	addr  uint64
	entry place
	kind  place // of its type; none if unknown
}

// read reads the line table and the entries of the unit. What can be read
// before damage is kept.
func (u *unit) read(d *debugInfo) (err error) {
	defer guard(&err, "debug entries")
	r := d.data.Reader()
	r.Seek(u.first)
	root, err := r.Next()
	if err != nil || root == nil {
		return err
	}
	lineErr := u.readLines(d, root)
	if k, ok := skeletonOf(root, u.id); ok && d.split != nil {
		return errors.Join(lineErr, u.readSplit(d, k))
	}
	if !root.Children {
		return lineErr
	}
	return errors.Join(lineErr, u.readEntries(d, r, u.first, u.end))
}

// readSplit reads the entries of a unit from where they are.
func (u *unit) readSplit(d *debugInfo, k skeleton) error {
	home, h, err := d.split.open(k, d.order)
	if err != nil {
		return err
	}
	home.alternate = d.alternate
	r := home.data.Reader()
	r.Seek(h.first)
	root, err := r.Next()
	if err != nil || root == nil {
		return err
	}
	language, _ := root.Val(dwarf.AttrLanguage).(int64)
	home.units = []*unit{{first: h.first, end: h.end, language: language}}
	if !root.Children {
		return nil
	}
	return u.readEntries(home, r, h.first, h.end)
}

// lineReader returns a reader of the unit's line table; nil if it has none.
func (d *debugInfo) lineReader(root *dwarf.Entry) (*dwarf.LineReader, error) {
	at, ok := root.Val(dwarf.AttrStmtList).(int64)
	if !ok || d.line == nil {
		return nil, nil
	}
	if err := checkLineHeader(d, at); err != nil {
		return nil, err
	}
	return d.data.LineReader(root)
}

// sourceName is the path of a file of a unit's line table. Since version 5 of DWARF
// folders may be relative to that of the compilation, as for cc -c src/heat.c, and
// the reader leaves them so; of earlier versions it joins them.
func sourceName(root *dwarf.Entry, name string) string {
	folder, _ := root.Val(dwarf.AttrCompDir).(string)
	drive := len(name) > 1 && name[1] == ':'
	if name == "" || name[0] == '<' || drive || path.IsAbs(name) || !path.IsAbs(folder) { // <built-in> is no file
		return path.Clean(name)
	}
	return path.Join(folder, name)
}

func (u *unit) readLines(d *debugInfo, root *dwarf.Entry) error {
	lr, err := d.lineReader(root)
	if err != nil || lr == nil {
		return err
	}
	numbers := map[*dwarf.LineFile]uint32{}
	for i, f := range lr.Files() {
		name := ""
		if f != nil {
			name = sourceName(root, f.Name)
			numbers[f] = uint32(i)
		}
		u.files = append(u.files, name)
	}
	var spans []interval
	start := 0
	var e dwarf.LineEntry
	for {
		err := lr.Next(&e)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if e.EndSequence {
			if n := len(u.rows); n > start {
				spans = append(spans, interval{u.rows[start].addr, e.Address, int32(len(u.spans))})
				u.spans = append(u.spans, [2]int32{int32(start), int32(n)})
			}
			start = len(u.rows)
			continue
		}
		file, ok := numbers[e.File]
		if !ok && e.File != nil { // defined by the program itself
			file = uint32(len(u.files))
			numbers[e.File] = file
			u.files = append(u.files, sourceName(root, e.File.Name))
		}
		if n := len(u.rows); n > start && u.rows[n-1].addr == e.Address {
			u.rows = u.rows[:n-1] // the last of several rows at one address holds
		}
		u.rows = append(u.rows, row{e.Address, uint32(max(e.Line, 0)), file<<8 | uint32(min(max(e.Column, 0), 0xff))})
	}
	u.sequences = newIntervals(spans)
	return nil
}

// position returns the file and line of an address. Between sequences there is
// none.
func (u *unit) position(addr uint64) (file string, line int) {
	r, ok := u.row(addr)
	if !ok {
		return "", 0
	}
	return u.file(r.file()), int(r.line)
}

// row returns the row of the line table that an address belongs to.
func (u *unit) row(addr uint64) (row, bool) {
	i, ok := u.sequences.find(addr)
	if !ok {
		return row{}, false
	}
	rows := u.rows[u.spans[i][0]:u.spans[i][1]]
	k := sort.Search(len(rows), func(i int) bool { return rows[i].addr > addr }) - 1
	if k < 0 {
		return row{}, false
	}
	return rows[k], true
}

func (u *unit) file(i uint32) string {
	if int(i) >= len(u.files) {
		return ""
	}
	return u.files[i]
}

// maxDepth bounds the nesting of entries.
const maxDepth = 512

// walk is the state of reading the entries of a unit.
type walk struct {
	d      *debugInfo
	u      *unit
	budget budget
	open   []int32 // the scope of each open entry
	ranges []interval
}

// readEntries visits functions, inlined calls and variables. Types are skipped:
// they are most of the entries, and are read when a variable has them.
func (u *unit) readEntries(d *debugInfo, r *dwarf.Reader, first, end dwarf.Offset) error {
	w := &walk{d: d, u: u, budget: budget{1<<20 + 8*int(end-first)}, open: []int32{-1}}
	defer func() { u.code = steps(w.ranges) }()
	for len(w.open) > 0 {
		e, err := r.Next()
		if err != nil {
			return err
		}
		if e == nil || e.Offset >= end {
			return nil
		}
		if err := w.budget.spend(1 + len(e.Field)); err != nil {
			return err
		}
		if e.Tag == 0 {
			w.open = w.open[:len(w.open)-1]
			continue
		}
		inside, err := w.visit(e)
		if err != nil {
			return err
		}
		switch {
		case !e.Children:
		case inside == skipped:
			r.SkipChildren()
		case len(w.open) >= maxDepth:
			return fmt.Errorf("entries nest more than %d deep", maxDepth)
		default:
			w.open = append(w.open, inside)
		}
	}
	return nil
}

// skipped is the scope of entries that are not visited.
const skipped = -2

// visit returns the scope of the entry's children.
func (w *walk) visit(e *dwarf.Entry) (int32, error) {
	here := w.open[len(w.open)-1]
	switch e.Tag {
	case dwarf.TagSubprogram:
		return w.scope(e, -1)
	case dwarf.TagInlinedSubroutine:
		return w.scope(e, here)
	case dwarf.TagVariable:
		w.variable(e)
		return skipped, nil
	case dwarf.TagLexDwarfBlock, dwarf.TagNamespace, dwarf.TagModule, dwarf.TagCommonDwarfBlock, dwarf.TagTryDwarfBlock, dwarf.TagCatchDwarfBlock:
		return here, nil
	}
	return skipped, nil
}

func (w *walk) scope(e *dwarf.Entry, parent int32) (int32, error) {
	ranges, err := w.d.ranges(e, &w.budget)
	if err != nil {
		return skipped, err
	}
	if len(ranges) == 0 {
		// A declaration or the pattern of an inlined function; its static
		// variables may be inside.
		return parent, nil
	}
	n := int32(len(w.u.scopes))
	s := scope{entry: place{w.d, e.Offset}, parent: parent, low: ranges[0][0]}
	if origin, ok := w.d.follow(e, dwarf.AttrAbstractOrigin); ok {
		s.entry = origin // shared by all copies, so its name is looked up once
	}
	if v, ok := e.Val(dwarf.AttrCallFile).(int64); ok && v >= 0 {
		s.callFile = uint32(v)
	}
	if v, ok := e.Val(dwarf.AttrCallLine).(int64); ok && v >= 0 {
		s.callLine = uint32(v)
	}
	if v, ok := e.Val(dwarf.AttrCallColumn).(int64); ok && v >= 0 {
		s.callColumn = uint32(v)
	}
	for _, p := range ranges {
		s.low = min(s.low, p[0])
		if p[0] != 0 && p[0] < p[1] {
			w.ranges = append(w.ranges, interval{p[0], p[1], n})
		}
	}
	w.u.scopes = append(w.u.scopes, s)
	return n, nil
}

// variable keeps a variable whose location is one address.
func (w *walk) variable(e *dwarf.Entry) {
	expr, ok := e.Val(dwarf.AttrLocation).([]byte)
	if !ok || len(expr) == 0 {
		return
	}
	const opAddr, opPlus, opAddrX, opGNUAddrIndex = 0x03, 0x23, 0xa1, 0xfb
	size := w.d.addrSize
	if size != 4 && size != 8 {
		return
	}
	c := &cursor{data: expr, order: w.d.order}
	v := variable{entry: place{w.d, e.Offset}}
	switch c.number(1) {
	case opAddr:
		v.addr = c.number(size)
	case opAddrX, opGNUAddrIndex:
		table := &cursor{data: w.d.addresses, order: w.d.order}
		if n := c.leb(); n < uint64(len(w.d.addresses)) {
			table.skip(n * uint64(size))
			v.addr = table.number(size)
		}
	default:
		return
	}
	if c.at < len(c.data) { // a member of a Fortran common block
		if c.number(1) != opPlus {
			return
		}
		v.addr += c.leb()
	}
	if c.bad || c.at != len(c.data) || v.addr == 0 {
		return
	}
	v.kind = w.d.typeOf(e)
	w.u.variables = append(w.u.variables, v)
}

// steps turns nested ranges into one list by address. Scopes are numbered in
// the order of their entries, so of two equal ranges the later is the inner.
func steps(ranges []interval) []step {
	slices.SortFunc(ranges, func(a, b interval) int {
		return cmp.Or(cmp.Compare(a.low, b.low), cmp.Compare(b.high, a.high), cmp.Compare(a.item, b.item))
	})
	var out []step
	var open []interval
	set := func(addr uint64, scope int32) {
		if n := len(out); n > 0 && out[n-1].addr == addr {
			out[n-1].scope = scope
			return
		}
		out = append(out, step{addr, scope})
	}
	closeUpTo := func(addr uint64) {
		for len(open) > 0 && open[len(open)-1].high <= addr {
			end := open[len(open)-1].high
			open = open[:len(open)-1]
			outer := int32(-1)
			if len(open) > 0 {
				outer = open[len(open)-1].item
			}
			set(end, outer)
		}
	}
	for _, v := range ranges {
		closeUpTo(v.low)
		if len(open) > 0 {
			v.high = min(v.high, open[len(open)-1].high) // damaged input may overlap
		}
		open = append(open, v)
		set(v.low, v.item)
	}
	closeUpTo(^uint64(0))
	return out
}

// scopeAt returns the innermost scope of an address, -1 if there is none.
func (u *unit) scopeAt(addr uint64) int32 {
	k := sort.Search(len(u.code), func(i int) bool { return u.code[i].addr > addr }) - 1
	if k < 0 {
		return -1
	}
	return u.code[k].scope
}

// calls returns where the functions that the code at an address was inlined from are
// called, innermost first.
func (u *unit) calls(addr uint64) (sites []CallSite) {
	at := u.scopeAt(addr)
	for range maxDepth {
		if at < 0 || u.scopes[at].parent < 0 {
			break
		}
		s := &u.scopes[at]
		sites = append(sites, CallSite{u.file(s.callFile), int(s.callLine), int(s.callColumn)})
		at = s.parent
	}
	return sites
}

// frames returns the calls at an address, innermost first.
func (u *unit) frames(addr uint64) (frames []Frame, start uint64) {
	file, line := u.position(addr)
	at := u.scopeAt(addr)
	if at < 0 {
		if file == "" {
			return nil, 0
		}
		return []Frame{{File: file, Line: line}}, 0
	}
	for range maxDepth {
		s := u.scopes[at]
		frames = append(frames, Frame{s.entry.name(), file, line})
		if s.parent < 0 {
			return frames, s.low
		}
		file, line, at = u.file(s.callFile), int(s.callLine), s.parent
	}
	return frames, 0
}
