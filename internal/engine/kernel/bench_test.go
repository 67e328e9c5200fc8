package kernel_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/isobath/isobath/bench/synth"
	"github.com/isobath/isobath/internal/engine/kernel"
	"github.com/isobath/isobath/internal/engine/query"
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

// BenchmarkDrag moves a brush over an axis that is prepared: the time must not
// depend on the rows.
func BenchmarkDrag(b *testing.B) {
	ctx := context.Background()
	e := kernel.New(query.Data{Table: synth.Overlaid(rows())}, kernel.Options{})
	defer e.Close()
	r := &query.Request{Pairs: synth.Pairs(synth.OverlaidAxes)}
	for i := range synth.OverlaidAxes {
		r.Axes = append(r.Axes, query.Axis{Column: fmt.Sprintf("c%d", i), Bins: 100})
	}
	if err := e.Prepare(ctx, r, r.Axes[0]); err != nil {
		b.Fatal(err)
	}
	i := 0
	least := time.Duration(math.MaxInt64)
	for b.Loop() {
		i++
		moved := *r
		moved.Where = synth.Brush("c0", i%40*100, (i%40+50)*100)
		start := time.Now()
		if err := synth.Ask(ctx, e, &moved); err != nil {
			b.Fatal(err)
		}
		least = min(least, time.Since(start))
	}
	b.ReportMetric(float64(least.Nanoseconds()), "least-ns/op")
}
