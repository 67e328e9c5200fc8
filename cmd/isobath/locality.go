package main

import (
	"context"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/refset"
	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/base/term"
)

// localityFlags are the flags that reuse, whatif, advise and sharing share.
type localityFlags struct {
	span, where, binary, objects string
	thread                       int64
	top                          int
	json                         bool
}

const localityInput = `REFS is a trace of every memory reference: a run made by 'isobath record --refs',
or lackey, pinatrace, drmemtrace, ChampSim, gem5, DRAMsim3, Ramulator or CSV,
packed or not; - reads standard input.`

func (f *localityFlags) add(cmd *cobra.Command, top int) {
	fl := cmd.Flags()
	fl.StringVar(&f.span, "range", "", "records A:B of the file only, counted from 0")
	fl.Int64Var(&f.thread, "thread", -1, "this thread only")
	fl.StringVar(&f.where, "where", "", "references of a run that a selection means, such as 'function = \"work\"'")
	fl.StringVar(&f.binary, "binary", "", "the program, for source lines, variables and types")
	fl.StringVar(&f.objects, "objects", "", "`FILE` that says what objects are: 'object \"p\" is struct particle', or lines NAME ADDRESS BYTES ELEMENT")
	fl.IntVar(&f.top, "top", top, "groups to print; 0 is all")
	fl.BoolVar(&f.json, "json", false, "print JSON")
}

func (f *localityFlags) open(ctx context.Context, path string) (*refset.Set, error) {
	o := refset.Options{Where: f.where, Binary: f.binary, Objects: f.objects, Stdin: parallel.Reader(ctx, os.Stdin)}
	var err error
	if o.From, o.To, err = parseRange(f.span); err != nil {
		return nil, err
	}
	if f.thread >= 0 {
		if f.thread > math.MaxUint32 {
			return nil, usagef("--thread %d: want a thread id", f.thread)
		}
		t := uint32(f.thread)
		o.Thread = &t
	}
	return refset.Open(ctx, path, o)
}

// progressLine tells how far a verb has come, until done is called.
func progressLine(verb string) (progress refset.Progress, done func()) {
	line := term.NewProgress(os.Stderr, verb)
	return func(stage string, n uint64) {
		if stage == "changes" {
			line.Say(term.Counted(int(n), "change") + " replayed")
		} else {
			line.Say(term.Thousands(n) + " " + stage)
		}
	}, line.Done
}

// notes prints notes as paragraphs.
func notes(w *strings.Builder, all []string) {
	for _, n := range all {
		wrap(w, "note: ", n)
	}
}
