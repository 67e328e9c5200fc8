// Package timeline answers what pictures of a message-passing trace need, at
// the resolution of the screen: the operations of a window with their messages
// while they can be told apart, and otherwise, for each pixel cell, the largest
// and the mean value of the operations in it.
//
// Times that leave this package are nanoseconds after the trace's first event.
package timeline

import (
	"fmt"
	"slices"
	"sync"

	"isobath/internal/logical"
)

// Metric is what operations are coloured by.
type Metric string

// The metrics. Peers of the global ones share the step; those of the others
// share the partition too.
const (
	Lateness         Metric = "lateness"
	Differential     Metric = "differential"
	PartLateness     Metric = "partition-lateness"
	PartDifferential Metric = "partition-differential"
	Duration         Metric = "duration"
)

// Timeline draws one structure. It is safe for concurrent use.
type Timeline struct {
	S *logical.Structure

	// bySteps holds the operations of each process in the order of their steps;
	// nil where that is the order of time, as it is unless receives were moved.
	bySteps []int32

	mu        sync.Mutex
	pyramids  map[pyramidKey]*pyramid
	rows      map[string][]Row
	overviews map[overviewKey]*Overview
}

type overviewKey struct {
	metric  Metric
	columns int
}

type pyramidKey struct {
	metric Metric
	steps  bool // in the order of bySteps
}

// New makes a structure ready to be drawn.
func New(s *logical.Structure) *Timeline {
	t := &Timeline{S: s, pyramids: map[pyramidKey]*pyramid{}, rows: map[string][]Row{}, overviews: map[overviewKey]*Overview{}}
	if s.Moved == nil {
		return t
	}
	t.bySteps = make([]int32, s.Len())
	for i := range t.bySteps {
		t.bySteps[i] = int32(i)
	}
	for p := range s.Trace.Procs {
		slices.SortStableFunc(t.bySteps[s.Start[p]:s.Start[p+1]], func(a, b int32) int { return int(s.Step[a]) - int(s.Step[b]) })
	}
	return t
}

// values returns a metric of the operations and of the computations before
// them, in ticks.
func (t *Timeline) values(m Metric) (op, before func(int32) int64, err error) {
	s := t.S
	at := func(column []int64) func(int32) int64 { return func(i int32) int64 { return column[i] } }
	switch m {
	case Lateness, "":
		return at(s.GlobalLate), at(s.GlobalAggLate), nil
	case Differential:
		return at(s.GlobalDiff), at(s.GlobalAggDiff), nil
	case PartLateness:
		return at(s.Late), at(s.AggLate), nil
	case PartDifferential:
		return at(s.Diff), at(s.AggDiff), nil
	case Duration:
		return func(i int32) int64 { return s.Exit[i] - s.Enter[i] }, func(i int32) int64 { return s.Enter[i] - t.began(i) }, nil
	}
	return nil, nil, fmt.Errorf("no metric %q: want lateness, differential, partition-lateness, partition-differential or duration", m)
}

// began returns when the computation before an operation began: at the exit of
// the operation before it, or with the trace.
func (t *Timeline) began(op int32) int64 {
	if op == t.S.Start[t.S.Proc[op]] {
		return min(t.S.Trace.First, t.S.Enter[op])
	}
	return min(t.S.Exit[op-1], t.S.Enter[op])
}

// ns converts a time of the trace to nanoseconds after its first event.
func (t *Timeline) ns(tick int64) float64 { return float64(t.S.Trace.NS(tick - t.S.Trace.First)) }

// perTick is a tick in nanoseconds.
func (t *Timeline) perTick() float64 { return 1e9 / float64(t.S.Trace.Resolution) }

// tick is the inverse of ns.
func (t *Timeline) tick(ns float64) int64 { return t.S.Trace.First + t.S.Trace.Ticks(int64(ns)) }

// seq returns the operation at position i of the order by steps.
func (t *Timeline) seq(i int32) int32 {
	if t.bySteps == nil {
		return i
	}
	return t.bySteps[i]
}

// rankOf returns the number a process is known by.
func (t *Timeline) rankOf(p int32) int32 {
	if r := t.S.Trace.Procs[p].Rank; r >= 0 {
		return r
	}
	return p
}
