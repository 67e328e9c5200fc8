package views

import (
	"slices"

	"github.com/isobath/isobath/internal/locality/layout"
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/locality/replay"
)

// fieldUse counts, for one object, in how many of the lines fetched each field
// was touched.
type fieldUse struct {
	object  *layout.Object
	parts   []replay.PartLayout
	lines   []lineUse // of the parts, one after another
	first   []int     // index into lines of each part
	fetches []uint64  // by field: lines fetched that hold bytes of it
	touched []uint64  // by field: of them those in which it was touched
	marks   []uint8   // by field, of the line at hand
}

// What a line at hand has of a field.
const (
	holds   = 1
	touches = 2
)

// lineUse is one line of an element.
type lineUse struct{ fetched, used uint64 }

// maxStructLines bounds the structures that are followed line by line.
const maxStructLines = 64

// followFields prepares the objects whose fields are known.
func (s *Study) followFields(m *platform.Machine) {
	s.fields = make([]*fieldUse, len(s.Table.Objects))
	changes := map[uint32]*replay.Change{}
	for _, c := range s.plan.Changes {
		changes[c.Object.Number] = c
	}
	line := uint64(m.Levels[0].Line)
	s.lineSize = line
	for _, o := range s.Table.Objects[1:] {
		if len(o.Fields) == 0 || o.Elem == 0 || o.Elem > maxStructLines*line {
			continue
		}
		u := &fieldUse{object: o, fetches: make([]uint64, len(o.Fields)), touched: make([]uint64, len(o.Fields)), marks: make([]uint8, len(o.Fields))}
		if c := changes[o.Number]; c != nil {
			u.parts = c.Layout()
		} else {
			u.parts = []replay.PartLayout{replay.AsItIs(o)}
		}
		n := 0
		for _, p := range u.parts {
			u.first = append(u.first, n)
			n += int((p.Stride + line - 1) / line)
		}
		u.lines = make([]lineUse, n)
		s.fields[o.Number] = u
	}
}

// touched is told which bytes of a line were touched.
func (s *Study) touched(owner uint32, lineNumber uint64, mask []uint64) {
	u := s.fields[s.Trace.Accesses[owner].Object]
	if u == nil {
		return
	}
	line := s.lineSize
	start := lineNumber * line
	for k := range u.parts {
		p := &u.parts[k]
		base, elements := u.stretch(p, start)
		size := p.Stride * elements
		if start+line <= base || start >= base+size {
			continue
		}
		used := uint64(0)
		for b := range line {
			if mask[b/64]>>(b%64)&1 != 0 {
				used++
			}
		}
		at := 0
		if start > base {
			at = int((start - base) % p.Stride / line)
		}
		l := &u.lines[u.first[k]+at]
		l.fetched++
		l.used += used
		u.count(p, base, elements, start, line, mask)
		return
	}
}

// stretch is where the elements around a line lie together, and how many they
// are: blocks of their own have one each.
func (u *fieldUse) stretch(p *replay.PartLayout, start uint64) (base, elements uint64) {
	if u.object.Blocks == nil || p.Base() != u.object.Start {
		return p.Base(), p.Elements
	}
	element, _ := u.object.Locate(max(start, u.object.Start))
	return u.object.Blocks[element], 1
}

// count counts the fields of the elements that a line holds.
func (u *fieldUse) count(p *replay.PartLayout, base, elements, start, line uint64, mask []uint64) {
	from := uint64(0)
	if start > base {
		from = (start - base) / p.Stride
	}
	clear(u.marks)
	for e := from; e < elements && base+e*p.Stride < start+line; e++ {
		for _, f := range p.Fields {
			low, high := base+e*p.Stride+f.Offset, base+e*p.Stride+f.Offset+f.Size
			if high <= start || low >= start+line {
				continue
			}
			u.marks[f.Field] |= holds
			for b := max(low, start) - start; b < min(high, start+line)-start; b++ {
				if mask[b/64]>>(b%64)&1 != 0 {
					u.marks[f.Field] |= touches
					break
				}
			}
		}
	}
	for f, m := range u.marks {
		if m&holds != 0 {
			u.fetches[f]++
		}
		if m&touches != 0 {
			u.touched[f]++
		}
	}
}

// StructUse is an element of an object to scale: how much of each line that is
// fetched of it is used.
type StructUse struct {
	Object   string       `json:"object"`
	Type     string       `json:"type"`
	Evidence string       `json:"evidence"`
	Element  uint64       `json:"element"`
	Elements uint64       `json:"elements"`
	Parts    []StructPart `json:"parts"`
	Moved    uint64       `json:"moved"` // bytes
	Used     uint64       `json:"used"`
}

// StructPart is an array that holds all or some of the fields.
type StructPart struct {
	Name   string        `json:"name"`
	Stride uint64        `json:"stride"`
	Fields []StructField `json:"fields"`
	Lines  []StructLine  `json:"lines"`
}

// StructField is a field at its place. Share is of the lines fetched that hold
// it: those in which it was touched; null if none was fetched.
type StructField struct {
	Name   string   `json:"name"`
	Offset uint64   `json:"offset"`
	Bytes  uint64   `json:"bytes"`
	Share  *float64 `json:"share"`
}

// StructLine is the fetches of one line of an element, and the bytes used in all
// of them.
type StructLine struct {
	Fetched uint64 `json:"fetched"`
	Used    uint64 `json:"used"`
}

// Struct describes an object; nil if its fields are not known.
func (s *Study) Struct(object uint32) *StructUse {
	u := s.fields[object]
	if u == nil {
		return nil
	}
	o := u.object
	out := &StructUse{Object: o.Name, Type: o.Type, Evidence: string(o.Known), Element: o.Elem, Elements: o.Elements()}
	line := s.lineSize
	for k, p := range u.parts {
		part := StructPart{Name: p.Name, Stride: p.Stride, Fields: []StructField{}, Lines: []StructLine{}}
		for _, f := range p.Fields {
			field := StructField{Name: o.Fields[f.Field].Name, Offset: f.Offset, Bytes: f.Size}
			if n := u.fetches[f.Field]; n > 0 {
				share := float64(u.touched[f.Field]) / float64(n)
				field.Share = &share
			}
			part.Fields = append(part.Fields, field)
		}
		slices.SortStableFunc(part.Fields, func(a, b StructField) int { return int(a.Offset) - int(b.Offset) })
		for _, l := range u.lines[u.first[k] : u.first[k]+int((p.Stride+line-1)/line)] {
			part.Lines = append(part.Lines, StructLine{l.fetched, l.used})
			out.Moved += l.fetched * line
			out.Used += l.used
		}
		out.Parts = append(out.Parts, part)
	}
	return out
}
