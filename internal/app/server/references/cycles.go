// Package references answers what pages and scripts ask about traces of every
// memory reference: cycles, spirals, projections and the references themselves.
package references

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/isobath/isobath/internal/app/refset"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/app/demo"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/flow"
	"github.com/isobath/isobath/internal/data/source"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/locality/replay"
	"github.com/isobath/isobath/internal/loops/cycle"
	"github.com/isobath/isobath/internal/loops/spiral"
	"github.com/isobath/isobath/internal/loops/tree"
)

// Refs is a reference trace and the analyses of it that were asked for last.
type Refs struct {
	// Open opens the trace anew.
	Open    func() (refs.Reader, error)
	Program cycle.Resolver // for source lines; nil if unknown
	Objects cycle.Objects
	HasPC   bool
	records int64
	beside  bool            // samples, which are asked for first
	own     map[string]bool // source files of the user's; nil if none were found
	named   []demo.Shown    // structures that have names of their own
	loops   *loopTable

	mu       sync.Mutex
	analyses []*cycles // newest first

	// Set opens the trace anew for questions about locality; where chooses some of
	// its references.
	Set      func(ctx context.Context, where string) (*refset.Set, error)
	locality *locality
}

// maxCycles is how many analyses are kept: enough to go back and forth.
const maxCycles = 3

// cycles is one analysis of a reference trace. It is made once, for everyone who
// asks for it.
type cycles struct {
	ask     CyclesAsk
	making  *making // while it is made; guarded by the mu of Refs
	made    bool    // likewise
	view    *spiral.View
	threads []CyclesThread
	symbol  cycle.Symbol
	in      cycle.Input
	notes   []string
	repeats []CyclesRepeat
}

// Name is what the kind is called.
const Name = "references"

// Of returns the reference trace of a run; nil if it has none.
func Of(r *frame.Run) *Refs { return frame.PartOf[*Refs](r) }

// Kind implements frame.Part.
func (r *Refs) Kind() string { return Name }

// Rows implements frame.Part.
func (r *Refs) Rows() int { return int(r.records) }

func (r *Refs) String() string { return term.Thousands(r.Rows()) + " references" }

// Tell implements frame.Part.
func (r *Refs) Tell(_ context.Context, info *frame.Info) error {
	info.Refs = true
	return nil
}

// Close implements frame.Part: every reader of the trace closes it, and what was kept
// of it is given back.
func (r *Refs) Close() { r.locality.close() }

// Kind is reference traces as the server knows them.
type Kind struct{}

// Name implements frame.Kind.
func (Kind) Name() string { return Name }

// routes answer through a frame.
type routes struct{ *frame.Frame }

func noReferences(r *frame.Run) error {
	return frame.BadRequest("%s holds %s, not a reference trace", r.Name, r.Kind)
}

// Routes implements frame.Kind.
func (Kind) Routes(f *frame.Frame) []frame.Route {
	s := routes{f}
	return slices.Concat(s.cyclesRoutes(), s.loopRoutes(), s.localityRoutes())
}

// of answers for runs that hold a reference trace.
func of(f func(http.ResponseWriter, *http.Request, *Refs) error) func(http.ResponseWriter, *http.Request, *frame.Run) error {
	return frame.OfPart(noReferences, f)
}

