package guide

import (
	"fmt"
	"math"
	"strings"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/machine/hw"
)

// Metric is a number about any set of samples. It depends on the samples of the
// set as counted by slot: for metrics of a depth a slot is a resource.
type Metric struct {
	Name     string
	Title    string // for people
	Unit     string // "cycles", "σ", "share", "CPUs"; empty for a ratio
	PerDepth bool   // needs a depth of the topology

	latency bool // needs the latency column
	slots   func(*Guide, hw.Kind) (*slotting, error)
	value   func(*cells) (float64, bool)
}

// Metrics are all metrics. Average access latency and load imbalance are
// equations 1 and 2 of Giménez et al. 2017, section 7.1; the others are ours.
//
// All but cpus are invariant to the number of samples: a set in which each
// sample occurs twice has the same value.
var Metrics = []Metric{
	{Name: "latency", Title: "average access latency", Unit: "cycles", PerDepth: true, latency: true, slots: (*Guide).resources, value: meanOfMeans},
	{Name: "imbalance", Title: "load imbalance", Unit: "σ", PerDepth: true, slots: (*Guide).resources, value: imbalance},
	{Name: "peak", Title: "busiest resource over the mean", PerDepth: true, slots: (*Guide).resources, value: peak},
	{Name: "variation", Title: "coefficient of variation of the load", PerDepth: true, slots: (*Guide).resources, value: variation},
	{Name: "mean", Title: "mean latency of all samples", Unit: "cycles", latency: true, slots: (*Guide).together, value: meanOfMeans},
	{Name: "dram", Title: "share of samples served by memory", Unit: "share", slots: (*Guide).inMemory, value: shareOfFirst},
	{Name: "remote", Title: "share of samples served by another node", Unit: "share", slots: (*Guide).afar, value: shareOfFirst},
	{Name: "tlb", Title: "share of samples that missed the TLB", Unit: "share", slots: (*Guide).translation, value: shareOfFirst},
	{Name: "cpus", Title: "CPUs with samples", Unit: "CPUs", slots: (*Guide).issuers, value: occupied},
}

// FindMetric returns the metric of that name.
func FindMetric(name string) (*Metric, error) {
	var names []string
	for i := range Metrics {
		if strings.EqualFold(Metrics[i].Name, name) {
			return &Metrics[i], nil
		}
		names = append(names, Metrics[i].Name)
	}
	return nil, fmt.Errorf("metric %q: want one of %s", name, strings.Join(names, ", "))
}

// cells is what is counted for each slot.
type cells struct {
	n      []uint32  // samples
	valued []uint32  // of these, with a latency
	sum    []float64 // of latencies
}

func newCells(slots int) *cells {
	return &cells{n: make([]uint32, slots), valued: make([]uint32, slots), sum: make([]float64, slots)}
}

// occupiedSlots returns how many slots have samples.
func (c *cells) occupiedSlots() int {
	k := 0
	for _, n := range c.n {
		if n > 0 {
			k++
		}
	}
	return k
}

// meanOfMeans is equation 1. The paper divides by the number of samples of each
// resource, which may be none: resources without samples (with a latency) are
// left out of sum and divisor.
func meanOfMeans(c *cells) (float64, bool) {
	sum, k := 0.0, 0
	for i, n := range c.valued {
		if n > 0 {
			sum += c.sum[i] / float64(n)
			k++
		}
	}
	if k == 0 {
		return 0, false
	}
	return sum / float64(k), true
}

// load is the mean, the population standard deviation and the largest of the
// samples per resource, and the largest distance from the mean. Resources
// without samples count: an idle one is what the metric is for.
func (c *cells) load() (mean, sigma, most, farthest float64, ok bool) {
	total := 0.0
	for _, n := range c.n {
		total += float64(n)
		most = max(most, float64(n))
	}
	if total == 0 {
		return 0, 0, 0, 0, false
	}
	mean = total / float64(len(c.n))
	squares := 0.0
	for _, n := range c.n {
		d := float64(n) - mean
		squares += d * d
		farthest = max(farthest, math.Abs(d))
	}
	return mean, math.Sqrt(squares / float64(len(c.n))), most, farthest, true
}

// imbalance is equation 2; with equal loads, 0.
func imbalance(c *cells) (float64, bool) {
	_, sigma, _, farthest, ok := c.load()
	if !ok || sigma == 0 {
		return 0, ok
	}
	return farthest / sigma, true
}

// peak and variation say how large an imbalance is, which equation 2 does not:
// with two resources it is 1 whenever they differ at all.
func peak(c *cells) (float64, bool) {
	mean, _, most, _, ok := c.load()
	if !ok {
		return 0, false
	}
	return most/mean - 1, true
}

func variation(c *cells) (float64, bool) {
	mean, sigma, _, _, ok := c.load()
	if !ok {
		return 0, false
	}
	return sigma / mean, true
}

