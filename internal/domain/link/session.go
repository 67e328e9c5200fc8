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

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/domain/mesh"
	"github.com/isobath/isobath/internal/engine/query"
)

// Selector turns an expression into rows; an engine is one. It finds sets of
// cells by the query.RowSets of its data, which must know those of the view:
// the session keeps no rows but those of the selection.
type Selector interface {
	Select(ctx context.Context, e query.Expr) (table.Bits, error)
}

// Mesh is a mesh offered to viewers.
type Mesh struct {
	Name string
	View *mesh.View
}

// Session is the selection that all viewers of one table share, with the page,
// and the fields computed for it. It is safe for concurrent use.
//
// The selection is a list of terms that all hold. A range of a column, a set of
// cells and anything else are changed apart from one another: a new one takes
// the place of its own kind and leaves the others alone.
type Session struct {
	table  *table.Table
	engine Selector
	meshes []Mesh

	mu       sync.Mutex
	rev      int64
	filter   query.Expr // rows outside do not exist; set by the page
	terms    []query.Expr
	origin   string     // of the newest change
	byWhere  []string   // texts of the terms that SetWhere made
	rows     table.Bits // of rev; nil: not computed
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
	return &Session{table: t, engine: e, meshes: meshes, rev: 1, watchers: map[int]func(Change){}}
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

// Origin says who changed the selection last; empty if nobody has.
func (s *Session) Origin() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.origin
}

// Expr returns the selection; nil selects all.
func (s *Session) Expr() query.Expr {
	s.mu.Lock()
	defer s.mu.Unlock()
	return conjunction(s.terms)
}

// Text returns the selection in the selection language, with its revision.
func (s *Session) Text() (string, int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return exprText(conjunction(s.terms)), s.rev
}

func conjunction(terms []query.Expr) query.Expr {
	switch len(terms) {
	case 0:
		return nil
	case 1:
		return terms[0]
	}
	return query.And{Terms: terms}
}

func termsOf(e query.Expr) []query.Expr {
	if and, ok := e.(query.And); ok {
		return and.Terms
	}
	if e == nil {
		return nil
	}
	return []query.Expr{e}
}

// columnOf names the column that a term restricts, empty for other terms.
func columnOf(e query.Expr) string {
	switch e := e.(type) {
	case query.Compare:
		if e.Op != query.Ne {
			return e.Column
		}
	case query.Range:
		return e.Column
	case query.In:
		return e.Column
	case query.Missing:
		return e.Column
	}
	return ""
}

func isCells(e query.Expr) bool {
	set, ok := e.(query.RowSet)
	return ok && mesh.IsCellSet(set.Name)
}

