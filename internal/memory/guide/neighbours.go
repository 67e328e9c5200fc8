package guide

import (
	"context"
	"strconv"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
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

// NeighboursOf looks at all samples of a table, with an engine that counts them if
// they are not here; nil for a machine of one part.
func NeighboursOf(ctx context.Context, t *table.Table, topology *hw.Topology, engine query.Engine) ([]Neighbours, error) {
	cpu := t.Column(samples.CPU)
	depth, at := farKind(topology)
	if cpu == nil || at == nil {
		return nil, nil
	}
	partOf := topology.HolderOfCPUs(at)
	distant, _ := engine.(query.Distant)
	if !t.Elsewhere() {
		distant = nil
	}
	var out []Neighbours
	for _, name := range domainIndices {
		c := t.Column(name)
		if c == nil || c.Kind != table.Number {
			continue
		}
		lo, hi, any := extent(c, nil)
		if distant != nil {
			var err error
			if lo, hi, any, err = distant.Extent(name); err != nil {
				return nil, err
			}
		}
		if !any || hi-lo+1 < float64(limit.indices) || hi-lo >= maxIndices {
			continue
		}
		counts := make([]float64, (int(hi-lo)+1)*len(at))
		add := func(index, of float64, n int) {
			if p, ok := partOf[int(of)]; ok {
				counts[int(index-lo)*len(at)+p] += float64(n)
			}
		}
		if distant != nil {
			if err := countPairs(ctx, distant, name, add); err != nil {
				return nil, err
			}
		} else {
			for row := range t.Rows() {
				if cpu.Has(row) && c.Has(row) {
					add(c.Float(row), cpu.Float(row), 1)
				}
			}
		}
		a, beyond := agreementOf(counts, len(at))
		if a.within == 0 {
			continue // too few samples to tell
		}
		out = append(out, Neighbours{Index: name, Part: partName(depth), Within: a.within, Across: a.across, Apart: beyond && a.within-a.across >= limit.scatter})
	}
	return out, nil
}

// countPairs asks how many samples have which value of an index and which CPU.
func countPairs(ctx context.Context, engine query.Engine, index string, add func(index, cpu float64, n int)) error {
	present := query.And{Terms: []query.Expr{query.Missing{Column: index, Not: true}, query.Missing{Column: samples.CPU, Not: true}}}
	answer, err := engine.Answer(ctx, &query.Request{Filter: present, Groups: []query.Group{{By: []string{index, samples.CPU}, Order: query.ByKey}}})
	if err != nil {
		return err
	}
	for _, g := range answer.Groups[0].Rows {
		at, err := strconv.ParseFloat(g.Keys[0], 64)
		if err != nil {
			return err
		}
		cpu, err := strconv.ParseFloat(g.Keys[1], 64)
		if err != nil {
			return err
		}
		add(at, cpu, g.Counts[query.All])
	}
	return nil
}
