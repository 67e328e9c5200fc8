package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/base/scratch"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/formats/otf2"
	"github.com/isobath/isobath/internal/record"
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
	trace := func(archive string) (err error) {
		got, err = mpitrace.Record(cmd.Context(), mpitrace.Options{Command: rec.command, Archive: archive})
		return err
	}
	if alone {
		if err := trace(out); err != nil {
			return err
		}
	} else if err := writeTrace(cmd.Context(), out, rec, trace); err != nil {
		return err
	}
	warn(got.Notes)
	say("%s: %s, %s", out, term.Counted(got.Processes, "process"), term.Counted(got.Events, "event"))
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

// mpiMessages is the recording of messages beside one of samples: the library writes
// what each rank does while the sampler follows all of them.
type mpiMessages struct {
	launch  *mpitrace.Launch
	archive string
	missing string // which ranks have no samples, and why
}

// recordMPISamples records the messages and the memory samples of all ranks of
// this host, into one run.
func recordMPISamples(cmd *cobra.Command, rec recording, f samplingFlags) error {
	switch {
	case len(rec.command) == 0 || f.attached():
		return usagef("--mpi records from the start of a program: give the launcher and the program after --")
	case !f.children:
		return usagef("--children=false: the ranks are children of the launcher")
	case f.last > 0:
		return usagef("--last keeps the end of samples, and messages only make sense from the start; leave out --mpi or --last")
	case strings.HasSuffix(rec.out, ".otf2"):
		return usagef("-o %s: an archive holds messages and no samples; name a run, or leave out --samples", rec.out)
	}
	if rec.out == "" {
		rec.out = mpiProgram(rec.command) + run.Suffix
	}
	if err := free(rec.out, rec.force); err != nil {
		return err
	}
	work, err := scratch.Folder(filepath.Dir(rec.out), "trace")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	m := &mpiMessages{archive: filepath.Join(work, "trace.otf2")}
	if m.launch, err = mpitrace.Prepare(cmd.Context(), mpitrace.Options{Command: rec.command, Archive: m.archive}); err != nil {
		return err
	}
	return recordSamples(cmd, rec, f, m)
}

// follow makes a recording of samples start the program for us too.
func (m *mpiMessages) follow(opt *record.Options) {
	opt.Start = m.launch.Start
	opt.Ranks = func() (ranks map[int]int) {
		host, _ := os.Hostname() // unknown is no rank's
		ranks, m.missing = m.launch.Ranks(host)
		return ranks
	}
}

// join puts the messages into the run of the samples, when the program has ended.
// Samples without messages are worth keeping.
func (m *mpiMessages) join(r *run.Run) {
	sum, err := m.launch.Write()
	if err != nil {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the messages are missing: %v", err))
		return
	}
	if m.missing != "" {
		r.Warnings = append(r.Warnings, m.missing)
	}
	r.Warnings = append(r.Warnings, sum.Notes...)
	r.Origin.Tool += " --mpi --samples"
	r.Trace = filepath.Base(m.archive)
	r.More = func(dir string) error { return otf2.CopyFiles(m.archive, filepath.Join(dir, r.Trace)) }
	say("messages of %s, %s", term.Counted(sum.Processes, "process"), term.Counted(sum.Events, "event"))
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
