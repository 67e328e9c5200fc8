package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/isobath/isobath/bench/synth"
)

// page measures how long people wait for the page, in a real browser without a
// GPU (e2e/bench.test.ts): the demo, and samples of two sizes on a machine of
// their 144 CPUs. The peer of a time is the limit that was set for it.
func page(ctx context.Context, dir, program string) ([]Result, error) {
	if err := pageData(ctx, dir); err != nil {
		return nil, err
	}
	return browserRow{"bench.test.ts", "ISOBATH_BENCH", "page.json"}.run(ctx, dir, program)
}

// pairRows is the samples of each of two runs that are compared.
const pairRows = 1_000_000

// pageData writes samples of a short recording, of the thesis' number, of ten
// millions and of two runs, and their machine.
func pageData(ctx context.Context, dir string) error {
	for name, rows := range map[string]int{"16360": 16_360, "302391": 302_391, "10000000": screenRows, "pair-a": pairRows, "pair-b": pairRows - 1000} {
		f, err := os.Create(filepath.Join(dir, name+".arrow"))
		if err != nil {
			return err
		}
		if err := synth.Samples(rows).WriteArrow(f); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	lstopo := exec.CommandContext(ctx, "lstopo", "--input", "package:2 numa:1 l3:2 l2:18 l1d:1 core:1 pu:2", "--of", "xml", filepath.Join(dir, "topology.xml"))
	if out, err := lstopo.CombinedOutput(); err != nil {
		return fmt.Errorf("lstopo (Debian package hwloc-nox): %w\n%s", err, out)
	}
	return nil
}

// pageResults reads the times that a browser took, and their limits.
func pageResults(file string) ([]Result, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var measured []struct {
		Name        string
		Ours, Limit float64
		Unit        string
	}
	if err := json.Unmarshal(text, &measured); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var results []Result
	for _, m := range measured {
		results = append(results, Result{
			Name: m.Name, Ours: m.Ours, Peer: m.Limit, Unit: m.Unit, Versus: "the limit", Ratio: m.Ours / m.Limit, Bar: 1,
		})
	}
	return results, nil
}
