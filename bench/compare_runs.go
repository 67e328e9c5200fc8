package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"

	"github.com/isobath/isobath/bench/synth"
	runs "github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/engine/kernel"
	"github.com/isobath/isobath/internal/engine/query"
	sides "github.com/isobath/isobath/internal/memory/compare"
	"github.com/isobath/isobath/internal/memory/study"
	"github.com/isobath/isobath/internal/memory/trial"
)

// overhead is what a trial adds to a run of a command: the same command started
// and waited for by itself is the peer, and 2 ms more are allowed.
func overhead(ctx context.Context) ([]Result, error) {
	e := trial.Execution{}
	ours, peer, err := turns(200, func() error { return nil },
		func() error { _, err := e.Run(ctx, []string{"true"}); return err },
		func() error { return exec.CommandContext(ctx, "true").Run() })
	if err != nil {
		return nil, err
	}
	return []Result{limit("ab-overhead", ours.wall-peer.wall, "ms", 2)}, nil
}

// Of a study that is measured: runs, and samples of each.
const (
	studyRuns    = 200
	studySamples = 1_000_000
)

// studies measures what a question about 200 runs of a million samples takes once
// they are read: laws, changes and odd runs of every metric. Reading is one
// question a run, measured beside it.
func studies(ctx context.Context) ([]Result, error) {
	t := synth.Samples(studySamples)
	e := kernel.New(query.Data{Table: t}, kernel.Options{})
	defer e.Close()
	one := sides.Run{Name: "run", Manifest: &runs.Manifest{}, Table: t, Engine: e}
	costs, err := sides.CostsOf(ctx, &one, []string{samples.Function})
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(25, 200))
	rows := make([]*study.Row, studyRuns)
	for i := range rows {
		n := float64(int(1) << (i % 6))
		rows[i] = &study.Row{Name: fmt.Sprintf("run-%03d", i), Parameters: map[string]any{"n": n}}
		rows[i].Set("cost", costs.Whole*n*(1+.02*random.NormFloat64()), nil)
		for k, g := range costs.Groups[:min(12, len(costs.Groups))] {
			rows[i].Set("cost of "+g.Label, g.Cost*float64(k+1)*n*(1+.02*random.NormFloat64()), g.Key)
		}
	}
	ours, read, err := turns(3, func() error { return nil },
		func() error { _, err := study.Look(rows, study.Options{}); return err },
		func() error { _, err := sides.CostsOf(ctx, &one, []string{samples.Function}); return err })
	if err != nil {
		return nil, err
	}
	return []Result{limit("study-200-runs", ours.cpu, "ms-cpu", 100), limit("study-read-1M", read.cpu, "ms-cpu", 100)}, nil
}
