package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/isobath/isobath/internal/base/test"
)

// tracePage measures the trace page in a real browser without a GPU
// (e2e/tracebench.test.ts): how soon halo64_big is on screen, and how many
// frames a second remain while panning and zooming over 4,096 processes and ten
// million events. The peer is the limit.
func tracePage(ctx context.Context, dir, program string) ([]Result, error) {
	halo, err := test.FindFixture("otf2/halo64_big/traces.otf2")
	if err != nil {
		return nil, err
	}
	many := filepath.Join(dir, "many", "traces.otf2")
	if err := simulateHalo(many, 64, 64, 66); err != nil {
		return nil, err
	}
	text, err := json.Marshal(map[string]string{"halo64": halo, "many": many})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "traces.json"), text, 0o666); err != nil {
		return nil, err
	}
	return browserRow{"tracebench.test.ts", "ISOBATH_TRACE_BENCH", "tracepage.json"}.run(ctx, dir, program)
}
