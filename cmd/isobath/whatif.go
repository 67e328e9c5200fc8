package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/refset"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/locality/answer"
	"github.com/isobath/isobath/internal/locality/platform"
)

// whatifFlags are the flags of `isobath whatif` as the user wrote them.
type whatifFlags struct {
	localityFlags
	topology, base, set, numa, prefetch, mapFile, by string
	warm                                             bool
}

func newWhatIf() *cobra.Command {
	var f whatifFlags
	cmd := &cobra.Command{
		Use:   "whatif REFS",
		Short: "The same references on another machine, or with another layout",
		Long: `The same references on another machine, or with another layout.

` + localityInput + ` Caches are exact LRU by sets and ways; what no machine's
description says (frames of pages, prefetchers, where changed objects come to
lie) is a range, never one number. Everything is modelled.

Machines: a topology file (hwloc, Mitos, sys-sage), a run with one, local, or a
preset: ` + strings.Join(platform.Presets(), ", ") + `.`,
		Example: `  isobath whatif run.isobath --topology zen3
  isobath whatif run.isobath --set L2.size=1M,page=2M --by object
  isobath advise run.isobath --show map > change.txt; isobath whatif run.isobath --map change.txt`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), args[0])
		},
	}
	f.add(cmd, 12)
	fl := cmd.Flags()
	fl.StringVar(&f.topology, "topology", "", "the other machine (default: the base)")
	fl.StringVar(&f.base, "base", "", "the machine to compare with (default: that of the run, else local)")
	fl.StringVar(&f.set, "set", "", "change the other machine: L1.size=48K,L1.ways=12,line=128,page=2M,dtlb=96/6,L3.policy=exclusive")
	fl.StringVar(&f.numa, "numa", "first", "where pages lie: first (touch), interleave, best, or node:N")
	fl.StringVar(&f.prefetch, "prefetch", "off", "which end of the band the tables show: off, or ideal")
	fl.StringVar(&f.mapFile, "map", "", "`FILE` with a change of layout or order, as 'advise --show map' prints it")
	fl.StringVar(&f.by, "by", "", "groups: line (if not given, where the trace has lines), function, object, field, loop, pc or thread")
	fl.BoolVar(&f.warm, "warm", false, "replay the references twice and count the second time")
	return cmd
}

func (f *whatifFlags) run(ctx context.Context, out io.Writer, path string) error {
	if f.prefetch != "off" && f.prefetch != "ideal" {
		return usagef("--prefetch %q: want off or ideal", f.prefetch)
	}
	s, err := f.open(ctx, path)
	if err != nil {
		return err
	}
	defer s.Close()
	ask := refset.WhatIfAsk{Topology: f.topology, Base: f.base, Set: f.set, NUMA: f.numa, By: f.by, Warm: f.warm, Top: f.top}
	if f.mapFile != "" {
		file, err := os.Open(f.mapFile)
		if err != nil {
			return err
		}
		defer file.Close()
		ask.Map = file
	}
	var done func()
	ask.Progress, done = progressLine("whatif")
	found, err := s.WhatIf(ctx, ask)
	done()
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(out, found)
	}
	return writeWhatIf(out, found, f.prefetch)
}

// writeWhatIf prints an answer as text.
func writeWhatIf(out io.Writer, a *answer.WhatIf, prefetch string) error {
	w := &strings.Builder{}
	fmt.Fprintf(w, "%s, modelled: %s, and %s\n", term.Counted(a.References, "reference"), a.Base.Name, a.Machine.Name)
	fmt.Fprintf(w, "%s\n", a.Machine.Model)
	notes(w, a.Notes)
	w.WriteString("\n")
	t := &term.Table{Columns: []term.Column{{Head: "level"}, {Head: "", Give: true}, {Head: "misses", Align: term.Right}, {Head: "first", Align: term.Right}, {Head: "capacity", Align: term.Right},
		{Head: "conflict", Align: term.Right}, {Head: "ideal prefetch", Align: term.Right}, {Head: "frames", Align: term.Right}, {Head: "placements", Align: term.Right}}}
	for i, l := range a.Levels {
		if l.Base != nil {
			t.Row(levelRow(l.Level, levelShape(a.Base, i), l.Base)...)
		}
		if l.Machine != nil {
			t.Row(levelRow("", levelShape(a.Machine, i), l.Machine)...)
		}
	}
	if _, err := io.WriteString(out, w.String()); err != nil {
		return err
	}
	if err := t.Write(out, 120); err != nil {
		return err
	}
	fmt.Fprintf(out, "page walks %s, and %s (pages of %s and %s)\n", term.Thousands(a.Pages.Base.Walks), term.Thousands(a.Pages.Machine.Walks), term.Bytes(a.Base.Page), term.Bytes(a.Machine.Page))
	if a.Machine.Nodes > 1 {
		fmt.Fprintf(out, "memory, %s: %s from the own node, %s from others\n", a.Memory.Policy, term.Counted(a.Memory.Local, "line"), term.Thousands(a.Memory.Remote))
	}
	if prefetch == "ideal" {
		fmt.Fprintln(out, "ideal prefetch: the misses that no stride prefetcher hides")
	}
	fmt.Fprintf(out, "\nmisses below are without prefetching, pages as in the program's addresses; --json has their bands\n")
	if err := whatIfGroups(a).Write(out, 110); err != nil {
		return err
	}
	if a.Sharing != nil {
		fmt.Fprintln(out)
		return writeSharing(out, a.Sharing)
	}
	return nil
}

func levelShape(m answer.Machine, i int) string {
	l := m.Levels[i]
	return fmt.Sprintf("%s %d ways, %s", term.Bytes(l.Size), l.Ways, m.Name)
}

// rangeOf writes two counts, or one where they are the same.
func rangeOf(r [2]uint64) string {
	if r[0] == r[1] {
		return term.Thousands(r[0])
	}
	return term.Thousands(r[0]) + "–" + term.Thousands(r[1])
}

func levelRow(name, shape string, c *answer.Counts) []string {
	placed := "–"
	if c.Placements != nil {
		placed = rangeOf(*c.Placements)
	}
	frames := "–"
	if c.Frames[0] != c.Frames[1] {
		frames = rangeOf(c.Frames)
	}
	return []string{name, shape, term.Thousands(c.Misses), term.Thousands(c.First), term.Thousands(c.Capacity), term.Thousands(c.Conflict), term.Thousands(c.Band[0]), frames, placed}
}

func whatIfGroups(a *answer.WhatIf) *term.Table {
	t := &term.Table{Columns: []term.Column{{Head: string(a.By), Give: true}, {Head: "references", Align: term.Right}}}
	for _, l := range a.Base.Levels {
		t.Columns = append(t.Columns, term.Column{Head: l.Level, Align: term.Right})
	}
	for _, l := range a.Machine.Levels {
		t.Columns = append(t.Columns, term.Column{Head: "→ " + l.Level, Align: term.Right})
	}
	for _, g := range a.Groups {
		row := []string{g.Key.String(), term.Thousands(g.References)}
		for _, n := range g.Base {
			row = append(row, term.Thousands(n))
		}
		for _, n := range g.Machine {
			row = append(row, term.Thousands(n))
		}
		t.Row(row...)
	}
	return t
}
