package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/sides"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/base/wholefile"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/memory/compare"
	"github.com/isobath/isobath/internal/memory/study"
)

// studyFlags are the flags of `isobath study`.
type studyFlags struct {
	imports   importFlags
	params    string
	patterns  []string
	by        string
	parameter string
	order     string
	against   []string
	top       int
	asJSON    bool
	output    string
}

func newStudy() *cobra.Command {
	var f studyFlags
	cmd := &cobra.Command{
		Use:   "study RUN...",
		Short: "Many runs as rows: how costs grow with a parameter, where along a series they changed, which runs are odd",
		Long: `Puts many runs into one table: parameters, and metrics of the whole run and of
its heaviest functions. Parameters are columns of a CSV file (--params, whose
first column is the name of the run), parts of names and commands (--param
n=PATTERN), and by themselves numbers of the command line, environment
variables, hosts and builds that differ.

For every number with at least four values the growth law of every metric is
fitted: c + n^p log^j n. --order looks for changes along a series.

-o FILE.json keeps the study; 'isobath open FILE.json' shows it in the browser.

Without runs the columns of --params that --param names are parameters and the
other numbers metrics.`,
		Example: `  isobath study grow-*.isobath --param 'n=grow-(\d+)'
  isobath study nightly/*.isobath --order time
  isobath study new/*.isobath --order time --against base/*.isobath
  isobath study --params table.csv --param n`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.imports.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.params, "params", "", "a CSV `file` of parameters; its first column is the name of the run")
	flags.StringArrayVar(&f.patterns, "param", nil, "a parameter from names and commands: `name=PATTERN`, the first group of a regular expression (repeatable)")
	flags.StringVar(&f.by, "by", "", "groups with metrics of their own: function, line, symbol or any `column` (function, or symbol where a run has no functions)")
	flags.StringVar(&f.parameter, "parameter", "", "fit laws against this `parameter` only")
	flags.StringVar(&f.order, "order", "", "look for changes along this `parameter`: time, a column, or given for the order of the runs")
	flags.StringArrayVar(&f.against, "against", nil, "a `run` of a baseline beside each run, in the same order (repeatable, or a folder)")
	flags.IntVar(&f.top, "top", 12, "metrics of the `n` heaviest groups")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON")
	flags.StringVarP(&f.output, "output", "o", "", "keep the study as this `file`, for 'isobath open'")
	return cmd
}

func (f *studyFlags) run(cmd *cobra.Command, args []string) error {
	if f.output != "" && !strings.HasSuffix(f.output, ".json") {
		return usagef("--output %s: want a name that ends in .json", f.output)
	}
	given, err := f.given()
	if err != nil {
		return err
	}
	if len(args) == 0 && given == nil {
		return usagef("study takes runs, or a table by --params; see 'isobath help study'")
	}
	patterns, named, err := f.parsePatterns(len(args) == 0)
	if err != nil {
		return err
	}
	var rows, against []*study.Row
	if len(args) == 0 {
		rows = tableRows(given, named)
	} else {
		if err := stdinOnce(slices.Concat(args, f.against)); err != nil {
			return err
		}
		if rows, err = f.rows(cmd.Context(), args); err != nil {
			return err
		}
		if against, err = f.rows(cmd.Context(), f.against); err != nil {
			return fmt.Errorf("--against: %w", err)
		}
		study.SetParameters(rows, given, patterns)
	}
	s, err := study.Look(rows, study.Options{Parameter: f.parameter, Order: f.order, Against: against})
	if err != nil {
		return usageError{err}
	}
	if f.output != "" {
		if err := f.keep(s); err != nil {
			return err
		}
	}
	if f.asJSON {
		return printJSON(cmd.OutOrStdout(), s)
	}
	return writeStudy(cmd.OutOrStdout(), s)
}

// keep writes the study for the page, with paths that stay right wherever the
// server looks from.
func (f *studyFlags) keep(s *study.Study) error {
	kept := *s
	kept.Runs, kept.Against = study.Rows(s.Runs), study.Rows(s.Against)
	for _, r := range slices.Concat(kept.Runs, kept.Against) {
		if r.Path == "" {
			continue
		}
		path, err := filepath.Abs(r.Path)
		if err != nil {
			return err
		}
		r.Path = path
	}
	text, err := json.MarshalIndent(&kept, "", "  ")
	if err != nil {
		return err
	}
	if err := wholefile.WriteBytes(f.output, 0, append(text, '\n')); err != nil {
		return err
	}
	say("'isobath open %s' shows the study", f.output)
	return nil
}

