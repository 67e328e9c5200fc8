package show

import (
	"cmp"
	"slices"

	"github.com/isobath/isobath/internal/machine/hw"
)

// Measure is what colours a drawing.
type Measure string

// The measures. Served resources are coloured by what they served, CPUs and
// what holds them by what they issued.
const (
	ByLatency Measure = "latency"
	BySamples Measure = "samples"
	ByMean    Measure = "mean"
	byAmount  Measure = "amount" // of View.Amounts
)

// ring is one depth of a drawing.
type ring struct {
	kind   hw.Kind
	blocks []block
	scale  scale // of values
	link   scale // of traffic to the ring inside
	inner  *ring // the ring inside, nil for the innermost
}

// block is a resource in a ring: from and to count CPUs in tree order.
type block struct {
	resource int
	from, to float64
	value    float64
	has      bool // there are samples
	link     uint64
	parent   *block // in the ring inside
}

// scale is the range of the values of a ring.
type scale struct {
	min, max float64
	n        int
}

func (s *scale) add(v float64) {
	if s.n == 0 || v < s.min {
		s.min = v
	}
	if s.n == 0 || v > s.max {
		s.max = v
	}
	s.n++
}

// at maps a value to 0…1. Values that differ by less than a fifth count from
// zero, so that nearly equal resources look equal.
func (s *scale) at(v float64) float64 {
	lo := s.low()
	if s.max <= lo {
		return 1
	}
	return (v - lo) / (s.max - lo)
}

func (s *scale) low() float64 {
	if s.max > 0 && (s.max-s.min)/s.max < 0.2 {
		return 0
	}
	return s.min
}

// layout is a drawing without a shape: rings from the inside out.
type layout struct {
	view      *View
	resources []hw.Resource
	measure   Measure
	rings     []*ring
	slots     float64     // CPUs, and room for memory without CPUs
	order     map[int]int // position of each CPU
	same      [][2]hw.Kind
	halves    []float64 // boundaries between the outermost parts
}

func newLayout(v *View, m Measure) *layout {
	l := &layout{view: v, resources: v.Topology.Resources, measure: m, order: map[int]int{}}
	if v.Samples != nil {
		l.resources = v.Samples.Placer.Resources
	}
	for i, cpu := range v.Topology.At(hw.CPU) {
		l.order[v.Topology.Resources[cpu].OS] = i
	}
	l.slots = float64(len(l.order))
	kinds := l.kinds()
	for _, k := range kinds {
		l.addRing(k)
	}
	if drawn, _ := v.hosts(); drawn == nil { // pictures of many hosts have no links
		l.connect()
	}
	for _, kid := range v.Topology.Root().Kids {
		if r := &l.resources[kid]; !r.Aside {
			from, _ := l.span(r)
			l.halves = append(l.halves, from)
		}
	}
	return l
}

// members returns the resources of a kind that are drawn: those of the
// topology, and virtual ones with samples.
func (l *layout) members(k hw.Kind) []int {
	list := slices.Clone(l.view.Topology.At(k))
	for i := len(l.view.Topology.Resources); i < len(l.resources); i++ {
		if l.resources[i].Kind == k && l.view.Samples.Tallies[i].Passed.Samples > 0 {
			list = append(list, i)
		}
	}
	return list
}

// kinds returns the depths to draw from the inside out. Containers and cores
// that are the same as the depth beside them are left out and named in same.
func (l *layout) kinds() []hw.Kind {
	var kinds []hw.Kind
	for k := hw.Host; k <= hw.CPU; k++ {
		if len(l.view.Topology.At(k)) > 0 {
			kinds = append(kinds, k)
		}
	}
	slices.SortStableFunc(kinds, func(a, b hw.Kind) int { return -cmp.Compare(l.largest(a), l.largest(b)) })
	for k := hw.Host; k <= hw.CPU; k++ {
		if len(l.view.Topology.At(k)) == 0 && len(l.members(k)) > 0 { // only virtual ones
			at := slices.IndexFunc(kinds, func(other hw.Kind) bool { return other > k })
			kinds = slices.Insert(kinds, at, k)
		}
	}
	for i := 0; i < len(kinds); i++ {
		if k := kinds[i]; k != hw.Package && k != hw.Die && k != hw.Core {
			continue
		}
		for _, j := range []int{i + 1, i - 1} {
			if j >= 0 && j < len(kinds) && l.alike(kinds[i], kinds[j]) {
				l.same = append(l.same, [2]hw.Kind{kinds[i], kinds[j]})
				kinds = slices.Delete(kinds, i, i+1)
				i--
				break
			}
		}
	}
	return kinds
}

