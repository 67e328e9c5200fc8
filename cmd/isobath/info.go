package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/gaps"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/machine/hw"
)

func newInfo() *cobra.Command {
	var (
		imports importFlags
		asJSON  bool
		tells   bool
	)
	cmd := &cobra.Command{
		Use:     "info FILE",
		Short:   "Say what is in a file",
		Example: "  isobath info perf.data --json",
		Args:    oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if tells {
				return printPrivacy(cmd.Context(), cmd.OutOrStdout(), &imports, args[0], asJSON)
			}
			i, err := describe(cmd.Context(), &imports, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), i.fields())
			}
			return i.write(cmd.OutOrStdout())
		},
	}
	imports.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&tells, "privacy", false, "say what it tells about people and machines")
	return cmd
}

// description is what `info` prints for one kind of data.
type description interface {
	write(io.Writer) error
	fields() any // the same as JSON
}

func (i *samplesInfo) fields() any  { return i }
func (i *topologyInfo) fields() any { return i }
func (i *traceInfo) fields() any    { return i }
func (i *refsInfo) fields() any     { return i }

// describe looks at a file of any kind.
func describe(ctx context.Context, imports *importFlags, path string) (description, error) {
	content, err := dataset.Identify(path)
	if err != nil {
		return nil, err
	}
	if !content.Table {
		return describeOther(ctx, path, content)
	}
	s, err := imports.ask(ctx, path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if s.Run.Kind == kind.Refs {
		return describeRefsRun(ctx, path, s)
	}
	return describeSamples(ctx, s)
}

// samplesInfo is the JSON of `info` for samples.
type samplesInfo struct {
	common
	Table    string      `json:"table"`
	Origin   kind.Origin `json:"origin"`
	Topology *hw.Summary `json:"topology"`
	Sources  int         `json:"sources"`
	// Summed is set if rows are sums by place in the code, and not samples.
	Summed *summed `json:"summed,omitempty"`
	// Recording is set if this program recorded the samples.
	Recording *run.Recording `json:"recording,omitempty"`
	// Gaps are the stretches of time in which samples are missing or stand for
	// more than they count.
	Gaps []gaps.Gap `json:"gaps,omitempty"`
}

type columnInfo struct {
	Name       string `json:"name"`
	Kind       string `json:"kind"`
	Unit       string `json:"unit"`
	Provenance string `json:"provenance"`
	Distinct   int    `json:"distinct"`
	Min        any    `json:"min"`
	Max        any    `json:"max"`
	Missing    int    `json:"missing"`
	Note       string `json:"note,omitempty"`
	// DistinctMore says that counting ended there: there may be more values.
	DistinctMore bool `json:"distinct_more,omitempty"`
}

func describeSamples(ctx context.Context, s *dataset.Set) (*samplesInfo, error) {
	var found []gaps.Gap
	if !s.Table.Elsewhere() {
		var err error
		if found, err = gaps.Find(ctx, s.Table, s.Run.Table("gaps")); err != nil {
			return nil, err
		}
	}
	i := &samplesInfo{Table: s.Table.Name, Origin: s.Run.Origin, Sources: len(s.Run.SourceFiles), Recording: s.Run.Recording, Gaps: found}
	i.common = commonOf(s)
	if cost, event := samples.Summed(s.Table); cost != nil {
		var err error
		if i.Summed, err = sumOf(ctx, s, nil, cost, event); err != nil {
			return nil, err
		}
	}
	if s.Topology != nil {
		t := s.Topology.Summary()
		i.Topology = &t
	}
	return i, nil
}

// commonOf describes the table of a set.
func commonOf(s *dataset.Set) common {
	out := newCommon(s.Run.Kind, s.Run.Format, s.Table.Rows(), s.Run.Warnings)
	for _, c := range s.Table.Columns() {
		v := table.Summarize(c)
		out.Columns = append(out.Columns, columnInfo{c.Name, c.Kind.String(), c.Unit, c.Provenance.String(), v.Distinct, v.Min, v.Max, v.Missing, c.Note, v.Distinct >= table.DistinctMost})
	}
	return out
}

func (i *samplesInfo) write(w io.Writer) error {
	style := term.StyleFor(w)
	what, by := strings.TrimSuffix(string(i.Kind), "s"), ""
	if i.Summed != nil {
		what, by = "sum", fmt.Sprintf(" by place in the code, %s in all", i.Summed)
	}
	number := term.Thousands(i.Rows)
	fmt.Fprintf(w, "%s%s%s (%s)\n", style.Bold(number), strings.TrimPrefix(term.Counted(i.Rows, what), number), by, i.Format)
	switch {
	case i.Topology != nil:
		fmt.Fprintln(w, topologyLine(*i.Topology))
	case i.Summed == nil:
		fmt.Fprintln(w, "no hardware topology")
	}
	if d := i.Recording; d != nil {
		fmt.Fprintf(w, "recorded by %s, one sample stands for %s; %s after %.1f s; %d lost\n", d.Mode, d.Weight, d.Ended, d.Seconds, d.Lost)
		if l := d.Last; l != nil {
			fmt.Fprintf(w, "only what was sampled from %.1f s to %.1f s after the recording began was kept\n", l.From, l.To)
		}
		if d.Model != nil {
			fmt.Fprintf(w, "levels modelled for %s, not measured\n", d.Model.Topology)
		}
	}
	fmt.Fprintln(w)
	t := term.Table{Columns: []term.Column{{Head: "column"}, {Head: "kind"}, {Head: "unit"}, {Head: "origin"},
		{Head: "distinct", Align: term.Right}, {Head: "min", Align: term.Right}, {Head: "max", Align: term.Right}}}
	for _, c := range i.Columns {
		distinct := term.Thousands(c.Distinct)
		if c.Distinct >= table.DistinctMost {
			distinct += " or more"
		}
		t.Row(c.Name, c.Kind, c.Unit, c.Provenance, distinct, bound(c.Min), bound(c.Max))
	}
	if err := t.Write(w, term.Width); err != nil {
		return err
	}
	return i.notes(w)
}

// bound writes an end of a column's range for people.
func bound(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	return fmt.Sprint(v)
}

// topologyLine names the parts of a machine, outermost first.
func topologyLine(s hw.Summary) string {
	parts := []string{term.Counted(s.CPUs, "CPU"), fmt.Sprintf("%d NUMA", s.Nodes)}
	for _, l := range s.Levels {
		switch l.Type {
		case hw.Machine.String(), hw.NUMA.String(), hw.CPU.String():
		default:
			parts = append(parts, fmt.Sprintf("%d %s", l.Count, l.Type))
		}
	}
	return strings.Join(parts, ", ")
}

// topologyInfo is the JSON of `info` for a hardware description.
type topologyInfo struct {
	common
	Name     string     `json:"name"`
	Topology hw.Summary `json:"topology"`
}

func describeTopology(path, format string) (description, error) {
	t, err := formats.OpenTopology(path)
	if err != nil {
		return nil, err
	}
	return &topologyInfo{newCommon(kind.Topology, format, 0, t.Warnings), t.Name, t.Summary()}, nil
}

func (i *topologyInfo) write(w io.Writer) error {
	fmt.Fprintf(w, "hardware topology (%s) of %s\n%s\n", i.Format, i.Name, topologyLine(i.Topology))
	return i.notes(w)
}
