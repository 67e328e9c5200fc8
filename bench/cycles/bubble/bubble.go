// Package bubble is a bubble sort as the analysis of cycles sees it, for the rows
// that need millions of windows.
package bubble

import "math/rand/v2"

// Instructions is the string of instructions of a bubble sort of 300 numbers in a vector: 38
// references for a comparison, 57 more for a swap, 20 more for a pass.
func Instructions() []uint32 {
	rng := rand.New(rand.NewPCG(1, 2))
	value := rng.Perm(1000)[:300]
	var out []uint32
	emit := func(from, n uint32) {
		for s := range n {
			out = append(out, from+s)
		}
	}
	for pass := range value {
		swapped := false
		emit(0, 10)
		for i := range len(value) - 1 - pass {
			emit(10, 30)
			if value[i] > value[i+1] {
				value[i], value[i+1] = value[i+1], value[i]
				swapped = true
				emit(40, 57)
			}
			emit(97, 8)
		}
		emit(105, 10)
		if !swapped {
			break
		}
	}
	return out
}
