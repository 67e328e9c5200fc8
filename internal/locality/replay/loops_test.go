package replay

import (
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/locality/platform"
)

// An inner loop that stays in the first level misses once a line; one that walks
// over more than that level holds misses every line in every turn of the outer.
func TestLoopMisses(t *testing.T) {
	m, ok := platform.Preset("skylake")
	if !ok {
		m, _ = platform.Preset(platform.Presets()[0])
	}
	line, size := m.Levels[0].Line, m.Levels[0].Size
	l := NewLoopMisses(m)
	small, large := 8, 4*size/line
	for range 3 {
		for i := range small {
			l.Visit(&refs.Ref{Addr: uint64(1<<30 + i*line), Size: 8}, []int{1, 0})
		}
		for i := range large {
			l.Visit(&refs.Ref{Addr: uint64(1<<31 + i*line), Size: 8}, []int{2, 0})
		}
	}
	if got, want := l.Of(2).Misses[0], uint64(3*large); got != want {
		t.Errorf("%d misses of the large loop, want %d", got, want)
	}
	if got := l.Of(1).Misses[0]; got != uint64(3*small) { // the large loop throws them out
		t.Errorf("%d misses of the small loop, want %d", got, 3*small)
	}
	if got, want := l.Of(0).Misses, l.All().Misses; !slices.Equal(got, want) {
		t.Errorf("%v misses of the outer loop, want all: %v", got, want)
	}
	if got := l.Of(9).Misses; slices.Max(got) != 0 {
		t.Errorf("a loop without references misses %v", got)
	}
}
