package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"isobath/internal/run"
)

// recording is what every kind of recording needs to know.
type recording struct {
	out     string // the run to write; made from the program's name if empty
	force   bool   // replace a run of that name
	command []string
}

// output is the run to write.
func (r recording) output() string {
	if r.out != "" || len(r.command) == 0 {
		return r.out
	}
	return filepath.Base(r.command[0]) + run.Suffix
}

// samplingFlags are the flags of recording samples, which --refs and --mpi do
// not have.
type samplingFlags struct {
	mode      string
	rate      int
	period    uint64
	latency   int
	cpus      string
	pid       int
	duration  time.Duration
	children  bool
	model     string
	heap      bool
	threshold int64
}

func newRecord() *cobra.Command {
	var (
		rec      recording
		sampling samplingFlags
		refs     refsFlags
		mpi      mpiFlags
		wantRefs bool
		wantMPI  bool
	)
	cmd := &cobra.Command{
		Use:   "record [-o RUN] [flags] -- CMD [ARG...]",
		Short: "Record a program: samples of its memory accesses, every reference, or its messages",
		Long: `Record a program. Without --refs or --mpi its memory accesses are sampled: by
the hardware where it can (PEBS, IBS, SPE), and otherwise by a timer, with the
exact address of the access at or just before the interrupted instruction.
Nothing has to be rebuilt and no privilege is needed; 'isobath doctor' says
what this machine can do. The exit code is that of the program.`,
		Example: `  isobath record -- ./heat 1024
  isobath record -o heat.isobath --rate 2000 --duration 10s -- ./heat 1024
  isobath record --pid 4711 --duration 30s -o server.isobath
  isobath record --refs --function sort -- ./bubble 100
  isobath record --mpi -- mpirun -n 4 ./ring`,
		RunE: func(cmd *cobra.Command, args []string) error {
			rec.command = args
			switch {
			case wantRefs && wantMPI:
				return usagef("--refs and --mpi are two kinds of recording; choose one")
			case len(args) == 0 && sampling.pid == 0:
				return usagef("record what? Give the program after --, or --pid N")
			case wantRefs:
				return recordRefs(cmd, rec, refs)
			case wantMPI:
				return recordMPI(cmd, rec, mpi)
			}
			return recordSamples(cmd, rec, sampling)
		},
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false) // what follows the program belongs to it
	flags.StringVarP(&rec.out, "output", "o", "", "the `run` to write (default: the program's name with .isobath)")
	flags.BoolVar(&rec.force, "force", false, "replace a run of that name")
	flags.BoolVar(&wantRefs, "refs", false, "record every memory reference of a region")
	flags.BoolVar(&wantMPI, "mpi", false, "record the messages of an MPI program")
	sampling.add(cmd)
	refs.add(cmd)
	mpi.add(cmd)
	return cmd
}

func (f *samplingFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.mode, "mode", "auto", "how to sample: auto, pmu or timer")
	flags.IntVar(&f.rate, "rate", 0, "samples a `second` and CPU (default 1000)")
	flags.Uint64Var(&f.period, "period", 0, "one sample every `N` events, in place of --rate")
	flags.IntVar(&f.latency, "latency-threshold", 0, "sample loads of at least this many `cycles` (hardware only)")
	flags.StringVar(&f.cpus, "cpu", "", "sample on these `CPUs` only, such as 0-3,8")
	flags.IntVar(&f.pid, "pid", 0, "attach to this running `process`")
	flags.DurationVar(&f.duration, "duration", 0, "stop recording after this `time`")
	flags.BoolVar(&f.children, "children", true, "record child processes too")
	flags.StringVar(&f.model, "model", "", "add modelled cache levels for this `topology` file, or 'here'")
	flags.BoolVar(&f.heap, "heap", true, "log allocations, to name heap objects")
	flags.Int64Var(&f.threshold, "heap-threshold", 4096, "log allocations of at least this many `bytes`")
}

var errNotLinux = errors.New("samples can be recorded on Linux only")

func recordSamples(cmd *cobra.Command, rec recording, f samplingFlags) error {
	return fmt.Errorf("sampling: %w", errNotLinux)
}