func (s routes) cyclesRoutes() []frame.Route {
	return []frame.Route{
		{Method: "POST", Path: "runs/{id}/cycles", Access: frame.Viewer, Does: "the cycles of a reference trace: bars, classes and their lines", Command: "isobath cycles",
			Takes: CyclesAsk{}, Answers: CyclesInfo{}, Watchable: true, OfRun: of(s.cyclesInfo)},
		{Method: "POST", Path: "runs/{id}/cycles/spiral", Access: frame.Viewer, Does: "the windows of a class wound around its cycle",
			Takes: SpiralAsk{}, Answers: SpiralAnswer{}, Type: frame.TypeColumns, OfRun: of(s.spiral)},
		{Method: "POST", Path: "runs/{id}/cycles/sector", Access: frame.Viewer, Does: "a part of a spiral in more detail",
			Takes: SectorAsk{}, Answers: SectorAnswer{}, Type: frame.TypeColumns, OfRun: of(s.sector)},
		{Method: "POST", Path: "runs/{id}/cycles/references", Access: frame.Viewer, Does: "the references of a range",
			Takes: ReferencesAsk{}, Answers: []spiral.Reference{}, OfRun: of(s.references)},
		{Method: "POST", Path: "runs/{id}/cycles/projection", Access: frame.Viewer, Does: "the points of a trace in the plane",
			Takes: ProjectionAsk{}, Answers: ProjectionAnswer{}, OfRun: of(s.projection)},
	}
}

// New finds the program of a reference trace; binary may be empty.
func New(path, format, binary string) (*Refs, error) {
	r := &Refs{Open: func() (refs.Reader, error) {
		src, _, err := formats.OpenRefs(path, nil)
		return src, err
	}, Set: func(ctx context.Context, where string) (*refset.Set, error) {
		return refset.Open(ctx, path, refset.Options{Binary: binary, Where: where})
	}, locality: newLocality(nil), loops: newLoopTable(func() (*tree.File, error) { return tree.OpenFile(path) })}
	if binary == "" {
		return r, nil
	}
	program, err := symbol.OpenProgram(binary, symbol.BiasesOf(format)...)
	if err != nil {
		return nil, err
	}
	r.Program, r.Objects = program, program
	return r, nil
}

// noTopology is why a trace is on no machine.
const noTopology = "a reference trace has no hardware topology"

// Open opens a foreign reference trace as a run.
func Open(ctx context.Context, path, format, binary string, sources []string, progress func(records int64)) (*frame.Run, error) {
	r, err := New(path, format, binary)
	if err != nil {
		return nil, err
	}
	run := &frame.Run{Name: filepath.Base(path), Path: path, Kind: string(kind.Refs), Format: format, TopologyNote: noTopology}
	return run, r.prepare(ctx, run, slices.Concat([]string{filepath.Dir(path)}, sources), progress)
}

// Join adds to a run the trace whose table lies in it, alone or beside samples.
func Join(run *frame.Run, binary string, rows *table.Table) error {
	r, err := New(run.Path, run.Format, binary)
	if err != nil {
		return err
	}
	r.locality = newLocality(rows)
	r.records, r.beside = int64(rows.Rows()), run.Kind != string(kind.Refs)
	r.owns(run.Sources)
	run.Put(r)
	return nil
}

