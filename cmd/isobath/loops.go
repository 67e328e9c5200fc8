package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/refset"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/formats/compressed"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/locality/answer"
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/locality/replay"
	"github.com/isobath/isobath/internal/loops/tree"
)

// loopsFlags are the flags of `isobath loops`.
type loopsFlags struct {
	binary   string
	sort     string
	top      int
	json     bool
	accesses bool
	all      bool
	machine  string
}

// loopTree is the loops of a trace, with their misses if these were asked for.
type loopTree struct {
	*tree.Tree
	misses *loopMisses
}

// loopMisses are the misses of loops and the machine they are modelled on.
type loopMisses struct {
	*replay.LoopMisses
	machine *platform.Machine
}

// missText is the misses of a loop, by level.
func missText(m *loopMisses, loop int) string {
	var parts []string
	misses := m.Of(loop)
	bands := misses.Bands(m.machine)
	for i, n := range misses.Misses {
		parts = append(parts, fmt.Sprintf("%s %s%s", m.machine.Levels[i].Name, term.Thousands(n), bandText(bands.Frames[i], bands.Prefetch[i])))
	}
	return strings.Join(parts, ", ")
}

// bandText is what misses may be elsewhere, where that is something else.
func bandText(frames, prefetch [2]uint64) string {
	var parts []string
	if frames[0] != frames[1] {
		parts = append(parts, fmt.Sprintf("%s–%s by frames", term.Thousands(frames[0]), term.Thousands(frames[1])))
	}
	if prefetch[0] != prefetch[1] {
		parts = append(parts, term.Thousands(prefetch[0])+" if prefetched")
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func newLoops() *cobra.Command {
	var f loopsFlags
	cmd := &cobra.Command{
		Use:   "loops REFS [REFS]",
		Short: "Count the loops of a program and what each does to memory",
		Long: `Count the loops of a program and what each does to memory.

REFS is a trace of every memory reference. Runs made by 'isobath record --refs'
also keep the way through the code: their entries and trips are counted, not
estimated. Of other traces, and where Valgrind ran other threads or signal handlers
in between, the loops are rebuilt from the instructions that make references, and
marked with ≈; loops around them that make none are told from addresses that begin
anew after equally many turns.

What comes from - (standard input) is kept in a temporary file, packed, because it
is read more than once.

With two traces, loops are paired by their text and function.

Trips are turns of the loop's body, over all entries. References, bytes and
lines of 64 bytes include inner loops and functions called from the loop.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 && len(args) != 2 {
				return usagef("loops wants one trace, or two to compare, got %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), args)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.binary, "binary", "", "the program, for source lines of foreign traces")
	fl.StringVar(&f.sort, "sort", "tree", "order: tree, references, trips, bytes, lines")
	fl.IntVar(&f.top, "top", 40, "loops to print as text")
	fl.BoolVar(&f.accesses, "accesses", false, "print the objects of each loop and its instructions with their strides too")
	fl.StringVar(&f.machine, "machine", "", "model misses on this machine: a preset, a topology, a run with one, or local")
	fl.BoolVar(&f.all, "all", false, "print loops that make no references too")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

// loopOrders are the orders of --sort beside the tree.
var loopOrders = map[string]func(l *tree.Loop) uint64{
	"references": func(l *tree.Loop) uint64 { return l.References },
	"trips":      func(l *tree.Loop) uint64 { return l.Trips.Trips },
	"bytes":      func(l *tree.Loop) uint64 { return l.Bytes },
	"lines":      func(l *tree.Loop) uint64 { return l.Lines },
}

func (f *loopsFlags) run(ctx context.Context, out io.Writer, paths []string) error {
	if _, ok := loopOrders[f.sort]; !ok && f.sort != "tree" {
		return usagef("--sort %q: want tree, references, trips, bytes or lines", f.sort)
	}
	var trees []loopTree
	for _, path := range paths {
		t, err := f.build(ctx, path)
		if err != nil {
			return err
		}
		trees = append(trees, t)
	}
	switch {
	case len(trees) == 2:
		return writePairs(out, trees[0], trees[1], f.json)
	case f.json:
		return writeLoopsJSON(out, trees[0])
	}
	return f.writeText(out, trees[0])
}

// build counts the loops of one trace.
func (f *loopsFlags) build(ctx context.Context, path string) (t loopTree, err error) {
	if path == formats.Stdin {
		return f.buildStdin(ctx)
	}
	file, err := tree.OpenFile(path)
	if err != nil {
		return t, err
	}
	defer file.Close()
	if f.binary != "" {
		prog, err := symbol.OpenProgram(f.binary, symbol.BiasesOf(file.Format)...)
		if err != nil {
			return t, err
		}
		file.OfProgram(prog)
	}
	if f.machine != "" {
		m, err := new(refset.Set).Machine(f.machine, "")
		if err != nil {
			return t, usageError{err}
		}
		t.misses = &loopMisses{replay.NewLoopMisses(m), m}
		file.Visit = t.misses.Visit
	}
	t.Tree, err = buildTree(ctx, file)
	return t, err
}

// buildStdin counts the loops of a trace that comes through a pipe, whatever its
// length.
func (f *loopsFlags) buildStdin(ctx context.Context) (t loopTree, err error) {
	line := term.NewProgress(os.Stderr, "loops")
	packed, err := compressed.Pack(&counted{Reader: os.Stdin, say: func(n int64) { line.Say("keeping standard input, " + term.Bytes(n)) }})
	if err != nil {
		return t, err
	}
	path, remove, err := dataset.Spool(ctx, packed)
	line.Done()
	if err != nil {
		return t, err
	}
	defer remove()
	if t, err = f.build(ctx, path); err != nil {
		return t, foreign.Renamed(err, path, foreign.StdinName)
	}
	return t, nil
}

// counted says how much of a stream has come.
type counted struct {
	io.Reader
	say  func(n int64)
	n    int64
	said int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if c.n += int64(n); c.n-c.said >= 1<<20 {
		c.said = c.n
		c.say(c.n)
	}
	return n, err
}

// buildTree builds the tree with progress.
func buildTree(ctx context.Context, file *tree.File) (*tree.Tree, error) {
	line := term.NewProgress(os.Stderr, "loops")
	defer line.Done()
	file.Progress = func(stage string, n uint64) { line.Say("reading, " + term.Thousands(n) + " " + stage) }
	t, err := tree.Build(ctx, file.Input)
	if err != nil {
		return nil, err
	}
	t.Notes = append(slices.Clone(file.Notes()), t.Notes...)
	return t, nil
}

// loopJSON is one loop of a trace.
func (t *loopTree) loopJSON(i int) map[string]any {
	l := &t.Loops[i]
	objects := []map[string]any{}
	for _, o := range l.Objects {
		objects = append(objects, map[string]any{"name": o.Name, "references": o.References})
	}
	accesses := []map[string]any{}
	for _, a := range l.Accesses {
		strides := []map[string]any{}
		for _, s := range a.Strides {
			strides = append(strides, map[string]any{"level": s.Level, "bytes": s.Bytes})
		}
		accesses = append(accesses, map[string]any{"ip": fmt.Sprintf("%#x", a.PC), "file": baseName(a.Place.File), "line": a.Place.Line,
			"op": a.Op.String(), "width": a.Size, "references": a.References, "strides": strides, "irregular": a.Irregular})
	}
	exits := []map[string]any{}
	for _, e := range l.Exits {
		exits = append(exits, map[string]any{"line": e.Line, "condition": e.Condition, "times": e.Times})
	}
	row := tripsJSON(&l.Trips)
	if t.misses != nil {
		misses := t.misses.Of(i)
		row["misses"], row["bands"] = misses.Misses, misses.Bands(t.misses.machine)
	}
	row["skipped"] = known(l.Skipped, !l.Unknown.Spread)
	maps.Copy(row, map[string]any{
		"kind": l.Kind, "function": l.Function, "home": l.Home, "ip": address(l.Head), "file": baseName(l.File), "line": l.Line, "text": l.Text,
		"depth": l.Depth, "parent": index(l.Parent), "around": l.Around,
		"references": l.References, "own_references": l.Own, "loads": l.Loads, "stores": l.Stores, "modifies": l.Modifies, "bytes": l.Bytes,
		"lines": l.Lines, "lines_exact": l.LinesExact, "exact": l.Exact, "at_least": l.AtLeast, "why": l.Why, "irreducible": l.Irreducible,
		"caption": l.Caption(), "factor": l.Factor, "versions": l.Versions, "exits": known(exits, l.Exits != nil), "objects": objects, "accesses": accesses,
	})
	return row
}

// address is where code is, null where there is none.
func address(pc uint64) *string {
	if pc == 0 {
		return nil
	}
	text := fmt.Sprintf("%#x", pc)
	return &text
}

// baseName is the last part of a path; of a file that is not known, nothing.
func baseName(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Base(path)
}

// tripsJSON are the counts of a loop, null where they are not known.
func tripsJSON(t *tree.Trips) map[string]any {
	spread := !t.Unknown.Spread
	return map[string]any{"entries": known(t.Entries, !t.Unknown.Entries), "trips": known(t.Trips, !t.Unknown.Trips),
		"trips_min": known(t.Min, spread), "trips_median": known(t.Median, spread), "trips_max": known(t.Max, spread)}
}

func known[T any](n T, is bool) *T {
	if !is {
		return nil
	}
	return &n
}

func writeLoopsJSON(out io.Writer, t loopTree) error {
	loops := []map[string]any{}
	for i := range t.Loops {
		loops = append(loops, t.loopJSON(i))
	}
	nodes := []map[string]any{}
	for _, n := range t.Nodes {
		node := tripsJSON(&n.Trips)
		maps.Copy(node, map[string]any{"loop": n.Loop, "parent": index(n.Parent), "path": append([]string{}, n.Path...), "references": n.References})
		nodes = append(nodes, node)
	}
	doc := map[string]any{"loops": loops, "tree": nodes, "recorded": t.Recorded, "stopped": t.Stopped, "references": t.References, "outside": t.Outside,
		"lost": t.Lost, "notes": append([]string{}, t.Notes...)}
	if t.misses != nil {
		all := t.misses.All()
		doc["machine"], doc["misses"], doc["bands"] = answer.MachineOf(t.misses.machine), all.Misses, all.Bands(t.misses.machine)
	}
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(doc)
}

func (f *loopsFlags) writeText(out io.Writer, t loopTree) error {
	w := &strings.Builder{}
	for _, n := range t.Notes {
		wrap(w, "note: ", n)
	}
	if !t.Recorded {
		wrap(w, "note: ", "the recording has no control flow: loops are rebuilt from the instructions that make references, and every count has ≈")
	}
	t.writeModel(w)
	for _, i := range f.order(t.Tree) {
		t.writeLoop(w, i, f.accesses)
	}
	fmt.Fprintf(w, "%s, %s of them in no loop\n", term.Counted(t.References, "reference"), term.Thousands(t.Outside))
	_, err := io.WriteString(out, w.String())
	return err
}

// writeModel says what misses rest on.
func (t *loopTree) writeModel(w io.Writer) {
	if t.misses != nil {
		fmt.Fprintf(w, "misses are modelled on %s: LRU, pages in any frame and a stride prefetcher from none to ideal\n", t.misses.machine.Name)
	}
}

// order lists the loops to print.
func (f *loopsFlags) order(t *tree.Tree) []int {
	var rows []int
	var below func(parent, left int)
	below = func(parent, left int) {
		for i := range t.Loops {
			if t.Loops[i].Parent == parent && left > 0 {
				rows = append(rows, i)
				below(i, left-1)
			}
		}
	}
	below(-1, len(t.Loops))
	rows = slices.DeleteFunc(rows, func(i int) bool { return t.Loops[i].References == 0 && !f.all })
	if by := loopOrders[f.sort]; by != nil {
		slices.SortStableFunc(rows, func(a, b int) int {
			switch x, y := by(&t.Loops[a]), by(&t.Loops[b]); {
			case x > y:
				return -1
			case x < y:
				return 1
			}
			return 0
		})
	}
	return rows[:min(len(rows), max(f.top, 0))]
}

func (t *loopTree) writeLoop(w io.Writer, i int, accesses bool) {
	l := &t.Loops[i]
	indent := strings.Repeat("  ", l.Depth)
	turns, text := tripsText(l), l.Text
	if !l.Unknown.Spread {
		turns += fmt.Sprintf(" (%s … %s … %s)", term.Thousands(l.Min), term.Thousands(l.Median), term.Thousands(l.Max))
	}
	if l.Kind == tree.Recursion {
		text = l.Function + " calls itself"
		turns = fmt.Sprintf("%s%s, %s of them from outside", markOf(l), term.Counted(l.Trips.Trips, "call"), term.Thousands(l.Entries))
	}
	fmt.Fprintf(w, "%s%s\n", indent, strings.TrimSpace(l.Where()+"  "+term.Clip(text, 60)))
	fmt.Fprintf(w, "%s    %s, %s\n", indent, turns, costText(l))
	if l.Kind == tree.Plain && t.misses != nil {
		fmt.Fprintf(w, "%s    misses, modelled: %s\n", indent, missText(t.misses, i))
	}
	for _, more := range aboutLoop(l, t.Recorded) {
		fmt.Fprintf(w, "%s    %s\n", indent, more)
	}
	if !accesses {
		return
	}
	for _, o := range l.Objects {
		fmt.Fprintf(w, "%s      %s: %s\n", indent, o.Name, term.Counted(o.References, "reference"))
	}
	for _, a := range l.Accesses {
		fmt.Fprintf(w, "%s      %#x %s %d bytes, line %d: %s times, %s\n", indent, a.PC, a.Op, a.Size, a.Place.Line, term.Thousands(a.References), a.StrideText())
	}
}

// costText is what a loop does to memory.
func costText(l *tree.Loop) string {
	references := term.Counted(l.References, "reference")
	if l.References > 0 {
		references += fmt.Sprintf(" (%s loads)", term.Percent(float64(l.Loads+l.Modifies)/float64(l.References)))
	}
	return fmt.Sprintf("%s, %s, %s%s", references, term.Counted(l.Bytes, "byte"), term.Roughly(!l.LinesExact), term.Counted(l.Lines, "line"))
}

// aboutLoop is what else there is to say about a loop, a line each: how its turns go
// on and end, what the compiler made of it, and why a count is not certain. Of a
// trace without control flow none is, which is said once.
func aboutLoop(l *tree.Loop, recorded bool) []string {
	var lines []string
	if c := l.Caption(); c != "" {
		lines = append(lines, c)
	}
	if e := l.ExitText(); e != "" {
		lines = append(lines, e)
	}
	if l.Factor > 1 {
		lines = append(lines, fmt.Sprintf("one turn of the code makes up to %s of the text", term.Counted(l.Factor, "turn")))
	}
	if l.Irreducible {
		lines = append(lines, "it is entered at more than one place")
	}
	if l.AtLeast {
		lines = append(lines, l.Why)
	} else if !l.Exact && recorded {
		lines = append(lines, term.Roughly(true)+l.Why)
	}
	return lines
}

// markOf is what stands before a count that may be another.
func markOf(l *tree.Loop) string {
	if l.AtLeast {
		return "at least "
	}
	return term.Roughly(!l.Exact)
}

// tripsText is how often a loop turns and is entered, as far as that is known.
func tripsText(l *tree.Loop) string {
	trips, entries := markOf(l)+term.Counted(l.Trips.Trips, "trip"), term.Counted(l.Entries, "entry")
	switch {
	case l.Unknown.Trips && l.Unknown.Entries:
		return "trips and entries are not known"
	case l.Unknown.Trips:
		return "trips are not known, " + markOf(l) + entries
	case l.Unknown.Entries:
		return trips + ", entries are not known"
	}
	return trips + " in " + entries
}

// pairedLoop is one side of a pair: the trace and the loop in it; nil if it has none.
type pairedLoop struct {
	name string
	of   loopTree
	loop *tree.Loop
}

func (p *pairedLoop) json() any {
	if p.loop == nil {
		return nil
	}
	return p.of.loopJSON(p.index())
}

// index is where the loop stands in its tree.
func (p *pairedLoop) index() int {
	i := 0
	for &p.of.Loops[i] != p.loop {
		i++
	}
	return i
}

func (p *pairedLoop) text() string {
	if p.loop == nil {
		return "not there"
	}
	text := tripsText(p.loop) + ", " + costText(p.loop)
	if p.of.misses != nil && p.loop.Kind == tree.Plain {
		text += ", misses, modelled: " + missText(p.of.misses, p.index())
	}
	return text
}

// writePairs prints the loops of two traces side by side.
func writePairs(out io.Writer, before, after loopTree, asJSON bool) error {
	w := &strings.Builder{}
	before.writeModel(w)
	all := []map[string]any{}
	for _, p := range tree.Pair(before.Tree, after.Tree) {
		a, b := pairedLoop{"before", before, p.Before}, pairedLoop{"after", after, p.After}
		all = append(all, map[string]any{"text": p.Text, "file": baseName(p.File), "before": a.json(), "after": b.json()})
		fmt.Fprintf(w, "%s\n    %-6s %s\n    %-6s %s\n", strings.TrimSpace(baseName(p.File)+"  "+term.Clip(p.Text, 60)), a.name, a.text(), b.name, b.text())
	}
	if asJSON {
		doc := map[string]any{"pairs": all}
		if m := before.misses; m != nil {
			doc["machine"] = answer.MachineOf(m.machine)
		}
		e := json.NewEncoder(out)
		e.SetEscapeHTML(false)
		return e.Encode(doc)
	}
	_, err := io.WriteString(out, w.String())
	return err
}
