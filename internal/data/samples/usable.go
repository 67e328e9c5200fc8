package samples

import (
	"cmp"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/table"
)

// Usable returns the column of that name if it can be computed with: it says
// something, and a canonical one is of its kind. Nil otherwise.
func Usable(t *table.Table, name string) *table.Column {
	c := t.Column(name)
	if c == nil || c.Provenance == table.Absent {
		return nil
	}
	if f, ok := byName[name]; ok && f.Kind != c.Kind {
		return nil
	}
	return c
}

// UsableAs is Usable for a column that must be of a kind, whatever its name.
func UsableAs(t *table.Table, name string, k table.Kind) *table.Column {
	if c := Usable(t, name); c != nil && c.Kind == k {
		return c
	}
	return nil
}

// UsableLatency returns the latency of the samples, nil if nothing says it.
func UsableLatency(t *table.Table) *table.Column { return Usable(t, Latency) }

// sumOf begins the note of a weight that sums an event over a place in the
// code: a row of such a table is no sample.
const sumOf = "sum of "

// SumOf is the note of a weight that sums the named event.
func SumOf(event string) string { return sumOf + event }

// Summed returns the weight of a table whose rows are sums, and what they sum;
// nil where rows are samples.
func Summed(t *table.Table) (*table.Column, string) {
	c := Usable(t, Weight)
	if c == nil {
		return nil, ""
	}
	event, ok := strings.CutPrefix(c.Note, sumOf)
	if !ok {
		return nil, ""
	}
	return c, event
}

// UnitOf is the unit that a column's values have, the canonical one where the
// column does not say. Latencies have no canonical one: programs count them in
// cycles, in ticks or in nanoseconds, and empty is a unit that nobody knows.
func UnitOf(c *table.Column) string {
	if c.Unit == "" && c.Name != Latency {
		return byName[c.Name].Unit
	}
	return c.Unit
}

// LatencyWord is what people are told that an amount of latency is in: its unit, or
// no more than that it is latency where the unit is unknown.
func LatencyWord(unit string) string { return cmp.Or(unit, Latency) }

// About stands before a number that rests on values of that provenance; it is
// empty unless they are modelled.
func About(p table.Provenance) string { return term.Roughly(p == table.Modelled) }

// Approximately is About without the space, for pictures, where room is short.
func Approximately(p table.Provenance) string { return strings.TrimSpace(About(p)) }
