package reftrace

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"

	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/code/access"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats/lackey"
	"github.com/isobath/isobath/internal/record/heap"
	"github.com/isobath/isobath/internal/record/target"
)

// valgrind records by running the program under Valgrind's lackey tool, whose
// text is cut to the region as it comes.
func (j *job) valgrind(ctx context.Context) error {
	tool, err := exec.LookPath("valgrind")
	if err != nil {
		return errors.New("valgrind is not installed; apt-get install valgrind, or use --backend step")
	}
	if j.Thread != FirstThread && j.Thread != 0 {
		return errors.New("lackey does not say which thread makes an access; use --backend step or qemu for --thread")
	}
	if j.elsewhere() || j.bounds.Pieces != nil {
		return errors.New("lackey says neither where libraries are nor which call runs: no libraries, ranges or lines; use --backend step or qemu")
	}
	text, writer, err := os.Pipe()
	if err != nil {
		return err
	}
	defer text.Close()
	// The log is the first file after standard error. Without the level Valgrind leaves
	// loads out before lackey sees them if nothing uses what they load.
	cmd := exec.CommandContext(ctx, tool, append([]string{"--tool=lackey", "--trace-mem=yes", "--vex-iropt-level=0", "--log-fd=3", "--run-libc-freeres=no", j.program.Path}, j.Command[1:]...)...)
	cmd.ExtraFiles = []*os.File{writer}
	settings, err := j.logAllocations(ctx)
	if err != nil {
		return err
	}
	if settings != nil {
		cmd.Env = environment(heap.Rung(settings, bell))
	}
	child := parallel.Start(ctx, func(context.Context) error {
		defer writer.Close()
		return j.runChild(cmd)
	})
	if j.program.Moves {
		j.bias = symbol.ValgrindBias
	}
	j.rec.Has &^= refs.HasThread
	cut := newCutter(j)
	defer cut.files.Close()
	err = lackey.NewReader(text).Visit(cut.run, cut.add)
	cut.flush()
	io.Copy(io.Discard, text) // a child must not block on a full pipe
	if failed := child.Wait(); failed != nil {
		return failed
	}
	if err != nil {
		return fmt.Errorf("lackey: %w", err)
	}
	j.heard()
	if !cut.seen {
		j.note("no instruction of the program was seen at its usual place (bias 0x%x)", j.bias)
	}
	return j.heardWay(cut.way)
}

// bell is where the allocation log stores something with every entry: far from
// what Valgrind maps for a program, below its own memory.
const bell = 0x6_0000_0000

// heard dates the entries of the allocation log.
func (j *job) heard() {
	if j.memory.library == "" {
		return
	}
	maps, err := heap.Maps(j.memory.dir)
	if err != nil {
		j.note("heap objects have no names of their own: %v", err)
		return
	}
	j.memory.read(j.memory.pid, maps)
	j.memory.logs = slices.DeleteFunc(j.memory.logs, func(l *heap.Log) bool {
		if l.PID != j.memory.pid {
			return true
		}
		err := l.Retime(j.memory.bells)
		if err != nil {
			j.note("heap objects have no names of their own: %v", err)
		}
		return err != nil
	})
}

// cutter keeps what lies in the region. The text has no calls: a function is
// entered with its first instruction, its return address is what was stored last
// before that, and it is left by the return that loads it.
type cutter struct {
	*job
	way      *heardWay // nil where it is not kept
	phase    phase
	slot     uint64 // address of the awaited return address
	stored   uint64 // address of the last 8-byte store
	seen     bool
	returner map[uint64]bool
	files    symbol.Files
	// held is the last reference, which the next may turn out to be a part of.
	held  refs.Ref
	holds bool
}

// emit keeps a reference once it is known to be whole; false at the limit.
func (c *cutter) emit(r refs.Ref) bool {
	if c.holds && !c.job.emit(c.held) {
		c.holds = false
		return false
	}
	c.held, c.holds = r, true
	return true
}

// flush keeps the last reference.
func (c *cutter) flush() {
	if c.holds {
		c.holds = false
		c.job.emit(c.held)
	}
}

