package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/refset"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/record/reftrace"
	"github.com/isobath/isobath/internal/record/target"
)

// refsFlags are the flags of `record --refs`.
type refsFlags struct {
	region  target.Region
	limit   uint64
	thread  string
	calls   string
	backend string

	allocations bool
	flow        bool
}

func (f *refsFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.region.Function, "function", "", "refs: record this `function`, from its call to its return, of the program or a library (libm.so.6:sin, ./plugin.so:work), or a range of addresses (0x1000-0x1200, ./plugin.so+0x1000-0x1200) or a source line (solve.c:42) (default main)")
	flags.StringVar(&f.region.Begin, "begin", "", "refs: record from the return of this `function`")
	flags.StringVar(&f.region.End, "end", "", "refs: to the call of this `function`")
	flags.Uint64Var(&f.region.Skip, "skip", 0, "refs: pass over the first `N` calls of each thread")
	flags.StringVar(&f.calls, "calls", "", "refs: record this `number` of calls of each thread, or all (default 1, with --thread all all)")
	flags.Uint64Var(&f.limit, "limit", 0, "refs: stop after this `number` of references (default 50000000)")
	flags.StringVar(&f.thread, "thread", "first", "refs: `which` threads: first to come, all, or a number in order of start, 0 is main")
	flags.BoolVar(&f.allocations, "allocations", true, "refs: name heap objects by what they were allocated for; allocations inside the region then make a few references more")
	flags.BoolVar(&f.flow, "flow", true, "refs: keep the way through the code too, from which 'isobath loops' counts (valgrind: of one thread alone)")
	flags.StringVar(&f.backend, "backend", "auto", "refs: `how`: auto, step, qemu, valgrind or instrument")
}

func (f *refsFlags) options(command []string) (reftrace.Options, error) {
	if err := f.countCalls(); err != nil {
		return reftrace.Options{}, err
	}
	o := reftrace.Options{Command: command, Region: f.region, Limit: f.limit, Backend: reftrace.Backend(f.backend), Flow: f.flow,
		Say: func(line string) { say("%s", line) }}
	known := false
	for _, b := range reftrace.Backends {
		known = known || b == o.Backend
	}
	switch {
	case !known:
		return o, usagef("--backend %q: want auto, step, qemu, valgrind or instrument", f.backend)
	case f.region.Function != "" && (f.region.Begin != "" || f.region.End != ""):
		return o, usagef("--function and --begin, --end are two ways to name a region; use one")
	case (f.region.Begin == "") != (f.region.End == ""):
		return o, usagef("--begin and --end go together")
	}
	switch f.thread {
	case "first":
		o.Thread = reftrace.FirstThread
	case "all":
		o.Thread = reftrace.AllThreads
	default:
		n, err := strconv.Atoi(f.thread)
		if err != nil || n < 0 {
			return o, usagef("--thread %q: want first, all, or a number from 0", f.thread)
		}
		o.Thread = n
	}
	return o, nil
}

// countCalls reads how many calls are wanted.
func (f *refsFlags) countCalls() error {
	switch f.calls {
	case "":
		return nil
	case "all":
		f.region.Calls = target.EveryCall
		return nil
	}
	n, err := strconv.ParseUint(f.calls, 10, 62)
	if err != nil || n == 0 {
		return usagef("--calls %q: want a number from 1, or all", f.calls)
	}
	f.region.Calls = n
	return nil
}

func recordRefs(cmd *cobra.Command, rec recording, f refsFlags) error {
	o, err := f.options(rec.command)
	if err != nil {
		return err
	}
	switch {
	case !f.allocations:
		o.Allocations = reftrace.Unlogged
	case cmd.Flags().Changed("allocations"):
		o.Allocations = reftrace.Logged
	default:
		o.Allocations = reftrace.IfPossible
	}
	if len(rec.command) == 0 {
		return usagef("record what? Give the program after --")
	}
	out := rec.output()
	if err := free(out, rec.force); err != nil {
		return err
	}
	got, err := reftrace.Record(cmd.Context(), o)
	if err != nil {
		return err
	}
	defer got.Close()
	r, err := got.Run()
	if err != nil {
		return err
	}
	defer r.Close()
	if err := refset.AddTypes(r, got.Objects, got.Program); err != nil {
		say("types of objects are not kept: %v", err)
	}
	if err := rec.save(cmd.Context(), r, out); err != nil {
		return err
	}
	warn(got.Notes)
	say("%s: %s", out, term.Counted(len(got.Refs), "reference"))
	if got.Exit != 0 {
		return exitCode(got.Exit)
	}
	return nil
}
