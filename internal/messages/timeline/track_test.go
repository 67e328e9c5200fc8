package timeline

import (
	"math"
	"testing"

	"github.com/isobath/isobath/internal/messages/trace"
)

// TestTrack: what a counter grew between two readings lies between them, and
// nothing is lost.
func TestTrack(t *testing.T) {
	r := readings{[]int64{10, 20, 40}, []float64{0, 100, 140}, trace.Accumulated}
	for _, c := range []struct {
		from, to int64
		want     float64
	}{{10, 15, 50}, {15, 20, 50}, {20, 30, 20}, {15, 30, 70}, {10, 40, 140}, {40, 60, 0}} {
		if got := r.over(c.from, c.to); got != c.want {
			t.Errorf("from %d to %d it grew by %v, want %v", c.from, c.to, got, c.want)
		}
	}
	if v := r.over(0, 15); !math.IsNaN(v) {
		t.Errorf("before its first reading a counter grew by %v", v)
	}
}
