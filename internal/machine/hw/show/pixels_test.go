package show

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"

	"github.com/isobath/isobath/internal/base/canvas"
	"github.com/isobath/isobath/internal/base/raster"
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/table"
)

// silent is a canvas on which nobody writes.
type silent struct{ canvas.Canvas }

func (silent) Text(_, _ float64, _ canvas.Font, _ canvas.Anchor, _ string) {}
func (silent) TextAlong(canvas.Path, canvas.Font, string)                  {}

// TestPixelsAgainstChromium draws on both canvases and compares our pixels with
// what a browser makes of our SVG, given our font.
func TestPixelsAgainstChromium(t *testing.T) {
	browser := test.Peer(t, "chromium", "chromium")
	v := small(t, table.Measured)
	for name, draw := range map[string]func(c canvas.Canvas) error{
		"sunburst": func(c canvas.Canvas) error { return v.Sunburst(c, &Drawing{}) },
		"icicle":   func(c canvas.Canvas) error { return v.Icicle(c, &Drawing{Theme: Dark}) },
	} {
		var svg bytes.Buffer
		if err := draw(canvas.NewSVG(&svg)); err != nil {
			t.Fatal(err)
		}
		want := screenshot(t, browser, bytes.Replace(svg.Bytes(), []byte("<defs>"), []byte("<defs>"+ourFont()), 1))
		pixels := func(mute bool) image.Image {
			var b bytes.Buffer
			var c canvas.Canvas = raster.NewPNG(&b, 0)
			if mute {
				c = silent{c}
			}
			if err := draw(c); err != nil {
				t.Fatal(err)
			}
			m, err := png.Decode(&b)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		whole, silent := difference(t, pixels(false), want), difference(t, pixels(true), want)
		t.Logf("%s: %.2f of 255, %.2f if the text is missing", name, whole, silent)
		if whole > 1 {
			t.Errorf("%s: the picture differs from the browser's by %.2f of 255", name, whole)
		}
		if silent < 2*whole {
			t.Errorf("%s: the text does not matter: %.2f with it, %.2f without", name, whole, silent)
		}
	}
}

// ourFont makes a browser use the fonts that this package has.
func ourFont() string {
	face := func(weight int, data []byte) string {
		return fmt.Sprintf("@font-face{font-family:Inter;font-weight:%d;src:url(data:font/ttf;base64,%s)}", weight, base64.StdEncoding.EncodeToString(data))
	}
	return "<style>" + face(400, goregular.TTF) + face(600, gobold.TTF) + "</style>"
}

func screenshot(t *testing.T, browser string, svg []byte) image.Image {
	t.Helper()
	dir := t.TempDir()
	file, shot := filepath.Join(dir, "in.svg"), filepath.Join(dir, "out.png")
	if err := os.WriteFile(file, svg, 0o666); err != nil {
		t.Fatal(err)
	}
	size := regexp.MustCompile(`width="(\d+)" height="(\d+)"`).FindSubmatch(svg)
	cmd := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=2", "--user-data-dir="+filepath.Join(dir, "profile"),
		fmt.Sprintf("--window-size=%s,%s", size[1], size[2]), "--virtual-time-budget=5000", "--screenshot="+shot, "file://"+file)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("chromium: %v\n%s", err, out)
	}
	f, err := os.Open(shot)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// difference is the mean distance of the pixels of two pictures.
func difference(t *testing.T, a, b image.Image) float64 {
	t.Helper()
	if a.Bounds() != b.Bounds() {
		t.Fatalf("%v, the browser %v", a.Bounds(), b.Bounds())
	}
	sum := 0.0
	r := a.Bounds()
	for y := range r.Dy() {
		for x := range r.Dx() {
			p, q := color.RGBAModel.Convert(a.At(x, y)).(color.RGBA), color.RGBAModel.Convert(b.At(x, y)).(color.RGBA)
			sum += (math.Abs(float64(p.R)-float64(q.R)) + math.Abs(float64(p.G)-float64(q.G)) + math.Abs(float64(p.B)-float64(q.B))) / 3
		}
	}
	return sum / float64(r.Dx()*r.Dy())
}
