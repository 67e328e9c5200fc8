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

// The SQL below is understood by ClickHouse 18.16 and by current releases alike:
// no window functions, no GROUPING SETS, no bitmaps. Every condition is 0 or 1,
// never NULL, so that NOT means what it means in the selection language.

// form returns how a column is kept.
func (e *Engine) form(name string) (*columnForm, error) {
	for i := range e.document.Columns {
		if f := &e.document.Columns[i]; f.Name == name {
			return f, nil
		}
	}
	return nil, query.UnknownColumn(e.data.Table, name)
}

// condition is SQL for a selection; a nil one selects all.
func (e *Engine) condition(ctx context.Context, x query.Expr) (string, error) {
	switch x := x.(type) {
	case nil:
		return "1", nil
	case query.And:
		return e.joined(ctx, x.Terms, " AND ")
	case query.Or:
		return e.joined(ctx, x.Terms, " OR ")
	case query.Not:
		c, err := e.condition(ctx, x.Term)
		return "((" + c + ") = 0)", err // NOT is simplified away on one side of a cluster and not on the other
	case query.At:
		return e.touching(x.Resource)
	case query.RowSet:
		return e.namedRows(ctx, x.Name)
	}
	name, ok := query.ColumnOf(x)
	if !ok {
		return "", fmt.Errorf("selection of unknown kind %T", x)
	}
	f, err := e.form(name)
	if err != nil {
		return "", err
	}
	if m, ok := x.(query.Missing); ok {
		if m.Not {
			return f.present() + " = 1", nil
		}
		return f.present() + " = 0", nil
	}
	test, err := e.test(f, x)
	if err != nil || !f.Holes || f.zeroed && !e.acceptsZero(f, x) {
		return test, err
	}
	return "(" + f.present() + " AND " + test + ")", nil
}

// acceptsZero reports whether 0, or the first name, may meet an expression over one
// column. Rows without a value hold it: if it does not, nobody has to ask them whether
// they have one.
func (e *Engine) acceptsZero(f *columnForm, x query.Expr) bool {
	if dict := e.data.Table.Column(f.Name).Dict; f.Type == "category" && len(dict) > 0 {
		return query.AcceptsName(x, dict[0])
	}
	switch x := x.(type) {
	case query.Compare:
		switch v := x.Value.Number; x.Op {
		case query.Eq:
			return v == 0
		case query.Lt:
			return v > 0
		case query.Le:
			return v >= 0
		case query.Gt:
			return v < 0
		case query.Ge:
			return v <= 0
		}
	case query.Range:
		return x.Lo.Number <= 0 && x.Hi.Number >= 0
	case query.In:
		return slices.ContainsFunc(x.Values, func(v query.Value) bool { return v.Number == 0 })
	}
	return true
}

func (e *Engine) joined(ctx context.Context, terms []query.Expr, with string) (string, error) {
	parts := make([]string, len(terms))
	for i, t := range terms {
		c, err := e.condition(ctx, t)
		if err != nil {
			return "", err
		}
		parts[i] = c
	}
	if len(parts) == 0 {
		return "1", nil
	}
	return "(" + strings.Join(parts, with) + ")", nil
}

func (e *Engine) touching(resource string) (string, error) {
	p := e.data.Placing
	if p == nil {
		return "", fmt.Errorf("at %s: %w", resource, query.ErrNotPlaced)
	}
	touched, err := p.Touching(resource)
	if err != nil {
		return "", query.Refuse("%v", err)
	}
	return oneOf(placeColumn, touched), nil
}

// oneOf tests whether a code is one of those that are marked.
func oneOf(value string, marked []bool) string {
	var yes, no []string
	for i, m := range marked {
		if m {
			yes = append(yes, strconv.Itoa(i))
		} else {
			no = append(no, strconv.Itoa(i))
		}
	}
	switch {
	case len(yes) == 0:
		return "0"
	case len(no) == 0:
		return "1"
	case len(no) < len(yes):
		return value + " NOT IN (" + strings.Join(no, ", ") + ")"
	}
	return value + " IN (" + strings.Join(yes, ", ") + ")"
}

// mostNamedRows bounds the rows that are listed in a question.
const mostNamedRows = 1_000_000

