// Package layout says which object and which of its fields a reference touches,
// and how that is known: by a recorded type, by what the user said, or inferred
// from the strides of the instructions that walk it.
package layout

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/refs"
)

// Field is a part of an element.
type Field struct {
	Name         string
	Offset, Size uint64
	Type         string // as it is declared; empty if not known
	Align        uint64 // that the type asks for; 0 if not known
}

// Evidence is how the fields of an object are known.
type Evidence string

// The kinds of evidence, best first.
const (
	ByType   Evidence = "type"     // debug information
	ByUser   Evidence = "given"    // the user said so
	Inferred Evidence = "inferred" // from the strides of its instructions
	Unknown  Evidence = ""
)

// Object is a variable, an allocation, or a group of allocations made by one
// line with one size, each of which is an element.
type Object struct {
	Name   string
	Number uint32 // in the table; 0 is no object
	Start  uint64
	Size   uint64 // bytes; what was touched of it if nothing says
	// Blocks are the starts of the elements of a group, in order of address once
	// the table is finished; nil for an object in one piece.
	Blocks []uint64
	Elem   uint64 // bytes of one element; 0 if not known
	Rows   uint64 // bytes of one row of an array of two dimensions; 0 if not known
	Type   string // of an element
	Fields []Field
	Known  Evidence
	// Sized says that Size is known, and not only what was touched.
	Sized bool
	// Stack says that the object is a stack, which nobody lays out.
	Stack bool

	touchedLow, touchedHigh uint64
	members                 []uint32 // numbers of the fields, plus one for the rest
}

// Elements is how many elements the object has, at least one.
func (o *Object) Elements() uint64 {
	switch {
	case o.Blocks != nil:
		return uint64(len(o.Blocks))
	case o.Elem == 0:
		return 1
	}
	return max(o.Size/o.Elem, 1)
}

// Locate divides an address inside the object into an element and the offset in
// it. Without elements the whole object is one.
func (o *Object) Locate(addr uint64) (element, offset uint64) {
	if o.Blocks != nil {
		i, found := slices.BinarySearch(o.Blocks, addr)
		if !found && i > 0 {
			i--
		}
		return uint64(i), addr - o.Blocks[i]
	}
	if o.Elem == 0 {
		return 0, addr - o.Start
	}
	return (addr - o.Start) / o.Elem, (addr - o.Start) % o.Elem
}

// Field returns the index of the field at an offset of an element, -1 if there
// is none.
func (o *Object) Field(offset uint64) int {
	i, found := slices.BinarySearchFunc(o.Fields, offset, func(f Field, at uint64) int { return cmp.Compare(f.Offset, at) })
	if !found {
		i--
	}
	if i < 0 || offset >= o.Fields[i].Offset+o.Fields[i].Size {
		return -1
	}
	return i
}

// Table is all objects of a trace. It grows while the trace is read.
type Table struct {
	Objects []*Object // Objects[0] is nil: no object
	about   *refs.About
	byRef   []uint32 // object of the trace to object of the table
	groups  map[string]uint32
	given   []*Object // with addresses, by start
	says    []statement
	types   types
	globals map[uint64]uint32
	last    *Object
	near    [512]nearAddr
	members []Member
	// plain is, by object of the trace, the member that it is as a whole; known
	// only where no object was given.
	plain []plainObject
}

// nearAddr is the variable of eight bytes that were looked up lately.
type nearAddr struct {
	key    uint64 // address / 8 plus one
	number uint32
}

// Member is a field of an object; Field is -1 for what is no field, and Object 0
// for what is no object.
type Member struct {
	Object uint32
	Field  int
}

// NewTable makes the table of a trace: objects that the recording knows, those
// the user gave, and the variables of the program. Program and given may be nil.
// Types that a run keeps are those of the program it was recorded from, whatever
// lies at its place today.
func NewTable(about *refs.About, given *Given, program *symbol.Program) *Table {
	t := &Table{Objects: []*Object{nil}, about: about, groups: map[string]uint32{}, globals: map[uint64]uint32{}, members: []Member{{0, -1}}}
	if program != nil {
		t.types = programTypes{program, map[uint64]*Object{}}
	}
	if given != nil {
		t.says = given.statements
		if given.kept != nil {
			t.types = given.kept
		}
		for _, g := range given.objects {
			o := g
			t.add(&o)
			t.explain(&o)
			t.given = append(t.given, &o)
		}
		slices.SortFunc(t.given, func(a, b *Object) int { return cmp.Compare(a.Start, b.Start) })
	}
	return t
}

func (t *Table) add(o *Object) uint32 {
	o.Number = uint32(len(t.Objects))
	t.Objects = append(t.Objects, o)
	return o.Number
}

