package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/engine/query"
)

// layers is SQL for the rows of each layer. A condition of "1" is everything the
// filter lets through, and "0" is nothing; others are marks, whose meaning is put
// in their place when a server is asked.
type layers struct {
	filter   string
	selected string
	hovered  string // hover and selection
	hover    string // hover alone
	meaning  marks

	drag  *drag             // nil: every statement is asked
	cells map[string]*block // what a bundle of pairs found, by key of the pair
}

func (e *Engine) layers(ctx context.Context, r *query.Request) (ls layers, err error) {
	if ls.filter, err = e.condition(ctx, r.Filter); err != nil {
		return ls, err
	}
	if ls.selected, err = e.condition(ctx, r.Where); err != nil {
		return ls, err
	}
	ls.selected = ls.meaning.stand(selectedMark, ls.selected)
	ls.hover, ls.hovered = "0", "0"
	if r.Hover != nil {
		if ls.hover, err = e.condition(ctx, r.Hover); err != nil {
			return ls, err
		}
		ls.hover = ls.meaning.stand(hoverMark, ls.hover)
		ls.hovered = ls.hover
		if r.Where != nil {
			ls.hovered = "(" + ls.hover + " AND " + ls.selected + ")"
		}
	}
	return ls, nil
}

func (ls *layers) of(l query.Layer) string {
	return [query.Layers]string{"1", ls.selected, ls.hovered}[l]
}

// aggregate is one column of a question that has a value for each layer. Layers
// that are the same, or nothing, are asked once or not at all.
type aggregate struct {
	columns []string
	at      [query.Layers]int // in columns; -1: nothing
}

// of adds the aggregate for rows of every layer that also satisfy a condition.
func (ls *layers) aggregate(make func(condition string) string, also string) aggregate {
	a := aggregate{}
	known := map[string]int{}
	for l := range query.Layers {
		condition := ls.of(query.Layer(l))
		if condition == "0" {
			a.at[l] = -1
			continue
		}
		switch {
		case also == "1":
		case condition == "1":
			condition = also
		default:
			condition = "(" + also + " AND " + condition + ")"
		}
		i, ok := known[condition]
		if !ok {
			i = len(a.columns)
			known[condition] = i
			a.columns = append(a.columns, make(condition))
		}
		a.at[l] = i
	}
	return a
}

func counting(condition string) string {
	if condition == "1" {
		return "count()"
	}
	return "countIf(" + condition + ")"
}

func summing(value, condition string) string {
	if condition == "1" {
		return "sum(" + value + ")"
	}
	return "sumIf(" + value + ", " + condition + ")"
}

func (e *Engine) ask(ctx context.Context, sql string) (*block, error) {
	b, err := e.server.entry.query(ctx, sql)
	var refused *serverError
	if errors.As(err, &refused) && isMissing[refused.Code] {
		if left := e.server.left(ctx, e.document); left != nil {
			return nil, left
		}
	}
	return b, err
}

// Answer answers every question of the request.
func (e *Engine) Answer(ctx context.Context, r *query.Request) (*query.Answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d, err := e.dragOf(ctx, r)
	if err != nil {
		return nil, err
	}
	return e.answer(ctx, r, d)
}

