package main

import (
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
		Use:   "import FILE -o RUN",
		Short: "Turn foreign data into a run",
		Long: `Turn foreign data into a run: a folder NAME.isobath with the samples, the
hardware topology and the source files, which opens in milliseconds.`,
		Example: `  isobath import mitos_1636037395 -o heat.isobath
  isobath import samples.csv --map cpu=core --map latency=cost --topology node.xml -o a.isobath`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := imports.open(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer s.Close()
			if out == "" {
				out = defaultRun(args[0])
			}
			if err := s.Run.Write(out, force); err != nil {
				return err
			}
			warn(s.Run.Warnings)
			fmt.Fprintf(os.Stderr, "isobath: %s: %s samples, %d columns\n", out, term.Thousands(s.Table.Rows()), len(s.Table.Columns()))
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
