package record

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/code/datasrc"
	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/code/spe"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/record/heap"
	"github.com/isobath/isobath/internal/record/operand"
	"github.com/isobath/isobath/internal/record/pmu"
	"github.com/isobath/isobath/internal/record/sampler"
)

// row is one sample, with its address worked out.
type row struct {
	time       uint64
	ip, raw    uint64 // the accessing and the interrupted instruction
	addr, sp   uint64
	weight     uint64
	access     datasrc.Access // of hardware
	pid, tid   int32
	cpu        uint32
	width      uint32
	op         refs.Op
	found      operand.Reason
	dist       int8
	unverified bool
	spins      bool  // the thread waits for another
	stack      int32 // its chain of callers, 0 for none
	again      bool  // the next access of the same instruction, in place of one that overwrote its base
	hasAddr    bool
	way, leaf  uint16 // of a sample in the kernel, why it ran and its function: numbers of places; else 0
	told       uint16 // what the program's runtime says about the address: a number; 0 is nothing
}

// touch is the first access to a page.
type touch struct {
	time, ip, addr uint64
	pid, tid       int32
	cpu            uint32
}

// name is the name a thread got at a time.
type name struct {
	time     uint64
	pid, tid int32
	text     string
}

// birth is when a process began: as a copy of another, or as a new program.
type birth struct {
	time        uint64
	pid, parent int32 // newProgram: nothing is taken over
}

const newProgram = -1

// collector turns what the sampler hands on into rows.
type collector struct {
	space       *symbol.Space
	objects     *symbol.Objects
	code        *spaces
	rows        []row
	touches     []touch
	names       []name
	losses      []sampler.Loss
	regs        *registers
	callers     *callers
	births      []birth
	dumps       map[int32]string // jitdumps that processes mapped
	kernelWords kernelPlaces
	ranks       map[int]int // of an MPI program, by process; nil if there is none
	// sources says what SPE's data source means on a CPU.
	sources map[uint32]map[uint16]spe.Served
	// kernel and other count samples of hardware that are left out: those of
	// the kernel, and those of operations without a memory access.
	kernel, other int
	late          bool // rows are not in order of time
	// journal, if there is one, takes rows and touches in place of memory, and all
	// else too.
	journal *journal
	about   *head
	last    *lastSpan // if only the end is kept
	// allocations are those of the program's log; nil if there is none.
	allocations *allocations
	// told is what runtimes of programs say about their memory, by number from 1.
	told      []told
	goHeaps   map[int32]*goHeap    // of processes in which Go code was seen; nil if nothing says where it is
	goLayouts map[string]*goLayout // of programs
	pythons   *pythons             // nil if their frames are not read
	scripts   scripts              // that interpreters ran
	// told is how many samples that are left out the journal knows of.
	toldKernel, toldOther int
}

// keep adds a row.
func (c *collector) keep(r *row) {
	if c.journal != nil {
		c.journal.addRow(r)
		return
	}
	c.rows = append(c.rows, *r)
}

// note writes down what happened.
func (c *collector) note(e entry) {
	if c.journal != nil {
		c.journal.line(&e)
	}
}

// Drained makes what was recorded so far outlive us.
func (c *collector) Drained() {
	c.code.forget()
	if c.journal == nil {
		return
	}
	if c.kernel > c.toldKernel || c.other > c.toldOther {
		c.note(entry{Kernel: c.kernel - c.toldKernel, Other: c.other - c.toldOther})
		c.toldKernel, c.toldOther = c.kernel, c.other
	}
	c.journal.flush()
	if t := c.journal.tail; t != nil && len(t.marks) > 0 {
		c.dropLosses(t.newest - min(t.newest, 2*t.span))
	}
}

// load takes rows and touches back from the journal, as memory that its files
// back.
func (c *collector) load() (release func(), err error) {
	c.Drained()
	if t := c.journal.tail; t != nil {
		return func() {}, c.loadLast(t.span, c.journal.rows.f, c.journal.touches.f)
	}
	return c.mapRows(c.journal.rows.f, c.journal.touches.f, false)
}

// mapRows takes the rows and touches of two files, as memory that these back.
func (c *collector) mapRows(rowsFile, touchesFile *os.File, private bool) (release func(), err error) {
	rows, unmapRows, err := mapped[row](rowsFile, private)
	if err != nil {
		return nil, err
	}
	touches, unmapTouches, err := mapped[touch](touchesFile, private)
	if err != nil {
		unmapRows()
		return nil, err
	}
	c.rows, c.touches = rows, touches
	return func() {
		unmapRows()
		unmapTouches()
	}, nil
}

