package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/isobath/isobath/internal/base/test"
)

// inFolder runs a row with a folder for its files, which is removed afterwards.
func inFolder(row func(ctx context.Context, dir string) ([]Result, error)) func(context.Context) ([]Result, error) {
	return func(ctx context.Context) ([]Result, error) {
		dir, err := os.MkdirTemp("", "isobath-bench-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		return row(ctx, dir)
	}
}

// withCommand runs a row with the command as it is now, in a folder.
func withCommand(row func(ctx context.Context, dir, program string) ([]Result, error)) func(context.Context) ([]Result, error) {
	return inFolder(func(ctx context.Context, dir string) ([]Result, error) {
		program := filepath.Join(dir, "isobath")
		if err := buildGo(ctx, "./cmd/isobath", program); err != nil {
			return nil, err
		}
		return row(ctx, dir, program)
	})
}

// buildGo builds one of our programs.
func buildGo(ctx context.Context, source, program string, flags ...string) error {
	build := exec.CommandContext(ctx, "go", slices.Concat([]string{"build", "-o", program}, flags, []string{source})...)
	build.Dir = test.Root()
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// browserRow is a row that is measured in a real browser without a GPU, by a
// file of e2e that is skipped in tests.
type browserRow struct {
	file     string
	variable string // tells it the folder of its data
	times    string // the file it writes there
}

// run measures with data that lie in the folder.
func (b browserRow) run(ctx context.Context, dir, program string) ([]Result, error) {
	e2e := filepath.Join(test.Root(), "e2e")
	if _, err := os.Stat(filepath.Join(e2e, "node_modules")); errors.Is(err, os.ErrNotExist) {
		install := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
		install.Dir = e2e
		if out, err := install.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("npm ci in e2e: %w\n%s", err, out)
		}
	}
	run := exec.CommandContext(ctx, "npx", "vitest", "run", b.file)
	run.Dir = e2e
	run.Env = append(os.Environ(), "ISOBATH="+program, b.variable+"="+dir)
	if out, err := run.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("vitest: %w\n%s", err, out)
	}
	return pageResults(filepath.Join(dir, b.times))
}
