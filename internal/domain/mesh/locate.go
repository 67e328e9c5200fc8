package mesh

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/table"
)

// Missing marks a row without a value in the columns of Samples.
const Missing = math.MinInt32

// What a Place says instead of a cell number.
const (
	NoCell     = -1 // the sample touches no cell: a node array, an unknown object
	OutOfRange = -2 // it names a cell the mesh does not have
	NoLevel    = -3 // the mesh has refinement levels, the sample names none
)

// Samples are the columns that place samples on a mesh. Nil columns do not
// exist; Missing is a row without a value.
type Samples struct {
	Rows    int
	X, Y, Z []int32
	Cell    []int32
	Level   []int32
	Domain  []int32
}

// Numbering says how a program numbers its cells where that differs from
// VTK's way.
type Numbering struct {
	First int  // the first index: 0, or 1 in Fortran programs
	ZFast bool // the last index runs fastest: cell = z + nz*(y + ny*x)
	// Per is how many cells of the program along each axis make one of the mesh,
	// where a program writes its mesh coarser than it computes; 0 is 1.
	Per [3]int
}

// ratio is how many indices of the program along an axis are one of the mesh.
func (n Numbering) ratio(axis int) int { return max(1, n.Per[axis]) }

// meshIndex is the index on the mesh of one that the program has. Indices before
// the first stay before it.
func (n Numbering) meshIndex(axis, index int) int {
	if index -= n.First; index < 0 {
		return index
	}
	return index / n.ratio(axis)
}

// Locate returns the cell of every row, or why it has none. Each axis is
// checked before the indices are combined: 25 on an axis of 20 cells is out of
// range, not a cell in the next row.
func Locate(ctx context.Context, s *Samples, sp *Space, num Numbering) ([]int32, error) {
	if s.X == nil && s.Cell == nil {
		return nil, errors.New("samples have neither x, y, z nor a cell number; name them with --map, as in --map x=xidx")
	}
	if len(sp.Parts) > 1 && !sp.AMR && s.Domain == nil && s.Cell == nil {
		return nil, fmt.Errorf("the mesh has %d blocks and the samples no domain column; name one with --map domain=COLUMN", len(sp.Parts))
	}
	place := make([]int32, s.Rows)
	l := locator{s: s, sp: sp, num: num}
	err := inParts(ctx, s.Rows, func(lo, hi, _ int) {
		for i := lo; i < hi; i++ {
			place[i] = l.row(i)
		}
	})
	return place, err
}

type locator struct {
	s   *Samples
	sp  *Space
	num Numbering
}

func (l *locator) row(i int) int32 {
	s := l.s
	if s.Cell != nil && s.Cell[i] != Missing {
		return l.numbered(i)
	}
	if s.X == nil || s.X[i] == Missing {
		return NoCell
	}
	c := [3]int{l.num.meshIndex(0, int(s.X[i]))}
	if s.Y != nil {
		if s.Y[i] == Missing {
			return NoCell
		}
		c[1] = l.num.meshIndex(1, int(s.Y[i]))
	}
	if s.Z != nil {
		if s.Z[i] == Missing {
			return NoCell
		}
		c[2] = l.num.meshIndex(2, int(s.Z[i]))
	}
	p, why := l.part(i)
	if p == nil {
		return why
	}
	return p.cell(c, l.num)
}

// part returns the block or level of a row.
func (l *locator) part(i int) (*Part, int32) {
	if l.sp.AMR {
		if l.s.Level == nil || l.s.Level[i] == Missing {
			return nil, NoLevel
		}
		if level := int(l.s.Level[i]); level >= 0 && level < len(l.sp.Parts) {
			return &l.sp.Parts[level], 0
		}
		return nil, OutOfRange
	}
	if len(l.sp.Parts) == 1 {
		return &l.sp.Parts[0], 0
	}
	if l.s.Domain == nil || l.s.Domain[i] == Missing {
		return nil, NoCell
	}
	if d := int(l.s.Domain[i]); d >= 0 && d < len(l.sp.Parts) {
		return &l.sp.Parts[d], 0
	}
	return nil, OutOfRange
}

