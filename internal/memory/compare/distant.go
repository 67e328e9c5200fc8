package compare

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/memory/align"
)

// distant returns the engine of a run whose rows are not here, else nil.
func distant(r *Run) query.Distant {
	if !r.Table.Elsewhere() {
		return nil
	}
	d, _ := r.Engine.(query.Distant)
	return d
}

// threadsOf numbers the threads of a run.
func threadsOf(ctx context.Context, r *Run) (align.Threads, error) {
	e := distant(r)
	if e == nil {
		return align.ThreadsOf(r.Table), nil
	}
	if samples.UsableAs(r.Table, samples.TID, table.Number) == nil {
		return nil, nil
	}
	columns := []string{samples.TID}
	if samples.UsableAs(r.Table, samples.PID, table.Number) != nil {
		columns = append(columns, samples.PID)
	}
	found, err := inOrder(ctx, e, columns...)
	if err != nil {
		return nil, err
	}
	var order align.Order
	for _, k := range found {
		if k.Keys[0] == "" {
			continue
		}
		thread, err := strconv.ParseFloat(k.Keys[0], 64)
		if err != nil {
			return nil, err
		}
		order.Meet(int64(thread), len(columns) > 1 && k.Keys[1] == k.Keys[0])
	}
	return order.Threads(), nil
}

// functionsElsewhere is findFunctions for rows that are not here.
func functionsElsewhere(ctx context.Context, e query.Distant, into map[string]codePlace) error {
	found, err := inOrder(ctx, e, samples.Function, samples.File, samples.Line)
	if err != nil {
		return err
	}
	for _, k := range found {
		if slices.Contains(k.Keys, "") {
			continue
		}
		line, err := strconv.ParseFloat(k.Keys[2], 64)
		if err != nil {
			return err
		}
		addFunction(into, k.Keys[0], codePlace{k.Keys[1], int(line)})
	}
	return nil
}

// inOrder asks for different values in the order in which rows have them.
func inOrder(ctx context.Context, e query.Distant, columns ...string) ([]query.First, error) {
	found, err := e.Firsts(ctx, columns...)
	slices.SortFunc(found, func(a, b query.First) int { return cmp.Compare(a.Row, b.Row) })
	return found, err
}
