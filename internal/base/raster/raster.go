// Package raster draws the SVG pictures of this program as pixels, without a
// browser.
//
// It knows the part of SVG that internal/machine/hw/show writes, and no more. What it
// does not know is an error, so that a picture never lacks something silently.
package raster

import (
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Bounds of a picture: enough for a poster, not enough to exhaust a machine.
const (
	MinWidth  = 64
	MaxWidth  = 16384
	maxPixels = 1 << 27
	maxShape  = 8 // times as high as wide
	maxDepth  = 32
)

// PNG draws an SVG as a PNG of a width in pixels; 0 is twice the width it has
// by itself, which is sharp on most screens.
func PNG(w io.Writer, svg io.Reader, width int) error {
	m, err := Draw(svg, width)
	if err != nil {
		return err
	}
	return png.Encode(w, m)
}

// Draw is PNG for whoever wants the pixels.
func Draw(svg io.Reader, width int) (*image.RGBA, error) {
	root, err := parse(svg)
	if err != nil {
		return nil, err
	}
	d := &drawing{root: root, defs: map[string]*node{}}
	if err := d.size(width); err != nil {
		return nil, err
	}
	d.collect(root)
	for _, kid := range root.kids {
		if err := d.draw(kid, origin{}); err != nil {
			return nil, err
		}
	}
	return d.pixels, nil
}

// node is an element with its attributes and what is inside.
type node struct {
	name string
	attr map[string]string
	kids []*node
	text string
}

// known lists the attributes of each element that are understood, or have no
// effect on pixels.
var known = map[string]string{
	"svg":            "xmlns width height viewBox role font-family font-size style",
	"title":          "",
	"defs":           "",
	"pattern":        "id width height patternUnits patternTransform",
	"linearGradient": "id",
	"stop":           "offset stop-color",
	"g":              "transform",
	"rect":           "x y width height fill stroke stroke-dasharray",
	"circle":         "r fill",
	"line":           "x1 y1 x2 y2 stroke stroke-width stroke-dasharray stroke-opacity",
	"path":           "id d fill stroke stroke-dasharray",
	"text":           "x y font-size font-weight fill text-anchor",
	"textPath":       "href startOffset",
}

// parse reads a document of known elements.
func parse(r io.Reader) (*node, error) {
	dec := xml.NewDecoder(r)
	open := []*node{{name: "document"}}
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("svg: %w", err)
		}
		top := open[len(open)-1]
		switch t := token.(type) {
		case xml.StartElement:
			n, err := newNode(t)
			if err != nil {
				return nil, err
			}
			if len(open) > maxDepth {
				return nil, fmt.Errorf("svg: more than %d elements inside each other", maxDepth)
			}
			top.kids = append(top.kids, n)
			open = append(open, n)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			top.text += string(t)
		}
	}
	if kids := open[0].kids; len(kids) == 1 && kids[0].name == "svg" {
		return kids[0], nil
	}
	return nil, errors.New("svg: the document is not one picture")
}

func newNode(t xml.StartElement) (*node, error) {
	n := &node{name: t.Name.Local, attr: map[string]string{}}
	names, ok := known[n.name]
	if !ok {
		return nil, fmt.Errorf("svg: element %s cannot be drawn here", n.name)
	}
	for _, a := range t.Attr {
		if !slices.Contains(strings.Fields(names), a.Name.Local) {
			return nil, fmt.Errorf("svg: attribute %s of element %s cannot be drawn here", a.Name.Local, n.name)
		}
		n.attr[a.Name.Local] = a.Value
	}
	return n, nil
}

// number is an attribute in user units, or what it is when it is not given.
func (n *node) number(name string, or float64) (float64, error) {
	text, ok := n.attr[name]
	if !ok {
		return or, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.Abs(v) > 1e6 {
		return 0, fmt.Errorf("svg: %s %q of element %s is not a number", name, text, n.name)
	}
	return v, nil
}

// numbers are several attributes that are 0 when they are not given.
func (n *node) numbers(names ...string) ([]float64, error) {
	out := make([]float64, len(names))
	for i, name := range names {
		var err error
		if out[i], err = n.number(name, 0); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// origin is where a group has moved the zero point to.
type origin struct{ x, y float64 }

// drawing is a picture being drawn.
type drawing struct {
	root          *node
	defs          map[string]*node
	width, height float64 // in user units
	scale         float64 // pixels a unit
	pixels        *image.RGBA
}

// size makes the pixels.
func (d *drawing) size(width int) error {
	v, err := d.root.numbers("width", "height")
	if err != nil {
		return err
	}
	d.width, d.height = v[0], v[1]
	box := fmt.Sprintf("0 0 %s %s", d.root.attr["width"], d.root.attr["height"])
	if d.width < 1 || d.height < 1 || d.height > maxShape*d.width || d.root.attr["viewBox"] != box {
		return fmt.Errorf("svg: a picture of %v × %v with view %q", d.width, d.height, d.root.attr["viewBox"])
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

// collect finds what others refer to by name.
func (d *drawing) collect(n *node) {
	if id := n.attr["id"]; id != "" {
		d.defs[id] = n
	}
	for _, kid := range n.kids {
		d.collect(kid)
	}
}

// draw draws an element and what is inside.
func (d *drawing) draw(n *node, at origin) error {
	switch n.name {
	case "title", "defs":
		return nil
	case "g":
		if t := n.attr["transform"]; t != "" {
			by, err := arguments(t, "translate", 2)
			if err != nil {
				return err
			}
			at.x, at.y = at.x+by[0], at.y+by[1]
		}
		for _, kid := range n.kids {
			if err := d.draw(kid, at); err != nil {
				return err
			}
		}
		return nil
	case "text":
		return d.text(n, at)
	}
	o, err := d.outline(n)
	if err != nil {
		return err
	}
	return d.paintShape(n, o, at)
}

// arguments are the numbers of a transform of one kind.
func arguments(text, kind string, n int) ([]float64, error) {
	inner, ok := strings.CutPrefix(strings.TrimSuffix(text, ")"), kind+"(")
	v, err := floats(inner)
	if !ok || err != nil || len(v) != n {
		return nil, fmt.Errorf("svg: transform %q cannot be drawn here", text)
	}
	return v, nil
}
