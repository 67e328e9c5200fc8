package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/isobath/isobath/internal/base/test"
	shown "github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/record"
	heaplog "github.com/isobath/isobath/internal/record/heap"
	"github.com/isobath/isobath/internal/record/pmu"
)

// recordings measures what sampling and the allocation log cost the program.
func recordings(ctx context.Context, dir string) ([]Result, error) {
	for _, name := range []string{"spin", "pairs", "large", "gaps", "beside"} {
		source := filepath.Join(test.Root(), "bench/recording", name+".c")
		missing, err := compileC(ctx, "cc", filepath.Join(dir, name), "-O2", "-fno-builtin", source)
		if missing != "" || err != nil {
			return []Result{{Name: "record-overhead-1kHz", Skipped: missing}}, err
		}
	}
	var results []Result
	one := func(r Result, err error) ([]Result, error) { return []Result{r}, err }
	for _, measure := range []func() ([]Result, error){
		func() ([]Result, error) { return one(recordOverhead(ctx, filepath.Join(dir, "gaps"), dir)) },
		func() ([]Result, error) { return recordTime(ctx, filepath.Join(dir, "beside"), dir) },
		func() ([]Result, error) { return one(recordStacks(ctx, filepath.Join(dir, "beside"), dir)) },
		func() ([]Result, error) { return one(recordLosses(ctx, filepath.Join(dir, "spin"))) },
		func() ([]Result, error) { return one(recordLive(ctx, filepath.Join(dir, "spin"))) },
		func() ([]Result, error) { return one(smallAllocations(ctx, filepath.Join(dir, "pairs"), dir)) },
		func() ([]Result, error) { return one(largeAllocations(ctx, filepath.Join(dir, "large"), dir)) },
	} {
		r, err := measure()
		if err != nil {
			return results, err
		}
		results = append(results, r...)
	}
	return results, nil
}

// sampled runs a program under the recorder.
func sampled(ctx context.Context, rate int, command ...string) (*record.Recorded, error) {
	return recorded(ctx, pmu.Options{Rate: rate}, command)
}

