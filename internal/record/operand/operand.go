// Package operand works out which memory access a timer interrupted: the exact
// address of the access that the last instructions made, or the next one will
// make, from the registers at the interrupt.
//
// Registers are those before the instruction at the program counter. A
// processor that waits for memory takes the interrupt just behind the
// instruction it waited for, so the instructions before the counter are looked
// at first and their changes to registers undone: the backward rule. The last
// access before the interrupt is the one that is meant. If it overwrote its own
// base, as every step along a list does, its address is gone: then the address
// that the same instruction uses the next time is given, or none, but never that
// of another access. Only where it is not known whether an access was made are
// the instruction at the counter and those after it looked at. An address is
// never guessed.
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
	Repeated           // within an instruction that runs in rounds
	Refuted            // registers and flags contradict every known way here
	StoreAhead         // no access is known before, and the next one is a store
	Copied             // behind a copy that read one place and wrote another
)

var reasonNames = []string{"found", "join", "function start", "undecodable", "behind a jump", "clobbered", "segment", "vector", "no access near", "no function", "desync", "no code", "no registers", "repeated", "contradiction", "only a store ahead", "behind a copy"}

func (r Reason) String() string { return reasonNames[r] }

// Known reports whether it is one of the reasons.
func (r Reason) Known() bool { return int(r) < len(reasonNames) }

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
	// Where several ways agree on the access it is that of one of them.
	Dist int
	// Unverified says that the function has jumps whose targets are not known:
	// the way back may have crossed one. Or that the way back is that of a loop
	// which goes round, and not that into it.
	Unverified bool
	// Again says that the access meant overwrote its own base, and that this is
	// the next one of the same instruction.
	Again bool
}

// reach is how many instructions the rules look back or ahead, round how many at
// most until the same one comes again, and ways how many all ways back to a place
// have together.
const (
	reach = 12
	round = 64
	ways  = 96
)

// Function is the decoded code of a function. It does not change once made.
type Function struct {
	insts      []inst
	sources    map[int][]int // the instructions that jump to one
	eval       evaluator
	flags      func(*Registers) flags // at the interrupt
	unverified bool
	biased     bool // Registers have a place for the bias
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
	pc   uint64
	len  uint8
	flow flow
	// foreign says that an instruction of another function, or one whose place is
	// not known, jumps here.
	foreign bool
	// indirect marks a jump whose targets the instruction does not name, repeats
	// one that runs in rounds, calls one that is come back from.
	indirect, repeats, calls bool
	// pads marks what does nothing, as compilers fill up with.
	pads bool
	// pauses marks what spinning threads do to spare the processor.
	pauses bool
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
	limit   limit
	// loads is the register that a move fills from memory, with a sign if signed,
	// or that arithmetic changes by it; stores the one that it writes. none for other instructions.
	loads, stores uint8
	signed        bool
	// combine is what is made of the register and of what is loaded; nil for a
	// plain move.
	combine func(dst, src uint64) uint64
	// filled is how many bytes each round of a string instruction writes at rdi;
	// 0 for all others.
	filled uint8
	// copies says that each round reads at rsi what it writes.
	copies bool
	// target is where a direct jump goes, when under which condition.
	target uint64
	when   condition
	code   int // index of the decoded form that eval uses
}

// limit is what a register holds after an instruction, whatever its value: nothing
// in the upper bits, or copies of the sign.
type limit struct {
	register uint8
	unused   uint8 // bits; 0 for no limit
	signed   bool
}

// refuted reports whether a register does not keep the limit.
func (l limit) refuted(r *Registers, lost uint32) bool {
	if lost&bit(l.register) != 0 {
		return false
	}
	v := r[l.register]
	if l.signed {
		return uint64(int64(v<<l.unused)>>l.unused) != v
	}
	return v<<l.unused>>l.unused != v
}

// effect is a change of register dst that can be undone.
type effect struct {
	kind     kind
	dst, src uint8
	index    uint8 // of sum
	scale    int64 // of src, or of index
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
	sum      // dst = src + index·scale + imm: can be followed only
)

// none is the register that is not there.
const none = 0xff

func bit(r uint8) uint32 {
	if r == none {
		return 0
	}
	return 1 << r
}

// Memory returns a word as it is at the interrupt, where that is known: of the
// thread's own stack. nil knows nothing.
type Memory func(addr uint64) (uint64, bool)

func (m Memory) word(addr uint64) (uint64, bool) {
	if m == nil {
		return 0, false
	}
	return m(addr)
}

// State is a thread at an interrupt.
type State struct {
	Registers *Registers
	// Stack is its memory as it was at the interrupt.
	Stack Memory
	// Later is all memory as it is when the sample is looked at. It is used only
	// to follow an instruction to the next time it runs, which is then not
	// verified: a list may have changed meanwhile.
	Later Memory
}

