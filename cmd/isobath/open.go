package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/server"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/app/sides"
	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/engine/clickhouse"
	"github.com/isobath/isobath/internal/formats"
)

// patience is how long a file may take to open before the page is shown
// without it: a small or broken file is done by then, and a large one shows its
// progress in the page.
const patience = time.Second

func newOpen() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "open [FILE…] | open A... -- B...",
		Short: "Show runs or foreign files in the browser",
		Example: `  isobath open perf.data
  isobath open trial/p*a.isobath -- trial/p*b.isobath
  perf record -o - --call-graph dwarf ./program | isobath open -`,
		Long: `Open imports each FILE if needed, serves the page on loopback, prints its
address and opens the browser. Without FILE the page offers recent files, and
takes files dropped onto it. A FILE of - is standard input, read to its end.

A message trace and samples of the same execution are shown as one run, as
'isobath import TRACE SAMPLES… -o RUN' would keep them; two traces, or samples
without a trace, each by themselves.

Two files are shown as A and B. Several runs of each stand on both sides of --, as
many on either: pictures show the samples of a side together, what changed is told
from how its runs differ, and the column 'run' says of which run a sample is.

'isobath FILE' is the same as 'isobath open FILE'.`,
		RunE: func(cmd *cobra.Command, files []string) error {
			f.compare = true
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				return f.serveSides(cmd, files, dash)
			}
			return f.serve(cmd, files, nil)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.noBrowser, "no-browser", false, "only print the address")
	return cmd
}

// serveSides shows several runs of A beside as many of B.
func (f *serveFlags) serveSides(cmd *cobra.Command, files []string, dash int) error {
	if err := noFlagsBehind(files, dash); err != nil {
		return err
	}
	a, errA := sides.Expand(files[:dash])
	b, errB := sides.Expand(files[dash:])
	switch {
	case errA != nil || errB != nil:
		return errors.Join(errA, errB)
	case len(a) == 0 || len(a) != len(b):
		return usagef("open A... -- B... shows as many runs of A as of B, not %d beside %d; 'isobath diff' compares any", len(a), len(b))
	case slices.Contains(files, formats.Stdin):
		return usagef("standard input (-) is one run: open FILE - compares it with another")
	case len(a) == 1:
		return f.serve(cmd, append(a, b...), nil)
	}
	return f.serve(cmd, nil, func(l *server.Loader, ctx context.Context) ([]*frame.Run, error) { return l.Sides(ctx, a, b) })
}

// withStdin puts standard input, where it is named, into a file that the server
// may read as often as it likes; remove deletes it.
func withStdin(cmd *cobra.Command, files []string) (out []string, remove func(), err error) {
	at := slices.Index(files, formats.Stdin)
	if at < 0 {
		return files, func() {}, nil
	}
	if err := stdinOnce(files); err != nil {
		return nil, nil, err
	}
	out = slices.Clone(files)
	if out[at], remove, err = dataset.Spool(cmd.Context(), cmd.InOrStdin()); err != nil {
		return nil, nil, err
	}
	return out, remove, nil
}

// stdinOnce refuses to read standard input for two files.
func stdinOnce(files []string) error {
	if at := slices.Index(files, formats.Stdin); at >= 0 && slices.Contains(files[at+1:], formats.Stdin) {
		return usagef("standard input (-) can be read only once")
	}
	return nil
}

// absolute makes paths that stay right wherever the server looks from, and says
// early which do not exist.
func absolute(files []string) ([]string, error) {
	out := make([]string, len(files))
	for i, file := range files {
		if clickhouse.IsAddress(file) {
			if _, err := clickhouse.ParseAddress(file); err != nil {
				return nil, err
			}
			out[i] = file
			continue
		}
		if _, err := os.Stat(file); err != nil {
			reason := "it cannot be read"
			if os.IsNotExist(err) {
				reason = fs.ErrNotExist.Error()
			}
			return nil, fmt.Errorf("%s: %s", file, reason)
		}
		path, err := filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		out[i] = path
	}
	return out, nil
}

// joinedName names what several files become after the first two.
func joinedName(files []string) string {
	name := dataset.Name(files[0]) + " + " + dataset.Name(files[1])
	if more := len(files) - 2; more > 0 {
		name += fmt.Sprintf(" + %d more", more)
	}
	return name
}

// importAll starts to open the files. It returns when all are open, or when one
// failed, or when they take so long that their progress is better shown in the
// page.
func importAll(ctx context.Context, s *server.Server, loader *server.Loader, out io.Writer, files []string) error {
	type end struct {
		job  frame.Job
		took time.Duration
	}
	ends := make(chan end, len(files))
	start := time.Now()
	done := func(j frame.Job) { ends <- end{j, time.Since(start)} }
	if dataset.Together(files) {
		s.ImportBy(joinedName(files), loader.Together(files), done)
		files = files[:1] // one run, one end
	} else {
		for _, file := range files {
			s.Import(file, done)
		}
	}
	report := func(e end) error {
		switch {
		case e.job.Failure != nil:
			return fmt.Errorf("%s", strings.TrimSuffix(e.job.Failure.Error+"; "+e.job.Failure.Hint, "; "))
		case e.job.State == "done":
			fmt.Fprintf(out, "isobath: %s, read in %.1f s\n", s.Describe(e.job.Run), e.took.Seconds())
		}
		for _, w := range e.job.Warnings {
			fmt.Fprintf(out, "isobath: warning: %s\n", w)
		}
		return nil
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	for n := range files {
		select {
		case e := <-ends:
			if err := report(e); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		case <-late.C:
			fmt.Fprintf(out, "isobath: still reading %d of %s; the page shows how far\n", len(files)-n, term.Counted(len(files), "file"))
			parallel.Start(ctx, func(context.Context) error { // ends with the last import
				for range len(files) - n {
					if err := report(<-ends); err != nil {
						fmt.Fprintf(out, "isobath: %v\n", err)
					}
				}
				return nil
			})
			return nil
		}
	}
	return nil
}
