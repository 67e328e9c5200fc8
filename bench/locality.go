package main

import (
	"context"
	"path/filepath"
	"strconv"
)

// locality measures reuse distances, the whole pass, caches and a changed
// layout, in processor time beyond what making the references takes.
func locality(ctx context.Context, dir string) ([]Result, error) {
	program := filepath.Join(dir, "locality")
	if err := buildGo(ctx, "./bench/locality", program); err != nil {
		return nil, err
	}
	var results []Result
	for _, r := range []struct {
		work  string
		n     int
		most  float64 // ns a reference
		reads string
	}{{"distances", 20_000_000, 30, "locality-distances"}, {"pass", 20_000_000, 100, "locality-pass"}, {"caches", 20_000_000, 40, "locality-caches"}} {
		ns, err := beyondMaking(ctx, program, r.work, r.n)
		if err != nil {
			return results, err
		}
		results = append(results, limit(r.reads, ns, "ns-cpu", r.most))
	}
	long, err := measure(ctx, 1, program, "pass", "50000000")
	if err != nil {
		return results, err
	}
	results = append(results, limit("locality-pass-50M-time", long.cpu, "s-cpu", 6), limit("locality-pass-50M-memory", long.rss, "MB", 1000))
	layout, err := beyondMaking(ctx, program, "layout", 3_500_000)
	if err != nil {
		return results, err
	}
	return append(results, limit("locality-layout-3.5M", layout*3.5e6/1e9, "s-cpu", 1)), nil
}

// beyondMaking is the nanoseconds a reference that work takes beyond making it.
func beyondMaking(ctx context.Context, program, work string, n int) (float64, error) {
	count := strconv.Itoa(n)
	making, err := measure(ctx, 3, program, "generate", count)
	if err != nil {
		return 0, err
	}
	whole, err := measure(ctx, 3, program, work, count)
	if err != nil {
		return 0, err
	}
	return (whole.cpu - making.cpu) * 1e9 / float64(n), nil
}
