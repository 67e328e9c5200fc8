package perfdata

import (
	"fmt"
	"math/bits"

	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// registers are the values of one set of sampled registers, by their bit.
type registers struct {
	abi    field // plus one, so that zero is a row without registers
	mask   uint64
	values [64]field
}

// addRegisters keeps the registers of queued row n.
func (r *rows) addRegisters(set, n int, regs *perfevent.Regs) {
	if regs.ABI == 0 {
		return // the sample has none: a kernel thread has no user registers
	}
	if r.regs[set] == nil {
		r.regs[set] = &registers{}
	}
	to := r.regs[set]
	to.abi.put(n, regs.ABI+1)
	to.mask |= regs.Mask
	left := regs.Mask
	for i := range regs.Values.Len() {
		to.values[bits.TrailingZeros64(left)].put(n, regs.Values.At(i))
		left &= left - 1
	}
}

// The registers by their bit in the mask: enum perf_event_x86_regs and
// perf_event_arm_regs of the kernel.
var (
	x86Registers = []string{"ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "ip", "flags", "cs", "ss", "ds", "es", "fs", "gs",
		"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"}
	armRegisters = map[int]string{29: "fp", 30: "lr", 31: "sp", 32: "pc", 46: "vg"}
)

// registerName names a register of the machine that recorded.
func registerName(arch string, bit int) string {
	switch arch {
	case "x86_64", "i686", "i386":
		if bit < len(x86Registers) {
			return x86Registers[bit]
		}
		if bit >= 32 {
			return fmt.Sprintf("xmm%d_%d", (bit-32)/2, bit%2) // each has two words
		}
	case "aarch64":
		if name, ok := armRegisters[bit]; ok {
			return name
		}
		if bit < 29 {
			return fmt.Sprintf("x%d", bit)
		}
	}
	return fmt.Sprintf("r%d", bit)
}

// registerColumns adds the registers that were sampled, in the order of their
// bits: user_ax …, intr_ax ….
func (b *builder) registerColumns() {
	for set, name := range []string{"user", "intr"} {
		regs := b.r.regs[set]
		if regs == nil {
			continue
		}
		note := "register of the program when the sample was taken"
		if set == 1 {
			note = "register when the event interrupted"
		}
		valid := nonzero(b.words(&regs.abi).v)
		for bit := range regs.values {
			if regs.mask>>bit&1 == 0 {
				continue
			}
			s := b.words(&regs.values[bit])
			c := table.Addresses(name+"_"+registerName(b.im.features.Arch, bit), samples.Said(valid, table.Measured), s.v, valid)
			c.Note = note
			b.add(c.Back(s.spill), nil)
		}
	}
}
