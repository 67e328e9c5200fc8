package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/messages/logical"
	"github.com/isobath/isobath/internal/messages/trace"
	"github.com/isobath/isobath/internal/messages/whatif"
)

// replays measures the what-if analysis of traces: one replay of halo64_big and
// of a million calls, the ranked list, and what ranking adds to `steps` at 10
// million events. Times are of the processor, for others may have the machine.
func replays(ctx context.Context, dir string) ([]Result, error) {
	path := filepath.Join(test.Root(), "..", "shared", "data", "otf2", "halo64_big", "traces.otf2")
	if _, err := os.Stat(path); err != nil {
		path = filepath.Join(dir, "halo64", "traces.otf2")
		if err := simulateHalo(path, 8, 8, 300); err != nil {
			return nil, err
		}
	}
	small, err := replaysOf(ctx, path, 20)
	if err != nil {
		return nil, err
	}
	results := []Result{
		limit("whatif-replay", small.replay, "s", 0.010),
		limit("whatif-graph", small.build, "s", 0.2),
		limit("whatif-list", small.rank, "s", 1),
	}
	million := filepath.Join(dir, "million", "traces.otf2")
	if err := simulateHalo(million, 64, 64, 26); err != nil {
		return results, err
	}
	large, err := replaysOf(ctx, million, 3)
	if err != nil {
		return results, err
	}
	perMillion := large.replay / float64(large.calls) * 1e6
	results = append(results, limit("whatif-replay-1M", perMillion, "s", 0.3))
	many := filepath.Join(dir, "many", "traces.otf2")
	if err := simulateHalo(many, 64, 64, 66); err != nil {
		return results, err
	}
	share, err := replaysOf(ctx, many, 1)
	r := Result{Name: "whatif-share", Ours: share.build + share.rank, Peer: share.steps, Unit: "s-cpu", Versus: "reading, steps and lateness of 10 M events", Bar: 0.5}
	r.Ratio = r.Ours / r.Peer
	return append(results, r), err
}

// replayTimes are processor seconds.
type replayTimes struct {
	steps, build, rank, replay float64
	calls                      int
}

func replaysOf(ctx context.Context, path string, n int) (replayTimes, error) {
	var out replayTimes
	start := cpu()
	lap := func() float64 {
		d := cpu() - start
		start = cpu()
		return d.Seconds()
	}
	t, err := trace.Open(ctx, path)
	if err != nil {
		return out, err
	}
	s, err := logical.Analyze(ctx, t, logical.Default())
	if err != nil {
		return out, err
	}
	c, err := s.Causes(ctx, logical.CauseOptions{Threshold: s.Threshold()})
	if err != nil {
		return out, err
	}
	s.NewReport(c, 10)
	out.steps = lap()
	g, err := whatif.Build(ctx, t)
	if err != nil {
		return out, err
	}
	out.build, out.calls = lap(), g.Len()
	ranked, err := whatif.Rank(ctx, g, s, 8)
	if err != nil {
		return out, err
	}
	ranked.Report(8, whatif.Clocks{})
	out.rank = lap()
	w := g.Recorded()
	times := g.Replay(w, nil)
	out.replay = time.Hour.Seconds()
	for range n {
		lap()
		times = g.Replay(w, times)
		out.replay = min(out.replay, lap())
	}
	return out, nil
}
