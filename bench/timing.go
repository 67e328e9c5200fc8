package main

import (
	"slices"
	"time"
)

// turns times two functions in turns and returns the median of each in
// milliseconds.
func turns(n int, ours, peer func() error) (float64, float64, error) {
	var a, b []float64
	for range n {
		for _, x := range []struct {
			do   func() error
			into *[]float64
		}{{ours, &a}, {peer, &b}} {
			start := time.Now()
			if err := x.do(); err != nil {
				return 0, 0, err
			}
			*x.into = append(*x.into, float64(time.Since(start).Microseconds())/1000)
		}
	}
	return median(a), median(b), nil
}

func median(s []float64) float64 {
	s = slices.Clone(s)
	slices.Sort(s)
	return s[len(s)/2]
}
