package main

import (
	"context"
	"fmt"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/data/refs/reftable"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// What the flags of verbs that put samples on a mesh say about references.
const (
	cellBytesUsage = "data objects that lie over the cells in their order: `OBJECT=BYTES` for each cell, as e=8; places references, and samples with symbol and offset"
	accessesUsage  = "`RUN` of record --refs of the same program: how often each cell is accessed, for fields per access; needs --cell-bytes"
)

// references is the recording that --accesses names; nil: none is named.
type references struct{ run *run.Run }

func openReferences(ctx context.Context, path string) (*references, error) {
	if path == "" {
		return nil, nil
	}
	r, err := dataset.Load(ctx, path, dataset.Options{Options: foreign.Options{L1Latency: foreign.DefaultL1Latency}})
	if err != nil {
		return nil, fmt.Errorf("--accesses: %w", err)
	}
	if r.Table(reftable.Name) == nil {
		r.Close()
		return nil, fmt.Errorf("--accesses %s: it holds no references; 'isobath record --refs' records them", path)
	}
	return &references{r}, nil
}

// Table is the references; nil without any.
func (r *references) Table() *table.Table {
	if r == nil {
		return nil
	}
	return r.run.Table(reftable.Name)
}

// Close gives the recording back.
func (r *references) Close() {
	if r != nil {
		r.run.Close()
	}
}