// shareOfFirst is the share of slot 0 among the samples of both slots.
func shareOfFirst(c *cells) (float64, bool) {
	total := float64(c.n[0]) + float64(c.n[1])
	if total == 0 {
		return 0, false
	}
	return float64(c.n[0]) / total, true
}

func occupied(c *cells) (float64, bool) {
	k := c.occupiedSlots()
	return float64(k), k > 0
}

// slotting says to which slot of a metric each row counts. Rows of no slot go to
// the one after the last.
type slotting struct {
	count int
	by    query.Codes // what code is of; none: all rows are in slot 0
	code  []uint32    // of each row; nil if the rows are elsewhere
	slot  []uint32    // of each code
	valid table.Bits
	// numbers are the codes of a column of numbers; nil unless it is one.
	numbers map[float64]uint32
}

func (s *slotting) of(row int) uint32 {
	if s.all() {
		return 0
	}
	if s.valid != nil && !s.valid.Get(row) {
		return uint32(s.count)
	}
	return s.slot[s.code[row]]
}

// all reports whether all rows are in slot 0.
func (s *slotting) all() bool { return s.by == query.Codes{} }

func (g *Guide) together(hw.Kind) (*slotting, error) { return &slotting{count: 1}, nil }

// resources has a slot for each resource of a depth. A sample counts for the
// cache or memory node that served it, and for the CPU, core or container that
// issued it; virtual resources have no slot.
func (g *Guide) resources(depth hw.Kind) (*slotting, error) {
	if g.places == nil {
		return nil, fmt.Errorf("samples are not placed on a topology, so there are no resources to compare; give --topology XML")
	}
	coder := g.places.Coder
	topology := coder.Placer.Topology
	at := topology.At(depth)
	if len(at) == 0 {
		return nil, fmt.Errorf("this machine has no %v; it has %s", depth, strings.Join(depthNames(topology), ", "))
	}
	slotAt := make(map[int]int, len(at))
	for k, r := range at {
		slotAt[r] = k
	}
	if depth == hw.NUMA || depth.IsCache() {
		return byPlace(g.places, len(at), func(pl hw.Place) int {
			if k, ok := slotAt[coder.Placer.Path(pl).Server]; ok {
				return k
			}
			return -1
		}), nil
	}
	return byHolder(g.places, at), nil
}

// byHolder makes a slotting of the resources that hold the CPU of a sample.
func byHolder(places *hw.Rows, resources []int) *slotting {
	placer := places.Coder.Placer
	holder := placer.Topology.HolderOfCPUs(resources)
	return byPlace(places, len(resources), func(pl hw.Place) int {
		cpu, _ := placer.Access(pl)
		if k, ok := holder[cpu]; ok {
			return k
		}
		return -1
	})
}

func depthNames(t *hw.Topology) []string {
	var names []string
	for _, d := range t.Depths {
		names = append(names, d.Kind.String())
	}
	return names
}

// Depths returns the depths metrics can be asked for; none without a topology.
func (g *Guide) Depths() []string {
	if g.places == nil {
		return nil
	}
	return depthNames(g.places.Coder.Placer.Topology)
}

// byPlace makes a slotting of a function of places that gives a slot or -1.
func byPlace(rows *hw.Rows, count int, of func(hw.Place) int) *slotting {
	s := &slotting{count: count, by: query.Codes{Places: true}, code: rows.Code, slot: make([]uint32, len(rows.Coder.Places))}
	for code, pl := range rows.Coder.Places {
		s.slot[code] = outside(of(pl), count)
	}
	return s
}

// byName makes a slotting of the names of a category.
func byName(c *table.Column, count int, of func(name string) int) *slotting {
	s := &slotting{count: count, by: query.Codes{Column: c.Name}, code: c.Data.([]uint32), slot: make([]uint32, max(len(c.Dict), 1)), valid: c.Valid}
	for code, name := range c.Dict {
		s.slot[code] = outside(of(name), count)
	}
	return s
}

func outside(slot, count int) uint32 {
	if slot < 0 {
		return uint32(count)
	}
	return uint32(slot)
}

// served makes a slotting of the level that served a sample and whether that was
// on another node, from places or else from the level column alone.
func (g *Guide) served(of func(l hw.Level, remote bool) int) (*slotting, error) {
	c := g.data.Table.Column("level")
	if c == nil || c.Kind != table.Category {
		return nil, fmt.Errorf("the data does not say which level served a sample")
	}
	if g.places != nil {
		placer := g.places.Coder.Placer
		return byPlace(g.places, 2, func(pl hw.Place) int {
			_, a := placer.Access(pl)
			return of(a.Level, placer.Path(pl).Remote)
		}), nil
	}
	return byName(c, 2, func(name string) int {
		l, err := hw.ParseLevel(name)
		if err != nil {
			return -1
		}
		return of(l, l == hw.RemoteCache || l == hw.RemoteRAM)
	}), nil
}

