package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"isobath/internal/formats"
	"isobath/internal/formats/known"
	"isobath/internal/logical"
	"isobath/internal/run"
	"isobath/internal/term"
	"isobath/internal/trace"
)

// exportTrace writes the message trace of a run or file as an OTF2 archive, with
// the logical structure as attributes.
func exportTrace(ctx context.Context, path, out string) error {
	archive, err := messageTrace(path)
	if err != nil {
		return err
	}
	t, err := trace.Open(ctx, archive)
	if err != nil {
		return err
	}
	s, err := logical.Analyze(ctx, t, logical.Default())
	if err != nil {
		return err
	}
	if err := s.Save(ctx, out); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	warn(t.Warnings)
	fmt.Fprintf(os.Stderr, "isobath: %s: %d locations, %s events\n", out, t.Locations, term.Thousands(t.Events))
	return nil
}

// messageTrace finds the OTF2 archive of what the user names: an archive, a run
// of one, or a run of samples that holds one too.
func messageTrace(path string) (string, error) {
	none := func(kind formats.Kind) error {
		return fmt.Errorf("%s holds %s and no message trace, which an OTF2 archive is made of; record one with 'isobath record --mpi', or join one of the same execution with 'isobath import TRACE SAMPLES -o RUN'", path, kind)
	}
	if run.IsRun(path) {
		r, err := run.Open(path)
		if err != nil {
			return "", err
		}
		defer r.Close()
		switch {
		case r.Trace != "":
			return filepath.Join(path, r.Trace), nil
		case r.Kind == formats.Trace:
			return path, nil
		}
		return "", none(r.Kind)
	}
	in, err := formats.Look(path)
	if err != nil {
		return "", err
	}
	format, err := formats.Recognise(in, known.Formats)
	if err != nil {
		return "", err
	}
	if format.Kind != formats.Trace {
		return "", none(format.Kind)
	}
	return path, nil
}
