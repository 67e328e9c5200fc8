package symbol

import (
	"cmp"
	"debug/dwarf"
	"fmt"
	"slices"
	"strings"
)

// Type is how the bytes of an object are divided.
type Type struct {
	// Name is as a C programmer would write it: "double[1024][1024]". Fortran
	// arrays keep their order: "real(kind=8)(1024,1024)".
	Name string
	// Tag is "struct", "union" or "enum" where C wants it before the name.
	Tag  string
	Size uint64
	// Elem is the size of one element, Size itself where there is no array.
	Elem uint64
	// Dims are the extents of an array, the fastest-varying first: x, y, z.
	Dims []uint64
	// Fields are those of one element, by offset, if it is a structure.
	Fields []Field
}

// Field is a member of a structure.
type Field struct {
	Name   string
	Offset uint64
	Type   *Type
}

// Element is the part of an object that an access touched.
type Element struct {
	Field string // path of the member; empty if the object is no structure
	Index int64  // number of the array element; -1 if there is no array
	// X, Y and Z count along the dimensions of the array, fastest first; -1 for
	// those it does not have. A fourth dimension goes on in Z.
	X, Y, Z int64
}

// Element divides an offset. A structure that holds an array, but is in none,
// is numbered by that array.
func (t *Type) Element(offset uint64) Element {
	e := Element{Index: -1, X: -1, Y: -1, Z: -1}
	var path []string
	for range maxTypeDepth {
		if t == nil || t.Elem == 0 || offset >= t.Size {
			break
		}
		if len(t.Dims) > 0 {
			if e.Index < 0 {
				e.Index = int64(offset / t.Elem)
				e.X, e.Y, e.Z = t.place(offset / t.Elem)
			}
			if len(path) > 0 {
				path[len(path)-1] += "[]"
			}
			offset %= t.Elem
		}
		f, ok := t.field(offset)
		if !ok {
			break
		}
		path = append(path, f.Name)
		offset -= f.Offset
		t = f.Type
	}
	e.Field = strings.Join(path, ".")
	return e
}

// place divides the number of an element by the extents of the array.
func (t *Type) place(index uint64) (x, y, z int64) {
	switch d := t.Dims; len(d) {
	case 0:
		return -1, -1, -1
	case 1:
		return int64(index), -1, -1
	case 2:
		return int64(index % d[0]), int64(index / d[0]), -1
	default:
		return int64(index % d[0]), int64(index / d[0] % d[1]), int64(index / d[0] / d[1])
	}
}

// field returns the member at an offset. Of a union it is the first.
func (t *Type) field(offset uint64) (Field, bool) {
	for _, f := range t.Fields {
		if f.Type != nil && offset >= f.Offset && offset-f.Offset < f.Type.Size {
			return f, true
		}
	}
	return Field{}, false
}

// Offset returns where a member of a structure is.
func (t *Type) Offset(field string) (uint64, bool) {
	if t != nil {
		for _, f := range t.Fields {
			if f.Name == field {
				return f.Offset, true
			}
		}
	}
	return 0, false
}

// Extent returns how many elements a member has that is an array; 0 if it is none.
func (t *Type) Extent(field string) uint64 {
	if t != nil {
		for _, f := range t.Fields {
			if f.Name == field && f.Type.Elem > 0 && len(f.Type.Dims) > 0 {
				return f.Type.Size / f.Type.Elem
			}
		}
	}
	return 0
}

// Repeated returns an array of as many elements of a type as fit; nil if that is not
// one, and of no type.
func (t *Type) Repeated(size uint64) *Type {
	if t == nil || t.Size == 0 || size < t.Size {
		return nil
	}
	return arrayOf(t, []uint64{size / t.Size}, false)
}

const (
	maxTypeDepth = 16
	maxFields    = 4096
	maxDims      = 16
)

// typeOf returns where the type of an entry is.
func (d *debugInfo) typeOf(e *dwarf.Entry) place {
	if t, ok := d.follow(e, dwarf.AttrType); ok {
		return t
	}
	for _, a := range []dwarf.Attr{dwarf.AttrAbstractOrigin, dwarf.AttrSpecification} {
		if p, ok := d.follow(e, a); ok {
			if origin := p.entry(); origin != nil {
				if t, ok := p.d.follow(origin, dwarf.AttrType); ok {
					return t
				}
			}
		}
	}
	return place{}
}

