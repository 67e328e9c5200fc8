package naive

import (
	"context"
	"strings"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

type group struct {
	row      query.GroupRow
	first    int // a row of the group, to compare keys by value
	distinct [query.Layers]map[string]bool
}

func (e *Engine) groups(ctx context.Context, g query.Group, ls layers) (query.Groups, error) {
	by := make([]*table.Column, len(g.By))
	for i, name := range g.By {
		c, err := e.column(name)
		if err != nil {
			return query.Groups{}, err
		}
		by[i] = c
	}
	var sum, distinct *table.Column
	var err error
	if g.Sum != "" {
		if sum, err = e.number(g.Sum); err != nil {
			return query.Groups{}, err
		}
	}
	if g.Distinct != "" {
		if distinct, err = e.column(g.Distinct); err != nil {
			return query.Groups{}, err
		}
	}
	found := map[string]*group{}
	for l, rows := range ls {
		for i := range rows.All() {
			if i%65536 == 0 && ctx.Err() != nil {
				return query.Groups{}, ctx.Err()
			}
			findGroup(found, by, i).add(l, i, sum, distinct)
		}
	}
	ranking := query.NewRanking(g, by)
	for _, x := range found {
		for l := range x.distinct {
			x.row.Distinct[l] = len(x.distinct[l])
		}
		ranking.Add(query.RankedGroup{Row: x.row, First: x.first})
	}
	return ranking.Groups(), nil
}

func findGroup(found map[string]*group, by []*table.Column, row int) *group {
	keys := make([]string, len(by))
	for i, c := range by {
		if _, ok := query.Number(c, row); ok {
			keys[i] = c.Text(row)
		}
	}
	// No text has a zero byte in it that would make two keys one.
	key := strings.Join(keys, "\x00")
	g := found[key]
	if g == nil {
		g = &group{first: row}
		found[key] = g
	}
	return g
}

func (g *group) add(l, row int, sum, distinct *table.Column) {
	g.row.Counts[l]++
	if sum != nil {
		if v, ok := query.Number(sum, row); ok {
			g.row.Valued[l]++
			g.row.Sums[l] += v
			g.row.Squares[l] += v * v
		}
	}
	if distinct != nil {
		if _, ok := query.Number(distinct, row); ok {
			if g.distinct[l] == nil {
				g.distinct[l] = map[string]bool{}
			}
			g.distinct[l][distinct.Text(row)] = true
		}
	}
}
