package mesh

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// Subject says what a variable is about, so that slow cells separate into physics,
// placement and communication.
type Subject string

// The subjects. Layers are places in the mesh, which may stand for any of the others.
const (
	OfPhysics       Subject = "physics"
	OfPlacement     Subject = "placement"
	OfCommunication Subject = "communication"
	OfLayers        Subject = "layers"
	OfWork          Subject = "work" // what the program does on a cell
)

// CellVariable is something that a cell has one number of.
type CellVariable struct {
	Name    string
	Subject Subject
}

// Variables that are made from the samples: who touches a cell most, in what share of
// its samples, and how near cells of another owner are.
const (
	ownerOf = "owner "
	shareOf = "owner share "
	haloOf  = "halo "
	// block is the owner that a mesh of several blocks names itself.
	block = "block"
)

// ownerColumns are the columns of samples that say who touches a cell.
var ownerColumns = []string{samples.Rank, samples.Node, samples.CPU, samples.TID}

// HaloLayers are the layers of cells beside another owner's that are told apart.
const HaloLayers = 3

// Lateness is what the variable is called that a message trace gives.
const Lateness = "lateness of its rank"

// RankValues is a number for each rank, such as how late it was, from a message trace of
// the same run.
type RankValues struct {
	Name   string
	Values map[int]float64
}

// Variables lists what cells of a dump have a number of: the simulation's variables,
// those of placement and communication that the samples tell, and the layers.
func (v *View) Variables(p *Placed) []CellVariable {
	all := CellVariables(p.Mesh, p.Space)
	out, rest := all[:len(all):len(all)], []CellVariable(nil)
	if i := slices.IndexFunc(all, func(c CellVariable) bool { return c.Subject == OfLayers }); i >= 0 {
		out, rest = all[:i:i], all[i:]
	}
	if v.HasAccesses(p) && !slices.Contains(Variables(p.Mesh), Accesses) {
		out = append(out, CellVariable{Accesses, OfWork})
	}
	owners := v.owners(p)
	for _, o := range owners {
		out = append(out, CellVariable{ownerOf + o, OfPlacement})
		if o != block {
			out = append(out, CellVariable{shareOf + o, OfPlacement})
		}
		if !p.Space.AMR { // where levels meet, neighbours need not share a point
			out = append(out, CellVariable{haloOf + o, OfCommunication})
		}
	}
	if v.rankOwner(p) != "" {
		for _, r := range v.settings.ByRank {
			out = append(out, CellVariable{r.Name, OfCommunication})
		}
	}
	return append(out, rest...)
}

// CellVariables lists the variables of a dump without samples, and then its layers.
func CellVariables(m *grid.Mesh, s *Space) []CellVariable {
	var out []CellVariable
	for _, name := range Variables(m) {
		out = append(out, CellVariable{name, OfPhysics})
	}
	if len(s.Parts) > 0 && s.Parts[0].Dims != ([3]int{}) || s.AMR {
		for _, name := range indexNames {
			out = append(out, CellVariable{name, OfLayers})
		}
	}
	return out
}

// owners are the columns of samples with more than one value, and the blocks.
func (v *View) owners(p *Placed) []string {
	var out []string
	out = append(out, v.several...)
	if !p.Space.AMR && len(p.Space.Parts) > 1 {
		out = append(out, block)
	}
	return out
}

// severalOwners are the columns that say who touched what, if it was not always the same.
func severalOwners(ctx context.Context, t *table.Table) []string {
	var out []string
	for _, name := range ownerColumns {
		c := t.Column(name)
		if c == nil || c.Kind != table.Number {
			continue
		}
		first := math.NaN()
		for i := range table.Scan(ctx, nil, t.Rows()) {
			if !c.Has(i) {
				continue
			}
			if v := c.Float(i); math.IsNaN(first) {
				first = v
			} else if v != first {
				out = append(out, name)
				break
			}
		}
	}
	return out
}

// rankOwner is what says of which rank a cell is: samples, or blocks of which there are
// as many as ranks. It is empty if nothing does.
func (v *View) rankOwner(p *Placed) string {
	if slices.Contains(v.several, samples.Rank) {
		return samples.Rank
	}
	for _, r := range v.settings.ByRank {
		if !p.Space.AMR && len(p.Space.Parts) == len(r.Values) {
			return block
		}
	}
	return ""
}

