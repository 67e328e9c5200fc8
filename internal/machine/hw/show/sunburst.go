package show

import (
	"math"

	"github.com/isobath/isobath/internal/base/canvas"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/machine/hw"
)

// sunburst is the geometry of the round drawing.
type sunburst struct {
	*picture
	cx, cy, R, centre float64
	unit, gap, slot   float64
}

const legendWidth = 216

// Sunburst draws the tree as rings around the machine, CPUs outermost.
func (v *View) Sunburst(c canvas.Canvas, d *Drawing) error {
	if drawn, of := v.hosts(); drawn != nil {
		return newPicture(c, v, d, "ring").drawHosts(drawn, of, hostsWidth(d), "Sunbursts", smallSunburst)
	}
	side := d.Side
	if side == 0 {
		side = 640
	}
	s := &sunburst{picture: newPicture(c, v, d, "ring"), cx: side / 2, cy: side / 2, R: side/2 - 10}
	s.centre = 0.205 * s.R
	s.unit = (s.R - s.centre) / float64(max(len(s.layout.rings), 1))
	s.gap = 0.3 * s.unit
	if s.unit < 18 {
		s.gap = max(min(s.gap, 3), s.unit-0.7*18)
	}
	s.slot = min(max(34, 0.17*s.R), 44)
	s.Group(s.cx, s.cy, s.draw)
	bottom := s.legend(side+24, max(24, side/2-210), legendWidth, s.thickest())
	return s.finish(side+24+legendWidth+16, max(side, bottom+12), "Sunburst")
}

func (s *sunburst) thickest() float64 { return min(1.1*s.gap, 0.055*s.R) }

func (s *sunburst) radii(i int) (r0, r1 float64) {
	r1 = s.centre + float64(i+1)*s.unit
	return r1 - s.unit + s.gap, r1
}

func (s *sunburst) draw() {
	s.Circle(s.centre, canvas.Style{Fill: canvas.Fill(s.theme.surface.screen())})
	for i, r := range s.layout.rings {
		r0, _ := s.radii(i)
		for j := range r.blocks {
			if b := &r.blocks[j]; i > 0 {
				angle := (s.edge(b.from, 1, b, r0) + s.edge(b.to, -1, b, r0)) / 2
				_, under := s.radii(i - 1)
				x1, y1 := polar(under, angle)
				x2, y2 := polar(r0, angle)
				s.link(r, b, x1, y1, x2, y2, s.linkRoom(b, r0))
			}
		}
	}
	for i, r := range s.layout.rings {
		s.ring(i, r)
	}
	s.middle()
}

// linkRoom keeps links of many thin blocks apart.
func (s *sunburst) linkRoom(b *block, radius float64) float64 {
	return min(s.thickest(), 0.8*radius*(s.angle(b.to)-s.angle(b.from)))
}

func (s *sunburst) middle() {
	name := s.view.Topology.Root().Name
	most := 2*s.centre - 12
	if textWidth(name, 12) > most {
		name = term.ClipEnd(name, max(int(most/(0.62*12)), 2))
	}
	if s.view.Samples == nil {
		s.text(0, 4, 12, 600, s.theme.text, canvas.Middle, name)
		return
	}
	s.text(0, -6, 12, 600, s.theme.text, canvas.Middle, name)
	s.text(0, 9, 11, 400, s.theme.muted, canvas.Middle, count(s.view.Samples.Total.Samples))
	s.text(0, 22, 11, 400, s.theme.muted, canvas.Middle, "samples")
}

// angle spreads the CPUs from one edge of the slot at the outer rim to the
// other.
func (s *sunburst) angle(at float64) float64 {
	rim := math.Asin(s.slot / 2 / s.R)
	return rim + 2*(math.Pi-rim)*at/s.layout.slots
}

