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

// pageData writes samples of the thesis' number and of ten millions, and their
// machine.
func pageData(ctx context.Context, dir string) error {
	for _, rows := range []int{302_391, screenRows} {
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("%d.arrow", rows)))
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
