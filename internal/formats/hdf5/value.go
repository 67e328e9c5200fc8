package hdf5

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Value is the content of a dataset or an attribute.
type Value struct {
	Type *Type
	Dims []int // nil for a scalar
	f    *File
	data []byte
}

// Len returns the number of elements.
func (v *Value) Len() int {
	n := 1
	for _, d := range v.Dims {
		n *= d
	}
	return n
}

// Numbers returns integers, floats, enumerations and arrays of them as a slice
// of their own Go type, and the number of values per element (1 unless the
// element is an array).
func (v *Value) Numbers() (any, int, error) {
	t, per := v.Type, 1
	for t.Class == ArrayOf {
		for _, d := range t.Dims {
			per *= d
		}
		t = t.Base
	}
	n := 0
	if t.Size > 0 {
		n = len(v.data) / t.Size
	}
	switch {
	case t.Class == Float && t.Size == 4:
		return decode[float32](v, t, n), per, nil
	case t.Class == Float && t.Size == 8:
		return decode[float64](v, t, n), per, nil
	case t.Class != Integer && t.Class != Enum && t.Class != Bitfield:
		return nil, 0, fmt.Errorf("elements of class %d are not numbers", t.Class)
	}
	switch {
	case t.Size == 1 && t.Signed:
		return decode[int8](v, t, n), per, nil
	case t.Size == 1:
		return decode[uint8](v, t, n), per, nil
	case t.Size == 2 && t.Signed:
		return decode[int16](v, t, n), per, nil
	case t.Size == 2:
		return decode[uint16](v, t, n), per, nil
	case t.Size == 4 && t.Signed:
		return decode[int32](v, t, n), per, nil
	case t.Size == 4:
		return decode[uint32](v, t, n), per, nil
	case t.Size == 8 && t.Signed:
		return decode[int64](v, t, n), per, nil
	case t.Size == 8:
		return decode[uint64](v, t, n), per, nil
	}
	return nil, 0, fmt.Errorf("integers of %d bytes are not read", t.Size)
}

func decode[T any](v *Value, t *Type, n int) []T {
	out := make([]T, n)
	// The buffer has exactly the size of out: Decode cannot fail.
	_, _ = binary.Decode(v.data[:n*t.Size], t.Order, out)
	return out
}

// Floats returns the numbers as float64.
func (v *Value) Floats() ([]float64, error) {
	raw, _, err := v.Numbers()
	if err != nil {
		return nil, err
	}
	switch d := raw.(type) {
	case []float64:
		return d, nil
	case []float32:
		return widen(d), nil
	case []int8:
		return widen(d), nil
	case []uint8:
		return widen(d), nil
	case []int16:
		return widen(d), nil
	case []uint16:
		return widen(d), nil
	case []int32:
		return widen(d), nil
	case []uint32:
		return widen(d), nil
	case []int64:
		return widen(d), nil
	case []uint64:
		return widen(d), nil
	}
	return nil, errors.New("no numbers")
}

func widen[T int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32](in []T) []float64 {
	out := make([]float64, len(in))
	for i, v := range in {
		out[i] = float64(v)
	}
	return out
}

// Ints returns the numbers as int; floats and numbers that do not fit are an
// error.
func (v *Value) Ints() ([]int, error) {
	f, err := v.Floats()
	if err != nil {
		return nil, err
	}
	out := make([]int, len(f))
	for i, x := range f {
		if x != float64(int64(x)) || x > 1<<53 || x < -1<<53 {
			return nil, fmt.Errorf("%g is not a whole number", x)
		}
		out[i] = int(x)
	}
	return out, nil
}

// Int returns a single whole number.
func (v *Value) Int() (int, error) {
	list, err := v.Ints()
	if err != nil {
		return 0, err
	}
	if len(list) == 0 {
		return 0, errors.New("no value")
	}
	return list[0], nil
}

// Strings returns fixed and variable-length strings.
func (v *Value) Strings() ([]string, error) {
	n := v.Len()
	switch t := v.Type; {
	case t.Class == String:
		out := make([]string, n)
		for i := range out {
			b := v.data[i*t.Size : (i+1)*t.Size]
			if k := bytes.IndexByte(b, 0); k >= 0 {
				b = b[:k]
			}
			out[i] = string(bytes.TrimRight(b, " "))
		}
		return out, nil
	case t.Class == VarLen && t.Text:
		out := make([]string, n)
		for i := range out {
			b, err := v.variable(i)
			if err != nil {
				return nil, err
			}
			out[i] = string(bytes.TrimRight(b, "\x00"))
		}
		return out, nil
	}
	return nil, fmt.Errorf("elements of class %d are not strings", v.Type.Class)
}

// variable returns the bytes of variable-length element i: "length, address,
// number" point into a global heap.
func (v *Value) variable(i int) ([]byte, error) {
	size := v.Type.Size
	c := &cursor{b: v.data[i*size : (i+1)*size], offset: v.f.offset, length: v.f.length}
	n := c.u32()
	addr, index := c.addr(), c.u32()
	if c.err != nil {
		return nil, c.err
	}
	if n == 0 || addr == 0 || addr == undefined {
		return nil, nil
	}
	b, err := v.f.globalObject(addr, index)
	if err != nil {
		return nil, err
	}
	want := uint64(n) * uint64(max(1, v.Type.Base.Size))
	if want > uint64(len(b)) {
		return nil, fmt.Errorf("element of %d bytes in a heap object of %d", want, len(b))
	}
	return b[:want], nil
}

