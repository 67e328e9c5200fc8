package replay

import (
	"fmt"
	"math"

	"github.com/isobath/isobath/internal/data/refs"
)

// Access is one reference of a trace that is kept in memory.
type Access struct {
	Addr   uint64
	Code   uint32 // index into Trace.Codes
	Object uint32 // number in the table of objects; 0 is none
	Size   uint16
	Thread uint16 // index into Trace.Threads
	Op     refs.Op
}

// Code is an instruction of a thread.
type Code struct {
	PC    uint64
	Place uint32
}

// Trace is the references of a program, to be replayed many times.
type Trace struct {
	Accesses []Access
	Codes    []Code
	Threads  []uint32 // thread ids in order of first appearance
	Places   []refs.Place
}

// maxSize bounds the bytes of one reference; the largest are those of vector
// states.
const maxSize = math.MaxUint16

// maxThreads bounds the threads of a trace.
const maxThreads = 1024

// Numbering gives instructions and threads dense numbers, as accesses have them.
type Numbering struct {
	Codes   []Code
	Threads []uint32 // thread ids in order of first appearance
	codes   *refs.Memo
	threads map[uint32]uint16
	object  func(*refs.Ref) uint32
}

// newNumbering numbers nothing yet; object numbers the object of each reference
// and may be nil.
func newNumbering(object func(*refs.Ref) uint32) *Numbering {
	return &Numbering{codes: refs.NewMemo(), threads: map[uint32]uint16{}, object: object}
}

// Access makes an access of a reference.
func (n *Numbering) Access(r *refs.Ref) (Access, error) {
	thread, ok := n.threads[r.Thread]
	if !ok {
		if len(n.Threads) == maxThreads {
			return Access{}, fmt.Errorf("more than %d threads", maxThreads)
		}
		thread = uint16(len(n.Threads))
		n.threads[r.Thread] = thread
		n.Threads = append(n.Threads, r.Thread)
	}
	code := n.codes.Number(refs.Key{r.PC, uint64(r.Place)})
	if int(code) == len(n.Codes) {
		n.Codes = append(n.Codes, Code{r.PC, r.Place})
	}
	a := Access{Addr: r.Addr, Code: code, Size: uint16(min(max(r.Size, 1), maxSize)), Thread: thread, Op: r.Op}
	if n.object != nil {
		a.Object = n.object(r)
	}
	return a, nil
}

// Reader gathers a trace.
type Reader struct {
	*Numbering
	Accesses []Access
	limit    int
}

// NewReader gathers references; more than limit are refused.
func NewReader(object func(*refs.Ref) uint32, limit int) *Reader {
	return &Reader{Numbering: newNumbering(object), limit: limit}
}

// Add takes the next references.
func (t *Reader) Add(batch []refs.Ref) error {
	if len(t.Accesses)+len(batch) > t.limit {
		return fmt.Errorf("more than %d references do not fit into the memory allowed; raise --memory or give --range", t.limit)
	}
	for i := range batch {
		a, err := t.Access(&batch[i])
		if err != nil {
			return err
		}
		t.Accesses = append(t.Accesses, a)
	}
	return nil
}

// Trace ends the reading.
func (t *Reader) Trace(places []refs.Place) *Trace {
	return &Trace{Accesses: t.Accesses, Codes: t.Codes, Threads: t.Threads, Places: places}
}

// Place is where in the source an access comes from.
func (t *Trace) Place(a *Access) refs.Place { return t.PlaceOf(a.Code) }

// PlaceOf is where the source of an instruction is.
func (t *Trace) PlaceOf(code uint32) refs.Place {
	if p := t.Codes[code].Place; int(p) < len(t.Places) {
		return t.Places[p]
	}
	return refs.Place{}
}
