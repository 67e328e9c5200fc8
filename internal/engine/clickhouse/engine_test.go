package clickhouse

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/clickhouse/clickhousetest"
	"github.com/isobath/isobath/internal/engine/kernel"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/engine/query/enginetest"
	"github.com/isobath/isobath/internal/machine/hw"
)

// contents is test data as a run; it lies on places without a topology.
func contents(d query.Data) *Contents {
	return &Contents{
		Run:   &run.Run{Manifest: run.Manifest{Version: run.Version, Kind: kind.Samples, Format: "test"}, Contents: []*table.Table{d.Table}},
		Table: d.Table, Places: &hw.Rows{Code: d.Placing.Row, Coder: &hw.Coder{}},
	}
}

func dial(t *testing.T, address string) *Server {
	t.Helper()
	a, err := ParseAddress(address)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Dial(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	s.entry.http.Transport = &understood{s.entry.http.Transport, t} // of all shards
	return s
}

// stored keeps data in small blocks, so that every shard has some, and opens it.
func stored(t *testing.T, s *Server, name string, d query.Data) *Engine {
	t.Helper()
	if _, err := s.Store(t.Context(), name, contents(d), Import{Force: true, BlockRows: 100}); err != nil {
		t.Fatal(err)
	}
	r, err := s.open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Run.Close() })
	r.Engine.data.Placing, r.Engine.data.RowSets = d.Placing, d.RowSets
	return r.Engine
}

// TestConformance asks two shards what the kernel is asked, and gets its answers.
func TestConformance(t *testing.T) {
	checkConformance(t, dial(t, clickhousetest.Start(t, 2)[0].Address("")))
}

func checkConformance(t *testing.T, s *Server) {
	// A statement takes a server about as long for a thousand rows as for one.
	for seed, rows := range []int{0, 1, 65, 1000, 5000} {
		t.Run(fmt.Sprintf("rows=%d", rows), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(seed), uint64(rows)))
			d := enginetest.Data(r, rows)
			want := kernel.New(d, kernel.Options{})
			defer want.Close()
			enginetest.Same(t, r, d, want, stored(t, s, fmt.Sprintf("r%d", rows), d), 4)
		})
	}
}

// drags are brushes of an axis, from edge to edge.
func drags(t *testing.T, e *Engine, axis query.Axis) []query.Expr {
	t.Helper()
	b, err := e.binnerOf(t.Context(), axis)
	if err != nil {
		t.Fatal(err)
	}
	edges := b.Binning.Edges
	var out []query.Expr
	for _, label := range b.Binning.Labels[:min(2, len(b.Binning.Labels))] {
		out = append(out, query.Compare{Column: axis.Column, Op: query.Eq, Value: query.Value{Text: label, Quoted: true}})
	}
	if len(edges) < 5 {
		return out
	}
	for _, ends := range [][2]int{{1, 3}, {2, len(edges) / 2}, {len(edges) / 3, len(edges) - 2}} {
		from := query.Compare{Column: axis.Column, Op: query.Ge, Value: query.NumberValue(edges[ends[0]])}
		to := query.Compare{Column: axis.Column, Op: query.Lt, Value: query.NumberValue(edges[ends[1]])}
		out = append(out, query.And{Terms: []query.Expr{from, to}})
	}
	return out
}

// TestDrag prepares drags and then ends the servers: the steps are answered without
// them, as the kernel answers them.
func TestDrag(t *testing.T) {
	servers := clickhousetest.Start(t, 2)
	s := dial(t, servers[0].Address(""))
	r := rand.New(rand.NewPCG(5, 6))
	d := enginetest.Data(r, 4000)
	want := kernel.New(d, kernel.Options{})
	defer want.Close()
	rest, err := query.Parse("level != L1", d.Table)
	if err != nil {
		t.Fatal(err)
	}
	engines := map[string]*Engine{}
	requests := map[string]*query.Request{}
	steps := map[string][]query.Expr{}
	for _, column := range []string{"time", "latency", "cpu"} {
		q := screen(nil)
		q.Groups = append(q.Groups, query.Group{By: []string{"line", "level"}, Sum: "latency"}, query.Group{Sum: "addr"})
		if column == "cpu" {
			q.Filter = rest
		} else {
			q.Where = rest
		}
		e := stored(t, s, "drag-"+column, d)
		axis := query.Axis{Column: column}
		if err := e.Prepare(t.Context(), q, axis); err != nil {
			t.Fatal(err)
		}
		engines[column], requests[column], steps[column] = e, q, drags(t, e, axis)
	}
	for _, server := range servers {
		server.Kill()
	}
	for column, e := range engines {
		for _, brush := range steps[column] {
			q := *requests[column]
			q.Where = query.Both(q.Where, brush)
			enginetest.Check(t, t.Context(), d, &q, want, e)
		}
	}
}

