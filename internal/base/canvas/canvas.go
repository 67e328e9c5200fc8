// Package canvas is what a picture is drawn on: shapes and words in user units,
// without a word of the form they end in. SVG is here, pixels are in base/raster.
package canvas

import (
	"fmt"
	"image"
	"strconv"
)

// Canvas takes a picture. Later marks lie above earlier ones. A size is known
// only when all is drawn, so Finish comes last.
type Canvas interface {
	// Group draws with the zero point moved by x and y.
	Group(x, y float64, draw func())
	// Rect, Circle and Path draw shapes; a title is shown where one points at it.
	Rect(x, y, width, height float64, s Style, title string)
	Circle(radius float64, s Style)
	Path(p Path, s Style, title string)
	// Line draws a straight stroke.
	Line(x1, y1, x2, y2 float64, s Stroke)
	// Image draws pixels into a box, without smoothing.
	Image(x, y, width, height float64, m image.Image) error
	// Text writes at a point of its base line.
	Text(x, y float64, f Font, a Anchor, text string)
	// TextAlong writes around the middle of a path.
	TextAlong(p Path, f Font, text string)
	// Finish writes the picture.
	Finish(d *Document) error
}

// Document is the picture as a whole.
type Document struct {
	Width, Height float64
	Title         string
	Background    Colour
	Hatch         Colour   // of the lines of Hatched
	Ramp          []Colour // of Ramped, from left to right, evenly spaced
}

// Colour is a colour of the screen.
type Colour struct{ R, G, B uint8 }

func (c Colour) String() string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// Paint is what a shape is filled with.
type Paint struct {
	Kind   PaintKind
	Colour Colour // of Solid
}

// PaintKind is how a shape is filled.
type PaintKind uint8

// The kinds of paint; the zero is none.
const (
	Nothing PaintKind = iota
	Solid
	Hatched // slanted lines of the document's colour: nothing was measured
	Ramped  // the document's ramp from the left edge to the right
)

// Hatches are lines of one unit, this many units apart, fainter than what was
// measured.
const (
	HatchTile    = 5
	HatchOpacity = 0.45
)

// Fill is a paint of one colour.
func Fill(c Colour) Paint { return Paint{Solid, c} }

// Stroke is a line along an edge. A width of 0 is no line, dashes of 0 a whole
// one.
type Stroke struct {
	Colour  Colour
	Width   float64
	On, Off float64
}

// Style is how a shape is drawn.
type Style struct {
	Fill   Paint
	Stroke Stroke
}

// Font is how a text is drawn.
type Font struct {
	Size   float64
	Weight int // 400 is regular, 600 bold
	Colour Colour
}

// Anchor is the part of a text that stands at its point.
type Anchor string

// The anchors.
const (
	Start  Anchor = "start"
	Middle Anchor = "middle"
	End    Anchor = "end"
)

// Path is one stroke of straight lines and arcs of circles.
type Path struct {
	Steps  []Step
	Closed bool
}

// Step leads to a point: straight, or along a circle if Radius is not 0. Large
// and Sweep are the flags of SVG: the longer way, and clockwise.
type Step struct {
	X, Y         float64
	Radius       float64
	Large, Sweep bool
}

// To is the path with a straight line added; the first begins it.
func (p Path) To(x, y float64) Path {
	p.Steps = append(p.Steps, Step{X: x, Y: y})
	return p
}

// Arc is the path with an arc of a circle added.
func (p Path) Arc(radius, x, y float64, large, sweep bool) Path {
	p.Steps = append(p.Steps, Step{x, y, radius, large, sweep})
	return p
}

// Close is the path that leads back to its beginning.
func (p Path) Close() Path {
	p.Closed = true
	return p
}

// Rounded is a coordinate as pictures have it, to a hundredth of a unit: files
// stay small, and all canvases draw the same.
func Rounded(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'f', 2, 64), 64) // what was just written can be read
	return r
}
