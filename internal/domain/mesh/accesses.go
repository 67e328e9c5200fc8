package mesh

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// A cell that is touched more often has more samples, and costs more without being
// slower. Where every reference of a part of the run was recorded, cost can be shared
// out over them.

// Accesses is what the variable is called that counts the references to each cell.
const Accesses = "accesses"

// perAccess ends the name of a field that is shared out over them.
const perAccess = "_per_access"

// offsetColumn is how far into its data object an access lies, in bytes.
const offsetColumn = "offset"

// widest is more than any instruction touches at once.
const widest = 4096

// AccessCounts says what became of the recorded references. Recorded is the sum of the
// others.
type AccessCounts struct {
	Recorded   int `json:"recorded"`
	OnCells    int `json:"on_cells"`
	Other      int `json:"other"`        // to data whose layout over cells is not known
	OutOfRange int `json:"out_of_range"` // beyond the last cell
}

// touched is how often each cell of a dump is referenced.
type touched struct {
	cells  []float64
	counts AccessCounts
}

// HasAccesses reports whether the accesses to the cells of a dump are known. Objects
// say where in them a cell lies only if one block has all cells.
func (v *View) HasAccesses(p *Placed) bool {
	return v.settings.References != nil && len(v.columns.CellBytes) > 0 && !p.Space.AMR && len(p.Space.Parts) == 1
}

// AccessCounts says what became of the recorded references on a dump.
func (v *View) AccessCounts(ctx context.Context, p *Placed) (AccessCounts, error) {
	t, err := v.touched(ctx, p)
	if err != nil {
		return AccessCounts{}, err
	}
	return t.counts, nil
}

// knowObjects refuses objects over the cells that neither references nor samples name:
// what a misspelt one has would be missing from every cell. References must name one.
func (v *View) knowObjects() error {
	refs := v.settings.References
	if refs == nil || len(v.columns.CellBytes) == 0 {
		return nil
	}
	o, err := objectBytes(refs, v.columns.CellBytes)
	if err != nil {
		return err
	}
	unknown := maps.Clone(v.columns.CellBytes)
	for _, c := range []*table.Column{o.object, v.Table.Column(samples.Symbol)} {
		if c != nil {
			maps.DeleteFunc(unknown, func(name string, _ int) bool { _, ok := c.Code(name); return ok })
		}
	}
	if len(unknown) > 0 {
		return noObject(o.object, unknown)
	}
	return nil
}

var errNoAccesses = errors.New("how often cells are accessed is not known: record every reference with 'isobath record --refs', " +
	"and name that run with --accesses and the objects that lie over the cells with --cell-bytes OBJECT=BYTES")

func (v *View) touched(ctx context.Context, p *Placed) (*touched, error) {
	switch {
	case v.settings.References == nil || len(v.columns.CellBytes) == 0:
		return nil, errNoAccesses
	case !v.HasAccesses(p):
		return nil, errors.New("accesses are counted on meshes of one block without refinement: an object does not say which block a place in it belongs to")
	}
	key := v.placementKey(p, Accesses, "")
	if kept, ok := v.kept.Recall(key); ok {
		return kept.(*touched), nil
	}
	size := 8 * int64(p.Cells)
	claim, err := budget.Take(ctx, fmt.Sprintf("the accesses to %d cells need", p.Cells), size)
	if err != nil {
		return nil, err
	}
	defer claim.Release()
	t, err := countTouched(ctx, v.settings.References, v.columns.CellBytes, p.Cells)
	if err != nil {
		return nil, err
	}
	claim.Release()
	v.kept.Keep(key, size, t)
	return t, nil
}

