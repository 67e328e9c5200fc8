package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/memory/heatmap"
)

// heatmapReport is the JSON of `isobath heatmap`.
type heatmapReport struct {
	Where   string        `json:"where"`
	By      string        `json:"by"`
	Value   string        `json:"value"`
	Unit    string        `json:"unit"` // of the edges
	Edges   []float64     `json:"edges"`
	Rows    []heatmapLine `json:"rows"`
	Missing int           `json:"missing"`
}

// heatmapLine is a row of the grid: a value for each window, null where there is
// none.
type heatmapLine struct {
	heatmap.HeatRow
	Windows []*float64 `json:"windows"`
}

func newHeatmap() *cobra.Command {
	var (
		imports       importFlags
		where, value  string
		options       heatmap.Options
		asJSON        bool
		heatmapValues = []string{"samples", "latency", "mean", "deep"}
	)
	cmd := &cobra.Command{
		Use:   "heatmap FILE",
		Short: "Samples over time and CPUs, threads, objects or functions",
		Long: `Samples over time and over another column: which CPU, thread, object or function
was slow when. Values are the samples of a cell, the sum or the mean of their
latencies, or the share of them that went deeper than L2. A cell without such a
sample is empty, not zero.`,
		Example: `  isobath heatmap lulesh.isobath --by cpu --value mean
  isobath heatmap lulesh.isobath --by symbol --value deep --windows 100 --json`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(heatmapValues, value) {
				return usagef("--value %q: want %s", value, strings.Join(heatmapValues, ", "))
			}
			s, err := imports.open(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer s.Close()
			rows, e, err := selected(cmd.Context(), s, where)
			if err != nil {
				return err
			}
			g, err := heatmap.Count(cmd.Context(), s.Table, rows, options)
			if err != nil {
				return usageError{err}
			}
			r := &heatmapReport{By: options.By, Value: value, Unit: s.Table.Column(samples.Time).Unit, Edges: g.Edges, Rows: []heatmapLine{}, Missing: g.Missing}
			if e != nil {
				r.Where = e.String()
			}
			if err := r.fill(g); err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), r)
			}
			warn(s.Run.Warnings)
			return r.write(cmd.OutOrStdout())
		},
	}
	imports.add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&options.By, "by", samples.CPU, "the `column` whose values are rows: cpu, tid, symbol, function, …")
	fl.StringVar(&value, "value", "samples", "what cells show: samples, latency (sum), mean (latency) or deep (share beyond L2)")
	fl.IntVar(&options.Windows, "windows", 60, "number of windows of time")
	fl.IntVar(&options.Rows, "rows", 64, "at most this many rows; more values are joined")
	fl.StringVar(&where, "where", "", "count only samples that match this `selection`")
	fl.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// fill works out the value of every cell.
func (r *heatmapReport) fill(g *heatmap.Grid) error {
	at, err := g.Value(r.Value)
	if err != nil {
		return err
	}
	wide := len(g.Edges) - 1
	for i, row := range g.Rows {
		line := heatmapLine{HeatRow: row, Windows: make([]*float64, wide)}
		for w := range wide {
			if v, ok := at(i*wide + w); ok {
				line.Windows[w] = &v
			}
		}
		r.Rows = append(r.Rows, line)
	}
	return nil
}

// write prints the grid with one sign a cell.
func (r *heatmapReport) write(w io.Writer) error {
	most := 0.0
	for _, line := range r.Rows {
		for _, v := range line.Windows {
			if v != nil {
				most = max(most, *v)
			}
		}
	}
	const shades = "░▒▓█"
	t := term.Table{Columns: []term.Column{{Head: r.By, Give: true}, {Head: "samples", Align: term.Right}, {Head: fmt.Sprintf("%s over time", r.Value)}}}
	for _, line := range r.Rows {
		var cells strings.Builder
		for _, v := range line.Windows {
			switch {
			case v == nil:
				cells.WriteRune(' ')
			case most == 0:
				cells.WriteRune([]rune(shades)[0])
			default:
				cells.WriteRune([]rune(shades)[min(int(*v/most*4), 3)])
			}
		}
		name := line.Name
		if line.Last != "" {
			name += "–" + line.Last
		}
		t.Row(name, term.Thousands(line.Samples), cells.String())
	}
	if err := t.Write(w, term.Width); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s from %s to %s %s; the darkest is %.6g", term.Counted(len(r.Edges)-1, "window"), axisText(r.Edges[0]), axisText(r.Edges[len(r.Edges)-1]), r.Unit, most)
	if err == nil && r.Missing > 0 {
		_, err = fmt.Fprintf(w, "; %s without a time or %s", term.Counted(r.Missing, "sample"), r.By)
	}
	if err == nil {
		_, err = fmt.Fprintln(w)
	}
	return err
}
