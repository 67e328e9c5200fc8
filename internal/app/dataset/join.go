package dataset

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/engine/kernel"
)

// Together reports whether files are the samples and the message trace of one
// execution, as far as their kinds say: one trace and samples that have none.
// Two traces are for comparing.
func Together(paths []string) bool {
	traces, samples := 0, 0
	for _, path := range paths {
		c, err := Identify(path)
		switch {
		case err != nil:
			return false
		case c.Kind == kind.Trace:
			traces++
		case c.Kind == kind.Samples && c.Archive == "":
			samples++
		default:
			return false
		}
	}
	return traces == 1 && samples > 0
}

// Joined is what several files of one execution become: a run in memory that
// shares nothing with them but the archive of the message trace.
type Joined struct {
	*run.Run
	Runs    int    // how many files of samples
	Archive string // of the message trace; empty if there is none
}

// Join merges samples, each file read by load, and finds the message trace
// among the files. With salvage, files that cannot be read are left out and named
// in a warning of the run; otherwise the first of them ends it.
func Join(ctx context.Context, paths []string, salvage bool, load func(context.Context, string) (*run.Run, error)) (*Joined, error) {
	j := &Joined{}
	var lost []string
	damaged := func(path string, err error) error {
		switch {
		case ctx.Err() != nil || len(paths) == 1:
			return err
		case salvage:
			lost = append(lost, fmt.Sprintf("%s is left out: %v", Name(path), err))
			return nil
		}
		return fmt.Errorf("%w; --salvage leaves out what cannot be read of %d files", err, len(paths))
	}
	var runs []*run.Run
	defer func() {
		for _, r := range runs {
			r.Close() // their rows were copied
		}
	}()
	for _, path := range paths {
		c, err := Identify(path)
		if err != nil {
			if err := damaged(path, err); err != nil {
				return nil, err
			}
			continue
		}
		if c.Archive != "" {
			if err := j.take(c.Archive); err != nil {
				return nil, err
			}
		}
		if !c.Table && c.Kind == kind.Trace {
			continue
		}
		r, err := load(ctx, path)
		if err != nil {
			if err := damaged(path, err); err != nil {
				return nil, err
			}
			continue
		}
		runs = append(runs, r)
		if r.Path == "" {
			r.Path = path
		}
		if len(paths) > 1 {
			if err := settle(r); err != nil {
				return nil, err
			}
		}
	}
	if len(runs) == 0 && len(lost) > 0 {
		return nil, fmt.Errorf("none of %d files can be read; %s", len(paths), lost[0])
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("%s is a message trace alone, and opens as it is; give samples of the same execution too", j.Archive)
	}
	var err error
	if j.Run, err = run.Merge(runs, messageClocks(j.Archive, runs)); err != nil {
		return nil, err
	}
	j.Runs = len(runs)
	j.Warnings = append(lost, j.Warnings...)
	if j.Archive != "" {
		j.From = append(j.From, filepath.Base(j.Archive))
	}
	return j, nil
}

// settle moves the tables of a run out of memory, where those of hundreds of
// others have to wait too.
func settle(r *run.Run) error {
	for _, t := range r.Contents {
		if err := t.Settle(); err != nil {
			return err
		}
	}
	return nil
}

func (j *Joined) take(archive string) error {
	if j.Archive != "" {
		return fmt.Errorf("%s and %s are both message traces; a run holds one", j.Archive, archive)
	}
	j.Archive = archive
	return nil
}

// OpenTogether is Open for files of one execution. It returns the archive of
// their message trace too.
func OpenTogether(ctx context.Context, paths []string, opt Options) (*Set, string, error) {
	j, err := Join(ctx, paths, opt.Salvage, func(ctx context.Context, path string) (*run.Run, error) { return Load(ctx, path, opt) })
	if err != nil {
		return nil, "", err
	}
	s, err := prepare(j.Run, opt.AssumeL1, kernel.Options{Budget: budget.Of(ctx), Warn: opt.Warn})
	if err != nil {
		return nil, "", errors.Join(err, j.Close())
	}
	return s, j.Archive, nil
}
