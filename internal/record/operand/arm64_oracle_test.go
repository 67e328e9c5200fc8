package operand

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/arch/arm64/arm64asm"

	"github.com/isobath/isobath/internal/base/test"
)

// TestOracleARM64 is TestOracle for the other architecture: an emulator steps the
// program, and a disassembler says what each instruction accesses.
func TestOracleARM64(t *testing.T) {
	program := buildOracle(t, test.Peer(t, "aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"))
	qemu := test.Peer(t, "qemu-aarch64", "qemu-user")
	compare(t, program, func(o *oracle) { o.stepARM64(qemu, program) })
}

// stepARM64 steps the program through the emulator's interface for debuggers.
func (o *oracle) stepARM64(qemu, program string) {
	o.truth = o.truthARM64
	socket := filepath.Join(o.t.TempDir(), "s")
	cmd := exec.Command(qemu, "-g", socket, program)
	if err := cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	d := dial(o.t, socket)
	defer d.c.Close()
	for o.steps = 0; o.steps < mostSteps/2; o.steps++ { // slower than ptrace
		all, err := hex.DecodeString(d.ask("g"))
		if err != nil || len(all) < 33*8 {
			o.t.Fatalf("registers: %v, %d bytes", err, len(all))
		}
		var regs Registers // x0 to x30, sp; then pc
		for i := range regs {
			regs[i] = binary.LittleEndian.Uint64(all[8*i:])
		}
		pc := binary.LittleEndian.Uint64(all[8*32:])
		o.look(pc, &regs)
		if reply := d.ask("s"); !strings.HasPrefix(reply, "T") && !strings.HasPrefix(reply, "S") {
			return // the program has ended
		}
		if binary.LittleEndian.Uint32(o.im.bytes(pc)) == supervisorCall {
			o.passed(pc + 4)
		}
	}
}

// supervisorCall is svc #0. The emulator makes one step of it and what follows.
const supervisorCall = 0xd4000001

// passed notes an instruction that was executed unseen.
func (o *oracle) passed(pc uint64) {
	here := o.truthARM64(pc, &Registers{})
	here.open = true
	o.steps++
	delete(o.promise, o.steps)
	o.history = append(o.history, here)
}

// debugger speaks the remote protocol of gdb: $text#checksum, answered by + and a
// packet of the same form.
type debugger struct {
	t *testing.T
	c net.Conn
	r *bufio.Reader
}

func dial(t *testing.T, socket string) *debugger {
	for deadline := time.Now().Add(120 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("unix", socket)
		if err == nil {
			d := &debugger{t, c, bufio.NewReader(c)}
			d.ask("?")
			return d
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

func (d *debugger) ask(text string) string {
	var sum byte
	for i := range len(text) {
		sum += text[i]
	}
	fmt.Fprintf(d.c, "$%s#%02x", text, sum)
	if _, err := d.r.ReadString('$'); err != nil {
		return ""
	}
	reply, err := d.r.ReadString('#')
	if err != nil {
		return ""
	}
	_, _ = d.r.Discard(2)
	fmt.Fprint(d.c, "+")
	return strings.TrimSuffix(reply, "#")
}

// truthARM64 reads what one instruction accesses from its disassembly.
func (o *oracle) truthARM64(pc uint64, r *Registers) ran {
	out := ran{pc: pc}
	x, err := arm64asm.Decode(o.im.bytes(pc))
	if err != nil {
		return out
	}
	text := strings.ToLower(arm64asm.GNUSyntax(x))
	if !armAccess.MatchString(text) && !armAtomics.MatchString(text) {
		return out
	}
	out.has = true
	m := armMemory.FindStringSubmatch(text)
	if m == nil {
		out.open = true // relative to the instruction, or of a form not read here
		return out
	}
	out.addr = armAddress(m, r)
	return out
}
