package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/refset"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/base/wholefile"
	"github.com/isobath/isobath/internal/locality/answer"
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/locality/reuse"
)

// reuseFlags are the flags of `isobath reuse` as the user wrote them.
type reuseFlags struct {
	localityFlags
	by, line, page, curve, machine, set string
	sample                              float64
	shared                              bool
}

func newReuse() *cobra.Command {
	var f reuseFlags
	cmd := &cobra.Command{
		Use:   "reuse REFS",
		Short: "How far apart uses of the same data lie, and what every size of cache would make of it",
		Long: `How far apart uses of the same data lie, and what every size of cache would
make of it.

` + localityInput + ` The reuse distance of a reference is the number of
other lines used since its line was used last: a fully associative LRU cache of C
lines misses exactly the references with a distance of C or more. Distances are
exact unless --sample is given.`,
		Example: `  isobath reuse run.isobath --by object
  isobath reuse run.isobath --by line --machine zen3 --curve curve.csv
  isobath reuse trace.csv.gz --binary ./prog --by field --json`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), args[0])
		},
	}
	f.add(cmd, 12)
	fl := cmd.Flags()
	fl.StringVar(&f.by, "by", "", "groups: line (if not given, where the trace has lines), function, object, field, loop, pc, thread or class (of stride)")
	fl.StringVar(&f.line, "line", "64", "bytes of a cache line")
	fl.StringVar(&f.page, "page", "4096", "bytes of a page")
	fl.StringVar(&f.curve, "curve", "", "write the exact miss curve to `FILE`: one row a size")
	fl.StringVar(&f.machine, "machine", "", "count misses at the sizes of this machine: a topology file, a run, local, or a preset (default: that of the run, else local)")
	fl.StringVar(&f.set, "set", "", "change the machine: L1.size=48K,L1.ways=12,…")
	fl.Float64Var(&f.sample, "sample", 0, "follow this part of the lines only, such as 0.01; the answer then carries its error")
	fl.BoolVar(&f.shared, "shared", false, "one cache for all threads, in recorded order")
	return cmd
}

func (f *reuseFlags) run(ctx context.Context, out io.Writer, path string) error {
	ask := refset.ReuseAsk{By: f.by, Machine: f.machine, Set: f.set, Sample: f.sample, Shared: f.shared, Top: f.top}
	for _, x := range []struct {
		flag, text string
		to         *int
	}{{"--line", f.line, &ask.Line}, {"--page", f.page, &ask.Page}} {
		n, err := platform.Bytes(x.text)
		if err != nil || n == 0 {
			return usagef("%s %q: want a power of two from 8", x.flag, x.text)
		}
		*x.to = n
	}
	if err := keepInputs(f.curve, path); err != nil {
		return err
	}
	s, err := f.open(ctx, path)
	if err != nil {
		return err
	}
	defer s.Close()
	var done func()
	ask.Progress, done = progressLine("reuse")
	found, pass, err := s.Reuse(ctx, ask)
	done()
	if err != nil {
		return err
	}
	if f.curve != "" && pass != nil {
		if err := writeCurve(ctx, f.curve, pass); err != nil {
			return err
		}
	}
	if f.json {
		return printJSON(out, found)
	}
	return writeReuse(out, found)
}

// writeCurve writes the misses of every size at which they change.
func writeCurve(ctx context.Context, path string, r *reuse.Result) error {
	return wholefile.Write(ctx, path, 0, func(out io.Writer) error {
		w := bufio.NewWriter(out)
		fmt.Fprintln(w, "lines,bytes,misses,ratio")
		misses := r.References
		for d := 0; d <= len(r.Distances); d++ {
			if d == 0 || r.Distances[d-1] > 0 {
				if d > 0 {
					misses -= r.Distances[d-1]
				}
				fmt.Fprintf(w, "%d,%d,%d,%g\n", d, d*r.LineBytes, misses, float64(misses)/float64(r.References))
			}
		}
		return w.Flush()
	})
}

// writeReuse prints an answer as text.
func writeReuse(out io.Writer, a *answer.Reuse) error {
	w := &strings.Builder{}
	if a.Sample == nil {
		fmt.Fprintf(w, "%s of %s use %s of %d bytes (%s), %s of them first uses\n", term.Counted(a.References, "reference"), term.Counted(a.Threads, "thread"),
			term.Counted(a.Lines, "line"), a.LineBytes, term.Bytes(a.Bytes), term.Thousands(a.First))
	} else {
		fmt.Fprintf(w, "%s, of which a part of %g of the lines was followed by %s (≥ %s each)\n", term.Counted(a.References, "reference"),
			a.Sample.Rate, term.Counted(a.Sample.Seeds, "sample"), term.Counted(a.Sample.Lines, "line"))
		fmt.Fprintf(w, "the samples' miss ratios lie up to %.3f apart, %.3f on average: ≈ before what follows\n", a.Sample.Spread, a.Sample.Mean)
	}
	for _, l := range a.Machine.Sizes {
		mark := term.Roughly(a.Sample != nil)
		fmt.Fprintf(w, "%s: %s%s (%s%s) in a fully associative cache of %s\n", l.Level, mark, term.Counted(l.Misses, "miss"), mark, share(l.Misses, a.References), term.Bytes(l.Bytes))
	}
	if a.Machine.Name != "" {
		fmt.Fprintf(w, "sizes of %s; LRU, caches empty at the start\n", a.Machine.Name)
	}
	if u := a.Use; u != nil && u.Fetched > 0 {
		fmt.Fprintf(w, "%.1f of %d bytes are used of each line fetched into %s, %d ways, of %s (modelled; the same in every frame of memory and with any prefetcher)\n", float64(u.BytesUsed)/float64(u.Fetched), a.LineBytes, term.Bytes(u.Size), u.Ways, u.Machine)
	}
	notes(w, a.Notes)
	if _, err := io.WriteString(out, w.String()); err != nil || len(a.Groups) == 0 {
		return err
	}
	fmt.Fprintln(out)
	return reuseTable(a).Write(out, 100)
}

func reuseTable(a *answer.Reuse) *term.Table {
	t := &term.Table{Columns: []term.Column{{Head: string(a.By), Give: true}, {Head: "references", Align: term.Right}, {Head: "first", Align: term.Right}, {Head: "median", Align: term.Right}}}
	for _, l := range a.Machine.Sizes {
		t.Columns = append(t.Columns, term.Column{Head: ">" + l.Level, Align: term.Right})
	}
	if a.Use != nil {
		t.Columns = append(t.Columns, term.Column{Head: "used", Align: term.Right})
	}
	t.Columns = append(t.Columns, term.Column{Head: "stride"})
	for _, g := range a.Groups {
		row := []string{g.Key.String(), term.Thousands(g.References), term.Thousands(g.First), "–"}
		if g.Median != nil {
			row[3] = term.Short(float64(g.Median[0]))
		}
		for _, n := range g.Misses {
			row = append(row, term.Thousands(n))
		}
		if a.Use != nil {
			used := "–"
			if g.Use.Fetched > 0 {
				used = fmt.Sprintf("%.1f", g.Use.PerLine)
			}
			row = append(row, used)
		}
		stride := ""
		if len(g.Strides) > 0 && g.Strides[0][1] >= 0.5 {
			stride = fmt.Sprintf("%+d", int64(g.Strides[0][0]))
		}
		t.Row(append(row, stride)...)
	}
	return t
}

func share(n, of uint64) string { return term.Percent(float64(n) / float64(max(of, 1))) }
