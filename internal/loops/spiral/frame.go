package spiral

import (
	"context"
	"encoding/csv"
	"image"
	"image/color"
	"io"
	"math"
	"strconv"

	"github.com/isobath/isobath/internal/base/canvas"
)

// Frames is how many pictures a morph has; the page exports as many.
const Frames = 25

// Parts are how far a morph has gone at each of n frames: slower at both ends,
// as on the page.
func Parts(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		s := 0.0
		if n > 1 {
			s = float64(i) / float64(n-1)
		}
		out[i] = s * s * (3 - 2*s)
	}
	return out
}

// Bounds of a walk that is drawn window by window; a longer one becomes pixels.
const (
	maxApart = 20_000
	// A radius of this many pixels is assumed at least: a small picture should
	// not turn a short trace into pixels.
	leastRadii = 300
)

// Apart reports whether the windows of a walk can be told apart on so many radii.
func Apart(windows int, turns float64, radii int) bool {
	return windows <= maxApart && 3*math.Abs(turns) <= 4*float64(max(radii, leastRadii))
}

// Morph is the way from one class to another, in the colours of source lines.
type Morph struct {
	v        *View
	from, to []float32
	colours  *Colouring
	turns    int64 // of the first class
	teeth    bool
	passes   []uint32
	// Apart says that frames show every window; otherwise they are pixels.
	Apart bool
}

// Morph prepares the frames between two classes.
func (v *View) Morph(ctx context.Context, from, to int) (*Morph, error) {
	m := &Morph{v: v, colours: v.Colouring(ByLine, nil)}
	var err error
	if m.from, err = v.Lift(ctx, from, 0); err != nil {
		return nil, err
	}
	if m.to, err = v.Lift(ctx, to, 0); err != nil {
		return nil, err
	}
	if m.passes, err = v.Passes(ctx, from); err != nil {
		return nil, err
	}
	m.turns, m.teeth = v.R.Classes[from].Turns, Teeth(m.from)
	n := len(m.from)
	const radii = frameRadius * 9 / 10 // without the hole
	m.Apart = Apart(n, float64(m.from[n-1]-m.from[0]), radii) && Apart(n, float64(m.to[n-1]-m.to[0]), radii)
	return m, nil
}

// The picture of a frame, in pixels: a disc with a hole, as on the page, and a
// caption below.
const (
	frameSide    = 800
	frameCaption = 24
	frameX       = frameSide / 2
	frameY       = 24 + frameRadius
	frameRadius  = (frameSide - 24 - 44) / 2
	frameHole    = 0.1 // of the radius
	polarAngles  = 1440
	mostPasses   = 60 // circles of passes; more would be a grey disc
)

// Colours of a frame: those of the page in its light theme (tokens.css).
var (
	frameColours = [MaxColours + 1]canvas.Colour{
		{R: 0xc9, G: 0x84}, {G: 0x85, B: 0x5f}, {R: 0xc2, G: 0x62, B: 0x8f}, {R: 0x8f, G: 0x7d},
		{R: 0x3d, G: 0x44, B: 0x50}, {R: 0x7a, G: 0x55, B: 0xb8}, {R: 0x8a, G: 0x5a, B: 0x3c}, frameRest,
	}
	frameRest   = canvas.Colour{R: 0x9a, G: 0xa3, B: 0xaf}
	frameHair   = canvas.Colour{R: 0xd3, G: 0xd8, B: 0xde}
	frameMuted  = canvas.Colour{R: 0x57, G: 0x60, B: 0x6c}
	frameText   = canvas.Colour{R: 0x1b, G: 0x1f, B: 0x26}
	frameGround = canvas.Colour{R: 0xff, G: 0xff, B: 0xff}
)

// frameFont is that of words in a frame. A third of its size below a point, their
// middle is at the point.
var frameFont = canvas.Font{Size: 11, Weight: 400, Colour: frameMuted}

func (m *Morph) radius(t int) float64 {
	return frameRadius * (frameHole + (1-frameHole)*float64(t)/float64(max(1, len(m.from)-1)))
}

// at is the place of a turn and a radius: turns run clockwise from the top.
func at(turns, radius float64) (x, y float64) {
	sin, cos := math.Sincos(2 * math.Pi * turns)
	return frameX + radius*sin, frameY - radius*cos
}

// Draw draws the frame at a part of the way.
func (m *Morph) Draw(ctx context.Context, c canvas.Canvas, part float64, caption string) error {
	m.ground(c)
	lift := Mix(m.from, m.to, part)
	if m.Apart {
		m.walk(c, lift)
	} else if err := m.pixels(ctx, c, lift); err != nil {
		return err
	}
	c.Text(12, frameSide+frameCaption/2, frameFont, canvas.Start, caption)
	return c.Finish(&canvas.Document{Width: frameSide, Height: frameSide + frameCaption, Title: caption, Background: frameGround})
}

