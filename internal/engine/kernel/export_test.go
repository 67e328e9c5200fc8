package kernel

import (
	"context"

	"github.com/isobath/isobath/internal/engine/query"
)

// Known reports whether the rows of a request have been counted for all of its
// questions, and that is remembered.
func Known(ctx context.Context, e *Engine, r *query.Request) (bool, error) {
	l := e.share.Lease()
	defer l.Done()
	p, err := e.plan(ctx, l, r)
	if err != nil {
		return false, err
	}
	ls, err := e.layers(ctx, l, r, &query.Answer{})
	if err != nil {
		return false, err
	}
	before := e.sameRows(l, ls)
	for _, c := range p.counters {
		if _, ok := find(before, c); !ok {
			return false, nil
		}
	}
	return true, nil
}

// WithoutVectors makes an old processor of this one until restore is called.
func WithoutVectors() (restore func()) {
	compress, vectors := hasCompress, hasVectors
	hasCompress, hasVectors = false, false
	return func() { hasCompress, hasVectors = compress, vectors }
}
