package clickhouse

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"sync"
)

// Marks stand for the conditions of layers in the text of statements: what a
// selection changes can be told from what it does not.
const (
	markPrefix   = "isobath_layer_"
	selectedMark = markPrefix + "selected"
	hoverMark    = markPrefix + "hover"
)

// marks is what marks mean, in SQL.
type marks struct{ selected, hover string }

// stand puts a mark in the place of a condition that depends on rows.
func (m *marks) stand(mark, condition string) string {
	if condition == "0" || condition == "1" {
		return condition
	}
	if mark == selectedMark {
		m.selected = "(" + condition + ")"
	} else {
		m.hover = "(" + condition + ")"
	}
	return mark
}

// in is text with what its marks mean.
func (m *marks) in(text string) string {
	return strings.NewReplacer(selectedMark, m.selected, hoverMark, m.hover).Replace(text)
}

// where is a condition that every row of any of the columns meets.
func (m *marks) where(columns []string) string {
	var any []string
	if text := strings.Join(columns, " "); strings.Contains(text, selectedMark) {
		any = append(any, m.selected)
	}
	// A row under the pointer counts as such among the selected ones only, so the
	// selection holds it unless it is asked for by itself.
	for _, c := range columns {
		if strings.Contains(c, hoverMark) && !strings.Contains(c, selectedMark) {
			any = append(any, m.hover)
			break
		}
	}
	return "(" + strings.Join(any, " OR ") + ")"
}

// columnDivision is where the columns of a statement are that group, that are the
// same for every selection, and that depend on it.
type columnDivision struct{ keys, whole, parts []int }

// divideColumns divides columns that are sums over rows; nil if others are among
// them, which cannot be put together from parts.
func divideColumns(columns []string, rest string) *columnDivision {
	d := &columnDivision{}
	for i, c := range columns {
		marked := strings.Contains(c, markPrefix)
		switch {
		case !marked && (c == placeColumn || strings.Contains(c, " AS ")):
			d.keys = append(d.keys, i)
		case !strings.HasPrefix(c, "count") && !strings.HasPrefix(c, "sum"):
			return nil
		case marked:
			d.parts = append(d.parts, i)
		default:
			d.whole = append(d.whole, i)
		}
	}
	if len(d.keys) > 0 && !strings.HasPrefix(rest, " GROUP BY ") {
		return nil
	}
	return d
}

func pick[T any](from []T, at ...[]int) []T {
	var out []T
	for _, i := range slices.Concat(at...) {
		out = append(out, from[i])
	}
	return out
}

// layered answers a statement of the page. What it says of all rows is kept, since
// no selection changes it: the next one asks for the groups of its own rows alone,
// and those are fewer.
func (e *Engine) layered(ctx context.Context, ls *layers, columns []string, rest string) (*block, error) {
	d := divideColumns(columns, rest)
	key := ""
	if d != nil {
		key = wholeKey(ls, pick(columns, d.keys, d.whole), rest)
		if whole := e.wholes.find(key); whole != nil && len(d.parts) > 0 {
			if b, err := e.besideWhole(ctx, ls, whole, d, columns, rest); err != nil || b != nil {
				return b, err
			}
		}
	}
	b, err := e.statement(ctx, ls.filter, columns, ls.meaning.in(strings.Join(columns, ", ")), rest)
	if err == nil && d != nil && b.rows > 0 {
		e.wholes.keep(key, &block{rows: b.rows, columns: pick(b.columns, d.keys, d.whole)})
	}
	return b, err
}

// wholeKey is what the whole of a statement is kept under.
func wholeKey(ls *layers, columns []string, rest string) string {
	return strings.Join(columns, ", ") + " WHERE " + ls.filter + rest
}

// besideWhole asks for the columns that depend on layers, over their rows, and puts them
// beside those that are known. It returns nil where nothing was found, or where groups
// are not told apart by whole numbers.
func (e *Engine) besideWhole(ctx context.Context, ls *layers, whole *block, d *columnDivision, columns []string, rest string) (*block, error) {
	found := ls.cells[columns[0]]
	if found == nil {
		var err error
		if found, err = e.ofLayers(ctx, ls, pick(columns, d.keys), pick(columns, d.parts), rest); err != nil {
			return nil, err
		}
	}
	if len(found.columns) == 0 { // of no rows, whose types are not told
		return nil, nil
	}
	rowOf, err := rowsByKey(whole, found, 0, len(d.keys))
	if err != nil || rowOf == nil {
		return nil, err
	}
	out := &block{rows: whole.rows, columns: make([]column, len(columns))}
	for k, i := range slices.Concat(d.keys, d.whole) {
		out.columns[i] = whole.columns[k]
	}
	for k, i := range d.parts {
		switch values := found.columns[len(d.keys)+k].data.(type) {
		case []uint64:
			out.columns[i].data = spreadOver(values, rowOf, whole.rows)
		case []int64:
			out.columns[i].data = spreadOver(values, rowOf, whole.rows)
		case []float64:
			out.columns[i].data = spreadOver(values, rowOf, whole.rows)
		default:
			return nil, nil
		}
	}
	return out, nil
}

