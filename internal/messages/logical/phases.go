package logical

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/isobath/isobath/internal/messages/trace"
)

// Phases finds where the phases of a user begin on each process: items of spec,
// apart by commas or lines, are functions (names or globs) that begin one when
// they are entered, "step:12" for the twelfth step of the structure without
// phases, or "time:1.5ms" after the first event. Lines that begin with # are
// comments.
func Phases(ctx context.Context, t *trace.Trace, spec string, o Options) ([][]int64, error) {
	var functions []string
	var steps []int32
	var times []int64
	for line := range strings.Lines(spec) {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		for item := range strings.SplitSeq(line, ",") {
			item = strings.TrimSpace(item)
			kind, value, _ := strings.Cut(item, ":")
			switch {
			case item == "":
			case kind == "step" && value != "":
				n, err := strconv.ParseInt(value, 10, 32)
				if err != nil || n < 0 {
					return nil, fmt.Errorf("phase %q: want a step such as step:12", item)
				}
				steps = append(steps, int32(n))
			case kind == "time" && value != "":
				at, err := time.ParseDuration(value)
				if err != nil || at < 0 {
					return nil, fmt.Errorf("phase %q: want a time after the first event such as time:1.5ms", item)
				}
				times = append(times, t.First+t.Ticks(at.Nanoseconds()))
			default:
				functions = append(functions, item)
			}
		}
	}
	return phases(ctx, t, functions, steps, times, o)
}

func phases(ctx context.Context, t *trace.Trace, functions []string, steps []int32, times []int64, o Options) ([][]int64, error) {
	out := make([][]int64, len(t.Procs))
	found := len(times) > 0
	if len(functions) > 0 {
		enters, err := t.Enters(ctx, functions)
		if err != nil {
			return nil, err
		}
		for p, list := range enters {
			out[p] = append(out[p], list...)
			found = found || len(list) > 0
		}
	}
	if len(steps) > 0 {
		o.Phases = nil
		s, err := Analyze(ctx, t, o)
		if err != nil {
			return nil, err
		}
		for _, step := range steps {
			found = s.beginnings(step, out) || found
		}
	}
	if !found {
		return nil, fmt.Errorf("no process enters a region of that name, or has an operation at that step; `isobath steps --profile` lists the regions")
	}
	for p := range out {
		out[p] = append(out[p], times...)
		slices.Sort(out[p])
	}
	return out, nil
}

// beginnings adds, for each process that has one, the entry of its first
// operation at or after a step.
func (s *Structure) beginnings(step int32, out [][]int64) (found bool) {
	for p := range out {
		first := int64(-1)
		for i := s.Start[p]; i < s.Start[p+1]; i++ {
			if s.Step[i] >= step && (first < 0 || s.Enter[i] < first) {
				first = s.Enter[i]
			}
		}
		if first >= 0 {
			out[p] = append(out[p], first)
			found = true
		}
	}
	return found
}
