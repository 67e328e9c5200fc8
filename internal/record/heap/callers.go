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
	known   map[*Stack]int
	direct  map[directCall]int
	places  []Place
}

// Place is where a process allocates: a chain of calls.
type Place struct {
	PID  int
	Time uint64 // when it was met
	// Sites are the return addresses, innermost first.
	Sites []uint64
}

// directCall is a call whose stack is not known.
type directCall struct {
	pid  int
	site uint64
}

// NewCallers returns what finds callers over the mappings of a recording.
func NewCallers(history *symbol.History, files *symbol.Files) *Callers {
	return &Callers{history: history, unwind: unwind.New(files, runtime.GOARCH), known: map[*Stack]int{}, direct: map[directCall]int{}}
}

// maxCallers is how many callers of an allocation are kept.
const maxCallers = 24

// Places are all that were met, by their numbers less one.
func (c *Callers) Places() []Place { return c.places }

// of returns the number of the place of an allocation, and its return addresses,
// innermost first; 0 if nobody knows.
func (c *Callers) of(l *Log, e *Event) (place int, sites []uint64) {
	switch {
	case e.Site == 0:
		return 0, nil
	case c == nil:
		return 0, []uint64{e.Site}
	case e.Stack == nil || e.Stack.Site != e.Site:
		key := directCall{l.PID, e.Site}
		if c.direct[key] == 0 {
			c.direct[key] = c.add(Place{l.PID, e.Time, []uint64{e.Site}})
		}
		place = c.direct[key]
	default:
		place = c.at(l, e.Stack)
	}
	return place, c.places[place-1].Sites
}

// at returns the number of the place of a stack.
func (c *Callers) at(l *Log, s *Stack) int {
	if c.known[s] == 0 {
		c.known[s] = c.add(Place{l.PID, s.Time, c.walk(l, s)})
	}
	return c.known[s]
}

func (c *Callers) add(p Place) int {
	c.places = append(c.places, p)
	return len(c.places)
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
