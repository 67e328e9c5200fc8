package layout

import (
	"cmp"
	"slices"

	"github.com/isobath/isobath/internal/code/symbol"
)

// types tells what memory holds: a program, or what a run keeps of one. Objects
// that they return are shared, and not to be changed.
type types interface {
	// variable is the one at an address; nil if there is none.
	variable(addr uint64) *Object
	// pointee is an element of what a variable of this name points to; nil if that
	// is no structure, or not known.
	pointee(name string) *Object
	// structure is an element of this type; nil if there is none.
	structure(name string) *Object
}

// takeType takes element, fields and how they are known from another object.
func (o *Object) takeType(from *Object) { o.takeTypeAs(from, from.Known) }

// takeTypeAs is takeType where somebody else says that this is the type; of nil
// nothing is taken.
func (o *Object) takeTypeAs(from *Object, how Evidence) {
	if from != nil {
		o.Elem, o.Rows, o.Type, o.Fields, o.Known = from.Elem, from.Rows, from.Type, from.Fields, how
	}
}

// programTypes are those of debug information.
type programTypes struct {
	*symbol.Program
	known map[uint64]*Object // variables by start: every address of one is asked for
}

func (p programTypes) variable(addr uint64) *Object {
	g, start, ok := p.Variable(addr)
	if !ok || g.Size == 0 {
		return nil
	}
	o := p.known[start]
	if o == nil {
		o = &Object{Name: g.Name, Start: start, Size: g.Size, Sized: true}
		o.apply(g.Type, ByType)
		p.known[start] = o
	}
	return o
}

func (p programTypes) pointee(name string) *Object {
	ty := p.Pointee(name)
	if ty == nil || len(ty.Fields) == 0 {
		return nil
	}
	o := &Object{Name: name}
	o.apply(ty, ByType)
	o.Elem = ty.Size
	return o
}

func (p programTypes) structure(name string) *Object {
	o := &Object{}
	o.apply(p.NamedType(name), ByType)
	if o.Known == Unknown {
		return nil
	}
	return o
}

// keptTypes are those that a run keeps of the program it was recorded from.
type keptTypes struct {
	variables []Object // by start
	pointed   map[string]*Object
}

func newKeptTypes(objects []Object) *keptTypes {
	k := &keptTypes{pointed: map[string]*Object{}}
	for i := range objects {
		if o := &objects[i]; o.Sized {
			k.variables = append(k.variables, *o)
		} else {
			k.pointed[o.Name] = o
		}
	}
	slices.SortFunc(k.variables, func(a, b Object) int { return cmp.Compare(a.Start, b.Start) })
	return k
}

func (k *keptTypes) variable(addr uint64) *Object {
	i, found := slices.BinarySearchFunc(k.variables, addr, func(o Object, at uint64) int { return cmp.Compare(o.Start, at) })
	if !found {
		i--
	}
	if i < 0 || addr-k.variables[i].Start >= k.variables[i].Size {
		return nil
	}
	return &k.variables[i]
}

func (k *keptTypes) pointee(name string) *Object { return k.pointed[name] }

func (k *keptTypes) structure(name string) *Object {
	for _, o := range k.pointed {
		if o.Type == name {
			return o
		}
	}
	for i := range k.variables {
		if o := &k.variables[i]; elementName(o.Type) == name && len(o.Fields) > 0 {
			return o
		}
	}
	return nil
}
