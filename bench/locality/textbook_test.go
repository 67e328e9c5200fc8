package main

import (
	"testing"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/locality/reuse"
)

// TestTextbook: what the distances are measured against finds the same ones, also
// beyond the times that it has room for.
func TestTextbook(t *testing.T) {
	ours, peer := reuse.NewStack(), newTextbook()
	peer.now = textbookTimes - 100_000
	wrong := 0
	each(200_000, func(batch []refs.Ref) {
		for i := range batch {
			line := batch[i].Addr / 64
			d, _ := ours.Access(line)
			if got, again := peer.access(line); again != (d != reuse.First) || again && got != int(d) {
				if wrong++; wrong == 1 {
					t.Errorf("line %#x: %d, %v, want %d", line, got, again, d)
				}
			}
		}
	})
}
