package mesh

import (
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/table"
)

// TestOutsideNote says once what axes have in common.
func TestOutsideNote(t *testing.T) {
	tests := []struct {
		name       string
		x, y, z    []int64
		nx, ny, nz int
		want       string
	}{
		{"all alike", []int64{0, 31}, []int64{0, 31}, []int64{0, 31}, 20, 20, 20, ": x, y and z go from 0 to 31, the mesh has 20 cells along each: "},
		{"two alike", []int64{0, 31}, []int64{0, 9}, []int64{0, 31}, 20, 20, 20, ": x and z go from 0 to 31, the mesh has 20 cells along each: "},
		{"other numbers of cells", []int64{0, 31}, []int64{0, 31}, []int64{0, 5}, 20, 10, 20,
			": x goes from 0 to 31, the mesh has 20 cells along it; y goes from 0 to 31, the mesh has 10 cells along it: "},
		{"one", []int64{0, 3}, []int64{0, 40}, []int64{0, 5}, 20, 20, 20, ": y goes from 0 to 40, the mesh has 20 cells along it: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tab, err := table.New("samples", []*table.Column{{Name: "x", Data: tt.x}, {Name: "y", Data: tt.y}, {Name: "z", Data: tt.z}})
			check(t, err)
			view, err := NewView(t.Context(), seriesOf(t.Context(), &grid.Mesh{Blocks: []grid.Block{{Grid: box(tt.nx, tt.ny, tt.nz, 0)}}}), tab, Settings{})
			check(t, err)
			p, err := view.At(t.Context(), 0)
			check(t, err)
			if note := view.OutsideNote(p); !strings.Contains(note, tt.want) {
				t.Errorf("%q, want %q in it", note, tt.want)
			}
		})
	}
}
