package enginetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// Data returns a table with a column of every kind, ordinary and nasty, placed
// on a small machine.
func Data(r *rand.Rand, rows int) query.Data {
	t, err := table.New("samples", []*table.Column{
		numbers(r, rows, "time", table.Time, func(i int) int64 { return int64(i) * 1000 }),
		integers(r, rows, "cpu", func(int) int32 { return int32(r.IntN(144)) }),
		holes(r, integers(r, rows, "latency", latency(r))),
		integers(r, rows, "line", func(int) int32 { return int32(r.IntN(300)) + 1 }),
		integers(r, rows, "same", func(int) int32 { return 7 }),
		integers(r, rows, "wide", func(int) int32 { return int32(r.Uint32()) }),
		holes(r, numbers(r, rows, "huge", table.Number, func(int) int64 { return int64(r.Uint64()) >> 2 })),
		// Multiples of 1/8 sum without rounding, in any order.
		holes(r, floats(rows, "ratio", func(int) float64 { return float64(r.IntN(4000))/8 - 100 })),
		// These do, so they show whether an engine subtracts what it should not.
		holes(r, floats(rows, "share", func(int) float64 { return r.NormFloat64() * math.Exp(r.Float64()*8) })),
		floats(rows, "wild", wildFloat(r)),
		names(r, rows, "level", []string{"L1", "L2", "L3", "L10", "Local RAM"}, true),
		names(r, rows, "symbol", manyNames(), false),
		names(r, rows, "unused", []string{"never", "always", "nor this"}, false),
		holes(r, &table.Column{Name: "lock", Kind: table.Flag, Data: fill(rows, func(int) uint8 { return uint8(r.IntN(2)) })}),
		{Name: "addr", Kind: table.Address, Data: fill(rows, func(int) uint64 { return 1<<63 + r.Uint64N(1<<20)*8 })},
		{Name: "void", Kind: table.Number, Data: make([]int32, rows), Valid: table.NewBits(rows)},
	})
	if err != nil {
		panic(err)
	}
	return query.Data{Table: t, Placing: placing(r, rows), RowSets: &query.RowSets{}}
}

func placing(r *rand.Rand, rows int) *query.Placing {
	const places = 12
	return &query.Placing{
		Row:   fill(rows, func(int) uint32 { return uint32(r.IntN(places)) }),
		Count: places,
		Touching: func(resource string) ([]bool, error) {
			n, err := strconv.Atoi(resource[len("L3:"):])
			if err != nil {
				return nil, fmt.Errorf("no resource %q", resource)
			}
			touched := make([]bool, places)
			for i := range touched {
				touched[i] = i%3 == n
			}
			return touched, nil
		},
	}
}

func fill[T any](n int, value func(i int) T) []T {
	s := make([]T, n)
	for i := range s {
		s[i] = value(i)
	}
	return s
}

// holes takes the value from every tenth row or so.
func holes(r *rand.Rand, c *table.Column) *table.Column {
	n := c.Len()
	c.Valid = table.NewBits(n)
	for i := range n {
		if r.IntN(10) > 0 {
			c.Valid.Set(i)
			continue
		}
		switch d := c.Data.(type) {
		case []int32:
			d[i] = 0
		case []int64:
			d[i] = 0
		case []float64:
			d[i] = 0
		case []uint8:
			d[i] = 0
		case []uint32:
			d[i] = 0
		}
	}
	return c
}

func latency(r *rand.Rand) func(int) int32 {
	return func(int) int32 {
		if r.IntN(5000) == 0 {
			return math.MaxInt32 - 1 // one of the nonsensical ones
		}
		return int32(math.Exp(r.Float64()*7)) - 1
	}
}

func wildFloat(r *rand.Rand) func(int) float64 {
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, 1e300, -1e300, 5e-324}
	return func(int) float64 {
		if k := r.IntN(2000); k < len(special) {
			return special[k]
		}
		return r.NormFloat64() * math.Exp(r.Float64()*20-10)
	}
}

