package raster

import (
	"image"
	"image/draw"
	"math"

	"github.com/isobath/isobath/internal/base/canvas"
	"golang.org/x/image/vector"
)

type point struct{ x, y float64 }

func (p point) plus(q point) point        { return point{p.x + q.x, p.y + q.y} }
func (p point) times(k float64) point     { return point{p.x * k, p.y * k} }
func distance(p, q point) float64         { return math.Hypot(q.x-p.x, q.y-p.y) }
func between(p, q point, t float64) point { return point{p.x + t*(q.x-p.x), p.y + t*(q.y-p.y)} }
func polar(c point, r, angle float64) point {
	return c.plus(point{r * math.Cos(angle), r * math.Sin(angle)})
}

// outline is a shape as straight pieces, in user units.
type outline struct {
	points []point
	closed bool
}

func box(x, y, w, h float64) outline {
	return outline{points: []point{{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}}, closed: true}
}

// arc returns points along a circle that stay within a tenth of a pixel of it.
func (d *drawing) arc(c point, r, from, to float64) []point {
	step := math.Pi / 8
	if pixels := r * d.scale; pixels > 1 {
		step = min(step, 2*math.Acos(1-0.1/pixels))
	}
	n := int(math.Ceil(math.Abs(to-from)/step)) + 1
	out := make([]point, n+1)
	for i := range out {
		out[i] = polar(c, r, from+(to-from)*float64(i)/float64(n))
	}
	return out
}

// path turns a path into straight pieces.
func (d *drawing) path(p canvas.Path) outline {
	o := outline{closed: p.Closed}
	for i, step := range p.Steps {
		to := rounded(step.X, step.Y)
		if i > 0 && step.Radius > 0 {
			o.points = append(o.points, d.arcTo(o.points[len(o.points)-1], to, canvas.Rounded(step.Radius), step.Large, step.Sweep)...)
		} else {
			o.points = append(o.points, to)
		}
	}
	return o
}

// arcTo follows the circle of a radius from p to q. Its centre is on the line
// that divides p and q, on the side that the two flags name (SVG 1.1,
// appendix F.6.5, for circles).
func (d *drawing) arcTo(p, q point, r float64, large, sweep bool) []point {
	half := distance(p, q) / 2
	if half == 0 || r == 0 {
		return []point{q}
	}
	r = max(r, half) // rounding may have made it too short
	side := math.Sqrt(r*r-half*half) / (2 * half)
	if large == sweep {
		side = -side
	}
	c := between(p, q, 0.5).plus(point{side * (p.y - q.y), side * (q.x - p.x)})
	from, to := math.Atan2(p.y-c.y, p.x-c.x), math.Atan2(q.y-c.y, q.x-c.x)
	if sweep && to < from {
		to += 2 * math.Pi
	}
	if !sweep && to > from {
		to -= 2 * math.Pi
	}
	return append(d.arc(c, r, from, to)[1:], q)
}

// shape fills and strokes an outline.
func (d *drawing) shape(o outline, s canvas.Style, at origin) {
	if len(o.points) == 0 {
		return
	}
	if fill := d.paint(s.Fill, o, at); fill != nil {
		d.cover([][]point{o.points}, at, fill)
	}
	if s.Stroke.Width == 0 {
		return
	}
	pieces := []outline{o}
	if s.Stroke.On > 0 {
		pieces = o.dashed(max(s.Stroke.On, finestDash), max(s.Stroke.Off, finestDash))
	}
	var areas [][]point
	for _, p := range pieces {
		areas = append(areas, p.stroked(s.Stroke.Width)...)
	}
	d.cover(areas, at, image.NewUniform(solid(s.Stroke.Colour)))
}

// finestDash bounds the pieces of a line: finer ones are grey, and endless.
const finestDash = 0.5

// dashed cuts an outline into strokes of a length with gaps between them.
func (o outline) dashed(on, off float64) []outline {
	points := o.points
	if o.closed {
		points = append(points[:len(points):len(points)], points[0])
	}
	var out []outline
	drawn, left := true, on
	piece := []point{points[0]}
	for i := 1; i < len(points); i++ {
		p, q := points[i-1], points[i]
		for at, length := 0.0, distance(p, q); ; {
			if at+left > length {
				left -= length - at
				break
			}
			at += left
			cut := between(p, q, at/length)
			if drawn {
				out = append(out, outline{points: append(piece, cut)})
			}
			drawn = !drawn
			piece, left = []point{cut}, on
			if !drawn {
				left = off
			}
		}
		if drawn {
			piece = append(piece, q)
		}
	}
	if drawn && len(piece) > 1 {
		out = append(out, outline{points: piece})
	}
	return out
}

// stroked returns areas that together are a line of a width along the outline:
// a box for each piece and a round joint where two meet. All run the same way
// round, so that they add up where they overlap.
func (o outline) stroked(width float64) [][]point {
	var out [][]point
	n := len(o.points)
	last := n - 1
	if o.closed {
		last = n
	}
	for i := range last {
		p, q := o.points[i], o.points[(i+1)%n]
		length := distance(p, q)
		if length == 0 {
			continue
		}
		side := point{(p.y - q.y), (q.x - p.x)}.times(width / 2 / length)
		back := side.times(-1)
		out = append(out, []point{p.plus(back), q.plus(back), q.plus(side), p.plus(side)})
		if o.closed || i > 0 {
			out = append(out, joint(p, width/2))
		}
	}
	return out
}

func joint(c point, r float64) []point {
	out := make([]point, 12)
	for i := range out {
		out[i] = polar(c, r, 2*math.Pi*float64(i)/float64(len(out)))
	}
	return out
}

// cover paints areas; what several of them cover is painted once.
func (d *drawing) cover(areas [][]point, at origin, src image.Image) {
	bounds := d.bounds(areas, at)
	if bounds.Empty() {
		return
	}
	z := vector.NewRasterizer(bounds.Dx(), bounds.Dy())
	for _, area := range areas {
		for i, p := range area {
			x, y := float32((p.x+at.x)*d.scale-float64(bounds.Min.X)), float32((p.y+at.y)*d.scale-float64(bounds.Min.Y))
			if i == 0 {
				z.MoveTo(x, y)
			} else {
				z.LineTo(x, y)
			}
		}
		z.ClosePath()
	}
	z.DrawOp = draw.Over
	z.Draw(d.pixels, bounds, src, bounds.Min)
}

// bounds is the part of the picture that areas touch.
func (d *drawing) bounds(areas [][]point, at origin) image.Rectangle {
	low, high := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for _, area := range areas {
		for _, p := range area {
			low = point{min(low.x, p.x), min(low.y, p.y)}
			high = point{max(high.x, p.x), max(high.y, p.y)}
		}
	}
	if low.x > high.x {
		return image.Rectangle{}
	}
	in := func(v, most float64) int { return int(min(max(v*d.scale, -8), most*d.scale+8)) }
	r := image.Rect(in(low.x+at.x, d.width)-1, in(low.y+at.y, d.height)-1, in(high.x+at.x, d.width)+2, in(high.y+at.y, d.height)+2)
	return r.Intersect(d.pixels.Bounds())
}
