package memory

import (
	"context"
	"slices"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/data/samples"
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
	f, _ := samples.Lookup(c.Name)
	return frame.ColumnInfo{
		Name: c.Name, Kind: c.Kind.String(), Unit: c.Unit, Provenance: c.Provenance.String(), Label: c.Label, Note: c.Note,
		Title: f.Label, Head: f.Head, About: samples.About(c.Provenance), Names: f.Names, Cost: slices.Index(samples.Costs(), c.Name) + 1,
		Axis: f.Axis.String(), AxisPlace: samples.AxisPlace(c.Name),
		Missing: s.Missing, Distinct: s.Distinct, Min: s.Min, Max: s.Max, IDLike: s.IDLike,
	}
}
