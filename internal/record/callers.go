package record

import (
	"encoding/binary"
	"runtime"

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
// one. A program without end of distinct ones gets none for those that are new.
func (c *callers) of(pid int32, s *perfevent.Sample) (number int32, added bool) {
	if len(s.StackUser) == 0 || s.RegsUser.ABI != perfevent.ABI64 {
		return 0, false
	}
	frames, _ := c.unwind.Unwind(&unwind.Sample{Stack: s.StackUser, Order: binary.LittleEndian, Register: s.RegsUser.Get,
		Code: func(addr uint64) []byte { return c.code.generatedAt(pid, addr) }},
		func(addr uint64) *symbol.Mapping { return c.code.mapping(pid, addr, s.Time) }, maxCallers)
	c.samples++
	c.key = c.key[:0]
	for _, f := range frames[min(1, len(frames)):] {
		pc := f.PC
		if f.Exact {
			pc++ // as if it were behind a call
		}
		c.key = binary.LittleEndian.AppendUint64(c.key, pc)
	}
	n, ok := c.numbers[string(c.key)]
	if !ok && c.kept < maxKept {
		chain := make([]uint64, 0, len(c.key)/8)
		for at := 0; at < len(c.key); at += 8 {
			chain = append(chain, binary.LittleEndian.Uint64(c.key[at:]))
		}
		n = int32(len(c.chains))
		c.chains = append(c.chains, chain)
		c.numbers[string(c.key)] = n
		c.kept += len(chain)
		added = true
	}
	return n, added
}
