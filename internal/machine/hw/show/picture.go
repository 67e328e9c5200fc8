package show

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/isobath/isobath/internal/base/canvas"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/machine/hw"
)

// Drawing is how a picture is made.
type Drawing struct {
	Theme   *Theme  // nil: Light
	Measure Measure // empty: latency, or samples if there is none
	Side    float64 // of the sunburst, or width of the icicle, in pixels; 0: 640
}

// picture is a drawing under way.
type picture struct {
	canvas.Canvas
	layout *layout
	theme  *Theme
	view   *View
	band   string // what a depth is called: ring or row
}

func newPicture(c canvas.Canvas, v *View, d *Drawing, band string) *picture {
	m := d.Measure
	if v.Amounts != nil {
		m = byAmount
	} else if m == "" || m != BySamples && v.Latency == table.Absent {
		m = ByLatency
		if v.Latency == table.Absent {
			m = BySamples
		}
	}
	return &picture{Canvas: c, layout: newLayout(v, m), theme: cmp.Or(d.Theme, Light), view: v, band: band}
}

// finish gives the picture its size and title.
func (s *picture) finish(width, height float64, what string) error {
	th := s.theme
	doc := &canvas.Document{Width: width, Height: height, Title: fmt.Sprintf("%s of %s", what, s.view.Topology.Root().Name),
		Background: th.bg.screen(), Hatch: th.line.screen()}
	const stops = 12
	for i := range stops + 1 {
		doc.Ramp = append(doc.Ramp, th.fill(float64(i)/stops).screen())
	}
	return s.Finish(doc)
}

// paint returns how a block is filled and outlined, and the colour of text on
// it.
func (s *picture) paint(r *ring, b *block) (style canvas.Style, text rgb) {
	th := s.theme
	line := canvas.Stroke{Colour: th.line.screen(), Width: 1}
	switch {
	case s.view.Samples == nil:
		return canvas.Style{Fill: canvas.Fill(th.surface.screen()), Stroke: line}, th.muted
	case !b.has:
		return canvas.Style{Fill: canvas.Paint{Kind: canvas.Hatched}, Stroke: line}, th.muted
	}
	t := r.scale.at(b.value)
	fill := th.fill(t)
	style.Fill = canvas.Fill(fill.screen())
	switch {
	case s.layout.resources[b.resource].Virtual:
		style.Stroke = canvas.Stroke{Colour: th.text.screen(), Width: 1, On: 3, Off: 2}
	case t < 0.14:
		style.Stroke = line
	}
	return style, on(fill)
}

// describe is the tooltip of a block.
func (s *picture) describe(b *block) string {
	r := &s.layout.resources[b.resource]
	parts := []string{r.Name}
	if r.Size > 0 {
		parts = append(parts, bytesize(r.Size))
	}
	if s.view.Samples != nil {
		tally := &s.view.Samples.Tallies[b.resource]
		parts = append(parts, countSamples(tally.Passed.Samples))
		if r.Serves() {
			parts = append(parts, count(tally.Served.Samples)+" served")
		}
		if tally.Passed.Valued > 0 {
			parts = append(parts, s.approx()+amount(tally.Passed.Sum)+" "+s.view.unit())
		}
		if a := s.view.Amounts; a != nil && a.Of(r).Samples > 0 {
			parts = append(parts, a.Name+" "+s.view.sayAmount(a.Of(r)))
		}
	}
	if r.Note != "" {
		parts = append(parts, r.Note)
	}
	return strings.Join(parts, ", ")
}

func (s *picture) approx() string { return samples.Approximately(s.view.Latency) }

// textWidth is what a text needs at most; DejaVu Sans is the widest font in the
// list.
func textWidth(s string, size float64) float64 {
	return 0.62 * size * float64(utf8.RuneCountInString(s))
}

func (s *picture) text(x, y, size float64, weight int, fill rgb, anchor canvas.Anchor, text string) {
	s.Text(x, y, canvas.Font{Size: size, Weight: weight, Colour: fill.screen()}, anchor, text)
}

