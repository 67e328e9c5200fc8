package guide

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/machine/hw"
)

// This file searches samples that are kept elsewhere. A finder says what it tells samples
// apart by; those that are alike come as one row that stands for all of them, in the order
// of their first samples, and the finder goes over those rows as over samples.

// alike is what a finder tells samples apart by.
type alike struct {
	columns []string
	places  bool        // by their whole place, or
	slots   []*slotting // by what these say of it
	octave  string      // by the octave of a column of numbers, which then has the least number of each
	lines   *query.Lines
	cuts    *query.Cuts
}

// claim is the samples that are in slot 0 of all slots, and on one of the lines.
type claim struct {
	slots   []*slotting
	lines   []lineKey
	process map[int32]query.Expr // that selects the process of a line
}

// over is the search with rows that are alike in what is asked for: the search itself,
// where its rows are here. Columns that the data lacks are left out.
func (l *insightSearch) over(a alike) (*insightSearch, error) {
	if l.far == nil {
		return l, nil
	}
	q := query.Condensing{Where: l.searched(), Lines: a.lines, Places: a.places, Cuts: a.cuts, Octave: a.octave}
	for _, name := range a.columns {
		if l.told.Column(name) != nil && !slices.Contains(q.Columns, name) {
			q.Columns = append(q.Columns, name)
		}
	}
	for _, s := range a.slots {
		if s.by.Column != "" && !slices.Contains(q.Columns, s.by.Column) {
			q.Columns = append(q.Columns, s.by.Column)
		}
	}
	if l.latency != nil {
		q.Sum = l.latency.Name
	}
	if !q.Places && l.places != nil {
		q.Slots = joinedSlots(a.slots, len(l.places.Coder.Places))
		q.Places = q.Slots != nil
	}
	key := fmt.Sprintf("%q %v %v %s", q.Columns, q.Places, q.Slots, q.Octave)
	if known := l.kept[key]; known != nil && a.lines == nil && a.cuts == nil {
		return known, nil
	}
	rows, err := l.far.Condense(l.ctx, q)
	if err != nil {
		return nil, err
	}
	out, err := l.onRows(rows.Table, rows.Places)
	if err != nil {
		return nil, err
	}
	out.alike = rows
	if a.octave != "" {
		if err := out.addOctaves(l.told.Column(a.octave)); err != nil {
			return nil, err
		}
	}
	if l.kept == nil {
		l.kept = map[string]*insightSearch{}
	}
	if a.lines == nil && a.cuts == nil {
		l.kept[key] = out
	}
	return out, nil
}

// searched selects the samples that are searched.
func (l *insightSearch) searched() query.Expr {
	where := l.where
	if l.leftOut() == 0 || l.idleToo {
		return where
	}
	for _, name := range l.idleColumns() {
		where = query.Both(where, query.Missing{Column: name})
	}
	return where
}

// joinedSlots tells apart what any of some slots tells apart, of places; nil if none does.
func joinedSlots(slots []*slotting, places int) []uint32 {
	var out []uint32
	known := map[string]uint32{}
	for code := range places {
		var key []string
		for _, s := range slots {
			if s.by.Places {
				key = append(key, fmt.Sprint(s.slot[code]))
			}
		}
		if key == nil {
			return nil
		}
		text := strings.Join(key, " ")
		if _, ok := known[text]; !ok {
			known[text] = uint32(len(known))
		}
		out = append(out, known[text])
	}
	return out
}

// onRows is the search over rows that came from elsewhere.
func (l *insightSearch) onRows(t *table.Table, places []uint32) (*insightSearch, error) {
	out := *l
	var placed *hw.Rows
	if l.places != nil {
		placed = &hw.Rows{Coder: l.places.Coder, Code: places}
	}
	out.Guide = New(query.Data{Table: t}, placed, l.engine)
	out.far, out.selected, out.grouped, out.kept, out.alike = nil, nil, nil, nil, nil
	return &out, nil
}

// addOctaves adds a column with the least number of the octave of each row.
func (l *insightSearch) addOctaves(of *table.Column) error {
	c := &table.Column{Name: of.Name, Kind: table.Number, Unit: of.Unit, Provenance: of.Provenance, Valid: table.NewBits(l.rowCount())}
	values := make([]float64, l.rowCount())
	for i, octave := range l.alike.Octave {
		if octave >= 0 {
			c.Valid.Set(i)
			values[i] = math.Ldexp(1, octave)
		}
	}
	c.Data = values
	t, err := table.New("groups", append(slices.Clone(l.data.Table.Columns()), c))
	if err != nil {
		return err
	}
	l.data.Table = t
	return nil
}

