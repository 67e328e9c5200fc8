package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/memory/compare"
	"github.com/isobath/isobath/internal/messages/logical"
	"github.com/isobath/isobath/internal/messages/trace"
)

func newDiff() *cobra.Command {
	var imports importFlags
	var by, where string
	var top int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Two runs side by side: what takes a larger part of one than of the other",
		Long: `Compares the memory samples of two runs group by group. Two recordings seldom
hold equally many samples, so groups are compared by their share: of latency
if both runs measured it, otherwise of samples. A change smaller than three
standard errors of sampling is marked with ~: it may be chance.

Two message-passing traces are compared operation by operation; 'isobath steps
B --compare A' does the same with all options of that verb.`,
		Example: `  isobath diff before.isobath after.isobath
  isobath diff before.isobath after.isobath --by level --where 'function = sweep' --json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("diff takes two files, A and B; see 'isobath help diff'")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			content, err := dataset.Identify(args[0])
			if err != nil {
				return err
			}
			if !content.Table && content.Kind == kind.Trace {
				return diffTraces(cmd, args[0], args[1], top, asJSON)
			}
			a, err := imports.open(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer a.Close()
			b, err := imports.open(cmd.Context(), args[1])
			if err != nil {
				return err
			}
			defer b.Close()
			d, err := makeDiff(cmd, a, b, by, where)
			if err != nil {
				return err
			}
			if top > 0 && len(d.Groups) > top {
				d.Groups = d.Groups[:top]
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), d)
			}
			warn(a.Run.Warnings)
			warn(b.Run.Warnings)
			return d.write(cmd.OutOrStdout())
		},
	}
	imports.add(cmd)
	cmd.Flags().StringVar(&by, "by", "line", "what to compare: line, file, function, symbol, cpu, node, level, tid or any `column` of both; several with commas")
	cmd.Flags().StringVar(&where, "where", "", "only samples that match this `selection`, in both")
	cmd.Flags().IntVar(&top, "top", 20, "show only the `n` largest changes; 0 for all")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
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

// runDiff is what `isobath diff --json` prints.
type runDiff struct {
	Where      string       `json:"where"`
	By         []string     `json:"by"`
	ShareOf    string       `json:"share_of"` // latency or samples
	A          compare.Side `json:"a"`
	B          compare.Side `json:"b"`
	GroupCount int          `json:"group_count"`
	Groups     []diffGroup  `json:"groups"`
}

type diffGroup struct {
	Key map[string]any `json:"key"`
	compare.Group
	// Sure is false for a change that may be chance.
	Sure bool `json:"sure"`
}

func makeDiff(cmd *cobra.Command, a, b *dataset.Set, by, where string) (*runDiff, error) {
	columns, err := groupColumns(a.Table, by)
	if err != nil {
		return nil, fmt.Errorf("A: %w", err)
	}
	inB, err := groupColumns(b.Table, by)
	if err != nil {
		return nil, fmt.Errorf("B: %w", err)
	}
	if len(columns) != len(inB) {
		return nil, usagef("--by %s: only one of the two runs has the file of a line; compare by another column", by)
	}
	ea, err := selection(a, where)
	if err != nil {
		return nil, fmt.Errorf("A: %w", err)
	}
	eb, err := selection(b, where)
	if err != nil {
		return nil, fmt.Errorf("B: %w", err)
	}
	c, err := compare.Runs(cmd.Context(), compare.Input{Table: a.Table, Engine: a.Engine, Where: ea},
		compare.Input{Table: b.Table, Engine: b.Engine, Where: eb}, columns)
	if err != nil {
		return nil, err
	}
	d := &runDiff{By: columns, ShareOf: c.Counts, A: c.A, B: c.B, GroupCount: len(c.Groups), Groups: []diffGroup{}}
	if ea != nil {
		d.Where = ea.String()
	}
	for _, g := range c.Groups {
		key := map[string]any{}
		for i, name := range columns {
			key[name] = keyValue(a.Table.Column(name), g.Key[i])
		}
		d.Groups = append(d.Groups, diffGroup{Key: key, Group: g, Sure: g.Sure()})
	}
	return d, nil
}

// write prints the comparison as text.
func (d *runDiff) write(w io.Writer) error {
	style := term.StyleFor(w)
	for _, side := range []struct {
		name string
		*compare.Side
	}{{"A", &d.A}, {"B", &d.B}} {
		line := fmt.Sprintf("%s  %s of %s samples", style.Bold(side.name), term.Thousands(side.Samples), term.Thousands(side.Of))
		if side.Latency != nil {
			line += fmt.Sprintf(", %s%s %s, mean %s (%s)", about(side.Provenance), term.Short(*side.Latency), side.Unit, oneDecimal(side.Mean), side.Provenance)
		} else {
			line += "; no latency recorded"
		}
		fmt.Fprintln(w, line)
	}
	if d.Where != "" {
		fmt.Fprintln(w, "where "+d.Where)
	}
	fmt.Fprintf(w, "\nshare of %s, largest change first; ~ may be chance\n", d.ShareOf)
	t := term.Table{Columns: []term.Column{{Head: "A", Align: term.Right}, {Head: "B", Align: term.Right}, {Head: "change", Align: term.Right}, {Head: ""}}}
	if d.ShareOf == "latency" {
		t.Columns = append(t.Columns, term.Column{Head: "mean A", Align: term.Right}, term.Column{Head: "mean B", Align: term.Right})
	}
	t.Columns = append(t.Columns, term.Column{Head: strings.Join(d.By, ":"), Give: true})
	for _, g := range d.Groups {
		chance := "~"
		if g.Sure {
			chance = ""
		}
		cells := []string{term.Percent(g.A.Share), term.Percent(g.B.Share), fmt.Sprintf("%+.1f", 100*g.Change), chance}
		if d.ShareOf == "latency" {
			cells = append(cells, oneDecimal(g.A.Mean), oneDecimal(g.B.Mean))
		}
		t.Row(append(cells, label(g.Group.Key))...)
	}
	if err := t.Write(w, term.Width); err != nil {
		return err
	}
	if hidden := d.GroupCount - len(d.Groups); hidden > 0 {
		_, err := fmt.Fprintf(w, "%s\n", style.Dim(fmt.Sprintf("… %s more groups", term.Thousands(hidden))))
		return err
	}
	return nil
}

// about is the sign before a number that was not measured.
func about(provenance string) string {
	p, err := table.ParseProvenance(provenance)
	if err != nil {
		return ""
	}
	return samples.About(p)
}

func oneDecimal(f *float64) string {
	if f == nil {
		return "–"
	}
	return strconv.FormatFloat(*f, 'f', 1, 64)
}
