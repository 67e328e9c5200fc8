package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// The loops one by one; the least time is that of a quiet moment.
func BenchmarkLoops(b *testing.B) {
	const n = blockRows
	r := rand.New(rand.NewPCG(1, 2))
	left, right, lacking := make([]uint8, n), make([]uint8, n), make([]uint8, n)
	latency := make([]uint32, n)
	words := make([]uint64, n/64)
	for i := range n {
		left[i], right[i], lacking[i] = uint8(r.IntN(100)), uint8(r.IntN(100)), uint8(r.IntN(10)/9)
		latency[i] = uint32(r.IntN(2000))
	}
	for i := range words {
		words[i] = r.Uint64()
	}
	at := positions(words, make([]uint16, n))
	var cells cellTable
	flat := make([]uint32, 3*101*101)
	sums := make([]packed, 6*300)
	into := make([]uint8, n)
	run := func(name string, rows int, loop func()) {
		b.Run(name, func(b *testing.B) {
			least := time.Duration(math.MaxInt64)
			for b.Loop() {
				start := time.Now()
				loop()
				least = min(least, time.Since(start))
			}
			b.ReportMetric(float64(least.Nanoseconds())/float64(rows), "least-ns/row")
		})
	}
	run("pairs", n, func() { countPairs(&cells, left, right, 101) })
	run("pairs, plain", n, func() { countWide(flat, left, right, 101) })
	run("gather", len(at), func() { gatherBytes(left, at, into) })
	run("positions", len(at), func() { positions(words, at[:cap(at)]) })
	run("sums", n, func() { sumBytes(sums, left, 101, valueBlock{small: latency}); clear(sums) })
	run("sums, some lacking", n, func() { sumBytes(sums, left, 101, valueBlock{small: latency, lacking: lacking}); clear(sums) })
	run("scan", n, func() {
		for w := range words {
			words[w] = wordOf(left[w*64:w*64+64], span{20, 60})
		}
	})
}
