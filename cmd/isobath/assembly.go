package main

import (
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/memory/assembly"
)

func newAssembly() *cobra.Command {
	var (
		imports         importFlags
		where, function string
		line            string
		asJSON          bool
	)
	cmd := &cobra.Command{
		Use:   "assembly FILE",
		Short: "The machine code of a function with the samples on its instructions",
		Long: `The machine code of a function with the samples on its instructions. Without
--function it is the one that has most samples: of the run, or of the source line
that --line names, which may have been inlined into several. A run that was made
where the program lay has its whole code; otherwise only sampled instructions are
known, and the answer says so.`,
		Example: `  isobath assembly lulesh.isobath --function CalcFBHourglassForceForElems
  isobath assembly perf.data --line heat.c:42 --where 'level = "Local RAM"' --json`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			ask := assembly.Ask{Function: function}
			if line != "" {
				var err error
				if ask.File, ask.Line, err = sourceLine(line); err != nil {
					return err
				}
			}
			s, err := imports.open(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer s.Close()
			rows, _, err := selected(cmd.Context(), s, where)
			if err != nil {
				return err
			}
			found, err := assembly.List(cmd.Context(), s.Table, rows, s.Run.Table("code"), ask)
			if err != nil {
				return err
			}
			if found.Function == "" && len(found.Instructions) == 0 {
				return noCode(ask, found.Functions)
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), found)
			}
			warn(s.Run.Warnings)
			return writeAssembly(cmd.OutOrStdout(), found, samples.UsableLatency(s.Table) != nil)
		},
	}
	imports.add(cmd)
	cmd.Flags().StringVar(&function, "function", "", "the `name` of the function")
	cmd.Flags().StringVar(&line, "line", "", "the function in which this `file:line` has most samples")
	cmd.Flags().StringVar(&where, "where", "", "count only samples that match this `selection`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// sourceLine reads file:line.
func sourceLine(text string) (file string, line int, err error) {
	i := strings.LastIndexByte(text, ':')
	if i > 0 {
		line, err = strconv.Atoi(text[i+1:])
	}
	if i <= 0 || err != nil || line < 1 {
		return "", 0, usagef("--line %q: want a file and a line, such as heat.c:42", text)
	}
	return text[:i], line, nil
}

// noCode says that nothing was found, and what there is.
func noCode(ask assembly.Ask, functions []string) error {
	what := fmt.Sprintf("no code of a function %q", ask.Function)
	if ask.Line > 0 {
		what += fmt.Sprintf(" at %s:%d", ask.File, ask.Line)
		if ask.Function == "" {
			what = fmt.Sprintf("no code of %s:%d", ask.File, ask.Line)
		}
	}
	if len(functions) == 0 {
		return fmt.Errorf("%s is known; 'isobath report --by line' lists the lines that have samples", what)
	}
	const most = 5
	return fmt.Errorf("%s is known; there is %s", what, strings.Join(functions[:min(most, len(functions))], ", "))
}

// writeAssembly prints a listing as text.
func writeAssembly(w io.Writer, a *assembly.Assembly, timed bool) error {
	counted := 0
	for _, in := range a.Instructions {
		counted += in.Samples
	}
	in := ""
	if a.Module != "" {
		in = " in " + a.Module
	}
	fmt.Fprintf(w, "%s%s: %s on %s\n", a.Function, in, term.Counted(counted, "sample"), term.Counted(len(a.Instructions), "instruction"))
	if a.Partial {
		fmt.Fprintln(w, "only instructions with samples are known: the program was not at hand at import")
	}
	fmt.Fprintln(w)
	t := term.Table{Columns: []term.Column{{Head: "samples", Align: term.Right}, {Head: "latency", Align: term.Right}, {Head: "address"}, {Head: "instruction", Give: true}, {Head: "line"}}}
	for _, in := range a.Instructions {
		count, latency, line := "", "", ""
		if in.Samples > 0 {
			count, latency = term.Thousands(in.Samples), latencyCell(timed, in.Latency)
		}
		if in.Line > 0 {
			line = fmt.Sprintf("%s:%d", path.Base(in.File), in.Line)
		}
		t.Row(count, latency, in.Addr, in.Text, line)
	}
	return t.Write(w, term.Width)
}
