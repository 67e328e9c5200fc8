package main

import (
	"context"
	"fmt"

	"github.com/isobath/isobath/bench/synth"
	"github.com/isobath/isobath/internal/engine/kernel"
	"github.com/isobath/isobath/internal/engine/query"
)

// drag times one move of a brush with a ready cube, over 1 M and over 100 M
// rows: it must not depend on the rows, and take a small part of what counting
// a million rows anew takes, which is some ten milliseconds.
func drag(ctx context.Context) ([]Result, error) {
	var moves []func() error
	for _, how := range []struct {
		rows int
		cube bool
	}{{1_000_000, true}, {100_000_000, true}, {1_000_000, false}} {
		e := kernel.New(query.Data{Table: synth.Overlaid(how.rows)}, kernel.Options{})
		defer e.Close()
		r := &query.Request{Pairs: synth.Pairs(synth.OverlaidAxes)}
		for i := range synth.OverlaidAxes {
			r.Axes = append(r.Axes, query.Axis{Column: fmt.Sprintf("c%d", i), Bins: 100})
		}
		if how.cube {
			if err := e.Prepare(ctx, r, r.Axes[0]); err != nil {
				return nil, err
			}
		}
		i := 0
		moves = append(moves, func() error {
			for range 10 {
				i++
				moved := *r
				moved.Where = synth.Brush("c0", i%40*100, (i%40+50)*100)
				if err := synth.Ask(ctx, e, &moved); err != nil {
					return err
				}
			}
			return nil
		})
	}
	large, small, err := turns(50, func() error { return nil }, moves[1], moves[0])
	if err != nil {
		return nil, err
	}
	again, anew, err := turns(20, func() error { return nil }, moves[1], moves[2])
	if err != nil {
		return nil, err
	}
	a, b := large.wall/10, small.wall/10
	return []Result{
		{Name: "drag-100M", Ours: a, Peer: b, Unit: "ms", Versus: "a move over 1 M rows", Ratio: a / b, Bar: 1.25},
		{Name: "drag-100M-anew", Ours: again.cpu / 10, Peer: anew.cpu / 10, Unit: "ms-cpu", Versus: "counting 1 M rows anew", Ratio: again.cpu / anew.cpu, Bar: 0.2},
	}, nil
}
