package tabular

import (
	"fmt"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// Describe gives columns the kinds, units, origins and labels that a
// description says they have. A column whose values contradict its description
// stays as it was read, and that is said.
func Describe(columns []*table.Column, said map[string]table.Described) (warnings []string) {
	for i, c := range columns {
		d, ok := said[c.Name]
		if !ok {
			continue
		}
		made, ok := describe(c, &d)
		if !ok {
			warnings = append(warnings, fmt.Sprintf("column %q is described as %v, and its values are not: it is read as if nothing described it", c.Name, d.Kind))
			continue
		}
		columns[i] = made
	}
	return warnings
}

func describe(c *table.Column, d *table.Described) (*table.Column, bool) {
	out := *c
	switch {
	case c.Kind == d.Kind:
	case c.Kind == table.Category && c.Provenance == table.Absent:
		out = *empty(&out, d.Kind)
	case d.Kind == table.Time:
		// Offsets from a start that the description has: not the clock readings
		// that times of other tools are.
		values, ok := wholeNumbers(c)
		if !ok {
			return nil, false
		}
		out.Kind, out.Data = table.Time, values
	default:
		made, err := convert(c, samples.Field{Name: c.Name, Kind: d.Kind})
		if err != nil {
			return nil, false
		}
		out = *made
	}
	out.Unit, out.Provenance, out.Label, out.Note, out.Base = d.Unit, samples.Said(out.Valid, d.Provenance), d.Label, d.Note, d.Base
	return &out, true
}

func wholeNumbers(c *table.Column) ([]int64, bool) {
	switch d := c.Data.(type) {
	case []int32:
		values := make([]int64, len(d))
		for i, v := range d {
			values[i] = int64(v)
		}
		return values, true
	case []int64:
		return d, true
	}
	return nil, false
}
