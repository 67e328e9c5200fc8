// Package reftable keeps a trace of every memory reference as a table of a run,
// and reads it back. Its columns have the names that samples have, so that the
// same questions can be asked of both.
package reftable

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/table"
)

// Name is the name of the table.
const Name = "refs"

var opNames = []string{"load", "store", "modify"}

// New makes the table of a recorded trace. Fields says what the recording has;
// column "order" is the position in the trace. Objects may be nil.
func New(all []refs.Ref, places []refs.Place, objects []refs.Object, has refs.Fields) (*table.Table, error) {
	b := newBuilder(len(all), places, objects, has)
	b.stay()
	b.add(all)
	return b.table()
}

// FromBlocks is New for n references that come in blocks, more than fit in memory:
// columns may be in temporary files until the table is closed.
func FromBlocks(blocks iter.Seq[[]refs.Ref], n int, places []refs.Place, objects []refs.Object, has refs.Fields) (*table.Table, error) {
	b := newBuilder(n, places, objects, has)
	for block := range blocks {
		b.add(block)
	}
	return b.table()
}

// optional are the columns a recording may lack. They are there all the same,
// without values, so that all recordings have the same table.
var optional = map[string]refs.Fields{
	"tid": refs.HasThread, "ip": refs.HasPC, "width": refs.HasSize, "function": refs.HasPlace, "file": refs.HasPlace, "line": refs.HasPlace,
}

// builder makes the columns of a table, one reference after the other.
type builder struct {
	n, rows int
	has     refs.Fields
	objects []refs.Object

	order, tid, width, line, offset table.GrowingInts
	addr, ip                        table.Growing[uint64]
	op, function, file, symbol      table.Growing[uint32]
	enters                          table.Growing[uint8]
	// Which rows have a value.
	sized, placed, filed, named table.Bits

	functions, files, names *table.Interner
	places                  []placeCodes
	symbols                 []uint32 // of objects: code plus one; 0 until one is met
}

// placeCodes is a source position as columns have it; 0 is none, else the code
// plus one, given when it is met.
type placeCodes struct {
	place          refs.Place
	met            bool
	function, file uint32
}

func newBuilder(n int, places []refs.Place, objects []refs.Object, has refs.Fields) *builder {
	b := &builder{n: n, has: has, objects: objects, sized: table.NewBits(n), placed: table.NewBits(n), filed: table.NewBits(n),
		functions: table.NewInterner(), files: table.NewInterner(), names: table.NewInterner(), places: make([]placeCodes, len(places))}
	for i, p := range places {
		b.places[i].place = p
	}
	if has&refs.HasObject != 0 {
		b.named, b.symbols = table.NewBits(n), make([]uint32, len(objects))
	}
	return b
}

// stay keeps all columns in memory.
func (b *builder) stay() {
	for _, g := range []*table.GrowingInts{&b.order, &b.tid, &b.width, &b.line, &b.offset} {
		g.Stay()
	}
	b.addr.Stay, b.ip.Stay, b.enters.Stay = true, true, true
	for _, g := range []*table.Growing[uint32]{&b.op, &b.function, &b.file, &b.symbol} {
		g.Stay = true
	}
}

func (b *builder) add(block []refs.Ref) {
	block = block[:min(len(block), b.n-b.rows)]
	for i := range block {
		r := &block[i]
		b.order.Append(int64(b.rows))
		b.tid.Append(int64(r.Thread))
		b.ip.Append(r.PC)
		b.addr.Append(r.Addr)
		b.op.Append(uint32(r.Op))
		b.width.Append(int64(r.Size))
		if r.Size > 0 {
			b.sized.Set(b.rows)
		}
		b.addPlace(r)
		if b.has&refs.HasObject != 0 {
			b.addObject(r)
		}
		if b.has&refs.HasFlow != 0 {
			enters := uint8(0)
			if r.Enters {
				enters = 1
			}
			b.enters.Append(enters)
		}
		b.rows++
	}
}

