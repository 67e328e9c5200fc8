package memory

import (
	"context"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/data/table"
)

// describeColumns summarises the columns of a table, several at a time.
func describeColumns(ctx context.Context, t *table.Table) []frame.ColumnInfo {
	if t == nil {
		return nil
	}
	columns := t.Columns()
	out := make([]frame.ColumnInfo, len(columns))
	err := parallel.Each(ctx, len(columns), func(_ context.Context, _, i int) error {
		out[i] = describeColumn(columns[i])
		return nil
	})
	if err != nil && ctx.Err() == nil {
		panic(err) // a bug of ours: the request that asks for it says so
	}
	return out
}

func describeColumn(c *table.Column) frame.ColumnInfo {
	s := table.Summarize(c)
	return frame.ColumnInfo{
		Name: c.Name, Kind: c.Kind.String(), Unit: c.Unit, Provenance: c.Provenance.String(), Label: c.Label, Note: c.Note,
		Missing: s.Missing, Distinct: s.Distinct, Min: s.Min, Max: s.Max, IDLike: s.IDLike,
	}
}