// countElsewhere is countRows for samples that are not here.
func (l *insightSearch) countElsewhere() error {
	columns := l.idleColumns()
	of, err := l.over(alike{columns: columns})
	if err != nil {
		return err
	}
	wait, kernel := of.category(samples.Waiting), of.category(samples.Kernel)
	for row := range of.rows {
		switch {
		case wait != nil && wait.Has(row):
			l.waits += of.samplesOf(row)
		case kernel != nil && kernel.Has(row):
			l.kernel += of.samplesOf(row)
		}
	}
	if l.leftOut() > 0 {
		l.kept = nil // for these had the samples that are left out
		if of, err = l.over(alike{}); err != nil {
			return err
		}
	}
	of.countRows()
	l.samples, l.valued, l.cost, l.squares = of.samples, of.valued, of.cost, of.squares
	l.kept = nil
	return nil
}

// alongTime goes over samples in the order of time, those of a selection at least, with
// some columns and perhaps places. Rows that are elsewhere pass by in pieces.
func (l *insightSearch) alongTime(some query.Expr, columns []string, places bool, visit func(s *insightSearch, rows []uint32) error) error {
	if l.far == nil {
		order, err := l.order(l.ctx, "time", l.where)
		if err != nil {
			return err
		}
		return visit(l, l.busy(order).rows)
	}
	q := query.Ordered{Axis: "time", Where: query.Both(l.searched(), some), Places: places}
	for _, name := range columns {
		if l.told.Column(name) != nil {
			q.Columns = append(q.Columns, name)
		}
	}
	if l.latency != nil {
		q.Columns = append(q.Columns, l.latency.Name)
	}
	var rows []uint32
	return l.far.InOrder(l.ctx, q, func(p query.Piece) error {
		for len(rows) < p.Table.Rows() {
			rows = append(rows, uint32(len(rows)))
		}
		s, err := l.onRows(p.Table, p.Places)
		if err != nil {
			return err
		}
		if l.latency != nil {
			s.latency = p.Table.Column(l.latency.Name)
		}
		return visit(s, rows[:p.Table.Rows()])
	})
}

// overContended is the search over the rows of cache lines that some sample found modified
// elsewhere; nil if there are none.
func (l *insightSearch) overContended() (*insightSearch, error) {
	snoop, addr, cpu := l.category("snoop"), l.data.Table.Column("addr"), l.data.Table.Column("cpu")
	if snoop == nil || addr == nil || addr.Kind != table.Address || cpu == nil {
		return nil, nil
	}
	if l.far == nil {
		return l, nil
	}
	const name = "contended"
	if known := l.kept[name]; known != nil {
		return known, nil
	}
	hit := *l
	hit.where, hit.kept = query.Both(l.where, query.Compare{Column: "snoop", Op: query.Eq, Value: query.TextValue(hitModified)}), nil
	found, err := hit.over(alike{columns: []string{"addr"}})
	if err != nil {
		return nil, err
	}
	lines := &query.Lines{Column: "addr", Size: l.lineSize()}
	at := found.data.Table.Column("addr")
	for row := range found.rows {
		if at.Has(row) {
			lines.Of = append(lines.Of, at.Data.([]uint64)[row]/lines.Size)
		}
	}
	slices.Sort(lines.Of)
	lines.Of = slices.Compact(lines.Of)
	if len(lines.Of) > mostLines {
		return nil, query.Refuse("%d cache lines were found modified by another CPU, and %d are looked at; select fewer samples", len(lines.Of), mostLines)
	}
	columns := l.processColumns()
	out, err := l.over(alike{columns: slices.Concat(columns, []string{"addr", "cpu", "symbol", "snoop"}), lines: lines})
	if err != nil {
		return nil, err
	}
	if columns != nil {
		if out.process, err = l.numbered(out, columns); err != nil {
			return nil, err
		}
	}
	l.kept[name] = out
	return out, nil
}

// mostLines bounds the cache lines that are looked at by name.
const mostLines = 1 << 18

// numbered numbers the values of columns in a part of the rows as they are numbered in all
// of them.
func (l *insightSearch) numbered(part *insightSearch, columns []string) (*grouping, error) {
	all, err := l.over(alike{columns: columns})
	if err != nil {
		return nil, err
	}
	text := func(t *table.Table, row int) string { return fmt.Sprint(equals(t, row, columns...)) }
	g, own := all.grouping(columns), part.grouping(columns)
	number := map[string]int32{}
	for k, row := range g.first {
		number[text(all.data.Table, row)] = int32(k)
	}
	out := &grouping{code: slices.Clone(own.code), first: g.first}
	for row, k := range own.code {
		if k >= 0 {
			out.code[row] = number[text(part.data.Table, own.first[k])]
		}
	}
	return out, nil
}

