package cycle

import (
	"context"
	"math"
	"math/bits"
)

func trailing(v uint64) int { return bits.TrailingZeros64(v) }

// graph is the edges of the complex at one eps, as neighbour lists.
type graph struct {
	start []int
	to    []uint16
}

func (r *rips) graph(eps int) *graph {
	g := &graph{start: make([]int, r.N+1)}
	edges := 0
	for _, w := range r.near[eps] {
		edges += bits.OnesCount64(w)
	}
	g.to = make([]uint16, 0, edges)
	for i := range r.N {
		for k, w := range r.around(eps, i) {
			for ; w != 0; w &= w - 1 {
				g.to = append(g.to, uint16(k*64+trailing(w)))
			}
		}
		g.start[i+1] = len(g.to)
	}
	return g
}

func (g *graph) edges() int { return len(g.to) / 2 }

// potential is the function f whose differences, taken from a form, leave its
// harmonic part: the smoothest representative of the class.
type potential struct {
	f          []float64
	residual   float64 // relative, of the normal equations
	iterations int
}

// maxResidual is where the iteration stops: far below what a drawing or a
// rounded sum could show.
const maxResidual = 1e-12

// smooth minimises |alpha - df|² over the edges of g by conjugate gradients on
// the graph Laplacian. The right side sums to zero on every component, so the
// singular system needs no pinning.
func smooth(ctx context.Context, g *graph, alpha *form) (*potential, error) {
	n := len(g.start) - 1
	p := &potential{f: make([]float64, n)}
	r := make([]float64, n)
	for k, e := range alpha.edges {
		hi, lo := e.ends()
		r[hi] += float64(alpha.value[k])
		r[lo] -= float64(alpha.value[k])
	}
	d, q := append([]float64(nil), r...), make([]float64, n)
	norm := dot(r, r)
	if norm == 0 {
		return p, nil
	}
	rho := norm
	for p.iterations = 0; p.iterations < 20*n+1000; p.iterations++ {
		if rho <= maxResidual*maxResidual*norm {
			break
		}
		if p.iterations%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		g.laplacian(d, q)
		step := rho / dot(d, q)
		if math.IsNaN(step) || math.IsInf(step, 0) {
			break
		}
		for i := range d {
			p.f[i] += step * d[i]
			r[i] -= step * q[i]
		}
		next := dot(r, r)
		for i := range d {
			d[i] = r[i] + next/rho*d[i]
		}
		rho = next
	}
	p.residual = math.Sqrt(rho / norm)
	return p, nil
}

func (g *graph) laplacian(x, out []float64) {
	for i := range out {
		row := g.to[g.start[i]:g.start[i+1]]
		s := float64(len(row)) * x[i]
		for _, j := range row {
			s -= x[j]
		}
		out[i] = s
	}
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i := range a {
		s += a[i] * b[i]
	}
	return s
}

// step is the harmonic form along the step from u to v: how far around the
// circle, in turns, the step goes.
func (p *potential) step(alpha *form, u, v int) float64 {
	return float64(alpha.on(u, v)) - (p.f[v] - p.f[u])
}

// inner is the product of two harmonic forms. A harmonic form is orthogonal to
// all differences, so the product needs the edges of one support only.
func inner(a *form, pa *potential, b *form) float64 {
	s := 0.0
	for k, e := range b.edges {
		hi, lo := e.ends()
		s += float64(b.value[k]) * pa.step(a, lo, hi)
	}
	return s
}
