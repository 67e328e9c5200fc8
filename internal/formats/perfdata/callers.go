package perfdata

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/base/plainfile"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/code/unwind"
)

// callers finds the callers of samples that have a copy of the stack, which
// perf record --call-graph dwarf makes. They are unwound while the file is read,
// since the copies are most of it. What was mapped must be known before that,
// but a mapping may stand behind samples in it: the rings of other CPUs are read
// later. So the first sample with a stack makes the file be searched for
// mappings once.
type callers struct {
	history *symbol.History
	unwind  *unwind.Unwinder
	timed   bool
	chain   []byte

	samples int // with a stack
	empty   int // of them taken where there is no program: kernel threads
	skids   int // whose instruction is not where the registers were read
	copied  int // bytes of the largest copy
	stops   [unwind.Stops]int
	blamed  map[string]int
}

// Marks in a call chain that say whose addresses follow.
const (
	contextUser = ^uint64(511)
	// maxCallers is the deepest stack that is shown; see package symbol.
	maxCallers = 1024
)

// chain numbers the call chain of a sample.
func (im *importer) chain(s *decodedSample) (uint32, error) {
	const copies = perfevent.SampleStackUser | perfevent.SampleRegsUser
	if s.Type&copies != copies || hasUser(s.Callchain) {
		return im.stacks.number(s.Callchain.Bytes), nil
	}
	c := im.callers
	if c == nil {
		var err error
		if c, err = im.newCallers(); err != nil {
			return 0, err
		}
		im.callers = c
	}
	return im.stacks.number(c.extend(s)), nil
}

// hasUser reports whether a chain has callers in the program already.
func hasUser(chain perfevent.Words) bool {
	for i := range chain.Len() - 1 {
		if chain.At(i) == contextUser && chain.At(i+1) < contextMarker {
			return true
		}
	}
	return false
}

func (im *importer) newCallers() (*callers, error) {
	v := &mappingScan{file: *im.file}
	v.warnings = nil // the file is read once more, which says all
	if err := v.all(im.ctx, im.beside.records); err != nil {
		return nil, err
	}
	arch := im.features.Arch
	if arch == "" {
		arch = runtime.GOARCH // as perf does
	}
	timed := im.events[im.sample.Event].SampleType&perfevent.SampleTime != 0
	space := mappings(v.notes, &v.features, timed)
	return &callers{history: space.History(), unwind: unwind.New(im.binaryFiles(), arch), timed: timed, blamed: map[string]int{}}, nil
}

// mappingScan collects what changes mappings.
type mappingScan struct {
	file
	notes []fileNote
}

