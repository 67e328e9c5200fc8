package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/memory/spread"
)

func newReport() *cobra.Command {
	var (
		imports importFlags
		by      string
		where   string
		order   string
		top     int
		asJSON  bool
		spreads bool
		touches bool
		allocs  bool
		forms   findingsFlags
	)
	cmd := &cobra.Command{
		Use:   "report FILE",
		Short: "Rank where the cycles go: by line, file, function, symbol, cpu, node, level, thread or any column",
		Example: `  isobath report lulesh.isobath --by line --top 10
  isobath report samples.csv --by symbol --where 'level in (L3, "Local RAM") & cpu in 0..10'
  isobath report perf.data --by cacheline --top 5
  isobath report perf.data --by symbol --spread`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := forms.check(asJSON); err != nil {
				return err
			}
			if forms.format != "" && (touches || allocs || by == "cacheline") {
				return usagef("--format is for groups of samples; with --touches, --allocations and --by cacheline there are --json and text")
			}
			open := imports.ask
			if touches || allocs || by == "cacheline" {
				open = imports.open // these look at single rows
			}
			s, err := open(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer s.Close()
			if touches {
				return reportTouches(cmd, s, top, asJSON)
			}
			if allocs {
				return reportAllocations(cmd, s, top, asJSON)
			}
			if by == "cacheline" {
				return reportLines(cmd, s, where, top, asJSON)
			}
			r, err := makeReport(cmd.Context(), s, by, where, query.Order(order), top)
			if err != nil {
				return err
			}
			if spreads {
				if err := r.addSpread(cmd.Context(), s); err != nil {
					return err
				}
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), r)
			}
			if forms.format != "" {
				return forms.write(cmd.OutOrStdout(), r.findings(s.Run.Warnings))
			}
			warn(s.Run.Warnings)
			return r.write(cmd.OutOrStdout())
		},
	}
	imports.add(cmd)
	cmd.Flags().StringVar(&by, "by", "line", "what to group by: line, file, function, caller, symbol, field, cacheline, cpu, node, level, tid or any `column`; several with commas")
	cmd.Flags().BoolVar(&spreads, "spread", false, "how the samples of each group spread over levels and latencies")
	cmd.Flags().BoolVar(&touches, "touches", false, "who touched the pages of each data object first, and on which memory node")
	cmd.Flags().BoolVar(&allocs, "allocations", false, "what each place of the program allocates, how long that lives, and how much it is used")
	cmd.Flags().StringVar(&where, "where", "", "only samples that match this `selection`")
	cmd.Flags().StringVar(&order, "order", "", "rank by latency (default), samples, mean or key")
	cmd.Flags().IntVar(&top, "top", 0, "show only the first `n` groups")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	forms.add(cmd)
	return cmd
}

// oneFile is the argument check of verbs that take one file.
func oneFile(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef("%s takes one file; see 'isobath help %s'", cmd.Name(), cmd.Name())
	}
	return nil
}

// report is what `isobath report` prints. Latency and its mean are null where
// no sample has one.
type report struct {
	Where      string   `json:"where"`
	By         []string `json:"by"`
	Samples    int      `json:"samples"`
	Of         int      `json:"of"`
	Latency    *float64 `json:"latency"`
	Unit       string   `json:"unit,omitempty"`
	Provenance string   `json:"provenance"` // of latency
	// Summed is what the rows of a profile sum, and how much of it there is:
	// such rows are not samples, and shares are of the sum.
	Summed *summed `json:"summed,omitempty"`
	// Waiting is how many of the samples are of threads that wait, in a recording
	// that knows.
	Waiting    int           `json:"waiting,omitempty"`
	GroupCount int           `json:"group_count"`
	Groups     []reportGroup `json:"groups"`
}

type summed struct {
	Event string  `json:"event"`
	Unit  string  `json:"unit,omitempty"`
	Sum   float64 `json:"sum"`
}

// reportGroup is one row. Share is of the latency, or of what a profile sums, or
// of the samples where there is neither.
type reportGroup struct {
	Key     map[string]any `json:"key"`
	Samples int            `json:"samples"`
	Latency *float64       `json:"latency"`
	Mean    *float64       `json:"mean"`
	Share   float64        `json:"share"`
	Sum     *float64       `json:"sum,omitempty"` // of what a profile sums
	// Levels and Distribution are given with --spread.
	Levels       []spread.LevelCount `json:"levels,omitempty"`
	Distribution *spread.Latencies   `json:"distribution,omitempty"`

	label []string
}

