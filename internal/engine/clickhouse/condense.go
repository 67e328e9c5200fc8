package clickhouse

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// condensing is a statement that groups rows while it is put together.
type condensing struct {
	engine     *Engine
	columns    []string
	keys       []string
	conditions []string
}

// key adds something that rows of a group have in common, and returns its column.
func (c *condensing) key(sql string) int {
	name := "g" + strconv.Itoa(len(c.keys))
	c.keys = append(c.keys, name)
	return c.tell(sql + " AS " + name)
}

// tell adds something that is told of each group.
func (c *condensing) tell(sql string) int {
	c.columns = append(c.columns, sql)
	return len(c.columns) - 1
}

// condensedAt is where the parts of an answer are, -1: not asked for.
type condensedAt struct {
	keys                               []int
	place, window, block, octave, some int
	masks                              []int
	extent, first, count               int
	sums                               *sums
}

// Condense implements query.Distant.
func (e *Engine) Condense(ctx context.Context, q query.Condensing) (*query.Condensed, error) {
	c := &condensing{engine: e}
	where, err := e.condition(ctx, q.Where)
	if err != nil {
		return nil, err
	}
	c.conditions = append(c.conditions, "("+where+")")
	at, forms, err := c.build(ctx, &q)
	if err != nil {
		return nil, err
	}
	sql := "SELECT " + strings.Join(c.columns, ", ") + " FROM " + e.from() + " WHERE " + strings.Join(c.conditions, " AND ")
	if len(c.keys) > 0 {
		sql += " GROUP BY " + strings.Join(c.keys, ", ")
	}
	b, err := e.ask(ctx, sql+" ORDER BY seen LIMIT "+strconv.Itoa(query.MostCondensed+1))
	if err != nil {
		return nil, err
	}
	if b.rows > query.MostCondensed {
		return nil, query.Refuse("more than %d groups of samples are told apart; select fewer samples", query.MostCondensed)
	}
	if b.rows > 0 && len(b.columns) != len(c.columns) {
		return nil, fmt.Errorf("asked for %d columns and got %d", len(c.columns), len(b.columns))
	}
	// What is the same for all rows is there without any.
	if b.rows == 1 && texts[uint64](b, at.count)[0] == 0 {
		b = &block{}
	}
	return at.read(e, b, &q, forms)
}

// build adds what a question names.
func (c *condensing) build(ctx context.Context, q *query.Condensing) (*condensedAt, []*columnForm, error) {
	e := c.engine
	at := &condensedAt{place: -1, window: -1, block: -1, octave: -1, some: -1, extent: -1}
	var forms []*columnForm
	for _, name := range q.Columns {
		f, err := e.form(name)
		if err != nil {
			return nil, nil, err
		}
		forms = append(forms, f)
		at.keys = append(at.keys, c.key(valueOrZero(f)))
		c.key("toUInt8(" + f.present() + ")")
	}
	if q.Lines != nil {
		on, err := e.onLines(q.Lines)
		if err != nil {
			return nil, nil, err
		}
		c.conditions = append(c.conditions, on)
	}
	if q.Places {
		if e.data.Placing == nil {
			return nil, nil, query.ErrNotPlaced
		}
		if q.Slots == nil {
			at.place = c.key(placeCode)
		} else {
			c.key(slotSQL(placeColumn, q.Slots))
			at.place = c.tell("min(" + placeCode + ")")
		}
	}
	if err := c.divide(ctx, q, at); err != nil {
		return nil, nil, err
	}
	at.first, at.count = c.tell("min(r) AS seen"), c.tell("count()")
	if q.Extent != "" {
		f, err := e.numberForm(q.Extent)
		if err != nil {
			return nil, nil, err
		}
		at.extent = c.tell("minIf(" + f.value() + ", " + f.present() + ")")
		c.tell("maxIf(" + f.value() + ", " + f.present() + ")")
		c.tell("toUInt8(countIf(" + f.present() + ") > 0)")
	}
	if q.Sum != "" {
		f, err := e.numberForm(q.Sum)
		if err != nil {
			return nil, nil, err
		}
		var more []string
		at.sums, more = e.sums(f, &layers{filter: "1", selected: "1", hover: "0", hovered: "0"}, len(c.columns))
		c.columns = append(c.columns, more...)
	}
	return at, forms, nil
}

