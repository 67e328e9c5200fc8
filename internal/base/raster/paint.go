package raster

import (
	"image"
	"image/color"
	"math"

	"github.com/isobath/isobath/internal/base/canvas"
)

// paint is what a shape is filled with: nil for nothing.
func (d *drawing) paint(p canvas.Paint, o outline, at origin) image.Image {
	switch p.Kind {
	case canvas.Solid:
		return image.NewUniform(solid(p.Colour))
	case canvas.Hatched:
		return d.hatch(at)
	case canvas.Ramped:
		return d.ramp(o, at)
	}
	return nil
}

func solid(c canvas.Colour) color.NRGBA { return color.NRGBA{c.R, c.G, c.B, 255} }

// sampled is a paint that differs from pixel to pixel.
type sampled struct {
	bounds image.Rectangle
	at     func(x, y int) color.NRGBA
}

func (s *sampled) ColorModel() color.Model { return color.NRGBAModel }
func (s *sampled) Bounds() image.Rectangle { return s.bounds }
func (s *sampled) At(x, y int) color.Color { return s.at(x, y) }

// ramp runs from the left edge of the shape to its right edge.
func (d *drawing) ramp(o outline, at origin) image.Image {
	colours := d.doc.Ramp
	if len(colours) < 2 {
		return nil
	}
	left, right := math.Inf(1), math.Inf(-1)
	for _, p := range o.points {
		left, right = min(left, p.x+at.x), max(right, p.x+at.x)
	}
	return &sampled{d.pixels.Bounds(), func(x, _ int) color.NRGBA {
		t := ((float64(x)+0.5)/d.scale - left) / (right - left)
		along := min(max(t, 0), 1) * float64(len(colours)-1)
		i := min(int(along), len(colours)-2)
		return blend(solid(colours[i]), solid(colours[i+1]), along-float64(i))
	}}
}

func blend(a, b color.NRGBA, t float64) color.NRGBA {
	mix := func(p, q uint8) uint8 { return uint8(math.Round(float64(p) + t*(float64(q)-float64(p)))) }
	return color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}

// hatch is a pattern of one upright line at the left edge of a tile, turned by
// half a right angle. Half of the line is outside the tile and so not seen.
func (d *drawing) hatch(at origin) image.Image {
	ink := solid(d.doc.Hatch)
	ink.A = uint8(math.Round(255 * canvas.HatchOpacity))
	const tile = canvas.HatchTile
	const half = 0.5 // of the line's width
	sin, cos := math.Sincos(math.Pi / 4)
	const grid = 4 // samples of a pixel, each way
	return &sampled{d.pixels.Bounds(), func(x, y int) color.NRGBA {
		hits := 0
		for k := range grid * grid {
			px := (float64(x)+(float64(k%grid)+0.5)/grid)/d.scale - at.x
			py := (float64(y)+(float64(k/grid)+0.5)/grid)/d.scale - at.y
			u := math.Mod(px*cos+py*sin, tile)
			if u < 0 {
				u += tile
			}
			if u < half {
				hits++
			}
		}
		c := ink
		c.A = uint8(int(ink.A) * hits / (grid * grid))
		return c
	}}
}
