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
	n := len(r.Places.Coder.Placer.Resources)
	count := func(of func(*hw.Tally) uint64) frame.PerLayer {
		return frame.Layered(c, resourceColumns(layers, n, func(t *hw.Tally) uint32 { return uint32(of(t)) }), hover)
	}
	sum := func(of func(*hw.Tally) float64) frame.PerLayer {
		return frame.Layered(c, resourceColumns(layers, n, of), hover)
	}
	var links [query.Layers][]uint32
	for l, a := range layers {
		for i := range n {
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
		Remote:        remoteLinks(c, layers, hover),
		Unplaced:      unplaced(layers),
	}
}

func resourceColumns[T uint32 | float64](layers [query.Layers]*hw.Aggregate, n int, of func(*hw.Tally) T) (out [query.Layers][]T) {
	for l, a := range layers {
		out[l] = make([]T, n)
		for i := range a.Tallies {
			out[l][i] = of(&a.Tallies[i])
		}
	}
	return out
}

// remoteLinks lists the traffic between parts of the machine; the links of the
// layer of all rows contain those of the others.
func remoteLinks(c *frame.Body, layers [query.Layers]*hw.Aggregate, hover bool) RemoteAnswer {
	var from, to []uint32
	row := map[[2]int]int{}
	for _, link := range layers[query.All].Links {
		if link.Remote {
			row[[2]int{link.From, link.To}] = len(from)
			from, to = append(from, uint32(link.From)), append(to, uint32(link.To))
		}
	}
	var samples [query.Layers][]uint32
	var latency [query.Layers][]float64
	for l, a := range layers {
		samples[l], latency[l] = make([]uint32, len(from)), make([]float64, len(from))
		for _, link := range a.Links {
			if i, ok := row[[2]int{link.From, link.To}]; ok {
				samples[l][i], latency[l][i] = uint32(link.Samples), link.Sum
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