// divide adds windows, blocks, octaves and tests.
func (c *condensing) divide(ctx context.Context, q *query.Condensing, at *condensedAt) error {
	e := c.engine
	if q.Cuts != nil {
		f, err := e.numberForm(q.Cuts.Axis)
		if err != nil {
			return err
		}
		at.window = c.key(cutSQL(f, q.Cuts))
		c.conditions = append(c.conditions, f.present())
	}
	if q.Blocks != nil {
		block, has, err := e.blockSQL(q.Blocks)
		if err != nil {
			return err
		}
		at.block = c.key(block)
		c.conditions = append(c.conditions, has)
	}
	if q.Octave != "" {
		f, err := e.numberForm(q.Octave)
		if err != nil {
			return err
		}
		at.octave = c.key("toInt32(if(" + f.present() + ", toInt32(" + edgeBin(f, octaves) + "), toInt32(-1)))")
	}
	for from := 0; from < len(q.Tests); from += testsOfMask {
		var bits []string
		for i, t := range q.Tests[from:min(from+testsOfMask, len(q.Tests))] {
			test, err := e.testSQL(ctx, &t)
			if err != nil {
				return err
			}
			bits = append(bits, fmt.Sprintf("toUInt64((%s) != 0) * %d", test, uint64(1)<<i))
		}
		at.masks = append(at.masks, c.key("toUInt64("+total(bits)+")"))
	}
	return nil
}

// testsOfMask is how many tests are told by one number.
const testsOfMask = 32

// octaves are the edges of a column of numbers by powers of two; all below 2 is one.
var octaves = func() []float64 {
	out := []float64{0}
	for k := 1; k < 64; k++ {
		out = append(out, math.Ldexp(1, k))
	}
	return append(out, math.Inf(1))
}()

// onLines is SQL for whether a row is on one of some lines.
func (e *Engine) onLines(l *query.Lines) (string, error) {
	f, err := e.form(l.Column)
	if err != nil {
		return "", err
	}
	if f.Type != "address" || l.Size == 0 {
		return "", fmt.Errorf("column %s has no addresses", l.Column)
	}
	if len(l.Of) == 0 {
		return "0", nil
	}
	list := make([]string, len(l.Of))
	for i, line := range l.Of {
		list[i] = strconv.FormatUint(line, 10)
	}
	return fmt.Sprintf("(%s AND intDiv(%s, toUInt64(%d)) IN (%s))", f.present(), f.value(), l.Size, strings.Join(list, ", ")), nil
}

// testSQL is SQL for whether a test holds.
func (e *Engine) testSQL(ctx context.Context, t *query.Test) (string, error) {
	where, err := e.condition(ctx, t.Where)
	if err != nil {
		return "", err
	}
	terms := []string{"(" + where + ")"}
	for _, s := range t.Slots {
		code, has, err := e.codes(s.By)
		if err != nil {
			return "", err
		}
		terms = append(terms, "("+has+") = 1", slotSQL(code, s.Slots)+" = 0")
	}
	if t.Lines != nil {
		some := []string{"0"}
		for _, l := range t.Lines {
			where, err := e.condition(ctx, l.Where)
			if err != nil {
				return "", err
			}
			on, err := e.onLines(&l.Lines)
			if err != nil {
				return "", err
			}
			some = append(some, "(("+where+") AND "+on+")")
		}
		terms = append(terms, "("+strings.Join(some, " OR ")+")")
	}
	return strings.Join(terms, " AND "), nil
}

// blockSQL is SQL for the block of a row and for whether it has one.
func (e *Engine) blockSQL(b *query.Blocks) (block, has string, err error) {
	f, err := e.numberForm(b.Column)
	if err != nil {
		return "", "", err
	}
	by, err := e.form(b.By)
	if err != nil {
		return "", "", err
	}
	if by.Type != "category" || f.Type != "int32" && f.Type != "int64" || len(b.Lo) != len(b.Size) {
		return "", "", fmt.Errorf("column %s is not divided by the names of %s", b.Column, b.By)
	}
	of := func(numbers []int64, least int64) string {
		list := make([]string, len(numbers))
		for i, n := range numbers {
			list[i] = "toInt64(" + strconv.FormatInt(max(n, least), 10) + ")"
		}
		return "arrayElement([" + strings.Join(list, ", ") + "], " + by.value() + " + 1)"
	}
	marked := make([]bool, len(b.Size))
	for i, n := range b.Size {
		marked[i] = n > 0
	}
	has = fmt.Sprintf("(%s AND %s AND %s)", f.present(), by.present(), oneOf(by.value(), marked))
	return fmt.Sprintf("toInt64(intDiv(toInt64(%s) - %s, %s))", f.value(), of(b.Lo, math.MinInt64), of(b.Size, 1)), has, nil
}