// put replaces the terms of one kind by others, at the place of the first.
func put(terms []query.Expr, is func(query.Expr) bool, by ...query.Expr) []query.Expr {
	var out []query.Expr
	done := false
	for _, t := range terms {
		if !is(t) {
			out = append(out, t)
		} else if !done {
			out, done = append(out, by...), true
		}
	}
	if !done {
		out = append(out, by...)
	}
	return out
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
func (s *Session) Cells(ctx context.Context, meshName string) []int32 {
	m, err := s.mesh(meshName)
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return picked(ctx, m, s.terms)
}

func picked(ctx context.Context, m *Mesh, terms []query.Expr) []int32 {
	for _, t := range terms {
		if !isCells(t) {
			continue
		}
		p, err := m.View.At(ctx, len(m.View.Series.Steps)-1)
		if err != nil {
			return nil
		}
		if set, err := mesh.ParseCellSet(t.(query.RowSet).Name, p.Cells); err == nil {
			return set.Cells
		}
	}
	return nil
}

// Rows returns the selected rows and their revision.
func (s *Session) Rows(ctx context.Context) (table.Bits, int64, error) {
	s.mu.Lock()
	rows, rev := s.rows, s.rev
	e := query.Both(s.filter, conjunction(s.terms))
	s.mu.Unlock()
	if rows != nil {
		return rows, rev, nil
	}
	rows, err := s.engine.Select(ctx, e)
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

func (s *Session) parse(ctx context.Context, text string) (query.Expr, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	e, err := query.Parse(text, s.table)
	if err != nil {
		return nil, faultf("bad_range", "%v", err)
	}
	return e, s.check(ctx, e)
}

// check refuses sets of cells that the mesh does not have.
func (s *Session) check(ctx context.Context, e query.Expr) error {
	return mesh.CellSets(e, func(name string) error {
		if len(s.meshes) == 0 {
			return faultf("unknown_mesh", "there is no mesh for %q", name)
		}
		p, err := s.meshes[0].View.At(ctx, len(s.meshes[0].View.Series.Steps)-1)
		if err == nil {
			_, err = mesh.ParseCellSet(name, p.Cells)
		}
		if err != nil {
			return faultf("bad_range", "%v", err)
		}
		return nil
	})
}

// SetWhere replaces what it set before, and whatever is neither a restriction
// of one column nor a set of cells. Empty text removes it.
func (s *Session) SetWhere(ctx context.Context, text, origin string) (int64, int, error) {
	e, err := s.parse(ctx, text)
	if err != nil {
		return 0, 0, err
	}
	return s.change(ctx, origin, "where", func() {
		s.terms = put(s.terms, func(t query.Expr) bool {
			return columnOf(t) == "" && !isCells(t) || slices.Contains(s.byWhere, t.String())
		}, termsOf(e)...)
		s.byWhere = nil
		for _, t := range termsOf(e) {
			s.byWhere = append(s.byWhere, t.String())
		}
	})
}

// SetAll replaces filter and selection: what the page does, which shows them
// all.
func (s *Session) SetAll(ctx context.Context, filter, where, origin string) (int64, int, error) {
	f, err := s.parse(ctx, filter)
	if err != nil {
		return 0, 0, err
	}
	e, err := s.parse(ctx, where)
	if err != nil {
		return 0, 0, err
	}
	return s.change(ctx, origin, "page", func() { s.filter, s.terms = f, termsOf(e) })
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
	return s.change(ctx, origin, "select", func() {
		if op == "replace" {
			s.terms = slices.DeleteFunc(slices.Clone(s.terms), func(t query.Expr) bool { return columnOf(t) != "" && ranges[columnOf(t)] == nil })
		}
		for _, name := range slices.Sorted(maps.Keys(ranges)) {
			var by []query.Expr
			if r := ranges[name]; r != nil {
				by = []query.Expr{rangeExpr(name, *r)}
			}
			s.terms = put(s.terms, func(t query.Expr) bool { return columnOf(t) == name }, by...)
		}
	})
}

// Pick changes the picked cells of a mesh: replace, add, remove or clear.
// Cells count within the part; one that does not exist is an error, and then
// nothing is applied.
func (s *Session) Pick(ctx context.Context, meshName string, domain, level int, op string, cells []uint32, origin string) (int64, int, error) {
	m, part, err := s.part(ctx, meshName, domain, level, -1)
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
	rev, n, failed := s.change(ctx, origin, "pick", func() {
		set := map[int32]bool{}
		if op == "add" || op == "remove" {
			for _, c := range picked(ctx, m, s.terms) {
				set[c] = true
			}
		}
		for _, c := range cells {
			if op == "remove" {
				delete(set, int32(part.First)+int32(c))
			} else if op != "clear" {
				set[int32(part.First)+int32(c)] = true
			}
		}
		var by []query.Expr
		if len(set) > 0 { // no cells picked is no restriction
			if e, wrong := m.View.Select(ctx, len(m.View.Series.Steps)-1, slices.Collect(maps.Keys(set))); wrong == nil {
				by = []query.Expr{e}
			} else {
				err = faultf("too_large", "%v", wrong)
				return
			}
		}
		s.terms = put(s.terms, isCells, by...)
	})
	if err == nil {
		err = failed
	}
	return rev, n, err
}

// change applies a change under the lock and tells the watchers, unless the
// selection stays what it is.
func (s *Session) change(ctx context.Context, origin, why string, apply func()) (int64, int, error) {
	s.mu.Lock()
	text := func() string { return exprText(s.filter) + "\n" + exprText(conjunction(s.terms)) }
	was := text()
	apply()
	changed := text() != was
	if changed {
		s.rev++
		s.rows, s.origin = nil, origin
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
func (s *Session) part(ctx context.Context, name string, domain, level int, iteration int64) (*Mesh, *mesh.Part, error) {
	m, err := s.mesh(name)
	if err != nil {
		return nil, nil, err
	}
	p, err := m.View.At(ctx, stepFor(m.View.Series, iteration))
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
	p, err := m.View.At(ctx, stepFor(m.View.Series, iteration))
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
		f, err := s.field(ctx, p, rows, window, name, w.Zero)
		if err != nil {
			return nil, err
		}
		got.Counts = f.Counts
		lo, hi := part.First, part.First+part.Cells
		got.Fields = append(got.Fields, &mesh.Field{Spec: f.Spec, Values: f.Values[lo:hi], Samples: f.Samples[lo:hi], Counts: f.Counts})
	}
	return got, nil
}

func (s *Session) field(ctx context.Context, p *mesh.Placed, rows table.Bits, w mesh.Window, name string, zero bool) (*mesh.Field, error) {
	spec, err := mesh.ParseField(name, s.table)
	if err != nil {
		return nil, faultf("bad_field", "%v", err)
	}
	f, err := p.Field(ctx, s.table, rows, w, spec)
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
	latency := samples.UsableLatency(s.table)
	groups := map[string]*Group{}
	n := 0
	for i := range table.Scan(ctx, rows, s.table.Rows()) {
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
	return list, n, ctx.Err()
}

// message is what a client is told about an error.
func message(err error) (code, text string) {
	var f *fault
	if errors.As(err, &f) {
		return f.code, f.message
	}
	return "internal", fmt.Sprint(err)
}
