package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/sides"
	"github.com/isobath/isobath/internal/base/findings"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/base/wholefile"
	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/memory/compare"
	"github.com/isobath/isobath/internal/memory/compare/form"
	"github.com/isobath/isobath/internal/messages/logical"
	"github.com/isobath/isobath/internal/messages/trace"
)

// diffFlags are the flags of `isobath diff`.
type diffFlags struct {
	imports      importFlags
	by, where    string
	byGiven      bool // --by is no default
	metric       string
	top          int
	asJSON       bool
	failAbove    string
	failBelow    string
	strict       bool
	minShare     float64
	renames      []string
	noise        []string
	pair         bool
	acrossModels bool
	per          string
	junit        string
	sarif        string
	markdown     string
	forms        findingsFlags
}

func newDiff() *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use:   "diff A B | diff A... -- B... | diff TRIAL",
		Short: "Two runs, or many of each, side by side: what costs more or less, and whether it is chance",
		Long: `Compares memory samples group by group. What is compared is the cost: run time
for timer samples, latency for hardware samples. Names are aligned first: lines
by their text, functions and files by their content where they were renamed,
allocations by their line and size.

With one run a side only the luck of sampling is known; how runs of one program
differ is allowed for. Several runs a side, best pairs made by 'isobath ab
--record', tell both. False discoveries are controlled over all groups. What
cannot be told is said with the size that could have been seen.

--fail-above makes a gate: exit code 3 if something surely costs more than
that, 4 under --strict if it cannot be told, 1 if the runs cannot be compared.

Two message-passing traces are compared operation by operation; 'isobath steps
B --compare A' does the same with all options of that verb.`,
		Example: `  isobath diff before.isobath after.isobath
  isobath diff before.isobath after.isobath --by level --where 'function = sweep' --json
  isobath ab --record trial -- ./old -- ./new && isobath diff trial --fail-above 5%
  isobath diff --by function a1.isobath a2.isobath -- b1.isobath b2.isobath
  isobath diff trial --fail-above line:10%,function:5% --junit out.xml --sarif out.sarif`,
		RunE: func(cmd *cobra.Command, args []string) error {
			a, b, err := f.sides(args, cmd.ArgsLenAtDash())
			if err != nil {
				return err
			}
			if len(a) == 1 && len(b) == 1 {
				content, err := dataset.Identify(a[0])
				if err != nil {
					return err
				}
				if !content.Table && content.Kind == kind.Trace {
					return diffTraces(cmd, a[0], b[0], f.top, f.asJSON)
				}
			}
			return f.run(cmd, a, b)
		},
	}
	f.add(cmd)
	return cmd
}

func (f *diffFlags) add(cmd *cobra.Command) {
	f.imports.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.by, "by", "line", "what to compare: line, file, function, symbol, cpu, node, level, tid or any `column` of both; several with commas")
	flags.StringVar(&f.where, "where", "", "only samples that match this `selection`, in both")
	flags.StringVar(&f.metric, "metric", "cost", "what counts: cost, share, samples, mean, cpu, wall, or a level such as \"Remote RAM\" for the cost it served")
	flags.IntVar(&f.top, "top", 20, "show only the `n` largest changes; 0 for all")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON")
	flags.StringVar(&f.failAbove, "fail-above", "", "exit with 3 if something surely grows by at least this: `5%`, 5%,METRIC or line:10%,function:5%; 2pp are points of a share")
	flags.StringVar(&f.failBelow, "fail-below", "", "the same for what must not fall by this `much`")
	flags.BoolVar(&f.strict, "strict", false, "exit with 4 if the gate cannot tell")
	flags.Float64Var(&f.minShare, "min-share", 1, "groups below this `percent` of both sides are tested as one")
	flags.StringArrayVar(&f.renames, "rename", nil, "a source file of A has another name in B: `A=B` (repeatable)")
	flags.StringArrayVar(&f.noise, "noise", nil, "another `run` of the same program, to learn how runs differ (repeatable, at least three)")
	flags.BoolVar(&f.pair, "pair", false, "the first runs of both sides were made next to each other, and so on")
	flags.BoolVar(&f.acrossModels, "across-models", false, "compare levels that were modelled for different machines")
	flags.StringVar(&f.per, "per", "", "divide costs by the distinct values of this `column`, such as iteration")
	flags.StringVar(&f.junit, "junit", "", "write JUnit XML to this `file`; - is standard output")
	flags.StringVar(&f.sarif, "sarif", "", "write SARIF to this `file`")
	flags.StringVar(&f.markdown, "markdown", "", "write Markdown to this `file`")
	f.forms.add(cmd)
}

