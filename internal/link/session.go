package link

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"isobath/internal/mesh"
	"isobath/internal/query"
	"isobath/internal/table"
)

// Selector turns an expression into rows; an engine is one.
type Selector interface {
	Select(ctx context.Context, e query.Expr) (table.Bits, error)
}

// Mesh is a mesh offered to viewers.
type Mesh struct {
	Name string
	View *mesh.View
}

// Session is the selection that all viewers of one table share, and the fields
// computed for it. It is safe for concurrent use.
//
// The selection is a conjunction: an expression, ranges by column, and cells.
// A change of one part leaves the others alone.
type Session struct {
	table  *table.Table
	engine Selector
	meshes []Mesh

	mu       sync.Mutex
	rev      int64
	where    query.Expr
	ranges   map[string][2]float64
	cells    map[string]map[int32]bool // mesh name to flat cells
	rows     table.Bits                // of rev; nil: not computed
	watchers map[int]func(Change)
	nextID   int
}

// Change tells a watcher that the selection is another one.
type Change struct {
	Rev     int64
	Origin  string // who changed it: a client's id, or "page"
	Why     string // select, pick or where
	Samples int
}

// NewSession starts with everything selected.
func NewSession(t *table.Table, e Selector, meshes ...Mesh) *Session {
	return &Session{table: t, engine: e, meshes: meshes, rev: 1, ranges: map[string][2]float64{},
		cells: map[string]map[int32]bool{}, watchers: map[int]func(Change){}}
}

// Watch calls f after every change, until stop. f must not block.
func (s *Session) Watch(f func(Change)) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.nextID
	s.nextID++
	s.watchers[id] = f
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, id)
	}
}

// Rev returns the revision of the selection.
func (s *Session) Rev() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rev
}

// Expr returns the selection without its cells; nil selects all.
func (s *Session) Expr() query.Expr {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.expr()
}

func (s *Session) expr() query.Expr {
	e := s.where
	for _, name := range slices.Sorted(maps.Keys(s.ranges)) {
		e = query.Both(e, rangeExpr(name, s.ranges[name]))
	}
	return e
}

// rangeExpr is an inclusive range; an infinite end is open.
func rangeExpr(column string, r [2]float64) query.Expr {
	lo, hi := math.IsInf(r[0], -1), math.IsInf(r[1], 1)
	switch {
	case lo && hi:
		return query.Missing{Column: column, Not: true}
	case lo:
		return query.Compare{Column: column, Op: query.Le, Value: query.NumberValue(r[1])}
	case hi:
		return query.Compare{Column: column, Op: query.Ge, Value: query.NumberValue(r[0])}
	}
	return query.Range{Column: column, Lo: query.NumberValue(r[0]), Hi: query.NumberValue(r[1])}
}

// Cells returns the picked cells of a mesh, sorted.
func (s *Session) Cells(meshName string) []int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.cells[meshName]))
}

