// Package operand works out which memory access a timer interrupted: the exact
// address of the access that the last instructions made, or the next one will
// make, from the registers at the interrupt.
//
// Registers are those before the instruction at the program counter. A
// processor that waits for memory takes the interrupt just behind the
// instruction it waited for, so the instructions before the counter are looked
// at first and their changes to registers undone: the backward rule. Where
// that is not possible without guessing, the instruction at the counter and
// those after it are looked at. An address is never guessed.
package operand

import (
	"slices"

	"github.com/isobath/isobath/internal/data/refs"
)

// Reason says why a sample has no address, or why the backward rule stopped.
type Reason uint8

// The reasons.
const (
	Found       Reason = iota
	Join               // several ways lead here, and which was taken is not known
	Start              // the function begins here
	Undecodable        // bytes that are no known instruction
	Jump               // behind a call, a return or a jump
	Clobbered          // a register of the address was overwritten
	Segment            // relative to a segment whose base is not known
	Vector             // gathers, scatters and masked moves
	TooFar             // no access within reach
	NoFunction         // no bounds of the function are known
	Desync             // the counter is not at an instruction of the function
	NoCode             // the bytes of the code cannot be read
	NoRegisters        // the kernel gave no registers
)

var reasonNames = []string{"found", "join", "function start", "undecodable", "behind a jump", "clobbered", "segment", "vector", "no access near", "no function", "desync", "no code", "no registers"}

func (r Reason) String() string { return reasonNames[r] }

// Registers are the general registers in the order of their encoding (rax, rcx,
// rdx, rbx, rsp, rbp, rsi, rdi, r8 … r15 and flagsAMD64; x0 … x30, sp).
type Registers [32]uint64

// Access is what was found.
type Access struct {
	Addr uint64
	Size uint32
	Op   refs.Op
	// PC is the accessing instruction, as a link-time address.
	PC uint64
	// Dist is how many instructions it is behind (positive) or before
	// (negative) the interrupted one.
	Dist int
	// Unverified says that the function has jumps whose targets are not known:
	// the way back may have crossed one.
	Unverified bool
}

// reach is how many instructions the rules look back or ahead.
const reach = 12

// Function is the decoded code of a function. It does not change once made.
type Function struct {
	insts      []inst
	eval       evaluator
	flags      func(*Registers) flags // at the interrupt
	unverified bool
}

// evaluator works out the address of an instruction's first access, given the
// registers before it.
type evaluator func(f *Function, i int, bias uint64, r *Registers) (Access, bool)

// flow says where control goes after an instruction.
type flow uint8

const (
	straight flow = iota
	branch        // may go elsewhere
	leave         // goes elsewhere: jump, call, return
	broken        // not an instruction
)

// inst is one instruction.
type inst struct {
	pc     uint64
	len    uint8
	flow   flow
	joined bool // another instruction jumps here
	// indirect marks a jump whose targets the instruction does not name,
	// repeats one that runs in rounds.
	indirect, repeats bool
	// accesses says that it reads or writes memory; why is set where its
	// address cannot be worked out; uses are the registers the address is
	// made of.
	accesses bool
	why      Reason
	uses     uint32
	// effects are changes that can be undone or followed; loses are registers
	// that get a value we do not follow.
	effects []effect
	loses   uint32
	sets    setter
	// target is where a direct jump goes, when under which condition.
	target uint64
	when   condition
	code   int // index of the decoded form that eval uses
}

// effect is a change of register dst that can be undone.
type effect struct {
	kind     kind
	dst, src uint8
	scale    int64 // of src
	imm      int64
	value    func(dst, src uint64) uint64 // of compute
}

type kind uint8

const (
	add   kind = iota // dst += src·scale + imm; src may be none
	move              // dst = src + imm; src may be none
	add32             // the same in 32 bits: the upper half becomes zero
	move32
	negate   // dst = -dst
	invert   // dst = ^dst
	exchange // dst and src
	compute  // dst = value(dst, src or imm): can be followed only
)

// none is the register that is not there.
const none = 0xff

func bit(r uint8) uint32 {
	if r == none {
		return 0
	}
	return 1 << r
}

// Find returns the access around a program counter: the last one before it if
// that is certain, else the one at it, else the next. bias is what was added to
// link-time addresses when the program was loaded; pc is a link-time address.
// Without an access the reason of the backward rule is returned.
func (f *Function) Find(pc, bias uint64, r *Registers) (Access, Reason) {
	i, ok := f.at(pc)
	if !ok {
		return Access{}, Desync
	}
	if f.insts[i].flow == broken {
		return Access{}, Undecodable
	}
	a, why := f.back(i, bias, *r)
	if why == Found {
		a.Unverified = f.unverified
		return a, Found
	}
	if a, ok := f.ahead(i, bias, *r); ok {
		return a, Found
	}
	return Access{}, why
}