// numbered places a row that carries a cell number: within its block or level
// when it names one, else in the whole mesh.
func (l *locator) numbered(i int) int32 {
	c := int(l.s.Cell[i]) - l.num.First
	if l.sp.AMR || l.s.Domain != nil && len(l.sp.Parts) > 1 {
		p, why := l.part(i)
		if p == nil {
			return why
		}
		if c < 0 || c >= p.Cells {
			return OutOfRange
		}
		return int32(p.First + c)
	}
	if c < 0 || c >= l.sp.Cells {
		return OutOfRange
	}
	return int32(c)
}

// cell returns the number of a cell given by its indices.
func (p *Part) cell(c [3]int, num Numbering) int32 {
	if p.boxes != nil {
		n := p.boxes.cell(c)
		if n < 0 {
			return OutOfRange
		}
		return int32(p.First) + n
	}
	d := p.Dims
	for a := range c {
		if c[a] < 0 || c[a] >= d[a] {
			return OutOfRange
		}
	}
	if num.ZFast {
		return int32(p.First + c[2] + d[2]*(c[1]+d[1]*c[0]))
	}
	return int32(p.First + c[0] + d[0]*(c[1]+d[1]*c[2]))
}

// Columns says which columns of a table place its samples, and for data
// objects how their index relates to cells.
type Columns struct {
	X, Y, Z, Cell, Level, Domain string
	Object, Index                string
	// PerCell maps a data object to the entries it has per cell: LULESH keeps
	// 8 node numbers per element in m_nodelist. An object that is not listed
	// says nothing about cells.
	PerCell map[string]int
	// CellBytes maps a data object that lies over the cells, in their order, to the
	// bytes it has for each: 8 for one double.
	CellBytes map[string]int
	first     int // number of the first cell
	// Where restricts cells to rows in which this column is not zero; other
	// rows have none. Mitos writes map3D = 0 for node arrays.
	Where string
}

// axisNames are the columns tried when the user names none.
var (
	axisNames   = [3][]string{{"x", "xidx", "i"}, {"y", "yidx", "j"}, {"z", "zidx", "k"}}
	cellNames   = []string{"cell", "cell_id", "element", "elem"}
	levelNames  = []string{"amr_level", "mesh_level", "refinement"}
	domainNames = []string{"domain", "block", "rank"}
	whereNames  = []string{"map3D", "map3d"}
	objectNames = []string{"symbol", "variable", "object"}
	iterNames   = []string{"iteration", "iter", "cycle", "step"}
)

// Fill completes c with the columns a table has under their usual names.
func (c Columns) Fill(t *table.Table) Columns {
	set := func(dst *string, names []string) {
		if *dst == "" {
			*dst = firstColumn(t, names)
		}
	}
	set(&c.X, axisNames[0])
	set(&c.Y, axisNames[1])
	set(&c.Z, axisNames[2])
	set(&c.Cell, cellNames)
	set(&c.Level, levelNames)
	set(&c.Domain, domainNames)
	set(&c.Where, whereNames)
	set(&c.Object, objectNames)
	set(&c.Index, []string{"index"})
	return c
}

// Rename follows columns that the reader of a foreign file has renamed: --map x=i makes
// i the column x of the table.
func (c *Columns) Rename(t *table.Table) {
	for name, column := range map[string]*string{"x": &c.X, "y": &c.Y, "z": &c.Z, "cell": &c.Cell, "domain": &c.Domain} {
		if *column != "" && t.Column(*column) == nil && t.Column(name) != nil {
			*column = name
		}
	}
}

func firstColumn(t *table.Table, names []string) string {
	for _, n := range names {
		if t.Column(n) != nil {
			return n
		}
	}
	return ""
}

// IterationColumn returns the column that counts a program's iterations, ""
// if there is none.
func IterationColumn(t *table.Table, named string) string {
	if named != "" {
		return named
	}
	return firstColumn(t, iterNames)
}

