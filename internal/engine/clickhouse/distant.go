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

var _ query.Distant = (*Engine)(nil)

// Extent implements query.Distant.
func (e *Engine) Extent(column string) (lo, hi float64, any bool, err error) {
	f, err := e.numberForm(column)
	if err != nil {
		return 0, 0, false, err
	}
	lo, hi, any = e.described[f.number].Division.Finite()
	return lo, hi, any, nil
}

// Tally implements query.Distant.
func (e *Engine) Tally(ctx context.Context, q query.Tally) ([]query.TallyRow, error) {
	axis, err := e.numberForm(q.Axis)
	if err != nil {
		return nil, err
	}
	where, err := e.condition(ctx, q.Where)
	if err != nil {
		return nil, err
	}
	code, has, err := e.codes(q.By)
	if err != nil {
		return nil, err
	}
	if q.Slots != nil {
		code = slotSQL(code, q.Slots)
	}
	columns := []string{"toUInt32(" + edgeBin(axis, q.Edges) + ") AS w", code + " AS k", "toUInt8(" + has + ") AS h", "count()"}
	ls := &layers{filter: "1", selected: "1", hover: "0", hovered: "0"}
	var s *sums
	if q.Sum != "" {
		f, err := e.numberForm(q.Sum)
		if err != nil {
			return nil, err
		}
		var more []string
		s, more = e.sums(f, ls, len(columns))
		columns = append(columns, more...)
	}
	v := "toFloat64(" + axis.value() + ")"
	inside := fmt.Sprintf("(%s) AND %s AND %s >= %s AND %s <= %s", where, axis.present(), v, float(q.Edges[0]), v, float(q.Edges[len(q.Edges)-1]))
	b, err := e.ask(ctx, "SELECT "+strings.Join(columns, ", ")+" FROM "+e.from()+" WHERE "+inside+" GROUP BY w, k, h LIMIT "+strconv.Itoa(2*query.MostTallied))
	if err != nil || b.rows == 0 {
		return nil, err
	}
	if len(b.columns) != len(columns) {
		return nil, fmt.Errorf("asked for %d columns and got %d", len(columns), len(b.columns))
	}
	if b.rows == 2*query.MostTallied {
		return nil, query.Refuse("there are more than %d windows and resources with samples; ask for fewer windows", query.MostTallied)
	}
	var number *table.Column
	if q.By.Column != "" && !e.isCategory(q.By.Column) {
		f, err := e.form(q.By.Column)
		if err != nil {
			return nil, err
		}
		if number, err = e.keyColumn(f, b, 1); err != nil {
			return nil, err
		}
	}
	out := make([]query.TallyRow, 0, b.rows)
	for i := range b.rows {
		t := query.TallyRow{Window: int(texts[uint32](b, 0)[i]), Has: texts[uint8](b, 2)[i] != 0, Count: int(texts[uint64](b, 3)[i])}
		if t.Count == 0 {
			continue // what is the same for all rows is there without any
		}
		if t.Window >= len(q.Edges)-1 {
			return nil, fmt.Errorf("axis %s: a row in window %d of %d", q.Axis, t.Window, len(q.Edges)-1)
		}
		if number != nil {
			t.Value = number.Float(i)
		} else {
			t.Code = texts[uint32](b, 1)[i]
		}
		if s != nil {
			t.Valued, t.Sum, _ = s.read(b, query.All, i)
		}
		out = append(out, t)
	}
	return out, nil
}

func (e *Engine) isCategory(column string) bool {
	return e.data.Table.Column(column).Kind == table.Category
}

// codes is SQL for what rows are told apart by, and for whether they have it.
func (e *Engine) codes(by query.Codes) (code, has string, err error) {
	switch {
	case by.Places && e.data.Placing == nil:
		return "", "", query.ErrNotPlaced
	case by.Places:
		return placeCode, "1", nil
	case by.Column == "":
		return "toUInt32(0)", "1", nil
	}
	f, err := e.form(by.Column)
	if err != nil {
		return "", "", err
	}
	return valueOrZero(f), f.present(), nil
}

// slotSQL looks the slot of a code up.
func slotSQL(code string, slots []uint32) string {
	if len(slots) == 0 {
		return "toUInt32(0)"
	}
	list := make([]string, len(slots))
	for i, s := range slots {
		list[i] = strconv.FormatUint(uint64(s), 10)
	}
	return "toUInt32(arrayElement([" + strings.Join(list, ", ") + "], " + code + " + 1))"
}

// valueOrZero is SQL for a value that is the same for all rows without one.
func valueOrZero(f *columnForm) string {
	if !f.Holes {
		return f.value()
	}
	return fmt.Sprintf("if(%s, %s, to%s(0))", f.present(), f.value(), f.sqlType())
}

