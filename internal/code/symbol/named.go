package symbol

import (
	"debug/dwarf"
	"strings"
)

// NamedType returns the structure, or the type of any other kind, that the debug
// information has under a name: "struct node", "node" or "double". The first
// complete one is taken; nil if there is none.
func (b *Binary) NamedType(name string) *Type {
	for _, prefix := range []string{"struct ", "class ", "union "} {
		name = strings.TrimPrefix(name, prefix)
	}
	return b.findEntry(func(d *debugInfo, e *dwarf.Entry) *Type {
		switch e.Tag {
		case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagTypedef, dwarf.TagBaseType:
			if readable(d.text(e, dwarf.AttrName)) == name {
				return b.typeAt(place{d, e.Offset})
			}
		}
		return nil
	})
}

// Pointee returns what a variable, parameter or member with a name points to,
// if that is known: the type of the memory that is allocated for it. Several of
// one name that point to different things give nil.
func (b *Binary) Pointee(variable string) *Type {
	var found *Type
	differ := false
	b.findEntry(func(d *debugInfo, e *dwarf.Entry) *Type {
		switch e.Tag {
		case dwarf.TagVariable, dwarf.TagFormalParameter, dwarf.TagMember:
			if d.text(e, dwarf.AttrName) != variable {
				return nil
			}
			if t := b.pointedTo(d.typeOf(e)); t != nil {
				differ = differ || found != nil && found.Name != t.Name
				found = t
			}
		}
		return nil
	})
	if differ {
		return nil
	}
	return found
}

// pointedTo reads the type behind a pointer.
func (b *Binary) pointedTo(at place) *Type {
	for range maxTypeDepth {
		e := at.entry()
		if e == nil {
			return nil
		}
		next := at.d.typeOf(e)
		switch e.Tag {
		case dwarf.TagPointerType:
			if next == (place{}) {
				return nil
			}
			return b.typeAt(next)
		case dwarf.TagTypedef, dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagRestrictType, dwarf.TagMutableType:
			at = next
		default:
			return nil
		}
	}
	return nil
}

// maxEntries bounds a search through debug information.
const maxEntries = 5_000_000

// findEntry visits the entries of all units until one gives a type. Damage ends
// the search.
func (b *Binary) findEntry(visit func(*debugInfo, *dwarf.Entry) *Type) (found *Type) {
	d := b.dwarf
	if d == nil {
		return nil
	}
	var err error
	defer guard(&err, "debug entries")
	r := d.data.Reader()
	for range maxEntries {
		e, err := r.Next()
		if err != nil || e == nil {
			return nil
		}
		if t := visit(d, e); t != nil {
			return t
		}
	}
	return nil
}
