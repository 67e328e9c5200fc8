package whatif

import (
	"context"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/messages/logical"
)

func BenchmarkHalo64(b *testing.B) {
	g := build(b, test.Shared(b, "otf2/halo64_big/traces.otf2"))
	s, err := logical.Analyze(context.Background(), g.Trace, logical.Default())
	if err != nil {
		b.Fatal(err)
	}
	w := g.Recorded()
	b.Run("build", func(b *testing.B) {
		for b.Loop() {
			if _, err := Build(context.Background(), g.Trace); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("replay", func(b *testing.B) {
		var t *Times
		for b.Loop() {
			t = g.Replay(w, t)
		}
	})
	b.Run("rooms", func(b *testing.B) {
		t := g.Replay(w, nil)
		for b.Loop() {
			g.FindRooms(w, t)
		}
	})
	b.Run("rank", func(b *testing.B) {
		for b.Loop() {
			c, err := Rank(context.Background(), g, s, 8)
			if err != nil {
				b.Fatal(err)
			}
			c.Report(8, Clocks{})
		}
	})
}
