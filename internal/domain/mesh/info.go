package mesh

import (
	"context"
	"slices"

	"github.com/isobath/isobath/internal/data/grid"
)

// Info is what `isobath info` says about a mesh.
type Info struct {
	FormatName string      `json:"-"`
	Cells      int         `json:"cells"`
	Points     int         `json:"points"`
	Levels     int         `json:"levels"`
	Domains    int         `json:"domains"`
	Dims       []int       `json:"dims,omitempty"`
	Dump       int64       `json:"dump"` // whose cells, bounds and ranges these are: the last
	Low        [3]float64  `json:"low"`
	High       [3]float64  `json:"high"`
	Iterations []int64     `json:"iterations"`
	From       string      `json:"iterations_from"` // file, name or ordinal
	Times      []float64   `json:"times,omitempty"`
	Fields     []FieldInfo `json:"fields"`
	Notes      []string    `json:"-"` // sentences for the user
}

// FieldInfo is one array of the simulation.
type FieldInfo struct {
	Name       string   `json:"name"`
	On         string   `json:"on"` // cells or points
	Components int      `json:"components"`
	Type       string   `json:"type"`
	Min        *float64 `json:"min"`
	Max        *float64 `json:"max"`
}

// Describe opens mesh files and says what is in them; values are those of the
// last dump.
func Describe(ctx context.Context, paths ...string) (*Info, error) {
	s, err := Open(ctx, paths...)
	if err != nil {
		return nil, err
	}
	last := len(s.Steps) - 1
	m, err := s.Mesh(ctx, last)
	if err != nil {
		return nil, err
	}
	sp, err := NewSpace(m)
	if err != nil {
		return nil, err
	}
	out := &Info{FormatName: s.Format, Cells: m.NumCells(), Points: m.NumPoints(), Levels: max(1, len(m.Levels)), Domains: 1,
		From: s.Steps[last].From, Dump: s.Steps[last].Iteration, Notes: slices.Concat(s.Notes(), m.Warnings), Fields: []FieldInfo{}}
	out.Low, out.High = m.Bounds()
	if !sp.AMR {
		out.Domains = len(m.Blocks)
	}
	if len(sp.Parts) == 1 && sp.Parts[0].Dims != ([3]int{}) {
		out.Dims = sp.Parts[0].Dims[:]
	}
	for _, st := range s.Steps {
		out.Iterations = append(out.Iterations, st.Iteration)
		if st.HasTime {
			out.Times = append(out.Times, st.Time)
		}
	}
	for i := range m.Blocks {
		out.addFields("cells", m.Blocks[i].Grid.CellData)
		out.addFields("points", m.Blocks[i].Grid.PointData)
	}
	return out, nil
}

// addFields merges the arrays of one block into the list.
func (i *Info) addFields(on string, list []grid.Array) {
	for k := range list {
		a := &list[k]
		f := i.field(on, a)
		lo, hi, ok := a.Range()
		if !ok {
			continue
		}
		if f.Min == nil || lo < *f.Min {
			f.Min = &lo
		}
		if f.Max == nil || hi > *f.Max {
			f.Max = &hi
		}
	}
}

func (i *Info) field(on string, a *grid.Array) *FieldInfo {
	for k := range i.Fields {
		if f := &i.Fields[k]; f.Name == a.Name && f.On == on {
			return f
		}
	}
	i.Fields = append(i.Fields, FieldInfo{Name: a.Name, On: on, Components: a.Comps, Type: a.DType()})
	return &i.Fields[len(i.Fields)-1]
}