// FromTable takes the placing columns out of a table. Rows whose data object
// is unknown and whose indices are all zero have no cell: that is what a tool
// writes that could not attribute an access.
func FromTable(ctx context.Context, t *table.Table, c Columns) (*Samples, error) {
	s := &Samples{Rows: t.Rows()}
	for _, a := range []struct {
		name string
		dst  *[]int32
	}{{c.X, &s.X}, {c.Y, &s.Y}, {c.Z, &s.Z}, {c.Cell, &s.Cell}, {c.Level, &s.Level}, {c.Domain, &s.Domain}} {
		if a.name == "" {
			continue
		}
		col := t.Column(a.name)
		if col == nil {
			return nil, fmt.Errorf("no column %q; the table has %s", a.name, columnNames(t))
		}
		var err error
		if *a.dst, err = Ints(ctx, col); err != nil {
			return nil, err
		}
	}
	if len(c.PerCell) > 0 {
		if err := s.byIndex(ctx, t, c); err != nil {
			return nil, err
		}
	}
	if len(c.CellBytes) > 0 {
		if err := s.byOffset(ctx, t, c); err != nil {
			return nil, err
		}
	}
	s.mask(ctx, t, c)
	return s, ctx.Err()
}

func columnNames(t *table.Table) string {
	var names []string
	for _, c := range t.Columns() {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

// Ints returns a column as whole numbers. Fractions and numbers beyond 31 bits
// are out of any mesh's range: they become the largest index.
func Ints(ctx context.Context, col *table.Column) ([]int32, error) {
	out := make([]int32, col.Len())
	if d, ok := col.Data.([]int32); ok {
		copy(out, d)
	} else {
		for i := range table.Scan(ctx, nil, len(out)) {
			v := col.Float(i)
			if v != math.Trunc(v) || v > math.MaxInt32 || v <= math.MinInt32 {
				v = math.MaxInt32
			}
			out[i] = int32(v)
		}
	}
	if col.Valid != nil {
		for i := range table.Scan(ctx, nil, len(out)) {
			if !col.Valid.Get(i) {
				out[i] = Missing
			}
		}
	}
	return out, ctx.Err()
}

// byIndex places rows of the listed data objects by their index.
func (s *Samples) byIndex(ctx context.Context, t *table.Table, c Columns) error {
	object, index := t.Column(c.Object), t.Column(c.Index)
	if object == nil || index == nil {
		return errors.New("a layout needs the columns of data object and index; name them with --map object=… and --map index=…")
	}
	per := make([]int, len(object.Dict))
	for name, n := range c.PerCell {
		code, ok := object.Code(name)
		if !ok {
			near := slices.Clone(object.Dict)
			slices.Sort(near)
			return fmt.Errorf("no sample touches object %q; there are %s", name, strings.Join(near[:min(len(near), 8)], ", "))
		}
		if n < 1 {
			return fmt.Errorf("object %q: %d entries per cell", name, n)
		}
		per[code] = n
	}
	codes, ok := object.Data.([]uint32)
	if !ok {
		return fmt.Errorf("column %q is not a name", c.Object)
	}
	at, err := Ints(ctx, index)
	if err != nil {
		return err
	}
	s.numberCells()
	for i, code := range codes {
		if object.Has(i) && per[code] > 0 && at[i] != Missing {
			s.Cell[i] = at[i] / int32(per[code])
		}
	}
	return nil
}

// numberCells makes room for cell numbers where there are none.
func (s *Samples) numberCells() {
	if s.Cell != nil {
		return
	}
	s.Cell = make([]int32, s.Rows)
	for i := range s.Cell {
		s.Cell[i] = Missing
	}
}

// mask removes the cells of rows that a flag or their object says have none.
func (s *Samples) mask(ctx context.Context, t *table.Table, c Columns) {
	where, object := t.Column(c.Where), t.Column(c.Object)
	unknown := uint32(math.MaxUint32)
	if object != nil {
		if code, ok := object.Code("??"); ok {
			unknown = code
		}
	}
	codes, named := []uint32(nil), false
	if object != nil {
		codes, named = object.Data.([]uint32)
	}
	if where == nil && !named {
		return
	}
	for i := range table.Scan(ctx, nil, s.Rows) {
		unattributed := named && (codes[i] == unknown || !object.Has(i)) && s.origin(i)
		if unattributed || where != nil && (!where.Has(i) || where.Float(i) == 0) {
			for _, col := range [][]int32{s.X, s.Cell} {
				if col != nil {
					col[i] = Missing
				}
			}
		}
	}
}

// origin reports whether all indices of a row are zero or missing.
func (s *Samples) origin(i int) bool {
	for _, col := range [][]int32{s.X, s.Y, s.Z, s.Cell} {
		if col != nil && col[i] != 0 && col[i] != Missing {
			return false
		}
	}
	return true
}
