package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/base/canvas"
	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/machine/hw"
	"github.com/isobath/isobath/internal/machine/hw/show"
	"github.com/isobath/isobath/internal/machine/hw/sysfs"
	"github.com/isobath/isobath/internal/memory/resources"
)

// topologyFlags are the flags of `isobath topology` as the user wrote them.
type topologyFlags struct {
	where, topology, svg, theme, by string
	json                            bool
}

func newTopology() *cobra.Command {
	var f topologyFlags
	cmd := &cobra.Command{
		Use:   "topology [FILE]",
		Short: "Show a machine's packages, memory nodes, caches and CPUs, and the samples on them",
		Long: `Show the hardware tree of a machine and, if FILE holds samples, which of its
resources served them.

FILE is a run, samples with a topology beside them, or a hardware description
alone: XML of lstopo (hwloc 1 to 3), Mitos or sys-sage. Without FILE it is the
machine this runs on.

With --by COLUMN:MEASURE each resource has the sum, mean, deviation, largest
value, count or number of distinct values of any column of numbers; names and
addresses can be counted.

Samples of a resource are those whose path from the CPU goes through it; that
is what the selection "at L3:1" gives. Served are those it answered itself.`,
		Args: cobra.ArbitraryArgs, // counted in check
		RunE: func(cmd *cobra.Command, args []string) error {
			args, err := f.check(cmd, args)
			if err != nil {
				return err
			}
			view, err := f.view(cmd.Context(), args)
			if err != nil {
				return err
			}
			return f.write(cmd.OutOrStdout(), view)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.where, "where", "", "count only the samples of this selection")
	fl.StringVar(&f.topology, "topology", "", "use this hardware description in place of the one found with the samples")
	fl.BoolVar(&f.json, "json", false, "print the tree as JSON")
	fl.StringVar(&f.svg, "svg", "", "print a drawing: sunburst (default) or icicle")
	fl.Lookup("svg").NoOptDefVal = "sunburst"
	fl.StringVar(&f.theme, "theme", "light", "colours of the drawing: light or dark")
	fl.StringVar(&f.by, "by", "", "what colours the drawing: latency, samples or mean; or any `column:measure` as in bytes:largest, shown in all forms")
	return cmd
}

// check validates the flags and returns the files named. `--svg icicle FILE`
// parses as two files, because the shape is optional; it is told apart here.
func (f *topologyFlags) check(cmd *cobra.Command, args []string) ([]string, error) {
	shapes := []string{"sunburst", "icicle"}
	if cmd.Flags().Changed("svg") && len(args) > 0 && slices.Contains(shapes, args[0]) {
		if _, err := os.Stat(args[0]); errors.Is(err, os.ErrNotExist) {
			f.svg, args = args[0], args[1:]
		}
	}
	switch {
	case len(args) > 1:
		return nil, usagef("topology wants one file, got %d", len(args))
	case f.svg != "" && !slices.Contains(shapes, f.svg):
		return nil, usagef("--svg %q: want sunburst or icicle", f.svg)
	case f.svg != "" && f.json:
		return nil, usagef("--svg and --json exclude each other")
	case f.theme != "light" && f.theme != "dark":
		return nil, usagef("--theme %q: want light or dark", f.theme)
	case !slices.Contains([]string{"", "latency", "samples", "mean"}, f.by) && !strings.Contains(f.by, ":"):
		return nil, usagef("--by %q: want latency, samples, mean, or a column and a measure as in bytes:largest (%s)", f.by, strings.Join(resources.Measures, ", "))
	}
	return args, nil
}

// view reads what is to be shown: this machine, a description, or samples.
func (f *topologyFlags) view(ctx context.Context, args []string) (*show.View, error) {
	if len(args) == 0 {
		if f.where != "" {
			return nil, usagef("--where selects samples, but no file with samples is given")
		}
		topo, err := sysfs.Local()
		return &show.View{Topology: topo}, err
	}
	content, err := dataset.Identify(args[0])
	if err != nil {
		return nil, err
	}
	if content.Kind == kind.Topology {
		if f.where != "" {
			return nil, usagef("--where selects samples; %s has none", args[0])
		}
		topo, err := formats.OpenTopology(args[0])
		return &show.View{Topology: topo}, err
	}
	set, err := dataset.Open(ctx, args[0], dataset.Options{
		Options: foreign.Options{L1Latency: foreign.DefaultL1Latency}, Topology: f.topology, Asked: !strings.Contains(f.by, ":"), // such a measure looks at single rows
	})
	if err != nil {
		return nil, err
	}
	where, err := selection(set, f.where)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("--where: %w", err), set.Close())
	}
	view, err := placed(ctx, set, where)
	if err == nil && strings.Contains(f.by, ":") {
		err = f.amounts(ctx, set, where, view)
	}
	return view, errors.Join(err, set.Close())
}

// placed folds the selected samples of a data set onto its topology.
func placed(ctx context.Context, set *dataset.Set, where query.Expr) (*show.View, error) {
	if set.Topology == nil {
		return nil, errors.New("the samples come without a hardware topology; give --topology XML, made by lstopo on the machine they come from")
	}
	if set.Places == nil {
		return nil, errors.New("the samples do not say on which CPU they were taken, so they cannot be placed on the topology")
	}
	answer, err := set.Engine.Answer(ctx, &query.Request{Where: where, Places: true})
	if err != nil {
		return nil, fmt.Errorf("--where: %w", err)
	}
	v := &show.View{Topology: set.Topology, Of: uint64(set.Table.Rows()), Warnings: set.Run.Warnings}
	latency := set.Table.Column(samples.Latency)
	if latency != nil {
		v.Latency, v.LatencyUnit = latency.Provenance, latency.Unit
	}
	if level := set.Table.Column(samples.Level); level != nil {
		v.Level = level.Provenance
	}
	if where != nil {
		v.Where = where.String()
	}
	v.Samples = hw.Fold(set.Places.Coder, dataset.PlaceCounts(answer.Places, query.Selected))
	return v, v.Samples.Check()
}

// amounts adds the number that --by COLUMN:MEASURE asks for. A name may hold a
// colon, a measure does not.
func (f *topologyFlags) amounts(ctx context.Context, set *dataset.Set, where query.Expr, view *show.View) error {
	at := strings.LastIndexByte(f.by, ':')
	column, measure := f.by[:at], f.by[at+1:]
	var rows table.Bits
	var err error
	if where != nil {
		if rows, err = set.Engine.Select(ctx, where); err != nil {
			return err
		}
	}
	view.Amounts, err = resources.Fold(ctx, set.Table, set.Places, rows, column, measure)
	if err != nil {
		return usageError{fmt.Errorf("--by %s: %w", f.by, err)}
	}
	view.AmountsOf = set.Table.Column(column).Provenance
	return nil
}

func (f *topologyFlags) write(w io.Writer, v *show.View) error {
	d := &show.Drawing{Theme: show.Light, Measure: show.Measure(f.by)}
	if f.theme == "dark" {
		d.Theme = show.Dark
	}
	switch {
	case f.json:
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(v.Tree()); err != nil {
			return fmt.Errorf("write JSON: %w", err)
		}
		return nil
	case f.svg == "icicle":
		return v.Icicle(canvas.NewSVG(w), d)
	case f.svg != "":
		return v.Sunburst(canvas.NewSVG(w), d)
	}
	return v.Text(w)
}
