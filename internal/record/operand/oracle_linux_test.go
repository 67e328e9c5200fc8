//go:build linux && amd64

package operand

import (
	"encoding/binary"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/code/access"
)

// TestOracle runs a program one instruction at a time. The true accesses are
// then known, and no address that the rule gives may differ from them.
func TestOracle(t *testing.T) {
	program := buildOracle(t, test.Peer(t, "gcc", "gcc"))
	compare(t, program, func(o *oracle) { o.stepAMD64(program) })
}

// stepAMD64 steps the program with ptrace.
func (o *oracle) stepAMD64(program string) {
	o.truth = o.truthAMD64
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.Command(program)
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		o.t.Skipf("cannot trace: %v", err)
	}
	pid := cmd.Process.Pid
	defer cmd.Wait()
	defer cmd.Process.Kill()
	var ws unix.WaitStatus
	if _, err := unix.Wait4(pid, &ws, 0, nil); err != nil {
		o.t.Fatal(err)
	}
	for o.steps = 0; o.steps < mostSteps; o.steps++ {
		var regs unix.PtraceRegs
		if err := unix.PtraceGetRegs(pid, &regs); err != nil {
			o.t.Fatal(err)
		}
		o.later = func(addr uint64) (uint64, bool) {
			var word [8]byte
			n, err := unix.PtracePeekData(pid, uintptr(addr), word[:])
			return binary.LittleEndian.Uint64(word[:]), err == nil && n == 8
		}
		o.memory = func(addr uint64) (uint64, bool) {
			if addr < regs.Rsp || addr > regs.Rsp+1<<13 {
				return 0, false
			}
			return o.later(addr)
		}
		o.look(regs.Rip, &Registers{regs.Rax, regs.Rcx, regs.Rdx, regs.Rbx, regs.Rsp, regs.Rbp, regs.Rsi, regs.Rdi, regs.R8, regs.R9, regs.R10, regs.R11, regs.R12, regs.R13, regs.R14, regs.R15, regs.Eflags})
		if err := unix.PtraceSingleStep(pid); err != nil {
			o.t.Fatal(err)
		}
		if _, err := unix.Wait4(pid, &ws, 0, nil); err != nil || ws.Exited() {
			return
		}
	}
}

// truthAMD64 decodes one instruction with another decoder of operands.
func (o *oracle) truthAMD64(pc uint64, r *Registers) ran {
	out := ran{pc: pc}
	form, err := access.DecodeAMD64(o.im.bytes(pc))
	if err != nil {
		return out
	}
	regs := access.RegsAMD64{PC: pc}
	copy(regs.General[:], r[:16])
	if got := form.Accesses(&regs, nil, nil); len(got) > 0 {
		out.addr, out.has = got[0].Addr, true
	}
	return out
}
