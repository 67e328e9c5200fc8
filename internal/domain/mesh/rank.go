package mesh

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// Explained says how much of a field's differences between cells goes with a variable.
type Explained struct {
	Variable string `json:"variable"`
	Cells    int    `json:"cells"`
	// Share of the variance of the field between cells that the means of the variable's
	// regions or bands explain, less what so many parts explain of anything by chance;
	// below zero: nothing.
	Share float64 `json:"share"`
	Parts int     `json:"parts"`
	// Spearman's coefficient with its p-value for cells whose neighbours are alike; none
	// where it cannot be computed.
	Spearman *float64 `json:"spearman"`
	SpatialP *float64 `json:"spatial_p"`
}

// Rank orders all variables of the simulation, and the layers of the mesh, by how much
// of a field they explain, over the cells with at least k samples.
func (p *Placed) Rank(ctx context.Context, f *Field, k int) ([]Explained, error) {
	names := Variables(p.Mesh)
	if len(p.Space.Parts) > 0 && p.Space.Parts[0].Dims != ([3]int{}) || p.Space.AMR {
		names = append(names, IndexNames[:]...)
	}
	out := []Explained{}
	for _, name := range names {
		values, err := Variable(ctx, p.Mesh, p.Space, name)
		if err != nil {
			return nil, err
		}
		pairs, err := Pair(f, values, nil, k)
		if err != nil {
			return nil, err
		}
		e := Explained{Variable: name, Cells: len(pairs.Cell)}
		if e.Share, e.Parts = pairs.explained(); e.Parts < 2 {
			continue // it is the same everywhere
		}
		if c, err := pairs.Coefficients(ctx, k); err == nil {
			pairs.Spatial(p.Mesh, c)
			e.Spearman, e.SpatialP = &c.Spearman, &c.SpatialP
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	slices.SortStableFunc(out, func(a, b Explained) int { return cmp.Compare(b.Share, a.Share) })
	return out, nil
}

// explained is ε² of an analysis of variance with one factor (Kelley 1935): the share of
// the variance between parts, adjusted for their number, so that it is zero on average
// for a variable that has nothing to do with the field.
func (p *Pairs) explained() (share float64, parts int) {
	usable := &Pairs{}
	for i, v := range p.Physics {
		if finite(v) && finite(p.Perf[i]) {
			usable.Perf, usable.Physics = append(usable.Perf, p.Perf[i]), append(usable.Physics, v)
		}
	}
	n := len(usable.Perf)
	if n < minPairs {
		return 0, 0
	}
	few := &regions{known: map[float64]int32{}}
	of := func(v float64) int32 { return few.known[v] }
	if !few.add(usable.Physics) {
		edges := bandEdges(slices.Clone(usable.Physics))
		of = func(v float64) int32 { return int32(binOf(edges, v)) }
	}
	sum, count := map[int32]float64{}, map[int32]float64{}
	d := centred(usable.Perf)
	for i, v := range usable.Physics {
		sum[of(v)] += d[i]
		count[of(v)]++
	}
	between, total := 0.0, dot(d, d)
	for k, s := range sum {
		between += s * s / count[k]
	}
	parts = len(sum)
	if total == 0 || n <= parts {
		return 0, 0
	}
	within := (total - between) / float64(n-parts)
	return max(-1, (between-float64(parts-1)*within)/total), parts
}

// bandEdges are the ends of bands that hold about equally many of the values.
func bandEdges(values []float64) []float64 {
	slices.Sort(values)
	var edges []float64
	for i := range bands + 1 {
		if e := quantile(values, float64(i)/bands); len(edges) == 0 || e > edges[len(edges)-1] {
			edges = append(edges, e)
		}
	}
	if len(edges) == 1 {
		edges = append(edges, math.Nextafter(edges[0], math.Inf(1)))
	}
	return edges
}
