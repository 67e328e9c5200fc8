package table

import (
	"math"
	"strconv"
)

// DistinctMost is how far different values of a column are counted.
const DistinctMost = 1 << 16

// Summary is what the values of a column have in common.
type Summary struct {
	Missing  int
	Distinct int // up to DistinctMost
	// Min and Max are numbers, or texts 0x… for addresses, which exceed what
	// JSON numbers hold; nil for categories and where there is no value.
	Min, Max any
	// IDLike marks a number that merely counts rows.
	IDLike bool
}

// Summarize looks at every value of a column, or says what was seen of one whose
// values are elsewhere.
func Summarize(c *Column) Summary {
	if c.Summary != nil {
		return *c.Summary
	}
	info := Summary{}
	if c.Valid != nil {
		info.Missing = c.Len() - c.Valid.Count()
	}
	switch d := c.Data.(type) {
	case []int32:
		describeValues(&info, c, d)
	case []int64:
		describeValues(&info, c, d)
	case []float64:
		describeValues(&info, c, d)
	case []uint8:
		describeValues(&info, c, d)
	case []uint64:
		describeValues(&info, c, d)
	case []uint32:
		describeValues(&info, c, d)
		info.Min, info.Max = nil, nil
	}
	valued := c.Len() - info.Missing
	info.IDLike = c.Kind != Time && c.Kind != Address && valued > 1000 && info.Distinct >= min(valued, DistinctMost) && wholeSteps(c)
	return info
}

// nearest is how many marks a value may cost: a table of 40,000 columns and a few
// rows would mark a megabit for each of them.
const nearest = 64

// Largest is the largest number of a column, and at least zero; what was seen of
// it if the values are elsewhere.
func Largest(c *Column) float64 {
	largest := 0.0
	if c.Summary != nil {
		switch most := c.Summary.Max.(type) {
		case int32:
			largest = float64(most)
		case int64:
			largest = float64(most)
		case float64:
			largest = most
		}
		return max(largest, 0)
	}
	for i := range c.Len() {
		if c.Has(i) {
			largest = max(largest, c.Float(i))
		}
	}
	return largest
}

func describeValues[T int32 | int64 | uint8 | uint32 | uint64 | float64](info *Summary, c *Column, values []T) {
	lo, hi, any := extent(c, values)
	if !any {
		return
	}
	info.Min, info.Max = bound(c, lo), bound(c, hi)
	// Floats lose the last bits of kernel addresses: whole numbers are subtracted
	// as what they are, and the difference of two of any sign fits a uint64.
	if width := uint64(hi) - uint64(lo); isWhole(lo) && width < min(1<<20, nearest*uint64(len(values))) {
		info.Distinct = distinctNear(c, values, lo, int(width)+1)
	} else {
		info.Distinct = distinctFar(c, values)
	}
}

func extent[T int32 | int64 | uint8 | uint32 | uint64 | float64](c *Column, values []T) (lo, hi T, any bool) {
	if c.Valid == nil && len(values) > 0 && isWhole(values[0]) { // the usual case, and there are millions
		lo, hi = values[0], values[0]
		for _, v := range values {
			lo, hi = min(lo, v), max(hi, v)
		}
		return lo, hi, true
	}
	for i, v := range values {
		if v != v || math.IsInf(float64(v), 0) || !c.Has(i) {
			continue
		}
		if !any {
			lo, hi, any = v, v, true
		}
		lo, hi = min(lo, v), max(hi, v)
	}
	return lo, hi, any
}

func isWhole[T int32 | int64 | uint8 | uint32 | uint64 | float64](T) bool {
	var zero T
	_, float := any(zero).(float64)
	return !float
}

// distinctNear counts by marking: fast, for values within a small range.
func distinctNear[T int32 | int64 | uint8 | uint32 | uint64 | float64](c *Column, values []T, lo T, width int) int {
	seen := NewBits(width)
	last := lo
	for i, v := range values {
		// Values often repeat; marking one again would wait for the mark before.
		if v != last && c.Has(i) {
			seen.Set(int(v - lo))
			last = v
		}
	}
	seen.Set(0) // lo itself, which some row has
	return min(seen.Count(), DistinctMost)
}

func distinctFar[T int32 | int64 | uint8 | uint32 | uint64 | float64](c *Column, values []T) int {
	seen := map[T]struct{}{}
	var last T
	for i, v := range values {
		if !c.Has(i) || v != v || len(seen) > 0 && v == last {
			continue
		}
		last = v
		seen[v] = struct{}{}
		if len(seen) == DistinctMost {
			break
		}
	}
	return len(seen)
}

func bound[T int32 | int64 | uint8 | uint32 | uint64 | float64](c *Column, v T) any {
	if c.Kind == Address {
		return "0x" + strconv.FormatUint(uint64(v), 16)
	}
	return v
}

// wholeSteps reports whether every value is larger than the one before by the
// same step, as row numbers are.
func wholeSteps(c *Column) bool {
	n := min(c.Len(), DistinctMost)
	if n < 3 || c.Kind == Category {
		return false
	}
	step := c.Float(1) - c.Float(0)
	if step == 0 {
		return false
	}
	for i := 2; i < n; i++ {
		if c.Float(i)-c.Float(i-1) != step {
			return false
		}
	}
	return true
}
