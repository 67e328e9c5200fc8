package hw

import (
	"cmp"
	"math"
	"slices"

	"github.com/isobath/isobath/internal/base/stat"
)

// HostDistance is how far a host of a cluster is from the median host, in the
// measure in which that is most. It orders pictures; whether a host is odd by more
// than chance is for guided analysis to say.
type HostDistance struct {
	Host     int     // its resource
	Distance float64 // in deviations of hosts from their median
	Measure  string  // "samples", "mean latency" or a level: its share of the samples
}

// hostTotals is what is counted of each host.
type hostTotals struct {
	all    Count
	levels [levelCount]float64
}

// HostsByDistance lists the hosts of a cluster, the one most unlike the others
// first; nil for a single machine.
func (a *Aggregate) HostsByDistance() []HostDistance {
	at := a.Placer.Topology.Hosts()
	if len(at) == 0 {
		return nil
	}
	totals := make([]hostTotals, len(at))
	for code, n := range a.counts {
		if n.Samples == 0 {
			continue
		}
		cpu, access := a.Placer.Access(a.coder.Places[code])
		if cpu < 0 {
			continue // of no host
		}
		h, _ := a.Placer.at(a.coder.Places[code])
		t := &totals[a.Placer.Resources[h.first].Number]
		t.all.Add(n)
		t.levels[access.Level] += float64(n.Samples)
	}
	out := make([]HostDistance, len(at))
	for k, r := range at {
		out[k].Host = r
	}
	for _, m := range measuresOfHosts(totals) {
		m.widen(out)
	}
	slices.SortStableFunc(out, func(x, y HostDistance) int { return -cmp.Compare(x.Distance, y.Distance) })
	return out
}

// measureOfHosts is one number of each host, and how far chance alone moves it: a
// standard deviation.
type measureOfHosts struct {
	name           string
	values, chance []float64
}

func measuresOfHosts(totals []hostTotals) []measureOfHosts {
	samples := measureOfHosts{name: "samples"}
	mean := measureOfHosts{name: "mean latency"}
	var levels [levelCount]measureOfHosts
	valued := 0
	for _, t := range totals {
		n := float64(t.all.Samples)
		samples.add(n, math.Sqrt(max(1, n)))
		m, has := t.all.Mean()
		d, _ := t.all.Deviation()
		if has {
			valued++
		}
		mean.add(m, d/math.Sqrt(max(1, float64(t.all.Valued))))
		for l := range levels {
			share := t.levels[l] / max(1, n)
			levels[l].add(share, math.Sqrt(max(share*(1-share), 1/max(1, n))/max(1, n)))
		}
	}
	out := []measureOfHosts{samples}
	if valued == len(totals) {
		out = append(out, mean)
	}
	for l := range levels {
		if levels[l].name = Level(l).String(); Level(l) != NoLevel && slices.Max(levels[l].values) > 0 {
			out = append(out, levels[l])
		}
	}
	return out
}

func (m *measureOfHosts) add(value, chance float64) {
	m.values, m.chance = append(m.values, value), append(m.chance, chance)
}

// widen replaces distances that are less than those in this measure. The scale is
// the median deviation of the hosts, which a few odd ones do not move, and not less
// than what chance does.
func (m *measureOfHosts) widen(hosts []HostDistance) {
	median := stat.Median(m.values)
	off := make([]float64, len(m.values))
	for k, v := range m.values {
		off[k] = math.Abs(v - median)
	}
	scale := max(stat.MADScale*stat.Median(off), stat.Median(m.chance))
	if scale == 0 {
		return
	}
	for k := range hosts {
		if d := off[k] / scale; d > hosts[k].Distance {
			hosts[k].Distance, hosts[k].Measure = d, m.name
		}
	}
}
