// Package commandtest makes large catalogues for tests and benchmarks of
// command search.
package commandtest

import (
	"fmt"

	"github.com/isobath/isobath/internal/data/table"
)

// Table makes a table of so many axes, one of which has so many names.
func Table(axes, names int) *table.Table {
	dict := make([]string, names)
	for i := range dict {
		dict[i] = fmt.Sprintf("%s_%d_%s", []string{"kernel", "solver", "halo", "boundary", "flux"}[i%5], i, []string{"init", "update", "reduce", "exchange"}[i%4])
		if i < 100 {
			dict[i] = fmt.Sprintf("solver_%d_reduce", i)
		}
	}
	codes := make([]uint32, names)
	numbers := make([]int64, names)
	for i := range codes {
		codes[i], numbers[i] = uint32(i), int64(i)
	}
	columns := []*table.Column{table.Categories("symbol", table.Derived, codes, dict, nil)}
	for i := 1; i < axes; i++ {
		columns = append(columns, table.Ints(fmt.Sprintf("attribute_%d", i), "", table.Measured, numbers, nil))
	}
	t, err := table.New("samples", columns)
	if err != nil {
		panic(err) // the columns are made here and fit
	}
	return t
}
