package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/messages/mpiprog"
)

// traces measures `isobath steps`, from the files to the ranked causes, as a
// user runs it: halo64_big against the limits set for it, and its structure
// alone, printed, against otf2-print, which reads and prints too (what ranking
// by replay adds has the row whatif-share); then simulated halo exchanges of
// 4,096 processes, of a tenth and of all of 10 million events; and the structure
// of 100 million.
func traces(ctx context.Context, dir, program string) ([]Result, error) {
	results, err := traceHalo64(ctx, program)
	if err != nil {
		return results, err
	}
	more, err := traceMany(ctx, dir, program)
	if results = append(results, more...); err != nil {
		return results, err
	}
	large, err := traceLarge(ctx, dir, program)
	return append(results, large...), err
}

// traceLarge prints the structure of 100 million events of 4,096 processes, within
// 2 GB.
func traceLarge(ctx context.Context, dir, program string) ([]Result, error) {
	path := filepath.Join(dir, "large", "traces.otf2")
	if err := simulateHalo(path, 64, 64, 650); err != nil {
		return nil, err
	}
	defer os.RemoveAll(filepath.Dir(path))
	// Its rows are printed to nowhere: they are hundreds of megabytes.
	u, err := measure(ctx, 1, "sh", "-c", `exec "$0" steps --tsv "$1" >/dev/null`, program, path)
	if err != nil {
		return nil, err
	}
	return []Result{limit("trace-4096x100M-structure-memory", u.rss*(1<<20)/1e6, "MB", 2000)}, nil
}

// usage is what a program took at the best of several runs.
type usage struct {
	wall, cpu float64 // seconds
	rss       float64 // MB
	events    float64
}

// seconds is the time to compare with a limit: the clock, or on a busy machine
// the processor time shared out over the processors.
func (u usage) seconds() (float64, string) {
	if shared := u.cpu / float64(runtime.GOMAXPROCS(0)); u.wall > 1.5*u.cpu {
		return shared, "s-cpu"
	}
	return u.wall, "s"
}

// measure runs a program n times.
func measure(ctx context.Context, n int, name string, args ...string) (best usage, err error) {
	for i := range n {
		out, took, err := launched(ctx, name, args...)
		if err != nil {
			return best, err
		}
		u := usage{wall: float64(took.WallNS) / 1e9, cpu: float64(took.CPUNS) / 1e9, rss: float64(took.PeakKB) / 1024}
		var report struct{ Events float64 }
		if json.Unmarshal(out, &report) == nil {
			u.events = report.Events
		}
		if i == 0 {
			best = u
		}
		best.wall, best.cpu, best.rss = min(best.wall, u.wall), min(best.cpu, u.cpu), max(best.rss, u.rss)
	}
	return best, nil
}

func traceHalo64(ctx context.Context, program string) ([]Result, error) {
	path, err := test.FindFixture("otf2/halo64_big/traces.otf2")
	if err != nil {
		return nil, err
	}
	ours, err := measure(ctx, 5, program, "steps", "--json", path)
	if err != nil {
		return nil, err
	}
	structure, err := measure(ctx, 5, program, "steps", "--tsv", path)
	if err != nil {
		return nil, err
	}
	idle, err := measure(ctx, 1, program, "version")
	if err != nil {
		return nil, err
	}
	took, unit := ours.seconds()
	results := []Result{
		limit("trace-halo64-time", took, unit, 0.5),
		limit("trace-halo64-memory", ours.rss, "MB", 120),
		// Of a trace this small a third would be the program itself.
		limit("trace-halo64-bytes-per-event", (structure.rss-idle.rss)*(1<<20)/ours.events, "B", 100),
	}
	peer, err := exec.LookPath("otf2-print")
	if err != nil {
		return append(results, Result{Name: "trace-halo64-events", Skipped: "otf2-print is not installed (Debian package otf2-tools)"}), nil
	}
	theirs, err := measure(ctx, 5, peer, path)
	r := Result{Name: "trace-halo64-events", Ours: ours.events / structure.cpu / 1e6, Peer: ours.events / theirs.cpu / 1e6, Unit: "M/s-cpu",
		Versus: "otf2-print of the same events", Bar: 1, AtLeast: true}
	r.Ratio = r.Ours / r.Peer
	return append(results, r), err
}

// limit is a result against a limit rather than a peer.
func limit(name string, ours float64, unit string, most float64) Result {
	return Result{Name: name, Ours: ours, Peer: most, Unit: unit, Versus: "limit", Ratio: ours / most, Bar: 1}
}

func simulateHalo(path string, rows, columns, iterations int) error {
	p, err := mpiprog.New(path, rows*columns)
	if err != nil {
		return err
	}
	p.Halo(rows, columns, iterations, 20, iterations/2, 5_000_000)
	return p.Close()
}

// traceMany runs 4,096 processes. Growth is linear if ten times the events
// cost at most eleven times as much.
func traceMany(ctx context.Context, dir, program string) ([]Result, error) {
	var runs [2]usage
	for i, iterations := range []int{6, 66} { // 38 events per inner rank and iteration
		path := filepath.Join(dir, fmt.Sprintf("many%d", i), "traces.otf2")
		if err := simulateHalo(path, 64, 64, iterations); err != nil {
			return nil, err
		}
		var err error
		if runs[i], err = measure(ctx, 2, program, "steps", "--json", path); err != nil {
			return nil, err
		}
	}
	small, large := runs[0], runs[1]
	took, unit := large.seconds()
	growth := Result{Name: "trace-growth", Ours: large.cpu / large.events * 1e9, Peer: small.cpu / small.events * 1e9, Unit: "ns-cpu/event",
		Versus: "a tenth of the events", Bar: 1.1}
	growth.Ratio = growth.Ours / growth.Peer
	return []Result{
		limit("trace-4096x10M-time", took, unit, 20),
		limit("trace-4096x10M-memory", large.rss, "MB", 2048),
		limit("trace-4096x10M-bytes-per-event", large.rss*(1<<20)/large.events, "B", 100),
		growth,
	}, nil
}
