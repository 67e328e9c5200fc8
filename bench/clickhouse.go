package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"

	"github.com/isobath/isobath/internal/base/test"
)

// twoShards stores samples on two ClickHouse servers of this machine and asks for
// a screen of the page there. The servers are started by the benchmark of the
// engine, whose numbers these are.
func twoShards(ctx context.Context) ([]Result, error) {
	if _, err := exec.LookPath("clickhouse-server"); err != nil {
		return []Result{{Name: "clickhouse", Skipped: "clickhouse-server is not installed"}}, nil
	}
	once, err := shardBenchmark(ctx, 10_000_000)
	if err != nil {
		return nil, err
	}
	twice, err := shardBenchmark(ctx, 20_000_000)
	if err != nil {
		return nil, err
	}
	ingest := Result{Name: "clickhouse-ingest-10M", Ours: once["store rows/s"] / 1e6, Peer: 0.5, Unit: "M/s", Versus: "limit", Bar: 1, AtLeast: true}
	ingest.Ratio = ingest.Ours / ingest.Peer
	small, large := once["screen ns/op"]/1e9, twice["screen ns/op"]/1e9
	return []Result{
		ingest,
		limit("clickhouse-screen-10M", small, "s", 1.5),
		limit("clickhouse-screen-10M-selected", once["screen_selected ns/op"]/1e9, "s", 1.5),
		limit("clickhouse-drag-step-10M", once["step ns/op"]/1e6, "ms", 50),
		{Name: "clickhouse-screen-20M-growth", Ours: large, Peer: small, Unit: "s", Versus: "half the rows", Ratio: large / small, Bar: 2.1},
	}, nil
}

var benchmarkLine = regexp.MustCompile(`(?m)^BenchmarkTwoShards/(\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)
var benchmarkValue = regexp.MustCompile(`([0-9.e+]+) (\S+)`)

// shardBenchmark returns what BenchmarkTwoShards says, by part and unit.
func shardBenchmark(ctx context.Context, rows int) (map[string]float64, error) {
	c := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "TwoShards", "-benchtime", "3x", "-timeout", "20m", "./internal/engine/clickhouse")
	c.Dir = test.Root()
	c.Env = append(os.Environ(), "ISOBATH_ROWS="+strconv.Itoa(rows))
	out, err := c.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	said := map[string]float64{}
	for _, line := range benchmarkLine.FindAllSubmatch(out, -1) {
		for _, v := range benchmarkValue.FindAllSubmatch(line[2], -1) {
			if said[string(line[1])+" "+string(v[2])], err = strconv.ParseFloat(string(v[1]), 64); err != nil {
				return nil, err
			}
		}
	}
	if said["screen ns/op"] == 0 || said["step ns/op"] == 0 || said["store rows/s"] == 0 {
		return nil, fmt.Errorf("no measurement in %s", out)
	}
	return said, nil
}