// edge is the angle of a side of a block at a radius: sign is 1 where the block
// begins and -1 where it ends. Gaps have parallel sides, wider between the
// outermost parts than elsewhere; nothing enters the slot at 12 o'clock.
func (s *sunburst) edge(at, sign float64, b *block, radius float64) float64 {
	gap := 1.5
	if s.layout.top(at) {
		gap = 3
	}
	if at == 0 || at == s.layout.slots {
		gap = 0
	}
	// Thin blocks keep at least half their width.
	gap = min(gap, 0.25*radius*(s.angle(b.to)-s.angle(b.from)))
	angle := s.angle(at) + sign*math.Asin(gap/radius)
	slot := math.Asin(min(s.slot/2/radius, 1))
	return min(max(angle, slot), 2*math.Pi-slot)
}

func (s *sunburst) ring(i int, r *ring) {
	r0, r1 := s.radii(i)
	for j := range r.blocks {
		b := &r.blocks[j]
		style, colour := s.paint(r, b)
		s.Path(s.sector(b, r0, r1), style, s.describe(b))
		s.blockLabel(r, b, (r0+r1)/2, r1-r0, colour)
	}
	name := r.kind.String()
	if size := min(11, 11*(s.slot-2)/textWidth(name, 11)); r1-r0 >= size {
		s.text(0, -(r0+r1)/2+0.36*size, size, 600, s.theme.muted, canvas.Middle, name)
	}
}

// sector is the outline of a block. Its sides are parallel to the boundaries,
// so that the gaps are as wide outside as inside.
func (s *sunburst) sector(b *block, r0, r1 float64) canvas.Path {
	a0, a1 := s.edge(b.from, 1, b, r0), s.edge(b.to, -1, b, r0)
	c0, c1 := s.edge(b.from, 1, b, r1), s.edge(b.to, -1, b, r1)
	a1 = max(a1, a0) // a thin block beside the slot may be a triangle
	x0, y0 := polar(r0, a0)
	x1, y1 := polar(r1, c0)
	x2, y2 := polar(r1, c1)
	x3, y3 := polar(r0, a1)
	return canvas.Path{}.To(x0, y0).To(x1, y1).Arc(r1, x2, y2, c1-c0 > math.Pi, true).To(x3, y3).Arc(r0, x0, y0, a1-a0 > math.Pi, false).Close()
}

// blockLabel writes CPU numbers upright and names along the arc, where they
// fit.
func (s *sunburst) blockLabel(r *ring, b *block, radius, thickness float64, colour rgb) {
	label := s.layout.label(b)
	const size = 10.5
	from, to := s.edge(b.from, 1, b, radius), s.edge(b.to, -1, b, radius)
	room := radius*(to-from) - 6
	if r.kind == hw.CPU {
		if min(room, thickness) >= textWidth(label, size)-4 && room >= 9 {
			x, y := polar(radius, (from+to)/2)
			s.text(x, y+3.8, size, 400, colour, canvas.Middle, label)
		}
		return
	}
	must := r.kind == hw.NUMA || r.kind == hw.Cache3
	if thickness < 12 || textWidth(label, size) > room || !must && room < 6*0.62*size {
		return
	}
	s.arcText(radius, from, to, size, colour, label)
}

// arcText writes along the arc, the other way round in the lower half so that
// it is never upside down.
func (s *sunburst) arcText(radius, from, to, size float64, colour rgb, label string) {
	middle := (from + to) / 2
	reach := textWidth(label, size)/2/radius + 0.05
	a, b, sweep, r := middle-reach, middle+reach, true, radius-0.36*size
	if math.Cos(middle) < -1e-9 {
		a, b, sweep, r = b, a, false, radius+0.36*size
	}
	x1, y1 := polar(r, a)
	x2, y2 := polar(r, b)
	s.TextAlong(canvas.Path{}.To(x1, y1).Arc(r, x2, y2, 2*reach > math.Pi, sweep), canvas.Font{Size: size, Weight: 400, Colour: colour.screen()}, label)
}
