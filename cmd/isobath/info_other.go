package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/messages/trace"
)

// common are the fields that `info` prints for every kind of data.
type common struct {
	Kind     kind.Kind    `json:"kind"`
	Format   string       `json:"format"`
	Rows     int          `json:"rows"`
	Warnings []string     `json:"warnings"`
	Columns  []columnInfo `json:"columns"`
}

func newCommon(kind kind.Kind, format string, rows int, warnings []string) common {
	return common{kind, format, rows, append([]string{}, warnings...), []columnInfo{}}
}

// notes prints the warnings.
func (c *common) notes(w io.Writer) error {
	style := term.StyleFor(w)
	for _, warning := range c.Warnings {
		if _, err := fmt.Fprintf(w, "\n%s %s\n", style.Warn("note:"), warning); err != nil {
			return err
		}
	}
	return nil
}

// describeOther describes data that is not samples.
func describeOther(ctx context.Context, path string, c dataset.Content) (description, error) {
	switch c.Kind {
	case kind.Topology:
		return describeTopology(path, c.Format)
	case kind.Trace:
		s, err := trace.Summarize(ctx, path)
		if err != nil {
			return nil, err
		}
		return &traceInfo{Summary: s, Columns: []columnInfo{}}, nil
	case kind.Refs:
		return describeRefs(ctx, path)
	case kind.Mesh:
		return describeMesh(ctx, path)
	}
	return nil, fmt.Errorf("%s holds a %s (%s); try 'isobath %s'", path, c.Kind, c.Format, c.Kind)
}

// traceInfo is the JSON of `info` for a message-passing trace.
type traceInfo struct {
	*trace.Summary
	Columns []columnInfo `json:"columns"`
}

func (i *traceInfo) write(w io.Writer) error {
	style := term.StyleFor(w)
	fmt.Fprintf(w, "message-passing trace (%s)\n%s, %s, %s in %s\n", i.Format,
		style.Bold(term.Counted(i.Processes, "process")), term.Counted(i.Events, "event"), term.Counted(i.Operations, "operation"), time.Duration(i.SpanNS))
	fmt.Fprintf(w, "%s (%s unmatched), %s, %s\n", term.Counted(i.Messages, "message"), term.Thousands(i.Unmatched),
		term.Counted(i.Collectives, "collective"), term.Counted(i.Regions, "region"))
	if m := i.Moved; m != nil {
		if n := m.Puts + m.Gets + m.Atomics; n > 0 {
			fmt.Fprintf(w, "%s one-sided operations, %s bytes\n", term.Thousands(n), term.Thousands(int(m.Bytes)))
		}
		if m.FileOperations > 0 {
			fmt.Fprintf(w, "%s on files, %s bytes read, %s written\n", term.Counted(m.FileOperations, "operation"), term.Thousands(int(m.FileRead)), term.Thousands(int(m.FileWritten)))
		}
	}
	c := common{Warnings: i.Warnings}
	return c.notes(w)
}

// refsInfo is the JSON of `info` for a reference trace.
type refsInfo struct {
	common
	*refs.Counts
}

func describeRefs(ctx context.Context, path string) (description, error) {
	r, format, err := formats.OpenRefs(path, nil)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	counts, err := refs.Count(ctx, r)
	if err != nil {
		return nil, err
	}
	return &refsInfo{newCommon(kind.Refs, format, int(counts.Records), counts.Notes), counts}, nil
}

// describeRefsRun describes a run that was recorded with --refs.
func describeRefsRun(ctx context.Context, path string, s *dataset.Set) (description, error) {
	r, _, err := formats.OpenRefs(path, nil)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	counts, err := refs.Count(ctx, r)
	if err != nil {
		return nil, err
	}
	return &refsInfo{commonOf(s), counts}, nil
}

func (i *refsInfo) write(w io.Writer) error {
	fmt.Fprintf(w, "memory reference trace (%s)\n%s: %s, %s, %s\n%s, %s, %s\n", i.Format,
		term.Counted(i.Records, "record"), term.Counted(i.Loads, "load"), term.Counted(i.Stores, "store"), term.Counted(i.Modifies, "modify"),
		term.Counted(i.Threads, "thread"), term.Counted(i.Symbols, "symbol"), term.Counted(i.Addresses, "address"))
	return i.notes(w)
}
