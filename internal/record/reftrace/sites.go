package reftrace

import (
	"encoding/binary"
	"strings"

	"github.com/isobath/isobath/internal/code/access"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/flow"
)

// siteLog is what the hooks of blocks told: each is a site, named by the address
// that its hook returns to. After a site the one that followed it last time is
// expected, as flow has it with blocks.
type siteLog struct {
	numbers map[uint64]uint32
	sites   []uint64
	log     flow.Log
}

// add takes an event of a thread.
func (l *siteLog) add(b []byte) {
	expected, site := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	n, ok := l.numbers[site]
	if !ok {
		if len(l.sites) == flow.MaxBlocks {
			return
		}
		if l.numbers == nil {
			l.numbers = map[uint64]uint32{}
		}
		n = uint32(len(l.sites))
		l.numbers[site] = n
		l.sites = append(l.sites, site)
	}
	l.log.Add(binary.LittleEndian.Uint32(b[16:]), expected, n)
}

// Where the head tells what came as expected at the end of each thread.
const (
	pendingAt   = 256
	pendingSize = 16
)

// finish adds the sites of each thread since its last event.
func (l *siteLog) finish(head []byte) {
	for b := head[pendingAt:pluginHead]; len(b) >= pendingSize; b = b[pendingSize:] {
		if thread := uint32(binary.LittleEndian.Uint64(b)); l.log.Has(thread) {
			l.log.Add(thread, binary.LittleEndian.Uint64(b[8:]), flow.None)
		}
	}
}

// hook is what a call of a compiler hook stands for: an access, or nothing.
type hook struct {
	loads, stores bool
	leaves        bool // it ends a function
}

// hooked makes an instruction of a program with compiler hooks what it would be
// without them: calls of hooks are accesses or nothing, and what has no hook makes
// no references.
func (n *namer) hooked(pc uint64, in *flow.Instruction) {
	if n.hooks == nil {
		return
	}
	in.Loads, in.Stores, in.Unhooked = false, false, in.Loads || in.Stores
	if h, ok := n.hooks[pc]; ok {
		in.Ending, in.Loads, in.Stores, in.Unhooked = flow.Straight, h.loads, h.stores, false
	}
}

// callBefore is where the call begins that returns to an address: a call of five
// bytes, or one through a table of six. Machines without such have calls of four.
func (n *namer) callBefore(back uint64) uint64 {
	for _, form := range [][]byte{{0xe8, 0, 0, 0, 0}, {0xff, 0x15, 0, 0, 0, 0}} {
		b, link := n.file(back - uint64(len(form)))
		if b == nil {
			continue
		}
		code, _ := b.Code(link, len(form)) // none is no call
		if len(code) == len(form) && code[0] == form[0] && (form[1] == 0 || code[1] == form[1]) {
			return back - uint64(len(form))
		}
	}
	return back - 4
}

// walkSites puts references where their hooks are called, and makes blocks of the
// sites.
func (n *namer) walkSites() error {
	if n.rec.Backend != Instrument {
		return nil
	}
	n.hooks = map[uint64]hook{}
	calls := newByPC[uint64]()
	for _, block := range n.rec.blocks() {
		for i := range block {
			r := &block[i]
			r.PC = calls.at(r.PC, func(back uint64) uint64 {
				at := n.callBefore(back)
				n.hooks[at] = hook{loads: r.Op != refs.Store, stores: r.Op != refs.Load}
				return at
			})
		}
	}
	threads, err := n.sites.log.Threads()
	if len(threads) == 0 || err != nil {
		return err
	}
	w := newSiteWalker(n)
	for i := range threads {
		w.thread(&threads[i])
		if err := threads[i].Close(); err != nil {
			return err
		}
	}
	if n.flow.blocks, n.flow.threads, err = w.encoder.Flow(); err != nil {
		return err
	}
	w.enters()
	if w.unexplained > 0 {
		n.note("%d of the steps from block to block are not explained by the code (exceptions, signals, calls back from libraries): loops around them are counted from where they go on", w.unexplained)
	}
	return nil
}

// enters marks the references that are the first of their blocks: all that the
// code does not lead to straight on from the one before.
func (w *siteWalker) enters() {
	type last struct{ pc, end uint64 }
	threads := map[uint32]*last{}
	ends := newByPC[uint64]()
	before, l := uint32(0), (*last)(nil)
	for _, block := range w.rec.blocks() {
		for i := range block {
			r := &block[i]
			if l == nil || r.Thread != before {
				before = r.Thread
				if l = threads[before]; l == nil {
					l = &last{}
					threads[before] = l
				}
			}
			r.Enters = r.PC <= l.pc || r.PC >= l.end
			l.pc, l.end = r.PC, ends.at(r.PC, w.straight)
		}
	}
}

