package timeline

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/messages/trace"
)

// values are a metric of the operations and of the computations before them: in
// nanoseconds, or in the unit of a recorded measure. NaN is no value.
type values struct {
	op, before func(int32) float64
	// signed values may be negative; the largest of several is then the one
	// farthest from zero.
	signed bool
}

// larger says which of two values stands for both.
func (v *values) larger(a, b float64) bool {
	if v.signed {
		return math.Abs(a) > math.Abs(b)
	}
	return a > b
}

// values returns a metric, or how it differs from another run.
func (t *Timeline) values(ctx context.Context, m Metric, against *Versus) (*values, error) {
	here, err := t.own(ctx, m)
	if err != nil || against == nil {
		return here, err
	}
	there, err := against.There.own(ctx, m)
	if err != nil {
		return nil, fmt.Errorf("the other run: %w", err)
	}
	of := against.Align.Of
	minus := func(a, b func(int32) float64) func(int32) float64 {
		return func(i int32) float64 {
			if of[i] < 0 {
				return math.NaN()
			}
			return a(i) - b(of[i])
		}
	}
	return &values{op: minus(here.op, there.op), before: minus(here.before, there.before), signed: true}, nil
}

func (t *Timeline) own(ctx context.Context, m Metric) (*values, error) {
	s := t.S
	pair := func(op, before []int64) (*values, error) {
		at := func(column []int64) func(int32) float64 {
			return func(i int32) float64 { return float64(s.Trace.NS(column[i])) }
		}
		return &values{op: at(op), before: at(before)}, nil
	}
	switch m {
	case Lateness, "":
		return pair(s.GlobalLate, s.GlobalAggLate)
	case Differential:
		return pair(s.GlobalDiff, s.GlobalAggDiff)
	case PartLateness:
		return pair(s.Late, s.AggLate)
	case PartDifferential:
		return pair(s.Diff, s.AggDiff)
	case Duration:
		return &values{
			op:     func(i int32) float64 { return float64(s.Trace.NS(s.Exit[i] - s.Enter[i])) },
			before: func(i int32) float64 { return float64(s.Trace.NS(s.Enter[i] - s.Began(i))) },
		}, nil
	}
	if name, ok := strings.CutPrefix(string(m), MeasurePrefix); ok {
		if measure, ok := s.Trace.MeasureNamed(name); ok {
			return t.measure(ctx, measure)
		}
		return nil, fmt.Errorf("the trace records no metric %q", name)
	}
	return nil, fmt.Errorf("no metric %q: want lateness, differential, partition-lateness, partition-differential, duration or metric:NAME", m)
}

// measure gives the records of a measure to operations: how much a counter grew
// in the call and in the computation before it, or the last reading until its
// end. Kept once read.
func (t *Timeline) measure(ctx context.Context, m trace.Measure) (*values, error) {
	t.measuring.Lock()
	defer t.measuring.Unlock()
	if v := t.measured[m.Name]; v != nil {
		return v, nil
	}
	series, err := t.series(ctx, m)
	if err != nil {
		return nil, err
	}
	s := t.S
	op, before := make([]float64, s.Len()), make([]float64, s.Len())
	negative := false
	for p := range s.Trace.Procs {
		r := readings{series.Time[p], series.Value[p], m.Kind}
		for i := s.Start[p]; i < s.Start[p+1]; i++ {
			op[i], before[i] = r.between(s.Enter[i], s.Exit[i]), r.between(s.Began(i), s.Enter[i])
			negative = negative || op[i] < 0 || before[i] < 0
		}
	}
	at := func(column []float64) func(int32) float64 { return func(i int32) float64 { return column[i] } }
	v := &values{op: at(op), before: at(before), signed: negative}
	t.measured[m.Name] = v
	return v, nil
}

// track is a measure in the columns of a window of time.
func (t *Timeline) track(ctx context.Context, m Metric, lines []Line, w Window) ([]float32, error) {
	name, ok := strings.CutPrefix(string(m), MeasurePrefix)
	if !ok {
		return nil, nil
	}
	measure, ok := t.S.Trace.MeasureNamed(name)
	if !ok {
		return nil, nil
	}
	series, err := t.series(ctx, measure)
	if err != nil {
		return nil, err
	}
	out := make([]float32, len(lines)*w.Columns)
	for y, l := range lines {
		r := readings{series.Time[l.Process], series.Value[l.Process], measure.Kind}
		for x := range w.Columns {
			at := func(x int) int64 { return t.tick(w.From + (w.To-w.From)*float64(x)/float64(w.Columns)) }
			v := math.NaN()
			if l.Thread == 0 {
				v = r.over(at(x), at(x+1))
			}
			out[y*w.Columns+x] = float32(v)
		}
	}
	return out, nil
}

// series reads the records of a measure, once.
func (t *Timeline) series(ctx context.Context, m trace.Measure) (*trace.Series, error) {
	t.reading.Lock()
	defer t.reading.Unlock()
	if s := t.read[m.Name]; s != nil {
		return s, nil
	}
	s, err := t.S.Trace.Series(ctx, m)
	if err != nil {
		return nil, err
	}
	t.read = map[string]*trace.Series{m.Name: s} // the newest; they may be large
	return s, nil
}

// readings are the records of a measure on one process.
type readings struct {
	time  []int64
	value []float64
	kind  trace.MeasureKind
}

// last returns the last record at or before a time, -1 for none. Of several at
// the same time, a tracer writes the newest last.
func (r *readings) last(at int64) int {
	i, _ := slices.BinarySearchFunc(r.time, at, func(t, at int64) int {
		if t <= at {
			return -1
		}
		return 1
	})
	return i - 1
}

// over is the value of a stretch of time for a picture: what a counter grew
// between two readings is spread evenly between them, for it grew sometime there.
func (r *readings) over(from, to int64) float64 {
	if r.kind != trace.Accumulated {
		return r.between(from, to)
	}
	grown := func(at int64) float64 {
		a := r.last(at)
		switch {
		case a < 0:
			return math.NaN()
		case a+1 == len(r.time):
			return r.value[a]
		}
		part := float64(at-r.time[a]) / float64(r.time[a+1]-r.time[a])
		return r.value[a] + part*(r.value[a+1]-r.value[a])
	}
	return grown(to) - grown(from)
}

// between returns the value of a stretch of time.
func (r *readings) between(from, to int64) float64 {
	a, b := r.last(from), r.last(to)
	switch r.kind {
	case trace.Relative:
		if b < 0 {
			return math.NaN()
		}
		sum := 0.0
		for i := a + 1; i <= b; i++ {
			sum += r.value[i]
		}
		return sum
	case trace.Absolute:
		if b < 0 {
			return math.NaN()
		}
		return r.value[b]
	}
	if b < 0 {
		return math.NaN()
	}
	// Before its first reading a counter is unknown: what it grew until then
	// belongs to nobody.
	return r.value[b] - r.value[max(a, 0)]
}
