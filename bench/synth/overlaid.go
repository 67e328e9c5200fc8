package synth

import (
	"fmt"

	"github.com/isobath/isobath/internal/data/table"
)

// OverlaidAxes is the number of columns of an Overlaid table.
const OverlaidAxes = 16

// Overlaid returns a table of sixteen columns of random numbers below 10 000
// that share one array, each a little further along, so that a hundred million
// rows fit into memory.
func Overlaid(rows int) *table.Table {
	const apart = 1009
	data := make([]int32, rows+OverlaidAxes*apart)
	r := random(7)
	for i := range data {
		data[i] = int32(r.below(10_000))
	}
	var columns []*table.Column
	for i := range OverlaidAxes {
		columns = append(columns, &table.Column{Name: fmt.Sprintf("c%d", i), Data: data[i*apart : i*apart+rows]})
	}
	t, err := table.New("samples", columns)
	if err != nil {
		panic(err) // the columns above are not a table
	}
	return t
}
