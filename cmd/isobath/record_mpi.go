package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/record/mpitrace"
)

// mpiFlags are the flags of `record --mpi`: there are none of its own yet.
type mpiFlags struct{}

func (f *mpiFlags) add(*cobra.Command) {}

// recordMPI records the messages of an MPI program into a run that holds an
// OTF2 archive, or into the archive alone if that is what -o names.
func recordMPI(cmd *cobra.Command, rec recording, _ mpiFlags) error {
	if len(rec.command) == 0 {
		return usagef("record what? Give the launcher and the program after --")
	}
	out := rec.out
	if out == "" {
		out = mpiProgram(rec.command) + run.Suffix
	}
	if err := free(out, rec.force); err != nil {
		return err
	}
	alone := strings.HasSuffix(out, ".otf2")
	if alone && rec.force {
		return usagef("--force replaces runs, not archives; remove %s first", out)
	}
	var got *mpitrace.Result
	record := func(archive string) (err error) {
		got, err = mpitrace.Record(cmd.Context(), mpitrace.Options{Command: rec.command, Archive: archive})
		return err
	}
	if alone {
		if err := record(out); err != nil {
			return err
		}
	} else if err := writeTrace(cmd.Context(), out, rec, record); err != nil {
		return err
	}
	warn(got.Notes)
	say("%s: %d processes, %s events", out, got.Processes, term.Thousands(got.Events))
	if got.Exit != 0 {
		return exitCode(got.Exit)
	}
	return nil
}

// writeTrace makes the run around the archive.
func writeTrace(ctx context.Context, out string, rec recording, record func(string) error) error {
	host, _ := os.Hostname() // unknown stays empty
	now := time.Now().UTC().Truncate(time.Second)
	r := &run.Run{Manifest: run.Manifest{Version: run.Version, Kind: kind.Trace, Format: "otf2", Imported: now, From: []string{mpiProgram(rec.command)},
		Origin: kind.Origin{Host: host, Command: rec.command, Time: now.Format(time.RFC3339), Tool: "isobath record --mpi"}}}
	r.More = func(dir string) error { return record(filepath.Join(dir, "trace.otf2")) }
	return rec.save(ctx, r, out)
}

// mpiProgram guesses the name of the program behind a launcher and its flags:
// the first word that is a file.
func mpiProgram(command []string) string {
	for _, word := range command[1:] {
		if info, err := os.Stat(word); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return filepath.Base(word)
		}
	}
	return filepath.Base(command[0])
}
