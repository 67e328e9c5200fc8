package main

import (
	"context"
	"os"
	"path/filepath"
)

// programSize builds the program as it is given to people.
func programSize(ctx context.Context, dir string) ([]Result, error) {
	program := filepath.Join(dir, "isobath")
	if err := buildGo(ctx, "./cmd/isobath", program, "-trimpath", "-ldflags", "-s -w"); err != nil {
		return nil, err
	}
	info, err := os.Stat(program)
	if err != nil {
		return nil, err
	}
	return []Result{limit("program-size", float64(info.Size())/1e6, "MB", 45)}, nil
}
