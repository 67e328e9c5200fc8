package memory

import (
	"github.com/isobath/isobath/internal/machine/hw"
)

// mostShown bounds the resources that a page is sent: it draws one a pixel at most,
// and every answer has a score of numbers for each.
const mostShown = 20_000

// shown is the resources that the page is sent. Of a cluster with many it leaves
// kinds out, the innermost first.
type shown struct {
	resources []int // of the placer or the topology, in its order
	as        []int // of every resource: its place in resources, or that of what is around it
	without   []hw.Kind
}

func showing(resources []hw.Resource) *shown {
	var counts [hw.CPU + 1]int
	for i := range resources {
		counts[resources[i].Kind]++
	}
	s := &shown{as: make([]int, len(resources))}
	left, innermost := len(resources), hw.CPU
	for ; left > mostShown && innermost > hw.Host; innermost-- {
		if counts[innermost] > 0 {
			s.without = append(s.without, innermost)
		}
		left -= counts[innermost]
	}
	for i := range resources {
		if resources[i].Kind <= innermost {
			s.as[i] = len(s.resources)
			s.resources = append(s.resources, i)
		} else {
			s.as[i] = s.as[resources[i].Parent] // parents come first
		}
	}
	return s
}

// shown is the resources that the page is sent; nil without a topology.
func (s *Samples) shown() *shown {
	s.showingOnce.Do(func() {
		switch {
		case s.Places != nil:
			s.showing = showing(s.Places.Coder.Placer.Resources)
		case s.Topology != nil:
			s.showing = showing(s.Topology.Resources)
		}
	})
	return s.showing
}

// parent is where a parent is among those shown; -1 stays.
func (s *shown) parent(i int) int {
	if i < 0 {
		return i
	}
	return s.as[i]
}

// pick returns the values of those resources.
func pick[T any](s *shown, of []T) []T {
	if len(s.resources) == len(of) {
		return of
	}
	out := make([]T, len(s.resources))
	for k, i := range s.resources {
		out[k] = of[i]
	}
	return out
}
