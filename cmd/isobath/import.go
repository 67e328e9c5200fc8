package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"isobath/internal/run"
	"isobath/internal/term"
)

func newImport() *cobra.Command {
	var (
		imports importFlags
		out     string
		force   bool
	)
	cmd := &cobra.Command{
		Use:   "import FILE... -o RUN",
		Short: "Turn foreign data into a run, or several runs into one",
		Long: `Turn foreign data into a run: a folder NAME.isobath with the samples, the
hardware topology and the source files, which opens in milliseconds.

Several files or runs become one, with a column that says the rank each sample
is from: the rank a recording knows, or the place on the command line.`,
		Example: `  isobath import mitos_1636037395 -o heat.isobath
  isobath import samples.csv --map cpu=core --map latency=cost --topology node.xml -o a.isobath
  isobath import rank*.isobath -o all.isobath`,
		Args: oneOrMore,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return mergeFiles(cmd.Context(), &imports, args, out, force)
			}
			r, err := imports.load(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer r.Close()
			if out == "" {
				out = defaultRun(args[0])
			}
			if err := r.Write(out, force); err != nil {
				return err
			}
			warn(r.Warnings)
			samples := r.Contents[0]
			fmt.Fprintf(os.Stderr, "isobath: %s: %s samples, %d columns\n", out, term.Thousands(samples.Rows()), len(samples.Columns()))
			return nil
		},
	}
	imports.add(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "the `run` to write (default: the name of the file with .isobath)")
	cmd.Flags().BoolVar(&force, "force", false, "replace a run of that name")
	return cmd
}

// defaultRun is the run beside the current folder that a file turns into.
func defaultRun(path string) string {
	base := filepath.Base(filepath.Clean(path))
	return strings.TrimSuffix(base, filepath.Ext(base)) + run.Suffix
}

func oneOrMore(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usagef("%s takes at least one file; see 'isobath help %s'", cmd.Name(), cmd.Name())
	}
	return nil
}

// mergeFiles merges several files or runs.
func mergeFiles(ctx context.Context, imports *importFlags, paths []string, out string, force bool) error {
	if out == "" {
		return usagef("name the run that %d files become with -o", len(paths))
	}
	var runs []*run.Run
	for _, path := range paths {
		s, err := imports.open(ctx, path)
		if err != nil {
			return err
		}
		defer s.Close()
		if s.Run.Path == "" {
			s.Run.Path = path
		}
		runs = append(runs, s.Run)
	}
	all, err := run.Merge(runs)
	if err != nil {
		return err
	}
	if err := all.Write(out, force); err != nil {
		return err
	}
	warn(all.Warnings)
	fmt.Fprintf(os.Stderr, "isobath: %s: %s samples of %d runs\n", out, term.Thousands(all.Contents[0].Rows()), len(runs))
	return nil
}