// Firsts implements query.Distant.
func (e *Engine) Firsts(ctx context.Context, columns ...string) ([]query.First, error) {
	var selected, by []string
	forms := make([]*columnForm, len(columns))
	for i, name := range columns {
		f, err := e.form(name)
		if err != nil {
			return nil, err
		}
		forms[i] = f
		selected = append(selected, fmt.Sprintf("%s AS k%d", valueOrZero(f), i), fmt.Sprintf("toUInt8(%s) AS h%d", f.present(), i))
		by = append(by, fmt.Sprintf("k%d", i), fmt.Sprintf("h%d", i))
	}
	b, err := e.ask(ctx, "SELECT "+strings.Join(selected, ", ")+", min(r) FROM "+e.from()+" GROUP BY "+strings.Join(by, ", ")+" LIMIT "+strconv.Itoa(mostGroups+1))
	if err != nil || b.rows == 0 {
		return nil, err
	}
	if b.rows > mostGroups {
		return nil, query.Refuse("there are more than %d different values of %s", mostGroups, strings.Join(columns, ", "))
	}
	if len(b.columns) != len(selected)+1 {
		return nil, fmt.Errorf("asked for %d columns and got %d", len(selected)+1, len(b.columns))
	}
	out := make([]query.First, b.rows)
	for i, r := range texts[uint64](b, len(selected)) {
		out[i] = query.First{Keys: make([]string, len(columns)), Row: int(r)}
	}
	for k, f := range forms {
		c, err := e.keyColumn(f, b, 2*k)
		if err != nil {
			return nil, err
		}
		for i := range out {
			if c.Has(i) {
				out[i].Keys[k] = c.Text(i)
			}
		}
	}
	return out, nil
}

// How many rows of an order come at a time, about: an axis is cut by a sample of
// its values. Each piece is one look at the column of the axis, so that of many
// rows pieces are larger rather than more.
const (
	pieceRows  = 1 << 18
	mostPieces = 256
)

// InOrder implements query.Distant. The server is asked for one stretch of the
// axis after the other, so that neither side ever sorts or keeps all rows.
func (e *Engine) InOrder(ctx context.Context, q query.Ordered, piece func(query.Piece) error) error {
	axis, err := e.numberForm(q.Axis)
	if err != nil {
		return err
	}
	where, err := e.condition(ctx, q.Where)
	if err != nil {
		return err
	}
	forms := []*columnForm{axis}
	for _, name := range q.Columns {
		f, err := e.form(name)
		if err != nil {
			return err
		}
		if !slices.Contains(forms, f) {
			forms = append(forms, f)
		}
	}
	if q.Places && e.data.Placing == nil {
		return query.ErrNotPlaced
	}
	for _, s := range e.stretches(axis, min(e.document.Rows/e.pieceRows+1, mostPieces)) {
		at := fmt.Sprintf("(%s) AND %s AND %s", where, axis.present(), s.condition(axis))
		if s.lo != s.hi {
			if err := e.onePiece(ctx, forms, q.Places, at+" ORDER BY "+axis.value()+", r", piece); err != nil {
				return err
			}
			continue
		}
		// Rows of one value are as many as they are, and in the order of rows.
		step := max(2*e.pieceRows, e.document.Rows/mostPieces+1)
		for from := 0; from < e.document.Rows; from += step {
			rest := fmt.Sprintf("%s AND r >= %d AND r < %d ORDER BY r", at, from, from+step)
			if err := e.onePiece(ctx, forms, q.Places, rest, piece); err != nil {
				return err
			}
		}
	}
	return nil
}

// stretch is a part of an axis: lo <= v < hi, or the values that are lo if both
// are equal; open says that lo is not in it.
type stretch struct {
	lo, hi float64
	open   bool
}

func (s stretch) condition(f *columnForm) string {
	v := "toFloat64(" + f.value() + ")"
	if s.lo == s.hi {
		return v + " = " + float(s.lo)
	}
	terms := []string{"1"}
	if !math.IsInf(s.lo, -1) || s.open {
		over := " >= "
		if s.open {
			over = " > "
		}
		terms = append(terms, v+over+float(s.lo))
	}
	if !math.IsInf(s.hi, 1) {
		terms = append(terms, v+" < "+float(s.hi))
	}
	return strings.Join(terms, " AND ")
}

// stretches cuts an axis into n parts of about as many rows, by the sample of its
// values. A value that fills a part is one by itself.
func (e *Engine) stretches(f *columnForm, n int) []stretch {
	sample := slices.DeleteFunc(e.sampleOf(f.number), math.IsNaN)
	slices.Sort(sample)
	at, open := math.Inf(-1), false
	var out []stretch
	for i := 1; i < n && len(sample) > 0; i++ {
		cut := sample[i*len(sample)/n]
		switch {
		case cut < at || cut == at && open || math.IsInf(cut, 0):
		case cut > at:
			out = append(out, stretch{at, cut, open})
			at, open = cut, false
		default:
			out = append(out, stretch{at, at, false})
			open = true
		}
	}
	return append(out, stretch{at, math.Inf(1), open})
}

// onePiece asks for one piece and hands it over.
func (e *Engine) onePiece(ctx context.Context, forms []*columnForm, places bool, rest string, piece func(query.Piece) error) error {
	var more []string
	if places {
		more = []string{placeCode}
	}
	b, err := e.values(ctx, forms, rest, more...)
	if err != nil || b.rows == 0 {
		return err
	}
	var p query.Piece
	if places {
		p.Places = texts[uint32](b, len(b.columns)-1)
		if n := e.data.Placing.Count; slices.ContainsFunc(p.Places, func(code uint32) bool { return int(code) >= n }) {
			return fmt.Errorf("a row has a place that is none of %d", n)
		}
	}
	got := make([]*table.Column, len(forms))
	for i, f := range forms {
		if got[i], err = e.keyColumn(f, b, 1+2*i); err != nil {
			return err
		}
	}
	if p.Table, err = table.New("rows", got); err != nil {
		return err
	}
	return piece(p)
}
