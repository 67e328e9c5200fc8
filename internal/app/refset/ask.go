package refset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/locality/advice"
	"github.com/isobath/isobath/internal/locality/answer"
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/locality/replay"
	"github.com/isobath/isobath/internal/locality/reuse"
	"github.com/isobath/isobath/internal/locality/sharing"
	"github.com/isobath/isobath/internal/loops/tree"
)

// AskError is a question that makes no sense for a trace.
type AskError struct{ Err error }

func (e AskError) Error() string { return e.Err.Error() }

func (e AskError) Unwrap() error { return e.Err }

func wrong(format string, args ...any) error { return AskError{fmt.Errorf(format, args...)} }

// Progress is told how many references were read, or changes replayed.
type Progress = func(stage string, done uint64)

// accessBytes is what a reference takes in memory, with room for growing.
const accessBytes = 40

// each visits the references and says how many were read.
func (s *Set) each(ctx context.Context, progress Progress, visit func([]refs.Ref) error) error {
	n := uint64(0)
	return s.Each(ctx, func(batch []refs.Ref) error {
		if n += uint64(len(batch)); progress != nil && n%(1<<20) < uint64(len(batch)) {
			progress("references", n)
		}
		return visit(batch)
	})
}

// trace keeps the references in memory, which it claims from the budget of the
// context as they come; release gives it back.
func (s *Set) trace(ctx context.Context, progress Progress) (t *replay.Trace, release func(), err error) {
	claim, err := budget.Take(ctx, "the references need", 0)
	if err != nil {
		return nil, nil, err
	}
	r := replay.NewReader(s.Table.Number, math.MaxInt)
	err = s.each(ctx, progress, func(batch []refs.Ref) error {
		if err := claim.Grow(int64(len(batch)) * accessBytes); err != nil {
			return fmt.Errorf("%w, such as a --range", err)
		}
		if s.loops != nil {
			s.loops.all = append(s.loops.all, s.loops.kept...)
		}
		return r.Add(batch)
	})
	if err != nil {
		claim.Release()
		return nil, nil, err
	}
	return r.Trace(s.About().Places), claim.Release, nil
}

// errEnough ends the reading of a trace of which the beginning is enough.
// leastFitting is how many references say something of a program.
const leastFitting = 1 << 20

// fitting is trace, or as much of its beginning as the memory allows, which is
// then noted.
func (s *Set) fitting(ctx context.Context, progress Progress) (t *replay.Trace, release func(), err error) {
	claim, err := budget.Take(ctx, "the references need", 0)
	if err != nil {
		return nil, nil, err
	}
	r := replay.NewReader(s.Table.Number, math.MaxInt)
	more := uint64(0) // references that do not fit
	err = s.each(ctx, progress, func(batch []refs.Ref) error {
		if more == 0 {
			err := claim.Grow(int64(len(batch)) * accessBytes)
			if err == nil {
				return r.Add(batch)
			}
			if len(r.Accesses) < leastFitting {
				return fmt.Errorf("%w, such as a --range", err)
			}
		}
		more += uint64(len(batch))
		return nil
	})
	if err != nil {
		claim.Release()
		return nil, nil, err
	}
	if n := uint64(len(r.Accesses)); more > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("advice rests on the first %d of %d references: more do not fit into the memory allowed; raise --memory, or give another --range", n, n+more))
	}
	return r.Trace(s.About().Places), claim.Release, nil
}

var errEnough = errors.New("enough references")

