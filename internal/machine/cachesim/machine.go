package cachesim

import (
	"fmt"
	"math/bits"
	"math/rand/v2"

	"github.com/isobath/isobath/internal/data/samples"
)

// Source says what answered an access.
type Source uint8

// The sources, nearest first.
const (
	L1 Source = iota
	LFB
	L2
	L3
	L4
	LocalRAM
	RemoteCache
	RemoteRAM
)

var sourceNames = [...]string{samples.L1, samples.LFB, samples.L2, samples.L3, samples.L4, samples.LocalRAM, samples.RemoteCache, samples.RemoteRAM}

func (s Source) String() string { return sourceNames[s] }

// Remote reports whether the answer came from another socket.
func (s Source) Remote() bool { return s == RemoteRAM || s == RemoteCache }

var levelSources = [...]Source{L1, L2, L3, L4}

// Snoop says what other caches had to contribute.
type Snoop uint8

// The outcomes of a snoop.
const (
	SnoopNone Snoop = iota // nobody was asked, or nobody had the line
	SnoopHit               // another cache had a clean copy
	SnoopHitM              // another cache had the only, modified copy
)

// Translation says what translated the address.
type Translation uint8

// The translations, fastest first.
const (
	TLBL1 Translation = iota
	TLBL2
	TLBWalk
)

// Ref is one access of a program.
type Ref struct {
	CPU   int
	Addr  uint64
	Width int // bytes; an access over the end of a line uses two lines
	Store bool
	Now   int64 // cycles, the clock of the CPU when it issues the access
}

// Result is what the model says about one access.
type Result struct {
	Source  Source
	Latency int // cycles
	Snoop   Snoop
	TLB     Translation
}

// Machine is a simulated machine. It is not safe for concurrent use.
type Machine struct {
	cfg       Config
	private   int // how many levels each core has for itself
	lineShift int
	pageShift int

	cores   []*core
	sockets []*socket
	cpus    []*core
	homes   map[uint64]int // node of each page touched
	random  *rand.PCG
	now     int64 // clock of the CPU whose access is simulated
}

// core holds what the CPUs of one core share.
type core struct {
	socket     *socket
	index      int      // among the cores of its socket
	path       []*cache // nearest first; the shared ones belong to the socket
	dtlb, stlb *cache
	lastPage   uint64 // plus one, so that zero is no page
	flights    []flight
	next       int   // the fill buffer to reuse
	busyUntil  int64 // when the last of flights lands
}

// flight is a line on its way to a core.
type flight struct {
	line  uint64
	ready int64
}

// socket holds what the cores of one socket share.
type socket struct {
	id     int
	cores  []*core
	caches []*cache
	memory queue
	link   queue
	shared queue
}

// New makes a machine with empty caches and no page touched.
func New(cfg Config) (*Machine, error) {
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("cache model: %w", err)
	}
	m := &Machine{
		cfg:       cfg,
		lineShift: bits.TrailingZeros(uint(cfg.LineSize)),
		pageShift: bits.TrailingZeros(uint(cfg.PageSize)),
		homes:     map[uint64]int{},
		random:    rand.NewPCG(cfg.Seed, 0x69736f62617468),
	}
	for m.private < len(cfg.Levels) && !cfg.Levels[m.private].Shared {
		m.private++
	}
	for s := range cfg.Sockets() {
		m.sockets = append(m.sockets, &socket{
			id:     s,
			caches: m.caches(m.private, len(cfg.Levels)),
			memory: queue{service: int64(cfg.MemoryService)},
			link:   queue{service: int64(cfg.LinkService)},
			shared: queue{service: int64(cfg.SharedService)},
		})
	}
	m.cores = make([]*core, cfg.Cores())
	for _, cpu := range cfg.CPUs {
		if m.cores[cpu.Core] == nil {
			m.cores[cpu.Core] = m.newCore(m.sockets[cpu.Socket])
		}
		m.cpus = append(m.cpus, m.cores[cpu.Core])
	}
	return m, nil
}

func (m *Machine) newCore(s *socket) *core {
	c := &core{
		socket:  s,
		index:   len(s.cores),
		path:    append(m.caches(0, m.private), s.caches...),
		dtlb:    newCache(m.cfg.DTLB.Entries/m.cfg.DTLB.Ways, m.cfg.DTLB.Ways),
		stlb:    newCache(m.cfg.STLB.Entries/m.cfg.STLB.Ways, m.cfg.STLB.Ways),
		flights: make([]flight, m.cfg.FillBuffers),
	}
	s.cores = append(s.cores, c)
	return c
}

func (m *Machine) caches(from, to int) []*cache {
	var cs []*cache
	for _, l := range m.cfg.Levels[from:to] {
		cs = append(cs, newCache(l.Size/l.Ways/m.cfg.LineSize, l.Ways))
	}
	return cs
}

// Home returns the node of the page that holds addr, or -1 if nobody has
// touched it.
func (m *Machine) Home(addr uint64) int {
	if node, ok := m.homes[addr>>m.pageShift]; ok {
		return node
	}
	return -1
}

// Access simulates one access and returns what answered it.
func (m *Machine) Access(r Ref) Result {
	m.now = r.Now
	c := m.cpus[r.CPU]
	line := r.Addr >> m.lineShift
	res := m.accessLine(c, line, r.Store)
	last := (r.Addr + uint64(max(r.Width, 1)) - 1) >> m.lineShift
	if last != line {
		if second := m.accessLine(c, last, r.Store); second.Latency > res.Latency {
			return second
		}
	}
	return res
}