// ofNames selects the objects of some codes.
func (l *insightSearch) ofNames(objects map[uint32]*element) query.Expr {
	dict := l.told.Column("symbol").Dict
	var names []query.Value
	for code := range objects {
		names = append(names, query.TextValue(dict[code]))
	}
	return query.In{Column: "symbol", Values: names}
}

// extentsElsewhere is extents for samples that are not here.
func (l *insightSearch) extentsElsewhere(objects map[uint32]*element, others []string) error {
	var told []query.Expr
	for _, name := range others {
		told = append(told, query.Missing{Column: name, Not: true})
	}
	where := all(l.searched(), query.Missing{Column: "index", Not: true}, l.ofNames(objects))
	q := query.Condensing{Where: where, Columns: []string{"symbol"}, Extent: "index"}
	if told != nil {
		q.Tests = []query.Test{{Where: anyOf(told)}}
	}
	rows, err := l.far.Condense(l.ctx, q)
	if err != nil {
		return err
	}
	codes, _ := rows.Table.Column("symbol").Data.([]uint32)
	for i, n := range rows.Count {
		o := objects[codes[i]]
		if o == nil || !rows.Least.Has(i) {
			continue
		}
		o.lo, o.hi = min(o.lo, rows.Least.Float(i)), max(o.hi, rows.Most.Float(i))
		if told != nil && rows.Holds[i][0] {
			o.told += n
		}
	}
	return nil
}

// blocksElsewhere is countBlocks for samples that are not here.
func (l *insightSearch) blocksElsewhere(objects map[uint32]*element, parts *slotting) error {
	names := len(l.told.Column("symbol").Dict)
	blocks := &query.Blocks{Column: "index", By: "symbol", Lo: make([]int64, names), Size: make([]int64, names)}
	for code, o := range objects {
		blocks.Lo[code], blocks.Size[code] = int64(o.lo), o.size
	}
	rows, err := l.far.Condense(l.ctx, query.Condensing{Where: l.searched(), Columns: []string{"symbol"}, Blocks: blocks, Places: true, Slots: parts.slot})
	if err != nil {
		return err
	}
	codes, _ := rows.Table.Column("symbol").Data.([]uint32)
	for i, n := range rows.Count {
		o, p := objects[codes[i]], int(parts.slot[rows.Places[i]])
		if p >= parts.count {
			continue
		}
		at := rows.Block[i]*parts.count + p
		if o == nil || rows.Block[i] < 0 || at >= len(o.counts) {
			return fmt.Errorf("a sample in block %d of an object", rows.Block[i])
		}
		o.counts[at] += float64(n)
	}
	return nil
}

// test is the samples whose cost a finding is about, where they are not here.
func (l *insightSearch) test(in *Insight) (query.Test, error) {
	where, err := query.Parse(in.Where, l.told)
	if err != nil {
		return query.Test{}, err
	}
	t := query.Test{Where: where}
	if in.of == nil {
		return t, nil
	}
	for _, s := range in.of.slots {
		t.Slots = append(t.Slots, query.SlotTest{By: s.by, Slots: s.slot})
	}
	by := map[int32][]uint64{}
	for _, key := range in.of.lines {
		by[key.process] = append(by[key.process], key.line)
	}
	for process, lines := range by {
		t.Lines = append(t.Lines, query.LineTest{Where: in.of.process[process], Lines: query.Lines{Column: "addr", Size: l.lineSize(), Of: lines}})
	}
	return t, nil
}

// overlapsElsewhere is overlaps for samples that are not here.
func (l *insightSearch) overlapsElsewhere(found []Insight, o *overlap) error {
	var tests []query.Test
	var of []int // finding of each test
	for k := range found {
		if found[k].beside {
			continue
		}
		t, err := l.test(&found[k])
		if err != nil {
			return err
		}
		tests, of = append(tests, t), append(of, k)
	}
	q := query.Condensing{Where: l.searched(), Tests: tests}
	if l.latency != nil {
		q.Sum = l.latency.Name
	}
	rows, err := l.far.Condense(l.ctx, q)
	if err != nil {
		return err
	}
	s, err := l.onRows(rows.Table, nil)
	if err != nil {
		return err
	}
	s.alike = rows
	for row := range s.rows {
		var members []int
		for i, k := range of {
			if rows.Holds[row][i] {
				members = append(members, k)
			}
		}
		if cost := s.costOf(row); cost != 0 {
			o.cells = append(o.cells, overlapCell{members, cost})
		}
	}
	return nil
}
