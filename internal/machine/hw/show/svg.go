package show

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/machine/hw"
)

// Drawing is how an SVG is made.
type Drawing struct {
	Theme   *Theme  // nil: Light
	Measure Measure // empty: latency, or samples if there is none
	Side    float64 // of the sunburst, or width of the icicle, in pixels; 0: 640
}

// svg collects a picture.
type svg struct {
	b      strings.Builder
	layout *layout
	theme  *Theme
	view   *View
	paths  int
	band   string // what a depth is called: ring or row
}

func newSVG(v *View, d *Drawing, band string) *svg {
	m := d.Measure
	if m == "" || m != BySamples && v.Latency == table.Absent {
		m = ByLatency
		if v.Latency == table.Absent {
			m = BySamples
		}
	}
	return &svg{layout: newLayout(v, m), theme: cmp.Or(d.Theme, Light), view: v, band: band}
}

const fonts = `Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif`

// finish wraps the picture in a document of that size.
func (s *svg) finish(w io.Writer, width, height float64, what string) error {
	th := s.theme
	title := fmt.Sprintf("%s of %s", what, s.view.Topology.Root().Name)
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img" font-family="%s" font-size="11" style="font-variant-numeric: tabular-nums">
<title>%s</title>
<defs><pattern id="none" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line x1="0" y1="0" x2="0" y2="5" stroke="%v" stroke-opacity="0.45"/></pattern>%s</defs>
<rect width="100%%" height="100%%" fill="%v"/>
%s</svg>
`, width, height, width, height, fonts, escape(title), th.line, s.ramp(), th.bg, s.b.String())
	return err
}

func (s *svg) ramp() string {
	var b strings.Builder
	b.WriteString(`<linearGradient id="ramp">`)
	for i := range 13 {
		t := float64(i) / 12
		fmt.Fprintf(&b, `<stop offset="%.3f" stop-color="%v"/>`, t, s.theme.fill(t))
	}
	b.WriteString(`</linearGradient>`)
	return b.String()
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder does not fail
	return b.String()
}

// paint returns how a block is filled and outlined, and the colour of text on
// it.
func (s *svg) paint(r *ring, b *block) (attributes string, text rgb) {
	th := s.theme
	switch {
	case s.view.Samples == nil:
		return fmt.Sprintf(`fill="%v" stroke="%v"`, th.surface, th.line), th.muted
	case !b.has:
		return fmt.Sprintf(`fill="url(#none)" stroke="%v"`, th.line), th.muted
	}
	t := r.scale.at(b.value)
	fill := th.fill(t)
	attributes = fmt.Sprintf(`fill="%v"`, fill)
	switch {
	case s.layout.resources[b.resource].Virtual:
		attributes += fmt.Sprintf(` stroke="%v" stroke-dasharray="3 2"`, th.text)
	case t < 0.14:
		attributes += fmt.Sprintf(` stroke="%v"`, th.line)
	}
	return attributes, on(fill)
}

// describe is the tooltip of a block.
func (s *svg) describe(b *block) string {
	r := &s.layout.resources[b.resource]
	parts := []string{r.Name}
	if r.Size > 0 {
		parts = append(parts, bytesize(r.Size))
	}
	if s.view.Samples != nil {
		tally := &s.view.Samples.Tallies[b.resource]
		parts = append(parts, count(tally.Passed.Samples)+" samples")
		if r.Kind >= hw.NUMA && r.Kind < hw.Core {
			parts = append(parts, count(tally.Served.Samples)+" served")
		}
		if tally.Passed.Valued > 0 {
			parts = append(parts, s.approx()+amount(tally.Passed.Sum)+" "+s.view.unit())
		}
	}
	if r.Note != "" {
		parts = append(parts, r.Note)
	}
	return strings.Join(parts, ", ")
}

func (s *svg) approx() string { return samples.Approximately(s.view.Latency) }

// textWidth is what a text needs at most; DejaVu Sans is the widest font in the
// list.
func textWidth(s string, size float64) float64 {
	return 0.62 * size * float64(utf8.RuneCountInString(s))
}

func (s *svg) text(x, y, size float64, weight int, fill rgb, anchor, text string) {
	fmt.Fprintf(&s.b, `<text x="%.2f" y="%.2f" font-size="%g" font-weight="%d" fill="%v" text-anchor="%s">%s</text>`+"\n",
		x, y, size, weight, fill, anchor, escape(text))
}

// link draws the traffic of a block to the ring inside, along a line.
func (s *svg) link(r *ring, b *block, x1, y1, x2, y2, thickest float64) {
	if b.parent == nil || s.view.Samples == nil {
		return
	}
	if b.link == 0 {
		fmt.Fprintf(&s.b, `<line x1="%.2f" y1="%.2f" x2="%.2f" y2="%.2f" stroke="%v" stroke-dasharray="2 2"/>`+"\n",
			x1, y1, x2, y2, s.theme.line)
		return
	}
	t := r.link.at(float64(b.link))
	fmt.Fprintf(&s.b, `<line x1="%.2f" y1="%.2f" x2="%.2f" y2="%.2f" stroke="%v" stroke-width="%.2f"/>`+"\n",
		x1, y1, x2, y2, s.linkColour(), linkWidth(t, thickest))
}

func (s *svg) linkColour() rgb { return mix(s.theme.bg, s.theme.text, 0.62) }

func linkWidth(t, thickest float64) float64 {
	thinnest := min(1.5, thickest)
	return thinnest + (thickest-thinnest)*t
}

// legend writes the scales, the links and what could not be placed, and returns
// the height it took.
func (s *svg) legend(x, y, width, thickest float64) float64 {
	if s.view.Samples == nil {
		return s.sizes(x, y, width)
	}
	th := s.theme
	title := map[Measure]string{ByLatency: capital(s.view.unit()) + " served or issued", BySamples: "Samples served or issued", ByMean: "Mean " + s.view.unit()}
	s.text(x, y+11, 12, 600, th.text, "start", title[s.layout.measure])
	y += 27
	s.text(x, y, 11, 400, th.muted, "start", "each "+s.band+" on its own scale")
	if s.view.Level == table.Modelled || s.view.Latency == table.Modelled && s.layout.measure != BySamples {
		s.text(x+width, y, 11, 400, th.hot, "end", "modelled")
	}
	y += 12
	for i := len(s.layout.rings) - 1; i >= 0; i-- {
		y = s.scaleRow(s.layout.rings[i], x, y, width)
	}
	y = s.sameRow(x, y)
	y = s.linkRows(x, y+10, width, thickest)
	y = s.virtualRows(x, y+6, width)
	return s.unplacedRows(x, y+6, width)
}

func (s *svg) scaleRow(r *ring, x, y, width float64) float64 {
	th := s.theme
	ramp := x + 48
	s.text(x, y+9, 11, 400, th.text, "start", r.kind.String())
	if r.scale.n == 0 {
		fmt.Fprintf(&s.b, `<rect x="%.2f" y="%.2f" width="%.2f" height="9" fill="url(#none)" stroke="%v"/>`+"\n", ramp, y, width-48, th.line)
		s.text(ramp, y+20, 10.5, 400, th.muted, "start", "no samples placed")
		return y + 30
	}
	fmt.Fprintf(&s.b, `<rect x="%.2f" y="%.2f" width="%.2f" height="9" fill="url(#ramp)"/>`+"\n", ramp, y, width-48)
	s.text(ramp, y+20, 10.5, 400, th.muted, "start", s.value(r.scale.low()))
	s.text(x+width, y+20, 10.5, 400, th.muted, "end", s.value(r.scale.max))
	return y + 30
}

func (s *svg) value(v float64) string {
	if s.layout.measure == BySamples {
		return count(uint64(v))
	}
	if s.layout.measure == ByMean {
		return s.approx() + fmt.Sprintf("%.1f", v)
	}
	return s.approx() + amount(v)
}

func (s *svg) sameRow(x, y float64) float64 {
	if len(s.layout.same) == 0 {
		return y
	}
	var parts []string
	for _, pair := range s.layout.same {
		parts = append(parts, fmt.Sprintf("%v = %v", pair[0], pair[1]))
	}
	s.text(x, y+6, 11, 400, s.theme.muted, "start", "not drawn: "+strings.Join(parts, ", "))
	return y + 14
}

func (s *svg) linkRows(x, y, width, thickest float64) float64 {
	th := s.theme
	s.text(x, y+11, 12, 600, th.text, "start", "Accesses per link")
	y += 27
	s.text(x, y, 11, 400, th.muted, "start", "each level on its own scale")
	y += 18
	for i := len(s.layout.rings) - 1; i > 0; i-- {
		r := s.layout.rings[i]
		s.text(x, y, 11, 400, th.text, "start", fmt.Sprintf("%v – %v", r.inner.kind, r.kind))
		if r.link.n == 0 {
			s.text(x+width, y, 10.5, 400, th.muted, "end", "none")
			y += 17
			continue
		}
		for _, end := range []struct{ at, v float64 }{{0.40, r.link.low()}, {0.70, r.link.max}} {
			v := end.v
			if v == 0 {
				v = r.link.min // the thinnest drawn, not the foot of the scale
			}
			lx := x + end.at*width
			fmt.Fprintf(&s.b, `<line x1="%.2f" y1="%.2f" x2="%.2f" y2="%.2f" stroke="%v" stroke-width="%.2f"/>`+"\n",
				lx, y-4, lx+16, y-4, s.linkColour(), min(linkWidth(r.link.at(v), thickest), 13))
			s.text(lx+21, y, 10.5, 400, th.muted, "start", count(uint64(v)))
		}
		y += 17
	}
	return y
}

func (s *svg) unplacedRows(x, y, width float64) float64 {
	var n uint64
	for _, u := range s.view.Samples.Unplaced {
		n += u.Samples
	}
	if n == 0 {
		return y
	}
	s.text(x, y+8, 11, 600, s.theme.text, "start", count(n)+" not placed beyond the CPU")
	y += 22
	for _, u := range s.view.Samples.Unplaced {
		y = s.note(x, y, width, count(u.Samples)+" "+because(u))
	}
	return y
}

// virtualRows names the dashed blocks, which are too narrow for a name.
func (s *svg) virtualRows(x, y, width float64) float64 {
	first := true
	for i := len(s.view.Topology.Resources); i < len(s.layout.resources); i++ {
		n := s.view.Samples.Tallies[i].Passed.Samples
		if n == 0 {
			continue
		}
		if first {
			s.text(x, y+8, 11, 600, s.theme.text, "start", "Dashed: not in the topology")
			y += 22
			first = false
		}
		r := &s.layout.resources[i]
		y = s.note(x, y, width, count(n)+" "+r.Name+": "+r.Note)
	}
	return y
}

// note writes a small text over as many lines as it needs.
func (s *svg) note(x, y, width float64, text string) float64 {
	for i, line := range wrap(text, width-8, 11) {
		indent := 0.0
		if i > 0 {
			indent = 8
		}
		s.text(x+indent, y, 11, 400, s.theme.muted, "start", line)
		y += 14
	}
	return y
}

// sizes is the legend of a tree without samples.
func (s *svg) sizes(x, y, width float64) float64 {
	th := s.theme
	s.text(x, y+11, 12, 600, th.text, "start", s.view.Topology.Root().Name)
	y += 30
	for i := len(s.layout.rings) - 1; i >= 0; i-- {
		r := s.layout.rings[i]
		s.text(x, y, 11, 400, th.text, "start", fmt.Sprintf("%d × %v", len(r.blocks), r.kind))
		s.text(x+width, y, 11, 400, th.muted, "end", bytesize(s.layout.resources[r.blocks[0].resource].Size))
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