// answer is Answer with the cube of a drag, if there is one.
func (e *Engine) answer(ctx context.Context, r *query.Request, d *drag) (*query.Answer, error) {
	ls, err := e.layers(ctx, r)
	if err != nil {
		return nil, err
	}
	if d != nil {
		ls.selected, ls.drag = selectedMark, d
	}
	a := &query.Answer{
		Axes: make([]query.Histogram, len(r.Axes)), Pairs: make([]query.Density, len(r.Pairs)),
		Groups: make([]query.Groups, len(r.Groups)), Stats: make([]query.Stats, len(r.Stats)),
	}
	binners := make([]*query.Binner, len(r.Axes))
	for i, axis := range r.Axes {
		if binners[i], err = e.binnerOf(ctx, axis); err != nil {
			return nil, err
		}
		a.Axes[i].Binning = binners[i].Binning
	}
	for _, p := range r.Pairs {
		if !p.Fits(len(r.Axes)) {
			return nil, fmt.Errorf("pair of axes %d and %d: there are %d axes", p.Left, p.Right, len(r.Axes))
		}
	}
	questions, err := e.questions(r, a, &ls, binners)
	if err != nil {
		return nil, err
	}
	g := parallel.NewGroup(ctx)
	next := make(chan func(context.Context) error, len(questions))
	for _, q := range questions {
		next <- q
	}
	close(next)
	for range min(questionsAtOnce, len(questions)) {
		g.Go(func(ctx context.Context) error {
			for q := range next {
				if err := q(ctx); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, first(ctx, err)
	}
	if ls.countedByAxes(r) {
		for l := range query.Layers {
			for _, n := range a.Axes[0].Counts[l] {
				a.Counts[l] += int(n)
			}
		}
	}
	return a, ctx.Err()
}

// countedByAxes reports whether the bins of an axis say how many rows there are, so that
// nobody has to ask.
func (ls *layers) countedByAxes(r *query.Request) bool { return len(r.Axes) > 0 && ls.hover == "0" }

// first keeps a cancelled request a cancelled request.
func first(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return ctx.Err()
	}
	return err
}

// questions are the statements of a request. Each writes its own part of the
// answer.
func (e *Engine) questions(r *query.Request, a *query.Answer, ls *layers, binners []*query.Binner) ([]func(context.Context) error, error) {
	var out []func(context.Context) error
	if !ls.countedByAxes(r) {
		out = append(out, func(ctx context.Context) error { return e.counts(ctx, a, ls) })
	}
	pairs := make([]*pairing, len(r.Pairs))
	counted := make([]bool, len(r.Axes))
	for i, p := range r.Pairs {
		var err error
		if pairs[i], err = e.pairing(binners[p.Left], binners[p.Right]); err != nil {
			return nil, err
		}
		pairs[i].into = &a.Pairs[i]
		// Histograms are margins of pairs.
		for side, axis := range [2]int{p.Left, p.Right} {
			if !counted[axis] {
				counted[axis], pairs[i].margins[side] = true, &a.Axes[axis]
			}
		}
	}
	together, alone := e.bundles(pairs, ls)
	for _, b := range together {
		out = append(out, func(ctx context.Context) error { return e.bundle(ctx, b, ls) })
	}
	for _, p := range alone {
		out = append(out, func(ctx context.Context) error { return e.pair(ctx, p, ls) })
	}
	for i := range r.Axes {
		if !counted[i] {
			out = append(out, func(ctx context.Context) error { return e.histogram(ctx, &a.Axes[i], ls, binners[i]) })
		}
	}
	for i, g := range r.Groups {
		out = append(out, func(ctx context.Context) (err error) {
			a.Groups[i], err = e.groups(ctx, g, ls)
			return err
		})
	}
	for i, s := range r.Stats {
		out = append(out, func(ctx context.Context) (err error) {
			a.Stats[i], err = e.stats(ctx, s, ls)
			return err
		})
	}
	if r.Places {
		out = append(out, func(ctx context.Context) (err error) {
			a.Places, err = e.places(ctx, ls)
			return err
		})
	}
	if r.Rows != nil {
		out = append(out, func(ctx context.Context) (err error) {
			a.Rows, err = e.page(ctx, r.Rows, ls)
			return err
		})
	}
	return out, nil
}

// table asks for columns of a statement over the rows of the filter.
func (e *Engine) table(ctx context.Context, ls *layers, columns []string, rest string) (*block, error) {
	if ls.drag != nil {
		return ls.drag.table(ctx, e, columns, rest)
	}
	return e.layered(ctx, ls, columns, rest)
}

// statement asks for columns, whose SQL is given, over the rows of a filter.
func (e *Engine) statement(ctx context.Context, filter string, columns []string, selected, rest string) (*block, error) {
	sql := "SELECT " + selected + " FROM " + e.from()
	b, err := e.ask(ctx, sql+where(filter)+rest)
	if err != nil {
		return nil, err
	}
	if b.rows > 0 && len(b.columns) != len(columns) {
		return nil, fmt.Errorf("asked for %d columns and got %d", len(columns), len(b.columns))
	}
	return b, nil
}

// rowColumn finds the columns of rows in a condition.
var rowColumn = regexp.MustCompile(`\b(?:[bcp][0-9]+|place|r)\b`)

// where is SQL that leaves the rows of a condition. The others' columns are not even
// cut to size with PREWHERE, which 18.16 does not think of by itself where a condition
// reads a large column: a selected pair takes half the time.
func where(condition string) string {
	switch {
	case condition == "1":
		return ""
	case !rowColumn.MatchString(condition): // all rows or none
		return " WHERE " + condition
	}
	return " PREWHERE " + condition
}

func (e *Engine) counts(ctx context.Context, a *query.Answer, ls *layers) error {
	n := ls.aggregate(counting, "1")
	columns := n.columns
	if ls.hover != "0" {
		columns = append(columns, counting(ls.hover))
	}
	b, err := e.table(ctx, ls, columns, "")
	if err != nil {
		return err
	}
	if b.rows == 0 {
		return nil
	}
	for l := range query.Layers {
		a.Counts[l] = int(n.count(b, 0, query.Layer(l), 0))
	}
	if ls.hover != "0" {
		a.HoverAll = int(b.columns[len(n.columns)].numbersOf()[0])
	}
	return nil
}

// count returns the value of a layer in a row of the answer, whose columns of the
// aggregate begin at from.
func (a *aggregate) count(b *block, from int, l query.Layer, row int) uint64 {
	if a.at[l] < 0 {
		return 0
	}
	d, _ := b.columns[from+a.at[l]].data.([]uint64)
	return d[row]
}

func (a *aggregate) float(b *block, from int, l query.Layer, row int) float64 {
	if a.at[l] < 0 {
		return 0
	}
	d, _ := b.columns[from+a.at[l]].data.([]float64)
	return d[row]
}

func (e *Engine) histogram(ctx context.Context, h *query.Histogram, ls *layers, b *query.Binner) error {
	bin, err := e.binSQL(b)
	if err != nil {
		return err
	}
	n := ls.aggregate(counting, "1")
	got, err := e.table(ctx, ls, append([]string{"toUInt32(" + bin + ") AS left"}, n.columns...), " GROUP BY left")
	if err != nil {
		return err
	}
	cells := b.Binning.Cells()
	for l := range h.Counts {
		h.Counts[l] = make([]uint32, cells)
	}
	for row := range got.rows {
		if n.count(got, 1, query.All, row) == 0 {
			continue // a bin that is the same for all rows is there without any
		}
		bin := int(texts[uint32](got, 0)[row])
		if bin >= cells {
			return fmt.Errorf("axis %s: a row in bin %d of %d", b.Binning.Column, bin, cells)
		}
		for l := range query.Layers {
			h.Counts[l][bin] += uint32(n.count(got, 1, query.Layer(l), row))
		}
	}
	return nil
}

// sums is how the values of a column are summed: exactly, in whole numbers of 64
// bits, where their bounds allow it; in halves of 32 bits where only those fit;
// and as floats otherwise.
type sums struct {
	valued, sum, low, squares, squaresLow aggregate
	form                                  *columnForm
	split, splitSquares, floatSquares     bool
	from                                  int // first column of the answer
}

const half = 4294967295

func (e *Engine) sums(f *columnForm, ls *layers, from int) (*sums, []string) {
	s := &sums{form: f, from: from}
	also := f.present()
	if f.zeroed { // and 0 adds nothing
		also = "1"
	}
	add := func(value string) aggregate {
		return ls.aggregate(func(condition string) string { return summing(value, condition) }, also)
	}
	s.valued = ls.aggregate(counting, "1")
	if f.Holes { // 0 or 1
		s.valued = ls.aggregate(func(condition string) string { return summing(f.present(), condition) }, "1")
	}
	largest, rows := e.described[f.number].Division.Largest(), float64(e.document.Rows)
	v := f.column()
	square := func(v string) string { return v + " * " + v }
	switch {
	case f.Type == "float64":
		s.sum, s.squares, s.floatSquares = add(v), add(square(v)), true
	case f.Type == "address":
		s.split, s.floatSquares = true, true
		s.sum, s.low = add("bitShiftRight("+v+", 32)"), add("bitAnd("+v+", "+strconv.Itoa(half)+")")
		s.squares = add(square("toFloat64(" + v + ")"))
	default:
		// A product has twice the bits of its factors, and a sum 64: only numbers
		// of 64 bits are better told to be signed.
		wide := v
		if f.Type == "int64" && f.stored == "" {
			wide = "toInt64(" + v + ")"
		}
		s.sum = add(wide)
		if largest*rows >= 1<<62 {
			s.split = true
			wide := "toInt64(" + v + ")"
			s.sum, s.low = add("bitShiftRight("+wide+", 32)"), add("bitAnd("+wide+", "+strconv.Itoa(half)+")")
		}
		switch {
		case largest*largest*rows < 1<<62:
			s.squares = add(square(wide))
		case largest < 1<<31:
			s.splitSquares = true
			s.squares, s.squaresLow = add("bitShiftRight("+square(wide)+", 32)"), add("bitAnd("+square(wide)+", "+strconv.Itoa(half)+")")
		default:
			s.floatSquares = true
			s.squares = add(square("toFloat64(" + v + ")"))
		}
	}
	return s, slices.Concat(s.valued.columns, s.sum.columns, s.low.columns, s.squares.columns, s.squaresLow.columns)
}

// read returns what a row of the answer says of a layer.
func (s *sums) read(b *block, l query.Layer, row int) (valued int, sum, squares float64) {
	at := s.from
	valued = int(s.valued.count(b, at, l, row))
	if s.valued.at[l] < 0 {
		return 0, 0, 0
	}
	at += len(s.valued.columns)
	lowAt := at + len(s.sum.columns)
	switch {
	case s.split:
		sum = wideSum(&s.sum, b, at, &s.low, lowAt, l, row)
	case s.form.Type == "float64":
		sum = s.sum.float(b, at, l, row)
	default:
		sum = float64(whole(&s.sum, b, at, l, row).Int64())
	}
	at = lowAt + len(s.low.columns)
	lowAt = at + len(s.squares.columns)
	switch {
	case s.splitSquares:
		squares = wideSum(&s.squares, b, at, &s.squaresLow, lowAt, l, row)
	case s.floatSquares:
		squares = s.squares.float(b, at, l, row)
	default:
		squares = float64(whole(&s.squares, b, at, l, row).Int64())
	}
	return valued, sum, squares
}

func whole(a *aggregate, b *block, from int, l query.Layer, row int) *big.Int {
	switch d := b.columns[from+a.at[l]].data.(type) {
	case []int64:
		return big.NewInt(d[row])
	case []uint64:
		return new(big.Int).SetUint64(d[row])
	}
	return new(big.Int)
}

// wideSum puts a sum of high and one of low halves together.
func wideSum(high *aggregate, b *block, from int, low *aggregate, lowFrom int, l query.Layer, row int) float64 {
	sum := whole(high, b, from, l, row)
	sum.Lsh(sum, 32)
	sum.Add(sum, whole(low, b, lowFrom, l, row))
	f, _ := new(big.Float).SetInt(sum).Float64()
	return f
}

// mostGroups bounds the groups of one answer: nobody reads more, and all are
// ranked here.
const mostGroups = 2_000_000

func (e *Engine) groups(ctx context.Context, g query.Group, ls *layers) (query.Groups, error) {
	forms := make([]*columnForm, len(g.By))
	for i, name := range g.By {
		f, err := e.form(name)
		if err != nil {
			return query.Groups{}, err
		}
		forms[i] = f
	}
	keyed := e.groupKeys(forms)
	columns := slices.Clone(keyed.columns)
	counts := ls.aggregate(counting, "1")
	countsAt := len(columns)
	columns = append(columns, counts.columns...)
	var s *sums
	if g.Sum != "" {
		f, err := e.numberForm(g.Sum)
		if err != nil {
			return query.Groups{}, err
		}
		var more []string
		s, more = e.sums(f, ls, len(columns))
		columns = append(columns, more...)
	}
	var distinct aggregate
	distinctAt := len(columns)
	if g.Distinct != "" {
		f, err := e.form(g.Distinct)
		if err != nil {
			return query.Groups{}, err
		}
		distinct = ls.aggregate(func(condition string) string { return "uniqExactIf(" + f.column() + ", " + condition + ")" }, f.present())
		columns = append(columns, distinct.columns...)
	}
	rest := ""
	if len(keyed.by) > 0 {
		rest = " GROUP BY " + strings.Join(keyed.by, ", ")
	}
	b, err := e.table(ctx, ls, columns, rest+" LIMIT "+strconv.Itoa(mostGroups+1))
	if err != nil {
		return query.Groups{}, err
	}
	if b.rows > mostGroups {
		return query.Groups{}, query.Refuse("there are more than %d groups by %s; filter to fewer rows first", mostGroups, strings.Join(g.By, ", "))
	}
	if len(keyed.by) == 0 && b.rows == 1 && counts.count(b, countsAt, query.All, 0) == 0 {
		b.rows = 0
	}
	keys, err := e.keysOf(keyed, b)
	if err != nil {
		return query.Groups{}, err
	}
	ranking := query.NewRanking(g, keys)
	for row := range b.rows {
		x := query.RankedGroup{First: row}
		for l := range query.Layers {
			layer := query.Layer(l)
			x.Row.Counts[l] = int(counts.count(b, countsAt, layer, row))
			if s != nil {
				x.Row.Valued[l], x.Row.Sums[l], x.Row.Squares[l] = s.read(b, layer, row)
			}
			if g.Distinct != "" {
				x.Row.Distinct[l] = int(distinct.count(b, distinctAt, layer, row))
			}
		}
		ranking.Add(x)
	}
	return ranking.Groups(), nil
}

// stats asks for moments first: ranks follow from the number of values.
func (e *Engine) stats(ctx context.Context, q query.Stat, ls *layers) (query.Stats, error) {
	var out query.Stats
	f, err := e.numberForm(q.Column)
	if err != nil {
		return out, err
	}
	s, columns := e.sums(f, ls, 0)
	end := func(name string) aggregate {
		return ls.aggregate(func(condition string) string {
			return "toFloat64(" + name + "If(" + f.column() + ", " + condition + "))"
		}, f.present())
	}
	least, most := end("min"), end("max")
	leastAt := len(columns)
	columns = append(columns, least.columns...)
	mostAt := len(columns)
	columns = append(columns, most.columns...)
	b, err := e.table(ctx, ls, columns, "")
	if err != nil {
		return out, err
	}
	for l := range query.Layers {
		layer := query.Layer(l)
		out.Min[l], out.Max[l] = math.NaN(), math.NaN()
		if b.rows > 0 {
			out.Counts[l], out.Sums[l], out.Squares[l] = s.read(b, layer, 0)
		}
		if out.Counts[l] > 0 {
			out.Min[l], out.Max[l] = least.float(b, leastAt, layer, 0), most.float(b, mostAt, layer, 0)
		}
		out.Quantiles[l] = slices.Repeat([]float64{math.NaN()}, len(q.Quantiles))
		if len(q.Quantiles) == 0 {
			out.Quantiles[l] = nil
		}
	}
	return out, e.quantiles(ctx, f, q, ls, &out)
}

// quantiles asks for the values of ranks. The function takes the value at the
// whole part of level × count, so half a rank more meets the rank whatever the
// rounding.
func (e *Engine) quantiles(ctx context.Context, f *columnForm, q query.Stat, ls *layers, out *query.Stats) error {
	var columns []string
	var at [query.Layers]int
	known := map[string]int{}
	for l := range query.Layers {
		at[l] = -1
		n := out.Counts[l]
		if n == 0 || len(q.Quantiles) == 0 {
			continue
		}
		condition := "(" + f.present() + " AND " + ls.of(query.Layer(l)) + ")"
		if i, ok := known[condition]; ok {
			at[l] = i
			continue
		}
		levels := make([]string, len(q.Quantiles))
		for i, share := range q.Quantiles {
			levels[i] = strconv.FormatFloat((float64(query.NearestRank(share, n))+0.5)/float64(n), 'f', -1, 64)
		}
		at[l] = len(columns)
		known[condition] = at[l]
		list := fmt.Sprintf("q%d", l)
		all := "quantilesExactIf(" + strings.Join(levels, ", ") + ")(" + f.column() + ", " + condition + ") AS " + list
		for i := range levels {
			if i == 0 {
				columns = append(columns, "toFloat64(arrayElement("+all+", 1))")
				continue
			}
			columns = append(columns, fmt.Sprintf("toFloat64(arrayElement(%s, %d))", list, i+1))
		}
	}
	if len(columns) == 0 {
		return nil
	}
	b, err := e.table(ctx, ls, columns, "")
	if err != nil {
		return err
	}
	for l := range query.Layers {
		for i := range q.Quantiles {
			if at[l] >= 0 && b.rows > 0 {
				out.Quantiles[l][i] = texts[float64](b, at[l]+i)[0]
			}
		}
	}
	return nil
}

func (e *Engine) places(ctx context.Context, ls *layers) (*query.Places, error) {
	if e.data.Placing == nil {
		return nil, query.ErrNotPlaced
	}
	n := e.data.Placing.Count
	counts := ls.aggregate(counting, "1")
	columns := append([]string{placeColumn}, counts.columns...)
	var s *sums
	if c := samples.UsableLatency(e.data.Table); c != nil {
		f, err := e.numberForm(c.Name)
		if err != nil {
			return nil, err
		}
		var more []string
		s, more = e.sums(f, ls, len(columns))
		columns = append(columns, more...)
	}
	b, err := e.table(ctx, ls, columns, " GROUP BY "+placeColumn)
	if err != nil {
		return nil, err
	}
	p := &query.Places{}
	var codes []uint64
	if b.rows > 0 {
		codes = b.columns[0].numbersOf()
	}
	for l := range query.Layers {
		p.Counts[l] = make([]uint64, n)
		if s != nil {
			p.Sums[l], p.Squares[l], p.Valued[l] = make([]float64, n), make([]float64, n), make([]uint64, n)
		}
		for row := range b.rows {
			place := int(codes[row])
			if place >= n {
				return nil, fmt.Errorf("a row has place %d of %d", place, n)
			}
			p.Counts[l][place] = counts.count(b, 1, query.Layer(l), row)
			if s != nil {
				valued, sum, squares := s.read(b, query.Layer(l), row)
				p.Valued[l][place], p.Sums[l][place], p.Squares[l][place] = uint64(valued), sum, squares
			}
		}
	}
	return p, nil
}