func (m *Machine) accessLine(c *core, line uint64, store bool) Result {
	var res Result
	walk := 0
	if page := line >> (m.pageShift - m.lineShift); page+1 != c.lastPage {
		res.TLB, walk = m.translate(c, page)
	}
	if st := c.path[0].use(line); st != invalid && (!store || st >= exclusive) {
		if store {
			c.path[0].put(line, modified)
		}
		res.Source, res.Latency = c.landing(line, m.now, m.cfg.Levels[0].Latency)
		res.Latency += walk
		return res
	}
	res.Source, res.Latency, res.Snoop = m.beyond(c, line, store)
	res.Latency += walk
	c.fly(line, m.now+int64(res.Latency))
	return res
}

// translate looks the page up and gives it a home if it has none. Only an
// access that no TLB entry serves can be the first to a page, so every other
// access is spared the look-up.
func (m *Machine) translate(c *core, page uint64) (Translation, int) {
	c.lastPage = page + 1
	if c.dtlb.use(page) != invalid {
		return TLBL1, m.cfg.DTLB.Latency
	}
	c.dtlb.insert(page, shared)
	if c.stlb.use(page) != invalid {
		return TLBL2, m.cfg.STLB.Latency
	}
	c.stlb.insert(page, shared)
	if _, ok := m.homes[page]; !ok {
		m.homes[page] = c.socket.id
	}
	return TLBWalk, m.cfg.Walk
}

// landing answers a hit in L1: at once, or when the line has landed, if an
// earlier access of the core is still waiting for it.
func (c *core) landing(line uint64, now int64, latency int) (Source, int) {
	if c.busyUntil > now+int64(latency) {
		for _, f := range c.flights {
			if f.line == line && f.ready > now+int64(latency) {
				return LFB, int(f.ready - now)
			}
		}
	}
	return L1, latency
}

// fly notes that the line reaches the core at the given time.
func (c *core) fly(line uint64, ready int64) {
	if len(c.flights) == 0 {
		return
	}
	c.flights[c.next] = flight{line, ready}
	c.next = (c.next + 1) % len(c.flights)
	c.busyUntil = max(c.busyUntil, ready)
}

// beyond answers an access that L1 alone cannot: the line is not there, or a
// store needs the line for itself.
func (m *Machine) beyond(c *core, line uint64, store bool) (Source, int, Snoop) {
	k, st := m.find(c, line)
	if k >= 0 && k < m.private && (!store || st >= exclusive) {
		m.fill(c, line, k, st, store)
		return levelSources[k], m.cfg.Levels[k].Latency, SnoopNone
	}
	peers := m.snoopSocket(c, line, store)
	var far snooped
	if store && st < exclusive || k < 0 && peers.best == invalid {
		far = m.snoopOthers(c, line, store)
	}
	if !store { // with a store the duty to write back moves to this core
		if peers.dirty {
			m.keepDirty(c, line)
		}
		if far.dirty {
			m.writeBack(line)
		}
	}
	src, latency, snoop := m.answer(c, line, k, peers, far)
	m.fill(c, line, k, granted(st, peers, far), store)
	return src, latency, snoop
}

// find returns the nearest level of the core's path that holds the line, and
// its state there; -1 if none does. Levels behind it do not see the access, so
// it is no use of their copy.
func (m *Machine) find(c *core, line uint64) (int, state) {
	for k, cache := range c.path {
		if st := cache.use(line); st != invalid {
			return k, st
		}
	}
	return -1, invalid
}

// granted is the state in which a core gets a line that may be elsewhere too.
func granted(st state, peers, far snooped) state {
	switch {
	case peers.best != invalid || far.best != invalid || st == shared:
		return shared
	case st == invalid:
		return exclusive
	}
	return st
}

// answer says where the data came from and what that costs.
func (m *Machine) answer(c *core, line uint64, k int, peers, far snooped) (Source, int, Snoop) {
	home := m.homes[line>>(m.pageShift-m.lineShift)]
	switch {
	case far.dirty:
		return RemoteCache, m.cfg.RemoteCache + m.cfg.Snoop + m.cross(c), SnoopHitM
	case k >= 0 && far.best != invalid:
		// The data is here, but the other socket had to give up its copy.
		return RemoteCache, m.cfg.RemoteCache + m.cross(c), SnoopHit
	case k >= 0 || peers.best != invalid:
		latency := m.sharedLatency(c, line)
		if peers.dirty {
			return m.sharedSource(), latency + m.cfg.Snoop, SnoopHitM
		}
		return m.sharedSource(), latency, peers.snoop()
	case home == c.socket.id:
		return LocalRAM, m.cfg.LocalRAM + m.ram(home), far.snoop()
	case far.best != invalid:
		return RemoteCache, m.cfg.RemoteCache + m.cross(c), SnoopHit
	}
	return RemoteRAM, m.cfg.RemoteRAM + m.ram(home) + m.cross(c), SnoopNone
}

// sharedSource is the level that stands for the socket: the last one.
func (m *Machine) sharedSource() Source { return levelSources[len(m.cfg.Levels)-1] }
