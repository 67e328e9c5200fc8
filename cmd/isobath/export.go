package main

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/sheet"
	"github.com/isobath/isobath/internal/base/canvas"
	"github.com/isobath/isobath/internal/base/raster"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/base/wholefile"
	"github.com/isobath/isobath/internal/data/privacy"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/machine/hw/show"
	"github.com/isobath/isobath/internal/memory/profile"
)

func newExport() *cobra.Command {
	var (
		imports importFlags
		out     string
		where   string
		value   string
		width   int

		anonymise bool
		describe  bool
	)
	cmd := &cobra.Command{
		Use:   "export FILE -o out.{" + strings.Join(endingNames(), ",") + "}",
		Short: "Write samples or a message trace for other tools, or a page for people",
		Example: `  isobath export run.isobath -o slow.parquet --where 'latency > 200'
  isobath export run.isobath -o stacks.folded --value latency
  isobath export run.isobath -o sheet.html        # one page to send to a colleague
  isobath export halo.isobath -o halo.otf2        # messages, with steps and lateness
  isobath export halo.isobath -o halo.perfetto    # tracks, flows and counters for ui.perfetto.dev
  isobath export run.isobath -o run.firefox.json  # for profiler.firefox.com
  isobath export run.isobath -o run.speedscope.json
  isobath export run.isobath -o - | head`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := keepInputs(out, args[0]); err != nil {
				return err
			}
			if save, err := messageExporter(args[0], out); err != nil {
				return err
			} else if save != nil {
				if anonymise {
					return usagef("--anonymise is for samples; a message trace is written whole")
				}
				if cmd.Flags().Changed("where") {
					return usagef("--where chooses samples; a message trace is written whole")
				}
				return exportTrace(cmd.Context(), args[0], out, save)
			}
			write, err := exporter(out, how{profile.Value(value), width})
			if err != nil {
				return err
			}
			part := where
			if anonymise { // names are selected as they are written
				part = ""
			}
			s, err := imports.part(cmd.Context(), args[0], part)
			if err != nil {
				return err
			}
			defer s.Close()
			if anonymise {
				if s, err = anonymous(cmd.Context(), s); err != nil {
					return err
				}
				defer s.Close()
			}
			e, err := selection(s, where)
			if err != nil {
				return err
			}
			x := exported{Set: s, path: args[0], where: e}
			if anonymise {
				x.path = "samples"
			}
			if e != nil {
				if x.rows, err = s.Engine.Select(cmd.Context(), e); err != nil {
					return err
				}
			}
			if isCSV(out) {
				return exportCSV(cmd, x, out, describe)
			}
			if out == "-" {
				return write(cmd.Context(), term.Data(cmd.OutOrStdout()), x)
			}
			return wholefile.Write(cmd.Context(), out, 0, func(w io.Writer) error { return write(cmd.Context(), w, x) })
		},
	}
	imports.add(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "the `file` to write; its ending says the format; - is CSV to standard output")
	cmd.Flags().StringVar(&where, "where", "", "only samples that match this `selection`")
	cmd.Flags().StringVar(&value, "value", string(profile.Samples), "what folded stacks count: samples or latency")
	cmd.Flags().BoolVar(&anonymise, "anonymise", false, "write no paths, hosts, users and command lines; --where then sees the new names")
	cmd.Flags().BoolVar(&describe, "describe", false, "begin a CSV with a comment line that says units and origins, instead of writing FILE-metadata.json beside it")
	cmd.Flags().IntVar(&width, "width", 0, "how many `pixels` wide a png is (default: twice the size of the svg)")
	return cmd
}

// anonymous is a set that tells nothing about people and machines.
func anonymous(ctx context.Context, s *dataset.Set) (*dataset.Set, error) {
	r, err := privacy.Anonymised(s.Run)
	if err != nil {
		return nil, err
	}
	return dataset.FromRun(ctx, r)
}

// exported is a data set and what of it is written.
type exported struct {
	*dataset.Set
	path  string     // as the user gave it
	where query.Expr // nil: all
	rows  table.Bits // nil: all
}

// how says what the formats of samples may be told.
type how struct {
	value profile.Value
	width int
}

