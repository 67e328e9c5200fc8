package hw

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
)

// Count is what engines add up over samples: how many, and the sum of a column,
// mostly latency.
type Count struct {
	Samples uint64
	Valued  uint64  // samples that have a value
	Sum     float64 // of the values
	Squares float64 // sum of squared values
}

// Add adds another count.
func (c *Count) Add(o Count) {
	c.Samples += o.Samples
	c.Valued += o.Valued
	c.Sum += o.Sum
	c.Squares += o.Squares
}

// Mean returns the mean of the values, and false if there are none.
func (c Count) Mean() (float64, bool) {
	return c.Sum / float64(c.Valued), c.Valued > 0
}

// Deviation returns the population standard deviation of the values, and false
// if there are none.
func (c Count) Deviation() (float64, bool) {
	if c.Valued == 0 {
		return 0, false
	}
	mean := c.Sum / float64(c.Valued)
	return math.Sqrt(max(0, c.Squares/float64(c.Valued)-mean*mean)), true
}

// Coder numbers the places that occur, in the order in which they first occur.
// Codes may not be added while it is used elsewhere; everything else is safe for
// concurrent use.
type Coder struct {
	Placer *Placer
	Places []Place // place of each code
	dense  []uint32
	sparse map[Place]uint32

	mu    sync.Mutex
	paths []Path // of the first codes; made when they are first folded
}

// maxDense bounds the table of codes: 16 MB. Only machines with thousands of
// CPUs and dozens of nodes have more places.
const maxDense = 4 << 20

// NewCoder returns a coder without codes.
func NewCoder(p *Placer) *Coder {
	c := &Coder{Placer: p}
	if n := p.Places(); n <= maxDense {
		c.dense = make([]uint32, n)
	} else {
		c.sparse = map[Place]uint32{}
	}
	return c
}

// Code returns the code of a place.
func (c *Coder) Code(pl Place) uint32 {
	// Tables hold the code plus one, so that zero is a place not seen before.
	var code uint32
	if c.dense != nil {
		code = c.dense[pl]
	} else {
		code = c.sparse[pl]
	}
	if code > 0 {
		return code - 1
	}
	c.Places = append(c.Places, pl)
	code = uint32(len(c.Places))
	if c.dense != nil {
		c.dense[pl] = code
	} else {
		c.sparse[pl] = code
	}
	return code - 1
}

// pathsOf returns the path of every code.
func (c *Coder) pathsOf() []Path {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, pl := range c.Places[len(c.paths):] {
		c.paths = append(c.paths, c.Placer.Path(pl))
	}
	return c.paths
}

// Touching marks the codes whose samples belong to a resource.
func (c *Coder) Touching(id string) ([]bool, error) {
	r, err := c.Placer.Find(id)
	if err != nil {
		return nil, err
	}
	marks := make([]bool, len(c.Places))
	paths := c.pathsOf()
	for i, pl := range c.Places {
		marks[i] = c.Placer.touches(pl, paths[i].Steps, r)
	}
	return marks, nil
}

// Reached returns the resources that the samples of a code belong to, as
// Tally.Passed counts them, and the one that served them or -1.
func (c *Coder) Reached(code int) (passed []int, server int) {
	path := c.pathsOf()[code]
	if len(path.Steps) == 0 {
		return []int{0}, path.Server
	}
	return append(slices.Clone(path.Steps), c.Placer.holders(path.Steps[0])...), path.Server
}

// Tally is what is counted for one resource.
type Tally struct {
	// Passed counts the samples that belong to the resource: those whose path
	// goes through it and, for what only holds CPUs, those its CPUs issued.
	Passed Count
	// Served counts the samples it served. CPUs, cores and containers serve
	// nothing.
	Served Count
	// Pending counts, for an L1, samples that found their line on the way.
	Pending Count
	// FromAfar is the part of Served that came from CPUs outside.
	FromAfar Count
	// Onward counts samples that went on to the next step of the local chain,
	// Away those that left it to a remote resource.
	Onward, Away Count
}

// Link is the samples that went from one resource to the next on their path.
type Link struct {
	From, To int
	Remote   bool
	Count
}

// Unplaced is samples that no resource of the tree served, and why.
type Unplaced struct {
	Level  Level
	Reason string
	Count
}

// Aggregate is samples folded onto the resources of a topology.
type Aggregate struct {
	Placer   *Placer
	Total    Count
	Tallies  []Tally // of each resource of the placer
	Links    []Link
	Unplaced []Unplaced

	coder  *Coder
	counts []Count
}