// addPlace adds the function, file and line of a reference.
func (b *builder) addPlace(r *refs.Ref) {
	var p placeCodes
	if int(r.Place) < len(b.places) {
		at := &b.places[r.Place]
		if !at.met {
			at.met = true
			if at.place.Function != "" {
				at.function = b.functions.CodeString(at.place.Function) + 1
			}
			if at.place.File != "" && at.place.Line > 0 {
				at.file = b.files.CodeString(at.place.File) + 1
			}
		}
		p = *at
	}
	line := 0
	if p.function > 0 {
		b.placed.Set(b.rows)
		p.function--
	}
	if p.file > 0 {
		b.filed.Set(b.rows)
		p.file--
		line = p.place.Line
	}
	b.function.Append(p.function)
	b.file.Append(p.file)
	b.line.Append(int64(line))
}

// addObject adds the object of a reference, under the name it has in samples, and
// how far into it the reference lies.
func (b *builder) addObject(r *refs.Ref) {
	code, offset := uint32(0), int64(0)
	if r.Object != 0 && int(r.Object) < len(b.objects) {
		o := &b.objects[r.Object]
		if b.symbols[r.Object] == 0 {
			b.symbols[r.Object] = b.names.CodeString(o.Name) + 1
		}
		code, offset = b.symbols[r.Object]-1, int64(r.Addr-o.Start)
		b.named.Set(b.rows)
	}
	b.symbol.Append(code)
	b.offset.Append(offset)
}

func (b *builder) table() (*table.Table, error) {
	var columns []*table.Column
	var failed error
	keep := func(c *table.Column, err error, valid table.Bits) {
		failed = errors.Join(failed, err)
		if err != nil {
			return
		}
		if valid != nil && valid.Count() < b.n {
			c.Valid = valid
		}
		if f, optional := optional[c.Name]; optional && b.has&f == 0 {
			c.Provenance, c.Valid = table.Absent, table.NewBits(b.n)
		}
		columns = append(columns, c)
	}
	ints := func(g *table.GrowingInts, name, unit string, p table.Provenance, valid table.Bits) {
		c, err := g.Column(name, unit, p)
		keep(c, err, valid)
	}
	codes := func(g *table.Growing[uint32], name string, p table.Provenance, names []string, valid table.Bits) {
		values, spill, err := g.Values()
		keep(table.Categories(name, p, values, names, nil).Back(spill), err, valid)
	}
	addresses := func(g *table.Growing[uint64], name, note string) {
		values, spill, err := g.Values()
		c := table.Addresses(name, table.Measured, values, nil).Back(spill)
		c.Note = note
		keep(c, err, nil)
	}
	ints(&b.order, "order", "", table.Derived, nil)
	ints(&b.tid, "tid", "", table.Measured, nil)
	addresses(&b.ip, "ip", "link-time address in the program itself, load address in libraries")
	addresses(&b.addr, "addr", "")
	codes(&b.op, "op", table.Measured, opNames, nil)
	ints(&b.width, "width", "bytes", table.Measured, b.sized)
	codes(&b.function, "function", table.Derived, b.functions.Names(), b.placed)
	codes(&b.file, "file", table.Derived, b.files.Names(), b.filed)
	ints(&b.line, "line", "", table.Derived, b.filed)
	if b.has&refs.HasObject != 0 {
		codes(&b.symbol, "symbol", table.Derived, b.names.Names(), b.named)
		ints(&b.offset, "offset", "bytes", table.Derived, b.named)
	}
	if b.has&refs.HasFlow != 0 {
		values, spill, err := b.enters.Values()
		keep(table.Flags("enters", table.Measured, values, nil).Back(spill), err, nil)
	}
	if failed != nil {
		for _, c := range columns {
			failed = errors.Join(failed, c.Spill.Close())
		}
		return nil, failed
	}
	return table.New(Name, columns)
}

// Reader is the references of a table. File names are shortened to their last
// part where that tells them apart.
type Reader struct {
	about refs.About
	next  int
	rows  int
	table *table.Table
	read  int // rows since their memory was given back

	addr, ip                           *table.Column
	op, tid, width, function, file, ln *table.Column
	ops                                []refs.Op
	symbol, offset, enters             *table.Column
	short                              []string
	places                             map[refs.Place]uint32
	codes, objects                     *refs.Memo // rows to places, names and starts to objects
	lastPlace, lastObject              refs.Key   // zero has number 0: it is unknown
	lastID, lastNumber                 uint32
	at                                 stretchOf
}

