// Package step records every memory access of a region of a program by
// stepping it one instruction at a time with ptrace, and decoding the operands
// of each. It needs no tool and no permission beyond tracing one's own child;
// outside the region the program runs at full speed.
package step

import (
	"context"
	"errors"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/flow"
	"github.com/isobath/isobath/internal/record/target"
)

// Choices of threads that are no number.
const (
	FirstThread = -1 // the thread that enters the region first
	AllThreads  = -2
)

// Options say what to record.
type Options struct {
	Program *target.Program
	Args    []string // without the program's name
	Env     []string // nil is our own
	Bounds  target.Bounds
	// Limit ends the recording after that many references; 0 is none.
	Limit uint64
	// Thread is FirstThread, AllThreads, or the number of a thread in the order
	// in which they start: 0 is the first.
	Thread int
	// Emit is called with every reference, in order. Instruction addresses are
	// those of the running program.
	Emit func(refs.Ref)
	// Flow takes the blocks of code that run; nil where they are not wanted.
	Flow *flow.Encoder
}

// Result is what a recording found besides references.
type Result struct {
	Exit   int    // exit code; 128 + the signal if one ended the program
	Signal string // the signal that ended the program, if any
	Bias   uint64 // load address of the program minus its link address
	// Modules are the files mapped as code when the region ended.
	Modules []target.Module
	// PID is the process, Maps the text of its /proc/PID/maps when the region
	// ended: names for the memory that was touched.
	PID          int
	Maps         []byte
	Instructions uint64
	// Unknown counts steps over instructions that could not be decoded; their
	// accesses, if any, are missing.
	Unknown uint64
	Entered bool // the region was reached
	Left    bool // its end was reached
	Full    bool // the limit ended it
	// Skipped and Calls are how many regions were passed over, and recorded to
	// their end, by all threads.
	Skipped, Calls uint64
	// Stuck says that the program loops around instructions that cannot be
	// stepped (load and store exclusive of arm64); recording ended there.
	Stuck bool
	// Unfollowed says that the program is one of Go and that its goroutines could not
	// be told apart: the region is what a thread did.
	Unfollowed bool
}

// ErrUnsupported says that this system cannot step programs.
var ErrUnsupported = errors.New("stepping works on Linux on amd64 and arm64 only; use --backend qemu or valgrind")

// Run starts the program and records the region. The program always runs to its
// own end, at full speed once the region is over. When ctx ends the program is
// asked to end (SIGTERM), and killed if it does not.
func Run(ctx context.Context, o Options) (*Result, error) { return run(ctx, o) }
