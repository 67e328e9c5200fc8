package timeline

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/messages/logical"
)

// Window is a part of the plane of rows and steps, or rows and time, and the
// pixels it is to be drawn on.
type Window struct {
	// From and To are steps, or nanoseconds after the first event.
	From float64 `json:"from"`
	To   float64 `json:"to"`
	// Rows RowFrom to RowTo-1 of the order; RowTo 0 is the end.
	RowFrom int `json:"rowFrom"`
	RowTo   int `json:"rowTo"`
	// Columns and Lines are how many cells the picture has room for.
	Columns int `json:"columns"`
	Lines   int `json:"lines"`
}

// Limits of a picture. More operations than these are cells; more messages than
// these are counted.
const (
	MaxOps      = 20_000
	MaxMessages = 5_000
	MaxColumns  = 4_096
	MaxLines    = 2_048
)

// none is the operation of a cell without one.
const none = math.MaxUint32

// Picture is what to draw. Exactly one of Ops and Cells is set.
type Picture struct {
	Rows  int // in the order
	Lines []Line
	// LineOf is the line of each process, none for those that are not drawn. A
	// member of a collapsed cluster is on the line that stands for it.
	LineOf []uint32
	Ops    *Ops
	Cells  *Cells
	// Messages of the operations; nil if there are cells, or too many of them,
	// in which case Flow counts the messages that arrive in each column.
	Messages *Messages
	Flow     []uint32
	Sent     int // messages in the window
	// Ribbon is the partition of each column of a picture of cells by steps.
	Ribbon []uint32
	// Stack is the call stacks of the lines of a picture by time, if they were
	// asked for and can be told apart.
	Stack *Stack
	// Others are the calls of a picture of operations by time that are no
	// operations: MPI_Init, those that make communicators, probes.
	Others *Others
	// Track is a recorded measure over time, line by line and column by column
	// of the window; nil unless the metric is one. NaN is no value.
	Track []float32
}

// Others are calls, column by column.
type Others struct {
	Line        []uint32
	Name        []uint16
	Enter, Exit []float64
}

// Line is a drawn line: Count rows of the order from First on.
type Line struct {
	First int   `json:"first"`
	Count int   `json:"count"`
	Last  int32 `json:"last"` // rank of the last of them
	Row         // the first of them
}

// Ops are operations, column by column.
type Ops struct {
	ID, Line, Step, Part []uint32
	Kind, Name           []uint16
	Value, Before        []float64 // metric of the operation, and of the computation before it
	Began, Enter, Exit   []float64
	Reach                []uint16 // 1 if the lateness comes from the origin asked for
}

// Cells are the pixels, line by line.
type Cells struct {
	Columns    int
	Most, Mean []float32 // NaN where there is no operation
	Op         []uint32  // the operation of Most
	Part       []uint32
	Name       []uint16
}

// Messages connect operations; a line of -1 is outside the window's rows.
type Messages struct {
	From, To         []uint32 // operations
	FromLine, ToLine []uint32
	FromStep, ToStep []uint32
	FromExit, ToExit []float64
	// Late is 1 for a message that made its receiver late: its sender was, or it
	// was delayed itself.
	Late []uint16
}

// Ask is a question for a picture.
type Ask struct {
	Window Window
	Metric Metric
	Order  RowOrder
	// Origin marks the operations whose lateness comes from there; None for
	// nobody's. It needs Causes.
	Origin int32
	Causes *logical.Causes
	// Versus makes values differences from another run; nil for none.
	Versus *Versus
	// Stacks asks for call stacks in a picture by time.
	Stacks bool
}

// plane is what the logical and the physical picture differ in.
type plane struct {
	steps      bool
	from, to   int64 // steps or ticks
	begin, end func(pos int32) int64
}

func (t *Timeline) plane(steps bool, w Window) plane {
	s := t.S
	if steps {
		at := func(i int32) int64 { return int64(s.Step[t.seq(i)]) }
		return plane{true, int64(math.Floor(w.From)), int64(math.Ceil(w.To)), at, at}
	}
	return plane{false, t.tick(w.From), t.tick(w.To), func(i int32) int64 { return s.Enter[i] }, func(i int32) int64 { return s.Exit[i] }}
}

// Steps draws processes by steps.
func (t *Timeline) Steps(ctx context.Context, a Ask) (*Picture, error) { return t.draw(ctx, a, true) }

// Times draws processes by time.
func (t *Timeline) Times(ctx context.Context, a Ask) (*Picture, error) { return t.draw(ctx, a, false) }

