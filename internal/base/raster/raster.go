// Package raster is a canvas of pixels: it draws without a browser.
package raster

import (
	"fmt"
	"image"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/draw"

	"github.com/isobath/isobath/internal/base/canvas"
)

// Bounds of a picture: enough for a poster, not enough to exhaust a machine.
const (
	MinWidth  = 64
	MaxWidth  = 16384
	maxPixels = 1 << 27
	maxShape  = 8 // times as high as wide
)

// Canvas draws pixels. What is drawn is kept until Finish, which knows how large
// the picture is.
type Canvas struct {
	w     io.Writer
	width int // in pixels; 0 is twice that of the document
	at    origin
	marks []func(*drawing) error
}

// NewPNG returns a canvas; Finish writes a PNG of a width in pixels to w. A width
// of 0 is twice that of the document, which is sharp on most screens.
func NewPNG(w io.Writer, width int) *Canvas { return &Canvas{w: w, width: width} }

var _ canvas.Canvas = (*Canvas)(nil)

// Finish draws the picture and writes it.
func (c *Canvas) Finish(doc *canvas.Document) error {
	m, err := c.draw(doc)
	if err != nil {
		return err
	}
	return png.Encode(c.w, m)
}

func (c *Canvas) draw(doc *canvas.Document) (*image.RGBA, error) {
	d := &drawing{doc: doc}
	if err := d.size(c.width); err != nil {
		return nil, err
	}
	d.shape(box(0, 0, d.width, d.height), canvas.Style{Fill: canvas.Fill(doc.Background)}, origin{})
	for _, mark := range c.marks {
		if err := mark(d); err != nil {
			return nil, err
		}
	}
	return d.pixels, nil
}

// Group moves the zero point.
func (c *Canvas) Group(x, y float64, draw func()) {
	before := c.at
	c.at = origin{before.x + canvas.Rounded(x), before.y + canvas.Rounded(y)}
	draw()
	c.at = before
}

// shape keeps a shape, whose outline may need the scale.
func (c *Canvas) shape(outlineOf func(*drawing) outline, s canvas.Style) {
	at := c.at
	c.marks = append(c.marks, func(d *drawing) error {
		d.shape(outlineOf(d), s, at)
		return nil
	})
}

// Rect is a box. Pixels have no title.
func (c *Canvas) Rect(x, y, width, height float64, s canvas.Style, _ string) {
	o := box(canvas.Rounded(x), canvas.Rounded(y), canvas.Rounded(width), canvas.Rounded(height))
	c.shape(func(*drawing) outline { return o }, s)
}

// Circle is a circle around the zero point.
func (c *Canvas) Circle(radius float64, s canvas.Style) {
	c.shape(func(d *drawing) outline {
		return outline{points: d.arc(point{}, canvas.Rounded(radius), 0, 2*math.Pi), closed: true}
	}, s)
}

// Path is any other shape.
func (c *Canvas) Path(p canvas.Path, s canvas.Style, _ string) {
	c.shape(func(d *drawing) outline { return d.path(p) }, s)
}

// Line is a stroke without an inside.
func (c *Canvas) Line(x1, y1, x2, y2 float64, s canvas.Stroke) {
	s.Width = canvas.Rounded(s.Width)
	o := outline{points: []point{rounded(x1, y1), rounded(x2, y2)}}
	c.shape(func(*drawing) outline { return o }, canvas.Style{Stroke: s})
}

// Image is a picture in the picture.
func (c *Canvas) Image(x, y, width, height float64, m image.Image) error {
	at := c.at
	low, high := rounded(x, y), rounded(x+width, y+height)
	c.marks = append(c.marks, func(d *drawing) error {
		in := func(v float64) int { return int(math.Round(v * d.scale)) }
		to := image.Rect(in(low.x+at.x), in(low.y+at.y), in(high.x+at.x), in(high.y+at.y))
		draw.NearestNeighbor.Scale(d.pixels, to, m, m.Bounds(), draw.Over, nil)
		return nil
	})
	return nil
}

// Text is one line of text.
func (c *Canvas) Text(x, y float64, f canvas.Font, a canvas.Anchor, text string) {
	at, p := c.at, rounded(x, y)
	back := map[canvas.Anchor]float64{canvas.Middle: 0.5, canvas.End: 1}[a]
	c.marks = append(c.marks, func(d *drawing) error {
		return d.text(text, f, at, func(width float64) func(float64) (point, float64) {
			return func(s float64) (point, float64) { return point{p.x - back*width + s, p.y}, 0 }
		})
	})
}

// TextAlong is text around the middle of a path.
func (c *Canvas) TextAlong(p canvas.Path, f canvas.Font, text string) {
	at := c.at
	c.marks = append(c.marks, func(d *drawing) error {
		o := d.path(p)
		return d.text(text, f, at, func(width float64) func(float64) (point, float64) {
			return func(s float64) (point, float64) { return o.along(o.length()/2 - width/2 + s) }
		})
	})
}

func rounded(x, y float64) point { return point{canvas.Rounded(x), canvas.Rounded(y)} }

// origin is where a group has moved the zero point to.
type origin struct{ x, y float64 }

// drawing is a picture being drawn.
type drawing struct {
	doc           *canvas.Document
	width, height float64 // in user units
	scale         float64 // pixels a unit
	pixels        *image.RGBA
}

// size makes the pixels.
func (d *drawing) size(width int) error {
	d.width, d.height = math.Round(d.doc.Width), math.Round(d.doc.Height)
	if !(d.width >= 1 && d.height >= 1 && d.height <= maxShape*d.width) {
		return fmt.Errorf("a picture of %v × %v units cannot be drawn", d.doc.Width, d.doc.Height)
	}
	if width == 0 {
		width = int(min(2*d.width, MaxWidth))
	}
	d.scale = float64(width) / d.width
	height := int(math.Round(d.height * d.scale))
	if width < MinWidth || width > MaxWidth || height < 1 || width*height > maxPixels {
		return fmt.Errorf("a picture of %d × %d pixels: want a width from %d to %d and at most %d million pixels", width, height, MinWidth, MaxWidth, maxPixels>>20)
	}
	d.pixels = image.NewRGBA(image.Rect(0, 0, width, height))
	return nil
}
