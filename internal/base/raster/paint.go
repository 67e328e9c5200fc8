package raster

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"strings"
)

// paint is what an attribute fills with: nil for nothing.
func (d *drawing) paint(text string, o outline, at origin, opacity float64) (image.Image, error) {
	if text == "none" {
		return nil, nil
	}
	id, isRef := strings.CutPrefix(text, "url(#")
	if !isRef {
		c, err := colour(text, opacity)
		return image.NewUniform(c), err
	}
	def := d.defs[strings.TrimSuffix(id, ")")]
	switch {
	case def == nil:
		return nil, fmt.Errorf("svg: nothing is named %q", text)
	case def.name == "linearGradient":
		return d.gradient(def, o, at)
	case def.name == "pattern":
		return d.hatch(def, at)
	}
	return nil, fmt.Errorf("svg: element %s is no paint", def.name)
}

// colour reads #rrggbb.
func colour(text string, opacity float64) (color.NRGBA, error) {
	c := color.NRGBA{A: uint8(math.Round(255 * min(max(opacity, 0), 1)))}
	if n, err := fmt.Sscanf(text, "#%02x%02x%02x", &c.R, &c.G, &c.B); n != 3 || err != nil || len(text) != 7 {
		return c, fmt.Errorf("svg: %q is not a colour", text)
	}
	return c, nil
}

// sampled is a paint that differs from pixel to pixel.
type sampled struct {
	bounds image.Rectangle
	at     func(x, y int) color.NRGBA
}

func (s *sampled) ColorModel() color.Model { return color.NRGBAModel }
func (s *sampled) Bounds() image.Rectangle { return s.bounds }
func (s *sampled) At(x, y int) color.Color { return s.at(x, y) }

// gradient runs from the left edge of the shape to its right edge.
func (d *drawing) gradient(def *node, o outline, at origin) (image.Image, error) {
	type stop struct {
		at     float64
		colour color.NRGBA
	}
	var stops []stop
	for _, kid := range def.kids {
		offset, err := kid.number("offset", 0)
		if err != nil {
			return nil, err
		}
		c, err := colour(kid.attr["stop-color"], 1)
		if err != nil {
			return nil, err
		}
		stops = append(stops, stop{offset, c})
	}
	if len(stops) < 2 {
		return nil, fmt.Errorf("svg: a gradient of %d colours", len(stops))
	}
	left, right := math.Inf(1), math.Inf(-1)
	for _, p := range o.points {
		left, right = min(left, p.x+at.x), max(right, p.x+at.x)
	}
	return &sampled{d.pixels.Bounds(), func(x, _ int) color.NRGBA {
		t := ((float64(x)+0.5)/d.scale - left) / (right - left)
		i := 0
		for i < len(stops)-2 && t > stops[i+1].at {
			i++
		}
		a, b := stops[i], stops[i+1]
		return blend(a.colour, b.colour, min(max((t-a.at)/(b.at-a.at), 0), 1))
	}}, nil
}

func blend(a, b color.NRGBA, t float64) color.NRGBA {
	mix := func(p, q uint8) uint8 { return uint8(math.Round(float64(p) + t*(float64(q)-float64(p)))) }
	return color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}

// hatch is a pattern of one upright line at its left edge, turned by an angle.
// Half of the line is outside the tile and so not seen.
func (d *drawing) hatch(def *node, at origin) (image.Image, error) {
	tile, err := def.number("width", 0)
	if err != nil {
		return nil, err
	}
	angle, err := arguments(def.attr["patternTransform"], "rotate", 1)
	if err != nil || tile <= 0 || len(def.kids) != 1 || def.kids[0].name != "line" {
		return nil, fmt.Errorf("svg: pattern %q cannot be drawn here", def.attr["id"])
	}
	line := def.kids[0]
	opacity, err := line.number("stroke-opacity", 1)
	if err != nil {
		return nil, err
	}
	ink, err := colour(line.attr["stroke"], opacity)
	if err != nil {
		return nil, err
	}
	const half = 0.5 // of the line's width
	sin, cos := math.Sincos(angle[0] * math.Pi / 180)
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
	}}, nil
}
