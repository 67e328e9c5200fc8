package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"isobath/internal/record"
	heaplog "isobath/internal/record/heap"
	"isobath/internal/record/pmu"
	"isobath/internal/test"
)

// recordings measures what sampling and the allocation log cost the program.
func recordings(ctx context.Context) ([]Result, error) {
	dir, err := os.MkdirTemp("", "isobath-bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for _, name := range []string{"spin", "pairs", "gaps"} {
		source := filepath.Join(test.Root(), "bench/recording", name+".c")
		missing, err := compileC(ctx, "cc", filepath.Join(dir, name), "-O2", "-fno-builtin", source)
		if missing != "" || err != nil {
			return []Result{{Name: "record-overhead-1kHz", Skipped: missing}}, err
		}
	}
	var results []Result
	for _, measure := range []func() (Result, error){
		func() (Result, error) { return recordOverhead(ctx, filepath.Join(dir, "gaps"), dir) },
		func() (Result, error) { return recordTime(ctx, filepath.Join(dir, "spin")) },
		func() (Result, error) { return recordLosses(ctx, filepath.Join(dir, "spin")) },
		func() (Result, error) { return smallAllocations(ctx, filepath.Join(dir, "pairs"), dir) },
	} {
		r, err := measure()
		if err != nil {
			return results, err
		}
		results = append(results, r)
	}
	return results, nil
}

// sampled runs a program under the recorder.
func sampled(ctx context.Context, rate int, command ...string) (*record.Recorded, error) {
	return record.Record(ctx, &record.Options{Command: command, Mode: record.Timer, Sampling: pmu.Options{Rate: rate}, Heap: true, Say: func(string) {}})
}

// recordOverhead measures the time that recording at 1 kHz takes from a program
// in small pieces: see recording/gaps.c. Without a recorder there are such pieces
// too; the least of twelve runs each, in turns, are compared.
func recordOverhead(ctx context.Context, program, dir string) (Result, error) {
	const runs, span = 12, "500"
	file := filepath.Join(dir, "share")
	share := func() (float64, error) {
		text, err := os.ReadFile(file)
		if err != nil {
			return 0, err
		}
		number, _, _ := strings.Cut(string(text), " ")
		return strconv.ParseFloat(number, 64)
	}
	with, without := math.Inf(1), math.Inf(1)
	for range runs {
		if _, err := sampled(ctx, 1000, program, span, file); err != nil {
			return Result{}, err
		}
		a, err := share()
		if err != nil {
			return Result{}, err
		}
		if err := exec.CommandContext(ctx, program, span, file).Run(); err != nil {
			return Result{}, err
		}
		b, err := share()
		if err != nil {
			return Result{}, err
		}
		with, without = min(with, a), min(without, b)
	}
	return Result{Name: "record-overhead-1kHz", Ours: 100 * with, Peer: 100 * without, Unit: "%", Ratio: 1 + with - without, Bar: 1.01, Versus: "time lost without a recorder"}, nil
}

// recordTime compares the processor time that a fixed amount of work takes with
// and without recording at 1 kHz: the least of twelve runs each, in turns. What
// other programs and a host take away shows here too, so on a busy machine the
// share of small gaps says more.
func recordTime(ctx context.Context, program string) (Result, error) {
	const runs, work = 12, "300000"
	with, without := math.Inf(1), math.Inf(1)
	for range runs {
		got, err := sampled(ctx, 1000, program, work)
		if err != nil {
			return Result{}, err
		}
		plain := exec.CommandContext(ctx, program, work)
		if err := plain.Run(); err != nil {
			return Result{}, err
		}
		with = min(with, milliseconds(got.Outcome.User+got.Outcome.System))
		without = min(without, milliseconds(plain.ProcessState.UserTime()+plain.ProcessState.SystemTime()))
	}
	return Result{Name: "record-time-1kHz", Ours: with, Peer: without, Unit: "ms-cpu", Ratio: with / without, Bar: 1.01, Versus: "the same work without a recorder"}, nil
}

// recordLosses samples at 25 kHz: no record may be lost.
func recordLosses(ctx context.Context, program string) (Result, error) {
	got, err := sampled(ctx, 25_000, program, "1000000")
	if err != nil {
		return Result{}, err
	}
	d := got.Run.Recording
	rate := float64(d.Samples) / max(got.Outcome.User, time.Millisecond).Seconds()
	return Result{Name: "record-lost-25kHz", Ours: float64(d.Lost), Peer: float64(d.Samples), Ratio: float64(d.Lost) / float64(max(d.Samples, 1)), Bar: 0,
		Versus: fmt.Sprintf("records taken, %.0f a second of user time", rate)}, nil
}

// smallAllocations times a small allocation and its end with the log preloaded.
// The bar is on what one costs in all.
func smallAllocations(ctx context.Context, program, dir string) (Result, error) {
	library, err := heaplog.Library(ctx)
	if err != nil {
		return Result{}, err
	}
	pair := func(env []string) (float64, error) {
		cmd := exec.CommandContext(ctx, program)
		cmd.Env = env
		out, err := cmd.Output()
		if err != nil {
			return 0, err
		}
		return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	}
	with, without := math.Inf(1), math.Inf(1)
	for range 5 {
		a, err := pair(heaplog.Environ(os.Environ(), library, dir, heaplog.DefaultThreshold))
		if err != nil {
			return Result{}, err
		}
		b, err := pair(os.Environ())
		if err != nil {
			return Result{}, err
		}
		with, without = min(with, a), min(without, b)
	}
	return Result{Name: "record-small-allocation", Ours: with, Peer: without, Unit: "ns", Ratio: with / 50, Bar: 1, Versus: "malloc and free without the log; the bar is 50 ns"}, nil
}
