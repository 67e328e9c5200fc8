package unwind

import "debug/elf"

// registers is how many registers rules are kept for. Those above are of
// floating point, which no rule of a frame depends on.
const registers = 35

// machine is what the tables of an architecture mean.
type machine struct {
	name string
	sp   int
	// address is the register that stands for the return address and has no
	// other use; -1 if it is an ordinary one.
	address int
	// signs reports whether return addresses may carry a signature.
	signs bool
	// bits gives the place of each register in a sample, -1 for none. The kernel
	// numbers them in arch/*/include/uapi/asm/perf_regs.h.
	bits [registers]int
	pc   int // place of the instruction pointer in a sample
}

// userAddress is what remains of a signed return address: Linux gives programs
// addresses of 48 bits unless they ask for more, and signs in the bits above.
const userAddress = 1<<48 - 1

var (
	x86 = &machine{name: "x86_64", sp: 7, address: 16, pc: 8,
		// rax rdx rcx rbx rsi rdi rbp rsp, r8 … r15
		bits: bitsOf(0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23)}
	arm = &machine{name: "aarch64", sp: 31, address: -1, pc: 32, signs: true,
		bits: bitsOf(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31)}
)

func bitsOf(places ...int) (out [registers]int) {
	for i := range out {
		out[i] = -1
	}
	copy(out[:], places)
	return out
}

func machineOf(m elf.Machine) *machine {
	switch m {
	case elf.EM_X86_64:
		return x86
	case elf.EM_AARCH64:
		return arm
	}
	return nil
}

// named returns the machine of a recording, nil if its stacks are not unwound.
func named(arch string) *machine {
	switch arch {
	case x86.name, "amd64":
		return x86
	case arm.name, "arm64":
		return arm
	}
	return nil
}
