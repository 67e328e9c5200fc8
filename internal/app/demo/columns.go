package demo

import (
	"cmp"
	"slices"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/code/datasrc"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/machine/cachesim"
)

// pid is the process number of every simulated program.
const pid = 4711

// program is what finish needs to know about a simulated program.
type program struct {
	name    string
	command []string
	source  *source
	text    string
	objects []*object
}

// Notes that several columns share.
const (
	noteProgram = "exact for the simulated program, which did not run on hardware"
	noteModel   = "cache model: LRU caches, MESI coherence, first touch of 4 KiB pages; no prefetcher"
)

// finish makes the run of what was sampled.
func (tm *team) finish(p program) (*Run, error) {
	rows := tm.samples
	slices.SortStableFunc(rows, func(a, b sample) int {
		return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.cpu, b.cpu))
	})
	samples, err := table.New("samples", tm.columns(p.source.name, rows))
	if err != nil {
		return nil, err
	}
	r := &Run{
		Name:     p.name,
		Samples:  samples,
		Topology: topologyXML(&tm.config),
		Sources:  map[string][]byte{p.source.name: []byte(p.text)},
		Origin: kind.Origin{
			Host:    "simulated machine: 2 sockets x 8 cores x 2 CPUs",
			Command: p.command,
			Tool:    "isobath demo (cache simulator)",
		},
		Warnings: []string{"This run is a simulation: no value in it was measured."},
	}
	for _, o := range p.objects {
		r.Objects = append(r.Objects, Object{Name: o.name, Address: o.base, Width: o.width, Count: o.count})
	}
	return r, nil
}

// maker builds columns from samples.
type maker struct {
	rows []sample
	cols []*table.Column
}

func (m *maker) add(c *table.Column, note string) {
	c.Note = note
	if c.Valid == nil || c.Valid.Count() > 0 {
		m.cols = append(m.cols, c)
	}
}

// ints adds a number column; get returns false where there is no value.
func (m *maker) ints(name, unit string, p table.Provenance, note string, get func(*sample) (int, bool)) {
	values := make([]int64, len(m.rows))
	valid := table.NewBits(len(m.rows))
	for i := range m.rows {
		if v, ok := get(&m.rows[i]); ok {
			values[i] = int64(v)
			valid.Set(i)
		}
	}
	m.add(table.Ints(name, unit, p, values, valid), note)
}

func (m *maker) addresses(name string, p table.Provenance, note string, get func(*sample) uint64) {
	values := make([]uint64, len(m.rows))
	for i := range m.rows {
		values[i] = get(&m.rows[i])
	}
	m.add(table.Addresses(name, p, values, nil), note)
}

// names adds a category column with names in order of first appearance, after
// those given.
func (m *maker) names(name string, p table.Provenance, note string, first []string, get func(*sample) string) {
	in := table.NewInterner()
	for _, f := range first {
		in.CodeString(f)
	}
	codes := make([]uint32, len(m.rows))
	for i := range m.rows {
		codes[i] = in.CodeString(get(&m.rows[i]))
	}
	m.add(table.Categories(name, p, codes, in.Names(), nil), note)
}

func have(v int) (int, bool)     { return v, true }
func haveCell(v int) (int, bool) { return max(v, 0), v != none }

// levelOrder lists the levels that a two-socket machine with three caches has,
// nearest first, which is the order views show them in.
var levelOrder = []string{samples.L1, samples.LFB, samples.L2, samples.L3, samples.LocalRAM, samples.RemoteCache, samples.RemoteRAM}

// The names that readers of recorded data give to the outcomes of a snoop and of
// a translation.
var (
	snoopNames = []string{
		cachesim.SnoopNone: datasrc.SnoopNames[datasrc.SnoopNone],
		cachesim.SnoopHit:  datasrc.SnoopNames[datasrc.SnoopHit],
		cachesim.SnoopHitM: datasrc.SnoopNames[datasrc.SnoopHitM],
	}
	tlbNames = []string{
		cachesim.TLBL1:   datasrc.TLBNames[datasrc.TLBL1],
		cachesim.TLBL2:   datasrc.TLBNames[datasrc.TLBL2],
		cachesim.TLBWalk: datasrc.TLBNames[datasrc.TLBMiss],
	}
)

func (tm *team) columns(file string, rows []sample) []*table.Column {
	m := &maker{rows: rows}
	tm.where(m)
	tm.what(m, file)
	tm.how(m)
	return m.cols
}