// Number returns the object of a reference, 0 if none is known.
func (t *Table) Number(r *refs.Ref) uint32 {
	if o := t.last; o != nil && r.Addr-o.Start < o.Size {
		return o.Number
	}
	if len(t.given) > 0 {
		if o := t.givenAt(r.Addr); o != nil {
			t.last = o
			return o.Number
		}
	}
	if r.Object != 0 {
		return t.recorded(r)
	}
	if t.types == nil {
		return 0
	}
	key := r.Addr/8 + 1
	near := &t.near[key%uint64(len(t.near))]
	if near.key != key {
		near.key, near.number = key, t.global(r.Addr)
	}
	return near.number
}

// Member returns the number of the member that a reference touches; Members says
// which that is.
func (t *Table) Member(r *refs.Ref) uint32 {
	if int(r.Object) < len(t.plain) {
		if p := &t.plain[r.Object]; p.member != 0 {
			p.object.touch(r)
			return p.member
		}
	}
	member := t.memberOf(r)
	if n := r.Object; n != 0 && n < maxPlain && len(t.given) == 0 && member != 0 {
		if o := t.Objects[t.members[member].Object]; len(o.Fields) == 0 {
			for int(n) >= len(t.plain) {
				t.plain = append(t.plain, plainObject{})
			}
			t.plain[n] = plainObject{o, member}
		}
	}
	return member
}

// maxPlain bounds plain: a trace may have a million blocks.
const maxPlain = 1 << 16

// plainObject is an object of the trace without fields, all of which is one
// member.
type plainObject struct {
	object *Object
	member uint32
}

func (t *Table) memberOf(r *refs.Ref) uint32 {
	n := t.Number(r)
	if n == 0 {
		return 0
	}
	o := t.Objects[n]
	field := -1
	if len(o.Fields) > 0 {
		field = o.Field(t.offset(o, r))
	}
	for len(o.members) < len(o.Fields)+1 {
		o.members = append(o.members, 0)
	}
	if o.members[field+1] == 0 {
		o.members[field+1] = uint32(len(t.members))
		t.members = append(t.members, Member{n, field})
	}
	return o.members[field+1]
}

// offset is how far into its element a reference lies. A block of a group knows
// where it starts.
func (t *Table) offset(o *Object, r *refs.Ref) uint64 {
	if o.Blocks != nil && r.Object != 0 {
		return r.Addr - t.about.Objects[r.Object].Start
	}
	_, offset := o.Locate(r.Addr)
	return offset
}

// Members lists what Member has numbered; the first is no object.
func (t *Table) Members() []Member { return t.members }

// FieldName is the name of a field of an object; empty for what is no field.
func (t *Table) FieldName(m Member) string {
	if m.Object == 0 || m.Field < 0 {
		return ""
	}
	return t.Objects[m.Object].Fields[m.Field].Name
}

func (t *Table) givenAt(addr uint64) *Object {
	i, found := slices.BinarySearchFunc(t.given, addr, func(o *Object, at uint64) int { return cmp.Compare(o.Start, at) })
	if !found {
		i--
	}
	if i >= 0 && addr-t.given[i].Start < t.given[i].Size {
		return t.given[i]
	}
	return nil
}

// blockName takes the number of one of many like allocations off its name.
var blockName = regexp.MustCompile(` #(\d+|…)$`)

// recorded returns the object that the recording gave a reference.
func (t *Table) recorded(r *refs.Ref) uint32 {
	for int(r.Object) >= len(t.byRef) {
		t.byRef = append(t.byRef, 0)
	}
	if n := t.byRef[r.Object]; n != 0 {
		t.Objects[n].touch(r)
		return n
	}
	known := t.about.Objects[r.Object]
	n := t.member(known)
	t.byRef[r.Object] = n
	t.Objects[n].touch(r)
	return n
}

// member finds or makes the object of a block. Blocks of one line and size are
// one object.
func (t *Table) member(known refs.Object) uint32 {
	base := blockName.ReplaceAllString(known.Name, "")
	group := base
	if t.variable(base, known.Start) != nil {
		// No block of others of its name, as a recording has that calls what is
		// mapped of a program like the program.
		group += symbol.OfVariable
	}
	n, ok := t.groups[group]
	if !ok {
		o := &Object{Name: base, Start: known.Start, touchedLow: ^uint64(0), Stack: stackName.MatchString(base)}
		n = t.add(o)
		t.groups[group] = n
		t.declared(o)
		t.explain(o)
		return n
	}
	o := t.Objects[n]
	if o.Start == known.Start && o.Blocks == nil {
		return n
	}
	if o.Blocks == nil {
		o.Blocks = []uint64{o.Start}
	}
	// Finish puts them in order: there may be a million.
	o.Blocks = append(o.Blocks, known.Start)
	o.Start = min(o.Start, known.Start)
	return n
}

// declared gives a recorded object that is a variable of the program its size
// and type.
func (t *Table) declared(o *Object) {
	if v := t.variable(o.Name, o.Start); v != nil {
		o.Size, o.Sized = v.Size, true
		o.takeType(v)
	}
}

