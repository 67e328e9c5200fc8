// Package allocated says what each place of a program allocates, how long that
// lives, and how much it is then used.
package allocated

import (
	"context"
	"fmt"
	"strings"

	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/table"
)

// Allocations is what a program allocated.
type Allocations struct {
	// Calls and Bytes are all allocations that were counted, and Peak the most bytes
	// of them that lived at once in one process, as far as they were logged. Small
	// ones are an estimate and in neither.
	Calls      int64 `json:"calls"`
	Bytes      int64 `json:"bytes"`
	Peak       int64 `json:"peak"`
	SmallCalls int64 `json:"small_calls"`
	SmallBytes int64 `json:"small_bytes"`
	// Samples are those of the whole run; InAllocations are in memory of these places.
	Samples       int64            `json:"samples"`
	InAllocations int64            `json:"in_allocations"`
	CostUnit      string           `json:"cost_unit"`
	SiteCount     int              `json:"site_count"`
	Sites         []AllocationSite `json:"sites"`
}

// AllocationSite is a place that allocates: a chain of calls.
type AllocationSite struct {
	// Frames are the calls, innermost first. Allocation is the line of the innermost
	// that has one; Symbols are names of objects that were made there.
	Frames     []AllocationFrame `json:"frames"`
	Allocation string            `json:"allocation,omitempty"`
	Symbols    []string          `json:"symbols"`
	Processes  int64             `json:"processes"`
	// Calls and Bytes are measured; Summed of these were counted and not logged.
	Calls       int64 `json:"calls"`
	Bytes       int64 `json:"bytes"`
	Summed      int64 `json:"summed"`
	SummedBytes int64 `json:"summed_bytes"`
	Freed       int64 `json:"freed"` // of the logged ones
	// Peak is the most bytes that lived at once in one process, in PeakCalls
	// allocations; it may be more if PeakAtLeast. AtPeak are the bytes when the
	// program had most, AtEnd those that were never freed.
	Peak        int64 `json:"peak"`
	PeakCalls   int64 `json:"peak_calls"`
	PeakAtLeast bool  `json:"peak_at_least"`
	AtPeak      int64 `json:"at_peak"`
	AtEnd       int64 `json:"at_end"`
	// Lifetime is the median of the logged ones in ns; null if most of them were
	// never freed or none is logged.
	Lifetime *int64 `json:"lifetime"`
	// SmallCalls and SmallBytes are allocations below the threshold, estimated from
	// SmallSeen that were looked at.
	SmallCalls int64 `json:"small_calls"`
	SmallBytes int64 `json:"small_bytes"`
	SmallSeen  int64 `json:"small_seen"`
	// Samples are accesses to what was logged, Share their share of all samples, and
	// Cost what they cost.
	Samples int64   `json:"samples"`
	Reads   int64   `json:"reads"`
	Writes  int64   `json:"writes"`
	Cost    int64   `json:"cost"`
	Share   float64 `json:"share"`
}

// AllocationFrame is one call.
type AllocationFrame struct {
	Function string `json:"function"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
}

// Sites reads the table of a recording. Of many sites the first are given, those
// with most bytes; top 0 gives all.
func Sites(ctx context.Context, t *table.Table, samples, top int) (*Allocations, error) {
	c := columns{table: t}
	r := &Allocations{Samples: int64(samples), SiteCount: t.Rows(), Sites: []AllocationSite{}}
	if cost := t.Column("cost"); cost != nil {
		r.CostUnit = cost.Unit
	}
	for i := range table.Scan(ctx, nil, t.Rows()) {
		s := c.site(i)
		if c.missing != nil {
			return nil, c.missing
		}
		s.Share = float64(s.Samples) / float64(max(samples, 1))
		r.Calls, r.Bytes = r.Calls+s.Calls, r.Bytes+s.Bytes
		r.SmallCalls, r.SmallBytes = r.SmallCalls+s.SmallCalls, r.SmallBytes+s.SmallBytes
		r.Peak += s.AtPeak
		r.InAllocations += s.Samples
		if top <= 0 || len(r.Sites) < top {
			r.Sites = append(r.Sites, s)
		}
	}
	return r, ctx.Err()
}

// columns reads cells by the name of their column.
type columns struct {
	table   *table.Table
	missing error
}

func (c *columns) of(name string) *table.Column {
	column := c.table.Column(name)
	if column == nil && c.missing == nil {
		c.missing = fmt.Errorf("the table of allocations has no column %s", name)
	}
	return column
}

func (c *columns) number(name string, i int) int64 {
	column := c.of(name)
	if column == nil || !column.Has(i) {
		return 0
	}
	return int64(column.Float(i))
}

func (c *columns) text(name string, i int) string {
	column := c.of(name)
	if column == nil {
		return ""
	}
	return column.Text(i)
}

func (c *columns) site(i int) AllocationSite {
	s := AllocationSite{
		Frames: frames(c.text("stack", i)), Allocation: c.text("allocation", i), Symbols: []string{}, Processes: c.number("processes", i),
		Calls: c.number("calls", i), Bytes: c.number("bytes", i), Summed: c.number("summed_calls", i), SummedBytes: c.number("summed_bytes", i), Freed: c.number("freed", i),
		Peak: c.number("peak", i), PeakCalls: c.number("peak_calls", i), AtPeak: c.number("at_peak", i), AtEnd: c.number("at_end", i),
		SmallCalls: c.number("small_calls", i), SmallBytes: c.number("small_bytes", i), SmallSeen: c.number("small_seen", i),
		Samples: c.number("samples", i), Reads: c.number("reads", i), Writes: c.number("writes", i), Cost: c.number("cost", i),
	}
	s.Calls, s.Bytes = s.Calls+s.Summed, s.Bytes+s.SummedBytes
	s.PeakAtLeast = s.Summed > 0
	if names := c.text("symbol", i); names != "" {
		s.Symbols = strings.Split(names, ";")
	}
	if lifetime := c.of("lifetime"); lifetime != nil && lifetime.Has(i) {
		ns := int64(lifetime.Float(i))
		s.Lifetime = &ns
	}
	return s
}

// frames are those of a stack's text, innermost first.
func frames(stack string) []AllocationFrame {
	outermost := symbol.ParseStack(stack)
	out := make([]AllocationFrame, len(outermost))
	for i, f := range outermost {
		out[len(out)-1-i] = AllocationFrame{f.Function, f.File, f.Line}
	}
	return out
}
