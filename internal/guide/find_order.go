package guide

import (
	"fmt"
	"math"
	"slices"

	"isobath/internal/hw"
	"isobath/internal/query"
	"isobath/internal/table"
)

// This file finds how samples of neighbouring indices lie on the machine.

// scattered is an index along which neighbours are worked on in distant parts of
// the machine although each index belongs to one part.
//
// Two numbers tell it: how often two samples of one index come from the same
// part, and how often two samples of neighbouring indices do. Both are unbiased
// for few samples; they are equal where CPUs do not depend on the index, and
// nearly equal where neighbours are on neighbouring CPUs.
func scattered(l *look) ([]Insight, error) {
	depth, parts := l.farParts()
	if parts == nil {
		return nil, nil
	}
	var found []Insight
	for _, name := range []string{"x", "y", "z"} {
		c := l.data.Table.Column(name)
		if c == nil || c.Kind != table.Number {
			continue
		}
		a, ok := l.agreement(c, parts)
		if !ok || a.within-a.across < limit.scatter {
			continue
		}
		stake, why, where := l.distantCost(c)
		found = append(found, Insight{
			Text: fmt.Sprintf("Neighbouring %s are worked on in different parts of the machine: two samples of one %s share a %s in %s of cases, of neighbouring %s in %s; %s take %s of the %s",
				name, name, partName(depth), percent(a.within), name, percent(a.across), why, l.share(stake), l.costs()),
			Stake: stake, Surprise: a.within - a.across,
			Where: l.within(where), View: AxisView, Axis: name, Metric: "imbalance", Depth: "CPU",
		})
	}
	return found, nil
}

func partName(k hw.Kind) string {
	switch k {
	case hw.Package:
		return "package"
	case hw.NUMA:
		return "NUMA node"
	}
	return k.String()
}

// farParts are the parts of the machine between which data is slow to move.
func (l *look) farParts() (hw.Kind, *slotting) {
	for _, k := range []hw.Kind{hw.Package, hw.NUMA, hw.Cache3} {
		topology := l.topology()
		if topology == nil || len(topology.At(k)) < 2 {
			continue
		}
		at := topology.At(k)
		return k, byPlace(l.places, len(at), func(pl hw.Place) int {
			cpu, _ := l.places.Coder.Placer.Access(pl)
			return slices.IndexFunc(at, func(r int) bool { return cpu >= 0 && topology.Resources[r].CPUs.Has(cpu) })
		})
	}
	return 0, nil
}

func (g *Guide) topology() *hw.Topology {
	if g.places == nil {
		return nil
	}
	return g.places.Coder.Placer.Topology
}

// agree is how often two samples come from the same part of the machine.
type agree struct{ within, across float64 }

// maxIndices bounds the indices told apart; a column of more is not one.
const maxIndices = 1 << 16

func (l *look) agreement(c *table.Column, parts *slotting) (agree, bool) {
	lo, hi, any := extent(c, l.selected)
	if !any || hi-lo+1 < float64(limit.indices) || hi-lo >= maxIndices {
		return agree{}, false
	}
	k := parts.count
	counts := make([]float64, (int(hi-lo)+1)*k)
	for row := range l.rows {
		if p := int(parts.of(row)); p < k && c.Has(row) {
			counts[int(c.Float(row)-lo)*k+p]++
		}
	}
	var a agree
	var pairs, squares float64
	for i := k; i < len(counts); i += k {
		one, two := counts[i-k:i], counts[i:i+k]
		in1, ok1 := pairWithin(one)
		in2, ok2 := pairWithin(two)
		if !ok1 || !ok2 {
			continue
		}
		in, across := (in1+in2)/2, pairAcross(one, two)
		a.within += in
		a.across += across
		squares += (in - across) * (in - across)
		pairs++
	}
	if pairs < float64(limit.indices-1) {
		return a, false
	}
	a.within /= pairs
	a.across /= pairs
	d := a.within - a.across
	deviation := math.Sqrt(max(squares/pairs-d*d, 0) / pairs)
	return a, d > limit.sigmas*deviation
}

// pairWithin is the chance that two different samples are of the same part.
func pairWithin(n []float64) (float64, bool) {
	var total, same float64
	for _, v := range n {
		total += v
		same += v * (v - 1)
	}
	if total < 4 {
		return 0, false
	}
	return same / (total * (total - 1)), true
}

func pairAcross(a, b []float64) float64 {
	var x, y, same float64
	for i := range a {
		x += a[i]
		y += b[i]
		same += a[i] * b[i]
	}
	return same / (x * y)
}

// distantCost is the share of the cost that moving data between parts can
// explain: remote samples where the data knows them, else those of indexed data
// that the caches of a core did not serve.
func (l *look) distantCost(c *table.Column) (share float64, why string, where query.Expr) {
	has := query.Missing{Column: c.Name, Not: true}
	if remote, e := l.isRemote(); remote != nil {
		cost := 0.0
		for row := range l.rows {
			if c.Has(row) && remote(row) {
				cost += l.costOf(row)
			}
		}
		if cost > 0 {
			return cost / l.cost, "samples of it served by another node", all(has, e)
		}
	}
	level := l.category("level")
	if level == nil {
		return 0, "", nil
	}
	var names []query.Value
	far := make([]bool, len(level.Dict))
	for i, name := range level.Dict {
		if v, err := hw.ParseLevel(name); err == nil && v > hw.L2 && v != hw.Unknown && v != hw.BeyondL1 {
			far[i] = true
			names = append(names, query.TextValue(name))
		}
	}
	cost, codes := 0.0, level.Data.([]uint32)
	for row := range l.rows {
		if c.Has(row) && level.Has(row) && far[codes[row]] {
			cost += l.costOf(row)
		}
	}
	if names == nil {
		return 0, "", nil
	}
	return cost / l.cost, "samples of it beyond L2", all(has, query.In{Column: "level", Values: names})
}
