package references

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/isobath/isobath/internal/app/refset"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/kernel"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/locality/advice"
	"github.com/isobath/isobath/internal/locality/answer"
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/locality/replay"
	"github.com/isobath/isobath/internal/locality/views"
)

// mostKept bounds the references that are kept in memory for the locality page.
const mostKept = 16_000_000

// locality is a trace kept in memory, and what was replayed of it.
type locality struct {
	turn chan struct{} // one at a time reads, replays or looks something up

	set     *refset.Set
	trace   *replay.Trace
	claim   *budget.Claim // of the trace
	loops   *views.Loops  // nil until they are asked for
	whole   bool
	table   *table.Table // that selections are looked up in
	made    bool         // the table is this page's own
	files   map[string]string
	answers *budget.Share // replays, selections and counts, while there is room; nil until the trace is read

	advice adviceKept
}

// What is kept of answers, beside their sizes: replays of what is there, what is asked
// about and what was before, and the last selections.
const (
	maxStudies  = 3
	usualLevels = 3 // of cache; of a machine with more, fewer replays are kept
	maxChosen   = 32
)

// Keys of what is kept.
type (
	studyKey  struct{ machine, set, change string }
	chosenKey string
	countsKey struct{ machine, change string }
)

// close gives back what it holds. Nobody uses it any more.
func (l *locality) close() {
	if l == nil {
		return
	}
	if l.made {
		l.table.Close() // of temporary files, which are gone then
	}
	if l.answers != nil {
		l.answers.Close()
	}
	l.claim.Release()
}

// adviceKept is the advice that was found; looking for it takes seconds.
type adviceKept struct {
	mu    sync.Mutex
	found map[string]*answer.Advise
}

// maxAdvice is how many answers are kept.
const maxAdvice = 16

// find returns what was found before, or finds it.
func (a *adviceKept) find(key string, find func() (*answer.Advise, error)) (*answer.Advise, error) {
	a.mu.Lock()
	found := a.found[key]
	a.mu.Unlock()
	if found != nil {
		return found, nil
	}
	found, err := find()
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.found == nil || len(a.found) >= maxAdvice {
		a.found = map[string]*answer.Advise{}
	}
	a.found[key] = found
	return found, nil
}

// kept is a replay and what it is of.
type kept struct {
	study      *views.Study
	placements [][2]uint64
}

// newLocality is of a trace; its table is nil if it has none.
func newLocality(rows *table.Table) *locality {
	l := &locality{turn: make(chan struct{}, 1), table: rows, files: fileNames(rows)}
	l.turn <- struct{}{}
	return l
}

// fileNames are the names of source files in a table by the short names that
// its references have.
func fileNames(t *table.Table) map[string]string {
	out := map[string]string{}
	if t == nil || t.Column("file") == nil {
		return out
	}
	for _, name := range t.Column("file").Dict {
		out[filepath.Base(name)] = name
	}
	return out
}

