package memory

import (
	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/machine/hw"
)

// fold turns counts per place into columns per resource.
func (r *Samples) fold(c *frame.Body, p *query.Places, hover bool) *PlacesAnswer {
	var layers [query.Layers]*hw.Aggregate
	for l := range layers {
		layers[l] = hw.Fold(r.Places.Coder, dataset.PlaceCounts(p, query.Layer(l)))
	}
	shown := r.shown()
	count := func(of func(*hw.Tally) uint64) frame.PerLayer {
		return frame.Layered(c, resourceColumns(layers, shown, func(t *hw.Tally) uint32 { return uint32(of(t)) }), hover)
	}
	sum := func(of func(*hw.Tally) float64) frame.PerLayer {
		return frame.Layered(c, resourceColumns(layers, shown, of), hover)
	}
	var links [query.Layers][]uint32
	for l, a := range layers {
		for _, i := range shown.resources {
			links[l] = append(links[l], uint32(a.LinkToParent(i).Samples))
		}
	}
	return &PlacesAnswer{
		Samples:       count(func(t *hw.Tally) uint64 { return t.Passed.Samples }),
		Latency:       sum(func(t *hw.Tally) float64 { return t.Passed.Sum }),
		Valued:        count(func(t *hw.Tally) uint64 { return t.Passed.Valued }),
		Served:        count(func(t *hw.Tally) uint64 { return t.Served.Samples }),
		ServedLatency: sum(func(t *hw.Tally) float64 { return t.Served.Sum }),
		ServedValued:  count(func(t *hw.Tally) uint64 { return t.Served.Valued }),
		LinkSamples:   frame.Layered(c, links, hover),
		Remote:        remoteLinks(c, layers, shown, hover),
		Unplaced:      unplaced(layers),
		Hosts:         hostsOf(layers[query.All], shown),
	}
}

// hostsOf orders the hosts of a cluster by all of their samples, so that pictures
// keep their places while something is selected.
func hostsOf(a *hw.Aggregate, shown *shown) []HostDistance {
	out := []HostDistance{}
	for _, h := range a.HostsByDistance() {
		out = append(out, HostDistance{Resource: shown.as[h.Host], Distance: h.Distance, Measure: h.Measure})
	}
	return out
}

func resourceColumns[T uint32 | float64](layers [query.Layers]*hw.Aggregate, shown *shown, of func(*hw.Tally) T) (out [query.Layers][]T) {
	for l, a := range layers {
		out[l] = make([]T, len(shown.resources))
		for k, i := range shown.resources {
			out[l][k] = of(&a.Tallies[i])
		}
	}
	return out
}

// remoteLinks lists the traffic between parts of the machine; the links of the
// layer of all rows contain those of the others.
func remoteLinks(c *frame.Body, layers [query.Layers]*hw.Aggregate, shown *shown, hover bool) RemoteAnswer {
	var from, to []uint32
	row := map[[2]int]int{}
	ends := func(l *hw.Link) [2]int { return [2]int{shown.as[l.From], shown.as[l.To]} }
	for _, link := range layers[query.All].Links {
		key := ends(&link)
		if _, known := row[key]; link.Remote && !known {
			row[key] = len(from)
			from, to = append(from, uint32(key[0])), append(to, uint32(key[1]))
		}
	}
	var samples [query.Layers][]uint32
	var latency [query.Layers][]float64
	for l, a := range layers {
		samples[l], latency[l] = make([]uint32, len(from)), make([]float64, len(from))
		for _, link := range a.Links {
			if i, ok := row[ends(&link)]; ok && link.Remote {
				samples[l][i] += uint32(link.Samples)
				latency[l][i] += link.Sum
			}
		}
	}
	return RemoteAnswer{From: frame.Add(c, from), To: frame.Add(c, to), Samples: frame.Layered(c, samples, hover), Latency: frame.Layered(c, latency, hover)}
}

func unplaced(layers [query.Layers]*hw.Aggregate) []Unplaced {
	out := []Unplaced{}
	at := map[string]int{}
	for l, a := range layers {
		for _, u := range a.Unplaced {
			i, ok := at[u.Reason]
			if !ok {
				i = len(out)
				at[u.Reason] = i
				out = append(out, Unplaced{Reason: u.Reason})
			}
			out[i].Counts[l] += int(u.Samples)
		}
	}
	return out
}
