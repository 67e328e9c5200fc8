package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/memory/guide"
)

func newClusters() *cobra.Command {
	var (
		flags              metricFlags
		window, slide, cut int
		level              int
		height             float64
	)
	cmd := &cobra.Command{
		Use:   "clusters FILE",
		Short: "Clusters of neighbouring samples along an axis by a metric",
		Long: `Clusters of neighbouring samples along an axis: windows of W samples every S
samples, of which the two neighbours with the closest metric are merged until
one is left. The tree is cut into K clusters, or by height or depth. Neighbouring
clusters share samples where windows overlap.`,
		Example: `  isobath clusters lulesh.isobath --axis time --metric latency --depth CPU --cut 4
  isobath clusters lulesh.isobath --axis z --metric imbalance --height 0.5 --json`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := flags.imports.ask(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer s.Close()
			e, err := selection(s, flags.where)
			if err != nil {
				return err
			}
			ask := guide.AskTree{Axis: flags.axis, Metric: flags.metric, Depth: flags.depth, Window: window, Slide: slide, Cut: cut}
			if cmd.Flags().Changed("height") {
				ask.Height = &height
			}
			if cmd.Flags().Changed("level") {
				ask.Level = &level
			}
			line := term.NewProgress(os.Stderr, "clusters")
			opt := ask.Options(e)
			opt.Progress = analysisProgress(line)
			tree, err := guideTo(cmd.Context(), s).Cluster(cmd.Context(), opt)
			line.Done()
			if err != nil {
				return usageError{err}
			}
			if flags.asJSON {
				return printJSON(cmd.OutOrStdout(), tree.Answer(&ask))
			}
			warn(s.Run.Warnings)
			return writeClusters(cmd.OutOrStdout(), tree.Answer(&ask))
		},
	}
	flags.add(cmd)
	cmd.Flags().IntVar(&window, "window", 0, fmt.Sprintf("samples of a window (default %d, fewer for small data)", guide.DefaultWindow))
	cmd.Flags().IntVar(&slide, "slide", 0, fmt.Sprintf("samples from one window to the next (default %d, fewer for small data)", guide.DefaultSlide))
	cmd.Flags().IntVar(&cut, "cut", guide.DefaultCut, "number of clusters")
	cmd.Flags().Float64Var(&height, "height", 0, "cut instead where merges are farther apart than this")
	cmd.Flags().IntVar(&level, "level", 0, "cut instead this many merges below the root")
	cmd.MarkFlagsMutuallyExclusive("cut", "height", "level")
	return cmd
}

// writeClusters prints the clusters of a tree as text.
func writeClusters(w io.Writer, tree guide.TreeAnswer) error {
	_, err := fmt.Fprintf(w, "%s along %s: %s of %s of %s every %s\n\n",
		metricTitle(tree.Metric, tree.Depth, tree.Unit), tree.Axis, term.Counted(len(tree.Clusters), "cluster"), term.Counted(tree.Leaves, "window"), term.Counted(tree.Window, "sample"), term.Thousands(tree.Slide))
	if err != nil {
		return err
	}
	t := term.Table{Columns: []term.Column{
		{Head: "from", Align: term.Right}, {Head: "to", Align: term.Right}, {Head: "samples", Align: term.Right}, {Head: tree.Metric, Align: term.Right},
	}}
	for _, c := range tree.Clusters {
		value := "–"
		if c.Value != nil {
			value = shown(*c.Value, true)
		}
		t.Row(axisText(c.From), axisText(c.To), term.Thousands(c.Samples), value)
	}
	return t.Write(w, term.Width)
}
