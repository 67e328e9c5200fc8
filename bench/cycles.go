package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/isobath/isobath/bench/synth"
)

// cycles measures the analysis of reference traces: against ripser on the same
// points, and on three million windows. Ripser gets the distance matrix and
// computes bars. We get the trace and compute windows, distances, bars,
// cocycles, coordinates and windings. Times are processor seconds.
func cycles(ctx context.Context, dir string) ([]Result, error) {
	program := filepath.Join(dir, "cycles")
	if err := buildGo(ctx, "./bench/cycles", program); err != nil {
		return nil, err
	}
	long, err := measure(ctx, 3, program, "analyse", "0", "10")
	if err != nil {
		return nil, err
	}
	results := []Result{limit("cycles-3M-windows", long.cpu, "s-cpu", 3)}
	ripser, err := exec.LookPath("ripser")
	if err != nil {
		return append(results, Result{Name: "cycles-ripser", Skipped: "ripser is not installed (Debian package ripser)"}), nil
	}
	for _, c := range [][2]int{{1000, 3}, {1000, 4}, {2000, 3}, {2000, 4}} {
		more, err := cyclesAgainst(ctx, dir, program, ripser, strconv.Itoa(c[0]), strconv.Itoa(c[1]))
		if err != nil {
			return results, err
		}
		results = append(results, more...)
	}
	return results, nil
}

// cyclesPage measures how long people wait for the spiral of three million
// windows in a real browser without a GPU (e2e/cyclesspeed.test.ts).
func cyclesPage(ctx context.Context, dir, program string) ([]Result, error) {
	if err := synth.WriteBubble(ctx, filepath.Join(dir, "bubble.isobath")); err != nil {
		return nil, err
	}
	return browserRow{"cyclesspeed.test.ts", "ISOBATH_BENCH", "page.json"}.run(ctx, dir, program)
}

// cyclesAgainst runs both on the same points, after checking that both find
// the same number of bars.
func cyclesAgainst(ctx context.Context, dir, program, ripser, points, eps string) ([]Result, error) {
	matrix, err := exec.CommandContext(ctx, program, "matrix", points, eps).Output()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "lower-distance")
	if err := os.WriteFile(file, matrix, 0o666); err != nil {
		return nil, err
	}
	args := []string{"--format", "lower-distance", "--dim", "1", "--threshold", eps, file}
	if err := sameBars(ctx, program, ripser, points, eps, args); err != nil {
		return nil, err
	}
	ours, err := measure(ctx, 2, program, "analyse", points, eps)
	if err != nil {
		return nil, err
	}
	theirs, err := measure(ctx, 1, ripser, args...)
	if err != nil {
		return nil, err
	}
	name := "cycles-n" + points + "-eps" + eps
	versus := "ripser on the same distances, bars only"
	return []Result{
		{Name: name, Ours: ours.cpu, Peer: theirs.cpu, Unit: "s-cpu", Versus: versus, Ratio: theirs.cpu / ours.cpu, Bar: 1, AtLeast: true},
		{Name: name + "-memory", Ours: ours.rss, Peer: theirs.rss, Unit: "MB", Versus: versus, Ratio: ours.rss / theirs.rss, Bar: 1},
	}, nil
}

func sameBars(ctx context.Context, program, ripser, points, eps string, args []string) error {
	out, err := exec.CommandContext(ctx, program, "analyse", points, eps).Output()
	if err != nil {
		return err
	}
	var ours struct{ Bars int }
	if err := json.Unmarshal(out, &ours); err != nil {
		return err
	}
	if out, err = exec.CommandContext(ctx, ripser, args...).Output(); err != nil {
		return fmt.Errorf("ripser: %w", err)
	}
	_, dim1, _ := strings.Cut(string(out), "in dim 1:")
	if n := strings.Count(dim1, "["); n != ours.Bars {
		return fmt.Errorf("%s points, eps %s: ripser has %d bars, we have %d", points, eps, n, ours.Bars)
	}
	return nil
}
