// Package views counts what pictures of locality show: a trace is replayed once
// on a machine and kept access by access, so that every selection of its
// references has its curve, its table, its map and its matrix at once.
package views

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/locality/layout"
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/locality/replay"
	"github.com/isobath/isobath/internal/locality/reuse"
)

// Study is a trace on a machine, as it was recorded or with a change.
type Study struct {
	*replay.Detail
	Trace *replay.Trace
	Table *layout.Table

	plan   *replay.Plan
	fields []*fieldUse // by object; nil where no fields are known
	whole  reuse.Histogram
	exact  []uint64 // references by distance

	lineSize uint64 // bytes of a line of the first level
	cellOf   []uint32
	cells    []cell
	nests    []*replay.Nest
}

// New replays a trace on a machine with a plan, which may be empty.
func New(ctx context.Context, t *replay.Trace, objects *layout.Table, m *platform.Machine, plan *replay.Plan) (*Study, error) {
	s := &Study{Trace: t, Table: objects, plan: plan}
	s.followFields(m)
	s.cellOf, s.cells = cells(s)
	s.nests, _ = replay.FindNests(t)
	var err error
	if s.Detail, err = replay.NewDetail(ctx, t, m, plan, replay.Kept, s.touched); err != nil {
		return nil, err
	}
	for _, d := range s.Distance {
		s.whole.Add(d)
		if d == reuse.First {
			continue
		}
		for int(d) >= len(s.exact) {
			s.exact = append(s.exact, make([]uint64, max(1024, len(s.exact)))...)
		}
		s.exact[d]++
	}
	return s, nil
}

// Weight is about what the study of so many accesses takes in memory on a machine of
// so many levels, before it is made.
func Weight(accesses, levels int) int64 {
	return replay.DetailWeight(accesses, levels) + 4*int64(accesses) // and the cell of each
}

// Bytes is what the study takes in memory, beside the trace that it is of.
func (s *Study) Bytes() int64 {
	sum := s.Detail.Bytes() + 8*int64(cap(s.exact)) + 4*int64(cap(s.cellOf)) + int64(cap(s.cells))*int64(unsafe.Sizeof(cell{}))
	for _, n := range s.nests {
		sum += n.Bytes()
	}
	for _, f := range s.fields {
		if f != nil {
			sum += int64(cap(f.lines)) * int64(unsafe.Sizeof(lineUse{}))
		}
	}
	return sum
}

// Choice is the selected references.
type Choice struct {
	Rows table.Bits // nil is all
	// Pair is by number which objects lost a line, and which pushed it out, at a level;
	// see Study.Pair.
	Pair  *[2][]bool
	Level int
}

// all reports whether nothing is selected.
func (c *Choice) all() bool {
	return c.Rows == nil && c.Pair == nil
}

// has reports whether an access is selected.
func (s *Study) has(c *Choice, i int) bool {
	if c.Rows != nil && !c.Rows.Get(i) {
		return false
	}
	if c.Pair != nil {
		a, o := &s.Trace.Accesses[i], &s.Levels[c.Level][i]
		return c.Pair[0][a.Object] && c.Pair[1][o.Evictor] && o.Misses > o.First
	}
	return true
}

// member is the field of an object that an access touches first.
func (s *Study) member(a *replay.Access) layout.Member {
	m := layout.Member{Object: a.Object, Field: -1}
	if o := s.Table.Objects[a.Object]; o != nil && len(o.Fields) > 0 {
		_, offset := o.Locate(a.Addr)
		m.Field = o.Field(offset)
	}
	return m
}

// objectName names an object; what belongs to none has a name too.
func (s *Study) objectName(n uint32) string {
	if n == 0 || s.Table.Objects[n] == nil {
		return noObject
	}
	return s.Table.Objects[n].Name
}

const noObject = "(no object)"

// ObjectNumber finds an object by its name.
func (s *Study) ObjectNumber(name string) (uint32, error) {
	if name == noObject {
		return 0, nil
	}
	for _, o := range s.Table.Objects[1:] {
		if o.Name == name {
			return o.Number, nil
		}
	}
	return 0, fmt.Errorf("no object is called %q", name)
}

// fieldMember finds a field by the names of its object and its own.
func (s *Study) fieldMember(object, field string) (layout.Member, error) {
	n, err := s.ObjectNumber(object)
	if err != nil || n == 0 {
		return layout.Member{}, fmt.Errorf("no object is called %q", object)
	}
	for i, f := range s.Table.Objects[n].Fields {
		if f.Name == field {
			return layout.Member{Object: n, Field: i}, nil
		}
	}
	return layout.Member{}, fmt.Errorf("%s has no field %q", object, field)
}

// FieldRows are the accesses of a trace to a field, by the names of its object and
// its own joined by a dot. Either may hold dots.
func FieldRows(t *replay.Trace, objects *layout.Table, name string) (table.Bits, error) {
	s := &Study{Trace: t, Table: objects}
	for i, c := range name {
		if c != '.' {
			continue
		}
		field, err := s.fieldMember(name[:i], name[i+1:])
		if err != nil {
			continue
		}
		rows := table.NewBits(len(t.Accesses))
		for k := range t.Accesses {
			if s.member(&t.Accesses[k]) == field {
				rows.Set(k)
			}
		}
		return rows, nil
	}
	return nil, fmt.Errorf("no object has a field %q", name)
}

// place is where in the source an access comes from.
func (s *Study) place(a *replay.Access) refs.Place { return s.Trace.Place(a) }
