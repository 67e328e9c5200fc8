package layout

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/refs"
)

// kept is what a run holds of the types of its objects, for when the program they
// are read from is not there.
type kept struct {
	Version int          `json:"version"`
	Objects []keptObject `json:"objects"`
}

// keptObject is a variable with its place, or without one what a pointer of this
// name leads to.
type keptObject struct {
	Name    string      `json:"name"`
	Start   uint64      `json:"start,omitempty"`
	Bytes   uint64      `json:"bytes,omitempty"`
	Element uint64      `json:"element,omitempty"`
	Row     uint64      `json:"row,omitempty"`
	Type    string      `json:"type,omitempty"`
	Fields  []keptField `json:"fields,omitempty"`
}

type keptField struct {
	Name   string `json:"name"`
	Offset uint64 `json:"offset"`
	Bytes  uint64 `json:"bytes"`
	Type   string `json:"type,omitempty"`
	Align  uint64 `json:"align,omitempty"`
}

const keptVersion = 1

// Typed are the recorded objects whose types debug information tells: variables,
// and elements of what is allocated.
func Typed(objects []refs.Object, program *symbol.Program) (out []Object) {
	t := NewTable(&refs.About{Objects: objects}, nil, program)
	seen := map[string]bool{} // a million blocks have one name
	for i, o := range objects {
		base, _, numbered := strings.Cut(o.Name, " #")
		if i == 0 || numbered && seen[base] {
			continue
		}
		seen[base] = true
		t.member(o)
	}
	for _, o := range t.Objects[1:] {
		if o.Known == ByType {
			out = append(out, *o)
		}
	}
	return out
}

// Keep writes types of objects in the form that WithTypes reads.
func Keep(objects []Object) ([]byte, error) {
	k := kept{Version: keptVersion, Objects: []keptObject{}}
	for i := range objects[:min(len(objects), maxGiven)] {
		o := &objects[i]
		to := keptObject{Name: strings.TrimSuffix(o.Name, symbol.OfVariable), Element: o.Elem, Row: o.Rows, Type: plainName(o.Type)}
		if o.Sized {
			to.Start, to.Bytes = o.Start, o.Size
		}
		for _, f := range o.Fields {
			to.Fields = append(to.Fields, keptField{f.Name, f.Offset, f.Size, plainName(f.Type), f.Align})
		}
		k.Objects = append(k.Objects, to)
	}
	body, err := json.MarshalIndent(k, "", " ")
	return append(body, '\n'), err
}

// plainName is the name of a type, unless it tells where the source lies, as that of
// an anonymous function may: whoever passes a run on does not expect that.
func plainName(name string) string {
	if strings.ContainsAny(name, `/\`) {
		return ""
	}
	return name
}

// WithTypes is what the user says, which may be nil, and the types that a run keeps.
func (g *Given) WithTypes(body []byte) (*Given, error) {
	var k kept
	if err := json.Unmarshal(body, &k); err != nil {
		return g, err
	}
	if k.Version != keptVersion {
		return g, fmt.Errorf("version %d, and this program knows %d", k.Version, keptVersion)
	}
	if len(k.Objects) > maxGiven {
		return g, fmt.Errorf("more than %d objects", maxGiven)
	}
	var objects []Object
	for i := range k.Objects {
		o, err := k.Objects[i].object()
		if err != nil {
			return g, err
		}
		objects = append(objects, o)
	}
	out := &Given{}
	if g != nil {
		*out = *g
	}
	out.kept = newKeptTypes(objects)
	return out, nil
}

func (k *keptObject) object() (Object, error) {
	o := Object{Name: k.Name, Start: k.Start, Size: k.Bytes, Elem: k.Element, Rows: k.Row, Type: k.Type, Sized: k.Bytes > 0, Known: ByType}
	// An object without bytes is an element.
	whole := o.Size
	if !o.Sized {
		whole = o.Elem
	}
	if whole == 0 || o.Start+o.Size < o.Start || o.Elem == 0 || o.Elem > whole || o.Rows > whole {
		return o, fmt.Errorf("object %q: %d bytes at %#x, of elements of %d bytes, rows of %d", o.Name, o.Size, o.Start, o.Elem, o.Rows)
	}
	end := uint64(0) // of the field before
	for _, f := range k.Fields {
		if f.Bytes == 0 || f.Offset < end || f.Offset > o.Elem || f.Bytes > o.Elem-f.Offset {
			return o, fmt.Errorf("object %q: field %q of %d bytes at %d, in an element of %d", o.Name, f.Name, f.Bytes, f.Offset, o.Elem)
		}
		end = f.Offset + f.Bytes
		o.Fields = append(o.Fields, Field{Name: f.Name, Offset: f.Offset, Size: f.Bytes, Type: f.Type, Align: f.Align})
	}
	return o, nil
}
