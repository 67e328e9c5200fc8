package hw

import (
	"testing"

	"github.com/isobath/isobath/internal/data/table"
)

// BenchmarkPlaceRows places a million samples on two sockets.
func BenchmarkPlaceRows(b *testing.B) {
	const n = 1_000_000
	p := NewPlacer(machine(b, nil, twoSockets...))
	cpus, levels := make([]int32, n), make([]uint32, n)
	dict := []string{"L1", "L2", "L3", "Local RAM", "Remote RAM"}
	for i := range cpus {
		cpus[i], levels[i] = int32(i*7%4), uint32(i*31%len(dict))
	}
	t, err := table.New("samples", []*table.Column{
		{Name: "cpu", Kind: table.Number, Data: cpus},
		{Name: "level", Kind: table.Category, Data: levels, Dict: dict},
	})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		rows, err := PlaceRows(p, t)
		if err != nil {
			b.Fatal(err)
		}
		if len(rows.Coder.Places) != 20 {
			b.Fatalf("%d places, want 20", len(rows.Coder.Places))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
}

// BenchmarkFold folds every place of a machine with 512 CPUs.
func BenchmarkFold(b *testing.B) {
	spec := Spec{}
	for node := range 2 {
		var all CPUs
		for c := range 256 {
			cpu := node*256 + c
			all = append(all, cpu)
			for _, k := range []Kind{CPU, Core, Cache1, Cache2} {
				spec.Objects = append(spec.Objects, Object{Kind: k, OS: cpu, CPUs: CPUs{cpu}})
			}
		}
		for _, k := range []Kind{Cache3, NUMA, Package} {
			spec.Objects = append(spec.Objects, Object{Kind: k, OS: node, CPUs: all})
		}
	}
	topo, err := Build(spec)
	if err != nil {
		b.Fatal(err)
	}
	p := NewPlacer(topo)
	c := NewCoder(p)
	var counts []Count
	for _, cpu := range topo.Root().CPUs {
		for _, l := range Levels() {
			c.Code(p.Place(cpu, Access{Level: l, Home: -1}))
			counts = append(counts, Count{Samples: 1})
		}
	}
	for b.Loop() {
		Fold(c, counts)
	}
	b.ReportMetric(float64(len(counts)), "places")
}