// releaseEvery is how many rows are read between two times that the memory of
// those before is given back: some twenty megabytes.
const releaseEvery = 1 << 19

// NewReader reads the references of a table that New made.
func NewReader(t *table.Table) (*Reader, error) {
	r := &Reader{rows: t.Rows(), table: t, about: refs.About{Places: []refs.Place{{}}, Objects: []refs.Object{{}}}, places: map[refs.Place]uint32{{}: 0}, codes: refs.NewMemo(), objects: refs.NewMemo()}
	for _, c := range []struct {
		name string
		at   **table.Column
		kind table.Kind
		has  refs.Fields
	}{
		{"addr", &r.addr, table.Address, 0}, {"op", &r.op, table.Category, 0},
		{"ip", &r.ip, table.Address, refs.HasPC}, {"tid", &r.tid, table.Number, refs.HasThread}, {"width", &r.width, table.Number, refs.HasSize},
		{"function", &r.function, table.Category, 0}, {"file", &r.file, table.Category, 0}, {"line", &r.ln, table.Number, refs.HasPlace},
		{"symbol", &r.symbol, table.Category, refs.HasObject}, {"offset", &r.offset, table.Number, 0},
		{"enters", &r.enters, table.Flag, refs.HasFlow},
	} {
		col := t.Column(c.name)
		if col == nil && (c.name == "addr" || c.name == "op") {
			return nil, fmt.Errorf("table %s has no column %s", t.Name, c.name)
		}
		if col == nil {
			continue
		}
		if col.Kind != c.kind {
			return nil, fmt.Errorf("table %s: column %s holds a %s, want a %s", t.Name, c.name, col.Kind, c.kind)
		}
		*c.at = col
		if col.Provenance != table.Absent {
			r.about.Has |= c.has
		}
	}
	if err := r.names(); err != nil {
		return nil, err
	}
	return r, nil
}

// names prepares the operations and file names behind the codes of the table.
func (r *Reader) names() error {
	for _, name := range r.op.Dict {
		switch name {
		case "load":
			r.ops = append(r.ops, refs.Load)
		case "store":
			r.ops = append(r.ops, refs.Store)
		case "modify":
			r.ops = append(r.ops, refs.Modify)
		default:
			return fmt.Errorf("column op has %q; want load, store or modify", name)
		}
	}
	if r.file == nil {
		return nil
	}
	same := map[string]int{}
	for _, f := range r.file.Dict {
		same[filepath.Base(f)]++
	}
	for _, f := range r.file.Dict {
		if base := filepath.Base(f); same[base] == 1 {
			f = base
		}
		r.short = append(r.short, f)
	}
	return nil
}

// About implements refs.Source.
func (r *Reader) About() *refs.About { return &r.about }

// Read implements refs.Source.
func (r *Reader) Read(dst []refs.Ref) (int, error) {
	n := min(len(dst), r.rows-r.next)
	for dst = dst[:n]; len(dst) > 0; {
		rows := dst[:min(len(dst), stretch)]
		r.readStretch(rows)
		r.next += len(rows)
		dst = dst[len(rows):]
	}
	if r.read += n; r.read >= releaseEvery {
		r.table.Release()
		r.read = 0
	}
	if r.next == r.rows {
		return n, io.EOF
	}
	return n, nil
}

// stretch is how many rows are read at once, column by column: what is taken from
// the columns stays in the nearest cache.
const stretch = 256

// numbers are the values of a column in a stretch: 0 where there is none.
type numbers [stretch]int64

// stretchOf is a stretch of every column of numbers or codes.
type stretchOf struct {
	tid, width, function, file, line, symbol, offset numbers
}

