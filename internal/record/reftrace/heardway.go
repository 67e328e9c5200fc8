package reftrace

import (
	"github.com/isobath/isobath/internal/code/access"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/flow"
)

// heardWay makes the way through the code of the instructions that Valgrind tells
// of. It does not tell whose they are: every instruction is held against what the
// one before it can lead to, and every return against the calls before it. Where
// it cannot be, another thread or a signal handler ran, and the way is given up.
type heardWay struct {
	encoder *flow.Encoder
	code    func(pc uint64) []byte
	known   map[uint64]heardCode
	last    heardCode
	at      uint64      // address of the last instruction; 0 before the first
	calls   []heardCall // those under way, outermost first
	back    uint64      // where the last return leads; 0 if that is not known
	base    uint64      // where the region's own return address is
	enters  bool        // the next reference is the first of its block
	lost    string      // why the way is given up; empty if it is not
}

// heardCode is an instruction as far as what runs after it.
type heardCode struct {
	decoded
	repeats bool
	unknown bool
}

// heardCall is a call under way: where its return address is, and what that is.
type heardCall struct{ slot, back uint64 }

// The reasons why a way is given up.
const (
	lostOther   = "another thread or a signal handler ran in between, which Valgrind does not tell"
	lostUnknown = "code ran that is in no file that is known"
)

// maxStack is how far from the region's own return address those of other calls of
// the thread may be.
const maxStack = 8 << 20

func newHeardWay(code func(pc uint64) []byte) *heardWay {
	return &heardWay{encoder: flow.NewEncoder(), code: code, known: map[uint64]heardCode{}}
}

func (w *heardWay) decode(pc uint64) heardCode {
	d, ok := w.known[pc]
	if ok {
		return d
	}
	d.unknown = true
	text := w.code(pc)
	if in, err := access.DecodeAMD64(text); err == nil {
		d = heardCode{decoded{length: uint64(in.Len), flow: in.Flow, target: directTarget(text[:in.Len], in.Flow, pc)}, in.Repeats, false}
	}
	w.known[pc] = d
	return d
}

// run notes an instruction.
func (w *heardWay) run(pc uint64) {
	if w.lost != "" {
		return
	}
	d := w.decode(pc)
	if d.unknown {
		w.lost = lostUnknown
		return
	}
	if w.stay(w.follows(pc)); w.lost != "" {
		return
	}
	if w.at == 0 || w.last.flow != access.Straight {
		w.encoder.Enter(0, pc)
		w.enters = true
	}
	w.at, w.last = pc, d
	w.encoder.Reach(0, pc+d.length)
}

// follows reports whether an instruction may run after the last one.
func (w *heardWay) follows(pc uint64) bool {
	next := w.at + w.last.length
	switch {
	case w.at == 0:
		return true
	case w.last.flow == access.Straight:
		return pc == next || w.last.repeats && pc == w.at
	case w.last.flow == access.Branch:
		return pc == next || w.last.target == 0 || pc == w.last.target
	case w.last.flow == access.Return:
		return w.back == 0 || pc == w.back
	}
	return w.last.target == 0 || pc == w.last.target
}

// touch notes what the last instruction reads or writes: a call its return
// address, which a return must find there.
func (w *heardWay) touch(r *refs.Ref) {
	r.Enters, w.enters = w.enters, false
	if w.lost != "" || r.Size != 8 {
		return
	}
	switch {
	case w.last.flow == access.Call && r.Op == refs.Store:
		w.leave(r.Addr + 1)
		w.calls = append(w.calls, heardCall{r.Addr, w.at + w.last.length})
		w.stay(w.base-r.Addr <= maxStack || r.Addr-w.base <= maxStack)
	case w.last.flow == access.Return && r.Op == refs.Load:
		w.leave(r.Addr)
		if n := len(w.calls); n > 0 {
			w.stay(w.calls[n-1].slot == r.Addr)
			w.back, w.calls = w.calls[n-1].back, w.calls[:n-1]
			return
		}
		w.back = 0 // of a function around the region
		w.stay(r.Addr-w.base <= maxStack)
	}
}

// leave forgets calls whose return addresses are below one: a jump out of them left
// them without returning.
func (w *heardWay) leave(slot uint64) {
	for n := len(w.calls); n > 0 && w.calls[n-1].slot < slot; n-- {
		w.calls = w.calls[:n-1]
	}
}

// stay gives the way up unless the thread is the same.
func (w *heardWay) stay(same bool) {
	if !same {
		w.lost = lostOther
	}
}

// heardWay gives the recording the way through the code that was heard, if it is whole.
func (j *job) heardWay(w *heardWay) (err error) {
	if w == nil {
		return nil
	}
	if w.lost != "" {
		j.note("the way through the code is not kept: %s; --backend step or qemu does, and then 'isobath loops' counts", w.lost)
		return nil
	}
	j.flow.blocks, j.flow.threads, err = w.encoder.Flow()
	return err
}
