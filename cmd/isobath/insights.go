package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/memory/guide"
)

func newInsights() *cobra.Command {
	var (
		imports importFlags
		where   string
		top     int
		asJSON  bool
		forms   findingsFlags
	)
	cmd := &cobra.Command{
		Use:   "insights FILE",
		Short: "What is worth a look in this run, ranked",
		Long: `What is worth a look in this run. In front of each finding stands the share of
the run's cost that it is about, with one standard deviation of what chance
makes of it. They are ordered by that share, times how far it is from what an
even or random run would show, times a weight of the kind. Each finding comes with a selection to
give to the other verbs as --where. What the data cannot support is not shown.`,
		Example: `  isobath insights lulesh.isobath
  isobath insights samples.csv --topology node.xml --where 'function = sweep' --json`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := forms.check(asJSON); err != nil {
				return err
			}
			s, err := imports.ask(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer s.Close()
			e, err := selection(s, where)
			if err != nil {
				return err
			}
			line := term.NewProgress(os.Stderr, "insights")
			found, err := guideTo(cmd.Context(), s).Insights(cmd.Context(), e, analysisProgress(line))
			line.Done()
			if err != nil {
				return err
			}
			if top > 0 && len(found) > top {
				found = found[:top]
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), guide.AnswerInsights(found))
			}
			if forms.format != "" {
				list, err := insightFindings(cmd.Context(), s, found)
				if err != nil {
					return err
				}
				return forms.write(cmd.OutOrStdout(), list)
			}
			warn(s.Run.Warnings)
			return writeInsights(cmd.OutOrStdout(), found)
		},
	}
	imports.add(cmd)
	cmd.Flags().StringVar(&where, "where", "", "look only at samples that match this `selection`")
	cmd.Flags().IntVar(&top, "top", 0, "show only the first `n`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	forms.add(cmd)
	return cmd
}

// analysisProgress shows what a guided analysis is doing, and how far it is, on a line of
// the terminal.
func analysisProgress(line *term.Progress) guide.Progress {
	return func(stage string, done, total int) {
		line.Say(fmt.Sprintf("%s, %s", stage, term.Percent(float64(done)/float64(max(total, 1)))))
	}
}

// guideTo returns the guided analysis of a data set.
func guideTo(ctx context.Context, s *dataset.Set) *guide.Guide {
	return guide.NewWithin(budget.Of(ctx), s.Data, s.Places, s.Engine)
}

// partText says which story a finding is a part of, and what it adds to its cost.
func partText(in *guide.Insight) string {
	return fmt.Sprintf("part of %s, whose samples these are; %s of the %s is counted in no finding above", in.PartOf, term.Percent(in.Own), in.Of)
}

// writeInsights prints findings as text.
func writeInsights(w io.Writer, found []guide.Insight) error {
	if len(found) == 0 {
		_, err := fmt.Fprintln(w, "nothing stands out from what chance would give")
		return err
	}
	style := term.StyleFor(w)
	for _, in := range found {
		if _, err := fmt.Fprintf(w, "%s at stake  %s\n", in.StakeText(), style.Bold(in.Kind)); err != nil {
			return err
		}
		for _, line := range wrapped(in.Text+".", term.Width-7) {
			fmt.Fprintf(w, "       %s\n", line)
		}
		if in.PartOf != "" {
			fmt.Fprintf(w, "       %s\n", style.Dim(partText(&in)))
		}
		if in.Where != "" {
			fmt.Fprintf(w, "       %s\n", style.Dim("where "+in.Where))
		}
	}
	return nil
}
