package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/memory/command"
)

func newSearch() *cobra.Command {
	var (
		imports importFlags
		shown   []string
		top     int
		asJSON  bool
	)
	cmd := &cobra.Command{
		Use:   "search FILE TEXT",
		Short: "Command search without the page: what a few words may mean",
		Long: `Command search without the page: a ranked list of what a few words may mean,
with the selection of each in the language of --where and the samples it has.
The verb (select, show, hide, correlate) may be left out; words may be in any
order, shortened or misspelt; numbers are limits; "with" separates two axes.
An empty text proposes what is worth a look.`,
		Example: `  isobath search lulesh.isobath 'miss L1'
  isobath search samples.csv 'latency above 200' --json
  isobath search samples.csv 'correlate remote memory with source line'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usagef(`search takes a file and a text, such as isobath search FILE "L1 misses"`)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := imports.ask(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer s.Close()
			list, err := searchFor(cmd.Context(), s, strings.Join(args[1:], " "), command.Context{Shown: shown, Most: top})
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), found{list})
			}
			warn(s.Run.Warnings)
			return writeSuggestions(cmd.OutOrStdout(), list, s.Table.Rows())
		},
	}
	imports.add(cmd)
	cmd.Flags().StringSliceVar(&shown, "shown", nil, "`columns` that are on the axes: their names mean hide, not show")
	cmd.Flags().IntVar(&top, "top", command.DefaultMost, "show the first `n`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// found is what `isobath search --json` prints.
type found struct {
	Suggestions []command.Suggestion `json:"suggestions"`
}

func searchFor(ctx context.Context, s *dataset.Set, text string, with command.Context) ([]command.Suggestion, error) {
	var resources []string
	if s.Places != nil {
		for _, r := range s.Topology.Resources {
			resources = append(resources, r.ID)
		}
	}
	searcher := command.NewSearcher(s.Data, s.Engine, resources)
	if strings.TrimSpace(text) != "" {
		return searcher.Search(ctx, text, with)
	}
	insights, err := guideTo(ctx, s).Insights(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	var worth []command.Proposal
	for _, in := range insights {
		worth = append(worth, command.Proposal{Text: in.Text, Where: in.Where, Score: in.Score})
	}
	list := searcher.Propose(worth, with)
	return list, searcher.Fill(ctx, list, "")
}

// writeSuggestions prints the list as text.
func writeSuggestions(w io.Writer, list []command.Suggestion, of int) error {
	if len(list) == 0 || list[0].Score <= command.OfferScore {
		why := "nothing in this data goes by that name; 'isobath info' lists the columns"
		if slices.ContainsFunc(list, func(s command.Suggestion) bool { return s.Selects }) {
			why = "no sample is like that; 'isobath info' lists the columns and the values they have"
		}
		if _, err := fmt.Fprintln(w, why); err != nil {
			return err
		}
	}
	style := term.StyleFor(w)
	for i, s := range list {
		head := wrapped(s.Text, term.Width-4)
		for k, line := range head {
			number := "  "
			if k == 0 {
				number = fmt.Sprintf("%2d", i+1)
			}
			if _, err := fmt.Fprintf(w, "%s  %s\n", number, style.Bold(line)); err != nil {
				return err
			}
		}
		does := s.Does
		switch {
		case s.Missing != "":
			does = "not possible: " + s.Missing
		case s.Samples != nil:
			does += fmt.Sprintf(": %s of %s", term.Thousands(*s.Samples), term.Counted(of, "sample"))
		}
		for _, line := range wrapped(does, term.Width-4) {
			fmt.Fprintf(w, "    %s\n", line)
		}
		if s.Where != "" {
			fmt.Fprintf(w, "    %s\n", style.Dim("where "+s.Where))
		}
	}
	return nil
}
