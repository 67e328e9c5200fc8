package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/record/mpitrace"
	"github.com/isobath/isobath/internal/record/reftrace"
	"github.com/isobath/isobath/internal/record/target"
)

// compileC builds a benchmark program; the result is what is missing, if so.
func compileC(ctx context.Context, compiler, out string, args ...string) (missing string, err error) {
	cc, err := exec.LookPath(compiler)
	if err != nil {
		return compiler + " is not installed", nil
	}
	if text, err := exec.CommandContext(ctx, cc, append([]string{"-g", "-o", out}, args...)...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", compiler, err, text)
	}
	return "", nil
}

// recordReferences measures the recorders of reference traces on the bubble
// sort: stepping in instructions a second, qemu by the time of a million.
func recordReferences(ctx context.Context, dir string) ([]Result, error) {
	exe := filepath.Join(dir, "bubble")
	loops := filepath.Join(test.Root(), "examples", "loops")
	missing, err := compileC(ctx, "c++", exe, "-O0", filepath.Join(loops, "bubble_vector.cpp"), filepath.Join(loops, "region.c"))
	if err != nil || missing != "" {
		return []Result{{Name: "refs", Skipped: missing}}, err
	}
	// The second number is the clock's, or the processor time of recorder and
	// program where others had the processors: both take turns.
	sort := func(n int, b reftrace.Backend, flow bool) (*reftrace.Recording, float64, error) {
		command := []string{exe}
		for i := range n {
			command = append(command, strconv.Itoa((i*7919+13)%1009)) // no order in it
		}
		start, used := time.Now(), cpu()+cpuOfChildren()
		rec, err := reftrace.Record(ctx, reftrace.Options{Command: command, Backend: b, Thread: reftrace.FirstThread, Flow: flow,
			Region: target.Region{Begin: "region_begin", End: "region_end"}})
		wall, own := time.Since(start).Seconds(), (cpu() + cpuOfChildren() - used).Seconds()
		if wall > 1.3*own {
			return rec, own, err
		}
		return rec, wall, err
	}
	stepped, seconds, err := sort(30, reftrace.Step, false)
	if err != nil {
		return nil, err
	}
	speed := float64(stepped.Instructions) / seconds
	results := []Result{{Name: "refs-step", Ours: speed, Peer: 30000, Unit: "instr/s", Versus: "limit", Ratio: speed / 30000, Bar: 1, AtLeast: true}}
	if _, err := exec.LookPath("valgrind"); err != nil {
		results = append(results, Result{Name: "refs-flow-valgrind", Skipped: "valgrind is not installed"})
	} else {
		rows, err := flowCost(ctx, dir, "-valgrind", func(flow bool) (*reftrace.Recording, float64, error) { return sort(100, reftrace.Valgrind, flow) })
		if err != nil {
			return results, err
		}
		results = append(results, rows...)
	}
	if _, err := exec.LookPath("qemu-x86_64"); err != nil {
		results = append(results, Result{Name: "refs-qemu-1M", Skipped: "qemu-x86_64 is not installed (Debian package qemu-user)"})
	} else {
		emulated, seconds, err := sort(200, reftrace.QEMU, false)
		if err != nil {
			return nil, err
		}
		if n := len(emulated.Refs); n < 1_000_000 {
			return nil, fmt.Errorf("the trace has %d references, want a million", n)
		}
		results = append(results, limit("refs-qemu-1M", seconds, "s", 60))
		rows, err := flowCost(ctx, dir, "", func(flow bool) (*reftrace.Recording, float64, error) { return sort(200, reftrace.QEMU, flow) })
		if err != nil {
			return results, err
		}
		results = append(results, rows...)
	}
	hooked, err := hookedSpeed(ctx, dir)
	return append(results, hooked...), err
}

// flowCost is the time and the space that control flow adds to a recording. Those
// with and without take turns, and the fastest of each counts: the first one may
// build a plugin, too.
func flowCost(ctx context.Context, dir, suffix string, record func(flow bool) (*reftrace.Recording, float64, error)) ([]Result, error) {
	var last [2]*reftrace.Recording
	var fastest [2]float64
	for i := range 3 {
		for k, flow := range []bool{false, true} {
			rec, seconds, err := record(flow)
			if err != nil {
				return nil, err
			}
			if i == 0 || seconds < fastest[k] {
				fastest[k] = seconds
			}
			if last[k] != nil {
				if err := last[k].Close(); err != nil {
					return nil, err
				}
			}
			last[k] = rec
		}
	}
	space, err := flowSpace(ctx, dir, last[0], last[1])
	space.Name += suffix
	plain, more := fastest[0], fastest[1]
	return []Result{{Name: "refs-flow-time" + suffix, Ours: more, Peer: plain, Unit: "s", Versus: "without control flow", Ratio: more / plain, Bar: 1.15}, space}, err
}

