package trace

import (
	"math"
	"testing"
)

func TestFarTimes(t *testing.T) {
	tests := []struct {
		origin, time uint64
		want         int64
	}{
		{10, 10, 0},
		{10, 7, -3},
		{7, 10, 3},
		{0, math.MaxInt64, math.MaxInt64},
		{0, math.MaxUint64, math.MaxInt64},
		{math.MaxUint64, 0, -math.MaxInt64},
	}
	for _, tt := range tests {
		if got := since(tt.origin, tt.time); got != tt.want {
			t.Errorf("since(%d, %d) = %d, want %d", tt.origin, tt.time, got, tt.want)
		}
	}
}

func TestLongSpan(t *testing.T) {
	tests := []struct {
		first, last int64
		resolution  uint64
		want        int64
	}{
		{5, 15, 1e9, 10},
		{-5, 5, 1e6, 10_000},
		{-math.MaxInt64, math.MaxInt64, 1e9, math.MaxInt64},
		{-math.MaxInt64, math.MaxInt64, 1e6, math.MaxInt64},
	}
	for _, tt := range tests {
		tr := &Trace{First: tt.first, Last: tt.last, Resolution: tt.resolution}
		if got := tr.SpanNS(); got != tt.want {
			t.Errorf("from %d to %d at %d Hz: %d ns, want %d", tt.first, tt.last, tt.resolution, got, tt.want)
		}
	}
	if got := (&Trace{Resolution: 1}).NS(math.MinInt64); got != -math.MaxInt64 {
		t.Errorf("the least number of ticks is %d ns", got)
	}
}
