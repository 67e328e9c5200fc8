package mesh

import (
	"fmt"
	"math"
	"strings"
)

// OutsideNote warns when a tenth or more of the samples that name a place name one
// outside a dump, with the likely reason; "" otherwise.
func (v *View) OutsideNote(p *Placed) string {
	outside, named := 0, 0
	for _, c := range p.Place {
		if c >= 0 || c == OutOfRange {
			named++
		}
		if c == OutOfRange {
			outside++
		}
	}
	if outside == 0 || outside*10 < named {
		return ""
	}
	note := fmt.Sprintf("%.0f %% of the samples that name a cell (%d of %d) lie outside the mesh", 100*float64(outside)/float64(named), outside, named)
	if why := v.WhyOutside(p); why != "" {
		note += ": " + why
	}
	return note
}

// WhyOutside says why samples may lie outside a dump, from the range of what places
// them beside the mesh's own: "" where these do not tell.
func (v *View) WhyOutside(p *Placed) string {
	if v.positions != nil {
		return v.positionsOutside(p)
	}
	s := v.samples
	if s.X == nil {
		if lo, hi, ok := intRange(s.Cell); ok && (lo < 0 || int(hi) >= p.Space.Cells) {
			return fmt.Sprintf("cell goes from %d to %d, the mesh has %d cells: the samples are of a run of another size", lo, hi, p.Space.Cells)
		}
		return ""
	}
	if len(p.Space.Parts) != 1 {
		return ""
	}
	var beyond []axesBeyond
	first, dims := v.settings.Numbering.First, p.Space.Parts[0].Dims
	oneMore := true // every axis goes from 1 to its number of cells, as in Fortran
	for a, col := range [][]int32{s.X, s.Y, s.Z} {
		lo, hi, ok := intRange(col)
		if !ok {
			continue
		}
		cells := dims[a] * v.settings.Numbering.ratio(a)
		if int(lo) < first || int(hi) >= first+cells {
			beyond = addBeyond(beyond, axesBeyond{lo: lo, hi: hi, cells: dims[a]}, "xyz"[a:a+1])
		}
		oneMore = oneMore && first == 0 && lo >= 1 && int(hi) == cells
	}
	if len(beyond) == 0 {
		return ""
	}
	why := "the samples are of a run of another size, or the mesh is written coarser (--per-cell)"
	if oneMore {
		why = "indices that start at 1 (--first 1)"
	}
	said := make([]string, len(beyond))
	for i, b := range beyond {
		said[i] = b.String()
	}
	return strings.Join(said, "; ") + ": " + why
}

// axesBeyond are axes along which samples reach equally far beyond equally many cells.
type axesBeyond struct {
	axes   []string
	lo, hi int32
	cells  int
}

// addBeyond adds an axis to those that it is like, or as another one.
func addBeyond(list []axesBeyond, like axesBeyond, axis string) []axesBeyond {
	for i := range list {
		if b := &list[i]; b.lo == like.lo && b.hi == like.hi && b.cells == like.cells {
			b.axes = append(b.axes, axis)
			return list
		}
	}
	like.axes = []string{axis}
	return append(list, like)
}

func (b axesBeyond) String() string {
	last := len(b.axes) - 1
	if last == 0 {
		return fmt.Sprintf("%s goes from %d to %d, the mesh has %d cells along it", b.axes[0], b.lo, b.hi, b.cells)
	}
	return fmt.Sprintf("%s and %s go from %d to %d, the mesh has %d cells along each", strings.Join(b.axes[:last], ", "), b.axes[last], b.lo, b.hi, b.cells)
}

func (v *View) positionsOutside(p *Placed) string {
	lo, hi := p.Mesh.Bounds()
	var beyond []string
	for a, col := range [][]float64{v.positions.X, v.positions.Y, v.positions.Z} {
		low, high := math.Inf(1), math.Inf(-1)
		for _, x := range col {
			if !math.IsNaN(x) {
				low, high = min(low, x), max(high, x)
			}
		}
		if low < lo[a] || high > hi[a] {
			beyond = append(beyond, fmt.Sprintf("%c goes from %.6g to %.6g, the mesh from %.6g to %.6g", 'x'+a, low, high, lo[a], hi[a]))
		}
	}
	if len(beyond) == 0 {
		return ""
	}
	return strings.Join(beyond, "; ") + ": positions of another run, or in another unit of length"
}

func intRange(col []int32) (lo, hi int32, ok bool) {
	lo, hi = math.MaxInt32, math.MinInt32
	for _, x := range col {
		if x != Missing {
			lo, hi = min(lo, x), max(hi, x)
		}
	}
	return lo, hi, lo <= hi
}