// take waits until nobody else reads or replays.
func (l *locality) take(ctx context.Context) (give func(), err error) {
	select {
	case <-l.turn:
		return func() { l.turn <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// wrongAsk tells what the page can be blamed for.
func wrongAsk(err error) error {
	var ask refset.AskError
	if errors.As(err, &ask) {
		return frame.BadRequest("%v", err)
	}
	return err
}

// load reads the trace, once. The caller has the turn.
func (l *locality) load(ctx context.Context, r *Refs, progress frame.Told) (err error) {
	if l.trace != nil {
		return nil
	}
	set, err := r.Set(ctx, "")
	if err != nil {
		return err
	}
	defer set.Close()
	claim, err := budget.Take(ctx, "the references of the page need", traceBytes(int(min(r.records, mostKept))))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			claim.Release()
		}
	}()
	t, whole, err := set.Beginning(ctx, mostKept, func(_ string, n uint64) { progress("reading the trace", int(n), int(r.records)) })
	if err != nil {
		return err
	}
	if !whole {
		set.Table.Finish()
	}
	// A change that does nothing has the fields inferred that no type tells.
	if _, err := advice.ReadMap(strings.NewReader(""), t, set.Table); err != nil {
		return err
	}
	l.set, l.trace, l.claim, l.whole = set, t, claim, whole
	l.answers = budget.Of(ctx).NewShare()
	n := len(t.Accesses)
	l.answers.Bound(maxStudies*views.Weight(n, usualLevels) + maxChosen*int64(n)/8)
	return nil
}

// traceBytes is what so many references take in memory.
func traceBytes(n int) int64 { return int64(n) * int64(unsafe.Sizeof(replay.Access{})) }

// loadLoops follows the loops of the trace, once. The caller has the turn.
func (l *locality) loadLoops(ctx context.Context, r *Refs, progress frame.Told) error {
	if l.loops != nil {
		return nil
	}
	file, err := r.loops.openFor(r)
	if err != nil {
		return err
	}
	defer file.Close()
	file.Progress = func(_ string, n uint64) { progress("following the loops", int(n), int(r.records)) }
	var followed views.Loops
	found, _, err := refset.FollowLoops(ctx, file, func(around []int) {
		if followed.Len() < len(l.trace.Accesses) {
			followed.Add(around)
		}
	})
	if err == nil {
		followed.Names, followed.Places = found.Names, found.Places
		l.loops = &followed
	}
	return err
}

// study returns a replay, made now or before. The caller has the turn.
func (l *locality) study(ctx context.Context, machine, set, change string, progress frame.Told) (*kept, error) {
	key := studyKey{machine, set, change}
	if k, ok := l.answers.Recall(key); ok {
		return k.(*kept), nil
	}
	m, err := l.set.Machine(machine, set)
	if err != nil {
		return nil, frame.BadRequest("%v", err)
	}
	plan, err := l.plan(change)
	if err != nil {
		return nil, err
	}
	progress("replaying the references", 0, 0)
	claim, err := budget.Take(ctx, "the replay of the references needs", views.Weight(len(l.trace.Accesses), len(m.Levels)))
	if err != nil {
		return nil, err
	}
	defer claim.Release()
	k := &kept{}
	if change != "" {
		if k.placements, err = placements(ctx, l.trace, m, plan); err != nil {
			return nil, err
		}
	}
	if k.study, err = views.New(ctx, l.trace, l.set.Table, m, plan); err != nil {
		return nil, err
	}
	claim.Release() // Keep takes what it weighs in the end
	l.answers.Keep(key, k.study.Bytes(), k)
	return k, nil
}

// placements is the least and most misses of each level over the places of what
// is changed.
func placements(ctx context.Context, t *replay.Trace, m *platform.Machine, plan *replay.Plan) ([][2]uint64, error) {
	var out [][2]uint64
	for _, p := range replay.Placements {
		n, err := replay.Run(ctx, t, m, plan, p)
		if err != nil {
			return nil, err
		}
		for i, misses := range n.Misses {
			if len(out) <= i {
				out = append(out, [2]uint64{misses, misses})
			}
			out[i][0], out[i][1] = min(out[i][0], misses), max(out[i][1], misses)
		}
	}
	return out, nil
}

// plan reads a change of layout or order.
func (l *locality) plan(change string) (*replay.Plan, error) {
	if change == "" {
		return &replay.Plan{}, nil
	}
	plan, err := advice.ReadMap(strings.NewReader(change), l.trace, l.set.Table)
	if err != nil {
		return nil, frame.BadRequest("the change: %v", err)
	}
	return plan, nil
}

// choose finds the references that a selection means. The caller has the turn.
func (l *locality) choose(ctx context.Context, r *Refs, where string, progress frame.Told) (table.Bits, error) {
	if strings.TrimSpace(where) == "" {
		return nil, nil
	}
	if rows, ok := l.answers.Recall(chosenKey(where)); ok {
		return rows.(table.Bits), nil
	}
	if l.table == nil {
		t, err := views.Columns(l.trace, l.set.Table)
		if err != nil {
			return nil, err
		}
		l.table, l.made = t, true
	}
	x, err := query.Parse(where, l.table)
	if err != nil {
		return nil, frame.BadRequest("%v", err)
	}
	named := &query.RowSets{}
	named.FindBy(func(ctx context.Context, name string) (table.Bits, error) { return l.named(ctx, r, name, progress) })
	engine := kernel.New(query.Data{Table: l.table, RowSets: named}, kernel.Options{Budget: budget.Of(ctx)})
	defer engine.Close()
	rows, err := engine.Select(ctx, x)
	if err != nil {
		return nil, err
	}
	rows = slices.Clone(rows) // the engine has its own
	l.answers.Keep(chosenKey(where), int64(8*len(rows)), rows)
	return rows, nil
}

// rename gives source files the names that selections know them by.
func (l *locality) rename(rows []views.MissRow) {
	for i := range rows {
		if full, ok := l.files[rows[i].File]; ok {
			rows[i].File = full
		}
	}
}

// looked is a question with all that its answer is counted from.
type looked struct {
	now, then *kept // then is nil without a what if
	choice    views.Choice
	loops     *views.Loops // nil unless they are asked for
	set       *refset.Set
	whole     bool
	threads   int
}

// look prepares an answer: reads, replays and selects. The caller has the turn.
func (l *locality) look(ctx context.Context, r *Refs, ask *LocalityAsk, progress frame.Told) (_ *looked, err error) {
	if err := l.load(ctx, r, progress); err != nil {
		return nil, wrongAsk(err)
	}
	out := &looked{set: l.set, whole: l.whole, threads: len(l.trace.Threads)}
	line := ""
	if ask.Line != 0 {
		line = fmt.Sprintf("line=%d", ask.Line)
	}
	if out.now, err = l.study(ctx, ask.Machine, line, "", progress); err != nil {
		return nil, err
	}
	if ask.Other != "" || ask.Set != "" || ask.Map != "" {
		other := ask.Other
		if other == "" {
			other = ask.Machine
		}
		if ask.Set != "" && line != "" {
			line += ","
		}
		if out.then, err = l.study(ctx, other, line+ask.Set, ask.Map, progress); err != nil {
			return nil, err
		}
	}
	if ask.Level < 0 || ask.Level >= len(out.now.study.Levels) {
		return nil, frame.BadRequest("level %d: the machine has %d", ask.Level, len(out.now.study.Levels))
	}
	out.choice.Level = ask.Level
	if out.choice.Rows, err = l.choose(ctx, r, ask.Where, progress); err != nil {
		return nil, err
	}
	if ask.Loops {
		if err := l.loadLoops(ctx, r, progress); err != nil {
			return nil, wrongAsk(err)
		}
		out.loops = l.loops
	}
	return out, out.narrow(ctx, ask)
}

// narrow selects lines that one object lost to another.
func (k *looked) narrow(ctx context.Context, ask *LocalityAsk) (err error) {
	if len(ask.Pair) == 2 {
		k.choice.Pair, err = k.now.study.Pair(ctx, ask.Level, ask.Pair[0], ask.Pair[1])
	}
	if err != nil && ctx.Err() == nil {
		return frame.BadRequest("%v", err)
	}
	return err
}

// answer counts what the page shows.
func (k *looked) answer(ctx context.Context, ask *LocalityAsk) (*LocalityAnswer, error) {
	s := k.now.study
	out := &LocalityAnswer{Machine: answer.MachineOf(s.Machine), Whole: k.whole, Threads: k.threads, Notes: frame.List(k.set.Notes), Presets: platform.Presets()}
	counted, err := s.Count(ctx, &k.choice, views.Stack(ask.Stack))
	if err != nil {
		return nil, err
	}
	evictions, err := s.Evictions(ctx, ask.Level)
	if err != nil {
		return nil, err
	}
	out.Now, out.Evictions, out.Loops = *counted, *evictions, []views.MissRow{}
	if ask.Loops {
		if out.Loops, err = s.LoopRows(ctx, &k.choice, k.loops); err != nil {
			return nil, err
		}
	}
	if out.ByThread, err = s.ThreadRows(ctx, &k.choice); err != nil {
		return nil, err
	}
	object := out.oneObject()
	if object != "" {
		if n, err := s.ObjectNumber(object); err == nil {
			out.Struct = s.Struct(n)
		}
	}
	from, to, stride, why := s.Pass(&k.choice, ask.Level)
	out.Sets = views.SetUse{Level: ask.Level, Counts: []uint32{}, Why: why}
	if why == "" {
		sets, err := s.Sets(ctx, ask.Level, from, to)
		if err != nil {
			return nil, err
		}
		out.Sets = *sets
		out.Sets.Stride = stride
	}
	if k.then != nil {
		out.Then, err = k.thenOf(ctx, out, object, why == "")
	}
	return out, err
}

// oneObject is the object that every selected reference belongs to; empty if
// they belong to several.
func (a *LocalityAnswer) oneObject() string {
	name := ""
	for _, o := range a.Now.Objects {
		if o.Selected == 0 {
			continue
		}
		if name != "" {
			return ""
		}
		name = o.Object
	}
	return name
}

// thenOf counts the what if.
func (k *looked) thenOf(ctx context.Context, now *LocalityAnswer, object string, passes bool) (*LocalityThen, error) {
	s := k.then.study
	c, err := s.Count(ctx, &views.Choice{Rows: k.choice.Rows}, views.None)
	if err != nil {
		return nil, err
	}
	out := &LocalityThen{Machine: answer.MachineOf(s.Machine), Levels: c.Levels, Placements: frame.List(k.then.placements), Total: s.Total(now.Now.Curve.Sizes),
		Needs: c.Needs, ReusedFrom: c.ReusedFrom}
	if object != "" {
		if n, err := s.ObjectNumber(object); err == nil {
			out.Struct = s.Struct(n)
		}
	}
	if passes && now.Sets.Level < len(s.Levels) {
		out.Sets, err = s.Sets(ctx, now.Sets.Level, now.Sets.From, now.Sets.To)
	}
	return out, err
}
