package memory

import (
	"context"
	"slices"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// describe summarises the columns, several at a time, and remembers them. Who
// asks while another does looks for themselves: neither waits for what the other
// may give up.
func (s *Samples) describe(ctx context.Context) ([]frame.ColumnInfo, error) {
	if known := s.columns.Load(); known != nil {
		return *known, nil
	}
	columns := s.Data.Table.Columns()
	out := make([]frame.ColumnInfo, len(columns))
	err := parallel.Each(ctx, len(columns), func(_ context.Context, _, i int) error {
		out[i] = describeColumn(columns[i])
		if out[i].Name == samples.CPU && samples.Usable(s.Data.Table, samples.Node) == nil {
			out[i].Head = "processor" // there is no node that it could be ordered by
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.columns.Store(&out)
	return out, nil
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
