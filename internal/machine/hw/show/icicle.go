package show

import (
	"github.com/isobath/isobath/internal/base/canvas"
	"github.com/isobath/isobath/internal/machine/hw"
)

const (
	icicleGutter = 62 // for ring names, left
	icicleBlock  = 34
	icicleGap    = 16
)

// Icicle draws the tree as rows under the machine, CPUs at the bottom.
func (v *View) Icicle(c canvas.Canvas, d *Drawing) error {
	if drawn, of := v.hosts(); drawn != nil {
		return newPicture(c, v, d, "row").drawHosts(drawn, of, hostsWidth(d), "Icicles", smallIcicle)
	}
	width := d.Side
	if width == 0 {
		width = 900
	}
	s := newPicture(c, v, d, "row")
	x0, y := float64(icicleGutter), 16.0
	unit := (width - icicleGutter - 16) / s.layout.slots
	s.machineRow(x0, y, width-icicleGutter-16)
	for i, r := range s.layout.rings {
		y += icicleBlock + icicleGap
		s.text(x0-10, y+icicleBlock/2+4, 11, 600, s.theme.muted, canvas.End, r.kind.String())
		for j := range r.blocks {
			b := &r.blocks[j]
			if middle := x0 + unit*(b.from+b.to)/2; i > 0 {
				s.link(r, b, middle, y-icicleGap, middle, y, min(icicleGap*1.1, 0.8*unit*(b.to-b.from)))
			}
			s.icicleBlock(r, b, x0, y, unit)
		}
	}
	bottom := s.legend(width+24, 16, legendWidth, icicleGap*1.1)
	return s.finish(width+24+legendWidth+16, max(y+icicleBlock+16, bottom+12), "Icicle")
}

func (s *picture) machineRow(x, y, width float64) {
	s.Rect(x, y, width, icicleBlock, canvas.Style{Fill: canvas.Fill(s.theme.surface.screen())}, "")
	label := s.view.Topology.Root().Name
	if s.view.Samples != nil {
		label += ", " + countSamples(s.view.Samples.Total.Samples)
	}
	s.text(x+width/2, y+icicleBlock/2+4, 12, 600, s.theme.text, canvas.Middle, label)
}

func (s *picture) icicleBlock(r *ring, b *block, x0, y, unit float64) {
	half := func(at float64) float64 {
		g := 1.5
		if s.layout.top(at) {
			g = 3
		}
		return min(g, 0.25*unit*(b.to-b.from))
	}
	left, right := x0+unit*b.from, x0+unit*b.to
	if b.from > 0 {
		left += half(b.from)
	}
	if b.to < s.layout.slots {
		right -= half(b.to)
	}
	style, colour := s.paint(r, b)
	s.Rect(left, y, max(right-left, 0.2), icicleBlock, style, s.describe(b))
	label := s.layout.label(b)
	if r.kind != hw.CPU && textWidth(label, 10.5) > right-left-6 {
		label = "" // a cut name would say less than none
	}
	if right-left >= textWidth(label, 10.5)-4 && right-left >= 9 && label != "" {
		s.text((left+right)/2, y+icicleBlock/2+4, 10.5, 400, colour, canvas.Middle, label)
	}
}