// link draws the traffic of a block to the ring inside, along a line.
func (s *picture) link(r *ring, b *block, x1, y1, x2, y2, thickest float64) {
	if b.parent == nil || s.view.Samples == nil {
		return
	}
	if b.link == 0 {
		s.Line(x1, y1, x2, y2, canvas.Stroke{Colour: s.theme.line.screen(), Width: 1, On: 2, Off: 2})
		return
	}
	t := r.link.at(float64(b.link))
	s.Line(x1, y1, x2, y2, canvas.Stroke{Colour: s.linkColour().screen(), Width: linkWidth(t, thickest)})
}

func (s *picture) linkColour() rgb { return mix(s.theme.bg, s.theme.text, 0.62) }

func linkWidth(t, thickest float64) float64 {
	thinnest := min(1.5, thickest)
	return thinnest + (thickest-thinnest)*t
}

// legend writes the scales, the links and what could not be placed, and returns
// the height it took.
func (s *picture) legend(x, y, width, thickest float64) float64 {
	if s.view.Samples == nil {
		return s.sizes(x, y, width)
	}
	y = s.scales(x, y, width)
	y = s.linkRows(x, y+10, width, thickest)
	y = s.virtualRows(x, y+6, width)
	return s.unplacedRows(x, y+6, width)
}

// scales says what the colours are.
func (s *picture) scales(x, y, width float64) float64 {
	th := s.theme
	title := map[Measure]string{ByLatency: capital(s.view.unit()) + " served or issued", BySamples: "Samples served or issued", ByMean: "Mean " + s.view.unit()}
	if s.view.Amounts != nil {
		title[byAmount] = capital(strings.TrimSpace(s.view.Amounts.Name + " " + s.view.Amounts.Unit))
	}
	s.text(x, y+11, 12, 600, th.text, canvas.Start, title[s.layout.measure])
	y += 27
	s.text(x, y, 11, 400, th.muted, canvas.Start, "each "+s.band+" on its own scale")
	values := s.view.Latency
	if s.view.Amounts != nil {
		values = s.view.AmountsOf
	}
	if s.view.Level == table.Modelled || values == table.Modelled && s.layout.measure != BySamples {
		s.text(x+width, y, 11, 400, th.hot, canvas.End, "modelled")
	}
	y += 12
	for i := len(s.layout.rings) - 1; i >= 0; i-- {
		y = s.scaleRow(s.layout.rings[i], x, y, width)
	}
	return s.sameRow(x, y)
}

func (s *picture) scaleRow(r *ring, x, y, width float64) float64 {
	th := s.theme
	ramp := x + 48
	s.text(x, y+9, 11, 400, th.text, canvas.Start, r.kind.String())
	if r.scale.n == 0 {
		s.Rect(ramp, y, width-48, 9, canvas.Style{Fill: canvas.Paint{Kind: canvas.Hatched}, Stroke: canvas.Stroke{Colour: th.line.screen(), Width: 1}}, "")
		s.text(ramp, y+20, 10.5, 400, th.muted, canvas.Start, "no samples placed")
		return y + 30
	}
	s.Rect(ramp, y, width-48, 9, canvas.Style{Fill: canvas.Paint{Kind: canvas.Ramped}}, "")
	s.text(ramp, y+20, 10.5, 400, th.muted, canvas.Start, s.value(r.scale.low()))
	s.text(x+width, y+20, 10.5, 400, th.muted, canvas.End, s.value(r.scale.max))
	return y + 30
}

func (s *picture) value(v float64) string {
	if s.layout.measure == byAmount {
		return s.view.sayAmount(hw.Amount{Number: v, Samples: 1})
	}
	if s.layout.measure == BySamples {
		return count(uint64(v))
	}
	if s.layout.measure == ByMean {
		return s.approx() + fmt.Sprintf("%.1f", v)
	}
	return s.approx() + amount(v)
}

func (s *picture) sameRow(x, y float64) float64 {
	if len(s.layout.same) == 0 {
		return y
	}
	var parts []string
	for _, pair := range s.layout.same {
		parts = append(parts, fmt.Sprintf("%v = %v", pair[0], pair[1]))
	}
	s.text(x, y+6, 11, 400, s.theme.muted, canvas.Start, "not drawn: "+strings.Join(parts, ", "))
	return y + 14
}

