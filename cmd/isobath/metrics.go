package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/memory/guide"
)

// metricFlags are the flags that metrics and clusters share.
type metricFlags struct {
	imports             importFlags
	axis, metric, depth string
	where               string
	asJSON              bool
}

func (f *metricFlags) add(cmd *cobra.Command) {
	f.imports.add(cmd)
	var names []string
	for _, m := range guide.Metrics {
		names = append(names, m.Name)
	}
	flags := cmd.Flags()
	flags.StringVar(&f.axis, "axis", "time", "the `column` to go along: numbers, times or addresses")
	flags.StringVar(&f.metric, "metric", "latency", "one of "+strings.Join(names, ", "))
	flags.StringVar(&f.depth, "depth", "CPU", "`depth` of the topology: CPU, Core, L1, L2, L3, NUMA, Package, …")
	flags.StringVar(&f.where, "where", "", "only samples that match this `selection`")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON")
}

func newMetrics() *cobra.Command {
	var (
		flags   metricFlags
		windows int
		equal   bool
	)
	cmd := &cobra.Command{
		Use:   "metrics FILE",
		Short: "A metric over windows of an axis",
		Long: `A metric over windows of an axis. latency is the mean over resources of their
mean latency, imbalance how many standard deviations the load of one resource
is from the mean load (Giménez et al. 2017, equations 1 and 2). Windows without
a value have no sample at that depth.`,
		Example: `  isobath metrics lulesh.isobath --axis time --metric imbalance --depth L2
  isobath metrics lulesh.isobath --axis z --metric latency --windows 20 --equal-count`,
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
			ask := guide.AskStrip{Axis: flags.axis, Metric: flags.metric, Depth: flags.depth, Windows: windows, EqualCount: equal}
			strip, err := guideTo(cmd.Context(), s).Strip(cmd.Context(), ask.Options(e))
			if err != nil {
				return usageError{err}
			}
			if flags.asJSON {
				return printJSON(cmd.OutOrStdout(), strip.Answer())
			}
			warn(s.Run.Warnings)
			return writeStrip(cmd.OutOrStdout(), strip)
		},
	}
	flags.add(cmd)
	cmd.Flags().IntVar(&windows, "windows", 60, "number of windows")
	cmd.Flags().BoolVar(&equal, "equal-count", false, "windows of equal numbers of samples instead of equal width")
	return cmd
}

// writeStrip prints a strip as text.
func writeStrip(w io.Writer, s *guide.Strip) error {
	largest := 0.0
	for i := range s.Windows {
		if win := &s.Windows[i]; win.Known && !win.Few() {
			largest = max(largest, win.Value)
		}
	}
	if _, err := fmt.Fprintf(w, "%s along %s\n\n", metricTitle(s.Metric, s.Depth, s.Unit), s.Axis); err != nil {
		return err
	}
	t := term.Table{Columns: []term.Column{
		{Head: "from", Align: term.Right}, {Head: "to", Align: term.Right}, {Head: "samples", Align: term.Right}, {Head: s.Metric, Align: term.Right}, {Head: ""},
	}}
	few := false
	for i := range s.Windows {
		win := &s.Windows[i]
		note := ""
		if win.Known && largest > 0 && !win.Few() {
			note = term.Bar(win.Value/largest, 20)
		} else if win.Few() && win.Samples > 0 {
			note, few = "*", true
		}
		t.Row(axisText(win.From), axisText(win.To), term.Thousands(win.Samples), shown(win.Value, win.Known), note)
	}
	if err := t.Write(w, term.Width); err != nil {
		return err
	}
	if few {
		_, err := fmt.Fprintf(w, "* fewer than %s: not to be compared\n", term.Counted(guide.MinSamples, "sample"))
		return err
	}
	return nil
}

// metricTitle names a metric for people.
func metricTitle(name, depth, unit string) string {
	title := name
	if m, err := guide.FindMetric(name); err == nil {
		title = capitalised(m.Title)
	}
	if depth != "" {
		title += " at " + depth
	}
	if unit != "" {
		title += " (" + unit + ")"
	}
	return title
}

func capitalised(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func axisText(f float64) string { return strconv.FormatFloat(f, 'g', 12, 64) }

func shown(v float64, ok bool) string {
	if !ok {
		return "–"
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

// wrapped breaks a sentence into lines.
func wrapped(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
