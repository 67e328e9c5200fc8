package whatif

import "slices"

// Undisturbed takes away what is above usual: a re-run has other noise than the
// recording. Calls and messages take at most what is usual, full collectives the
// quarter quantile of their region, computations that of like ones on their line,
// unless that takes half of them: then it may be the program and not noise.
func (g *Graph) Undisturbed(w *Weights) {
	for i := range int32(g.Len()) {
		full := false
		for d := g.First[i]; d < g.First[i+1]; d++ {
			switch g.Deps.Kind[d] {
			case dropped:
			case Full:
				full = true
				quarter := g.usual.full[g.Trace.Calls.Region[i]][1]
				w.Lag[d] = min(w.Lag[d], quarter)
				w.Own[i] = min(w.Own[i], max(quarter, 0))
			default:
				w.Lag[d] = min(w.Lag[d], g.Deps.Usual[d])
			}
		}
		if !full {
			w.Own[i] = min(w.Own[i], g.UsualOwn[i])
		}
	}
	for p := range g.Lines() {
		g.steady(int32(p), w.Comp)
	}
}

// enoughAlike is how many like computations of a line have a quantile.
const enoughAlike = 5

// steady cuts the computations of a line to the quarter quantile of those
// between the same two calls.
func (g *Graph) steady(p int32, comp []int64) {
	region := g.Trace.Calls.Region
	alike := map[[2]int32][]int32{}
	for i := g.Start[p]; i < g.Start[p+1]; i++ {
		before := int32(-1)
		if i > g.Start[p] {
			before = region[i-1]
		}
		alike[[2]int32{before, region[i]}] = append(alike[[2]int32{before, region[i]}], i)
	}
	var times []int64
	for _, calls := range alike {
		if len(calls) < enoughAlike {
			continue
		}
		times = times[:0]
		for _, i := range calls {
			times = append(times, comp[i])
		}
		slices.Sort(times)
		quarter := times[(len(times)-1)/4]
		for _, i := range calls {
			if c := comp[i]; c > quarter && c-quarter < c/2 {
				comp[i] = quarter
			}
		}
	}
}

// Efficiency divides what a run loses: by processes that have less to do than
// others, by waiting for each other's order, by transfers. The product is the
// share of the run that is computation.
type Efficiency struct {
	Parallel      float64 `json:"parallel"`
	LoadBalance   float64 `json:"load_balance"`
	Serialisation float64 `json:"serialisation"`
	Transfer      float64 `json:"transfer"`
}

// Efficiency replays a run of a known span once with a network and a library
// that take no time. The result of an earlier replay may be given to be used
// again.
func (g *Graph) Efficiency(w *Weights, span int64, t *Times) Efficiency {
	ideal := *w
	ideal.Own, ideal.Lag = make([]int64, len(w.Own)), make([]int64, len(w.Lag))
	for d := range ideal.Lag {
		if g.Deps.Kind[d] == dropped {
			ideal.Lag[d] = w.Lag[d]
		}
	}
	best := g.Replay(&ideal, t).Span
	most, sum := int64(0), int64(0)
	for p := range g.Lines() {
		own := w.Tail[p]
		for i := g.Start[p]; i < g.Start[p+1]; i++ {
			own += w.Comp[i]
		}
		most, sum = max(most, own), sum+own
	}
	mean := float64(sum) / float64(max(g.Lines(), 1))
	of := func(a, b float64) float64 {
		if b <= 0 {
			return 1
		}
		return a / b
	}
	return Efficiency{of(mean, float64(span)), of(mean, float64(most)), of(float64(most), float64(best)), of(float64(best), float64(span))}
}
