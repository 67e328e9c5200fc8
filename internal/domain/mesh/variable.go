package mesh

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/table"
)

// indexNames are variables that every mesh with cells in rows has: the place of a cell
// along each axis.
var indexNames = [3]string{"index x", "index y", "index z"}

// Variable returns a variable of the simulation, or one made of the cells' places.
func Variable(ctx context.Context, m *grid.Mesh, space *Space, name string) ([]float64, error) {
	axis := slices.Index(indexNames[:], name)
	if axis < 0 {
		return Physics(ctx, m, name)
	}
	claim, err := budget.Take(ctx, fmt.Sprintf("a variable on %d cells needs", space.Cells), 8*int64(space.Cells))
	if err != nil {
		return nil, err
	}
	defer claim.Release()
	out := make([]float64, space.Cells)
	for i := range space.Parts {
		p := &space.Parts[i]
		for c := range table.Scan(ctx, nil, p.Cells) {
			out[p.First+c] = math.NaN()
			if at, ok := p.Index(c); ok {
				out[p.First+c] = float64(at[axis])
			}
		}
	}
	return out, ctx.Err()
}