func (m *Morph) ground(c canvas.Canvas) {
	hair := canvas.Stroke{Colour: frameHair, Width: 1}
	c.Group(frameX, frameY, func() {
		if len(m.passes) <= mostPasses {
			for _, t := range m.passes {
				c.Circle(m.radius(int(t)), canvas.Style{Stroke: hair})
			}
		}
		c.Circle(frameRadius, canvas.Style{Stroke: hair})
	})
	for i := range 8 {
		x0, y0 := at(float64(i)/8, frameHole/2*frameRadius)
		x1, y1 := at(float64(i)/8, frameRadius)
		c.Line(x0, y0, x1, y1, hair)
	}
	for i, label := range []string{"0", "¼", "½", "¾"} {
		x, y := at(float64(i)/4, frameRadius+14)
		c.Text(x, y+frameFont.Size/3, frameFont, canvas.Middle, label)
	}
}

// walk draws the arcs between windows, runs of one colour as one path; what
// leads in and out lies under the rest.
func (m *Morph) walk(c canvas.Canvas, lift []float32) {
	width := 4.0
	if !m.teeth {
		width = min(10, max(2.5, 0.46*(1-frameHole)*frameRadius/float64(max(1, m.turns))))
	}
	r := m.v.R
	member := func(t int) bool { return t >= r.Preamble && t < len(lift)-r.Postamble }
	for _, over := range []bool{false, true} {
		for t := 0; t+1 < len(lift); {
			u := t + 1
			for u+1 < len(lift) && member(u) == member(t) && m.colours.Of(u) == m.colours.Of(t) {
				u++
			}
			if member(t) == over {
				stroke := canvas.Stroke{Colour: frameRest, Width: 1.5}
				if over {
					stroke = canvas.Stroke{Colour: frameColours[m.colours.Of(t)], Width: width}
				}
				c.Path(m.arcs(lift, t, u), canvas.Style{Stroke: stroke}, "")
			}
			t = u
		}
	}
	x, y := at(float64(lift[len(lift)-1]), m.radius(len(lift)-1))
	c.Group(x, y, func() {
		c.Circle(3.5, canvas.Style{Fill: canvas.Fill(frameGround), Stroke: canvas.Stroke{Colour: frameText, Width: 1.5}})
	})
}

// arcs is the path over windows from to to, angle and radius both linear between
// neighbours: never the shorter way.
func (m *Morph) arcs(lift []float32, from, to int) canvas.Path {
	p := canvas.Path{}.To(at(float64(lift[from]), m.radius(from)))
	for t := from; t < to; t++ {
		l0, l1 := float64(lift[t]), float64(lift[t+1])
		r0, r1 := m.radius(t), m.radius(t+1)
		steps := max(1, int(math.Ceil(90*math.Abs(l1-l0))))
		for s := 1; s <= steps; s++ {
			f := float64(s) / float64(steps)
			p = p.To(at(l0+f*(l1-l0), r0+f*(r1-r0)))
		}
	}
	return p
}

// pixels draws a long walk as the page does: at each pixel the most frequent
// colour of the windows that fall onto it.
func (m *Morph) pixels(ctx context.Context, c canvas.Canvas, lift []float32) error {
	p, err := m.colours.Polar(ctx, lift, Whole(len(lift)), frameRadius, polarAngles)
	if err != nil {
		return err
	}
	palette := color.Palette{color.RGBA{}}
	for _, k := range frameColours {
		palette = append(palette, color.RGBA{k.R, k.G, k.B, 255})
	}
	const side = 2 * frameRadius
	img := image.NewPaletted(image.Rect(0, 0, side, side), palette)
	for y := range side {
		for x := range side {
			dx, dy := float64(x)+0.5-frameRadius, frameRadius-float64(y)-0.5
			row := (math.Hypot(dx, dy)/frameRadius - frameHole) / (1 - frameHole)
			if row < 0 || row >= 1 {
				continue
			}
			turn := math.Atan2(dx, dy) / (2 * math.Pi)
			turn -= math.Floor(turn)
			k := p.Colour[int(row*float64(p.Radii))*p.Angles+min(p.Angles-1, int(turn*float64(p.Angles)))]
			if k != emptyPixel {
				img.Pix[y*img.Stride+x] = uint8(k) + 1
			}
		}
	}
	return c.Image(frameX-frameRadius, frameY-frameRadius, side, side, img)
}

// CSV lists where each window of a frame is: how far it has turned, its place in
// the picture, and the line of its colour.
func (m *Morph) CSV(w io.Writer, part float64) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"window", "turns", "x", "y", "line"}); err != nil {
		return err
	}
	number := func(v float64, digits int) string { return strconv.FormatFloat(v, 'f', digits, 64) }
	for t, l := range Mix(m.from, m.to, part) {
		x, y := at(float64(l), m.radius(t))
		line := ""
		if c := m.colours.Of(t); int(c) < len(m.colours.Colours) {
			line = m.colours.Colours[c].Label
		}
		if err := out.Write([]string{strconv.Itoa(t), number(float64(l), 6), number(x, 2), number(y, 2), line}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
