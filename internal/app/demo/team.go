package demo

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/isobath/isobath/internal/machine/cachesim"
)

// How many misses a core works on at a time. A load holds its thread up for a
// quarter of its latency; a store waits in a buffer and holds it up less.
const (
	loadOverlap  = 4
	storeOverlap = 10
)

// megahertz is the clock of the simulated cores, for times in nanoseconds.
const megahertz = 2600

// none marks a coordinate that an access does not have.
const none = -1

// object is an array of the simulated program.
type object struct {
	name  string
	base  uint64
	width int // bytes of one element
	count int
}

// site is one memory access in the source: an instruction on a line.
type site struct {
	function    string
	line        int
	instruction string
	ip          uint64
	store       bool
}

// sample is one sampled access.
type sample struct {
	time       int64 // cycles
	cpu, tid   int
	site       *site
	object     *object
	index      int
	x, y, z, n int
	result     cachesim.Result
	latency    int
	home       int
}

// team simulates the threads of one program on one machine and samples their
// accesses.
type team struct {
	machine *cachesim.Machine
	config  cachesim.Config
	threads []*thread
	samples []sample
	period  int // accesses of a thread from one sample to the next, on average
	on      bool
	start   int64 // the clock when sampling started
	random  *rand.Rand
}

// thread is one simulated thread, pinned to a CPU.
type thread struct {
	team    *team
	id, cpu int
	clock   int64 // cycles
	left    int   // accesses until the next sample
	x, y, z int   // the cell it works on
	n       int   // the iteration
}

func newTeam(cfg cachesim.Config, cpus []int, period int, seed uint64) (*team, error) {
	if period < 1 {
		return nil, fmt.Errorf("demo: one sample every %d accesses; want at least 1", period)
	}
	m, err := cachesim.New(cfg)
	if err != nil {
		return nil, err
	}
	tm := &team{machine: m, config: cfg, period: period, on: true, random: rand.New(rand.NewPCG(seed, 2))}
	for i, cpu := range cpus {
		t := &thread{team: tm, id: i, cpu: cpu}
		t.leave()
		t.n = none
		t.left = tm.gap()
		tm.threads = append(tm.threads, t)
	}
	return tm, nil
}

// gap draws the number of accesses until the next sample. A constant number
// would fall into step with the loops of the program.
func (tm *team) gap() int { return tm.period/2 + 1 + tm.random.IntN(tm.period) }

// leave says that the thread works on no cell.
func (t *thread) leave() { t.x, t.y, t.z = none, none, none }

// touch simulates one access of element i of an array.
func (t *thread) touch(s *site, o *object, i int) {
	tm := t.team
	res := tm.machine.Access(cachesim.Ref{
		CPU: t.cpu, Addr: o.base + uint64(i*o.width), Width: o.width, Store: s.store, Now: t.clock,
	})
	if s.store {
		t.clock += 1 + int64(res.Latency)/storeOverlap
	} else {
		t.clock += 1 + int64(res.Latency)/loadOverlap
	}
	t.left--
	if t.left <= 0 {
		t.left = tm.gap()
		if tm.on {
			t.sample(s, o, i, res)
		}
	}
}

func (t *thread) sample(s *site, o *object, i int, res cachesim.Result) {
	latency := res.Latency
	if strings.Contains(s.instruction, ",8)") || strings.Contains(s.instruction, ",4)") {
		latency++ // an indexed address takes a cycle longer to compute
	}
	t.team.samples = append(t.team.samples, sample{
		time: t.clock, cpu: t.cpu, tid: t.id, site: s, object: o, index: i,
		x: t.x, y: t.y, z: t.z, n: t.n,
		result: res, latency: latency, home: t.team.machine.Home(o.base + uint64(i*o.width)),
	})
}

// parallel runs a parallel region to its barrier. Each thread's work is a
// function that does a little of it and reports whether there is more; the
// thread whose clock is behind goes next, so that clocks never differ by more
// than one such piece.
func (tm *team) parallel(work func(*thread) func() bool) {
	pending := make([]func() bool, len(tm.threads))
	for i, t := range tm.threads {
		pending[i] = work(t)
	}
	for {
		next := -1
		for i, t := range tm.threads {
			if pending[i] != nil && (next < 0 || t.clock < tm.threads[next].clock) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		if !pending[next]() {
			pending[next] = nil
		}
	}
	tm.barrier()
}

// resume turns sampling on after a set-up without; times count from here.
func (tm *team) resume() {
	tm.on, tm.start = true, tm.threads[0].clock
}

// barrier lets all threads wait for the last one.
func (tm *team) barrier() {
	last := int64(0)
	for _, t := range tm.threads {
		last = max(last, t.clock)
	}
	for _, t := range tm.threads {
		t.clock = last + 200 // a tree of flags between two sockets
		t.leave()
	}
}

// source gives sites their lines by what stands on them, so that the lines stay
// right when the source changes.
type source struct {
	name  string
	lines []string
	sites []*site
	errs  []error
}

// Where the simulated programs have their code and data. The numbers are those
// of a position-dependent Linux program; nothing depends on them but looks.
const (
	textStart = 0x401200
	bssStart  = 0x404080
	heapStart = 0x7f3a40000000
)

func newSource(name, text string) *source {
	return &source{name: name, lines: strings.Split(text, "\n")}
}

// load returns the site of a load in function on the one line that contains
// text; store that of a store.
func (s *source) load(function, text, instruction string) *site {
	return s.site(function, text, instruction, false)
}

func (s *source) store(function, text, instruction string) *site {
	return s.site(function, text, instruction, true)
}

func (s *source) site(function, text, instruction string, store bool) *site {
	found := 0
	for i, l := range s.lines {
		if strings.Contains(l, text) {
			if found > 0 {
				s.errs = append(s.errs, fmt.Errorf("%s: %q stands on lines %d and %d", s.name, text, found, i+1))
			}
			found = i + 1
		}
	}
	if found == 0 {
		s.errs = append(s.errs, fmt.Errorf("%s: no line contains %q", s.name, text))
	}
	st := &site{function: function, line: found, instruction: instruction, store: store}
	st.ip = textStart + uint64(len(s.sites))*0x17
	s.sites = append(s.sites, st)
	return st
}

func (s *source) err() error { return errors.Join(s.errs...) }

// heap lays arrays out one after the other, each on its own pages with one free
// page between.
type heap struct{ next uint64 }

func (h *heap) array(name string, width, count int) *object {
	if h.next == 0 {
		h.next = heapStart
	}
	o := &object{name: name, base: h.next, width: width, count: count}
	h.next += (uint64(width*count)+4095)&^4095 + 4096
	return o
}
