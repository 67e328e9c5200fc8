package main

import (
	"context"
	"fmt"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/messages/logical"
	"github.com/isobath/isobath/internal/messages/trace"
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
	say("%s: %d locations, %s events", out, t.Locations, term.Thousands(t.Events))
	return nil
}

// messageTrace finds the OTF2 archive of what the user names: an archive, a run
// of one, or a run of samples that holds one too.
func messageTrace(path string) (string, error) {
	c, err := dataset.Identify(path)
	if err != nil {
		return "", err
	}
	if c.Archive == "" {
		return "", fmt.Errorf("%s holds %s and no message trace, which an OTF2 archive is made of; record one with 'isobath record --mpi', or join one of the same execution with 'isobath import TRACE SAMPLES -o RUN'", path, c.Kind)
	}
	return c.Archive, nil
}