func (e *Engine) namedRows(ctx context.Context, name string) (string, error) {
	rows, err := e.data.RowSets.Rows(ctx, name)
	if err != nil {
		return "", err
	}
	if n := rows.Count(); n > mostNamedRows {
		return "", query.Refuse("rows %s are %d, which is too many to list; fetch the run and ask there", name, n)
	}
	var list strings.Builder
	for i := range rows.All() {
		if list.Len() > 0 {
			list.WriteString(", ")
		}
		list.WriteString(strconv.Itoa(i))
	}
	if list.Len() == 0 {
		return "0", nil
	}
	return "r IN (" + list.String() + ")", nil
}

// test is SQL for an expression over one column, of rows that have a value.
func (e *Engine) test(f *columnForm, x query.Expr) (string, error) {
	if f.Type == "category" {
		dict := e.data.Table.Column(f.Name).Dict
		accepted := make([]bool, len(dict))
		for i, name := range dict {
			accepted[i] = query.AcceptsName(x, name)
		}
		return oneOf(f.column(), accepted), nil
	}
	switch x := x.(type) {
	case query.Compare:
		return compared(f, x.Op, x.Value), nil
	case query.Range:
		return "(" + compared(f, query.Ge, x.Lo) + " AND " + compared(f, query.Le, x.Hi) + ")", nil
	case query.In:
		tests := []string{"0"}
		for _, v := range x.Values {
			tests = append(tests, compared(f, query.Eq, v))
		}
		return "(" + strings.Join(tests, " OR ") + ")", nil
	case query.Match:
		text, err := f.text()
		return "match(" + text + ", " + quote(x.Re.String()) + ")", err
	}
	return "", fmt.Errorf("selection of unknown kind %T", x)
}

// compared compares as the language does: addresses with whole numbers as 64-bit
// numbers, everything else as floats.
func compared(f *columnForm, op query.Op, v query.Value) string {
	if f.Type == "address" && v.Number == float64(v.Uint) {
		return f.column() + " " + string(op) + " toUInt64(" + strconv.FormatUint(v.Uint, 10) + ")"
	}
	// Numbers of 32 bits are exact as floats: they need not become any to be compared.
	if f.Type == "int32" && v.Number == math.Trunc(v.Number) && math.Abs(v.Number) <= math.MaxInt32 {
		return f.column() + " " + string(op) + " toInt32(" + strconv.Itoa(int(v.Number)) + ")"
	}
	return "toFloat64(" + f.column() + ") " + string(op) + " " + float(v.Number)
}

// float writes a number so that the server reads the same one.
func float(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	case math.IsNaN(v):
		return "nan"
	}
	// Literals are read by strtod and written in their shortest form, so that a
	// shard gets the same number; a point or an exponent keeps it a float.
	return strconv.FormatFloat(v, 'e', -1, 64)
}

// text is SQL for the value as it is written.
func (f *columnForm) text() (string, error) {
	switch f.Type {
	case "float64":
		return "", query.Refuse("%s holds fractions, whose text ClickHouse writes differently; use a range, or fetch the run and ask there", f.Name)
	case "address":
		return "concat('0x', replaceRegexpOne(lower(hex(" + f.column() + ")), '^0+(.)', '\\\\1'))", nil
	}
	return "toString(" + f.column() + ")", nil
}

// binnerOf divides an axis as every engine does.
func (e *Engine) binnerOf(ctx context.Context, a query.Axis) (*query.Binner, error) {
	if b, ok := e.divided.Load(a); ok {
		return b.(*query.Binner), nil
	}
	f, err := e.form(a.Column)
	if err != nil {
		return nil, err
	}
	known := &e.described[f.number]
	extent := known.Division.Extent(e.data.Table.Column(a.Column), query.Elsewhere{
		Sample:  func() []float64 { return e.sampleOf(f.number) },
		Outside: func(lo, hi float64) (int, int, error) { return e.outside(ctx, f, lo, hi) },
	})
	b, err := extent.Bin(a)
	if err != nil {
		return nil, err
	}
	e.divided.Store(a, b)
	return b, nil
}

// outside counts the values beyond a range.
func (e *Engine) outside(ctx context.Context, f *columnForm, lo, hi float64) (below, above int, err error) {
	v := "toFloat64(" + f.column() + ")"
	b, err := e.ask(ctx, fmt.Sprintf("SELECT countIf(%s AND %s < %s), countIf(%s AND %s > %s) FROM %s",
		f.present(), v, float(lo), f.present(), v, float(hi), e.from()))
	if err != nil {
		return 0, 0, err
	}
	n := b.columns
	return int(n[0].numbersOf()[0]), int(n[1].numbersOf()[0]), nil
}

