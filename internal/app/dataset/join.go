package dataset

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/engine/kernel"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// Content is what a file or run holds.
type Content struct {
	Kind    kind.Kind
	Archive string // of its message trace; empty if it has none
}

// Look says what a file or run holds without reading its data.
func Look(path string) (Content, error) {
	if run.IsRun(path) {
		r, err := run.Open(path)
		if err != nil {
			return Content{}, err
		}
		return contentOf(r, path), r.Close()
	}
	in, err := foreign.Look(path)
	if err != nil {
		return Content{}, err
	}
	format, err := formats.Known.Recognise(in)
	if err != nil {
		return Content{}, err
	}
	c := Content{Kind: format.Kind}
	if c.Kind == kind.Trace {
		c.Archive = path
	}
	return c, nil
}

func contentOf(r *run.Run, path string) Content {
	c := Content{Kind: r.Kind}
	switch {
	case r.Trace != "":
		c.Archive = filepath.Join(path, r.Trace)
	case r.Kind == kind.Trace:
		c.Archive = path
	}
	return c
}

// Together reports whether files are the samples and the message trace of one
// execution, as far as their kinds say: one trace and samples that have none.
// Two traces are for comparing.
func Together(paths []string) bool {
	traces, samples := 0, 0
	for _, path := range paths {
		c, err := Look(path)
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
// among the files.
func Join(ctx context.Context, paths []string, load func(context.Context, string) (*run.Run, error)) (*Joined, error) {
	j := &Joined{}
	var runs []*run.Run
	defer func() {
		for _, r := range runs {
			r.Close() // their rows were copied
		}
	}()
	for _, path := range paths {
		r, err := load(ctx, path)
		var other *NotSamples
		if errors.As(err, &other) && other.Format.Kind == kind.Trace {
			if err := j.take(path); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
		if r.Trace != "" {
			if err := j.take(contentOf(r, path).Archive); err != nil {
				return nil, err
			}
		}
		if r.Path == "" {
			r.Path = path
		}
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("%s is a message trace alone, and opens as it is; give samples of the same execution too", j.Archive)
	}
	var err error
	if j.Run, err = run.Merge(runs); err != nil {
		return nil, err
	}
	j.Runs = len(runs)
	if j.Archive != "" {
		j.From = append(j.From, filepath.Base(j.Archive))
	}
	return j, nil
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
	j, err := Join(ctx, paths, func(ctx context.Context, path string) (*run.Run, error) { return Load(ctx, path, opt) })
	if err != nil {
		return nil, "", err
	}
	s, err := prepare(j.Run, opt.AssumeL1, kernel.Options{Budget: opt.Budget, Warn: opt.Warn})
	if err != nil {
		return nil, "", errors.Join(err, j.Close())
	}
	return s, j.Archive, nil
}