// countTouched counts for each cell the references that touch bytes of it. One that
// reaches over several cells, as those of vectors do, is one to each.
func countTouched(ctx context.Context, refs *table.Table, bytes map[string]int, cells int) (*touched, error) {
	o, err := objectBytes(refs, bytes)
	if err != nil {
		return nil, err
	}
	width := refs.Column(samples.Width)
	out := &touched{cells: make([]float64, cells), counts: AccessCounts{Recorded: refs.Rows()}}
	for i := range table.Scan(ctx, nil, refs.Rows()) {
		first, per, ok := o.at(i)
		if !ok {
			out.counts.Other++
			continue
		}
		size := 1.0
		if width != nil && width.Has(i) {
			size = min(max(size, width.Float(i)), widest)
		}
		from, to := math.Floor(first/per), math.Floor((first+size-1)/per)
		if from >= float64(cells) {
			out.counts.OutOfRange++
			continue
		}
		out.counts.OnCells++
		for c := int(from); c <= int(min(to, float64(cells-1))); c++ {
			out.cells[c]++
		}
	}
	return out, ctx.Err()
}

// objectPlaces says which byte of an object that lies over the cells a row touches.
type objectPlaces struct {
	object, offset *table.Column
	codes          []uint32
	per            []int // bytes of a cell, by object; 0 for others
}

func objectBytes(t *table.Table, bytes map[string]int) (*objectPlaces, error) {
	o := &objectPlaces{object: t.Column(samples.Symbol), offset: t.Column(offsetColumn)}
	if o.object == nil || o.offset == nil {
		return nil, errors.New("the recording does not say which data objects were touched; it lacks the columns symbol and offset")
	}
	var named bool
	if o.codes, named = o.object.Data.([]uint32); !named {
		return nil, fmt.Errorf("column %q is not a name", samples.Symbol)
	}
	o.per = make([]int, len(o.object.Dict))
	found := false
	for name, n := range bytes {
		if n < 1 {
			return nil, fmt.Errorf("object %q: %d bytes per cell", name, n)
		}
		if code, ok := o.object.Code(name); ok {
			o.per[code], found = n, true
		}
	}
	if !found {
		return nil, noObject(o.object, bytes)
	}
	return o, nil
}

// noObject says which objects there are in place of those that were named.
func noObject(object *table.Column, bytes map[string]int) error {
	var names []string
	for name := range bytes {
		names = append(names, name)
	}
	slices.Sort(names)
	near := slices.Clone(object.Dict)
	slices.Sort(near)
	return fmt.Errorf("nothing touches object %s; there are %s", strings.Join(names, ", "), strings.Join(near[:min(len(near), 8)], ", "))
}

// at returns the byte that row i touches first and the bytes of a cell.
func (o *objectPlaces) at(i int) (first, per float64, ok bool) {
	if !o.object.Has(i) || !o.offset.Has(i) || o.per[o.codes[i]] == 0 {
		return 0, 0, false
	}
	first = o.offset.Float(i)
	return first, float64(o.per[o.codes[i]]), first >= 0
}

// byOffset places samples on the objects that lie over the cells.
func (s *Samples) byOffset(ctx context.Context, t *table.Table, c Columns) error {
	if t.Column(offsetColumn) == nil && (c.X != "" || c.Cell != "") {
		return nil // the layout is that of the references; samples name their cells
	}
	o, err := objectBytes(t, c.CellBytes)
	if err != nil {
		return err
	}
	s.numberCells()
	for i := range table.Scan(ctx, nil, s.Rows) {
		if first, per, ok := o.at(i); ok {
			s.Cell[i] = int32(min(math.Floor(first/per), math.MaxInt32-float64(c.first))) + int32(c.first)
		}
	}
	return ctx.Err()
}

// shareOut divides a field by the accesses to each cell. Where none was recorded there
// is no value: those cells were touched at another time.
func (p *Placed) shareOut(ctx context.Context, f *Field) error {
	t, err := p.accesses(ctx)
	if err != nil {
		return err
	}
	for c, n := range t.cells {
		if n > 0 {
			f.Values[c] /= n
			continue
		}
		f.Values[c] = math.NaN()
		if f.Samples[c] > 0 {
			f.NoAccess++
		}
	}
	return nil
}
