package replay

import (
	"context"
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
	Notes    []string
}

// maxSize bounds the bytes of one reference; the largest are those of vector
// states.
const maxSize = math.MaxUint16

// maxThreads bounds the threads of a trace.
const maxThreads = 1024

// Reader gathers a trace.
type Reader struct {
	Trace
	codes   *refs.Memo
	threads map[uint32]uint16
	object  func(*refs.Ref) uint32
	limit   int
}

// NewReader gathers references; object numbers the object of each. More than
// limit references are refused.
func NewReader(object func(*refs.Ref) uint32, limit int) *Reader {
	return &Reader{codes: refs.NewMemo(), threads: map[uint32]uint16{}, object: object, limit: limit}
}

// Add takes the next references.
func (t *Reader) Add(batch []refs.Ref) error {
	if len(t.Accesses)+len(batch) > t.limit {
		return fmt.Errorf("more than %d references do not fit into the memory allowed; raise --memory or give --range", t.limit)
	}
	for i := range batch {
		r := &batch[i]
		thread, ok := t.threads[r.Thread]
		if !ok {
			if len(t.Threads) == maxThreads {
				return fmt.Errorf("more than %d threads", maxThreads)
			}
			thread = uint16(len(t.Threads))
			t.threads[r.Thread] = thread
			t.Threads = append(t.Threads, r.Thread)
		}
		code := t.codes.Number(refs.Key{r.PC, uint64(r.Place)})
		if int(code) == len(t.Codes) {
			t.Codes = append(t.Codes, Code{r.PC, r.Place})
		}
		a := Access{Addr: r.Addr, Code: code, Size: uint16(min(max(r.Size, 1), maxSize)), Thread: thread, Op: r.Op}
		if t.object != nil {
			a.Object = t.object(r)
		}
		t.Accesses = append(t.Accesses, a)
	}
	return nil
}

// Read gathers a whole source.
func Read(ctx context.Context, src refs.Source, object func(*refs.Ref) uint32, limit int) (*Trace, error) {
	t := NewReader(object, limit)
	err := refs.Each(src, func(batch []refs.Ref) error {
		if err := t.Add(batch); err != nil {
			return err
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	t.Places, t.Notes = src.About().Places, src.About().Notes
	return &t.Trace, nil
}

// Place is where in the source an access comes from.
func (t *Trace) Place(a *Access) refs.Place {
	if p := t.Codes[a.Code].Place; int(p) < len(t.Places) {
		return t.Places[p]
	}
	return refs.Place{}
}