func (s *picture) linkRows(x, y, width, thickest float64) float64 {
	th := s.theme
	s.text(x, y+11, 12, 600, th.text, canvas.Start, "Accesses per link")
	y += 27
	s.text(x, y, 11, 400, th.muted, canvas.Start, "each level on its own scale")
	y += 18
	for i := len(s.layout.rings) - 1; i > 0; i-- {
		r := s.layout.rings[i]
		s.text(x, y, 11, 400, th.text, canvas.Start, fmt.Sprintf("%v – %v", r.inner.kind, r.kind))
		if r.link.n == 0 {
			s.text(x+width, y, 10.5, 400, th.muted, canvas.End, "none")
			y += 17
			continue
		}
		for _, end := range []struct{ at, v float64 }{{0.40, r.link.low()}, {0.70, r.link.max}} {
			v := end.v
			if v == 0 {
				v = r.link.min // the thinnest drawn, not the foot of the scale
			}
			lx := x + end.at*width
			s.Line(lx, y-4, lx+16, y-4, canvas.Stroke{Colour: s.linkColour().screen(), Width: min(linkWidth(r.link.at(v), thickest), 13)})
			s.text(lx+21, y, 10.5, 400, th.muted, canvas.Start, count(uint64(v)))
		}
		y += 17
	}
	return y
}

func (s *picture) unplacedRows(x, y, width float64) float64 {
	var n uint64
	for _, u := range s.view.Samples.Unplaced {
		n += u.Samples
	}
	if n == 0 {
		return y
	}
	s.text(x, y+8, 11, 600, s.theme.text, canvas.Start, count(n)+" not placed beyond the CPU")
	y += 22
	for _, u := range s.view.Samples.Unplaced {
		y = s.note(x, y, width, count(u.Samples)+" "+because(u))
	}
	return y
}

// virtualRows names the dashed blocks, which are too narrow for a name.
func (s *picture) virtualRows(x, y, width float64) float64 {
	first := true
	for i := len(s.view.Topology.Resources); i < len(s.layout.resources); i++ {
		n := s.view.Samples.Tallies[i].Passed.Samples
		if n == 0 {
			continue
		}
		if first {
			s.text(x, y+8, 11, 600, s.theme.text, canvas.Start, "Dashed: not in the topology")
			y += 22
			first = false
		}
		r := &s.layout.resources[i]
		y = s.note(x, y, width, count(n)+" "+r.Name+": "+r.Note)
	}
	return y
}

// note writes a small text over as many lines as it needs.
func (s *picture) note(x, y, width float64, text string) float64 {
	for i, line := range wrap(text, width-8, 11) {
		indent := 0.0
		if i > 0 {
			indent = 8
		}
		s.text(x+indent, y, 11, 400, s.theme.muted, canvas.Start, line)
		y += 14
	}
	return y
}

// sizes is the legend of a tree without samples.
func (s *picture) sizes(x, y, width float64) float64 {
	th := s.theme
	s.text(x, y+11, 12, 600, th.text, canvas.Start, s.view.Topology.Root().Name)
	y += 30
	for i := len(s.layout.rings) - 1; i >= 0; i-- {
		r := s.layout.rings[i]
		s.text(x, y, 11, 400, th.text, canvas.Start, fmt.Sprintf("%d × %v", len(r.blocks), r.kind))
		s.text(x+width, y, 11, 400, th.muted, canvas.End, bytesize(s.layout.resources[r.blocks[0].resource].Size))
		y += 18
	}
	return s.sameRow(x, y)
}

func wrap(text string, width, size float64) []string {
	var lines []string
	line := ""
	for _, word := range strings.Split(text, " ") { // not at the narrow space inside numbers
		if line != "" && textWidth(line+" "+word, size) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, line)
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// polar returns a point; angles run clockwise from 12 o'clock.
func polar(r, angle float64) (x, y float64) { return r * math.Sin(angle), -r * math.Cos(angle) }