func (t *Timeline) draw(ctx context.Context, a Ask, steps bool) (*Picture, error) {
	w := &a.Window
	if !(w.To > w.From) || w.Columns < 1 || w.Columns > MaxColumns || w.Lines < 1 || w.Lines > MaxLines {
		return nil, fmt.Errorf("a window needs From below To, 1 to %d columns and 1 to %d lines, not %+v", MaxColumns, MaxLines, *w)
	}
	rows, err := t.Rows(ctx, a.Order)
	if err != nil {
		return nil, err
	}
	if w.RowTo <= 0 || w.RowTo > len(rows) {
		w.RowTo = len(rows)
	}
	w.RowFrom = min(max(w.RowFrom, 0), w.RowTo)
	p := &Picture{Rows: len(rows)}
	window := *w
	if steps { // threads that send nothing have no steps
		rows = slices.DeleteFunc(slices.Clone(rows[w.RowFrom:w.RowTo]), func(r Row) bool { return r.Thread > 0 })
		window.RowFrom, window.RowTo = 0, len(rows)
	}
	p.Lines = lines(rows, &window)
	p.LineOf = t.lineOf(rows, p.Lines)
	pl := t.plane(steps, *w)
	n, folded := 0, false
	for _, l := range p.Lines {
		folded = folded || l.Count > 1
		for _, r := range rows[l.First : l.First+l.Count] {
			if r.Thread == 0 {
				lo, hi := t.span(r.Process, pl)
				n += int(hi - lo)
			}
		}
	}
	if !steps && !folded {
		if p.Track, err = t.track(ctx, a.Metric, p.Lines, *w); err != nil {
			return nil, err
		}
	}
	if a.Stacks && !steps && !folded {
		if p.Stack, err = t.stackOf(ctx, p.Lines, *w); err != nil {
			return nil, err
		}
	}
	narrow := steps && float64(w.Columns) < 2*(w.To-w.From)
	if n > MaxOps || folded || narrow {
		if steps {
			p.Ribbon = t.ribbon(*w)
		}
		p.Cells, err = t.cells(ctx, &a, pl, rows, p.Lines)
		return p, err
	}
	if p.Ops, err = t.ops(ctx, &a, pl, p.Lines, n); err != nil {
		return nil, err
	}
	if !steps {
		p.Others = t.others(p.Lines, pl)
	}
	t.connect(p, pl, &a)
	return p, ctx.Err()
}

// lineOf returns the line of each process.
func (t *Timeline) lineOf(rows []Row, lines []Line) []uint32 {
	out := make([]uint32, len(t.S.Trace.Procs))
	for p := range out {
		out[p] = none
	}
	for y, l := range lines {
		for _, r := range rows[l.First : l.First+l.Count] {
			if r.Thread > 0 {
				continue
			}
			out[r.Process] = uint32(y)
			for _, p := range r.members {
				out[p] = uint32(y)
			}
		}
	}
	return out
}

// others lists the calls of a window of time that hold no operation, up to the
// number of operations that a picture may have.
func (t *Timeline) others(lines []Line, pl plane) *Others {
	out := &Others{}
	c, o := &t.S.Trace.Calls, &t.S.Trace.Ops
	for y, l := range lines {
		if l.Thread > 0 {
			continue
		}
		p := l.Process
		own := o.Call[o.Start[p]:o.Start[p+1]] // in order
		a, b := c.Start[p], c.Start[p+1]
		for i := search(a, b, func(i int32) bool { return c.Exit[i] >= pl.from }); i < b && c.Enter[i] < pl.to; i++ {
			if _, operation := slices.BinarySearch(own, i); operation {
				continue
			}
			if len(out.Line) == MaxOps {
				return out
			}
			out.Line, out.Name = append(out.Line, uint32(y)), append(out.Name, uint16(min(c.Region[i], math.MaxUint16)))
			out.Enter, out.Exit = append(out.Enter, t.ns(c.Enter[i])), append(out.Exit, t.ns(c.Exit[i]))
		}
	}
	return out
}

// ribbon returns the partition that each column begins in: the last one that
// began by then.
func (t *Timeline) ribbon(w Window) []uint32 {
	first := t.S.Parts.First // partitions are numbered by it
	out := make([]uint32, w.Columns)
	for x := range out {
		step := int32(w.From + (w.To-w.From)*float64(x)/float64(w.Columns))
		after := search(0, int32(len(first)), func(q int32) bool { return first[q] > step })
		out[x] = none
		if after > 0 {
			out[x] = uint32(after - 1)
		}
	}
	return out
}