// Variable returns a variable of the simulation, of placement or communication, or one
// made of the cells' places: a number for each cell of a dump.
func (v *View) Variable(ctx context.Context, p *Placed, name string) ([]float64, error) {
	if slices.Contains(Variables(p.Mesh), name) { // the file's own names win
		return Physics(ctx, p.Mesh, name)
	}
	if name == Accesses {
		t, err := v.touched(ctx, p)
		if err != nil {
			return nil, err
		}
		return t.cells, nil
	}
	owners := append(v.owners(p), v.rankOwner(p))
	for _, of := range []struct {
		prefix string
		of     func(*ownership) []float64
	}{
		{shareOf, func(o *ownership) []float64 { return o.share }},
		{ownerOf, func(o *ownership) []float64 { return o.owner }},
	} {
		if by, ok := strings.CutPrefix(name, of.prefix); ok && by != "" && slices.Contains(owners, by) {
			o, err := v.ownership(ctx, p, by)
			if err != nil {
				return nil, err
			}
			return of.of(o), nil
		}
	}
	if by, ok := strings.CutPrefix(name, haloOf); ok && by != "" && slices.Contains(owners, by) && !p.Space.AMR {
		return v.halo(ctx, p, by)
	}
	for _, r := range v.settings.ByRank {
		if r.Name == name && v.rankOwner(p) != "" {
			return v.byRank(ctx, p, r.Values)
		}
	}
	return Variable(ctx, p.Mesh, p.Space, name)
}

// byRank gives each cell the number of the rank that owns it.
func (v *View) byRank(ctx context.Context, p *Placed, values map[int]float64) ([]float64, error) {
	o, err := v.ownership(ctx, p, v.rankOwner(p))
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(o.owner))
	for c, rank := range o.owner {
		out[c] = math.NaN()
		if value, ok := values[int(rank)]; ok && rank == math.Trunc(rank) {
			out[c] = value
		}
	}
	return out, nil
}

// FromSamples reports whether a variable has a name of those that are made from samples.
func FromSamples(name string) bool {
	return name == Lateness || name == Accesses || strings.HasPrefix(name, ownerOf) || IsHalo(name)
}

// IsHalo reports whether a variable counts layers from another owner's cells.
func IsHalo(name string) bool { return strings.HasPrefix(name, haloOf) }

// ownership is who touches each cell: NaN for cells without samples.
type ownership struct {
	owner []float64
	share []float64 // of the samples on the cell that are the owner's
}

// placementKey names what is kept about the owners of cells. Dumps with the same cells
// share it, where samples name their cell by number; elsewhere step tells dumps apart.
type placementKey struct {
	what, by, cells string
	step            int
}

func (v *View) placementKey(p *Placed, what, by string) placementKey {
	if v.positions != nil || p.Space.AMR {
		return placementKey{what: what, by: by, step: p.Step}
	}
	return placementKey{what: what, by: by, cells: p.Space.shape(), step: -1}
}

// ownership finds who owns each cell, by all samples of the run: those of one selection
// or time say who was seen there, not who it belongs to.
func (v *View) ownership(ctx context.Context, p *Placed, by string) (*ownership, error) {
	key := v.placementKey(p, ownerOf, by)
	if kept, ok := v.kept.Recall(key); ok {
		return kept.(*ownership), nil
	}
	size := 2 * 8 * int64(p.Cells)
	claim, err := budget.Take(ctx, fmt.Sprintf("the owners of %d cells need", p.Cells), size)
	if err != nil {
		return nil, err
	}
	defer claim.Release()
	o := &ownership{}
	if by == block {
		o.owner, o.share = blockOwners(p.Space)
	} else if o.owner, o.share, err = p.majority(ctx, v.Table.Column(by)); err != nil {
		return nil, err
	}
	claim.Release()
	v.kept.Keep(key, size, o)
	return o, nil
}

// halo is how many layers each cell is away from another owner's.
func (v *View) halo(ctx context.Context, p *Placed, by string) ([]float64, error) {
	key := v.placementKey(p, haloOf, by)
	if kept, ok := v.kept.Recall(key); ok {
		return kept.([]float64), nil
	}
	o, err := v.ownership(ctx, p, by)
	if err != nil {
		return nil, err
	}
	out, err := layers(ctx, p, o.owner)
	if err == nil {
		v.kept.Keep(key, 8*int64(len(out)), out)
	}
	return out, err
}

func blockOwners(s *Space) (owner, share []float64) {
	owner, share = make([]float64, s.Cells), make([]float64, s.Cells)
	for _, p := range s.Parts {
		for c := p.First; c < p.First+p.Cells; c++ {
			owner[c], share[c] = float64(p.Domain), 1
		}
	}
	return owner, share
}

