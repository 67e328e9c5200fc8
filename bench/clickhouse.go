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
	killed, err := killedImports(ctx)
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
		limit("clickhouse-shard-lost", once["lost s-until-said"], "s", 2),
		asMany("clickhouse-same-10M", once["same same"], once["same asked"], "answers", "the kernel's"),
		asMany("clickhouse-killed-imports", killed, kills, "imports", "killed and repeated, each row once"),
		{Name: "clickhouse-screen-20M-growth", Ours: large, Peer: small, Unit: "s", Versus: "half the rows", Ratio: large / small, Bar: 2.1},
	}, nil
}

// asMany is a row that wants all of some.
func asMany(name string, ours, all float64, unit, versus string) Result {
	return Result{Name: name, Ours: ours, Peer: all, Unit: unit, Versus: versus, Ratio: ours / all, Bar: 1, AtLeast: true}
}

// kills is how many imports are killed at random moments.
const kills = 50

var killedLine = regexp.MustCompile(`(\d+) of \d+ killed imports`)

// killedImports kills imports by the test that make test has with fewer, and returns
// after how many a second import held each row once.
func killedImports(ctx context.Context) (float64, error) {
	c := exec.CommandContext(ctx, "go", "test", "-count=1", "-run", "^TestKilledImport$", "-v", "-timeout", "20m", "./internal/engine/clickhouse")
	c.Dir = test.Root()
	c.Env = append(os.Environ(), "ISOBATH_KILLS="+strconv.Itoa(kills))
	out, err := c.CombinedOutput()
	said := killedLine.FindSubmatch(out)
	if said == nil {
		return 0, fmt.Errorf("%w: %s", err, out)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: %s\n", out)
		return 0, nil
	}
	return strconv.ParseFloat(string(said[1]), 64)
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
	if said["screen ns/op"] == 0 || said["step ns/op"] == 0 || said["store rows/s"] == 0 || said["lost whole"] == 0 {
		return nil, fmt.Errorf("no measurement in %s", out)
	}
	return said, nil
}