// knownServer reports whether a level says what served the sample; one that only
// says which caches missed does not.
func knownServer(l hw.Level) bool {
	switch l {
	case hw.NoLevel, hw.Unknown, hw.BeyondL1, hw.BeyondL2, hw.BeyondL3:
		return false
	}
	return true
}

func isMemory(l hw.Level) bool {
	return l == hw.LocalRAM || l == hw.RemoteRAM || l == hw.PMEM || l == hw.CXL
}

// inMemory and afar share their divisor: samples whose server is known.
func (g *Guide) inMemory(hw.Kind) (*slotting, error) {
	return g.served(func(l hw.Level, _ bool) int { return first(knownServer(l), isMemory(l)) })
}

func (g *Guide) afar(hw.Kind) (*slotting, error) {
	return g.served(func(l hw.Level, remote bool) int { return first(knownServer(l), remote) })
}

// first gives slot 0 to what has a property, 1 to what has not, and none to what
// is not known.
func first(known, has bool) int {
	switch {
	case !known:
		return -1
	case has:
		return 0
	}
	return 1
}

// translation tells TLB misses from hits. The first-level TLB misses that the
// second level answers are hits: they cost a few cycles, a walk hundreds.
func (g *Guide) translation(hw.Kind) (*slotting, error) {
	c := g.data.Table.Column("tlb")
	if c == nil || c.Kind != table.Category {
		return nil, fmt.Errorf("the data does not say which samples missed the TLB")
	}
	return byName(c, 2, func(name string) int {
		miss := tlbMissed(name)
		return first(miss || strings.HasSuffix(name, "hit"), miss)
	}), nil
}

func tlbMissed(name string) bool { return name == "miss" || name == "walk" || name == "OS fault" }

// issuers has a slot for each CPU: those of the topology, or else those that the
// cpu column has.
func (g *Guide) issuers(hw.Kind) (*slotting, error) {
	if g.places != nil {
		return g.resources(hw.CPU)
	}
	c := g.data.Table.Column("cpu")
	if c == nil || c.Kind != table.Number {
		return nil, fmt.Errorf("the data does not say which CPU issued a sample")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cpus == nil {
		number := byNumber
		if d := g.distant(); d != nil {
			number = func(c *table.Column) (*slotting, error) { return byDistantNumber(d, c) }
		}
		s, err := number(c)
		if err != nil {
			return nil, err
		}
		g.cpus = s
	}
	return g.cpus, nil
}

// mostNumbers bounds the different numbers that name CPUs.
const mostNumbers = 1 << 15

// byNumber gives each different number of a column a slot.
func byNumber(c *table.Column) (*slotting, error) {
	s := &slotting{by: query.Codes{Column: c.Name}, code: make([]uint32, c.Len()), valid: c.Valid}
	slots := map[float64]uint32{}
	for i := range s.code {
		if !c.Has(i) {
			continue
		}
		v := c.Float(i)
		k, ok := slots[v]
		if !ok {
			k = uint32(len(slots))
			if k == mostNumbers {
				return nil, fmt.Errorf("column %s has more than %d different values; it does not name CPUs", c.Name, mostNumbers)
			}
			slots[v] = k
			s.slot = append(s.slot, uint32(k))
		}
		s.code[i] = k
	}
	s.count = len(slots)
	if s.slot == nil {
		s.slot = []uint32{0}
	}
	return s, nil
}

// measure is a metric made ready for one data set and depth.
type measure struct {
	*Metric
	Depth string // empty for a metric without
	*slotting
	cost *table.Column // latency; nil if the metric does not need it
	unit string        // of its values; a metric in cycles has that of the latency
}

// prepare checks that the data supports a metric. An empty depth means CPU.
func (g *Guide) prepare(metric, depth string) (*measure, error) {
	m, err := FindMetric(metric)
	if err != nil {
		return nil, err
	}
	out := &measure{Metric: m, unit: m.Unit}
	kind := hw.CPU
	if m.PerDepth {
		if depth != "" {
			if kind, err = hw.ParseKind(depth); err != nil {
				return nil, err
			}
		}
		out.Depth = kind.String()
	}
	if m.latency {
		if out.cost = g.latency(); out.cost == nil {
			return nil, fmt.Errorf("metric %s: the data has no latency; imbalance, dram and others need none", m.Name)
		}
		if m.Unit == samples.Cycles {
			out.unit = samples.UnitOf(out.cost)
		}
	}
	if out.slotting, err = m.slots(g, kind); err != nil {
		return nil, fmt.Errorf("metric %s: %w", m.Name, err)
	}
	return out, nil
}

// add counts one row; c has one more cell than m has slots.
func (c *cells) add(m *measure, row int) {
	k := m.of(row)
	c.n[k]++
	if m.cost != nil && m.cost.Has(row) {
		c.valued[k]++
		c.sum[k] += m.cost.Float(row)
	}
}

// inside leaves out the cell of rows that have no slot.
func (c *cells) inside(slots int) *cells {
	return &cells{n: c.n[:slots], valued: c.valued[:slots], sum: c.sum[:slots]}
}