// groupColumns returns the columns that a --by names.
func groupColumns(t *table.Table, by string) ([]string, error) {
	var columns []string
	add := func(name string) {
		if !slices.Contains(columns, name) {
			columns = append(columns, name)
		}
	}
	for name := range strings.SplitSeq(by, ",") {
		name = strings.TrimSpace(name)
		// A line means nothing without its file, a member without its object.
		for part, whole := range map[string]string{"line": "file", "field": "symbol"} {
			if name == part && t.Column(whole) != nil {
				add(whole)
			}
		}
		if t.Column(name) == nil {
			if name == "caller" {
				return nil, noCallers(t)
			}
			return nil, usageError{fmt.Errorf("--by: %w", query.UnknownColumn(t, name))}
		}
		add(name)
	}
	return columns, nil
}

func makeReport(ctx context.Context, s *dataset.Set, by, where string, order query.Order, top int) (*report, error) {
	columns, err := groupColumns(s.Table, by)
	if err != nil {
		return nil, err
	}
	if order == "latency" {
		order = query.BySum
	}
	switch order {
	case query.BySum, query.ByCount, query.ByMean, query.ByKey:
	default:
		return nil, usagef("--order %q: want latency, samples, mean or key", order)
	}
	e, err := selection(s, where)
	if err != nil {
		return nil, err
	}
	g := query.Group{By: columns, Order: order, Top: top}
	if e != nil {
		g.Top = 0 // which groups have selected samples is known only of all of them
	}
	cost := samples.UsableLatency(s.Table)
	event := ""
	if cost == nil {
		cost, event = samples.Summed(s.Table)
	}
	if cost != nil {
		g.Sum = cost.Name
	} else if order == query.BySum {
		g.Order = query.ByCount
	}
	ask := query.Request{Where: e, Groups: []query.Group{g}}
	if s.Table.Column(samples.Waiting) != nil {
		ask.Groups = append(ask.Groups, query.Group{By: []string{samples.Waiting}, Order: query.ByCount})
	}
	a, err := s.Engine.Answer(ctx, &ask)
	if err != nil {
		return nil, err
	}
	r := &report{By: columns, Samples: a.Counts[query.Selected], Of: a.Counts[query.All], GroupCount: a.Groups[0].Total, Groups: []reportGroup{}, Provenance: table.Absent.String()}
	if e != nil {
		r.Where = e.String()
	}
	if len(a.Groups) > 1 {
		for _, row := range a.Groups[1].Rows {
			if row.Keys[0] != "" { // of those that do not wait
				r.Waiting += row.Counts[query.Selected]
			}
		}
	}
	if g.Sum != "" {
		if err := r.total(ctx, s, e, cost, event); err != nil {
			return nil, err
		}
	}
	r.take(s.Table, a.Groups[0], top)
	return r, nil
}

// take keeps the first groups that have selected samples, and counts all of them.
func (r *report) take(t *table.Table, all query.Groups, top int) {
	selected := 0
	for _, row := range all.Rows {
		if row.Counts[query.Selected] == 0 {
			continue
		}
		selected++
		if top <= 0 || selected <= top {
			r.Groups = append(r.Groups, r.group(t, r.By, row))
		}
	}
	if len(all.Rows) == all.Total {
		r.GroupCount = selected
	}
}

// total asks for the cost of the whole selection: groups may be cut off by
// --top, the total is not.
func (r *report) total(ctx context.Context, s *dataset.Set, where query.Expr, cost *table.Column, event string) (err error) {
	if event != "" {
		r.Summed, err = sumOf(ctx, s, where, cost, event)
		return err
	}
	a, err := s.Engine.Answer(ctx, &query.Request{Where: where, Stats: []query.Stat{{Column: cost.Name}}})
	if err != nil {
		return err
	}
	r.Unit, r.Provenance = samples.UnitOf(cost), cost.Provenance.String()
	if a.Stats[0].Counts[query.Selected] > 0 {
		r.Latency = &a.Stats[0].Sums[query.Selected]
	}
	return nil
}

func (r *report) group(t *table.Table, columns []string, row query.GroupRow) reportGroup {
	g := reportGroup{Key: map[string]any{}, Samples: row.Counts[query.Selected]}
	for i, name := range columns {
		g.Key[name] = t.Column(name).Typed(row.Keys[i])
		g.label = append(g.label, row.Keys[i])
	}
	if r.Summed != nil {
		sum := row.Sums[query.Selected]
		g.Sum = &sum
		if r.Summed.Sum != 0 {
			g.Share = sum / r.Summed.Sum
		}
		return g
	}
	if r.Latency == nil {
		g.Share = float64(g.Samples) / float64(max(r.Samples, 1))
		return g
	}
	if n := row.Valued[query.Selected]; n > 0 {
		sum := row.Sums[query.Selected]
		mean := sum / float64(n)
		g.Latency, g.Mean = &sum, &mean
		if *r.Latency != 0 {
			g.Share = sum / *r.Latency
		}
	}
	return g
}

