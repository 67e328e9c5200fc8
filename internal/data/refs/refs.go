// Package refs is what every reader of a full memory reference trace produces:
// one record per reference, in program order, in batches.
package refs

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// Op is what a reference does to memory.
type Op uint8

// The operations. Modify is a read and a write of the same bytes by one
// instruction; recorders that see the two halves apart emit Load then Store.
const (
	Load Op = iota
	Store
	Modify
)

func (o Op) String() string {
	switch o {
	case Load:
		return "L"
	case Store:
		return "S"
	case Modify:
		return "M"
	}
	return fmt.Sprintf("Op(%d)", uint8(o))
}

// Ref is one memory reference. Its position in the trace is its time.
type Ref struct {
	Addr   uint64
	PC     uint64 // address of the instruction; 0 if the format has none
	Size   uint32 // bytes; 0 if unknown
	Thread uint32 // the system's thread id; 0 if the format has none
	Place  uint32 // index into About.Places; 0 is the unknown place
	Object uint32 // index into About.Objects; 0 is the unknown object
	Op     Op
	// Enters marks the first reference of its thread since a block of code was
	// entered; see package flow. Only traces with HasFlow know.
	Enters bool
}

// Object is a piece of memory with a name: a variable, an allocation, a stack.
type Object struct {
	Name  string
	Start uint64
}

// MaxObjects is how many objects of a trace have a number: a program may allocate
// every node of a list on its own.
const MaxObjects = 1 << 24

// Place is where in the source an instruction comes from.
type Place struct {
	Function string
	File     string
	Line     int
}

// Fortran reports whether the file is one, by its name.
func (p Place) Fortran() bool {
	switch strings.ToLower(filepath.Ext(p.File)) {
	case ".f", ".for", ".f90", ".f95", ".f03", ".f08", ".ftn":
		return true
	}
	return false
}

// Fields is the set of optional fields that a trace really has.
type Fields uint8

// The optional fields of a Ref.
const (
	HasPC Fields = 1 << iota
	HasSize
	HasThread
	HasPlace
	HasObject
	HasFlow // Enters is known, and the way through the code was recorded
)

// About is what a reader knows besides the records. It is complete once Read
// has returned io.EOF; Has is final from the start.
type About struct {
	Has          Fields
	Places       []Place  // Places[0] is the zero Place: unknown
	Objects      []Object // Objects[0] is unknown; empty where no object is
	Instructions uint64   // instruction records seen, where the format has them
	Skipped      uint64   // records of kinds that are not references
	Notes        []string
}

// Source yields the references of one trace in order.
type Source interface {
	// Read fills dst from its start and returns how many it filled. Like
	// io.Reader it may return n > 0 together with io.EOF.
	Read(dst []Ref) (int, error)
	About() *About
}

// Reader is a Source that holds open files.
type Reader interface {
	Source
	Close() error
}

// BatchSize is a batch large enough to hide the cost of a call and small
// enough to stay in the second-level cache.
const BatchSize = 4096

// Each calls visit with every batch of r until the trace ends.
func Each(r Source, visit func(batch []Ref) error) error {
	buf := make([]Ref, BatchSize)
	idle := 0
	for {
		n, err := r.Read(buf)
		if n > 0 {
			idle = 0
			if err := visit(buf[:n]); err != nil {
				return err
			}
		} else if idle++; idle > 100 && err == nil {
			return io.ErrNoProgress
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// All reads a whole trace into memory: a small one.
func All(r Source) ([]Ref, error) {
	var all []Ref
	err := Each(r, func(batch []Ref) error {
		all = append(all, batch...)
		return nil
	})
	return all, err
}

// Queue hands out the references of formats in which one record holds several.
type Queue struct{ left []Ref }

// Fill fills dst from the queue, calling next for more when it is empty. What
// next returns is used up before it is called again.
func (q *Queue) Fill(dst []Ref, next func() ([]Ref, error)) (int, error) {
	n := 0
	for n < len(dst) {
		if len(q.left) == 0 {
			var err error
			if q.left, err = next(); err != nil {
				return n, err
			}
		}
		k := copy(dst[n:], q.left)
		q.left = q.left[k:]
		n += k
	}
	return n, nil
}
