package hw

import (
	"slices"
	"strings"
)

// Place is a CPU together with the way an access was served: all samples of one
// place have the same path. Places of a Placer run from 0 to Places()-1; most of
// them never occur, so that engines number those that do with a Coder.
type Place uint32

// Path is the way of an access from the CPU to what served it.
type Path struct {
	// Steps are resource indices from the CPU outward: CPU, core, L1, L2, … .
	// Empty if the topology does not have the CPU.
	Steps []int
	// Server is the resource that served the access, the last step, or -1 if
	// it cannot be said.
	Server int
	// Pending is set for an access that found its line on the way already
	// (LFB): it ends at L1 without having been served there.
	Pending bool
	// Remote is set if the server is not near the CPU; the last link then
	// leaves the local part of the tree.
	Remote bool
	// Guess is set if the server follows from there being only one candidate,
	// not from the sample itself.
	Guess bool
}

// Placer decides which resource served an access: by kind and level of cache
// and by memory node, never by a number of parents to climb. It is safe for
// concurrent use.
type Placer struct {
	Topology *Topology
	// Resources are those of the topology followed by the virtual ones.
	Resources []Resource

	cpus     []int   // OS indices by order in the tree
	order    []int   // by OS index: position in cpus, or -1
	chain    [][]int // of each CPU: CPU, core, caches, innermost first
	near     [][]int // of each CPU: memory nodes nearest to it
	side     map[int]int
	variants int
	nodes    []int // OS indices
	nodeAt   map[int]int
	virtual  map[string]int

	// Of a cluster, these do the work.
	hosts  []placedHost
	places int
}

// Place numbers consist of a CPU and a variant: first the levels, then remote
// levels at each distance, then levels whose memory node is known.
var (
	hopLevels  = []Level{RemoteCache, RemoteRAM}
	homeLevels = []Level{LocalRAM, RemoteCache, RemoteRAM, MSC, PMEM, CXL}
)

// NewPlacer prepares the paths of a topology.
func NewPlacer(t *Topology) *Placer {
	if t.hosts != nil {
		return newClusterPlacer(t)
	}
	p := &Placer{
		Topology: t, Resources: slices.Clone(t.Resources),
		side: map[int]int{}, nodeAt: map[int]int{}, virtual: map[string]int{},
	}
	all := t.Root().CPUs
	p.order = slices.Repeat([]int{-1}, all[len(all)-1]+1)
	for _, i := range t.At(CPU) {
		os := t.Resources[i].OS
		p.order[os] = len(p.cpus)
		p.cpus = append(p.cpus, os)
	}
	for i, n := range t.At(NUMA) {
		p.nodes = append(p.nodes, t.Resources[n].OS)
		p.nodeAt[t.Resources[n].OS] = i
	}
	p.variants = levelCount + len(hopLevels)*(hopsCount-1) + len(homeLevels)*len(p.nodes)
	p.chains()
	p.sideCaches()
	p.addVirtual()
	return p
}

// chains finds, for each CPU, its core and the caches whose CPUs include it.
func (p *Placer) chains() {
	t := p.Topology
	p.chain = make([][]int, len(p.cpus))
	p.near = make([][]int, len(p.cpus))
	for _, k := range []Kind{CPU, Core, Cache1, Cache2, Cache3, Cache4, Cache5} {
		for _, i := range t.At(k) {
			for _, os := range t.Resources[i].CPUs {
				c := p.order[os]
				p.chain[c] = append(p.chain[c], i)
			}
		}
	}
	for _, i := range t.At(NUMA) {
		for _, os := range t.Resources[i].CPUs {
			c := p.order[os]
			p.near[c] = t.nearer(p.near[c], i)
		}
	}
}

