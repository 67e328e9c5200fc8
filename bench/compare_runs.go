package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/isobath/isobath/bench/synth"
	"github.com/isobath/isobath/internal/app/dataset"
	pages "github.com/isobath/isobath/internal/app/server"
	"github.com/isobath/isobath/internal/app/server/executions"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/memory/align"
	"github.com/isobath/isobath/internal/memory/study"
	"github.com/isobath/isobath/internal/memory/trial"
)

// overhead is what a trial adds to a run of a command: the same command started
// and waited for by itself is the peer, and 2 ms more are allowed.
func overhead(ctx context.Context) ([]Result, error) {
	e := trial.Execution{}
	ours, peer, err := turns(200, func() error { return nil },
		func() error { _, err := e.Run(ctx, []string{"true"}); return err },
		func() error { return exec.CommandContext(ctx, "true").Run() })
	if err != nil {
		return nil, err
	}
	return []Result{limit("ab-overhead", ours.wall-peer.wall, "ms", 2)}, nil
}

// alignedLines are of each of two files that are aligned, in one function.
const alignedLines = 20_000

// aligning measures how long it takes until the lines of two source files are paired,
// at its slowest: lines with nothing in common, with few texts, and in another order.
func aligning(context.Context) ([]Result, error) {
	text := func(texts int, seed uint64) []string {
		random := rand.New(rand.NewPCG(seed, 1))
		out := []string{"void f(void)", "{"}
		for range alignedLines {
			out = append(out, fmt.Sprintf("\tx[%d] = y + %d;", random.IntN(texts), random.IntN(texts)))
		}
		return append(out, "}")
	}
	side := func(file string, lines []string) align.Side {
		return align.Side{Files: []string{file}, Functions: []string{"f"}, Text: func(string) []string { return lines }}
	}
	turned := text(alignedLines, 1)
	slices.Reverse(turned[2 : len(turned)-1])
	slowest := 0.0
	for _, b := range [][2][]string{{text(alignedLines, 1), text(alignedLines, 2)}, {text(2, 1), text(2, 2)}, {text(60, 1), text(60, 2)}, {text(alignedLines, 1), turned}} {
		took, _, err := turns(2, func() error { return nil },
			func() error { align.New(side("a.c", b[0]), side("a.c", b[1]), nil); return nil }, func() error { return nil })
		if err != nil {
			return nil, err
		}
		slowest = max(slowest, took.wall)
	}
	return []Result{limit("align-2x20000-lines", slowest, "ms", 2000)}, nil
}

// Of a study that is measured: runs, samples of each, and sizes that they have.
const (
	studyRuns    = 200
	studySamples = 1_000_000
	studySizes   = 8
)

// studies measures a study of 200 runs with a million samples each: how long it is
// until it is open, and what every view of it then takes, as the page asks for it.
// A view along another order fits the laws and looks for changes again.
func studies(ctx context.Context, dir, program string) ([]Result, error) {
	paths, err := synth.WriteSizes(ctx, dir, studyRuns, studySizes, studySamples)
	if err != nil {
		return nil, err
	}
	kept := filepath.Join(dir, "study.json")
	_, opened, err := launched(ctx, program, append([]string{"study", "--param", `n=n(\d+)-`, "-o", kept}, paths...)...)
	if err != nil {
		return nil, err
	}
	loader := pages.NewLoader(dataset.Options{})
	run, err := loader.Open(ctx, kept, func(frame.Progress) {})
	if err != nil {
		return nil, err
	}
	const token = "bench"
	s, err := pages.New(pages.Options{Token: token, Index: "index.html", Assets: fstest.MapFS{"index.html": {Data: []byte("<!doctype html>")}}, Open: loader.Open})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	s.Add(run)
	slowest := 0.0
	for _, order := range []string{"", study.InOrder, "n"} {
		view := func() error {
			r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1/api/v1/runs/"+run.ID+"/study", strings.NewReader(`{"order":"`+order+`"}`))
			r.Header.Set(pages.TokenHeader, token)
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			var got executions.StudyAnswer
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK || len(got.Runs) != studyRuns || len(got.Laws) == 0 {
				return fmt.Errorf("a study of %d runs with %d laws, status %d: %w", len(got.Runs), len(got.Laws), w.Code, err)
			}
			return nil
		}
		took, _, err := turns(3, func() error { return nil }, view, func() error { return nil })
		if err != nil {
			return nil, err
		}
		slowest = max(slowest, took.cpu)
	}
	return []Result{
		limit("study-200x1M-view", slowest, "ms-cpu", 100),
		limit("study-200x1M-open", float64(opened.WallNS)/1e9, "s", 120),
	}, nil
}
