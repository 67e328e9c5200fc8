package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/engine/clickhouse"
)

// The actions of `isobath engine`.
const (
	listRuns  = "ls"
	removeRun = "rm"
	checkRuns = "check"
)

func newEngine() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "engine ls|check|rm ADDRESS",
		Short: "List, check or remove runs that are kept in ClickHouse",
		Long: `Runs beyond one machine's memory are kept in ClickHouse and opened by address:
clickhouse://user@host:port/database/run, with ?cluster=NAME if their rows are
spread over the shards of a cluster.

ls lists the runs of a database. check counts their rows on every shard. rm
removes the run that the address names.

The password is read from ISOBATH_CLICKHOUSE_PASSWORD, or from the file that
ISOBATH_CLICKHOUSE_PASSWORD_FILE names; it is never part of an address.`,
		Example: `  isobath import big.isobath --engine 'clickhouse://me@db1:9000/perf?cluster=shards'
  isobath engine ls 'clickhouse://me@db1:9000/perf?cluster=shards'
  isobath open 'clickhouse://me@db1:9000/perf/big?cluster=shards'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 || args[0] != listRuns && args[0] != removeRun && args[0] != checkRuns {
				return usagef("engine wants ls, check or rm, and an address; see 'isobath help engine'")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			address, err := clickhouse.ParseAddress(args[1])
			if err != nil {
				return usageError{err}
			}
			server, err := clickhouse.Dial(cmd.Context(), address)
			if err != nil {
				return err
			}
			defer server.Close()
			switch args[0] {
			case removeRun:
				if address.Run == "" {
					return usagef("rm wants the address of a run: %s/RUN", address)
				}
				return server.Remove(cmd.Context(), address.Run)
			case checkRuns:
				return checkEngine(cmd, server, asJSON)
			}
			found, err := server.List(cmd.Context())
			if err != nil {
				return err
			}
			return writeEntries(cmd.OutOrStdout(), found, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// checkEngine fails if a run is not whole.
func checkEngine(cmd *cobra.Command, server *clickhouse.Server, asJSON bool) error {
	found, err := server.Check(cmd.Context())
	if err != nil {
		return err
	}
	if err := writeEntries(cmd.OutOrStdout(), found, asJSON); err != nil {
		return err
	}
	damaged := 0
	for _, e := range found {
		if len(e.Problems) > 0 {
			damaged++
		}
	}
	if damaged > 0 {
		return fmt.Errorf("not whole: %d of %s", damaged, term.Counted(len(found), "run"))
	}
	return nil
}

// keptRuns is what `isobath engine --json` prints.
type keptRuns struct {
	Runs []clickhouse.Entry `json:"runs"`
}

func writeEntries(w io.Writer, found []clickhouse.Entry, asJSON bool) error {
	if asJSON {
		return printJSON(w, keptRuns{found})
	}
	t := term.Table{Columns: []term.Column{{Head: "run"}, {Head: "rows", Align: term.Right}, {Head: "shards", Align: term.Right}, {Head: "stored"}, {Head: "", Give: true}}}
	for _, e := range found {
		said := strings.Join(e.Problems, "; ")
		if said == "" && e.State != "committed" {
			said = e.State
		}
		t.Row(e.Run, term.Thousands(e.Rows), fmt.Sprint(e.Shards), e.Written.Format("2006-01-02 15:04"), said)
	}
	return t.Write(w, term.Width)
}

// storeRun keeps a run in an engine in place of a folder.
func storeRun(ctx context.Context, r *run.Run, engine, out string, force bool) error {
	address, err := clickhouse.ParseAddress(engine)
	if err != nil {
		return usageError{err}
	}
	name := address.Run
	if name == "" {
		name = strings.TrimSuffix(out, run.Suffix)
	}
	address.Run = name
	progress := term.NewProgress(os.Stderr, "storing "+name)
	stored, err := dataset.Store(ctx, r, address, name, clickhouse.Import{Force: force, Progress: progress.Set})
	progress.Done()
	if err != nil {
		return err
	}
	warn(r.Warnings)
	if r.Trace != "" {
		say("the message trace stays in %s: an engine keeps samples", r.Path)
	}
	rows := term.Counted(r.Contents[0].Rows(), "sample")
	if !stored {
		say("%s: exactly this run of %s is there already", address, rows)
		return nil
	}
	say("%s: %s; open it with 'isobath open %s'", address, rows, address)
	return nil
}
