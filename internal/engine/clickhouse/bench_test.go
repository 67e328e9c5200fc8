package clickhouse

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/engine/clickhouse/clickhousetest"
	"github.com/isobath/isobath/internal/engine/kernel"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/engine/query/enginetest"
)

// benchRows is how many rows are measured: ISOBATH_ROWS, or a million.
func benchRows(b *testing.B) int {
	if text := os.Getenv("ISOBATH_ROWS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			b.Fatal(err)
		}
		return n
	}
	return 1_000_000
}

// screen is what the page asks for at once: axes, their pairs, and groups.
func screen(selected query.Expr) *query.Request {
	r := &query.Request{Where: selected, Groups: []query.Group{{By: []string{"line"}, Sum: "latency", Top: 20}, {By: []string{"symbol"}, Sum: "latency", Top: 20}}, Places: true}
	for i, name := range []string{"time", "cpu", "latency", "line", "level", "symbol", "addr", "lock"} {
		r.Axes = append(r.Axes, query.Axis{Column: name})
		if i > 0 {
			r.Pairs = append(r.Pairs, query.Pair{Left: i - 1, Right: i})
		}
	}
	return r
}

// BenchmarkTwoShards stores rows on two shards of this machine and asks for a
// screen of the page: `go test -bench TwoShards ./internal/engine/clickhouse`.
func BenchmarkTwoShards(b *testing.B) {
	servers := clickhousetest.Start(b, 2)
	a, err := ParseAddress(servers[0].Address(""))
	if err != nil {
		b.Fatal(err)
	}
	s, err := Dial(b.Context(), a)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	rows := benchRows(b)
	d := enginetest.Data(rand.New(rand.NewPCG(1, 2)), rows)
	b.Run("store", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Store(b.Context(), "run"+strconv.Itoa(b.N), contents(d), Import{Force: true}); err != nil {
				b.Fatal(err)
			}
			if err := s.Remove(b.Context(), "run"+strconv.Itoa(b.N)); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	})
	if _, err := s.Store(b.Context(), "run", contents(d), Import{Force: true}); err != nil {
		b.Fatal(err)
	}
	for _, server := range servers {
		if err := server.Rest(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	r, err := s.open(b.Context(), "run")
	if err != nil {
		b.Fatal(err)
	}
	defer r.Run.Close()
	r.Engine.data.Placing = d.Placing
	slow, err := query.Parse("latency > 200", d.Table)
	if err != nil {
		b.Fatal(err)
	}
	axis := query.Axis{Column: "time"}
	b.Run("cube", func(b *testing.B) {
		for b.Loop() {
			if err := r.Engine.Prepare(b.Context(), screen(nil), axis); err != nil {
				b.Fatal(err)
			}
		}
	})
	divided, err := r.Engine.binnerOf(b.Context(), axis)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("step", func(b *testing.B) {
		edges := divided.Binning.Edges
		for i := 0; b.Loop(); i++ {
			from := query.NumberValue(edges[1+i%(len(edges)/2)])
			brush := query.Compare{Column: axis.Column, Op: query.Ge, Value: from}
			if d, err := r.Engine.dragOf(b.Context(), &query.Request{Where: brush}); err != nil || d == nil {
				b.Fatalf("no cube for %v: %v", brush, err)
			}
			if _, err := r.Engine.Answer(b.Context(), screen(brush)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("same", func(b *testing.B) { sameAsKernel(b, d, r.Engine, slow) })
	b.Run("lost", func(b *testing.B) { shardLost(b, servers[1], r.Engine) })
	// A page shows everything before anything is selected on it, and keeps that.
	for _, part := range []struct {
		name     string
		selected query.Expr
	}{{"screen", nil}, {"screen selected", slow}} {
		b.Run(part.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := r.Engine.Answer(b.Context(), screen(part.selected)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// shardLost kills a shard while it answers, and reports the longest time that it took
// until that was said.
func shardLost(b *testing.B, shard *clickhousetest.Server, e *Engine) {
	longest := time.Duration(0)
	whole := 0
	for b.Loop() {
		after, asked := killedWhileAnswering(b, e, shard, fmt.Sprintf("r >= %d AND r < %d", blockRows, blockRows+1000))
		if lost := new(ShardError); !errors.As(asked, &lost) || lost.Shard != shard.Host() {
			b.Fatalf("%s was killed while it answered: %v", shard.Host(), asked)
		}
		longest = max(longest, after)
		if err := shard.Start(); err != nil {
			b.Fatal(err)
		}
		answered(b, e)
		if err := e.server.checkRows(b.Context(), e.document); err != nil {
			b.Fatal(err)
		}
		whole++
	}
	b.ReportMetric(longest.Seconds(), "s-until-said")
	b.ReportMetric(float64(whole), "whole")
}

// sameAsKernel asks both engines for the screen of the page and for every other kind of
// question, and reports how many answers are the same in every number.
func sameAsKernel(b *testing.B, d query.Data, e query.Engine, slow query.Expr) {
	want := kernel.New(d, kernel.Options{})
	defer want.Close()
	parse := func(text string) query.Expr {
		x, err := query.Parse(text, d.Table)
		if err != nil {
			b.Fatal(err)
		}
		return x
	}
	hovered := screen(slow)
	hovered.Filter, hovered.Hover = parse("level != L1"), parse("cpu < 40")
	quantiles := []float64{0, 0.01, 0.5, 0.99, 1}
	asked := []*query.Request{
		screen(nil), screen(slow), hovered,
		{Where: parse("at L3:1"), Stats: []query.Stat{{Column: "latency", Quantiles: quantiles}, {Column: "huge", Quantiles: quantiles}, {Column: "ratio"}}},
		{Where: slow, Groups: []query.Group{{By: []string{"level", "lock"}, Sum: "huge"}, {By: []string{"symbol"}, Distinct: "line", Order: query.ByCount}, {Sum: "addr"}}},
		{Where: parse("time > 5000000 & addr != none"), Groups: []query.Group{{By: []string{"line", "cpu"}, Sum: "latency", Top: 50}}},
		{Where: slow, Rows: &query.Page{Sort: "latency", Down: true, Offset: 500, Count: 30}},
	}
	same, compared := 0, false
	for b.Loop() {
		if compared { // nothing here is timed, so that once is enough
			continue
		}
		compared = true
		for _, q := range asked {
			w, errW := want.Answer(b.Context(), q)
			g, errG := e.Answer(b.Context(), q)
			diff := ""
			if errW == nil && errG == nil {
				diff = enginetest.Diff(d, q, w, g)
			}
			if (errW == nil) != (errG == nil) || diff != "" {
				b.Logf("%s\nkernel: %v, ClickHouse: %v\n%s", enginetest.Describe(q), errW, errG, diff)
				continue
			}
			same++
		}
	}
	b.ReportMetric(float64(same), "same")
	b.ReportMetric(float64(len(asked)), "asked")
}
