package main

import (
	"context"
	"math"

	"github.com/isobath/isobath/internal/memory/command"
	"github.com/isobath/isobath/internal/memory/command/commandtest"
)

// keystrokes types inputs letter by letter into a catalogue of 100 axes and
// 10 000 names. Ours is the slowest keystroke, in processor time, against the
// 10 ms after which typing feels slow.
func keystrokes(context.Context) ([]Result, error) {
	table := commandtest.Table(100, 10_000)
	slowest := 0.0
	for _, input := range []string{"correlate kernel 47 updte with attribute 31", "solver reduce 17", "exchnage halo", "slect attribute 7 above 200"} {
		for n := 1; n <= len(input); n++ {
			t := timing{math.Inf(1), math.Inf(1)}
			for range 3 {
				// A fresh catalogue remembers only the keystroke before.
				c := command.NewCatalogue(table, nil)
				c.Match(input[:n-1], command.Context{})
				if err := t.try(func() error { c.Match(input[:n], command.Context{}); return nil }); err != nil {
					return nil, err
				}
			}
			slowest = max(slowest, min(t.wall, t.cpu))
		}
	}
	return []Result{{Name: "keystroke", Ours: slowest, Peer: 10, Unit: "ms", Versus: "the limit of 10 ms", Ratio: slowest / 10, Bar: 1}}, nil
}