// count is how many references there are so far.
func (c *cutter) count() uint64 {
	if c.holds {
		return uint64(c.kept.Len()) + 1
	}
	return uint64(c.kept.Len())
}

type phase uint8

const (
	waiting phase = iota
	skipping
	inStart
	inside
	over
)

func newCutter(j *job) *cutter {
	c := &cutter{job: j, returner: map[uint64]bool{}}
	if j.Flow && j.program.Machine == elf.EM_X86_64 {
		c.way = newHeardWay(func(pc uint64) []byte { return j.codeAt(&c.files, pc) })
	}
	return c
}

// run notes that an instruction runs: it may begin or end the region.
func (c *cutter) run(running uint64) {
	pc := running - c.bias
	if c.phase == waiting && c.bounds.Start.Contains(pc) {
		c.enter()
	}
	if c.phase == inside && c.bounds.After && c.bounds.Stop.Contains(pc) {
		c.leave()
	}
	if c.phase == inside && c.way != nil {
		c.way.run(running)
	}
}

func (c *cutter) add(r refs.Ref) {
	pc := r.PC - c.bias
	c.seen = c.seen || pc == c.program.Entry || c.entered || c.program.Code(pc) != nil
	if r.Op == refs.Store && r.Size == 8 {
		if r.Addr == bell {
			c.memory.bells = append(c.memory.bells, c.count()+1)
		}
		c.stored = r.Addr
	}
	switch c.phase {
	case skipping:
		if c.bounds.After && c.bounds.Stop.Contains(pc) || !c.bounds.After && c.returns(r, pc) {
			c.phase = waiting
		}
	case inStart:
		if c.returns(r, pc) {
			c.phase = inside
		}
	case inside:
		if c.way != nil {
			c.way.touch(&r)
		}
		if !c.locked(r, pc) && !c.emit(r) {
			c.phase = over
			return
		}
		if !c.bounds.After && c.returns(r, pc) {
			c.leave()
		}
	}
}

// enter begins with the first instruction of the start function.
func (c *cutter) enter() {
	c.slot = c.stored
	if c.way != nil {
		c.way.base = c.slot
	}
	if c.skipped < c.bounds.Skip {
		c.skipped++
		c.phase = skipping
		return
	}
	c.phase = inside
	if c.bounds.After {
		c.phase = inStart
	}
	if !c.entered {
		c.entered = true
		c.findModules()
	}
}

// leave ends a call of the region.
func (c *cutter) leave() {
	c.left = true
	c.calls++
	c.phase = waiting
	if c.calls == c.bounds.Times(false) {
		c.phase = over
	}
}

// findModules learns where the code of libraries is, if the allocation log says
// so: it looks at return addresses, as a return does.
func (c *cutter) findModules() {
	if c.memory.library == "" {
		return
	}
	if maps, err := heap.Maps(c.memory.dir); err == nil {
		c.modules = target.ParseMaps(maps)
	}
}

// locked joins the two parts of a locked instruction: Valgrind loads the old
// value and then compares and exchanges. The instruction itself only modifies.
func (c *cutter) locked(r refs.Ref, pc uint64) bool {
	if r.Op != refs.Modify || !c.holds {
		return false
	}
	last := &c.held
	if last.Op != refs.Load || last.PC != r.PC || last.Addr != r.Addr || last.Size != r.Size {
		return false
	}
	in, err := access.DecodeAMD64(c.program.Code(pc))
	if err != nil {
		return false
	}
	if shape, ok := in.Shape(nil); !ok || len(shape) != 1 {
		return false
	}
	last.Op = refs.Modify
	return true
}

// returns reports whether the access is the load of the awaited return address
// by a return instruction. Those of libraries are not known and are believed.
func (c *cutter) returns(r refs.Ref, pc uint64) bool {
	if r.Op != refs.Load || r.Size != 8 || r.Addr != c.slot {
		return false
	}
	is, ok := c.returner[pc]
	if !ok {
		code := c.codeAt(&c.files, r.PC)
		in, err := access.DecodeAMD64(code)
		is = code == nil || err == nil && in.Flow == access.Return
		c.returner[pc] = is
	}
	return is
}