func (f *studyFlags) given() (*study.Given, error) {
	if f.params == "" {
		return nil, nil
	}
	file, err := os.Open(f.params)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	g, err := study.ReadParameters(file)
	if err != nil {
		return nil, fmt.Errorf("--params %s: %w", f.params, err)
	}
	return g, nil
}

// parsePatterns reads --param; without runs they are names of columns.
func (f *studyFlags) parsePatterns(table bool) (patterns []study.Pattern, named []string, err error) {
	for _, p := range f.patterns {
		name, text, ok := strings.Cut(p, "=")
		if table && !ok {
			named = append(named, name)
			continue
		}
		if !ok || name == "" {
			return nil, nil, usagef("--param %q: want name=PATTERN", p)
		}
		re, err := regexp.Compile(text)
		if err != nil {
			return nil, nil, usagef("--param %s: %v", name, err)
		}
		patterns = append(patterns, study.Pattern{Name: name, Re: re})
	}
	return patterns, named, nil
}

// tableRows makes runs of the lines of a table.
func tableRows(g *study.Given, parameters []string) []*study.Row {
	var out []*study.Row
	for _, name := range g.Order {
		r := &study.Row{Name: name, Parameters: map[string]any{}}
		for column, text := range g.Rows[name] {
			v := study.Typed(text)
			switch n, number := v.(float64); {
			case slices.Contains(parameters, column) || !number && text != "":
				r.Parameters[column] = v
			case number:
				r.Set(column, n, nil)
			}
		}
		out = append(out, r)
	}
	return out
}

// rows opens runs one after the other and keeps their metrics alone.
func (f *studyFlags) rows(ctx context.Context, args []string) ([]*study.Row, error) {
	paths, err := sides.Expand(args)
	if err != nil {
		return nil, err
	}
	var out []*study.Row
	groups := map[*study.Row][]compare.GroupCost{}
	total := map[string]float64{}
	for _, path := range paths {
		r, costs, err := f.row(ctx, path)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
		groups[r] = costs
		for _, g := range costs {
			total[g.Label] += g.Cost
		}
	}
	var heaviest []string
	for name := range total {
		heaviest = append(heaviest, name)
	}
	slices.SortFunc(heaviest, func(a, b string) int { return cmp.Or(cmp.Compare(total[b], total[a]), cmp.Compare(a, b)) })
	if f.top > 0 && len(heaviest) > f.top {
		heaviest = heaviest[:f.top]
	}
	for _, r := range out {
		for _, g := range groups[r] {
			if slices.Contains(heaviest, g.Label) {
				r.Set("cost of "+g.Label, g.Cost, g.Key)
			}
		}
	}
	return out, nil
}

