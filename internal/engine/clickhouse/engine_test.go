package clickhouse

import (
	"context"
	"fmt"
	"math/rand/v2"
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
	servers := clickhousetest.Start(t, 2)
	s := dial(t, servers[0].Address(""))
	for _, rows := range []int{0, 1, 65, 1000, 5000} {
		for seed := range uint64(2) {
			t.Run(fmt.Sprintf("rows=%d/seed=%d", rows, seed), func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, uint64(rows)))
				d := enginetest.Data(r, rows)
				want := kernel.New(d, kernel.Options{})
				defer want.Close()
				enginetest.Same(t, r, d, want, stored(t, s, fmt.Sprintf("r%d.%d", rows, seed), d), 4)
			})
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
