package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/isobath/isobath/bench/synth"
	"github.com/isobath/isobath/internal/base/test"
)

// perfData measures how a perf.data of a gigabyte becomes a run.
func perfData(ctx context.Context, dir, program string) ([]Result, error) {
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

// perfUnwind compares the import of a recording with copies of the stack, some
// 200 MB of them, with perf script, which unwinds the same and prints it. Both
// are measured by processor time: the files that are unwound are in memory.
func perfUnwind(ctx context.Context, dir, program string) ([]Result, error) {
	perf, err := exec.LookPath("perf")
	if err != nil {
		return []Result{{Name: "perf-unwind", Skipped: "perf is not installed"}}, nil
	}
	in := filepath.Join(test.Root(), "internal", "formats", "perfdata", "testdata", "unwind")
	deep, file := filepath.Join(dir, "deep"), filepath.Join(dir, "perf.data")
	missing, err := compileC(ctx, "gcc", deep, "-O2", "-fomit-frame-pointer", filepath.Join(in, "deep.c"), filepath.Join(in, "library.c"))
	if err != nil || missing != "" {
		return []Result{{Name: "perf-unwind", Skipped: missing}}, err
	}
	if _, err := exec.CommandContext(ctx, perf, "record", "-q", "-N", "-e", "cpu-clock", "-c", "200000", "--call-graph", "dwarf", "-o", file, deep, "50").Output(); err != nil {
		return []Result{{Name: "perf-unwind", Skipped: "perf cannot record here"}}, nil
	}
	ours, err := measure(ctx, 3, program, "import", "--force", file, "-o", filepath.Join(dir, "perf.isobath"))
	if err != nil {
		return nil, err
	}
	peer, err := measure(ctx, 3, perf, "script", "--no-inline", "-F", "pid,tid,time,ip,sym,dso", "-i", file)
	if err != nil {
		return nil, err
	}
	return []Result{
		{Name: "perf-unwind", Ours: ours.cpu, Peer: peer.cpu, Unit: "s-cpu", Versus: "perf script", Ratio: ours.cpu / peer.cpu, Bar: 1},
		limit("perf-unwind-memory", ours.rss, "MB", 300),
	}, nil
}
