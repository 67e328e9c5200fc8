package show

import (
	"fmt"
	"io"
	"math"

	"github.com/isobath/isobath/internal/machine/hw"
)

// sunburst is the geometry of the round drawing: look.md, section 8.
type sunburst struct {
	*svg
	cx, cy, R, centre float64
	unit, gap, slot   float64
}

const legendWidth = 216

// Sunburst draws the tree as rings around the machine, CPUs outermost.
func (v *View) Sunburst(w io.Writer, d *Drawing) error {
	side := d.Side
	if side == 0 {
		side = 640
	}
	s := &sunburst{svg: newSVG(v, d, "ring"), cx: side / 2, cy: side / 2, R: side/2 - 10}
	s.centre = 0.205 * s.R
	s.unit = (s.R - s.centre) / float64(max(len(s.layout.rings), 1))
	s.gap = 0.3 * s.unit
	if s.unit < 18 {
		s.gap = max(min(s.gap, 3), s.unit-0.7*18)
	}
	s.slot = min(max(34, 0.17*s.R), 44)
	s.draw()
	bottom := s.legend(side+24, max(24, side/2-210), legendWidth, s.thickest())
	return s.finish(w, side+24+legendWidth+16, max(side, bottom+12), "Sunburst")
}

func (s *sunburst) thickest() float64 { return min(1.1*s.gap, 0.055*s.R) }

func (s *sunburst) radii(i int) (r0, r1 float64) {
	r1 = s.centre + float64(i+1)*s.unit
	return r1 - s.unit + s.gap, r1
}

func (s *sunburst) draw() {
	th := s.theme
	fmt.Fprintf(&s.b, `<g transform="translate(%.2f %.2f)">`+"\n", s.cx, s.cy)
	fmt.Fprintf(&s.b, `<circle r="%.2f" fill="%v"/>`+"\n", s.centre, th.surface)
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
	s.b.WriteString("</g>\n")
}

// linkRoom keeps links of many thin blocks apart.
func (s *sunburst) linkRoom(b *block, radius float64) float64 {
	return min(s.thickest(), 0.8*radius*(s.angle(b.to)-s.angle(b.from)))
}

func (s *sunburst) middle() {
	name := s.view.Topology.Root().Name
	most := 2*s.centre - 12
	if textWidth(name, 12) > most {
		name = clip(name, max(int(most/(0.62*12)), 2))
	}
	if s.view.Samples == nil {
		s.text(0, 4, 12, 600, s.theme.text, "middle", name)
		return
	}
	s.text(0, -6, 12, 600, s.theme.text, "middle", name)
	s.text(0, 9, 11, 400, s.theme.muted, "middle", count(s.view.Samples.Total.Samples))
	s.text(0, 22, 11, 400, s.theme.muted, "middle", "samples")
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
		attributes, colour := s.paint(r, b)
		fmt.Fprintf(&s.b, `<path d="%s" %s><title>%s</title></path>`+"\n",
			s.sector(b, r0, r1), attributes, escape(s.describe(b)))
		s.blockLabel(r, b, (r0+r1)/2, r1-r0, colour)
	}
	name := r.kind.String()
	if size := min(11, 11*(s.slot-2)/textWidth(name, 11)); r1-r0 >= size {
		s.text(0, -(r0+r1)/2+0.36*size, size, 600, s.theme.muted, "middle", name)
	}
}

// sector is the outline of a block. Its sides are parallel to the boundaries,
// so that the gaps are as wide outside as inside.
func (s *sunburst) sector(b *block, r0, r1 float64) string {
	a0, a1 := s.edge(b.from, 1, b, r0), s.edge(b.to, -1, b, r0)
	c0, c1 := s.edge(b.from, 1, b, r1), s.edge(b.to, -1, b, r1)
	a1 = max(a1, a0) // a thin block beside the slot may be a triangle
	x0, y0 := polar(r0, a0)
	x1, y1 := polar(r1, c0)
	x2, y2 := polar(r1, c1)
	x3, y3 := polar(r0, a1)
	return fmt.Sprintf("M%.2f %.2fL%.2f %.2fA%.2f %.2f 0 %d 1 %.2f %.2fL%.2f %.2fA%.2f %.2f 0 %d 0 %.2f %.2fZ",
		x0, y0, x1, y1, r1, r1, large(c1-c0), x2, y2, x3, y3, r0, r0, large(a1-a0), x0, y0)
}

func large(angle float64) int {
	if angle > math.Pi {
		return 1
	}
	return 0
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
			s.text(x, y+3.8, size, 400, colour, "middle", label)
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
	a, b, sweep, r := middle-reach, middle+reach, 1, radius-0.36*size
	if math.Cos(middle) < -1e-9 {
		a, b, sweep, r = b, a, 0, radius+0.36*size
	}
	x1, y1 := polar(r, a)
	x2, y2 := polar(r, b)
	s.paths++
	fmt.Fprintf(&s.b, `<path id="arc%d" d="M%.2f %.2fA%.2f %.2f 0 %d %d %.2f %.2f" fill="none"/><text font-size="%g" fill="%v" text-anchor="middle"><textPath href="#arc%d" startOffset="50%%">%s</textPath></text>`+"\n",
		s.paths, x1, y1, r, r, large(2*reach), sweep, x2, y2, size, colour, s.paths, escape(label))
}
