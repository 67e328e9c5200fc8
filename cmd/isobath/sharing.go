package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/locality/answer"
	"github.com/isobath/isobath/internal/locality/sharing"
)

// sharingFlags are the flags of `isobath sharing` as the user wrote them.
type sharingFlags struct {
	localityFlags
	latency int64
}

func newSharing() *cobra.Command {
	var f sharingFlags
	cmd := &cobra.Command{
		Use:   "sharing REFS",
		Short: "Which lines threads fight for: true, false and latent sharing, as a range over schedules",
		Long: `Which lines threads fight for: true, false and latent sharing, as a range over
schedules.

` + localityInput + ` Record it with --thread all. Misses are true where a thread
needs bytes that another wrote, false where their bytes only share a line, latent
where lines of 128 bytes or another start of the object would make them. The line
of a lock or barrier is told as such: that is what it is for.`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), args[0])
		},
	}
	f.add(cmd, 12)
	cmd.Flags().Int64Var(&f.latency, "latency", sharing.DefaultClock.Latency, "cycles until a line of another core arrives, in the clocked schedule")
	return cmd
}

func (f *sharingFlags) run(ctx context.Context, out io.Writer, path string) error {
	if f.latency < 1 {
		return usagef("--latency %d: want cycles, from 1", f.latency)
	}
	s, err := f.open(ctx, path)
	if err != nil {
		return err
	}
	defer s.Close()
	progress, done := progressLine("sharing")
	a, err := s.Sharing(ctx, f.latency, f.top, progress)
	done()
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(out, a)
	}
	return writeSharing(out, a)
}

// partsText lists parts of a line by their first and last byte.
func partsText(parts [][2]uint64) string {
	var all []string
	for _, p := range parts {
		all = append(all, fmt.Sprintf("%d–%d", p[0], p[1]-1))
	}
	return strings.Join(all, ", ")
}

// writeSharing prints an answer as text.
func writeSharing(out io.Writer, a *answer.SharedLines) error {
	t := &term.Table{Columns: []term.Column{{Head: "schedule"}, {Head: "coherence misses", Align: term.Right}, {Head: "true", Align: term.Right}, {Head: "false", Align: term.Right}, {Head: "with lines of 128", Align: term.Right}}}
	for _, s := range a.Schedules {
		t.Row(s.Schedule, term.Thousands(s.Misses.Coherence), term.Thousands(s.Misses.True), term.Thousands(s.Misses.False), term.Thousands(s.Wider.Coherence))
	}
	fmt.Fprintf(out, "%s, modelled\n", term.Counted(a.Threads, "thread"))
	if err := t.Write(out, 100); err != nil {
		return err
	}
	w := &strings.Builder{}
	notes(w, a.Notes)
	if len(a.Lines) == 0 {
		w.WriteString("no line is shared in a way that costs\n")
	}
	for _, l := range a.Lines {
		fmt.Fprintf(w, "\n%s: ", l.Kind())
		writeWrapped(w, l.Text, 3, 90)
		for _, u := range l.Threads {
			fmt.Fprintf(w, "   thread %d: bytes %s, %s, %s", u.TID, partsText(u.Bytes), term.Counted(u.Loads, "load"), term.Counted(u.Stores, "store"))
			if len(u.Places) > 0 {
				w.WriteString(" at " + strings.Join(u.Places, ", "))
			}
			w.WriteString("\n")
		}
	}
	_, err := io.WriteString(out, w.String())
	return err
}
