package mesh

// NthElement returns the n-th smallest of values, counted from 0, and reorders
// them: Hoare's selection, linear where sorting a million numbers takes a
// twentieth of a second. Values must hold no NaN.
func NthElement(values []float64, n int) float64 {
	for lo, hi := 0, len(values)-1; lo < hi; {
		pivot := middle(values[lo], values[lo+(hi-lo)/2], values[hi])
		i, j := lo, hi
		for i <= j {
			for values[i] < pivot {
				i++
			}
			for values[j] > pivot {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i++
				j--
			}
		}
		switch {
		case n <= j:
			hi = j
		case n >= i:
			lo = i
		default:
			return values[n]
		}
	}
	return values[n]
}

func middle(a, b, c float64) float64 { return max(min(a, b), min(max(a, b), c)) }
