package raster

import (
	"fmt"
	"image"
	"math"
	"strings"
	"sync"
	"unicode"

	"github.com/isobath/isobath/internal/base/canvas"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// face is a font whose glyphs are taken as outlines in units of the em.
type face struct {
	font *sfnt.Font
	em   fixed.Int26_6
}

// The fonts in which the program's pictures are drawn: the Go fonts, because
// every machine should draw the same picture and none of the fonts a page may
// ask for is on all of them.
var faces = sync.OnceValues(func() ([2]face, error) {
	var out [2]face
	for i, data := range [][]byte{goregular.TTF, gobold.TTF} {
		f, err := sfnt.Parse(data)
		if err != nil {
			return out, fmt.Errorf("font: %w", err)
		}
		out[i] = face{f, fixed.I(int(f.UnitsPerEm()))}
	}
	return out, nil
})

// boldFrom is the weight from which text is bold: that of Go Bold.
const boldFrom = 600

// glyph is a letter of a text: its outline at size 1, and where it begins.
type glyph struct {
	segments sfnt.Segments
	x, width float64 // in ems
}

// shape lays a text out along a line, at size 1, and returns its length.
func (f face) shape(text string) ([]glyph, float64, error) {
	var buf sfnt.Buffer
	var out []glyph
	x := 0.0
	em := float64(f.em)
	before := sfnt.GlyphIndex(0)
	for _, r := range text {
		index, err := f.font.GlyphIndex(&buf, r)
		if err != nil {
			return nil, 0, err
		}
		if index == 0 && unicode.IsSpace(r) { // the narrow space inside numbers
			x, before = x+0.2, 0
			continue
		}
		if before != 0 {
			if kern, err := f.font.Kern(&buf, before, index, f.em, font.HintingNone); err == nil {
				x += float64(kern) / em
			}
		}
		before = index
		segments, err := f.font.LoadGlyph(&buf, index, f.em, nil)
		if err != nil {
			return nil, 0, err
		}
		advance, err := f.font.GlyphAdvance(&buf, index, f.em, font.HintingNone)
		if err != nil {
			return nil, 0, err
		}
		g := glyph{append(sfnt.Segments{}, segments...), x, float64(advance) / em}
		x += g.width
		out = append(out, g)
	}
	return out, x, nil
}

// text draws a text along the line that lay, given the text's length, says: where
// a length of it is, and which way it runs there.
func (d *drawing) text(text string, f canvas.Font, at origin, lay func(width float64) func(float64) (point, float64)) error {
	all, err := faces()
	if err != nil {
		return err
	}
	face := all[0]
	if f.Weight >= boldFrom {
		face = all[1]
	}
	glyphs, width, err := face.shape(strings.TrimSpace(text))
	if err != nil {
		return fmt.Errorf("text %q: %w", text, err)
	}
	ink := image.NewUniform(solid(f.Colour))
	place := lay(width * f.Size)
	for _, g := range glyphs {
		middle := g.x + g.width/2
		p, angle := place(middle * f.Size)
		d.glyph(g, face.em, placed{p, angle, f.Size, middle - g.x}, at, ink)
	}
	return nil
}

func (o outline) length() float64 {
	sum := 0.0
	for i := 1; i < len(o.points); i++ {
		sum += distance(o.points[i-1], o.points[i])
	}
	return sum
}

// along is the point at a length of the outline, and the angle there.
func (o outline) along(s float64) (point, float64) {
	for i := 1; i < len(o.points); i++ {
		p, q := o.points[i-1], o.points[i]
		length := distance(p, q)
		if s <= length && length > 0 || i == len(o.points)-1 {
			return between(p, q, s/max(length, 1e-9)), math.Atan2(q.y-p.y, q.x-p.x)
		}
		s -= length
	}
	return o.points[0], 0
}

// placed is where a glyph stands: the point under its middle, the angle of the
// line there, its size, and how far left of the middle it begins, in ems.
type placed struct {
	p           point
	angle, size float64
	middle      float64
}

// glyph draws one letter.
func (d *drawing) glyph(g glyph, em fixed.Int26_6, at placed, zero origin, ink image.Image) {
	sin, cos := math.Sincos(at.angle)
	to := func(p fixed.Point26_6) point {
		x, y := (float64(p.X)/float64(em)-at.middle)*at.size, float64(p.Y)/float64(em)*at.size
		return point{at.p.x + x*cos - y*sin, at.p.y + x*sin + y*cos}
	}
	var areas [][]point
	for _, s := range g.segments {
		last := len(areas) - 1
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			areas = append(areas, []point{to(s.Args[0])})
		case sfnt.SegmentOpLineTo:
			areas[last] = append(areas[last], to(s.Args[0]))
		case sfnt.SegmentOpQuadTo:
			areas[last] = quadratic(areas[last], to(s.Args[0]), to(s.Args[1]))
		}
	}
	d.cover(areas, zero, ink)
}

// quadratic appends a curve as straight pieces; letters are small, so that few
// are enough.
func quadratic(points []point, by, to point) []point {
	from := points[len(points)-1]
	const pieces = 6
	for i := 1; i <= pieces; i++ {
		t := float64(i) / pieces
		points = append(points, between(between(from, by, t), between(by, to, t), t))
	}
	return points
}
