//go:build linux && (amd64 || arm64)

package step

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/isobath/isobath/internal/code/access"
	"github.com/isobath/isobath/internal/record/target"
)

// region is where in the running program the region is.
type region struct {
	placed bool
	bias   uint64
	starts []uint64 // its first instructions
	stop   uint64   // see target.Bounds
	// loading is where the dynamic linker tells debuggers that it has mapped
	// libraries; 0 if the region is in the program itself.
	loading uint64
}

// findRegion sets the breakpoints at which the region begins, or where its library
// is loaded.
func (t *tracer) findRegion() error {
	b := &t.o.Bounds
	if b.Pieces != nil && !stepsPieces {
		return errors.New("a stretch of code can be stepped on x86-64 only; use --backend qemu")
	}
	if b.In == nil || b.In == t.o.Program {
		return t.placeRegion(t.res.Bias)
	}
	linker, err := target.Open(t.o.Program.Linker)
	if err != nil {
		return err
	}
	// Named for debuggers since the first System V linkers; glibc and musl have it.
	at, err := linker.Function("_dl_debug_state")
	if err != nil {
		return fmt.Errorf("%w It does not say when it loads %s: use --backend qemu", err, b.In.Path)
	}
	base, err := t.auxiliary(linkerBase)
	if err != nil {
		return err
	}
	t.region.loading = at.Low + base - linker.Base()
	return t.set(t.region.loading)
}

// findLibrary looks whether the library of the region has been mapped, or mapped
// somewhere else.
func (t *tracer) findLibrary() error {
	maps, err := os.ReadFile("/proc/" + strconv.Itoa(t.pid) + "/maps")
	if err != nil || t.done {
		return nil // it is ending
	}
	bias, ok := t.o.Bounds.In.LoadedAt(maps)
	switch {
	case !ok:
		// Its memory is gone, and its breakpoints with it.
		for _, at := range t.region.starts {
			delete(t.breaks, at)
		}
		t.region.placed, t.region.starts = false, nil
		return nil
	case t.region.placed && bias == t.region.bias:
		return nil
	}
	return t.placeRegion(bias)
}

// placeRegion works out the running addresses of the region.
func (t *tracer) placeRegion(bias uint64) error {
	b := &t.o.Bounds
	t.region.placed, t.region.bias, t.region.stop = true, bias, b.Stop.Low+bias
	t.region.starts = []uint64{b.Start.Low + bias}
	if b.Pieces != nil {
		t.region.starts = nil
	}
	for _, piece := range b.Pieces {
		for pc := piece.Low; pc < piece.High; {
			t.region.starts = append(t.region.starts, pc+bias)
			in, err := decode(b.In.Code(pc))
			if err != nil {
				return fmt.Errorf("the instruction at 0x%x of %s cannot be decoded: %w", pc, b.In.Path, err)
			}
			pc += in.length()
		}
	}
	return t.arm()
}

// arm sets the breakpoints at which the region begins.
func (t *tracer) arm() error {
	for _, at := range t.region.starts {
		if err := t.set(at); err != nil {
			return err
		}
	}
	return nil
}

func (t *tracer) disarm() error {
	for _, at := range t.region.starts {
		if err := t.unset(at); err != nil {
			return err
		}
	}
	return nil
}

// isStart reports whether the region begins at an address.
func (t *tracer) isStart(at uint64) bool {
	if !t.region.placed {
		return false
	}
	if b := &t.o.Bounds; b.Pieces != nil {
		return b.Within(at - t.region.bias)
	}
	return at == t.region.starts[0]
}

// wanted reports whether the region is recorded when this thread enters it, with a
// goroutine in programs of Go.
func (t *tracer) wanted(th *thread, g *goroutine) bool {
	switch {
	case t.done || th.phase != waiting || g != nil && g.over:
		return false
	case t.o.Thread == FirstThread && g != nil:
		return t.mine == nil || t.mine == g
	case t.o.Thread == FirstThread:
		return t.owner == nil || t.owner == th
	}
	return t.o.Thread == AllThreads || t.o.Thread == th.number
}