// Fold adds up counts per code (the same order as c.Places) per resource. Its
// cost depends on the number of places and the length of their paths, not on
// the number of samples.
func Fold(c *Coder, counts []Count) *Aggregate {
	a := &Aggregate{Placer: c.Placer, Tallies: make([]Tally, len(c.Placer.Resources)), coder: c, counts: counts}
	paths := c.pathsOf()
	links := map[[2]int]*Link{}
	unplaced := map[Unplaced]*Count{}
	for code, n := range counts {
		if n.Samples == 0 {
			continue
		}
		a.Total.Add(n)
		a.fold(c.Places[code], paths[code], n, links, unplaced)
	}
	for _, key := range slices.SortedFunc(maps.Keys(links), func(x, y [2]int) int {
		return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]))
	}) {
		a.Links = append(a.Links, *links[key])
	}
	for key, n := range unplaced {
		a.Unplaced = append(a.Unplaced, Unplaced{key.Level, key.Reason, *n})
	}
	slices.SortFunc(a.Unplaced, func(x, y Unplaced) int {
		return cmp.Or(-cmp.Compare(x.Samples, y.Samples), cmp.Compare(x.Level, y.Level), cmp.Compare(x.Reason, y.Reason))
	})
	return a
}

func (a *Aggregate) fold(pl Place, path Path, n Count, links map[[2]int]*Link, unplaced map[Unplaced]*Count) {
	p := a.Placer
	if path.Server < 0 && !path.Pending {
		reason := p.Why(pl)
		cpu, access := p.Access(pl)
		key := Unplaced{Level: access.Level, Reason: reason}
		if cpu < 0 {
			key.Level = NoLevel // whatever it was, it is not the reason
		}
		if unplaced[key] == nil {
			unplaced[key] = new(Count)
		}
		unplaced[key].Add(n)
	}
	if len(path.Steps) == 0 {
		a.Tallies[0].Passed.Add(n)
		return
	}
	for at, i := range path.Steps {
		a.Tallies[i].Passed.Add(n)
		if at > 0 {
			a.link(links, path, at, n)
		}
	}
	for _, i := range p.holders(path.Steps[0]) {
		a.Tallies[i].Passed.Add(n)
	}
	switch {
	case path.Pending:
		a.Tallies[path.Steps[len(path.Steps)-1]].Pending.Add(n)
	case path.Server >= 0:
		a.Tallies[path.Server].Served.Add(n)
		if path.Remote {
			a.Tallies[path.Server].FromAfar.Add(n)
		}
	}
}

// holders returns the containers of a CPU: they hold what their CPUs issued.
func (p *Placer) holders(cpu int) []int {
	var out []int
	for i := p.Resources[cpu].Parent; i >= 0; i = p.Resources[i].Parent {
		if p.Resources[i].Kind < NUMA {
			out = append(out, i)
		}
	}
	return out
}

func (a *Aggregate) link(links map[[2]int]*Link, path Path, at int, n Count) {
	from, to := path.Steps[at-1], path.Steps[at]
	if path.Server < 0 && !path.Pending {
		return // nothing is known to have left the core
	}
	key := [2]int{from, to}
	if links[key] == nil {
		links[key] = &Link{From: from, To: to}
	}
	// A remote path leaves the local chain at its first step beyond the
	// caches of the CPU, which may be the side cache of the remote node.
	afar := path.Remote && !a.Placer.Resources[to].CPUs.Has(a.Placer.Resources[path.Steps[0]].OS)
	links[key].Remote = afar
	links[key].Add(n)
	if afar {
		a.Tallies[from].Away.Add(n)
	} else {
		a.Tallies[from].Onward.Add(n)
	}
}

// LinkToParent returns the local traffic between a resource and its parent in
// the tree. Memory that lies inside a cache (sub-NUMA clustering) receives what
// that cache passes on; everything else passes on to what lies around it.
func (a *Aggregate) LinkToParent(i int) Count {
	r := &a.Placer.Resources[i]
	if r.Kind != NUMA {
		return a.Tallies[i].Onward
	}
	inside := false
	for p := r.Parent; p >= 0; p = a.Placer.Resources[p].Parent {
		inside = inside || a.Placer.Resources[p].Kind.IsCache()
	}
	var in Count
	if inside {
		for _, l := range a.Links {
			if l.To == i && !l.Remote {
				in.Add(l.Count)
			}
		}
	}
	return in
}