// sideCaches assigns memory-side caches to nodes where that is certain: the
// only side cache with the CPUs of the only node with these CPUs.
func (p *Placer) sideCaches() {
	t := p.Topology
	owners := map[string][2]int{} // CPU list: nodes, side caches
	for _, k := range []Kind{NUMA, SideCache} {
		for _, i := range t.At(k) {
			key := t.Resources[i].CPUs.String()
			n := owners[key]
			n[k-NUMA]++
			owners[key] = n
		}
	}
	for _, s := range t.At(SideCache) {
		key := t.Resources[s].CPUs.String()
		if owners[key] != [2]int{1, 1} {
			continue
		}
		for _, n := range t.At(NUMA) {
			if t.Resources[n].CPUs.String() == key {
				p.side[n] = s
			}
		}
	}
}

// Places returns the number of places.
func (p *Placer) Places() int {
	if p.hosts != nil {
		return p.places
	}
	return (len(p.cpus) + 1) * p.variants
}

// Place returns the place of an access from the CPU with that OS index. A CPU
// the topology does not have, or a negative one, is a place without a path. Of a
// cluster it is a CPU of the first host: see placeOn.
func (p *Placer) Place(cpu int, a Access) Place {
	if p.hosts != nil {
		return p.placeOn(0, cpu, a)
	}
	c := len(p.cpus)
	if cpu >= 0 && cpu < len(p.order) && p.order[cpu] >= 0 {
		c = p.order[cpu]
	}
	return Place(c*p.variants + p.variant(a))
}

func (p *Placer) variant(a Access) int {
	if a.Home >= 0 {
		node, known := p.nodeAt[a.Home]
		at := slices.Index(homeLevels, a.Level)
		if known && at >= 0 {
			return levelCount + len(hopLevels)*(hopsCount-1) + at*len(p.nodes) + node
		}
	}
	at := slices.Index(hopLevels, a.Level)
	if at >= 0 && a.Hops != AnyHops {
		return levelCount + at*(hopsCount-1) + int(a.Hops) - 1
	}
	return int(a.Level)
}

// Access returns the CPU (its OS index, -1 if unknown) and the access of a
// place.
func (p *Placer) Access(pl Place) (cpu int, a Access) {
	if p.hosts != nil {
		return p.clusterAccess(pl)
	}
	c, v := int(pl)/p.variants, int(pl)%p.variants
	cpu = -1
	if c < len(p.cpus) {
		cpu = p.cpus[c]
	}
	if v < levelCount {
		return cpu, Access{Level: Level(v), Home: -1}
	}
	v -= levelCount
	if v < len(hopLevels)*(hopsCount-1) {
		return cpu, Access{Level: hopLevels[v/(hopsCount-1)], Hops: Hops(v%(hopsCount-1) + 1), Home: -1}
	}
	v -= len(hopLevels) * (hopsCount - 1)
	return cpu, Access{Level: homeLevels[v/len(p.nodes)], Home: p.nodes[v%len(p.nodes)]}
}

// Path returns the path of a place.
func (p *Placer) Path(pl Place) Path {
	if p.hosts != nil {
		return p.clusterPath(pl)
	}
	c := int(pl) / p.variants
	if c >= len(p.cpus) {
		return Path{Server: -1}
	}
	_, a := p.Access(pl)
	switch a.Level {
	case L1, LFB, L2, L3, L4:
		return p.cached(c, a.Level)
	case NoLevel, IO, Uncached, Unknown, BeyondL1, BeyondL2, BeyondL3:
		return Path{Steps: p.upTo(c, Core), Server: -1}
	}
	server, remote, guess := p.memory(c, a)
	steps := p.upTo(c, NUMA)
	if side, ok := p.side[server]; ok {
		steps = append(steps, side)
	}
	return Path{Steps: append(steps, server), Server: server, Remote: remote, Guess: guess}
}

// upTo returns the part of a CPU's chain up to and including a kind.
func (p *Placer) upTo(c int, k Kind) []int {
	n := 0
	for n < len(p.chain[c]) && p.Resources[p.chain[c][n]].Kind >= k {
		n++
	}
	return slices.Clone(p.chain[c][:n])
}

var cacheOf = map[Level]Kind{L1: Cache1, LFB: Cache1, L2: Cache2, L3: Cache3, L4: Cache4}

