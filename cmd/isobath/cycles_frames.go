package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/base/canvas"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/base/wholefile"
	"github.com/isobath/isobath/internal/loops/cycle"
	"github.com/isobath/isobath/internal/loops/spiral"
)

// writeFrames writes the morph between two classes of the busiest thread, as the
// page exports it: frame-001.svg is the one, the last the other.
func (f *cyclesFlags) writeFrames(ctx context.Context, report *cyclesReport, path string) error {
	if len(report.results) == 0 {
		return fmt.Errorf("--frames: the trace has no references to draw")
	}
	res := report.results[report.busiest()]
	from, to, err := f.morphed(res)
	if err != nil {
		return err
	}
	m, err := spiral.New(res, func(file string) bool { return !strings.HasPrefix(file, "/usr/") }).Morph(ctx, from, to)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.frames, 0o777); err != nil {
		return fmt.Errorf("--frames: %w", err)
	}
	line := term.NewProgress(os.Stderr, "cycles")
	defer line.Done()
	for i, part := range spiral.Parts(spiral.Frames) {
		if err := ctx.Err(); err != nil {
			return err
		}
		line.Say(fmt.Sprintf("frame %d of %d", i+1, spiral.Frames))
		caption := fmt.Sprintf("%s · class %d to class %d · morph %.0f %%", filepath.Base(path), from, to, math.Round(100*part))
		name := filepath.Join(f.frames, fmt.Sprintf("frame-%03d", i+1))
		if err := wholefile.Write(ctx, name+".svg", 0, func(w io.Writer) error { return m.Draw(ctx, canvas.NewSVG(w), part, caption) }); err != nil {
			return err
		}
		if !m.Apart {
			continue
		}
		if err := wholefile.Write(ctx, name+".csv", 0, func(w io.Writer) error { return m.CSV(w, part) }); err != nil {
			return err
		}
	}
	if !m.Apart {
		line.Done()
		say("%s are too many to list: the frames are pixels, without positions; take a part with --range", term.Counted(len(res.Points.Index), "window"))
	}
	return nil
}

// morphed are the two classes of a morph: those that --morph names, or the first
// and the next that turns, as on the page.
func (f *cyclesFlags) morphed(res *cycle.Result) (from, to int, err error) {
	n := len(res.Classes)
	if n == 0 {
		return 0, 0, fmt.Errorf("--frames: the trace has no class to draw; try another --symbol or --window")
	}
	if f.morph == "auto" {
		for to := 1; to < n; to++ {
			if res.Classes[to].Turns != 0 {
				return 0, to, nil
			}
		}
		return 0, 0, fmt.Errorf("--frames: a morph needs two classes that turn; --morph 0:0 draws the first alone")
	}
	a, b, ok := strings.Cut(f.morph, ":")
	from, err1 := strconv.Atoi(a)
	to, err2 := strconv.Atoi(b)
	if !ok || err1 != nil || err2 != nil || from < 0 || to < 0 || from >= n || to >= n {
		return 0, 0, usagef("--morph %q: want two of the classes 0 to %d, as 0:1", f.morph, n-1)
	}
	return from, to, nil
}
