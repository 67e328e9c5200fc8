package query

import (
	"math"

	"github.com/isobath/isobath/internal/data/table"
)

// Summary is an Extent without the rows it was measured on, for engines that
// keep these elsewhere: it is written once, with the rows, and divides a column
// exactly as Measure of the column would.
type Summary struct {
	Rows     int  `json:"rows"`
	Count    int  `json:"count"`
	Infinite int  `json:"infinite"`
	Whole    bool `json:"whole"`
	// Bounds are min, max, least, most and positive of the numbers, as the bits
	// of floats: some are infinite, which JSON cannot say.
	Bounds [5]uint64 `json:"bounds"`
	// Counts, Seen and Valued are those of the names of a category.
	Counts []int    `json:"counts,omitempty"`
	Seen   []uint32 `json:"seen,omitempty"`
	Valued int      `json:"valued"`
}

// Summary returns what is kept of an extent; the sample of its values is large
// and goes apart.
func (e *Extent) Summary() (s Summary, sample []float64) {
	n := e.numbers
	s = Summary{Rows: e.rows, Count: n.count, Infinite: n.infinite, Whole: n.whole}
	for i, v := range []float64{n.min, n.max, n.least, n.most, n.positive} {
		s.Bounds[i] = math.Float64bits(v)
	}
	if e.names != nil {
		names := e.names()
		s.Counts, s.Seen, s.Valued = names.count, names.seen, names.valued
		return s, nil
	}
	return s, e.sample()
}

// Largest is the largest magnitude among the values; it may be infinite.
func (s *Summary) Largest() float64 {
	return max(math.Abs(math.Float64frombits(s.Bounds[0])), math.Abs(math.Float64frombits(s.Bounds[1])))
}

// Elsewhere gives what a summary does not hold.
type Elsewhere struct {
	Sample  func() []float64 // as Extent.Summary returned it
	Outside func(lo, hi float64) (below, above int, err error)
}

// Extent returns the extent of a column of which only the description is here.
func (s *Summary) Extent(c *table.Column, from Elsewhere) *Extent {
	bound := func(i int) float64 { return math.Float64frombits(s.Bounds[i]) }
	e := &Extent{column: c, rows: s.Rows, sample: from.Sample, outside: from.Outside}
	if c.Kind == table.Category {
		e.names = func() names { return names{s.Counts, s.Seen, s.Valued} }
		return e
	}
	e.numbers = numbers{
		count: s.Count, infinite: s.Infinite, whole: s.Whole,
		min: bound(0), max: bound(1), least: bound(2), most: bound(3), positive: bound(4),
	}
	e.rangeOnce()
	return e
}

// Finite is the least and greatest finite value; false if there is none.
func (s *Summary) Finite() (lo, hi float64, any bool) {
	return math.Float64frombits(s.Bounds[2]), math.Float64frombits(s.Bounds[3]), s.Count > s.Infinite
}
