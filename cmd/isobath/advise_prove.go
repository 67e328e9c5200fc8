package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/isobath/isobath/internal/app/refset"
	"github.com/isobath/isobath/internal/base/redact"
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
	p := answer.NewProof(a, m, of.Answer.References)
	p.Command = redact.Args(command)
	p.AddLevels(a, after, m)
	base := s.Command()
	if len(base) > 0 && f.rounds > 0 {
		if p.Time, err = timeBoth(ctx, base, command, f.rounds); err != nil {
			return nil, err
		}
	}
	p.Conclude()
	kept, err := s.KeepProof(p, base, command)
	if err == nil && !kept {
		say("the proof is not kept: only a run has room for it, which 'isobath record' and 'isobath import' make")
	}
	return p, err
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

// timeBoth runs both programs in turn, compares their processor times, and what
// they print.
func timeBoth(ctx context.Context, base, changed []string, rounds int) (*answer.ProofTime, error) {
	var before, after []ran
	for range rounds {
		for _, side := range []struct {
			command []string
			runs    *[]ran
		}{{base, &before}, {changed, &after}} {
			r, err := runTimed(ctx, side.command)
			if err != nil {
				return nil, err
			}
			*side.runs = append(*side.runs, r)
		}
	}
	t := &answer.ProofTime{Rounds: rounds, Before: median(before).Seconds(), After: median(after).Seconds(), Provenance: answer.Measured, Output: answer.OutputSame}
	for i := range before {
		if after[i].time < before[i].time {
			t.Faster++
		}
		if after[i].result != before[i].result {
			t.Output = answer.OutputDiffers
		}
	}
	if slices.ContainsFunc(before, func(r ran) bool { return r.result != before[0].result }) {
		t.Output = answer.OutputVaries
	}
	return t, nil
}

func median(all []ran) time.Duration {
	var times []time.Duration
	for _, r := range all {
		times = append(times, r.time)
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// ran is one execution of a program.
type ran struct {
	time   time.Duration // of the processor
	result string        // how it ended, and a sum of what it printed
}

func runTimed(ctx context.Context, command []string) (ran, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	printed := sha256.New()
	cmd.Stdout = printed
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return ran{}, err
	}
	return ran{cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), fmt.Sprintf("%s %x", cmd.ProcessState, printed.Sum(nil))}, nil
}