// variable is the variable of the program that a recorded object is; nil if it is
// none.
func (t *Table) variable(name string, start uint64) *Object {
	if t.types == nil {
		return nil
	}
	if v := t.types.variable(start); v != nil && v.Start == start && v.Name == strings.TrimSuffix(name, symbol.OfVariable) {
		return v
	}
	return nil
}

var stackName = regexp.MustCompile(`^(\[?stack.*\]?)$`)

// touch widens what is known of an object without a size.
func (o *Object) touch(r *refs.Ref) {
	if o.Sized {
		return
	}
	o.touchedLow = min(o.touchedLow, r.Addr)
	o.touchedHigh = max(o.touchedHigh, r.Addr+uint64(max(r.Size, 1)))
}

// global returns the variable of the program at an address.
func (t *Table) global(addr uint64) uint32 {
	v := t.types.variable(addr)
	if v == nil {
		return 0
	}
	n, ok := t.globals[v.Start]
	if !ok {
		o := &Object{Name: v.Name, Start: v.Start, Size: v.Size, Sized: true}
		o.takeType(v)
		n = t.add(o)
		t.globals[o.Start] = n
		t.explain(o)
	}
	return n
}

// Finish settles the sizes of objects that only their references tell.
func (t *Table) Finish() {
	for _, o := range t.Objects[1:] {
		slices.Sort(o.Blocks)
		o.Blocks = slices.Compact(o.Blocks)
		if o.Sized || o.touchedHigh == 0 {
			continue
		}
		if o.Blocks != nil {
			o.Size = o.touchedHigh - o.Start
			continue
		}
		if o.touchedLow < o.Start {
			o.Start = o.touchedLow // a recording that names a mapping's start
		}
		o.Size = o.touchedHigh - o.Start
		o.EndElement()
	}
}

// EndElement lets an object of which only the touched bytes are known end where
// its last element does.
func (o *Object) EndElement() {
	if o.Elem > 0 && !o.Sized && o.Size%o.Elem != 0 {
		o.Size += o.Elem - o.Size%o.Elem
	}
}

// apply takes element and fields from a type.
func (o *Object) apply(ty *symbol.Type, how Evidence) {
	if ty == nil || ty.Elem == 0 {
		return
	}
	o.Known = how
	o.Elem = ty.Elem
	o.Type = ty.Name
	if len(ty.Dims) > 1 {
		o.Rows = ty.Elem * ty.Dims[0]
	}
	o.Fields = fields(ty)
}

// maxArrayFields is how many elements of a small array inside a structure are
// fields of their own.
const maxArrayFields = 8

// fields divides an element: the members of a structure, and the elements of
// small arrays in it.
func fields(ty *symbol.Type) []Field {
	var out []Field
	for _, f := range ty.Fields {
		if f.Type == nil || f.Type.Size == 0 {
			continue
		}
		n := f.Type.Size / max(f.Type.Elem, 1)
		if len(f.Type.Dims) == 1 && n <= maxArrayFields && f.Type.Elem >= 4 {
			for i := range n {
				out = append(out, Field{Name: indexed(f.Name, i), Offset: f.Offset + i*f.Type.Elem, Size: f.Type.Elem, Type: declared(f.Type, elementName(f.Type.Name)), Align: alignOf(f.Type)})
			}
			continue
		}
		out = append(out, Field{Name: f.Name, Offset: f.Offset, Size: f.Type.Size, Type: declared(f.Type, f.Type.Name), Align: alignOf(f.Type)})
	}
	slices.SortStableFunc(out, func(a, b Field) int { return cmp.Compare(a.Offset, b.Offset) })
	// Of a union the first member stands for all.
	apart := out[:0]
	for _, f := range out {
		if n := len(apart); n == 0 || f.Offset >= apart[n-1].Offset+apart[n-1].Size {
			apart = append(apart, f)
		}
	}
	return apart
}

// declared is the name of a type as a declaration has it; a type without a name
// has none.
func declared(ty *symbol.Type, name string) string {
	switch base, _, _ := strings.Cut(name, "["); {
	case ty.Tag != "":
		return ty.Tag + " " + name
	case base == "struct" || base == "enum":
		return ""
	}
	return name
}

// maxAlign is the largest alignment of a type that asks for none itself.
const maxAlign = 16

// alignOf is the alignment of a type by the rules of C on 64-bit machines: that
// of its largest scalar.
func alignOf(ty *symbol.Type) uint64 {
	if len(ty.Fields) > 0 {
		most := uint64(1)
		for _, f := range ty.Fields {
			if f.Type != nil {
				most = max(most, alignOf(f.Type))
			}
		}
		return most
	}
	scalar := ty.Elem
	if strings.Contains(strings.ToLower(ty.Name), "complex") {
		scalar /= 2
	}
	return max(min(scalar&-scalar, maxAlign), 1)
}