// Demo opens the built-in reference traces.
func Demo(ctx context.Context) ([]*frame.Run, error) {
	var runs []*frame.Run
	for _, c := range demo.Cycles {
		texts, err := c.Texts()
		if err != nil {
			return nil, fmt.Errorf("demo: %w", err)
		}
		again := demoFile(c.Open, texts, nil)
		r := &Refs{Open: c.Open, loops: newLoopTable(again), own: map[string]bool{c.Source: true}, named: c.Shows, locality: newLocality(nil)}
		r.Set = func(_ context.Context, where string) (*refset.Set, error) {
			if where != "" {
				return nil, frame.BadRequest("the demo is looked at as a whole")
			}
			src, err := c.Open()
			if err != nil {
				return nil, err
			}
			return refset.Known(src, nil, demo.Particles.Machine, again), nil
		}
		run := &frame.Run{Name: c.Name, Kind: string(kind.Refs), Format: "demo", Texts: texts, TopologyNote: noTopology}
		if err := r.prepare(ctx, run, nil, func(int64) {}); err != nil {
			return nil, fmt.Errorf("demo: %s: %w", c.Name, err)
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// DemoLocality opens the built-in example of the locality page.
func DemoLocality(ctx context.Context) ([]*frame.Run, error) {
	d := demo.Particles
	texts, err := d.Texts()
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	objects, err := d.Objects()
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	way, err := d.Flow()
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	again := demoFile(d.Open, texts, way)
	r := &Refs{Open: d.Open, own: map[string]bool{d.Source: true}, locality: newLocality(nil), loops: newLoopTable(again)}
	r.Set = func(_ context.Context, where string) (*refset.Set, error) {
		if where != "" {
			return nil, frame.BadRequest("the demo is looked at as a whole")
		}
		src, err := d.Open()
		if err != nil {
			return nil, err
		}
		return refset.Known(src, objects, d.Machine, again), nil
	}
	run := &frame.Run{Name: d.Name, Kind: string(kind.Refs), Format: "demo", Texts: texts, TopologyNote: noTopology}
	if err := r.prepare(ctx, run, nil, func(int64) {}); err != nil {
		return nil, fmt.Errorf("demo: %s: %w", d.Name, err)
	}
	return []*frame.Run{run}, nil
}

// demoFile is a built-in trace for counting its loops, with the way through the code
// if that was recorded.
func demoFile(open func() (refs.Reader, error), texts map[string][]byte, way *flow.Trace) func() (*tree.File, error) {
	return func() (*tree.File, error) {
		return &tree.File{Input: tree.Input{Open: open, Flow: way, Source: func(name string) []byte { return texts[name] }}}, nil
	}
}

// prepare reads the trace once: to know what it holds and which sources it
// names, and to be sure that it can be read. Nothing of it is kept, and what takes
// long waits until somebody asks for it.
func (r *Refs) prepare(ctx context.Context, run *frame.Run, folders []string, progress func(records int64)) error {
	src, err := r.Open()
	if err != nil {
		return err
	}
	defer src.Close()
	about := src.About()
	r.HasPC = about.Has&refs.HasPC != 0
	mixed := uint64(0)
	code := map[uint64]bool{}
	err = refs.Each(src, func(batch []refs.Ref) error {
		for i := range batch {
			ref := &batch[i]
			mixed = bits.RotateLeft64(mixed, 5) ^ ref.Addr*0x9e3779b97f4a7c15 ^ ref.PC
			if r.Program != nil {
				code[ref.PC] = true
			}
		}
		r.records += int64(len(batch))
		progress(r.records)
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	if r.records == 0 {
		return frame.BadRequest("%s holds no references", run.Name)
	}
	h := sha256.New()
	fmt.Fprintln(h, mixed, r.records)
	run.ID = frame.Identity(run.Name, h)
	run.Warnings = slices.Clone(about.Notes)
	run.Sources = map[string]source.File{}
	for name := range run.Texts {
		run.Sources[name] = source.File{Name: name}
	}
	find := source.Find
	if r.Program != nil { // the user named it: its sources are where it says
		find = source.FindOwn
	}
	for name, m := range find(r.sourceFiles(about, code), folders) {
		if r.own == nil {
			r.own = map[string]bool{}
		}
		run.Sources[name], r.own[name] = m.File, ownSource(m.Path())
	}
	run.Put(r)
	return nil
}

// sourceFiles are the files that a trace names, or its program for the code that
// ran.
func (r *Refs) sourceFiles(about *refs.About, code map[uint64]bool) []string {
	named := map[string]bool{}
	for _, p := range about.Places {
		named[p.File] = true
	}
	for pc := range code {
		file, _, _ := r.Program.Line(pc)
		named[file] = true
	}
	delete(named, "")
	return slices.Sorted(maps.Keys(named))
}

// owns notes which of the sources of a recorded run are the user's. Its
// references name files without their folders where that tells them apart.
func (r *Refs) owns(sources map[string]source.File) {
	if len(sources) > 0 {
		r.own = map[string]bool{}
	}
	for name := range sources {
		r.own[name] = ownSource(name)
		r.own[filepath.Base(name)] = r.own[name]
	}
}

// isOwn tells the user's source files from those of libraries, which are folded
// into functions: those that were found, or, if none were, those outside the
// system's folders.
func (r *Refs) isOwn(file string) bool {
	if len(r.own) == 0 {
		return ownSource(file)
	}
	return r.own[file]
}

// analyse reads the trace and finds its cycles.
func (c *cycles) analyse(ctx context.Context, r *Refs, progress frame.Told) error {
	c.threads, c.notes, c.repeats = nil, nil, nil // of an attempt that was cancelled
	src, err := r.Open()
	if err != nil {
		return err
	}
	defer src.Close()
	r.HasPC = src.About().Has&refs.HasPC != 0
	in, err := c.input(r)
	if err != nil {
		return err
	}
	in.Operands = true
	in.Progress = func(n uint64) { progress("reading the trace", int(n), int(r.records)) }
	c.in = in
	machine := r.loops.on(ctx, r)
	if machine != nil && r.records <= mostKept {
		in.Answered = replay.NewLoopMisses(machine).Answered
	}
	traces, err := cycle.Load(ctx, src, in)
	if err != nil {
		return err
	}
	tr, err := c.pick(traces)
	if err != nil {
		return err
	}
	c.notes = append(c.notes, src.About().Notes...)
	if c.ask.Folds > 0 {
		folded, _, err := cycle.FoldLoops(ctx, tr, cmp.Or(c.ask.Window, cycle.DefaultWindow), c.ask.Folds)
		if err != nil {
			return err
		}
		c.notes = append(c.notes, fmt.Sprintf("%d references folded to %d", len(tr.Syms), len(folded.Syms)))
		tr = folded
	}
	opts := cycle.Options{Window: c.ask.Window, Cap: c.ask.Cap, Progress: func(p cycle.Progress) { progress(p.Stage, p.Done, p.Total) }}
	if r.HasPC && r.named == nil && c.ask.Folds == 0 {
		if opts.Loops, err = r.loops.count(ctx, r, progress); err != nil {
			return err
		}
	}
	res, err := cycle.Analyse(ctx, tr, opts)
	if err != nil {
		return frame.WrongAsk(err)
	}
	c.notes = append(c.notes, res.Notes...)
	c.view = spiral.New(res, r.isOwn)
	if machine != nil {
		c.view.Levels = answering(machine)
	}
	if len(res.Classes) == 0 {
		return c.repeat(ctx, tr, res.Points.Window)
	}
	return nil
}

// mostRepeats bounds the nest of repetitions that is looked for: no program nests
// deeper.
const mostRepeats = 8

// repeat finds what recurs exactly: loops that are too short to make a circle, or
// that nothing else stands out against.
func (c *cycles) repeat(ctx context.Context, tr *cycle.Trace, window int) error {
	_, nest, err := cycle.FoldLoops(ctx, tr, window, mostRepeats)
	for _, f := range nest {
		c.repeats = append(c.repeats, CyclesRepeat{Period: f.Period, Entries: f.Entries, Turns: f.Turns, Least: f.Least, Most: f.Most, Place: cycle.Place(f.From, f.To)})
	}
	return err
}

// answering are the names of what answers references on a machine.
func answering(m *platform.Machine) []string {
	var names []string
	for _, l := range m.Levels {
		names = append(names, l.Name)
	}
	return append(names, "memory")
}

// ownSource tells the user's files from those of the system.
func ownSource(file string) bool { return !strings.HasPrefix(file, "/usr/") }

func (c *cycles) input(r *Refs) (cycle.Input, error) {
	a := c.ask
	switch {
	case a.Window != 0 && (a.Window < cycle.MinWindow || a.Window > cycle.MaxWindow):
		return cycle.Input{}, frame.BadRequest("a window of %d references: want %d to %d", a.Window, cycle.MinWindow, cycle.MaxWindow)
	case a.Every < 0 || a.From < 0 || a.To < 0 || a.To != 0 && a.To <= a.From || a.Folds < 0 || a.Folds > 8 || a.Cap < 0 || a.Cap > cycle.MaxWindow:
		return cycle.Input{}, frame.BadRequest("the range, step, folds or cap of %+v make no sense", a)
	case a.Thread > math.MaxUint32:
		return cycle.Input{}, frame.BadRequest("%d is no thread", a.Thread)
	}
	in := cycle.Input{Symbol: cycle.PC, Every: a.Every, Expect: int(r.records), From: uint64(a.From), To: uint64(a.To), Resolver: r.Program, Objects: r.Objects}
	if a.Symbol != "" {
		var err error
		if in.Symbol, err = cycle.ParseSymbol(a.Symbol); err != nil {
			return in, frame.BadRequest("%v", err)
		}
	} else if !r.HasPC {
		in.Symbol = cycle.Addr
	}
	c.symbol = in.Symbol
	return in, nil
}

// pick chooses the thread, the busiest unless one is asked for.
func (c *cycles) pick(traces []*cycle.Trace) (*cycle.Trace, error) {
	var best *cycle.Trace
	for _, tr := range traces {
		c.threads = append(c.threads, CyclesThread{int64(tr.Thread), int64(tr.Records)})
		if c.ask.Thread >= 0 && int64(tr.Thread) != c.ask.Thread {
			continue
		}
		if best == nil || len(tr.Syms) > len(best.Syms) {
			best = tr
		}
	}
	if best == nil {
		return nil, frame.BadRequest("the trace has no references of this thread in this range")
	}
	return best, nil
}

func (s routes) cyclesInfo(w http.ResponseWriter, r *http.Request, run *Refs) error {
	var ask CyclesAsk
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	return s.Watched(w, r, func(ctx context.Context, progress frame.Told) (any, error) {
		c, err := run.find(ctx, ask, progress)
		if err != nil {
			return nil, err
		}
		return c.info(run), nil
	})
}

func (c *cycles) info(run *Refs) CyclesInfo {
	res := c.view.R
	info := CyclesInfo{
		Records: len(res.Trace.Syms), Windows: len(res.Points.Index), Unique: res.Points.Len(), Symbols: res.Trace.Symbols,
		Symbol: c.symbol.String(), Window: res.Points.Window, Thread: int64(res.Trace.Thread), Threads: frame.List(c.threads),
		Bars: []CyclesBars{}, Classes: []CyclesClass{}, Lines: frame.List(c.view.Lines),
		Preamble: res.Preamble, Postamble: res.Postamble, Notes: frame.List(c.notes), Named: []CyclesNamed{},
		HasCode: run.HasPC, Repeats: frame.List(c.repeats),
	}
	for _, n := range run.named {
		info.Named = append(info.Named, CyclesNamed{n.Name, n.Symbol, n.Window, c.classOf(n)})
	}
	if res.Matrix != nil {
		info.Cap = res.Matrix.Cap
	}
	for _, l := range c.view.Lines {
		info.HasLines = info.HasLines || l.Line > 0
	}
	for _, b := range res.Bars {
		i := slices.IndexFunc(info.Bars, func(o CyclesBars) bool { return o.Birth == b.Birth && o.Death == b.Death && o.Alive == b.Alive })
		if i < 0 {
			i = len(info.Bars)
			info.Bars = append(info.Bars, CyclesBars{b.Birth, b.Death, b.Alive, 0})
		}
		info.Bars[i].Count++
	}
	for _, k := range res.Classes {
		class := CyclesClass{
			Birth: k.Birth, Death: k.Death, Alive: k.Alive, Epsilon: k.Epsilon, Turns: k.Turns, Exact: k.Exact, Stable: k.Stable, SameLeast: k.Same.Least, SameMost: k.Same.Most, Combination: k.Combination,
			Name: string(k.Role), Parent: k.Parent, Passes: k.Passes, Dual: k.Dual, Whole: k.Whole, Sentence: k.Sentence,
			Place: cycle.Place(k.From, k.To), TurnAt: k.TurnAt, TurnLength: k.TurnLength, Residual: frame.Finite(k.Residual), Lines: []CyclesLine{}, Loop: -1,
		}
		if k.Header != nil {
			class.Loop, class.Title, class.Of = k.Header.Index, k.Header.Title(), k.Of()
		}
		for _, l := range k.Lines {
			class.Lines = append(class.Lines, CyclesLine(l))
		}
		info.Classes = append(info.Classes, class)
	}
	return info
}

// classOf finds the class that a name is for, -1 if there is none.
func (c *cycles) classOf(n demo.Shown) int {
	classes := c.view.R.Classes
	if n.Symbol != c.symbol.String() || n.Window != c.view.R.Points.Window {
		return -1
	}
	return slices.IndexFunc(classes, func(k *cycle.Class) bool {
		return k.Turns == n.Turns && (n.Dual == 0 || k.Dual >= 0 && classes[k.Dual].Turns == n.Dual)
	})
}

// Bounds of a drawing.
const (
	maxRadii        = 2_000
	maxAngles       = 4_096
	maxStripColumns = 8_192
	maxStrips       = 6
	ringAngles      = 720
)

// coloured is a class with the lift of the class it morphs to, in colours.
type coloured struct {
	*cycles
	lift, other []float32
	part        float64
	colours     *spiral.Colouring
	selected    int    // references that keep their colour
	unknown     string // why they are not those that were asked for
}

func (r *Refs) askClass(ctx context.Context, ask *ClassAsk) (*coloured, error) {
	by := spiral.By(ask.Colour)
	if !slices.Contains([]spiral.By{"", spiral.ByLine, spiral.ByFunction, spiral.ByObject, spiral.ByOp, spiral.ByStride, spiral.ByMiss}, by) {
		return nil, frame.BadRequest("no colouring %q: want line, function, object, op, stride or miss", ask.Colour)
	}
	if by == "" {
		by = spiral.ByLine
	}
	c, err := r.find(ctx, ask.CyclesAsk, nil)
	if err != nil {
		return nil, err
	}
	k := &coloured{cycles: c, part: ask.Part, colours: c.view.Colouring(by, ask.Toggled), selected: len(c.view.R.Trace.Syms)}
	if strings.TrimSpace(ask.Where) != "" {
		if err := k.narrow(ctx, r, ask.Where); err != nil {
			return nil, err
		}
	}
	if k.lift, err = c.view.Lift(ctx, ask.Class, ask.Epsilon); err != nil {
		return nil, frame.WrongAsk(err)
	}
	if ask.Other >= 0 {
		if k.other, err = c.view.Lift(ctx, ask.Other, 0); err != nil {
			return nil, frame.WrongAsk(err)
		}
	}
	return k, nil
}

func (s routes) spiral(w http.ResponseWriter, r *http.Request, run *Refs) error {
	ask := SpiralAsk{ClassAsk: ClassAsk{Other: -1}}
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	start := time.Now()
	c, err := run.askClass(r.Context(), &ask.ClassAsk)
	if err != nil {
		return err
	}
	n := c.view.Windows()
	if ask.Last <= 0 || ask.Last > n {
		ask.Last = n
	}
	if ask.First < 0 || ask.First >= ask.Last || ask.Radii < 1 || ask.Radii > maxRadii || ask.Angles < 1 || ask.Angles > maxAngles || ask.Columns < 1 || ask.Columns > maxStripColumns {
		return frame.BadRequest("a spiral needs some of the %d windows, 1 to %d radii, 1 to %d angles and 1 to %d columns", n, maxRadii, maxAngles, maxStripColumns)
	}
	col := &frame.Body{}
	head, err := c.draw(r.Context(), &ask, col)
	if err != nil {
		return frame.WrongAsk(err)
	}
	head.Columns, head.Took = frame.List(col.Refs), frame.Since(start)
	return s.AnswerColumns(w, r, head, col)
}

// sector draws a part of a spiral in more detail.
func (s routes) sector(w http.ResponseWriter, r *http.Request, run *Refs) error {
	ask := SectorAsk{ClassAsk: ClassAsk{Other: -1}, Span: 1}
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	start := time.Now()
	c, err := run.askClass(r.Context(), &ask.ClassAsk)
	if err != nil {
		return err
	}
	n := c.view.Windows()
	if ask.First < 0 || ask.First >= ask.Last || ask.Last > n || ask.Radii < 1 || ask.Radii > maxRadii || ask.Angles < 1 || ask.Angles > maxAngles || !(ask.Span > 0 && ask.Span <= 1 && math.Abs(ask.From) <= 1) {
		return frame.BadRequest("a sector needs some of the %d windows, angles within a turn, 1 to %d radii and 1 to %d angles", n, maxRadii, maxAngles)
	}
	col := &frame.Body{}
	walked, err := c.walked(r.Context(), spiral.Sector{First: ask.First, Last: ask.Last, From: ask.From, Span: ask.Span}, ask.Radii, ask.Angles, col)
	if err != nil {
		return frame.WrongAsk(err)
	}
	return s.AnswerColumns(w, r, &SectorAnswer{frame.List(col.Refs), frame.Since(start), walked}, col)
}

// walked adds the windows of a sector: each by itself, or as pixels.
func (c *coloured) walked(ctx context.Context, g spiral.Sector, radii, angles int, col *frame.Body) (Walked, error) {
	w := Walked{First: g.First, Last: g.Last, Whole: spiral.Apart(g.Last-g.First, float64(c.lift[g.Last-1]-c.lift[g.First]), radii)}
	var shown, target []float32
	var colour []uint16
	var point []uint32
	if w.Whole {
		shown = c.lift[g.First:g.Last]
		if c.other != nil {
			target = c.other[g.First:g.Last]
		}
		point = c.view.R.Points.Index[g.First:g.Last]
		for t := g.First; t < g.Last; t++ {
			colour = append(colour, uint16(c.colours.Of(t)))
		}
	} else {
		p, err := c.colours.Polar(ctx, spiral.Mix(c.lift, c.other, c.part), g, radii, angles)
		if err != nil {
			return w, err
		}
		w.Polar = &SpiralPolar{p.From, p.Span, p.Radii, p.Angles, frame.Add(col, p.Colour)}
	}
	w.Lift, w.OtherLift, w.Colour, w.Point = frame.Add(col, shown), frame.Add(col, target), frame.Add(col, colour), frame.Add(col, point)
	return w, nil
}

func (c *coloured) draw(ctx context.Context, ask *SpiralAsk, col *frame.Body) (*SpiralAnswer, error) {
	v := c.view
	head := &SpiralAnswer{
		Teeth: spiral.Teeth(c.lift), ByPass: frame.List(v.ByPass(ask.Class)),
		Colours: frame.List(c.colours.Colours), Groups: frame.List(c.colours.Groups), Structures: frame.List(c.colours.Structures),
		Selected: c.selected, Unknown: c.unknown,
	}
	turns, every := spiral.Turns(c.lift)
	// An open end may pass one more whole number than there are turns.
	if k := v.R.Classes[ask.Class]; k.Exact && every == 1 && k.Turns > 0 {
		turns = turns[:min(len(turns), int(k.Turns))]
	}
	passes, err := v.Passes(ctx, ask.Class)
	if err != nil {
		return nil, err
	}
	head.Turns, head.Every, head.Passes = frame.Add(col, turns), every, frame.Add(col, passes)
	whole := spiral.Whole(v.Windows())
	whole.First, whole.Last = ask.First, ask.Last
	if head.Walked, err = c.walked(ctx, whole, ask.Radii, ask.Angles, col); err != nil {
		return nil, err
	}
	mixed := c.lift
	if !head.Whole {
		mixed = spiral.Mix(c.lift, c.other, c.part)
	}
	first := max(ask.First, v.R.Preamble)
	ring, ringColour := c.colours.Ring(mixed, first, max(first, min(ask.Last, v.Windows()-v.R.Postamble)), ringAngles)
	head.Ring, head.RingColour = frame.Add(col, ring), frame.Add(col, ringColour)
	return head, c.strips(ctx, ask, head, col)
}

// strips adds the lifts of the class and of others that turn.
func (c *coloured) strips(ctx context.Context, ask *SpiralAsk, head *SpiralAnswer, col *frame.Body) error {
	head.Strips = []SpiralStrip{}
	want := []int{ask.Class}
	for i, k := range c.view.R.Classes {
		// The class to morph to is always among them.
		if i != ask.Class && (i == ask.Other || k.Turns != 0 && len(want) < maxStrips) {
			want = append(want, i)
		}
	}
	made := make([]*spiral.Strip, len(want))
	err := parallel.Each(ctx, len(want), func(ctx context.Context, _, i int) error {
		lift, err := c.view.Lift(ctx, want[i], 0)
		switch {
		case err != nil:
			return err
		case want[i] == ask.Class:
			made[i] = c.colours.Strip(lift, ask.Columns)
		default:
			made[i] = spiral.Fold(lift, ask.Columns)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, class := range want {
		head.Strips = append(head.Strips, SpiralStrip{class, frame.Add(col, made[i].Low), frame.Add(col, made[i].High)})
		if class == ask.Class {
			head.Ribbon = frame.Add(col, made[i].Colour)
		}
	}
	return nil
}

// maxReferences bounds a list of records.
const maxReferences = 20_000

func (s routes) references(w http.ResponseWriter, r *http.Request, run *Refs) error {
	var ask ReferencesAsk
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	if ask.First < 0 || ask.Last <= ask.First || ask.Last-ask.First > maxReferences {
		return frame.BadRequest("at most %d references are listed at once", maxReferences)
	}
	c, err := run.find(r.Context(), ask.CyclesAsk, nil)
	if err != nil {
		return err
	}
	if ask.Folds > 0 {
		return frame.BadRequest("references of a folded trace are not listed: one turn stands for many")
	}
	src, err := run.Open()
	if err != nil {
		return err
	}
	defer src.Close()
	list, err := spiral.References(r.Context(), src, spiral.Range{Input: c.in, Thread: c.view.R.Trace.Thread, From: uint64(ask.First), To: uint64(ask.Last)})
	if err != nil {
		return err
	}
	return s.Answer(w, r, list)
}

// maxSteps bounds the steps of the trace that a projection draws.
const maxSteps = 4_000

func (s routes) projection(w http.ResponseWriter, r *http.Request, run *Refs) error {
	ask := ProjectionAsk{ClassAsk: ClassAsk{Other: -1}}
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	c, err := run.askClass(r.Context(), &ask.ClassAsk)
	if err != nil {
		return err
	}
	res := c.view.R
	cloud, err := spiral.Project(r.Context(), res, ask.Method)
	if err != nil {
		return frame.WrongAsk(err)
	}
	a := ProjectionAnswer{X: cloud.X, Y: cloud.Y, Theta: []float64{}, Visits: []int64{}, Colour: []int{}, Edges: [][]int64{}, Note: cloud.Note}
	place := map[uint32]int64{}
	for i, p := range cloud.Points {
		place[uint32(p)] = int64(i)
		a.Theta = append(a.Theta, frame.Finite(res.Classes[ask.Class].Theta(p)))
		a.Visits = append(a.Visits, int64(res.Points.Visits[p]))
		a.Colour = append(a.Colour, int(c.colours.Of(int(res.Points.First[p]))))
	}
	steps := map[[2]int64]int64{}
	for t := 1; t < len(res.Points.Index) && len(steps) < maxSteps; t++ {
		from, ok := place[res.Points.Index[t-1]]
		to, ok2 := place[res.Points.Index[t]]
		if ok && ok2 && from != to {
			steps[[2]int64{from, to}]++
		}
	}
	for e, n := range steps {
		a.Edges = append(a.Edges, []int64{e[0], e[1], n})
	}
	slices.SortFunc(a.Edges, slices.Compare)
	return s.Answer(w, r, a)
}