// Beginning keeps the first references in memory, at most so many; whole says
// that these are all.
func (s *Set) Beginning(ctx context.Context, most int, progress Progress) (t *replay.Trace, whole bool, err error) {
	r := replay.NewReader(s.Table.Number, most)
	err = s.each(ctx, progress, func(batch []refs.Ref) error {
		room := most - len(r.Accesses)
		if err := r.Add(batch[:min(room, len(batch))]); err != nil {
			return err
		}
		if room < len(batch) {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, false, err
	}
	return r.Trace(s.About().Places), err == nil, nil
}

// ReuseAsk is what `isobath reuse` asks.
type ReuseAsk struct {
	By, Machine, Set string
	Line, Page       int // bytes; 0 is 64 and 4096
	Sample           float64
	Shared           bool
	Top              int
	Progress         Progress
}

func (a *ReuseAsk) check() error {
	for _, x := range []struct {
		flag string
		n    *int
		or   int
	}{{"--line", &a.Line, 64}, {"--page", &a.Page, 4096}} {
		if *x.n == 0 {
			*x.n = x.or
		}
		if *x.n&(*x.n-1) != 0 || *x.n < 8 {
			return wrong("%s %d: want a power of two from 8", x.flag, *x.n)
		}
	}
	if a.Line > 1024 {
		return wrong("--line %d: want at most 1024 bytes", a.Line)
	}
	if a.Sample < 0 || a.Sample >= 1 {
		return wrong("--sample %g: want a part of all lines, between 0 and 1", a.Sample)
	}
	return nil
}

// Reuse measures reuse distances. The result of the pass is nil for a sample.
func (s *Set) Reuse(ctx context.Context, ask ReuseAsk) (*answer.Reuse, *reuse.Result, error) {
	if err := ask.check(); err != nil {
		return nil, nil, err
	}
	machine, err := s.Machine(ask.Machine, ask.Set)
	if err != nil && (ask.Machine != "" || ask.Set != "") {
		return nil, nil, err
	}
	if ask.Sample > 0 {
		a, err := s.estimate(ctx, ask, machine)
		return a, nil, err
	}
	ask.By = s.groupedBy(ask.By)
	in := answer.ReuseInput{Machine: machine, Table: s.Table, About: s.About(), Top: ask.Top}
	o := reuse.Options{Line: ask.Line, Page: ask.Page, Shared: ask.Shared, Member: s.Table.Member}
	if machine != nil {
		o.Cache = machine.Levels[0].Geometry()
		o.Cache.Line = o.Line
		if o.Cache.Check() != nil || o.Cache.Ways > reuse.MaxWays { // another line size than the machine's
			o.Cache.Size = 0
		}
		in.Cache.Size, in.Cache.Ways = o.Cache.Size, o.Cache.Ways
	}
	if ask.By == string(answer.ByLoop) {
		release, err := s.findLoops(ctx, ask.Progress)
		if err != nil {
			return nil, nil, err
		}
		defer release()
		o.Loop, in.Loops = s.loops.next, s.loops.names
	}
	p := reuse.NewPass(o)
	if err := s.each(ctx, ask.Progress, func(batch []refs.Ref) error { p.Add(batch); return nil }); err != nil {
		return nil, nil, err
	}
	if in.By, err = s.by(ask.By); err != nil {
		return nil, nil, err
	}
	in.Result, in.Records, in.Notes = p.Result(), s.Records, s.Notes
	return answer.NewReuse(in), in.Result, nil
}

// groupedBy is the kind of groups asked for; of nobody's wish the first of lines,
// instructions and threads that the trace can have, which is then noted: who opens
// a trace of another program has not asked for lines.
func (s *Set) groupedBy(asked string) string {
	has := s.About().Has
	switch {
	case asked != "":
		return asked
	case has&refs.HasPlace != 0 || s.lines != nil:
		return string(answer.ByLine)
	case has&refs.HasPC != 0:
		s.Notes = append(s.Notes, "grouped by instruction: the trace has no source lines; --binary EXE built with -g gives them")
		return string(answer.ByPC)
	}
	s.Notes = append(s.Notes, "grouped by thread: the trace has neither source lines nor instruction addresses")
	return string(answer.ByThread)
}

// by checks a kind of groups.
func (s *Set) by(name string) (answer.By, error) {
	by, err := answer.ParseBy(name, s.About(), len(s.Table.Objects)-1)
	if err != nil {
		return by, AskError{err}
	}
	return by, nil
}

func (s *Set) estimate(ctx context.Context, ask ReuseAsk, machine *platform.Machine) (*answer.Reuse, error) {
	p := reuse.NewSampler(ask.Sample, ask.Line)
	if err := s.each(ctx, ask.Progress, func(batch []refs.Ref) error { p.Add(batch); return nil }); err != nil {
		return nil, err
	}
	e, err := p.Estimate()
	if err != nil {
		return nil, fmt.Errorf("--sample: %w", err)
	}
	return answer.NewEstimate(e, ask.Line, machine, s.Records, s.Notes), nil
}

// WhatIfAsk is what `isobath whatif` asks.
type WhatIfAsk struct {
	Topology, Base, Set, NUMA, By string
	Map                           io.Reader // a change of layout or order; nil for none
	Warm                          bool
	Top                           int
	Progress                      Progress
}

// WhatIf replays the references on another machine or with another layout.
func (s *Set) WhatIf(ctx context.Context, ask WhatIfAsk) (*answer.WhatIf, error) {
	in := answer.WhatIfInput{Top: ask.Top}
	ask.By = s.groupedBy(ask.By)
	var err error
	if in.Base, err = s.Machine(ask.Base, ""); err != nil {
		return nil, err
	}
	other := ask.Topology
	if other == "" {
		other = ask.Base
	}
	if in.Machine, err = s.Machine(other, ask.Set); err != nil {
		return nil, err
	}
	if ask.NUMA == "" {
		ask.NUMA = "first"
	}
	if in.Policy, err = replay.ParsePolicy(ask.NUMA, in.Machine); err != nil {
		return nil, wrong("--numa: %w", err)
	}
	if ask.By == string(answer.ByLoop) {
		release, err := s.findLoops(ctx, ask.Progress)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	if ask.By == string(answer.ByClass) {
		return nil, wrong("--by class: want line, function, object, field, loop, pc or thread")
	}
	if ask.Map == nil && !ask.Warm {
		err = s.streamed(ctx, ask, &in)
	} else {
		err = s.replayed(ctx, ask, &in)
	}
	if err != nil {
		return nil, err
	}
	in.Records, in.Notes = s.Records, append(s.Notes, in.Notes...)
	return answer.NewWhatIf(in), nil
}

// replayed keeps the references and replays them, with a change or twice.
func (s *Set) replayed(ctx context.Context, ask WhatIfAsk, in *answer.WhatIfInput) error {
	t, release, err := s.trace(ctx, ask.Progress)
	if err != nil {
		return err
	}
	defer release()
	if in.By, err = s.by(ask.By); err != nil {
		return err
	}
	plan, err := s.plan(t, ask.Map)
	if err != nil {
		return err
	}
	if err := plan.Check(in.Machine); err != nil {
		return wrong("--map: %w", err)
	}
	if err := s.survey(ctx, t, plan, in, ask.Warm); err != nil {
		return err
	}
	if ask.Map != nil {
		for _, p := range replay.Placements {
			n, err := replay.Run(ctx, t, in.Machine, plan, p)
			if err != nil {
				return err
			}
			in.Placements = append(in.Placements, n)
		}
	}
	return s.shared(ctx, t, ask.Top, in)
}

// shared finds the lines that threads fight for.
func (s *Set) shared(ctx context.Context, t *replay.Trace, top int, in *answer.WhatIfInput) error {
	if len(t.Threads) < 2 {
		return nil
	}
	r, err := sharing.Analyse(ctx, t, sharing.Options{})
	if err == nil {
		in.Sharing = answer.NewSharing(r, t, s.Table, s.Records, top, nil)
	}
	return err
}

// streamed runs both machines over the references as they are read, so that
// memory is needed for what they touch and not for each of them. Those of several
// threads are kept too, as far as the budget allows: which lines are shared takes
// more than one look.
func (s *Set) streamed(ctx context.Context, ask WhatIfAsk, in *answer.WhatIfInput) error {
	claim, err := budget.Take(ctx, "the references need", 0)
	if err != nil {
		return err
	}
	defer claim.Release()
	in.BaseRun, in.MachineRun = replay.NewSurvey(in.Base, replay.Policy{Kind: replay.FirstTouch}, nil), replay.NewSurvey(in.Machine, in.Policy, nil)
	kept := replay.NewReader(s.Table.Number, math.MaxInt)
	dropped := false
	groups := s.streamedGroups(ask.By, in)
	err = s.each(ctx, ask.Progress, func(batch []refs.Ref) error {
		if !dropped && claim.Grow(int64(len(batch))*accessBytes) != nil {
			dropped, kept.Accesses = true, nil
			claim.Release()
		}
		for i := range batch {
			a, err := kept.Access(&batch[i])
			if err != nil {
				return err
			}
			group := groups(&batch[i], &a, kept.Codes[a.Code])
			in.BaseRun.Access(&a, group)
			in.MachineRun.Access(&a, group)
			if !dropped {
				kept.Accesses = append(kept.Accesses, a)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if in.By, err = s.by(ask.By); err != nil {
		return err
	}
	in.BaseRun.Finish()
	in.MachineRun.Finish()
	if in.Threads = len(kept.Threads); in.Threads > 1 && dropped {
		in.Notes = append(in.Notes, "which lines the threads share is not looked at: the references do not fit into the memory allowed; raise --memory or give --range")
		return nil
	}
	return s.shared(ctx, kept.Trace(s.About().Places), ask.Top, in)
}

// streamedGroups numbers the groups of references as they are read. What a trace
// lacks for them is known when it has been.
func (s *Set) streamedGroups(by string, in *answer.WhatIfInput) func(*refs.Ref, *replay.Access, replay.Code) uint32 {
	if by == string(answer.ByLoop) {
		for _, name := range s.loops.names {
			in.Keys = append(in.Keys, answer.Key{Loop: name})
		}
		return func(r *refs.Ref, _ *replay.Access, _ replay.Code) uint32 { return s.loops.next(r) }
	}
	g := answer.NewGrouper(answer.By(by), s.Table, s.About())
	return func(r *refs.Ref, a *replay.Access, code replay.Code) uint32 {
		group := g.Streamed(r, a, code)
		in.Keys = g.Keys
		return group
	}
}

// plan reads a change of layout or order.
func (s *Set) plan(t *replay.Trace, change io.Reader) (*replay.Plan, error) {
	if change == nil {
		return &replay.Plan{}, nil
	}
	plan, err := advice.ReadMap(change, t, s.Table)
	if err != nil {
		return nil, AskError{err}
	}
	return plan, nil
}

// survey runs both machines over the trace.
func (s *Set) survey(ctx context.Context, t *replay.Trace, plan *replay.Plan, in *answer.WhatIfInput, warm bool) error {
	in.BaseRun, in.MachineRun = replay.NewSurvey(in.Base, replay.Policy{Kind: replay.FirstTouch}, nil), replay.NewSurvey(in.Machine, in.Policy, plan)
	in.Threads = len(t.Threads)
	numbers := s.groups(t, in)
	rounds := 1
	if warm {
		rounds = 2
	}
	for range rounds {
		in.BaseRun.Restart()
		in.MachineRun.Restart()
		for i := range t.Accesses {
			in.BaseRun.Access(&t.Accesses[i], numbers[i])
		}
		err := t.Each(ctx, plan, replay.Kept, func(i int, pieces []replay.Piece) {
			in.MachineRun.Pieces(&t.Accesses[i], pieces, numbers[i])
		})
		if err != nil {
			return err
		}
	}
	in.BaseRun.Finish()
	in.MachineRun.Finish()
	return nil
}

// groups numbers the group of every access. They come from the recorded
// addresses: a changed one is in no object.
func (s *Set) groups(t *replay.Trace, in *answer.WhatIfInput) []uint32 {
	if in.By == answer.ByLoop {
		for _, name := range s.loops.names {
			in.Keys = append(in.Keys, answer.Key{Loop: name})
		}
		return s.loops.all
	}
	g := answer.NewGrouper(in.By, s.Table, s.About())
	numbers := make([]uint32, len(t.Accesses))
	for i := range t.Accesses {
		a := &t.Accesses[i]
		numbers[i] = g.Group(a, t.Codes[a.Code], t.Threads[a.Thread])
	}
	in.Keys = g.Keys
	return numbers
}

// AdviseAsk is what `isobath advise` asks.
type AdviseAsk struct {
	Machine, Set, Object string
	Kinds                []string
	Least                float64 // part of the modelled cost that a change must save
	Reassociate          bool
	Progress             Progress
}

// Advised is advice with what a proof of it needs.
type Advised struct {
	Answer  *answer.Advise
	Found   *advice.Result
	Machine *platform.Machine
	Threads int
}

// Advise looks for changes worth making.
func (s *Set) Advise(ctx context.Context, ask AdviseAsk) (*Advised, error) {
	o := advice.Options{Object: ask.Object, Least: ask.Least, Reassociate: ask.Reassociate}
	for _, k := range ask.Kinds {
		if !slices.Contains(advice.Kinds, advice.Kind(k)) {
			return nil, wrong("--kind %q: want some of %v", k, advice.Kinds)
		}
		o.Kinds = append(o.Kinds, advice.Kind(k))
	}
	var err error
	if o.Machine, err = s.Machine(ask.Machine, ask.Set); err != nil {
		return nil, err
	}
	t, release, err := s.fitting(ctx, ask.Progress)
	if err != nil {
		return nil, err
	}
	defer release()
	return s.advise(ctx, t, o, ask.Progress)
}

func (s *Set) advise(ctx context.Context, t *replay.Trace, o advice.Options, progress Progress) (*Advised, error) {
	if progress != nil {
		o.Progress = func(done, _ int) { progress("changes", uint64(done)) }
	}
	o.Loops = func() *tree.Tree { return s.loopTree(ctx) }
	found, err := advice.Find(ctx, t, s.Table, o)
	if err != nil {
		return nil, err
	}
	return &Advised{answer.NewAdvise(found, o.Machine, s.Records, s.Notes), found, o.Machine, len(t.Threads)}, nil
}

// Sharing finds the lines that threads fight for. Latency is that of a line of
// another core, in cycles; 0 is the default.
func (s *Set) Sharing(ctx context.Context, latency int64, top int, progress Progress) (*answer.SharedLines, error) {
	if latency < 0 {
		return nil, wrong("--latency %d: want cycles, from 1", latency)
	}
	clock := sharing.DefaultClock
	if latency > 0 {
		clock.Latency = latency
	}
	t, release, err := s.trace(ctx, progress)
	if err != nil {
		return nil, err
	}
	defer release()
	r, err := sharing.Analyse(ctx, t, sharing.Options{Clock: clock})
	if err != nil {
		return nil, err
	}
	return answer.NewSharing(r, t, s.Table, s.Records, top, s.Notes), nil
}
