package stat

import (
	"cmp"
	"math"
	"slices"
)

// Median is the middle of the values, or the mean of the two in the middle; NaN
// of none. The values stay as they are.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	v := slices.Clone(values)
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// MADScale makes the median of absolute deviations estimate the standard
// deviation of a normal law.
const MADScale = 1.4826

// Mean is the mean of the values; NaN of none.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// Variance is the variance of the values with n − 1 below; NaN of fewer than two.
func Variance(values []float64) float64 {
	mean, sum := Mean(values), 0.0
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	return sum / float64(len(values)-1)
}

// Ranks gives each value its place among all, from 1; equal values share the
// mean of theirs. NaN, which is not equal to itself, comes first.
func Ranks(values []float64) []float64 {
	order := sorted(values)
	ranks := make([]float64, len(values))
	for i := 0; i < len(order); {
		j := i + 1
		for j < len(order) && values[order[j]] == values[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			ranks[k] = float64(i+j+1) / 2
		}
		i = j
	}
	return ranks
}

// sorted returns the indices of values in ascending order.
func sorted(values []float64) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	return order
}

// Correlation is Pearson's; 0 where one side does not vary.
func Correlation(x, y []float64) float64 {
	mx, my := Mean(x), Mean(y)
	var xx, yy, xy float64
	for i := range x {
		xx, yy, xy = xx+(x[i]-mx)*(x[i]-mx), yy+(y[i]-my)*(y[i]-my), xy+(x[i]-mx)*(y[i]-my)
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	return xy / math.Sqrt(xx*yy)
}

// Discoveries adjusts p-values for their number after Benjamini and Hochberg:
// rejecting all whose adjusted value is at most q makes at most a share q of the
// rejections false, on average.
func Discoveries(p []float64) []float64 {
	order := sorted(p)
	adjusted := make([]float64, len(p))
	least := 1.0
	for i := len(order) - 1; i >= 0; i-- {
		least = min(least, p[order[i]]*float64(len(p))/float64(i+1))
		adjusted[order[i]] = least
	}
	return adjusted
}
