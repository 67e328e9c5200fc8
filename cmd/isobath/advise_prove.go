package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/isobath/isobath/internal/app/refset"
	"github.com/isobath/isobath/internal/locality/answer"
	"github.com/isobath/isobath/internal/locality/replay"
	"github.com/isobath/isobath/internal/record/reftrace"
	"github.com/isobath/isobath/internal/record/target"
)

// proveFlags are the flags of `advise --prove`.
type proveFlags struct {
	prove    bool
	function string
	backend  string
	pick     int
	rounds   int
}

// proof records the changed program and compares it with what was predicted.
func (f *adviseFlags) proof(ctx context.Context, s *refset.Set, of *refset.Advised, command []string) (*answer.Proof, error) {
	found, m := of.Found, of.Machine
	if f.pick < 1 || f.pick > len(found.Advice) {
		return nil, fmt.Errorf("--prove: there is no advice %d to prove; %d were found", f.pick, len(found.Advice))
	}
	a := found.Advice[f.pick-1]
	if a.Shared != nil {
		return nil, fmt.Errorf("--prove: advice %d is about threads, whose schedule a recording does not repeat; time both programs", f.pick)
	}
	say("recording %s", strings.Join(command, " "))
	after, err := f.rerecord(ctx, command, of)
	if err != nil {
		return nil, err
	}
	p := &answer.Proof{Command: command, Kind: string(a.Kind)}
	p.AddLevels(a, after, m)
	if base := s.Command(); len(base) > 0 && f.rounds > 0 {
		if p.Time, err = timeBoth(ctx, base, command, f.rounds); err != nil {
			return nil, err
		}
	}
	p.Conclude()
	return p, nil
}

// rerecord records the changed program and replays it on the machine.
func (f *adviseFlags) rerecord(ctx context.Context, command []string, of *refset.Advised) (replay.Counts, error) {
	thread := reftrace.FirstThread
	if of.Threads > 1 { // what is compared are the misses of all of them
		thread = reftrace.AllThreads
	}
	rec, err := reftrace.Record(ctx, reftrace.Options{Command: command, Region: target.Region{Function: f.function}, Backend: reftrace.Backend(f.backend), Thread: thread})
	if err != nil {
		return replay.Counts{}, err
	}
	defer rec.Close()
	if len(rec.Refs) == 0 {
		return replay.Counts{}, fmt.Errorf("the changed program made no references in %s", f.function)
	}
	r := replay.NewReader(nil, len(rec.Refs))
	if err := r.Add(rec.Refs); err != nil {
		return replay.Counts{}, err
	}
	return replay.Run(ctx, r.Trace(nil), of.Machine, nil, replay.Kept)
}

// timeBoth runs both programs in turn and compares their processor times.
func timeBoth(ctx context.Context, base, changed []string, rounds int) (*answer.ProofTime, error) {
	var before, after []time.Duration
	for range rounds {
		a, err := cpuTime(ctx, base)
		if err != nil {
			return nil, err
		}
		b, err := cpuTime(ctx, changed)
		if err != nil {
			return nil, err
		}
		before, after = append(before, a), append(after, b)
	}
	faster := 0
	for i := range before {
		if after[i] < before[i] {
			faster++
		}
	}
	return &answer.ProofTime{Rounds: rounds, Before: median(before).Seconds(), After: median(after).Seconds(), Faster: faster}, nil
}

func median(all []time.Duration) time.Duration {
	all = slices.Clone(all)
	slices.Sort(all)
	return all[len(all)/2]
}

func cpuTime(ctx context.Context, command []string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return 0, err
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}
