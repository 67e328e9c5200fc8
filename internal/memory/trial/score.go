package trial

import (
	"math"
	"math/bits"
	"slices"

	"github.com/isobath/isobath/internal/base/stat"
)

// clip bounds what one pair may say, in units of the scale of those before it.
const clip = 2

// trimmed is the part of differences left out at each end of the estimate.
const trimmed = .2

// scores are the differences of pairs from theta, in units of 1.4826 times the
// median magnitude of those before (the first: its own), and clipped. The scale of
// a pair does not depend on its sign, so a coin could have flipped it.
func scores(x []float64, theta float64) []float64 {
	out := make([]float64, len(x))
	var seen []float64 // magnitudes before, sorted
	for i, v := range x {
		v -= theta
		scale := math.Abs(v)
		if n := len(seen); n > 0 {
			scale = (seen[(n-1)/2] + seen[n/2]) / 2
		}
		out[i] = min(max(v/(stat.MADScale*max(scale, 1e-9)), -clip), clip)
		at, _ := slices.BinarySearch(seen, math.Abs(v))
		seen = slices.Insert(seen, at, math.Abs(v))
	}
	return out
}

// Score is Σψ / √Σψ² of the differences of pairs from theta: near normal if they
// lie around it.
func Score(x []float64, theta float64) float64 {
	sum, squares := 0.0, 0.0
	for _, p := range scores(x, theta) {
		sum, squares = sum+p, squares+p*p
	}
	if squares == 0 {
		return 0
	}
	return sum / math.Sqrt(squares)
}

// estimate is the trimmed mean of differences.
func estimate(x []float64) float64 {
	y := slices.Clone(x)
	slices.Sort(y)
	cut := int(trimmed * float64(len(y)))
	return stat.Mean(y[cut : len(y)-cut])
}

// interval holds all differences that a test does not refuse, sought outward from
// the middle. Whether it holds none at all is what the test says of that.
func interval(x []float64, refused func(theta float64) bool) (low, high float64) {
	middle := stat.Median(x)
	end := func(sign float64) float64 {
		inside, outside := middle, middle+sign*1.5
		if middle*sign < 0 { // 0 lies on this side
			if refused(0) {
				outside = 0
			} else {
				inside, outside = 0, sign*1.5
			}
		}
		for range 30 { // to a billionth
			m := (inside + outside) / 2
			if refused(m) {
				outside = m
			} else {
				inside = m
			}
		}
		return inside
	}
	return end(-1), end(1)
}

// maxFlips is how many pairs have all their signs flipped; beyond, the score is
// near enough to normal.
const maxFlips = 20

// Flips is the share of all ways the coin could have fallen that give a score of
// the differences from theta that is at least as large.
func Flips(x []float64, theta float64) float64 {
	if len(x) > maxFlips {
		return 2 * stat.NormalTail(math.Abs(Score(x, theta)))
	}
	p := scores(x, theta)
	sum := 0.0
	for _, v := range p {
		sum += v
	}
	want, as := math.Abs(sum)*(1-1e-12), 0
	// Signs change one at a time (Gray's code), so each sum is one addition.
	state := uint(0)
	all := uint(1) << len(p)
	for k := range all {
		if math.Abs(sum) >= want {
			as++
		}
		if k+1 == all {
			break
		}
		bit := bits.TrailingZeros(k + 1)
		if state&(1<<bit) == 0 {
			sum -= 2 * p[bit]
		} else {
			sum += 2 * p[bit]
		}
		state ^= 1 << bit
	}
	return float64(as) / float64(all)
}
