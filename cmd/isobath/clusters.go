package main

import (
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"isobath/internal/guide"
	"isobath/internal/term"
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
			s, err := flags.imports.open(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer s.Close()
			e, err := selection(s, flags.where)
			if err != nil {
				return err
			}
			tree, err := guideTo(s).Cluster(cmd.Context(), guide.TreeOptions{
				Axis: flags.axis, Metric: flags.metric, Depth: flags.depth, Where: e, Window: window, Slide: slide,
			})
			if err != nil {
				return usageError{err}
			}
			clusters := tree.CutCount(cut)
			switch {
			case cmd.Flags().Changed("height"):
				clusters = tree.CutHeight(height)
			case cmd.Flags().Changed("level"):
				clusters = tree.CutDepth(level)
			}
			if flags.asJSON {
				return printJSON(cmd.OutOrStdout(), treeOf(tree, clusters))
			}
			warn(s.Run.Warnings)
			return writeClusters(cmd.OutOrStdout(), tree, clusters)
		},
	}
	flags.add(cmd)
	cmd.Flags().IntVar(&window, "window", 0, fmt.Sprintf("samples of a window (default %d, fewer for small data)", guide.DefaultWindow))
	cmd.Flags().IntVar(&slide, "slide", 0, fmt.Sprintf("samples from one window to the next (default %d, fewer for small data)", guide.DefaultSlide))
	cmd.Flags().IntVar(&cut, "cut", 4, "number of clusters")
	cmd.Flags().Float64Var(&height, "height", 0, "cut instead where merges are farther apart than this")
	cmd.Flags().IntVar(&level, "level", 0, "cut instead this many merges below the root")
	cmd.MarkFlagsMutuallyExclusive("cut", "height", "level")
	return cmd
}

// treeJSON is what `isobath clusters --json` prints. Leaves are numbered from 0
// along the axis; merge i makes node leaves+i.
type treeJSON struct {
	Axis     string        `json:"axis"`
	Metric   string        `json:"metric"`
	Depth    string        `json:"depth"`
	Unit     string        `json:"unit,omitempty"`
	Window   int           `json:"window"`
	Slide    int           `json:"slide"`
	Samples  int           `json:"samples"`
	Leaves   int           `json:"leaves"`
	Merges   []mergeJSON   `json:"merges"`
	Clusters []clusterJSON `json:"clusters"`
}

// mergeJSON is one merge; distance is null where a node has no value. Height is
// the largest distance up to here in the subtree.
type mergeJSON struct {
	A        int      `json:"a"`
	B        int      `json:"b"`
	Distance *float64 `json:"distance"`
	Height   *float64 `json:"height"`
}

// clusterJSON is one cluster: from and to are values of the axis, begin and end
// positions in the sorted samples, end not included.
type clusterJSON struct {
	From    float64  `json:"from"`
	To      float64  `json:"to"`
	Samples int      `json:"samples"`
	Value   *float64 `json:"value"`
	Begin   int      `json:"begin"`
	End     int      `json:"end"`
	Node    int      `json:"node"`
	Where   string   `json:"where"`
}

func treeOf(t *guide.Tree, clusters []guide.Cluster) treeJSON {
	out := treeJSON{
		Axis: t.Axis, Metric: t.Metric, Depth: t.Depth, Unit: t.Unit, Window: t.Window, Slide: t.Slide,
		Samples: t.Samples, Leaves: t.Leaves, Merges: []mergeJSON{}, Clusters: []clusterJSON{},
	}
	for _, m := range t.Merges {
		out.Merges = append(out.Merges, mergeJSON{m.A, m.B, finite(m.Distance), finite(m.Height)})
	}
	for i := range clusters {
		c := &clusters[i]
		out.Clusters = append(out.Clusters, clusterJSON{c.From, c.To, c.Samples, valueOrNull(c.Value, c.Known), c.Begin, c.End, c.Node, c.Expr(t.Axis).String()})
	}
	return out
}

func finite(v float64) *float64 { return valueOrNull(v, !math.IsInf(v, 0)) }

func writeClusters(w io.Writer, tree *guide.Tree, clusters []guide.Cluster) error {
	_, err := fmt.Fprintf(w, "%s along %s: %d clusters of %d windows of %s samples every %s\n\n",
		metricTitle(tree.Metric, tree.Depth, tree.Unit), tree.Axis, len(clusters), tree.Leaves, term.Thousands(tree.Window), term.Thousands(tree.Slide))
	if err != nil {
		return err
	}
	t := term.Table{Columns: []term.Column{
		{Head: "from", Align: term.Right}, {Head: "to", Align: term.Right}, {Head: "samples", Align: term.Right}, {Head: tree.Metric, Align: term.Right},
	}}
	for _, c := range clusters {
		t.Row(axisText(c.From), axisText(c.To), term.Thousands(c.Samples), shown(c.Value, c.Known))
	}
	return t.Write(w, term.Width)
}
