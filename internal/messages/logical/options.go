package logical

import (
	"fmt"

	"github.com/isobath/isobath/internal/messages/trace"
)

// Options choose how operations are merged and ordered. Default returns what
// suits a trace nobody has said anything about.
type Options struct {
	Coalesce    bool // join neighbouring non-blocking sends
	Waitall     bool // merge the sends that complete in one call, and that call
	Guess       bool // guess those sends where the trace does not record them
	Calls       bool // merge operations called from the same function
	Leaps       bool // merge until every leap holds all processes
	Force       bool // merge leaps that stay incomplete with the next one
	Ratio       float64
	MergeGlobal bool // merge partitions that share steps
	Reorder     bool // put receives into an idealised order
	// Phases are, per process, the times at which a user's phase begins.
	// They replace the automatic partitions.
	Phases [][]int64
}

// DefaultRatio is how much nearer the previous leap must be than the next one
// before a partition is merged backwards (the paper's order of magnitude).
const DefaultRatio = 10

// Default is the setting that needs no knowledge of the program.
func Default() Options {
	return Options{Coalesce: true, Waitall: true, Guess: true, Ratio: DefaultRatio}
}

// settle drops what a trace gives no ground for.
func (o Options) settle(t *trace.Trace) Options {
	o.Guess = o.Guess && o.Waitall && t.Guessed
	if t.Guessed && !o.Guess {
		o.Waitall = false
	}
	if o.Ratio <= 0 {
		o.Ratio = DefaultRatio
	}
	if len(o.Phases) > 0 {
		o.Calls, o.Leaps, o.Waitall, o.Guess = false, false, false, false
	}
	return o
}

// note says what settle chose where it is not obvious.
func (s *Structure) note() {
	if s.Options.Guess {
		s.Notes = append(s.Notes, "the trace records no completion of a send, so the sends of each MPI_Waitall are guessed: those since the last receive, collective, wait or test")
	}
	if len(s.Options.Phases) > 0 {
		s.Notes = append(s.Notes, "partitions are the given phases, widened where a message would cross a border")
	}
}

// advise says when an option that is off would likely serve this trace.
func (s *Structure) advise() {
	if s.Options.Leaps || s.Options.MergeGlobal || len(s.Options.Phases) > 0 || s.Len() == 0 {
		return
	}
	active := 0
	for p := range s.Trace.Procs {
		if s.Start[p+1] > s.Start[p] {
			active++
		}
	}
	small, whole := 0, 0
	for q := range int32(s.Parts.Count()) {
		if len(s.Parts.Runs(q)) == active {
			whole += int(s.Parts.Ops[q])
		} else {
			small++
		}
	}
	// A tree or a pipeline has few operations in partitions of everyone, and
	// must not be advised.
	if small > 0 && 4*whole >= 3*s.Len() {
		s.Notes = append(s.Notes, fmt.Sprintf("%d %% of the operations are in partitions of all processes, but %d of %d partitions hold only some; if the program is bulk-synchronous, --leaps completes them",
			100*whole/s.Len(), small, s.Parts.Count()))
	}
}
