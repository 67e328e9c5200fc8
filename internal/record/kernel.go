package record

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// A sample in the kernel is run time of the program that is no access of its own:
// the kernel serves a page fault or a system call. It keeps the line of the program
// that made the kernel run, and says in columns of its own why it ran and in which
// function it was. Addresses of the kernel are not kept: they help nobody but those
// who attack it.

// kernelPlaces are the words about samples in the kernel, by number from 1.
type kernelPlaces struct {
	texts   []string
	numbers map[string]uint16
}

// number returns that of a text; 0 for none, and for those that are too many.
func (p *kernelPlaces) number(text string) uint16 {
	if n, ok := p.numbers[text]; ok || text == "" || len(p.texts) == math.MaxUint16 {
		return n
	}
	if p.numbers == nil {
		p.numbers = map[string]uint16{}
	}
	p.texts = append(p.texts, text)
	p.numbers[text] = uint16(len(p.texts))
	return uint16(len(p.texts))
}

func (p *kernelPlaces) has(number uint16) bool { return int(number) <= len(p.texts) }

func (p *kernelPlaces) text(number uint16) string {
	if number == 0 {
		return ""
	}
	return p.texts[number-1]
}

// place is the number of a text, which the journal knows too.
func (c *collector) place(text string) uint16 {
	known := len(c.kernelWords.texts)
	n := c.kernelWords.number(text)
	if len(c.kernelWords.texts) > known {
		c.note(entry{Place: text})
	}
	return n
}

// The ways into the kernel.
const (
	byFault     = "page fault"
	byCall      = "system call"
	byInterrupt = "interrupt"
	byThread    = "kernel thread" // nobody's
	byEither    = "page fault or interrupt"
	byUnknown   = "other"
)

// entries are the functions by which programs get into the kernel, by the beginning
// of their names, for x86 and ARM.
var entries = []struct{ function, way string }{
	{"asm_exc_page_fault", byFault}, {"exc_page_fault", byFault}, {"el0_da", byFault}, {"el0_ia", byFault},
	{"entry_SYSCALL", byCall}, {"entry_SYSENTER", byCall}, {"do_syscall_64", byCall}, {"do_fast_syscall", byCall}, {"el0_svc", byCall},
	{"asm_sysvec_", byInterrupt}, {"asm_common_interrupt", byInterrupt}, {"sysvec_", byInterrupt}, {"common_interrupt", byInterrupt}, {"el0_interrupt", byInterrupt},
	{"ret_from_fork", byThread},
}

// calls are what functions of system calls begin with; the outer ones may have left
// for the next by a jump.
var calls = []string{"__x64_sys_", "__arm64_sys_", "__ia32_compat_sys_", "__ia32_sys_", "__se_sys_", "__do_sys_", "ksys_"}

// wayIn is the way that functions of the kernel, the innermost first, came in by:
// the outermost of them that is one. Interrupts within a call are the call's.
func wayIn(functions []string) string {
	way := ""
	for i := len(functions) - 1; i >= 0; i-- {
		name := functions[i]
		if way == byCall {
			for _, prefix := range calls {
				if call, ok := strings.CutPrefix(name, prefix); ok {
					return byCall + " " + call
				}
			}
			continue
		}
		for _, e := range entries {
			if way == "" && strings.HasPrefix(name, e.function) {
				way = e.way
			}
		}
		if way != "" && way != byCall {
			return way
		}
	}
	return way
}

// kernelFunctions names what the kernel was in, the innermost first; nil where it
// does not show us its symbols.
func kernelFunctions(names *symbol.Kallsyms, s *perfevent.Sample) []string {
	if names == nil {
		return nil
	}
	var out []string
	add := func(addr uint64) {
		if name, _, ok := names.Function(addr); ok {
			out = append(out, name)
		}
	}
	add(s.IP)
	for i := range s.Callchain.Len() {
		if addr := s.Callchain.At(i); addr>>63 == 1 && addr < contextMarks && addr != s.IP {
			add(addr - 1) // behind a call
		}
	}
	return out
}

// contextMarks are the values in a chain that are no addresses: PERF_CONTEXT_MAX.
const contextMarks = ^uint64(4095) + 1

// callBytes is the length of the instruction of a system call, which the counter is
// behind, and callCode its bytes.
var callBytes, callCode = map[string]uint64{"amd64": 2, "arm64": 4}[runtime.GOARCH], map[string]uint64{"amd64": 0x050f, "arm64": 0xd4000001}[runtime.GOARCH]

