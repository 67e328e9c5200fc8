package whatif

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/term"
)

// TestTimes: the product in a sentence is what the delays add up to.
func TestTimes(t *testing.T) {
	for _, tt := range []struct {
		amount ReportAmount
		count  int
		want   string
	}{
		{ReportAmount{Median: 2e6, Max: 2e6, Sum: 80e6}, 40, "40 × 2.00 ms"},
		{ReportAmount{Median: 144e3, Max: 120e6, Sum: 120.1e6}, 2, "120 ms (2 times, up to 120 ms)"},
		{ReportAmount{Median: 5e6, Max: 5e6, Sum: 5e6}, 1, "5.00 ms"},
	} {
		if got := tt.amount.times(tt.count); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.amount, got, tt.want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		parts := make([]int64, 2+rng.IntN(60))
		var sum int64
		for i := range parts {
			parts[i] = int64(1e5 * (1 + rng.ExpFloat64()*float64(rng.IntN(3))))
			sum += parts[i]
		}
		slices.Sort(parts)
		a := ReportAmount{Median: parts[len(parts)/2], Max: parts[len(parts)-1], Sum: sum}
		said := a.times(len(parts))
		if product := a.Median * int64(len(parts)); strings.Contains(said, "×") && (product < sum*94/100 || product > sum*106/100) {
			t.Fatalf("%s of delays that add up to %s", said, term.Duration(sum))
		}
		if !strings.HasPrefix(said, fmt.Sprint(len(parts), " × ")) && !strings.HasPrefix(said, term.Duration(sum)) {
			t.Fatalf("%q is neither a product nor the sum", said)
		}
	}
}