// TimeOf returns when the operations of the steps from a to b-1 happened.
func (t *Timeline) TimeOf(a, b float64) (from, to float64) {
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	t.between(t.plane(true, Window{From: a, To: b}), func(i int32) {
		first, last = min(first, t.S.Enter[i]), max(last, t.S.Exit[i])
	})
	if first >= last {
		return 0, math.Max(1, t.ns(t.S.Trace.Last))
	}
	return t.ns(first), t.ns(last)
}

// StepsOf returns the steps of the operations that ran between two times.
func (t *Timeline) StepsOf(a, b float64) (from, to float64) {
	first, last := int32(math.MaxInt32), int32(-1)
	t.between(t.plane(false, Window{From: a, To: b}), func(i int32) {
		first, last = min(first, t.S.Step[i]), max(last, t.S.Step[i])
	})
	if last < first {
		return 0, math.Max(1, float64(t.S.Steps))
	}
	return float64(first), float64(last + 1)
}

// between visits the first and the last operation of each process in a plane.
func (t *Timeline) between(pl plane, visit func(op int32)) {
	for p := range t.S.Trace.Procs {
		lo, hi := t.span(int32(p), pl)
		if lo >= hi {
			continue
		}
		for _, i := range []int32{lo, hi - 1} {
			if pl.steps {
				i = t.seq(i)
			}
			visit(i)
		}
	}
}

// Settle fills in the windows that leave From and To open: those of the whole
// trace, or the part of one that the other shows. Either may be nil.
func (t *Timeline) Settle(steps, times *Window) {
	open := func(w *Window) bool { return w != nil && w.To <= w.From }
	if open(steps) {
		steps.From, steps.To = 0, math.Max(1, float64(t.S.Steps))
		if times != nil && !open(times) {
			steps.From, steps.To = t.StepsOf(times.From, times.To)
		}
	}
	if open(times) {
		times.From, times.To = 0, math.Max(1, t.ns(t.S.Trace.Last))
		if steps != nil && (steps.From > 0 || steps.To < float64(t.S.Steps)) {
			times.From, times.To = t.TimeOf(steps.From, steps.To)
		}
	}
}

// lines folds neighbouring rows where there are more than lines: those of one
// group, unless there are more groups than lines.
func lines(rows []Row, w *Window) []Line {
	shown := rows[w.RowFrom:w.RowTo]
	fold := max(1, (len(shown)+w.Lines-1)/w.Lines)
	groups := groupSizes(shown)
	if len(groups) > w.Lines {
		groups = []int{len(shown)}
	}
	for linesOf(groups, fold) > w.Lines {
		fold++
	}
	out := make([]Line, 0, linesOf(groups, fold))
	from := w.RowFrom
	for _, size := range groups {
		for end := from + size; from < end; {
			n := min(fold, end-from)
			out = append(out, Line{from, n, rows[from+n-1].Rank, rows[from]})
			from += n
		}
	}
	return out
}

// groupSizes counts the rows of each group, in order.
func groupSizes(rows []Row) []int {
	var out []int
	for i, r := range rows {
		if i == 0 || r.Group != rows[i-1].Group {
			out = append(out, 0)
		}
		out[len(out)-1]++
	}
	return out
}

// linesOf is how many lines groups have if up to fold rows share one.
func linesOf(groups []int, fold int) int {
	n := 0
	for _, size := range groups {
		n += (size + fold - 1) / fold
	}
	return n
}

// span returns the positions of a process that touch the window.
func (t *Timeline) span(proc int32, pl plane) (lo, hi int32) {
	a, b := t.S.Start[proc], t.S.Start[proc+1]
	return search(a, b, func(i int32) bool { return pl.end(i) >= pl.from }), search(a, b, func(i int32) bool { return pl.begin(i) >= pl.to })
}

// search returns the first position from a to b-1 at which ok holds, or b.
func search(a, b int32, ok func(int32) bool) int32 {
	for a < b {
		m := a + (b-a)/2
		if ok(m) {
			b = m
		} else {
			a = m + 1
		}
	}
	return a
}

