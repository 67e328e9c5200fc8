package mesh

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/table"
)

// looked is a context that ends at the n-th look at it, and counts the looks.
type looked struct {
	context.Context
	looks atomic.Int64
	last  int64
}

func (l *looked) Err() error {
	if l.looks.Add(1) > l.last {
		return context.Canceled
	}
	return nil
}

// Every scan of a large mesh or of its samples stops when its context ends: after
// that it looks only a few times more, whatever is left to be done.
func TestScansStop(t *testing.T) {
	const side = 80 // half a million cells are 8 blocks
	series, err := UnitMesh(t.Context(), [3]int{side, side, side})
	if err != nil {
		t.Fatal(err)
	}
	m, err := series.Mesh(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	m.Blocks[0].Grid.PointData = []grid.Array{{Name: "p", Comps: 1, Data: make([]float64, m.NumPoints())}}
	const rows = 10 * blockRows
	cells, latency := make([]int32, rows), make([]float64, rows)
	for i := range cells {
		cells[i], latency[i] = int32(i%(side*side*side)), float64(i)
	}
	tab, err := table.New("samples", []*table.Column{{Name: "cell", Kind: table.Number, Data: cells}, {Name: "latency", Kind: table.Number, Data: latency}})
	if err != nil {
		t.Fatal(err)
	}
	view, err := NewView(t.Context(), series, tab, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	placed, err := view.At(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	all := []int32{}
	for name, scan := range map[string]func(context.Context) error{
		"numbers of a column": func(ctx context.Context) error { _, err := Ints(ctx, tab.Column("latency")); return err },
		"places": func(ctx context.Context) error {
			_, err := Locate(ctx, view.samples, placed.Space, Numbering{})
			return err
		},
		"surface": func(ctx context.Context) error { _, err := Surface(ctx, m, nil); return err },
		"slice": func(ctx context.Context) error {
			_, err := Slice(ctx, m, [3]float64{40, 40, 40.5}, [3]float64{0, 0, 1}, nil)
			return err
		},
		"variable": func(ctx context.Context) error { _, err := Physics(ctx, m, "p"); return err },
		"rows":     func(ctx context.Context) error { _, err := placed.RowsOn(ctx, all); return err },
		"mean": func(ctx context.Context) error {
			fresh := &Projection{Cells: placed.Cells, Place: placed.Place}
			_, err := fresh.Project(ctx, nil, Window{}, FieldSpec{Column: "latency", Aggregate: Mean}, tab.Column("latency"))
			return err
		},
		"median": func(ctx context.Context) error {
			_, err := placed.Project(ctx, nil, Window{}, FieldSpec{Column: "latency", Aggregate: Median}, tab.Column("latency"))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			whole := &looked{Context: t.Context(), last: 1 << 40}
			if err := scan(whole); err != nil {
				t.Fatal(err)
			}
			looks := whole.looks.Load()
			if looks < 5 {
				t.Fatalf("the whole scan looks %d times for its end", looks)
			}
			ended := &looked{Context: t.Context(), last: 1}
			if err := scan(ended); !errors.Is(err, context.Canceled) {
				t.Errorf("a scan whose client went: %v", err)
			}
			if more := ended.looks.Load() - 1; more > looks/2 {
				t.Errorf("%d looks after the end, %d in the whole scan", more, looks)
			}
		})
	}
}

// A mesh of a few bytes may have a quarter of a billion cells: what would be made
// of it is refused before it is made.
func TestHugeMeshWithinBudget(t *testing.T) {
	test.NoRaces(t, "passes 33 million cells in one goroutine until it is refused")
	if testing.Short() {
		t.Skip("-short: passes 33 million cells")
	}
	ctx := budget.With(t.Context(), budget.New(16<<20))
	series, err := UnitMesh(ctx, [3]int{322, 322, 322})
	if err != nil {
		t.Fatal(err)
	}
	m, err := series.Mesh(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func() error{
		"surface": func() error { _, err := Surface(ctx, m, nil); return err },
		"slice": func() error {
			_, err := Slice(ctx, m, [3]float64{1, 1, 1}, [3]float64{0, 0, 1}, nil)
			return err
		},
		"field": func() error {
			p := &Projection{Cells: m.NumCells()}
			_, err := p.Project(ctx, nil, Window{}, FieldSpec{Aggregate: Count}, nil)
			return err
		},
	} {
		if err := make(); !errors.As(err, new(*budget.Exceeded)) {
			t.Errorf("%s of %d cells in 16 MB: %v", name, m.NumCells(), err)
		}
	}
	if used := budget.Of(ctx).Used(); used > 1<<20 {
		t.Errorf("%d bytes are in use after all was refused", used)
	}
}
