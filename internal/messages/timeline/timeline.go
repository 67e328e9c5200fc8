// Package timeline answers what pictures of a message-passing trace need, at
// the resolution of the screen: the operations of a window with their messages
// while they can be told apart, and otherwise, for each pixel cell, the largest
// and the mean value of the operations in it.
//
// Times that leave this package are nanoseconds after the trace's first event.
package timeline

import (
	"slices"
	"sync"

	"github.com/isobath/isobath/internal/messages/logical"
	"github.com/isobath/isobath/internal/messages/trace"
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

// MeasurePrefix begins the metrics that the trace itself records; the name of
// the measure follows.
const MeasurePrefix = "metric:"

// Timeline draws one structure. It is safe for concurrent use.
type Timeline struct {
	S *logical.Structure

	// bySteps holds the operations of each process in the order of their steps;
	// nil where that is the order of time, as it is unless receives were moved.
	bySteps []int32
	// rowsOf is the timeline whose rows this one has; nil for its own.
	rowsOf *Timeline

	mu        sync.Mutex
	pyramids  map[pyramidKey]*pyramid
	rows      map[string][]Row
	overviews map[overviewKey]*Overview

	measuring sync.Mutex // guards measured; held while a measure is read
	measured  map[string]*values
	reading   sync.Mutex // guards read, in the same way
	read      map[string]*trace.Series
	stacking  sync.Mutex // guards stacks, in the same way
	stacks    map[int32]*trace.Stack
}

// Versus is another run of the same program; values are then differences from
// it. Key tells others apart.
type Versus struct {
	Key   string
	There *Timeline
	Align *logical.Alignment
}

type overviewKey struct {
	metric  Metric
	versus  string
	columns int
}

type pyramidKey struct {
	metric Metric
	versus string
	steps  bool // in the order of bySteps
}

// New makes a structure ready to be drawn.
func New(s *logical.Structure) *Timeline {
	t := &Timeline{
		S: s, pyramids: map[pyramidKey]*pyramid{}, rows: map[string][]Row{}, overviews: map[overviewKey]*Overview{},
		measured: map[string]*values{}, stacks: map[int32]*trace.Stack{},
	}
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

// Retimed draws the same operations at the times of s, in the same rows.
func (t *Timeline) Retimed(s *logical.Structure) *Timeline {
	out := New(s)
	out.rowsOf = t
	return out
}

// ns converts a time of the trace to nanoseconds after its first event.
func (t *Timeline) ns(tick int64) float64 { return float64(t.S.Trace.NS(tick - t.S.Trace.First)) }

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
