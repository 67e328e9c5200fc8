package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/memory/profile"
)

// callTreeFlags are those of `isobath callers --tree`.
type callTreeFlags struct {
	value string
	least float64 // percent
}

func (f callTreeFlags) run(cmd *cobra.Command, s *dataset.Set, rows table.Bits, function string, asJSON bool) error {
	value := profile.Value(f.value)
	if value != profile.Samples && value != profile.Latency {
		return usagef("--value %q: want samples or latency", f.value)
	}
	if !(f.least >= 0 && f.least <= 100) {
		return usagef("--least %v: want a percentage", f.least)
	}
	timed := samples.UsableLatency(s.Table) != nil
	if value == profile.Latency && !timed {
		return usagef("--value latency: no latencies were recorded")
	}
	tree, err := profile.Tree(cmd.Context(), s.Table, profile.Layers{All: rows}, profile.TreeOptions{Function: function, Value: value, Most: profile.MostNodes})
	if err != nil {
		return err
	}
	if tree.Total.Samples == 0 && function != "" {
		return noFunction(function)
	}
	tree.LeaveOut(f.least / 100)
	if asJSON {
		return printJSON(cmd.OutOrStdout(), tree)
	}
	warn(s.Run.Warnings)
	return writeCallTree(cmd.OutOrStdout(), tree, timed)
}

// writeCallTree prints nodes with what they weigh, indented by depth.
func writeCallTree(w io.Writer, tree *profile.CallTree, timed bool) error {
	fmt.Fprint(w, term.Counted(tree.Total.Samples, "sample"))
	if timed {
		fmt.Fprintf(w, ", %s of latency", term.Short(tree.Total.Latency))
	}
	fmt.Fprintln(w)
	for _, part := range []struct {
		head  string
		nodes []profile.CallNode
	}{{"called by", tree.Callers}, {"calls", tree.Callees}} {
		if len(part.nodes) == 0 {
			continue
		}
		fmt.Fprintln(w)
		t := term.Table{Columns: []term.Column{{Head: "share", Align: term.Right}, {Head: "samples", Align: term.Right}, {Head: "own", Align: term.Right},
			{Head: "latency", Align: term.Right}, {Head: part.head, Give: true}}}
		for _, n := range part.nodes {
			name := n.Function
			if name == "" {
				name = "(start of the stack)"
			}
			t.Row(term.Percent(tree.Share(n)), term.Thousands(n.Total.Samples), term.Thousands(n.Self.Samples), latencyCell(timed, n.Total.Latency),
				strings.Repeat("  ", n.Depth)+name)
		}
		if err := t.Write(w, term.Width); err != nil {
			return err
		}
	}
	if tree.Left > 0 {
		fmt.Fprintf(w, "\n%s of less weight left out; --least 0 lists them\n", term.Counted(tree.Left, "path"))
	}
	return nil
}
