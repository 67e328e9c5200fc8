package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/isobath/isobath/internal/base/test"
)

// duckDB runs the program under bench/duckdb, which needs a C compiler.
func duckDB(ctx context.Context) ([]Result, error) {
	cmd := exec.CommandContext(ctx, "go", "run", ".")
	cmd.Dir = filepath.Join(test.Root(), "bench", "duckdb")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var results []Result
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		r := Result{Unit: "ms", Versus: "DuckDB, a query a picture", AtLeast: true}
		line := strings.NewReplacer("=", " ", "ms", "", ">", "").Replace(lines.Text())
		if _, err := fmt.Sscanf(line, "bench %s ours %g peer %g ratio %g bar %g", &r.Name, &r.Ours, &r.Peer, &r.Ratio, &r.Bar); err != nil {
			return nil, fmt.Errorf("line %q: %w", lines.Text(), err)
		}
		results = append(results, r)
	}
	return results, lines.Err()
}
