// Package cachesim models which level of a memory hierarchy answers each
// access of a program, and how long the answer takes.
//
// It simulates set-associative caches with exact LRU replacement, private to a
// core or shared by a socket; invalidation-based coherence between them; two
// levels of TLB; the home node of every page by first touch; and queues at the
// memory controllers and between the sockets. It knows no prefetcher, no
// out-of-order execution and no address translation beyond the TLB's reach.
// Whatever it says is modelled, and a column made of it must say so.
//
// The model uses integers and its own random stream only: the same accesses in
// the same order give the same answers on every platform.
package cachesim

import (
	"errors"
	"fmt"
)

// Policy says how a cache relates to the caches nearer to the core.
type Policy uint8

// The policies. The first level has none nearer and is NonInclusive.
const (
	// NonInclusive caches are filled on every miss, and an eviction leaves the
	// nearer copies alone.
	NonInclusive Policy = iota
	// Inclusive caches hold every line that a nearer cache holds: an eviction
	// takes the nearer copies with it.
	Inclusive
	// Exclusive caches hold only what no nearer cache holds: they are filled
	// by evictions, and a hit moves the line away.
	Exclusive
)

// Level describes the caches of one level.
type Level struct {
	Size    int // bytes
	Ways    int
	Latency int // cycles from the load to its value, on a hit here
	Policy  Policy
	Shared  bool // one for each socket instead of one for each core
}

// TLB describes one level of address translation.
type TLB struct {
	Entries int
	Ways    int
	Latency int // cycles added to an access that is translated here
}

// CPU places one logical CPU. CPUs of one core share all its caches.
type CPU struct {
	Core   int
	Socket int // also its NUMA node: a socket is one node
}

// Config describes a machine. Latencies are in core cycles.
type Config struct {
	CPUs     []CPU // by the number the operating system gives them
	LineSize int   // bytes, a power of two
	PageSize int   // bytes, a power of two
	Levels   []Level

	DTLB, STLB TLB
	Walk       int // added when neither TLB knows the page

	LocalRAM    int // memory of the own node answers
	RemoteRAM   int // memory of another node answers
	RemoteCache int // a clean copy in another socket answers
	Snoop       int // added when a modified copy has to be fetched
	RowMiss     int // added when the memory row was closed, one time in four

	// Service times: how long one line keeps a memory controller, the link of
	// a socket, or a shared cache busy. Waiting follows from the traffic.
	MemoryService, LinkService, SharedService int

	// FillBuffers is how many lines a core may have on their way.
	FillBuffers int
	// Seed starts the random stream of row misses and waiting times.
	Seed uint64
}

// Grid numbers the CPUs of a regular machine as Linux does on x86: first one
// CPU of every core, socket by socket, then their siblings in the same order.
func Grid(sockets, cores, threads int) []CPU {
	var cpus []CPU
	for range threads {
		for c := range sockets * cores {
			cpus = append(cpus, CPU{Core: c, Socket: c / cores})
		}
	}
	return cpus
}

// TwoSocket is a machine of two sockets with eight cores of two CPUs each. Its
// latencies are of the class of server processors of the 2010s; its last-level
// cache is small, so that a small program shows what a large one would do.
func TwoSocket() Config {
	return Config{
		CPUs:     Grid(2, 8, 2),
		LineSize: 64,
		PageSize: 4096,
		Levels: []Level{
			{Size: 32 << 10, Ways: 8, Latency: 4},
			{Size: 256 << 10, Ways: 8, Latency: 12},
			{Size: 4 << 20, Ways: 16, Latency: 40, Policy: Inclusive, Shared: true},
		},
		DTLB:        TLB{Entries: 64, Ways: 4},
		STLB:        TLB{Entries: 512, Ways: 4, Latency: 7},
		Walk:        32,
		LocalRAM:    190,
		RemoteRAM:   310,
		RemoteCache: 230,
		Snoop:       35,
		RowMiss:     45,

		MemoryService: 5,
		LinkService:   6,
		SharedService: 1,
		FillBuffers:   10,
		Seed:          1,
	}
}

// Sockets returns the number of sockets, which is the number of nodes.
func (c *Config) Sockets() int {
	n := 0
	for _, cpu := range c.CPUs {
		n = max(n, cpu.Socket+1)
	}
	return n
}

// Cores returns the number of cores.
func (c *Config) Cores() int {
	n := 0
	for _, cpu := range c.CPUs {
		n = max(n, cpu.Core+1)
	}
	return n
}

func powerOfTwo(n int) bool { return n > 0 && n&(n-1) == 0 }

// check reports a description that no machine fits.
func (c *Config) check() error {
	switch {
	case len(c.CPUs) == 0:
		return errors.New("machine has no CPUs")
	case !powerOfTwo(c.LineSize):
		return fmt.Errorf("line size %d is not a power of two", c.LineSize)
	case !powerOfTwo(c.PageSize) || c.PageSize < c.LineSize:
		return fmt.Errorf("page size %d is not a power of two of at least one line", c.PageSize)
	case len(c.Levels) == 0 || len(c.Levels) > len(levelSources):
		return fmt.Errorf("%d cache levels, want 1 to %d", len(c.Levels), len(levelSources))
	}
	socket := map[int]int{}
	for i, cpu := range c.CPUs {
		if cpu.Core < 0 || cpu.Socket < 0 {
			return fmt.Errorf("CPU %d: negative core or socket", i)
		}
		if s, ok := socket[cpu.Core]; ok && s != cpu.Socket {
			return fmt.Errorf("CPU %d: core %d is in sockets %d and %d", i, cpu.Core, s, cpu.Socket)
		}
		socket[cpu.Core] = cpu.Socket
	}
	for i, l := range c.Levels {
		if l.Ways <= 0 || l.Size < l.Ways*c.LineSize || l.Size%(l.Ways*c.LineSize) != 0 {
			return fmt.Errorf("L%d: %d bytes are not whole sets of %d lines of %d bytes", i+1, l.Size, l.Ways, c.LineSize)
		}
		if i > 0 && c.Levels[i-1].Shared && !l.Shared {
			return fmt.Errorf("L%d is private behind a shared L%d", i+1, i)
		}
		if i == 0 && (l.Policy != NonInclusive || l.Shared) {
			return errors.New("L1 must be private and has no policy: no cache is nearer")
		}
	}
	for _, t := range []TLB{c.DTLB, c.STLB} {
		if t.Ways <= 0 || t.Entries <= 0 || t.Entries%t.Ways != 0 {
			return fmt.Errorf("TLB of %d entries in sets of %d", t.Entries, t.Ways)
		}
	}
	return nil
}