// order puts rows into the order of time that all that follows relies on.
func (c *collector) order() {
	if c.late {
		slices.SortStableFunc(c.rows, func(a, b row) int { return cmp.Compare(a.time, b.time) })
	}
}

func newCollector(files *symbol.Files) *collector {
	space, code := &symbol.Space{}, newSpaces(files)
	objects := symbol.NewObjects(space, files, nil)
	objects.Holders = true
	return &collector{space: space, objects: objects, code: code, callers: newCallers(code), regs: registersOf(runtime.GOARCH),
		goHeaps: map[int32]*goHeap{}, goLayouts: map[string]*goLayout{}, dumps: map[int32]string{}, sources: map[uint32]map[uint16]spe.Served{}}
}

// registers says where an architecture's registers are among perf's.
type registers struct {
	bits   []int // of perf's mask, in the order of operand.Registers
	ip, sp int
}

func registersOf(arch string) *registers {
	if arch == "arm64" {
		r := &registers{ip: 32, sp: 31}
		for i := range 32 {
			r.bits = append(r.bits, i)
		}
		return r
	}
	// perf counts ax, bx, cx, dx, si, di, bp, sp; instructions ax, cx, dx, bx,
	// sp, bp, si, di. The flags follow r15.
	return &registers{bits: []int{0, 2, 3, 1, 7, 6, 4, 5, 16, 17, 18, 19, 20, 21, 22, 23, 9}, ip: 8, sp: 7}
}

// Mapping, Fork and Comm keep what attribution needs.
func (c *collector) Mapping(time uint64, m *perfevent.Mapping) {
	if c.journal != nil { // else what is replayed was asked then
		m.Name = c.code.seenFrom(int32(m.PID), m.Name)
	}
	c.note(entry{Time: time, Mapping: m})
	if jitdumpOf(m.Name) {
		c.dumps[int32(m.PID)] = m.Name
	}
	if !m.Data {
		c.pythons.loaded(int32(m.PID), m.Name)
	}
	c.code.add(m)
	c.space.Map(int(m.PID), time, symbol.Mapping{Start: m.Start, End: m.Start + m.Len, Offset: m.Offset, Path: m.Name, Exec: !m.Data})
}

func (c *collector) Fork(t *perfevent.Task) {
	if t.PID == t.PPID {
		return // a thread
	}
	c.note(entry{Task: t})
	c.code.fork(int32(t.PPID), int32(t.PID))
	c.copy(heap.Copy{Parent: int(t.PPID), Child: int(t.PID), Time: t.Time})
}

func (c *collector) copy(p heap.Copy) {
	c.births = append(c.births, birth{p.Time, int32(p.Child), int32(p.Parent)})
	c.space.Fork(p.Parent, p.Child, p.Time)
	c.objects.Fork(p.Parent, p.Child, p.Time)
}

// logged adds the processes whose beginning the kernel could not tell us: it
// has no room for records at times. The log of allocations takes the time before
// a fork, the kernel when it is done.
func (c *collector) logged(copies []heap.Copy) {
	known := map[int32][]uint64{}
	for _, b := range c.births {
		if b.parent != newProgram {
			known[b.pid] = append(known[b.pid], b.time)
		}
	}
	for _, p := range copies {
		if !slices.ContainsFunc(known[int32(p.Child)], func(at uint64) bool { return at >= p.Time }) {
			c.copy(p)
		}
	}
	slices.SortStableFunc(c.births, func(a, b birth) int { return cmp.Compare(a.time, b.time) })
}

// Loss keeps when samples are missing.
func (c *collector) Loss(l *sampler.Loss) {
	c.note(entry{Loss: l})
	c.losses = append(c.losses, *l)
}

func (c *collector) Comm(time uint64, n *perfevent.Comm) {
	c.note(entry{Time: time, Comm: n})
	c.names = append(c.names, name{time, int32(n.PID), int32(n.TID), n.Name})
	if n.Exec {
		delete(c.goHeaps, int32(n.PID))
		c.code.exec(int32(n.PID))
		c.space.Exec(int(n.PID), time)
		c.objects.Exec(int(n.PID), time)
		c.births = append(c.births, birth{time, int32(n.PID), newProgram})
	}
}

