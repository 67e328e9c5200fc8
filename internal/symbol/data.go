package symbol

import (
	"isobath/internal/table"
)

// hit is the object of the last row: neighbours in time are often in the same.
type hit struct {
	pid, tid  int
	low, high uint64
	changes   int
	object    *Object
}

// data returns the columns of accessed addresses.
func (r *Resolver) data(s *Samples) []*table.Column {
	d := newDataColumns(s.Rows)
	var last hit
	s.each(func(i int) {
		if s.HasAddr != nil && !s.HasAddr.Get(i) {
			return
		}
		pid, tid, at, addr, sp := s.pid(i), s.tid(i), s.time(i), s.Addr[i], uint64(0)
		if s.SP != nil {
			sp = s.SP[i]
		}
		o := r.Objects
		if last.object != nil && last.pid == pid && last.tid == tid && addr >= last.low && addr < last.high && last.changes == o.changesAt(at) {
			d.set(i, last.object, addr)
			return
		}
		object := o.Find(pid, tid, at, addr, sp)
		if object == nil {
			return
		}
		d.set(i, object, addr)
		last = hit{}
		// Marks may lie inside an allocation, and a thread's stack inside a
		// mapping: only what nothing can lie inside is remembered as a range.
		if object.Source == FromMark || object.Source == FromGlobal || object.Source == FromAllocation && len(o.marks.events) == 0 {
			last = hit{pid, tid, object.Start, object.Start + object.Size, o.changesAt(at), object}
		}
	})
	return d.columns()
}

// changesAt counts the changes up to a time.
func (o *Objects) changesAt(at uint64) int {
	o.space.advance(at)
	o.marks.advance(at)
	o.heap.advance(at)
	return o.space.changes + o.marks.changes + o.heap.changes
}

// dataColumns gathers the objects of rows.
type dataColumns struct {
	symbols, sources, fields, sites *table.Interner
	symbol, source, field, site     []uint32
	offset, index, x, y, z          []int64
	has, hasOffset, hasField        table.Bits
	hasSite, hasIndex, hasY, hasZ   table.Bits
	codes                           map[*Object][3]uint32
	paths                           map[fieldKey]int32
}

type fieldKey struct {
	t      *Type
	offset uint64
}

func newDataColumns(n int) *dataColumns {
	bits := func() table.Bits { return table.NewBits(n) }
	return &dataColumns{
		symbols: table.NewInterner(), sources: table.NewInterner(), fields: table.NewInterner(), sites: table.NewInterner(),
		symbol: make([]uint32, n), source: make([]uint32, n), field: make([]uint32, n), site: make([]uint32, n),
		offset: make([]int64, n), index: make([]int64, n), x: make([]int64, n), y: make([]int64, n), z: make([]int64, n),
		has: bits(), hasOffset: bits(), hasField: bits(), hasSite: bits(), hasIndex: bits(), hasY: bits(), hasZ: bits(),
		codes: map[*Object][3]uint32{}, paths: map[fieldKey]int32{},
	}
}

func (d *dataColumns) set(i int, o *Object, addr uint64) {
	codes, ok := d.codes[o]
	if !ok {
		codes = [3]uint32{d.symbols.CodeString(o.Name), d.sources.CodeString(string(o.Source)), d.sites.CodeString(o.Site)}
		d.codes[o] = codes
	}
	d.symbol[i], d.source[i] = codes[0], codes[1]
	d.has.Set(i)
	if o.Site != "" {
		d.site[i] = codes[2]
		d.hasSite.Set(i)
	}
	if addr < o.Start || o.Source == FromStack || o.Source == FromMapping {
		return
	}
	offset := addr - o.Start
	d.offset[i] = int64(offset)
	d.hasOffset.Set(i)
	if o.Type != nil && offset < o.Type.Size {
		d.element(i, o.Type, offset)
	}
}

// element sets the part of the object. The path of a field depends only on the
// offset in one element, and is worked out once for each.
func (d *dataColumns) element(i int, t *Type, offset uint64) {
	if len(t.Fields) == 0 && len(t.Dims) == 0 {
		return
	}
	var e Element
	if len(t.Dims) > 0 {
		e.Index = int64(offset / t.Elem)
		e.X, e.Y, e.Z = t.place(offset / t.Elem)
	} else {
		e = t.Element(offset)
	}
	if len(t.Fields) > 0 {
		key := fieldKey{t, offset % t.Elem}
		code, ok := d.paths[key]
		if !ok {
			code = none
			if name := t.Element(offset).Field; name != "" {
				code = int32(d.fields.CodeString(name))
			}
			d.paths[key] = code
		}
		if code >= 0 {
			d.field[i] = uint32(code)
			d.hasField.Set(i)
		}
	}
	if e.Index < 0 {
		return
	}
	d.index[i], d.x[i] = e.Index, e.X
	d.hasIndex.Set(i)
	if e.Y >= 0 {
		d.y[i] = e.Y
		d.hasY.Set(i)
	}
	if e.Z >= 0 {
		d.z[i] = e.Z
		d.hasZ.Set(i)
	}
}

// columns returns those that have a value.
func (d *dataColumns) columns() []*table.Column {
	var out []*table.Column
	names := func(name, note string, codes []uint32, in *table.Interner, valid table.Bits) {
		if valid.Count() > 0 {
			c := table.Categories(name, table.Derived, codes, in.Names(), valid)
			c.Note = note
			out = append(out, c)
		}
	}
	numbers := func(name, unit, note string, values []int64, valid table.Bits) {
		if valid.Count() > 0 {
			c := table.Ints(name, unit, table.Derived, values, valid)
			c.Note = note
			out = append(out, c)
		}
	}
	names("symbol", "data object of the address", d.symbol, d.symbols, d.has)
	names("object_source", "what the object is known from", d.source, d.sources, d.has)
	names("allocation", "where the object was allocated", d.site, d.sites, d.hasSite)
	numbers("offset", "bytes", "from the start of the object", d.offset, d.hasOffset)
	names("field", "member of the structure", d.field, d.fields, d.hasField)
	numbers("index", "", "element of the array", d.index, d.hasIndex)
	numbers("x", "", "along the fastest dimension of the array", d.x, d.hasIndex)
	numbers("y", "", "", d.y, d.hasY)
	numbers("z", "", "", d.z, d.hasZ)
	return out
}
