package canvas

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"image"
	"image/png"
	"io"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
)

// SVG is a canvas that writes an SVG document.
type SVG struct {
	w     io.Writer
	body  strings.Builder
	paths int // that texts run along
}

// NewSVG returns a canvas; Finish writes to w.
func NewSVG(w io.Writer) *SVG { return &SVG{w: w} }

var _ Canvas = (*SVG)(nil)

const fonts = `Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif`

// Finish wraps the picture in a document.
func (s *SVG) Finish(d *Document) error {
	_, err := fmt.Fprintf(s.w, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img" font-family="%s" font-size="11" style="font-variant-numeric: tabular-nums">
<title>%s</title>
<defs><pattern id="none" width="%d" height="%d" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line x1="0" y1="0" x2="0" y2="%d" stroke="%v" stroke-opacity="%v"/></pattern>%s</defs>
<rect width="100%%" height="100%%" fill="%v"/>
%s</svg>
`, d.Width, d.Height, d.Width, d.Height, fonts, escape(d.Title), HatchTile, HatchTile, HatchTile, d.Hatch, HatchOpacity, ramp(d.Ramp), d.Background, s.body.String())
	return err
}

func ramp(colours []Colour) string {
	var b strings.Builder
	b.WriteString(`<linearGradient id="ramp">`)
	for i, c := range colours {
		fmt.Fprintf(&b, `<stop offset="%.3f" stop-color="%v"/>`, float64(i)/float64(len(colours)-1), c)
	}
	b.WriteString(`</linearGradient>`)
	return b.String()
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(term.Plain(s))) // a Builder does not fail
	return b.String()
}

// Group is a moved part of the picture.
func (s *SVG) Group(x, y float64, draw func()) {
	fmt.Fprintf(&s.body, `<g transform="translate(%.2f %.2f)">`+"\n", x, y)
	draw()
	s.body.WriteString("</g>\n")
}

// Rect is a box.
func (s *SVG) Rect(x, y, width, height float64, st Style, title string) {
	s.element("rect", fmt.Sprintf(`x="%.2f" y="%.2f" width="%.2f" height="%g"`, x, y, width, height), st, title)
}

// Circle is a circle around the zero point.
func (s *SVG) Circle(radius float64, st Style) {
	s.element("circle", fmt.Sprintf(`r="%.2f"`, radius), st, "")
}

// Path is any other shape.
func (s *SVG) Path(p Path, st Style, title string) {
	geometry := fmt.Sprintf(`d="%s"`, p)
	if !p.Closed {
		geometry += ` stroke-linejoin="round"` // as the canvas of pixels joins them
	}
	s.element("path", geometry, st, title)
}

// Image is a picture in the picture.
func (s *SVG) Image(x, y, width, height float64, m image.Image) error {
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		return err
	}
	fmt.Fprintf(&s.body, `<image x="%.2f" y="%.2f" width="%.2f" height="%.2f" style="image-rendering: pixelated" href="data:image/png;base64,%s"/>`+"\n",
		x, y, width, height, base64.StdEncoding.EncodeToString(b.Bytes()))
	return nil
}

func (s *SVG) element(name, geometry string, st Style, title string) {
	fmt.Fprintf(&s.body, "<%s %s%s%s", name, geometry, st.Fill.attribute(), st.Stroke.attributes())
	if title == "" {
		s.body.WriteString("/>\n")
		return
	}
	fmt.Fprintf(&s.body, "><title>%s</title></%s>\n", escape(title), name)
}

// Line is a stroke without an inside.
func (s *SVG) Line(x1, y1, x2, y2 float64, st Stroke) {
	fmt.Fprintf(&s.body, `<line x1="%.2f" y1="%.2f" x2="%.2f" y2="%.2f"%s/>`+"\n", x1, y1, x2, y2, st.attributes())
}

func (p Paint) attribute() string {
	switch p.Kind {
	case Solid:
		return fmt.Sprintf(` fill="%v"`, p.Colour)
	case Hatched:
		return ` fill="url(#none)"`
	case Ramped:
		return ` fill="url(#ramp)"`
	}
	return ` fill="none"`
}

func (st Stroke) attributes() string {
	if st.Width == 0 {
		return ""
	}
	text := fmt.Sprintf(` stroke="%v"`, st.Colour)
	if st.Width != 1 {
		text += fmt.Sprintf(` stroke-width="%.2f"`, st.Width)
	}
	if st.On > 0 {
		text += fmt.Sprintf(` stroke-dasharray="%g %g"`, st.On, st.Off)
	}
	return text
}

// Text is one line of text.
func (s *SVG) Text(x, y float64, f Font, a Anchor, text string) {
	fmt.Fprintf(&s.body, `<text x="%.2f" y="%.2f" font-size="%g" font-weight="%d" fill="%v" text-anchor="%s">%s</text>`+"\n",
		x, y, f.Size, f.Weight, f.Colour, a, escape(text))
}

// TextAlong is text along a path.
func (s *SVG) TextAlong(p Path, f Font, text string) {
	s.paths++
	fmt.Fprintf(&s.body, `<path id="arc%d" d="%s" fill="none"/><text font-size="%g" fill="%v" text-anchor="middle"><textPath href="#arc%d" startOffset="50%%">%s</textPath></text>`+"\n",
		s.paths, p, f.Size, f.Colour, s.paths, escape(text))
}

// String is the path in the language of SVG.
func (p Path) String() string {
	var b strings.Builder
	flag := func(on bool) int {
		if on {
			return 1
		}
		return 0
	}
	for i, to := range p.Steps {
		switch {
		case i == 0:
			fmt.Fprintf(&b, "M%.2f %.2f", to.X, to.Y)
		case to.Radius > 0:
			fmt.Fprintf(&b, "A%.2f %.2f 0 %d %d %.2f %.2f", to.Radius, to.Radius, flag(to.Large), flag(to.Sweep), to.X, to.Y)
		default:
			fmt.Fprintf(&b, "L%.2f %.2f", to.X, to.Y)
		}
	}
	if p.Closed {
		b.WriteString("Z")
	}
	return b.String()
}
