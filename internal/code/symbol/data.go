package symbol

import (
	"slices"

	"github.com/isobath/isobath/internal/data/table"
)

// Accesses gathers the data objects of samples, which may come in pieces.
type Accesses struct {
	objects *Objects
	rows    int

	// What was found lately, while nothing changes: neighbours in time are
	// often in the same few objects.
	near    [8]nearRange
	oldest  int
	changes int

	known                           map[*Object]*numbered
	symbols, sources, fields, sites *table.Interner
	symbol, source, field, site     codes
	offset, index, x, y, z          numbers
	paths                           map[fieldKey]int32
}

// nearRange is addresses of a process that are all in one object.
type nearRange struct {
	pid       int
	low, high uint64
	object    *numbered
}

// numbered is an object with the numbers of its names.
type numbered struct {
	*Object
	symbol, source, site uint32
}

type fieldKey struct {
	t      *Type
	offset uint64
}

// Accesses returns a collector of data objects.
func (r *Resolver) Accesses() *Accesses {
	return &Accesses{
		objects: r.Objects, changes: -1, known: map[*Object]*numbered{}, paths: map[fieldKey]int32{},
		symbols: table.NewInterner(), sources: table.NewInterner(), fields: table.NewInterner(), sites: table.NewInterner(),
	}
}

// Add appends samples. Pieces should come in order of time: going back starts
// the replay of the mappings again.
func (d *Accesses) Add(s *Samples) {
	found := make([]*numbered, s.Rows)
	s.each(func(i int) {
		if s.HasAddr != nil && !s.HasAddr.Get(i) {
			return
		}
		sp := uint64(0)
		if s.SP != nil {
			sp = s.SP[i]
		}
		found[i] = d.find(s.pid(i), s.tid(i), s.time(i), s.Addr[i], sp)
		if s.Told != nil && s.Told[i] != nil && (found[i] == nil || found[i].Source == FromAnonymous || found[i].Source == FromMapping) {
			found[i] = d.numbered(s.Told[i])
		}
	})
	for i, o := range found {
		if o != nil {
			d.set(d.rows+i, o, s.Addr[i])
		}
	}
	d.rows += s.Rows
}

func (d *Accesses) find(pid, tid int, at, addr, sp uint64) *numbered {
	if now := d.objects.changesAt(at); now != d.changes {
		d.near, d.changes = [len(d.near)]nearRange{}, now
	}
	for i := range d.near {
		if n := &d.near[i]; addr-n.low < n.high-n.low && n.pid == pid && sp == 0 {
			return n.object
		}
	}
	object, low, high := d.objects.find(pid, tid, at, addr, sp)
	if object == nil {
		return nil
	}
	o := d.numbered(object)
	if low < high && sp == 0 {
		d.near[d.oldest] = nearRange{pid, low, high, o}
		d.oldest = (d.oldest + 1) % len(d.near)
	}
	return o
}

// numbered gives an object the numbers of its names.
func (d *Accesses) numbered(object *Object) *numbered {
	o := d.known[object]
	if o == nil {
		o = &numbered{object, d.symbols.CodeString(object.Name), d.sources.CodeString(string(object.Source)), d.sites.CodeString(object.Site)}
		d.known[object] = o
	}
	return o
}

// changesAt counts the changes up to a time.
func (o *Objects) changesAt(at uint64) int {
	o.space.advance(at)
	o.marks.advance(at)
	o.heap.advance(at)
	return o.space.changes + o.marks.changes + o.heap.changes
}

func (d *Accesses) set(row int, o *numbered, addr uint64) {
	d.symbol.put(row, o.symbol)
	d.source.code(row, o.source) // where there is a symbol
	if o.Site != "" {
		d.site.put(row, o.site)
	}
	if addr < o.Start || o.Source == FromStack || o.Source == FromMapping {
		return
	}
	offset := addr - o.Start
	d.offset.put(row, int64(offset))
	if o.Type != nil && offset < o.Type.Size {
		d.element(row, o.Type, offset)
	}
}

