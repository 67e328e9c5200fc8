package mesh

import (
	"math"
	"slices"

	"github.com/isobath/isobath/internal/data/grid"
)

// newell is the unit normal of a polygon that need not be flat.
func newell(p [][3]float64) [3]float64 {
	var n [3]float64
	for i := range p {
		// From the first corner on: far from the origin the parts that cancel are
		// many times larger than what stays.
		c := grid.Cross(grid.Sub(p[i], p[0]), grid.Sub(p[(i+1)%len(p)], p[0]))
		for k := range n {
			n[k] += c[k]
		}
	}
	if l := math.Sqrt(grid.Dot(n, n)); l > 0 {
		for k := range n {
			n[k] /= l
		}
	}
	return n
}

// triangulate cuts a polygon into triangles: a fan where it is convex, seen
// along its normal, and else ear by ear.
func triangulate(p [][3]float64, normal [3]float64, visit func(i, j, k int)) {
	if len(p) <= 3 || convex(p, normal) {
		for i := 1; i+1 < len(p); i++ {
			visit(0, i, i+1)
		}
		return
	}
	left := make([]int, len(p))
	for i := range left {
		left[i] = i
	}
	for len(left) > 3 {
		k := ear(p, left, normal)
		if k < 0 {
			k = 0 // it crosses itself: any will do
		}
		n := len(left)
		visit(left[(k+n-1)%n], left[k], left[(k+1)%n])
		left = slices.Delete(left, k, k+1)
	}
	visit(left[0], left[1], left[2])
}

func convex(p [][3]float64, normal [3]float64) bool {
	for i := range p {
		if turn(p[i], p[(i+1)%len(p)], p[(i+2)%len(p)], normal) < 0 {
			return false
		}
	}
	return true
}

// turn is twice the area of a triangle as seen along the normal: positive if it
// turns left.
func turn(a, b, c, normal [3]float64) float64 {
	return grid.Dot(normal, grid.Cross(grid.Sub(b, a), grid.Sub(c, a)))
}

// ear finds a corner that sticks out and whose triangle holds no other corner.
func ear(p [][3]float64, left []int, normal [3]float64) int {
	n := len(left)
	for k := range left {
		a, b, c := p[left[(k+n-1)%n]], p[left[k]], p[left[(k+1)%n]]
		if turn(a, b, c, normal) <= 0 {
			continue
		}
		free := true
		for o := 2; o < n-1 && free; o++ {
			q := p[left[(k+o)%n]]
			free = turn(a, b, q, normal) < 0 || turn(b, c, q, normal) < 0 || turn(c, a, q, normal) < 0
		}
		if free {
			return k
		}
	}
	return -1
}
