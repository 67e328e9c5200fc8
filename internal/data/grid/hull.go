package grid

import (
	"math"
	"slices"
)

// hullLimit bounds the points of a convex point set whose faces are computed:
// the obvious algorithm below takes n^4 steps.
const hullLimit = 48

// hullFaces visits the faces of the convex hull of a few points. A plane
// through three of them is a face when no point lies in front of it; points in
// the same plane make one polygon.
func (g *Grid) hullFaces(ids []int32, visit func([]int32)) {
	n := len(ids)
	if n < 4 || n > hullLimit {
		return
	}
	p := make([][3]float64, n)
	for i, id := range ids {
		p[i] = g.Point(int(id))
	}
	seen := map[uint64]bool{}
	for a := 0; a < n; a++ {
		for b := a + 1; b < n; b++ {
			for c := b + 1; c < n; c++ {
				plane, set, ok := supporting(p, a, b, c)
				if !ok || seen[set] {
					continue
				}
				seen[set] = true
				visit(around(p, ids, set, plane))
			}
		}
	}
}

// supporting returns the outward normal of the plane through three points and
// the set of points in it, when all others lie behind it.
func supporting(p [][3]float64, a, b, c int) (normal [3]float64, set uint64, ok bool) {
	normal = Cross(Sub(p[b], p[a]), Sub(p[c], p[a]))
	length := math.Sqrt(Dot(normal, normal))
	if length == 0 {
		return normal, 0, false
	}
	var front, behind bool
	for i := range p {
		d := Dot(normal, Sub(p[i], p[a])) / length
		switch eps := 1e-9 * math.Sqrt(length); {
		case d > eps:
			front = true
		case d < -eps:
			behind = true
		default:
			set |= 1 << i
		}
	}
	if front && !behind {
		normal = [3]float64{-normal[0], -normal[1], -normal[2]}
	}
	return normal, set, front != behind
}

// around orders the points of a convex polygon counter-clockwise about its
// outward normal.
func around(p [][3]float64, ids []int32, set uint64, normal [3]float64) []int32 {
	var in []int
	var centre [3]float64
	for i := range p {
		if set>>i&1 == 1 {
			in = append(in, i)
			for k := range centre {
				centre[k] += p[i][k]
			}
		}
	}
	for k := range centre {
		centre[k] /= float64(len(in))
	}
	u := Sub(p[in[0]], centre)
	v := Cross(normal, u)
	angle := func(i int) float64 {
		d := Sub(p[i], centre)
		return math.Atan2(Dot(d, v)/math.Sqrt(Dot(v, v)), Dot(d, u)/math.Sqrt(Dot(u, u)))
	}
	slices.SortFunc(in, func(a, b int) int {
		if d := angle(a) - angle(b); d != 0 {
			return int(math.Copysign(1, d))
		}
		return 0
	})
	face := make([]int32, len(in))
	for k, i := range in {
		face[k] = ids[i]
	}
	return face
}

// Sub returns a - b.
func Sub(a, b [3]float64) [3]float64 { return [3]float64{a[0] - b[0], a[1] - b[1], a[2] - b[2]} }

// Dot returns the inner product of a and b.
func Dot(a, b [3]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

// Cross returns the vector product of a and b.
func Cross(a, b [3]float64) [3]float64 {
	return [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}
