package symbol

import (
	"debug/dwarf"
	"slices"
	"strings"
)

// NamedType returns the structure, or the type of any other kind, that the debug
// information has under a name: "struct node", "node" or "double". The first
// complete one is taken; nil if there is none.
func (b *Binary) NamedType(name string) *Type {
	for _, prefix := range []string{"struct ", "class ", "union "} {
		name = strings.TrimPrefix(name, prefix)
	}
	return b.NamedTypes(name)[name]
}

// NamedTypes finds several types in one pass, by their names alone.
func (b *Binary) NamedTypes(names ...string) map[string]*Type {
	found := map[string]*Type{}
	b.findEntry(func(d *debugInfo, e *dwarf.Entry) *Type {
		switch e.Tag {
		case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagTypedef, dwarf.TagBaseType:
			name := readable(d.text(e, dwarf.AttrName))
			if found[name] != nil || !slices.Contains(names, name) {
				return nil
			}
			if t := b.typeAt(place{d, e.Offset}); t != nil {
				found[name] = t
				if len(found) == len(names) {
					return t // all are found
				}
			}
		}
		return nil
	})
	return found
}

// Variable returns the variable that the linker knows by a name.
func (b *Binary) Variable(name string) (Global, bool) {
	for i := range b.symbols.entries {
		if e := &b.symbols.entries[i]; e.data && e.text() == name {
			return Global{Name: readable(name), Start: e.addr, Size: e.size}, true
		}
	}
	return Global{}, false
}

// Room returns the link-time addresses of a section, also of one that has no bytes
// in the file.
func (b *Binary) Room(section string) (addr, size uint64, ok bool) {
	s := b.image.elf.Section(section)
	if s == nil {
		return 0, 0, false
	}
	return s.Addr, s.Size, true
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
		case dwarf.TagArrayType: // an allocatable array of Fortran holds where its elements are
			if e.Val(dwarf.AttrDataLocation) == nil || next == (place{}) {
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
	d := b.dwarf()
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
