package dataset

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/clickhouse"
	"github.com/isobath/isobath/internal/engine/query"
)

// Engine answers the questions about a set until it is closed.
type Engine interface {
	query.Engine
	Close()
}

// Name is what a run is called: what its path ends in, or its address.
func Name(path string) string {
	if a, err := clickhouse.ParseAddress(path); err == nil {
		return a.Run
	}
	return filepath.Base(filepath.Clean(path))
}

// openStored opens a run that is kept in ClickHouse without its rows: questions
// are answered there.
func openStored(ctx context.Context, path string, opt Options) (*Set, error) {
	if opt.Names != "" {
		return nil, query.Refuse("objects are named anew by looking at single rows, and those are kept in ClickHouse; give the names when the run is imported")
	}
	kept, err := connect(ctx, path)
	if err != nil {
		return nil, err
	}
	kept.Run.OnClose(kept.Close)
	return &Set{
		Run: kept.Run, Table: kept.Table, Stored: kept.Table, Topology: kept.Topology, Places: kept.Places,
		Data: kept.Data(), Engine: kept.Engine, Digest: kept.Digest,
	}, nil
}

func connect(ctx context.Context, path string) (*clickhouse.Stored, error) {
	address, err := clickhouse.ParseAddress(path)
	if err != nil {
		return nil, err
	}
	return clickhouse.Open(ctx, address)
}

// fetched brings the rows of a run that is kept in ClickHouse here.
func fetched(ctx context.Context, path string, opt Options) (*run.Run, error) {
	kept, err := connect(ctx, path)
	if err != nil {
		return nil, err
	}
	var where query.Expr
	if opt.Fetch != "" {
		if where, err = query.Parse(opt.Fetch, kept.Table); err != nil {
			return nil, errors.Join(err, kept.Close())
		}
	}
	rows, err := kept.Fetch(ctx, where, opt.Progress)
	if err != nil {
		return nil, errors.Join(err, kept.Close())
	}
	r := kept.Run
	r.Contents = append([]*table.Table{rows}, r.Contents...)
	r.OnClose(kept.Close)
	return r, nil
}

// Store keeps a run in ClickHouse under a name. It returns false if exactly this
// run is there already.
func Store(ctx context.Context, r *run.Run, to *clickhouse.Address, name string, o clickhouse.Import) (stored bool, err error) {
	server, err := clickhouse.Dial(ctx, to)
	if err != nil {
		return false, err
	}
	defer server.Close()
	s, err := FromRun(ctx, r)
	if err != nil {
		return false, err
	}
	defer s.Engine.Close()
	stored, err = server.Store(ctx, name, &clickhouse.Contents{Run: r, Table: s.Table, Places: s.Places}, o)
	if err != nil {
		return false, fmt.Errorf("store %s: %w", name, err)
	}
	return stored, nil
}