// back walks from instruction i to those that must have run before it.
func (f *Function) back(i int, bias uint64, r Registers) (Access, Reason) {
	var lost uint32
	for k := 1; k <= reach; k++ {
		if f.insts[i].joined {
			return Access{}, Join
		}
		if i--; i < 0 {
			return Access{}, Start
		}
		in := &f.insts[i]
		switch in.flow {
		case broken:
			return Access{}, Undecodable
		case leave:
			return Access{}, Jump
		}
		for _, e := range slices.Backward(in.effects) {
			lost = e.undo(&r, lost)
		}
		lost |= in.loses
		if !in.accesses {
			continue
		}
		if in.why != Found {
			return Access{}, in.why
		}
		if in.uses&lost != 0 {
			return Access{}, Clobbered
		}
		a, ok := f.eval(f, i, bias, &r)
		if !ok {
			return Access{}, Clobbered
		}
		a.PC, a.Dist = in.pc, -k
		return a, Found
	}
	return Access{}, TooFar
}

// undo restores the registers as they were before the effect.
func (e effect) undo(r *Registers, lost uint32) uint32 {
	switch e.kind {
	case add:
		if lost&(bit(e.dst)|bit(e.src)) != 0 {
			return lost | bit(e.dst)
		}
		r[e.dst] -= e.amount(r)
	case move:
		// The source still has its value. If that was lost later, the copy
		// has it.
		if e.src != none && e.src != e.dst && lost&bit(e.src) != 0 && lost&bit(e.dst) == 0 {
			r[e.src] = r[e.dst] - uint64(e.imm)
			lost &^= bit(e.src)
		}
		return lost | bit(e.dst)
	case add32, move32, compute:
		return lost | bit(e.dst) // what was there cannot be told
	case negate:
		r[e.dst] = -r[e.dst]
	case invert:
		r[e.dst] = ^r[e.dst]
	case exchange:
		return swap(e, r, lost)
	}
	return lost
}

func (e effect) amount(r *Registers) uint64 {
	sum := uint64(e.imm)
	if e.src != none {
		sum += r[e.src] * uint64(e.scale)
	}
	return sum
}

func swap(e effect, r *Registers, lost uint32) uint32 {
	r[e.dst], r[e.src] = r[e.src], r[e.dst]
	was := lost
	lost &^= bit(e.dst) | bit(e.src)
	if was&bit(e.dst) != 0 {
		lost |= bit(e.src)
	}
	if was&bit(e.src) != 0 {
		lost |= bit(e.dst)
	}
	return lost
}

// ahead walks from instruction i to those that will run after it. It follows
// jumps whose way is certain.
func (f *Function) ahead(i int, bias uint64, r Registers) (Access, bool) {
	var lost uint32
	state := f.flags(&r)
	for k := 0; k <= reach && i < len(f.insts); k++ {
		in := &f.insts[i]
		if in.flow == broken {
			return Access{}, false
		}
		if in.accesses && in.why == Found && in.uses&lost == 0 {
			if a, ok := f.eval(f, i, bias, &r); ok {
				a.PC, a.Dist = in.pc, k
				return a, true
			}
		}
		if in.repeats {
			return Access{}, false
		}
		if in.flow != straight {
			next, ok := f.jump(i, state, &r, lost)
			if !ok {
				return Access{}, false
			}
			i = next
			continue
		}
		state = in.sets.apply(state, &r, lost)
		for _, e := range in.effects {
			lost = e.follow(&r, lost)
		}
		lost |= in.loses
		i++
	}
	return Access{}, false
}

// jump returns the instruction that runs after a jump, if that is certain and
// in the same function.
func (f *Function) jump(i int, state flags, r *Registers, lost uint32) (int, bool) {
	in := &f.insts[i]
	if in.target == 0 {
		return 0, false
	}
	if in.flow == branch {
		yes, known := in.taken(state, r, lost)
		if !known {
			return 0, false
		}
		if !yes {
			return i + 1, true
		}
	}
	return f.at(in.target)
}

// follow applies the effect.
func (e effect) follow(r *Registers, lost uint32) uint32 {
	switch e.kind {
	case add, add32:
		if lost&(bit(e.dst)|bit(e.src)) != 0 {
			return lost | bit(e.dst)
		}
		r[e.dst] += e.amount(r)
		if e.kind == add32 {
			r[e.dst] = uint64(uint32(r[e.dst]))
		}
	case move, move32:
		if lost&bit(e.src) != 0 {
			return lost | bit(e.dst)
		}
		v := uint64(e.imm)
		if e.src != none {
			v += r[e.src]
		}
		if e.kind == move32 {
			v = uint64(uint32(v))
		}
		r[e.dst] = v
		return lost &^ bit(e.dst)
	case compute:
		if lost&(bit(e.src)|e.needs()) != 0 {
			return lost | bit(e.dst)
		}
		src := uint64(e.imm)
		if e.src != none {
			src = r[e.src]
		}
		r[e.dst] = e.value(r[e.dst], src)
		return lost &^ bit(e.dst)
	case negate, invert:
		return e.undo(r, lost)
	case exchange:
		return swap(e, r, lost)
	}
	return lost
}

// needs is the register that a computation changes in place; a scale of 0 says
// that it is only written.
func (e effect) needs() uint32 {
	if e.scale == 0 {
		return 0
	}
	return bit(e.dst)
}

// join marks the instructions that others jump to.
func (f *Function) join(targets []uint64) {
	slices.Sort(targets)
	targets = slices.Compact(targets)
	for i := range f.insts {
		_, f.insts[i].joined = slices.BinarySearch(targets, f.insts[i].pc)
	}
}
