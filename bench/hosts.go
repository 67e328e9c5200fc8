package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/isobath/isobath/bench/synth"
	"github.com/isobath/isobath/internal/base/test"
)

// manyHosts merges the recordings of 256 hosts, two of which are odd, and looks
// for those two. Memory must not follow the number of samples: of each member only
// the names are kept, which is half as much again for four times the hosts.
func manyHosts(ctx context.Context, dir, program string) ([]Result, error) {
	const hosts, rows = 256, 20_000
	paths, err := synth.WriteHosts(ctx, dir, hosts, rows)
	if err != nil {
		return nil, err
	}
	all := filepath.Join(dir, "all.isobath")
	merge := func(some []string) (usage, error) {
		return measure(ctx, 1, program, slices.Concat([]string{"import", "--force", "-o", all}, some)...)
	}
	few, err := merge(paths[:hosts/4])
	if err != nil {
		return nil, err
	}
	many, err := merge(paths)
	if err != nil {
		return nil, err
	}
	speed := Result{Name: "hosts-256-import", Ours: hosts * rows / many.cpu / 1e6, Peer: 1, Unit: "M/s-cpu", Versus: "limit", Bar: 1, AtLeast: true}
	speed.Ratio = speed.Ours / speed.Peer
	out, took, err := launched(ctx, program, "insights", "--json", all)
	if err != nil {
		return nil, err
	}
	first, err := oddFirst(out)
	if err != nil {
		return nil, err
	}
	written, err := measure(ctx, 1, program, "export", all, "-o", filepath.Join(dir, "all.csv"))
	if err != nil {
		return nil, err
	}
	same, err := storedSame(ctx, hosts)
	if err != nil {
		return nil, err
	}
	return []Result{
		speed, same,
		{Name: "hosts-256-memory", Ours: many.rss, Peer: few.rss, Unit: "MB", Versus: "a quarter of the hosts", Ratio: many.rss / few.rss, Bar: 1.5},
		{Name: "hosts-256-odd-first", Ours: float64(first), Peer: float64(len(synth.OddHosts)), Unit: "hosts", Versus: "those that are odd", Ratio: float64(first) / float64(len(synth.OddHosts)), Bar: 1, AtLeast: true},
		limit("hosts-256-export-memory", written.rss, "MB", 300),
		limit("hosts-256-insights-time", float64(took.CPUNS)/1e9, "s-cpu", 20),
	}, nil
}

// storedSame asks verbs and the routes of the page about as many hosts in a folder and in
// ClickHouse, by the tests that make test has with fewer.
func storedSame(ctx context.Context, hosts int) (Result, error) {
	r := Result{Name: "hosts-256-clickhouse-same", Peer: 1, Unit: "all", Versus: "answers of a folder", Bar: 1, AtLeast: true}
	if _, err := exec.LookPath("clickhouse-server"); err != nil {
		r.Skipped = "clickhouse-server is not installed"
		return r, nil
	}
	c := exec.CommandContext(ctx, "go", "test", "-count=1", "-run", "^(TestStoredAnswers|TestStoredRoutes)$", "-timeout", "20m", "./cmd/isobath", "./internal/app/server")
	c.Dir = test.Root()
	c.Env = append(os.Environ(), "ISOBATH_STORED_HOSTS="+strconv.Itoa(hosts))
	out, err := c.CombinedOutput()
	var failed *exec.ExitError
	switch {
	case err == nil:
		r.Ours, r.Ratio = 1, 1
	case errors.As(err, &failed):
		fmt.Fprintf(os.Stderr, "bench: %s\n", out)
	default:
		return r, err
	}
	return r, nil
}

// oddFirst counts the odd hosts among as many first findings.
func oddFirst(answer []byte) (int, error) {
	var said struct {
		Insights []struct{ Where string }
	}
	if err := json.Unmarshal(answer, &said); err != nil {
		return 0, fmt.Errorf("insights: %w", err)
	}
	n := 0
	for _, finding := range said.Insights[:min(len(said.Insights), len(synth.OddHosts))] {
		if slices.ContainsFunc(synth.OddHosts, func(name string) bool { return finding.Where == fmt.Sprintf("host = %s", name) }) {
			n++
		}
	}
	if n < len(synth.OddHosts) {
		fmt.Fprintf(os.Stderr, "bench: the findings begin with %+v\n", said.Insights[:min(len(said.Insights), 3)])
	}
	return n, nil
}