// hookedSpeed is how many references a program with compiler hooks records in a
// second of its own processor time, with control flow and without; the best of three.
func hookedSpeed(ctx context.Context, dir string) ([]Result, error) {
	exe := filepath.Join(dir, "hooked")
	loops := filepath.Join(test.Root(), "examples", "loops")
	if err := reftrace.Compile(ctx, []string{"c++", "-O0", filepath.Join(loops, "bubble_vector.cpp"), filepath.Join(loops, "region.c"), "-o", exe}, os.Stderr, os.Stderr); err != nil {
		return nil, err
	}
	command := []string{exe}
	for i := range 1000 {
		command = append(command, strconv.Itoa((i*7919+13)%1009))
	}
	var results []Result
	for _, row := range []struct {
		name  string
		flow  bool
		least float64
	}{{"refs-hooks-flow", true, 8_000_000}, {"refs-hooks", false, 10_000_000}} {
		best := 0.0
		for range 3 {
			used := cpuOfChildren()
			rec, err := reftrace.Record(ctx, reftrace.Options{Command: command, Backend: reftrace.Instrument, Thread: reftrace.FirstThread, Flow: row.flow,
				Region: target.Region{Begin: "region_begin", End: "region_end"}})
			if err != nil {
				return results, err
			}
			best = max(best, float64(len(rec.Refs))/(cpuOfChildren()-used).Seconds())
			if err := rec.Close(); err != nil {
				return results, err
			}
		}
		results = append(results, Result{Name: row.name, Ours: best, Peer: row.least, Unit: "refs/s", Versus: "limit", Ratio: best / row.least, Bar: 1, AtLeast: true})
	}
	return results, nil
}

// flowSpace compares the sizes of a recording with and without control flow.
func flowSpace(ctx context.Context, dir string, without, with *reftrace.Recording) (Result, error) {
	var sizes [2]float64
	for i, rec := range []*reftrace.Recording{without, with} {
		r, err := rec.Run()
		if err != nil {
			return Result{}, err
		}
		path := filepath.Join(dir, fmt.Sprintf("flow%d.isobath", i))
		if err := r.Write(ctx, path, true); err != nil {
			return Result{}, err
		}
		err = filepath.WalkDir(path, func(_ string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err == nil {
				sizes[i] += float64(info.Size())
			}
			return err
		})
		if err != nil {
			return Result{}, err
		}
	}
	return Result{Name: "refs-flow-space", Ours: sizes[1], Peer: sizes[0], Unit: "bytes", Versus: "without control flow", Ratio: sizes[1] / sizes[0], Bar: 1.15}, nil
}

// recordMessages measures what recording adds to an MPI call. Plain and recorded
// runs alternate; the smallest difference to the fastest plain run counts.
func recordMessages(ctx context.Context, dir string) ([]Result, error) {
	const name = "mpi-overhead"
	exe := filepath.Join(dir, "calls")
	missing, err := compileC(ctx, "mpicc", exe, "-O2", filepath.Join(test.Root(), "bench", "calls", "calls.c"))
	if err != nil || missing != "" {
		return []Result{{Name: name, Skipped: missing}}, err
	}
	library, err := mpitrace.Library(ctx, "mpirun")
	if err != nil {
		return nil, err
	}
	run := func(env ...string) (float64, error) {
		cmd := exec.CommandContext(ctx, exe)
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.Output()
		if err != nil {
			return 0, fmt.Errorf("%s: %w", exe, err)
		}
		return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	}
	plain, recorded := 1e9, 1e9
	for range 5 {
		p, err := run()
		if err != nil {
			return nil, err
		}
		r, err := run("LD_PRELOAD="+library, "ISOBATH_MPI_DIR="+dir)
		if err != nil {
			return nil, err
		}
		plain, recorded = min(plain, p), min(recorded, r)
	}
	return []Result{limit(name, (recorded-plain)/1000, "us/call", 1)}, nil
}