// exporter chooses the format by the ending of the file.
func exporter(out string, h how) (writer, error) {
	if h.width != 0 && (h.width < raster.MinWidth || h.width > raster.MaxWidth) {
		return nil, usagef("--width %d: want %d to %d pixels", h.width, raster.MinWidth, raster.MaxWidth)
	}
	if h.value != profile.Samples && h.value != profile.Latency {
		return nil, usagef("--value %q: want samples or latency", h.value)
	}
	switch f := writtenAs(out); {
	case out == "-":
		return writeCSV, nil
	case out == "":
		return nil, usagef("export needs -o FILE; its ending says the format: %s", endings(""))
	case f == nil || f.samples == nil:
		return nil, usagef("-o %s: unknown ending; want %s", out, endings("."))
	default:
		return f.samples(h), nil
	}
}

func writeCSV(_ context.Context, w io.Writer, x exported) error { return x.Table.WriteCSV(w, x.rows) }

func isCSV(out string) bool { return out == "-" || strings.EqualFold(filepath.Ext(out), ".csv") }

// exportCSV writes a table as text, and what text cannot say: in a comment
// before it, or in a file beside it, which leaves the table to programs that
// know no comments. Standard output has nothing beside it.
func exportCSV(cmd *cobra.Command, x exported, out string, inComment bool) error {
	name := ""
	if out != "-" {
		name = filepath.Base(out)
	}
	about, err := x.Table.DescribeCSV(name)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error {
		if inComment {
			if _, err := w.Write(table.CommentOfCSV(about)); err != nil {
				return err
			}
		}
		return writeCSV(cmd.Context(), w, x)
	}
	if out == "-" {
		return write(term.Data(cmd.OutOrStdout()))
	}
	// The table first: a description without one says nothing.
	if err := wholefile.Write(cmd.Context(), out, 0, write); err != nil || inComment {
		return err
	}
	return wholefile.Write(cmd.Context(), table.SidecarOf(out), 0, func(w io.Writer) error { _, err := w.Write(about); return err })
}

func writeArrow(_ context.Context, w io.Writer, x exported) error {
	t := x.Table
	if x.rows != nil {
		index := make([]int, 0, x.rows.Count())
		for i := range x.rows.All() {
			index = append(index, i)
		}
		t = t.Take(index)
	}
	return t.WriteArrow(w)
}

func writeFolded(ctx context.Context, w io.Writer, x exported, h how) error {
	stacks, err := profile.Stacks(ctx, x.Table, x.rows)
	if err != nil {
		return err
	}
	return profile.WriteFolded(w, stacks, h.value)
}

func writeCallgrind(ctx context.Context, w io.Writer, x exported) error {
	stacks, err := profile.Stacks(ctx, x.Table, x.rows)
	if err != nil {
		return err
	}
	return profile.WriteCallgrind(w, stacks)
}

func writeFirefox(ctx context.Context, w io.Writer, x exported) error {
	return profile.WriteFirefox(ctx, w, x.Table, x.rows, dataset.Name(x.path))
}

func writePprof(ctx context.Context, w io.Writer, x exported) error {
	stacks, err := profile.Stacks(ctx, x.Table, x.rows)
	if err != nil {
		return err
	}
	return profile.WritePprof(w, stacks, profile.LatencyUnit(x.Table))
}

func writeSpeedscope(ctx context.Context, w io.Writer, x exported) error {
	stacks, err := profile.Stacks(ctx, x.Table, x.rows)
	if err != nil {
		return err
	}
	return profile.WriteSpeedscope(w, stacks, dataset.Name(x.path), profile.LatencyUnit(x.Table))
}

// writeMachine draws the hardware with the samples on it.
func writeMachine(ctx context.Context, w io.Writer, x exported) error {
	return drawMachine(ctx, canvas.NewSVG(w), x)
}

func drawMachine(ctx context.Context, c canvas.Canvas, x exported) error {
	view, err := placed(ctx, x.Set, x.where)
	if err != nil {
		return err
	}
	return view.Sunburst(c, &show.Drawing{})
}

// writePixels draws the same picture for programs that want pixels.
func writePixels(ctx context.Context, w io.Writer, x exported, h how) error {
	return drawMachine(ctx, raster.NewPNG(w, h.width), x)
}

// writeSheet writes one page for people. Samples that cannot be placed on a
// machine are no reason not to write the rest.
func writeSheet(ctx context.Context, w io.Writer, x exported) error {
	o := sheet.Options{Title: dataset.Name(x.path), Where: x.where}
	if x.Topology != nil && x.Places != nil {
		var err error
		if o.Machine, err = placed(ctx, x.Set, x.where); err != nil {
			return err
		}
	}
	s, err := sheet.Make(ctx, x.Set, o)
	if err != nil {
		return err
	}
	return s.Write(w)
}
