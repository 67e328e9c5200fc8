package memory

import (
	"context"
	"runtime"
	"sync"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/data/table"
)

// describeColumns summarises the columns of a table, several at a time.
func describeColumns(ctx context.Context, t *table.Table) []frame.ColumnInfo {
	if t == nil {
		return nil
	}
	columns := t.Columns()
	out := make([]frame.ColumnInfo, len(columns))
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, c := range columns {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if ctx.Err() == nil {
				out[i] = describeColumn(c)
			}
		})
	}
	wg.Wait()
	return out
}

func describeColumn(c *table.Column) frame.ColumnInfo {
	s := table.Summarize(c)
	return frame.ColumnInfo{
		Name: c.Name, Kind: c.Kind.String(), Unit: c.Unit, Provenance: c.Provenance.String(), Label: c.Label, Note: c.Note,
		Missing: s.Missing, Distinct: s.Distinct, Min: s.Min, Max: s.Max, IDLike: s.IDLike,
	}
}