// ops lists the operations of the window one by one.
func (t *Timeline) ops(ctx context.Context, a *Ask, pl plane, lines []Line, n int) (*Ops, error) {
	v, err := t.values(ctx, a.Metric, a.Versus)
	if err != nil {
		return nil, err
	}
	s := t.S
	o := &Ops{ID: make([]uint32, 0, n)}
	for y, l := range lines {
		if l.Thread > 0 {
			continue
		}
		lo, hi := t.span(l.Process, pl)
		if !pl.steps && hi < s.Start[l.Process+1] && s.Began(hi) < pl.to {
			hi++ // its computation reaches into the window
		}
		for pos := lo; pos < hi; pos++ {
			i := pos
			if pl.steps {
				i = t.seq(pos)
			}
			o.ID, o.Line = append(o.ID, uint32(i)), append(o.Line, uint32(y))
			o.Step, o.Part = append(o.Step, uint32(s.Step[i])), append(o.Part, uint32(s.Part[i]))
			o.Kind, o.Name = append(o.Kind, uint16(s.Kind[i])), append(o.Name, t.name(i))
			o.Value, o.Before = append(o.Value, v.op(i)), append(o.Before, v.before(i))
			o.Began, o.Enter, o.Exit = append(o.Began, t.ns(s.Began(i))), append(o.Enter, t.ns(s.Enter[i])), append(o.Exit, t.ns(s.Exit[i]))
			reach := uint16(0)
			if a.Causes != nil && a.Origin >= 0 && a.Causes.Case[i] != logical.OnTime && a.Causes.Origin[i] == a.Origin {
				reach = 1
			}
			o.Reach = append(o.Reach, reach)
		}
	}
	return o, nil
}

// name returns the region of an operation, as an index into the trace's list.
func (t *Timeline) name(op int32) uint16 {
	return uint16(min(t.S.Trace.Ops.Region[t.S.First[op]], math.MaxUint16))
}

// connect adds the messages of the window's operations.
func (t *Timeline) connect(p *Picture, pl plane, a *Ask) {
	s, w := t.S, &a.Window
	shown := make(map[uint32]bool, len(p.Ops.ID))
	for _, id := range p.Ops.ID {
		shown[id] = true
	}
	at := func(op int32) uint32 { return p.LineOf[s.Proc[op]] }
	m := &Messages{}
	flow := make([]uint32, w.Columns)
	add := func(from, to int32) {
		p.Sent++
		x := float64(s.Step[to])
		if !pl.steps {
			x = t.ns(s.Exit[to])
		}
		if c := int((x - w.From) / (w.To - w.From) * float64(w.Columns)); c >= 0 && c < w.Columns {
			flow[c]++
		}
		if p.Sent > MaxMessages {
			return
		}
		m.From, m.To = append(m.From, uint32(from)), append(m.To, uint32(to))
		m.FromLine, m.ToLine = append(m.FromLine, at(from)), append(m.ToLine, at(to))
		m.FromStep, m.ToStep = append(m.FromStep, uint32(s.Step[from])), append(m.ToStep, uint32(s.Step[to]))
		m.FromExit, m.ToExit = append(m.FromExit, t.ns(s.Exit[from])), append(m.ToExit, t.ns(s.Exit[to]))
		m.Late = append(m.Late, late(a.Causes, from, to))
	}
	for _, id := range p.Ops.ID {
		op := int32(id)
		if !pl.steps && s.Enter[op] >= pl.to {
			continue // here for its computation alone
		}
		s.Senders(op, func(u int32) { add(u, op) })
		// A message to an operation in the window is added at its other end.
		s.Receivers(op, func(v int32) {
			if !shown[uint32(v)] {
				add(op, v)
			}
		})
	}
	if p.Sent > MaxMessages {
		p.Flow = flow
		return
	}
	p.Messages = m
}

// late says whether a message made its receiver late.
func late(c *logical.Causes, from, to int32) uint16 {
	if c == nil || c.Case[to] == logical.OnTime {
		return 0
	}
	if c.Case[to] == logical.Message || c.Case[to] == logical.FromSender && c.Case[from] != logical.OnTime {
		return 1
	}
	return 0
}

// cells draws the pixels; lines are shared out between the processors.
func (t *Timeline) cells(ctx context.Context, a *Ask, pl plane, rows []Row, lines []Line) (*Cells, error) {
	py, err := t.pyramid(ctx, a, pl.steps)
	if err != nil {
		return nil, err
	}
	n := a.Window.Columns * len(lines)
	c := &Cells{Columns: a.Window.Columns, Most: make([]float32, n), Mean: make([]float32, n), Op: make([]uint32, n), Part: make([]uint32, n), Name: make([]uint16, n)}
	mine := make([]*pixels, parallel.Workers())
	err = parallel.Each(ctx, len(lines), func(_ context.Context, w, y int) error {
		if mine[w] == nil {
			mine[w] = newPixels(t, py, pl, a.Window.Columns)
		}
		l := lines[y]
		mine[w].reset()
		for _, r := range rows[l.First : l.First+l.Count] {
			if r.Thread == 0 {
				mine[w].add(r.Process)
			}
		}
		mine[w].store(c, y)
		return nil
	})
	return c, err
}