// where adds when and on which CPU an access happened.
func (tm *team) where(m *maker) {
	clock := make([]int64, len(m.rows))
	for i, s := range m.rows {
		clock[i] = (s.time - tm.start) * 1000 / megahertz
	}
	m.add(&table.Column{Name: "time", Kind: table.Time, Unit: "ns", Provenance: table.Modelled, Data: clock},
		"one cycle for each access and a quarter (load) or tenth (store) of its latency, at 2.6 GHz")
	m.ints("cpu", "", table.Derived, noteProgram, func(s *sample) (int, bool) { return have(s.cpu) })
	m.ints("node", "", table.Derived, "node of the CPU", func(s *sample) (int, bool) {
		return have(tm.config.CPUs[s.cpu].Socket)
	})
	m.ints("pid", "", table.Modelled, "made up", func(*sample) (int, bool) { return have(pid) })
	m.ints("tid", "", table.Modelled, "made up, one for each thread", func(s *sample) (int, bool) { return have(pid + s.tid) })
}

// what adds the instruction, the line and the data of an access.
func (tm *team) what(m *maker, file string) {
	m.addresses("ip", table.Modelled, "made up, one for each access in the source", func(s *sample) uint64 { return s.site.ip })
	m.addresses("addr", table.Derived, noteProgram, func(s *sample) uint64 {
		return s.object.base + uint64(s.index*s.object.width)
	})
	m.names("op", table.Derived, noteProgram, []string{"load", "store"}, func(s *sample) string {
		if s.site.store {
			return "store"
		}
		return "load"
	})
	m.ints("width", "bytes", table.Derived, noteProgram, func(s *sample) (int, bool) { return have(s.object.width) })
	m.names("file", table.Derived, noteProgram, nil, func(*sample) string { return file })
	m.ints("line", "", table.Derived, noteProgram, func(s *sample) (int, bool) { return have(s.site.line) })
	m.names("function", table.Derived, noteProgram, nil, func(s *sample) string { return s.site.function })
	m.names("instruction", table.Modelled, "written by hand for each access in the source, not disassembled", nil,
		func(s *sample) string { return s.site.instruction })
	m.names("symbol", table.Derived, "array by its allocation; "+noteProgram, nil, func(s *sample) string { return s.object.name })
	m.ints("index", "", table.Derived, noteProgram, func(s *sample) (int, bool) { return have(s.index) })
	const cell = "cell the program computes; "
	m.ints("x", "", table.Derived, cell+noteProgram, func(s *sample) (int, bool) { return haveCell(s.x) })
	m.ints("y", "", table.Derived, cell+noteProgram, func(s *sample) (int, bool) { return haveCell(s.y) })
	m.ints("z", "", table.Derived, cell+noteProgram, func(s *sample) (int, bool) { return haveCell(s.z) })
	m.ints("iteration", "", table.Derived, noteProgram, func(s *sample) (int, bool) { return haveCell(s.n) })
}

// how adds what the cache model says.
func (tm *team) how(m *maker) {
	m.ints(samples.Latency, samples.Cycles, table.Modelled,
		"base latency of the level, translation, and waiting by the load of memory, link and shared cache; "+noteModel,
		func(s *sample) (int, bool) { return have(s.latency) })
	m.names("level", table.Modelled, noteModel, levelOrder, func(s *sample) string { return s.result.Source.String() })
	m.names("hit", table.Modelled, "level is the one that answered, so always a hit", nil, func(*sample) string { return "hit" })
	remote := make([]uint8, len(m.rows))
	for i := range m.rows {
		remote[i] = uint8(hops(m.rows[i].result.Source))
	}
	m.add(table.Flags("remote", table.Modelled, remote, nil), "answered by the other socket; "+noteModel)
	m.ints("hops", "", table.Modelled, "links between sockets on the way; "+noteModel,
		func(s *sample) (int, bool) { return have(hops(s.result.Source)) })
	m.names("snoop", table.Modelled, noteModel, snoopNames, func(s *sample) string { return snoopNames[s.result.Snoop] })
	m.names("tlb", table.Modelled, "64 entries, then 512, of 4 KiB pages", tlbNames, func(s *sample) string {
		return tlbNames[s.result.TLB]
	})
	m.ints("home", "", table.Modelled,
		"node of the page by first touch; no value for Remote Cache, where another node's cache answered",
		func(s *sample) (int, bool) { return max(s.home, 0), s.result.Source != cachesim.RemoteCache })
}

func hops(s cachesim.Source) int {
	if s.Remote() {
		return 1
	}
	return 0
}
