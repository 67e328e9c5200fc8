package tree

import (
	"cmp"
	"slices"
	"sort"

	"github.com/isobath/isobath/internal/data/refs/flow"
)

// basic is a stretch of code that is entered at its start and left at its end
// only: a recorded block, cut where others begin.
type basic struct {
	start, end  uint64
	ending      flow.Ending
	first, last int32 // of code.instructions; last is behind the end
	function    int32 // by debug information or symbols; -1 where there are none
}

// function is a piece of code that is called.
type function struct {
	start uint64
	name  string
	named bool // its extent is known: the code that belongs to it says so
}

// code is what ran, by address.
type code struct {
	basics       []basic
	of           [][2]int32 // the basics of each recorded block, last is behind the end
	instructions []flow.Instruction
	marks        []flow.Mark
	functions    []function
	byStart      map[uint64]int32
	// guessed says that only some instructions are known, and none that ends a
	// block: calls and returns are told from functions.
	guessed bool
}

func newCode(t *flow.Trace, guessed bool) *code {
	c := &code{instructions: t.Code, marks: t.Marks, byStart: map[uint64]int32{}, guessed: guessed}
	ends := map[uint64]uint64{}
	var starts []uint64
	for _, b := range t.Blocks {
		if _, ok := ends[b.Low]; !ok {
			starts = append(starts, b.Low)
		}
		ends[b.Low] = max(ends[b.Low], b.High)
	}
	slices.Sort(starts)
	// A block that contains the start of another is cut there. What of it lies
	// behind may have been left out of the other one, so ends are extended.
	for i, at := range starts {
		end := ends[at]
		if i+1 < len(starts) && starts[i+1] < end {
			next := starts[i+1]
			ends[next] = max(ends[next], end)
			end = next
		}
		c.basics = append(c.basics, c.basic(at, end))
	}
	for _, b := range t.Blocks {
		first := int32(sort.Search(len(starts), func(i int) bool { return starts[i] >= b.Low }))
		last := int32(sort.Search(len(starts), func(i int) bool { return starts[i] >= b.High }))
		c.of = append(c.of, [2]int32{first, max(last, first+1)})
	}
	return c
}

// basic finds the instructions of a stretch of code.
func (c *code) basic(start, end uint64) basic {
	at := func(pc uint64) int32 {
		return int32(sort.Search(len(c.instructions), func(i int) bool { return c.instructions[i].PC >= pc }))
	}
	b := basic{start: start, end: end, first: at(start), last: at(end), function: -1}
	if b.first == b.last {
		return b
	}
	head, tail := &c.instructions[b.first], &c.instructions[b.last-1]
	b.ending = tail.Ending
	if head.Function != 0 {
		b.function = c.functionAt(head.Function, head.Home, true)
	}
	return b
}

// functionAt returns the number of the function that begins at an address.
func (c *code) functionAt(start uint64, name string, named bool) int32 {
	f, ok := c.byStart[start]
	if !ok {
		f = int32(len(c.functions))
		c.byStart[start] = f
		c.functions = append(c.functions, function{start, name, named})
	}
	return f
}

// listing returns the instructions of a basic.
func (c *code) listing(b int32) []flow.Instruction {
	return c.instructions[c.basics[b].first:c.basics[b].last]
}

// contains reports whether an instruction lies in a basic.
func (b *basic) contains(pc uint64) bool { return pc-b.start < b.end-b.start }

// basicAt returns the basic that contains an address; -1 if none ran.
func (c *code) basicAt(pc uint64) int32 {
	i := sort.Search(len(c.basics), func(i int) bool { return c.basics[i].start > pc }) - 1
	if i < 0 || !c.basics[i].contains(pc) {
		return -1
	}
	return int32(i)
}

func (b *build) instructionAt(pc uint64) *instruction {
	i, ok := slices.BinarySearchFunc(b.instructions, pc, func(in instruction, pc uint64) int { return cmp.Compare(in.PC, pc) })
	if !ok {
		return nil
	}
	return &b.instructions[i]
}
