package spread

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/data/table"
)

func TestBy(t *testing.T) {
	valid := table.FullBits(7)
	valid.Clear(6)
	tab, err := table.New("samples", []*table.Column{
		table.Categories("symbol", table.Derived, []uint32{0, 0, 0, 0, 1, 1, 0}, []string{"u", "v"}, valid),
		table.Categories("level", table.Measured, []uint32{0, 0, 1, 0, 1, 0, 0}, []string{"L1", "L3"}, table.Bits{0b1011111}),
		table.Ints("latency", "cycles", table.Measured, []int64{4, 5, 70, 4, 900, 0, 0}, table.Bits{0b0011111}),
		table.Ints("line", "", table.Derived, []int64{1, 1, 1, 2, 2, 2, 2}, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []Spread{
		{Key: []string{"v"}, Samples: 2, Levels: []LevelCount{{"L3", 1}, {"", 1}}, Latency: &Latencies{1, 900, 900, 900, 900, 900, 900, []int{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}}},
		{Key: []string{"u"}, Samples: 4, Levels: []LevelCount{{"L1", 3}, {"L3", 1}}, Latency: &Latencies{4, 83, 4, 4, 70, 70, 70, []int{0, 0, 0, 3, 0, 0, 0, 1}}},
		{Key: []string{""}, Samples: 1, Levels: []LevelCount{{"L1", 1}}},
	}
	got, err := By(t.Context(), tab, nil, []*table.Column{tab.Column("symbol")}, 0)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("by symbol (-want +got):\n%s", diff)
	}
	some, err := By(t.Context(), tab, table.Bits{0b0001111}, []*table.Column{tab.Column("symbol"), tab.Column("line")}, 1)
	if err != nil || len(some) != 1 || some[0].Samples != 3 || some[0].Key[1] != "1" {
		t.Errorf("selected: %+v", some)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := By(gone, tab, nil, nil, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("for nobody: %v", err)
	}
}
