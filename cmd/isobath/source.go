package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// textOfSource is what `isobath source` prints: a stretch of a source file with
// what each of its lines costs.
type textOfSource struct {
	File  string     `json:"file"`
	Where string     `json:"where"`
	From  int        `json:"from"` // first and last line of the stretch
	To    int        `json:"to"`
	Of    int        `json:"of"` // lines of the file
	Lines []textLine `json:"lines"`
	// Unit and Provenance are of the latency; absent if the samples have none.
	Unit       string `json:"unit,omitempty"`
	Provenance string `json:"provenance"`
}

type textLine struct {
	Line    int      `json:"line"`
	Text    string   `json:"text"`
	Samples int      `json:"samples"`
	Latency *float64 `json:"latency"`
	Share   float64  `json:"share"`
}

// longestLine bounds a line that is shown: generated code has lines of megabytes.
const longestLine = 400

func newSource() *cobra.Command {
	var (
		imports importFlags
		where   string
		context int
		asJSON  bool
	)
	cmd := &cobra.Command{
		Use:   "source FILE NAME[:LINE]",
		Short: "A source file that samples name, with what each line costs",
		Long: `A source file that samples name, with what each line costs. Only files that lie
in the run, or beside the data, or below a folder given with --sources are read.
NAME may be shortened to the end of a path. With LINE a few lines around it are
shown, without it the whole file.`,
		Example: `  isobath source demo stencil.c:45
  isobath source run.isobath solver.c:120 --context 4 --where 'level = "Remote RAM"' --json`,
		Args: cobra.MatchAll(func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("source takes a file and the name of a source file; see 'isobath help source'")
			}
			return nil
		}),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := imports.open(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer s.Close()
			name, line, err := sourcePlace(s, args[1])
			if err != nil {
				return err
			}
			text, err := excerpt(cmd.Context(), s, name, line, context, where)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), text)
			}
			return text.write(cmd.OutOrStdout(), line)
		},
	}
	imports.add(cmd)
	cmd.Flags().StringVar(&where, "where", "", "count only samples that match this `selection`")
	cmd.Flags().IntVar(&context, "context", 8, "`lines` before and after LINE")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// sourcePlace finds the file of a run that a user means, and the line; 0 is none.
func sourcePlace(s *dataset.Set, place string) (name string, line int, err error) {
	name = place
	if at := strings.LastIndexByte(place, ':'); at >= 0 {
		if n, err := strconv.Atoi(place[at+1:]); err == nil && n > 0 {
			name, line = place[:at], n
		}
	}
	var found []string
	for known := range s.Run.SourceFiles {
		if known == name {
			return name, line, nil
		}
		if strings.HasSuffix(known, "/"+name) {
			found = append(found, known)
		}
	}
	switch len(found) {
	case 1:
		return found[0], line, nil
	case 0:
		known := slices.Sorted(maps.Keys(s.Run.SourceFiles))
		if len(known) == 0 {
			return "", 0, fmt.Errorf("the run has no source files; import it with --sources FOLDER")
		}
		more := ""
		if len(known) > 8 {
			more = fmt.Sprintf(" and %d more", len(known)-8)
		}
		return "", 0, fmt.Errorf("the run has no source file %q; it has %s%s", name, strings.Join(known[:min(8, len(known))], ", "), more)
	}
	slices.Sort(found)
	return "", 0, fmt.Errorf("%q may be any of %s", name, strings.Join(found, ", "))
}

// excerpt reads the lines around one, or all if there is none, and counts their
// samples.
func excerpt(ctx context.Context, s *dataset.Set, name string, line, around int, where string) (*textOfSource, error) {
	if around < 0 {
		return nil, usagef("--context %d: want 0 or more lines", around)
	}
	text, err := s.Run.SourceFiles[name].Read()
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(strings.ToValidUTF8(string(text), "\uFFFD"), "\n"), "\n")
	out := &textOfSource{File: name, From: 1, To: len(lines), Of: len(lines), Provenance: table.Absent.String()}
	if line > len(lines) {
		return nil, fmt.Errorf("%s has %s, no line %d", name, term.Counted(len(lines), "line"), line)
	}
	if line > 0 {
		out.From, out.To = max(1, line-around), min(len(lines), line+min(around, len(lines)))
	}
	costs, err := out.costs(ctx, s, where)
	if err != nil {
		return nil, err
	}
	for n := out.From; n <= out.To; n++ {
		shown := lines[n-1]
		if len(shown) > longestLine {
			shown = strings.ToValidUTF8(shown[:longestLine], "") + "…"
		}
		l := textLine{Line: n, Text: shown}
		if g, ok := costs[n]; ok {
			l.Samples, l.Latency, l.Share = g.Samples, g.Latency, g.Share
		}
		out.Lines = append(out.Lines, l)
	}
	return out, nil
}

// costs are the groups of the report by line, of this file alone.
func (t *textOfSource) costs(ctx context.Context, s *dataset.Set, where string) (map[int]reportGroup, error) {
	if s.Table.Column(samples.File) == nil || s.Table.Column(samples.Line) == nil {
		return nil, nil
	}
	r, err := makeReport(ctx, s, "line", where, query.BySum, 0)
	if err != nil {
		return nil, err
	}
	t.Where, t.Unit, t.Provenance = r.Where, r.Unit, r.Provenance
	out := map[int]reportGroup{}
	for _, g := range r.Groups {
		if file, ok := g.Key[samples.File].(string); !ok || file != t.File {
			continue
		}
		if n, err := strconv.Atoi(fmt.Sprint(g.Key[samples.Line])); err == nil {
			out[n] = g
		}
	}
	return out, nil
}

// write prints the stretch; the line that was asked for has a mark.
func (t *textOfSource) write(w io.Writer, line int) error {
	fmt.Fprintf(w, "%s, lines %d to %d of %d\n", path.Base(t.File), t.From, t.To, t.Of)
	table := term.Table{Columns: []term.Column{{Head: "share", Align: term.Right}, {Head: "samples", Align: term.Right},
		{Head: cmp.Or(t.Provenance, "absent") + " mean", Align: term.Right}, {Head: "line", Align: term.Right}, {Head: "text", Give: true}}}
	for _, l := range t.Lines {
		row := []string{"", "", "", strconv.Itoa(l.Line), strings.ReplaceAll(l.Text, "\t", "    ")}
		if l.Line == line {
			row[3] = "> " + row[3]
		}
		if l.Samples > 0 {
			row[0], row[1] = term.Percent(l.Share), term.Thousands(l.Samples)
			if l.Latency != nil {
				row[2] = term.Short(*l.Latency / float64(l.Samples))
			}
		}
		table.Row(row...)
	}
	return table.Write(w, term.Width)
}
