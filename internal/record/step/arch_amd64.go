//go:build linux

package step

import (
	"encoding/binary"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/isobath/isobath/internal/code/access"
)

var breakpoint = []byte{0xcc} // INT3

// breakpointAdvance is how far the instruction pointer is behind a breakpoint.
const breakpointAdvance = 1

func ptr(p *byte) unsafe.Pointer { return unsafe.Pointer(p) }

type registers struct{ unix.PtraceRegs }

func (r *registers) read(tid int) error {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PTRACE, unix.PTRACE_GETREGS, uintptr(tid), 0, uintptr(unsafe.Pointer(&r.PtraceRegs)), 0, 0)
	if errno != 0 {
		return fmt.Errorf("read registers: %w", errno)
	}
	return nil
}

func (r *registers) write(tid int) error { return unix.PtraceSetRegs(tid, &r.PtraceRegs) }
func (r *registers) pc() uint64          { return r.Rip }
func (r *registers) setPC(pc uint64)     { r.Rip = pc }

const trapFlag = 0x100

// clearTrap removes a trap flag that the kernel takes for the program's own: it
// does after stepping over an instruction that pops the flags.
func (r *registers) clearTrap(tid int) error {
	if r.Eflags&trapFlag == 0 {
		return nil
	}
	r.Eflags &^= trapFlag
	return r.write(tid)
}

// frame is a place on the stack: for a function the slot of its return address.
type frame struct{ sp, pc uint64 }

func (r *registers) frame(*tracer) frame { return frame{sp: r.Rsp} }
func (r *registers) sp() uint64          { return r.Rsp }

// moved are the registers with places on the stack counted from its end.
func (r *registers) moved(end uint64) registers {
	moved := *r
	moved.Rsp -= end
	return moved
}

// farthestSlot bounds where the linker may have put the current goroutine: thread-local
// variables of C may lie between it and the thread's base.
const farthestSlot = 4096

// goroutine is the g of the goroutine that runs, which every thread has in a variable
// of its own.
func (r *registers) goroutine(t *tracer) uint64 {
	if t.goes.slot > 0 {
		return t.word(r.Fs_base - t.goes.slot)
	}
	for slot := uint64(8); slot <= farthestSlot; slot += 8 {
		g := t.word(r.Fs_base - slot)
		if _, _, ok := t.contains(g, r.Rsp); g != 0 && ok {
			t.goes.slot = slot
			return g
		}
	}
	return 0
}

// returnAddress is where the function returns to that begins here.
func (r *registers) returnAddress(t *tracer) uint64 {
	word := make([]byte, 8)
	if _, err := t.mem.ReadAt(word, int64(r.Rsp)); err != nil {
		return 0
	}
	return binary.LittleEndian.Uint64(word)
}

// stepsPieces: a call moves the stack pointer, so that it tells the code of a
// function from that of those it calls.
const stepsPieces = true

func (r *registers) here() frame { return frame{r.Rsp, r.Rip} }

// left reports whether the function has returned, or was jumped out of.
func (f frame) left(r *registers) bool { return r.Rsp > f.sp }

type decoded struct{ access.AMD64 }

func (d *decoded) length() uint64    { return uint64(d.Len) }
func (d *decoded) flow() access.Flow { return d.Flow }
func (d *decoded) repeats() bool     { return d.Repeats }

func decode(code []byte) (decoded, error) {
	in, err := access.DecodeAMD64(code)
	return decoded{in}, err
}

func (d *decoded) accesses(t *tracer, th *thread, r *registers) []access.Access {
	g := access.RegsAMD64{General: [16]uint64{r.Rax, r.Rcx, r.Rdx, r.Rbx, r.Rsp, r.Rbp, r.Rsi, r.Rdi,
		r.R8, r.R9, r.R10, r.R11, r.R12, r.R13, r.R14, r.R15}, PC: r.Rip, FS: r.Fs_base, GS: r.Gs_base}
	if !d.Vectors() {
		return d.Accesses(&g, nil, th.next)
	}
	if err := t.vectors.read(th.tid); err != nil {
		t.res.Unknown++
		return th.next
	}
	return d.Accesses(&g, &t.vectors, th.next)
}

// fixFlags takes the trap flag out of the flags a program has pushed: it would
// pop them again, and trap on its own.
func (t *tracer) fixFlags(th *thread) error {
	in := t.code[th.pc]
	if in == nil || !in.PushesFlags {
		return nil
	}
	var r registers
	if err := r.read(th.tid); err != nil {
		return ignoreGone(err)
	}
	high := make([]byte, 1) // the trap flag is the lowest bit of the second byte
	if _, err := t.mem.ReadAt(high, int64(r.Rsp)+1); err != nil {
		return err
	}
	high[0] &^= 1
	_, err := t.mem.WriteAt(high, int64(r.Rsp)+1)
	return err
}

// vectorState is the XSAVE area of a thread. Offsets of its parts differ
// between makers and are asked of the processor; 0 is a part it does not have.
type vectorState struct {
	area                        []byte
	ymmHigh, mask, zmmHigh, zmm int
}

const (
	noteXState = 0x202 // NT_X86_XSTATE
	xmmOffset  = 160   // in the legacy area
)

func (v *vectorState) read(tid int) error {
	if v.area == nil {
		v.area = make([]byte, 16<<10)
		v.ymmHigh, v.mask, v.zmmHigh, v.zmm = component(2), component(5), component(6), component(7)
	}
	iov := unix.Iovec{Base: &v.area[0]}
	iov.SetLen(len(v.area))
	clear(v.area)
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PTRACE, unix.PTRACE_GETREGSET, uintptr(tid), noteXState, uintptr(unsafe.Pointer(&iov)), 0, 0)
	if errno != 0 {
		return fmt.Errorf("read vector registers: %w", errno)
	}
	return nil
}

// component returns where a part of the state begins, from CPUID leaf 0xd.
func component(n uint32) int {
	size, offset := cpuid(0xd, n)
	if size == 0 || offset > 8<<10 {
		return 0
	}
	return int(offset)
}

func (v *vectorState) Vector(n int) (out [64]byte) {
	if n >= 16 {
		if v.zmm > 0 {
			copy(out[:], v.area[v.zmm+64*(n-16):])
		}
		return out
	}
	copy(out[:16], v.area[xmmOffset+16*n:])
	if v.ymmHigh > 0 {
		copy(out[16:32], v.area[v.ymmHigh+16*n:])
	}
	if v.zmmHigh > 0 {
		copy(out[32:], v.area[v.zmmHigh+32*n:])
	}
	return out
}

func (v *vectorState) Mask(n int) uint64 {
	if v.mask == 0 {
		return ^uint64(0)
	}
	return binary.LittleEndian.Uint64(v.area[v.mask+8*n:])
}

// cpuid returns EAX and EBX of a CPUID leaf.
func cpuid(leaf, sub uint32) (eax, ebx uint32)