// typeAt reads a type once. It returns nil for what is not understood.
func (b *Binary) typeAt(at place) *Type {
	b.typeMu.Lock()
	defer b.typeMu.Unlock()
	r := &typeReader{b: b, left: 1 << 16}
	return r.read(at, 0)
}

// typeReader reads one type. Types refer to each other, in circles too; depth
// and the number of entries are bounded.
type typeReader struct {
	b    *Binary
	left int
}

func (r *typeReader) read(at place, depth int) (t *Type) {
	if t, ok := r.b.types[at]; ok {
		return t
	}
	if depth > maxTypeDepth || at.d == nil {
		return nil
	}
	defer func() {
		if recover() != nil {
			t = nil
		}
		r.b.types[at] = t
	}()
	dr := at.d.data.Reader()
	dr.Seek(at.at)
	e, err := dr.Next()
	if err != nil || e == nil {
		return nil
	}
	in := &typeEntry{typeReader: r, d: at.d, dr: dr}
	return in.entry(e, depth)
}

// typeEntry reads the entry of a type and its children.
type typeEntry struct {
	*typeReader
	d  *debugInfo
	dr *dwarf.Reader
}

func (r *typeEntry) entry(e *dwarf.Entry, depth int) *Type {
	name := readable(r.d.text(e, dwarf.AttrName))
	size, _ := e.Val(dwarf.AttrByteSize).(int64)
	switch e.Tag {
	case dwarf.TagTypedef, dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagRestrictType, dwarf.TagMutableType, 0x47 /* atomic */ :
		inner := r.read2(e, depth)
		if inner == nil || e.Tag != dwarf.TagTypedef || len(inner.Dims) > 0 {
			return inner
		}
		named := *inner
		named.Name, named.Tag = name, ""
		return &named
	case dwarf.TagArrayType:
		return r.array(e, depth)
	case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
		return r.structure(e, name, depth)
	case dwarf.TagPointerType, dwarf.TagReferenceType, dwarf.TagRvalueReferenceType, dwarf.TagPtrToMemberType:
		if size <= 0 {
			size = int64(r.d.addrSize)
		}
		return &Type{Name: "pointer", Size: uint64(size), Elem: uint64(size)}
	case dwarf.TagBaseType, dwarf.TagEnumerationType, dwarf.TagStringType, dwarf.TagSubrangeType:
		if size <= 0 {
			return nil
		}
		tag := ""
		if e.Tag == dwarf.TagEnumerationType {
			tag = "enum"
		}
		if name == "" {
			name, tag = "enum", ""
		}
		return &Type{Name: name, Tag: tag, Size: uint64(size), Elem: uint64(size)}
	}
	return nil
}

func (r *typeEntry) read2(e *dwarf.Entry, depth int) *Type {
	return r.read(r.d.typeOf(e), depth+1)
}

// array reads an array whose extents are constants.
func (r *typeEntry) array(e *dwarf.Entry, depth int) *Type {
	elem := r.read2(e, depth)
	if elem == nil || elem.Size == 0 || !e.Children {
		return nil
	}
	columns := r.fortran(e)
	var dims []uint64
	for {
		c, err := r.dr.Next()
		if r.left--; err != nil || c == nil || r.left < 0 {
			return nil
		}
		if c.Tag == 0 {
			break
		}
		if c.Tag == dwarf.TagSubrangeType {
			n, ok := extent(c, columns)
			if !ok || len(dims) == maxDims {
				return nil
			}
			dims = append(dims, n)
		}
		if c.Children {
			r.dr.SkipChildren()
		}
	}
	return arrayOf(elem, dims, columns)
}