// sides finds the runs of both sides.
func (f *diffFlags) sides(args []string, dash int) (a, b []string, err error) {
	if err := noFlagsBehind(args, dash); err != nil {
		return nil, nil, err
	}
	switch {
	case dash > 0 && dash < len(args):
		a, err = sides.Expand(args[:dash])
		if err == nil {
			b, err = sides.Expand(args[dash:])
		}
	case dash >= 0:
		return nil, nil, usagef("diff A... -- B... needs runs on both sides of --")
	case len(args) == 1:
		return sides.Trial(args[0])
	case len(args) == 2:
		a, err = sides.Expand(args[:1])
		if err == nil {
			b, err = sides.Expand(args[1:])
		}
	default:
		return nil, nil, usagef("diff takes two files, A and B, a folder of pairs, or A... -- B...; see 'isobath help diff'")
	}
	return a, b, err
}

// noFlagsBehind refuses flags among the runs of B: behind -- everything is a file.
func noFlagsBehind(args []string, dash int) error {
	for _, arg := range args[max(dash, 0):] {
		if _, err := os.Lstat(arg); dash >= 0 && len(arg) > 1 && arg[0] == '-' && err != nil {
			return usagef("%s stands behind --, where the runs of B are: flags come before the runs of A; a file of that name is ./%s", arg, arg)
		}
	}
	return nil
}

// run compares samples and prints them in the forms asked for.
func (f *diffFlags) run(cmd *cobra.Command, a, b []string) error {
	outputs := 0
	for _, file := range []string{f.junit, f.sarif, f.markdown} {
		if file == "-" {
			outputs++
		}
	}
	if outputs > 1 || outputs == 1 && (f.asJSON || f.forms.format != "") {
		return usagef("only one of --json, --format, --junit, --sarif and --markdown can be printed to standard output")
	}
	if err := f.forms.check(f.asJSON); err != nil {
		return err
	}
	f.byGiven = cmd.Flags().Changed("by")
	c, err := f.compare(cmd.Context(), a, b)
	if err != nil {
		if errors.As(err, new(*query.AskError)) {
			return usageError{err}
		}
		return err
	}
	if c.Gate != nil && f.strict {
		c.Gate.Strict()
	}
	if err := f.write(cmd, c); err != nil {
		return err
	}
	stdout := cmd.OutOrStdout()
	switch {
	case f.asJSON:
		if f.top > 0 && len(c.Groups) > f.top {
			c.Groups = c.Groups[:f.top]
		}
		err = printJSON(stdout, c)
	case f.forms.format != "":
		err = f.print(stdout, c)
	case outputs == 0:
		err = form.Text(stdout, c, f.top)
	}
	if err == nil && c.Gate != nil && c.Gate.Exit != 0 {
		return exitCode(c.Gate.Exit)
	}
	return err
}

// print writes one form to standard output: those of a comparison where it has
// its own.
func (f *diffFlags) print(w io.Writer, c *compare.Comparison) error {
	switch findings.Format(f.forms.format) {
	case findings.FormJUnit:
		return form.JUnit(w, c)
	case findings.FormMarkdown:
		return form.Markdown(w, c, commandLine())
	}
	return f.forms.write(w, form.Findings(c))
}