// row is what a row is called.
func (r *report) row() string {
	if r.Summed != nil {
		return "sum"
	}
	return "sample"
}

// headline says how much was looked at.
func (r *report) headline() string {
	line := term.Thousands(r.Samples) + " of " + term.Counted(r.Of, r.row())
	switch {
	case r.Latency != nil:
		return line + fmt.Sprintf(", %s%s %s (%s)", about(r.Provenance), term.Short(*r.Latency), samples.LatencyWord(r.Unit), r.Provenance)
	case r.Summed != nil:
		return line + ", " + r.Summed.String()
	case r.Samples == 0 && r.Of > 0:
		return line + ": the selection finds none"
	case r.Provenance != table.Absent.String():
		return line + "; none of them with a latency, ranked by samples"
	}
	return line + "; no latency recorded, ranked by samples"
}

// write prints the report as text.
func (r *report) write(w io.Writer) error {
	style := term.StyleFor(w)
	about, what := about(r.Provenance), r.row()+"s"
	number, rest, _ := strings.Cut(r.headline(), " ")
	line := style.Bold(number) + " " + rest
	if r.Where != "" {
		line += "\nwhere " + r.Where
	}
	if r.Waiting > 0 && r.Waiting < r.Samples {
		line += fmt.Sprintf("\n%s (%s) are of threads that wait; --where '%s = none' leaves them out", term.Thousands(r.Waiting), term.Percent(float64(r.Waiting)/float64(r.Samples)), samples.Waiting)
	}
	if _, err := fmt.Fprintf(w, "%s\n\n", line); err != nil {
		return err
	}
	t := term.Table{Columns: []term.Column{{Head: "share", Align: term.Right}, {Head: ""}, {Head: what, Align: term.Right}}}
	if r.Summed != nil {
		t.Columns = append(t.Columns, term.Column{Head: r.Summed.what(), Align: term.Right})
	}
	if r.Latency != nil {
		t.Columns = append(t.Columns, term.Column{Head: samples.LatencyWord(r.Unit), Align: term.Right}, term.Column{Head: "mean", Align: term.Right})
	}
	t.Columns = append(t.Columns, term.Column{Head: strings.Join(r.By, ":"), Give: true})
	largest := 0.0
	for _, g := range r.Groups {
		largest = max(largest, g.Share)
	}
	for _, g := range r.Groups {
		t.Row(r.cells(g, about, largest)...)
	}
	if err := t.Write(w, term.Width); err != nil {
		return err
	}
	if err := r.writeSpread(w); err != nil {
		return err
	}
	if hidden := r.GroupCount - len(r.Groups); hidden > 0 {
		_, err := fmt.Fprintf(w, "%s\n", style.Dim("… "+term.Counted(hidden, "more group")))
		return err
	}
	return nil
}

func (r *report) cells(g reportGroup, about string, largest float64) []string {
	bar := ""
	if largest > 0 {
		bar = term.Bar(g.Share/largest, 10)
	}
	cells := []string{term.Percent(g.Share), bar, term.Thousands(g.Samples)}
	if r.Summed != nil {
		cells = append(cells, term.Thousands(int64(*g.Sum)))
	}
	if r.Latency != nil {
		sum, mean := "–", "–"
		if g.Latency != nil {
			sum, mean = about+term.Short(*g.Latency), about+strconv.FormatFloat(*g.Mean, 'f', 1, 64)
		}
		cells = append(cells, sum, mean)
	}
	return append(cells, label(g.label))
}

// sumOf asks how much of an event the selected rows of a profile sum.
func sumOf(ctx context.Context, s *dataset.Set, where query.Expr, cost *table.Column, event string) (*summed, error) {
	a, err := s.Engine.Answer(ctx, &query.Request{Where: where, Stats: []query.Stat{{Column: cost.Name}}})
	if err != nil {
		return nil, err
	}
	return &summed{Event: event, Unit: cost.Unit, Sum: a.Stats[0].Sums[query.Selected]}, nil
}

func (s *summed) String() string { return term.Thousands(int64(s.Sum)) + " " + s.what() }

// what names the unit, or else the event.
func (s *summed) what() string { return cmp.Or(s.Unit, s.Event) }

// label joins the parts of a key. A group without any value is named for what
// it is, never shown as a file.
func label(parts []string) string {
	if strings.Join(parts, "") == "" {
		return "(not recorded)"
	}
	for i, p := range parts {
		if p == "" {
			parts[i] = "?"
		}
	}
	return strings.Join(parts, ":")
}
