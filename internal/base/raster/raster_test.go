package raster

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
	"strings"
	"testing"

	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"

	"github.com/isobath/isobath/internal/base/test"
)

// picture wraps elements in a document of 100 × 60.
func picture(elements string) string {
	return `<svg xmlns="http://www.w3.org/2000/svg" width="100" height="60" viewBox="0 0 100 60" font-size="11">
<defs><pattern id="none" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line x1="0" y1="0" x2="0" y2="5" stroke="#000000" stroke-opacity="0.5"/></pattern>
<linearGradient id="ramp"><stop offset="0" stop-color="#000000"/><stop offset="1" stop-color="#ffffff"/></linearGradient></defs>
<rect width="100%" height="100%" fill="#ffffff"/>
` + elements + "</svg>"
}

func drawn(t *testing.T, elements string, width int) *image.RGBA {
	t.Helper()
	m, err := Draw(strings.NewReader(picture(elements)), width)
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
	for _, tt := range []struct {
		name, element string
		want          float64
	}{
		{"rect", `<rect x="10" y="5" width="20.5" height="10" fill="#000000"/>`, 205},
		{"circle", `<g transform="translate(50 30)"><circle r="20" fill="#000000"/></g>`, math.Pi * 400},
		{"line", `<line x1="10" y1="10" x2="40" y2="50" stroke="#000000" stroke-width="4"/>`, 200},
		{"dashes", `<line x1="10" y1="10" x2="60" y2="10" stroke="#000000" stroke-dasharray="3 2"/>`, 30},
		{"outline", `<rect x="10" y="10" width="40" height="20" fill="none" stroke="#000000"/>`, 120}, // corners are round, not square
		{"dashed outline", `<rect x="10" y="10" width="40" height="20" fill="none" stroke="#000000" stroke-dasharray="4 1"/>`, 96},
		{"quarter", `<path d="M50 30L80 30A30 30 0 0 1 50 60Z" fill="#000000"/>`, math.Pi * 900 / 4},
		{"three quarters", `<path d="M50 30L70 30A20 20 0 1 0 50 50Z" fill="#000000"/>`, 3 * math.Pi * 400 / 4},
		{"ring", `<path d="M50 10A20 20 0 1 1 30 30L40 30A10 10 0 1 0 50 20Z" fill="#000000"/>`, 3 * math.Pi * 300 / 4},
		{"hatch", `<rect x="10" y="10" width="40" height="40" fill="url(#none)"/>`, 1600 * 0.5 * 0.1},
		{"ramp", `<rect x="10" y="10" width="40" height="40" fill="url(#ramp)"/>`, 800},
		{"outside", `<rect x="-500" y="-500" width="510" height="510" fill="#000000"/>`, 100},
	} {
		for _, scale := range []float64{1, 3.5} {
			got := ink(drawn(t, tt.element, int(100*scale)), scale)
			if math.Abs(got-tt.want) > 0.03*tt.want {
				t.Errorf("%s at scale %v covers %.1f, want %.1f", tt.name, scale, got, tt.want)
			}
		}
	}
}

