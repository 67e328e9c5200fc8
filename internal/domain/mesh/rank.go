package mesh

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// Explained says how much of a field's differences between cells goes with a variable.
type Explained struct {
	Variable string  `json:"variable"`
	Subject  Subject `json:"subject"`
	Cells    int     `json:"cells"`
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

// RankedVariables is what explains a field: each variable by itself, and the subjects together.
type RankedVariables struct {
	Ranked []Explained `json:"ranked"`
	// Separated is null unless variables of at least two subjects explain something.
	Separated *Separation `json:"separated"`
}

// Rank orders all variables of the simulation, of placement and of communication, and
// the layers of the mesh, by how much of a field they explain, over the cells with at
// least k samples.
func (v *View) Rank(ctx context.Context, p *Placed, f *Field, k int) (*RankedVariables, error) {
	out := &RankedVariables{Ranked: []Explained{}}
	best := map[Subject]*candidate{}
	for _, variable := range v.Variables(p) {
		values, err := v.Variable(ctx, p, variable.Name)
		if err != nil {
			return nil, err
		}
		pairs, err := Pair(f, values, nil, k)
		if err != nil {
			return nil, err
		}
		e := Explained{Variable: variable.Name, Subject: variable.Subject, Cells: len(pairs.Cell)}
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
		out.Ranked = append(out.Ranked, e)
		if b := best[e.Subject]; e.Subject != OfLayers && e.Share > 0 && (b == nil || e.Share > b.share) {
			best[e.Subject] = &candidate{CellVariable: variable, share: e.Share, values: values}
		}
	}
	slices.SortStableFunc(out.Ranked, func(a, b Explained) int { return cmp.Compare(b.Share, a.Share) })
	out.Separated = separate(f, k, best)
	return out, nil
}

// explained is how much the parts that the physics makes explain of the performance.
func (p *Pairs) explained() (share float64, parts int) {
	usable := &Pairs{}
	for i, v := range p.Physics {
		if finite(v) && finite(p.Perf[i]) {
			usable.Perf, usable.Physics = append(usable.Perf, p.Perf[i]), append(usable.Physics, v)
		}
	}
	if len(usable.Perf) < minPairs {
		return 0, 0
	}
	return epsilonSquared(usable.Perf, partsOf(usable.Physics, maxRegions, bands))
}

// partsOf numbers the parts that values make: whole numbers if they are at most so many,
// or else bands with about equally many of them.
func partsOf(values []float64, most, bands int) []int32 {
	out := make([]int32, len(values))
	few := &regions{known: map[float64]int32{}}
	if few.add(values) && len(few.rows) <= most {
		for i, v := range values {
			out[i] = few.known[v]
		}
		return out
	}
	edges := bandEdges(slices.Clone(values), bands)
	for i, v := range values {
		out[i] = int32(BinOf(edges, v))
	}
	return out
}

// epsilonSquared is ε² of an analysis of variance with one factor (Kelley 1935): the
// share of the variance between parts, adjusted for their number, so that it is zero on
// average for parts that have nothing to do with the values.
func epsilonSquared(values []float64, part []int32) (share float64, parts int) {
	n := len(values)
	sum, count := map[int32]float64{}, map[int32]float64{}
	d := centred(values)
	for i, k := range part {
		sum[k] += d[i]
		count[k]++
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
func bandEdges(values []float64, bands int) []float64 {
	slices.Sort(values)
	var edges []float64
	for i := range bands + 1 {
		if e := quantile(values, float64(i)/float64(bands)); len(edges) == 0 || e > edges[len(edges)-1] {
			edges = append(edges, e)
		}
	}
	if len(edges) == 1 {
		edges = append(edges, math.Nextafter(edges[0], math.Inf(1)))
	}
	return edges
}
