package clickhouse

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// page asks for selected rows in an order.
func (e *Engine) page(ctx context.Context, p *query.Page, ls *layers) (*query.Rows, error) {
	names := p.Columns
	if names == nil {
		for _, c := range e.data.Table.Columns() {
			names = append(names, c.Name)
		}
	}
	forms := make([]*columnForm, len(names))
	for i, name := range names {
		f, err := e.form(name)
		if err != nil {
			return nil, err
		}
		forms[i] = f
	}
	order, err := e.order(p)
	if err != nil {
		return nil, err
	}
	out := &query.Rows{Columns: names, Cells: [][]string{}}
	if p.Count <= 0 {
		return out, nil
	}
	where := "(" + ls.filter + ") AND (" + ls.meaning.in(ls.selected) + ")"
	b, err := e.values(ctx, forms, where+order+fmt.Sprintf(" LIMIT %d, %d", max(p.Offset, 0), p.Count))
	if err != nil || b.rows == 0 {
		return out, err
	}
	for _, r := range texts[uint64](b, 0) {
		out.Index = append(out.Index, int(r))
	}
	out.Cells = make([][]string, b.rows)
	for i := range out.Cells {
		out.Cells[i] = make([]string, len(forms))
	}
	for k, f := range forms {
		c, err := e.keyColumn(f, b, 1+2*k)
		if err != nil {
			return nil, err
		}
		d, _ := c.Data.([]float64)
		for i := range out.Cells {
			out.Cells[i][k] = c.Text(i)
			if d != nil && math.IsNaN(d[i]) { // no value, and yet a text
				out.Cells[i][k] = "NaN"
			}
		}
	}
	return out, nil
}

// order is SQL for the order of a page: rows without a value last in either
// direction, equal ones by number.
func (e *Engine) order(p *query.Page) (string, error) {
	if p.Sort == "" {
		return " ORDER BY r", nil
	}
	f, err := e.form(p.Sort)
	if err != nil {
		return "", err
	}
	key := f.value()
	if f.Type == "category" {
		key = nameBinWide(f, e.data.Table.Column(f.Name).Dict)
	}
	down := ""
	if p.Down {
		down = " DESC"
	}
	if f.Holes {
		key = fmt.Sprintf("if(%s, toFloat64(0), toFloat64(1)), if(%s, %s, %s)", f.present(), f.present(), key, zero(f))
	}
	return " ORDER BY " + key + down + ", r", nil
}

// zero is what the key of rows without a value is: they stay in row order.
func zero(f *columnForm) string {
	if f.Type == "category" {
		return "toUInt32(0)"
	}
	return "to" + f.sqlType() + "(0)"
}

// nameBinWide is the rank of each name among the others.
func nameBinWide(f *columnForm, dict []string) string {
	order := make([]int, len(dict))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return query.NaturalCompare(dict[a], dict[b]) })
	ranks := make([]uint32, len(dict))
	for rank, code := range order {
		ranks[code] = uint32(rank)
	}
	return slotSQL(f.value(), ranks)
}

// values asks for the numbers of rows, for each column its values and which rows
// have one, and for more columns of the table.
func (e *Engine) values(ctx context.Context, forms []*columnForm, rest string, more ...string) (*block, error) {
	columns := []string{"r"}
	for i, f := range forms {
		columns = append(columns, fmt.Sprintf("%s AS k%d", f.value(), i), fmt.Sprintf("toUInt8(%s) AS h%d", f.present(), i))
	}
	columns = append(columns, more...)
	b, err := e.ask(ctx, "SELECT "+strings.Join(columns, ", ")+" FROM "+e.from()+" WHERE "+rest)
	if err != nil {
		return nil, err
	}
	if b.rows > 0 && len(b.columns) != len(columns) {
		return nil, fmt.Errorf("asked for %d columns and got %d", len(columns), len(b.columns))
	}
	return b, nil
}

// fetchRows is how many rows are fetched at a time.
const fetchRows = 1 << 17

// mostFetched bounds the rows that are brought here: they take about 100 bytes
// each.
const mostFetched = 100_000_000

// Fetch brings the rows of a selection here, in their order. They lie in
// temporary files where they are many.
func (s *Stored) Fetch(ctx context.Context, where query.Expr, progress func(done, total, rows int64)) (*table.Table, error) {
	e := s.Engine
	condition, err := e.condition(ctx, where)
	if err != nil {
		return nil, err
	}
	n := e.document.Rows
	if where != nil {
		b, err := e.ask(ctx, "SELECT count() FROM "+e.from()+" WHERE "+condition)
		if err != nil {
			return nil, err
		}
		n = int(b.columns[0].numbersOf()[0])
	}
	if n > mostFetched {
		return nil, query.Refuse("%d rows are too many to bring here; select at most %d with --where", n, mostFetched)
	}
	f := newFetcher(e, e.allForms(), n)
	err = e.eachBlock(ctx, f.forms, condition, func(to int, b *block) error {
		err := f.add(b)
		if progress != nil {
			progress(int64(to), int64(e.document.Rows), int64(f.rows))
		}
		return err
	})
	if err != nil {
		f.drop()
		return nil, err
	}
	t, err := f.table()
	if err == nil && t.Rows() != n {
		err = fmt.Errorf("fetched %d of %d rows", t.Rows(), n)
	}
	return t, err
}

