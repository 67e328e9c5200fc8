// Package reftable keeps a trace of every memory reference as a table of a run,
// and reads it back. Its columns have the names that samples have, so that the
// same questions can be asked of both.
package reftable

import (
	"fmt"
	"io"
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
	n := len(all)
	order, tid, width := make([]int64, n), make([]int64, n), make([]int64, n)
	addr, ip := make([]uint64, n), make([]uint64, n)
	op := make([]uint32, n)
	sized := table.NewBits(n)
	for i, r := range all {
		order[i], tid[i], width[i] = int64(i), int64(r.Thread), int64(r.Size)
		addr[i], ip[i], op[i] = r.Addr, r.PC, uint32(r.Op)
		if r.Size > 0 {
			sized.Set(i)
		}
	}
	if sized.Count() == n {
		sized = nil
	}
	ips := table.Addresses("ip", table.Measured, ip, nil)
	ips.Note = "link-time address in the program itself, load address in libraries"
	columns := []*table.Column{
		table.Ints("order", "", table.Derived, order, nil),
		table.Ints("tid", "", table.Measured, tid, nil),
		ips,
		table.Addresses("addr", table.Measured, addr, nil),
		table.Categories("op", table.Measured, op, opNames, nil),
		table.Ints("width", "bytes", table.Measured, width, sized),
	}
	columns = append(columns, placeColumns(all, places)...)
	if has&refs.HasObject != 0 {
		columns = append(columns, objectColumns(all, objects)...)
	}
	if has&refs.HasFlow != 0 {
		enters := make([]uint8, n)
		for i := range all {
			if all[i].Enters {
				enters[i] = 1
			}
		}
		columns = append(columns, table.Flags("enters", table.Measured, enters, nil))
	}
	for _, c := range columns {
		if f, optional := optional[c.Name]; optional && has&f == 0 {
			c.Provenance, c.Valid = table.Absent, table.NewBits(n)
		}
	}
	return table.New(Name, columns)
}

// optional are the columns a recording may lack. They are there all the same,
// without values, so that all recordings have the same table.
var optional = map[string]refs.Fields{
	"tid": refs.HasThread, "ip": refs.HasPC, "width": refs.HasSize, "function": refs.HasPlace, "file": refs.HasPlace, "line": refs.HasPlace,
}

// placeColumns are the function, file and line of each reference.
func placeColumns(all []refs.Ref, places []refs.Place) []*table.Column {
	n := len(all)
	function, file, line := make([]uint32, n), make([]uint32, n), make([]int64, n)
	hasFunction, hasFile := table.NewBits(n), table.NewBits(n)
	functions, files := table.NewInterner(), table.NewInterner()
	for i, r := range all {
		if int(r.Place) >= len(places) {
			continue
		}
		p := places[r.Place]
		if p.Function != "" {
			function[i] = functions.CodeString(p.Function)
			hasFunction.Set(i)
		}
		if p.File != "" && p.Line > 0 {
			file[i], line[i] = files.CodeString(p.File), int64(p.Line)
			hasFile.Set(i)
		}
	}
	return []*table.Column{
		table.Categories("function", table.Derived, function, functions.Names(), hasFunction),
		table.Categories("file", table.Derived, file, files.Names(), hasFile),
		table.Ints("line", "", table.Derived, line, hasFile),
	}
}

// objectColumns are the object of each reference, under the name it has in
// samples, and how far into it the reference lies.
func objectColumns(all []refs.Ref, objects []refs.Object) []*table.Column {
	n := len(all)
	name, offset, has := make([]uint32, n), make([]int64, n), table.NewBits(n)
	names := table.NewInterner()
	for i, r := range all {
		if r.Object == 0 || int(r.Object) >= len(objects) {
			continue
		}
		o := objects[r.Object]
		name[i], offset[i] = names.CodeString(o.Name), int64(r.Addr-o.Start)
		has.Set(i)
	}
	return []*table.Column{
		table.Categories("symbol", table.Derived, name, names.Names(), has),
		table.Ints("offset", "bytes", table.Derived, offset, has),
	}
}

// Reader is the references of a table. File names are shortened to their last
// part where that tells them apart.
type Reader struct {
	about refs.About
	next  int
	rows  int

	addr, ip                           *table.Column
	op, tid, width, function, file, ln *table.Column
	ops                                []refs.Op
	symbol, offset, enters             *table.Column
	short                              []string
	places                             map[refs.Place]uint32
	codes                              *refs.Memo           // rows to places
	objects                            map[[2]uint64]uint32 // code and start
	lastObject                         [2]uint64
	lastNumber                         uint32
}

// NewReader reads the references of a table that New made.
func NewReader(t *table.Table) (*Reader, error) {
	r := &Reader{rows: t.Rows(), about: refs.About{Places: []refs.Place{{}}, Objects: []refs.Object{{}}}, places: map[refs.Place]uint32{{}: 0}, codes: refs.NewMemo(), objects: map[[2]uint64]uint32{}}
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
	addrs, codes := r.addr.Data.([]uint64), r.op.Data.([]uint32)
	n := min(len(dst), r.rows-r.next)
	var ips []uint64
	if r.ip != nil {
		ips = r.ip.Data.([]uint64)
	}
	for k := range dst[:n] {
		i := r.next + k
		ref := refs.Ref{Addr: addrs[i], Op: r.ops[codes[i]], Place: r.place(i), Object: r.object(i, addrs[i])}
		if ips != nil {
			ref.PC = ips[i]
		}
		if r.tid != nil {
			ref.Thread = uint32(r.tid.Float(i))
		}
		if r.width != nil && r.width.Has(i) {
			ref.Size = uint32(r.width.Float(i))
		}
		if r.enters != nil {
			ref.Enters = r.enters.Data.([]uint8)[i] != 0
		}
		dst[k] = ref
	}
	r.next += n
	if r.next == r.rows {
		return n, io.EOF
	}
	return n, nil
}

func (r *Reader) object(i int, addr uint64) uint32 {
	if r.symbol == nil || r.offset == nil || !r.symbol.Has(i) || !r.offset.Has(i) {
		return 0
	}
	// Codes in place of names: a trace has millions of references.
	key := [2]uint64{uint64(r.symbol.Data.([]uint32)[i]), addr - uint64(r.offset.Float(i))}
	if r.lastNumber > 0 && key == r.lastObject {
		return r.lastNumber
	}
	id, ok := r.objects[key]
	if !ok && len(r.about.Objects) < refs.MaxObjects {
		id = uint32(len(r.about.Objects))
		r.objects[key] = id
		r.about.Objects = append(r.about.Objects, refs.Object{Name: r.symbol.Text(i), Start: key[1]})
	}
	r.lastObject, r.lastNumber = key, id
	return id
}

// place numbers the source position of a row: by its codes first, which tell
// positions apart as their names do.
func (r *Reader) place(i int) uint32 {
	key := refs.Key{}
	if r.function != nil && r.function.Has(i) {
		key[0] = uint64(r.function.Data.([]uint32)[i]) + 1
	}
	if r.file != nil && r.file.Has(i) {
		key[0] |= (uint64(r.file.Data.([]uint32)[i]) + 1) << 32
	}
	if r.ln != nil && r.ln.Has(i) {
		key[1] = uint64(r.ln.Float(i))
	}
	id, ok := r.codes.Get(key)
	if !ok {
		id = r.named(i)
		r.codes.Put(key, id)
	}
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