// exact writes a value of a column so that the server compares it without rounding.
func exact(c *table.Column, i int) string {
	switch d := c.Data.(type) {
	case []int32:
		return strconv.Itoa(int(d[i]))
	case []int64:
		return strconv.FormatInt(d[i], 10)
	case []uint64:
		return strconv.FormatUint(d[i], 10)
	case []uint8:
		return strconv.Itoa(int(d[i]))
	}
	return float(c.Float(i))
}

// cutSQL is SQL for how many cuts a row is not before.
func cutSQL(f *columnForm, cuts *query.Cuts) string {
	n := len(cuts.Rows)
	edges := make([]string, n)
	for i := range edges {
		edges[i] = "to" + f.sqlType() + "(" + exact(cuts.Values, i) + ")"
	}
	// A value that is the greatest of its type would reach beyond all cuts, to a window
	// that is none, which whoever asked refuses.
	beyond := map[string]string{"int32": "toInt32(2147483647)", "int64": "toInt64(9223372036854775807)", "flag": "toUInt8(255)", "float64": "nan"}[f.Type]
	if f.Type == "address" {
		beyond = "toUInt64(18446744073709551615)"
	}
	reached := reachedSQL(f.value(), edges, beyond)
	var before []string
	for i, tied := range cuts.Tied {
		if tied {
			before = append(before, fmt.Sprintf("((%s = %s) AND r < %d)", f.value(), edges[i], cuts.Rows[i]))
		}
	}
	return fmt.Sprintf("toInt32(%s) - toInt32(%s)", reached, total(before))
}

// Cut implements query.Distant.
func (e *Engine) Cut(ctx context.Context, axis string, where query.Expr, positions []int) (*query.Cuts, error) {
	f, err := e.numberForm(axis)
	if err != nil {
		return nil, err
	}
	condition, err := e.condition(ctx, where)
	if err != nil {
		return nil, err
	}
	condition = "(" + condition + ") AND " + f.present()
	counted, err := e.ask(ctx, "SELECT count() FROM "+e.from()+" WHERE "+condition)
	if err != nil {
		return nil, err
	}
	n := int(counted.columns[0].numbersOf()[0])
	values := *e.data.Table.Column(axis)
	values.Summary, values.Valid = nil, nil
	out := &query.Cuts{Axis: axis, Values: &values, Rows: make([]int, len(positions)), Tied: make([]bool, len(positions))}
	if len(positions) == 0 {
		return out, nil
	}
	levels := make([]string, len(positions))
	columns := make([]string, len(positions))
	for i, p := range positions {
		if p < 0 || p >= n {
			return nil, fmt.Errorf("position %d of %d rows along %s", p, n, axis)
		}
		// Half a position more meets it whatever the rounding: see quantiles.
		levels[i] = strconv.FormatFloat((float64(p)+0.5)/float64(n), 'f', -1, 64)
		columns[i] = fmt.Sprintf("arrayElement(q, %d)", i+1)
	}
	columns[0] = "arrayElement(quantilesExact(" + strings.Join(levels, ", ") + ")(" + f.value() + ") AS q, 1)"
	b, err := e.ask(ctx, "SELECT "+strings.Join(columns, ", ")+" FROM "+e.from()+" WHERE "+condition)
	if err != nil {
		return nil, err
	}
	if values.Data, err = joinedValues(b, len(positions)); err != nil {
		return nil, fmt.Errorf("axis %s: %w", axis, err)
	}
	return out, e.findCuts(ctx, f, condition, positions, out)
}

// joinedValues is a row of columns of one type as one column.
func joinedValues(b *block, n int) (any, error) {
	if b.rows != 1 || len(b.columns) != n {
		return nil, fmt.Errorf("asked for %d values and got %d rows of %d", n, b.rows, len(b.columns))
	}
	switch b.columns[0].data.(type) {
	case []int32:
		return joinedAs[int32](b)
	case []int64:
		return joinedAs[int64](b)
	case []uint64:
		return joinedAs[uint64](b)
	case []uint8:
		return joinedAs[uint8](b)
	case []float64:
		return joinedAs[float64](b)
	}
	return nil, fmt.Errorf("values of type %T", b.columns[0].data)
}

func joinedAs[T any](b *block) (any, error) {
	var out []T
	for _, c := range b.columns {
		d, ok := c.data.([]T)
		if !ok {
			return nil, fmt.Errorf("values of types %T and %T", out, c.data)
		}
		out = append(out, d...)
	}
	return out, nil
}

