package logical

import (
	"context"
	"testing"
)

// BenchmarkAnalyze is the cost of another look at an opened trace: structure,
// metrics and causes of halo64_big, 57,600 operations.
func BenchmarkAnalyze(b *testing.B) {
	tr := openShared(b, "halo64_big")
	b.ReportAllocs()
	for b.Loop() {
		s := analyze(b, tr, Default())
		if _, err := s.Causes(context.Background(), CauseOptions{Threshold: s.Threshold()}); err != nil {
			b.Fatal(err)
		}
	}
}
