//go:build linux

package step

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/isobath/isobath/internal/code/access"
	"github.com/isobath/isobath/internal/record/operand"
)

var breakpoint = []byte{0x00, 0x00, 0x20, 0xd4} // BRK #0

// breakpointAdvance is how far the instruction pointer is behind a breakpoint:
// it stays at it.
const breakpointAdvance = 0

func ptr(p *byte) unsafe.Pointer { return unsafe.Pointer(p) }

type registers struct{ unix.PtraceRegsArm64 }

const notePRStatus = 1 // NT_PRSTATUS

func (r *registers) read(tid int) error {
	iov := unix.Iovec{Base: (*byte)(unsafe.Pointer(&r.PtraceRegsArm64))}
	iov.SetLen(int(unsafe.Sizeof(r.PtraceRegsArm64)))
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PTRACE, unix.PTRACE_GETREGSET, uintptr(tid), notePRStatus, uintptr(unsafe.Pointer(&iov)), 0, 0)
	if errno != 0 {
		return fmt.Errorf("read registers: %w", errno)
	}
	return nil
}

func (r *registers) write(tid int) error {
	return unix.PtraceSetRegSetArm64(tid, notePRStatus, &r.PtraceRegsArm64)
}
func (r *registers) pc() uint64          { return r.Pc }
func (r *registers) setPC(pc uint64)     { r.Pc = pc }
func (r *registers) clearTrap(int) error { return nil }

// frame is a place on the stack, and the address a function returns to.
type frame struct{ sp, pc uint64 }

const linkRegister = 30

func (r *registers) frame(*tracer) frame { return frame{r.Sp, r.Regs[linkRegister]} }

func (r *registers) sp() uint64 { return r.Sp }

// moved are the registers with places on the stack counted from its end.
func (r *registers) moved(end uint64) registers {
	moved := *r
	moved.Sp -= end
	return moved
}

// goroutine is the g of the goroutine that runs, which Go keeps in a register.
func (r *registers) goroutine(*tracer) uint64 { return r.Regs[28] }

// returnAddress is where the function returns to that begins here.
func (r *registers) returnAddress(*tracer) uint64 { return r.Regs[linkRegister] }

// stepsPieces: a call leaves the stack pointer as it is, which then does not tell
// the code of a function from that of those it calls.
const stepsPieces = false

func (r *registers) here() frame { return frame{r.Sp, r.Pc} }

// left reports whether the function has returned, or was jumped out of.
func (f frame) left(r *registers) bool { return r.Sp > f.sp || r.Sp == f.sp && r.Pc == f.pc }

type decoded struct {
	word uint32
	// exclusive marks a load that reserves memory for a store. Stepping loses
	// the reservation, so that the loop around them never ends.
	exclusive bool
	times     int // it came round
}

func (d *decoded) length() uint64    { return 4 }
func (d *decoded) flow() access.Flow { return access.FlowARM64(d.word) }
func (d *decoded) repeats() bool     { return false }

func decode(code []byte) (decoded, error) {
	if len(code) < 4 {
		return decoded{}, errors.New("no instruction")
	}
	w := binary.LittleEndian.Uint32(code)
	return decoded{word: w, exclusive: w&0x3f400000 == 0x08400000 && w>>23&1 == 0}, nil
}

// maxRetries is how often a reserving load may come round: with steps between,
// no store after it ever succeeds.
const maxRetries = 64

func (d *decoded) accesses(t *tracer, th *thread, r *registers) []access.Access {
	if d.exclusive {
		if d.times++; d.times > maxRetries {
			t.res.Stuck = true
		}
	}
	var g operand.Registers
	copy(g[:31], r.Regs[:])
	g[31] = r.Sp
	a, why, ok := operand.OneARM64(d.word, r.Pc, &g)
	switch {
	case !ok:
		return th.next
	case why != operand.Found:
		t.res.Unknown++
		return th.next
	}
	return append(th.next, access.Access{Addr: a.Addr, Size: a.Size, Op: a.Op})
}

func (t *tracer) fixFlags(*thread) error { return nil }

// vectorState is not needed: no decoded address is made of vector registers.
type vectorState struct{}