// findCuts finds the rows of cuts whose values are known.
func (e *Engine) findCuts(ctx context.Context, f *columnForm, condition string, positions []int, cuts *query.Cuts) error {
	literals := make([]string, len(positions))
	for i := range literals {
		literals[i] = exact(cuts.Values, i)
	}
	different := slices.Compact(slices.Sorted(slices.Values(literals)))
	b, err := e.ask(ctx, fmt.Sprintf("SELECT %s AS v, count(), min(r) FROM %s WHERE %s AND %s IN (%s) GROUP BY v",
		f.value(), e.from(), condition, f.value(), strings.Join(different, ", ")))
	if err != nil {
		return err
	}
	if len(b.columns) != 3 {
		return fmt.Errorf("asked for 3 columns and got %d", len(b.columns))
	}
	found := &table.Column{Kind: table.Number, Data: b.columns[0].data}
	at := map[string]int{}
	for i := range b.rows {
		at[exact(found, i)] = i
	}
	for i, literal := range literals {
		k, ok := at[literal]
		if !ok {
			return fmt.Errorf("axis %s: no row has the value %s", cuts.Axis, literal)
		}
		cuts.Rows[i], cuts.Tied[i] = int(texts[uint64](b, 2)[k]), texts[uint64](b, 1)[k] > 1
		if !cuts.Tied[i] {
			continue
		}
		before, err := e.ask(ctx, fmt.Sprintf("SELECT count() FROM %s WHERE %s AND %s < %s", e.from(), condition, f.value(), literal))
		if err != nil {
			return err
		}
		skip := positions[i] - int(before.columns[0].numbersOf()[0])
		if skip == 0 {
			continue
		}
		row, err := e.ask(ctx, fmt.Sprintf("SELECT r FROM %s WHERE %s AND %s = %s ORDER BY r LIMIT %d, 1", e.from(), condition, f.value(), literal, skip))
		if err != nil {
			return err
		}
		if row.rows != 1 {
			return fmt.Errorf("axis %s: no row at position %d", cuts.Axis, positions[i])
		}
		cuts.Rows[i] = int(row.columns[0].numbersOf()[0])
	}
	return nil
}

// read puts an answer together.
func (at *condensedAt) read(e *Engine, b *block, q *query.Condensing, forms []*columnForm) (*query.Condensed, error) {
	out := &query.Condensed{}
	columns := make([]*table.Column, len(forms))
	for i, f := range forms {
		c, err := e.keyColumn(f, b, at.keys[i])
		if err != nil {
			return nil, err
		}
		columns[i] = c
	}
	var err error
	if out.Table, err = table.New("groups", columns); err != nil {
		return nil, err
	}
	if b.rows == 0 {
		return out, nil
	}
	if at.place >= 0 {
		out.Places = texts[uint32](b, at.place)
		if n := e.data.Placing.Count; slices.ContainsFunc(out.Places, func(code uint32) bool { return int(code) >= n }) {
			return nil, fmt.Errorf("a row has a place that is none of %d", n)
		}
	}
	out.Window, out.Block, out.Octave = at.whole(b, at.window), at.whole(b, at.block), at.whole(b, at.octave)
	out.First, out.Count = at.whole(b, at.first), at.whole(b, at.count)
	for i := range b.rows {
		if len(q.Tests) > 0 {
			holds := make([]bool, len(q.Tests))
			for k := range holds {
				holds[k] = texts[uint64](b, at.masks[k/testsOfMask])[i]>>(k%testsOfMask)&1 != 0
			}
			out.Holds = append(out.Holds, holds)
		}
		if at.sums != nil {
			valued, sum, squares := at.sums.read(b, query.All, i)
			out.Valued, out.Sum, out.Squares = append(out.Valued, valued), append(out.Sum, sum), append(out.Squares, squares)
		}
	}
	if at.extent >= 0 {
		f, err := e.form(q.Extent)
		if err != nil {
			return nil, err
		}
		for i, into := range []**table.Column{&out.Least, &out.Most} {
			ends := &block{rows: b.rows, columns: []column{b.columns[at.extent+i], b.columns[at.extent+2]}}
			if *into, err = e.keyColumn(f, ends, 0); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// whole is a column of whole numbers, nil if it was not asked for.
func (at *condensedAt) whole(b *block, column int) []int {
	if column < 0 {
		return nil
	}
	numbers := b.columns[column].numbersOf()
	out := make([]int, len(numbers))
	for i, n := range numbers {
		out[i] = int(n)
	}
	return out
}