// TestPlaces: what is drawn is where it belongs, and later is above earlier.
func TestPlaces(t *testing.T) {
	m := drawn(t, `<rect x="10" y="10" width="20" height="20" fill="#ff0000"/>
<g transform="translate(20 0)"><rect x="0" y="10" width="20" height="20" fill="#00ff00"/></g>
<rect x="60" y="10" width="40" height="10" fill="url(#ramp)"/>`, 200)
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
	for anchor, want := range map[string][2]float64{"start": {50, 74}, "middle": {38, 62}, "end": {26, 50}} {
		m := drawn(t, fmt.Sprintf(`<text x="50" y="30" font-size="12" font-weight="400" fill="#000000" text-anchor="%s">HHH</text>`, anchor), 400)
		b := dark(m, 4)
		if math.Abs(b[0]-want[0]) > 2 || math.Abs(b[1]-want[1]) > 2 || b[3] > 30.2 || b[2] < 20 || b[2] > 23 {
			t.Errorf("%s: letters from %.1f to %.1f, %.1f to %.1f; want about %v above 30", anchor, b[0], b[1], b[2], b[3], want)
		}
	}
	// Above the top of a circle of radius 20 around 50, 40.
	m := drawn(t, `<path id="arc1" d="M36 25.7A20 20 0 0 1 64 25.7" fill="none"/><text font-size="8" fill="#000000" text-anchor="middle"><textPath href="#arc1" startOffset="50%">MMM</textPath></text>`, 400)
	if b := dark(m, 4); math.Abs((b[0]+b[1])/2-50) > 0.7 || b[2] < 12 || b[3] > 24 || b[3] < 20.5 {
		t.Errorf("letters along an arc from %.1f to %.1f, %.1f to %.1f", b[0], b[1], b[2], b[3])
	}
	light := ink(drawn(t, `<text x="10" y="30" font-size="20" fill="#000000">weight</text>`, 400), 4)
	bold := ink(drawn(t, `<text x="10" y="30" font-size="20" font-weight="600" fill="#000000">weight</text>`, 400), 4)
	if bold < 1.15*light || light < 50 {
		t.Errorf("bold covers %.1f, regular %.1f", bold, light)
	}
	// A narrow space has no glyph in the font, and must not be a box.
	with, without := ink(drawn(t, "<text x=\"10\" y=\"30\" font-size=\"20\" fill=\"#000000\">1\u202f490</text>", 400), 4), ink(drawn(t, `<text x="10" y="30" font-size="20" fill="#000000">1490</text>`, 400), 4)
	if math.Abs(with-without) > 0.05*without {
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

// TestUnknown: what cannot be drawn is said, not left out.
func TestUnknown(t *testing.T) {
	for _, tt := range []struct{ svg, want string }{
		{picture(`<ellipse/>`), "element ellipse"},
		{picture(`<rect opacity="0.5"/>`), "attribute opacity"},
		{picture(`<rect x="NaN" width="3" height="3" fill="#000000"/>`), `x "NaN"`},
		{picture(`<rect width="3" height="3" fill="red"/>`), `"red" is not a colour`},
		{picture(`<rect width="3" height="3" fill="url(#gone)"/>`), "nothing is named"},
		{picture(`<path d="C1 2 3 4" fill="none"/>`), "path"},
		{picture(`<path d="" fill="none" stroke="#000000" stroke-dasharray="2 2"/>`), "path"},
		{picture(`<g transform="scale(2)"></g>`), "transform"},
		{picture(`<line stroke="#000000" stroke-dasharray="0 0"/>`), "dashes"},
		{strings.Replace(picture(""), `height="60"`, `height="6000"`, 1), "a picture of"},
		{`<svg`, "svg"}, {"", "not one picture"},
	} {
		_, err := Draw(strings.NewReader(tt.svg), 100)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.60s: %v, want %q", tt.svg, err, tt.want)
		}
	}
	if _, err := Draw(strings.NewReader(picture("")), MaxWidth+1); err == nil {
		t.Error("a picture too wide was drawn")
	}
}

// TestAgainstChromium draws the pictures of internal/machine/hw/show and compares them
// with what a browser makes of the same files, given our font.
func TestAgainstChromium(t *testing.T) {
	browser := test.Peer(t, "chromium", "chromium")
	words := regexp.MustCompile(`(?s)<text.*?</text>`)
	for _, name := range []string{"small.svg", "small-icicle.svg"} {
		svg, err := os.ReadFile(filepath.Join("..", "..", "machine", "hw", "show", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		want := screenshot(t, browser, bytes.Replace(svg, []byte("<defs>"), []byte("<defs>"+ourFont()), 1))
		whole, silent := difference(t, svg, want), difference(t, words.ReplaceAll(svg, nil), want)
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

// difference is the mean distance of the pixels of our drawing from others.
func difference(t *testing.T, svg []byte, other image.Image) float64 {
	t.Helper()
	var b bytes.Buffer
	if err := PNG(&b, bytes.NewReader(svg), 0); err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if m.Bounds() != other.Bounds() {
		t.Fatalf("%v, the browser %v", m.Bounds(), other.Bounds())
	}
	sum := 0.0
	r := m.Bounds()
	for y := range r.Dy() {
		for x := range r.Dx() {
			sum += distanceOf(color.RGBAModel.Convert(m.At(x, y)).(color.RGBA), color.RGBAModel.Convert(other.At(x, y)).(color.RGBA))
		}
	}
	return sum / float64(r.Dx()*r.Dy())
}

func FuzzDraw(f *testing.F) {
	f.Add([]byte(picture(`<text x="1" y="9" fill="#000000">a</text>`)))
	f.Add([]byte(picture(`<path d="M50 10A20 20 0 1 1 30 30L40 30Z" fill="url(#none)" stroke="#123456" stroke-dasharray="3 2"/>`)))
	f.Add([]byte(picture(`<g transform="translate(1 2)"><circle r="3" fill="#000000"/><line x2="9" stroke="#000000" stroke-width="2"/></g>`)))
	f.Fuzz(func(t *testing.T, svg []byte) {
		if len(svg) > 4096 {
			return
		}
		_, _ = Draw(bytes.NewReader(svg), MinWidth)
	})
}
