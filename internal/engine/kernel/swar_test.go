package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
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
	into := make([]uint8, n+slack)
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
	p := &picks{words: words, count: len(at), list: at}
	run("pick", len(at), func() { pick8(left, p, into) })
	run("positions", len(at), func() { positions(words, at[:cap(at)]) })
	run("sums", n, func() { sumBytes(sums, left, 101, valueBlock{small: latency}); clear(sums) })
	run("sums, some lacking", n, func() { sumBytes(sums, left, 101, valueBlock{small: latency, lacking: lacking}); clear(sums) })
	run("scan", n, func() {
		for w := range words {
			words[w] = wordOf(left[w*64:w*64+64], span{20, 60})
		}
	})
}

// Vectors and plain loops pick the same.
func TestPick(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{64, 128, 4096, blockRows} {
		words := make([]uint64, n/64)
		for i := range words {
			words[i] = r.Uint64() & r.Uint64()
		}
		words[0] = []uint64{0, 1, math.MaxUint64}[r.IntN(3)]
		at := positions(words, make([]uint16, n))
		u8, u16, u32 := make([]uint8, n), make([]uint16, n), make([]uint32, n)
		for i := range n {
			u8[i], u16[i], u32[i] = uint8(r.Uint32()), uint16(r.Uint32()), r.Uint32()
		}
		p := &picks{words: words, count: len(at), room: make([]uint16, n)}
		if got, want := pick8(u8, p, make([]uint8, n+slack)), gatherBytes(u8, at, make([]uint8, n)); !slices.Equal(got, want) {
			t.Errorf("%d rows of one byte: got %v, want %v", n, got, want)
		}
		if got, want := pick16(u16, p, make([]uint16, n+slack)), gather(u16, at, make([]uint16, n)); !slices.Equal(got, want) {
			t.Errorf("%d rows of two bytes: got %v, want %v", n, got, want)
		}
		if got, want := pick32(u32, p, make([]uint32, n+slack)), gather(u32, at, make([]uint32, n)); !slices.Equal(got, want) {
			t.Errorf("%d rows of four bytes: got %v, want %v", n, got, want)
		}
	}
}

// Vectors and plain loops compare and sum the same, whatever the length.
func TestVectors(t *testing.T) {
	if !hasVectors {
		t.Skip("this processor has no AVX2")
	}
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 3, 4, 7, 63, 64, 65, 130, 4099} {
		codes, wide, latency := make([]uint8, n), make([]uint16, n), make([]uint32, n)
		for i := range n {
			codes[i], wide[i], latency[i] = uint8(r.IntN(256)), uint16(r.IntN(300)), uint32(r.IntN(small))
		}
		for _, s := range []span{{0, 255}, {0, 0}, {255, 255}, {10, 200}, {127, 128}, {3, 2}} {
			got := make([]uint64, (n+63)/64)
			compareCodes(codes, s, got)
			for i, c := range codes {
				if in := got[i/64]>>(i%64)&1 == 1; in != (c >= s.from && c <= s.to) {
					t.Fatalf("%d codes, range %v: code %d is in it: %v", n, s, c, in)
				}
			}
		}
		got, want := make([]packed, 600), make([]packed, 600)
		sumBytes(got, codes, 300, valueBlock{small: latency})
		sumWords(got, wide, 300, valueBlock{small: latency})
		sumPacked(want, codes, 300, valueBlock{small: latency})
		sumPacked(want, wide, 300, valueBlock{small: latency})
		if !slices.Equal(got, want) {
			t.Errorf("%d rows: got %v, want %v", n, got, want)
		}
	}
}
