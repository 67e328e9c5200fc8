package spiral

import (
	"context"
	"math"

	"github.com/isobath/isobath/internal/base/parallel"
)

// Sector is a part of the plane of a spiral: windows from First to Last-1 at
// angles from From on, over Span turns.
type Sector struct {
	First, Last int
	From, Span  float64
}

// Whole is everything of n windows.
func Whole(n int) Sector { return Sector{0, n, 0, 1} }

// Polar is a sector of the spiral as pixels of radius and angle: at each the
// most frequent colour, emptyPixel where no window lies.
type Polar struct {
	Sector
	Radii, Angles int
	Colour        []uint16 // radius by radius
}

// emptyPixel is the colour of a pixel without windows.
const emptyPixel = math.MaxUint16

// Polar draws a sector. Rows are drawn at once by as many goroutines as there
// are processors.
func (c *Colouring) Polar(ctx context.Context, lift []float32, s Sector, radii, angles int) (*Polar, error) {
	p := &Polar{s, radii, angles, make([]uint16, radii*angles)}
	ends := make([][][MaxColours + 1]int32, parallel.Workers())
	err := parallel.Each(ctx, radii, func(_ context.Context, w, r int) error {
		if ends[w] == nil {
			ends[w] = make([][MaxColours + 1]int32, angles+1)
		}
		clear(ends[w])
		c.row(p, lift, r, ends[w])
		return nil
	})
	return p, err
}

// row draws one radius: every window with the arc to the one after it. An arc
// may cover many angles, so only its ends are noted, and the counts are the sums
// up to each angle: a row costs as many steps as it has windows and pixels.
func (c *Colouring) row(p *Polar, lift []float32, r int, ends [][MaxColours + 1]int32) {
	n := p.Last - p.First
	scale := float64(p.Angles) / p.Span
	for t := p.First + n*r/p.Radii; t < p.First+n*(r+1)/p.Radii; t++ {
		lo := float64(lift[t]) - p.From
		hi := lo
		if t+1 < len(lift) {
			hi = float64(lift[t+1]) - p.From
		}
		if lo > hi {
			lo, hi = hi, lo
		}
		colour := c.window[t] & (MaxColours) // of those there are; tells the compiler so
		// Turn by turn: the sector is seen once in each.
		for turn := math.Floor(lo); turn <= hi; turn++ {
			if from := max(lo-turn, 0); from < p.Span {
				first, last := int(from*scale), int((hi-turn)*scale)
				if first < p.Angles {
					ends[first][colour]++
					ends[min(last+1, p.Angles)][colour]--
				}
			}
		}
	}
	var counts [MaxColours + 1]int32
	for i := range p.Angles {
		for c, d := range ends[i] {
			counts[c] += d
		}
		p.Colour[r*p.Angles+i] = most(&counts)
	}
}

func most(counts *[MaxColours + 1]int32) uint16 {
	best, at := int32(0), uint16(emptyPixel)
	for c, n := range counts {
		if n > best {
			best, at = n, uint16(c)
		}
	}
	return at
}

// Ring counts the windows of [first, last) by angle, and gives the most
// frequent colour of each: the circle without time.
func (c *Colouring) Ring(lift []float32, first, last, angles int) (count []uint32, colour []uint16) {
	count, colour = make([]uint32, angles), make([]uint16, angles)
	counts := make([][MaxColours + 1]int32, angles)
	for t := first; t < last; t++ {
		l := float64(lift[t])
		i := min(angles-1, int((l-math.Floor(l))*float64(angles)))
		count[i]++
		counts[i][c.window[t]]++
	}
	for i := range counts {
		colour[i] = most(&counts[i])
	}
	return count, colour
}

// Strip is the lift over the trace, column by column: smallest and largest, and
// the most frequent colour.
type Strip struct {
	Low, High []float32
	Colour    []uint16
}

// Strip folds a lift into at most columns.
func (c *Colouring) Strip(lift []float32, columns int) *Strip {
	s := Fold(lift, columns)
	n := len(s.Low)
	s.Colour = make([]uint16, n)
	for x := range n {
		var counts [MaxColours + 1]int32
		for _, colour := range c.window[len(lift)*x/n : len(lift)*(x+1)/n] {
			counts[colour&MaxColours]++
		}
		s.Colour[x] = most(&counts)
	}
	return s
}

// Fold is a strip without colours.
func Fold(lift []float32, columns int) *Strip {
	n := min(columns, len(lift))
	s := &Strip{Low: make([]float32, n), High: make([]float32, n)}
	for x := range n {
		part := lift[len(lift)*x/n : len(lift)*(x+1)/n]
		lo, hi := part[0], part[0]
		for _, l := range part {
			// Not min and max, which look for NaN and the sign of 0; there is none.
			if l < lo {
				lo = l
			}
			if l > hi {
				hi = l
			}
		}
		s.Low[x], s.High[x] = lo, hi
	}
	return s
}