// largest returns the most CPUs a resource of a kind has: with sub-NUMA
// clustering memory nodes are smaller than L3 and drawn outside it.
func (l *layout) largest(k hw.Kind) int {
	most := 0
	for _, i := range l.view.Topology.At(k) {
		if !l.resources[i].Aside {
			most = max(most, len(l.resources[i].CPUs))
		}
	}
	return most
}

func (l *layout) alike(a, b hw.Kind) bool {
	real := l.view.Topology
	return slices.EqualFunc(real.At(a), real.At(b), func(i, j int) bool {
		return slices.Equal(l.resources[i].CPUs, l.resources[j].CPUs)
	})
}

func (l *layout) span(r *hw.Resource) (from, to float64) {
	first, last := l.order[r.CPUs[0]], l.order[r.CPUs[0]]
	for _, cpu := range r.CPUs {
		first, last = min(first, l.order[cpu]), max(last, l.order[cpu])
	}
	return float64(first), float64(last + 1)
}

func (l *layout) addRing(k hw.Kind) {
	r := &ring{kind: k}
	if len(l.rings) > 0 {
		r.inner = l.rings[len(l.rings)-1]
	}
	room := max(1, float64(len(l.order))/24)
	for _, i := range l.members(k) {
		res := &l.resources[i]
		b := block{resource: i}
		if len(res.CPUs) > 0 && (!res.Aside || res.Virtual) {
			b.from, b.to = l.span(res)
		} else { // memory beside the CPUs: a span of its own after them
			b.from, b.to = l.slots, l.slots+room
			l.slots += room
		}
		l.measureBlock(r, &b)
		r.blocks = append(r.blocks, b)
	}
	l.rings = append(l.rings, r)
}

func (l *layout) measureBlock(r *ring, b *block) {
	if l.view.Samples == nil {
		return
	}
	res := &l.resources[b.resource]
	tally := &l.view.Samples.Tallies[b.resource]
	n := tally.Passed
	if res.Serves() {
		n = tally.Served
	}
	b.link = l.view.Samples.LinkToParent(b.resource).Samples
	switch l.measure {
	case byAmount:
		a := l.view.Amounts.Of(res)
		b.value, b.has = a.Number, a.Samples > 0
	case BySamples:
		b.value, b.has = float64(n.Samples), n.Samples > 0
	case ByMean:
		b.value, b.has = n.Mean()
	default:
		b.value, b.has = n.Sum, n.Valued > 0
	}
	if b.has {
		r.scale.add(b.value)
	}
}

// connect finds, for each block, the one around it in the ring inside.
func (l *layout) connect() {
	for _, r := range l.rings {
		if r.inner == nil {
			continue
		}
		for i := range r.blocks {
			b := &r.blocks[i]
			for j := range r.inner.blocks {
				p := &r.inner.blocks[j]
				if p.from <= b.from && b.to <= p.to && !l.resources[p.resource].Virtual {
					b.parent = p
				}
			}
			if b.parent != nil && b.link > 0 {
				r.link.add(float64(b.link))
			}
		}
	}
}

// top reports whether a boundary lies between the outermost parts.
func (l *layout) top(at float64) bool {
	return slices.Contains(l.halves, at) || at >= float64(len(l.order))
}

// label is what a block is called inside the drawing.
func (l *layout) label(b *block) string {
	r := &l.resources[b.resource]
	if r.Kind == hw.CPU {
		return r.ShortName()[len("CPU "):]
	}
	return r.ShortName()
}
