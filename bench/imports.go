package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/isobath/isobath/bench/synth"
)

// imports measures how a CSV of samples becomes a run.
func imports(ctx context.Context, dir, program string) ([]Result, error) {
	small, smallBytes, err := importOf(ctx, dir, program, 300_000)
	if err != nil {
		return nil, err
	}
	large, _, err := importOf(ctx, dir, program, 3_000_000)
	if err != nil {
		return nil, err
	}
	growth := Result{Name: "import-growth", Ours: large.cpu, Peer: small.cpu, Unit: "s-cpu", Versus: "a tenth of the rows", Ratio: large.cpu / small.cpu, Bar: 11}
	throughput := Result{Name: "import-throughput", Ours: smallBytes / small.cpu / 1e6, Peer: 100, Unit: "MB/s-cpu", Versus: "limit", Bar: 1, AtLeast: true}
	throughput.Ratio = throughput.Ours / throughput.Peer
	return []Result{
		limit("import-300k-time", small.cpu, "s-cpu", 0.5),
		limit("import-300k-memory", small.rss, "MB", 250),
		throughput,
		growth,
	}, nil
}

// importOf writes a sample file of so many rows and imports it.
func importOf(ctx context.Context, dir, program string, rows int) (usage, float64, error) {
	file := filepath.Join(dir, "samples.csv")
	f, err := os.Create(file)
	if err != nil {
		return usage{}, 0, err
	}
	if err := synth.WriteMitos(f, rows); err != nil {
		return usage{}, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return usage{}, 0, err
	}
	if err := f.Close(); err != nil {
		return usage{}, 0, err
	}
	u, err := measure(ctx, 3, program, "import", "--force", file, "-o", filepath.Join(dir, "samples.isobath"))
	return u, float64(info.Size()), err
}