// Text returns a single string, "" when the value is none.
func (v *Value) Text() string {
	s, err := v.Strings()
	if err != nil || len(s) == 0 {
		return ""
	}
	return s[0]
}

// Field returns one member of every element of a compound value.
func (v *Value) Field(name string) (*Value, error) {
	i := slices.IndexFunc(v.Type.Members, func(m Member) bool { return m.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("no member %q", name)
	}
	m := v.Type.Members[i]
	out := &Value{Type: m.Type, Dims: v.Dims, f: v.f, data: make([]byte, 0, v.Len()*m.Type.Size)}
	for k := range v.Len() {
		at := k*v.Type.Size + m.Offset
		out.data = append(out.data, v.data[at:at+m.Type.Size]...)
	}
	return out, nil
}

// Attr returns an attribute, or a NotFoundError.
func (o *Object) Attr(name string) (*Value, error) {
	attrs, err := o.attrs(name)
	if err != nil {
		return nil, err
	}
	if name == "" || len(attrs) == 0 { // no name asks for all, without their values
		return nil, &NotFoundError{Path: o.Path + "@" + name}
	}
	return attrs[0].value, nil
}

type attribute struct {
	name  string
	value *Value
}

// attrs returns the attributes of a name, or all when the name is empty. An
// attribute whose type is not read is an error only for who asks for it.
func (o *Object) attrs(name string) ([]attribute, error) {
	var out []attribute
	add := func(c *cursor) error {
		a, err := o.attribute(c, name)
		if err != nil {
			return fmt.Errorf("%s: attribute %q: %w", o.Path, a.name, err)
		}
		if name == "" || a.name == name {
			out = append(out, a)
		}
		return nil
	}
	for _, m := range o.msgs {
		if m.kind != msgAttribute {
			continue
		}
		c, err := o.resolve(m)
		if err == nil {
			err = add(c)
		}
		if err != nil {
			return nil, err
		}
	}
	c, err := o.message(msgAttrInfo)
	if c == nil || err != nil {
		return out, err
	}
	c.skip(1)
	if c.u8()&1 != 0 {
		c.skip(2)
	}
	heap, tree := c.addr(), c.addr()
	if c.err != nil || heap == undefined || tree == undefined {
		return out, c.err
	}
	err = o.f.heapObjects(heap, tree, 8, func(rec *cursor) []byte { return rec.take(8) }, add)
	return out, err
}

// attribute parses an attribute message. Its type and data are parsed only
// when it is the one wanted, or all are.
func (o *Object) attribute(c *cursor, want string) (attribute, error) {
	version, flags := c.u8(), c.u8()
	if c.err == nil && (version < 1 || version > 3) {
		return attribute{}, fmt.Errorf("version %d is not read", version)
	}
	nameLen, typeLen, spaceLen := c.u16(), c.u16(), c.u16()
	if version == 3 {
		c.skip(1)
	}
	part := func(n int) *cursor {
		k := o.cursor(c.take(n))
		if version == 1 {
			c.skip(min((8-n%8)%8, c.left()))
		}
		return k
	}
	name := part(nameLen)
	typ, spc := part(typeLen), part(spaceLen)
	if c.err != nil {
		return attribute{}, c.err
	}
	a := attribute{name: string(bytes.TrimRight(name.b, "\x00"))}
	if want != "" && a.name != want || want == "" {
		return a, nil
	}
	if version > 1 && flags&1 != 0 {
		var err error
		if typ, err = o.shared(typ, msgType); err != nil {
			return a, err
		}
	}
	t, s := typ.datatype(0), spc.dataspace()
	if err := errors.Join(typ.err, spc.err); err != nil {
		return a, err
	}
	n, err := s.count()
	if err != nil {
		return a, err
	}
	if n > uint64(c.left())/uint64(max(1, t.Size)) {
		return a, fmt.Errorf("%d elements of %d bytes in a message of %d", n, t.Size, c.left())
	}
	a.value = &Value{Type: t, Dims: s.ints(), f: o.f, data: c.take(int(n) * t.Size)}
	return a, c.err
}

// ints returns the dimensions; a null space is a list of no elements.
func (s space) ints() []int {
	if s.null {
		return []int{0}
	}
	var out []int
	for _, d := range s.dims {
		out = append(out, int(d))
	}
	return out
}

// Bytes returns the elements as they are stored.
func (v *Value) Bytes() []byte { return v.data }

// Row returns the elements of one index of the first dimension.
func (v *Value) Row(i int) (*Value, error) {
	if len(v.Dims) == 0 || i < 0 || i >= v.Dims[0] {
		return nil, fmt.Errorf("row %d of a value of shape %v", i, v.Dims)
	}
	n := len(v.data) / v.Dims[0]
	return &Value{Type: v.Type, Dims: v.Dims[1:], f: v.f, data: v.data[i*n : (i+1)*n]}, nil
}