// row is the metrics of one run, and the costs of its groups.
func (f *studyFlags) row(ctx context.Context, path string) (*study.Row, []compare.GroupCost, error) {
	s, err := f.imports.open(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	defer s.Close()
	r := &study.Row{Name: strings.TrimSuffix(dataset.Name(path), run.Suffix), Path: nameOf(ctx, path), Manifest: &s.Run.Manifest}
	if path == formats.Stdin { // which a page could not open again
		r.Name, r.Path = nameOf(ctx, path), ""
	}
	one := sides.Run(nameOf(ctx, path), s, nil)
	columns, err := f.groups(s.Table)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	costs, err := compare.CostsOf(ctx, &one, columns)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	r.Set("cost", costs.Whole, nil)
	r.Set("samples", float64(costs.Samples), nil)
	if costs.Mean != nil {
		r.Set("mean latency", *costs.Mean, nil)
	}
	if d := s.Run.Recording; d != nil && d.Last == nil {
		r.Set("wall", d.Seconds, nil)
		r.Set("cpu", d.User+d.System, nil)
	}
	for _, column := range []string{samples.Level, samples.TLB, samples.Remote} {
		if samples.Usable(s.Table, column) == nil {
			continue
		}
		shares, err := compare.CostsOf(ctx, &one, []string{column})
		if err != nil {
			return nil, nil, err
		}
		for _, g := range shares.Groups {
			if shares.Whole > 0 && g.Label != "(not recorded)" {
				r.Set(fmt.Sprintf("share of %s %s", column, g.Label), g.Cost/shares.Whole, g.Key)
			}
		}
	}
	if samples.Usable(s.Table, samples.TID) != nil {
		threads, err := compare.CostsOf(ctx, &one, []string{samples.TID})
		if err != nil {
			return nil, nil, err
		}
		if v, ok := imbalance(threads); ok {
			r.Set("imbalance of threads", v, nil)
		}
	}
	if len(columns) == 0 {
		return r, nil, nil
	}
	return r, costs.Groups, nil
}

// imbalance is how many times the mean the costliest group has; not known of one.
func imbalance(c *compare.Costs) (v float64, ok bool) {
	most, sum := 0.0, 0.0
	for _, g := range c.Groups {
		most, sum = max(most, g.Cost), sum+g.Cost
	}
	if len(c.Groups) < 2 || sum <= 0 {
		return 0, false
	}
	return most * float64(len(c.Groups)) / sum, true
}

// groups are the columns whose groups have metrics; none where nobody asked for
// some and the run has neither functions nor objects.
func (f *studyFlags) groups(t *table.Table) ([]string, error) {
	if f.by != "" {
		return groupColumns(t, f.by)
	}
	for _, name := range []string{samples.Function, samples.Symbol} {
		if t.Column(name) != nil {
			return []string{name}, nil
		}
	}
	return nil, nil
}

// writeStudy prints a study as text.
func writeStudy(w io.Writer, s *study.Study) error {
	style := term.StyleFor(w)
	fmt.Fprintln(w, style.Bold(fmt.Sprintf("%s, %s, %s", term.Counted(len(s.Runs), "run"), term.Counted(len(s.Laws), "growth law"), term.Counted(len(s.Changes), "change point"))))
	for _, n := range s.Notes {
		fmt.Fprintf(w, "%s %s\n", style.Warn("note:"), n)
	}
	if len(s.Laws) > 0 {
		t := term.Table{Columns: []term.Column{{Head: "law"}, {Head: "exponent", Align: term.Right}, {Head: "interval", Align: term.Right}, {Head: "error", Align: term.Right}, {Head: "metric", Give: true}}}
		for _, l := range s.Laws {
			t.Row(l.Law.Text, fmt.Sprintf("%.2f", l.Exponent), fmt.Sprintf("%.2f … %.2f", l.Low, l.High), term.Percent(math.Expm1(l.Error)), lawName(&l))
		}
		fmt.Fprintln(w, "\ngrowth; n is the parameter named after each metric")
		if err := t.Write(w, term.Width); err != nil {
			return err
		}
	}
	if len(s.Changes) > 0 {
		t := term.Table{Columns: []term.Column{{Head: "step", Align: term.Right}, {Head: "interval", Align: term.Right}, {Head: "before"}, {Head: "after"}, {Head: ""}, {Head: "metric", Give: true}}}
		for _, c := range s.Changes {
			mark := ""
			if c.Drift {
				mark = "drift"
			}
			t.Row(compare.Signed(1+c.Step), fmt.Sprintf("%+.1f … %+.1f %%", 100*c.Low, 100*c.High), c.Before, c.After, mark, c.Metric)
		}
		fmt.Fprintln(w, "\nchanges along "+s.Order)
		if err := t.Write(w, term.Width); err != nil {
			return err
		}
	}
	for _, r := range s.Runs {
		if len(r.Odd) > 0 {
			fmt.Fprintf(w, "odd: %s in %s\n", r.Name, strings.Join(r.Odd, ", "))
		}
	}
	return nil
}

func lawName(l *study.LawRow) string {
	text := l.Metric + ", " + l.Parameter
	for _, name := range slices.Sorted(maps.Keys(l.Fixed)) {
		text += fmt.Sprintf(", %s = %v", name, l.Fixed[name])
	}
	if len(l.Others) > 0 {
		text += fmt.Sprintf(" (or %s)", term.Counted(len(l.Others), "other law"))
	}
	return text
}
