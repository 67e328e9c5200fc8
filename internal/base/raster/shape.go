package raster

import (
	"fmt"
	"image"
	"image/draw"
	"math"
	"strconv"
	"strings"

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

// outline turns an element into straight pieces.
func (d *drawing) outline(n *node) (outline, error) {
	switch n.name {
	case "rect":
		return d.rect(n)
	case "circle":
		r, err := n.number("r", 0)
		return outline{points: d.arc(point{}, r, 0, 2*math.Pi), closed: true}, err
	case "line":
		v, err := n.numbers("x1", "y1", "x2", "y2")
		if err != nil {
			return outline{}, err
		}
		return outline{points: []point{{v[0], v[1]}, {v[2], v[3]}}}, nil
	case "path":
		return d.path(n.attr["d"])
	}
	return outline{}, fmt.Errorf("svg: element %s cannot be drawn in this place", n.name)
}

func (d *drawing) rect(n *node) (outline, error) {
	if n.attr["width"] == "100%" && n.attr["height"] == "100%" {
		return box(0, 0, d.width, d.height), nil
	}
	v, err := n.numbers("x", "y", "width", "height")
	if err != nil {
		return outline{}, err
	}
	return box(v[0], v[1], v[2], v[3]), nil
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

// path reads one stroke of absolute moves, lines and circular arcs.
func (d *drawing) path(text string) (outline, error) {
	var o outline
	bad := func() (outline, error) { return outline{}, fmt.Errorf("svg: path %q cannot be drawn here", text) }
	for i := 0; i < len(text); {
		command := text[i]
		end := i + 1
		for end < len(text) && !strings.ContainsRune("MLAZ", rune(text[end])) {
			end++
		}
		v, err := floats(text[i+1 : end])
		first := i == 0
		i = end
		switch {
		case err != nil || first != (command == 'M'):
			return bad()
		case (command == 'M' || command == 'L') && len(v) == 2:
			o.points = append(o.points, point{v[0], v[1]})
		case command == 'A' && len(v) == 7 && v[0] == v[1] && v[2] == 0:
			o.points = append(o.points, d.arcTo(o.points[len(o.points)-1], point{v[5], v[6]}, v[0], v[3] != 0, v[4] != 0)...)
		case command == 'Z' && len(v) == 0 && end == len(text):
			o.closed = true
		default:
			return bad()
		}
	}
	if len(o.points) == 0 {
		return bad()
	}
	return o, nil
}

func floats(text string) ([]float64, error) {
	var out []float64
	for _, word := range strings.Fields(text) {
		v, err := strconv.ParseFloat(word, 64)
		if err != nil || math.IsNaN(v) || math.Abs(v) > 1e6 {
			return nil, fmt.Errorf("%q is not a number", word)
		}
		out = append(out, v)
	}
	return out, nil
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

// paintShape fills and strokes an outline.
func (d *drawing) paintShape(n *node, o outline, at origin) error {
	if n.name != "line" {
		fill, err := d.paint(n.attr["fill"], o, at, 1)
		if err != nil {
			return err
		}
		if fill != nil {
			d.cover([][]point{o.points}, at, fill)
		}
	}
	if n.attr["stroke"] == "" {
		return nil
	}
	opacity, err := n.number("stroke-opacity", 1)
	if err != nil {
		return err
	}
	width, err := n.number("stroke-width", 1)
	if err != nil {
		return err
	}
	colour, err := d.paint(n.attr["stroke"], o, at, opacity)
	if err != nil {
		return err
	}
	pieces := []outline{o}
	if dashes := n.attr["stroke-dasharray"]; dashes != "" {
		v, err := floats(dashes)
		if err != nil || len(v) != 2 || min(v[0], v[1]) < 0.5 { // finer ones are grey, and endless
			return fmt.Errorf("svg: dashes %q cannot be drawn here", dashes)
		}
		pieces = o.dashed(v[0], v[1])
	}
	var areas [][]point
	for _, p := range pieces {
		areas = append(areas, p.stroked(width)...)
	}
	d.cover(areas, at, colour)
	return nil
}

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