// faultTime bounds, in nanoseconds, how far from a sample its page fault began.
const faultTime = 1e6

// inKernel fills the row of a sample in the kernel.
func (c *collector) inKernel(r *row, s *perfevent.Sample) {
	functions := kernelFunctions(c.code.files.Kernel(), s)
	way := wayIn(functions)
	ip, user := s.RegsUser.Get(c.regs.ip)
	user = user && ip>>63 == 0
	switch {
	case way != "":
	case !user:
		way = byThread
	case functions != nil:
		way = byUnknown
	case c.behindCall(r.pid, ip):
		way = byCall
	default:
		way = byEither
	}
	r.way = c.place(way)
	if len(functions) > 0 {
		r.leaf = c.place(functions[0])
	}
	if r.ip, r.raw = 0, 0; !user {
		return
	}
	r.ip, r.raw = ip, ip
	r.stack = c.callerOf(r.pid, s)
	if strings.HasPrefix(way, byCall) {
		r.ip -= min(callBytes, ip)
	}
}

// behindCall reports whether the program stands behind a system call.
func (c *collector) behindCall(pid int32, ip uint64) bool {
	memory := c.code.memory(pid)
	if memory == nil || callBytes == 0 || ip < callBytes {
		return false
	}
	word, ok := memory(ip - callBytes)
	return ok && word&(1<<(8*callBytes)-1) == callCode
}

// faultAddresses gives samples in a page fault the address that was missing: that of
// the fault that their thread began last. One that is still at the entry has its
// record before it, and one that is writing the record may have either: that one gets
// none.
func (c *collector) faultAddresses() {
	fault := c.kernelWords.numbers[byFault]
	if fault == 0 {
		return
	}
	began := map[int32][]int{} // of each thread, in order of time
	for i := range c.touches {
		began[c.touches[i].tid] = append(began[c.touches[i].tid], i)
	}
	for i := range c.rows {
		r := &c.rows[i]
		if r.way != fault {
			continue
		}
		leaf, own := c.kernelWords.text(r.leaf), began[r.tid]
		at, _ := slices.BinarySearchFunc(own, r.time, func(k int, time uint64) int { return cmp.Compare(c.touches[k].time, time) })
		switch {
		case strings.Contains(leaf, "perf_"):
			continue
		case !slices.Contains(faultEntries, leaf):
			at--
		}
		if at < 0 || at >= len(own) {
			continue
		}
		if f := &c.touches[own[at]]; f.ip == r.ip && max(f.time, r.time)-min(f.time, r.time) < faultTime {
			r.addr, r.hasAddr = f.addr, true
		}
	}
}

// faultEntries are the functions that a page fault is in before it is recorded.
var faultEntries = []string{"asm_exc_page_fault", "exc_page_fault", "do_user_addr_fault", "el0_da", "do_mem_abort", "do_page_fault"}

// kernelTime adds the columns about samples in the kernel, and gives these objects of
// their own: nothing for a recording without them.
func (c *collector) kernelTime(names []*table.Column) []*table.Column {
	n := len(c.rows)
	ways, leaves := make([]uint32, n), make([]uint32, n)
	has, named := table.NewBits(n), table.NewBits(n)
	for i := range c.rows {
		r := &c.rows[i]
		if r.way != 0 {
			ways[i] = uint32(r.way)
			has.Set(i)
		}
		if r.leaf != 0 {
			leaves[i] = uint32(r.leaf)
			named.Set(i)
		}
	}
	if has.Count() == 0 {
		return names
	}
	texts := append([]string{""}, c.kernelWords.texts...)
	why := table.Categories(samples.Kernel, table.Derived, ways, texts, has)
	why.Note = "the sample was taken in the kernel, which ran because of this; not memory traffic of the program"
	names = append(renamedObjects(names, why, func(i int, object string) string {
		if object != "" && c.rows[i].hasAddr {
			return why.Text(i) + " of " + object
		}
		return "kernel: " + why.Text(i)
	}), why)
	if named.Count() > 0 {
		in := table.Categories("kernel_function", table.Derived, leaves, texts, named)
		in.Note = "the function of the kernel that was interrupted; parts of it that allow no interrupts count for what follows them"
		names = append(names, in)
	}
	return names
}