// Find returns the access around a program counter: the last one before it if
// there is one, else the one at it or the next. bias is what was added to
// link-time addresses when the program was loaded; pc is a link-time address.
// Without an address the reason is that of the backward rule, and the access says
// which instruction it was, if that is known.
func (f *Function) Find(pc, bias uint64, s *State) (Access, Reason) {
	i, ok := f.at(pc)
	if !ok {
		return Access{}, Desync
	}
	if f.insts[i].flow == broken {
		return Access{}, Undecodable
	}
	regs := *s.Registers
	if f.biased {
		regs[biasAMD64] = bias
	}
	r := &regs
	left := ways
	t := f.back(walk{i: i, bias: bias, regs: *r, flags: f.flags(r), left: &left, memory: s.Stack})
	switch {
	case t.why == Found:
		t.access.Unverified = t.access.Unverified || f.unverified
		return t.access, Found
	case t.why == Copied:
		return t.access, Copied // its next one would read, whatever was waited for
	case t.access.PC != 0:
		if a, ok := f.ahead(i, &emulation{regs: *r, bias: bias, memory: s.Stack, later: s.Later}, t.access.PC); ok {
			a.Again, a.Unverified = true, a.Unverified || t.access.Unverified || f.unverified
			return a, Found
		}
		return t.access, t.why
	case t.why == Join || t.why == Refuted:
		return Access{}, t.why // there may have been an access, but which one is not known
	}
	return f.next(i, &emulation{regs: *r, bias: bias, memory: s.Stack}, t.why)
}

// next is the access at an instruction or after it, for a thread of which no access
// before is known; otherwise is why. A store is not it: nobody waits for a store that
// was not made yet. A processor that has no room for it waits for older ones, and
// which these were is not known. One that runs in rounds has made some of them.
func (f *Function) next(i int, s *emulation, otherwise Reason) (Access, Reason) {
	a, ok := f.ahead(i, s, 0)
	if !ok {
		return Access{}, otherwise
	}
	if at, _ := f.at(a.PC); a.Op == refs.Store && !f.insts[at].repeats {
		return Access{}, StoreAhead
	}
	return a, Found
}

// ahead walks from instruction i to those that will run after it. It follows
// jumps whose way is certain. With an instruction to look for it passes over all
// others, and goes both ways of a jump.
func (f *Function) ahead(i int, s *emulation, only uint64) (Access, bool) {
	return f.aheadFrom(i, 0, f.flags(&s.regs), s, only)
}

func (f *Function) aheadFrom(i, k int, state flags, s *emulation, only uint64) (Access, bool) {
	limit := reach
	if only != 0 {
		limit = round
	}
	for ; k <= limit && i < len(f.insts); k++ {
		in := &f.insts[i]
		if in.flow == broken {
			return Access{}, false
		}
		if only == 0 || only == in.pc {
			if a, ok := f.address(i, s); ok {
				a.PC, a.Dist = in.pc, k
				return a, true
			}
		}
		if in.repeats {
			return Access{}, false
		}
		if in.flow != straight {
			next, ok := f.jump(i, state, &s.regs, s.lost)
			if !ok && only != 0 && in.flow == branch {
				return f.eitherWay(i, k, s, only)
			}
			if !ok {
				return Access{}, false
			}
			i = next
			continue
		}
		state = in.sets.apply(state, &s.regs, s.lost)
		f.execute(i, s)
		i++
	}
	return Access{}, false
}

// maxForks is how many jumps whose way is not known are followed both ways.
const maxForks = 4

// eitherWay follows both ways of a jump to an instruction that is looked for. Where
// it is reached by one way only, or with the same address, that is the address it
// has when it runs again, if it does.
func (f *Function) eitherWay(i, k int, s *emulation, only uint64) (Access, bool) {
	if s.forks++; s.forks > maxForks {
		return Access{}, false
	}
	other := *s
	other.written, other.reads = slices.Clone(s.written), slices.Clone(s.reads)
	a, ok := f.aheadFrom(i+1, k+1, flags{}, s, only)
	b, also := Access{}, false
	if to, inside := f.at(f.insts[i].target); inside {
		b, also = f.aheadFrom(to, k+1, flags{}, &other, only)
	}
	switch {
	case ok && also && a.Addr != b.Addr:
		return Access{}, false
	case also && (!ok || b.Dist < a.Dist):
		a, ok = b, true
	}
	a.Unverified = true
	return a, ok
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
	case add32, move32, compute, sum:
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
	case sum:
		if lost&(bit(e.src)|bit(e.index)) != 0 {
			return lost | bit(e.dst)
		}
		v := r[e.index]*uint64(e.scale) + uint64(e.imm)
		if e.src != none {
			v += r[e.src]
		}
		r[e.dst] = v
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

// join marks the instructions that others jump to: those of the function itself,
// and those at outside.
func (f *Function) join(outside []uint64) {
	f.sources = map[int][]int{}
	for i := range f.insts {
		if target := f.insts[i].target; target != 0 {
			if to, ok := f.at(target); ok {
				f.sources[to] = append(f.sources[to], i)
			}
		}
	}
	slices.Sort(outside)
	outside = slices.Compact(outside)
	for i := range f.insts {
		// A jump that was found by looking at bytes is mostly one of these.
		if _, found := slices.BinarySearch(outside, f.insts[i].pc); found && len(f.sources[i]) == 0 {
			f.insts[i].foreign = true
		}
	}
}
