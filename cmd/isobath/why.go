package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/server/memory"
	"github.com/isobath/isobath/internal/code/datasrc"
)

func newWhy() *cobra.Command {
	var (
		imports importFlags
		where   string
		row     int
		asJSON  bool
	)
	cmd := &cobra.Command{
		Use:   "why FILE",
		Short: "How the level of a sample was decided",
		Example: `  isobath why perf.data --row 17
  isobath why perf.data --where 'level = L3 & latency > 300'`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := imports.open(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer s.Close()
			if where != "" {
				if row, err = firstOf(cmd.Context(), s, where); err != nil {
					return err
				}
			}
			if row < 0 || row >= s.Table.Rows() {
				return usagef("--row %d: want a number from 0 to %d", row, s.Table.Rows()-1)
			}
			answer := memory.Why{Row: row, Why: datasrc.Why(s.Table, row)}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), answer)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "sample %d: %s\n", answer.Row, answer.Why)
			return err
		},
	}
	imports.add(cmd)
	cmd.Flags().IntVar(&row, "row", 0, "the sample, counted from 0")
	cmd.Flags().StringVar(&where, "where", "", "the first sample that matches this `selection`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.MarkFlagsMutuallyExclusive("row", "where")
	return cmd
}

// firstOf is the first row of a selection.
func firstOf(ctx context.Context, s *dataset.Set, where string) (int, error) {
	rows, _, err := selected(ctx, s, where)
	if err != nil {
		return 0, err
	}
	for row := range rows.All() {
		return row, nil
	}
	return 0, fmt.Errorf("no sample matches %s", where)
}
