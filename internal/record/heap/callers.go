package heap

import (
	"encoding/binary"
	"runtime"

	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/code/unwind"
)

// Callers finds who made an allocation, from the copies of stacks in a log.
type Callers struct {
	history *symbol.History
	unwind  *unwind.Unwinder
	known   map[*Stack][]uint64
}

// NewCallers returns what finds callers over the mappings of a recording.
func NewCallers(history *symbol.History, files *symbol.Files) *Callers {
	return &Callers{history: history, unwind: unwind.New(files, runtime.GOARCH), known: map[*Stack][]uint64{}}
}

// maxCallers is how many callers of an allocation are kept.
const maxCallers = 24

// of returns the return addresses of an allocation, innermost first.
func (c *Callers) of(l *Log, e *Event) []uint64 {
	if e.Site == 0 {
		return nil
	}
	if c == nil || e.Stack == nil || e.Stack.Site != e.Site {
		return []uint64{e.Site}
	}
	sites, ok := c.known[e.Stack]
	if !ok {
		sites = c.walk(l, e.Stack)
		c.known[e.Stack] = sites
	}
	return sites
}

// walk unwinds a stack. One copy stands for all stacks whose words within the
// code of the program and its libraries are the same, so callers elsewhere are
// not certain and end the chain.
func (c *Callers) walk(l *Log, s *Stack) []uint64 {
	view := c.history.At(l.PID, s.Time)
	pc, sp, fp := registersOf(runtime.GOARCH)
	frames, _ := c.unwind.Unwind(&unwind.Sample{Stack: s.Words, Order: binary.LittleEndian, Register: func(bit int) (uint64, bool) {
		switch bit {
		case pc:
			return s.Site - 1, true // the call: its rules are those of its place
		case sp:
			return s.SP, true
		case fp:
			return s.Frame, true
		}
		return 0, false
	}}, view.Find, maxCallers)
	sites := []uint64{s.Site}
	for _, f := range frames[min(1, len(frames)):] {
		if !l.inCode(f.PC) {
			break
		}
		sites = append(sites, f.PC)
	}
	return sites
}

func (l *Log) inCode(pc uint64) bool {
	return pc-l.code[0] < l.code[1]-l.code[0] || pc-l.code[2] < l.code[3]-l.code[2]
}

// registersOf returns the kernel's numbers of the program counter, the stack
// pointer and the frame pointer.
func registersOf(arch string) (pc, sp, fp int) {
	if arch == "arm64" {
		return 32, 31, 29
	}
	return 8, 7, 6
}