// readStretch reads the next rows.
func (r *Reader) readStretch(dst []refs.Ref) {
	s := &r.at
	s.tid.read(r.tid, r.next, len(dst), 0)
	s.width.read(r.width, r.next, len(dst), 0)
	s.function.read(r.function, r.next, len(dst), 1)
	s.file.read(r.file, r.next, len(dst), 1)
	s.line.read(r.ln, r.next, len(dst), 0)
	addrs, codes := r.addr.Data.([]uint64)[r.next:], r.op.Data.([]uint32)[r.next:]
	for k := range dst {
		dst[k] = refs.Ref{Addr: addrs[k], Op: r.ops[codes[k]], Thread: uint32(s.tid[k]), Size: uint32(s.width[k]), Place: r.place(k)}
	}
	if r.ip != nil {
		ips := r.ip.Data.([]uint64)[r.next:]
		for k := range dst {
			dst[k].PC = ips[k]
		}
	}
	if r.enters != nil {
		enters := r.enters.Data.([]uint8)[r.next:]
		for k := range dst {
			dst[k].Enters = enters[k] != 0
		}
	}
	r.readObjects(dst)
}

// read takes n values of a column from a row on, and adds something to those that
// there are. A column that the table lacks leaves zeros.
func (to *numbers) read(c *table.Column, from, n int, plus int64) {
	if c == nil {
		return
	}
	switch d := c.Data.(type) {
	case []int32:
		for k, v := range d[from : from+n] {
			to[k] = int64(v) + plus
		}
	case []int64:
		for k, v := range d[from : from+n] {
			to[k] = v + plus
		}
	case []uint32:
		for k, v := range d[from : from+n] {
			to[k] = int64(v) + plus
		}
	default:
		for k := range n {
			to[k] = int64(c.Float(from+k)) + plus
		}
	}
	if c.Valid == nil {
		return
	}
	for k := range n {
		if !c.Valid.Get(from + k) {
			to[k] = 0
		}
	}
}

// readObjects numbers the objects of the next rows.
func (r *Reader) readObjects(dst []refs.Ref) {
	if r.symbol == nil || r.offset == nil {
		return
	}
	s := &r.at
	s.symbol.read(r.symbol, r.next, len(dst), 1)
	s.offset.read(r.offset, r.next, len(dst), 0)
	for k := range dst {
		// Codes in place of names: a trace has millions of references.
		if s.symbol[k] == 0 || !r.offset.Has(r.next+k) {
			continue
		}
		key := refs.Key{uint64(s.symbol[k]), dst[k].Addr - uint64(s.offset[k])}
		if key != r.lastObject {
			r.lastObject, r.lastNumber = key, r.object(key)
		}
		dst[k].Object = r.lastNumber
	}
}

// object numbers an object by the code of its name, plus one, and its start.
func (r *Reader) object(key refs.Key) uint32 {
	id, ok := r.objects.Get(key)
	if !ok && len(r.about.Objects) < refs.MaxObjects {
		id = uint32(len(r.about.Objects))
		r.objects.Put(key, id)
		r.about.Objects = append(r.about.Objects, refs.Object{Name: r.symbol.Dict[key[0]-1], Start: key[1]})
	}
	return id
}

// place numbers the source position of a row of the stretch: by its codes first,
// which tell positions apart as their names do.
func (r *Reader) place(k int) uint32 {
	s := &r.at
	key := refs.Key{uint64(s.function[k]) | uint64(s.file[k])<<32, uint64(s.line[k])}
	if key == r.lastPlace {
		return r.lastID
	}
	id, ok := r.codes.Get(key)
	if !ok {
		id = r.named(r.next + k)
		r.codes.Put(key, id)
	}
	r.lastPlace, r.lastID = key, id
	return id
}

func (r *Reader) named(i int) uint32 {
	var p refs.Place
	if r.function != nil && r.function.Has(i) {
		p.Function = r.function.Text(i)
	}
	if r.file != nil && r.file.Has(i) {
		p.File = r.short[r.file.Data.([]uint32)[i]]
	}
	if r.ln != nil && r.ln.Has(i) {
		p.Line = int(r.ln.Float(i))
	}
	id, ok := r.places[p]
	if !ok {
		id = uint32(len(r.about.Places))
		r.places[p] = id
		r.about.Places = append(r.about.Places, p)
	}
	return id
}
