package spiral

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"image"
	_ "image/png"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/canvas"
	"github.com/isobath/isobath/internal/base/raster"
)

// wellFormed counts the elements of a document.
func wellFormed(t *testing.T, doc []byte) map[string]int {
	t.Helper()
	n := map[string]int{}
	d := xml.NewDecoder(bytes.NewReader(doc))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return n
		}
		if err != nil {
			t.Fatalf("%v in %.200s", err, doc)
		}
		if e, ok := token.(xml.StartElement); ok {
			n[e.Name.Local]++
		}
	}
}

func TestMorphOfFew(t *testing.T) {
	v := analysed(t, loop(5, 12))
	m, err := v.Morph(t.Context(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := m.Draw(t.Context(), canvas.NewSVG(&b), 0.5, "a < b & c"); err != nil {
		t.Fatal(err)
	}
	n := wellFormed(t, b.Bytes())
	if !m.Apart || n["path"] < 5 || n["image"] != 0 {
		t.Errorf("apart %v, elements %v; want arcs", m.Apart, n)
	}
	if _, err := v.Morph(t.Context(), 0, 99); err == nil {
		t.Error("a class that does not exist is drawn")
	}
}

// TestMorphOfMany: a long walk is drawn as pixels, each a colour of the walk at
// its place.
func TestMorphOfMany(t *testing.T) {
	v := analysed(t, loop(40, 200))
	m, err := v.Morph(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := m.Draw(t.Context(), canvas.NewSVG(&b), 0, "many"); err != nil {
		t.Fatal(err)
	}
	if n := wellFormed(t, b.Bytes()); m.Apart || n["image"] != 1 || n["path"] != 0 {
		t.Fatalf("apart %v, elements %v; want an image", m.Apart, n)
	}
	_, text, _ := strings.Cut(b.String(), "base64,")
	text, _, _ = strings.Cut(text, `"`)
	img, _, err := image.Decode(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	// 32,000 windows on 366 radii: the disc is full, its hole and corners empty.
	full, side := 0, img.Bounds().Dx()
	for x := range side {
		if _, _, _, a := img.At(x, side/2).RGBA(); a > 0 {
			full++
		}
	}
	if want := side * 9 / 10; full < want-4 || full > want+4 {
		t.Errorf("%d pixels of the middle row are coloured, want %d", full, want)
	}
	if _, _, _, a := img.At(0, 0).RGBA(); a != 0 {
		t.Error("the corner outside of the disc is coloured")
	}
}

// TestMorphOnPixels: a frame is the same picture on every canvas, of arcs and of
// pixels.
func TestMorphOnPixels(t *testing.T) {
	for name, n := range map[string][2]int{"arcs": {5, 12}, "pixels": {40, 200}} {
		m, err := analysed(t, loop(n[0], n[1])).Morph(t.Context(), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := m.Draw(t.Context(), raster.NewPNG(&b, frameSide), 0, name); err != nil {
			t.Fatal(err)
		}
		img, _, err := image.Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		coloured := 0
		for y := range frameSide {
			for x := range frameSide {
				r, g, b, _ := img.At(x, y).RGBA()
				if max(r, g, b)-min(r, g, b) < 0x4000 {
					continue // ground, hairs and words are grey
				}
				coloured++
				if d := math.Hypot(float64(x)-frameX, float64(y)-frameY); d < frameHole*frameRadius-6 || d > frameRadius+6 {
					t.Fatalf("%s: the pixel at %d, %d is coloured, %.0f from the middle", name, x, y, d)
				}
			}
		}
		if coloured < 1000 {
			t.Errorf("%s: %d pixels are coloured", name, coloured)
		}
	}
}

func TestParts(t *testing.T) {
	p := Parts(Frames)
	if p[0] != 0 || p[len(p)-1] != 1 || p[len(p)/2] != 0.5 || len(Parts(1)) != 1 {
		t.Errorf("%v", p)
	}
}
