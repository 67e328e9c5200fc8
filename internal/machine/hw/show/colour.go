package show

import (
	"fmt"
	"math"

	"github.com/isobath/isobath/internal/base/canvas"
)

// rgb is a colour with components from 0 to 1, gamma-encoded.
type rgb [3]float64

func hex(s string) rgb {
	var r, g, b int
	if _, err := fmt.Sscanf(s, "#%02x%02x%02x", &r, &g, &b); err != nil {
		panic("colour " + s)
	}
	return rgb{float64(r) / 255, float64(g) / 255, float64(b) / 255}
}

// screen is the nearest colour that a screen has.
func (c rgb) screen() canvas.Colour {
	to := func(v float64) uint8 { return uint8(math.Round(255 * min(max(v, 0), 1))) }
	return canvas.Colour{R: to(c[0]), G: to(c[1]), B: to(c[2])}
}

func linear(v float64) float64 {
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}

func gamma(v float64) float64 {
	if v <= 0.0031308 {
		return 12.92 * v
	}
	return 1.055*math.Pow(v, 1/2.4) - 0.055
}

// luminance is the relative luminance of WCAG.
func (c rgb) luminance() float64 {
	return 0.2126*linear(c[0]) + 0.7152*linear(c[1]) + 0.0722*linear(c[2])
}

// oklab and its inverse follow Björn Ottosson, "A perceptual color space for
// image processing" (2020).
func (c rgb) oklab() [3]float64 {
	r, g, b := linear(c[0]), linear(c[1]), linear(c[2])
	l := math.Cbrt(0.4122214708*r + 0.5363325363*g + 0.0514459929*b)
	m := math.Cbrt(0.2119034982*r + 0.6806995451*g + 0.1073969566*b)
	s := math.Cbrt(0.0883024619*r + 0.2817188376*g + 0.6299787005*b)
	return [3]float64{
		0.2104542553*l + 0.7936177850*m - 0.0040720468*s,
		1.9779984951*l - 2.4285922050*m + 0.4505937099*s,
		0.0259040371*l + 0.7827717662*m - 0.8086757660*s,
	}
}

func fromOklab(c [3]float64) rgb {
	cube := func(v float64) float64 { return v * v * v }
	l := cube(c[0] + 0.3963377774*c[1] + 0.2158037573*c[2])
	m := cube(c[0] - 0.1055613458*c[1] - 0.0638541728*c[2])
	s := cube(c[0] - 0.0894841775*c[1] - 1.2914855480*c[2])
	return rgb{
		gamma(4.0767416621*l - 3.3077115913*m + 0.2309699292*s),
		gamma(-1.2684380046*l + 2.6097574011*m - 0.3413193965*s),
		gamma(-0.0041960863*l - 0.7034186147*m + 1.7076147010*s),
	}
}

// mix goes from a to b in OKLab.
func mix(a, b rgb, t float64) rgb {
	p, q := a.oklab(), b.oklab()
	for i := range p {
		p[i] += t * (q[i] - p[i])
	}
	return fromOklab(p)
}

// viridisStops are the colours of viridis at ninths.
var viridisStops = []rgb{
	hex("#440154"), hex("#482878"), hex("#3e4989"), hex("#31688e"), hex("#26828e"),
	hex("#1f9e89"), hex("#35b779"), hex("#6ece58"), hex("#b5de2b"), hex("#fde725"),
}

func viridis(v float64) rgb {
	at := min(max(v, 0), 1) * float64(len(viridisStops)-1)
	i := min(int(at), len(viridisStops)-2)
	return mix(viridisStops[i], viridisStops[i+1], at-float64(i))
}

// Theme is the light or the dark palette of the page.
type Theme struct {
	Name                                string
	bg, surface, text, muted, line, hot rgb
	light                               bool
}

// The themes; the tokens are those of the page.
var (
	Light = &Theme{"light", hex("#ffffff"), hex("#f4f5f7"), hex("#1b1f26"), hex("#57606c"), hex("#868e9a"), hex("#8a5a00"), true}
	Dark  = &Theme{"dark", hex("#15171c"), hex("#1e2128"), hex("#e6e8ec"), hex("#a3abb8"), hex("#6f7886"), hex("#e8b04a"), false}
)

// fill is the colour of an amount from 0 to 1: more is further from the
// background.
func (th *Theme) fill(t float64) rgb {
	v := 0.04 + 0.92*t
	if th.light {
		v = min(1-v, 0.94)
	}
	return viridis(v)
}

// on returns the colour of text on a fill.
func on(fill rgb) rgb {
	if fill.luminance() > 0.3 {
		return rgb{0, 0, 0}
	}
	return rgb{1, 1, 1}
}