func recorded(ctx context.Context, how pmu.Options, command []string) (*record.Recorded, error) {
	return record.Record(ctx, &record.Options{Command: command, Mode: record.Timer, Sampling: how, Heap: true, Say: func(string) {}})
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
// and without recording at 1 kHz, and, where perf is installed, with perf at the
// same rate: what an interrupt costs is the machine's affair, and in a virtual
// one it may be most of it.
func recordTime(ctx context.Context, program, dir string) ([]Result, error) {
	ours, err := besides(ctx, program, dir, underRecorder(ctx, pmu.Options{Rate: 1000}))
	if err != nil {
		return nil, err
	}
	results := []Result{ours.result("record-time-1kHz", 1.01)}
	perf, err := exec.LookPath("perf")
	if err != nil {
		return append(results, Result{Name: "record-time-perf", Skipped: "perf is not installed (Debian package linux-perf)"}), nil
	}
	theirs, err := besides(ctx, program, dir, func(args []string) error {
		record := []string{"record", "-q", "-e", "cpu-clock:u", "-c", "1000000", "-o", filepath.Join(dir, "perf.data"), "--"}
		return exec.CommandContext(ctx, perf, append(record, args...)...).Run()
	})
	if err != nil {
		return results, err
	}
	low, high := theirs.ratio.interval()
	return append(results, Result{Name: "record-time-perf", Ours: 100 * (ours.ratio.median() - 1), Peer: 100 * (theirs.ratio.median() - 1), Unit: "%", Ratio: ours.ratio.median() / theirs.ratio.median(), Bar: 1.01,
		Versus: fmt.Sprintf("what perf record takes at 1 kHz; median of %d pairs, 95 %% of %+.2f to %+.2f %%", pairs, 100*(low-1), 100*(high-1))}), nil
}

// recordStacks is the same with callers, as a recording has them without being asked.
func recordStacks(ctx context.Context, program, dir string) (Result, error) {
	ours, err := besides(ctx, program, dir, underRecorder(ctx, pmu.Options{Rate: 1000, Stacks: true}))
	if err != nil {
		return Result{}, err
	}
	return ours.result("record-time-stacks", 1.015), nil
}

// pairs is how many runs with a recorder and without one are compared.
const pairs = 24

// underRecorder runs a program under the recorder.
func underRecorder(ctx context.Context, how pmu.Options) func(args []string) error {
	return func(args []string) error {
		got, err := recorded(ctx, how, args)
		if err == nil && got.Outcome.Status != 0 {
			err = fmt.Errorf("%s ended with status %d", args[0], got.Outcome.Status)
		}
		return err
	}
}

func (b *beside) result(name string, bar float64) Result {
	low, high := b.ratio.interval()
	return Result{Name: name, Ours: b.with.median(), Peer: b.without.median(), Unit: "ms-cpu", Ratio: b.ratio.median(), Bar: bar,
		Versus: fmt.Sprintf("the same work beside it; median of %d pairs, 95 %% of %+.2f to %+.2f %%", pairs, 100*(low-1), 100*(high-1))}
}

// beside is what pairs of runs took: ms, and the ratio within each pair.
type beside struct{ with, without, ratio timings }

// besides runs the program under a recorder and without one at the same time and
// on the same CPU, again and again: see recording/beside.c. Both see the same
// machine, whatever else it does, so that a single pair is worth more than many
// runs one after the other.
func besides(ctx context.Context, program, dir string, recorder func(args []string) error) (*beside, error) {
	out := &beside{}
	for i := range pairs {
		cpu := strconv.Itoa(i % runtime.NumCPU())
		spent, err := together(ctx, dir, func(files [3]string) []string {
			return append([]string{program, "150000", cpu}, files[:]...)
		}, recorder, func(args []string) error { return exec.CommandContext(ctx, args[0], args[1:]...).Run() })
		if err != nil {
			return nil, err
		}
		out.with = append(out.with, spent[0])
		out.without = append(out.without, spent[1])
		out.ratio = append(out.ratio, spent[0]/spent[1])
	}
	return out, nil
}

// together starts programs, lets them go when all are ready, and returns the
// milliseconds that each says it took.
func together(ctx context.Context, dir string, args func(files [3]string) []string, start ...func(args []string) error) ([]float64, error) {
	here, err := os.MkdirTemp(dir, "pair")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(here)
	gate := filepath.Join(here, "go")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		return nil, err
	}
	ended := make(chan error, len(start))
	for i, run := range start {
		go func() {
			ended <- run(args([3]string{filepath.Join(here, fmt.Sprintf("ready%d", i)), gate, filepath.Join(here, fmt.Sprintf("out%d", i))}))
		}()
	}
	for i := range start {
		for file := filepath.Join(here, fmt.Sprintf("ready%d", i)); ; {
			if _, err := os.Stat(file); err == nil {
				break
			}
			select {
			case err := <-ended:
				return nil, fmt.Errorf("a program ended before it was let go: %w", err)
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(time.Millisecond):
			}
		}
	}
	open, err := os.OpenFile(gate, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer open.Close()
	if _, err := open.Write(make([]byte, len(start))); err != nil { // one each
		return nil, err
	}
	var out []float64
	for range start {
		if err := <-ended; err != nil {
			return nil, err
		}
	}
	for i := range start {
		text, err := os.ReadFile(filepath.Join(here, fmt.Sprintf("out%d", i)))
		if err != nil {
			return nil, err
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
		if err != nil {
			return nil, err
		}
		out = append(out, n/1e6)
	}
	return out, nil
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

// recordLive counts how often what is shown of a recording grows while its program
// runs, at a rate that fills a moment; the bar is once a second.
func recordLive(ctx context.Context, program string) (Result, error) {
	var first, last time.Time
	moments, rows := 0, 0
	_, err := record.Record(ctx, &record.Options{Command: []string{program, "8000000"}, Mode: record.Timer, Sampling: pmu.Options{Rate: 5000, Stacks: true}, Heap: true, Say: func(string) {}, Watch: &record.Watch{
		Rows: 50_000,
		Show: func(_ context.Context, r *shown.Run) error {
			rows, last = r.Table("samples").Rows(), time.Now()
			if moments++; moments == 1 {
				first = last
			}
			return nil
		},
		Tell: func(record.Sofar) {},
		Held: func() bool { return false },
	}})
	if err != nil {
		return Result{}, err
	}
	every := last.Sub(first).Seconds() / float64(max(moments-1, 1))
	if moments < 5 {
		return Result{}, fmt.Errorf("only %d moments of a recording were shown", moments)
	}
	return Result{Name: "record-live", Ours: every, Peer: 1, Unit: "s", Ratio: every, Bar: 1, Versus: fmt.Sprintf("the bar: the page of a recording grows once a second; %d moments, the last of %d samples", moments, rows)}, nil
}

// smallAllocations times a small allocation and its end with the log preloaded.
// The bar is on what one costs in all.
func smallAllocations(ctx context.Context, program, dir string) (Result, error) {
	with, without, err := allocating(ctx, program, dir)
	return Result{Name: "record-small-allocation", Ours: with, Peer: without, Unit: "ns", Ratio: with / 50, Bar: 1, Versus: "malloc and free without the log; the bar is 50 ns"}, err
}

// largeAllocations times an allocation that is logged. The bar is on what the log
// adds to it.
func largeAllocations(ctx context.Context, program, dir string) (Result, error) {
	with, without, err := allocating(ctx, program, dir)
	return Result{Name: "record-large-allocation", Ours: with, Peer: without, Unit: "ns", Ratio: (with - without) / 60, Bar: 1, Versus: "malloc of 5000 bytes without the log; the bar is 60 ns more"}, err
}

// allocating runs a program that prints what an allocation takes, with the log
// preloaded and without.
func allocating(ctx context.Context, program, dir string) (with, without float64, err error) {
	library, err := heaplog.Library(ctx)
	if err != nil {
		return 0, 0, err
	}
	timed := func(env []string) (float64, error) {
		cmd := exec.CommandContext(ctx, program)
		cmd.Env = env
		out, err := cmd.Output()
		if err != nil {
			return 0, err
		}
		return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	}
	with, without = math.Inf(1), math.Inf(1)
	for range 15 { // a busy neighbour of the processor doubles both, for seconds
		a, err := timed(heaplog.Environ(os.Environ(), library, dir, heaplog.DefaultThreshold))
		if err != nil {
			return 0, 0, err
		}
		b, err := timed(os.Environ())
		if err != nil {
			return 0, 0, err
		}
		with, without = min(with, a), min(without, b)
	}
	return with, without, nil
}
