package main

import (
	"context"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/formats/otf2"
)

func newImport() *cobra.Command {
	var (
		imports importFlags
		out     string
		force   bool
		engine  string
	)
	cmd := &cobra.Command{
		Use:   "import FILE... -o RUN",
		Short: "Turn foreign data into a run, or several runs into one",
		Long: `Turn foreign data into a run: a folder NAME.isobath with the samples, the
hardware topology and the source files, which opens in milliseconds.

Several files or runs become one, with a column that says the rank each sample
is from: the rank a recording knows, or the place on the command line. A folder
of runs stands for all of them.

A message trace among them is kept with the samples. If both are of the same
ranks and clock, as 'isobath record' and 'isobath record --mpi' write them, the
page shows what the memory did while a rank was late. Its messages tell the
clocks of several hosts apart; without it their times of day do.

With --engine the run is kept in ClickHouse instead of a folder, under the name
that the address or -o says; see 'isobath help engine'. A second import of the
same run changes nothing, and one that was interrupted starts anew.`,
		Example: `  isobath import mitos_1636037395 -o heat.isobath
  isobath import samples.csv --map cpu=core --map latency=cost --topology node.xml -o a.isobath
  isobath import rank*.isobath -o all.isobath
  isobath import nodes/ -o all.isobath --salvage
  isobath import halo.otf2 rank*.isobath -o both.isobath`,
		Args: oneOrMore,
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" && len(args) == 1 {
				out = defaultRun(args[0])
			}
			args, err := dataset.Members(args, out)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("engine") && engine == "" { // a variable that was not set
				return usagef("--engine names no address; see 'isobath help engine'")
			}
			if engine == "" {
				if err := keepInputs(out, args...); err != nil {
					return err
				}
			}
			if len(args) > 1 {
				return mergeFiles(cmd.Context(), &imports, args, destination{out, engine, force})
			}
			r, err := imports.load(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer r.Close()
			showSources(r)
			if engine != "" {
				return storeRun(cmd.Context(), r, engine, out, force)
			}
			if err := r.Write(cmd.Context(), out, force); err != nil {
				return err
			}
			warn(r.Warnings)
			samples := r.Contents[0]
			say("%s: %s, %s", out, term.Counted(samples.Rows(), "sample"), term.Counted(len(samples.Columns()), "column"))
			return nil
		},
	}
	imports.add(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "the `run` to write (default: the name of the file with .isobath)")
	cmd.Flags().BoolVar(&force, "force", false, "replace a run of that name")
	cmd.Flags().StringVar(&engine, "engine", "", "keep the run in ClickHouse at this `address` instead")
	return cmd
}

// showSources says which source files a run is about to hold: whoever passes the
// run on passes them on.
func showSources(r *run.Run) {
	const most = 8
	for i, s := range r.Sources {
		if i == most {
			say("… and %d more source files; --no-sources leaves them out", len(r.Sources)-i)
			return
		}
		say("keeps source file %s", r.SourceFiles[s.Name].Path())
	}
}

// defaultRun is the run beside the current folder that a file turns into.
func defaultRun(path string) string {
	base := dataset.Name(path)
	return strings.TrimSuffix(base, filepath.Ext(base)) + run.Suffix
}

func oneOrMore(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usagef("%s takes at least one file; see 'isobath help %s'", cmd.Name(), cmd.Name())
	}
	return nil
}

// destination is where a run goes.
type destination struct {
	out    string
	engine string // empty: a folder
	force  bool
}

// mergeFiles merges several files or runs, and keeps a message trace with them.
func mergeFiles(ctx context.Context, imports *importFlags, paths []string, to destination) error {
	if to.out == "" && to.engine == "" {
		return usagef("name the run that %s become with -o", term.Counted(len(paths), "file"))
	}
	all, err := dataset.Join(ctx, paths, imports.salvage, imports.load)
	if err != nil {
		return err
	}
	defer all.Close()
	if to.engine != "" {
		if all.Archive != "" {
			return usagef("an engine keeps samples; keep the message trace %s in a run of its own", all.Archive)
		}
		showSources(all.Run)
		return storeRun(ctx, all.Run, to.engine, to.out, to.force)
	}
	if all.Archive != "" {
		all.Trace = "trace.otf2"
		all.More = func(dir string) error { return copyTrace(all.Archive, filepath.Join(dir, all.Trace)) }
	}
	showSources(all.Run)
	if err := all.Write(ctx, to.out, to.force); err != nil {
		return err
	}
	warn(all.Warnings)
	with := ""
	if all.Archive != "" {
		with = " with a message trace"
	}
	say("%s: %s of %s%s", to.out, term.Counted(all.Contents[0].Rows(), "sample"), term.Counted(all.Runs, "run"), with)
	return nil
}

// copyTrace keeps a message trace in a run, whatever its format.
func copyTrace(from, to string) error {
	a, _, err := formats.OpenTrace(from)
	if err != nil {
		return err
	}
	err = otf2.CopyFiles(a.Path(), to)
	runtime.KeepAlive(a) // and the copy that it may be
	return err
}