func (e *Engine) from() string { return e.server.from(e.document.Cluster, e.document.rowTable()) }

// binSQL is SQL for the bin of a row: the stored one if the axis is the usual one.
func (e *Engine) binSQL(b *query.Binner) (string, error) {
	f, err := e.form(b.Binning.Column)
	if err != nil {
		return "", err
	}
	if e.usual(f, b) {
		return f.bins(), nil
	}
	var bin string
	if b.Names != nil {
		bin = nameBin(f, b.Names)
	} else {
		bin = edgeBin(f, b.Binning.Edges)
	}
	if !f.Holes {
		return bin, nil
	}
	return fmt.Sprintf("if(%s, toUInt32(%s), toUInt32(%d))", f.present(), bin, b.Binning.Bins), nil
}

// usual reports whether an axis is divided as the stored bins are.
func (e *Engine) usual(f *columnForm, b *query.Binner) bool {
	known := &e.described[f.number]
	if known.Bins != b.Binning.Bins || len(known.Usual) != len(b.Binning.Edges) || len(known.Names) != len(b.Names) {
		return false
	}
	for i, edge := range b.Binning.Edges {
		if known.Usual[i] != math.Float64bits(edge) {
			return false
		}
	}
	for i, bin := range b.Names {
		if known.Names[i] != bin {
			return false
		}
	}
	return true
}

// nameBin looks the bin of a code up.
func nameBin(f *columnForm, names []uint16) string {
	if len(names) == 0 {
		return "toUInt32(0)"
	}
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = strconv.Itoa(int(n))
	}
	return "arrayElement([" + strings.Join(list, ", ") + "], " + f.column() + " + 1)"
}

// edgeBin counts the inner edges that are not above the value.
func edgeBin(f *columnForm, edges []float64) string {
	inner := edges[1 : len(edges)-1]
	if len(inner) == 0 {
		return "toUInt32(0)"
	}
	literals := make([]string, len(inner))
	for i, edge := range inner {
		literals[i] = float(edge)
	}
	return reachedSQL("toFloat64("+f.column()+")", literals, "nan")
}

// reachedSQL is SQL for how many edges, which rise, are not above a value; nothing reaches
// beyond. Edges are any numbers, so no formula finds the bin without rounding; and
// comparing with every edge is slow. So a few edges, evenly chosen, find a stretch of
// them, and only those of the stretch are compared then: twice the root of their number
// in all.
func reachedSQL(value string, edges []string, beyond string) string {
	stretch := int(math.Ceil(math.Sqrt(float64(len(edges)))))
	var coarse []string
	for i := stretch - 1; i < len(edges); i += stretch {
		coarse = append(coarse, "("+value+" >= "+edges[i]+")")
	}
	found := "toUInt32(" + total(coarse) + ")"
	var fine []string
	for j := range stretch - 1 {
		var list []string
		for i := j; i < len(edges)+stretch; i += stretch {
			if i < len(edges) {
				list = append(list, edges[i])
			} else {
				list = append(list, beyond)
			}
		}
		fine = append(fine, "("+value+" >= arrayElement(["+strings.Join(list, ", ")+"], "+found+" + 1))")
	}
	return fmt.Sprintf("toUInt32(%s * %d + %s)", found, stretch, total(fine))
}

// total adds terms as a balanced tree: a chain of them would be too deep for the
// server's parser.
func total(terms []string) string {
	if len(terms) == 0 {
		return "0"
	}
	for len(terms) > 1 {
		var sums []string
		for i := 0; i < len(terms); i += 2 {
			if i+1 < len(terms) {
				sums = append(sums, "("+terms[i]+" + "+terms[i+1]+")")
			} else {
				sums = append(sums, terms[i])
			}
		}
		terms = sums
	}
	return terms[0]
}

// numberForm is form for a column that can be summed.
func (e *Engine) numberForm(name string) (*columnForm, error) {
	f, err := e.form(name)
	if err == nil && e.data.Table.Column(name).Kind == table.Category {
		err = query.NotNumbers(name)
	}
	return f, err
}