// eachBlock asks for the rows of a condition in their order, some at a time, and says
// up to which row they have come.
func (e *Engine) eachBlock(ctx context.Context, forms []*columnForm, condition string, do func(to int, b *block) error) error {
	for from := 0; from < e.document.Rows; from += fetchRows {
		to := min(from+fetchRows, e.document.Rows)
		b, err := e.values(ctx, forms, fmt.Sprintf("r >= %d AND r < %d AND (%s) ORDER BY r", from, to, condition))
		if err != nil {
			return err
		}
		if err := do(to, b); err != nil {
			return err
		}
	}
	return nil
}

// InRows implements query.Distant.
func (e *Engine) InRows(ctx context.Context, where query.Expr, columns []string, piece func(*table.Table) error) error {
	condition, err := e.condition(ctx, where)
	if err != nil {
		return err
	}
	forms := make([]*columnForm, len(columns))
	for i, name := range columns {
		if forms[i], err = e.form(name); err != nil {
			return err
		}
	}
	return e.eachBlock(ctx, forms, condition, func(_ int, b *block) error {
		if b.rows == 0 {
			return nil
		}
		f := newFetcher(e, forms, b.rows)
		if err := f.add(b); err != nil {
			return err
		}
		t, err := f.table()
		if err != nil {
			return err
		}
		return piece(t)
	})
}

func (e *Engine) allForms() []*columnForm {
	out := make([]*columnForm, len(e.document.Columns))
	for i := range out {
		out[i] = &e.document.Columns[i]
	}
	return out
}

// fetcher collects columns.
type fetcher struct {
	engine *Engine
	forms  []*columnForm
	rows   int
	data   []any // *table.Growing of the type of each column
	valid  []table.Bits
}

func newFetcher(e *Engine, forms []*columnForm, rows int) *fetcher {
	f := &fetcher{engine: e, forms: forms}
	for _, form := range forms {
		var bits table.Bits
		if form.Holes {
			bits = table.NewBits(rows)
		}
		f.valid = append(f.valid, bits)
		switch form.Type {
		case "int32":
			f.data = append(f.data, &table.Growing[int32]{})
		case "int64":
			f.data = append(f.data, &table.Growing[int64]{})
		case "float64":
			f.data = append(f.data, &table.Growing[float64]{})
		case "category":
			f.data = append(f.data, &table.Growing[uint32]{})
		case "flag":
			f.data = append(f.data, &table.Growing[uint8]{})
		default:
			f.data = append(f.data, &table.Growing[uint64]{})
		}
	}
	return f
}

func (f *fetcher) add(b *block) error {
	for i := range f.forms {
		if b.rows == 0 {
			break
		}
		data := b.columns[1+2*i].data
		has := texts[uint8](b, 2+2*i)
		if f.valid[i] != nil {
			if f.rows+b.rows > 64*len(f.valid[i]) {
				return fmt.Errorf("more rows came than were counted")
			}
			for k, h := range has {
				d, _ := data.([]float64)
				if h != 0 || d != nil && math.IsNaN(d[k]) {
					f.valid[i].Set(f.rows + k)
				}
			}
		}
		if !appendTo(f.data[i], data) {
			return fmt.Errorf("column %s came as another type", f.forms[i].Name)
		}
	}
	f.rows += b.rows
	return nil
}

func appendTo(growing, data any) bool {
	switch g := growing.(type) {
	case *table.Growing[int32]:
		return appendAs(g, data)
	case *table.Growing[int64]:
		return appendAs(g, data)
	case *table.Growing[float64]:
		return appendAs(g, data)
	case *table.Growing[uint32]:
		return appendAs(g, data)
	case *table.Growing[uint8]:
		return appendAs(g, data)
	case *table.Growing[uint64]:
		return appendAs(g, data)
	}
	return false
}

func appendAs[T table.Fixed](g *table.Growing[T], data any) bool {
	d, ok := data.([]T)
	g.AppendAll(d)
	return ok
}

func (f *fetcher) drop() {
	for _, g := range f.data {
		if d, ok := g.(interface{ Drop() }); ok {
			d.Drop()
		}
	}
}

func (f *fetcher) table() (*table.Table, error) {
	columns := make([]*table.Column, len(f.forms))
	for i, g := range f.data {
		c := *f.engine.data.Table.Column(f.forms[i].Name)
		c.Summary, c.Valid = nil, f.valid[i]
		if err := finish(&c, g); err != nil {
			return nil, err
		}
		columns[i] = &c
	}
	return table.New(f.engine.document.Table, columns)
}

func finish(c *table.Column, growing any) (err error) {
	switch g := growing.(type) {
	case *table.Growing[int32]:
		return finishAs(c, g)
	case *table.Growing[int64]:
		return finishAs(c, g)
	case *table.Growing[float64]:
		return finishAs(c, g)
	case *table.Growing[uint32]:
		return finishAs(c, g)
	case *table.Growing[uint8]:
		return finishAs(c, g)
	case *table.Growing[uint64]:
		return finishAs(c, g)
	}
	return fmt.Errorf("column %s has values of no known type", c.Name)
}

func finishAs[T table.Fixed](c *table.Column, g *table.Growing[T]) error {
	values, spill, err := g.Values()
	if values == nil {
		values = []T{}
	}
	c.Data = values
	c.Back(spill)
	return err
}
