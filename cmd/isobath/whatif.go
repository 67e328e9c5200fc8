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
	"github.com/isobath/isobath/internal/locality/advice"
	"github.com/isobath/isobath/internal/locality/answer"
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/locality/replay"
	"github.com/isobath/isobath/internal/locality/sharing"
)

// whatifFlags are the flags of `isobath whatif` as the user wrote them.
type whatifFlags struct {
	localityFlags
	topology, base, set, numa, prefetch, mapFile, by, memory string
	warm                                                     bool
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
	fl.StringVar(&f.by, "by", "line", "groups: line, function, object, field, pc or thread")
	fl.BoolVar(&f.warm, "warm", false, "replay the references twice and count the second time")
	fl.StringVar(&f.memory, "memory", "4GB", "with --map, --warm or several threads: refuse traces that need more")
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
	in := answer.WhatIfInput{Top: f.top}
	if in.Base, err = s.Machine(f.base, ""); err != nil {
		return err
	}
	other := f.topology
	if other == "" {
		other = f.base
	}
	if in.Machine, err = s.Machine(other, f.set); err != nil {
		return err
	}
	if in.Policy, err = replay.ParsePolicy(f.numa, in.Machine); err != nil {
		return usagef("--numa: %v", err)
	}
	if err := f.replay(ctx, s, &in); err != nil {
		return err
	}
	in.Records, in.Notes = s.Records, append(s.Notes, in.Notes...)
	found := answer.NewWhatIf(in)
	if f.json {
		return printJSON(out, found)
	}
	return writeWhatIf(out, found, f.prefetch)
}

// replay runs both machines over the trace, which is kept only where it is
// needed more than once.
func (f *whatifFlags) replay(ctx context.Context, s *refset.Set, in *answer.WhatIfInput) error {
	in.BaseRun, in.MachineRun = replay.NewSurvey(in.Base, replay.Policy{Kind: replay.FirstTouch}), replay.NewSurvey(in.Machine, in.Policy)
	t, err := readTrace(ctx, "whatif", s, f.memory)
	if err != nil {
		return err
	}
	if in.By, err = answer.ParseBy(f.by, s.About(), len(s.Table.Objects)-1); err != nil {
		return usageError{err}
	}
	if in.By == answer.ByClass {
		return usagef("--by class: want line, function, object, field, pc or thread")
	}
	plan, err := f.plan(t, s)
	if err != nil {
		return err
	}
	in.Threads = len(t.Threads)
	groups := answer.NewGrouper(in.By, s.Table, s.About())
	// Groups come from the recorded addresses: a changed one is in no object.
	numbers := make([]uint32, len(t.Accesses))
	for i := range t.Accesses {
		a := &t.Accesses[i]
		numbers[i] = groups.Group(a, t.Codes[a.Code], t.Threads[a.Thread])
	}
	in.Keys = groups.Keys
	rounds := 1
	if f.warm {
		rounds = 2
	}
	for range rounds {
		in.BaseRun.Restart()
		in.MachineRun.Restart()
		for i := range t.Accesses {
			in.BaseRun.Access(&t.Accesses[i], numbers[i])
		}
		err := t.Each(ctx, plan, replay.Kept, func(i int, pieces []replay.Piece) {
			in.MachineRun.Pieces(&t.Accesses[i], pieces, numbers[i])
		})
		if err != nil {
			return err
		}
	}
	in.BaseRun.Finish()
	in.MachineRun.Finish()
	if err := f.place(ctx, t, plan, in); err != nil {
		return err
	}
	return f.share(ctx, t, s, in)
}

// plan reads the change of layout or order.
func (f *whatifFlags) plan(t *replay.Trace, s *refset.Set) (*replay.Plan, error) {
	if f.mapFile == "" {
		return &replay.Plan{}, nil
	}
	file, err := os.Open(f.mapFile)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	plan, err := advice.ReadMap(file, t, s.Table)
	if err != nil {
		return nil, usageError{fmt.Errorf("%s: %w", f.mapFile, err)}
	}
	return plan, nil
}

// place replays a changed layout in every placement.
func (f *whatifFlags) place(ctx context.Context, t *replay.Trace, plan *replay.Plan, in *answer.WhatIfInput) error {
	if f.mapFile == "" {
		return nil
	}
	for _, p := range replay.Placements {
		n, err := replay.Run(ctx, t, in.Machine, plan, p)
		if err != nil {
			return err
		}
		in.Placements = append(in.Placements, n)
	}
	return nil
}

// share adds the lines that threads share.
func (f *whatifFlags) share(ctx context.Context, t *replay.Trace, s *refset.Set, in *answer.WhatIfInput) error {
	if len(t.Threads) < 2 {
		return nil
	}
	r, err := sharing.Analyse(ctx, t, sharing.Options{})
	if err != nil {
		return err
	}
	in.Sharing = answer.NewSharing(r, t, s.Table, s.Records, f.top, nil)
	return nil
}

// writeWhatIf prints an answer as text.
func writeWhatIf(out io.Writer, a *answer.WhatIf, prefetch string) error {
	w := &strings.Builder{}
	fmt.Fprintf(w, "%s references, modelled: %s, and %s\n", term.Thousands(a.References), a.Base.Name, a.Machine.Name)
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
	fmt.Fprintf(out, "page walks %s, and %s (pages of %s and %s)\n", term.Thousands(a.Pages.Base.Walks), term.Thousands(a.Pages.Machine.Walks), sizeText(uint64(a.Base.Page)), sizeText(uint64(a.Machine.Page)))
	if a.Machine.Nodes > 1 {
		fmt.Fprintf(out, "memory, %s: %s lines from the own node, %s from others\n", a.Memory.Policy, term.Thousands(a.Memory.Local), term.Thousands(a.Memory.Remote))
	}
	if prefetch == "ideal" {
		fmt.Fprintln(out, "ideal prefetch: the misses that no stride prefetcher hides")
	}
	fmt.Fprintln(out)
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
	return fmt.Sprintf("%s %d ways, %s", sizeText(uint64(l.Size)), l.Ways, m.Name)
}

func levelRow(name, shape string, c *answer.Counts) []string {
	placed := "–"
	if c.Placements != nil {
		placed = fmt.Sprintf("%s–%s", term.Thousands(c.Placements[0]), term.Thousands(c.Placements[1]))
	}
	frames := "–"
	if c.Frames[0] != c.Frames[1] {
		frames = fmt.Sprintf("%s–%s", term.Thousands(c.Frames[0]), term.Thousands(c.Frames[1]))
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