// Sample adds a row.
func (c *collector) Sample(e *pmu.Event, s *perfevent.Sample) {
	if e.Use == pmu.Touch {
		c.touched(&touch{s.Time, s.IP, s.Addr, int32(s.PID), int32(s.TID), s.CPU})
		return
	}
	r := row{time: s.Time, ip: s.IP, raw: s.IP, pid: int32(s.PID), tid: int32(s.TID), cpu: s.CPU, weight: e.Attr.Period}
	switch {
	case e.Use == pmu.Timer && s.IP>>63 == 1:
		c.inKernel(&r, s)
	case e.Use == pmu.Timer:
		c.decode(&r, s)
	default:
		if s.IP>>63 == 1 {
			c.kernel++ // some units cannot leave it out
			return
		}
		r.access = datasrc.Perf(s.DataSrc)
		if op := r.access.Op; s.Addr == 0 && op != datasrc.Load && op != datasrc.Store && op != datasrc.LoadStore {
			c.other++ // IBS samples operations of every kind
			return
		}
		r.addr, r.weight = s.Addr, s.Weight
		r.hasAddr = s.Addr != 0
	}
	c.keep(&r)
}

func (c *collector) touched(t *touch) {
	if c.journal != nil {
		c.journal.addTouch(t)
		return
	}
	c.touches = append(c.touches, *t)
}

// Operation adds a row of SPE.
func (c *collector) Operation(_ *pmu.Event, o *sampler.Operation) {
	switch {
	case o.Record.EL > 0:
		c.kernel++
		return
	case !o.Record.Memory():
		c.other++
		return
	}
	known, ok := c.sources[o.CPU]
	if !ok {
		known = spe.Sources(mainID(os.DirFS("/"), o.CPU))
		c.sources[o.CPU] = known
	}
	c.keep(&row{time: o.Time, ip: o.Record.PC, raw: o.Record.PC, addr: o.Record.VA, hasAddr: o.Record.Has&spe.HasVA != 0, weight: uint64(o.Record.Total),
		access: o.Record.Access(known), pid: int32(o.PID), tid: int32(o.TID), cpu: o.CPU})
	c.late = true
}

// stackOf is what a sample knows of its thread's stack.
func (c *collector) stackOf(s *perfevent.Sample) operand.Memory {
	low, ok := s.RegsUser.Get(c.regs.sp)
	if !ok || len(s.StackUser) < 8 {
		return nil
	}
	stack := s.StackUser
	return func(addr uint64) (uint64, bool) {
		at := addr - low
		if addr < low || at > uint64(len(stack)-8) {
			return 0, false
		}
		return binary.LittleEndian.Uint64(stack[at:]), true
	}
}

// mainID reads which processor a CPU of ARM is; 0 if the kernel does not say.
func mainID(root fs.FS, cpu uint32) uint64 {
	b, err := fs.ReadFile(root, fmt.Sprintf("sys/devices/system/cpu/cpu%d/regs/identification/midr_el1", cpu))
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseUint(strings.TrimPrefix(strings.TrimSpace(string(b)), "0x"), 16, 64)
	return n
}

// callerOf is the number of a sample's chain of callers.
func (c *collector) callerOf(pid int32, s *perfevent.Sample) int32 {
	n, added, misfit := c.callers.of(pid, s, c.scriptOf(s))
	if misfit {
		c.pythons.misfit(pid)
	}
	if added {
		c.note(entry{Chain: c.callers.chains[n]})
	}
	return n
}

// decode works out the access from the registers.
func (c *collector) decode(r *row, s *perfevent.Sample) {
	ip, ok := s.RegsUser.Get(c.regs.ip)
	if !ok || s.RegsUser.ABI != 2 || ip != s.IP {
		r.found = operand.NoRegisters
		return
	}
	r.stack = c.callerOf(r.pid, s)
	code := c.code.find(r.pid, ip, r.time)
	if code == nil {
		r.found = operand.NoCode
		return
	}
	// Go keeps the stacks of goroutines among its heap: what lies above a stack
	// pointer there is not its stack.
	if code.image == nil || !code.image.Go {
		r.sp, _ = s.RegsUser.Get(c.regs.sp)
	}
	var regs operand.Registers
	for i, bit := range c.regs.bits {
		regs[i], _ = s.RegsUser.Get(bit)
	}
	a, why := code.search(ip, &operand.State{Registers: &regs, Stack: c.stackOf(s), Later: c.code.memory(r.pid)})
	r.spins = code.spins(ip)
	if r.found = why; why != operand.Found {
		if a.PC != 0 {
			r.ip = a.PC // this access it was, at an address that is not known
		}
		return
	}
	r.hasAddr, r.addr, r.ip = true, a.Addr, a.PC
	r.op, r.width, r.dist, r.unverified = a.Op, a.Size, int8(a.Dist), a.Unverified
	r.again = a.Again
	r.told = c.goRuntime(r.pid, code, r.time, r.addr)
}