// pixels are the cells of one line under construction.
type pixels struct {
	t     *Timeline
	py    *pyramid
	pl    plane
	n     int
	scale float64
	cell  []block
}

func newPixels(t *Timeline, py *pyramid, pl plane, n int) *pixels {
	return &pixels{t, py, pl, n, float64(n) / float64(pl.to-pl.from), make([]block, n)}
}

func (p *pixels) reset() {
	for i := range p.cell {
		p.cell[i] = block{where: -1}
	}
}

func (p *pixels) column(x int64) int { return int(float64(x-p.pl.from) * p.scale) }

// last returns the last column of the operation at a position. In time it ends
// where it exits; a step fills the columns up to the next step.
func (p *pixels) last(i int32) int {
	if !p.pl.steps {
		return p.column(p.pl.end(i))
	}
	return max(p.column(p.pl.begin(i)), p.column(p.pl.begin(i)+1)-1)
}

// add draws the operations of a process.
func (p *pixels) add(proc int32) {
	lo, hi := p.t.span(proc, p.pl)
	together := func(i, j int32) bool { return p.column(p.pl.begin(i)) == p.last(j) }
	p.py.walk(lo, hi, together, func(i, j int32, b block) {
		from, to := p.column(p.pl.begin(i)), p.last(j)
		for x := max(from, 0); x <= min(to, p.n-1); x++ {
			p.cell[x].add(b, p.py.larger)
		}
	})
}

func (p *pixels) store(c *Cells, y int) {
	for x, b := range p.cell {
		at := y*p.n + x
		if b.where < 0 {
			c.Most[at], c.Mean[at], c.Op[at] = float32(math.NaN()), float32(math.NaN()), none
			continue
		}
		op := b.where
		if p.pl.steps {
			op = p.t.seq(op)
		}
		c.Most[at], c.Mean[at] = float32(b.most), float32(b.sum/float64(b.count))
		c.Op[at], c.Part[at], c.Name[at] = uint32(op), uint32(p.t.S.Part[op]), p.t.name(op)
	}
}

// Overview is a metric over the steps of the whole trace, column by column.
type Overview struct {
	Most, Mean []float64
	Op         []uint32 // the operation of Most
}

// maxOverviews bounds the remembered overviews: one for each width of the page.
const maxOverviews = 16

// Overview returns at most columns of the largest and the mean value at each
// step, or at so many neighbouring steps.
func (t *Timeline) Overview(ctx context.Context, m Metric, against *Versus, columns int) (*Overview, error) {
	key := overviewKey{m, against.key(), columns}
	t.mu.Lock()
	o := t.overviews[key]
	t.mu.Unlock()
	if o != nil {
		return o, nil
	}
	v, err := t.values(ctx, m, against)
	if err != nil {
		return nil, err
	}
	o = t.overview(v, columns)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.overviews) >= maxOverviews {
		clear(t.overviews)
	}
	t.overviews[key] = o
	return o, nil
}

func (t *Timeline) overview(v *values, columns int) *Overview {
	s := t.S
	n := min(columns, s.Steps)
	if n < 1 {
		return &Overview{}
	}
	cell := slices.Repeat([]block{{where: -1}}, n)
	for i := range int32(s.Len()) {
		x := int(int64(s.Step[i]) * int64(n) / int64(s.Steps))
		if value := v.op(i); !math.IsNaN(value) {
			cell[x].add(block{value, value, i, 1}, v.larger)
		}
	}
	o := &Overview{make([]float64, n), make([]float64, n), make([]uint32, n)}
	for x, b := range cell {
		o.Op[x] = none
		if b.where >= 0 {
			o.Most[x], o.Mean[x], o.Op[x] = b.most, b.sum/float64(b.count), uint32(b.where)
		}
	}
	return o
}

// Bands returns the pieces of partitions that the window's lines show: for each,
// line, partition, first step and number of steps.
func (t *Timeline) Bands(p *Picture) [][4]uint32 {
	if p.Ops == nil {
		return nil
	}
	s := t.S
	var out [][4]uint32
	last := map[[2]uint32]bool{}
	for i, part := range p.Ops.Part {
		key := [2]uint32{p.Ops.Line[i], part}
		if last[key] {
			continue
		}
		last[key] = true
		out = append(out, [4]uint32{key[0], part, uint32(s.Parts.First[part]), uint32(s.Parts.Len[part])})
	}
	slices.SortFunc(out, func(a, b [4]uint32) int { return slices.Compare(a[:], b[:]) })
	return out
}
