package references

import (
	"context"
	"net/http"
	"path/filepath"
	"sync"

	"github.com/isobath/isobath/internal/app/refset"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/locality/answer"
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/locality/replay"
	"github.com/isobath/isobath/internal/loops/cycle"
	"github.com/isobath/isobath/internal/loops/tree"
)

// loopTable is the loops of a trace, counted when somebody asks.
type loopTable struct {
	turn chan struct{} // one at a time counts
	open func() (*tree.File, error)
	tree *tree.Tree // nil until it is counted

	mu      sync.Mutex // guards machine and sought
	machine *platform.Machine
	sought  bool
	misses  *replay.LoopMisses // nil where no machine is known
}

func newLoopTable(open func() (*tree.File, error)) *loopTable {
	t := &loopTable{turn: make(chan struct{}, 1), open: open}
	t.turn <- struct{}{}
	return t
}

func (s routes) loopRoutes() []frame.Route {
	return []frame.Route{
		{Method: "POST", Path: "runs/{id}/loops", Access: frame.Viewer, Does: "the loops of the code, what each counts and what it does to memory", Command: "isobath loops",
			Takes: LoopsAsk{}, Answers: LoopsInfo{}, Watchable: true, OfRun: of(s.loops)},
	}
}

// on is the machine that misses are modelled on: that of the run, else this one;
// nil if neither is known. It is looked for until an answer is there: a request
// that goes away meanwhile leaves that to the next.
func (t *loopTable) on(ctx context.Context, r *Refs) *platform.Machine {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sought {
		return t.machine
	}
	set := new(refset.Set)
	if r.Set != nil {
		opened, err := r.Set(ctx, "")
		if err != nil {
			t.sought = ctx.Err() == nil
			return nil
		}
		defer opened.Close()
		set = opened
	}
	t.sought = true
	if m, err := set.Machine("", ""); err == nil { // else misses are left out
		t.machine = m
	}
	return t.machine
}

// openFor opens the trace from its beginning, with the lines of the program.
func (t *loopTable) openFor(r *Refs) (*tree.File, error) {
	file, err := t.open()
	if err == nil && r.Program != nil {
		file.OfProgram(r.Program)
	}
	return file, err
}

// count counts the loops of a trace, once. Progress may be nil.
func (t *loopTable) count(ctx context.Context, r *Refs, progress frame.Told) (*tree.Tree, error) {
	progress = heard(progress)
	select {
	case <-t.turn:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { t.turn <- struct{}{} }()
	if t.tree != nil {
		return t.tree, nil
	}
	file, err := t.openFor(r)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	file.Progress = func(stage string, done uint64) { progress("counting loops, "+stage, int(done), 0) }
	if m := t.on(ctx, r); m != nil {
		t.misses = replay.NewLoopMisses(m)
		file.Visit = t.misses.Visit
	}
	found, err := tree.Build(ctx, file.Input)
	if err != nil {
		return nil, err
	}
	t.tree = found
	return found, nil
}

func (s routes) loops(w http.ResponseWriter, r *http.Request, run *Refs) error {
	var ask LoopsAsk
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	return s.Watched(w, r, func(ctx context.Context, progress frame.Told) (any, error) {
		t, err := run.loops.count(ctx, run, progress)
		if err != nil {
			return nil, frame.WrongAsk(err)
		}
		return run.loops.info(t), nil
	})
}

// info is what a page shows of the loops.
func (t *loopTable) info(found *tree.Tree) LoopsInfo {
	info := LoopsInfo{Recorded: found.Recorded, References: found.References, Outside: found.Outside, Lost: found.Lost, Notes: frame.List(found.Notes), Levels: []string{}, Loops: []LoopRow{}, Misses: []uint64{}, Bands: noBands()}
	if t.misses != nil {
		all := t.misses.All()
		info.Machine, info.Model, info.Misses, info.Bands = t.machine.Name, answer.ModelText, all.Misses, all.Bands(t.machine)
		for _, l := range t.machine.Levels {
			info.Levels = append(info.Levels, l.Name)
		}
	}
	names := refset.LoopNames(found)
	for i := range found.Loops {
		row := t.row(i, &found.Loops[i], found.Recorded)
		row.Name = names[i]
		info.Loops = append(info.Loops, row)
	}
	return info
}

// noBands are the bands of misses that are not known.
func noBands() replay.Bands {
	return replay.Bands{Frames: [][2]uint64{}, Prefetch: [][2]uint64{}}
}

func (t *loopTable) row(i int, l *tree.Loop, recorded bool) LoopRow {
	title := l.Where()
	if l.Text != "" {
		title = (&cycle.Header{Text: l.Text, File: filepath.Base(l.File), Line: l.Line}).Title()
	}
	row := LoopRow{
		Kind: string(l.Kind), Title: title, Text: l.Text, Function: l.Function, File: l.File, Line: l.Line, Depth: l.Depth, Parent: l.Parent,
		Entries: l.Entries, Trips: l.Trips.Trips, Min: l.Min, Median: l.Median, Max: l.Max, Skipped: l.Skipped, Unknown: LoopUnknown(l.Unknown), Exact: l.Exact, AtLeast: l.AtLeast, Why: l.Why,
		Factor: l.Factor, Irreducible: l.Irreducible, References: l.References, Own: l.Own, Loads: l.Loads, Stores: l.Stores, Modifies: l.Modifies, Bytes: l.Bytes,
		Lines: l.Lines, LinesExact: l.LinesExact, Caption: l.Caption(), Exits: l.ExitText(), Course: frame.List(l.Course), CourseEvery: l.CourseEvery,
		Objects: []LoopObject{}, Strides: []LoopStride{}, Misses: []uint64{}, Bands: noBands(),
	}
	row.Exact = row.Exact && recorded
	for _, o := range l.Objects {
		row.Objects = append(row.Objects, LoopObject(o))
	}
	for _, a := range l.Accesses {
		row.Strides = append(row.Strides, LoopStride{Line: a.Place.Line, Op: a.Op.String(), Width: int(a.Size), References: a.References, Text: a.StrideText()})
	}
	if t.misses != nil && l.Kind == tree.Plain {
		misses := t.misses.Of(i)
		row.Misses, row.Bands = misses.Misses, misses.Bands(t.machine)
	}
	return row
}
