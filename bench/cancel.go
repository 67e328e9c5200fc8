package main

import (
	"context"
	"time"

	"github.com/isobath/isobath/bench/synth"
	"github.com/isobath/isobath/internal/engine/kernel"
	"github.com/isobath/isobath/internal/engine/query"
)

// cancel is how long an answer goes on after it was cancelled, at moments spread
// over the whole of it: the median, because on a busy machine the longest time
// is another program's.
func cancel(ctx context.Context) ([]Result, error) {
	e := kernel.New(query.Data{Table: synth.Samples(screenRows)}, kernel.Options{})
	defer e.Close()
	start := time.Now()
	for i := range 2 {
		start = time.Now()
		if err := synth.Ask(ctx, e, synth.Selection(500, i)); err != nil {
			return nil, err
		}
	}
	whole := time.Since(start)
	var late timings
	const tries = 40
	for i := range tries {
		asked, stop := context.WithCancel(ctx)
		var stopped time.Time
		timer := time.AfterFunc(whole*time.Duration(i)/tries, func() { stopped = time.Now(); stop() })
		err := synth.Ask(asked, e, synth.Selection(500, i))
		if !timer.Stop() && err != nil {
			late = append(late, milliseconds(time.Since(stopped)))
		}
		stop()
	}
	return []Result{{
		Name: "cancel", Ours: late.median(), Peer: 5, Unit: "ms", Versus: "five milliseconds",
		Ratio: late.median() / 5, Bar: 1,
	}}, ctx.Err()
}