// siteWalker finds the blocks between one site and the next in the code of the
// program. Every block that the compiler made has a site, so that there is one way
// without another site between; where the assembler's code has two, around a few
// instructions, it is the shorter.
type siteWalker struct {
	*namer
	encoder *flow.Encoder
	code    map[uint64]decoded
	ways    map[wayKey]*siteWay
	met     map[uint64]bool // functions that have sites
	reached map[uint64]bool // blocks whose ends are known
	steps   []siteStep      // by site: the last way from it that was the whole step
	// unexplained counts sites that no way leads to.
	unexplained uint64
}

func newSiteWalker(n *namer) *siteWalker {
	w := &siteWalker{namer: n, encoder: flow.NewEncoder(), code: map[uint64]decoded{}, ways: map[wayKey]*siteWay{}, met: map[uint64]bool{}, reached: map[uint64]bool{}, steps: make([]siteStep, len(n.sites.sites))}
	for _, site := range n.sites.sites {
		n.hooks[n.callBefore(site)] = hook{}
	}
	return w
}

// decoded is an instruction as far as the way goes.
type decoded struct {
	length uint64
	flow   access.Flow
	target uint64 // 0 if it is not in the instruction
	site   bool   // calls the hook of a block
}

func (w *siteWalker) decode(pc uint64) decoded {
	d, ok := w.code[pc]
	if ok {
		return d
	}
	d = decoded{length: 1, flow: access.Return} // unknown code leads nowhere
	if b, link := w.file(pc); b != nil {
		text, _ := b.Code(link, 15) // none is no instruction
		if in, err := access.DecodeAMD64(text); err == nil {
			d = decoded{length: uint64(in.Len), flow: in.Flow}
			d.target = directTarget(text[:in.Len], in.Flow, pc)
			w.hookCall(pc, &d)
		}
	}
	w.code[pc] = d
	return d
}

// hookCall makes a call of a hook straight code.
func (w *siteWalker) hookCall(pc uint64, d *decoded) {
	if d.flow != access.Call {
		return
	}
	if _, d.site = w.sites.numbers[pc+d.length]; d.site {
		d.flow = access.Straight
		return
	}
	if _, ok := w.hooks[pc]; ok {
		d.flow = access.Straight
		return
	}
	b, link := w.file(d.target)
	if d.target == 0 || b == nil {
		return
	}
	l := b.Locate(link)
	name := l.Outer().Function
	d.site = name == "__sanitizer_cov_trace_pc"
	if d.site || strings.HasPrefix(name, "__tsan_") || strings.HasPrefix(name, "__cyg_profile_func_") {
		d.flow = access.Straight
		w.hooks[pc] = hook{leaves: strings.HasSuffix(name, "_exit")}
	}
}

// leavings takes the source position from what a compiler adds where a function
// ends: it has that of whatever stands before it, which may be the condition of a
// loop that was not reached.
func (n *namer) leavings(code []flow.Instruction, moved uint64) {
	for i := range code {
		if !n.hooks[code[i].PC+moved].leaves {
			continue
		}
		place, column := code[i].Place, code[i].Column
		for k := i; k < len(code) && code[k].Place == place && code[k].Column == column; k++ {
			code[k].Place.Line, code[k].Column = 0, 0
		}
	}
}

// directTarget is where a jump or call with a distance in it leads.
func directTarget(code []byte, f access.Flow, pc uint64) uint64 {
	if f != access.Call && f != access.Jump && f != access.Branch {
		return 0
	}
	end := pc + uint64(len(code))
	op := code
	for len(op) > 1 && (op[0] == 0xf2 || op[0] == 0xf3 || op[0] == 0x66 || op[0] == 0x2e || op[0] == 0x3e || op[0]&0xf0 == 0x40) {
		op = op[1:]
	}
	switch {
	case (op[0] == 0xe8 || op[0] == 0xe9) && len(op) == 5, op[0] == 0x0f && len(op) == 6 && op[1]&0xf0 == 0x80:
		return end + uint64(int64(int32(binary.LittleEndian.Uint32(op[len(op)-4:]))))
	case len(op) == 2 && (op[0] == 0xeb || op[0]&0xf0 == 0x70 || op[0]&0xfc == 0xe0):
		return end + uint64(int64(int8(op[1])))
	}
	return 0
}

// straight returns the end of the block that an address is in.
func (w *siteWalker) straight(pc uint64) uint64 {
	for range maxStraight {
		d := w.decode(pc)
		pc += d.length
		if d.flow != access.Straight {
			break
		}
	}
	return pc
}

// maxStraight bounds the instructions of a block, maxWay the blocks of a search.
const (
	maxStraight = 1 << 16
	maxWay      = 1 << 12
)
