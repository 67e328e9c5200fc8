package kernel_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"

	"isobath/bench/synth"
	"isobath/internal/kernel"
	"isobath/internal/query"
)

// rows is the size of the benchmarks' table: ISOBATH_BENCH_ROWS, or small
// enough for a quick look.
func rows() int {
	if n, err := strconv.Atoi(os.Getenv("ISOBATH_BENCH_ROWS")); err == nil {
		return n
	}
	return 1_000_000
}

// BenchmarkScreen answers a full screen: 16 axes, 15 pairs, 4 sums, for a
// selection and a hover of half of it, different ones each time.
func BenchmarkScreen(b *testing.B) {
	d := query.Data{Table: synth.Samples(rows())}
	for _, permille := range []int{0, 10, 100, 330, 500, 670, 900, 1000} {
		b.Run(fmt.Sprintf("selected=%d‰", permille), func(b *testing.B) {
			e := kernel.New(d, kernel.Options{})
			defer e.Close()
			ask := func(i int) {
				if err := synth.Ask(context.Background(), e, synth.Selection(permille, i)); err != nil {
					b.Fatal(err)
				}
			}
			ask(0)
			for i := 0; b.Loop(); i++ {
				ask(i)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows()), "ns/row")
		})
	}
}
