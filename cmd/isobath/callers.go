package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/memory/profile"
)

func newCallers() *cobra.Command {
	var (
		imports         importFlags
		where, function string
		asJSON, asTree  bool
		tree            callTreeFlags
	)
	cmd := &cobra.Command{
		Use:   "callers FILE",
		Short: "Who calls a function and what it calls, in samples",
		Long: `Who calls a function and what it calls, in samples of the recorded call stacks.
Without --function it is the one with the most samples of its own. A function that
is on a stack twice counts once.

With --tree it is the tree of calls from the start of the stack, which the page
draws as a flame graph; with --function too, the paths that lead to it and those
that begin at it.`,
		Example: `  isobath callers perf.data
  isobath callers perf.data --function memcpy --where 'level = "Local RAM"' --json
  isobath callers perf.data --tree --least 1
  isobath callers perf.data --tree --value latency --function memcpy`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := imports.open(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer s.Close()
			if s.Table.Column("stack") == nil {
				return noCallers(s.Table)
			}
			rows, _, err := selected(cmd.Context(), s, where)
			if err != nil {
				return err
			}
			if asTree {
				return tree.run(cmd, s, rows, function, asJSON)
			}
			stacks, err := profile.Stacks(cmd.Context(), s.Table, rows)
			if err != nil {
				return err
			}
			calls := profile.CallsOf(stacks, function)
			if calls.Total == 0 && function != "" {
				return noFunction(function)
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), calls)
			}
			warn(s.Run.Warnings)
			return writeCalls(cmd.OutOrStdout(), calls, samples.UsableLatency(s.Table) != nil)
		},
	}
	imports.add(cmd)
	cmd.Flags().StringVar(&function, "function", "", "the `name` of the function")
	cmd.Flags().StringVar(&where, "where", "", "count only samples that match this `selection`")
	cmd.Flags().BoolVar(&asTree, "tree", false, "print the tree of calls")
	cmd.Flags().StringVar(&tree.value, "value", string(profile.Samples), "what the tree is ordered by: samples or latency")
	cmd.Flags().Float64Var(&tree.least, "least", 0.5, "leave out of the tree what is below this `percentage`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func noFunction(name string) error {
	return fmt.Errorf("no call stack has a function %q; 'isobath report --by function' lists those with samples", name)
}

// writeCalls prints who calls a function, then what it calls.
func writeCalls(w io.Writer, c profile.Calls, timed bool) error {
	fmt.Fprintf(w, "%s: %s with what it calls, %s of its own\n", c.Function, term.Counted(c.Total, "sample"), term.Thousands(c.Self))
	for _, part := range []struct {
		head  string
		calls []profile.Call
	}{{"called by", c.Callers}, {"calls", c.Callees}} {
		if len(part.calls) == 0 {
			continue
		}
		fmt.Fprintln(w)
		t := term.Table{Columns: []term.Column{{Head: "samples", Align: term.Right}, {Head: "share", Align: term.Right}, {Head: "latency", Align: term.Right}, {Head: part.head, Give: true}}}
		for _, call := range part.calls {
			name := call.Function
			if name == "" {
				name = "(bottom of the stack)"
			}
			t.Row(term.Thousands(call.Samples), term.Percent(float64(call.Samples)/float64(max(c.Total, 1))), latencyCell(timed, call.Latency), name)
		}
		if err := t.Write(w, term.Width); err != nil {
			return err
		}
	}
	return nil
}

// latencyCell is a sum of latencies; without any there is no sum.
func latencyCell(timed bool, sum float64) string {
	if !timed {
		return "–"
	}
	return term.Short(sum)
}
