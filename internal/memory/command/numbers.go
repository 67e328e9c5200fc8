package command

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// asked answers by asking the engine.
type asked struct {
	ctx context.Context
	s   *Searcher
}

func (a *asked) quantile(column string, p float64) (float64, error) {
	return a.s.quantile(a.ctx, column, p)
}

func (a *asked) mean(column string) (float64, error) { return a.s.mean(a.ctx, column) }

func (a *asked) extreme(of extreme, where string) (string, error) {
	key := keyOf(of, where)
	a.s.mu.Lock()
	found, ok := a.s.extremes[key]
	a.s.mu.Unlock()
	if ok {
		return found, nil
	}
	e, err := query.Parse(where, a.s.data.Table)
	if err != nil {
		return "", err
	}
	g := query.Group{By: of.by, Order: of.measure}
	if of.measure != query.ByCount {
		g.Sum = a.s.catalogue.cost
	}
	answer, err := a.s.engine.Answer(a.ctx, &query.Request{Where: e, Groups: []query.Group{g}})
	if err != nil {
		return "", err
	}
	found = a.s.pick(answer.Groups[0].Rows, of)
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	if len(a.s.extremes) >= mostCounts {
		clear(a.s.extremes)
	}
	a.s.extremes[key] = found
	return found, nil
}

func keyOf(of extreme, where string) extremeKey {
	return extremeKey{fmt.Sprint(of.by, of.measure, of.least), where}
}

// fewSamples is how many a group needs before its mean says something.
const fewSamples = 10

// pick returns the selection of the group that has most or least; groups without
// a name, and means of a few samples, are passed over.
func (s *Searcher) pick(rows []query.GroupRow, of extreme) string {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r query.GroupRow) bool {
		return r.Counts[query.Selected] == 0 || slices.Contains(r.Keys, "")
	})
	if of.measure == query.ByMean && slices.ContainsFunc(rows, enough) {
		rows = slices.DeleteFunc(rows, func(r query.GroupRow) bool { return !enough(r) })
	}
	if len(rows) == 0 {
		return query.Missing{Column: of.by[0]}.String()
	}
	row := rows[0]
	if of.least {
		row = rows[len(rows)-1]
	}
	terms := make([]string, len(of.by))
	for i, column := range of.by {
		terms[i] = query.Compare{Column: column, Op: query.Eq, Value: s.value(column, row.Keys[i])}.String()
	}
	return strings.Join(terms, " & ")
}

func enough(r query.GroupRow) bool { return r.Valued[query.Selected] >= fewSamples }

// value is a key of a group as the selection language writes it.
func (s *Searcher) value(column, key string) query.Value {
	if n, err := strconv.ParseFloat(key, 64); err == nil && s.data.Table.Column(column).Kind != table.Category {
		return query.NumberValue(n)
	}
	return query.TextValue(key)
}

// remembered answers what was asked before; known becomes false for the rest.
// The searcher is locked while it is used.
type remembered struct {
	s     *Searcher
	known *bool
}

func (r *remembered) quantile(column string, p float64) (float64, error) {
	v, ok := r.s.quantiles[quantileKey{column, p}]
	*r.known = *r.known && ok
	return v, nil
}

func (r *remembered) mean(column string) (float64, error) {
	v, ok := r.s.means[column]
	*r.known = *r.known && ok
	return v, nil
}

func (r *remembered) extreme(of extreme, where string) (string, error) {
	found, ok := r.s.extremes[keyOf(of, where)]
	*r.known = *r.known && ok
	return found, nil
}