// majority is the most frequent value of a column on each cell, the smallest of equals,
// and its share of the samples that have one.
func (p *Placed) majority(ctx context.Context, col *table.Column) (owner, share []float64, err error) {
	sorted, err := p.byCell(ctx)
	if err != nil {
		return nil, nil, err
	}
	owner, share = make([]float64, p.Cells), make([]float64, p.Cells)
	var values []float64
	for c := range table.Scan(ctx, nil, p.Cells) {
		values = values[:0]
		for _, row := range sorted.rows[sorted.start[c]:sorted.start[c+1]] {
			if col.Has(int(row)) {
				values = append(values, col.Float(int(row)))
			}
		}
		owner[c], share[c] = math.NaN(), math.NaN()
		if len(values) == 0 {
			continue
		}
		owner[c] = ofSorted(Dominant, values)
		n := 0
		for _, v := range values {
			if v == owner[c] {
				n++
			}
		}
		share[c] = float64(n) / float64(len(values))
	}
	return owner, share, ctx.Err()
}

// layers counts them from the nearest cell of another owner: cells are neighbours if
// they share a point. Unknown for a cell without an owner, or without a neighbour that
// has one.
func layers(ctx context.Context, p *Placed, owner []float64) ([]float64, error) {
	number, points, err := pointNumbers(ctx, p)
	if err != nil {
		return nil, err
	}
	const perPoint = 17
	claim, err := budget.Take(ctx, fmt.Sprintf("layers of %d cells need", p.Cells), perPoint*int64(points))
	if err != nil {
		return nil, err
	}
	defer claim.Release()
	first := make([]float64, points) // owner of the first cell at the point
	cells := make([]int32, points)   // with an owner, at the point
	layer := make([]int8, points)    // from the point, 0 for none yet
	out := make([]float64, len(owner))
	each := func(visit func(c int, ids []int32, number func(int32) int32)) {
		var buf []int32
		for i := range p.Space.Parts {
			part, g := &p.Space.Parts[i], p.Mesh.Blocks[i].Grid
			for c := range table.Scan(ctx, nil, part.Cells) {
				_, ids := g.Cell(c, buf)
				if g.Layout <= grid.Structured {
					buf = ids
				}
				visit(part.First+c, ids, func(id int32) int32 { return number(i, id) })
			}
		}
	}
	each(func(c int, ids []int32, at func(int32) int32) {
		if math.IsNaN(owner[c]) {
			return
		}
		for _, id := range ids {
			q := at(id)
			if cells[q] == 0 {
				first[q] = owner[c]
			} else if first[q] != owner[c] {
				layer[q] = 1
			}
			cells[q]++
		}
	})
	each(func(c int, ids []int32, at func(int32) int32) {
		out[c] = math.NaN()
		if math.IsNaN(owner[c]) {
			return
		}
		for _, id := range ids {
			if cells[at(id)] > 1 {
				out[c] = 0
			}
		}
	})
	for k := int8(1); k <= HaloLayers; k++ {
		var reached []int32
		each(func(c int, ids []int32, at func(int32) int32) {
			if out[c] != 0 || !slices.ContainsFunc(ids, func(id int32) bool { return layer[at(id)] == k }) {
				return
			}
			out[c] = float64(k)
			for _, id := range ids {
				reached = append(reached, at(id))
			}
		})
		for _, q := range reached {
			if layer[q] == 0 {
				layer[q] = k + 1
			}
		}
	}
	return out, ctx.Err()
}

// pointNumbers numbers the points of a mesh: points of several blocks at one place are
// one.
func pointNumbers(ctx context.Context, p *Placed) (number func(block int, id int32) int32, points int, err error) {
	if len(p.Mesh.Blocks) <= 1 {
		return func(_ int, id int32) int32 { return id }, p.Mesh.NumPoints(), nil
	}
	const perPoint = 64 // in a map, and a number
	claim, err := budget.Take(ctx, fmt.Sprintf("the points of %d blocks need", len(p.Mesh.Blocks)), perPoint*int64(p.Mesh.NumPoints()))
	if err != nil {
		return nil, 0, err
	}
	defer claim.Release()
	lo, hi := p.Mesh.Bounds()
	near := 0.0
	for k := range lo {
		near = max(near, nearOfMesh*(hi[k]-lo[k]))
	}
	if near == 0 || math.IsInf(near, 0) || math.IsNaN(near) {
		near = 1
	}
	at := map[[3]int64]int32{}
	numbers := make([][]int32, len(p.Mesh.Blocks))
	for i := range p.Mesh.Blocks {
		g := p.Mesh.Blocks[i].Grid
		numbers[i] = make([]int32, g.NumPoints())
		for id := range table.Scan(ctx, nil, g.NumPoints()) {
			var place [3]int64
			for k, x := range g.Point(id) {
				place[k] = int64(math.Round((x - lo[k]) / near))
			}
			n, ok := at[place]
			if !ok {
				n = int32(len(at))
				at[place] = n
			}
			numbers[i][id] = n
		}
	}
	return func(block int, id int32) int32 { return numbers[block][id] }, len(at), ctx.Err()
}
