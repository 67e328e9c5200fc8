package record

import (
	"encoding/binary"
	"runtime"
	"slices"

	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/code/unwind"
)

// callers unwinds the copies of stacks that samples carry, while the program
// runs: the copies are most of what is sampled. Distinct chains are kept once.
type callers struct {
	code    *spaces
	unwind  *unwind.Unwinder
	numbers map[string]int32
	chains  [][]uint64
	key     []byte

	samples int // with a stack
	kept    int // addresses of all chains
}

func newCallers(code *spaces) *callers {
	return &callers{code: code, unwind: unwind.New(code.files, runtime.GOARCH), numbers: map[string]int32{"": 0}, chains: [][]uint64{nil}}
}

// maxCallers is how many callers are kept of a sample, maxKept how many addresses
// of all distinct chains: 32 MiB and as much for finding them again.
const (
	maxCallers = 128
	maxKept    = 4 << 20
)

// of returns the number of a sample's chain, 0 for none, and whether it is a new
// one. A program without end of distinct ones gets none for those that are new. What
// its thread ran in Python is put in; misfit says that this could not be done.
func (c *callers) of(pid int32, s *perfevent.Sample, ran *script) (number int32, added, misfit bool) {
	if len(s.StackUser) == 0 || s.RegsUser.ABI != perfevent.ABI64 {
		return 0, false, ran != nil
	}
	frames, stop := c.unwind.Unwind(&unwind.Sample{Stack: s.StackUser, Order: binary.LittleEndian, Register: s.RegsUser.Get,
		Code: func(addr uint64) []byte { return c.code.generatedAt(pid, addr) }},
		func(addr uint64) *symbol.Mapping { return c.code.mapping(pid, addr, s.Time) }, maxCallers)
	c.samples++
	var chain []uint64
	if ran != nil {
		chain, misfit = ran.merge(frames, stop == unwind.Complete)
	}
	if ran == nil || misfit {
		chain = chain[:0]
		for i := range frames[min(1, len(frames)):] {
			chain = append(chain, returnAddress(&frames[i+1]))
		}
	}
	number, added = c.number(chain[:min(len(chain), maxCallers)])
	return number, added, misfit
}

// returnAddress is the address behind the call of a frame, or as if it were.
func returnAddress(f *unwind.Caller) uint64 {
	if f.Exact {
		return f.PC + 1
	}
	return f.PC
}

// number returns the number of a chain, and whether it is a new one.
func (c *callers) number(chain []uint64) (number int32, added bool) {
	c.key = c.key[:0]
	for _, pc := range chain {
		c.key = binary.LittleEndian.AppendUint64(c.key, pc)
	}
	n, ok := c.numbers[string(c.key)]
	if !ok && c.kept < maxKept {
		n = int32(len(c.chains))
		c.chains = append(c.chains, slices.Clone(chain))
		c.numbers[string(c.key)] = n
		c.kept += len(chain)
		added = true
	}
	return n, added
}