// Rows returns the selected rows and their revision.
func (s *Session) Rows(ctx context.Context) (table.Bits, int64, error) {
	s.mu.Lock()
	rows, rev, e := s.rows, s.rev, s.expr()
	cells := maps.Clone(s.cells)
	s.mu.Unlock()
	if rows != nil {
		return rows, rev, nil
	}
	rows, err := s.compute(ctx, e, cells)
	if err != nil {
		return nil, rev, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rev == rev {
		s.rows = rows
	}
	return rows, rev, nil
}

func (s *Session) compute(ctx context.Context, e query.Expr, cells map[string]map[int32]bool) (table.Bits, error) {
	got, err := s.engine.Select(ctx, e)
	if err != nil {
		return nil, err
	}
	rows := slices.Clone(got)
	for name, set := range cells {
		m, err := s.mesh(name)
		if err != nil {
			return nil, err
		}
		p, err := m.View.At(len(m.View.Series.Steps) - 1)
		if err != nil {
			return nil, err
		}
		rows.And(p.RowsOn(slices.Collect(maps.Keys(set))))
	}
	return rows, nil
}

func (s *Session) mesh(name string) (*Mesh, error) {
	for i := range s.meshes {
		if s.meshes[i].Name == name || name == "" && len(s.meshes) == 1 {
			return &s.meshes[i], nil
		}
	}
	var have []string
	for _, m := range s.meshes {
		have = append(have, m.Name)
	}
	return nil, faultf("unknown_mesh", "no mesh %q; there is %s", name, strings.Join(have, ", "))
}

// SetWhere replaces the expression, from the page or a client. Empty text
// selects all.
func (s *Session) SetWhere(ctx context.Context, text, origin string) (int64, int, error) {
	var e query.Expr
	if strings.TrimSpace(text) != "" {
		var err error
		if e, err = query.Parse(text, s.table); err != nil {
			return 0, 0, faultf("bad_range", "%v", err)
		}
	}
	return s.change(ctx, origin, "where", func() bool {
		if text := exprText(e); text == exprText(s.where) {
			return false
		}
		s.where = e
		return true
	})
}

func exprText(e query.Expr) string {
	if e == nil {
		return ""
	}
	return e.String()
}

// Select changes ranges: merge replaces the columns named and leaves the
// others, a nil range removes its column; replace sets all ranges anew.
func (s *Session) Select(ctx context.Context, op string, ranges map[string]*[2]float64, origin string) (int64, int, error) {
	if op != "merge" && op != "replace" {
		return 0, 0, faultf("bad_range", "op %q: want merge or replace", op)
	}
	for name, r := range ranges {
		c := s.table.Column(name)
		if c == nil {
			return 0, 0, faultf("bad_range", "no column %q", name)
		}
		if c.Kind == table.Category {
			return 0, 0, faultf("bad_range", "column %q holds names; select them with where", name)
		}
		if r != nil && r[0] > r[1] {
			return 0, 0, faultf("bad_range", "column %q: %g to %g is empty", name, r[0], r[1])
		}
	}
	return s.change(ctx, origin, "select", func() bool {
		next := maps.Clone(s.ranges)
		if op == "replace" {
			next = map[string][2]float64{}
		}
		for name, r := range ranges {
			if r == nil {
				delete(next, name)
			} else {
				next[name] = *r
			}
		}
		if maps.Equal(next, s.ranges) {
			return false
		}
		s.ranges = next
		return true
	})
}

// Pick changes the picked cells of a mesh: replace, add, remove or clear.
// Cells count within the part; one that does not exist is an error, and then
// nothing is applied.
func (s *Session) Pick(ctx context.Context, meshName string, domain, level int, op string, cells []uint32, origin string) (int64, int, error) {
	m, part, err := s.part(meshName, domain, level, -1)
	if err != nil {
		return 0, 0, err
	}
	for _, c := range cells {
		if int64(c) >= int64(part.Cells) {
			return 0, 0, faultf("bad_range", "cell %d; the mesh has %d", c, part.Cells)
		}
	}
	if !slices.Contains([]string{"replace", "add", "remove", "clear"}, op) {
		return 0, 0, faultf("bad_range", "op %q: want replace, add, remove or clear", op)
	}
	return s.change(ctx, origin, "pick", func() bool {
		next := maps.Clone(s.cells[m.Name])
		if next == nil || op == "replace" || op == "clear" {
			next = map[int32]bool{}
		}
		for _, c := range cells {
			if op == "remove" {
				delete(next, int32(part.First)+int32(c))
			} else if op != "clear" {
				next[int32(part.First)+int32(c)] = true
			}
		}
		if maps.Equal(next, s.cells[m.Name]) {
			return false
		}
		if len(next) == 0 { // no cells picked is no restriction
			delete(s.cells, m.Name)
		} else {
			s.cells[m.Name] = next
		}
		return true
	})
}

// change applies a change under the lock and tells the watchers, unless the
// selection stays what it is.
func (s *Session) change(ctx context.Context, origin, why string, apply func() bool) (int64, int, error) {
	s.mu.Lock()
	changed := apply()
	if changed {
		s.rev++
		s.rows = nil
	}
	s.mu.Unlock()
	rows, rev, err := s.Rows(ctx)
	if err != nil {
		return rev, 0, err
	}
	n := rows.Count()
	if changed {
		s.mu.Lock()
		watchers := slices.Collect(maps.Values(s.watchers))
		s.mu.Unlock()
		for _, w := range watchers {
			w(Change{Rev: rev, Origin: origin, Why: why, Samples: n})
		}
	}
	return rev, n, nil
}

// part finds a mesh and one of its parts at a dump; iteration < 0 takes the
// last. Meshes that do not refine have the same parts in every dump.
func (s *Session) part(name string, domain, level int, iteration int64) (*Mesh, *mesh.Part, error) {
	m, err := s.mesh(name)
	if err != nil {
		return nil, nil, err
	}
	p, err := m.View.At(stepFor(m.View.Series, iteration))
	if err != nil {
		return nil, nil, err
	}
	part := p.Space.Part(domain, level)
	if part == nil {
		return nil, nil, faultf("unknown_mesh", "mesh %q has no domain %d with level %d", m.Name, domain, level)
	}
	return m, part, nil
}

// stepFor returns the dump to show at an iteration; the last for a negative one.
func stepFor(s *mesh.Series, iteration int64) int {
	if iteration < 0 {
		return len(s.Steps) - 1
	}
	step, _ := s.At(iteration)
	return step
}

// Want is a request for fields.
type Want struct {
	Mesh          string
	Domain, Level int
	Mode          string
	Variant       string // of mode only: since (default) or exact
	From          *int64 // of variant since: exclusive lower bound
	Iteration     *int64 // default: the last dump
	Fields        []string
	Zero          bool // cells without samples are 0, not NaN
}

// Got is the answer: fields of one part.
type Got struct {
	Rev       int64
	Mesh      string
	Part      mesh.Part
	Window    mesh.Window
	Iteration int64
	Counts    mesh.Counts
	Fields    []*mesh.Field // sliced to the part
}

// Fields computes fields for the selection as it is now.
func (s *Session) Fields(ctx context.Context, w Want) (*Got, error) {
	m, err := s.mesh(w.Mesh)
	if err != nil {
		return nil, err
	}
	iteration := m.View.Series.Steps[len(m.View.Series.Steps)-1].Iteration
	if w.Iteration != nil {
		iteration = *w.Iteration
	}
	if w.Variant != "" && w.Variant != "since" && w.Variant != "exact" {
		return nil, faultf("bad_range", "variant %q: want since or exact", w.Variant)
	}
	window, err := mesh.NewWindow(m.View.Series, mesh.Mode(w.Mode), iteration, w.Variant == "exact", w.From)
	if err != nil {
		return nil, faultf("bad_range", "%v", err)
	}
	p, err := m.View.At(stepFor(m.View.Series, iteration))
	if err != nil {
		return nil, err
	}
	part := p.Space.Part(w.Domain, w.Level)
	if part == nil {
		return nil, faultf("unknown_mesh", "mesh %q has no domain %d with level %d", m.Name, w.Domain, w.Level)
	}
	rows, rev, err := s.Rows(ctx)
	if err != nil {
		return nil, err
	}
	got := &Got{Rev: rev, Mesh: m.Name, Part: *part, Window: window, Iteration: iteration}
	for _, name := range w.Fields {
		f, err := s.field(p, rows, window, name, w.Zero)
		if err != nil {
			return nil, err
		}
		got.Counts = f.Counts
		lo, hi := part.First, part.First+part.Cells
		got.Fields = append(got.Fields, &mesh.Field{Spec: f.Spec, Values: f.Values[lo:hi], Samples: f.Samples[lo:hi], Counts: f.Counts})
	}
	return got, nil
}

func (s *Session) field(p *mesh.Placed, rows table.Bits, w mesh.Window, name string, zero bool) (*mesh.Field, error) {
	spec, err := mesh.ParseField(name, s.table)
	if err != nil {
		return nil, faultf("bad_field", "%v", err)
	}
	f, err := p.Field(s.table, rows, w, spec)
	if err != nil {
		return nil, err
	}
	if zero {
		for i, v := range f.Values {
			if math.IsNaN(v) {
				f.Values[i] = 0
			}
		}
	}
	return f, nil
}

// Group is one line of a report.
type Group struct {
	Key     string  `json:"key"`
	Samples int     `json:"samples"`
	Latency float64 `json:"latency"`
}

// Report groups the selected rows by a column, largest latency first.
func (s *Session) Report(ctx context.Context, by string, top int) ([]Group, int, error) {
	c := s.table.Column(by)
	if c == nil {
		return nil, 0, faultf("bad_field", "no column %q", by)
	}
	rows, _, err := s.Rows(ctx)
	if err != nil {
		return nil, 0, err
	}
	latency := s.table.Column("latency")
	groups := map[string]*Group{}
	n := 0
	for i := range rows.All() {
		n++
		key := c.Text(i)
		g := groups[key]
		if g == nil {
			g = &Group{Key: key}
			groups[key] = g
		}
		g.Samples++
		if latency != nil && latency.Has(i) {
			g.Latency += latency.Float(i)
		}
	}
	list := make([]Group, 0, len(groups))
	for _, g := range groups {
		list = append(list, *g)
	}
	slices.SortFunc(list, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Latency, a.Latency), cmp.Compare(b.Samples, a.Samples), strings.Compare(a.Key, b.Key))
	})
	if top > 0 && len(list) > top {
		list = list[:top]
	}
	return list, n, nil
}

// message is what a client is told about an error.
func message(err error) (code, text string) {
	var f *fault
	if errors.As(err, &f) {
		return f.code, f.message
	}
	return "internal", fmt.Sprint(err)
}
