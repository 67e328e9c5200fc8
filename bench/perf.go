package main

import (
	"context"
	"os"
	"path/filepath"

	"isobath/bench/synth"
)

// perfData measures how a perf.data of a gigabyte becomes a run.
func perfData(ctx context.Context) ([]Result, error) {
	dir, err := os.MkdirTemp("", "isobath-bench-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	program, err := buildProgram(ctx, dir)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "perf.data")
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	samples, err := synth.WritePerf(f, 1<<30)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	u, err := measure(ctx, 3, program, "import", "--force", file, "-o", filepath.Join(dir, "perf.isobath"))
	if err != nil {
		return nil, err
	}
	speed := Result{Name: "perf-import-speed", Ours: float64(samples) / u.cpu / 1e6, Peer: 2, Unit: "M/s-cpu", Versus: "limit", Bar: 1, AtLeast: true}
	speed.Ratio = speed.Ours / speed.Peer
	return []Result{speed, limit("perf-import-1GB-memory", u.rss, "MB", 300)}, nil
}
