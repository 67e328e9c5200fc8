package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"isobath/internal/hw/show"
	"isobath/internal/hw/sysfs"
	"isobath/internal/hw/topofile"
)

// topologyFlags are the flags of `isobath topology` as the user wrote them.
type topologyFlags struct {
	where, svg, theme, by string
	json                  bool
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
	fl.BoolVar(&f.json, "json", false, "print the tree as JSON")
	fl.StringVar(&f.svg, "svg", "", "print a drawing: sunburst (default) or icicle")
	fl.Lookup("svg").NoOptDefVal = "sunburst"
	fl.StringVar(&f.theme, "theme", "light", "colours of the drawing: light or dark")
	fl.StringVar(&f.by, "by", "", "what colours the drawing: latency, samples or mean")
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
	case !slices.Contains([]string{"", "latency", "samples", "mean"}, f.by):
		return nil, usagef("--by %q: want latency, samples or mean", f.by)
	}
	return args, nil
}

func (f *topologyFlags) view(_ context.Context, args []string) (*show.View, error) {
	if f.where != "" {
		return nil, usagef("--where selects samples; %s has none", describeFile(args))
	}
	if len(args) == 0 {
		topo, err := sysfs.Local()
		return &show.View{Topology: topo}, err
	}
	topo, err := topofile.Open(args[0])
	return &show.View{Topology: topo}, err
}

func describeFile(args []string) string {
	if len(args) == 0 {
		return "this machine"
	}
	return args[0]
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
		return v.Icicle(w, d)
	case f.svg != "":
		return v.Sunburst(w, d)
	}
	return v.Text(w)
}