// write writes the forms that go to files.
func (f *diffFlags) write(cmd *cobra.Command, c *compare.Comparison) error {
	for _, out := range []struct {
		file  string
		write func(io.Writer) error
	}{
		{f.junit, func(w io.Writer) error { return form.JUnit(w, c) }},
		{f.sarif, func(w io.Writer) error { return form.SARIF(w, c, f.forms.root, version) }},
		{f.markdown, func(w io.Writer) error {
			return form.Markdown(w, c, commandLine())
		}},
	} {
		var err error
		switch out.file {
		case "":
		case "-":
			err = out.write(cmd.OutOrStdout())
		default:
			err = wholefile.Write(cmd.Context(), out.file, 0, out.write)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// compare opens the runs and compares them.
func (f *diffFlags) compare(ctx context.Context, a, b []string) (*compare.Comparison, error) {
	if err := stdinOnce(slices.Concat(a, b, f.noise)); err != nil {
		return nil, err
	}
	opened := &openedSides{flags: &f.imports, where: f.where}
	defer opened.close()
	runsA, err := opened.open(ctx, a)
	if err != nil {
		return nil, fmt.Errorf("A: %w", err)
	}
	runsB, err := opened.open(ctx, b)
	if err != nil {
		return nil, fmt.Errorf("B: %w", err)
	}
	noise, err := opened.open(ctx, f.noise)
	if err != nil {
		return nil, fmt.Errorf("--noise: %w", err)
	}
	if len(noise) > 0 && len(noise) < 3 {
		return nil, usagef("--noise: %s cannot tell how runs differ; give at least three", term.Counted(len(noise), "run"))
	}
	opt := compare.Options{MinShare: f.minShare / 100, Pair: f.pair, Noise: noise, AcrossModels: f.acrossModels, Per: f.per, Renames: map[string]string{}}
	for _, r := range f.renames {
		from, to, ok := strings.Cut(r, "=")
		if !ok {
			return nil, usagef("--rename %q: want A=B, two names of one source file", r)
		}
		opt.Renames[from] = to
	}
	if f.pair && len(runsA) != len(runsB) {
		return nil, usagef("--pair: A has %s and B %d", term.Counted(len(runsA), "run"), len(runsB))
	}
	for i, runs := range [][]compare.Run{runsA, runsB} {
		if !slices.ContainsFunc(runs, hasSamples) { // they have no columns to ask about either
			return nil, fmt.Errorf("%s: %s has no samples: there is nothing to compare", []string{"A", "B"}[i], runs[0].Name)
		}
	}
	runsA, runsB, left := withSamples(runsA, runsB)
	if len(runsA) == 0 || len(runsB) == 0 {
		return nil, fmt.Errorf("no pair has samples on both sides: %s", strings.Join(left, "; "))
	}
	all := slices.Concat(runsA, runsB)
	if note := f.grouping(all); note != "" {
		left = append(left, note)
	}
	if opt.Questions, err = f.questions(runsA[0].Table, runsB[0].Table, compare.Shared(all)); err != nil {
		return nil, err
	}
	c, err := compare.Runs(ctx, runsA, runsB, opt)
	if err != nil {
		return nil, err
	}
	c.Warnings = append(c.Warnings, left...)
	return c, nil
}

func hasSamples(r compare.Run) bool { return r.Table.Rows() > 0 }

// withSamples leaves out runs that ended before anything was sampled, which have no
// columns either, and where sides have as many runs the one that may belong to it. It
// says which.
func withSamples(a, b []compare.Run) (keptA, keptB []compare.Run, left []string) {
	paired := len(a) == len(b)
	keep := func(own, other []compare.Run) (kept []compare.Run) {
		for i, r := range own {
			switch {
			case !hasSamples(r):
				left = append(left, fmt.Sprintf("%s has no samples and is left out; a higher --rate or more work gives some", r.Name))
			case !paired || hasSamples(other[i]):
				kept = append(kept, r)
			}
		}
		return kept
	}
	keptA = keep(a, b)
	keptB = keep(b, a)
	return keptA, keptB, left
}

// grouping lets a comparison that was asked for no column go by the best one that every
// run has, and says so where that is no line.
func (f *diffFlags) grouping(all []compare.Run) (note string) {
	lacking := func(column string) int {
		return slices.IndexFunc(all, func(r compare.Run) bool { return samples.Usable(r.Table, column) == nil })
	}
	without := lacking(samples.Line)
	if f.byGiven || without < 0 {
		return ""
	}
	for _, column := range []string{samples.Function, samples.Symbol, samples.CPU} {
		if lacking(column) < 0 {
			f.by = column
			return fmt.Sprintf("%s has no source lines: compared by %s", all[without].Name, column)
		}
	}
	return ""
}

// questions are the table that is shown, and those that a gate looks at beside
// it.
func (f *diffFlags) questions(a, b *table.Table, shared []string) ([]compare.Question, error) {
	ask := func(by string, metric compare.Metric) (compare.Question, error) {
		columns, errA := groupColumns(a, by)
		inB, errB := groupColumns(b, by)
		switch {
		case errA != nil && errB != nil:
			return compare.Question{}, fmt.Errorf("A: %w", errA)
		case errA != nil:
			return compare.Question{}, fmt.Errorf("A: %w; both sides have %s", errA, strings.Join(shared, ", "))
		case errB != nil:
			return compare.Question{}, fmt.Errorf("B: %w; both sides have %s", errB, strings.Join(shared, ", "))
		}
		if len(columns) != len(inB) {
			return compare.Question{}, usagef("--by %s: only one of the two runs has the file of a line; compare by another column", by)
		}
		return compare.Question{By: columns, Metric: metric}, nil
	}
	first, err := ask(f.by, compare.Metric(f.metric))
	if err != nil {
		return nil, err
	}
	out := []compare.Question{first}
	gates, err := f.gates()
	if err != nil {
		return nil, err
	}
	for _, g := range gates {
		q, err := ask(g.by, g.metric)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(out, func(o compare.Question) bool {
			return slices.Equal(o.By, q.By) && o.Metric == q.Metric && o.Gate == nil
		})
		if i < 0 {
			out, i = append(out, q), len(out)
		}
		out[i].Gate = &g.Gate
	}
	return out, nil
}

// openedSides are the data sets behind the runs that are compared.
type openedSides struct {
	flags *importFlags
	where string
	sets  []*dataset.Set
}

func (o *openedSides) open(ctx context.Context, paths []string) ([]compare.Run, error) {
	var out []compare.Run
	nowhere := map[string]int{} // what a name that one run does not have may be in the other
	for _, path := range paths {
		s, err := o.flags.ask(ctx, path)
		if err != nil {
			return nil, err
		}
		o.sets = append(o.sets, s)
		e, err := query.Parse(o.where, s.Table)
		if err != nil {
			return nil, usageError{err}
		}
		for _, name := range query.Absent(e, s.Table) {
			nowhere[name]++
		}
		out = append(out, sides.Run(nameOf(ctx, path), s, e))
	}
	for _, name := range slices.Sorted(maps.Keys(nowhere)) {
		if nowhere[name] == len(paths) {
			note(name)
		}
	}
	return out, nil
}

func (o *openedSides) close() {
	for _, s := range o.sets {
		s.Close()
	}
}

// diffTraces says how the run of trace B differs from that of A.
func diffTraces(cmd *cobra.Command, a, b string, top int, asJSON bool) error {
	f := stepsFlags{Options: logical.Default(), compare: a, top: top}
	t, err := trace.Open(cmd.Context(), b)
	if err != nil {
		return err
	}
	s, err := logical.Analyze(cmd.Context(), t, f.Options)
	if err != nil {
		return err
	}
	c, err := f.against(cmd.Context(), s)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(cmd.OutOrStdout(), c)
	}
	p := &printer{w: cmd.OutOrStdout()}
	p.compare(c)
	return p.err
}

// about is the sign before a number that was not measured.
func about(provenance string) string {
	p, err := table.ParseProvenance(provenance)
	if err != nil {
		return ""
	}
	return samples.About(p)
}
