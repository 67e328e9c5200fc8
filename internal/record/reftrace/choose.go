package reftrace

import (
	"debug/elf"
	"fmt"
	"os/exec"
	"runtime"

	"golang.org/x/arch/x86/x86asm"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/code/access"
	"github.com/isobath/isobath/internal/data/refs"
)

// stepAtMost is how many references stepping is chosen for: at 30,000
// instructions a second or more, with two to three instructions a reference,
// they take half a minute at most.
const stepAtMost = 300_000

// choose picks the backend by the estimated length of the trace, and says why.
func (j *job) choose() (Backend, string) {
	if j.Backend != Auto && j.Backend != "" {
		return j.Backend, "as asked"
	}
	if j.instrumented() && !j.elsewhere() && j.bounds.Pieces == nil {
		return Instrument, "the program was built with 'isobath cc'"
	}
	canStep := runtime.GOOS == "linux" && native(j.program.Machine)
	if canStep && j.program.Go {
		return Step, "a goroutine goes from thread to thread, and only stepping follows it"
	}
	qemu, missing := j.canEmulate()
	length, why := j.estimate()
	switch {
	case canStep && length <= stepAtMost:
		return Step, why
	case qemu:
		return QEMU, why
	case canStep:
		return Step, why + "; qemu would be faster but " + missing
	}
	return Valgrind, "the program cannot be stepped here and " + missing
}

// native reports whether programs for this machine run here without help.
func native(m elf.Machine) bool {
	return m == elf.EM_X86_64 && runtime.GOARCH == "amd64" || m == elf.EM_AARCH64 && runtime.GOARCH == "arm64"
}

// canEmulate reports whether the qemu backend can work, or what is missing.
func (j *job) canEmulate() (bool, string) {
	name, _, err := emulator(j.program.Machine)
	if err != nil {
		return false, err.Error()
	}
	if _, err := exec.LookPath(name); err != nil {
		return false, name + " is not installed"
	}
	if _, err := exec.LookPath("cc"); err != nil {
		return false, "cc, which compiles its plugin, is not installed"
	}
	return true, ""
}

// unknownLength stands for a trace of which nothing is known.
const unknownLength = ^uint64(0)

// estimate bounds the number of references: by the limit, or by the code of a
// function that neither loops nor calls. Everything else may be long.
func (j *job) estimate() (uint64, string) {
	if j.limited {
		return j.Limit, fmt.Sprintf("at most %s references", term.Thousands(j.Limit))
	}
	times := j.bounds.Times(j.Thread == AllThreads)
	if b := &j.bounds; !b.After && b.Pieces == nil && times <= stepAtMost {
		if n, ok := j.straight(b.Start); ok {
			return n * times, fmt.Sprintf("about %d references, its code neither loops nor calls", n*times)
		}
	}
	return unknownLength, "it may be long; a --limit up to " + term.Thousands(stepAtMost) + " would step"
}

// straight counts the instructions of a function without loops and calls. Each
// makes one reference or none, with few exceptions.
func (j *job) straight(at refs.Range) (uint64, bool) {
	if j.program.Machine != elf.EM_X86_64 || at.High-at.Low > 1<<20 {
		return 0, false
	}
	n := uint64(0)
	for pc := at.Low; pc < at.High; n++ {
		code := j.bounds.In.Code(pc)
		what, err := access.DecodeAMD64(code)
		if err != nil || what.Flow == access.Call || what.Repeats {
			return 0, false
		}
		next := pc + uint64(what.Len)
		in, _ := x86asm.Decode(code, 64) // ENDBR64, which it does not know, is no jump
		if in.Op == x86asm.JMP || in.PCRel > 0 {
			rel, ok := in.Args[0].(x86asm.Rel)
			// Backward is a loop, outside is a call in tail position.
			if ok && (rel < 0 || next+uint64(rel) >= at.High) || in.Op == x86asm.JMP && !ok {
				return 0, false
			}
		}
		pc = next
	}
	return n, true
}

// instrumented reports whether the program carries the runtime of 'isobath cc'.
func (j *job) instrumented() bool {
	_, err := j.program.Function(hookMark)
	return err == nil
}

// hookMark is a function of the runtime for compiler hooks.
const hookMark = "isobath_refs_runtime"
