package raster

import (
	"image"
	"image/color"
	"io"
	"math"
	"testing"

	"github.com/isobath/isobath/internal/base/canvas"
)

var (
	black = canvas.Colour{}
	white = canvas.Colour{R: 255, G: 255, B: 255}
	page  = canvas.Document{Width: 100, Height: 60, Background: white, Hatch: black, Ramp: []canvas.Colour{black, white}}
)

// drawn draws on a page of 100 × 60 units.
func drawn(t *testing.T, width int, draw func(c canvas.Canvas)) *image.RGBA {
	t.Helper()
	c := NewPNG(io.Discard, width)
	draw(c)
	m, err := c.draw(&page)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// ink is how much of the picture is dark, in square units.
func ink(m *image.RGBA, scale float64) float64 {
	sum := 0.0
	for i := 0; i < len(m.Pix); i += 4 {
		sum += 1 - float64(m.Pix[i])/255
	}
	return sum / scale / scale
}

// TestAreas: shapes cover as much as geometry says.
func TestAreas(t *testing.T) {
	full := canvas.Style{Fill: canvas.Fill(black)}
	edge := func(on, off float64) canvas.Style {
		return canvas.Style{Stroke: canvas.Stroke{Colour: black, Width: 1, On: on, Off: off}}
	}
	path := canvas.Path{}.To
	for _, tt := range []struct {
		name string
		draw func(c canvas.Canvas)
		want float64
	}{
		{"rect", func(c canvas.Canvas) { c.Rect(10, 5, 20.5, 10, full, "") }, 205},
		{"circle", func(c canvas.Canvas) { c.Group(50, 30, func() { c.Circle(20, full) }) }, math.Pi * 400},
		{"line", func(c canvas.Canvas) { c.Line(10, 10, 40, 50, canvas.Stroke{Colour: black, Width: 4}) }, 200},
		{"dashes", func(c canvas.Canvas) { c.Line(10, 10, 60, 10, edge(3, 2).Stroke) }, 30},
		{"outline", func(c canvas.Canvas) { c.Rect(10, 10, 40, 20, edge(0, 0), "") }, 120}, // corners are round, not square
		{"dashed outline", func(c canvas.Canvas) { c.Rect(10, 10, 40, 20, edge(4, 1), "") }, 96},
		{"quarter", func(c canvas.Canvas) { c.Path(path(50, 30).To(80, 30).Arc(30, 50, 60, false, true).Close(), full, "") }, math.Pi * 900 / 4},
		{"three quarters", func(c canvas.Canvas) { c.Path(path(50, 30).To(70, 30).Arc(20, 50, 50, true, false).Close(), full, "") }, 3 * math.Pi * 400 / 4},
		{"ring", func(c canvas.Canvas) {
			c.Path(path(50, 10).Arc(20, 30, 30, true, true).To(40, 30).Arc(10, 50, 20, true, false).Close(), full, "")
		}, 3 * math.Pi * 300 / 4},
		{"hatch", func(c canvas.Canvas) {
			c.Rect(10, 10, 40, 40, canvas.Style{Fill: canvas.Paint{Kind: canvas.Hatched}}, "")
		}, 1600 * canvas.HatchOpacity * 0.1},
		{"ramp", func(c canvas.Canvas) {
			c.Rect(10, 10, 40, 40, canvas.Style{Fill: canvas.Paint{Kind: canvas.Ramped}}, "")
		}, 800},
		{"outside", func(c canvas.Canvas) { c.Rect(-500, -500, 510, 510, full, "") }, 100},
		{"nothing", func(c canvas.Canvas) { c.Path(canvas.Path{}, full, ""); c.Rect(1, 1, 5, 5, canvas.Style{}, "") }, 0},
	} {
		for _, scale := range []float64{1, 3.5} {
			got := ink(drawn(t, int(100*scale), tt.draw), scale)
			if math.Abs(got-tt.want) > 0.03*tt.want {
				t.Errorf("%s at scale %v covers %.1f, want %.1f", tt.name, scale, got, tt.want)
			}
		}
	}
}

// TestPlaces: what is drawn is where it belongs, and later is above earlier.
func TestPlaces(t *testing.T) {
	m := drawn(t, 200, func(c canvas.Canvas) {
		c.Rect(10, 10, 20, 20, canvas.Style{Fill: canvas.Fill(canvas.Colour{R: 255})}, "")
		c.Group(20, 0, func() { c.Rect(0, 10, 20, 20, canvas.Style{Fill: canvas.Fill(canvas.Colour{G: 255})}, "") })
		c.Rect(60, 10, 40, 10, canvas.Style{Fill: canvas.Paint{Kind: canvas.Ramped}}, "")
	})
	for _, tt := range []struct {
		x, y int
		want color.RGBA
	}{
		{15, 25, color.RGBA{255, 255, 255, 255}}, {25, 25, color.RGBA{255, 0, 0, 255}}, {45, 25, color.RGBA{0, 255, 0, 255}},
		{75, 59, color.RGBA{0, 255, 0, 255}}, {75, 61, color.RGBA{255, 255, 255, 255}}, {160, 30, color.RGBA{128, 128, 128, 255}},
	} {
		if got := m.RGBAAt(tt.x, tt.y); distanceOf(got, tt.want) > 2 {
			t.Errorf("pixel %d, %d is %v, want %v", tt.x, tt.y, got, tt.want)
		}
	}
}

func distanceOf(a, b color.RGBA) float64 {
	return (math.Abs(float64(a.R)-float64(b.R)) + math.Abs(float64(a.G)-float64(b.G)) + math.Abs(float64(a.B)-float64(b.B))) / 3
}

// TestText: letters are there, begin, centre or end where they should, and
// stand upright on a line and along an arc.
func TestText(t *testing.T) {
	for anchor, want := range map[canvas.Anchor][2]float64{canvas.Start: {50, 74}, canvas.Middle: {38, 62}, canvas.End: {26, 50}} {
		m := drawn(t, 400, func(c canvas.Canvas) { c.Text(50, 30, canvas.Font{Size: 12, Weight: 400}, anchor, "HHH") })
		b := dark(m, 4)
		if math.Abs(b[0]-want[0]) > 2 || math.Abs(b[1]-want[1]) > 2 || b[3] > 30.2 || b[2] < 20 || b[2] > 23 {
			t.Errorf("%s: letters from %.1f to %.1f, %.1f to %.1f; want about %v above 30", anchor, b[0], b[1], b[2], b[3], want)
		}
	}
	// Above the top of a circle of radius 20 around 50, 40.
	m := drawn(t, 400, func(c canvas.Canvas) {
		c.TextAlong(canvas.Path{}.To(36, 25.7).Arc(20, 64, 25.7, false, true), canvas.Font{Size: 8, Weight: 400}, "MMM")
	})
	if b := dark(m, 4); math.Abs((b[0]+b[1])/2-50) > 0.7 || b[2] < 12 || b[3] > 24 || b[3] < 20.5 {
		t.Errorf("letters along an arc from %.1f to %.1f, %.1f to %.1f", b[0], b[1], b[2], b[3])
	}
	covers := func(weight int, text string) float64 {
		return ink(drawn(t, 400, func(c canvas.Canvas) { c.Text(10, 30, canvas.Font{Size: 20, Weight: weight}, canvas.Start, text) }), 4)
	}
	if light, bold := covers(400, "weight"), covers(600, "weight"); bold < 1.15*light || light < 50 {
		t.Errorf("bold covers %.1f, regular %.1f", bold, light)
	}
	// A narrow space has no glyph in the font, and must not be a box.
	if with, without := covers(400, "1\u202f490"), covers(400, "1490"); math.Abs(with-without) > 0.05*without {
		t.Errorf("a number covers %.1f with a narrow space and %.1f without", with, without)
	}
}

// dark is where ink begins and ends: left, right, top, bottom, in units.
func dark(m *image.RGBA, scale float64) (b [4]float64) {
	b = [4]float64{math.Inf(1), 0, math.Inf(1), 0}
	for y := range m.Rect.Dy() {
		for x := range m.Rect.Dx() {
			if m.RGBAAt(x, y).R < 128 {
				px, py := float64(x)/scale, float64(y)/scale
				b = [4]float64{min(b[0], px), max(b[1], px), min(b[2], py), max(b[3], py)}
			}
		}
	}
	return b
}

// TestSizes: what is too large or no picture is said before it is made.
func TestSizes(t *testing.T) {
	for _, tt := range []struct {
		width int
		doc   canvas.Document
	}{
		{MaxWidth + 1, page}, {MinWidth - 1, page},
		{100, canvas.Document{Width: 100, Height: 6000}}, {100, canvas.Document{}},
		{100, canvas.Document{Width: math.NaN(), Height: 10}}, {MaxWidth, canvas.Document{Width: 100, Height: 100}},
	} {
		if err := NewPNG(io.Discard, tt.width).Finish(&tt.doc); err == nil {
			t.Errorf("%d pixels of %v × %v units were drawn", tt.width, tt.doc.Width, tt.doc.Height)
		}
	}
}