// reach handles a thread that runs freely and has come to one of our breakpoints.
func (t *tracer) reach(th *thread, r *registers, at uint64) error {
	if at == t.region.loading {
		if err := t.findLibrary(); err != nil {
			return err
		}
	}
	if t.goes != nil && at == t.goes.resume {
		t.resumed(th, r)
		return nil
	}
	if th.phase == skipped && !th.stepping && t.skippedOver(th, r, at) {
		th.phase = waiting
		if err := t.release(th); err != nil {
			return err
		}
	}
	if !t.isStart(at) {
		return nil
	}
	g := t.goroutineAt(r)
	if !t.wanted(th, g) {
		return nil
	}
	t.owner, t.mine, th.g, th.home = th, g, g, g != nil
	th.frame = r.frame(t)
	if g != nil {
		g.in = th
		// Its stack may move, so places on it are counted from its end.
		stack := r.moved(g.high)
		th.frame = stack.frame(t)
		if err := t.set(t.goes.resume); err != nil {
			return err
		}
	} else if t.o.Program.Go {
		t.res.Unfollowed = true
	}
	if th.counts().skips < t.o.Bounds.Skip {
		return t.skip(th, r)
	}
	return t.enter(th)
}

// skip lets a thread pass over the region: at full speed to the end of it if that
// is known, else by steps. Among several threads by steps too: one that is stepped
// may be about to run the instruction where the breakpoint would be, and would run
// the breakpoint for it.
func (t *tracer) skip(th *thread, r *registers) error {
	th.counts().skips++
	t.res.Skipped++
	th.phase = skipped
	switch {
	case len(t.threads) > 1 || th.g != nil:
	case t.o.Bounds.After:
		th.awaits = t.region.stop
	case t.o.Bounds.Pieces == nil:
		th.awaits = t.returnsTo(r)
	}
	if th.awaits == 0 {
		th.stepping = true
		if t.o.Thread == AllThreads {
			return nil
		}
		return t.disarm()
	}
	return t.set(th.awaits)
}

// skippedOver reports whether a thread has left the region that it passes over. A
// function that is left by a jump is seen to be when it is called again.
func (t *tracer) skippedOver(th *thread, r *registers, at uint64) bool {
	if t.o.Bounds.After {
		return at == t.region.stop
	}
	return th.frame.left(r)
}

// release removes the breakpoint that a thread has waited for, unless another
// waits for it too.
func (t *tracer) release(th *thread) error {
	at := th.awaits
	th.awaits = 0
	for _, other := range t.threads {
		if other.awaits == at {
			return nil
		}
	}
	if at == 0 || t.isStart(at) {
		return nil
	}
	return t.unset(at)
}

// longestCall is the longest instruction that calls, of all machines.
const longestCall = 8

// returnsTo is the address to which the function returns that a thread has just
// entered; 0 where what is in its place does not follow a call: a breakpoint there
// might change data.
func (t *tracer) returnsTo(r *registers) uint64 {
	back := r.returnAddress(t)
	code := make([]byte, longestCall)
	if _, err := t.mem.ReadAt(code, int64(back-longestCall)); back < longestCall || err != nil {
		return 0
	}
	for n := uint64(2); n <= longestCall; n++ {
		in, err := decode(code[longestCall-n:])
		if err == nil && in.length() == n && in.flow() == access.Call && t.executable(back) {
			return back
		}
	}
	return 0
}

// executable reports whether code of a file is mapped at an address.
func (t *tracer) executable(addr uint64) bool {
	if _, set := t.breaks[addr]; set || t.removed[addr] {
		return true
	}
	maps, err := os.ReadFile("/proc/" + strconv.Itoa(t.pid) + "/maps")
	if err != nil {
		return false
	}
	for _, m := range target.ParseMaps(maps) {
		if addr >= m.Start && addr < m.End {
			return true
		}
	}
	return false
}

// leaves reports whether a thread that is stepped has left the region.
func (t *tracer) leaves(th *thread, r *registers) bool {
	b := &t.o.Bounds
	switch {
	case b.After:
		return r.pc() == t.region.stop
	case b.Pieces == nil || th.frame == bottom:
		return th.frame.left(r)
	case b.Within(r.pc() - t.region.bias):
		// The same call may have given back some of its stack.
		th.frame.sp = max(th.frame.sp, r.here().sp)
		return false
	}
	return r.here().sp >= th.frame.sp
}