// A brush that cuts through a bin, and what cannot be added up, are asked as before.
func TestDragBeyondCube(t *testing.T) {
	checkDragBeyondCube(t, dial(t, "clickhouse://"+clickhousetest.Start(t, 1)[0].Host()+"/default"))
}

func checkDragBeyondCube(t *testing.T, s *Server) {
	r := rand.New(rand.NewPCG(7, 8))
	d := enginetest.Data(r, 1000)
	want := kernel.New(d, kernel.Options{})
	defer want.Close()
	e := stored(t, s, "run", d)
	q := screen(nil)
	q.Groups = append(q.Groups, query.Group{By: []string{"level"}, Distinct: "line"})
	if err := e.Prepare(t.Context(), q, query.Axis{Column: "latency"}); err != nil {
		t.Fatal(err)
	}
	for _, where := range []string{"latency > 37", "latency > 37 & level != L1", "cpu = 1", "latency = none"} {
		x, err := query.Parse(where, d.Table)
		if err != nil {
			t.Fatal(err)
		}
		q.Where = x
		enginetest.Check(t, t.Context(), d, q, want, e)
	}
	for _, column := range d.Table.Columns() {
		axis := query.Axis{Column: column.Name}
		q.Where = nil
		if err := e.Prepare(t.Context(), q, axis); err != nil {
			t.Fatalf("%s: %v", column.Name, err)
		}
		for _, brush := range drags(t, e, axis) {
			q.Where = brush
			enginetest.Check(t, t.Context(), d, q, want, e)
		}
	}
}

// TestUsualBins: axes as they are usually divided are asked by the bins that are kept
// with the rows, and others by their edges.
func TestUsualBins(t *testing.T) {
	s := dial(t, "clickhouse://"+clickhousetest.Start(t, 1)[0].Host()+"/default")
	e := stored(t, s, "run", enginetest.Data(rand.New(rand.NewPCG(3, 5)), 2000))
	heard := &overheard{RoundTripper: s.entry.http.Transport}
	s.entry.http.Transport = heard
	usual := &query.Request{Axes: screen(nil).Axes, Pairs: screen(nil).Pairs}
	other := &query.Request{Axes: []query.Axis{{Column: "latency", Bins: 7}}}
	for _, q := range []*query.Request{usual, other, usual, other} { // axes are divided first
		heard.statements = nil
		if _, err := e.Answer(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		all := strings.Join(heard.statements, "\n")
		for _, axis := range q.Axes {
			f, err := e.form(axis.Column)
			if err != nil {
				t.Fatal(err)
			}
			bins := regexp.MustCompile(`\b` + f.bins() + `\b`).MatchString(all)
			values := regexp.MustCompile(`\b` + f.column() + `\b`).MatchString(all)
			if len(heard.statements) == 0 || (q == usual) != bins || (q == other) != values {
				t.Errorf("%s in %d bins, by bins %v, by values %v: %s", axis.Column, axis.Bins, bins, values, all)
			}
		}
	}
}

func TestAnswerCancelled(t *testing.T) {
	servers := clickhousetest.Start(t, 1)
	s := dial(t, "clickhouse://"+servers[0].Host()+"/default")
	r := rand.New(rand.NewPCG(1, 2))
	e := stored(t, s, "run", enginetest.Data(r, 100))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Answer(ctx, &query.Request{}); err != context.Canceled {
		t.Errorf("got %v", err)
	}
}
