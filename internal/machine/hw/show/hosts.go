package show

import (
	"fmt"

	"github.com/isobath/isobath/internal/base/canvas"
	"github.com/isobath/isobath/internal/machine/hw"
)

// A cluster of more hosts than mostTogether is drawn as a small picture of each, on
// common scales and the one most unlike the others first: in one picture its CPUs
// would be thinner than their outlines. Of many hosts mostPictures are drawn.
const (
	mostTogether = 8
	mostPictures = 24
)

// hostPicture is the place of one host.
type hostPicture struct {
	resource *hw.Resource
	unlike   *hw.HostDistance // nil without samples
}

// hosts returns what is drawn of a cluster of many hosts, in order, and how many
// hosts there are; nil for what is drawn as one picture.
func (v *View) hosts() (drawn []hostPicture, of int) {
	all := v.Topology.At(hw.Host)
	if len(all) <= mostTogether {
		return nil, len(all)
	}
	if v.Samples == nil {
		for _, h := range all[:min(len(all), mostPictures)] {
			drawn = append(drawn, hostPicture{resource: &v.Topology.Resources[h]})
		}
		return drawn, len(all)
	}
	ordered := v.Samples.HostsByDistance()
	for i := range ordered[:min(len(ordered), mostPictures)] {
		drawn = append(drawn, hostPicture{&v.Topology.Resources[ordered[i].Host], &ordered[i]})
	}
	return drawn, len(all)
}

// of is the part of a layout that is one host, with the scales of all.
func (l *layout) of(host *hw.Resource) *layout {
	from, to := l.span(host)
	out := &layout{view: l.view, resources: l.resources, measure: l.measure, order: l.order, slots: to - from}
	for _, r := range l.rings {
		part := &ring{kind: r.kind, scale: r.scale}
		for _, b := range r.blocks {
			switch {
			case b.from >= from && b.to <= to:
				b.from, b.to = b.from-from, b.to-from
			case l.within(b.resource, host.Index): // memory beside the CPUs
				width := max(1, (to-from)/24)
				b.from, b.to = out.slots, out.slots+width
				out.slots += width
			default:
				continue
			}
			part.blocks = append(part.blocks, b)
		}
		out.rings = append(out.rings, part)
	}
	return out
}

func (l *layout) within(resource, host int) bool {
	for at := resource; at >= 0; at = l.resources[at].Parent {
		if at == host {
			return true
		}
	}
	return false
}

// The measures of the grid of hosts.
const (
	hostColumns = 6
	hostCaption = 40
	hostGap     = 14
)

// drawHosts draws a grid of hosts. One draws a host into a place of that width and
// returns its height.
func (s *picture) drawHosts(drawn []hostPicture, of int, width float64, what string, one func(part *picture, x, y, width float64) float64) error {
	th := s.theme
	place := (width - 16 - (hostColumns-1)*hostGap) / hostColumns
	s.text(8, 22, 13, 600, th.text, canvas.Start, s.heading(len(drawn), of))
	y, tallest := 40.0, 0.0
	for i, h := range drawn {
		if i > 0 && i%hostColumns == 0 {
			y += tallest + hostCaption + hostGap
			tallest = 0
		}
		x := 8 + float64(i%hostColumns)*(place+hostGap)
		part := *s
		part.layout = s.layout.of(h.resource)
		height := one(&part, x, y, place)
		tallest = max(tallest, height)
		s.caption(h, x+place/2, y+height+13)
	}
	bottom := s.hostLegend(width+24, 40, legendWidth)
	return s.finish(width+24+legendWidth+16, max(y+tallest+hostCaption+8, bottom+12), what)
}

// hostsWidth is the width of the grid.
func hostsWidth(d *Drawing) float64 {
	if d.Side == 0 {
		return 1100
	}
	return d.Side
}

func (s *picture) heading(drawn, of int) string {
	text := s.view.Topology.Root().Name
	if s.view.Samples != nil {
		text += ", " + countSamples(s.view.Samples.Total.Samples)
		if drawn < of {
			return text + fmt.Sprintf("; the %d most unlike the others, most of all first", drawn)
		}
		return text + "; the one most unlike the others first"
	}
	if drawn < of {
		text += fmt.Sprintf("; the first %d", drawn)
	}
	return text
}

// caption says which host a picture is of, and how far it is from the others.
func (s *picture) caption(h hostPicture, middle, y float64) {
	weight := 400
	if h.unlike != nil && h.unlike.Distance >= farHost {
		weight = 600
	}
	s.text(middle, y, 11, weight, s.theme.text, canvas.Middle, h.resource.Name)
	if h.unlike != nil && h.unlike.Measure != "" {
		s.text(middle, y+14, 10, 400, s.theme.muted, canvas.Middle, fmt.Sprintf("%.1f off in %s", h.unlike.Distance, h.unlike.Measure))
	}
}

// hostLegend is the legend without links, which are too thin to be compared.
func (s *picture) hostLegend(x, y, width float64) float64 {
	if s.view.Samples == nil {
		return s.sizes(x, y, width)
	}
	y = s.scales(x, y, width)
	y = s.note(x, y+14, width, "all hosts on the same scales")
	y = s.note(x, y+4, width, "“off” is how far a host is from the median host, in deviations of hosts")
	y = s.virtualRows(x, y+6, width)
	return s.unplacedRows(x, y+6, width)
}

// smallSunburst draws the rings of one host around a disc that is the host itself.
func smallSunburst(part *picture, x, y, width float64) float64 {
	s := &sunburst{picture: part, R: width / 2, slot: 2}
	s.centre = 0.2 * s.R
	host, rings := s.layout.rings[0], s.layout.rings[1:]
	s.unit = (s.R - s.centre) / float64(max(len(rings), 1))
	s.gap = min(0.25*s.unit, 3)
	s.Group(x+width/2, y+width/2, func() {
		style, _ := s.paint(host, &host.blocks[0])
		s.Circle(s.centre, thin(style))
		for i, r := range rings {
			r0, r1 := s.radii(i)
			for j := range r.blocks {
				style, _ := s.paint(r, &r.blocks[j])
				s.Path(s.sector(&r.blocks[j], r0, r1), thin(style), s.describe(&r.blocks[j]))
			}
		}
	})
	return width
}

// smallIcicle draws the rows of one host.
func smallIcicle(part *picture, x, y, width float64) float64 {
	const row, gap = 18, 3
	unit := width / part.layout.slots
	for i, r := range part.layout.rings {
		for j := range r.blocks {
			b := &r.blocks[j]
			style, _ := part.paint(r, b)
			space := min(0.75, 0.12*unit*(b.to-b.from))
			part.Rect(x+unit*b.from+space, y+float64(i)*(row+gap), max(unit*(b.to-b.from)-2*space, 0.2), row, thin(style), part.describe(b))
		}
	}
	return float64(len(part.layout.rings)) * (row + gap)
}

// thin makes outlines that do not cover what is a few pixels wide.
func thin(style canvas.Style) canvas.Style {
	if style.Stroke.Width > 0 {
		style.Stroke.Width = 0.25
	}
	return style
}