// extent returns the number of elements along one dimension.
func extent(e *dwarf.Entry, columns bool) (uint64, bool) {
	if n, ok := e.Val(dwarf.AttrCount).(int64); ok && n > 0 {
		return uint64(n), true
	}
	high, ok := e.Val(dwarf.AttrUpperBound).(int64)
	low, given := e.Val(dwarf.AttrLowerBound).(int64)
	if !given && columns {
		low = 1
	}
	if !ok || high < low {
		return 0, false
	}
	return uint64(high-low) + 1, true
}

// arrayOf makes an array of dims in declared order. An array of arrays is one
// array.
func arrayOf(elem *Type, dims []uint64, columns bool) *Type {
	if len(dims) == 0 {
		return nil
	}
	base := elem.Name
	var inner string
	if len(elem.Dims) > 0 {
		base, inner = elem.Name[:strings.IndexByte(elem.Name+"[", '[')], elem.Name[strings.IndexByte(elem.Name+"[", '['):]
	}
	t := &Type{Tag: elem.Tag, Elem: elem.Elem, Fields: elem.Fields, Size: elem.Size}
	var words []string
	for _, n := range dims {
		if n == 0 || t.Size > 1<<62/n {
			return nil
		}
		t.Size *= n
		words = append(words, fmt.Sprint(n))
	}
	fastest := slices.Clone(dims)
	if columns {
		t.Name = base + "(" + strings.Join(words, ",") + ")" + inner
	} else {
		slices.Reverse(fastest)
		t.Name = base + "[" + strings.Join(words, "][") + "]" + inner
	}
	t.Dims = append(slices.Clone(elem.Dims), fastest...)
	return t
}

// fortran reports whether an array is stored column by column: where it says
// so, or where its unit is in Fortran.
func (r *typeEntry) fortran(e *dwarf.Entry) bool {
	if order, ok := e.Val(dwarf.AttrOrdering).(int64); ok {
		return order == 1
	}
	i, ok := slices.BinarySearchFunc(r.d.units, e.Offset, func(u *unit, at dwarf.Offset) int {
		switch {
		case u.end <= at:
			return -1
		case u.first > at:
			return 1
		}
		return 0
	})
	if !ok {
		return false
	}
	switch r.d.units[i].language {
	case 0x07, 0x08, 0x0e, 0x22, 0x23, 0x2d: // Fortran 77, 90, 95, 2003, 2008, 2018
		return true
	}
	return false
}

func (r *typeEntry) structure(e *dwarf.Entry, name string, depth int) *Type {
	size, _ := e.Val(dwarf.AttrByteSize).(int64)
	if size <= 0 {
		return nil
	}
	tag := "struct"
	if e.Tag == dwarf.TagUnionType {
		tag = "union"
	}
	if name == "" {
		name, tag = "struct", ""
	}
	t := &Type{Name: name, Tag: tag, Size: uint64(size), Elem: uint64(size)}
	for e.Children {
		c, err := r.dr.Next()
		if r.left--; err != nil || c == nil || r.left < 0 || len(t.Fields) == maxFields {
			return t
		}
		if c.Tag == 0 {
			break
		}
		if c.Tag == dwarf.TagMember || c.Tag == dwarf.TagInheritance {
			if f, ok := r.member(c, depth); ok {
				t.Fields = append(t.Fields, f)
			}
		}
		if c.Children {
			r.dr.SkipChildren()
		}
	}
	slices.SortStableFunc(t.Fields, func(a, b Field) int { return cmp.Compare(a.Offset, b.Offset) })
	return t
}

func (r *typeEntry) member(e *dwarf.Entry, depth int) (Field, bool) {
	if e.Val(dwarf.AttrExternal) != nil { // a static member is elsewhere
		return Field{}, false
	}
	name := r.d.text(e, dwarf.AttrName)
	if name == "" {
		name = "(base)"
	}
	f := Field{Name: readable(name), Type: r.read2(e, depth)}
	switch at := e.Val(dwarf.AttrDataMemberLoc).(type) {
	case int64:
		f.Offset = uint64(at)
	case []byte: // DW_OP_plus_uconst, before DWARF 3
		c := &cursor{data: at, order: r.d.order}
		if c.number(1) != 0x23 {
			return f, false
		}
		f.Offset = c.leb()
	}
	return f, f.Type != nil
}
