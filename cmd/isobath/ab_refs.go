package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/isobath/isobath/internal/base/scratch"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/locality/replay"
	"github.com/isobath/isobath/internal/machine/hw/sysfs"
	"github.com/isobath/isobath/internal/memory/trial"
)

// countRefs adds the lane without noise: every reference of a function, counted
// once for B and twice for A. If A's counts agree, the numbers are exact.
func (t *abTrial) countRefs(ctx context.Context, r *trial.Report) error {
	dir, err := scratch.Folder("", "ab")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var traces [3]*refTrace
	for i, side := range []int{0, 0, 1} {
		say("counting the references of %s in %s", t.refs, t.commands[side][0])
		out := filepath.Join(dir, fmt.Sprintf("%d%s", i, run.Suffix))
		args := []string{"record", "--refs", "--function", t.refs, "--flow=false", "-o", out}
		if t.backend != "" {
			args = append(args, "--backend", t.backend)
		}
		m, err := self(ctx, &t.execution, append(append(args, "--"), t.commands[side]...))
		if err != nil {
			return err
		}
		if traces[i], err = readTrace(out); err != nil {
			return fmt.Errorf("--refs %s: %w\n%s", t.refs, err, m.Tail(20))
		}
	}
	first, again, other := traces[0], traces[1], traces[2]
	exact := first.count == again.count
	lane := trial.Lane{Lane: "refs", Provenance: "derived", Exact: &exact, A: first.count, B: other.count}
	if exact {
		change := float64(other.count)/float64(first.count) - 1
		lane.Change = &change
	} else {
		lane.Again = again.count
	}
	r.Lanes = append(r.Lanes, lane)
	if exact && first.sameAddresses(again) {
		return addMisses(ctx, r, first, other)
	}
	return nil
}

var errNoReferences = errors.New("the function made no references")

// refTrace is the references of a program's first thread.
type refTrace struct {
	count int
	refs  []refs.Ref
}

func readTrace(path string) (*refTrace, error) {
	src, _, err := formats.OpenRefs(path, nil)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	out := &refTrace{}
	batch := make([]refs.Ref, 1<<14)
	for {
		n, err := src.Read(batch)
		out.count += n
		out.refs = append(out.refs, batch[:n]...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if out.count == 0 {
		return nil, errNoReferences
	}
	return out, nil
}

func (t *refTrace) sameAddresses(o *refTrace) bool {
	for i := range t.refs {
		if t.refs[i].Addr != o.refs[i].Addr {
			return false
		}
	}
	return true
}

// addMisses replays both traces on the caches of this machine.
func addMisses(ctx context.Context, r *trial.Report, a, b *refTrace) error {
	topology, err := sysfs.Local()
	if err != nil {
		return nil // a machine that does not describe itself is not modelled
	}
	machine, err := platform.FromTopology(topology)
	if err != nil {
		return nil
	}
	counts := func(t *refTrace) (replay.Counts, error) {
		reader := replay.NewReader(nil, t.count)
		if err := reader.Add(t.refs); err != nil {
			return replay.Counts{}, err
		}
		return replay.Run(ctx, reader.Trace(nil), machine, nil, replay.Kept)
	}
	ca, err := counts(a)
	if err != nil {
		return err
	}
	cb, err := counts(b)
	if err != nil {
		return err
	}
	for i := range ca.Misses {
		lane := trial.Lane{Lane: "misses " + machine.Levels[i].Name, Provenance: "modelled", A: ca.Misses[i], B: cb.Misses[i]}
		if ca.Misses[i] > 0 {
			change := float64(cb.Misses[i])/float64(ca.Misses[i]) - 1
			lane.Change = &change
		}
		r.Lanes = append(r.Lanes, lane)
	}
	return nil
}