// ofLayers asks for keys and columns that depend on layers, over their rows alone.
func (e *Engine) ofLayers(ctx context.Context, ls *layers, keys, parts []string, rest string) (*block, error) {
	means := ls.meaning
	filter := means.where(parts)
	if filter == "("+means.selected+")" {
		means.selected = "1" // for every row that is left
		parts = slices.Clone(parts)
		for i := range parts {
			parts[i] = ofEveryRow(parts[i])
		}
	}
	asked := slices.Concat(keys, parts)
	if ls.filter != "1" {
		filter = "(" + ls.filter + ") AND " + filter
	}
	return e.statement(ctx, filter, asked, means.in(strings.Join(asked, ", ")), rest)
}

// ofEveryRow is a column where every row is selected. An If for each row takes about as
// long as to count it.
func ofEveryRow(column string) string {
	column = strings.ReplaceAll(column, " AND "+selectedMark+")", ")")
	if column == counting(selectedMark) {
		return counting("1")
	}
	value, selected := strings.CutSuffix(column, ", "+selectedMark+")")
	if value, sum := strings.CutPrefix(value, "sumIf("); selected && sum {
		return "sum(" + value + ")"
	}
	return column
}

// spreadOver puts values into their rows, and zeros into the others.
func spreadOver[T any](values []T, rowOf []int, rows int) []T {
	out := make([]T, rows)
	for i, row := range rowOf {
		out[row] = values[i]
	}
	return out
}

// rowsByKey finds, for each row of what was counted for a part, the row of all with
// the same keys; nil where keys are no whole numbers. Keys are the first columns of
// all, and in found those that begin at from.
func rowsByKey(all, found *block, from, keys int) ([]int, error) {
	numbers := func(b *block, from int) [][]uint64 {
		out := make([][]uint64, keys)
		for i := range out {
			out[i] = b.columns[from+i].numbersOf()
		}
		return out
	}
	own := numbers(all, 0)
	if slices.ContainsFunc(own, func(c []uint64) bool { return c == nil }) {
		return nil, nil
	}
	out := make([]int, found.rows)
	if found.rows == 0 {
		return out, nil
	}
	others := numbers(found, from)
	if keys == 1 {
		return out, rowsOf(own[0], others[0], out)
	}
	at := make(map[string]int, all.rows)
	var buf []byte
	text := func(columns [][]uint64, row int) []byte {
		buf = buf[:0]
		for _, c := range columns {
			buf = binary.AppendUvarint(buf, c[row])
		}
		return buf
	}
	for row := range all.rows {
		at[string(text(own, row))] = row
	}
	for row := range out {
		k, known := at[string(text(others, row))]
		if !known {
			return nil, errNoSuchGroup
		}
		out[row] = k
	}
	return out, nil
}

var errNoSuchGroup = errors.New("a part has a group that the whole does not have")

// rowsOf is rowsByKey for one key: small ones are looked up in a table.
func rowsOf(all, found []uint64, out []int) error {
	if len(all) == 0 {
		return errNoSuchGroup
	}
	if most := max(slices.Max(all), slices.Max(found)); most < 16*smallKeys {
		at := make([]int, most+1) // and one more; 0 for none
		for row, key := range all {
			at[key] = row + 1
		}
		for row, key := range found {
			if out[row] = at[key] - 1; out[row] < 0 {
				return errNoSuchGroup
			}
		}
		return nil
	}
	at := make(map[uint64]int, len(all))
	for row, key := range all {
		at[key] = row
	}
	for row, key := range found {
		k, known := at[key]
		if !known {
			return errNoSuchGroup
		}
		out[row] = k
	}
	return nil
}

// wholes keeps answers that no selection changes. A stored run does not change either:
// another import of its name has other tables.
type wholes struct {
	mu     sync.Mutex
	blocks map[string]*block
	oldest []string // keys, in the order they came
	cells  int
}

// mostWholeCells bounds what is kept: 64 MB.
const mostWholeCells = 8 << 20

func (w *wholes) find(key string) *block {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.blocks[key]
}

func (w *wholes) keep(key string, b *block) {
	w.mu.Lock()
	defer w.mu.Unlock()
	size := func(b *block) int { return b.rows * len(b.columns) }
	if w.blocks[key] != nil || size(b) > mostWholeCells/4 {
		return
	}
	if w.blocks == nil {
		w.blocks = map[string]*block{}
	}
	w.blocks[key] = b
	w.oldest = append(w.oldest, key)
	w.cells += size(b)
	for w.cells > mostWholeCells {
		w.cells -= size(w.blocks[w.oldest[0]])
		delete(w.blocks, w.oldest[0])
		w.oldest = w.oldest[1:]
	}
}