func (p *Placer) cached(c int, l Level) Path {
	kind := cacheOf[l]
	steps := p.upTo(c, kind)
	last := steps[len(steps)-1]
	if p.Resources[last].Kind != kind {
		last = p.missing(c, kind)
		steps = append(steps, last)
	}
	if l == LFB {
		return Path{Steps: steps, Server: -1, Pending: true}
	}
	return Path{Steps: steps, Server: last}
}

// memory returns what served an access beyond the CPU's own caches.
func (p *Placer) memory(c int, a Access) (server int, remote, guess bool) {
	if a.Home >= 0 {
		server, remote = p.atHome(c, a)
		return server, remote, false
	}
	switch a.Level {
	case LocalPeerCache:
		server, guess = p.peer(c)
		return server, false, guess
	case LocalRAM:
		return p.local(c), false, false
	case MSC:
		if len(p.near[c]) == 1 {
			if side, ok := p.side[p.near[c][0]]; ok {
				return side, false, false
			}
		}
		return p.virtual["MSC:unknown"], false, false
	case PMEM, CXL:
		if nodes := p.ofType(a.Level.String()); len(nodes) == 1 {
			return nodes[0], !p.Resources[nodes[0]].CPUs.Has(p.cpus[c]), true
		}
		return p.virtual[a.Level.String()], false, false
	}
	return p.remote(c, a)
}

// atHome resolves an access to memory of a known node.
func (p *Placer) atHome(c int, a Access) (server int, remote bool) {
	node := p.Topology.node[a.Home]
	remote = !slices.Contains(p.near[c], node)
	switch a.Level {
	case MSC:
		if side, ok := p.side[node]; ok {
			return side, remote
		}
		return p.virtual["MSC:unknown"], remote
	case RemoteCache:
		if cache, ok := p.cacheOfNode(c, node); ok {
			return cache, true
		}
		return p.virtual[remoteID(RemoteCache, a.Hops)], true
	}
	return node, remote
}

func (p *Placer) local(c int) int {
	if len(p.near[c]) == 1 {
		return p.near[c][0]
	}
	return p.virtual[p.localID(p.near[c])]
}

// remote resolves an access to another node when the sample does not say
// which: exact if only one node is a candidate, else a virtual resource.
func (p *Placer) remote(c int, a Access) (server int, remote, guess bool) {
	candidates := p.candidates(c, a.Hops)
	if len(candidates) == 1 {
		if a.Level == RemoteRAM {
			return candidates[0], true, true
		}
		if cache, ok := p.cacheOfNode(c, candidates[0]); ok {
			return cache, true, true
		}
	}
	return p.virtual[remoteID(a.Level, a.Hops)], true, false
}

// cacheOfNode returns the last-level cache of a remote node if it has exactly
// one and does not share it with the CPU (sub-NUMA clustering), in which case a
// smaller cache must have answered.
func (p *Placer) cacheOfNode(c, node int) (int, bool) {
	caches := p.lastCaches(p.Resources[node].CPUs)
	if len(caches) != 1 || slices.Contains(p.chain[c], caches[0]) {
		return 0, false
	}
	return caches[0], true
}

// candidates returns the memory nodes an access may have gone to. Nodes without
// CPUs have no caches and, being no peers, are left out where others exist.
func (p *Placer) candidates(c int, h Hops) []int {
	t := p.Topology
	var others []int
	for _, n := range t.At(NUMA) {
		if len(t.Resources[n].CPUs) > 0 && !slices.Contains(p.near[c], n) {
			others = append(others, n)
		}
	}
	if len(others) <= 1 || h == AnyHops || h == OtherBoard {
		return others
	}
	if h == OtherSocket {
		pkg := t.enclosing(t.cpu[p.cpus[c]], Package)
		return slices.DeleteFunc(others, func(n int) bool {
			return pkg < 0 || t.Resources[pkg].CPUs.Has(t.Resources[n].CPUs[0])
		})
	}
	nearest := p.nearestClass(c, others)
	return slices.DeleteFunc(others, func(n int) bool {
		return slices.Contains(nearest, n) != (h == OneHop)
	})
}