func manyNames() []string {
	return fill(1500, func(i int) string { return fmt.Sprintf("f%d.part %d", i%37, i) })
}

func integers(_ *rand.Rand, rows int, name string, value func(int) int32) *table.Column {
	return &table.Column{Name: name, Kind: table.Number, Data: fill(rows, value)}
}

func numbers(_ *rand.Rand, rows int, name string, k table.Kind, value func(int) int64) *table.Column {
	return &table.Column{Name: name, Kind: k, Data: fill(rows, value)}
}

func floats(rows int, name string, value func(int) float64) *table.Column {
	return &table.Column{Name: name, Kind: table.Number, Data: fill(rows, value)}
}

func names(r *rand.Rand, rows int, name string, dict []string, gaps bool) *table.Column {
	c := &table.Column{Name: name, Kind: table.Category, Dict: dict}
	c.Data = fill(rows, func(int) uint32 {
		if name == "unused" {
			return 1
		}
		// Early names are much more frequent than late ones.
		return uint32(float64(len(dict)) * math.Pow(r.Float64(), 3))
	})
	if gaps {
		holes(r, c)
	}
	return c
}

// Request returns random questions about the data.
func Request(r *rand.Rand, d query.Data) *query.Request {
	q := &query.Request{Where: randomExpr(r, d, 2), Hover: randomExpr(r, d, 1)}
	if r.IntN(2) == 0 {
		q.Filter = randomExpr(r, d, 1)
	}
	if r.IntN(4) == 0 {
		q.Where = nil
	}
	for range r.IntN(5) {
		q.Axes = append(q.Axes, axis(r, d))
	}
	if n := len(q.Axes); n > 0 {
		for range r.IntN(4) {
			q.Pairs = append(q.Pairs, query.Pair{Left: r.IntN(n), Right: r.IntN(n)})
		}
	}
	for range r.IntN(3) {
		q.Groups = append(q.Groups, groups(r))
	}
	for range r.IntN(3) {
		q.Stats = append(q.Stats, query.Stat{
			Column:    pick(r, "latency", "time", "wild", "ratio", "share", "huge", "same", "void", "addr", "lock"),
			Quantiles: []float64{0, 0.01, 0.25, 0.5, r.Float64(), 0.99, 1},
		})
	}
	q.Places = r.IntN(3) == 0
	if r.IntN(3) == 0 {
		q.Rows = &query.Page{
			Offset: r.IntN(d.Table.Rows() + 10), Count: r.IntN(30), Down: r.IntN(2) == 0,
			Sort: pick(r, "", "time", "latency", "level", "symbol", "same", "wild", "addr", "huge", "void"),
		}
		if r.IntN(2) == 0 {
			q.Rows.Offset = r.IntN(40)
		}
		if r.IntN(2) == 0 {
			q.Rows.Columns = []string{"level", "latency"}
		}
	}
	return q
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

func axis(r *rand.Rand, d query.Data) query.Axis {
	c := pick(r, d.Table.Columns()...)
	a := query.Axis{Column: c.Name, Bins: pick(r, 0, 0, 1, 2, 16, 100, 100, 127, 128, 255, 256, 300, 1000)}
	if c.Kind == table.Category {
		a.Scale = pick(r, query.Natural, query.Rank, query.Appearance, query.Names)
		return a
	}
	a.Scale = pick(r, query.Natural, query.Linear, query.Log, query.Quantile)
	if r.IntN(4) == 0 {
		a.Lo, a.Hi = float64(r.IntN(100)), float64(100+r.IntN(400))
	}
	return a
}

func groups(r *rand.Rand) query.Group {
	g := query.Group{
		By:    [][]string{{"line"}, {"symbol"}, {"cpu"}, {"level"}, {"level", "lock"}, {"symbol", "line", "cpu"}, {"addr"}, {"wild"}, {"void"}, {}}[r.IntN(10)],
		Sum:   pick(r, "", "latency", "latency", "ratio", "share", "share", "wild", "huge", "wide", "addr", "lock"),
		Order: pick(r, query.BySum, query.ByCount, query.ByMean, query.ByKey),
		Top:   pick(r, 0, 5, 20),
	}
	if r.IntN(3) == 0 {
		g.Distinct = pick(r, "line", "level", "wild", "void", "symbol")
	}
	if g.Sum == "huge" || g.Sum == "wide" || g.Sum == "wild" || g.Sum == "addr" {
		g.Order = query.ByKey // their sums are rounded, and rank follows rounding
	}
	return g
}

// randomExpr returns a random selection; depth bounds how deep it nests.
func randomExpr(r *rand.Rand, d query.Data, depth int) query.Expr {
	if depth > 0 {
		switch r.IntN(5) {
		case 0:
			return query.And{Terms: []query.Expr{randomExpr(r, d, depth-1), randomExpr(r, d, depth-1)}}
		case 1:
			return query.Or{Terms: []query.Expr{randomExpr(r, d, depth-1), randomExpr(r, d, depth-1), randomExpr(r, d, 0)}}
		case 2:
			return query.Not{Term: randomExpr(r, d, depth-1)}
		}
	}
	switch r.IntN(11) {
	case 6:
		return brush(r, d)
	case 0:
		return query.At{Resource: "L3:" + strconv.Itoa(r.IntN(3))}
	case 1:
		return query.RowSet{Name: "lot"}
	case 2:
		return query.Match{Column: pick(r, "level", "symbol", "line", "addr"), Re: regexp.MustCompile(pick(r, "L", "1", "^f1", "zzz"))}
	case 3:
		return query.Missing{Column: pick(r, d.Table.Columns()...).Name, Not: r.IntN(2) == 0}
	case 4:
		return query.In{Column: "level", Values: []query.Value{query.TextValue("L2"), query.TextValue("nowhere"), query.TextValue("L10")}}
	case 5:
		return query.In{Column: pick(r, "cpu", "line", "ratio", "lock", "huge"),
			Values: []query.Value{someNumber(r, d, "cpu"), someNumber(r, d, "cpu"), query.NumberValue(1)}}
	}
	c := pick(r, d.Table.Columns()...)
	if c.Kind == table.Category {
		return query.Compare{Column: c.Name, Op: pick(r, query.Eq, query.Ne), Value: query.TextValue(pick(r, c.Dict...))}
	}
	if r.IntN(2) == 0 {
		lo, hi := someNumber(r, d, c.Name), someNumber(r, d, c.Name)
		if lo.Number > hi.Number && r.IntN(10) > 0 {
			lo, hi = hi, lo
		}
		return query.Range{Column: c.Name, Lo: lo, Hi: hi}
	}
	return query.Compare{
		Column: c.Name, Value: someNumber(r, d, c.Name),
		Op: pick(r, query.Eq, query.Ne, query.Lt, query.Le, query.Gt, query.Ge),
	}
}

// brush returns two comparisons with one column, as dragging along an axis does.
func brush(r *rand.Rand, d query.Data) query.Expr {
	name := pick(r, "time", "latency", "line", "huge", "ratio", "wild", "addr", "lock")
	return query.And{Terms: []query.Expr{
		query.Compare{Column: name, Op: pick(r, query.Ge, query.Gt), Value: someNumber(r, d, name)},
		query.Compare{Column: name, Op: pick(r, query.Lt, query.Le), Value: someNumber(r, d, name)},
	}}
}

// someNumber returns a value of the column, one close to it, or none of it.
func someNumber(r *rand.Rand, d query.Data, column string) query.Value {
	c := d.Table.Column(column)
	if c.Len() == 0 || r.IntN(10) == 0 {
		return query.NumberValue(pick(r, 0, -1, 0.5, 1e30, math.Inf(1), math.Inf(-1)))
	}
	row := r.IntN(c.Len())
	if d, ok := c.Data.([]uint64); ok && r.IntN(2) == 0 {
		return query.AddressValue(d[row])
	}
	v := c.Float(row)
	if v != v {
		v = 0
	}
	return query.NumberValue(v + pick(r, 0, 0, 0.25))
}
