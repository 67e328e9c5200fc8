package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/base/wholefile"
	"github.com/isobath/isobath/internal/messages/exchange"
	"github.com/isobath/isobath/internal/messages/logical"
	"github.com/isobath/isobath/internal/messages/trace"
)

// messageExporter chooses how the messages of a file are written; nil if the
// ending, or what the file holds, means samples.
func messageExporter(path, out string) (saver, error) {
	f := writtenAs(out)
	if f == nil || f.trace == nil || f.samples == nil {
		if f == nil {
			return nil, nil
		}
		return f.trace, nil
	}
	c, err := dataset.Identify(path)
	if err != nil || c.Table || c.Archive == "" {
		return nil, err
	}
	return f.trace, nil
}

// exportTrace writes the message trace of a run or file.
func exportTrace(ctx context.Context, path, out string, save saver) error {
	archive, err := messageTrace(path)
	if err != nil {
		return err
	}
	t, err := trace.Open(ctx, archive)
	if err != nil {
		return err
	}
	if err := save(ctx, t, out); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	warn(t.Warnings)
	say("%s: %s, %s", out, term.Counted(t.Locations, "location"), term.Counted(t.Events, "event"))
	return nil
}

// saveOTF2 writes an OTF2 archive, with the logical structure as attributes.
func saveOTF2(ctx context.Context, t *trace.Trace, out string) error {
	s, err := logical.Analyze(ctx, t, logical.Default())
	if err != nil {
		return err
	}
	return s.Save(ctx, out)
}

// saveParaver writes out.prv, and the names beside it.
func saveParaver(ctx context.Context, t *trace.Trace, out string) error {
	p, err := exchange.NewParaver(ctx, t)
	if err != nil {
		return err
	}
	base := strings.TrimSuffix(out, filepath.Ext(out))
	// The trace last: without its names it opens, but says less.
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{{base + ".pcf", p.WriteNames}, {base + ".row", p.WriteRows}, {out, p.WriteTrace}} {
		if err := wholefile.Write(ctx, file.name, 0, file.write); err != nil {
			return err
		}
	}
	return nil
}

// saveCTF writes a folder in the Common Trace Format.
func saveCTF(ctx context.Context, t *trace.Trace, out string) error { return exchange.CTF(ctx, t, out) }

// messageTrace finds the OTF2 archive of what the user names: an archive, a run
// of one, or a run of samples that holds one too.
func messageTrace(path string) (string, error) {
	c, err := dataset.Identify(path)
	if err != nil {
		return "", err
	}
	if c.Archive == "" {
		return "", fmt.Errorf("%s holds %s and no message trace, which this format is for; record one with 'isobath record --mpi', or join one of the same execution with 'isobath import TRACE SAMPLES -o RUN'", path, c.Kind)
	}
	return c.Archive, nil
}
