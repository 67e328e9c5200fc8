package guide

import (
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/machine/hw"
)

// Neighbours is how often two samples of an index of the domain come from one part
// of the machine.
type Neighbours struct {
	Index  string  // x, y or z
	Part   string  // what a part is called, such as a package
	Within float64 // both samples are of one value
	Across float64 // they are of neighbouring values
	// Apart: neighbours are worked on in distant parts, beyond chance.
	Apart bool
}

// domainIndices are the columns that say where in the domain a sample is.
var domainIndices = []string{"x", "y", "z"}

// NeighboursOf looks at all samples of a table; nil for a machine of one part.
func NeighboursOf(t *table.Table, topology *hw.Topology) []Neighbours {
	cpu := t.Column(samples.CPU)
	depth, at := farKind(topology)
	if cpu == nil || at == nil || t.Elsewhere() {
		return nil
	}
	partOf := topology.HolderOfCPUs(at)
	part := func(row int) (int, bool) {
		if !cpu.Has(row) {
			return 0, false
		}
		p, known := partOf[int(cpu.Float(row))]
		return p, known
	}
	var out []Neighbours
	for _, name := range domainIndices {
		c := t.Column(name)
		if c == nil || c.Kind != table.Number {
			continue
		}
		lo, hi, any := extent(c, nil)
		if !any || hi-lo+1 < float64(limit.indices) || hi-lo >= maxIndices {
			continue
		}
		counts := make([]float64, (int(hi-lo)+1)*len(at))
		for row := range t.Rows() {
			if p, ok := part(row); ok && c.Has(row) {
				counts[int(c.Float(row)-lo)*len(at)+p]++
			}
		}
		a, beyond := agreementOf(counts, len(at))
		if a.within == 0 {
			continue // too few samples to tell
		}
		out = append(out, Neighbours{Index: name, Part: partName(depth), Within: a.within, Across: a.across, Apart: beyond && a.within-a.across >= limit.scatter})
	}
	return out
}