// nearestClass returns those of the nodes that are nearest to a CPU. Relative
// distances are exact; measured ones count as equal within a tenth.
func (p *Placer) nearestClass(c int, nodes []int) []int {
	t := p.Topology
	if t.Distances == nil || len(p.near[c]) == 0 {
		return nodes
	}
	from := t.Resources[p.near[c][0]].OS
	slack := 1.0
	if t.Distances.Unit != "relative" {
		slack = 1.1
	}
	least := -1.0
	for _, n := range nodes {
		if d, ok := t.Distances.Between(from, t.Resources[n].OS); ok && (least < 0 || d < least) {
			least = d
		}
	}
	if least < 0 {
		return nodes
	}
	var class []int
	for _, n := range nodes {
		if d, ok := t.Distances.Between(from, t.Resources[n].OS); ok && d <= least*slack {
			class = append(class, n)
		}
	}
	return class
}

// peer returns the other last-level cache of the CPU's node if there is
// exactly one.
func (p *Placer) peer(c int) (int, bool) {
	if len(p.near[c]) > 0 {
		own := p.lastCaches(CPUs{p.cpus[c]})
		all := p.lastCaches(p.Resources[p.near[c][0]].CPUs)
		others := slices.DeleteFunc(all, func(i int) bool { return slices.Contains(own, i) })
		if len(others) == 1 {
			return others[0], true
		}
	}
	return p.virtual["Peer"], false
}

// lastCaches returns the outermost caches of the given CPUs.
func (p *Placer) lastCaches(cpus CPUs) []int {
	var caches []int
	for _, os := range cpus {
		chain := p.chain[p.order[os]]
		last := chain[len(chain)-1]
		if p.Resources[last].Kind.IsCache() && !slices.Contains(caches, last) {
			caches = append(caches, last)
		}
	}
	return caches
}

func (p *Placer) ofType(memory string) []int {
	var nodes []int
	for _, n := range p.Topology.At(NUMA) {
		if strings.EqualFold(p.Resources[n].Memory, memory) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// enclosing returns the ancestor of a kind, or -1.
func (t *Topology) enclosing(i int, k Kind) int {
	for i >= 0 && t.Resources[i].Kind != k {
		i = t.Resources[i].Parent
	}
	return i
}

// Find returns the index of the resource with that ID, virtual ones included.
func (p *Placer) Find(id string) (int, error) {
	for i := len(p.Topology.Resources); i < len(p.Resources); i++ {
		if strings.EqualFold(p.Resources[i].ID, id) {
			return i, nil
		}
	}
	r, err := p.Topology.Find(id)
	if err != nil {
		return 0, err
	}
	return r.Index, nil
}

// touches reports whether samples of a place with those steps belong to a
// resource: their path goes through it or, for what only holds CPUs, their CPU is
// in it. It is what `at L3:1` selects.
func (p *Placer) touches(pl Place, steps []int, resource int) bool {
	r := &p.Resources[resource]
	if r.Kind.holdsCPUsOnly() && !r.Virtual {
		cpu, _ := p.Access(pl)
		return resource == 0 || cpu >= 0 && r.CPUs.Has(cpu)
	}
	return slices.Contains(steps, resource)
}

// Why says in words why samples of a place have no server on the tree; empty if
// they have one.
func (p *Placer) Why(pl Place) string {
	cpu, a := p.Access(pl)
	path := p.Path(pl)
	switch {
	case cpu < 0:
		return "their CPU is not in the topology"
	case path.Server >= 0 || path.Pending:
		return ""
	case a.Level == NoLevel:
		return "the source does not say what served them"
	case a.Level == Unknown:
		return "the hardware did not know what served them"
	case a.Level == IO || a.Level == Uncached:
		return "they bypass caches and memory nodes"
	}
	return "the samples say which caches missed, not what served them"
}
