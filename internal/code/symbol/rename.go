package symbol

import (
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/table"
)

// Rename returns the table with names that were given after the fact: symbol,
// index, x, y and z of the objects that a naming means. Offsets are from the
// start of the object, so nothing else is needed. Without a naming that means
// something it is the table itself.
func Rename(t *table.Table, names []Naming) (*table.Table, error) {
	symbol := t.Column("symbol")
	if len(names) == 0 || symbol == nil || symbol.Kind != table.Category {
		return t, nil
	}
	r := newRenamer(t, symbol, names)
	if !r.any {
		return t, nil
	}
	changed := r.columns()
	columns := slices.Clone(t.Columns())
	at := slices.Index(columns, symbol) + 1
	for _, c := range changed {
		if i := slices.IndexFunc(columns, func(old *table.Column) bool { return old.Name == c.Name }); i >= 0 {
			columns[i] = c
		} else {
			columns = slices.Insert(columns, at, c)
			at++
		}
	}
	return table.New(t.Name, columns)
}

// renamer knows which naming each row has.
type renamer struct {
	t              *table.Table
	names          []Naming
	bySymbol       []int // naming of each name of the symbol column; -1 for none
	bySite         []int
	symbol, site   *table.Column
	offset         *table.Column
	any            bool
	codes          []uint32
	dict           *table.Interner
	index, x, y, z intColumn
}

func newRenamer(t *table.Table, symbol *table.Column, names []Naming) *renamer {
	r := &renamer{t: t, names: names, symbol: symbol, site: t.Column("allocation"), offset: t.Column("offset")}
	r.bySymbol = r.match(symbol.Dict, func(n *Naming, text string) bool { return n.Object != "" && n.Object == text })
	if r.site != nil && r.site.Kind == table.Category {
		r.bySite = r.match(r.site.Dict, func(n *Naming, text string) bool { return n.Site != "" && n.matches(&Object{Site: text}) })
	} else {
		r.site = nil
	}
	return r
}

func (r *renamer) match(texts []string, means func(*Naming, string) bool) []int {
	out := make([]int, len(texts))
	for i, text := range texts {
		out[i] = slices.IndexFunc(r.names, func(n Naming) bool { return means(&n, text) })
		r.any = r.any || out[i] >= 0
	}
	return out
}

// naming returns what a row is called now, -1 for as before.
func (r *renamer) naming(row int) int {
	if r.site != nil && r.site.Has(row) {
		if n := r.bySite[r.site.Data.([]uint32)[row]]; n >= 0 {
			return n
		}
	}
	return r.bySymbol[r.symbol.Data.([]uint32)[row]]
}

// intColumn is a column of whole numbers that is being changed.
type intColumn struct {
	name   string
	values []int64
	valid  table.Bits
}

func (r *renamer) copyInts(name string) intColumn {
	n := r.t.Rows()
	c := intColumn{name, make([]int64, n), table.NewBits(n)}
	old := r.t.Column(name)
	if old == nil || old.Kind != table.Number {
		return c
	}
	for i := range n {
		if old.Has(i) {
			c.values[i] = int64(old.Float(i))
			c.valid.Set(i)
		}
	}
	return c
}

func (c *intColumn) set(row int, value int64) {
	c.values[row] = value
	if value < 0 {
		c.values[row] = 0
		c.valid.Clear(row)
	} else {
		c.valid.Set(row)
	}
}

func (r *renamer) columns() []*table.Column {
	r.dict = table.NewInterner()
	for _, name := range r.symbol.Dict {
		r.dict.CodeString(name)
	}
	r.codes = slices.Clone(r.symbol.Data.([]uint32))
	r.index, r.x, r.y, r.z = r.copyInts("index"), r.copyInts("x"), r.copyInts("y"), r.copyInts("z")
	for i := range r.t.Rows() {
		if r.symbol.Has(i) {
			if n := r.naming(i); n >= 0 {
				r.row(i, &r.names[n])
			}
		}
	}
	symbol := table.Categories("symbol", r.symbol.Provenance, r.codes, r.dict.Names(), r.symbol.Valid)
	symbol.Note = r.symbol.Note
	out := []*table.Column{symbol}
	for _, c := range []intColumn{r.index, r.x, r.y, r.z} {
		if c.valid.Count() > 0 {
			out = append(out, table.Ints(c.name, "", table.Derived, c.values, c.valid))
		}
	}
	return out
}

func (r *renamer) row(i int, n *Naming) {
	if n.Name != "" {
		// Instances stay apart: "heat.c:57 8 MiB #2" becomes "u #2".
		name := n.Name
		if _, number, ok := cutLast(r.symbol.Dict[r.symbol.Data.([]uint32)[i]], " #"); ok && n.Site != "" && strings.Trim(number, "0123456789…") == "" {
			name += " #" + number
		}
		r.codes[i] = r.dict.CodeString(name)
	}
	if n.layout == nil || r.offset == nil || !r.offset.Has(i) {
		return
	}
	offset := uint64(r.offset.Float(i))
	if offset >= n.layout.Size {
		return
	}
	e := n.layout.Element(offset)
	r.index.set(i, e.Index)
	r.x.set(i, e.X)
	r.y.set(i, e.Y)
	r.z.set(i, e.Z)
}