// element sets the part of the object. The path of a field depends only on the
// offset in one element, and is worked out once for each.
func (d *Accesses) element(row int, t *Type, offset uint64) {
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
			d.field.put(row, uint32(code))
		}
	}
	if e.Index < 0 {
		return
	}
	d.index.put(row, e.Index)
	d.x.put(row, e.X)
	if e.Y >= 0 {
		d.y.put(row, e.Y)
	}
	if e.Z >= 0 {
		d.z.put(row, e.Z)
	}
}

// Columns returns those that have a value. Nothing may be added afterwards.
func (d *Accesses) Columns() ([]*table.Column, error) {
	var out []*table.Column
	var failed error
	add := func(c *table.Column, note string, err error) {
		if err != nil {
			failed = err
		} else if c != nil {
			c.Note = note
			out = append(out, c)
		}
	}
	names := func(name, note string, v *codes, in *table.Interner) {
		c, err := v.column(name, in.Names(), d.rows)
		add(c, note, err)
	}
	whole := func(name, unit, note string, v *numbers) {
		c, err := v.column(name, unit, d.rows)
		add(c, note, err)
	}
	d.source.bits = slices.Clone(d.symbol.bits)
	names("symbol", "data object of the address", &d.symbol, d.symbols)
	names("object_source", "what the object is known from", &d.source, d.sources)
	names("allocation", "where the object was allocated", &d.site, d.sites)
	whole("offset", "bytes", "from the start of the object", &d.offset)
	names("field", "member of the structure", &d.field, d.fields)
	whole("index", "", "element of the array", &d.index)
	whole("x", "", "along the fastest dimension of the array", &d.x)
	whole("y", "", "", &d.y)
	whole("z", "", "", &d.z)
	return out, failed
}

// presence is the rows that have a value. They come in ascending order.
type presence struct{ bits table.Bits }

func (p *presence) set(row int) {
	for row>>6 >= len(p.bits) {
		p.bits = append(p.bits, 0)
	}
	p.bits.Set(row)
}

// valid returns the rows among n; nil if that is all.
func (p *presence) valid(n int) table.Bits {
	if p.bits.Count() == n {
		return nil
	}
	return append(p.bits, make(table.Bits, (n+63)/64-len(p.bits))...)
}

// codes is a column of names that grows.
type codes struct {
	presence
	values table.Growing[uint32]
}

func (c *codes) put(row int, code uint32) {
	c.set(row)
	c.code(row, code)
}

// code sets the code of a row without saying that it has a value.
func (c *codes) code(row int, code uint32) {
	if code == 0 {
		return // what is not there is padded with it
	}
	c.values.Pad(row)
	c.values.Append(code)
}

func (c *codes) column(name string, dict []string, n int) (*table.Column, error) {
	if c.bits == nil {
		return nil, nil
	}
	out := table.Categories(name, table.Derived, nil, dict, nil)
	out.Valid = c.valid(n)
	var v []uint32
	var spill *table.Spill
	var err error
	if c.values.Len() == 0 {
		v, spill, err = table.Zeros[uint32](n)
	} else {
		c.values.Pad(n)
		v, spill, err = c.values.Values()
	}
	out.Data = v
	return out.Back(spill), err
}

// numbers is a column of whole numbers that grows.
type numbers struct {
	presence
	values table.GrowingInts
}

func (c *numbers) put(row int, v int64) {
	c.set(row)
	c.values.Pad(row)
	c.values.Append(v)
}

func (c *numbers) column(name, unit string, n int) (*table.Column, error) {
	if c.bits == nil {
		return nil, nil
	}
	c.values.Pad(n)
	data, spill, err := c.values.Values()
	out := &table.Column{Name: name, Kind: table.Number, Unit: unit, Provenance: table.Derived, Data: data, Valid: c.valid(n)}
	return out.Back(spill), err
}