// Balance says where the samples of one depth are: they add up to the total.
type Balance struct {
	Kind Kind
	// Here belong to resources of the depth, virtual ones included.
	Here Count
	// Nearer were resolved nearer the CPU.
	Nearer Count
	// Around went farther without passing this depth: their CPU has no such
	// cache, core or package, or a cache of another node served them.
	Around Count
	// Lost have a CPU that the topology does not have.
	Lost Count
	// Twice are in Here twice: they passed a cache and were served by another
	// one of the same level.
	Twice Count
}

// rank orders levels and kinds by distance from the CPU, so that "nearer" does
// not depend on paths.
func levelRank(l Level) int {
	switch l {
	case L1, LFB:
		return 1
	case L2, L3, L4:
		return int(l) - int(L2) + 2
	case LocalPeerCache, LocalRAM, RemoteCache, RemoteRAM, PMEM, CXL:
		return 7
	case MSC:
		return 6
	}
	return 0
}

func kindRank(k Kind) int {
	switch {
	case k >= Cache5 && k <= Cache1:
		return int(Cache1) - int(k) + 1
	case k == SideCache:
		return 6
	case k == NUMA:
		return 7
	}
	return 0
}

// Depths says, for every depth, where the samples are. It is computed from
// their levels and the CPU sets of resources, without the paths that Tallies
// rest on.
func (a *Aggregate) Depths() []Balance {
	var out []Balance
	for _, d := range a.depths() {
		b := Balance{Kind: d.Kind}
		for _, i := range d.Resources {
			b.Here.Add(a.Tallies[i].Passed)
		}
		for code, n := range a.counts {
			if n.Samples > 0 {
				b.sort(a.Placer, d, a.coder.Places[code], n)
			}
		}
		out = append(out, b)
	}
	return out
}

func (b *Balance) sort(p *Placer, d Depth, pl Place, n Count) {
	cpu, access := p.Access(pl)
	if d.Kind == p.Topology.Root().Kind {
		return
	}
	if cpu < 0 {
		b.Lost.Add(n)
		return
	}
	if kindRank(d.Kind) == 0 { // what holds CPUs has all their samples
		if p.Topology.enclosing(p.Topology.cpu[cpu], d.Kind) < 0 {
			b.Around.Add(n)
		}
		return
	}
	level := levelRank(access.Level)
	if level < kindRank(d.Kind) {
		b.Nearer.Add(n)
		return
	}
	passes := 0
	server := p.Path(pl).Server
	if d.Kind != NUMA && d.Kind != SideCache && p.hasCache(cpu, d.Kind) || access.Level == LFB {
		passes++
	}
	if server >= 0 && p.Resources[server].Kind == d.Kind && (passes == 0 || !p.Resources[server].CPUs.Has(cpu)) {
		passes++
	}
	if _, ok := p.side[server]; ok && d.Kind == SideCache {
		passes++
	}
	switch passes {
	case 0:
		b.Around.Add(n)
	case 2:
		b.Twice.Add(n)
	}
}

func (p *Placer) hasCache(cpu int, k Kind) bool {
	if p.hosts != nil {
		r := p.Topology.ByCPU(cpu)
		h := &p.hosts[p.Topology.Resources[p.Topology.enclosing(r.Index, Host)].Number]
		return h.placer.hasCache(cpu-h.shift, k)
	}
	return slices.ContainsFunc(p.chain[p.order[cpu]], func(i int) bool { return p.Resources[i].Kind == k })
}

// depths returns the depths of the topology with the virtual resources that
// have samples.
func (a *Aggregate) depths() []Depth {
	t := a.Placer.Topology
	var out []Depth
	for k := range Kind(kindCount) {
		d := Depth{k, slices.Clone(t.At(k))}
		for i := len(t.Resources); i < len(a.Tallies); i++ {
			if a.Placer.Resources[i].Kind == k && a.Tallies[i].Passed.Samples > 0 {
				d.Resources = append(d.Resources, i)
			}
		}
		if len(d.Resources) > 0 {
			out = append(out, d)
		}
	}
	return out
}

// Check verifies that no sample was lost or counted twice: at every depth,
// samples of its resources, those resolved nearer the CPU, those that went
// around it and those without a CPU add up to the total.
func (a *Aggregate) Check() error {
	for _, b := range a.Depths() {
		got := b.Here.Samples + b.Nearer.Samples + b.Around.Samples + b.Lost.Samples - b.Twice.Samples
		if got != a.Total.Samples {
			return fmt.Errorf("%v: %d samples here, %d nearer, %d around, %d lost, %d twice: %d in all, want %d",
				b.Kind, b.Here.Samples, b.Nearer.Samples, b.Around.Samples, b.Lost.Samples, b.Twice.Samples, got, a.Total.Samples)
		}
	}
	return nil
}