// all reads the file and those beside it. Damage ends it without an error: the
// real reading says what there is to say.
func (v *mappingScan) all(ctx context.Context, more []string) error {
	if err := v.scan(ctx, v.r, v.data, v); err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	for _, path := range more {
		f, err := plainfile.Open(path)
		if err != nil {
			return err
		}
		info, err := f.Stat()
		if err == nil {
			err = v.scan(ctx, f, section{0, uint64(info.Size())}, v)
		}
		f.Close()
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

func (v *mappingScan) record(r record, _ *payload) error {
	switch r.typ {
	case perfevent.RecordMmap, perfevent.RecordMmap2, perfevent.RecordFork, perfevent.RecordComm:
		if n, ok := v.note(r); ok {
			v.notes = append(v.notes, n)
		}
	case recBuildID:
		v.features.addBuildID(v.Order, r.b)
	}
	return nil
}

func (v *mappingScan) progress(int64) {}

// extend returns the chain of a sample with the callers in the program behind
// those in the kernel. As in a recorded chain, addresses are those that calls
// return to; one that is exact is given plus one.
func (c *callers) extend(s *decodedSample) []byte {
	c.samples++
	if s.RegsUser.ABI == 0 {
		c.empty++
		return s.Callchain.Bytes
	}
	c.copied = max(c.copied, len(s.StackUser))
	time := s.Time
	if !c.timed {
		time = 0
	}
	view := c.history.At(int(int32(s.PID)), time)
	frames, stop := c.frames(s, view.Find)
	c.stops[stop]++
	if why := c.unwind.Blame(); why != "" && (stop == unwind.NoFile || stop == unwind.NoTables) {
		c.blamed[why]++
	}
	if len(frames) == 0 {
		return s.Callchain.Bytes
	}
	inUser := s.Mode == perfevent.MiscUser
	if pc := frames[0].PC; inUser && s.IP != pc && !c.unwind.Function(view.Find, pc, s.IP) {
		// The hardware names another instruction than the one interrupted
		// later: whose callers these are is not known.
		c.skids++
		return s.Callchain.Bytes
	}
	c.chain = append(c.chain[:0], s.Callchain.Bytes...)
	order := byteOrder(s.RegsUser.Values.Order)
	c.chain = order.AppendUint64(c.chain, contextUser)
	for i, f := range frames {
		pc := f.PC
		switch {
		case i == 0 && inUser:
			pc = s.IP // the sampled instruction itself is not a caller
		case f.Exact:
			pc++
		}
		c.chain = order.AppendUint64(c.chain, pc)
	}
	return c.chain
}

func (c *callers) frames(s *decodedSample, find func(uint64) *symbol.Mapping) ([]unwind.Caller, unwind.Stop) {
	if s.RegsUser.ABI != perfevent.ABI64 {
		return nil, unwind.NoMachine
	}
	order := byteOrder(s.RegsUser.Values.Order)
	return c.unwind.Unwind(&unwind.Sample{Stack: s.StackUser, Order: order, Register: s.RegsUser.Get}, find, maxCallers)
}

func byteOrder(o perfevent.Order) interface {
	binary.ByteOrder
	binary.AppendByteOrder
} {
	if o {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// judgeCallers tells which stacks are not whole and what to do about it.
func (im *importer) judgeCallers() {
	c := im.callers
	if c == nil || c.samples == c.empty {
		return
	}
	n := func(s unwind.Stop) int { return c.stops[s] }
	all := c.samples - c.empty
	im.warnf("callers in the program are unwound from copies of the stack (--call-graph dwarf): %d of %d stacks to their outermost function", n(unwind.Complete), all)
	if k := n(unwind.ShortCopy); k > 0 {
		im.warnf("stacks cut off where the copy of %d bytes ends: %d; record with --call-graph dwarf,65528", c.copied, k)
	}
	if k := n(unwind.NoTables) + n(unwind.NoFile); k > 0 {
		im.warnf("stacks that end at code without unwind tables: %d, in %s", k, c.mostBlamed())
	}
	if k := n(unwind.NoMapping); k > 0 {
		im.warnf("stacks that end at an address outside all mapped files: %d (code made at run time, a program that had just been replaced by another, or one that does not keep to its unwind tables)", k)
	}
	if k := n(unwind.OffStack) + n(unwind.NoRegister) + n(unwind.Damaged) + n(unwind.TooDeep); k > 0 {
		im.warnf("stacks that go on in memory that was not copied, or whose unwind tables are damaged: %d", k)
	}
	if k := n(unwind.NoMachine); k > 0 {
		im.warnf("stacks of 32-bit programs, or of an architecture other than x86-64 and arm64, which are not unwound: %d; record with --call-graph fp", k)
	}
	if c.skids > 0 {
		im.warnf("samples without callers because the hardware names an instruction in another function than the one interrupted: %d", c.skids)
	}
}

// mostBlamed names the files that ended most stacks.
func (c *callers) mostBlamed() string {
	const most = 3
	names := slices.Collect(maps.Keys(c.blamed))
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(c.blamed[b], c.blamed[a]), cmp.Compare(a, b)) })
	var words []string
	for _, name := range names[:min(len(names), most)] {
		words = append(words, fmt.Sprintf("%s (%d)", name, c.blamed[name]))
	}
	if more := len(names) - most; more > 0 {
		words = append(words, term.Counted(more, "more file"))
	}
	return strings.Join(words, ", ")
}
