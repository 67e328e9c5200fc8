package guide

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/isobath/isobath/internal/app/demo"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/hwloc"
	"github.com/isobath/isobath/internal/machine/hw"
)

// TestNeighboursOf plants indices that are dealt out to two packages in turn, in
// blocks, and at random: the first are apart, the others are not.
func TestNeighboursOf(t *testing.T) {
	d, err := demo.Open()
	if err != nil {
		t.Fatal(err)
	}
	topology, err := hwloc.Read(bytes.NewReader(d.Topology))
	if err != nil {
		t.Fatal(err)
	}
	cpuOf := func(number int) int32 { // the first of a package
		cpus, first := topology.Resources[topology.At(hw.Package)[number]].CPUs, 0
		for !cpus.Has(first) {
			first++
		}
		return int32(first)
	}
	random := rand.New(rand.NewPCG(3, 4))
	const n, values = 8000, 40
	index, cpu := make([]int32, n), make([]int32, n)
	for name, tt := range map[string]struct {
		on     func(z int) int // the package that works on a value
		apart  bool
		across float64
	}{
		"in turn":   {func(z int) int { return z % 2 }, true, 0},
		"in blocks": {func(z int) int { return z / (values / 2) }, false, 1},
		"at random": {func(int) int { return random.IntN(2) }, false, 0.5},
	} {
		for i := range n {
			z := random.IntN(values)
			index[i], cpu[i] = int32(z), cpuOf(tt.on(z))
		}
		tab, err := table.New("samples", []*table.Column{
			{Name: samples.CPU, Kind: table.Number, Data: cpu}, {Name: "z", Kind: table.Number, Data: index},
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := NeighboursOf(t.Context(), tab, topology, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || got[0].Index != "z" || got[0].Part != "package" || got[0].Apart != tt.apart || got[0].Across < tt.across-0.05 || got[0].Across > tt.across+0.05 {
			t.Errorf("%s: %+v, want apart %v, across %v", name, got, tt.apart, tt.across)
		}
	}
}
