package spiral

import (
	"container/heap"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/isobath/isobath/internal/loops/cycle"
)

// maxProjected is how many points are laid out in the plane; of more, the most
// visited are taken. The cost grows with the square.
const maxProjected = 1200

// Cloud is the points of a result in the plane.
type Cloud struct {
	Points []int // of the result
	X, Y   []float64
	Note   string
}

// Project lays the points out by classical scaling of their distances ("mds"),
// or of the distances along the graph of near ones ("isomap").
func Project(ctx context.Context, r *cycle.Result, method string) (*Cloud, error) {
	if method != "mds" && method != "isomap" {
		return nil, fmt.Errorf("no projection %q: want isomap or mds", method)
	}
	if r.Matrix == nil || r.Points.Len() == 0 {
		return nil, fmt.Errorf("this trace has too few distinct windows to lay out")
	}
	c := &Cloud{Points: mostVisited(r, maxProjected)}
	n := len(c.Points)
	if all := r.Points.Len(); n < all {
		c.Note = fmt.Sprintf("the %d most visited of %d distinct windows", n, all)
	}
	d := make([]float64, n*n)
	for i := range n {
		for j := range n {
			d[i*n+j] = float64(r.Distance(c.Points[i], c.Points[j]))
		}
	}
	if method == "isomap" {
		eps, err := geodesics(ctx, d, n)
		if err != nil {
			return nil, err
		}
		c.Note = joinNotes(c.Note, fmt.Sprintf("neighbours up to distance %d", eps))
	}
	var err error
	c.X, c.Y, err = scale(ctx, d, n)
	return c, err
}

func joinNotes(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

func mostVisited(r *cycle.Result, most int) []int {
	order := make([]int, r.Points.Len())
	for i := range order {
		order[i] = i
	}
	if len(order) > most {
		slices.SortStableFunc(order, func(a, b int) int { return int(r.Points.Visits[b]) - int(r.Points.Visits[a]) })
		order = order[:most]
		slices.Sort(order)
	}
	return order
}

// geodesics replaces distances by those along the graph of points at most eps
// apart, with the smallest eps at which the graph is connected.
func geodesics(ctx context.Context, d []float64, n int) (int, error) {
	eps := 1
	for !connected(d, n, float64(eps)) {
		eps++
	}
	out := make([]float64, n*n)
	for i := range n {
		if ctx.Err() != nil {
			return eps, ctx.Err()
		}
		shortest(d, n, i, float64(eps), out[i*n:(i+1)*n])
	}
	copy(d, out)
	return eps, nil
}

func connected(d []float64, n int, eps float64) bool {
	seen := make([]bool, n)
	seen[0] = true
	for stack, left := []int{0}, n-1; ; {
		if left == 0 {
			return true
		}
		if len(stack) == 0 {
			return false
		}
		u := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for v := range n {
			if !seen[v] && d[u*n+v] <= eps {
				seen[v] = true
				left--
				stack = append(stack, v)
			}
		}
	}
}

// shortest is Dijkstra's algorithm from one point.
func shortest(d []float64, n, from int, eps float64, out []float64) {
	for i := range out {
		out[i] = math.Inf(1)
	}
	out[from] = 0
	q := &queue{{from, 0}}
	for q.Len() > 0 {
		at := heap.Pop(q).(reached)
		if at.far > out[at.point] {
			continue
		}
		for v := range n {
			if w := d[at.point*n+v]; w <= eps && at.far+w < out[v] {
				out[v] = at.far + w
				heap.Push(q, reached{v, out[v]})
			}
		}
	}
}

type reached struct {
	point int
	far   float64
}

type queue []reached

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].far < q[j].far }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(reached)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// scale is classical multidimensional scaling: the two largest eigenvectors of
// the centred squares.
func scale(ctx context.Context, d []float64, n int) (x, y []float64, err error) {
	b := make([]float64, n*n)
	rows := make([]float64, n)
	total := 0.0
	for i := range n {
		for j := range n {
			b[i*n+j] = -0.5 * d[i*n+j] * d[i*n+j]
			rows[i] += b[i*n+j] / float64(n)
		}
		total += rows[i] / float64(n)
	}
	for i := range n {
		for j := range n {
			b[i*n+j] += total - rows[i] - rows[j]
		}
	}
	if x, err = eigenvector(ctx, b, n, nil); err != nil {
		return nil, nil, err
	}
	y, err = eigenvector(ctx, b, n, x)
	return x, y, err
}

// eigenvector finds the largest eigenvector by power iteration, orthogonal to
// the one given, scaled by the root of its eigenvalue. It starts from a fixed
// vector, so that the same trace gives the same picture.
func eigenvector(ctx context.Context, b []float64, n int, other []float64) ([]float64, error) {
	v, w := make([]float64, n), make([]float64, n)
	for i := range v {
		v[i] = math.Sin(float64(3*i + 1))
	}
	const rounds = 300
	value := 0.0
	for range rounds {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		orthogonal(v, other)
		norm := math.Sqrt(dot(v, v))
		if norm == 0 {
			return v, nil
		}
		for i := range v {
			v[i] /= norm
		}
		for i := range n {
			w[i] = dot(b[i*n:(i+1)*n], v)
		}
		before := value
		value = dot(v, w)
		v, w = w, v
		if math.Abs(value-before) <= 1e-9*math.Abs(value) {
			break
		}
	}
	orthogonal(v, other)
	norm := math.Sqrt(dot(v, v))
	if norm == 0 || value <= 0 {
		return make([]float64, n), nil
	}
	for i := range v {
		v[i] *= math.Sqrt(value) / norm
	}
	return v, nil
}

func orthogonal(v, other []float64) {
	if other == nil {
		return
	}
	along := dot(v, other) / math.Max(1e-300, dot(other, other))
	for i := range v {
		v[i] -= along * other[i]
	}
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}
