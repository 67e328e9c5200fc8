package dataset

import (
	"errors"
	"path/filepath"

	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/domain/mesh"
	"github.com/isobath/isobath/internal/engine/clickhouse"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/record"
)

// Content is what a file or run holds.
type Content struct {
	Kind   kind.Kind
	Format string
	// Table says that Open makes a set of it: samples, or a run that has tables.
	Table   bool
	Archive string // of its message trace; empty if it has none
}

// Identify says what a file or run holds without reading its data. Standard
// input, which cannot be read twice, is taken for samples.
func Identify(path string) (Content, error) {
	if path == formats.Stdin {
		return Content{Kind: kind.Samples, Table: true}, nil
	}
	if clickhouse.IsAddress(path) {
		return Content{Kind: kind.Samples, Format: "clickhouse", Table: true}, nil
	}
	if run.IsRun(path) {
		m, err := run.ReadManifest(path)
		if err != nil {
			return Content{}, err
		}
		return recorded(m, path), nil
	}
	if _, ok := record.UnfinishedAt(path); ok {
		return Content{Kind: kind.Samples, Format: "record", Table: true}, nil
	}
	found, err := formats.Identify(path)
	if errors.Is(err, foreign.ErrUnknown) {
		if format, ok := mesh.FolderOfDumps(path); ok {
			return Content{Kind: kind.Mesh, Format: format}, nil
		}
	}
	if err != nil {
		return Content{}, err
	}
	c := Content{Kind: found.Format.Kind, Format: found.Format.Name, Table: found.Format.Kind == kind.Samples}
	if c.Kind == kind.Trace {
		c.Archive = path
	}
	return c, nil
}

// recorded is the content of a run.
func recorded(m *run.Manifest, path string) Content {
	c := Content{Kind: m.Kind, Format: m.Format, Table: len(m.Tables) > 0}
	switch {
	case m.Trace != "":
		c.Archive = filepath.Join(path, m.Trace)
	case m.Kind == kind.Trace:
		c.Archive = path
	}
	return c
}
